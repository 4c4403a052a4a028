"""Options that commands share: their names, help and completion."""

from collections.abc import Container
from typing import Annotated, Any

import typer

_COLUMNS, _GOAL, _OUTPUT = "Columns and files", "What is maximised", "Output"


def flag(name: str, words: str, panel: str | None = None) -> Any:
    """A switch, without a word for its type in the help."""
    return typer.Option(name, help=words, rich_help_panel=panel, metavar="")


def complete_metric(incomplete: str) -> list[str]:
    """Names of metrics; any f<beta> is one, of which these are most in use."""
    names = ("f1", "f0.5", "f2", "jaccard", "accuracy", "precision", "recall")
    return [name for name in names if name.startswith(incomplete)]


def complete_average(incomplete: str) -> list[str]:
    """Names of averages."""
    from halfmax.metrics.average import AVERAGES

    return [name for name in AVERAGES if name.startswith(incomplete)]


def complete_guard(incomplete: str) -> list[str]:
    """Names of guards."""
    from halfmax.metrics.goal import GUARDS

    return [name for name in GUARDS if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Names of formats that go through a pipe."""
    from halfmax.cli.streams import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def complete_unknown(incomplete: str) -> list[str]:
    """What can happen to labels without a threshold."""
    from halfmax.tables.apply import UNKNOWN

    return [name for name in UNKNOWN if name.startswith(incomplete)]


def refuse_given(context: typer.Context, names: Container[str], why: str) -> None:
    """Refuse options that mean nothing here, if they were given."""
    for option in context.command.params:
        if option.name in names and was_given(context, option.name):
            raise ValueError(f"{'/'.join([option.opts[0], *option.secondary_opts])} {why}")


def was_given(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _column(name: str, words: str, *more: str) -> Any:
    return typer.Option(name, *more, help=words, metavar="COLUMN", rich_help_panel=_COLUMNS)


def _share(name: str, words: str) -> Any:
    return typer.Option(name, help=words, metavar="SHARE", rich_help_panel=_GOAL)


def _whole(name: str, words: str, panel: str = _GOAL) -> Any:
    return typer.Option(name, help=words, metavar="N", rich_help_panel=panel)


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Files, folders or globs of Parquet, Arrow or CSV, with a row for each instance and "
        "label; - is standard input: Parquet, Arrow, or CSV, as it is or packed by gzip, bzip2 or "
        "zstd.",
        show_default=False,
    ),
]
Label = Annotated[str, _column("--label", "Which label a row is about.")]
Score = Annotated[str, _column("--score", "Higher means more likely.")]
Truth = Annotated[str, _column("--truth", "0/1 or bool.")]
Weight = Annotated[str | None, _column("--weight", "A weight for each row.")]
Instance = Annotated[
    str | None,
    _column("--instance", "The instance's id; 'instance' is used if it is there.", "--id"),
]
Probability = Annotated[
    str | None,
    _column("--probability", "Calibrated; 'probability', or 'score' if not there.", "--score"),
]
Prediction = Annotated[str, _column("--prediction", "What the new column of 0/1 is called.")]
Binary = Annotated[
    bool, flag("--binary", "One classifier: there is no column of labels.", _COLUMNS)
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth-file",
        help="For wide files, a column for each label and a row for each instance: the truth of "
        "FILES, in columns of the same names. Rows are matched by --id, or by place.",
        metavar="FILE",
        rich_help_panel=_COLUMNS,
    ),
]
Wide = Annotated[
    bool,
    flag("--wide", "A column for each label, a row for each instance.", _COLUMNS),
]
Metric = Annotated[
    str,
    typer.Option(
        help="f1, any f<beta>, jaccard, accuracy, precision or recall.",
        metavar="NAME",
        autocompletion=complete_metric,
        rich_help_panel=_GOAL,
    ),
]
Average = Annotated[
    str,
    typer.Option(
        help="macro, the mean over labels; micro, pooled counts; samples, the mean over instances.",
        metavar="NAME",
        autocompletion=complete_average,
        rich_help_panel=_GOAL,
    ),
]
Guard = Annotated[
    str | None,
    typer.Option(
        help="auto for thresholds that hold on new data; calibrated, smooth, never, fbr:0.1.",
        metavar="NAME",
        autocompletion=complete_guard,
        rich_help_panel=_GOAL,
    ),
]
Shared = Annotated[bool, flag("--shared", "One threshold for all labels.", _GOAL)]
MinPrecision = Annotated[float | None, _share("--min-precision", "A floor, from 0 to 1.")]
MinRecall = Annotated[float | None, _share("--min-recall", "A floor, from 0 to 1.")]
ZeroDivision = Annotated[
    float, _share("--zero-division", "What 0/0 counts as; nan leaves it out of averages.")
]
MinK = Annotated[int, _whole("--min-k", "Predict at least so many of each batch.")]
MaxK = Annotated[int | None, _whole("--max-k", "Predict at most so many of each batch.")]
Resamples = Annotated[int, _whole("--resamples", "How often the rows are drawn again.")]
Level = Annotated[float, _share("--level", "The share of intervals that hold the truth.")]
Seed = Annotated[int, _whole("--seed", "The same seed gives the same answer.")]
Instances = Annotated[
    int | None,
    _whole("--n-instances", "How many instances there are, if not all have rows.", _COLUMNS),
]
Duplicates = Annotated[
    bool | None,
    typer.Option(
        "--check-duplicates/--trust-rows",
        help="Refuse an instance with two rows for a label, or trust that there is none.",
        metavar="",
        rich_help_panel=_COLUMNS,
    ),
]
OnlyPredicted = Annotated[bool, flag("--only-predicted", "Write predicted rows only.", _OUTPUT)]
Out = Annotated[
    str,
    typer.Option(
        help="The file to write: .parquet, .arrow, .csv or .csv.gz; - is standard output.",
        metavar="FILE",
        rich_help_panel=_OUTPUT,
        show_default=False,
    ),
]
ThresholdsOut = Annotated[
    str | None,
    typer.Option(
        "--out",
        help="The file of thresholds to write, JSON; - is standard output.",
        metavar="FILE",
        rich_help_panel=_OUTPUT,
    ),
]
ThresholdsFile = Annotated[
    str, typer.Argument(metavar="THRESHOLDS", help="What tune wrote; - is standard input.")
]
Report = Annotated[
    str | None,
    typer.Option(
        "--report",
        help="A page to write, .html: what was found, to look at and to play with.",
        metavar="FILE",
        rich_help_panel=_OUTPUT,
    ),
]
Title = Annotated[
    str | None,
    typer.Option("--title", help="Of the page.", metavar="TEXT", rich_help_panel=_OUTPUT),
]
QuickReport = Annotated[
    bool,
    flag(
        "--quick-report",
        "Leave out of the page what new data will show, which takes longest.",
        _OUTPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Of standard output: csv (if not given) or arrow.",
        metavar="NAME",
        autocompletion=complete_format,
        rich_help_panel=_OUTPUT,
    ),
]
Force = Annotated[bool, flag("--force", "Overwrite other files than the input.", _OUTPUT)]
Quiet = Annotated[bool, flag("--quiet", "No progress; no summary beside a file.", _OUTPUT)]
Json = Annotated[bool, flag("--json", "One JSON document instead of the summary.", _OUTPUT)]
Debug = Annotated[bool, flag("--debug", "Show where an error comes from.", _OUTPUT)]
