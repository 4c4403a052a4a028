"""What to expect of predicting the k most probable items, for every k."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Floats
from halfmax.displays.base import Display, line_look, name_of, number, put_legend
from halfmax.displays.style import BLUE, ORANGE
from halfmax.expected.curve import expected_curve
from halfmax.expected.decide import decide
from halfmax.metrics.metric import Metric
from halfmax.metrics.words import name_of_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


_LARGE = 1000  # items, from which on small counts would not be seen on a plain axis
_FEW = 60  # items, up to which each count is a dot
_MOST = 1000  # counts that are drawn


@dataclass(eq=False, repr=False)
class ExpectedCurveDisplay(Display):
    """The expected metric of predicting the k most probable items, against k.

    Make it with `from_probabilities`.

    Attributes
    ----------
    expected : ndarray (n + 1,)
        ``expected[k]`` is what to expect of predicting k items.
    k, threshold : int and float
        The best count, and the lowest probability that it predicts; ``+inf`` if it predicts none.
    half_max_k, half_max_threshold : int and float
        The rule of the theorem: the threshold F*/2 for F1, and how many items reach it.
    metric : str
    """

    expected: Floats
    k: int
    threshold: float
    half_max_k: int
    half_max_threshold: float
    metric: str

    @classmethod
    def from_probabilities(
        cls,
        p: Any,
        metric: str | Metric = "f1",
        *,
        zero_division: float = 0.0,
        min_k: int = 0,
        max_k: int | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curve of one batch of independent items.

        Parameters
        ----------
        p
            The probability of each item, in any order.
        metric, zero_division, min_k, max_k
            As `decide` takes them.
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        **how
            Passed to `plot`.

        >>> d = ExpectedCurveDisplay.from_probabilities([1.0, 0.3, 1.0])
        >>> d.expected.round(3), d.k, d.half_max_k
        (array([0.   , 0.617, 0.94 , 0.86 ]), 2, 2)
        """
        curve = expected_curve(p, metric, zero_division)
        found = decide(p, metric, zero_division=zero_division, min_k=min_k, max_k=max_k)
        made = cls(
            expected=curve,
            k=int(found.counts[0]),
            threshold=found.threshold,
            half_max_k=int(found.half_max_counts[0]),
            half_max_threshold=float(found.half_max_thresholds[0]),
            metric=found.metric,
        )
        return made.plot(ax, **how)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        log: bool | None = None,
        **line: Any,
    ) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure if None.
        name : str, optional
            The title.
        log : bool, optional
            Whether the axis of k is logarithmic; if None, of a thousand items or more it is.
        **line
            Passed to the line of the curve.

        Returns
        -------
        The display itself, with ``ax_``, ``figure_`` and ``line_``.
        """
        items = len(self.expected) - 1
        log = items >= _LARGE if log is None else log
        with self._canvas(ax) as (_, drawn):
            if log:
                drawn.set_xscale("symlog", linthresh=1.0, linscale=0.4)
            k = self._drawn(log)
            look = {"color": BLUE, "linewidth": 1.6, "marker": "." if items <= _FEW else ""}
            self.line_: Line2D = drawn.plot(k, self.expected[k], **line_look(look, line))[0]
            drawn.set(xlim=(0 if log else -0.03 * items, items * (1.15 if log else 1.03)))
            top = 1.05 * float(self.expected.max()) or 1.0
            drawn.set(ylim=(0.0, top), xlabel="k, items predicted")
            drawn.yaxis.set_major_formatter("{x:.4g}")  # no power of ten above the axis
            drawn.set_ylabel(f"expected {name_of(self.metric)}")
            self._mark(drawn)
            put_legend(drawn, name)
        return self

    def _drawn(self, log: bool) -> npt.NDArray[np.int64]:
        """The counts that are drawn: all, or enough of them."""
        items = len(self.expected) - 1
        if items <= _MOST:
            return np.arange(items + 1)
        some = np.geomspace(1, items, _MOST) if log else np.linspace(0, items, _MOST)
        ends = [0, items, self.k, self.half_max_k]
        return np.unique(np.r_[ends, some.astype(np.int64)])

    def _mark(self, ax: "Axes") -> None:
        """The best count and the rule's."""
        best, rule = name_of(self.metric), name_of_rule(self.metric)
        marks: list[tuple[int, str, dict[str, Any]]] = [
            (
                self.k,
                f"best: k = {self.k:,}, {_reach(self.threshold)}, "
                f"expected {best} = {self.expected[self.k]:.4g}",
                {"marker": "o", "color": BLUE, "markersize": 6},
            ),
            (
                self.half_max_k,
                f"{rule}: k = {self.half_max_k:,}, {_reach(self.half_max_threshold)}, "
                f"expected {best} = {self.expected[self.half_max_k]:.4g}",
                {"marker": "s", "color": ORANGE, "markersize": 9, "fillstyle": "none"},
            ),
        ]
        for k, text, look in marks:
            ax.plot(k, self.expected[k], linestyle="", label=text, **look)


def _reach(threshold: float) -> str:
    return "none" if threshold == np.inf else f"p ≥ {number(threshold)}"
