"""How many of a batch's most probable items to predict so that its expected metric is largest.

The ratio of expectations bounds the expectation of the ratio from below and above. Running sums
therefore rule out all counts k except a stretch of about ``sqrt(n)`` of them, and only that stretch
of the expected curve is computed. With ``D = k + b2 mean`` and ``1/x`` convex,

    scale P_k / (D + b2)  <=  E[F_k]  <=  scale P_k / D * (1 + b2^2 var / (D (k + b2 fewest))),

where P_k is the sum of the k largest probabilities, mean and var are those of the number of true
items, and the probability that fewer than `fewest` items are true is negligible.
``docs/expected-f.md`` derives both bounds, and those for Jaccard.
"""

import numpy as np

from halfmax._core.reciprocal import MOST_NODES, UNIT, count_nodes
from halfmax._core.types import Array
from halfmax.expected import batch_kernels, kernels
from halfmax.expected.batches import Batches, BestCounts, CountRule, Stretches
from halfmax.expected.nodes import NODE_ROWS, chances_of_none
from halfmax.expected.ratio import (
    KIND_ACCURACY,
    KIND_JACCARD,
    KIND_PRECISION,
    KIND_RECALL,
    LIFT,
    TINY,
    Ratio,
    fewest_given_one,
    fewest_true,
    most_given_one,
    most_true,
)
from halfmax.expected.short_batches import MOST_SHORT, fill_short

TIE = 1e-14  # relative; values that differ by less count as equal, and the smaller count wins
_LIKELIER = np.nextafter(0.5, 1.0)  # an item that reaches this is more likely true than not


def best_counts(batches: Batches, rule: CountRule) -> BestCounts:
    """Find the best count of each batch, and what the plug-in threshold of its score gives."""
    n_batches = len(batches.edges) - 1
    stretches = _find_stretches(batches, rule)
    ends, sizes, first, last = stretches.ends, stretches.sizes, stretches.first, stretches.last
    starts, curve = _curve_of_stretches(batches, rule.ratio, stretches)
    nothing = stretches.nothing
    always = nothing if rule.ratio.kind == KIND_RECALL else np.zeros(n_batches)
    floors = np.where(rule.min_k > 0, -np.inf, (nothing - always) * stretches.lifts)
    counts, half_counts, at_threshold = np.empty((3, n_batches), np.int64)
    batch_kernels.pick(floors, first, starts, curve, TIE, counts)

    def expected(k: Array) -> Array:
        """The expected metric of these counts, one for each batch."""
        inside = (k >= first) & (k <= last) & (k > 0)
        values, outside = nothing.copy(), (k > 0) & ~inside
        values[inside] = curve[(starts[:-1] + k - first)[inside]]
        if outside.any():
            alone = np.where(outside, k, 0)
            others = stretches._replace(first=alone, last=alone)
            _, values[outside] = _curve_of_stretches(batches, rule.ratio, others)
        return np.where(k > 0, values / stretches.lifts + always, nothing)

    values, thresholds = expected(counts), np.empty(n_batches)
    a, b, c, d = rule.ratio.cut
    half_thresholds = (a + b * values) / (c + d * values)
    batch_kernels.count_reaching(batches.rising, ends, sizes, half_thresholds, half_counts)
    np.clip(half_counts, rule.min_k, rule.max_k, out=half_counts)
    batch_kernels.find_thresholds(batches.rising, ends, sizes, counts, thresholds, at_threshold)
    return BestCounts(
        counts=counts,
        values=values,
        thresholds=thresholds,
        at_threshold=at_threshold,
        half_thresholds=half_thresholds,
        half_counts=half_counts,
        half_values=expected(half_counts),
    )


def _find_stretches(batches: Batches, rule: CountRule) -> Stretches:
    ratio, ends = rule.ratio, batches.edges[1:]
    sizes, means = np.empty(len(ends), np.int64), np.empty(len(ends))
    batch_kernels.measure(batches.rising, batches.edges, sizes, means)
    lifts = np.ones(len(ends))
    if not ratio.is_linear:
        some = sizes > 0
        lifts[some] = np.where(batches.rising[ends[some] - 1] < TINY, LIFT, 1.0)
    none = np.zeros(len(ends), np.int64)
    stretches = Stretches(ends, sizes, means, np.zeros(len(ends)), lifts, none, none)
    nothing = _value_of_nothing(batches, rule, stretches)
    first, last = _candidates(batches, rule, stretches._replace(nothing=nothing))
    return stretches._replace(nothing=nothing, first=first, last=last)


def _value_of_nothing(batches: Batches, rule: CountRule, stretches: Stretches) -> Array:
    """Return the expected metric of predicting nothing in each batch."""
    if rule.ratio.kind == KIND_PRECISION:
        return np.full(len(stretches.sizes), rule.zero_division)
    if rule.ratio.kind == KIND_ACCURACY:
        return _linear_values(batches, rule.ratio, stretches)
    if rule.zero_division > 0.0:
        chances = chances_of_none(batches.rising, stretches.ends, stretches.sizes)
        return rule.zero_division * chances
    return np.zeros(len(stretches.sizes))


def _candidates(batches: Batches, rule: CountRule, stretches: Stretches) -> tuple[Array, Array]:
    """Return the first and last candidate count besides predicting nothing; 0 if there is none."""
    kind, sizes = rule.ratio.kind, stretches.sizes
    first, last = np.maximum(rule.min_k, 1), np.minimum(rule.max_k, sizes)
    # The limits may ask for more items than can be true, or for none.
    bound = first > last
    if kind == KIND_PRECISION:
        last = first
    elif kind == KIND_RECALL:
        first = last
    elif kind == KIND_ACCURACY:
        likely = np.empty(len(sizes), np.int64)
        thresholds = np.full(len(sizes), _LIKELIER)
        batch_kernels.count_reaching(batches.rising, stretches.ends, sizes, thresholds, likely)
        first = last = np.maximum(np.minimum(likely, last), rule.min_k)
    else:
        means = stretches.means * stretches.lifts
        floors = np.where(rule.min_k == 0, stretches.nothing * stretches.lifts, 0.0)
        first, last = first.copy(), last.copy()
        batch_kernels.find_candidates(
            batches.rising,
            stretches.ends,
            sizes,
            means,
            stretches.lifts,
            fewest_given_one(means),
            floors,
            kind == KIND_JACCARD,
            rule.ratio.b2,
            rule.ratio.scale,
            first,
            last,
        )
    return np.where(bound, rule.min_k, first), np.where(bound, rule.min_k, last)


def _curve_of_stretches(
    batches: Batches, ratio: Ratio, stretches: Stretches
) -> tuple[Array, Array]:
    """Return the curve of all stretches, one after another, after the places where they start."""
    first, last, sizes = stretches.first, stretches.last, stretches.sizes
    starts = np.append(0, np.cumsum(np.where(first > 0, last - first + 1, 0)))
    if ratio.is_linear:  # a single candidate count in each batch
        return starts, _linear_values(batches, ratio, stretches)[first > 0]
    curve = np.empty(starts[-1])
    short = (sizes <= MOST_SHORT) & (last <= sizes) & (stretches.lifts == 1.0)
    if (short & (first > 0)).any():
        chosen = np.flatnonzero(short & (first > 0))
        fill_short(batches.rising, ratio, stretches, chosen, starts, curve)
    if (~short & (first > 0)).any():
        _fill_long(batches, ratio, stretches, np.flatnonzero(~short & (first > 0)), starts, curve)
    return starts, curve


def _linear_values(batches: Batches, ratio: Ratio, stretches: Stretches) -> Array:
    """Return the expected precision or accuracy of the first candidate count of each batch."""
    counts, sums = stretches.first, np.empty(len(stretches.sizes))
    misses = ratio.kind == KIND_ACCURACY
    batch_kernels.sum_predicted(
        batches.rising, stretches.ends, stretches.sizes, counts, misses, sums
    )
    if not misses:
        return sums / np.maximum(counts, 1)
    impossible = batches.n_items - np.maximum(counts, stretches.sizes)
    correct: Array = sums + impossible  # added last, so that a small sum keeps its digits
    return correct / batches.n_items


def _fill_long(
    batches: Batches, ratio: Ratio, stretches: Stretches, chosen: Array, starts: Array, out: Array
) -> None:
    """Fill in the expected metric of the chosen batches, one after the other."""
    sizes, first, last = (
        part[chosen] for part in (stretches.sizes, stretches.first, stretches.last)
    )
    means, union = (stretches.means * stretches.lifts)[chosen], ratio.kind == KIND_JACCARD
    if union:
        fewest, found = np.zeros(len(chosen)), np.empty(len(stretches.sizes))
        batch_kernels.sum_predicted(
            batches.rising, stretches.ends, stretches.sizes, stretches.first, False, found
        )
        rest = np.maximum(means - (found * stretches.lifts)[chosen], 0.0)
        lo, hi = first + fewest_true(rest), last + most_true(rest, sizes - first)
    else:
        fewest, most = fewest_given_one(means), most_given_one(means, sizes)
        lo, hi = ratio.rate * first + ratio.b2 * fewest, ratio.rate * last + ratio.b2 * most
    kernels.fill_long(
        batches.rising,
        stretches.ends,
        stretches.sizes,
        stretches.lifts,
        stretches.first,
        stretches.last,
        starts,
        chosen,
        union,
        ratio.rate,
        ratio.b2,
        ratio.scale,
        UNIT,
        count_nodes(lo, hi),
        hi,
        fewest,
        np.empty(max(sizes.max(), last.max())),
        np.empty((NODE_ROWS, MOST_NODES)),
        out,
    )
