"""The expected curve of many short batches at once, one batch per lane of the vector registers.

For up to 256 items plain products lose no accuracy that matters, so no logarithm is needed.
"""

import numpy as np

from halfmax._core.jit import summing_kernel
from halfmax._core.reciprocal import (
    LEGENDRE_STEP,
    MOST_LEGENDRE,
    MOST_NODES,
    fill_nodes,
    legendre_nodes,
)
from halfmax._core.types import Array
from halfmax.expected.numba_walks import KIND_F, KIND_JACCARD, Ratio

LANES = 16
MOST_SHORT = 256
REACHES = 2 * LEGENDRE_STEP  # a reach (true plus predicted items) is rounded up to a multiple


@summing_kernel
def _short_nodes(reach: int, ratio: Ratio) -> tuple[Array, Array, Array]:
    """``keep``, the step from k to k + 1, and the weight at k = 0 of each node."""
    whole = (ratio.kind == KIND_F or ratio.kind == KIND_JACCARD) and ratio.b2 == 1.0
    if whole and reach <= 2 * MOST_LEGENDRE:
        keep, shares = legendre_nodes(reach // 2)
        weights = shares.copy()
        if ratio.kind == KIND_JACCARD:
            for j in range(keep.size):
                weights[j] /= keep[j]
        return keep, keep, weights
    times, weights = np.empty(MOST_NODES), np.empty(MOST_NODES)
    fewest = 0.0 if ratio.kind == KIND_JACCARD else ratio.b2
    most = max(ratio.rate, ratio.b2) * reach
    size = fill_nodes(ratio.rate + fewest, most, times, weights)
    times, weights = times[:size], weights[:size]
    keep, step = np.empty(size), np.empty(size)
    for j in range(size):
        keep[j], step[j] = np.exp(-ratio.b2 * times[j]), np.exp(-ratio.rate * times[j])
        if ratio.kind != KIND_JACCARD:
            weights[j] *= keep[j]
    return keep, step, weights


@summing_kernel
def _add_f(
    p: Array, weight: float, keep: float, step: float, product: Array, hits: Array, curve: Array
) -> None:
    """Add one node to the expected F of each count; `product` and `hits` are scratch space."""
    for lane in range(p.shape[1]):
        product[lane], hits[lane] = weight, 0.0
    for i in range(p.shape[0]):
        for lane in range(p.shape[1]):
            product[lane] *= 1.0 - p[i, lane] + p[i, lane] * keep
    power = 1.0
    for i in range(curve.shape[0]):
        power *= step
        for lane in range(p.shape[1]):
            total = hits[lane] + p[i, lane] / (1.0 - p[i, lane] + p[i, lane] * keep)
            hits[lane] = total
            curve[i, lane] += power * total * product[lane]


@summing_kernel
def _add_union(
    p: Array, weight: float, keep: float, step: float, product: Array, curve: Array
) -> None:
    """Add one node to the expected reciprocal of each union; `product` is scratch space."""
    last = curve.shape[0]
    power = step**last
    for lane in range(p.shape[1]):
        product[lane] = weight
    for i in range(p.shape[0] - 1, -1, -1):
        if i < last:
            for lane in range(p.shape[1]):
                curve[i, lane] += power * product[lane]
            power /= step
        for lane in range(p.shape[1]):
            product[lane] *= 1.0 - p[i, lane] + p[i, lane] * keep


@summing_kernel
def expected_in_lanes(p: Array, last: int, reach: int, ratio: Ratio) -> Array:
    """The expected metric of the counts 1 to `last`; `p` is items x lanes, falling, zeros last.

    The number of items that can be true plus the number predicted is at most `reach`, a multiple
    of `REACHES`.
    """
    keep, step, weights = _short_nodes(reach, ratio)
    curve, product, hits = np.zeros((last, p.shape[1])), np.empty(p.shape[1]), np.zeros(p.shape[1])
    for j in range(keep.size):
        if ratio.kind == KIND_JACCARD:
            _add_union(p, weights[j], keep[j], step[j], product, curve)
        else:
            _add_f(p, ratio.scale * weights[j], keep[j], step[j], product, hits, curve)
    if ratio.kind == KIND_JACCARD:
        for i in range(last):
            for lane in range(p.shape[1]):
                hits[lane] += p[i, lane]
                curve[i, lane] *= hits[lane]
    return curve
