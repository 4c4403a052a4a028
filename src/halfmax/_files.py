"""Files that are written whole or not at all."""

import os
import secrets
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write text or bytes so that the path holds all of it or what it held before.

    A neighbouring file takes the content first and then takes the path's place in one step.
    """
    target = Path(path).resolve()  # the file behind a link changes, the link stays
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {target}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        kind = "a folder" if target.is_dir() else "no regular file"
        raise OSError(f"cannot write {target}: it must be a file or not exist yet, and is {kind}")
    part = target.with_name(f".halfmax.{secrets.token_hex(8)}.part")
    try:
        with part.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            part.chmod(target.stat().st_mode & 0o777)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
