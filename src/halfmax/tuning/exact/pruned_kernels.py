"""The loops behind `pruned`: each label's best step, from a histogram and the few rows it leaves.

All scores of a label are put into cells, in the order of scores, and counted by class. A threshold
inside a cell catches at most the positives down to the cell's lower edge, and at least the
negatives above its upper edge. What the metric would be with these two counts is the ceiling of
the cell. The counts at the lower edges are reached, or improved on, by the lowest positive of the
cell, so the best metric at an edge is a floor of the optimum. Only the rows of cells whose ceiling
reaches the floor are sorted and swept; all others cannot hold the best step, nor tie with it.

Cell 0 is for -inf, which is never predicted. `ratio` is what `as_plain_ratio` returns, of a metric
that is known to rise with tp and to fall with fp.
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

import numpy as np

Score = cython.fused_type(cython.float, cython.double)
Bits = cython.fused_type(cython.int, cython.longlong)
Index = cython.fused_type(cython.int, cython.longlong)

_SLACK = cython.declare(cython.double, 1e-12)  # share of a sum of counts, far above its rounding
_ROWS = cython.declare(cython.longlong, (1 << 32) - 1)  # bits of a cell; hits are above them


def best_of_labels(
    scores: cython.const[Score][:, :],
    indptr: cython.const[Index][::1],
    indices: cython.const[Index][::1],
    first: cython.Py_ssize_t,
    ratio: cython.const[cython.double][::1],
    by_key: cython.const[cython.uchar][::1],
    start: cython.const[cython.double][::1],
    scale: cython.const[cython.double][::1],
    n_cells: cython.Py_ssize_t,
    column: Score[:, ::1],
    bits: cython.const[Bits][:, ::1],
    least: cython.longlong,
    keys: cython.longlong[::1],
    counts: cython.longlong[:, ::1],
) -> None:
    """Find the best step of each column of `scores`, the labels from `first` on.

    `keys` gets the key of its score, and `counts` the hits and rows at or above it, both 0 where
    there is no step, and the positives. The fields of `Cells` say where the cells are. `column`
    (labels x rows) is memory to work in, and `bits` is the same memory.
    """
    n_rows, n_labels, width = scores.shape[0], scores.shape[1], column.shape[0]
    truth: cython.uchar[:, ::1] = np.empty((width, n_rows), np.uint8)
    place: cython.longlong[::1] = np.empty(n_rows, np.int64)
    cell: cython.int[::1] = np.empty(n_rows, np.int32)
    filled: cython.longlong[::1] = np.empty(n_cells, np.int64)
    opened: cython.uchar[::1] = np.empty(n_cells, np.uint8)
    rows: cython.int[::1] = np.empty(n_rows + 1, np.int32)
    taken: cython.ulonglong[:, ::1] = np.empty((2, n_rows), np.uint64)
    hits: cython.uchar[:, ::1] = np.empty((2, n_rows), np.uint8)
    left: cython.Py_ssize_t = 0
    with cython.nogil:
        _find_first(indptr, indices, first, place)
        while left < n_labels:
            labels = min(width, n_labels - left)
            _transpose(scores, left, labels, column)
            _mark_positives(indptr, indices, first + left, labels, place, truth)
            for j in range(labels):
                k = left + j
                _find_cells(column[j], bits[j], least, by_key[k], start[k], scale[k], n_cells, cell)
                _fill_cells(cell, truth[j], filled)
                counts[k, 2] = _open_cells(filled, ratio, n_rows, opened)
                size = _take(bits[j], truth[j], cell, opened, least, rows, taken, hits)
                side = _sort(taken, hits, size)
                keys[k] = _sweep(taken[side], hits[side], filled, opened, ratio, n_rows, counts[k])
            left += width


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_first(
    indptr: cython.const[Index][::1],
    indices: cython.const[Index][::1],
    label: cython.Py_ssize_t,
    place: cython.longlong[::1],
) -> cython.void:
    """Find each row's first positive from a label on."""
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    for i in range(place.shape[0]):
        low, high = indptr[i], indptr[i + 1]
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < label:
                low = middle + 1
            else:
                high = middle
        place[i] = low


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _transpose(
    scores: cython.const[Score][:, :],
    left: cython.Py_ssize_t,
    labels: cython.Py_ssize_t,
    column: Score[:, ::1],
) -> cython.void:
    """Write some of the columns as rows."""
    n_rows: cython.Py_ssize_t = scores.shape[0]
    top: cython.Py_ssize_t = 0
    while top < n_rows:
        for j in range(labels):
            for i in range(top, min(top + 16, n_rows)):
                column[j, i] = scores[i, left + j]
        top += 16


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _mark_positives(
    indptr: cython.const[Index][::1],
    indices: cython.const[Index][::1],
    first: cython.Py_ssize_t,
    labels: cython.Py_ssize_t,
    place: cython.longlong[::1],
    truth: cython.uchar[:, ::1],
) -> cython.void:
    """Write the truth of some labels; `place` is where each row goes on, and advances."""
    e: cython.Py_ssize_t
    for j in range(labels):
        for i in range(truth.shape[1]):
            truth[j, i] = 0
    for i in range(truth.shape[1]):
        e = place[i]
        while e < indptr[i + 1] and indices[e] < first + labels:
            truth[indices[e] - first, i] = 1
            e += 1
        place[i] = e


# ---- the cells of one label


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _find_cells(
    scores: cython.const[Score][::1],
    bits: cython.const[Bits][::1],
    least: cython.longlong,
    by_key: cython.bint,
    start: cython.double,
    scale: cython.double,
    n_cells: cython.Py_ssize_t,
    cell: cython.int[::1],
) -> cython.void:
    """Find the cell of each row; a higher score is never in a lower one, however it is rounded."""
    one: Score = 1
    last: Score = n_cells - 1
    low: Score = start
    per_unit: Score = scale
    never: Score = -INFINITY
    spot: Score
    place: cython.double
    if by_key:
        for i in range(scores.shape[0]):
            place = (cython.cast(cython.double, _key(bits[i], least)) - start) * scale + 1.0
            place = min(max(place, 1.0), n_cells - 1.0)
            cell[i] = cython.cast(cython.int, place) if scores[i] > never else 0
    else:
        for i in range(scores.shape[0]):
            spot = (scores[i] - low) * per_unit + one
            spot = spot if spot > one else one  # also where it is NaN
            spot = spot if spot < last else last
            cell[i] = cython.cast(cython.int, spot) if scores[i] > never else 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _key(bit: cython.longlong, least: cython.longlong) -> cython.longlong:
    """The bits of a score as a number that rises with the score.

    Floats store sign and magnitude, so the bits of negative ones, read as integers, are in reverse
    order; `least` minus the value reverses them and maps -0.0 to 0.0.
    """
    return bit if bit >= 0 else least - bit


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _fill_cells(
    cell: cython.const[cython.int][::1],
    truth: cython.const[cython.uchar][::1],
    filled: cython.longlong[::1],
) -> cython.void:
    """Count the rows of each cell, and above bit 32 its hits."""
    for c in range(filled.shape[0]):
        filled[c] = 0
    for i in range(cell.shape[0]):
        filled[cell[i]] += 1 + (cython.cast(cython.longlong, truth[i]) << 32)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _open_cells(
    filled: cython.const[cython.longlong][::1],
    ratio: cython.const[cython.double][::1],
    total: cython.Py_ssize_t,
    opened: cython.uchar[::1],
) -> cython.longlong:
    """Open the cells whose ceiling reaches the floor; return the positives.

    Where numerator and denominator are those of the counts, ``numerator - floor * denominator`` is
    a sum of the counts and shows without a division whether a ratio exceeds the floor.
    """
    base: cython.double = 0.0
    per_hit: cython.double = 0.0
    per_miss: cython.double = 0.0
    floor: cython.double = -1.0
    top: cython.double = 0.0
    slack: cython.double
    tp: cython.longlong = 0
    fp: cython.longlong = 0
    positives: cython.longlong = 0
    n_cells: cython.Py_ssize_t = filled.shape[0]
    for c in range(n_cells):
        positives += filled[c] >> 32
    for k in range(8):
        top = max(top, ratio[k])
    slack = _SLACK * top * total
    for c in range(n_cells - 1, 0, -1):
        tp += filled[c] >> 32
        fp += (filled[c] & _ROWS) - (filled[c] >> 32)
        if tp > 0 and (floor < 0.0 or base + per_hit * tp + per_miss * fp > slack):
            floor = max(_ratio_at(ratio, tp, tp + fp, positives, total), 0.0)
            per_hit = ratio[0] - ratio[2] - floor * (ratio[4] - ratio[6])
            per_miss = ratio[1] - ratio[3] - floor * (ratio[5] - ratio[7])
            base = (ratio[2] - floor * ratio[6]) * positives
            base += (ratio[3] - floor * ratio[7]) * (total - positives)
    tp = fp = 0
    for c in range(n_cells - 1, 0, -1):
        here = filled[c] >> 32
        tp += here
        opened[c] = here > 0 and base + per_hit * tp + per_miss * fp >= -slack
        fp += (filled[c] & _ROWS) - here
    opened[0] = 0
    return positives


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _ratio_at(
    ratio: cython.const[cython.double][::1],
    tp: cython.double,
    predicted: cython.double,
    positives: cython.double,
    total: cython.double,
) -> cython.double:
    """The metric where there are hits, in the order of additions of `Objective`.

    Counts of rows are whole numbers, so their differences have no rounding errors.
    """
    fp: cython.double = predicted - tp
    fn: cython.double = positives - tp
    tn: cython.double = total - tp - fp - fn
    above: cython.double = ratio[0] * tp + ratio[1] * fp + ratio[2] * fn + ratio[3] * tn
    below: cython.double = ratio[4] * tp + ratio[5] * fp + ratio[6] * fn + ratio[7] * tn
    return above / below


# ---- the rows of opened cells


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _take(
    bits: cython.const[Bits][::1],
    truth: cython.const[cython.uchar][::1],
    cell: cython.const[cython.int][::1],
    opened: cython.const[cython.uchar][::1],
    least: cython.longlong,
    rows: cython.int[::1],
    taken: cython.ulonglong[:, ::1],
    hits: cython.uchar[:, ::1],
) -> cython.Py_ssize_t:
    """Take the keys and the truth of the rows in opened cells.

    A row that is not taken is overwritten by the next one, because a branch would be mispredicted
    too often.
    """
    size: cython.Py_ssize_t = 0
    for i in range(bits.shape[0]):
        rows[size] = i
        size += cython.cast(cython.Py_ssize_t, opened[cell[i]])
    for k in range(size):
        taken[0, k] = cython.cast(cython.ulonglong, _key(bits[rows[k]], least))
        hits[0, k] = truth[rows[k]]
    return size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sort(
    taken: cython.ulonglong[:, ::1], hits: cython.uchar[:, ::1], size: cython.Py_ssize_t
) -> cython.int:
    """Sort by key, from high to low, byte by byte; return the side that holds the result.

    The rows are in few cells, so most have their first bytes in common, which need no pass.
    """
    place = cython.declare(cython.Py_ssize_t[257])
    differ: cython.ulonglong = 0
    flip: cython.ulonglong
    byte: cython.ulonglong
    side: cython.int = 0
    shift: cython.int = 0
    for k in range(1, size):
        differ |= taken[0, k] ^ taken[0, 0]
    while shift < 64:
        if (differ >> shift) & 255:
            flip = 127 if shift == 56 else 255  # from high to low, and the last bit is a sign
            for b in range(257):
                place[b] = 0
            for k in range(size):
                byte = ((taken[side, k] >> shift) & 255) ^ flip
                place[byte + 1] += 1
            for b in range(256):
                place[b + 1] += place[b]
            for k in range(size):
                byte = ((taken[side, k] >> shift) & 255) ^ flip
                taken[1 - side, place[byte]] = taken[side, k]
                hits[1 - side, place[byte]] = hits[side, k]
                place[byte] += 1
            side = 1 - side
        shift += 8
    return side


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _sweep(
    taken: cython.const[cython.ulonglong][::1],
    hits: cython.const[cython.uchar][::1],
    filled: cython.const[cython.longlong][::1],
    opened: cython.const[cython.uchar][::1],
    ratio: cython.const[cython.double][::1],
    total: cython.Py_ssize_t,
    counts: cython.longlong[::1],
) -> cython.longlong:
    """Find the best step in opened cells, the highest among equals, and its counts."""
    best: cython.double = -1.0
    value: cython.double
    key: cython.ulonglong = 0
    tp: cython.longlong = 0
    predicted: cython.longlong = 0
    before: cython.longlong
    k: cython.Py_ssize_t = 0
    end: cython.Py_ssize_t
    counts[0] = counts[1] = 0
    for c in range(filled.shape[0] - 1, 0, -1):
        if not opened[c]:
            tp += filled[c] >> 32
            predicted += filled[c] & _ROWS
            continue
        end = k + (filled[c] & _ROWS)
        before = tp
        while k < end:
            tp += cython.cast(cython.longlong, hits[k])
            predicted += 1
            k += 1
            if (k == end or taken[k] != taken[k - 1]) and tp > before:
                before = tp
                value = _ratio_at(ratio, tp, predicted, counts[2], total)
                if value > best:
                    best = value
                    key = taken[k - 1]
                    counts[0], counts[1] = tp, predicted
    return cython.cast(cython.longlong, key)
