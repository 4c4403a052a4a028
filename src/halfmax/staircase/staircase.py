"""The staircase: what every useful threshold of each label would count.

A threshold between two positives' scores catches no more positives than a threshold at the higher
score and at least as many negatives. So for every metric that rises with tp and falls with fp, a
label with ``a`` positives has at most ``a`` useful thresholds, however many rows there are. The
staircase of a label lists these from high to low, with the number of true positives and of
predictions at each. Averages, bootstraps, diagnoses and plots read it and never the raw scores.

It is built in two additive passes. The first collects the positives' scores into a `Grid`; the
second counts every score on that grid. Counts of parts of the data on one grid are added with
``+``, wherever the parts are::

    grid = Grid.of(y_1, s_1) | Grid.of(y_2, s_2)
    whole = Staircase.of(y_1, s_1, grid=grid) + Staircase.of(y_2, s_2, grid=grid)
"""

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from halfmax._core.gate import labelled
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.gate.labels import Labels
from halfmax._core.types import Array, Floats
from halfmax.staircase.counting import accumulate, count_entries, count_scores
from halfmax.staircase.grid import Grid, distinct_scores, positive_entries

ValueOfCounts = Callable[[Any, Any, Any, Any], Array]  # tp, predicted, positives, total -> value
NO_STEP = -1  # in place of a step: predict no rows


@dataclass(frozen=True, eq=False)
class Staircase:
    """For each label, its useful thresholds from high to low and the counts at each.

    Step ``k`` is the threshold ``grid.scores[k]``. Steps ``grid.offsets[j]:grid.offsets[j + 1]``
    belong to label ``j``. Counts are int64, or float64 sums of weights if rows have weights.
    Staircases of parts of the data on the same grid are added with ``+``; ``stairs[label]`` is the
    staircase of one label.

    Attributes
    ----------
    grid : Grid
        The steps of all labels.
    true_positives : ndarray, one for each step
        Positives that score at or above the step.
    predicted : ndarray, one for each step
        Rows that score at or above the step.
    positives : ndarray, shape (m,)
        Positives of each label.
    total : ndarray, shape (m,)
        Rows of each label.
    labels : tuple or None
        Names of the labels, if they are known.

    See Also
    --------
    Grid : The candidate thresholds.
    tune : The best of them.

    Examples
    --------
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
        *,
        pos_label: Any = None,
    ) -> "Staircase":
        """Build the staircase of labelled scores.

        Parameters
        ----------
        y_true : array-like, 1-D or rows x labels
            Truth, as `tune` takes it.
        y_score : array-like of the same shape
            Scores, as `tune` takes them.
        sample_weight : 1-D array-like, optional
            One weight for each row.
        labels : sequence, optional
            Names of the labels.
        grid : Grid, optional
            Count on the steps of this grid instead of those of the data; used to add up parts.
        pos_label : class, optional
            The positive class, as `tune` takes it.

        Returns
        -------
        Staircase
            With the counts at each step.
        """
        data = labelled.read_labelled(y_true, y_score, sample_weight, labels, pos_label)
        return cls.of_checked(data, grid)

    @classmethod
    def of_checked(cls, data: LabelledScores, grid: Grid | None = None) -> "Staircase":
        """Build the staircase of data that have passed the gate.

        Parameters
        ----------
        data : LabelledScores
            Checked data.
        grid : Grid, optional
            Count on the steps of this grid instead of those of the data.

        Returns
        -------
        Staircase
            With the counts at each step.
        """
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
        """Return the staircase of one label, by name, or by position if labels have no names."""
        names: Any = range(self.n_labels) if self.labels is None else self.labels
        try:
            j = names.index(label)
        except ValueError:
            raise KeyError(f"no label {label!r} among {self.n_labels:,}") from None
        return self.of_labels(np.array([j]))

    def of_labels(self, labels: Array) -> "Staircase":
        """Return the staircases of some of the labels.

        Parameters
        ----------
        labels : ndarray of int
            Positions of the labels.

        Returns
        -------
        Staircase
            With these labels, in this order.
        """
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
        """Return what each step adds to cumulative counts that restart with each label.

        Parameters
        ----------
        counts : ndarray, one for each step
            Such as `predicted` or `true_positives`.

        Returns
        -------
        ndarray
            The difference to the step above; the first step of a label keeps its count.
        """
        added: Array = np.diff(counts, prepend=0)
        starts = self.grid.offsets[:-1][np.diff(self.grid.offsets) > 0]
        added[starts] = counts[starts]
        return added

    def __add__(self, other: "Staircase") -> "Staircase":
        if not isinstance(other, Staircase):
            return NotImplemented
        if not self.grid.equals(other.grid):
            raise ValueError(
                "staircases must have the same grid to be added: unite the parts' grids with "
                "'|' first, then count each part with Staircase.of(..., grid=united)"
            )
        if self.labels != other.labels:
            raise ValueError("staircases must have the same labels in the same order to be added")
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
    """Return scores and grid in a common float type, without rounding either."""
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


def without_nan(value: Array, no_positives: Array | bool = False) -> Array:
    """Replace NaN (0/0 left out of averages): +inf for labels without positives, else -inf."""
    unknown = np.isnan(value)
    if unknown.any():
        value = np.where(unknown, np.where(no_positives, np.inf, -np.inf), value)
    return value
