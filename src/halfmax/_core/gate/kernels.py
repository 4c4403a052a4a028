"""The loops that turn a dense truth into a sparse one."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _count(
    cells: cython.const[cython.uchar][:, ::1],
    row: cython.Py_ssize_t,
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
) -> cython.int:
    ones: cython.int = 0
    for j in range(start, end):
        ones += cython.cast(cython.int, cells[row, j])
    return ones


def count_ones(
    cells: cython.const[cython.uchar][:, ::1], in_row: cython.longlong[::1]
) -> cython.longlong:
    """Count the ones of each row of zeros and ones, and all of them."""
    total: cython.longlong = 0
    with cython.nogil:
        for i in range(cells.shape[0]):
            in_row[i] = _count(cells, i, 0, cells.shape[1])
            total += in_row[i]
    return total


def find_ones(cells: cython.const[cython.uchar][:, ::1], columns: cython.int[::1]) -> None:
    """Write the column of each one, row after row; `columns` has room for one more.

    A branch for each cell would be mispredicted too often. So every column is written, and the
    next one overwrites it if its cell is zero. Vector registers find the stretches without ones,
    which most are if ones are rare.
    """
    found: cython.Py_ssize_t = 0
    start: cython.Py_ssize_t
    n_columns: cython.Py_ssize_t = cells.shape[1]
    with cython.nogil:
        for i in range(cells.shape[0]):
            start = 0
            while start < n_columns:
                end = min(start + 64, n_columns)
                if _count(cells, i, start, end):
                    for j in range(start, end):
                        columns[found] = j
                        found += cython.cast(cython.Py_ssize_t, cells[i, j])
                start = end
