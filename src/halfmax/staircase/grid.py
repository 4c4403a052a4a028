"""First pass over the data: the grid of the positives' scores, the only useful thresholds."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.gate import labelled
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.staircase.kernels import group, keep_distinct, look_up, sort_short_segments


@dataclass(frozen=True, eq=False)
class Grid:
    """The distinct scores of each label's positives, from high to low.

    A grid holds the candidate thresholds (the steps) of a `Staircase`. ``grid_1 | grid_2`` is the
    grid of two parts of the data together.

    Attributes
    ----------
    offsets : ndarray of int64, shape (m + 1,)
        ``scores[offsets[j]:offsets[j + 1]]`` are the steps of label ``j``.
    scores : ndarray
        The steps of all labels, label after label.

    See Also
    --------
    Staircase : What each of these thresholds counts.

    Examples
    --------
    >>> grid = Grid.of([1, 0, 1], [0.9, 0.8, 0.4]) | Grid.of([0, 1], [0.3, 0.5])
    >>> grid.scores
    array([0.9, 0.5, 0.4])
    """

    offsets: npt.NDArray[np.int64]
    scores: Array

    @classmethod
    def of(cls, y_true: Any, y_score: Any, *, pos_label: Any = None) -> Self:
        """Collect the scores of the positives.

        Parameters
        ----------
        y_true : array-like, 1-D or rows x labels
            Truth, as `tune` takes it.
        y_score : array-like of the same shape
            Scores, as `tune` takes them.
        pos_label : class, optional
            The positive class, as `tune` takes it.

        Returns
        -------
        Grid
            The distinct scores of each label's positives.
        """
        data = labelled.read_labelled(y_true, y_score, pos_label=pos_label)
        columns, scores, _ = positive_entries(data)
        return cls.from_entries(columns, scores, data.n_labels)

    @classmethod
    def from_entries(cls, columns: Array, scores: Array, n_labels: int) -> Self:
        """Build the grid of a list of (label, score) pairs.

        Parameters
        ----------
        columns : ndarray of int
            The label of each pair, from 0 to ``n_labels - 1``.
        scores : ndarray
            The score of each pair. A score of -inf is never predicted and is left out.
        n_labels : int
            The number of labels.

        Returns
        -------
        Grid
            The distinct scores of each label.
        """
        found = distinct_scores(columns, scores, n_labels)[0]
        return cls(found.offsets, found.scores)

    def __or__(self, other: "Grid") -> "Grid":
        if not isinstance(other, Grid):
            return NotImplemented
        if self.n_labels != other.n_labels:
            raise ValueError(
                "grids must have the same number of labels to unite; "
                f"got {self.n_labels} and {other.n_labels}"
            )
        columns = np.concatenate([self.columns, other.columns])
        return Grid.from_entries(
            columns, np.concatenate([self.scores, other.scores]), self.n_labels
        )

    def __repr__(self) -> str:
        return f"Grid({self.n_labels:,} labels, {len(self.scores):,} steps)"

    @property
    def n_labels(self) -> int:
        return len(self.offsets) - 1

    @property
    def columns(self) -> npt.NDArray[np.int64]:
        """The label of each step."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.offsets))

    def lowest(self) -> Array:
        """Return the lowest step of each label.

        Returns
        -------
        ndarray
            For a label without steps +inf, which no score reaches.
        """
        ends = self.offsets[1:]
        lowest = np.full(self.n_labels, np.inf, self.scores.dtype)
        some = ends > self.offsets[:-1]
        lowest[some] = self.scores[ends[some] - 1]
        return lowest

    def equals(self, other: "Grid") -> bool:
        """Return whether both grids have the same steps.

        Parameters
        ----------
        other : Grid
            The grid to compare with.

        Returns
        -------
        bool
            True if offsets and scores are equal.
        """
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(
            self.scores, other.scores
        )


def grid_of_all(data: LabelledScores) -> Grid:
    """Return the grid of all scores of each label, of negatives too."""
    scores = data.scores
    if not isinstance(scores, np.ndarray):
        return Grid.from_entries(scores.indices, scores.data, data.n_labels)
    columns = np.tile(np.arange(data.n_labels, dtype=np.int32), data.n_rows)
    return Grid.from_entries(columns, scores.ravel(), data.n_labels)


def distinct_scores(columns: Array, scores: Array, n_labels: int) -> tuple[Grid, Array]:
    """Return the grid of (label, score) pairs and the number of pairs on each of its steps."""
    if not np.isfinite(scores).all():
        columns, scores = columns[scores > -np.inf], scores[scores > -np.inf]
    offsets = np.zeros(n_labels + 1, np.int64)
    np.cumsum(np.bincount(columns, minlength=n_labels), out=offsets[1:])
    grouped, longest = np.empty_like(scores), limits.grid_long_segment
    group(columns, scores, offsets[:-1].copy(), grouped)

    def sort(labels: slice) -> None:
        sort_short_segments(offsets[labels.start : labels.stop + 1], grouped, longest)

    for _ in map_blocks(sort, spans(n_labels, limits.grid_block_labels)):
        pass
    for j in np.flatnonzero(np.diff(offsets) > longest):
        grouped[offsets[j] : offsets[j + 1]].sort()
    distinct, copies = np.empty_like(grouped), np.empty(len(grouped), np.int64)
    kept = np.empty_like(offsets)
    size = keep_distinct(offsets, grouped, distinct, copies, kept)
    if size < len(distinct):
        distinct, copies = distinct[:size].copy(), copies[:size].copy()
    return Grid(kept, distinct), copies


def positive_entries(data: LabelledScores) -> tuple[Array, Array, Array]:
    """Return label, score and weight of every positive; a missing score is -inf."""
    if data.is_binary:
        rows = np.flatnonzero(data.truth)
        return np.zeros(len(rows), np.int64), data.scores[rows], row_weights(data, rows)
    truth, scores = data.truth, data.scores
    rows = np.repeat(np.arange(data.n_rows), np.diff(truth.indptr))
    if isinstance(scores, np.ndarray):
        found = scores[rows, truth.indices]
    else:
        place = locate_positives(data)
        stored = scores.data if scores.nnz else np.zeros(1, scores.dtype)
        found = np.where(place >= 0, stored[place], np.array(-np.inf, scores.dtype))
    return truth.indices, found, row_weights(data, rows)


def locate_positives(data: LabelledScores) -> Array:
    """Find where a sparse matrix stores the score of each positive; -1 if it is not stored."""
    truth, scores = data.truth, data.scores
    place = np.empty(truth.nnz, np.int64)
    look_up(truth.indptr, truth.indices, scores.indptr, scores.indices, place)
    return place


def equivalent(thresholds: Array, dtype: npt.DTypeLike) -> Array:
    """Round thresholds up to a float type: scores of that type are predicted as before."""
    with np.errstate(over="ignore"):
        rounded = np.asarray(thresholds).astype(dtype)
    below = rounded < thresholds
    rounded[below] = np.nextafter(rounded[below], np.array(np.inf, rounded.dtype))
    equal: Array = rounded + rounded.dtype.type(0.0)  # -0.0 is 0.0
    return equal


def row_weights(data: LabelledScores, rows: Array) -> Array:
    """Return the weights of some rows."""
    return unit_weights(len(rows)) if data.weights is None else data.weights[rows]


def unit_weights(size: int) -> Array:
    """Return weights of 1 that share the memory of a single number."""
    return np.broadcast_to(np.int32(1), size)
