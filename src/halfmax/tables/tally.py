"""The result of the first pass over a table, and the staircase that the second builds from it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.options import check_whole
from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.staircase.counting import count_entries
from halfmax.staircase.grid import Grid
from halfmax.staircase.staircase import Staircase
from halfmax.tables.arrow import pa

_MOST_DIGITS = 18  # all integers of this length fit into 64 bits
_ROUNDING = 1e-9  # relative rounding error of sums of weights
NO_WEIGHTS = f"{in_python('n_instances')} cannot be combined with weights: leave it out"
NO_ROWS = "the table must have at least one row; it has none"


class Entries(NamedTuple):
    """Labels (as codes), scores and weights of some rows."""

    columns: npt.NDArray[np.int32]
    scores: Array
    weights: Array  # a broadcast int32 one if rows have no weights

    @property
    def nbytes(self) -> int:
        weights = self.weights.nbytes if self.weights.strides[0] else 0
        return self.columns.nbytes + self.scores.nbytes + weights


def join_entries(parts: Sequence[Entries]) -> Entries:
    """Concatenate entries; scores take the wider type if the types differ."""
    return Entries(*(np.concatenate(column) for column in zip(*parts, strict=True)))


class Size(NamedTuple):
    """The number of rows of a table, and of distinct instances in them."""

    rows: int
    instances: int


class Tally(NamedTuple):
    """The scores of positives, and the number of rows of each label, or their total weight."""

    labels: pa.Array  # in the order of their codes
    positives: Entries
    total: Array

    @property
    def weighted(self) -> bool:
        return bool(self.total.dtype.kind == "f")

    def of_instances(
        self,
        n_instances: int | None,
        objective: Objective,
        count_instances: Callable[[], Size | None],
    ) -> "Tally":
        """Count pairs that are not in the table as negatives.

        If `n_instances` is not known, instances are counted only for metrics that count true
        negatives.
        """
        if n_instances is None:
            return self._of_all_instances(objective, count_instances)
        n_instances = check_whole("n_instances", n_instances, 1)
        if self.weighted:
            raise ArgumentError(NO_WEIGHTS)
        if n_instances < (most := int(self.total.max())):
            raise ArgumentError(
                f"{in_python('n_instances')} must be the number of instances; got "
                f"{n_instances:,}, but one label alone has {most:,} rows"
            )
        return self._replace(total=np.full_like(self.total, n_instances))

    def _of_all_instances(
        self, objective: Objective, count_instances: Callable[[], Size | None]
    ) -> "Tally":
        if not _counts_negatives(objective):
            return self
        size = count_instances()
        if size is None:
            self._refuse_different_sizes(objective)
            return self
        pairs = size.instances * len(self.labels)
        if size.rows > pairs:
            raise ValueError(
                f"metric {objective.metric.name!r} counts true negatives, and the table has "
                f"{size.rows:,} rows for {pairs:,} (instance, label) pairs: keep one row for each "
                "pair"
            )
        if self.weighted and size.rows < pairs:
            raise ValueError(
                f"metric {objective.metric.name!r} counts true negatives, and the weights of "
                f"{pairs - size.rows:,} (instance, label) pairs are not known, because the table "
                "has no rows for them: add a row for every instance and label"
            )
        if self.weighted:
            return self
        return self._replace(total=np.full_like(self.total, size.instances))

    def _refuse_different_sizes(self, objective: Objective) -> None:
        fewest, most = self.total.min(), self.total.max()
        if most - fewest <= _ROUNDING * most:
            return
        remedy = (
            f"name the column of instances with {in_python('instance=...')}, or pass their number "
            "as "
            f"{in_python('n_instances')}"
        )
        if self.weighted:
            remedy = "add a row for every instance and label"
        raise ArgumentError(
            f"metric {objective.metric.name!r} counts true negatives, and labels have from "
            f"{fewest:,g} to {most:,g} rows: {remedy}"
        )

    def pooled(self) -> "Tally":
        """Merge all labels into one."""
        columns = np.zeros_like(self.positives.columns)
        total = self.total.sum(keepdims=True)
        return Tally(self.labels[:1], self.positives._replace(columns=columns), total)

    def grid(self) -> Grid:
        """The grid of candidate thresholds: the scores of the positives."""
        return Grid.from_entries(self.positives.columns, self.positives.scores, len(self.labels))

    def staircase(self, grid: Grid, predicted: Array) -> Staircase:
        """Build the staircase on a grid, from the predictions counted at its steps."""
        columns, scores, weights = self.positives
        scores = scores.astype(grid.scores.dtype, copy=False)
        hits = count_entries(grid, columns, scores, weights)
        size = np.bincount(columns, weights, grid.n_labels)  # an engine adds up equal scores
        positives = size.astype(self.total.dtype, copy=False)
        return Staircase(grid, hits, predicted, positives, self.total)


def _counts_negatives(objective: Objective) -> bool:
    """Return whether a metric, or what restricts it, depends on the number of rows."""
    depends = objective.unrestricted(1, 2, 2, [10, 20])
    return bool(depends[0] != depends[1]) or any(
        restriction.counts_negatives for restriction in objective.restrictions
    )


def named_in_order(stairs: Staircase, names: list[Any]) -> Staircase:
    """Name the labels of a staircase, and sort them by name."""
    order = sorted(range(len(names)), key=names.__getitem__)
    return replace(stairs, labels=tuple(names)).of_labels(np.array(order))


def as_integers(labels: list[Any]) -> list[Any]:
    """Convert labels that were read as text to integers, if all of them are integers."""
    if all(_is_whole(label) for label in labels):
        return [int(label) for label in labels]
    return labels


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    if len(digits) > _MOST_DIGITS:
        return False
    return digits.isascii() and digits.isdigit() and str(int(text)) == text
