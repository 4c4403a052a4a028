"""Standard input and output, passed to the library as files."""

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from halfmax.cli.run import Run

STANDARD = "-"
FORMATS = {"csv": ".csv", "arrow": ".arrows"}  # of standard output -> the ending of its draft
# The first bytes of each format; everything else is CSV.
_BEGINNINGS = {
    b"\xff\xff\xff\xff": ".arrows",
    b"ARROW1": ".arrow",
    b"PAR1": ".parquet",
    b"\x1f\x8b": ".csv.gz",
    b"\x28\xb5\x2f\xfd": ".csv.zst",
    b"BZh": ".csv.bz2",
}
_BYTES_AT_ONCE = 1 << 20


@contextmanager
def incoming(paths: Sequence[str], run: Run) -> Iterator[list[str]]:
    """Yield the paths, with standard input copied to a temporary file."""
    if STANDARD not in paths:
        yield list(paths)
        return
    if list(paths).count(STANDARD) > 1:
        raise ValueError("- can stand for one file only: standard input is read once")
    with tempfile.TemporaryDirectory(prefix="halfmax.") as folder:
        kept = _keep_standard_input(folder)
        run.names[kept] = "standard input"
        try:
            yield [kept if path == STANDARD else path for path in paths]
        except ValueError as error:  # put into words while the copy shows lines and names
            raise ValueError(run.words_of(error)) from error


def _keep_standard_input(folder: str) -> str:
    if sys.stdin is None or sys.stdin.isatty():
        raise ValueError("- reads standard input, but nothing is piped into it")
    source = sys.stdin.buffer
    first = source.read(_BYTES_AT_ONCE)
    if not first:
        raise ValueError("standard input is empty")
    ending = next((end for begin, end in _BEGINNINGS.items() if first.startswith(begin)), ".csv")
    kept = Path(folder, f"stdin{ending}")
    with kept.open("wb") as file:
        file.write(first)
        shutil.copyfileobj(source, file, _BYTES_AT_ONCE)
    return str(kept)


def check_table_out(out: str, form: str | None, force: bool) -> str:
    """Refuse an output that cannot be written; return the ending of its name."""
    if out != STANDARD:
        from halfmax.tables.writing import check_output

        if form is not None:
            raise ValueError(
                "--format is for standard output; the name of a file determines its format"
            )
        check_output(out, force)
        return "".join(Path(out).suffixes[-2:])
    if form not in (None, *FORMATS):
        raise ValueError(f"--format must be csv or arrow; got {form!r}")
    if form == "arrow" and sys.stdout.isatty():
        raise ValueError("--format arrow writes bytes that a terminal cannot show: use a pipe")
    return FORMATS[form or "csv"]


def refuse_one_file(first: str, out: str, second: str, other: str) -> None:
    """Refuse two options that name the same file."""
    if Path(out).resolve() == Path(other).resolve():
        raise ValueError(f"{first} and {second} must be two files; got {out} for both")


def ending_of(out: str, endings: Sequence[str]) -> str:
    """Return the ending of a file's name, which must be one of `endings`."""
    found = [ending for ending in endings if out.lower().endswith(ending)]
    if not found:
        from halfmax._core.text import spell_out

        known = spell_out(endings, "or")
        raise ValueError(f"cannot tell the format of {out}: its name must end in {known}")
    return found[0]


@contextmanager
def outgoing(out: str, ending: str, force: bool, run: Run) -> Iterator[str]:
    """Yield a name to write to; the file is piped or moved to `out` when it is complete."""
    folder = tempfile.gettempdir() if out == STANDARD else os.path.dirname(out)
    with _piped() if out == STANDARD else _beside(out, force) as draft:
        from halfmax._core.files import stand_in

        with stand_in(draft, folder, ending) as name:
            run.names[name] = "standard output" if out == STANDARD else out
            yield name
            run.stop_if_asked()


def _beside(out: str, force: bool) -> AbstractContextManager[Path]:
    from halfmax._core.files import whole_file

    return whole_file(out, overwrite=force)


@contextmanager
def _piped() -> Iterator[Path]:
    from halfmax._core.files import scratch_file

    with scratch_file() as draft:
        yield draft
        with draft.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer, _BYTES_AT_ONCE)
        sys.stdout.buffer.flush()
