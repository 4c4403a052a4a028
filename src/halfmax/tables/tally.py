"""What the first pass over a table finds, and the staircase that the second makes of it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halfmax._options import check_whole
from halfmax.counting import count_entries
from halfmax.grid import Grid
from halfmax.metrics import Objective
from halfmax.staircase import Staircase

Array = npt.NDArray[Any]

_MOST_DIGITS = 18  # of what is an integer of 64 bits in all cases
_ROUNDING = 1e-9  # of sums of weights
NO_ROWS = "the table must have at least one row; it has none"


class Entries(NamedTuple):
    """(label, score) pairs with labels as codes."""

    columns: npt.NDArray[np.int32]
    scores: Array
    weights: Array  # int32 ones, held once, where rows have no weights

    @property
    def nbytes(self) -> int:
        weights = self.weights.nbytes if self.weights.strides[0] else 0
        return self.columns.nbytes + self.scores.nbytes + weights


def join_entries(parts: Sequence[Entries]) -> Entries:
    """All of them; scores take the wider type if they differ."""
    return Entries(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Tally(NamedTuple):
    """The scores of positives, and how many rows each label has, or what they weigh."""

    labels: pa.Array  # in the order of their codes
    positives: Entries
    total: Array

    @property
    def weighted(self) -> bool:
        return bool(self.total.dtype.kind == "f")

    def of_instances(self, n_instances: int | None, objective: Objective) -> "Tally":
        """The same with pairs that are not in the table counted as negatives."""
        if n_instances is None:
            self._refuse_different_sizes(objective)
            return self
        n_instances = check_whole("n_instances", n_instances, 1)
        if self.weighted:
            raise ValueError("n_instances has no meaning beside weights: leave it out")
        if n_instances < (most := int(self.total.max())):
            raise ValueError(
                f"n_instances must be the number of instances; one label alone has {most:,} rows, "
                f"and it is {n_instances:,}"
            )
        return self._replace(total=np.full_like(self.total, n_instances))

    def _refuse_different_sizes(self, objective: Objective) -> None:
        fewest, most = self.total.min(), self.total.max()
        if most - fewest <= _ROUNDING * most or not _counts_negatives(objective):
            return
        remedy = "say with n_instances how many instances there are, so that pairs without a row"
        if self.weighted:
            remedy = "give every instance a row for every label, so that all of them"
        raise ValueError(
            f"metric {objective.metric.name!r} counts true negatives, and labels have from "
            f"{fewest:,g} to {most:,g} rows: {remedy} count"
        )

    def pooled(self) -> "Tally":
        """The same as one label."""
        columns = np.zeros_like(self.positives.columns)
        total = self.total.sum(keepdims=True)
        return Tally(self.labels[:1], self.positives._replace(columns=columns), total)

    def grid(self) -> Grid:
        """The steps that are worth trying."""
        return Grid.from_entries(self.positives.columns, self.positives.scores, len(self.labels))

    def staircase(self, grid: Grid, predicted: Array) -> Staircase:
        """The staircase on a grid, once its predictions have been counted."""
        columns, scores, weights = self.positives
        scores = scores.astype(grid.scores.dtype, copy=False)
        hits = count_entries(grid, columns, scores, weights)
        size = np.bincount(columns, weights, grid.n_labels)  # equal scores may have been added up
        positives = size.astype(self.total.dtype, copy=False)
        return Staircase(grid, hits, predicted, positives, self.total)


def _counts_negatives(objective: Objective) -> bool:
    plain = Objective(objective.metric, objective.zero_division)
    return bool(plain(1, 2, 2, 10) != plain(1, 2, 2, 20))


def named_in_order(stairs: Staircase, names: list[Any]) -> Staircase:
    """The same labels, named, from the lowest to the highest."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return replace(stairs, labels=tuple(names)).of_labels(np.array(order))


def as_integers(labels: list[Any]) -> list[Any]:
    """Labels read as text, as integers if that is what all of them are."""
    if all(_is_whole(label) for label in labels):
        return [int(label) for label in labels]
    return labels


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    if len(digits) > _MOST_DIGITS:
        return False
    return digits.isascii() and digits.isdigit() and str(int(text)) == text
