"""How far an estimated score may be off: from its counts, and from rows that labels share.

Rows are drawn, so counts are Poisson. What one row more of each kind changes, squared and summed
over the rows, is the variance of a score. The log-odds of F1 are ``log(2 tp / (fp + fn))``, a
difference of logarithms of two independent counts, which is close to normal even for small ones: so
intervals are made on that scale, unless a metric goes beyond 0 to 1.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import special

from halfmax._core.types import Array
from halfmax.metrics.counts import Counts
from halfmax.metrics.objective import Objective

_HALF = 0.5  # added to counts, so that none is certain to stay at zero
_BISECTIONS = 40


class Influence(NamedTuple):
    """What one row more changes: a hit, a false positive, a miss, and the rest."""

    hit: Array
    false: Array
    missed: Array
    rest: Array


class Estimate(NamedTuple):
    """Scores on the scale where errors are normal, with their standard errors there."""

    expected: Array
    centre: Array
    error: Array
    bounded: bool

    def at(self, deviations: Any) -> Array:
        """Scores so many standard errors away."""
        away = self.centre + self.error * deviations
        return np.asarray(special.expit(away) if self.bounded else away)

    def less_sure_by(self, error: Array) -> "Estimate":
        """With another error added, independent and small, in units of the score."""
        if self.bounded:
            share = special.expit(self.centre)
            error = error / np.maximum(share * (1.0 - share), 1e-12)
        return self._replace(error=np.hypot(self.error, error))

    def interval(self, level: float) -> tuple[Array, Array]:
        """The ends between which the score lies with probability `level`."""
        far = special.ndtri((1.0 + level) / 2.0)
        low, high = self.at(-far), self.at(far)
        return np.minimum(low, self.expected), np.maximum(high, self.expected)


def estimate(expected: float, variance: float, bounded: bool) -> Estimate:
    """An expected score of known variance."""
    error = np.sqrt(variance)
    if not bounded:
        return Estimate(np.asarray(expected), np.asarray(expected), error, bounded)
    least = min(error, 0.5)
    inside = np.clip(expected, least, 1.0 - least)
    if error > 0:
        error = error / (inside * (1.0 - inside))
    return Estimate(np.asarray(expected), special.logit(inside), error, bounded)


def estimate_from_counts(
    objective: Objective, counts: Counts, expected: Array, bounded: bool
) -> Estimate:
    """Expected scores whose counts are known, also if some are zero.

    Where nobody is predicted, F does not depend on chance; accuracy does.
    """
    expected = np.asarray(expected, np.float64)
    predicted = (counts.predicted > 0) | _varies_without_predictions(objective, counts)
    error = np.where(predicted, np.sqrt(variance(objective, counts)), 0.0)
    if not bounded:
        return Estimate(expected, expected, error, bounded)
    smooth = np.clip(objective.metric(*_four(counts)), 1e-12, 1.0 - 1e-12)
    least = np.where(predicted, _HALF / (counts.predicted + counts.positives + 1.0), 0.0)
    inside = special.logit(np.clip(expected, least, 1.0 - least))
    return Estimate(expected, inside, error / (smooth * (1.0 - smooth)), bounded)


def _varies_without_predictions(objective: Objective, counts: Counts) -> Array:
    """Whether the score of predicting nobody depends on how many positives there are."""
    _, _, positives, total = (np.asarray(part, np.float64) for part in counts)
    here, more = (objective(0, 0, positives + extra, total + extra) for extra in (1.0, 2.0))
    return np.asarray(~np.isclose(here, more, rtol=0, atol=1e-15, equal_nan=True))


def influence(objective: Objective, counts: Counts) -> Influence:
    """The slopes of the metric in each of the four counts."""
    four = _four(counts)
    slopes = []
    for kind in range(4):
        more, less = four.copy(), four.copy()
        more[kind] += _HALF
        less[kind] -= _HALF
        slopes.append(objective.metric(*more) - objective.metric(*less))
    return Influence(*slopes)


def variance(objective: Objective, counts: Counts) -> Array:
    """Of the metric, when its counts are those of independent rows."""
    slopes = np.array(influence(objective, counts))
    return np.asarray((_four(counts) * slopes**2).sum(axis=0))


def uneven(objective: Objective, counts: Counts, squares: Array) -> Array:
    """How many times the variance that rows of equal weight would have.

    `squares` are the sums of squared weights behind tp, fp, fn and tn, in rows.
    """
    slopes = np.array(influence(objective, counts))
    more = ((squares - np.array(counts.confusion())) * slopes**2).sum(axis=0)
    apart = variance(objective, counts)
    ratio = 1.0 + np.divide(more, apart, out=np.zeros_like(apart), where=apart > 0)
    return np.asarray(np.maximum(ratio, 0.0))


def with_score(objective: Objective, counts: Counts, expected: Array) -> Counts:
    """The same predictions and positives, with as few hits as give the expected score."""
    tp, predicted, positives, total = (np.asarray(part, np.float64) for part in counts)
    low, high = np.zeros_like(tp), tp
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        enough = objective(middle, predicted, positives, total) >= expected
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return Counts(high, predicted, positives, total)


def is_bounded(*scores: Array) -> bool:
    """Whether all scores that are known are from 0 to 1."""
    known = np.concatenate([np.ravel(part) for part in scores])
    known = known[~np.isnan(known)]
    return bool(((known >= 0) & (known <= 1)).all())


def row_sums(truth: Any, predictions: Any, slopes: Influence) -> Array:
    """What each row adds to a score that sums over labels; slopes for each label, or for all."""
    hits = truth.multiply(predictions).tocsr()
    hit, false, missed, rest = (np.broadcast_to(part, truth.shape[1]) for part in slopes)
    return np.asarray(
        rest.sum()
        + hits @ (hit - false - missed + rest)
        + predictions @ (false - rest)
        + truth @ (missed - rest)
    )


def _four(counts: Counts) -> Array:
    return np.array(np.broadcast_arrays(*counts.confusion())) + _HALF
