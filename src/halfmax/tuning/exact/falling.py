"""The scores of each label sorted from high to low, with their rows and truth.

Only scores that could be predicted are kept: those at or above the lowest positive of their label,
or at or above the threshold that the labels start from. A counting sort groups them by label, and
a radix sort orders each group, which takes a fraction of the time of a comparison sort.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array, Floats
from halfmax.staircase.grid import positive_entries
from halfmax.tuning.exact.falling_kernels import count_kept, group, mark_ends, sort_labels
from halfmax.tuning.exact.groups import flat_scores

_BLOCKS = 8  # blocks of rows, at most
_LABEL_BLOCKS = 32
_DIGITS = 256  # values of a byte, by which keys are sorted


@dataclass(frozen=True, eq=False)
class Falling:
    """The scores of label ``j`` from high to low are ``[edges[j]:edges[j + 1]]`` of the arrays.

    A code is 4 times the row, plus 2 if the next score is lower, plus 1 if the row is positive.
    `positives` and `n_predicted` are per label: the first `n_predicted` scores are predicted.
    """

    edges: npt.NDArray[np.int64]
    keys: Array
    codes: npt.NDArray[np.int64]
    positives: npt.NDArray[np.int64]
    n_predicted: npt.NDArray[np.int64]
    dtype: np.dtype[Any]

    def thresholds(self) -> Floats:
        """Return the lowest predicted score of each label; +inf where there is none."""
        thresholds = np.full(len(self.n_predicted), np.inf)
        some = self.n_predicted > 0
        last = (self.edges[:-1] + self.n_predicted - 1)[some]
        thresholds[some] = _scores_of(self.keys[last], self.dtype)
        return thresholds


def fall(data: LabelledScores, start: float) -> Falling:
    """Sort the scores of each label; those at or above `start` are predicted."""
    return _sort(*_group_by_label(data, _lowest(data, start)), start)


def _group_by_label(data: LabelledScores, lowest: Array) -> tuple[Array, Array, Array]:
    """Return the edges of labels and their kept scores with codes, in the order of the rows."""
    scores, positive = flat_scores(data)
    starts, columns = _layout(data)
    step = -(-data.n_rows // min(_BLOCKS, 1 + len(scores) // limits.sort_block_entries))
    blocks = spans(data.n_rows, step)

    def count(rows: slice) -> Array:
        counts = np.zeros(data.n_labels, np.int64)
        count_kept(starts[rows.start : rows.stop + 1], columns, scores, lowest, counts)
        return counts

    counts = np.stack(list(map_blocks(count, blocks)))
    edges = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = edges[:-1] + np.cumsum(counts, axis=0) - counts
    grouped, codes = np.empty(edges[-1], scores.dtype), np.empty(edges[-1], np.int64)

    def move(block: tuple[slice, Array]) -> None:
        rows, place = block
        inside = starts[rows.start : rows.stop + 1]
        group(rows.start, inside, columns, scores, positive, lowest, place, grouped, codes)

    for _ in map_blocks(move, zip(blocks, places, strict=True)):
        pass
    return edges, grouped, codes


def _layout(data: LabelledScores) -> tuple[Array, Array]:
    """Return where rows start in the array of `flat_scores`, and the columns if sparse."""
    if isinstance(data.scores, np.ndarray):
        return np.arange(data.n_rows + 1) * data.n_labels, np.empty(0, np.int32)
    return data.scores.indptr.astype(np.int64), data.scores.indices


def _sort(edges: Array, grouped: Array, codes: Array, start: float) -> Falling:
    positives, n_predicted = np.zeros((2, len(edges) - 1), np.int64)
    lowest = _keys_of(np.array([start], grouped.dtype))[0]
    keys, short = grouped.view(lowest.dtype), limits.insertion_sort

    def sort(labels: slice) -> None:
        inside = edges[labels.start : labels.stop + 1]
        part = slice(inside[0], inside[-1])
        keys[part] = _keys_of(grouped[part])
        longest = int(np.diff(inside).max())
        other_keys, other_codes = np.empty(longest, keys.dtype), np.empty(longest, np.int64)
        counts = np.empty((keys.itemsize, _DIGITS), np.int64)
        sort_labels(inside, keys, codes, other_keys, other_codes, counts, short)
        mark_ends(inside, keys, codes, lowest, positives[labels], n_predicted[labels])

    n_labels = len(n_predicted)
    for _ in map_blocks(sort, spans(n_labels, -(-n_labels // _LABEL_BLOCKS))):
        pass
    return Falling(edges, keys, codes, positives, n_predicted, grouped.dtype)


def _lowest(data: LabelledScores, start: float) -> Array:
    """Return the lowest score of each label that could be predicted."""
    columns, scores, _ = positive_entries(data)
    lowest = np.full(data.n_labels, start, data.scores.dtype)
    known = scores > -np.inf
    np.minimum.at(lowest, columns[known], scores[known])
    return lowest


def _keys_of(scores: Array) -> Array:
    """Map floats to unsigned integers of the same order; -0.0 and 0.0 get the same key.

    Floats store sign and magnitude, so the bits of negative ones, read as integers, are in
    reverse order.
    """
    whole = np.uint32 if scores.dtype == np.float32 else np.uint64
    bits: Array = (scores + scores.dtype.type(0.0)).view(whole)  # no -0.0
    top = whole(1 << (8 * scores.dtype.itemsize - 1))
    keys: Array = np.where(bits & top, ~bits, bits | top)
    return keys


def _scores_of(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Map keys back to floats."""
    top = keys.dtype.type(1 << (8 * dtype.itemsize - 1))
    scores: Array = np.where(keys & top, keys ^ top, ~keys).view(dtype)
    return scores
