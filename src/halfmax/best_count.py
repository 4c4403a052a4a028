"""How many of a batch's most probable items to predict so that its expected metric is largest.

The ratio of expectations bounds the expectation of the ratio from both sides, so that all but a
stretch of about ``sqrt(n)`` counts k is ruled out by a glance at running sums. Only that stretch of
the expected curve is computed. With ``D = k + b2 mean`` and ``1/x`` convex,

    scale P_k / (D + b2)  <=  E[F_k]  <=  scale P_k / D * (1 + b2^2 var / (D (k + b2))),

where P_k is the sum of the k largest probabilities, and mean and var are those of the number of
true items; the upper bound is ``1/x <= 1/m - (x - m)/m^2 + (x - m)^2 / (m^2 min x)``, expected.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._jit import kernel
from halfmax.expected import (
    CELLS,
    FOUND,
    LIFT,
    SHARE,
    TINY,
    UNION,
    F,
    Ratio,
    add_hits,
    chance_of_none,
    expected_at,
    likely_range,
    place_nodes,
    range_of_true,
    running_sum,
    walk_f,
    walk_union,
)
from halfmax.reciprocal import MOST_LEGENDRE, legendre_nodes

Array = npt.NDArray[Any]

TIE = 1e-14  # relative; values that differ by less count as equal, and then fewer items win
_SLACK = 1e-9  # more than running sums are rounded by


@kernel
def _candidates(
    p: Array, mean: float, var: float, ratio: Ratio, floor: float, first: int, last: int
) -> tuple[int, int]:
    """The first and last k, within these limits, that may beat both `floor` and all others."""
    b2, scale = ratio.b2, ratio.scale
    best, found = floor, 0.0
    for k in range(1, last + 1):
        found += p[k - 1]
        below = k + mean - found if ratio.kind == UNION else k + b2 * mean + b2
        if k >= first and scale * found > best * below:
            best = scale * found / below
    best *= 1.0 - _SLACK
    lowest, highest = last + 1, 0
    found, left = 0.0, var
    for k in range(1, last + 1):
        found += p[k - 1]
        left -= p[k - 1] * (1.0 - p[k - 1])
        if ratio.kind == UNION:
            below = k + mean - found
            excess = max(left, 0.0) / (below * k)
        else:
            below = k + b2 * mean
            excess = (b2 / below) * (b2 / (k + b2)) * var
        if k >= first and scale * found * (1.0 + excess) >= best * below:
            lowest = min(lowest, k)
            highest = k
    return lowest, highest


@kernel
def _expected_f(p: Array, mean: float, ratio: Ratio, first: int, last: int) -> Array:
    fewest, most = range_of_true(mean, p.size)
    lo, hi = ratio.b2 * fewest, ratio.b2 * most
    nodes = place_nodes(p, ratio.b2, ratio.rate * first + lo, ratio.rate * last + hi)
    hits = np.zeros((2, nodes.times.size))
    add_hits(p[:first], nodes.keep, hits)
    out = np.empty(last - first + 1)
    out[0] = expected_at(first, ratio.scale, ratio.rate, nodes, hits)
    walk_f(p[first:last], first, ratio.scale, ratio.rate, lo, nodes, hits, out[1:])
    return out


@kernel
def _expected_f1_short(p: Array, first: int, last: int) -> Array:
    """The same for F1 of few items, where plain products lose nothing and need no logarithm."""
    keep, weights = legendre_nodes((p.size + last + 1) // 2)
    out, decay, hits = np.empty(last - first + 1), np.empty(keep.size), np.zeros(keep.size)
    for j in range(keep.size):
        product = 2.0 * weights[j]
        for i in range(p.size):
            product *= (1.0 - p[i]) + p[i] * keep[j]
        decay[j] = product
    for k in range(1, last + 1):
        hit = p[k - 1] if k <= p.size else 0.0
        total = 0.0
        for j in range(keep.size):
            hits[j] += hit / ((1.0 - hit) + hit * keep[j])
            decay[j] *= keep[j]
            total += decay[j] * hits[j]
        if k >= first:
            out[k - first] = total
    return out


@kernel
def _expected_union(p: Array, mean: float, first: int, last: int) -> Array:
    found = np.zeros(last + 1)
    running_sum(p[:last], np.zeros((2, 1)), found[1:])
    for k in range(p.size + 1, last + 1):
        found[k] = found[k - 1]
    fewest, most = likely_range(max(mean - found[first], 0.0), float(max(p.size - first, 0)))
    nodes = place_nodes(p[first:], 1.0, first + fewest, last + most)
    out = np.empty(last - first + 1)
    out[0] = found[first] * np.sum(nodes.weights * np.exp(nodes.log_none[0] - first * nodes.times))
    walk_union(p[first:last], first, nodes, found[first + 1 :], out[1:])
    return out


@kernel
def _expected(p: Array, mean: float, n_items: int, ratio: Ratio, first: int, last: int) -> Array:
    """The expected metric of each count from `first`, at least 1, to `last`; 0/0 left out."""
    if ratio.kind == UNION:
        return _expected_union(p, mean, first, last)
    if ratio.kind == F and ratio.b2 == 1.0 and p.size + last <= 2 * MOST_LEGENDRE:
        return _expected_f1_short(p, first, last)
    if ratio.kind == F or ratio.kind == FOUND:
        return _expected_f(p, mean, ratio, first, last)
    total, out = np.zeros((2, 1)), np.empty(p.size)
    running_sum(p[:first], total, out)
    if ratio.kind == SHARE:
        return np.full(1, total[0, 0] / first)
    running_sum(1.0 - p[first:], total, out)
    return np.full(1, (total[0, 0] + (n_items - max(first, p.size))) / n_items)


@kernel
def _stretch(
    p: Array, mean: float, ratio: Ratio, floor: float, min_k: int, max_k: int
) -> tuple[int, int]:
    """The first and last count worth a look, beside predicting nothing; the last 0 if none is."""
    first, last = max(min_k, 1), min(max_k, p.size)
    if first > last:  # predict more than can be true, or nothing
        return min_k, min_k
    if ratio.kind == SHARE:
        return first, first
    if ratio.kind == FOUND:
        return last, last
    if ratio.kind == CELLS:
        likely = 0
        while likely < last and p[likely] > 0.5:
            likely += 1
        return max(likely, min_k), max(likely, min_k)
    var = 0.0
    for i in range(p.size):
        var += p[i] * (1.0 - p[i])
    return _candidates(p, mean, var, ratio, floor, first, last)


@kernel
def _worth_of_nothing(
    p: Array, mean: float, n_items: int, ratio: Ratio, zero_division: float
) -> tuple[float, float]:
    """What predicting nothing is expected to earn, and what anything else earns beside hits."""
    if ratio.kind == SHARE:
        return zero_division, 0.0
    if ratio.kind == CELLS:
        return (n_items - mean) / n_items, 0.0
    none = zero_division * chance_of_none(p) if zero_division > 0.0 else 0.0
    return none, none if ratio.kind == FOUND else 0.0  # recall: 0/0 whatever is predicted


@kernel
def _best_count(
    p: Array, n_items: int, ratio: Ratio, zero_division: float, min_k: int, max_k: int
) -> tuple[int, float, int, float]:
    """The best count, what it is expected to reach, and the same for the plug-in threshold."""
    nothing, always = _worth_of_nothing(p, np.sum(p), n_items, ratio, zero_division)
    lift = LIFT if p.size and p[0] < TINY and ratio.kind < SHARE else 1.0
    lifted = p * lift if lift > 1.0 else p
    mean, floor = np.sum(lifted), nothing * lift if min_k == 0 else 0.0
    first, last = _stretch(lifted, mean, ratio, floor, min_k, max_k)
    values, best_k, best = np.zeros(0), 0, nothing
    if 0 < first <= last:
        values = _expected(lifted, mean, n_items, ratio, first, last) + always * lift
        enough = np.max(values) * (1.0 - TIE)
        if min_k > 0 or floor < enough:
            best_k = first
            while values[best_k - first] < enough:
                best_k += 1
            best = values[best_k - first] / lift
    half_k = min(max(_reaching(p, ratio, best), min_k), max_k)
    if half_k == 0:
        half = nothing
    elif first <= half_k <= last:
        half = values[half_k - first] / lift
    else:
        half = _expected(lifted, mean, n_items, ratio, half_k, half_k)[0] / lift + always
    return best_k, best, half_k, half


@kernel
def _reaching(p: Array, ratio: Ratio, best: float) -> int:
    """How many of the items that can be true reach the plug-in threshold of this score."""
    a, b, c, d = ratio.cut
    cut = (a + b * best) / (c + d * best)
    count = 0
    while count < p.size and p[count] >= cut:
        count += 1
    return count


@kernel
def best_counts(
    rising: Array,
    edges: Array,
    n_items: int,
    ratio: Ratio,
    zero_division: float,
    min_k: Array,
    max_k: Array,
    counts: Array,
    values: Array,
    half_counts: Array,
    half_values: Array,
) -> None:
    """For each batch, whose rising probabilities lie between two edges, the best count and more."""
    for batch in range(edges.size - 1):
        p = rising[edges[batch] : edges[batch + 1]][::-1]
        possible = p.size
        while possible > 0 and p[possible - 1] == 0.0:
            possible -= 1
        found = _best_count(
            p[:possible], n_items, ratio, zero_division, min_k[batch], min(max_k[batch], n_items)
        )
        counts[batch], values[batch], half_counts[batch], half_values[batch] = found
