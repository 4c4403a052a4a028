"""Columns that the user named and that a table does not have: said before anything is guessed."""

import os
from collections.abc import Mapping, Sequence
from difflib import get_close_matches

from halfmax._core.text import spell_out
from halfmax.cli import proposals
from halfmax.cli.messages import typed_words
from halfmax.cli.run import Run
from halfmax.tables.arrow import pa
from halfmax.tables.columns import TEXT, kind_of_id
from halfmax.tables.files import File
from halfmax.tables.first_rows import first_rows

_MOST_NAMES = 20
_SPELLINGS = {"instance": ("--instance", "--id")}
_OF_LONG = ("--label", "--score", "--truth")  # options that files with a column per label lack


def refuse_unknown(file: File, typed: Mapping[str, str], run: Run) -> None:
    """Refuse names of columns that are not among those of a table.

    `typed` has the options, as in "truth", and the names that were typed.
    """
    path, names = file.path, file.schema.names
    for option, name in typed.items():
        if name in names or f"{name}=" in path:  # the reader knows folders named after a column
            continue
        if option == "truth" and os.path.isfile(name):
            _refuse_file(file, name, run)
        has = f"{path} has no column {name!r}; it has {spell_out(names, most=_MOST_NAMES)}"
        meant = _closest(name, names)
        command = meant and proposals.replaced(_SPELLINGS.get(option, (f"--{option}",)), meant)
        if command is None:
            or_none = ", or use --binary for one classifier" if option == "label" else ""
            raise ValueError(f"{has}: name the column with --{option}{or_none}")
        run.commands.append(command)
        raise ValueError(f"{has}. If you mean {meant!r}, type this:")


def _closest(name: str, names: Sequence[str]) -> str | None:
    """Return the column whose name looks most like another name, in any case of letters."""
    by_letters = {one.casefold(): one for one in reversed(names)}
    found = get_close_matches(name.casefold(), by_letters, 1)
    return by_letters[found[0]] if found else None


def _refuse_file(file: File, truth: str, run: Run) -> None:
    run.commands.append(with_truth_file(truth, first_rows(file)))
    raise ValueError(
        f"--truth names a column of {file.path}, and {truth} is a file. If both have a column for "
        "each label, type this:"
    )


def with_truth_file(truth: str, rows: pa.Table) -> str:
    """Return the command for wide files, with the file of their truth and the column of ids."""
    text = [field.name for field in rows.schema if kind_of_id(field.type) == TEXT]
    ids = ("--id", text[0]) if len(text) == 1 and text != ["instance"] else ()
    typed = () if "--id" in typed_words() or "--instance" in typed_words() else ids
    return proposals.without(_OF_LONG, ("--binary",), ("--truth-file", truth, *typed))
