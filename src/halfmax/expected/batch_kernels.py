"""The loops over many batches behind `decide` and `decide_joint`.

The items of a batch that can be true, from high to low, are the `sizes[batch]` numbers of `rising`
before ``ends[batch]``, read backwards.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from numpy import inf as INFINITY

Number = cython.fused_type(cython.float, cython.double)
Index = cython.fused_type(cython.int, cython.longlong)

_SLACK = cython.declare(cython.double, 1e-9)  # more than the rounding errors of running sums


# ---- what is in a batch


def measure(
    rising: cython.const[cython.double][::1],
    edges: cython.const[cython.longlong][:],
    sizes: cython.longlong[::1],
    means: cython.double[::1],
) -> None:
    """Count the items of each batch that can be true, and sum their probabilities."""
    total = cython.declare(cython.double[4])
    i: cython.longlong
    with cython.nogil:
        for batch in range(sizes.shape[0]):
            begin, end = edges[batch], edges[batch + 1]
            while begin < end and rising[begin] == 0.0:
                begin += 1
            sizes[batch] = end - begin
            total[0] = total[1] = total[2] = total[3] = 0.0
            i = begin
            while i + 4 <= end:
                for lane in range(4):
                    total[lane] += rising[i + lane]
                i += 4
            while i < end:
                total[0] += rising[i]
                i += 1
            means[batch] = (total[0] + total[2]) + (total[1] + total[3])


def count_reaching(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    thresholds: cython.const[cython.double][:],
    counts: cython.longlong[::1],
) -> None:
    """Count the items of each batch that can be true and reach its threshold."""
    with cython.nogil:
        for batch in range(sizes.shape[0]):
            end = ends[batch]
            counts[batch] = 0
            while (
                counts[batch] < sizes[batch]
                and rising[end - 1 - counts[batch]] >= thresholds[batch]
            ):
                counts[batch] += 1


def sum_predicted(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    counts: cython.const[cython.longlong][:],
    misses: cython.bint,
    sums: cython.double[::1],
) -> None:
    """Sum p over the predicted items of each batch and, for `misses`, 1 - p over the others.

    Kahan's summation: each sum is rounded once.
    """
    value: cython.double
    with cython.nogil:
        for batch in range(sizes.shape[0]):
            end, k = ends[batch], counts[batch]
            total: cython.double = 0.0
            error: cython.double = 0.0
            for i in range(sizes[batch] if misses else min(k, sizes[batch])):
                value = rising[end - 1 - i]
                if i >= k:
                    value = 1.0 - value
                value -= error
                new = total + value
                error = (new - total) - value
                total = new
            sums[batch] = total


# ---- which counts can be best


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _variance(
    rising: cython.const[cython.double][::1],
    end: cython.longlong,
    size: cython.longlong,
    lift: cython.double,
) -> cython.double:
    """The variance of the number of true items."""
    total: cython.double = 0.0
    for i in range(1, size + 1):
        hit = rising[end - i] * lift
        total += hit * (1.0 - hit)
    return total


def find_candidates(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    means: cython.const[cython.double][:],
    lifts: cython.const[cython.double][:],
    fewest: cython.const[cython.double][:],
    floors: cython.const[cython.double][:],
    union: cython.bint,
    b2: cython.double,
    scale: cython.double,
    first: cython.longlong[::1],
    last: cython.longlong[::1],
) -> None:
    """Narrow `first` to `last` to the counts that may beat both the floor and all other counts.

    Both become 0 if there is none; a batch with ``first > last`` is left alone. Probabilities are
    scaled up by the lift of their batch, as `means` and `floors` are already. `union` is True for
    Jaccard, whose denominator is the size of a union.
    """
    best: cython.double
    found: cython.double
    left: cython.double
    below: cython.double
    excess: cython.double
    lowest: cython.longlong
    highest: cython.longlong
    with cython.nogil:
        for batch in range(first.shape[0]):
            if first[batch] > last[batch]:
                continue
            end, mean, lift = ends[batch], means[batch], lifts[batch]
            var = _variance(rising, end, sizes[batch], lift)
            best, found = floors[batch], 0.0
            for k in range(1, last[batch] + 1):
                found += rising[end - k] * lift
                below = k + mean - found if union else k + b2 * mean + b2
                if k >= first[batch] and scale * found > best * below:
                    best = scale * found / below
            best *= 1.0 - _SLACK
            lowest, highest = 0, 0
            found, left = 0.0, var
            for k in range(1, last[batch] + 1):
                hit = rising[end - k] * lift
                found += hit
                left -= hit * (1.0 - hit)
                if union:
                    below = k + mean - found
                    excess = max(left, 0.0) / (below * k)
                else:
                    below = k + b2 * mean
                    excess = (b2 / below) * (b2 / (k + b2 * fewest[batch])) * var
                if k >= first[batch] and scale * found * (1.0 + excess) >= best * below:
                    highest = k
                    if lowest == 0:
                        lowest = k
            first[batch], last[batch] = lowest, highest


# ---- which count is best


def pick(
    floors: cython.const[cython.double][:],
    first: cython.const[cython.longlong][:],
    starts: cython.const[cython.longlong][:],
    curve: cython.const[cython.double][:],
    tie: cython.double,
    counts: cython.longlong[::1],
) -> None:
    """Choose the best count of each batch, the smallest among ties; 0 if none beats the floor.

    The values of the counts from `first` on are those of `curve` from `starts` on.
    """
    with cython.nogil:
        for batch in range(counts.shape[0]):
            begin, end = starts[batch], starts[batch + 1]
            counts[batch] = 0
            if begin < end:
                most: cython.double = curve[begin]
                for e in range(begin + 1, end):
                    most = max(most, curve[e])
                most *= 1.0 - tie
                if floors[batch] < most:
                    counts[batch] = first[batch]
                    while curve[begin + counts[batch] - first[batch]] < most:
                        counts[batch] += 1


def find_thresholds(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    counts: cython.const[cython.longlong][:],
    thresholds: cython.double[::1],
    at_threshold: cython.longlong[::1],
) -> None:
    """Find the lowest probability predicted in each batch, and how many of its items have it."""
    above: cython.longlong
    with cython.nogil:
        for batch in range(counts.shape[0]):
            end, k = ends[batch], counts[batch]
            thresholds[batch], at_threshold[batch] = INFINITY, 0
            if k > 0:
                lowest: cython.double = rising[end - k] if k <= sizes[batch] else 0.0
                above = min(k, sizes[batch])
                while above > 0 and rising[end - above] == lowest:
                    above -= 1
                thresholds[batch], at_threshold[batch] = lowest, k - above


# ---- from thresholds to predictions


def mark(
    batches: cython.const[cython.double][:, :],
    thresholds: cython.const[cython.double][:],
    at_threshold: cython.const[cython.longlong][:],
    out: cython.schar[:, :],
) -> None:
    """Mark with 1 the items above the threshold and the first `at_threshold` equal to it."""
    left: cython.longlong
    with cython.nogil:
        for batch in range(batches.shape[0]):
            threshold, left = thresholds[batch], at_threshold[batch]
            for i in range(batches.shape[1]):
                value = batches[batch, i]
                out[batch, i] = value > threshold
                if value == threshold and left > 0:
                    out[batch, i] = 1
                    left -= 1


def mark_stored(
    data: cython.const[Number][:],
    indices: cython.const[Index][:],
    edges: cython.const[cython.longlong][:],
    thresholds: cython.const[cython.double][:],
    at_threshold: cython.const[cython.longlong][:],
    ends: cython.const[cython.longlong][:],
    out: Index[:],
) -> None:
    """Write the places predicted in each batch; absent entries have probability 0."""
    left: cython.longlong
    to: cython.longlong
    absent: cython.longlong
    with cython.nogil:
        for batch in range(edges.shape[0] - 1):
            threshold, left, to = thresholds[batch], at_threshold[batch], ends[batch]
            absent = 0
            for e in range(edges[batch], edges[batch + 1]):
                while threshold == 0.0 and absent < indices[e] and left > 0:
                    out[to] = absent
                    to, left, absent = to + 1, left - 1, absent + 1
                absent = indices[e] + 1
                if data[e] > threshold or (data[e] == threshold and left > 0):
                    left -= data[e] == threshold
                    out[to] = indices[e]
                    to += 1
            while to < ends[batch + 1]:
                out[to] = absent
                to, absent = to + 1, absent + 1


def spread(
    data: cython.const[Number][:],
    edges: cython.const[cython.longlong][:],
    out: cython.double[:, ::1],
) -> None:
    """Write each batch into a row of its own."""
    with cython.nogil:
        for batch in range(edges.shape[0] - 1):
            for e in range(edges[batch], edges[batch + 1]):
                out[batch, e - edges[batch]] = data[e]


# ---- dependent items


def sum_tails(
    gains: cython.const[cython.double][:, :, ::1],
    first: cython.Py_ssize_t,
    out: cython.double[:, :],
) -> None:
    """Sum the last k gains of each instance, for k = first, first + 1, ..."""
    total = cython.declare(cython.double[4])
    i: cython.Py_ssize_t
    end: cython.Py_ssize_t = gains.shape[2]
    with cython.nogil:
        for b in range(gains.shape[0]):
            for row in range(gains.shape[1]):
                i = end - first - row
                total[0] = total[1] = total[2] = total[3] = 0.0
                while i + 4 <= end:
                    for lane in range(4):
                        total[lane] += gains[b, row, i + lane]
                    i += 4
                while i < end:
                    total[0] += gains[b, row, i]
                    i += 1
                out[b, row] = (total[0] + total[2]) + (total[1] + total[3])


def weigh(
    q: cython.const[cython.double][:, ::1],
    weights: cython.const[cython.double][::1],
    sums: cython.double[::1],
) -> None:
    """Weighted sums of the rows, all added up in the same order so that equal items stay equal."""
    with cython.nogil:
        for i in range(q.shape[0]):
            total: cython.double = 0.0
            for s in range(q.shape[1]):
                total += q[i, s] * weights[s]
            sums[i] = total
