"""Files of thresholds where scores are wanted, and the other way round."""

import os
from collections.abc import Sequence
from contextlib import suppress

from halfmax.cli import proposals
from halfmax.cli.run import Run

_BYTES = 200  # of a file that show what it is


def holds_thresholds(path: str) -> bool:
    """Whether a file is one that tune wrote."""
    from halfmax.tuning.file import FORMAT

    with suppress(OSError):
        if os.path.isfile(path):
            with open(path, "rb") as file:
                begin = file.read(_BYTES)
            return begin.startswith(b"{") and f'"{FORMAT}"'.encode() in begin
    return False


def refuse_thresholds(sources: Sequence[str]) -> None:
    """Refuse thresholds among files of scores."""
    for path in sources:
        if holds_thresholds(path):
            raise ValueError(
                f"{path} holds thresholds, and scores are wanted here. halfmax apply predicts "
                "with thresholds, and halfmax report writes a page about them"
            )


def refuse_swapped(thresholds: str, sources: Sequence[str], run: Run) -> None:
    """Refuse a file of scores in the place of the thresholds."""
    from halfmax.tables.files import format_of

    if holds_thresholds(thresholds) or not os.path.exists(thresholds):
        return
    for path in sources:
        if holds_thresholds(path):
            run.commands.append(proposals.swapped(thresholds, path))
            raise ValueError(f"the thresholds come first, and {path} holds them. Type this:")
    if format_of(thresholds) is not None:
        raise ValueError(
            f"{thresholds} is not a halfmax thresholds file, which comes first; halfmax tune --out "
            "writes one"
        )
