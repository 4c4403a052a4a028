"""The loops that look for pairs that appear twice."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

_FIRST = cython.declare(cython.ulonglong, 0xBF58476D1CE4E5B9)
_SECOND = cython.declare(cython.ulonglong, 0x94D049BB133111EB)
_OF_LABELS = cython.declare(cython.ulonglong, 0x9E3779B97F4A7C15)
_BASIS = cython.declare(cython.ulonglong, 0xCBF29CE484222325)  # of the FNV hash, and its prime
_PRIME = cython.declare(cython.ulonglong, 0x100000001B3)


def climb(
    columns: cython.const[cython.int][:],
    ids: cython.const[cython.longlong][:],
    first: cython.longlong[::1],
    last: cython.longlong[::1],
) -> cython.bint:
    """Whether the instances of each label rise; update each label's first and last instance."""
    rises: cython.bint = True
    with cython.nogil:
        for e in range(columns.shape[0]):
            j: cython.Py_ssize_t = columns[e]
            if first[j] > last[j]:  # not seen yet
                first[j] = ids[e]
            elif ids[e] <= last[j]:
                rises = False
                break
            last[j] = ids[e]
    return rises


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _mix(x: cython.ulonglong) -> cython.ulonglong:
    """Mix 64 bits, one to one."""
    x = (x ^ (x >> 30)) * _FIRST
    x = (x ^ (x >> 27)) * _SECOND
    return x ^ (x >> 31)


def hash_pairs(
    ids: cython.const[cython.ulonglong][:],
    columns: cython.const[cython.int][:],
    out: cython.ulonglong[::1],
) -> None:
    """Hash pairs of an id and the code of a label."""
    with cython.nogil:
        for e in range(ids.shape[0]):
            out[e] = _mix(ids[e] ^ _mix(cython.cast(cython.ulonglong, columns[e]) + _OF_LABELS))


def hash_texts(
    offsets: cython.const[cython.longlong][::1],
    letters: cython.const[cython.uchar][::1],
    out: cython.ulonglong[::1],
) -> None:
    """Hash texts that lie one after another in memory."""
    with cython.nogil:
        for i in range(out.shape[0]):
            value = _BASIS
            for k in range(offsets[i], offsets[i + 1]):
                value = (value ^ letters[k]) * _PRIME
            out[i] = _mix(value)
