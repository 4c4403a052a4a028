"""Messages about cells of CSV files, for people who count lines."""

import csv
import io
import re
from contextlib import suppress
from itertools import islice

_FILE = r"(?P<file>\S.*?\.(?:csv|tsv|txt)(?:\.(?:gz|bz2|zst|lz4|br))?)"
_ROW = re.compile(rf"\brow (?P<row>\d+) of {_FILE}(?=[ ,;:.]|$)")
_NOT_READ = re.compile(
    rf"^{_FILE} cannot be read as CSV: In CSV column #(?P<column>\d+): (?:Row #(?P<line>\d+): )?"
    r"CSV conversion error to (?:double|int64): invalid value '(?P<value>.*)'$"
)
_MOST_ROWS = 5_000_000  # that are counted to find a line


def in_lines(text: str) -> str:
    """Say which line of a CSV file a message is about, and call its nulls empty cells.

    >>> in_lines("column 'score' must not have nulls; row 3 of none.csv has one")
    "column 'score' must not have empty cells; row 3 (counted from 0) of none.csv has one"
    """
    if found := _NOT_READ.match(text):
        return _not_a_number(found)
    text, rows = _ROW.subn(
        lambda one: f"{place_of(one['file'], int(one['row']))} of {one['file']}", text
    )
    return text.replace("must not have nulls", "must not have empty cells") if rows else text


def place_of(path: str, row: int) -> str:
    """Name the line of a row, or the row if its line cannot be found."""
    line = _line_of(path, row) if row < _MOST_ROWS else None
    return f"row {row} (counted from 0)" if line is None else f"line {line}"


def _not_a_number(found: re.Match[str]) -> str:
    head = _records(found["file"], 1)
    if not head:
        return found[0]
    where = f"column {head[0][1][int(found['column'])]!r} of {found['file']}"
    if found["line"] is None:
        return f"{where} must hold numbers; it has {found['value']!r}"
    place = place_of(found["file"], int(found["line"]) - 2)  # the head is the first
    return f"{where} must hold numbers; {place} has {found['value']!r}"


def _line_of(path: str, row: int) -> int | None:
    """Return the line where a row begins; rows are counted from 0, lines and the head from 1."""
    records = _records(path, 1, row + 1)
    return records[0][0] if records else None


def _records(path: str, count: int, first: int = 0) -> list[tuple[int, list[str]]]:
    """Return some records of a CSV file with their lines; none if it cannot be read."""
    from halfmax.tables.arrow import pa
    from halfmax.tables.files import compression_of, dialect_of

    with suppress(OSError, ValueError, csv.Error):
        delimiter = dialect_of(path).delimiter
        with pa.input_stream(path, compression=compression_of(path)) as source:
            text = io.TextIOWrapper(source, "utf-8-sig", "replace", newline="")
            cells = csv.reader(text, delimiter=delimiter)
            found = ((cells.line_num - _breaks(one), one) for one in cells if one)
            return list(islice(found, first, first + count))
    return []


def _breaks(cells: list[str]) -> int:
    return sum(cell.count("\n") for cell in cells)
