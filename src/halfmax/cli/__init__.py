"""The command line: parses arguments, calls the library, prints results."""

from typing import Annotated

try:
    import typer

    from halfmax import __version__
    from halfmax.cli.commands import demo, labelled, mesh, predict, report, reproduce
    from halfmax.cli.options import flag
    from halfmax.cli.run import EXIT_CODES
    from halfmax.cli.usage import Command, Program
except KeyboardInterrupt:  # too early for anything to report or to clean up
    raise SystemExit(130) from None

app = typer.Typer(
    name="halfmax",
    help="Decision thresholds that maximise the F-measure.",
    epilog=f"Exit codes: {EXIT_CODES}. halfmax COMMAND --help has an example of each command.",
    cls=Program,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def _version(
    context: typer.Context,
    version: Annotated[bool, flag("--version", "Show the version and exit.")] = False,
) -> None:
    if version:
        print(f"halfmax {__version__}", flush=True)
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


app.command(
    cls=Command,
    epilog="Example: halfmax tune scores.parquet --guard auto --out thresholds.json",
)(labelled.tune)
app.command(
    cls=Command,
    epilog="Example: halfmax apply thresholds.json new.parquet --out predictions.parquet",
)(predict.apply)
app.command(cls=Command, epilog="Example: halfmax assess scores.parquet --average macro")(
    labelled.assess
)
app.command(cls=Command, epilog="Example: halfmax diagnose scores.parquet --json")(
    labelled.diagnose
)
app.command(
    cls=Command,
    epilog="Example: halfmax decide chances.parquet --average samples --out decisions.csv",
)(predict.decide)
app.command(
    cls=Command,
    epilog="Example: halfmax report thresholds.json --data scores.csv --out report.html",
)(report.report)
app.add_typer(reproduce.app, name="reproduce")
app.add_typer(mesh.app, name="mesh")
app.command(cls=Command, epilog="Example: halfmax demo --report demo.html")(demo.demo)
