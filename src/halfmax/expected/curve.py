"""The expected metric of predicting the k most probable of independent items, for every k.

Item i is true with probability ``p[i]``; T of all items are, S of the k predicted. With
``1/x = sum(weight * exp(-x * time))`` and ``keep = exp(-b2 * time)``, what is expected of F-beta,

    E[S / (k + b2 T)]  =  sum of  weight * exp(-k * time) * E[S keep^T]  over the nodes,

factorises: ``E[S keep^T]`` is ``keep`` times the product over all items of ``1 - p + p keep``,
times the sum over the predicted of ``p / (1 - p + p keep)``. The product is the same for every k
and the sum grows by one term, so each k costs a few dozen multiplications.
``docs/expected-f.md`` derives it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfmax._core import checks
from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.jit import kernel, summing_kernel
from halfmax._core.matrix import open_probabilities
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.reciprocal import MOST_NODES, fill_nodes, living_nodes
from halfmax._core.text import spell_out
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.metrics.metric import (
    ACCURACY,
    JACCARD,
    PRECISION,
    RECALL,
    FBeta,
    LinearFractional,
    Metric,
    find_metric,
)

Curve = Floats

KIND_F, KIND_JACCARD, KIND_RECALL, KIND_PRECISION, KIND_ACCURACY = range(5)
_KINDS = {
    KIND_JACCARD: JACCARD,
    KIND_PRECISION: PRECISION,
    KIND_ACCURACY: ACCURACY,
    KIND_RECALL: RECALL,
}
_BLOCK = 64  # so many steps of a running product or sum cost no accuracy
_HEAVY = 0.5
_UNLIKELY = 55.0  # exp(-55), times the largest ratio of two reciprocals that can occur, is nothing
# Below TINY expectations are linear in the probabilities: they are computed after a lift out of the
# subnormal numbers, which have few digits, and brought down again.
TINY, LIFT = 1e-290, 2.0**500
_CHUNK = 1 << 16  # items between two looks at the clock, and at Ctrl-C


class Ratio(NamedTuple):
    """A metric as the kernels see it: its kind, and ``scale * S / (rate * k + b2 * T)`` for F.

    Recall is the F-beta without k. `cut` makes the plug-in threshold of a score.
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
    """Kahan's sum: row 0 holds the sum, row 1 what rounding has added to it."""
    value -= total[1, j]
    new = total[0, j] + value
    total[1, j] = (new - total[0, j]) - value
    total[0, j] = new


@kernel
def is_linear(ratio: Ratio) -> bool:
    """Precision and accuracy: expectations that need no reciprocal."""
    return ratio.kind >= KIND_PRECISION


@kernel
def fewest_true(mean: float) -> float:
    """So many of independent items are true, but with a probability below exp(-55).

    Chernoff: at most ``mean - a`` are with a probability of ``exp(-a^2 / (2 mean))``.
    """
    likely: float = mean - np.sqrt(2 * _UNLIKELY * mean)
    return max(0.0, likely)


@kernel
def most_true(mean: float, n_items: int) -> float:
    """No more are, up to the same; ``mean + a`` with ``exp(-a^2 / (2 mean + 2 a / 3))``."""
    above: float = _UNLIKELY / 3 + np.sqrt((_UNLIKELY / 3) ** 2 + 2 * _UNLIKELY * mean)
    return min(max(n_items, 0), mean + above)


@kernel
def _decays(rate: float, times: Array) -> Array:
    # Array expressions take seconds to compile, loops a fraction.
    out = np.empty(times.size)
    for j in range(times.size):
        out[j] = np.exp(-rate * times[j])
    return out


@kernel
def add_log_none(p: Array, keep: Array, lose: Array, sign: float, total: Array) -> None:
    """Add the logarithms of ``1 - p + p keep`` for these falling probabilities.

    Products of small factors are kept as their distance from 1, where nothing is rounded away,
    and one logarithm serves many.
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
    """The nodes for a denominator from lo to hi, with a product over no items yet."""
    times, weights = np.empty(MOST_NODES), np.empty(MOST_NODES)
    size = fill_nodes(lo, hi, times, weights)
    times, weights = times[:size], weights[:size]
    keep, lose, log_none = np.empty(size), np.empty(size), np.zeros((2, size))
    for j in range(size):
        keep[j], lose[j] = np.exp(-b2 * times[j]), -np.expm1(-b2 * times[j])
    return Nodes(times, keep, lose, weights, log_none)


@summing_kernel
def expected_at(k: float, ratio: Ratio, nodes: Nodes, hits: Array) -> float:
    """The expected F of predicting k items, of which the terms in `hits` are."""
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
        # One loop would do, but touches too many arrays for the compiler to use vector registers.
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
    """Expected F after each of these items, when `done` others are predicted already.

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

    The nodes' product is over the items not yet predicted, which are independent of those that are:
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
    """Sums of the first, the first two, ... values, rounded once."""
    for i in range(values.size):
        add_exactly(total, 0, values[i])
        out[i] = total[0, 0]


@kernel
def chance_of_none(p: Array) -> float:
    """The probability that nothing is true."""
    if p.size and p[0] == 1.0:
        return 0.0
    total = np.zeros((2, 1))
    add_log_none(p, np.zeros(1), np.ones(1), 1.0, total)
    chance: float = np.exp(total[0, 0])
    return chance


@kernel
def range_of_true(mean: float, n_items: int) -> tuple[float, float]:
    """The fewest and most items that are true, given that a certain one is."""
    return 1.0 + fewest_true(max(mean - 1.0, 0.0)), 1.0 + most_true(mean, n_items - 1)


def expected_curve(
    p: Any,
    metric: str | Metric = "f1",
    zero_division: float = 0.0,
    *,
    progress: ProgressLike = None,
) -> Curve:
    """The expected metric of predicting the k most probable items, for k = 0, 1, ... n.

    Parameters
    ----------
    p
        The probability of each item; the items are independent. Any order.
    metric
        ``"f1"``, any ``"f<beta>"`` or `FBeta`, ``"jaccard"``, ``"precision"``, ``"recall"`` or
        ``"accuracy"``.
    zero_division
        What 0/0 earns, in the outcomes where it occurs: predicting nothing when nothing is true
        has that F.
    progress
        ``True`` for a line on stderr, or a function that is told ``(done, total)``.

    Returns
    -------
    An array of n + 1 values, each to about 14 digits, in time that grows like n log n.

    Examples
    --------
    Two sure items and a doubtful one, which is better left out:

    >>> expected_curve([1.0, 0.3, 1.0]).round(4).tolist()
    [0.0, 0.6167, 0.94, 0.86]
    """
    ratio = find_ratio(metric)
    zero_division = checks.check_share_known("zero_division", zero_division)
    values = open_probabilities(p, "p").values
    if values.ndim != 1:
        raise ValueError(
            f"p must have 1 dimension, the items of one batch; got shape {values.shape}"
        )
    falling = np.sort(values.astype(np.float64, copy=False))[::-1]
    steps = 2 * len(falling)  # all items once for the product, once for the walk
    with Progress(progress, f"expected_curve: {len(falling):,} items", steps) as told:
        curve = _curve(falling, ratio, told.advance)
    if ratio.kind == KIND_PRECISION:
        curve[0] = zero_division
    elif ratio.kind != KIND_ACCURACY and zero_division > 0.0:
        none = zero_division * chance_of_none(falling)
        curve[: None if ratio.kind == KIND_RECALL else 1] += none  # recall: whatever is predicted
    return curve


def find_ratio(metric: str | Metric) -> Ratio:
    """The metric as the kernels see it, or an error if they cannot."""
    found = find_metric(metric)
    if isinstance(found, FBeta):
        b2 = found.beta * found.beta
        return Ratio(KIND_F, 1.0, b2, 1.0 + b2, found.cut)
    if isinstance(found, LinearFractional):
        for kind, known in _KINDS.items():
            if found.parts == known.parts:
                return Ratio(kind, 0.0 if kind == KIND_RECALL else 1.0, 1.0, 1.0, found.cut)
    raise ArgumentError(
        f"{in_python('metric')} must be one whose expectation is known in closed form: any "
        "'f<beta>' or FBeta, "
        f"{spell_out([known.name for known in _KINDS.values()], 'or')}; got {metric!r}"
    )


def _curve(falling: Array, ratio: Ratio, advance: Callable[[int], None]) -> Curve:
    """Expectations for all k, those of 0/0 left out."""
    if is_linear(ratio):
        advance(2 * len(falling))
        return _linear_curve(falling, ratio)
    if 0.0 < falling[0] < TINY:
        return _curve(falling * LIFT, ratio, advance) / LIFT
    n, mean = len(falling), falling.sum()
    curve, parts = np.zeros(n + 1), spans(n, _CHUNK)
    if ratio.kind == KIND_JACCARD:
        nodes = place_nodes(1.0, max(1.0, fewest_true(mean)), n)
        running_sum(falling, np.zeros((2, 1)), curve[1:])
    else:
        fewest, most = range_of_true(mean, n)
        lo, hi = ratio.rate + ratio.b2 * fewest, ratio.rate * n + ratio.b2 * most
        nodes = place_nodes(ratio.b2, lo, hi)
    for part in parts:
        add_log_none(falling[part], nodes.keep, nodes.lose, 1.0, nodes.log_none)
        advance(part.stop - part.start)
    hits = np.zeros((2, nodes.times.size))
    for part in parts:
        out = curve[1:][part]
        if ratio.kind == KIND_JACCARD:
            walk_union(falling[part], part.start, nodes, out, out)
        else:
            walk_f(falling[part], part.start, ratio, fewest, nodes, hits, out)
        advance(len(out))
    return curve


def _linear_curve(falling: Array, ratio: Ratio) -> Curve:
    n = len(falling)
    curve = np.zeros(n + 1)
    running_sum(falling, np.zeros((2, 1)), curve[1:])
    if ratio.kind == KIND_PRECISION:
        curve[1:] /= np.arange(1, n + 1)
        return curve
    right = np.zeros(n + 1)
    running_sum(1.0 - falling[::-1], np.zeros((2, 1)), right[1:])
    return (curve + right[::-1]) / n
