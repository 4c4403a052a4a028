"""Lines and tables that fit into 80 columns, or into a terminal that is narrower."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Column
from rich.table import Table as Grid
from rich.text import Text

from halfmax._core.result import Table
from halfmax.cli.messages import columns_of, on_one_line, wrapped

if TYPE_CHECKING:
    from halfmax.paper.mesh.sheets import Sheet

_LONGEST_NAME = 40
_LEAST_OF_WORDS = {"findings": 15}  # columns of words may wrap, but must not get narrower
_LEAST_OF_NAMES = 12
_SHORTEST_HEAD = 9  # letters of a column's name on a line; numbers may be wider
# What a table is about: these columns of numbers are left out last.
_MAIN = ("threshold", "score", "cost", "expected", "expected_score", "expected_cost")
_HEIGHT = 25  # lines; nothing depends on it
_GAP, _SMALL_GAP = 2, 1  # spaces between columns

Parts = list[str | Grid]


def show(parts: Parts, sink: TextIO) -> None:
    """Print lines and tables; names are printed literally, without markup."""
    # Without a height, rich takes a dumb terminal to be 80 columns wide.
    console = Console(file=sink, width=columns_of(sink), height=_HEIGHT, highlight=False)
    with console.capture() as captured:
        for part in parts:
            for one in _fitted(part, console.width):
                console.print(one)
    text = "".join(f"{line.rstrip()}\n" for line in captured.get().splitlines())
    encoding = sink.encoding or "utf-8"
    sink.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sink.flush()


def _fitted(part: str | Grid, columns: int) -> list[Text | Grid]:
    """Return a part so that it fits, with a line about the columns that a table lost."""
    if isinstance(part, str):
        return [Text(wrapped(part, columns), overflow="ignore")]
    left_out = fit(part, columns)
    more = f"Left out to fit {columns} columns: {', '.join(left_out)}"
    return [part, Text(more)] if left_out else [part]


def fit(grid: Grid, columns: int) -> list[str]:
    """Move the columns of a table together, and leave out the last ones of numbers, until it fits.

    Those that a table is about stay longest. Words wrap, but numbers are never cut. Returns the
    names of the columns left out, in order.
    """
    left_out: list[str] = []
    order = list(map(_title, grid.columns))
    gap = _GAP if grid.box is not None or _width(grid, _GAP) <= columns else _SMALL_GAP
    grid.collapse_padding = gap == _SMALL_GAP
    while _width(grid, gap) > columns:
        numbers = [place for place, column in enumerate(grid.columns) if column.no_wrap]
        if len(numbers) < 2:
            break
        others = [place for place in numbers if _title(grid.columns[place]) not in _MAIN]
        left_out.append(_title(grid.columns.pop((others or numbers)[-1])))
    grid.columns = [replace(column, _index=place) for place, column in enumerate(grid.columns)]
    _widen_words(grid, columns - _width(grid, gap))
    return sorted(left_out, key=order.index)


def _title(column: Column) -> str:
    return " ".join(str(column.header).split())


def _widen_words(grid: Grid, spare: int) -> None:
    """Share the letters that are left among the columns of words, by what they need."""
    words = [column for column in grid.columns if column.min_width is not None]
    needs = [_widest(column) - _least(column) for column in words]
    shares = [min(need, spare * need // max(sum(needs), 1)) for need in needs]
    for column, need, share in zip(words, needs, shares, strict=True):
        rest = min(need - share, max(spare - sum(shares), 0))  # of the division
        column.width, spare = _least(column) + share + rest, spare - rest
        column.min_width = None  # which would be wider than short names


def _width(grid: Grid, gap: int) -> int:
    return sum(map(_least, grid.columns)) + gap * (len(grid.columns) - 1)


def _widest(column: Column) -> int:
    lines = (line for cell in (column.header, *column.cells) for line in str(cell).splitlines())
    return max(map(cell_len, lines), default=0)


def _least(column: Column) -> int:
    """Return the number of letters that a column of a table needs."""
    widest = _widest(column)
    if column.no_wrap:
        return widest
    return min(widest, max(column.min_width or 0, _LEAST_OF_NAMES))


def labels_grid(table: Table) -> Grid:
    """Lay out a table with a label in each row, unless its only row has no name, and findings."""
    grid = _empty_grid()
    for place, name in enumerate(table):
        if (place or not table.named) and name not in _LEAST_OF_WORDS:
            grid.add_column(name, justify="right", no_wrap=True)
        else:
            least = _LEAST_OF_WORDS.get(name, _LEAST_OF_NAMES)
            grid.add_column(name, min_width=least, overflow="fold")
    for row in table._shown():
        cells = [Text(cell) for cell in row]
        if table.named:
            cells[0].truncate(_LONGEST_NAME, overflow="ellipsis")
        grid.add_row(*cells)
    return grid


def numbers_grid(columns: Mapping[str, Sequence[Any]], words: Sequence[str]) -> Grid:
    """Lay out columns of numbers beside columns of words, which are named."""
    table = Table(columns)
    rows = table._shown()
    grid = _empty_grid()
    for place, name in enumerate(table):
        if name in words:
            grid.add_column(name, vertical="bottom", no_wrap=False)
        else:
            add_numbers(grid, name, [row[place] for row in rows])
    for row in rows:
        grid.add_row(*map(Text, row))
    return grid


def sheet_grid(sheet: "Sheet") -> Grid:
    """Lay out a table of the case study; words are truncated, numbers are not."""
    grid = _empty_grid()
    for place, name in enumerate(sheet.columns):
        if place < sheet.words:
            grid.add_column(name, vertical="bottom")
        else:
            add_numbers(grid, name, [row[place] for row in sheet.rows])
    for number, row in enumerate(sheet.rows):
        cells = (Text(on_one_line(cell), no_wrap=True, overflow="ellipsis") for cell in row)
        grid.add_row(*cells, style="bold" if number in sheet.bold else None)
    return grid


def add_numbers(grid: Grid, name: str, cells: Iterable[str]) -> None:
    """Add a column of numbers; its name stands on several lines if the numbers are short."""
    widest = max(map(len, cells), default=len(name))
    head = "\n".join(wrap(name, max(widest, _SHORTEST_HEAD)))
    grid.add_column(head, justify="right", no_wrap=True, vertical="bottom")


def _empty_grid() -> Grid:
    return Grid(box=None, pad_edge=False, header_style="bold")
