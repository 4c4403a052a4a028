"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text or bytes so that the path holds all of it or what it held before."""
    with whole_file(path) as part:
        part.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def whole_file(path: str | os.PathLike[str], overwrite: bool = True) -> Iterator[Path]:
    """A neighbouring file to write to, which takes the path's place in one step at the end.

    If anything goes wrong before, the path holds what it held. Without `overwrite` a file that is
    there, or comes to be there in the meantime, is an error and stays as it is.
    """
    target = Path(path).resolve()  # the file behind a link changes, the link stays
    check_writable(target, overwrite)
    part = target.with_name(f".halfmax.{secrets.token_hex(8)}.part")
    try:
        _create(part, target)
        yield part
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        if target.exists() and overwrite:
            part.chmod(target.stat().st_mode & 0o777)
        _take_place(part, target, overwrite)
    finally:
        part.unlink(missing_ok=True)


def _create(part: Path, target: Path) -> None:
    try:
        part.touch(exist_ok=False)
    except OSError as error:
        error.filename = str(target)  # the name that the caller knows
        raise


def _take_place(part: Path, target: Path, overwrite: bool) -> None:
    check_writable(target, overwrite)
    if not overwrite:
        try:
            os.link(part, target)  # unlike a move, it never takes the place of another file
            return
        except FileExistsError:
            check_writable(target, overwrite)
        except OSError:  # a file system without links
            pass
    part.replace(target)


def check_writable(path: str | os.PathLike[str], overwrite: bool = True) -> None:
    """Refuse a path where no file can be written, before the long work begins."""
    target = Path(path).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "no regular file"
        raise OSError(f"cannot write {target}: it must be a file or not exist yet, and is {kind}")
    if target.exists() and not overwrite:
        raise FileExistsError(f"{path} is there already, and is kept: say that it may be replaced")
