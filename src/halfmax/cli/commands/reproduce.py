"""``halfmax reproduce``: recompute the paper into a folder."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from halfmax.cli.mesh_options import MinCount, Rank
from halfmax.cli.options import Debug, Quiet, is_set, refuse_options
from halfmax.cli.run import running
from halfmax.cli.staging import staged
from halfmax.cli.usage import Command, Group
from halfmax.paper.parts import PARTS, RUNS

app = typer.Typer(cls=Group, invoke_without_command=True)

Out = Annotated[
    str,
    typer.Option(help="The folder to write to; it is created if needed.", metavar="FOLDER"),
]
Runs = Annotated[
    int, typer.Option(help="Number of simulation runs for each base rate.", metavar="N")
]
Seed = Annotated[int, typer.Option(help="The same seed gives the same files.", metavar="N")]
Data = Annotated[
    list[str] | None,
    typer.Option(
        help="MEDLINE records: one or more files, folders or globs. By default, records are "
        "generated.",
        metavar="PATHS",
    ),
]
Scale = Annotated[
    str,
    typer.Option(
        help="The size of generated data: small, or paper for as many terms and words as there.",
        metavar="NAME",
        autocompletion=lambda incomplete: [s for s in _SCALES if s.startswith(incomplete)],
    ),
]
Work = Annotated[
    str | None,
    typer.Option(
        help="Keep finished stages here; by default in OUT, until all is done.",
        metavar="FOLDER",
    ),
]

_OUT = "paper"
_SCALES = ("small", "paper")


class ManyPaths(Command):
    """A command whose --data takes all words up to the next option as paths.

    The paths keep their order, because an update must come after the file that it updates.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the words as if each path followed a --data of its own."""
        words, of_data = list[str](), False
        for before, word in zip(["", *args], args, strict=False):
            is_option = word.startswith("-")
            if of_data and not is_option and before != "--data":
                words.append("--data")
            of_data = word.partition("=")[0] == "--data" if is_option else of_data
            words.append(word)
        return super().parse_args(ctx, words)


@app.callback(epilog="Example: halfmax reproduce --out paper")
def everything(
    context: typer.Context,
    out: Out = _OUT,
    runs: Runs = RUNS,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Recompute the paper's figures, claims and simulation into a folder with an index page."""
    part = context.invoked_subcommand
    if part is None:
        _reproduce(PARTS, out, runs, seed, quiet, debug)
        return
    for name in context.params:
        if is_set(context, name):
            with running():
                raise ValueError(
                    f"--{name} must come after {part!r}: reproduce {part} --{name} ..."
                )


@app.command(cls=Command, epilog="Example: halfmax reproduce figures --out paper")
def figures(
    out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Draw every figure as PNG and SVG, with a caption that explains it."""
    _reproduce(("figures",), out, runs, seed, quiet, debug)


@app.command(cls=Command, epilog="Example: halfmax reproduce claims --out paper")
def claims(
    out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Compute every numerical claim and compare it with the paper's number."""
    _reproduce(("claims",), out, runs, seed, quiet, debug)


@app.command(cls=Command, epilog="Example: halfmax reproduce curse --runs 10000 --seed 0")
def curse(
    out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0, quiet: Quiet = False, debug: Debug = False
) -> None:
    """Simulate the winner's curse at the paper's size, and over sizes and base rates."""
    _reproduce(("curse",), out, runs, seed, quiet, debug)


@app.command(cls=ManyPaths, epilog="Example: halfmax reproduce mesh --data medline/")
def mesh(
    context: typer.Context,
    data: Data = None,
    scale: Scale = "small",
    out: Out = _OUT,
    rank: Rank = None,
    min_count: MinCount = 1,
    seed: Seed = 0,
    work: Work = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Run the case study: MeSH terms of MEDLINE, and the rules that flood with rare ones."""
    with running(quiet, debug) as run:
        from halfmax.mesh.model.settings import Settings
        from halfmax.paper.folder import prepare_folder
        from halfmax.paper.mesh.write import reproduce_mesh

        settings = Settings(rank=rank, min_count=min_count, seed=seed)
        _check_source(context, data, scale)
        folder = Path(work) if work else prepare_folder(out) / "mesh.work"
        with (
            run.working("reproducing the case study") as bar,
            staged(folder, run, bar, keep=work is not None) as stages,
        ):
            page, study = reproduce_mesh(out, data, scale, settings, stages, bar)
        from halfmax.cli.layout import show
        from halfmax.cli.screens import studied

        show([*studied(study), "", f"Open {page}"], sys.stdout)


def _check_source(context: typer.Context, data: list[str] | None, scale: str) -> None:
    """Refuse wrong options before the folder is created."""
    from halfmax.mesh.records.reading import find_files

    if data:
        refuse_options(context, ["scale"], "is for generated records, and --data names real ones")
        find_files(data)
    elif scale not in _SCALES:
        raise ValueError(f"--scale must be {' or '.join(_SCALES)}; got {scale!r}")


def _reproduce(
    parts: tuple[str, ...], out: str, runs: int, seed: int, quiet: bool, debug: bool
) -> None:
    with running(quiet, debug) as run:
        from halfmax.paper.reproduce import reproduce

        with run.working("reproducing the paper") as bar:
            page, found = reproduce(out, parts, runs, seed, progress=bar)
        from halfmax.cli.layout import show
        from halfmax.cli.screens import claimed, cursed

        claims = claimed(found) if found.claims else []
        curse = cursed(found.curse) if found.curse else []
        show([*claims, *curse, "", f"Open {page}"], sys.stdout)
