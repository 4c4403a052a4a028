"""The loops over blocks of documents x labels behind the rules and their counts."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

import numpy as np


def add_above(
    block: cython.const[cython.float][:, ::1],
    cuts: cython.const[cython.double][::1],
    gained: cython.double[::1],
    taken: cython.longlong[::1],
) -> None:
    """Add each label's probabilities at or above its cut, and count them."""
    with cython.nogil:
        for i in range(block.shape[0]):
            for j in range(block.shape[1]):
                value = cython.cast(cython.double, block[i, j])
                above: cython.bint = value >= cuts[j]
                gained[j] += value if above else 0.0
                taken[j] += above


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _total(row: cython.const[cython.float][::1]) -> cython.double:
    """Sum a row in eight parts, for the vector registers: in this order on every processor."""
    part = cython.declare(cython.double[8])
    whole = row.shape[0] - row.shape[0] % 8
    total: cython.double = 0.0
    for k in range(8):
        part[k] = 0.0
    for j in range(0, whole, 8):
        for k in range(8):
            part[k] += row[j + k]
    for j in range(whole, row.shape[0]):
        total += cython.cast(cython.double, row[j])
    for k in range(8):
        total += part[k]
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _gain(values: cython.const[cython.double][::1], size: cython.Py_ssize_t) -> cython.double:
    """Sum the first values."""
    gained: cython.double = 0.0
    for e in range(size):
        gained += values[e]
    return gained


def best_of_rows(block: cython.const[cython.float][:, ::1], best: cython.double[::1]) -> None:
    """The maximum F1 of each document's labels."""
    n_labels = block.shape[1]
    candidates: cython.double[::1] = np.empty(n_labels + 1)
    size: cython.Py_ssize_t
    kept: cython.Py_ssize_t
    with cython.nogil:
        for i in range(block.shape[0]):
            total = _total(block[i])
            highest = 2.0 * total / (total + n_labels) if total > 0.0 else 0.0
            # The cut only rises: most labels are below it from the start, and never visited again.
            cut, size = 0.5 * highest, 0
            for j in range(n_labels):
                value = cython.cast(cython.double, block[i, j])
                candidates[size] = value
                size += value >= cut
            reached = 2.0 * _gain(candidates, size) / (total + size) if total > 0.0 else 0.0
            while reached > highest:
                highest = reached
                cut, kept = 0.5 * reached, 0
                for e in range(size):
                    value = candidates[e]
                    candidates[kept] = value
                    kept += value >= cut
                size = kept
                reached = 2.0 * _gain(candidates, size) / (total + size)
            best[i] = highest


def count_above(
    block: cython.const[cython.float][:, ::1],
    cuts: cython.const[cython.double][::1],
    floors: cython.const[cython.double][::1],
    labels: cython.longlong[::1],
    documents: cython.longlong[::1],
) -> None:
    """Count predictions by label and by document."""
    with cython.nogil:
        for i in range(block.shape[0]):
            count: cython.longlong = 0
            floor = floors[i]
            for j in range(block.shape[1]):
                value = cython.cast(cython.double, block[i, j])
                above: cython.bint = (value >= cuts[j]) & (value >= floor)
                labels[j] += above
                count += above
            documents[i] = count
