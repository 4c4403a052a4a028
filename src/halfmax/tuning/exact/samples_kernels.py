"""The loops behind `samples`, and the one of `shared` that computes a plain ratio as well.

The array `ratio` holds the nine numbers of `halfmax.metrics.plain_ratio`.
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

from halfmax.metrics.counts import SUM_ROUNDING
from halfmax.tuning.exact.ties import MEAN_ROUNDING

Weight = cython.fused_type(cython.longlong, cython.double)

_SUM_ROUNDING = cython.declare(cython.double, SUM_ROUNDING)
_MEAN_ROUNDING = cython.declare(cython.double, MEAN_ROUNDING)
_ROUNDING = cython.declare(cython.double, 1e-12)  # a generous bound on the rounding errors of sums
_MOST_AT_ONCE = cython.declare(cython.longlong, 1 << 26)  # scores, less than a second


# ---- a plain ratio


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _beyond_rounding(difference: cython.double, whole: cython.double) -> cython.double:
    return difference if difference > _SUM_ROUNDING * whole else 0.0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _divide(
    above: cython.double, below: cython.double, zero_division: cython.double
) -> cython.double:
    """Divide as numpy does, but return `zero_division` for 0/0."""
    if below != 0.0:
        return above / below
    return zero_division if above == 0.0 else INFINITY


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
    """Compute the objective at these counts, in the order of additions of `Objective`."""
    fp = _beyond_rounding(predicted - tp, predicted)
    fn = _beyond_rounding(positives - tp, positives)
    tn = _beyond_rounding(total - tp - fp - fn, total)
    above = ratio[0] * tp + ratio[1] * fp + ratio[2] * fn + ratio[3] * tn
    below = ratio[4] * tp + ratio[5] * fp + ratio[6] * fn + ratio[7] * tn
    return _divide(above, below, ratio[8])


def advance_ratio(
    group: cython.const[cython.int][::1],
    positive: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    tp: Weight[::1],
    predicted: Weight[::1],
    positives: cython.const[cython.double][::1],
    total: cython.const[cython.double][::1],
    ratio: cython.const[cython.double][::1],
    after: cython.double[::1],
) -> None:
    """Count each score in its group and record the group's ratio after it."""
    with cython.nogil:
        for e in range(group.shape[0]):
            g = group[e]
            predicted[g] += weights[e]
            tp[g] += weights[e] * positive[e]
            after[e] = _ratio_at(ratio, tp[g], predicted[g], positives[g], total[g])


# ---- rows and labels

# A row has four gains. The first two are what it would gain if one more negative, or one more
# positive, were predicted. The last two are what it gained when the last negative, or the last
# positive, was predicted. No positive of any row gains more than `most[0]`. Rows are passed as
# codes, see `Falling`, of which a loop takes those from `first` to `last`.


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _gains_of_ratio(
    codes: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    tp: cython.const[cython.longlong][::1],
    fp: cython.const[cython.longlong][::1],
    positives: cython.const[cython.longlong][::1],
    total: cython.longlong,
    importance: cython.const[cython.double][::1],
    ratio: cython.const[cython.double][::1],
    gains: cython.double[:, ::1],
    most: cython.double[::1],
) -> cython.void:
    """Compute the gains of some rows from the ratio, whose sums change by constant amounts."""
    # What a hit and a predicted negative add, above and below the fraction line.
    hit, hit_ = ratio[0] - ratio[2], ratio[4] - ratio[6]
    negative, negative_ = ratio[1] - ratio[3], ratio[5] - ratio[7]
    zero_division = ratio[8]
    for e in range(first, last):
        i = codes[e] >> 2
        true, false = positives[i] - tp[i], total - positives[i] - fp[i]  # not predicted
        above = ratio[0] * tp[i] + ratio[1] * fp[i] + ratio[2] * true + ratio[3] * false
        below = ratio[4] * tp[i] + ratio[5] * fp[i] + ratio[6] * true + ratio[7] * false
        here = _divide(above, below, zero_division)
        for k in range(4):
            gains[i, k] = 0.0  # for impossible changes
        if false > 0:
            gains[i, 0] = importance[i] * (
                _divide(above + negative, below + negative_, zero_division) - here
            )
        if true > 0:
            gains[i, 1] = importance[i] * (_divide(above + hit, below + hit_, zero_division) - here)
        if fp[i] > 0:
            gains[i, 2] = importance[i] * (
                here - _divide(above - negative, below - negative_, zero_division)
            )
        if tp[i] > 0:
            gains[i, 3] = importance[i] * (here - _divide(above - hit, below - hit_, zero_division))
        most[0] = max(most[0], gains[i, 1], gains[i, 3])


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _gains_in_windows(
    codes: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    tp: cython.const[cython.longlong][::1],
    fp: cython.const[cython.longlong][::1],
    middle: cython.const[cython.longlong][:, ::1],
    windows: cython.const[cython.double][:, :, ::1],
    gains: cython.double[:, ::1],
    most: cython.double[::1],
) -> cython.bint:
    """Look up the gains of some rows in their windows; False if a row has left its window."""
    reach: cython.longlong = windows.shape[1] >> 1
    inside: cython.bint = True
    a: cython.longlong
    b: cython.longlong
    for e in range(first, last):
        i = codes[e] >> 2
        a, b = tp[i] - middle[i, 0], fp[i] - middle[i, 1]
        if max(abs(a), abs(b)) >= reach:
            inside = False
            continue
        a += reach
        b += reach
        here = windows[i, a, b]
        gains[i, 0] = windows[i, a, b + 1] - here
        gains[i, 1] = windows[i, a + 1, b] - here
        gains[i, 2] = here - windows[i, a, b - 1]
        gains[i, 3] = here - windows[i, a - 1, b]
        most[0] = max(most[0], gains[i, 1], gains[i, 3])
    return inside


def look_around(
    codes: cython.const[cython.longlong][::1],
    tp: cython.const[cython.longlong][::1],
    fp: cython.const[cython.longlong][::1],
    positives: cython.const[cython.longlong][::1],
    total: cython.longlong,
    importance: cython.const[cython.double][::1],
    ratio: cython.const[cython.double][::1],
    middle: cython.const[cython.longlong][:, ::1],
    windows: cython.const[cython.double][:, :, ::1],
    gains: cython.double[:, ::1],
    most: cython.double[::1],
) -> cython.bint:
    """Find the gains of some rows, from the ratio or, if it is empty, in their windows.

    Return False if a row has left its window.
    """
    inside: cython.bint = True
    n: cython.Py_ssize_t = codes.shape[0]
    with cython.nogil:
        if ratio.shape[0]:
            _gains_of_ratio(codes, 0, n, tp, fp, positives, total, importance, ratio, gains, most)
        else:
            inside = _gains_in_windows(codes, 0, n, tp, fp, middle, windows, gains, most)
    return inside


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _best_place(
    codes: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    n_now: cython.Py_ssize_t,
    positives: cython.longlong,
    gains: cython.const[cython.double][:, ::1],
    most: cython.double,
    records: cython.double[:, ::1],
) -> cython.Py_ssize_t:
    """Find how many of a label's falling scores to predict; the first `n_now` are predicted now.

    A negative gains nothing, so the search ends where the remaining positives could not lift the
    value to the best. Among values that are equal within rounding the first has the highest
    threshold. It exceeds every value before it, so it was recorded.
    """
    value: cython.double = 0.0
    best: cython.double = 0.0
    n_records: cython.Py_ssize_t = 0
    left: cython.longlong = positives
    for e in range(first, last):
        code = codes[e]
        value += gains[code >> 2, (code & 1) + (2 if e < first + n_now else 0)]
        left -= code & 1
        if code & 2:
            if value > best:
                best = value
                records[n_records, 0] = value
                records[n_records, 1] = e + 1 - first
                n_records += 1
            elif value + left * most < best - _ROUNDING:
                break
    if best <= _MEAN_ROUNDING:
        return 0
    for k in range(n_records):
        if records[k, 0] >= best - _MEAN_ROUNDING:
            return cython.cast(cython.Py_ssize_t, records[k, 1])
    return 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _move(
    codes: cython.const[cython.longlong][::1],
    first: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    step: cython.longlong,
    tp: cython.longlong[::1],
    fp: cython.longlong[::1],
) -> cython.void:
    """Add some scores to the predictions (step 1), or remove them (step -1)."""
    for e in range(first, last):
        if codes[e] & 1:
            tp[codes[e] >> 2] += step
        else:
            fp[codes[e] >> 2] += step


def sweep(
    place: cython.longlong[::1],
    edges: cython.const[cython.longlong][::1],
    codes: cython.const[cython.longlong][::1],
    positives: cython.const[cython.longlong][::1],
    n_predicted: cython.longlong[::1],
    records: cython.double[:, ::1],
    tp: cython.longlong[::1],
    fp: cython.longlong[::1],
    row_positives: cython.const[cython.longlong][::1],
    total: cython.longlong,
    importance: cython.const[cython.double][::1],
    ratio: cython.const[cython.double][::1],
    middle: cython.const[cython.longlong][:, ::1],
    windows: cython.const[cython.double][:, :, ::1],
    gains: cython.double[:, ::1],
    most: cython.double[::1],
) -> None:
    """Move labels to their best places, one after the other, starting at label `place[0]`.

    The sweep stops when a row has left its window, when all labels in succession have stayed
    (`place[1]` counts them), after the last label, or after enough scores to check for Ctrl-C.
    """
    n_labels = n_predicted.shape[0]
    inside: cython.bint = True
    left: cython.longlong = _MOST_AT_ONCE
    now: cython.Py_ssize_t
    with cython.nogil:
        while inside and left > 0 and place[0] < n_labels and place[1] < n_labels:
            j = place[0]
            left -= edges[j + 1] - edges[j]
            now = n_predicted[j]
            best = _best_place(
                codes, edges[j], edges[j + 1], now, positives[j], gains, most[0], records
            )
            place[0] += 1
            place[1] = place[1] + 1 if best == now else 0
            n_predicted[j] = best
            first, last = edges[j] + min(now, best), edges[j] + max(now, best)
            _move(codes, first, last, 1 if best > now else -1, tp, fp)
            if ratio.shape[0]:
                _gains_of_ratio(
                    codes, first, last, tp, fp, row_positives, total, importance, ratio, gains, most
                )
            else:
                inside = _gains_in_windows(codes, first, last, tp, fp, middle, windows, gains, most)


def count_rows(
    edges: cython.const[cython.longlong][::1],
    codes: cython.const[cython.longlong][::1],
    n_predicted: cython.const[cython.longlong][::1],
    tp: cython.longlong[::1],
    fp: cython.longlong[::1],
) -> None:
    """Count the predicted positives and the predicted negatives of each row."""
    with cython.nogil:
        for j in range(n_predicted.shape[0]):
            _move(codes, edges[j], edges[j] + n_predicted[j], 1, tp, fp)
