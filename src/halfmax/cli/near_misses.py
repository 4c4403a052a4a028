"""Columns that would be the score or the truth but for a few cells, which their errors name."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from halfmax._core.gate.classes import TooManyClassesError
from halfmax._core.text import spell_out
from halfmax.cli.csv_places import place_of
from halfmax.cli.spelling import TWO_CLASSES
from halfmax.tables.arrow import pa
from halfmax.tables.columns import plain_type
from halfmax.tables.files import CSV, format_of
from halfmax.tables.first_rows import first_file, first_rows

_MOST_CLASSES = 5
_FEW = 0.1  # the share of rows that may be mistakes in a truth
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")


class FirstCells(NamedTuple):
    """The first cells of a column of a file."""

    path: str
    name: str
    column: pa.ChunkedArray

    def of_score(self, whole: bool) -> str | None:
        """Say which cell of a text is no number, if most are; None for other columns.

        Without `whole`, most of them must be fractions.
        """
        if not _is_text(self.column.type):
            return None
        cells = self.column.to_pylist()
        odd = [row for row, cell in enumerate(cells) if cell is not None and not _is_number(cell)]
        good = [cell for cell in cells if _is_nearly_number(cell)]
        if not whole:
            good = [cell for cell in good if "." in cell or "," in cell]
        if not odd or len(good) * 2 <= len(cells):
            return None
        cell = str(cells[odd[0]])
        what = (
            f"Column {self.name!r} could be it, but {self._place(odd[0])} has {cell!r}, which is "
        )
        what += "not a number"
        if len(odd) > 1:
            what += f" (nor are {len(odd) - 1:,} other cells)"
        if _DECIMAL_COMMA.fullmatch(cell):
            return f"{what}: write {cell.replace(',', '.')}"
        return f"{what}: correct it, or drop this row"

    def of_truth(self) -> str | None:
        """Say which values are too many for a truth, if a few are; None for other columns."""
        if (found := self._counted()) is None:
            return None
        values, _ = found
        if (third := self.third_value()) is not None:
            return f"Column {self.name!r} could be it, but {third}"
        return (
            f"Column {self.name!r} could be it, but has {len(values)} classes, "
            f"{spell_out(sorted(values))}: {TWO_CLASSES}"
        )

    def third_value(self) -> str | None:
        """Say where a value stands beside two others, if few rows have such a value."""
        if (found := self._counted()) is None:
            return None
        values, cells = found
        two = sorted(values[:2])
        rows = [row for row, cell in enumerate(cells) if cell is not None and cell not in two]
        if len(rows) > max(1, _FEW * len(cells)):
            return None
        what = f"{self._place(rows[0])} has {cells[rows[0]]!r} beside {spell_out(two)}"
        if len(rows) > 1:
            what += f" (like {len(rows) - 1:,} more rows)"
        return f"{what}: correct it, or drop this row"

    def _counted(self) -> tuple[list[Any], list[Any]] | None:
        """Return three values or a few more, the most frequent first, and all cells."""
        text = _is_text(self.column.type)
        if not text and not pa.types.is_integer(plain_type(self.column.type)):
            return None
        cells = self.column.to_pylist()
        counts = Counter(cell for cell in cells if cell is not None)
        values = [value for value, _ in counts.most_common()]
        few = 2 < len(values) <= _MOST_CLASSES and len(values) < counts.total()
        return (values, cells) if few and (text or {*values[:2]} == {0, 1}) else None

    def _place(self, row: int) -> str:
        is_csv = format_of(self.path) == CSV
        return place_of(self.path, row) if is_csv else f"row {row} (counted from 0)"


@contextmanager
def naming_third_values(paths: Sequence[str], truth: str) -> Iterator[None]:
    """Say where the truth has a third value, if few rows have one."""
    try:
        yield
    except TooManyClassesError:
        file = first_file(paths)
        third = FirstCells(file.path, truth, first_rows(file)[truth]).third_value()
        if third is None:
            raise
        where = f"column {truth!r} of {file.path} must hold two classes"
        raise ValueError(f"{where}; {third}") from None


def _is_text(kind: pa.DataType) -> bool:
    kind = plain_type(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_number(cell: str) -> bool:
    with suppress(ValueError):
        float(cell)
        return True
    return False


def _is_nearly_number(cell: str | None) -> bool:
    """Whether a cell is a number, perhaps with a decimal comma or in per cent."""
    return cell is not None and _is_number(cell.strip().rstrip("%").replace(",", ".", 1))
