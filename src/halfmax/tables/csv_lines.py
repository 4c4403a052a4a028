"""Lines of CSV, with quotes only around cells that need them.

pyarrow's writer puts every string into quotes. Here a cell gets them only if it holds a delimiter,
a quote or a line break, or if it is an empty string: a null is an empty cell without quotes.
"""

import re
from collections.abc import Sequence
from typing import Any

from halfmax.tables.arrow import pa, pc
from halfmax.tables.convert import names_to_column
from halfmax.tables.rows import plain

_QUOTE = '"'


def csv_lines(columns: Sequence[pa.Array], delimiter: str) -> Any:
    """Return the rows of columns as the bytes of CSV lines."""
    cells = [_cells(column, delimiter) for column in columns]
    rows = pc.binary_join_element_wise(
        *cells, _scalar(delimiter), null_handling="replace", null_replacement=""
    )
    lines = pc.binary_join_element_wise(rows, _scalar(""), _scalar("\n"))
    size = pc.sum(pc.binary_length(lines)).as_py() or 0
    return lines.buffers()[2].slice(0, size)  # the buffer of no rows may have bytes


def csv_head(schema: pa.Schema, delimiter: str) -> Any:
    """Return the line of the names of columns; refuse columns that have no text."""
    for field in schema:
        try:
            csv_lines([pa.nulls(0, field.type)], delimiter)
        except pa.ArrowNotImplementedError:
            raise TypeError(
                f"CSV cannot hold column {field.name!r}, whose type is {field.type}: write Parquet "
                "or Arrow, or leave the column out"
            ) from None
    return csv_lines([names_to_column([name]) for name in schema.names], delimiter)


def _cells(column: pa.Array, delimiter: str) -> pa.Array:
    """Return a column as text, in quotes where needed; nulls stay nulls."""
    values = plain(column)
    text = values if _is_bytes(values.type) else values.cast(pa.large_string())
    text = text.cast(pa.large_binary())
    if pa.types.is_primitive(values.type):  # the text of a number or a date needs no quotes
        return text
    needs_quotes = pc.match_substring_regex(text, f"^$|[{re.escape(delimiter)}{_QUOTE}\r\n]")
    if not pc.any(needs_quotes, min_count=0).as_py():
        return text
    doubled = pc.replace_substring(text, _QUOTE, 2 * _QUOTE)
    quoted = pc.binary_join_element_wise(_scalar(_QUOTE), doubled, _scalar(_QUOTE), _scalar(""))
    return pc.if_else(needs_quotes, quoted, text)


def _is_bytes(kind: pa.DataType) -> bool:
    types = pa.types
    tests = types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view
    return any(test(kind) for test in tests)


def _scalar(text: str) -> pa.Scalar:
    return names_to_column([text]).cast(pa.large_binary())[0]
