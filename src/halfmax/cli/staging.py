"""Long work in stages, so that an interrupted command can continue from finished ones."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from halfmax.cli.bar import Bar
from halfmax.cli.messages import on_one_line
from halfmax.cli.run import Run

if TYPE_CHECKING:
    from halfmax.mesh.stages import Stage, Stages


@contextmanager
def staged(folder: Path, run: Run, bar: Bar, keep: bool) -> Iterator["Stages"]:
    """Yield stages in a folder, each reported in a line; at the end remove or keep the folder."""
    from halfmax.mesh.stages import Stages

    name, is_new = on_one_line(str(folder)), not folder.exists()

    def report(stage: "Stage") -> None:
        bar.say(_describe(stage, name))
        bar.begin(f"after {stage.name}")  # the next stage may not say what it counts

    stages = Stages(folder, report)
    try:
        yield stages
    except BaseException:
        if stages.done and folder.exists():
            run.after_error.append(
                f"finished stages are kept in {name} and are used when the command is run again"
            )
        elif is_new:
            _clear(stages)
        raise
    if not keep:
        _clear(stages)


def _clear(stages: "Stages") -> None:
    """Remove the files of these stages, and the folder if nothing else is in it."""
    for path in stages.files:
        path.unlink(missing_ok=True)
    if stages.folder is not None:
        with suppress(OSError):
            stages.folder.rmdir()


def _describe(stage: "Stage", folder: str) -> str:
    if stage.reused:
        return f"{stage.name}: found in {folder}, {stage.seconds:.1f} s"
    memory = "" if stage.peak_bytes is None else f", {_size(stage.peak_bytes)}"
    return f"{stage.name}: {stage.seconds:.1f} s{memory}"


def _size(n_bytes: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:,.1f} GiB"
