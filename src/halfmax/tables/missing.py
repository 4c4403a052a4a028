"""The line of code that drops rows with missing values from a table, for messages about them."""

import re
from ast import literal_eval
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from halfmax.tables.files import CSV, format_of
from halfmax.tables.rows import MissingValueError
from halfmax.tables.sources import LocalTable

_COLUMN = re.compile(r"column ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


@contextmanager
def showing_how_to_drop(place: Any) -> Iterator[None]:
    """Add a line that drops rows to an error about missing values, if one is known."""
    try:
        yield
        return
    except MissingValueError as error:
        refusal = error.refusal
    found = _COLUMN.search(refusal)  # errors of engines come back as text
    column = None if found is None else str(literal_eval(found[1]))
    raise MissingValueError(refusal, column, None if column is None else drop_line(place, column))


def drop_line(place: Any, column: str) -> str | None:
    """Return a line that drops rows where this column is null or NaN; None if none is known."""
    if not isinstance(place, LocalTable):  # Spark and Dask alike
        return f"source = source.dropna(subset=[{column!r}])"
    if place.is_file:
        paths = [str(path) for path in place.files]
        form = ', format="csv"' if format_of(paths[0]) == CSV else ""
        what = repr(paths[0]) if len(paths) == 1 else "files"
        return (
            f"source = pyarrow.dataset.dataset({what}{form}).filter("
            f"~pyarrow.compute.field({column!r}).is_null(nan_is_null=True))"
        )
    library = type(place.native).__module__.partition(".")[0]
    return {
        "pandas": f"source = source.dropna(subset=[{column!r}])",
        "polars": f"source = source.fill_nan(None).drop_nulls([{column!r}])",
        "pyarrow": "source = source.filter("
        f"~pyarrow.compute.field({column!r}).is_null(nan_is_null=True))",
    }.get(library)
