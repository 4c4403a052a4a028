"""`CostCurveDisplay`: the mean cost of a row at every threshold."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.types import Floats
from halfmax.displays.curve_counts import counts_at_scores, places_to_draw, require_finite
from halfmax.displays.label_curve import Limits
from halfmax.displays.lettering import Line
from halfmax.displays.one_label import OneLabel
from halfmax.displays.threshold_axis import OWN, Point, ThresholdAxisDisplay
from halfmax.metrics.cost import RowCost

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Costs(NamedTuple):
    """The mean cost of a row at ascending thresholds, and of predicting no rows and all rows."""

    thresholds: Floats
    costs: Floats
    none: float
    everyone: float


@dataclass(eq=False, repr=False)
class CostCurveDisplay(ThresholdAxisDisplay):
    """The mean cost of a row against the threshold, for a metric that `cost` makes.

    Create it with `from_predictions`, `from_estimator`, `from_thresholds` or `from_cv_results`;
    their `metric` is a `cost`, with one number for each outcome or with costs of each row. All
    costs are positive numbers here, while the metric's score is minus the cost. Of more than 2,000
    distinct scores that many are kept, including the best one and both ends.

    Attributes
    ----------
    thresholds : ndarray of shape (k,)
        The scores of the label, ascending. Between two of them all thresholds predict the same
        rows.
    costs : ndarray of shape (k,)
        The mean cost of a row at each threshold.
    threshold, cost : float
        The chosen threshold and its mean cost; ``+inf`` predicts no rows.
    best_threshold, best_cost : float
        The threshold with the lowest mean cost on these data, and that cost.
    plug_in : float or None
        The best threshold if the scores were calibrated, fp / (fp + fn) if only errors cost; None
        if scores are not probabilities, or if every row has its own costs.
    none, everyone : float
        The mean cost of predicting no rows, and of predicting every row.
    metric : str
        The name of the metric, such as ``"cost(fp=1, fn=10)"``.
    label : str, other hashable or None
        The name of the label, if there are many.
    pos_label : str, other hashable or None
        The positive class, if it is known.
    folds : tuple of CostCurveDisplay
        The curve of each fold of a cross-validation, with `threshold` marked.
    name : str or None
        The name that plots show unless they are passed another one.

    See Also
    --------
    cost : Define what each outcome costs.
    ThresholdCurveDisplay : Other metrics against the threshold.

    Examples
    --------
    >>> from halfmax import cost
    >>> d = CostCurveDisplay.from_predictions(
    ...     [0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8], cost(fp=1, fn=10)
    ... )
    >>> d.thresholds, d.costs
    (array([0.1, 0.4, 0.5, 0.8]), array([0.5 , 0.25, 2.75, 2.5 ]))
    >>> d.threshold, d.cost, round(d.plug_in, 4), d.none
    (0.4, 0.25, 0.0909, 5.0)
    """

    thresholds: Floats
    costs: Floats
    threshold: float
    cost: float
    best_threshold: float
    best_cost: float
    plug_in: float | None
    none: float
    everyone: float
    metric: str
    label: Hashable | None = None
    pos_label: Hashable | None = None
    folds: "tuple[CostCurveDisplay, ...]" = ()

    _has_scale = True

    @classmethod
    def _of(cls, one: OneLabel) -> Self:
        metric = one.objective.metric
        if not metric.is_cost:
            raise ArgumentError(
                f"{in_python('metric')} must be a cost, such as cost(fp=1, fn=10); got "
                f"{metric.name!r}: for other metrics use ThresholdCurveDisplay"
            )
        found = one.marks()
        find = _of_rows if isinstance(metric, RowCost) else _of_counts
        costs = find(one, found.best_threshold)
        return cls(
            *costs[:2],
            threshold=found.threshold,
            cost=-found.score + 0.0,
            best_threshold=found.best_threshold,
            best_cost=-found.best_score + 0.0,
            plug_in=found.half_max,
            none=costs.none,
            everyone=costs.everyone,
            metric=found.metric,
            label=found.label,
            pos_label=found.pos_label,
        )

    def _lines(self) -> list[Line]:
        return [Line("mean cost", self.costs, OWN)]

    def _levels(self) -> list[tuple[float, str]]:
        return [(self.everyone, "predict all"), *([] if self._none_is_worse else [self._none])]

    def _levels_at_left(self) -> list[tuple[float, str]]:
        return [self._none] if self._none_is_worse else []

    @property
    def _none_is_worse(self) -> bool:
        # The curve then falls from the level of all at the left, and rises to that of none at the
        # right, where a name would hide it.
        return self.none > self.everyone

    @property
    def _none(self) -> tuple[float, str]:
        return self.none, "predict none"

    def _points(self) -> tuple[Point, Point, float | None]:
        chosen = Point(self.threshold, self.cost)
        return chosen, Point(self.best_threshold, self.best_cost), self.plug_in

    def _range(self, lowest: float, highest: float) -> tuple[float, float]:
        return lowest, highest or 1.0

    def _steps(self, limits: Limits) -> tuple[Floats, Floats]:
        # Above the highest score no rows are predicted.
        x, heights = super()._steps(limits)
        return np.append(x, max(limits[1], x[-1])), np.append(heights, self.none)

    def _draw_parts(self, ax: "Axes", name: str | None, looks: Any) -> None:
        super()._draw_parts(ax, name, looks)
        ax.set_ylabel("mean cost of a row")
        ax.yaxis.set_major_formatter("{x:,.10g}")  # no power of ten above the axis


def _of_counts(one: OneLabel, best: float) -> Costs:
    """Return the costs of counts, where each outcome has one price."""
    stairs, counts = counts_at_scores(one, best)
    positives, total = counts.positives, counts.total
    ends = one.objective(np.array([0, positives]), np.array([0, total]), positives, total)
    none, everyone = (-ends + 0.0).tolist()
    return Costs(stairs.thresholds[::-1], -one.objective(*counts) + 0.0, none, everyone)


def _of_rows(one: OneLabel, best: float) -> Costs:
    """Return the costs of rows that differ, summed from the highest score down."""
    assert isinstance(one.objective.metric, RowCost)
    data, costs = one.data, one.objective.metric.for_truth(one.data.truth)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    share = weights / weights.sum()
    order = np.argsort(-data.scores, kind="stable")
    order = require_finite(order[data.scores[order] > -np.inf])
    scores = data.scores[order].astype(np.float64)
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    none = float((share * costs.passed).sum())
    changes = np.cumsum((share * (costs.predicted - costs.passed))[order])
    rising = scores[last][::-1]
    kept = places_to_draw(rising, best)
    at_scores = (none + changes[last])[::-1]
    return Costs(rising[kept], at_scores[kept], none, float((share * costs.predicted).sum()))
