"""What a metric is expected to be, from expected counts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax.metrics.metric import Objective
from halfmax.staircase.leave_one_out import is_share_of_hits

Array = npt.NDArray[Any]


def expected_scores(
    objective: Objective, hits: Array, predicted: Array, positives: Array, total: float
) -> Array:
    """The expected score of rows whose positives fall by chance, to second order.

    For rare labels the expected ratio is not the ratio of expectations. Each hit of F-beta or
    Jaccard adds the same over a denominator of the counts that it comes with. The other hits and
    the misses vary like Poisson numbers, and the mean of 1/x is ``1/m + variance/m^3`` to second
    order. Other metrics take the expected counts as they are.
    """
    metric = objective.metric
    if not is_share_of_hits(metric):
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
