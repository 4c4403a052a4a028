"""Results that show themselves as a line of words and a table, and a picture in notebooks."""

from html import escape
from typing import Any

from halfmax._core import frames
from halfmax._core.table import Table


class Shown:
    """A result with a summary and plain columns, in the library that the data came in."""

    _frame_library: Any

    def table(self) -> Any:
        """A frame of the library that the data came in, or a `Table` of plain columns."""
        table = self._plain_table()
        return table if self._frame_library is None else frames.table(self._frame_library, table)

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self._plain_table()}"

    def _repr_html_(self) -> str:
        from halfmax.displays.notebook import image_of  # when shown, not when imported

        table = self._plain_table()._repr_html_()
        return f"{self._summary_html()}{table}{image_of(self)}"

    def _summary_html(self) -> str:
        """The summary for a notebook, which runs lines into one paragraph."""
        return "".join(f"<p>{escape(line)}</p>" for line in self._summary().splitlines() if line)

    def _summary(self) -> str:
        raise NotImplementedError

    def _plain_table(self) -> Table:
        raise NotImplementedError
