"""Columns to arrays and back without pandas, which pyarrow's own conversions import if they can.

Importing pandas takes longer than reading a table of a million cells.
"""

from typing import Any

import numpy as np

from halfmax._core.types import Array
from halfmax.tables.arrow import pa, pc


def to_numpy(column: pa.Array | pa.ChunkedArray) -> Array:
    """Return the numbers or bools of a column without nulls; numbers are not copied."""
    if isinstance(column, pa.ChunkedArray):
        parts = [to_numpy(chunk) for chunk in column.chunks] or [to_numpy(pa.nulls(0, column.type))]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)
    kind = column.type
    if pa.types.is_boolean(kind):
        return to_numpy(column.cast(pa.uint8())).view(np.bool_)
    if column.null_count or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return np.asarray(column.to_numpy(zero_copy_only=False))
    dtype = np.dtype(kind.to_pandas_dtype())
    if not len(column):
        return np.empty(0, dtype)
    start = column.offset * dtype.itemsize
    return np.frombuffer(column.buffers()[1], dtype, len(column), start)


def to_column(numbers: Array) -> pa.Array:
    """Return a column of numbers or bools; contiguous numbers are not copied."""
    if numbers.dtype == np.bool_:
        bits = np.packbits(numbers, bitorder="little")
        return pa.Array.from_buffers(pa.bool_(), len(numbers), [None, pa.py_buffer(bits)])
    numbers = np.ascontiguousarray(numbers)
    kind = pa.from_numpy_dtype(numbers.dtype)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(numbers)])


def names_to_column(names: list[Any]) -> pa.Array:
    """Return a column of names, which are all integers or all strings."""
    if names and type(names[0]) is int:
        return to_column(np.array(names, np.int64))
    texts = [name.encode() for name in names]
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    return pa.Array.from_buffers(pa.large_string(), len(texts), buffers)


def places_in(known: pa.Array, names: pa.Array) -> Array:
    """Return the place of each name among the known ones, or -1."""
    found = pc.index_in(names, known)
    if not found.null_count:
        return to_numpy(found)
    places = np.full(len(found), -1, np.int32)
    there = found.is_valid()
    places[to_numpy(there)] = to_numpy(found.filter(there))
    return places
