"""The expected curve of many short batches at once, one batch in each of sixteen lanes.

Vector registers hold the lanes, so sixteen batches take little longer than one. For up to 256 items
plain products lose no accuracy that matters, so no logarithm is needed.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import exp
else:
    from math import exp

_LANES = cython.declare(cython.Py_ssize_t, 16)


def decay(
    rate: cython.double, times: cython.const[cython.double][:], out: cython.double[::1]
) -> None:
    """Fill `out` with ``exp(-rate * time)``."""
    with cython.nogil:
        for j in range(times.shape[0]):
            out[j] = exp(-rate * times[j])


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_f(
    p: cython.double[:, ::1],
    size: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    weight: cython.double,
    keep: cython.double,
    step: cython.double,
    curve: cython.double[:, ::1],
) -> cython.void:
    """Add one node to the expected F of the counts 1 to `last`."""
    product = cython.declare(cython.double[16])
    hits = cython.declare(cython.double[16])
    n_lanes = p.shape[1]  # 16; if gcc knew that, it would unroll loops instead of vectorising them
    power: cython.double = 1.0
    for lane in range(16):
        product[lane], hits[lane] = weight, 0.0
    for i in range(size):
        for lane in range(16):
            product[lane] *= 1.0 - p[i, lane] + p[i, lane] * keep
    for i in range(last):
        power *= step
        for lane in range(n_lanes):
            hits[lane] += p[i, lane] / (1.0 - p[i, lane] + p[i, lane] * keep)
        for lane in range(n_lanes):
            curve[i, lane] += power * hits[lane] * product[lane]


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _add_union(
    p: cython.double[:, ::1],
    size: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    weight: cython.double,
    keep: cython.double,
    step: cython.double,
    curve: cython.double[:, ::1],
) -> cython.void:
    """Add one node to the expected reciprocal of the unions of the counts 1 to `last`."""
    product = cython.declare(cython.double[16])
    power = cython.declare(cython.double[256])
    n_lanes = p.shape[1]
    power[0] = step
    for i in range(1, last):
        power[i] = power[i - 1] * step
    for lane in range(16):
        product[lane] = weight
    for i in range(size - 1, -1, -1):
        if i < last:
            for lane in range(n_lanes):
                curve[i, lane] += power[i] * product[lane]
        for lane in range(16):
            product[lane] *= 1.0 - p[i, lane] + p[i, lane] * keep


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def _times_expected_hits(
    p: cython.double[:, ::1], last: cython.Py_ssize_t, curve: cython.double[:, ::1]
) -> cython.void:
    """Multiply the value of each count by its expected number of hits."""
    hits = cython.declare(cython.double[16])
    for lane in range(16):
        hits[lane] = 0.0
    for i in range(last):
        for lane in range(16):
            hits[lane] += p[i, lane]
            curve[i, lane] *= hits[lane]


def fill_short(
    rising: cython.const[cython.double][::1],
    ends: cython.const[cython.longlong][:],
    sizes: cython.const[cython.longlong][:],
    first: cython.const[cython.longlong][:],
    last: cython.const[cython.longlong][:],
    chosen: cython.const[cython.longlong][:],
    starts: cython.const[cython.longlong][:],
    union: cython.bint,
    keep: cython.const[cython.double][:],
    step: cython.const[cython.double][:],
    weights: cython.const[cython.double][:],
    p: cython.double[:, ::1],
    curve: cython.double[:, ::1],
    out: cython.double[::1],
) -> None:
    """Compute the expected metric of the counts `first` to `last` of the chosen batches.

    The nodes serve all of them, so no answer depends on the neighbours. The values of a batch are
    written to `out` from its start on. `p` and `curve`, items x lanes, are scratch space.
    """
    begin: cython.Py_ssize_t = 0
    longest: cython.longlong
    most: cython.longlong
    with cython.nogil:
        while begin < chosen.shape[0]:
            n_lanes = min(_LANES, chosen.shape[0] - begin)
            longest, most = 0, 0
            for lane in range(n_lanes):
                longest = max(longest, sizes[chosen[begin + lane]])
                most = max(most, last[chosen[begin + lane]])
            p[:longest] = 0.0
            curve[:most] = 0.0
            for lane in range(n_lanes):
                batch = chosen[begin + lane]
                for i in range(sizes[batch]):
                    p[i, lane] = rising[ends[batch] - 1 - i]
            for j in range(keep.shape[0]):
                if union:
                    _add_union(p, longest, most, weights[j], keep[j], step[j], curve)
                else:
                    _add_f(p, longest, most, weights[j], keep[j], step[j], curve)
            if union:
                _times_expected_hits(p, most, curve)
            for lane in range(n_lanes):
                batch = chosen[begin + lane]
                for k in range(first[batch], last[batch] + 1):
                    out[starts[batch] + k - first[batch]] = curve[k - 1, lane]
            begin += _LANES
