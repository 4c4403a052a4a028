"""Base classes of results: a summary and a table in a terminal, a picture too in notebooks."""

from collections.abc import Iterator, Mapping
from html import escape
from itertools import repeat
from typing import Any, ClassVar

import numpy as np

from halfmax._core.gate import frames
from halfmax._core.hooks import hook
from halfmax._core.text import on_one_line
from halfmax._core.types import Array

_SHOWN = 30
_TOO_FEW_TO_LEAVE_OUT = 2  # the line that counts them would be as long


class Table(dict[str, Any]):
    """Columns by name: a dictionary that prints as a table and that any frame library accepts.

    >>> print(Table({"label": ["cat", "dog"], "threshold": [0.25, float("inf")]}))
    label  threshold
    cat         0.25
    dog          inf

    `unknown` marks rows for which NaN is shown as "unknown". The first column holds names, unless
    `without_place` has left it out.
    """

    def __init__(self, columns: Mapping[str, Any] | None = None, unknown: Array | None = None):
        super().__init__(columns or {})
        self._unknown = unknown
        self._note: str | None = None
        self.named = True

    @property
    def n_rows(self) -> int:
        return len(next(iter(self.values()), ()))

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Return the rows as tuples, in the order of the columns."""
        return zip(*self.values(), strict=True)

    def without_place(self) -> "Table":
        """Return the table without its first column if that only says that the one row is row 0.

        >>> print(Table({"label": [0], "support": [7]}).without_place())
        support
              7
        """
        name, column = next(iter(self.items()))
        if self.n_rows != 1 or type(column[0]) is not int or column[0] != 0:
            return self
        rest = Table({other: self[other] for other in self if other != name}, self._unknown)
        rest.named = False
        return rest

    def beginning(self, most: int, where: str) -> "Table":
        """Return the first rows; the text then ends with the number of others and where they are.

        >>> print(Table({"label": ["cat", "dog", "ant", "elk"]}).beginning(1, "ask the zoo"))
        label
        cat
        ... and 3 more; ask the zoo
        """
        more = self.n_rows - most
        if more <= _TOO_FEW_TO_LEAVE_OUT:
            return self
        first = {name: column[:most] for name, column in self.items()}
        short = Table(first, None if self._unknown is None else self._unknown[:most])
        short._note = f"... and {more:,} more; {where}"
        return short

    def __repr__(self) -> str:
        cells = [list(self), *self._shown()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        put = [str.ljust if self._is_words(place) else str.rjust for place in range(len(self))]
        lines = [
            "  ".join(p(c, w) for p, c, w in zip(put, row, widths, strict=True)).rstrip()
            for row in cells
        ]
        return "\n".join([*lines, *self._left_out()])

    def _is_words(self, place: int) -> bool:
        """Whether a column holds names or other words."""
        column = list(self.values())[place]
        return (self.named and place == 0) or all(isinstance(cell, str) for cell in column)

    def _repr_html_(self) -> str:
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in self)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._shown()
        )
        rest = "".join(f"<p>{escape(line)}</p>" for line in self._left_out())
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"

    def _shown(self) -> list[list[str]]:
        heads = [column[:_SHOWN] for column in self.values()]
        unknown = repeat(False) if self._unknown is None else self._unknown
        return [
            [
                on_one_line(value) if self.named and place == 0 else _cell(value, hidden)
                for place, value in enumerate(row)
            ]
            for row, hidden in zip(zip(*heads, strict=True), unknown, strict=False)
        ]

    def _left_out(self) -> list[str]:
        if self._note is not None:
            return [self._note]
        more = self.n_rows - _SHOWN
        return [f"... and {more:,} more row{'s' * (more > 1)}"] if more > 0 else []


def _cell(value: Any, unknown: bool) -> str:
    if isinstance(value, (float, np.floating)):
        if unknown and np.isnan(value):
            return "unknown"
        return f"{value:,.0f}" if 1e4 <= abs(float(value)) < 1e15 else f"{value:.4g}"
    if isinstance(value, (int, np.integer)):
        return f"{value:,}"
    return str(value)


def _protected(value: Any) -> Any:
    """Return an array, or a tuple with arrays, as views that cannot be written to."""
    if type(value) is tuple and value and isinstance(value[0], np.ndarray):
        return tuple(map(_protected, value))
    if not isinstance(value, np.ndarray):
        return value
    view = value.view()
    view.setflags(write=False)
    return view


class Result:
    """A result with a summary and a table in the frame library of the input.

    Its arrays cannot be written to: numbers that were counted together would no longer agree. They
    are views, so arrays of callers and of other results stay as they are.
    """

    _frame_library: Any
    _writable: ClassVar[tuple[str, ...]] = ()  # arrays that are handed over to the user

    def __post_init__(self) -> None:
        self._protect_arrays()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)  # copies and unpickled arrays can be written to
        self._protect_arrays()

    def _protect_arrays(self) -> None:
        held = self.__dict__
        held.update((name, _protected(held[name])) for name in held.keys() - {*self._writable})

    def table(self) -> Any:
        """Return a frame of the input's library, or a `Table` of plain columns."""
        table = self._plain_table()
        return table if self._frame_library is None else frames.table(self._frame_library, table)

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self._shown_table()}"

    def _repr_html_(self) -> str:
        table = self._shown_table()._repr_html_()
        return f"{self._summary_html()}{table}{hook('image_of')(self)}"

    def _summary_html(self) -> str:
        """Return the summary for a notebook, one paragraph for each line."""
        return "".join(f"<p>{escape(line)}</p>" for line in self._summary().splitlines() if line)

    def _summary(self) -> str:
        raise NotImplementedError

    def _plain_table(self) -> Table:
        raise NotImplementedError

    def _shown_table(self) -> Table:
        """Return the table that is shown below the summary."""
        return self._plain_table()
