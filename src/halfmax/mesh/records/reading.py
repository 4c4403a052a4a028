"""Read files of records: find them, order them, and parse XML or JSON lines."""

import glob
import gzip
import io
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.text import spell_out
from halfmax.mesh.records import json_lines, pubmed
from halfmax.mesh.records.record import Deletion, Record

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

AnyPath = str | os.PathLike[str]

_SUFFIXES = (".xml", ".xml.gz", ".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz")
_GZIP = b"\x1f\x8b"
_BOMS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")
_LOOK_AT = 1 << 12
_BUFFER_BYTES = 1 << 17


def find_files(paths: AnyPath | Iterable[AnyPath]) -> list[Path]:
    """List the files that paths, folders and globs name.

    The paths keep their order; files of a folder or glob are sorted by name. NLM numbers its files,
    and an update must come after what it updates.
    """
    if isinstance(paths, str | os.PathLike):
        paths = [paths]
    found = [file for path in paths for file in _expand(os.fspath(path))]
    if not found:
        raise ValueError("there must be a file, folder or glob of records; got none")
    seen: dict[str, Path] = {}
    for file in found:
        if seen.setdefault(os.path.realpath(file), file) is not file:
            raise ValueError(f"each file must be named only once; {file} would be read twice")
    return found


def takes_in(folder: str, path: str) -> bool:
    """Whether a file at this path is, or would be, read as part of the folder."""
    name = os.path.basename(path)
    known = name.lower().endswith(_SUFFIXES) and not name.startswith(".")
    return known and os.path.realpath(folder) == os.path.dirname(os.path.realpath(path))


def read_records(
    paths: AnyPath | Iterable[AnyPath], progress: ProgressLike = None
) -> Iterator[Record | Deletion]:
    """Yield the records and deletions of all files, in order, as they are read."""
    files = find_files(paths)
    bar = Progress(progress, "reading records", sum(file.stat().st_size for file in files))
    return _read_all(files, bar)


def _expand(path: str) -> list[Path]:
    if os.path.isdir(path):
        found = _of_records(Path(path).iterdir())
        if not found:
            raise FileNotFoundError(f"the folder {path} holds no file that ends in {_endings()}")
        return found
    if os.path.isfile(path):
        return [Path(path)]
    if os.path.exists(path):
        raise ValueError(f"{path} must be a file, a folder or a glob; it is a device or a pipe")
    if any(sign in path for sign in "*?["):
        return _matching(path)
    raise FileNotFoundError(f"there is no file or folder {path}")


def _matching(pattern: str) -> list[Path]:
    matches = [Path(path) for path in glob.glob(pattern, recursive=True)]
    if not matches:
        raise FileNotFoundError(f"no file matches {pattern}")
    folders = [path for path in matches if path.is_dir()]
    inside = [file for folder in folders for file in folder.iterdir()]
    found = _of_records(dict.fromkeys([*matches, *inside]))
    if not found:
        raise FileNotFoundError(
            f"no file that matches {pattern} ends in {_endings()}: name others one by one"
        )
    return found


def _of_records(paths: Iterable[Path]) -> list[Path]:
    files = [path for path in paths if path.name.lower().endswith(_SUFFIXES) and path.is_file()]
    return sorted((p for p in files if not p.name.startswith(".")), key=lambda p: (p.name, p))


def _endings() -> str:
    return spell_out(_SUFFIXES, "or")


def _read_all(files: list[Path], bar: Progress) -> Iterator[Record | Deletion]:
    with bar:
        for path in files:
            with _File(path, bar) as raw, io.BufferedReader(raw, _BUFFER_BYTES) as file:
                try:
                    yield from _read(file, str(path))
                except EOFError:
                    raise ValueError(
                        f"{path} is cut short: its gzip data has no end. Download it again"
                    ) from None
                except (gzip.BadGzipFile, zlib.error) as error:
                    raise ValueError(
                        f"{path} is damaged: its gzip data is wrong ({error}). Download it again"
                    ) from None


def _read(file: BinaryIO, name: str) -> Iterator[Record | Deletion]:
    packed = file.read(2) == _GZIP
    file.seek(0)
    stream = cast(BinaryIO, gzip.GzipFile(fileobj=file)) if packed else file
    start = stream.read(_LOOK_AT)
    stream.seek(0)
    begins = _without_bom(start).strip(b" \t\r\n\0")  # a zero is half of a UTF-16 character
    if begins.startswith(b"<"):
        return pubmed.parse(stream, name)
    if begins.startswith(b"{"):
        return json_lines.parse(stream, name)
    raise ValueError(_of_no_format(name, start, begins))


def _without_bom(start: bytes) -> bytes:
    for bom in _BOMS:
        start = start.removeprefix(bom)
    return start


def _of_no_format(name: str, start: bytes, begins: bytes) -> str:
    expected = f"PubMed's XML or {json_lines.EXPECTED}"
    if begins.startswith(b"["):
        return f"{name} is a JSON list; it must be {json_lines.EXPECTED}"
    if not begins:
        state = "begins with blanks only" if start else "is empty"
        return f"{name} {state}; it must be {expected}. Download it again"
    return f"{name} must be {expected}, with or without gzip; it begins with {begins[:16]!r}"


class _File(io.FileIO):
    """A file that reports how far it has been read."""

    def __init__(self, path: Path, bar: Progress) -> None:
        super().__init__(path)
        self._bar, self._furthest = bar, 0

    def readinto(self, buffer: "WriteableBuffer", /) -> int:
        """Read as files do; bytes that are read again do not count."""
        size = super().readinto(buffer)
        gained = self.tell() - self._furthest
        if gained > 0:
            self._furthest += gained
            self._bar.advance(gained)
        return size
