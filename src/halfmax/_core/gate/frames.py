"""Data frames and series of any library, read and written through Narwhals."""

import sys
from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.gate.kinds import may_be_frame, names_of_rows
from halfmax._core.gate.missing import Together, drop_line
from halfmax._core.types import Array

if TYPE_CHECKING:
    import narwhals as nw


def to_numpy(
    values: Any, name: str, rows: Together = None, classes: bool = False
) -> tuple[Array, tuple[Hashable, ...] | None] | None:
    """Return the numbers of a frame, with its column names, or of a series; None for others.

    With `classes` there may be names, too. `rows` are the arguments that hold the same rows.
    """
    if not may_be_frame(values):
        return None
    import narwhals as nw  # arrays do not need it

    values = _without_sparse_columns(values)
    try:
        data = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise ArgumentError(f"column names of {in_python(name)} must not repeat: {error}") from None
    if isinstance(data, nw.LazyFrame):
        raise ArgumentTypeError(f"{in_python(name)} is a lazy frame; call collect() on it first")
    if isinstance(data, nw.Series):
        _check_column(data, in_python(name), name, rows, classes)
        return data.to_numpy(), None
    if not isinstance(data, nw.DataFrame):
        return None
    if not data.columns:
        return np.empty(data.shape), ()
    for column in data.iter_columns():
        _check_column(column, f"{in_python(name)}[{column.name!r}]", name, rows, classes)
    array = data.to_numpy()
    if array.dtype == object:  # nullable columns of pandas, or bool beside int
        array = np.column_stack([column.to_numpy() for column in data.iter_columns()])
    return array, tuple(data.columns)


def _without_sparse_columns(values: Any) -> Any:
    """Fill in what sparse columns of pandas leave out; Narwhals does not read them."""
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(values, (pandas.DataFrame, pandas.Series)):
        return values
    if isinstance(values, pandas.Series):
        return values.sparse.to_dense() if isinstance(values.dtype, pandas.SparseDtype) else values
    sparse = {
        name: dtype.subtype
        for name, dtype in values.dtypes.items()
        if isinstance(dtype, pandas.SparseDtype)
    }
    return values.astype(sparse) if sparse else values


def holds_mask(values: Any) -> bool:
    """Whether it is a masked array, or a list that holds one at any depth.

    NumPy turns such a list into a plain array, in which masked entries count again.
    """
    if not isinstance(values, (list, tuple)):
        return isinstance(values, np.ma.MaskedArray)
    kinds = set(map(type, values))
    if any(issubclass(kind, np.ma.MaskedArray) for kind in kinds):
        return True
    return bool(kinds & {list, tuple}) and any(map(holds_mask, values))


def check_same_rows(**containers: Any) -> None:
    """Refuse pandas containers whose indexes show that their rows are not the same.

    An index that counts from 0 shows nothing: every new Series of predictions has one.
    """
    indexes = {name: _index(native) for name, native in containers.items()}
    known = [(name, index) for name, index in indexes.items() if index is not None]
    for (name, index), (other, its_index) in combinations(known, 2):
        if len(index) == len(its_index) and not _are_equal(index, its_index):
            ways = f"{other}.loc[{name}.index]", f"{other}.reset_index(drop=True)"
            if any(names_of_rows(containers[one]) is not None for one in (name, other)):
                ways = "xarray.align()", f"{other}.values"
            _refuse_other_rows(name, index, other, its_index, ways)


def _index(native: Any) -> Any:
    if not may_be_frame(native):
        return None
    if (coordinates := names_of_rows(native)) is not None:
        return coordinates
    import narwhals as nw

    data = nw.from_native(native, pass_through=True, allow_series=True)
    return nw.maybe_get_index(data) if isinstance(data, (nw.DataFrame, nw.Series)) else None


def _are_equal(one: Any, other: Any) -> bool:
    if one.equals(other):
        return True
    numbers = (
        one.dtype.kind in "iu" and other.dtype.kind in "iu"
    )  # int64 and Int64 differ for pandas
    return numbers and np.array_equal(one.to_numpy(), other.to_numpy())


def _refuse_other_rows(
    name: str, index: Any, other: str, its_index: Any, ways: tuple[str, str]
) -> None:
    """Refuse rows in another order, or other rows; `ways` match them by index and by place."""
    by_index, by_place = ways
    both = f"{in_python(name)} and {in_python(other)}"
    if _is_permuted(index, its_index):
        raise ArgumentError(
            f"rows of {both} must be in the same order (they are matched by "
            f"place); their indexes hold the same values in different orders: use {by_index}"
        )
    if _counts_from_0(index) or _counts_from_0(its_index):
        return
    pairs = ((repr(one), repr(it)) for one, it in zip(index, its_index, strict=True))
    differing = ((row, *pair) for row, pair in enumerate(pairs) if pair[0] != pair[1])
    row, one, it = next(differing, (0, repr(index.dtype), repr(its_index.dtype)))
    raise ArgumentError(
        f"{both} must hold the same rows; their indexes differ, first in row {row}: "
        f"{one:.60} and {it:.60}. Use {by_index} to match rows by index, or {by_place} to match "
        "them by position"
    )


def _is_permuted(one: Any, other: Any) -> bool:
    if one.nlevels != other.nlevels or not one.is_unique:
        return False
    try:
        return bool(one.isin(other).all())
    except TypeError:  # pandas cannot compare some types, so no value is in both
        return False


def _counts_from_0(index: Any) -> bool:
    return index.dtype.kind in "iu" and np.array_equal(index.to_numpy(), np.arange(len(index)))


def like(native: Any, predictions: Array) -> Any:
    """Return predictions as a frame or series with the library, names and index of `native`."""
    import narwhals as nw

    data = nw.from_native(native, eager_only=True, allow_series=True)
    if isinstance(data, nw.Series):
        return _filled(data, predictions).to_native()
    columns = [
        _filled(column, predictions[:, place]) for place, column in enumerate(data.iter_columns())
    ]
    return data.select(columns).to_native()


def columns_of(values: Any) -> tuple[str, ...] | None:
    """Return the names of a frame's columns; None for everything else."""
    if not may_be_frame(values):
        return None
    import narwhals as nw

    data = nw.from_native(values, pass_through=True, eager_only=True)
    return tuple(data.columns) if isinstance(data, nw.DataFrame) else None


def with_columns(native: Any, names: list[str]) -> Any:
    """Return a frame with these of its columns only."""
    import narwhals as nw

    return nw.from_native(native, eager_only=True).select(names).to_native()


def library(native: Any) -> str:
    """Return the name of the library of a frame or series."""
    import narwhals as nw

    return str(nw.get_native_namespace(native).__name__)


def table(library: Any, columns: Mapping[str, Any]) -> Any:
    """Build a frame of a library from columns."""
    import narwhals as nw

    try:
        return nw.from_dict(dict(columns), backend=library).to_native()
    except (TypeError, ValueError):  # names of several types, or of a type no column can hold
        named = {**columns, "label": [str(name) for name in columns["label"]]}
        return nw.from_dict(named, backend=library).to_native()


def _filled(column: "nw.Series[Any]", values: Array) -> "nw.Series[Any]":
    """Return an int8 column of these values with the name and index of `column`."""
    import narwhals as nw

    backend = nw.get_native_namespace(column)
    fresh = nw.new_series(column.name, np.ascontiguousarray(values), nw.Int8, backend=backend)
    if (index := nw.maybe_get_index(column)) is None:
        return fresh
    native = fresh.to_native()
    native.index = index  # nw.maybe_set_index would lose its names and levels
    return nw.from_native(native, series_only=True)


def _check_column(
    column: "nw.Series[Any]", place: str, name: str, rows: Together, classes: bool
) -> None:
    import narwhals as nw

    names = (nw.String, nw.Categorical, nw.Enum, nw.Object)
    number = column.dtype.is_numeric() or column.dtype == nw.Boolean
    if not (number or (classes and column.dtype in names)):
        if column.dtype in names:
            _refuse_words(column, place, name, rows)
        raise ArgumentTypeError(
            f"{place} must be numbers or bool; got {column.dtype}{_without(column, place, name)}"
        )
    if missing := int(column.null_count()):
        # pandas counts NaN as null; either way the number is missing.
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        what = f"{missing} values are missing, the first" if missing > 1 else "1 value is missing,"
        raise ArgumentError(
            f"{place} must not have missing values; {what} in row {row}{drop_line(name, rows)}"
        )


def _refuse_words(column: "nw.Series[Any]", place: str, name: str, rows: Together) -> None:
    """Refuse a column of text or objects by its first value that is no number, if there is one."""
    for row, value in enumerate(column.to_list()):
        if value is None or str(value) in ("nan", "<NA>"):
            raise ArgumentError(
                f"{place} must not have missing values; {value} in row {row}{drop_line(name, rows)}"
            )
        try:
            float(value)
        except (TypeError, ValueError):
            raise ArgumentTypeError(
                f"{place} must be numbers or bool; row {row} holds {value!r:.60}"
                f"{_without(column, place, name)}"
            ) from None
    raise ArgumentTypeError(
        f"{place} must be numbers or bool; it holds numbers as {column.dtype}: convert it with "
        "astype(float)"
    )


def _without(column: "nw.Series[Any]", place: str, name: str) -> str:
    """Return how to leave a column of a frame out, which may identify the rows."""
    if place == in_python(name):  # a series
        return ""
    library = column.implementation.name.lower()
    named = {"pandas": f"columns={column.name!r}", "polars": repr(column.name)}.get(library)
    how = "" if named is None else f": {name}.drop({named})"
    return f". If it identifies rows, leave it out{how}"
