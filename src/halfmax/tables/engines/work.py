"""The work done on one partition of a table, in an engine or in this process."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, setting
from halfmax._core.text import spell_out
from halfmax._core.types import Array, Floats
from halfmax.staircase.counting import add_entries
from halfmax.staircase.grid import Grid
from halfmax.tables.arrow import pa
from halfmax.tables.codes import LabelCodes
from halfmax.tables.columns import Columns
from halfmax.tables.convert import places_in, to_column
from halfmax.tables.rows import Rows, plain, read_rows

Batches = Iterator[pa.RecordBatch]
IGNORED = -1  # the prediction of rows that are left out in the end


@dataclass(frozen=True)
class _OfRoles:
    """Work that reads the columns of certain roles."""

    roles: Columns

    @property
    def columns(self) -> list[str]:
        return self.roles.names

    @property
    def count_type(self) -> pa.DataType:
        """The type of row counts, or of sums of weights."""
        return pa.int64() if self.roles.weight is None else pa.float64()


@dataclass(frozen=True)
class CollectPositives(_OfRoles):
    """Collect the label and score of every positive; a row without score holds a label's total."""

    label_type: pa.DataType

    @property
    def schema(self) -> pa.Schema:
        kinds = {"label": self.label_type, "score": pa.float64(), "count": self.count_type}
        return pa.schema(kinds)

    def __call__(self, batches: Batches, part: str) -> Batches:
        """Process one partition."""
        codes, total = LabelCodes(), np.zeros(0)
        for rows in read_rows(batches, self.roles, part):
            columns = codes.recode(rows)
            total = add_counts(total, np.bincount(columns, rows.weights))
            found = rows.positive
            if len(found):
                scores = to_column(rows.scores[found].astype(np.float64))
                yield self._batch(codes.known, columns[found], scores, rows.counts[found])
        if len(total):
            yield self._batch(
                codes.known, np.arange(len(total)), pa.nulls(len(total), pa.float64()), total
            )

    def _batch(self, known: pa.Array, columns: Array, scores: pa.Array, counts: Array) -> Any:
        labels = known.take(to_column(columns)).cast(self.label_type)
        counted = to_column(counts.astype(self.count_type.to_pandas_dtype()))
        return pa.record_batch([labels, scores, counted], schema=self.schema)


@dataclass(frozen=True)
class CountSteps(_OfRoles):
    """Count the scores of a partition by the highest step of the grid that they reach."""

    labels: pa.Array
    grid: Grid
    pooled: bool

    @property
    def schema(self) -> pa.Schema:
        return pa.schema({"step": pa.int64(), "count": self.count_type})

    def __call__(self, batches: Batches, part: str) -> Batches:
        """Process one partition."""
        kind = self.count_type.to_pandas_dtype()
        bins, lowest = np.zeros(len(self.grid.scores), kind), self.grid.lowest()
        for rows in read_rows(batches, self.roles, part):
            one = np.zeros_like(rows.codes)
            columns = one if self.pooled else codes_among(self.labels, rows)
            scores = rows.scores.astype(np.float64)
            add_entries(columns, scores, rows.counts, self.grid, lowest, bins)
        step = np.flatnonzero(bins)
        yield pa.record_batch([to_column(step), to_column(bins[step])], schema=self.schema)


@dataclass(frozen=True)
class KeepWhatCounts(_OfRoles):
    """Keep the rows that are true or reach a threshold, with labels as positions in a list."""

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
        """Process one partition."""
        for rows in read_rows(batches, self.roles, part):
            columns = codes_among(self.labels, rows)
            assert rows.truth is not None
            assert rows.instances is not None
            kept = np.flatnonzero((rows.truth == 1) | (rows.scores >= self.thresholds[columns]))
            instances = plain(rows.instances).take(to_column(kept)).cast(self.instance_type)
            truth = rows.truth[kept].view(np.int8)
            numbers: list[Array] = [columns[kept], rows.scores[kept].astype(np.float64), truth]
            yield pa.record_batch([instances, *map(to_column, numbers)], schema=self.schema)


@dataclass(frozen=True)
class Predict:
    """Add a column to a partition: 1 where the score reaches its label's threshold, otherwise 0."""

    roles: Columns
    input_schema: pa.Schema
    labels: pa.Array | None  # None for one classifier
    thresholds: Floats
    prediction: str
    lowest: int | None  # rows with a lower prediction are dropped; None keeps all
    unknown_refused: bool  # a label without a threshold is an error
    unknown_prediction: int  # for rows of such labels: 0, or IGNORED

    @property
    def columns(self) -> list[str]:
        return list(self.input_schema.names)

    @property
    def schema(self) -> pa.Schema:
        return with_new_field(self.input_schema, self.prediction)

    def __call__(self, batches: Batches, part: str, first: int = 0) -> Batches:
        """Process one partition, or the rest of it after `first` rows."""
        for batch in batches:
            for rows in read_rows(iter([batch]), self.roles, part, first):
                predicted = self._predictions(rows)
                yield with_prediction(batch, self.schema, predicted, self.lowest)
            first += batch.num_rows

    def _predictions(self, rows: Rows) -> npt.NDArray[np.int8]:
        if self.labels is None:
            return (rows.scores >= self.thresholds[rows.codes]).astype(np.int8)
        assert rows.names is not None
        place = places_in(self.labels, rows.names)
        unknown = np.flatnonzero((place < 0)[rows.codes])
        if len(unknown) and self.unknown_refused:
            self._refuse(rows, int(unknown[0]))
        of_name = np.append(self.thresholds, np.inf)[place]
        predictions = (rows.scores >= of_name[rows.codes]).astype(np.int8)
        predictions[unknown] = self.unknown_prediction
        return predictions

    def _refuse(self, rows: Rows, row: int) -> NoReturn:
        assert self.labels is not None
        assert rows.names is not None
        label = rows.names[int(rows.codes[row])].as_py()
        raise ArgumentError(
            f"the thresholds have no label {label!r}, which {rows.place.row(row)} has. They have "
            f"{spell_out(self.labels[:9].to_pylist(), most=8)}: tune it too, or use "
            f"{setting('unknown', 'never')} to never predict such labels, or "
            f"{setting('unknown', 'ignore')} to leave out their rows"
        )


def with_new_field(schema: pa.Schema, name: str) -> pa.Schema:
    """Add a column of predictions to a schema."""
    return schema.append(pa.field(name, pa.int8()))


def with_prediction(
    batch: pa.RecordBatch, schema: pa.Schema, predicted: Array, lowest: int | None
) -> pa.RecordBatch:
    """Add the predictions to a batch, cast it to the schema, and drop rows below the lowest."""
    columns = [plain(column) for column in batch.columns]
    columns = [column.cast(field.type) for column, field in zip(columns, schema, strict=False)]
    found = to_column(predicted.astype(np.int8))
    whole = pa.record_batch([*columns, found], schema=schema)
    return whole if lowest is None else whole.filter(to_column(predicted >= lowest))


def codes_among(labels: pa.Array, rows: Rows) -> npt.NDArray[np.int32]:
    """The position of each row's label in a list of all labels."""
    if rows.names is None:
        return rows.codes
    codes: npt.NDArray[np.int32] = places_in(labels, rows.names)[rows.codes]
    if (codes < 0).any():
        row = int(np.argmax(codes < 0))
        label = rows.names[int(rows.codes[row])].as_py()
        raise ValueError(f"the table has changed while it was being read: label {label!r} is new")
    return codes


def add_counts(total: Array, part: Array) -> Array:
    """Add the counts of labels in place if possible; one array may have more labels."""
    if len(part) > len(total):
        total = np.concatenate([total, np.zeros(len(part) - len(total), total.dtype)])
    total[: len(part)] += part.astype(total.dtype, copy=False)
    return total


def of_scores(roles: Columns) -> Columns:
    """The columns that the second pass reads."""
    return replace(roles, truth=None, instance=None)
