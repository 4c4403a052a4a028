"""How many of a batch's most probable items to predict so that its expected metric is largest.

The ratio of expectations bounds the expectation of the ratio from below and above. Running sums
therefore rule out all counts k except a stretch of about ``sqrt(n)`` of them, and only that stretch
of the expected curve is computed. With ``D = k + b2 mean`` and ``1/x`` convex,

    scale P_k / (D + b2)  <=  E[F_k]  <=  scale P_k / D * (1 + b2^2 var / (D (k + b2 fewest))),

where P_k is the sum of the k largest probabilities, mean and var are those of the number of true
items, and the probability that fewer than `fewest` items are true is negligible.
``docs/expected-f.md`` derives both bounds, and those for Jaccard.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.jit import kernel, summing_kernel
from halfmax._core.types import Array
from halfmax.expected.numba_walks import (
    KIND_ACCURACY,
    KIND_JACCARD,
    KIND_PRECISION,
    KIND_RECALL,
    LIFT,
    TINY,
    Ratio,
    add_exactly,
    add_hits,
    add_log_none,
    chance_of_none,
    expected_at,
    fewest_true,
    is_linear,
    most_true,
    place_nodes,
    range_of_true,
    running_sum,
    walk_f,
    walk_union,
)
from halfmax.expected.short_batches import LANES, MOST_SHORT, REACHES, expected_in_lanes

TIE = 1e-14  # relative; values that differ by less count as equal, and the smaller count wins
_SLACK = 1e-9  # more than the rounding errors of running sums


class Batches(NamedTuple):
    """Probabilities of all batches, one after another, rising within each; zeros may be absent."""

    rising: Array
    edges: Array
    n_items: int


class CountRule(NamedTuple):
    """The metric to maximise, and the fewest and most items to predict in each batch."""

    ratio: Ratio
    zero_division: float
    min_k: Array
    max_k: Array


class BestCounts(NamedTuple):
    """For each batch: the best count, its expected metric, and the same for the plug-in rule."""

    counts: Array
    values: Array
    thresholds: Array  # the lowest probability predicted, +inf if no item is
    at_threshold: Array  # how many of the predicted items are equal to the threshold
    half_thresholds: Array
    half_counts: Array
    half_values: Array


class _Stretches(NamedTuple):
    """What is known about each batch, and its first and last candidate count (0 if none)."""

    sizes: Array  # how many items can be true
    means: Array  # how many items are expected to be true
    nothing: Array  # the expected metric of predicting nothing
    lifts: Array  # the factor that scales subnormal probabilities up to numbers with full digits
    first: Array
    last: Array


@kernel
def _candidates(
    p: Array, mean: float, var: float, ratio: Ratio, floor: float, first: int, last: int
) -> tuple[int, int]:
    """The first and last k within the limits that may beat both `floor` and all other counts."""
    b2, scale = ratio.b2, ratio.scale
    fewest, _ = range_of_true(mean, p.size)
    best, found = floor, 0.0
    for k in range(1, last + 1):
        found += p[k - 1]
        below = k + mean - found if ratio.kind == KIND_JACCARD else k + b2 * mean + b2
        if k >= first and scale * found > best * below:
            best = scale * found / below
    best *= 1.0 - _SLACK
    lowest, highest = last + 1, 0
    found, left = 0.0, var
    for k in range(1, last + 1):
        found += p[k - 1]
        left -= p[k - 1] * (1.0 - p[k - 1])
        if ratio.kind == KIND_JACCARD:
            below = k + mean - found
            excess = max(left, 0.0) / (below * k)
        else:
            below = k + b2 * mean
            excess = (b2 / below) * (b2 / (k + b2 * fewest)) * var
        if k >= first and scale * found * (1.0 + excess) >= best * below:
            lowest = min(lowest, k)
            highest = k
    return (lowest, highest) if highest else (0, 0)


@kernel
def _expected_f(p: Array, mean: float, ratio: Ratio, first: int, last: int) -> Array:
    fewest, most = range_of_true(mean, p.size)
    lo, hi = ratio.b2 * fewest, ratio.b2 * most
    nodes = place_nodes(ratio.b2, ratio.rate * first + lo, ratio.rate * last + hi)
    add_log_none(p, nodes.keep, nodes.lose, 1.0, nodes.log_none)
    hits = np.zeros((2, nodes.times.size))
    add_hits(p[:first], nodes.keep, hits)
    out = np.empty(last - first + 1)
    out[0] = expected_at(first, ratio, nodes, hits)
    walk_f(p[first:last], first, ratio, fewest, nodes, hits, out[1:])
    return out


@kernel
def _expected_union(p: Array, mean: float, first: int, last: int) -> Array:
    found = np.zeros(last + 1)
    running_sum(p[:last], np.zeros((2, 1)), found[1:])
    for k in range(p.size + 1, last + 1):
        found[k] = found[k - 1]
    rest = max(mean - found[first], 0.0)
    nodes = place_nodes(1.0, first + fewest_true(rest), last + most_true(rest, p.size - first))
    add_log_none(p[first:], nodes.keep, nodes.lose, 1.0, nodes.log_none)
    out = np.empty(last - first + 1)
    out[0] = 0.0
    for j in range(nodes.times.size):
        power = nodes.log_none[0, j] - first * nodes.times[j]
        out[0] += found[first] * nodes.weights[j] * np.exp(power)
    walk_union(p[first:last], first, nodes, found[first + 1 :], out[1:])
    return out


@kernel
def _stretch(
    p: Array, mean: float, ratio: Ratio, floor: float, min_k: int, max_k: int
) -> tuple[int, int]:
    """The first and last candidate count besides predicting nothing; 0 if there is none."""
    first, last = max(min_k, 1), min(max_k, p.size)
    if first > last:  # the limits ask for more items than can be true, or for none
        return min_k, min_k
    if ratio.kind == KIND_PRECISION:
        return first, first
    if ratio.kind == KIND_RECALL:
        return last, last
    if ratio.kind == KIND_ACCURACY:
        likely = 0
        while likely < last and p[likely] > 0.5:
            likely += 1
        return max(likely, min_k), max(likely, min_k)
    var = 0.0
    for i in range(p.size):
        var += p[i] * (1.0 - p[i])
    return _candidates(p, mean, var, ratio, floor, first, last)


@kernel
def _value_of_nothing(p: Array, n_items: int, ratio: Ratio, zero_division: float) -> float:
    """The expected metric of predicting nothing."""
    if ratio.kind == KIND_PRECISION:
        return zero_division
    if ratio.kind == KIND_ACCURACY:
        total = np.zeros((2, 1))
        for i in range(p.size):
            add_exactly(total, 0, 1.0 - p[i])
        impossible = n_items - p.size  # added separately, so that a small sum keeps its digits
        return float(total[0, 0] + impossible) / n_items
    return zero_division * chance_of_none(p) if zero_division > 0.0 else 0.0


@kernel
def _possible(batches: Batches, batch: int) -> Array:
    """The nonzero probabilities of a batch, from high to low."""
    p = batches.rising[batches.edges[batch] : batches.edges[batch + 1]][::-1]
    size = p.size
    while size > 0 and p[size - 1] == 0.0:
        size -= 1
    return p[:size]


@summing_kernel
def _total(p: Array) -> float:
    total = 0.0
    for i in range(p.size):
        total += p[i]
    return total


@kernel
def _find_stretches(batches: Batches, rule: CountRule, stretches: _Stretches) -> None:
    ratio = rule.ratio
    for batch in range(batches.edges.size - 1):
        p = _possible(batches, batch)
        lift = LIFT if p.size and p[0] < TINY and not is_linear(ratio) else 1.0
        mean, min_k = _total(p), rule.min_k[batch]
        nothing = _value_of_nothing(p, batches.n_items, ratio, rule.zero_division)
        floor = nothing * lift if min_k == 0 and ratio.kind != KIND_RECALL else 0.0
        lifted = p * lift if lift > 1.0 else p
        first, last = _stretch(lifted, mean * lift, ratio, floor, min_k, rule.max_k[batch])
        stretches.sizes[batch], stretches.means[batch] = p.size, mean
        stretches.nothing[batch], stretches.lifts[batch] = nothing, lift
        stretches.first[batch], stretches.last[batch] = first, last


@kernel
def _fill_linear(
    batches: Batches, ratio: Ratio, stretches: _Stretches, starts: Array, out: Array
) -> None:
    """Fill in precision or accuracy, which have a single candidate count in each batch."""
    for batch in range(batches.edges.size - 1):
        p, k, total = _possible(batches, batch), stretches.first[batch], np.zeros((2, 1))
        if k == 0:
            continue
        for i in range(min(k, p.size)):
            add_exactly(total, 0, p[i])
        if ratio.kind == KIND_PRECISION:
            out[starts[batch]] = total[0, 0] / k
            continue
        for i in range(k, p.size):
            add_exactly(total, 0, 1.0 - p[i])
        impossible = batches.n_items - max(k, p.size)
        out[starts[batch]] = (total[0, 0] + impossible) / batches.n_items


@kernel
def _fill_short(
    batches: Batches,
    ratio: Ratio,
    stretches: _Stretches,
    reaches: Array,
    chosen: Array,
    starts: Array,
    out: Array,
) -> None:
    """Fill in the chosen batches, a few at a time in parallel lanes.

    Only batches of the same reach share their nodes, so no answer depends on the neighbours.
    """
    end = 0
    while end < chosen.size:
        begin, size, last = end, 0, 0
        reach = reaches[chosen[begin]]
        while end < min(begin + LANES, chosen.size) and reaches[chosen[end]] == reach:
            size = max(size, stretches.sizes[chosen[end]])
            last = max(last, stretches.last[chosen[end]])
            end += 1
        some, p = chosen[begin:end], np.zeros((size, LANES))
        for lane in range(some.size):
            falling = _possible(batches, some[lane])
            for i in range(falling.size):
                p[i, lane] = falling[i]
        curve = expected_in_lanes(p, last, reach, ratio)
        for lane in range(some.size):
            first, start = stretches.first[some[lane]], starts[some[lane]]
            for k in range(first, stretches.last[some[lane]] + 1):
                out[start + k - first] = curve[k - 1, lane]


@kernel
def _pick(floors: Array, first: Array, starts: Array, curve: Array, counts: Array) -> None:
    """Choose the best count of each batch, the smallest among ties; 0 if none beats the floor."""
    for batch in range(counts.size):
        values = curve[starts[batch] : starts[batch + 1]]
        counts[batch] = 0
        if values.size:
            enough = values.max() * (1.0 - TIE)
            if floors[batch] < enough:
                counts[batch] = first[batch]
                while values[counts[batch] - first[batch]] < enough:
                    counts[batch] += 1


@kernel
def _find_thresholds(
    batches: Batches, counts: Array, thresholds: Array, at_threshold: Array
) -> None:
    for batch in range(counts.size):
        p, k = _possible(batches, batch), counts[batch]
        thresholds[batch], at_threshold[batch] = np.inf, 0
        if k > 0:
            lowest = p[k - 1] if k <= p.size else 0.0
            above = min(k, p.size)
            while above > 0 and p[above - 1] == lowest:
                above -= 1
            thresholds[batch], at_threshold[batch] = lowest, k - above


@kernel
def _count_reaching(batches: Batches, thresholds: Array, counts: Array) -> None:
    """Count the items of each batch that can be true and reach its threshold."""
    for batch in range(counts.size):
        p = _possible(batches, batch)
        counts[batch] = 0
        while counts[batch] < p.size and p[counts[batch]] >= thresholds[batch]:
            counts[batch] += 1


def best_counts(batches: Batches, rule: CountRule) -> BestCounts:
    """Find the best count of each batch, and what the plug-in threshold of its score gives."""
    n_batches = len(batches.edges) - 1
    sizes, first, last, counts, half_counts, at_threshold = np.empty((6, n_batches), np.int64)
    means, nothing, lifts, thresholds = np.empty((4, n_batches))
    stretches = _Stretches(sizes, means, nothing, lifts, first, last)
    _find_stretches(batches, rule, stretches)
    starts, curve = _curve_of_stretches(batches, rule.ratio, stretches)
    always = nothing if rule.ratio.kind == KIND_RECALL else np.zeros(n_batches)
    floors = np.where(rule.min_k > 0, -np.inf, (nothing - always) * lifts)
    _pick(floors, first, starts, curve, counts)

    def expected(k: Array) -> Array:
        """The expected metric of these counts, one for each batch."""
        inside = (k >= first) & (k <= last) & (k > 0)
        values, outside = nothing.copy(), (k > 0) & ~inside
        values[inside] = curve[(starts[:-1] + k - first)[inside]]
        if outside.any():
            alone = np.where(outside, k, 0)
            others = stretches._replace(first=alone, last=alone)
            _, values[outside] = _curve_of_stretches(batches, rule.ratio, others)
        return np.where(k > 0, values / lifts + always, nothing)

    values = expected(counts)
    a, b, c, d = rule.ratio.cut
    half_thresholds = (a + b * values) / (c + d * values)
    _count_reaching(batches, half_thresholds, half_counts)
    np.clip(half_counts, rule.min_k, rule.max_k, out=half_counts)
    _find_thresholds(batches, counts, thresholds, at_threshold)
    return BestCounts(
        counts=counts,
        values=values,
        thresholds=thresholds,
        at_threshold=at_threshold,
        half_thresholds=half_thresholds,
        half_counts=half_counts,
        half_values=expected(half_counts),
    )


def _curve_of_stretches(
    batches: Batches, ratio: Ratio, stretches: _Stretches
) -> tuple[Array, Array]:
    """Return the curve of all stretches, one after another, after the places where they start."""
    first, last, sizes = stretches.first, stretches.last, stretches.sizes
    starts = np.append(0, np.cumsum(np.where(first > 0, last - first + 1, 0)))
    curve = np.empty(starts[-1])
    if is_linear(ratio):
        _fill_linear(batches, ratio, stretches, starts, curve)
        return starts, curve
    short = (sizes <= MOST_SHORT) & (last <= sizes) & (stretches.lifts == 1.0)
    if (short & (first > 0)).any():
        reaches = REACHES * -(-(sizes + last) // REACHES)
        chosen = np.flatnonzero(short & (first > 0))
        chosen = chosen[np.argsort(reaches[chosen], kind="stable")]
        _fill_short(batches, ratio, stretches, reaches, chosen, starts, curve)
    for batch in np.flatnonzero(~short & (first > 0)):
        end, lift = batches.edges[batch + 1], stretches.lifts[batch]
        p = batches.rising[end - sizes[batch] : end][::-1]
        p = p * lift if lift > 1.0 else p
        mean = stretches.means[batch] * lift
        if ratio.kind == KIND_JACCARD:
            values = _expected_union(p, mean, first[batch], last[batch])
        else:
            values = _expected_f(p, mean, ratio, first[batch], last[batch])
        curve[starts[batch] : starts[batch + 1]] = values
    return starts, curve
