"""Metrics that a kernel can compute: ratios of sums, described by nine numbers.

Kernels know nothing of metrics: they take arrays of values, or windows of them. In a sweep that
needs one value after another, that takes most of the time. F-beta and the other named metrics are
ratios of two sums without a minus sign. Nothing cancels in these sums, so a kernel can compute the
ratio from nine numbers, bit for bit as `Objective` does.
"""

import numpy as np

from halfmax._core.types import Floats
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective


def as_plain_ratio(objective: Objective) -> Floats:
    """Return the weights of numerator and denominator, and the value of 0/0, in one array.

    The array is empty for every objective that kernels cannot compute.
    """
    metric = objective.metric
    if objective.restrictions or not isinstance(metric, LinearFractional):
        return np.empty(0)
    if any(min(part) < 0.0 for part in metric.parts):
        return np.empty(0)
    return np.array([*metric.numerator, *metric.denominator, objective.zero_division])
