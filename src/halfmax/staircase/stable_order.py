"""Random choices that belong to what rows and labels hold, not to where they stand.

Folds, replicates and samples are drawn at random. Drawn by place, they would change when the same
data come in another order. So rows and labels are ordered by what they hold first, and random
numbers are dealt in that order. A label is known by its staircase. A row is known by the steps on
which its positives stand. Rows without positives, and those that look alike so far, are told apart
by the steps that all their scores reach, so the order stays the same if scores are measured on
another scale; only then by the scores themselves. Steps and scores are hashed, and sums of hashes
do not depend on the order of what is summed. Rows that are still alike hold the same.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.jit import kernel
from halfmax._core.labelled import LabelledScores
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.grid import Grid, positive_entries
from halfmax.staircase.staircase import Staircase

Keys = npt.NDArray[np.uint64]

_BLOCK_CELLS = 1 << 16  # stay in the cache
_DIGITS = 6  # of counts that may be sums of weights, rounded in the order of the rows
_ODD, _FIRST, _SECOND = (  # the constants of splitmix64
    np.uint64(k) for k in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@kernel
def _mixed(number: Any) -> Any:
    """The finaliser of splitmix64: each bit of a number changes half of the bits."""
    number = number + _ODD
    number = (number ^ (number >> _30)) * _FIRST
    number = (number ^ (number >> _27)) * _SECOND
    return number ^ (number >> _31)


@kernel
def _add_to_rows(
    scores: Array,
    bits: Keys,
    column: Array,
    first: Array,
    columns: Keys,
    offsets: Array,
    grid: Array,
    steps: Keys,
    values: Keys,
) -> None:
    """Sum the hashes of each row's pairs of column and step, and of column and score.

    Rows begin at `first`; without a `column` for each entry they are dense. The step is how many of
    the label's thresholds are above the score; -inf is never predicted, so it counts as no score.
    """
    for i in range(first.size - 1):
        for e in range(first[i], first[i + 1]):
            if scores[e] > -np.inf:
                j = column[e] if column.size else e - first[i]
                low, high = offsets[j], offsets[j + 1]
                while low < high:
                    middle = (low + high) >> 1
                    if grid[middle] > scores[e]:
                        low = middle + 1
                    else:
                        high = middle
                steps[i] += _mixed(columns[j] + np.uint64(low - offsets[j]))
                values[i] += _mixed(columns[j] + bits[e])


def ranks_of_rows(data: LabelledScores) -> npt.NDArray[np.int64]:
    """The place of each row in an order that depends on what rows hold alone."""
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
    """A key for each line of a table of counts."""
    odd = _mix(np.arange(1, counts.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    keys: Keys = (_mix(_bits(np.round(counts, _DIGITS))) * odd).sum(axis=1, dtype=np.uint64)
    return keys


def keys_of_labels(stairs: Staircase) -> Keys:
    """A key for the staircase of each label."""
    offsets = stairs.grid.offsets
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    steps = np.stack([place, stairs.true_positives, stairs.predicted], axis=1)
    of_label = np.stack([stairs.positives, stairs.total], axis=1)
    return _mix(_within(_mix(keys_of_counts(steps)), offsets) + keys_of_counts(of_label))


def _keys_of_positives(data: LabelledScores, columns: Keys) -> Keys:
    """From the labels of a row's positives, and the steps on which these stand; 0 for no positive.

    Scores of positives that are never predicted stand on a step of their own, below all others.
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
    """From weights and steps, and from the scores, of some of the rows."""
    scores = grid.scores.astype(np.float64)

    def of_block(some: slice) -> tuple[Keys, Keys]:
        entries = _entries(data.scores[rows[some]])
        sums = np.zeros((2, len(entries[-1]) - 1), np.uint64)
        with np.errstate(over="ignore"):  # without the compiler too
            _add_to_rows(*entries, columns, grid.offsets, scores, *sums)
        return sums[0], sums[1]

    blocks = spans(len(rows), max(1, _BLOCK_CELLS // data.n_labels))
    nothing = (np.zeros(0, np.uint64), np.zeros(0, np.uint64))
    steps, values = map(np.concatenate, zip(nothing, *map_blocks(of_block, blocks), strict=True))
    return steps + _mix(_bits(_relative_weights(data)[rows])), values


def _relative_weights(data: LabelledScores) -> Array:
    """Weights without their scale, which must not matter; 1 for all rows where there are none."""
    if data.weights is None:
        return np.ones(data.n_rows)
    weights: Array = np.round(data.weights / data.weights.max(), _DIGITS)
    return weights


def _entries(scores: Any) -> tuple[Array, Keys, Array, Array]:
    """Scores row after row, their bits, their columns if sparse, and where each row begins."""
    if isinstance(scores, np.ndarray):
        n_rows, n_labels = scores.shape
        stored = np.ascontiguousarray(scores, np.float64).ravel()
        first = np.arange(n_rows + 1) * n_labels
        return stored, _bits(stored), np.zeros(0, np.int64), first
    stored = scores.data.astype(np.float64)
    return stored, _bits(stored), scores.indices, scores.indptr


def _within(numbers: Keys, first: Array) -> Keys:
    """Sums of stretches that begin here, each of which ends where the next begins."""
    upto = np.append(np.uint64(0), np.cumsum(numbers, dtype=np.uint64))
    sums: Keys = upto[first[1:]] - upto[first[:-1]]
    return sums


def _bits(numbers: Array) -> Keys:
    """Of floats by their value: 0.0 is -0.0, and float32 is the same in float64."""
    return (np.asarray(numbers, np.float64) + 0.0).view(np.uint64)


def _mix(numbers: Keys) -> Keys:
    """The hash of whole arrays."""
    mixed = numbers + _ODD
    mixed = (mixed ^ (mixed >> _30)) * _FIRST
    mixed = (mixed ^ (mixed >> _27)) * _SECOND
    return mixed ^ (mixed >> _31)
