"""Data frames and series of any library, in and out, through Narwhals."""

from collections.abc import Hashable, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def to_numpy(values: Any, name: str) -> tuple[Array, tuple[Hashable, ...] | None] | None:
    """The numbers of a frame (with its column names) or series; None if it is neither."""
    if isinstance(values, (np.ndarray, list, tuple, int, float)):
        return None
    try:
        data = nw.from_native(values, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"column names of {name} must not repeat: {error}") from None
    if isinstance(data, nw.LazyFrame):
        raise TypeError(f"{name} is a lazy frame; call collect() on it first")
    if isinstance(data, nw.Series):
        _check_column(data, name)
        return data.to_numpy(), None
    if not isinstance(data, nw.DataFrame):
        return None
    if not data.columns:
        return np.empty(data.shape), ()
    for column in data.iter_columns():
        _check_column(column, f"{name}[{column.name!r}]")
    array = data.to_numpy()
    if array.dtype == object:  # nullable columns of pandas, or bool beside int
        array = np.column_stack([column.to_numpy() for column in data.iter_columns()])
    return array, tuple(data.columns)


def same_rows_elsewhere(one: Any, other: Any) -> bool:
    """True if two pandas containers hold the same row labels in another order."""
    if one is None or other is None:
        return False
    first, second = (
        nw.maybe_get_index(nw.from_native(native, eager_only=True, allow_series=True))
        for native in (one, other)
    )
    if first is None or second is None or first.equals(second):
        return False
    return bool(first.is_unique and len(first) == len(second) and first.isin(second).all())


def like(native: Any, predictions: Array) -> Any:
    """Predictions as a frame or series of the same library, names and index as ``native``."""
    data = nw.from_native(native, eager_only=True, allow_series=True)
    if isinstance(data, nw.Series):
        return _filled(data, predictions).to_native()
    columns = [
        _filled(column, predictions[:, place]) for place, column in enumerate(data.iter_columns())
    ]
    return data.select(columns).to_native()


def library(native: Any) -> str:
    """The name of the library that a frame or series belongs to."""
    return str(nw.get_native_namespace(native).__name__)


def table(library: Any, columns: Mapping[str, Any]) -> Any:
    """A new frame in that library."""
    try:
        return nw.from_dict(dict(columns), backend=library).to_native()
    except (TypeError, ValueError):  # label names of several types, or of none that a column holds
        named = {**columns, "label": [str(name) for name in columns["label"]]}
        return nw.from_dict(named, backend=library).to_native()


def _filled(column: nw.Series[Any], values: Array) -> nw.Series[Any]:
    """A column of int8 with the values given, keeping the name and the index of the old one."""
    backend = nw.get_native_namespace(column)
    fresh = nw.new_series(column.name, np.ascontiguousarray(values), nw.Int8, backend=backend)
    if (index := nw.maybe_get_index(column)) is None:
        return fresh
    native = fresh.to_native()
    native.index = index  # nw.maybe_set_index would lose its names and levels
    return nw.from_native(native, series_only=True)


def _check_column(column: nw.Series[Any], name: str) -> None:
    if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
        raise TypeError(f"{name} must be numbers or bool; got {column.dtype}")
    if missing := int(column.null_count()):
        # pandas counts NaN as null; either way the number is not there.
        row = int(np.flatnonzero(column.is_null().to_numpy())[0])
        raise ValueError(
            f"{name} must not have missing values; {missing} are, the first in row {row}"
        )
