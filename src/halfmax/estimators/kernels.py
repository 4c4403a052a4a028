"""The loop behind stratified folds of multilabel rows."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

import numpy as np

Index = cython.fused_type(cython.int, cython.longlong)
_FREE = cython.declare(cython.longlong, -1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _roomiest(
    shares: cython.const[cython.double][::1],
    whole: cython.longlong,
    taken: cython.const[cython.longlong][::1],
    filled: cython.const[cython.longlong][::1],
    n_rows: cython.longlong,
) -> cython.Py_ssize_t:
    """Return the part that lacks most of the whole; among equals, the one with most room."""
    best: cython.Py_ssize_t = 0
    for part in range(1, shares.shape[0]):
        lacks, most = shares[part] * whole - taken[part], shares[best] * whole - taken[best]
        if lacks > most or (
            lacks == most
            and shares[part] * n_rows - filled[part] > shares[best] * n_rows - filled[best]
        ):
            best = part
    return best


def deal(
    order: cython.const[cython.longlong][::1],
    offsets: cython.const[Index][::1],
    rows: cython.const[Index][::1],
    shares: cython.const[cython.double][::1],
    part_of: cython.longlong[::1],
) -> None:
    """Assign each free row to a part: rows of the rarest label first, rows without labels last."""
    n_rows = part_of.shape[0]
    filled: cython.longlong[::1] = np.zeros(shares.shape[0], np.int64)
    taken: cython.longlong[::1] = np.zeros(shares.shape[0], np.int64)
    with cython.nogil:
        for k in range(order.shape[0]):
            begin, end = offsets[order[k]], offsets[order[k] + 1]
            taken[:] = 0
            for e in range(begin, end):
                if part_of[rows[e]] != _FREE:
                    taken[part_of[rows[e]]] += 1
            for e in range(begin, end):
                if part_of[rows[e]] == _FREE:
                    part = _roomiest(shares, end - begin, taken, filled, n_rows)
                    part_of[rows[e]] = part
                    taken[part] += 1
                    filled[part] += 1
        for row in range(n_rows):
            if part_of[row] == _FREE:
                part = _roomiest(shares, n_rows, filled, filled, n_rows)
                part_of[row] = part
                filled[part] += 1
