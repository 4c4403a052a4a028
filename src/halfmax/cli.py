"""The command line: it parses, calls and prints."""

import sys
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from halfmax import __version__
from halfmax.studies import PARTS, RUNS

if TYPE_CHECKING:
    from halfmax.studies.curse import Curse
    from halfmax.studies.reproduce import Reproduction

app = typer.Typer(
    name="halfmax",
    help="Decision thresholds that maximise the F-measure.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
paper = typer.Typer(invoke_without_command=True)
app.add_typer(paper, name="reproduce")

Out = Annotated[str, typer.Option(help="The folder to write into; it is made if need be.")]
Runs = Annotated[int, typer.Option(help="Runs of the winner's curse for each base rate.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same files.")]

_OUT = "paper"


def _plain_errors(command: Callable[..., None]) -> Callable[..., None]:
    """What is wrong with the input is one line and an exit code, not a traceback."""

    @wraps(command)
    def run(*values: Any, **options: Any) -> None:
        try:
            command(*values, **options)
        except BrokenPipeError:
            raise  # whoever read the output has seen enough, which typer knows how to take
        except (ValueError, OSError, ImportError) as error:
            print(f"halfmax: {error}", file=sys.stderr)
            raise typer.Exit(2) from None
        except KeyboardInterrupt:
            print("halfmax: stopped", file=sys.stderr)
            raise typer.Exit(130) from None

    return run


@app.callback(invoke_without_command=True)
def _version(
    version: Annotated[bool, typer.Option("--version", help="Show the version and stop.")] = False,
) -> None:
    if version:
        print(f"halfmax {__version__}")
        raise typer.Exit


@app.command(epilog="Example: halfmax demo")
@_plain_errors
def demo() -> None:
    """Tune a binary and a multilabel classifier on data that come with scikit-learn."""
    from halfmax.demo import main

    main()


@paper.callback(epilog="Example: halfmax reproduce --out paper")
@_plain_errors
def everything(context: typer.Context, out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0) -> None:
    """Recompute the paper's figures, claims and simulation into a folder with an index page."""
    part = context.invoked_subcommand
    if part is None:
        _reproduce(PARTS, out, runs, seed)
        return
    for name in context.params:
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            raise ValueError(f"--{name} must come after {part!r}: reproduce {part} --{name} ...")


@paper.command(epilog="Example: halfmax reproduce figures --out paper")
@_plain_errors
def figures(out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0) -> None:
    """Draw every figure as PNG and SVG, with a caption that says what to see."""
    _reproduce(("figures",), out, runs, seed)


@paper.command(epilog="Example: halfmax reproduce claims --out paper")
@_plain_errors
def claims(out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0) -> None:
    """Compute every numerical claim and set it beside the paper's number."""
    _reproduce(("claims",), out, runs, seed)


@paper.command(epilog="Example: halfmax reproduce curse --runs 10000 --seed 0")
@_plain_errors
def curse(out: Out = _OUT, runs: Runs = RUNS, seed: Seed = 0) -> None:
    """Simulate the winner's curse at the paper's size, and over sizes and base rates."""
    _reproduce(("curse",), out, runs, seed)


def _reproduce(parts: tuple[str, ...], out: str, runs: int, seed: int) -> None:
    from halfmax.studies.reproduce import reproduce

    page, found = reproduce(out, parts, runs, seed, progress=True)
    if found.claims:
        _print_claims(found)
    if found.curse:
        _print_curse(found.curse)
    print(f"\nOpen {page}")


def _print_claims(found: "Reproduction") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from halfmax.studies.claim import shown_number

    table = Table(title="The paper's claims", expand=True)
    for name in ("claim", "the paper", "ours", "verdict"):
        table.add_column(name, overflow="fold")
    for claim in found.claims:
        words = Text(f"{claim.where}: {claim.statement}")
        if claim.grade:
            words.append(f"\n{claim.why}", style="italic")
        verdict = f"{claim.verdict}, {claim.grade}" if claim.grade else claim.verdict
        cells = shown_number(claim.paper), shown_number(claim.ours), verdict
        table.add_row(words, *map(Text, cells), style="dark_orange3" if claim.grade else None)
    Console().print(table)
    print(f"{found.agreeing} of {len(found.claims)} claims agree; the others say why they do not:")
    for grade, claims in found.differing.items():
        print(f"  {len(claims):2} {grade}")


def _print_curse(curse: "Curse") -> None:
    from halfmax.studies.claim import shown_number
    from halfmax.table import Table

    print(f"The fraction predicted positive, {curse.runs:,} runs of {curse.n:,} examples:\n")
    rows = curse.summary()
    print(Table({name: [shown_number(row[name]) for row in rows] for name in rows[0]}))
    print('\n"law" is the limit of "below half" for many positives; with few it does not hold.')
