"""Second pass over the data: how many scores lie at or above each step of a grid.

Parts of the data are counted apart, on all cores, and their counts added up.
"""

from typing import Any

import numpy as np

from halfmax._core.jit import kernel, summing_kernel
from halfmax._core.labelled import LabelledScores
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.grid import Grid, unit_weights

_TILE_ROWS, _TILE_LABELS = 1024, 64  # a tile of float32 fills half of a 512 KiB cache
_SHORT = 128  # up to so many steps, comparing with each of them beats a binary search
_LOCKSTEP = 64  # binary searches that wait for memory together
_BLOCKS, _BLOCK_ROWS, _BLOCK_ENTRIES = 8, 1 << 16, 1 << 20
_MOST_IN_32_BITS = (1 << 31) - 1  # counts of a block of unweighted rows are int32
_CACHED_STEPS, _CHUNK_ENTRIES, _LABEL_BLOCK_BITS = 1 << 17, 1 << 22, 7


@kernel
def _drop_entries(
    columns: Array,
    scores: Array,
    weights: Array,
    offsets: Array,
    grid: Array,
    lowest: Array,
    bins: Array,
) -> None:
    """Add the weight of each (label, score) to the highest step that it reaches.

    Each search waits for memory at a random place. Sixty-four of them taken in step wait together,
    which halves the time on a grid larger than the cache.
    """
    first = np.empty(_LOCKSTEP, np.int64)
    length = np.empty(_LOCKSTEP, np.int64)
    entry = np.empty(_LOCKSTEP + 1, np.int64)
    e = 0
    while e < columns.size:
        k = 0
        while e < columns.size and k < _LOCKSTEP:
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


@kernel
def _sort_by_block(
    columns: Array,
    scores: Array,
    weights: Array,
    lowest: Array,
    shift: int,
    kept_columns: Array,
    kept_scores: Array,
    kept_weights: Array,
) -> int:
    """Bring entries of neighbouring labels together; those below their label's steps are dropped.

    What follows then finds its part of the grid in the cache. A dropped entry is written past the
    end: a branch would be guessed wrong too often.
    """
    place = np.zeros((lowest.size >> shift) + 2, np.int64)
    for e in range(columns.size):
        place[(columns[e] >> shift) + 1] += scores[e] >= lowest[columns[e]]
    for b in range(place.size - 1):
        place[b + 1] += place[b]
    total = int(place[-1])
    for e in range(columns.size):
        j = columns[e]
        keep = scores[e] >= lowest[j]
        to = place[j >> shift] if keep else total
        kept_columns[to] = j
        kept_scores[to] = scores[e]
        kept_weights[to] = weights[e]
        place[j >> shift] += keep
    return total


@summing_kernel
def _add_to_few(scores: Array, grid: Array, bins: Array) -> None:
    """Count the scores at or above each of a few steps.

    The counter is a float32, exact for the 1,024 rows of a tile, because it fills vector registers
    four times better than an integer of 64 bits.
    """
    above = np.int64(0)
    for k in range(grid.size):
        step = grid[k]
        reached = np.float32(0.0)
        for r in range(scores.size):
            reached += np.float32(1.0) if scores[r] >= step else np.float32(0.0)
        bins[k] += np.int64(reached) - above
        above = np.int64(reached)


@kernel
def _add_to_many(scores: Array, weights: Array, grid: Array, bins: Array, first: Array) -> None:
    """Binary search for all scores of a tile in step, which is six times faster than one by one."""
    first[:] = 0
    length = grid.size
    while length > 1:
        half: Any = np.int32(length >> 1)
        for r in range(scores.size):
            # 32 bits and an unsigned index let the compiler use vector registers here too.
            f = first[r]
            first[r] = np.int32(f + half) if grid[np.uint32(f + half - 1)] > scores[r] else f
        length -= half
    for r in range(scores.size):
        if scores[r] >= grid[first[r]]:
            bins[first[r]] += weights[r]


@kernel
def _add_block(
    block: Array, weights: Array, offsets: Array, grid: Array, bins: Array, few: int
) -> None:
    """Add a dense block of rows x labels by tiles, each turned so that its labels lie flat."""
    n_rows, n_labels = block.shape
    tile = np.empty((_TILE_LABELS, _TILE_ROWS), block.dtype)
    scratch = np.empty(_TILE_ROWS, np.int32)
    for top in range(0, n_rows, _TILE_ROWS):
        rows = min(_TILE_ROWS, n_rows - top)
        for left in range(0, n_labels, _TILE_LABELS):
            labels = min(_TILE_LABELS, n_labels - left)
            # Sixteen rows at a time keep the cache lines that are read and written in reach.
            for strip in range(0, rows, 16):
                for j in range(labels):
                    for r in range(strip, min(strip + 16, rows)):
                        tile[j, r] = block[top + r, left + j]
            for j in range(labels):
                start, end = offsets[left + j], offsets[left + j + 1]
                steps, counts = grid[start:end], bins[start:end]
                if end - start > few:
                    across = weights[top : top + rows]
                    _add_to_many(tile[j, :rows], across, steps, counts, scratch[:rows])
                elif end > start:
                    _add_to_few(tile[j, :rows], steps, counts)


@kernel
def _accumulate(offsets: Array, bins: Array) -> None:
    for j in range(offsets.size - 1):
        for k in range(offsets[j] + 1, offsets[j + 1]):
            bins[k] += bins[k - 1]


def count_scores(grid: Grid, data: LabelledScores) -> Array:
    """How many scores, or what weight of them, lie at or above each step."""
    blocks_of = _dense_blocks if isinstance(data.scores, np.ndarray) else _sparse_blocks
    count, blocks = blocks_of(data, grid)
    bins = np.zeros(len(grid.scores), np.int64 if data.weights is None else np.float64)
    for steps, counted in map_blocks(count, blocks):
        bins[steps] += counted
    return accumulate(grid, bins)


def count_entries(grid: Grid, columns: Array, scores: Array, weights: Array) -> Array:
    """The same for a list of (label, score) pairs with weights."""
    bins = np.zeros(len(grid.scores), np.float64 if weights.dtype.kind == "f" else np.int64)
    _add_cached(columns, scores, weights, grid, grid.lowest(), bins)
    return accumulate(grid, bins)


def accumulate(grid: Grid, bins: Array) -> Array:
    """Turn what falls on each step and not on a higher one into what lies at or above it."""
    _accumulate(grid.offsets, bins)
    return bins


def _dense_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores = data.scores.reshape(data.n_rows, -1)
    weights = unit_weights(data.n_rows) if data.weights is None else data.weights
    few = _SHORT if data.weights is None else 0

    def count(part: tuple[slice, slice]) -> tuple[slice, Array]:
        rows, labels = part
        offsets = grid.offsets[labels.start : labels.stop + 1]
        steps = slice(offsets[0], offsets[-1])
        bins = np.zeros(steps.stop - steps.start, weights.dtype)
        block = scores[rows, labels]
        _add_block(block, weights[rows], offsets - steps.start, grid.scores[steps], bins, few)
        return steps, bins

    sides = spans(data.n_rows, max(_BLOCK_ROWS, data.n_rows // _BLOCKS))
    tops = spans(data.n_labels, max(_TILE_LABELS, data.n_labels // _BLOCKS))
    return count, [(rows, labels) for labels in tops for rows in sides]


def _sparse_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores, lowest = data.scores, grid.lowest()

    def count(entries: slice) -> tuple[slice, Array]:
        weights = _entry_weights(data, entries)
        bins = np.zeros(len(grid.scores), weights.dtype)
        add_entries(scores.indices[entries], scores.data[entries], weights, grid, lowest, bins)
        return slice(None), bins

    # Each block has counts of its own to add up, worth it if its entries are several times as many.
    blocks = min(max(scores.nnz // (4 * max(len(grid.scores), 1)), 4), 64)
    size = min(scores.nnz // blocks + 1, _MOST_IN_32_BITS)
    return count, spans(scores.nnz, max(_BLOCK_ENTRIES, size))


def add_entries(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    """Add the weight of each (label, score) to the highest step that it reaches."""
    add = _add_cached if len(grid.scores) <= _CACHED_STEPS else _add_beyond_cache
    add(columns, scores, weights, grid, lowest, bins)


def _add_cached(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    _drop_entries(columns, scores, weights, grid.offsets, grid.scores, lowest, bins)


def _add_beyond_cache(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    """Sort chunks of entries by blocks of labels first, which pays where the grid is large."""
    size = min(_CHUNK_ENTRIES, len(columns)) + 1
    near: list[Array] = [np.empty(size, part.dtype) for part in (columns, scores, weights)]
    shift = max(0, grid.n_labels.bit_length() - _LABEL_BLOCK_BITS)
    for part in spans(len(columns), _CHUNK_ENTRIES):
        entries = columns[part], scores[part], weights[part]
        found = slice(_sort_by_block(*entries, lowest, shift, *near))
        _add_cached(near[0][found], near[1][found], near[2][found], grid, lowest, bins)


def _entry_weights(data: LabelledScores, entries: slice) -> Array:
    """The weight of the row of each stored score."""
    if data.weights is None:
        return unit_weights(entries.stop - entries.start)
    row = np.searchsorted(data.scores.indptr, np.arange(entries.start, entries.stop), "right") - 1
    return data.weights[row]
