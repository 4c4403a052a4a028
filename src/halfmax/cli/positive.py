"""The positive class as it is typed, ``--positive yes``, in the type of the column of truth."""

from typing import Any

from halfmax.tables.arrow import pa
from halfmax.tables.columns import plain_type

_BOOLS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}


def positive_class(typed: str, kind: pa.DataType, column: str) -> Any:
    """Return the class that was typed: text stays text, numbers and bools are read."""
    kind = plain_type(kind)
    if pa.types.is_boolean(kind):
        if typed.lower() in _BOOLS:
            return _BOOLS[typed.lower()]
        raise ValueError(f"--positive must be true or false, like column {column!r}; got {typed!r}")
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        try:
            number = float(typed)
        except ValueError:
            raise ValueError(
                f"--positive must be a number, like column {column!r}; got {typed!r}"
            ) from None
        return int(number) if number.is_integer() else number
    return typed
