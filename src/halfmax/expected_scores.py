"""What a metric is expected to be, from expected counts."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax.metrics import JACCARD, FBeta, Objective

Array = npt.NDArray[Any]


def expected_scores(
    objective: Objective, hits: Array, predicted: Array, positives: Array, total: float
) -> Array:
    """The expected score of rows whose positives fall by chance, to second order.

    For rare labels the expected ratio is not the ratio of expectations. Given one hit, F-beta has
    the denominator ``predicted + beta^2 (1 + other positives)``; the others vary like a Poisson
    number, and the mean of 1/x is ``1/m + variance / m^3`` beyond its first term. Jaccard is alike.
    Other metrics take the expected counts as they are.
    """
    metric = objective.metric
    if isinstance(metric, FBeta):
        b2 = metric.beta**2
        return (1.0 + b2) * hits * _mean_inverse(predicted + b2 * (1.0 + positives), b2, positives)
    if metric is JACCARD:
        missed = positives - hits
        return hits * _mean_inverse(predicted + missed, 1.0, missed)
    values = objective(hits, predicted, positives, total)
    return np.nan_to_num(values, nan=-np.inf)


def _mean_inverse(mean: Array, unit: float, count: Array) -> Array:
    """E[1/x] for x of this mean that varies by `unit` times a Poisson number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse: Array = np.where(mean > 0.0, 1.0 / mean + unit**2 * count / mean**3, 0.0)
    return inverse
