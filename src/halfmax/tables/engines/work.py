"""What is done to the rows of one partition, wherever it lies: plain values in, few rows out."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from halfmax._core.text import spell_out
from halfmax._core.types import Array, Floats
from halfmax.staircase.counting import add_entries
from halfmax.staircase.grid import Grid
from halfmax.tables.codes import LabelCodes
from halfmax.tables.columns import Columns
from halfmax.tables.rows import Rows, plain, read_rows

Batches = Iterator[pa.RecordBatch]


@dataclass(frozen=True)
class _OfRoles:
    """Work that reads the columns of some roles."""

    roles: Columns

    @property
    def columns(self) -> list[str]:
        return self.roles.names

    @property
    def count_type(self) -> pa.DataType:
        """Of numbers of rows, or of their weight."""
        return pa.int64() if self.roles.weight is None else pa.float64()


@dataclass(frozen=True)
class CollectPositives(_OfRoles):
    """The label and score of every positive, and for each label a row without score: its total."""

    label_type: pa.DataType

    @property
    def schema(self) -> pa.Schema:
        kinds = {"label": self.label_type, "score": pa.float64(), "count": self.count_type}
        return pa.schema(kinds)

    def __call__(self, batches: Batches, part: str) -> Batches:
        """One partition."""
        codes, total = LabelCodes(), np.zeros(0)
        for rows in read_rows(batches, self.roles, part):
            columns = codes.recode(rows)
            total = add_counts(total, np.bincount(columns, rows.weights))
            found = rows.positive
            if len(found):
                scores = pa.array(rows.scores[found], pa.float64())
                yield self._batch(codes.known, columns[found], scores, rows.counts[found])
        if len(total):
            yield self._batch(
                codes.known, np.arange(len(total)), pa.nulls(len(total), pa.float64()), total
            )

    def _batch(self, known: pa.Array, columns: Array, scores: pa.Array, counts: Array) -> Any:
        labels = known.take(pa.array(columns)).cast(self.label_type)
        counted = pa.array(counts.astype(self.count_type.to_pandas_dtype()))
        return pa.record_batch([labels, scores, counted], schema=self.schema)


@dataclass(frozen=True)
class CountSteps(_OfRoles):
    """How many scores of a partition fall on each step of the grid and not on a higher one."""

    labels: pa.Array
    grid: Grid
    pooled: bool

    @property
    def schema(self) -> pa.Schema:
        return pa.schema({"step": pa.int64(), "count": self.count_type})

    def __call__(self, batches: Batches, part: str) -> Batches:
        """One partition."""
        kind = self.count_type.to_pandas_dtype()
        bins, lowest = np.zeros(len(self.grid.scores), kind), self.grid.lowest()
        for rows in read_rows(batches, self.roles, part):
            one = np.zeros_like(rows.codes)
            columns = one if self.pooled else codes_among(self.labels, rows)
            scores = rows.scores.astype(np.float64)
            add_entries(columns, scores, rows.counts, self.grid, lowest, bins)
        step = np.flatnonzero(bins)
        yield pa.record_batch([pa.array(step), pa.array(bins[step])], schema=self.schema)


@dataclass(frozen=True)
class KeepWhatCounts(_OfRoles):
    """Rows that are true or reach a threshold, with labels as places in a list."""

    labels: pa.Array
    thresholds: Floats
    instance_type: pa.DataType

    @property
    def schema(self) -> pa.Schema:
        return pa.schema(
            [
                ("instance", self.instance_type),
                ("label", pa.int32()),
                ("score", pa.float64()),
                ("truth", pa.int8()),  # Spark has no unsigned integers
            ]
        )

    def __call__(self, batches: Batches, part: str) -> Batches:
        """One partition."""
        for rows in read_rows(batches, self.roles, part):
            columns = codes_among(self.labels, rows)
            assert rows.truth is not None
            assert rows.instances is not None
            kept = np.flatnonzero((rows.truth == 1) | (rows.scores >= self.thresholds[columns]))
            instances = plain(rows.instances).take(pa.array(kept)).cast(self.instance_type)
            truth = rows.truth[kept].view(np.int8)
            numbers = columns[kept], rows.scores[kept].astype(np.float64), truth
            yield pa.record_batch([instances, *map(pa.array, numbers)], schema=self.schema)


@dataclass(frozen=True)
class Predict:
    """All columns and one more: 1 where the score reaches the threshold of the label."""

    roles: Columns
    given: pa.Schema
    labels: pa.Array | None  # None for one classifier
    thresholds: Floats
    prediction: str
    only_predicted: bool
    unknown_never: bool  # labels without a threshold are never predicted; else they are refused

    @property
    def columns(self) -> list[str]:
        return list(self.given.names)

    @property
    def schema(self) -> pa.Schema:
        return with_new_field(self.given, self.prediction)

    def __call__(self, batches: Batches, part: str, first: int = 0) -> Batches:
        """One partition, or what follows `first` rows of it."""
        for batch in batches:
            for rows in read_rows(iter([batch]), self.roles, part, first):
                predicted = rows.scores >= self._limits(rows)
                yield with_prediction(batch, self.schema, predicted, self.only_predicted)
            first += batch.num_rows

    def _limits(self, rows: Rows) -> Array:
        if self.labels is None:
            return self.thresholds[rows.codes]
        assert rows.names is not None
        place = pc.index_in(rows.names, self.labels)
        unknown = np.flatnonzero(np.asarray(place.is_null())[rows.codes])
        if len(unknown) and not self.unknown_never:
            row = int(unknown[0])
            label = rows.names[int(rows.codes[row])].as_py()
            raise ValueError(
                f"the thresholds have no label {label!r}; {rows.place.row(row)} has. They have "
                f"{spell_out(self.labels[:9].to_pylist(), most=8)}: tune it too, or use "
                "unknown='never' to leave such labels unpredicted"
            )
        of_name = np.append(self.thresholds, np.inf)[pc.fill_null(place, -1).to_numpy()]
        limits: Array = of_name[rows.codes]
        return limits


def with_new_field(given: pa.Schema, name: str) -> pa.Schema:
    """The columns given and one of predictions."""
    return given.append(pa.field(name, pa.int8()))


def with_prediction(
    batch: pa.RecordBatch, schema: pa.Schema, predicted: Array, only_predicted: bool
) -> pa.RecordBatch:
    """The batch with one column more, in the types of the schema."""
    columns = [plain(column) for column in batch.columns]
    columns = [column.cast(field.type) for column, field in zip(columns, schema, strict=False)]
    found = pa.array(predicted.astype(np.int8))
    whole = pa.record_batch([*columns, found], schema=schema)
    return whole.filter(pa.array(predicted)) if only_predicted else whole


def codes_among(labels: pa.Array, rows: Rows) -> npt.NDArray[np.int32]:
    """The label of each row as its place in a list that holds all labels."""
    if rows.names is None:
        return rows.codes
    place = pc.fill_null(pc.index_in(rows.names, labels), -1)
    codes: npt.NDArray[np.int32] = place.to_numpy()[rows.codes]
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        label = rows.names[int(rows.codes[row])].as_py()
        raise ValueError(f"the table has changed while it was read: label {label!r} is new")
    return codes


def add_counts(total: Array, part: Array) -> Array:
    """Counts of labels, of which one list may know more."""
    if len(part) > len(total):
        total = np.concatenate([total, np.zeros(len(part) - len(total), total.dtype)])
    total[: len(part)] += part.astype(total.dtype, copy=False)
    return total


def of_scores(roles: Columns) -> Columns:
    """What the second pass reads."""
    return replace(roles, truth=None, instance=None)
