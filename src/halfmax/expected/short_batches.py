"""The expected curve of many short batches: which nodes they need, and which batches share them."""

from functools import lru_cache

import numpy as np

from halfmax._core.reciprocal import LEGENDRE_STEP, MOST_LEGENDRE, exponential_sum, legendre_nodes
from halfmax._core.types import Array
from halfmax.expected import short_kernels
from halfmax.expected.batches import Stretches
from halfmax.expected.ratio import KIND_F, KIND_JACCARD, Ratio

MOST_SHORT = 256
_LANES = 16
_REACHES = 2 * LEGENDRE_STEP  # a reach (true plus predicted items) is rounded up to a multiple


@lru_cache(maxsize=128)  # a metric has at most 64 reaches
def _short_nodes(reach: int, ratio: Ratio) -> tuple[Array, Array, Array]:
    """``keep``, the step from k to k + 1, and the weight at k = 0 of each node."""
    whole = ratio.kind in (KIND_F, KIND_JACCARD) and ratio.b2 == 1.0
    if whole and reach <= 2 * MOST_LEGENDRE:
        keep, weights = legendre_nodes(reach // 2)
        return keep, keep, weights / keep if ratio.kind == KIND_JACCARD else ratio.scale * weights
    fewest = 0.0 if ratio.kind == KIND_JACCARD else ratio.b2
    most = max(ratio.rate, ratio.b2) * reach
    times, weights = exponential_sum(ratio.rate + fewest, most)
    keep, step = np.empty((2, len(times)))
    short_kernels.decay(ratio.b2, times, keep)
    short_kernels.decay(ratio.rate, times, step)
    return keep, step, weights if ratio.kind == KIND_JACCARD else ratio.scale * (weights * keep)


def fill_short(
    rising: Array,
    ratio: Ratio,
    stretches: Stretches,
    chosen: Array,
    starts: Array,
    out: Array,
) -> None:
    """Fill in the expected metric of the chosen batches, a few at a time in parallel lanes.

    Only batches of the same reach share their nodes, so no answer depends on the neighbours.
    """
    sizes, last = stretches.sizes, stretches.last
    reaches = _REACHES * -(-(sizes + last)[chosen] // _REACHES)
    chosen = chosen[np.argsort(reaches, kind="stable")]
    present, begins = np.unique(np.sort(reaches), return_index=True)
    p, curve = np.empty((2, sizes[chosen].max(), _LANES))
    for reach, some in zip(present, np.split(chosen, begins[1:]), strict=True):
        keep, step, weights = _short_nodes(int(reach), ratio)
        short_kernels.fill_short(
            rising,
            stretches.ends,
            sizes,
            stretches.first,
            last,
            some,
            starts,
            ratio.kind == KIND_JACCARD,
            keep,
            step,
            weights,
            p,
            curve,
            out,
        )
