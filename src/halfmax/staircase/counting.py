"""Second pass over the data: count the scores at or above each step of a grid.

Blocks of the data are counted independently, on all cores, and their counts are added up.
"""

from typing import Any

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.count_kernels import (
    accumulate_bins,
    add_block,
    bin_entries,
    sort_by_block,
)
from halfmax.staircase.grid import Grid, unit_weights

_MOST_IN_32_BITS = (1 << 31) - 1  # counts of a block of unweighted rows are int32


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
    accumulate_bins(grid.offsets, bins)
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
        tile = np.empty((tile_labels, tile_rows), scores.dtype)
        cells = min(limits.table_cells, int(np.diff(offsets).max(initial=1)))
        add_block(
            scores[rows, labels],
            weights[rows],
            offsets - steps.start,
            grid.scores[steps],
            bins,
            few,
            tile,
            np.empty((tile_labels, cells), np.int32),
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
    weights = _as_type(weights, bins.dtype)
    bin_entries(columns, scores, weights, grid.offsets, grid.scores, lowest, bins)


def _add_beyond_cache(
    columns: Array, scores: Array, weights: Array, grid: Grid, lowest: Array, bins: Array
) -> None:
    """Sort chunks of entries by blocks of labels first, which pays where the grid is large."""
    weights = _as_type(weights, bins.dtype)
    size = min(limits.chunk_entries, len(columns)) + 1
    near_columns = np.empty(size, columns.dtype)
    near_scores = np.empty(size, scores.dtype)
    near_weights = np.empty(size, weights.dtype)
    shift = max(0, grid.n_labels.bit_length() - limits.label_block_bits)
    for part in spans(len(columns), limits.chunk_entries):
        n_kept = sort_by_block(
            columns[part],
            scores[part],
            weights[part],
            lowest,
            shift,
            np.zeros((len(lowest) >> shift) + 2, np.int64),
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


def _as_type(weights: Array, dtype: np.dtype[Any]) -> Array:
    """Convert weights to the type of their sums; weights of 1 keep sharing a single number."""
    if weights.strides == (0,) and len(weights):
        return np.broadcast_to(weights[:1].astype(dtype), len(weights))
    return weights.astype(dtype, copy=False)


def _entry_weights(data: LabelledScores, entries: slice) -> Array:
    """Return the row weight of each stored score."""
    if data.weights is None:
        return unit_weights(entries.stop - entries.start)
    row = np.searchsorted(data.scores.indptr, np.arange(entries.start, entries.stop), "right") - 1
    return data.weights[row]
