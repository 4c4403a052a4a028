"""Write the files of a page: check the folder, write each file whole, and format JSON."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfmax._core.files import write_whole


def prepare_folder(out: str | Path) -> Path:
    """Create the folder and check that it is writable, before the long work begins."""
    if not str(out).strip():
        raise ValueError("out must name a folder; got an empty name")
    folder = Path(out)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".halfmax.probe"
        write_whole(probe, "")
        probe.unlink()
    except OSError as error:
        reason = "it is a file" if folder.is_file() else error.strerror or str(error)
        raise OSError(
            f"out must be a folder that can be written; {str(folder)!r} is not: {reason}"
        ) from None
    return folder


def write_files(folder: Path, contents: Mapping[str, str | bytes]) -> None:
    """Write every file whole, in this order, after checking that none of them is a folder."""
    for name in contents:
        if (folder / name).is_dir():
            raise OSError(f"cannot write {folder / name}: it is a folder; choose another out")
    for name, content in contents.items():
        write_whole(folder / name, content)


def as_json(content: dict[str, Any]) -> str:
    """Format as JSON for other programs."""
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(content: Any) -> Any:
    """Replace numbers that JSON does not have by null."""
    if isinstance(content, dict):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
