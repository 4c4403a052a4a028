"""The loops behind `falling`: scores grouped by label, then sorted by insertion or by digits."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

Score = cython.fused_type(cython.float, cython.double)
Key = cython.fused_type(cython.uint, cython.ulonglong)
Index = cython.fused_type(cython.int, cython.longlong)

# A key has a digit of 8 bits for each of its bytes.
_BITS = cython.declare(cython.ulonglong, 8)
_LAST = cython.declare(cython.ulonglong, 255)


# ---- groups


def count_kept(
    starts: cython.const[cython.longlong][::1],
    columns: cython.const[Index][::1],
    scores: cython.const[Score][::1],
    lowest: cython.const[Score][::1],
    counts: cython.longlong[::1],
) -> None:
    """Count the scores of each label that are kept; `columns` is empty for dense rows."""
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(starts.shape[0] - 1):
            for e in range(starts[i], starts[i + 1]):
                j = columns[e] if columns.shape[0] else e - starts[i]
                counts[j] += scores[e] >= lowest[j]


def group(
    first: cython.longlong,
    starts: cython.const[cython.longlong][::1],
    columns: cython.const[Index][::1],
    scores: cython.const[Score][::1],
    positive: cython.const[cython.uchar][::1],
    lowest: cython.const[Score][::1],
    place: cython.longlong[::1],
    grouped: Score[::1],
    codes: cython.longlong[::1],
) -> None:
    """Counting sort: move each kept score to `place` of its label. The first row is `first`."""
    j: cython.Py_ssize_t
    with cython.nogil:
        for i in range(starts.shape[0] - 1):
            for e in range(starts[i], starts[i + 1]):
                j = columns[e] if columns.shape[0] else e - starts[i]
                if scores[e] >= lowest[j]:
                    grouped[place[j]] = scores[e]
                    codes[place[j]] = 4 * (first + i) + cython.cast(cython.longlong, positive[e])
                    place[j] += 1


# ---- sorted groups


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _insert(
    keys: Key[::1],
    codes: cython.longlong[::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
) -> cython.void:
    """Sort ``keys[first:last]``, a few, from high to low by insertion; the sort is stable."""
    k: cython.Py_ssize_t
    for e in range(first + 1, last):
        key, code = keys[e], codes[e]
        k = e
        while k > first and keys[k - 1] < key:
            keys[k], codes[k] = keys[k - 1], codes[k - 1]
            k -= 1
        keys[k], codes[k] = key, code


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _digit(key: Key, d: cython.int) -> cython.int:
    return (key >> (_BITS * d)) & _LAST


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _move_by_digit(
    d: cython.int,
    place: cython.longlong[:, ::1],
    size: cython.Py_ssize_t,
    keys: cython.const[Key][::1],
    codes: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    other_keys: Key[::1],
    other_codes: cython.longlong[::1],
    other_first: cython.Py_ssize_t,
) -> cython.void:
    """Move keys from `first` on to the places of their digits, counted from `other_first`."""
    for e in range(first, first + size):
        digit = _digit(keys[e], d)
        to = place[d, digit]
        other_keys[other_first + to] = keys[e]
        other_codes[other_first + to] = codes[e]
        place[d, digit] = to + 1


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _sort_by_digits(
    keys: Key[::1],
    codes: cython.longlong[::1],
    first: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    other_keys: Key[::1],
    other_codes: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
) -> cython.void:
    """Radix sort: order keys from high to low, by their lowest digit first; the sort is stable.

    A digit that all keys share is skipped. `counts` is memory to work in, digits x their values.
    """
    moved: cython.bint = False
    above: cython.longlong
    n_digits: cython.int = counts.shape[0]
    n_values: cython.int = counts.shape[1]
    for d in range(n_digits):
        for digit in range(n_values):
            counts[d, digit] = 0
    for e in range(first, first + size):
        for d in range(n_digits):
            counts[d, _digit(keys[e], d)] += 1
    for d in range(n_digits):
        if counts[d, _digit(keys[first], d)] == size:
            continue
        above = 0
        for digit in range(n_values - 1, -1, -1):
            here = counts[d, digit]
            counts[d, digit] = above
            above += here
        if moved:
            _move_by_digit(d, counts, size, other_keys, other_codes, 0, keys, codes, first)
        else:
            _move_by_digit(d, counts, size, keys, codes, first, other_keys, other_codes, 0)
        moved = not moved
    if moved:
        for e in range(size):
            keys[first + e] = other_keys[e]
            codes[first + e] = other_codes[e]


def sort_labels(
    edges: cython.const[cython.longlong][::1],
    keys: Key[::1],
    codes: cython.longlong[::1],
    other_keys: Key[::1],
    other_codes: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
    short: cython.Py_ssize_t,
) -> None:
    """Sort the keys of each label from high to low, with their codes."""
    size: cython.Py_ssize_t
    with cython.nogil:
        for j in range(edges.shape[0] - 1):
            size = edges[j + 1] - edges[j]
            if size <= short:
                _insert(keys, codes, edges[j], edges[j + 1])
            else:
                _sort_by_digits(keys, codes, edges[j], size, other_keys, other_codes, counts)


def mark_ends(
    edges: cython.const[cython.longlong][::1],
    keys: cython.const[Key][::1],
    codes: cython.longlong[::1],
    start: cython.ulonglong,
    positives: cython.longlong[::1],
    n_predicted: cython.longlong[::1],
) -> None:
    """Mark the last of equal scores; count the positives and the scores that reach the start."""
    with cython.nogil:
        for j in range(edges.shape[0] - 1):
            for e in range(edges[j], edges[j + 1]):
                positives[j] += codes[e] & 1
                n_predicted[j] += keys[e] >= start
                if e + 1 == edges[j + 1] or keys[e + 1] != keys[e]:
                    codes[e] += 2
