"""The dialect of a CSV file: what separates its cells, and how it writes decimals."""

import csv
import io
import re
from itertools import islice
from typing import NamedTuple

from halfmax.tables.arrow import pa

_BYTES, _ROWS = 1 << 16, 100  # of a file that are looked at
_DECIMAL = {mark: re.compile(rf"[-+]?\d*{re.escape(mark)}\d+([eE][-+]?\d+)?") for mark in ".,"}


class Dialect(NamedTuple):
    """What separates cells, and what separates the digits of a number from its decimals."""

    delimiter: str = ","
    decimal_point: str = "."


def find_dialect(path: str, delimiter: str, compression: str | None) -> Dialect:
    """Look at the first lines of a file that should have commas, and perhaps has none.

    A head without commas whose cells are separated by semicolons or tabs, as those of the row after
    it, is that of a spreadsheet. With semicolons, decimals may have a comma.
    """
    if delimiter != ",":
        return Dialect(delimiter)
    with pa.input_stream(path, compression=compression) as file:
        text = file.read(_BYTES).decode("utf-8", "replace").removeprefix("\ufeff")
    if len(_rows(text, ",")[0]) > 1:
        return Dialect()
    for other in (";", "\t"):
        head, *rows = _rows(text, other)
        if len(head) > 1 and all(len(row) == len(head) for row in rows[:1]):
            cells = [cell.strip() for row in rows for cell in row]
            found = {mark: any(map(form.fullmatch, cells)) for mark, form in _DECIMAL.items()}
            comma = other == ";" and found[","] and not found["."]
            return Dialect(other, "," if comma else ".")
    return Dialect()


def _rows(text: str, delimiter: str) -> list[list[str]]:
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    return list(islice(lines, _ROWS)) or [[]]
