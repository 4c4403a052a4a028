"""Refuse outputs that are inputs: no command overwrites what it reads, even with ``--force``."""

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from halfmax.cli.streams import STANDARD


def refuse_own_input(
    outs: Mapping[str, str | None], sources: Sequence[str], records: bool = False
) -> None:
    """Refuse options that name a file that is read, or a new part of a folder that is read.

    Sources are read as tables, or with `records` as files of MEDLINE records.
    """
    from halfmax.mesh.records import reading
    from halfmax.tables import files

    for option, out in outs.items():
        for source in sources if out is not None else ():
            _refuse(option, str(out), source, reading if records else files)


def _refuse(option: str, out: str, source: str, reader: ModuleType) -> None:
    from halfmax._core.files import refuse_input, refuse_inside

    files: list[str | Path] = [source]
    if source != STANDARD:
        with suppress(OSError, ValueError):  # unreadable files are refused when they are read
            files = reader.find_files([source])
    if STANDARD in (out, source):
        _refuse_streams(option, out, files)
        return
    refuse_input(option, out, files)
    if os.path.isdir(source) and reader.takes_in(source, out):
        refuse_inside(option, out, source)


def _refuse_streams(option: str, out: str, files: Sequence[str | Path]) -> None:
    """Refuse a standard output that is redirected to an input, or an output that stdin reads."""
    written = _regular_file(out, sys.stdout)
    for file in files if written is not None else ():
        read = _regular_file(file, sys.stdin)
        if written is not None and read is not None and os.path.samestat(written, read):
            where = "standard output" if out == STANDARD else out
            what = "what standard input reads" if file == STANDARD else f"the input {file}"
            raise ValueError(
                f"{option} must not be a file that is read; {where} is {what}: choose another name"
            )


def _regular_file(path: str | Path, stream: Any) -> os.stat_result | None:
    """Return the status of a file or stream, if it is a regular file."""
    with suppress(OSError, ValueError, AttributeError):  # a stream may be closed, or None
        status = os.fstat(stream.fileno()) if path == STANDARD else os.stat(path)
        return status if stat.S_ISREG(status.st_mode) else None
    return None
