"""The line of code that drops rows with missing values, for messages about such values."""

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from halfmax._core.gate.kinds import is_sparse

Together = Mapping[str, Any] | None  # arguments of one call that hold the same rows, by name


def drop_line(name: str, rows: Together) -> str:
    """Return ". To drop such rows: ..." with a line that keeps the others in every argument.

    `name` is the argument with missing values. Without `rows`, or for containers that are not
    known here, it only says that these rows have to go.
    """
    rows = {other: values for other, values in (rows or {}).items() if values is not None}
    if name in rows:
        mask, kept = _mask(name, rows[name]), [_kept(*pair) for pair in rows.items()]
        if mask is not None and None not in kept:
            return (
                f". To drop such rows: keep = {mask}; "
                f"{', '.join(rows)} = {', '.join(map(str, kept))}"
            )
    return ". Drop or fill what is missing first"


def _mask(name: str, values: Any) -> str | None:
    """Return an expression that is True for rows to keep, an array of bool."""
    library, dimensions = _library(values), len(np.shape(values))
    in_row = ".any(axis=1)" if dimensions == 2 else ""
    if library == "pandas":
        return f"{name}.notna(){'.all(axis=1)' if in_row else ''}.to_numpy()"
    if library == "polars":
        return _by_value(f"{name}.rows()" if dimensions == 2 else name, dimensions)
    if is_sparse(values):
        return f"~np.isnan(np.asarray({name}.sum(axis=1)).ravel())"
    if library is not None:
        return None
    if np.asarray(values).dtype.kind == "f":
        return f"~np.isnan({name}){in_row}"
    return _by_value(name, dimensions)


def _by_value(rows: str, dimensions: int) -> str:
    """Return an expression that looks at single values: None is missing, and so is NaN."""
    if dimensions == 2:
        return f"np.array([all(x is not None and x == x for x in row) for row in {rows}])"
    return f"np.array([x is not None and x == x for x in {rows}])"


def _kept(name: str, values: Any) -> str | None:
    """Return an expression for the rows to keep of one argument."""
    library = _library(values)
    if library == "polars":
        return f"{name}.filter(keep)"
    if isinstance(values, (list, tuple)):
        return f"np.asarray({name})[keep]"
    return f"{name}[keep]" if library in (None, "pandas") else None


def _library(values: Any) -> str | None:
    """Return the library of a frame or series; None for arrays and sparse matrices."""
    if is_sparse(values) or isinstance(values, (np.ndarray, list, tuple)):
        return None
    library = type(values).__module__.partition(".")[0]
    known = library in ("pandas", "polars") and library in sys.modules
    return library if known or not hasattr(values, "__array__") else None
