"""Standard errors and intervals of estimated scores, from counts and from rows shared by labels.

Rows are random draws, so counts are Poisson. The variance of a score is the sum over the rows of
the squared change that one more row of its kind makes. The log-odds of F1 are
``log(2 tp / (fp + fn))``, a difference of logarithms of two independent counts, which is close to
normal even for small counts. Intervals are therefore computed on that scale; for metrics from -1 to
1, where 0 is no skill at all, on the same scale of that range; and for all others on the plain one.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from halfmax._core.types import Array
from halfmax.metrics.counts import Counts
from halfmax.metrics.objective import Objective

_HALF = 0.5  # added to counts, so that no count is certain to stay at zero
_BISECTIONS = 40


class Influence(NamedTuple):
    """How one more row changes the score: a tp, a fp, a fn or a tn."""

    hit: Array
    false: Array
    missed: Array
    rest: Array


class Range(NamedTuple):
    """The lowest score that a metric can have, and how far the highest is above it."""

    low: float
    width: float

    def share(self, scores: Any) -> Array:
        """Where scores lie in the range, from 0 to 1."""
        return np.asarray((scores - self.low) / self.width)

    def score(self, shares: Any) -> Array:
        """The scores that lie there."""
        return np.asarray(self.low + self.width * shares)


SHARES, _SIGNED = Range(0.0, 1.0), Range(-1.0, 2.0)


class Estimate(NamedTuple):
    """Scores on the scale where their errors are normal, with standard errors on that scale.

    Without a range that is the scale of the scores, otherwise the log-odds of the place in it.
    """

    expected: Array
    centre: Array
    error: Array
    range: Range | None

    def at(self, deviations: Any) -> Array:
        """Scores at these distances from the centre, in standard errors."""
        away = self.centre + self.error * deviations
        return np.asarray(away) if self.range is None else self.range.score(special.expit(away))

    def with_extra_error(self, error: Array) -> "Estimate":
        """Add another independent, small error, in units of the score."""
        if self.range is not None:
            share = special.expit(self.centre)
            error = error / self.range.width / np.maximum(share * (1.0 - share), 1e-12)
        return self._replace(error=np.hypot(self.error, error))

    def interval(self, level: float) -> tuple[Array, Array]:
        """The two ends between which the score lies with probability `level`."""
        far = special.ndtri((1.0 + level) / 2.0)
        low, high = self.at(-far), self.at(far)
        return np.minimum(low, self.expected), np.maximum(high, self.expected)


def estimate(expected: float, variance: float, range_: Range | None) -> Estimate:
    """Estimate an expected score of known variance."""
    error = np.sqrt(variance)
    if range_ is None:
        return Estimate(np.asarray(expected), np.asarray(expected), error, range_)
    error = error / range_.width
    least = min(error, 0.5)
    inside = np.clip(range_.share(expected), least, 1.0 - least)
    if error > 0:
        error = error / (inside * (1.0 - inside))
    return Estimate(np.asarray(expected), special.logit(inside), error, range_)


def estimate_from_counts(
    objective: Objective, counts: Counts, expected: Array, range_: Range | None
) -> Estimate:
    """Estimate expected scores with known counts, some of which may be zero.

    Where no rows are predicted, F does not vary by chance; accuracy does.
    """
    expected = np.asarray(expected, np.float64)
    predicted = (counts.predicted > 0) | _varies_without_predictions(objective, counts)
    error = np.where(predicted, np.sqrt(variance(objective, counts)), 0.0)
    if range_ is None:
        return Estimate(expected, expected, error, range_)
    smooth = np.clip(range_.share(objective.metric(*_smoothed(counts))), 1e-12, 1.0 - 1e-12)
    least = np.where(predicted, _HALF / (counts.predicted + counts.positives + 1.0), 0.0)
    inside = special.logit(np.clip(range_.share(expected), least, 1.0 - least))
    return Estimate(expected, inside, error / range_.width / (smooth * (1.0 - smooth)), range_)


def _varies_without_predictions(objective: Objective, counts: Counts) -> Array:
    """Whether the score of predicting no rows depends on how many positives there are."""
    _, _, positives, total = (np.asarray(part, np.float64) for part in counts)
    here, more = (objective(0, 0, positives + extra, total + extra) for extra in (1.0, 2.0))
    return np.asarray(~np.isclose(here, more, rtol=0, atol=1e-15, equal_nan=True))


def influence(objective: Objective, counts: Counts) -> Influence:
    """The slope of the metric in each of the four counts."""
    four = _smoothed(counts)
    slopes = []
    for kind in range(4):
        more, less = four.copy(), four.copy()
        more[kind] += _HALF
        less[kind] -= _HALF
        slopes.append(objective.metric(*more) - objective.metric(*less))
    return Influence(*slopes)


def variance(objective: Objective, counts: Counts) -> Array:
    """The variance of the metric if its counts are those of independent rows."""
    slopes = np.array(influence(objective, counts))
    return np.asarray((_smoothed(counts) * slopes**2).sum(axis=0))


def variance_inflation(objective: Objective, counts: Counts, squares: Array) -> Array:
    """The variance relative to that of rows of equal weight.

    `squares` are the sums of squared weights of the tp, fp, fn and tn, in effective rows.
    """
    slopes = np.array(influence(objective, counts))
    more = ((squares - np.array(counts.confusion())) * slopes**2).sum(axis=0)
    baseline = variance(objective, counts)
    ratio = 1.0 + np.divide(more, baseline, out=np.zeros_like(baseline), where=baseline > 0)
    return np.asarray(np.maximum(ratio, 0.0))


def with_score(objective: Objective, counts: Counts, expected: Array) -> Counts:
    """Keep the predictions and positives, and reduce the hits to match the expected score."""
    tp, predicted, positives, total = (np.asarray(part, np.float64) for part in counts)
    low, high = np.zeros_like(tp), tp
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        enough = objective(middle, predicted, positives, total) >= expected
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return Counts(high, predicted, positives, total)


def of_weighted_mean(slopes: Influence, values: Array, positives: Array, mean: float) -> Influence:
    """Return the slopes of a mean weighted by positives, from those of each label's score.

    One more positive of a label also gives that label more weight in the mean.
    """
    whole = max(float(positives.sum()), 1.0)
    known = np.nan_to_num(values, nan=mean)
    share, drawn = np.where(np.isnan(values), 0.0, positives) / whole, (known - mean) / whole
    hit, false, missed, rest = (share * slope for slope in slopes)
    return Influence(hit + drawn, false, missed + drawn, rest)


def range_of(objective: Objective, counts: Counts, *scores: Array) -> Range | None:
    """Return the range of the metric: from 0 to 1, from -1 to 1, or None for any other.

    A metric that is below 0 where every prediction is wrong, such as Youden's J, is one from -1.
    Costs may lie between 0 and 1, but only by chance. `scores` have been reached; an estimate of
    what is expected may lie beyond the range.
    """
    if objective.metric.is_cost:
        return None
    _, _, positives, total = (np.asarray(part, np.float64) for part in counts)
    worst = objective.unrestricted(np.zeros_like(positives), total - positives, positives, total)
    known = np.concatenate([np.ravel(part) for part in (worst, *scores)])
    known = known[~np.isnan(known)]
    for one in (SHARES, _SIGNED):
        if ((known >= one.low) & (known <= one.low + one.width)).all():
            return one
    return None


def row_sums(truth: Any, predictions: Any, slopes: Influence) -> Array:
    """What each row adds to a score summed over labels; slopes per label, or one for all."""
    hits = truth.multiply(predictions).tocsr()
    hit, false, missed, rest = (np.broadcast_to(part, truth.shape[1]) for part in slopes)
    return np.asarray(
        rest.sum()
        + hits @ (hit - false - missed + rest)
        + predictions @ (false - rest)
        + truth @ (missed - rest)
    )


def _smoothed(counts: Counts) -> Array:
    """The tp, fp, fn and tn, each with half a row more."""
    return np.array(np.broadcast_arrays(*counts.confusion())) + _HALF
