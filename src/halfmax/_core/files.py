"""Files that are written whole or not at all.

Where the system supports it (Linux), a draft has no name until it is finished, so a process that is
killed leaves nothing behind. Elsewhere the draft is a hidden file beside its target, locked for as
long as its writer lives; the next write into the folder removes drafts that no process has locked.
"""

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NoReturn

from halfmax._core.errors import ArgumentError, FileKeptError, in_python, setting

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

AnyPath = str | os.PathLike[str]

_DRAFT = re.compile(r"\.halfmax\.[0-9a-f]{16}\.part")
_stand_ins: dict[str, Path] = {}  # names that never exist -> the drafts they stand for


def write_whole(path: AnyPath, content: str | bytes) -> None:
    """Write text or bytes; afterwards the path holds all of it, or what it held before."""
    with whole_file(path) as draft:
        draft.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: AnyPath, overwrite: bool = True) -> Iterator[Path]:
    """Yield a draft to write to, which replaces the file at the path in one step at the end.

    If anything goes wrong before that, the path holds what it held. Without `overwrite`, a file
    that exists, or that appears in the meantime, is an error and stays as it is. Open the draft by
    its path: it may have no folder and no file extension.
    """
    if (unfinished := _stand_ins.get(os.fspath(path))) is not None:
        yield unfinished  # the caller of `stand_in` finishes it
        return
    target = Path(path).resolve()  # a symbolic link stays; the file it points to changes
    check_writable(target, overwrite)
    _remove_stale(target.parent)
    with _drafting(target.parent, target) as draft:
        yield draft.path
        with draft.path.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists() and overwrite:
            draft.path.chmod(target.stat().st_mode & 0o777)
        check_writable(target, overwrite)
        draft.take_place(target, overwrite)


@contextmanager
def scratch_file() -> Iterator[Path]:
    """Yield a temporary file, which is removed at the end, even if the process is killed."""
    folder = Path(tempfile.gettempdir())
    with _drafting(folder, folder) as draft:
        yield draft.path


@contextmanager
def stand_in(draft: Path, folder: AnyPath, ending: str) -> Iterator[str]:
    """Yield a name that `whole_file` maps to the draft; no file of that name ever exists."""
    name = os.path.join(os.path.abspath(folder), f".halfmax.{secrets.token_hex(8)}{ending}")
    _stand_ins[name] = draft
    try:
        yield name
    finally:
        del _stand_ins[name]


def check_writable(path: AnyPath, overwrite: bool = True) -> None:
    """Refuse a path that cannot be written, before any long work begins."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        what = "is a folder" if target.is_dir() else "exists and is not a regular file"
        raise OSError(f"cannot write {target}: it {what}; choose another name")
    if target.exists() and not overwrite:
        raise FileKeptError(
            f"{path} already exists; pass {setting('overwrite', True)} to overwrite it"
        )


def refuse_input(name: str, out: AnyPath, files: Iterable[AnyPath]) -> None:
    """Refuse to overwrite a file that is read, whatever path names it."""
    if not os.path.exists(out):
        return
    for file in files:
        if os.path.exists(file) and os.path.samefile(out, file):
            raise ArgumentError(
                f"{in_python(name)} must not be a file that is read; {os.fspath(out)} is the input "
                f"{os.fspath(file)}: choose another name"
            )


def refuse_inside(name: str, out: AnyPath, folder: AnyPath) -> NoReturn:
    """Refuse to write a file into a folder that is read."""
    raise ArgumentError(
        f"{in_python(name)} must not lie in a folder that is read; {os.fspath(out)} would become "
        f"part of {os.fspath(folder)}: write it elsewhere"
    )


@contextmanager
def _drafting(folder: Path, known_as: Path) -> Iterator["_Draft"]:
    """Open a draft and close it at the end; system errors name the path that the caller knows."""
    draft = None
    try:
        draft = _Draft(folder)
        yield draft
    except OSError as error:
        if draft is None or str(error.filename) in (str(draft.path), draft.name):
            error.filename = str(known_as)
        raise
    finally:
        if draft is not None:
            draft.close()


class _Draft:
    """A new file: open it by `path`; `name` is its place in its folder, or None."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name: str | None = None
        self._file = _open_nameless(folder)
        if self._file is None:
            self.name, self._file = _open_named(folder)
        self.path = Path(self.name or _path_of(self._file))

    def take_place(self, target: Path, overwrite: bool) -> None:
        if self.name is None or not overwrite:
            try:
                self._link(target)  # unlike a move, a link never replaces another file
                return
            except FileExistsError:
                check_writable(target, overwrite)
            except OSError:  # a file system without links
                pass
        if self.name is None:
            self._get_name()
        os.replace(str(self.name), target)

    def close(self) -> None:
        if self.name is not None:
            Path(self.name).unlink(missing_ok=True)
        if self._file is not None:
            os.close(self._file)

    def _get_name(self) -> None:
        name = _new_name(self._folder)
        try:
            self._link(name)
        except OSError:  # links do not work here, but a copy does
            shutil.copy(self.path, name)
        finally:
            self.name = name

    def _link(self, target: AnyPath) -> None:
        if self.name is not None:
            os.link(self.name, target)
            return
        folder = os.open(self._folder, os.O_RDONLY)
        try:  # Python follows the link to a nameless file only with a folder
            os.link(self.path, target, src_dir_fd=folder, follow_symlinks=True)
        finally:
            os.close(folder)


def _new_name(folder: Path) -> str:
    return os.path.join(folder, f".halfmax.{secrets.token_hex(8)}.part")


def _open_nameless(folder: Path) -> int | None:
    """Open a locked file without a name; None where the system does not support that."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None:
        return None
    try:
        file = os.open(folder, flag | os.O_RDWR, 0o666)
    except OSError:  # if the reason is another one, opening a named file reports it
        return None
    if not os.path.exists(_path_of(file)):  # /proc is missing or restricted
        os.close(file)
        return None
    _lock(file)
    return file


def _path_of(file: int | None) -> str:
    return f"/proc/self/fd/{file}"


def _open_named(folder: Path) -> tuple[str, int | None]:
    """Open a new file and lock it if possible; try again if it was removed before the lock."""
    while True:
        name = _new_name(folder)
        file = os.open(name, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)
        if fcntl is None:  # Windows cannot move an open file
            os.close(file)
            return name, None
        if _lock(file) and os.path.exists(name):
            return name, file
        os.close(file)


def _lock(file: int) -> bool:
    """Return False if another process holds the lock; where there are no locks, return True."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True


def _remove_stale(folder: Path) -> None:
    """Remove drafts whose writers were killed."""
    if fcntl is None:
        return
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.path for entry in entries if _DRAFT.fullmatch(entry.name)]:
            with suppress(OSError):
                _remove_if_stale(name)


def _remove_if_stale(name: str) -> None:
    file = os.open(name, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fails while the writer lives
        os.unlink(name)
    finally:
        os.close(file)
