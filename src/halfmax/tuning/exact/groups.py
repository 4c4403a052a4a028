"""Scores with the group that each belongs to: its row, or its label."""

from typing import NamedTuple, Self

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.staircase.grid import locate_positives


class Groups(NamedTuple):
    """Scores in any order, each in its group."""

    scores: Array
    group: Array  # int32
    positive: Array  # uint8
    weights: Array  # for each score
    positives: Array  # for each group, like the fields below
    total: Array
    importance: Array

    def with_entries(self, scores: Array, group: Array, positive: Array, weights: Array) -> Self:
        """Replace the scores; the groups stay."""
        return self._replace(scores=scores, group=group, positive=positive, weights=weights)

    def take(self, entry: Array | slice) -> Self:
        """Keep some of the scores."""
        return self.with_entries(
            self.scores[entry], self.group[entry], self.positive[entry], self.weights[entry]
        )

    def with_float_totals(self) -> Self:
        """Convert what metrics and kernels compute with to floats, once and for all."""
        positives, total = self.positives.astype(np.float64), self.total.astype(np.float64)
        return self._replace(positives=positives, total=total)

    def empty(self, size: int) -> Self:
        """Allocate space for `size` scores of the same groups."""
        return self.with_entries(
            np.empty(size, self.scores.dtype),
            np.empty(size, self.group.dtype),
            np.empty(size, self.positive.dtype),
            np.empty(size, self.weights.dtype),
        )


def group_scores(data: LabelledScores, average: str) -> Groups:
    """Group scores by row for a samples average, by label for a mean over labels."""
    scores, positive = flat_scores(data)
    units = np.broadcast_to(np.int64(1), len(scores))
    if average == "samples":
        return Groups(
            scores,
            _rows(data),
            positive,
            weights=units,
            positives=np.diff(data.truth.indptr),
            total=np.full(data.n_rows, data.n_labels),
            importance=np.ones(data.n_rows) if data.weights is None else data.weights,
        )
    positives = data.positives
    by_support = average == "weighted" and positives.any()
    return Groups(
        scores,
        _columns(data),
        positive,
        weights=units if data.weights is None else data.weights[_rows(data)],
        positives=positives,
        total=np.full(data.n_labels, data.total),
        importance=positives.astype(np.float64) if by_support else np.ones(data.n_labels),
    )


def flat_scores(data: LabelledScores) -> tuple[Array, Array]:
    """Return all scores as one array, row by row, and which belong to positives (uint8)."""
    if isinstance(data.scores, np.ndarray):
        return data.scores.ravel(), data.truth.toarray().ravel()
    positive = np.zeros(data.scores.nnz, np.uint8)
    place = locate_positives(data)
    positive[place[place >= 0]] = 1
    return data.scores.data, positive


def row_of(data: LabelledScores, entry: Array) -> Array:
    """Return the row of each of these positions in the array of `flat_scores`."""
    if isinstance(data.scores, np.ndarray):
        return entry // data.n_labels
    return np.searchsorted(data.scores.indptr, entry, side="right") - 1


def _rows(data: LabelledScores) -> Array:
    """Return the row of every score in the array of `flat_scores`."""
    rows = np.arange(data.n_rows, dtype=np.int32)
    if isinstance(data.scores, np.ndarray):
        return np.repeat(rows, data.n_labels)
    return np.repeat(rows, np.diff(data.scores.indptr))


def _columns(data: LabelledScores) -> Array:
    """Return the label of every score in the array of `flat_scores`."""
    if isinstance(data.scores, np.ndarray):
        return np.tile(np.arange(data.n_labels, dtype=np.int32), data.n_rows)
    columns: Array = data.scores.indices.astype(np.int32, copy=False)
    return columns
