"""Second pass over the data: count the scores at or above each step of a grid.

Blocks of the data are counted independently, on all cores, and their counts are added up.
"""

from typing import Any

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.jit import kernel, summing_kernel
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.grid import Grid, unit_weights

_LOCKSTEP = 64  # binary searches that wait for memory together
_MOST_IN_32_BITS = (1 << 31) - 1  # counts of a block of unweighted rows are int32


@kernel
def _bin_entries(
    columns: Array,
    scores: Array,
    weights: Array,
    offsets: Array,
    grid: Array,
    lowest: Array,
    bins: Array,
) -> None:
    """Add the weight of each (label, score) entry to the highest step that it reaches.

    Each binary search waits for memory at random places. Sixty-four searches in lockstep wait
    together, which halves the time on a grid larger than the cache.
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
    """Group entries of neighbouring labels, and drop those below all steps of their label.

    The searches that follow then find their part of the grid in the cache. A dropped entry is
    written past the end, because a branch would be mispredicted too often.
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

    The counter is a float32, which is exact for the 1,024 rows of a tile, because vector registers
    then work four times as fast as with a 64-bit integer.
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
    """Search for all scores of a tile in lockstep, which is six times faster than one by one."""
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
    block: Array,
    weights: Array,
    offsets: Array,
    grid: Array,
    bins: Array,
    few: int,
    tile_rows: int,
    tile_labels: int,
) -> None:
    """Add a dense block of rows x labels, tile by tile; each tile is transposed first."""
    n_rows, n_labels = block.shape
    tile = np.empty((tile_labels, tile_rows), block.dtype)
    scratch = np.empty(tile_rows, np.int32)
    for top in range(0, n_rows, tile_rows):
        rows = min(tile_rows, n_rows - top)
        for left in range(0, n_labels, tile_labels):
            labels = min(tile_labels, n_labels - left)
            # Sixteen rows at a time keep both the cache lines read and those written in cache.
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
    """Count the scores, or sum their weights, at or above each step."""
    blocks_of = _dense_blocks if isinstance(data.scores, np.ndarray) else _sparse_blocks
    count, blocks = blocks_of(data, grid)
    bins = np.zeros(len(grid.scores), np.int64 if data.weights is None else np.float64)
    for steps, counted in map_blocks(count, blocks):
        bins[steps] += counted
    return accumulate(grid, bins)


def count_entries(grid: Grid, columns: Array, scores: Array, weights: Array) -> Array:
    """Sum the weights of (label, score) entries at or above each step."""
    bins = np.zeros(len(grid.scores), np.float64 if weights.dtype.kind == "f" else np.int64)
    _add_cached(columns, scores, weights, grid, grid.lowest(), bins)
    return accumulate(grid, bins)


def accumulate(grid: Grid, bins: Array) -> Array:
    """Turn counts of single steps into counts at or above each step, in place."""
    _accumulate(grid.offsets, bins)
    return bins


def _dense_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores = data.scores.reshape(data.n_rows, -1)
    weights = unit_weights(data.n_rows) if data.weights is None else data.weights
    few = limits.few_steps if data.weights is None else 0
    tile_rows, tile_labels = limits.tile_rows, limits.tile_labels

    def count(part: tuple[slice, slice]) -> tuple[slice, Array]:
        rows, labels = part
        offsets = grid.offsets[labels.start : labels.stop + 1]
        steps = slice(offsets[0], offsets[-1])
        bins = np.zeros(steps.stop - steps.start, weights.dtype)
        _add_block(
            scores[rows, labels],
            weights[rows],
            offsets - steps.start,
            grid.scores[steps],
            bins,
            few,
            tile_rows,
            tile_labels,
        )
        return steps, bins

    size = limits.count_blocks
    row_blocks = spans(data.n_rows, max(limits.count_block_rows, data.n_rows // size))
    label_blocks = spans(data.n_labels, max(tile_labels, data.n_labels // size))
    return count, [(rows, labels) for labels in label_blocks for rows in row_blocks]


def _sparse_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores, lowest = data.scores, grid.lowest()

    def count(entries: slice) -> tuple[slice, Array]:
        weights = _entry_weights(data, entries)
        bins = np.zeros(len(grid.scores), weights.dtype)
        add_entries(scores.indices[entries], scores.data[entries], weights, grid, lowest, bins)
        return slice(None), bins

    # Each block has its own counts to add up, which pays if its entries are several times as many.
    blocks = min(max(scores.nnz // (4 * max(len(grid.scores), 1)), 4), 64)
    size = min(scores.nnz // blocks + 1, _MOST_IN_32_BITS)
    return count, spans(scores.nnz, max(limits.count_block_entries, size))


def add_entries(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    """Add the weight of each (label, score) entry to the highest step that it reaches."""
    add = _add_cached if len(grid.scores) <= limits.cached_steps else _add_beyond_cache
    add(columns, scores, weights, grid, lowest, bins)


def _add_cached(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    _bin_entries(columns, scores, weights, grid.offsets, grid.scores, lowest, bins)


def _add_beyond_cache(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    """Sort chunks of entries by blocks of labels first, which pays where the grid is large."""
    size = min(limits.chunk_entries, len(columns)) + 1
    near_columns = np.empty(size, columns.dtype)
    near_scores = np.empty(size, scores.dtype)
    near_weights = np.empty(size, weights.dtype)
    shift = max(0, grid.n_labels.bit_length() - limits.label_block_bits)
    for part in spans(len(columns), limits.chunk_entries):
        n_kept = _sort_by_block(
            columns[part],
            scores[part],
            weights[part],
            lowest,
            shift,
            near_columns,
            near_scores,
            near_weights,
        )
        _add_cached(
            near_columns[:n_kept],
            near_scores[:n_kept],
            near_weights[:n_kept],
            grid,
            lowest,
            bins,
        )


def _entry_weights(data: LabelledScores, entries: slice) -> Array:
    """Return the row weight of each stored score."""
    if data.weights is None:
        return unit_weights(entries.stop - entries.start)
    row = np.searchsorted(data.scores.indptr, np.arange(entries.start, entries.stop), "right") - 1
    return data.weights[row]
