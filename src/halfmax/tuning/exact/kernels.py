"""The loops behind `one`, `buckets`, `choose` and `micro`: buckets of scores, best steps.

The fields of a `Cut` come as the last arguments, in its order.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import INFINITY, fabs, isnan
else:
    from numpy import abs as fabs
    from numpy import inf as INFINITY
    from numpy import isnan

import numpy as np

Score = cython.fused_type(cython.float, cython.double)
Bits = cython.fused_type(cython.int, cython.longlong)
Weight = cython.fused_type(cython.int, cython.longlong, cython.double)
Count = cython.fused_type(cython.longlong, cython.double)

_NOTED = cython.declare(cython.Py_ssize_t, 1 << 10)
_GROUP = cython.declare(cython.Py_ssize_t, 32)
_FEW = cython.declare(cython.Py_ssize_t, 4)


# ---- buckets of one classifier's scores


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _bucket_of(
    score: cython.double,
    bits: cython.longlong,
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> cython.longlong:
    """Return the bucket of a score.

    Floats store sign and magnitude, so the bits of negative ones, read as integers, are in reverse
    order; `least` minus the value reverses them and maps -0.0 to 0.0.
    """
    if even:
        place = (cython.cast(cython.double, score) - low) * scale
        if clipped:
            place = min(max(place, 0.0), size - 1.0)
        return cython.cast(cython.longlong, place)
    return ((bits if bits >= 0 else least - bits) >> shift) - base


def fill_buckets(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    found: cython.longlong[::1],
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> None:
    """Find the bucket of each score."""
    with cython.nogil:
        for i in range(bits.shape[0]):
            found[i] = _bucket_of(
                scores[i], bits[i], size, least, shift, base, even, low, scale, clipped
            )


def count_buckets(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    truth: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    counts: Weight[::1],
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> None:
    """Sum the weights by bucket and class."""
    with cython.nogil:
        for i in range(bits.shape[0]):
            b = _bucket_of(scores[i], bits[i], size, least, shift, base, even, low, scale, clipped)
            counts[2 * b + truth[i]] += weights[i]


def count_unweighted(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    truth: cython.const[cython.uchar][::1],
    counts: cython.int[::1],
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> None:
    """Count rows by bucket and class, without reading weights."""
    with cython.nogil:
        for i in range(bits.shape[0]):
            b = _bucket_of(scores[i], bits[i], size, least, shift, base, even, low, scale, clipped)
            counts[2 * b + truth[i]] += 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _count_inside(
    scores: cython.const[Score][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    low: Score,
    high: Score,
) -> cython.int:
    inside: cython.int = 0
    for i in range(first, last):
        inside += (scores[i] >= low) & (scores[i] <= high)
    return inside


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _note(
    scores: cython.const[Score][::1],
    start: cython.Py_ssize_t,
    low: Score,
    high: Score,
    rare: cython.bint,
    places: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Record the places of scores inside a window, among a few from `start` on.

    A branch for each score would be mispredicted too often. So every place is recorded, and the
    next one overwrites it if the score is outside. If few scores are inside, most groups have none,
    which vector registers find out quickly.
    """
    found: cython.Py_ssize_t = 0
    first: cython.Py_ssize_t = start
    end = min(start + _NOTED, scores.shape[0])
    step = _GROUP if rare else _NOTED
    while first < end:
        last = min(first + step, end)
        if not rare or _count_inside(scores, first, last, low, high):
            for i in range(first, last):
                places[found] = i
                found += (scores[i] >= low) & (scores[i] <= high)
        first += step
    return found


def collect(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    truth: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    window_low: cython.double,
    window_high: cython.double,
    rare: cython.bint,
    rank: cython.const[cython.int][::1],
    keys: cython.longlong[::1],
    hits: cython.uchar[::1],
    heavy: Weight[::1],
    bucket: cython.int[::1],
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> cython.Py_ssize_t:
    """Extract the rows of opened buckets, which `rank` numbers; it is -1 for closed buckets.

    All of these rows are in the window, usually with few others: comparing scores is faster than
    looking up the bucket of each row.
    """
    places: cython.longlong[::1] = np.empty(_NOTED + 1, np.int64)
    taken: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t = 0
    lowest: Score = window_low
    highest: Score = window_high
    bit: cython.longlong
    with cython.nogil:
        while start < bits.shape[0]:
            for k in range(_note(scores, start, lowest, highest, rare, places)):
                i = places[k]
                bit = bits[i]
                b = _bucket_of(scores[i], bit, size, least, shift, base, even, low, scale, clipped)
                keys[taken] = bit if bit >= 0 else least - bit
                hits[taken] = truth[i]
                heavy[taken] = weights[i]
                bucket[taken] = rank[b]
                taken += bucket[taken] >= 0
            start += _NOTED
    return taken


def count_others(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    window_low: cython.double,
    window_high: cython.double,
    rare: cython.bint,
    rank: cython.const[cython.int][::1],
    usual: cython.const[Score][::1],
    others: cython.longlong[::1],
    size: cython.longlong,
    least: cython.longlong,
    shift: cython.int,
    base: cython.longlong,
    even: cython.bint,
    low: cython.double,
    scale: cython.double,
    clipped: cython.bint,
) -> None:
    """Count the rows of opened buckets whose score is not the usual one of their bucket.

    If there are few usual scores, they are counted first: if the window contains nothing else, no
    bucket needs to be looked up.
    """
    places: cython.longlong[::1] = np.empty(_NOTED + 1, np.int64)
    start: cython.Py_ssize_t = 0
    inside: cython.int
    lowest: Score = window_low
    highest: Score = window_high
    with cython.nogil:
        while start < bits.shape[0]:
            inside = 1
            if usual.shape[0] <= _FEW:
                end = min(start + _NOTED, scores.shape[0])
                inside = _count_inside(scores, start, end, lowest, highest)
                for u in range(usual.shape[0]):
                    inside -= _count_inside(scores, start, end, usual[u], usual[u])
            if inside != 0:
                for k in range(_note(scores, start, lowest, highest, rare, places)):
                    i = places[k]
                    b = _bucket_of(
                        scores[i], bits[i], size, least, shift, base, even, low, scale, clipped
                    )
                    r = rank[b]
                    if r >= 0 and scores[i] != usual[r]:
                        others[r] += 1
            start += _NOTED


def find_ends(
    keys: cython.const[cython.ulonglong][::1],
    bucket: cython.const[cython.int][::1],
    low: cython.ulonglong[::1],
    high: cython.ulonglong[::1],
) -> None:
    """Find the lowest and the highest key of each bucket."""
    with cython.nogil:
        for i in range(keys.shape[0]):
            low[bucket[i]] = min(low[bucket[i]], keys[i])
            high[bucket[i]] = max(high[bucket[i]], keys[i])


def count_finer(
    keys: cython.const[cython.ulonglong][::1],
    truth: cython.const[cython.uchar][::1],
    weights: cython.const[Count][::1],
    bucket: cython.const[cython.int][::1],
    low: cython.const[cython.ulonglong][::1],
    first: cython.const[cython.longlong][::1],
    shift: cython.ulonglong,
    finer: cython.int[::1],
    counts: Count[::1],
) -> None:
    """Count by class in finer buckets; `first` is the lowest finer bucket of each bucket."""
    with cython.nogil:
        for i in range(keys.shape[0]):
            b = bucket[i]
            place = first[b] + cython.cast(cython.longlong, (keys[i] - low[b]) >> shift)
            finer[i] = place
            counts[2 * place + truth[i]] += weights[i]


# ---- the best step of each label


def first_best(
    offsets: cython.const[cython.longlong][::1],
    value: cython.const[cython.double][:],
    none_value: cython.const[cython.double][:],
    no_step: cython.longlong,
    step: cython.longlong[::1],
) -> None:
    """Find each label's best step, the highest among equals.

    It is `no_step` if predicting nothing is at least as good.
    """
    best: cython.double
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            best = -INFINITY if isnan(none_value[j]) else none_value[j]
            step[j] = no_step
            for k in range(offsets[j], offsets[j + 1]):
                if value[k - offsets[0]] > best:
                    best = value[k - offsets[0]]
                    step[j] = k


def best_linear(
    offsets: cython.const[cython.longlong][::1],
    tp: cython.const[Count][::1],
    predicted: cython.const[Count][::1],
    per_hit: cython.double,
    per_prediction: cython.double,
    rounding: cython.double,
    no_step: cython.longlong,
    step: cython.longlong[::1],
) -> None:
    """Find each label's step with the largest weighted sum; predicting nothing is worth 0.

    Sums that differ by no more than rounding are ties, which the higher threshold wins; predicting
    nothing wins every tie.
    """
    best: cython.double
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            best = 0.0
            step[j] = no_step
            for k in range(offsets[j], offsets[j + 1]):
                hits, others = per_hit * tp[k], per_prediction * predicted[k]
                if hits + others > best + rounding * (fabs(hits) + fabs(others)):
                    best = hits + others
                    step[j] = k


def concave_steps(
    offsets: cython.const[cython.longlong][::1],
    tp: cython.const[Count][::1],
    predicted: cython.const[Count][::1],
    kept: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Find the corners of each label's concave hull in (predicted, tp), without the origin."""
    written: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            start = written
            for k in range(offsets[j], offsets[j + 1]):
                while written > start:
                    last = kept[written - 1]
                    before_tp: cython.double = 0.0
                    before: cython.double = 0.0
                    if written - 1 > start:
                        before_tp = tp[kept[written - 2]]
                        before = predicted[kept[written - 2]]
                    # The last corner stays if the slope to it is at least the slope on from it.
                    if (tp[last] - before_tp) * (predicted[k] - predicted[last]) >= (
                        tp[k] - tp[last]
                    ) * (predicted[last] - before):
                        break
                    written -= 1
                kept[written] = k
                written += 1
    return written
