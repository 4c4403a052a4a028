"""`LabelHealthDisplay`: how often each label is predicted against how often it occurs."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.gate.labelled import read_labelled
from halfmax._core.gate.labels import Labels, names_or_places
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.displays.base import MANY_POINTS, Display, ink_of, put_legend, require_result
from halfmax.displays.lettering import name_points
from halfmax.displays.style import BLUE, GREEN, GREY, ORANGE, PALE
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES, floods
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class LabelHealthDisplay(Display):
    """The share of rows that each label is predicted for, against its base rate.

    A label floods if it is predicted for more than 5 % of rows and more than 10 times its base
    rate: the shaded region. Create it with `from_thresholds`, `from_predictions` or
    `from_diagnosis`.

    Attributes
    ----------
    labels : tuple
        The names of the labels, or their column numbers.
    base_rate : ndarray of shape (m,)
        The share of rows that are positive.
    share : ndarray of shape (m,)
        The share of rows that are predicted.
    flooding : ndarray of bool of shape (m,)
        The labels that flood.
    n_rows : float
        The number of rows, or the sum of their weights.

    See Also
    --------
    diagnose : Find labels that will misbehave on new data.
    HalfMaxDisplay : Check the calibration of labels.

    Examples
    --------
    >>> from halfmax import tune
    >>> t = tune([[1, 0], [0, 0], [0, 1]], [[0.9, 0.2], [0.1, 0.2], [0.2, 0.2]])
    >>> LabelHealthDisplay.from_thresholds(t).share.round(2)
    array([0.33, 1.  ])
    """

    labels: Labels
    base_rate: Array
    share: Array
    flooding: Array
    n_rows: float

    @classmethod
    def from_thresholds(
        cls,
        thresholds: Thresholds,
        n_rows: float | None = None,
        *,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `tune`.

        Parameters
        ----------
        thresholds : Thresholds
            The tuned thresholds.
        n_rows : float, optional
            The number of rows, or the sum of their weights. It is required for thresholds that were
            loaded from a file, which does not store it.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        return cls._of(thresholds, n_rows).plot(ax, **how)

    @classmethod
    def _of(cls, thresholds: Thresholds, n_rows: float | None = None) -> Self:
        t = require_result(Thresholds, thresholds, "thresholds", "tune")
        if n_rows is None:
            if t._tuning is None:
                raise ValueError(
                    "n_rows must be passed, the number of rows (or the sum of their weights): "
                    "these thresholds do not know the data that they were tuned on; got None"
                )
            n_rows = t._tuning.load().total
        labels = names_or_places(t.labels, len(t.thresholds))
        if t._unknown.any():
            raise ValueError(
                "thresholds must have known counts to be drawn; how many rows those of "
                f"{spell_out([labels[j] for j in np.flatnonzero(t._unknown)], most=3)} predict is "
                "unknown: use tune(y_true, y_score).replace(t.to_dict()), which counts them"
            )
        return cls._from_counts(labels, t.support, t.predicted, n_rows)

    @classmethod
    def _from_counts(cls, labels: Labels, support: Array, predicted: Array, n_rows: Any) -> Self:
        least = max(support.max(initial=0), predicted.max(initial=0))
        if isinstance(n_rows, str) or not n_rows > 0 or n_rows < least * (1 - 1e-9):
            raise ValueError(
                f"n_rows must be the number of rows, at least {least:,} (the positives or "
                f"predictions of one label); got {n_rows!r}"
            )
        total = float(n_rows)
        flooding = floods(predicted, support, total)
        return cls(labels, support / total, predicted / total, flooding, total)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric = "f1",
        average: str = "macro",
        *,
        labels: Iterable[Hashable] | None = None,
        sample_weight: Any = None,
        guard: str | None = None,
        zero_division: float = 0.0,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Tune labelled scores and draw the result.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`.
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        average : {"macro", "micro", "samples"}, default="macro"
            The average over labels, as in `tune`.
        labels : iterable, optional
            The names of the labels.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        guard : str, optional
            A guard of the thresholds, as in `tune`.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        goal = Goal.ask(metric, average, guard=guard, zero_division=zero_division)
        data = read_labelled(y_true, y_score, sample_weight, labels)
        found = choose_thresholds(data, goal.settle(data.is_binary)).counts
        names = names_or_places(data.labels, data.n_labels)
        display = cls._from_counts(names, found.positives, found.predicted, data.total)
        return display.plot(ax, **how)

    @classmethod
    def from_diagnosis(cls, diagnosis: Diagnosis, *, ax: "Axes | None" = None, **how: Any) -> Self:
        """Draw the result of `diagnose`.

        Parameters
        ----------
        diagnosis : Diagnosis
            The diagnosis.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        return cls._of_diagnosis(
            require_result(Diagnosis, diagnosis, "diagnosis", "diagnose")
        ).plot(ax, **how)

    @classmethod
    def _of_diagnosis(cls, d: Diagnosis) -> Self:
        return cls._from_counts(d.labels, d.support, d.predicted, d.n_rows)

    def _draw(self, ax: "Axes", name: str | None) -> None:
        low = self._set_limits(ax)
        self._draw_regions(ax, low)
        x, y = (np.maximum(part, low) for part in (self.base_rate, self.share))
        self._draw_labels(ax, x, y)
        put_legend(ax, name, columns=2)
        ax.set(xlabel="base rate of the label", ylabel="share of rows predicted")
        worst = np.flatnonzero(self.flooding)
        worst = worst[np.argsort(-self.share[worst] / np.maximum(self.base_rate[worst], low))]
        name_points(ax, x[worst], y[worst], [self.labels[j] for j in worst], ink_of(ax))

    def _set_limits(self, ax: "Axes") -> float:
        """Return where shares of 0 are drawn, which a logarithmic axis cannot show."""
        shares = np.concatenate([self.base_rate, self.share])
        least = shares[shares > 0].min(initial=1.0)
        low = 0.4 * min(least, 0.02)
        ax.set(xscale="log", yscale="log", xlim=(0.8 * low, 1.2), ylim=(0.8 * low, 1.2))
        return float(low)

    def _draw_regions(self, ax: "Axes", low: float) -> None:
        edge = np.geomspace(0.8 * low, 1.0 / FLOOD_TIMES, 200)
        ax.fill_between(
            edge,
            np.maximum(FLOOD_SHARE, FLOOD_TIMES * edge),
            1.0,
            color=PALE,
            linewidth=0,
            label="region of flooding",
        )
        look: dict[str, Any] = {
            "color": GREY,
            "linewidth": 1.0,
            "zorder": 1,
            "label": "as often as it occurs",
        }
        ax.plot([low, 1.0], [low, 1.0], **look)

    def _draw_labels(self, ax: "Axes", x: Array, y: Array) -> None:
        none, absent = self.share == 0, (self.base_rate == 0) & (self.share > 0)
        healthy = ~(self.flooding | none | absent)
        many = len(x) > MANY_POINTS
        for here, colour, mark, what in (
            (healthy, BLUE, "o", "labels predicted, not flooding"),
            (self.flooding & ~absent, ORANGE, "D", "flooding"),
            (absent, GREEN, "<", "without positives, predicted"),
            (none, GREY, "v", "never predicted"),
        ):
            if here.any():
                size = (1.6 if mark == "o" else 2.2) if many else 4.0
                look: dict[str, Any] = {
                    "color": colour,
                    "markersize": size,
                    "markeredgewidth": 0,
                    "zorder": 2,
                }
                label = f"{here.sum():,} {what}"
                ax.plot(x[here], y[here], mark, label=label, rasterized=many, **look)
