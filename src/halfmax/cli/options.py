"""Arguments and options that commands share: their names, help and completion."""

from collections.abc import Container
from typing import Annotated, Any

import typer

_COLUMNS, _GOAL, _OUTPUT = "Columns and files", "What is maximised", "Output"


def flag(name: str, words: str, panel: str | None = None) -> Any:
    """Define a switch, whose help shows no type."""
    return typer.Option(name, help=words, rich_help_panel=panel, metavar="")


def complete_metric(incomplete: str) -> list[str]:
    """Complete the name of a metric; of f<beta>, only the usual ones are offered."""
    from halfmax.metrics.named import NAMED

    return [name for name in ("f1", "f0.5", "f2", *NAMED) if name.startswith(incomplete)]


def complete_expected_metric(incomplete: str) -> list[str]:
    """Complete the name of a metric whose expectation is known."""
    from halfmax.expected.ratio import NAMES

    return [name for name in ("f1", "f0.5", "f2", *NAMES) if name.startswith(incomplete)]


def complete_plain_average(incomplete: str) -> list[str]:
    """Complete the name of an average that needs no truth."""
    from halfmax.metrics.average import AVERAGES

    return [name for name in AVERAGES if name.startswith(incomplete)]


def complete_average(incomplete: str) -> list[str]:
    """Complete the name of an average."""
    from halfmax.metrics.average import AVERAGES, WEIGHTED

    return [name for name in (*AVERAGES, WEIGHTED) if name.startswith(incomplete)]


def complete_guard(incomplete: str) -> list[str]:
    """Complete the name of a guard."""
    from halfmax.metrics.goal import GUARDS

    return [name for name in GUARDS if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Complete the name of a format for standard output."""
    from halfmax.cli.streams import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]


def complete_unknown(incomplete: str) -> list[str]:
    """Complete the treatment of labels without a threshold."""
    from halfmax.tables.apply import UNKNOWN

    return [name for name in UNKNOWN if name.startswith(incomplete)]


def refuse_options(context: typer.Context, names: Container[str], why: str) -> None:
    """Refuse options on the command line that have no meaning here."""
    for option in context.command.params:
        if option.name in names and is_set(context, option.name):
            raise ValueError(f"{'/'.join([option.opts[0], *option.secondary_opts])} {why}")


def is_set(context: typer.Context, name: str) -> bool:
    """Whether an option is on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def chosen(context: typer.Context, *names: str) -> frozenset[str]:
    """Return the names of these options that are on the command line."""
    return frozenset(name for name in names if is_set(context, name))


def _column(name: str, words: str, *more: str, show_default: bool = True) -> Any:
    return typer.Option(
        name,
        *more,
        help=words,
        metavar="COLUMN",
        rich_help_panel=_COLUMNS,
        show_default=show_default,
    )


def _share(name: str, words: str) -> Any:
    return typer.Option(name, help=words, metavar="SHARE", rich_help_panel=_GOAL)


def _rows_or_share(text: str) -> float:
    """Read 1 as one row and 0.5 as half of them; 1.0 stays a float, which is refused."""
    try:
        return int(text) if text.strip().lstrip("+-").isdecimal() else float(text)
    except ValueError:
        raise typer.BadParameter("Input should be a valid number") from None


def _whole(name: str, words: str, panel: str = _GOAL) -> Any:
    return typer.Option(name, help=words, metavar="N", rich_help_panel=panel)


Sources = Annotated[
    list[str],
    typer.Argument(
        metavar="FILES",
        help="Files, folders or globs of Parquet, Arrow or CSV, with a row for each instance and "
        "label; - is standard input: Parquet, Arrow, or CSV, plain or compressed by gzip, bzip2 "
        "or zstd.",
        show_default=False,
    ),
]
Label = Annotated[
    str, _column("--label", "The label of the row. Tables of one classifier have no such column.")
]
Score = Annotated[
    str,
    _column(
        "--score",
        "The score; higher means more likely. If no column is called 'score', it is found by its "
        "values.",
        show_default=False,
    ),
]
Truth = Annotated[
    str,
    _column(
        "--truth",
        "The truth, two classes such as 0/1 or yes/no. If no column is called 'truth', it is found "
        "by its values.",
        show_default=False,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        help="The positive class, such as yes; needed if the classes have names.",
        metavar="CLASS",
        rich_help_panel=_COLUMNS,
    ),
]
Weight = Annotated[str | None, _column("--weight", "The weight of the row.")]
Instance = Annotated[
    str | None,
    _column("--instance", "The id of the instance; by default 'instance', if it exists.", "--id"),
]
Probability = Annotated[
    str | None,
    _column(
        "--probability",
        "The calibrated probability; by default 'probability' or 'score'.",
        "--score",
    ),
]
Prediction = Annotated[str, _column("--prediction", "The name of the new column of 0/1.")]
Binary = Annotated[
    bool, flag("--binary", "One classifier: the table has no column of labels.", _COLUMNS)
]
TruthFile = Annotated[
    str | None,
    typer.Option(
        "--truth-file",
        help="For wide files, which have a column for each label and a row for each instance: the "
        "truth of FILES, in columns of the same names. Rows are matched by --id, or by position.",
        metavar="FILE",
        rich_help_panel=_COLUMNS,
    ),
]
Wide = Annotated[
    bool,
    flag("--wide", "FILES has a column for each label and a row for each instance.", _COLUMNS),
]
Metric = Annotated[
    str,
    typer.Option(
        help="f1, any f<beta>, jaccard, accuracy, precision, recall, mcc, balanced_accuracy, "
        "youden, kappa, gmean, specificity, npv or fowlkes_mallows.",
        metavar="NAME",
        autocompletion=complete_metric,
        rich_help_panel=_GOAL,
    ),
]
Average = Annotated[
    str,
    typer.Option(
        help="macro, the mean over labels; micro, pooled counts; samples, the mean over instances; "
        "weighted, the mean over labels weighted by their positives.",
        metavar="NAME",
        autocompletion=complete_average,
        rich_help_panel=_GOAL,
    ),
]
ExpectedMetric = Annotated[
    str,
    typer.Option(
        "--metric",
        help="f1, any f<beta>, jaccard, accuracy, precision or recall.",
        metavar="NAME",
        autocompletion=complete_expected_metric,
        rich_help_panel=_GOAL,
    ),
]
PlainAverage = Annotated[
    str,
    typer.Option(
        "--average",
        help="macro, the mean over labels; micro, pooled counts; samples, the mean over instances.",
        metavar="NAME",
        autocompletion=complete_plain_average,
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
MinPrecision = Annotated[
    float | None, _share("--min-precision", "The lowest precision (PPV) allowed, from 0 to 1.")
]
MinRecall = Annotated[
    float | None, _share("--min-recall", "The lowest recall (sensitivity) allowed, from 0 to 1.")
]
MinSpecificity = Annotated[
    float | None, _share("--min-specificity", "The lowest specificity allowed, from 0 to 1.")
]
MaxPredicted = Annotated[
    float | None,
    typer.Option(
        "--max-predicted",
        parser=_rows_or_share,
        help="The most of the rows tuned on that may be predicted for each label: a number, or a "
        "share below 1, which means as much for files of another size.",
        metavar="ROWS",
        rich_help_panel=_GOAL,
    ),
]
Cost = Annotated[
    str | None,
    typer.Option(
        "--cost",
        help="Minimise costs instead of a metric, such as fp=1,fn=10; tp and tn may cost, too.",
        metavar="COSTS",
        rich_help_panel=_GOAL,
    ),
]
ZeroDivision = Annotated[
    float, _share("--zero-division", "The value of 0/0; nan leaves it out of averages.")
]
MinK = Annotated[int, _whole("--min-k", "Predict at least this many items in each batch.")]
MaxK = Annotated[int | None, _whole("--max-k", "Predict at most this many items in each batch.")]
Resamples = Annotated[int, _whole("--resamples", "Number of bootstrap resamples.")]
PageResamples = Annotated[
    int | None,
    _whole("--resamples", "Number of bootstrap resamples; 1,000 for up to 50 labels, else 200."),
]
Level = Annotated[float, _share("--level", "The coverage of intervals, such as 0.95.")]
Seed = Annotated[int, _whole("--seed", "The same seed gives the same answer.")]
Instances = Annotated[
    int | None,
    _whole("--n-instances", "Number of instances, if some have no rows.", _COLUMNS),
]
Duplicates = Annotated[
    bool | None,
    typer.Option(
        "--check-duplicates/--trust-rows",
        help="Refuse two rows of the same instance and label, or trust that there are none.",
        metavar="",
        rich_help_panel=_COLUMNS,
    ),
]
OnlyPredicted = Annotated[bool, flag("--only-predicted", "Write predicted rows only.", _OUTPUT)]
Out = Annotated[
    str,
    typer.Option(
        help="The file to write: .parquet, .arrow, .csv or .csv.gz. By default, standard output.",
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
    str, typer.Argument(metavar="THRESHOLDS", help="The file that tune wrote; - is standard input.")
]
Report = Annotated[
    str | None,
    typer.Option(
        "--report",
        help="Write an interactive report, .html.",
        metavar="FILE",
        rich_help_panel=_OUTPUT,
    ),
]
Title = Annotated[
    str | None,
    typer.Option(
        "--title", help="The title of the report.", metavar="TITLE", rich_help_panel=_OUTPUT
    ),
]
QuickReport = Annotated[
    bool,
    flag(
        "--quick-report",
        "Leave out of the report what new data will show, which takes longest.",
        _OUTPUT,
    ),
]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="Of standard output: csv (the default) or arrow.",
        metavar="NAME",
        autocompletion=complete_format,
        rich_help_panel=_OUTPUT,
    ),
]
Force = Annotated[bool, flag("--force", "Overwrite existing files, but never the input.", _OUTPUT)]
Quiet = Annotated[
    bool, flag("--quiet", "Show no progress, and no summary if a file is written.", _OUTPUT)
]
Json = Annotated[bool, flag("--json", "Print one JSON document instead of the summary.", _OUTPUT)]
Debug = Annotated[bool, flag("--debug", "Show the traceback of an error.", _OUTPUT)]
