"""The loops behind grids, leaving one out and the stable order of rows."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import INFINITY
else:
    from numpy import inf as INFINITY

Score = cython.fused_type(cython.float, cython.double)
Index = cython.fused_type(cython.int, cython.longlong)
OtherIndex = cython.fused_type(cython.int, cython.longlong)

_SHORT = cython.declare(cython.Py_ssize_t, 16)  # up to this many, insertion beats quicksort
# The constants of splitmix64.
_ODD = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_FIRST = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
_SECOND = cython.declare(cython.ulonglong, 0x94D049BB133111EB)


# ---- the grid


def group(
    columns: cython.const[Index][:],
    scores: cython.const[Score][:],
    place: cython.longlong[::1],
    grouped: Score[::1],
) -> None:
    """Counting sort: move each score to the `place` of its label, which advances."""
    with cython.nogil:
        for e in range(columns.shape[0]):
            grouped[place[columns[e]]] = scores[e]
            place[columns[e]] += 1


def sort_short_segments(
    offsets: cython.const[cython.longlong][::1], scores: Score[::1], longest: cython.Py_ssize_t
) -> None:
    """Sort the short segments; numpy's vectorised sort is faster for the long ones."""
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            if offsets[j + 1] - offsets[j] <= longest:
                _quicksort(scores, offsets[j], offsets[j + 1] - 1)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _quicksort(
    scores: Score[::1], first: cython.Py_ssize_t, last: cython.Py_ssize_t
) -> cython.void:
    """Sort ``scores[first:last + 1]``; the pivot is the median of three."""
    i: cython.Py_ssize_t
    k: cython.Py_ssize_t
    while last - first > _SHORT:
        middle = (first + last) >> 1
        low, pivot, high = scores[first], scores[middle], scores[last]
        pivot = max(min(low, pivot), min(max(low, pivot), high))
        i, k = first, last
        while i <= k:
            while scores[i] < pivot:
                i += 1
            while scores[k] > pivot:
                k -= 1
            if i <= k:
                scores[i], scores[k] = scores[k], scores[i]
                i += 1
                k -= 1
        if k - first < last - i:  # the shorter part first, so that the stack stays low
            _quicksort(scores, first, k)
            first = i
        else:
            _quicksort(scores, i, last)
            last = k
    for i in range(first + 1, last + 1):
        here = scores[i]
        k = i
        while k > first and scores[k - 1] > here:
            scores[k] = scores[k - 1]
            k -= 1
        scores[k] = here


def keep_distinct(
    offsets: cython.const[cython.longlong][::1],
    ascending: cython.const[Score][::1],
    descending: Score[::1],
    copies: cython.longlong[::1],
    kept: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Write each label's distinct scores from high to low, and how often each occurs."""
    written: cython.Py_ssize_t = 0
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            kept[j] = written
            for e in range(offsets[j + 1] - 1, offsets[j] - 1, -1):
                if e == offsets[j + 1] - 1 or ascending[e] != ascending[e + 1]:
                    descending[written] = ascending[e]
                    copies[written] = 0
                    written += 1
                copies[written - 1] += 1
        kept[offsets.shape[0] - 1] = written
    return written


def look_up(
    truth_indptr: cython.const[Index][::1],
    truth_indices: cython.const[Index][::1],
    indptr: cython.const[OtherIndex][::1],
    indices: cython.const[OtherIndex][::1],
    found: cython.longlong[::1],
) -> None:
    """Find the place of each positive among the stored scores, or -1.

    Both matrices have sorted rows.
    """
    with cython.nogil:
        for i in range(truth_indptr.shape[0] - 1):
            e, end = indptr[i], indptr[i + 1]
            for t in range(truth_indptr[i], truth_indptr[i + 1]):
                while e < end and indices[e] < truth_indices[t]:
                    e += 1
                found[t] = e if e < end and indices[e] == truth_indices[t] else -1


# ---- leaving one out


def choose_without(
    offsets: cython.const[cython.longlong][::1],
    above: cython.const[cython.double][:],
    below: cython.const[cython.double][:],
    none_value: cython.const[cython.double][:],
    no_step: cython.longlong,
    best_above: cython.double[::1],
    chosen: cython.longlong[::1],
) -> None:
    """Find the step chosen when an item of each step is left out; `no_step` if it is none.

    `above` holds the value of each step if it is above the item left out and so does not count it,
    `below` its value otherwise.
    """
    best: cython.double
    step: cython.longlong
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            best, step = none_value[j], no_step
            for k in range(offsets[j], offsets[j + 1]):
                best_above[k], chosen[k] = best, step
                if above[k] > best:
                    best, step = above[k], k
            best, step = -INFINITY, no_step
            for k in range(offsets[j + 1] - 1, offsets[j] - 1, -1):
                if below[k] >= best:
                    best, step = below[k], k
                if best > best_above[k]:
                    chosen[k] = step


# ---- the order of rows


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mixed(number: cython.ulonglong) -> cython.ulonglong:
    """Hash a number with the finaliser of splitmix64: each input bit flips half of the bits."""
    number = number + _ODD
    number = (number ^ (number >> 30)) * _FIRST
    number = (number ^ (number >> 27)) * _SECOND
    return number ^ (number >> 31)


def add_to_rows(
    scores: cython.const[cython.double][::1],
    bits: cython.const[cython.ulonglong][::1],
    column: cython.const[cython.longlong][::1],
    first: cython.const[cython.longlong][::1],
    columns: cython.const[cython.ulonglong][::1],
    offsets: cython.const[cython.longlong][::1],
    grid: cython.const[cython.double][::1],
    steps: cython.ulonglong[::1],
    values: cython.ulonglong[::1],
) -> None:
    """Sum the hashes of each row's (column, step) pairs, and of its (column, score) pairs.

    Rows begin at `first`; an empty `column` means that they are dense. The step of a score is the
    number of the label's thresholds above it. A score of -inf is never predicted and counts as
    missing.
    """
    j: cython.longlong
    low: cython.longlong
    high: cython.longlong
    with cython.nogil:
        for i in range(first.shape[0] - 1):
            for e in range(first[i], first[i + 1]):
                if scores[e] > -INFINITY:
                    j = column[e] if column.shape[0] else e - first[i]
                    low, high = offsets[j], offsets[j + 1]
                    while low < high:
                        middle = (low + high) >> 1
                        if grid[middle] > scores[e]:
                            low = middle + 1
                        else:
                            high = middle
                    place = cython.cast(cython.ulonglong, low - offsets[j])
                    steps[i] += _mixed(columns[j] + place)
                    values[i] += _mixed(columns[j] + bits[e])
