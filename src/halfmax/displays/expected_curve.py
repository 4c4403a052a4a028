"""`ExpectedCurveDisplay`: the expected metric of predicting the k most probable items."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Floats
from halfmax.displays.base import Display, name_of, number, put_legend
from halfmax.displays.curves import CurveLook, Looks
from halfmax.displays.style import BLUE, ORANGE
from halfmax.expected.curve import expected_curve
from halfmax.expected.decide import decide
from halfmax.metrics.metric import Metric
from halfmax.metrics.words import name_of_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D


_LARGE = 1000  # with this many items or more, small counts need a logarithmic axis
_FEW = 60  # with up to this many items, each count is a dot
_MOST = 1000  # counts that are drawn


@dataclass(eq=False, repr=False)
class ExpectedCurveDisplay(Display):
    """The expected metric of predicting the k most probable items, against k.

    Create it with `from_probabilities`.

    Attributes
    ----------
    expected : ndarray of shape (n + 1,)
        ``expected[k]`` is the expected metric of predicting k items.
    k : int
        The best count.
    threshold : float
        The lowest probability among the best k items; ``+inf`` if none is predicted.
    half_max_k : int
        The number of items that reach `half_max_threshold`.
    half_max_threshold : float
        The threshold of the half-max theorem, F*/2 for F1.
    metric : str
        The name of the metric.
    name : str or None
        The title of plots that are not passed another one.

    See Also
    --------
    expected_curve : The numbers of the curve.
    decide : Find the best count.

    Examples
    --------
    >>> d = ExpectedCurveDisplay.from_probabilities([1.0, 0.3, 1.0])
    >>> d.expected.round(3), d.k, d.half_max_k
    (array([0.   , 0.617, 0.94 , 0.86 ]), 2, 2)
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
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curve of one batch of independent items.

        Parameters
        ----------
        p : array-like of shape (n,)
            The probability of each item, in any order.
        metric : str or Metric, default="f1"
            The metric, as in `decide`.
        zero_division : float, default=0.0
            The value of 0/0, as in `decide`.
        min_k : int, default=0
            Predict at least this many items.
        max_k : int, optional
            Predict at most this many items.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ExpectedCurveDisplay
            The display, drawn.
        """
        curve = expected_curve(p, metric, zero_division)
        found = decide(p, metric, zero_division=zero_division, min_k=min_k, max_k=max_k)
        display = cls(
            expected=curve,
            k=int(found.counts[0]),
            threshold=found.threshold,
            half_max_k=int(found.half_max_counts[0]),
            half_max_threshold=float(found.half_max_thresholds[0]),
            metric=found.metric,
        )
        return display._show(ax, name, how)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        log: bool | None = None,
        curve_kwargs: CurveLook = None,
        despine: bool = False,
        **line: Any,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        name : str, optional
            The title; the name of the display if None.
        log : bool, optional
            Whether the axis of k is logarithmic; by default it is for a thousand items or more.
        curve_kwargs : dict, optional
            Properties of the curve, such as ``{"color": "black"}``.
        despine : bool, default=False
            Whether to hide the upper and right edges of the axes. New figures never have them.
        **line : dict
            Properties of the curve as keywords, in place of `curve_kwargs`.

        Returns
        -------
        ExpectedCurveDisplay
            The display itself, with ``ax_``, ``figure_`` and ``line_`` set.
        """
        items = len(self.expected) - 1
        log = items >= _LARGE if log is None else log
        with self._canvas(ax, despine=despine) as (_, drawn):
            if log:
                drawn.set_xscale("symlog", linthresh=1.0, linscale=0.4)
            else:
                drawn.locator_params(axis="x", integer=True)  # items are counted
            k = self._drawn(log)
            look = {"color": BLUE, "linewidth": 1.6, "marker": "." if items <= _FEW else ""}
            looks = Looks(curve_kwargs, line).of_curves(look, ["_nolegend_"])
            self.line_: Line2D = drawn.plot(k, self.expected[k], **looks[0])[0]
            drawn.set(xlim=(0 if log else -0.03 * items, items * (1.15 if log else 1.03)))
            top = 1.05 * float(self.expected.max()) or 1.0
            drawn.set(ylim=(0.0, top), xlabel="k, items predicted")
            drawn.yaxis.set_major_formatter("{x:.4g}")  # no power of ten above the axis
            drawn.set_ylabel(f"expected {name_of(self.metric)}")
            self._mark(drawn)
            put_legend(drawn, self._name_or(name))
        return self

    def _drawn(self, log: bool) -> npt.NDArray[np.int64]:
        """Return the counts that are drawn: all, or enough of them."""
        items = len(self.expected) - 1
        if items <= _MOST:
            return np.arange(items + 1)
        some = np.geomspace(1, items, _MOST) if log else np.linspace(0, items, _MOST)
        ends = [0, items, self.k, self.half_max_k]
        return np.unique(np.r_[ends, some.astype(np.int64)])

    def _mark(self, ax: "Axes") -> None:
        """Mark the best count and the count of the half-max rule."""
        best, rule = name_of(self.metric), name_of_rule(self.metric)
        marks: list[tuple[int, str, dict[str, Any]]] = [
            (
                self.k,
                f"best: k = {self.k:,}, {_reached(self.threshold)}, "
                f"expected {best} = {self.expected[self.k]:.4g}",
                {"marker": "o", "color": BLUE, "markersize": 6},
            ),
            (
                self.half_max_k,
                f"{rule}: k = {self.half_max_k:,}, {_reached(self.half_max_threshold)}, "
                f"expected {best} = {self.expected[self.half_max_k]:.4g}",
                {"marker": "s", "color": ORANGE, "markersize": 9, "fillstyle": "none"},
            ),
        ]
        for k, text, look in marks:
            ax.plot(k, self.expected[k], linestyle="", label=text, **look)


def _reached(threshold: float) -> str:
    return "none" if threshold == np.inf else f"p ≥ {number(threshold)}"
