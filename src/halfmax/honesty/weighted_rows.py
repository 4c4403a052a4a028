"""Count weighted rows as numbers of rows: the effective sample size (Kish).

A sum of weights does not show how much it would vary if the rows were drawn again. The variance of
a sum of weights w is the sum of their squares, as for fewer rows of equal weight
u = sum(w^2) / sum(w) (Kish). Positives and negatives each have their own u, because weights often
depend on the class. Counted in such effective rows, weighted data are judged by the same rules as
unweighted data; only the metric must know the weight of a row.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.honesty.intervals import Influence
from halfmax.metrics.counts import Counts, confusion
from halfmax.metrics.metric import LinearFractional, Metric
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid, positive_entries
from halfmax.staircase.leave_one_out import Uneven
from halfmax.staircase.staircase import Staircase

_DIGITS = 9  # to which numbers of rows are rounded
_SIZES = 200


class Units(NamedTuple):
    """The weight of one effective row, among the positives and among the negatives."""

    positive: float
    negative: float

    @classmethod
    def of(cls, data: LabelledScores) -> "Units":
        """The units of these data; 1 if rows have no weights."""
        if data.weights is None:
            return cls(1.0, 1.0)
        heaviest = float(data.weights.max())
        weights = data.weights / heaviest
        positives = data.truth if data.is_binary else np.diff(data.truth.indptr)
        every = _kish(weights, np.ones(len(weights)))
        both = positives.astype(np.float64), data.n_labels - positives.astype(np.float64)
        return cls(*(heaviest * (_kish(weights, entries) or every) for entries in both))

    def rows(self, tp: Array, predicted: Array, positives: Array, total: Array) -> Counts:
        """Convert sums of weights to numbers of effective rows, without rounding errors."""
        if self == (1.0, 1.0):
            return Counts(tp, predicted, positives, total)
        hit, false, missed, rest = confusion(tp, predicted, positives, total)
        hit, missed = (np.round(part / self.positive, _DIGITS) for part in (hit, missed))
        false, rest = (np.round(part / self.negative, _DIGITS) for part in (false, rest))
        return Counts(hit, hit + false, hit + missed, hit + false + missed + rest)

    def stairs(self, stairs: Staircase) -> Staircase:
        """Convert a staircase of weights to one of effective rows."""
        if self == (1.0, 1.0):
            return stairs
        column = stairs.grid.columns
        of_label = stairs.positives, stairs.total
        tp, predicted, *_ = self.rows(
            stairs.true_positives, stairs.predicted, *(part[column] for part in of_label)
        )
        nothing = np.zeros(stairs.n_labels)
        *_, positives, total = self.rows(nothing, nothing, *of_label)
        return Staircase(stairs.grid, tp, predicted, positives, total, stairs.labels)

    def uneven(self, data: LabelledScores, grid: Grid) -> Uneven | None:
        """Sizes of single rows, for leaving one out; None if rows have no weights."""
        if data.weights is None:
            return None
        column, scores, weights = positive_entries(data)
        positive = weights / self.positive
        order = np.lexsort((-scores, column))
        order = order[scores[order] > -np.inf]
        new = (np.diff(column[order]) != 0) | (np.diff(scores[order]) != 0)
        step = np.append(0, np.cumsum(new))[
            : len(order)
        ]  # these are all the steps of the staircase
        sizes = (
            _quantiles(positive),
            _quantiles(data.weights / self.negative),  # of all rows, most of which are negative
        )
        counts = Staircase.of_checked(data._replace(weights=None), grid)
        return Uneven(step, positive[order], counts, sizes)

    def objective(self, objective: Objective) -> Objective:
        """The objective as a function of numbers of effective rows, without floors.

        A metric that is not a ratio may depend on the size of the weights.
        """
        metric = objective.metric
        if isinstance(metric, LinearFractional):
            if self.positive != self.negative:
                metric = _with_heavier_negatives(metric, self.negative / self.positive)
        elif self != (1.0, 1.0):
            metric = _of_weighted(metric, self)
        return Objective(metric, objective.zero_division)

    def slopes(self, slopes: Influence) -> Influence:
        """Convert the change per effective row to the change per unit of weight."""
        hit, false, missed, rest = slopes
        positive, negative = self
        return Influence(hit / positive, false / negative, missed / positive, rest / negative)

    def squares(self, tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        """Convert sums of squared weights to squared numbers of effective rows."""
        positive, negative = self.positive**2, self.negative**2
        return np.array([tp / positive, fp / negative, fn / positive, tn / negative])


def _kish(weights: Array, entries: Array) -> float:
    """The weight of one effective row, sum(w^2) / sum(w); 0 if there are no rows."""
    whole = float((weights * entries).sum())
    return float((weights**2 * entries).sum()) / whole if whole > 0 else 0.0


def _quantiles(sizes: Array) -> Array:
    """A fixed number of quantiles that represent all sizes, with the same mean."""
    if not len(sizes):
        return np.ones(1)
    found = np.quantile(sizes, (np.arange(_SIZES) + 0.5) / _SIZES)
    return np.asarray(found * (sizes.mean() / found.mean()))


def _with_heavier_negatives(metric: LinearFractional, times: float) -> LinearFractional:
    numerator, denominator = ((tp, times * fp, fn, times * tn) for tp, fp, fn, tn in metric.parts)
    return LinearFractional(metric.name, numerator, denominator)


def _of_weighted(metric: Metric, units: Units) -> Metric:
    positive, negative = units

    def of_rows(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        return metric(positive * tp, negative * fp, positive * fn, negative * tn, np.nan)

    return Metric(metric.name, of_rows)
