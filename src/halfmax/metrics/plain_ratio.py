"""The value of a ratio of sums inside a kernel, one count at a time.

Kernels know nothing of metrics: they take arrays of values, or windows of them. In a sweep that
needs one value after another, that takes most of the time. F-beta and the other named metrics are
ratios of two sums without a minus sign. Nothing cancels in these sums, so a kernel can compute the
ratio from nine numbers, bit for bit as `Objective` does.
"""

import numpy as np

from halfmax._core.jit import kernel
from halfmax._core.types import Array, Floats
from halfmax.metrics.counts import SUM_ROUNDING
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective


@kernel
def _beyond_rounding(difference: float, whole: float) -> float:
    return difference if difference > SUM_ROUNDING * whole else 0.0


@kernel
def divide(above: float, below: float, zero_division: float) -> float:
    """Divide as numpy does, but return `zero_division` for 0/0."""
    if below != 0.0:
        return above / below
    return zero_division if above == 0.0 else np.inf


@kernel
def ratio_at(ratio: Array, tp: float, predicted: float, positives: float, total: float) -> float:
    """Compute the objective at these counts, in the order of additions of `Objective`."""
    fp = _beyond_rounding(predicted - tp, predicted)
    fn = _beyond_rounding(positives - tp, positives)
    tn = _beyond_rounding(total - tp - fp - fn, total)
    above = ratio[0] * tp + ratio[1] * fp + ratio[2] * fn + ratio[3] * tn
    below = ratio[4] * tp + ratio[5] * fp + ratio[6] * fn + ratio[7] * tn
    return divide(above, below, ratio[8])


def as_plain_ratio(objective: Objective) -> Floats:
    """Return the weights of numerator and denominator, and the value of 0/0, in one array.

    The array is empty for every objective that `ratio_at` cannot compute.
    """
    metric = objective.metric
    if objective.floors or not isinstance(metric, LinearFractional):
        return np.empty(0)
    if any(min(part) < 0.0 for part in metric.parts):
        return np.empty(0)
    return np.array([*metric.numerator, *metric.denominator, objective.zero_division])
