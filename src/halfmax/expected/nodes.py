"""The nodes of ``1/x``, as the kernels of long batches want them."""

import numpy as np

from halfmax._core.reciprocal import exponential_sum
from halfmax._core.types import Floats
from halfmax.expected import kernels

NODE_ROWS = 9  # the docstring of `halfmax.expected.kernels` says what each of them is


def place_nodes(b2: float, rate: float, lo: float, hi: float) -> Floats:
    """Return the nodes for denominators from `lo` to `hi`, with no item in their sums yet."""
    times, weights = exponential_sum(lo, hi)
    nodes = np.empty((NODE_ROWS, len(times)))
    nodes[0], nodes[1] = times, weights
    kernels.open_nodes(b2, rate, nodes)
    return nodes


def chances_of_none(rising: Floats, ends: Floats, sizes: Floats) -> Floats:
    """Return the probability that no item of each batch is true."""
    chances = np.empty(len(sizes))
    kernels.chances_of_none(rising, ends, sizes, np.empty((NODE_ROWS, 1)), chances)
    return chances
