"""CSV files without a line of column names, whose first row would be lost."""

import os
import shlex
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from halfmax.cli.missing_rows import as_operand, free_name
from halfmax.cli.run import Run

_NAMED = "named"
_BOM = b"\xef\xbb\xbf"


def stands_for_a_number(name: str) -> bool:
    """Whether the name of a column is a number, as a first row without names would be."""
    with suppress(ValueError):
        float(name.replace(",", "."))
        return True
    return False


def refuse_data(path: str, columns: Sequence[tuple[str, str | None]], run: Run) -> None:
    """Refuse a file of CSV whose first line looks like data; columns are names with their roles."""
    from halfmax.tables.files import CSV, format_of

    if format_of(path) != CSV:
        return
    names = [role or f"column{place}" for place, (_, role) in enumerate(columns, 1)]
    values = [name for name, role in columns if role] or [name for name, _ in columns][:2]
    what = (
        f"the first line of {path} looks like data, not like names of columns: it has "
        f"{' and '.join(map(repr, values))}"
    )
    command = _command(path, names, run)
    if command is None:
        raise ValueError(f"{what}. Put a line of names above it, such as score,truth")
    run.commands.append(command)
    roles = sorted(role for _, role in columns if role) or ["score", "truth"]
    options = " and ".join(f"--{role}" for role in roles)
    says = "say" if len(roles) > 1 else "says"
    raise ValueError(f"{what}. If not, {options} {says} so; if so, this adds a line of names:")


def _command(path: str, names: Sequence[str], run: Run) -> str | None:
    """Return a command that writes a new file, with names, for one plain CSV file."""
    from halfmax.tables.files import compression_of, dialect_of

    if path in run.names or not os.path.isfile(path) or compression_of(path):
        return None
    with open(path, "rb") as file:
        if file.read(len(_BOM)) == _BOM:  # which has to stay in front
            return None
    head = dialect_of(path).delimiter.replace("\t", "\\t").join(names)
    out = shlex.quote(free_name(_NAMED, Path(path).suffix))
    return f"printf '{head}\\n' | cat - {as_operand(path)} > {out}"
