"""The kernels behind `expected_curve` and `decide`: running sums over a few dozen nodes.

They evaluate the formula that the docstring of `halfmax.expected.curve` derives. A node j stands
for one exponential of ``1/x = sum(weight * exp(-x * time))``.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.jit import kernel, summing_kernel
from halfmax._core.reciprocal import MOST_NODES, fill_nodes, living_nodes
from halfmax._core.types import Array

KIND_F, KIND_JACCARD, KIND_RECALL, KIND_PRECISION, KIND_ACCURACY = range(5)
_BLOCK = 64  # a running product or sum of this many steps loses no accuracy
_HEAVY = 0.5
_UNLIKELY = 55.0  # exp(-55), times the largest ratio of two reciprocals that can occur, is nothing
# Below TINY expectations are linear in the probabilities. They are computed after scaling up by
# LIFT, out of the subnormal numbers, which have few digits, and scaled down again.
TINY, LIFT = 1e-290, 2.0**500


class Ratio(NamedTuple):
    """A metric as the kernels see it: its kind, and ``scale * S / (rate * k + b2 * T)`` for F.

    Recall is the F-beta without k. `cut` turns a score into its plug-in threshold.
    """

    kind: int
    rate: float
    b2: float
    scale: float
    cut: tuple[float, float, float, float]


class Nodes(NamedTuple):
    """The exponentials, and for each the logarithm of the product over items."""

    times: Array
    keep: Array  # exp(-b2 * time)
    lose: Array  # 1 - keep
    weights: Array
    log_none: Array  # log of the product of 1 - p * lose; two rows: the sum and its rounding error


@kernel
def add_exactly(total: Array, j: int, value: float) -> None:
    """Add a value by Kahan summation: row 0 holds the sum, row 1 the rounding error in it."""
    value -= total[1, j]
    new = total[0, j] + value
    total[1, j] = (new - total[0, j]) - value
    total[0, j] = new


@kernel
def is_linear(ratio: Ratio) -> bool:
    """Whether the metric is precision or accuracy, whose expectations need no reciprocal."""
    return ratio.kind >= KIND_PRECISION


@kernel
def fewest_true(mean: float) -> float:
    """A lower bound on the number of true items; fewer are true with probability below exp(-55).

    Chernoff: at most ``mean - a`` independent items are true with probability at most
    ``exp(-a^2 / (2 mean))``.
    """
    likely: float = mean - np.sqrt(2 * _UNLIKELY * mean)
    return max(0.0, likely)


@kernel
def most_true(mean: float, n_items: int) -> float:
    """An upper bound on the number of true items; more are true with probability below exp(-55).

    Bernstein: at least ``mean + a`` are true with probability at most
    ``exp(-a^2 / (2 mean + 2 a / 3))``.
    """
    above: float = _UNLIKELY / 3 + np.sqrt((_UNLIKELY / 3) ** 2 + 2 * _UNLIKELY * mean)
    return min(max(n_items, 0), mean + above)


@kernel
def _decays(rate: float, times: Array) -> Array:
    # Array expressions take seconds to compile, loops a fraction of a second.
    out = np.empty(times.size)
    for j in range(times.size):
        out[j] = np.exp(-rate * times[j])
    return out


@kernel
def add_log_none(p: Array, keep: Array, lose: Array, sign: float, total: Array) -> None:
    """Add the logarithms of ``1 - p + p keep`` for these falling probabilities.

    A product of factors near 1 is kept as its distance from 1, so that nothing is rounded away,
    and one logarithm serves many items.
    """
    size, end = keep.size, p.size
    gone = np.empty(size)
    i = 0
    while i < end and p[i] * lose[size - 1] > _HEAVY:
        for j in range(size):
            add_exactly(total, j, sign * np.log((1.0 - p[i]) + p[i] * keep[j]))
        i += 1
    while i < end and p[i] > 0.0:
        for j in range(size):
            gone[j] = 0.0
        stop = min(i + 2 * _BLOCK, end)
        while i < stop and gone[size - 1] <= _HEAVY:
            hit = p[i]
            for j in range(size):
                gone[j] += hit * lose[j] * (1.0 - gone[j])
            i += 1
        for j in range(size):
            add_exactly(total, j, sign * np.log1p(-gone[j]))


@kernel
def add_hits(p: Array, keep: Array, hits: Array) -> None:
    """Add the terms ``p / (1 - p + p keep)`` of these items."""
    size = keep.size
    local = np.empty(size)
    for begin in range(0, p.size, _BLOCK):
        for j in range(size):
            local[j] = 0.0
        for i in range(begin, min(begin + _BLOCK, p.size)):
            hit, miss = p[i], 1.0 - p[i]
            for j in range(size):
                local[j] += hit / (miss + hit * keep[j])
        for j in range(size):
            add_exactly(hits, j, local[j])


@kernel
def place_nodes(b2: float, lo: float, hi: float) -> Nodes:
    """The nodes for denominators from `lo` to `hi`; their product covers no items yet."""
    times, weights = np.empty(MOST_NODES), np.empty(MOST_NODES)
    size = fill_nodes(lo, hi, times, weights)
    times, weights = times[:size], weights[:size]
    keep, lose, log_none = np.empty(size), np.empty(size), np.zeros((2, size))
    for j in range(size):
        keep[j], lose[j] = np.exp(-b2 * times[j]), -np.expm1(-b2 * times[j])
    return Nodes(times, keep, lose, weights, log_none)


@summing_kernel
def expected_at(k: float, ratio: Ratio, nodes: Nodes, hits: Array) -> float:
    """The expected F of predicting k items, whose terms have been summed into `hits`."""
    total = 0.0
    for j in range(nodes.times.size):
        decay = np.exp(nodes.log_none[0, j] - (ratio.rate * k) * nodes.times[j])
        total += ratio.scale * nodes.weights[j] * nodes.keep[j] * decay * hits[0, j]
    return total


@summing_kernel
def _one_by_one(
    p: Array, keep: Array, step: Array, decay: Array, before: Array, local: Array, out: Array
) -> None:
    for i in range(p.size):
        hit, miss = p[i], 1.0 - p[i]
        total = 0.0
        # A single loop would touch too many arrays for the compiler to use vector registers.
        for j in range(keep.size):
            local[j] += hit / (miss + hit * keep[j])
        for j in range(keep.size):
            total += decay[j] * (before[j] + local[j])
        for j in range(keep.size):
            decay[j] *= step[j]
        out[i] = total


@kernel
def walk_f(
    p: Array, done: int, ratio: Ratio, fewest: float, nodes: Nodes, hits: Array, out: Array
) -> None:
    """Expected F after adding each of these items to `done` items already predicted.

    At least `fewest` items are true.
    """
    rate = ratio.rate
    step = _decays(rate, nodes.times)
    local, decay = np.empty(step.size), np.empty(step.size)
    for begin in range(0, p.size, _BLOCK):
        part = p[begin : begin + _BLOCK]
        k = done + begin + 1.0
        size = living_nodes(rate * k + ratio.b2 * fewest, nodes.times)
        for j in range(size):
            local[j] = 0.0
            power = nodes.log_none[0, j] - (rate * k) * nodes.times[j]
            decay[j] = ratio.scale * nodes.weights[j] * nodes.keep[j] * np.exp(power)
        _one_by_one(
            part,
            nodes.keep[:size],
            step[:size],
            decay[:size],
            hits[0, :size],
            local[:size],
            out[begin : begin + part.size],
        )
        for j in range(size):
            add_exactly(hits, j, local[j])


@summing_kernel
def _union_one_by_one(
    p: Array, keep: Array, step: Array, decay: Array, found: Array, out: Array
) -> None:
    for i in range(p.size):
        hit, miss = p[i], 1.0 - p[i]
        total = 0.0
        for j in range(keep.size):
            decay[j] *= step[j] / (miss + hit * keep[j])
            total += decay[j]
        out[i] = total * found[i]


@kernel
def walk_union(p: Array, done: int, nodes: Nodes, found: Array, out: Array) -> None:
    """Expected Jaccard after each of these items; `found` is the sum of p up to each.

    The product in the nodes runs over the items not yet predicted, which are independent of the
    predicted ones:
    ``E[S / (k + T - S)] = E[S] * E[1 / (k + number true among the rest)]``.
    """
    step = _decays(1.0, nodes.times)
    decay = np.empty(step.size)
    for begin in range(0, p.size, _BLOCK):
        part = p[begin : begin + _BLOCK]
        stop = begin + part.size
        size = living_nodes(max(1.0, done + begin), nodes.times)
        for j in range(size):
            power = nodes.log_none[0, j] - (done + begin) * nodes.times[j]
            decay[j] = nodes.weights[j] * np.exp(power)
        _union_one_by_one(
            part, nodes.keep[:size], step[:size], decay[:size], found[begin:stop], out[begin:stop]
        )
        add_log_none(part, nodes.keep, nodes.lose, -1.0, nodes.log_none)


@kernel
def running_sum(values: Array, total: Array, out: Array) -> None:
    """Fill `out` with the sums of the first, the first two, ... values, each rounded once."""
    for i in range(values.size):
        add_exactly(total, 0, values[i])
        out[i] = total[0, 0]


@kernel
def chance_of_none(p: Array) -> float:
    """The probability that no item is true."""
    if p.size and p[0] == 1.0:
        return 0.0
    total = np.zeros((2, 1))
    add_log_none(p, np.zeros(1), np.ones(1), 1.0, total)
    chance: float = np.exp(total[0, 0])
    return chance


@kernel
def range_of_true(mean: float, n_items: int) -> tuple[float, float]:
    """Bounds on the number of true items, given that one particular item is true."""
    return 1.0 + fewest_true(max(mean - 1.0, 0.0)), 1.0 + most_true(mean, n_items - 1)
