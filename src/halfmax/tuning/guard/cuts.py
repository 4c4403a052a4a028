"""Plan the cuts: the probability down to which each label predicts, and the bands that gives."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from halfmax._core.types import Array
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective
from halfmax.tuning.guard.bands import Bands
from halfmax.tuning.guard.blend import blend
from halfmax.tuning.guard.caps import allowed_bands

ROUNDING = 1e-9  # relative, of probabilities that are compared with a cut
_COMMON_CUTS = np.linspace(-8.0, 3.0, 111)  # logits


class CutPlan(NamedTuple):
    """Probability and expected score of each label down to each band, with its cut and its cap."""

    bands: Bands
    probabilities: Array
    scores: Array
    cuts: Array  # (labels,), logits
    common: float  # the best cut that all labels share, a logit
    allowed: Array  # (labels,), how many bands may be predicted at most


def plan_cuts(
    bands: Bands, model: Array, strength: float, objective: Objective, doubtful: Array | None
) -> CutPlan:
    """Compute what is expected of each label and band; with `doubtful`, labels are capped."""
    probabilities = blend(bands, model, strength)
    predicted = np.cumsum(bands.rows, axis=1)
    hits = np.cumsum(bands.rows * probabilities, axis=1)
    scores = expected_scores(objective, hits, predicted, hits[:, -1:], bands.total)[:, :-1]
    allowed = allowed_bands(bands, predicted, doubtful)
    probabilities = probabilities[:, :-1]
    cuts = _cut_of(objective, scores.max(axis=1), probabilities, scores)
    live = bands.support > 0
    none = np.nan_to_num(objective(0, 0, hits[:, -1], bands.total))
    common = common_cut(probabilities[live], scores[live], none[live]) if live.any() else 0.0
    return CutPlan(bands, probabilities, scores, cuts, common, allowed)


def reach(plan: CutPlan, share: float) -> Array:
    """Return how many bands each label predicts at a cut between its own and the common one."""
    cut = share * plan.cuts + (1.0 - share) * plan.common
    reached = (plan.probabilities >= expit(cut)[:, None] * (1.0 - ROUNDING)).sum(axis=1)
    within: Array = np.minimum(reached, plan.allowed)
    return within


def _cut_of(objective: Objective, best: Array, probabilities: Array, scores: Array) -> Array:
    """Return the logit of the probability down to which each label predicts.

    For F1 that is half of its best expected F1.
    """
    if isinstance(objective.metric, LinearFractional):
        cut = objective.metric.plug_in(best)
    else:  # no theorem applies: the probability of the best band
        cut = probabilities[np.arange(len(scores)), scores.argmax(axis=1)]
    inside: Array = np.clip(np.nan_to_num(cut, nan=0.5), 1e-15, 1.0 - 1e-15)
    return np.asarray(logit(inside))


def common_cut(probabilities: Array, scores: Array, none: Array) -> float:
    """Return the logit of the shared cut with the best mean expected score of these labels.

    `none` is the score of a label that is not predicted.
    """
    label = np.arange(len(scores))
    best, found = -np.inf, 0.0
    for cut in _COMMON_CUTS:
        reached = (probabilities >= expit(cut)).sum(axis=1)
        mean = np.where(reached > 0, scores[label, np.maximum(reached - 1, 0)], none).mean()
        if mean > best:
            best, found = mean, float(cut)
    return found


def expected_scores(
    objective: Objective, hits: Array, predicted: Array, positives: Array, total: float
) -> Array:
    """Return the expected score of rows whose positives are random, to second order.

    For rare labels the expected ratio is not the ratio of expectations. Each hit of F-beta or
    Jaccard adds a constant over a denominator of random counts. The other hits and the misses vary
    like Poisson numbers, and the mean of 1/x is ``1/m + variance/m^3`` to second order. Other
    metrics are computed at the expected counts.
    """
    metric = objective.metric
    if not isinstance(metric, LinearFractional) or not metric.is_share_of_hits:
        values = objective(hits, predicted, positives, total)
        return np.nan_to_num(values, nan=-np.inf)
    (gain, *_), (per_hit, per_false, per_missed, _) = metric.parts
    missed, more = positives - hits, per_hit - per_false
    mean = per_false * predicted + per_missed * missed + more * (1.0 + hits)
    variance = per_missed**2 * missed + more**2 * hits
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(mean > 0.0, 1.0 / mean + variance / mean**3, 0.0)
    scores: Array = gain * hits * inverse
    return scores
