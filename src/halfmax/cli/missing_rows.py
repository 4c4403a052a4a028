"""After an error about missing values: the command that drops their rows from a CSV file."""

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from halfmax.cli.csv_places import in_lines
from halfmax.cli.run import Run

_KEPT = "complete"


@contextmanager
def suggesting_to_drop_rows(paths: list[str], run: Run) -> Iterator[None]:
    """Say how rows with missing values can be dropped, in the shell's way."""
    from halfmax.tables.rows import MissingValueError

    try:
        yield
    except MissingValueError as error:
        refusal = in_lines(error.refusal)  # while a copy of standard input exists
        command = _command(paths, error.column, run) if error.column else None
        if command is None:
            raise ValueError(f"{refusal}: drop such rows first") from None
        run.commands.append(command)
        raise ValueError(f"{refusal}. This drops such rows:") from None


def _command(paths: list[str], column: str, run: Run) -> str | None:
    """Return a command of awk for one plain CSV file; None for other files."""
    from halfmax.tables.files import CSV, compression_of, dialect_of, format_of
    from halfmax.tables.first_rows import first_file

    if len(paths) != 1 or paths[0] in run.names or not os.path.isfile(paths[0]):
        return None
    if format_of(paths[0]) != CSV or compression_of(paths[0]):
        return None
    content = Path(paths[0]).read_bytes()
    if b'"' in content:  # awk would not see which commas are quoted
        return None
    place = first_file(paths).schema.names.index(column) + 1
    test = f'NR == 1 || (${place} != "" && tolower(${place}) != "nan")'
    if b"\r\n" in content:  # the return at the end of a line would belong to its last cell
        test = r'{ sub(/\r$/, "") } ' + test
    delimiter = shlex.quote(dialect_of(paths[0]).delimiter.replace("\t", "\\t"))
    kept = shlex.quote(free_name(_KEPT, Path(paths[0]).suffix))
    return f"awk -F {delimiter} {shlex.quote(test)} {as_operand(paths[0])} > {kept}"


def as_operand(path: str) -> str:
    """Quote a file name for commands, which take -x for an option and awk a=b for a variable."""
    plain = not path.startswith("-") and "=" not in path
    return shlex.quote(path if plain or os.path.isabs(path) else os.path.join(".", path))


def free_name(stem: str, ending: str) -> str:
    """Return a name of a new file, so that no command overwrites one."""
    name, number = f"{stem}{ending}", 1
    while os.path.lexists(name):
        number += 1
        name = f"{stem}{number}{ending}"
    return name
