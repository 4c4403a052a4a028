"""The loops that count scores at or above each step of a grid."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython

import numpy as np

Score = cython.fused_type(cython.float, cython.double)
Index = cython.fused_type(cython.int, cython.longlong)
Weight = cython.fused_type(cython.int, cython.longlong, cython.double)
BlockWeight = cython.fused_type(cython.int, cython.double)


def bin_entries(
    columns: cython.const[Index][:],
    scores: cython.const[Score][:],
    weights: cython.const[Weight][:],
    offsets: cython.const[cython.longlong][::1],
    grid: cython.const[Score][::1],
    lowest: cython.const[Score][::1],
    bins: Weight[::1],
) -> None:
    """Add the weight of each (label, score) entry to the highest step that it reaches.

    Each binary search waits for memory at random places. Sixty-four searches in lockstep wait
    together, which halves the time on a grid larger than the cache.
    """
    first = cython.declare(cython.longlong[64])
    length = cython.declare(cython.longlong[64])
    entry = cython.declare(cython.longlong[65])
    e: cython.Py_ssize_t = 0
    k: cython.Py_ssize_t
    longest: cython.longlong
    size: cython.Py_ssize_t = columns.shape[0]
    with cython.nogil:
        while e < size:
            k = 0
            while e < size and k < 64:
                entry[k] = e
                k += scores[e] >= lowest[columns[e]]
                e += 1
            longest = 0
            for q in range(k):
                first[q] = offsets[columns[entry[q]]]
                length[q] = offsets[columns[entry[q]] + 1] - first[q]
                longest = max(longest, length[q])
            while longest > 1:
                for q in range(k):
                    half = length[q] >> 1
                    first[q] += half * (grid[first[q] + half - 1] > scores[entry[q]])
                    length[q] -= half
                longest -= longest >> 1
            for q in range(k):
                bins[first[q]] += weights[entry[q]]


def sort_by_block(
    columns: cython.const[Index][:],
    scores: cython.const[Score][:],
    weights: cython.const[Weight][:],
    lowest: cython.const[Score][::1],
    shift: cython.int,
    place: cython.longlong[::1],
    kept_columns: Index[::1],
    kept_scores: Score[::1],
    kept_weights: Weight[::1],
) -> cython.Py_ssize_t:
    """Group entries of neighbouring labels, and drop those below all steps of their label.

    The searches that follow then find their part of the grid in the cache. A dropped entry is
    written past the end, because a branch would be mispredicted too often. `place` has a zero for
    each block of labels, and two more.
    """
    keep: cython.int
    to: cython.longlong
    with cython.nogil:
        for e in range(columns.shape[0]):
            place[(columns[e] >> shift) + 1] += scores[e] >= lowest[columns[e]]
        for b in range(place.shape[0] - 1):
            place[b + 1] += place[b]
        total = place[place.shape[0] - 1]
        for e in range(columns.shape[0]):
            j = columns[e]
            keep = scores[e] >= lowest[j]
            to = place[j >> shift] if keep else total
            kept_columns[to] = j
            kept_scores[to] = scores[e]
            kept_weights[to] = weights[e]
            place[j >> shift] += keep
    return total


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_to_few(
    scores: cython.const[Score][::1],
    grid: cython.const[Score][::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    bins: BlockWeight[::1],
) -> cython.void:
    """Count the scores at or above each of a few steps."""
    above: cython.int = 0
    reached: cython.int
    for k in range(start, end):
        step = grid[k]
        reached = 0
        for r in range(scores.shape[0]):
            reached += scores[r] >= step
        bins[k] += reached - above
        above = reached


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _cell(score: Score, low: Score, scale: Score, last: Score) -> cython.int:
    """The cell of a score in the table of its label; a higher score is never in a lower cell."""
    place = (score - low) * scale
    if not place > 0:  # also where it is NaN
        return 0
    return cython.cast(cython.int, min(place, last))


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _fill_table(
    grid: cython.const[Score][::1],
    start: cython.Py_ssize_t,
    end: cython.Py_ssize_t,
    above: cython.int[::1],
) -> cython.int:
    """Count the steps above each cell; return the number of halvings that search within a cell."""
    low, cells = grid[end - 1], above.shape[0]
    scale, last = _scale(grid[start] - low, cells), cells - 1
    most: cython.int = 0
    total: cython.int = 0
    for c in range(cells):
        above[c] = 0
    for k in range(start, end):
        above[_cell(grid[k], low, scale, last)] += 1
    for c in range(cells - 1, -1, -1):
        here = above[c]
        above[c] = total
        total += here
        most = max(most, here)
    rounds: cython.int = 0
    while most >> rounds:
        rounds += 1
    return rounds


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _scale(width: Score, cells: cython.Py_ssize_t) -> Score:
    """Cells per unit of score, or 0, which puts all scores into one cell."""
    return (cells - 1) / width if 1e-30 < width < 1e30 else 0


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _add_to_many(
    scores: cython.const[Score][::1],
    weights: cython.const[BlockWeight][:],
    grid: cython.const[Score][::1],
    bins: BlockWeight[::1],
    above: cython.const[cython.int][::1],
    rounds: cython.int,
    first: cython.int[::1],
) -> cython.void:
    """Find the highest step that each score of a tile reaches, all scores in lockstep.

    The table gives the steps above the score's cell, a binary search those inside the cell.
    """
    length: cython.int = grid.shape[0]
    low, cells = grid[length - 1], above.shape[0]
    scale, last = _scale(grid[0] - low, cells), cells - 1
    half: cython.int
    f: cython.int
    for r in range(scores.shape[0]):
        first[r] = above[_cell(scores[r], low, scale, last)]
    while rounds > 0:
        rounds -= 1
        half = 1 << rounds
        for r in range(scores.shape[0]):
            # 32 bits and an unsigned index let the compiler use vector registers here too.
            f = min(first[r] + half, length)
            first[r] = f if grid[cython.cast(cython.uint, f - 1)] > scores[r] else first[r]
    for r in range(scores.shape[0]):
        if first[r] < length:
            bins[first[r]] += weights[r]


def add_block(
    block: cython.const[Score][:, :],
    weights: cython.const[BlockWeight][:],
    offsets: cython.const[cython.longlong][::1],
    grid: cython.const[Score][::1],
    bins: BlockWeight[::1],
    few: cython.Py_ssize_t,
    tile: Score[:, ::1],
    above: cython.int[:, ::1],
) -> None:
    """Add a dense block of rows x labels, tile by tile; each tile is transposed first.

    `tile` (labels x rows) and `above` (labels x cells) are memory to work in.
    """
    tile_labels, tile_rows = tile.shape[0], tile.shape[1]
    n_rows, n_labels = block.shape[0], block.shape[1]
    first: cython.int[::1] = np.empty(tile_rows, np.int32)
    rounds: cython.int[::1] = np.zeros(tile_labels, np.int32)
    start: cython.Py_ssize_t
    end: cython.Py_ssize_t
    top: cython.Py_ssize_t
    left: cython.Py_ssize_t = 0
    with cython.nogil:
        while left < n_labels:
            labels = min(tile_labels, n_labels - left)
            for j in range(labels):
                start, end = offsets[left + j], offsets[left + j + 1]
                if end - start > few:
                    rounds[j] = _fill_table(grid, start, end, above[j])
            top = 0
            while top < n_rows:
                rows = min(tile_rows, n_rows - top)
                # Sixteen rows at a time keep both the cache lines read and those written in cache.
                for strip in range(0, rows, 16):
                    for j in range(labels):
                        for r in range(strip, min(strip + 16, rows)):
                            tile[j, r] = block[top + r, left + j]
                for j in range(labels):
                    start, end = offsets[left + j], offsets[left + j + 1]
                    if end - start > few:
                        _add_to_many(
                            tile[j, :rows],
                            weights[top : top + rows],
                            grid[start:end],
                            bins[start:end],
                            above[j],
                            rounds[j],
                            first,
                        )
                    elif end > start:
                        _add_to_few(tile[j, :rows], grid, start, end, bins)
                top += tile_rows
            left += tile_labels


def accumulate_bins(offsets: cython.const[cython.longlong][::1], bins: Weight[::1]) -> None:
    """Turn the counts of single steps into counts at or above each step."""
    with cython.nogil:
        for j in range(offsets.shape[0] - 1):
            for k in range(offsets[j] + 1, offsets[j + 1]):
                bins[k] += bins[k - 1]
