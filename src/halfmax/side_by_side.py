"""The expected curve of many short batches at once, one in each lane of the vector registers.

For up to 256 items plain products lose nothing that matters, so no logarithm is needed; and with
the product of the items after k at hand, no division.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._jit import summing_kernel
from halfmax.expected import KIND_F, KIND_JACCARD, Ratio
from halfmax.reciprocal import MOST_LEGENDRE, MOST_NODES, fill_nodes, legendre_nodes

Array = npt.NDArray[Any]

LANES = 16
MOST_SHORT = 256
REACHES = 8  # the most that can be true or predicted, together, is rounded up to so many


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
def expected_side_by_side(p: Array, last: int, reach: int, ratio: Ratio) -> Array:
    """The expected metric of the counts 1 to `last`; `p` is items x lanes, falling, zeros last.

    The items that can be true and those predicted are at most `reach` together, an even number.
    """
    n_items, lanes = p.shape
    keep, step, weights = _short_nodes(reach, ratio)
    after, curve = np.empty((n_items + 1, lanes)), np.zeros((last, lanes))
    before, hits = np.empty(lanes), np.empty(lanes)
    for j in range(keep.size):
        for lane in range(lanes):
            after[n_items, lane], before[lane], hits[lane] = 1.0, 1.0, 0.0
        for i in range(n_items - 1, 0, -1):
            for lane in range(lanes):
                after[i, lane] = after[i + 1, lane] * (1.0 - p[i, lane] + p[i, lane] * keep[j])
        power = ratio.scale * weights[j]
        for i in range(last):
            power *= step[j]
            if ratio.kind == KIND_JACCARD:
                for lane in range(lanes):
                    curve[i, lane] += power * after[i + 1, lane]
                continue
            for lane in range(lanes):
                hit = p[i, lane]
                factor = 1.0 - hit + hit * keep[j]
                hits[lane] = hits[lane] * factor + hit * before[lane]
                before[lane] *= factor
                curve[i, lane] += power * hits[lane] * after[i + 1, lane]
    if ratio.kind == KIND_JACCARD:
        for lane in range(lanes):
            hits[lane] = 0.0
        for i in range(last):
            for lane in range(lanes):
                hits[lane] += p[i, lane]
                curve[i, lane] *= hits[lane]
    return curve
