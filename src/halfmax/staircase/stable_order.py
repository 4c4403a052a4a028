"""An order of rows and labels that depends on their content, not on their position.

Folds, replicates and samples are drawn at random. Drawn by position, they would change if the same
data came in another order. So rows and labels are first sorted by their content, and random numbers
are assigned in that order. A label is identified by its staircase, a row by the steps of its
positives. Rows without positives, and rows that are equal so far, are distinguished by the steps
that all their scores reach, so that the order stays the same if scores are put on another scale;
only then by the scores themselves. Steps and scores are hashed, and sums of hashes do not depend
on the order of summation. Rows that are still equal have the same content.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.grid import Grid, positive_entries
from halfmax.staircase.kernels import add_to_rows
from halfmax.staircase.staircase import Staircase

Keys = npt.NDArray[np.uint64]

_BLOCK_CELLS = 1 << 16  # stay in the cache
_DIGITS = 6  # kept in sums of weights, whose rounding depends on the order of the rows
_ODD, _FIRST, _SECOND = (  # the constants of splitmix64
    np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


def ranks_of_rows(data: LabelledScores) -> npt.NDArray[np.int64]:
    """Return the rank of each row in an order that depends on the content of rows alone."""
    if data.is_binary:
        order = np.lexsort((_relative_weights(data), data.truth, data.scores))
    else:
        stairs = Staircase.of_checked(data._replace(weights=None))
        columns = keys_of_labels(stairs)
        positives = _keys_of_positives(data, columns)
        _, which, copies = np.unique(positives, return_inverse=True, return_counts=True)
        alike = np.flatnonzero((positives == 0) | (copies[which.ravel()] > 1))
        steps, values = np.zeros((2, data.n_rows), np.uint64)
        steps[alike], values[alike] = _keys_of_scores(data, stairs.grid, columns, alike)
        order = np.lexsort((values, steps, positives))
    ranks = np.empty(data.n_rows, np.int64)
    ranks[order] = np.arange(data.n_rows)
    return ranks


def keys_of_counts(counts: Array) -> Keys:
    """Return a key for each row of a table of counts."""
    odd = _mix(np.arange(1, counts.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    keys: Keys = (_mix(_bits(np.round(counts, _DIGITS))) * odd).sum(axis=1, dtype=np.uint64)
    return keys


def keys_of_labels(stairs: Staircase) -> Keys:
    """Return a key for the staircase of each label."""
    offsets = stairs.grid.offsets
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    steps = np.stack([place, stairs.true_positives, stairs.predicted], axis=1)
    of_label = np.stack([stairs.positives, stairs.total], axis=1)
    return _mix(_within(_mix(keys_of_counts(steps)), offsets) + keys_of_counts(of_label))


def _keys_of_positives(data: LabelledScores, columns: Keys) -> Keys:
    """Hash the labels and steps of each row's positives; 0 for a row without positives.

    Positives that are never predicted (-inf) share a step of their own, below all others.
    """
    column, scores, _ = positive_entries(data)
    order = np.lexsort((-scores, column))
    column, scores = column[order], scores[order]
    first = np.searchsorted(column, np.arange(data.n_labels))
    new = np.append(True, (np.diff(column) != 0) | (scores[1:] != scores[:-1]))[: len(column)]
    step = np.cumsum(new) - 1
    place = step - step[first[column]] if len(column) else step
    hashed = np.empty(len(column), np.uint64)
    hashed[order] = _mix(columns[column] + place.astype(np.uint64) * _FIRST)
    return _within(hashed, data.truth.indptr)


def _keys_of_scores(
    data: LabelledScores, grid: Grid, columns: Keys, rows: Array
) -> tuple[Keys, Keys]:
    """Hash weights and steps, and separately the scores, of some of the rows."""
    scores = grid.scores.astype(np.float64)

    def of_block(some: slice) -> tuple[Keys, Keys]:
        stored, bits, column, first = _entries(data.scores[rows[some]])
        steps, values = np.zeros((2, len(first) - 1), np.uint64)
        with np.errstate(over="ignore"):  # where kernels are not compiled
            add_to_rows(stored, bits, column, first, columns, grid.offsets, scores, steps, values)
        return steps, values

    blocks = spans(len(rows), max(1, _BLOCK_CELLS // data.n_labels))
    nothing = (np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    steps, values = map(np.concatenate, zip(nothing, *map_blocks(of_block, blocks), strict=True))
    return steps + _mix(_bits(_relative_weights(data)[rows])), values


def _relative_weights(data: LabelledScores) -> Array:
    """Return weights relative to the largest, so that their scale does not matter, or ones."""
    if data.weights is None:
        return np.ones(data.n_rows)
    weights: Array = np.round(data.weights / data.weights.max(), _DIGITS)
    return weights


def _entries(scores: Any) -> tuple[Array, Keys, Array, Array]:
    """Return scores row by row, their bits, their columns if sparse, and where rows begin."""
    if isinstance(scores, np.ndarray):
        n_rows, n_labels = scores.shape
        stored = np.ascontiguousarray(scores, np.float64).ravel()
        first = np.arange(n_rows + 1) * n_labels
        return stored, _bits(stored), np.zeros(0, np.int64), first
    stored = scores.data.astype(np.float64)
    columns, first = (part.astype(np.int64) for part in (scores.indices, scores.indptr))
    return stored, _bits(stored), columns, first


def _within(numbers: Keys, first: Array) -> Keys:
    """Sum the numbers of consecutive segments; each begins at `first` and ends at the next."""
    upto = np.append(np.uint64(0), np.cumsum(numbers, dtype=np.uint64))
    sums: Keys = upto[first[1:]] - upto[first[:-1]]
    return sums


def _bits(numbers: Array) -> Keys:
    """Return the bits of floats by value: 0.0 equals -0.0, and float32 equals float64."""
    return (np.asarray(numbers, np.float64) + 0.0).view(np.uint64)


def _mix(numbers: Keys) -> Keys:
    """Hash all numbers of an array, with the finaliser of splitmix64."""
    mixed = numbers + _ODD
    mixed = (mixed ^ (mixed >> _30)) * _FIRST
    mixed = (mixed ^ (mixed >> _27)) * _SECOND
    return mixed ^ (mixed >> _31)
