"""What all pages of studies share: a folder that can be written, and JSON."""

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from halfmax._core.files import write_whole


def prepare_folder(out: str | Path) -> Path:
    """The folder, made and tried before the long work begins."""
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
    """Write every file whole, in this order; a folder in the place of one is found before."""
    for name in contents:
        if (folder / name).is_dir():
            raise OSError(f"cannot write {folder / name}: it is a folder; name another out")
    for name, content in contents.items():
        write_whole(folder / name, content)


def as_json(content: dict[str, Any]) -> str:
    """Numbers and words for other programs."""
    return json.dumps(_plain(content), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(content: Any) -> Any:
    """The same with null for numbers that JSON does not have."""
    if isinstance(content, dict):
        return {key: _plain(value) for key, value in content.items()}
    if isinstance(content, (list, tuple)):
        return [_plain(value) for value in content]
    return None if isinstance(content, float) and not math.isfinite(content) else content
