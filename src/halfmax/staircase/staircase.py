"""The staircase: what every threshold would count, for each label, as small as its positives.

A threshold that lies between two positives' scores catches no more of them than the higher one and
at least as many negatives. So for every metric that rises with tp and falls with fp, a label with
``a`` positives has at most ``a`` thresholds worth trying, however many rows there are. The
staircase of a label is the list of these, from high to low, with the number of true positives and
of predictions at each. Averages, bootstraps, diagnoses and plots read it and never the raw scores.

It is built in two additive passes. The first collects the positives' scores into a `Grid`; the
second drops every score into its place on that grid. Counts of parts of the data over one grid add
up with ``+``, wherever the parts are::

    grid = Grid.of(y_1, s_1) | Grid.of(y_2, s_2)
    whole = Staircase.of(y_1, s_1, grid=grid) + Staircase.of(y_2, s_2, grid=grid)
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmax._core import labelled
from halfmax._core.labelled import LabelledScores
from halfmax._core.labels import Labels
from halfmax._core.types import Array, Floats
from halfmax.staircase.counting import accumulate, count_entries, count_scores
from halfmax.staircase.grid import Grid, distinct_scores, positive_entries

Worth = Callable[[Any, Any, Any, Any], Array]  # of tp, predicted, positives and total
NOBODY = -1


@dataclass(frozen=True, eq=False)
class Staircase:
    """For each label, its thresholds from high to low and the counts that each would give.

    Step ``k`` means the threshold ``grid.scores[k]``: ``predicted[k]`` rows (or their weight) score
    at or above it, and ``true_positives[k]`` of these are positive. Steps
    ``grid.offsets[j]:grid.offsets[j + 1]`` belong to label ``j``, which has ``positives[j]``
    positives among ``total[j]`` rows. Counts are int64, or float64 where rows have weights.

    >>> stairs = Staircase.of([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])
    >>> stairs.thresholds, stairs.true_positives, stairs.predicted
    (array([0.9, 0.4]), array([1, 2]), array([1, 3]))
    """

    grid: Grid
    true_positives: Array
    predicted: Array
    positives: Array
    total: Array
    labels: Labels | None = None

    @classmethod
    def of(
        cls,
        y_true: Any,
        y_score: Any,
        sample_weight: Any = None,
        labels: Iterable[Hashable] | None = None,
        grid: Grid | None = None,
    ) -> "Staircase":
        """Build it from labelled scores; with ``grid``, count a part of the data on that grid."""
        return cls.of_checked(labelled.read_labelled(y_true, y_score, sample_weight, labels), grid)

    @classmethod
    def of_checked(cls, data: LabelledScores, grid: Grid | None = None) -> "Staircase":
        """The same for data that has passed the gate."""
        if grid is not None:
            data, grid = _of_one_dtype(data, grid)
        columns, scores, weights = positive_entries(data)
        hits = None
        if grid is None:
            grid, copies = distinct_scores(columns, scores, data.n_labels)
            hits = accumulate(grid, copies) if data.weights is None else None
        if hits is None:
            hits = count_entries(grid, columns, scores, weights)
        reached = count_scores(grid, data)
        positives = np.bincount(
            columns, None if data.weights is None else weights, minlength=data.n_labels
        ).astype(reached.dtype, copy=False)
        total = np.full(data.n_labels, data.total, reached.dtype)
        return cls(grid, hits, reached, positives, total, data.labels)

    @property
    def thresholds(self) -> Floats:
        """The threshold of each step."""
        return self.grid.scores.astype(np.float64)

    @property
    def n_labels(self) -> int:
        return self.grid.n_labels

    def __len__(self) -> int:
        return self.n_labels

    def __getitem__(self, label: Hashable) -> "Staircase":
        """The staircase of one label, by its name, or by its place where labels have no names."""
        names: Any = range(self.n_labels) if self.labels is None else self.labels
        try:
            j = names.index(label)
        except ValueError:
            raise KeyError(f"no label {label!r} among {self.n_labels:,}") from None
        return self.of_labels(np.array([j]))

    def of_labels(self, labels: Array) -> "Staircase":
        """The staircases of some of the labels, by their places."""
        starts, length = self.grid.offsets[labels], np.diff(self.grid.offsets)[labels]
        offsets = np.append(0, np.cumsum(length))
        steps = np.repeat(starts - offsets[:-1], length) + np.arange(offsets[-1])
        return Staircase(
            Grid(offsets, self.grid.scores[steps]),
            self.true_positives[steps],
            self.predicted[steps],
            self.positives[labels],
            self.total[labels],
            None if self.labels is None else tuple(self.labels[j] for j in labels),
        )

    def rises(self, counts: Array) -> Array:
        """What each step adds to counts that start anew with each label."""
        added: Array = np.diff(counts, prepend=0)
        starts = self.grid.offsets[:-1][np.diff(self.grid.offsets) > 0]
        added[starts] = counts[starts]
        return added

    def __add__(self, other: "Staircase") -> "Staircase":
        if not isinstance(other, Staircase):
            return NotImplemented
        if not self.grid.equals(other.grid):
            raise ValueError(
                "staircases must stand on the same grid to be added: unite the parts' grids with "
                "'|' first, then count each part with Staircase.of(..., grid=united)"
            )
        if self.labels != other.labels:
            raise ValueError("staircases must name the same labels in the same order to be added")
        return replace(
            self,
            true_positives=self.true_positives + other.true_positives,
            predicted=self.predicted + other.predicted,
            positives=self.positives + other.positives,
            total=self.total + other.total,
        )

    def __repr__(self) -> str:
        labels = "1 label" if self.n_labels == 1 else f"{self.n_labels:,} labels"
        return (
            f"Staircase({labels}, {len(self.grid.scores):,} steps, "
            f"{self.positives.sum():,} positives in {self.total.max():,} rows)"
        )


def _of_one_dtype(data: LabelledScores, grid: Grid) -> tuple[LabelledScores, Grid]:
    """Scores and grid in the same type of float, without rounding either."""
    if grid.n_labels != data.n_labels:
        raise ValueError(
            f"grid must have the {data.n_labels} labels of y_score; got {grid.n_labels}"
        )
    with np.errstate(over="ignore"):  # what overflows is not equal
        cast = grid.scores.astype(data.scores.dtype)
    if not np.array_equal(cast, grid.scores):
        data = data._replace(scores=data.scores.astype(np.float64))
        cast = grid.scores.astype(np.float64)
    return data, replace(grid, scores=cast)


def without_nan(worth: Array, nothing_there: Array | bool = False) -> Array:
    """0/0 that counts for nothing is below everything, but best where there is no positive."""
    unknown = np.isnan(worth)
    if unknown.any():
        worth = np.where(unknown, np.where(nothing_there, np.inf, -np.inf), worth)
    return worth
