"""After an error about missing values: the command that drops their rows from a CSV file."""

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halfmax.cli.run import Run

_KEPT = "complete.csv"


@contextmanager
def suggesting_to_drop_rows(paths: list[str], run: Run) -> Iterator[None]:
    """Say how rows with missing values can be dropped, in the shell's way."""
    from halfmax.tables.rows import MissingValueError

    try:
        yield
    except MissingValueError as error:
        command = _command(paths, error.column, run) if error.column else None
        if command is None:
            raise ValueError(f"{error.refusal}: drop such rows first") from None
        run.commands.append(command)
        raise ValueError(f"{error.refusal}. This drops such rows:") from None


def _command(paths: list[str], column: str, run: Run) -> str | None:
    """Return a command of awk for one plain CSV file; None for other files."""
    from halfmax.tables.files import dialect_of
    from halfmax.tables.first_rows import first_file

    if len(paths) != 1 or not paths[0].endswith(".csv") or paths[0] in run.names:
        return None
    if b'"' in Path(paths[0]).read_bytes():  # awk would not see which commas are quoted
        return None
    place = first_file(paths).schema.names.index(column) + 1
    test = f'NR == 1 || (${place} != "" && tolower(${place}) != "nan")'
    delimiter = shlex.quote(dialect_of(paths[0]).delimiter.replace("\t", "\\t"))
    return f"awk -F {delimiter} {shlex.quote(test)} {shlex.quote(paths[0])} > {_KEPT}"
