"""The gate for tables: check record batches, and turn them into arrays that kernels can trust.

An error names the rule, the value and its place: the row, its row group, its file.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array, Floats
from halfmax.staircase.grid import unit_weights
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import TEXT, Columns, id_type, kind_of_id, plain_type
from halfmax.tables.convert import to_numpy


class MissingValueError(ValueError):
    """A column has a null or NaN; `line` is the code that drops such rows, if it is known."""

    def __init__(self, refusal: str, column: str | None = None, line: str | None = None) -> None:
        how = "" if line is None else f". To drop such rows: {line}"
        super().__init__(f"{refusal}{how}")
        self.refusal, self.column = refusal, column


class Place(NamedTuple):
    """Where a batch is in a table."""

    part: str  # the name of a part of a file or frame
    first: int  # the number of rows before the batch in this part

    def row(self, row: int) -> str:
        """Name a row of the batch; rows are counted from 0."""
        return f"row {self.first + row} of {self.part}"


class Rows(NamedTuple):
    """A checked batch. Labels are codes that index `names`; some names may not be used."""

    codes: npt.NDArray[np.int32]
    names: pa.Array | None  # None for one classifier: all codes are 0
    scores: Array
    truth: npt.NDArray[np.uint8] | None
    weights: Floats | None
    instances: pa.Array | None
    place: Place

    @property
    def size(self) -> int:
        return len(self.codes)

    @property
    def counts(self) -> Array:
        """The weight of each row; without weights a broadcast 1."""
        return unit_weights(self.size) if self.weights is None else self.weights

    @property
    def positive(self) -> npt.NDArray[np.int64]:
        """Where the truth is 1."""
        return np.flatnonzero([] if self.truth is None else self.truth)


def read_rows(
    batches: Iterator[pa.RecordBatch], columns: Columns, part: str, first: int = 0
) -> Iterator[Rows]:
    """Check the successive batches of one part of a table."""
    for batch in batches:
        if batch.num_rows:
            yield _read(batch, columns, Place(part, first))
        first += batch.num_rows


def _read(batch: pa.RecordBatch, columns: Columns, place: Place) -> Rows:
    size = batch.num_rows
    codes, names = np.zeros(size, np.int32), None
    if columns.label is not None:
        codes, names = _encode_label(
            known_column(batch, columns.label, place), columns.label, place
        )
    scores, truth, weights, instances = np.empty(0), None, None, None
    if columns.score is not None:
        scores = check_scores(_floats(batch, columns.score, place), columns.score, place)
    if columns.truth is not None:
        truth = _check_truth(known_column(batch, columns.truth, place), columns, place)
    if columns.weight is not None:
        weights = _check_weights(_floats(batch, columns.weight, place), columns.weight, place)
    if columns.instance is not None:
        instances = known_column(batch, columns.instance, place)
    return Rows(codes, names, scores, truth, weights, instances, place)


def _encode_label(column: pa.Array, name: str, place: Place) -> Any:
    try:
        return encode(column)
    except pa.ArrowInvalid:
        raise ValueError(
            f"column {name!r} must hold strings, or integers below 2**63; {place.part} has larger "
            "integers: convert them to strings"
        ) from None


def encode(column: pa.Array) -> tuple[npt.NDArray[np.int32], pa.Array]:
    """Encode a column without nulls as codes and the values that they stand for."""
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    codes = to_numpy(column.indices).astype(np.int32, copy=False)
    return codes, column.dictionary.cast(id_type(column.type))


def plain(column: pa.Array) -> pa.Array:
    """Return a column with its dictionary encoding, if any, removed."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def known_column(batch: pa.RecordBatch, name: str, place: Place) -> pa.Array:
    """Return a column of the batch, which must not have nulls."""
    column = batch.column(batch.schema.get_field_index(name))
    if pa.types.is_dictionary(column.type) and column.dictionary.null_count:
        column = plain(column)
    if column.null_count:
        row = int(np.argmax(to_numpy(pc.is_null(column))))
        raise MissingValueError(f"column {name!r} must not have nulls; {place.row(row)} has one")
    return column


def _floats(batch: pa.RecordBatch, name: str, place: Place) -> Array:
    column = known_column(batch, name, place)
    kind = plain_type(column.type)
    if pa.types.is_dictionary(column.type) or pa.types.is_decimal(kind):
        column = column.cast(pa.float64())
    values = to_numpy(column)
    if values.dtype in (np.float32, np.float64):
        return values
    return values.astype(np.float32 if values.dtype == np.float16 else np.float64)


def check_scores(values: Array, name: str, place: Place) -> Array:
    """Check that scores are finite, or -inf for "never predicted"."""
    if not values.max() < np.inf:  # the maximum finds both +inf and NaN, which propagates
        wrong = ~(values < np.inf)
        missing = np.isnan(values[int(np.argmax(wrong))])
        rule, error = f"column {name!r} must be finite or -inf", MissingValueError
        _refuse(rule, values, wrong, place, error if missing else None)
    return values


def check_probabilities(values: Array, name: str, place: Place) -> Array:
    """Check that probabilities are from 0 to 1."""
    if not (values.min() >= 0 and values.max() <= 1):
        wrong = ~((values >= 0) & (values <= 1))
        _refuse(f"column {name!r} must hold probabilities, from 0 to 1", values, wrong, place)
    return values


class NotZeroOneError(ValueError):
    """The truth holds other numbers than 0 and 1."""


def _check_truth(column: pa.Array, columns: Columns, place: Place) -> npt.NDArray[np.uint8]:
    column = plain(column)
    if kind_of_id(column.type) == TEXT:
        return _check_names(column, columns, place)
    if pa.types.is_boolean(column.type):
        column = column.cast(pa.uint8())
    elif pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values = to_numpy(column)
    negative, positive = columns.classes or (0, 1)
    ones = values == positive
    if not (ones | (values == negative)).all():
        wrong = ~(ones | (values == negative))
        missing = values[int(np.argmax(wrong))] != values[int(np.argmax(wrong))]
        error = MissingValueError if missing else NotZeroOneError
        _refuse(f"column {columns.truth!r} must be bool or 0/1", values, wrong, place, error)
    return np.asarray(ones).view(np.uint8)


def _check_names(column: pa.Array, columns: Columns, place: Place) -> npt.NDArray[np.uint8]:
    assert columns.classes is not None
    known = pa.array([name for name in columns.classes if name is not None], column.type)
    ones = pc.equal(column, pa.scalar(columns.classes[1], column.type))
    wrong = ~to_numpy(pc.is_in(column, known))
    if wrong.any():  # the names were listed before
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{place.part} has changed while it was being read: {place.row(row)} has "
            f"{column[row].as_py()!r}"
        )
    return to_numpy(ones).view(np.uint8)


def _check_weights(values: Array, name: str, place: Place) -> Floats:
    wrong = ~(np.isfinite(values) & (values >= 0))
    if wrong.any():
        _refuse(f"column {name!r} must be finite and not negative", values, wrong, place)
    return values.astype(np.float64)


def _refuse(
    rule: str,
    values: Array,
    wrong: Array,
    place: Place,
    error: type[ValueError] | None = None,
) -> NoReturn:
    row = int(np.argmax(wrong))
    raise (error or ValueError)(f"{rule}; {place.row(row)} has {values[row].item()!r}")
