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
from halfmax._core.jit import kernel
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array, Floats
from halfmax.staircase.grid import positive_entries
from halfmax.tuning.exact.groups import flat_scores

_BLOCKS = 8  # blocks of rows, at most
_LABEL_BLOCKS = 32
_DIGIT_BITS = 8
_DIGITS = 1 << _DIGIT_BITS


@kernel
def _count_kept(starts: Array, columns: Array, scores: Array, lowest: Array, counts: Array) -> None:
    """Count the scores of each label that are kept; `columns` is empty for dense rows."""
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            j = columns[e] if columns.size else e - starts[i]
            counts[j] += scores[e] >= lowest[j]


@kernel
def _group(
    first: int,
    starts: Array,
    columns: Array,
    scores: Array,
    positive: Array,
    lowest: Array,
    place: Array,
    grouped: Array,
    codes: Array,
) -> None:
    """Counting sort: move each kept score to `place` of its label. The first row is `first`."""
    for i in range(starts.size - 1):
        for e in range(starts[i], starts[i + 1]):
            j = columns[e] if columns.size else e - starts[i]
            if scores[e] >= lowest[j]:
                grouped[place[j]] = scores[e]
                codes[place[j]] = 4 * (first + i) + np.int64(positive[e])
                place[j] += 1


@kernel
def _insert(keys: Array, codes: Array) -> None:
    """Sort a few keys from high to low by insertion; the sort is stable."""
    for e in range(1, keys.size):
        key, code = keys[e], codes[e]
        k = e
        while k > 0 and keys[k - 1] < key:
            keys[k], codes[k] = keys[k - 1], codes[k - 1]
            k -= 1
        keys[k], codes[k] = key, code


@kernel
def _sort_by_digits(keys: Array, codes: Array, other_keys: Array, other_codes: Array) -> bool:
    """Radix sort: order keys from high to low, by their lowest digit first; the sort is stable.

    Return True if the result is in the other arrays. A digit that all keys share is skipped.
    """
    n_digits = keys.itemsize * 8 // _DIGIT_BITS
    counts = np.zeros((n_digits, _DIGITS), np.int64)
    for e in range(keys.size):
        for d in range(n_digits):
            counts[d, _digit(keys[e], d)] += 1
    moved = False
    for d in range(n_digits):
        place = counts[d]
        if place[_digit(keys[0], d)] == keys.size:
            continue
        above = 0
        for digit in range(_DIGITS - 1, -1, -1):
            here = place[digit]
            place[digit] = above
            above += here
        for e in range(keys.size):
            digit = _digit(keys[e], d)
            to = place[digit]
            other_keys[to] = keys[e]
            other_codes[to] = codes[e]
            place[digit] = to + 1
        keys, other_keys = other_keys, keys
        codes, other_codes = other_codes, codes
        moved = not moved
    return moved


@kernel
def _digit(key: Any, d: int) -> int:
    return int((key >> np.uint64(_DIGIT_BITS * d)) & np.uint64(_DIGITS - 1))


@kernel
def _sort_labels(
    edges: Array, keys: Array, codes: Array, other_keys: Array, other_codes: Array, short: int
) -> None:
    for j in range(edges.size - 1):
        part = slice(edges[j], edges[j + 1])
        size = edges[j + 1] - edges[j]
        if size <= short:
            _insert(keys[part], codes[part])
        elif _sort_by_digits(keys[part], codes[part], other_keys[:size], other_codes[:size]):
            keys[part] = other_keys[:size]
            codes[part] = other_codes[:size]


@kernel
def _mark_ends(
    edges: Array, keys: Array, codes: Array, start: Any, positives: Array, n_predicted: Array
) -> None:
    """Mark the last of equal scores; count the positives and the scores that reach the start."""
    for j in range(edges.size - 1):
        for e in range(edges[j], edges[j + 1]):
            positives[j] += codes[e] & 1
            n_predicted[j] += keys[e] >= start
            if e + 1 == edges[j + 1] or keys[e + 1] != keys[e]:
                codes[e] += 2


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
        _count_kept(starts[rows.start : rows.stop + 1], columns, scores, lowest, counts)
        return counts

    counts = np.stack(list(map_blocks(count, blocks)))
    edges = np.concatenate([[0], np.cumsum(counts.sum(axis=0))])
    places = edges[:-1] + np.cumsum(counts, axis=0) - counts
    grouped, codes = np.empty(edges[-1], scores.dtype), np.empty(edges[-1], np.int64)

    def group(block: tuple[slice, Array]) -> None:
        rows, place = block
        inside = starts[rows.start : rows.stop + 1]
        _group(rows.start, inside, columns, scores, positive, lowest, place, grouped, codes)

    for _ in map_blocks(group, zip(blocks, places, strict=True)):
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
        _sort_labels(inside, keys, codes, other_keys, other_codes, short)
        _mark_ends(inside, keys, codes, lowest, positives[labels], n_predicted[labels])

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
