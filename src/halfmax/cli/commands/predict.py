"""The commands that predict: apply thresholds, or decide without labels."""

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.outcome import refuse_two_outputs, report
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Run, running
from halfmax.cli.streams import STANDARD, check_table_out, incoming, outgoing
from halfmax.cli.thresholds_files import refuse_swapped, refuse_thresholds

if TYPE_CHECKING:
    from halfmax.expected.decision import Decision
    from halfmax.tuning.thresholds import Thresholds

Unknown = Annotated[
    str,
    typer.Option(
        help="For labels without a threshold: error (refuse), never (do not predict them) or "
        "ignore (leave them out).",
        metavar="NAME",
        autocompletion=o.complete_unknown,
        rich_help_panel="Output",
    ),
]
_OF_LONG = ("label", "score", "probability", "prediction", "only_predicted", "binary")


class WrittenPredictions(NamedTuple):
    """The numbers of rows written, of predictions and of rows read, and the decision if any."""

    rows: int
    predicted: int
    rows_read: int
    decision: "Decision | None" = None


class PredictionOutput(NamedTuple):
    """The file of predictions and its format, and how they are reported."""

    out: str
    form: str | None
    force: bool
    as_json: bool


def apply(
    context: typer.Context,
    thresholds: o.ThresholdsFile,
    sources: o.Sources,
    out: o.Out = STANDARD,
    form: o.Format = None,
    force: o.Force = False,
    only_predicted: o.OnlyPredicted = False,
    unknown: Unknown = "error",
    label: o.Label = "label",
    score: o.Score = "score",
    prediction: o.Prediction = "predicted",
    instance: o.Instance = None,
    wide: o.Wide = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Predict from new scores with the thresholds that tune found."""

    def make(run: Run, bar: Bar, path: str) -> WrittenPredictions:
        import halfmax as hm
        from halfmax.cli.column_finder import Roles, find_columns

        refuse_swapped(thresholds, sources, run)
        with incoming([thresholds, *sources], run) as (file, *paths):
            tuned = hm.Thresholds.load(file)
            if wide or _looks_wide(tuned, paths, label):
                _refuse_of_wide(context)
                return _apply_wide(tuned, _one_file(paths), instance, path, unknown)
            o.refuse_options(context, ["instance"], "is for wide tables, and this one is long")
            chosen = o.chosen(context, "score")
            typed = {"score": score} if chosen else {}
            roles = Roles(None, score, None, (label,), chosen, typed)
            written = hm.apply_table(
                tuned,
                paths,
                path,
                label=label,
                score=find_columns(paths, roles, run).score,
                prediction=prediction,
                only_predicted=only_predicted,
                unknown=unknown,
                progress=bar,
            )
            return WrittenPredictions(written.rows, written.predicted, written.rows_read)

    with running(quiet, debug) as run:
        _write(
            "apply", make, run, PredictionOutput(out, form, force, as_json), [thresholds, *sources]
        )


def decide(
    context: typer.Context,
    sources: o.Sources,
    out: o.Out = STANDARD,
    average: o.PlainAverage = "macro",
    metric: o.ExpectedMetric = "f1",
    min_k: o.MinK = 0,
    max_k: o.MaxK = None,
    zero_division: o.ZeroDivision = 0.0,
    form: o.Format = None,
    force: o.Force = False,
    only_predicted: o.OnlyPredicted = False,
    label: o.Label = "label",
    probability: o.Probability = None,
    prediction: o.Prediction = "predicted",
    instance: o.Instance = None,
    binary: o.Binary = False,
    wide: o.Wide = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Choose predictions that maximise the expected metric, from probabilities alone."""
    goal: dict[str, Any] = {"metric": metric, "average": average, "zero_division": zero_division}
    goal |= {"min_k": min_k, "max_k": max_k}

    def make(run: Run, bar: Bar, path: str) -> WrittenPredictions:
        import halfmax as hm

        refuse_thresholds(sources)
        with incoming(sources, run) as paths:
            if wide:
                _refuse_of_wide(context)
                return _decide_wide(_one_file(paths), instance, path, progress=bar, **goal)
            written: Any = hm.decide_table(
                paths,
                path,
                instance=instance or "instance",
                label=None if binary else label,
                probability=probability,
                prediction=prediction,
                only_predicted=only_predicted,
                progress=bar,
                **goal,
            )
            return WrittenPredictions(
                written.rows, written.predicted, written.rows_read, written.decision
            )

    with running(quiet, debug) as run:
        _write("decide", make, run, PredictionOutput(out, form, force, as_json), sources)


def _write(
    name: str,
    make: Callable[[Run, Bar, str], WrittenPredictions],
    run: Run,
    to: PredictionOutput,
    sources: list[str],
) -> None:
    """Write predictions to a file that appears when it is complete, then report them."""
    refuse_two_outputs(to.out, to.as_json)
    ending = check_table_out(to.out, to.form, to.force)
    refuse_own_input({"--out": to.out}, sources)
    with outgoing(to.out, ending, to.force, run) as path, run.working(f"{name}: reading") as bar:
        written = make(run, bar, path)
    report(name, written, run, to.as_json, to.out)


def _looks_wide(tuned: "Thresholds", paths: list[str], label: str) -> bool:
    """Whether there is one file, with a column for each label and no column of labels."""
    from halfmax.cli.wide import columns_of

    if len(paths) > 1 or not os.path.isfile(paths[0]) or tuned.labels is None:
        return False
    names = set(columns_of(paths[0]))
    return label not in names and not names.isdisjoint(map(str, tuned.labels))


def _one_file(paths: list[str]) -> str:
    if len(paths) > 1:
        raise ValueError(f"a wide table must be one file; got {len(paths):,}")
    return paths[0]


def _refuse_of_wide(context: typer.Context) -> None:
    o.refuse_options(context, _OF_LONG, "is for long tables, and this one is wide")


def _apply_wide(
    tuned: "Thresholds", source: str, instance: str | None, path: str, unknown: str
) -> WrittenPredictions:
    from halfmax.cli.wide import (
        named_as_columns,
        never_predicting,
        read_scores,
        read_wide,
        write_wide,
    )
    from halfmax.tables.apply import check_unknown

    check_unknown(unknown)
    tuned = named_as_columns(tuned)
    if tuned.labels is None:
        scores = read_wide(source, instance)
    else:
        scores = read_scores(source, instance, list(map(str, tuned.labels)), unknown)
        tuned = never_predicting(tuned, scores.names)
    predictions = tuned.predict(scores.labels)
    write_wide(scores.with_ids(predictions), path)
    predicted = sum(int(column.to_numpy().sum()) for column in predictions.columns)
    return WrittenPredictions(scores.rows, predicted, scores.rows)


def _decide_wide(
    source: str, instance: str | None, path: str, **options: Any
) -> WrittenPredictions:
    import halfmax as hm
    from halfmax.cli.wide import read_wide, refuse_ids, write_wide

    wide = read_wide(source, instance)
    refuse_ids(wide, 1, "probabilities, from 0 to 1")
    decision = hm.decide(wide.labels, **options)
    write_wide(wide.with_ids(decision.predictions), path)
    return WrittenPredictions(wide.rows, int(decision.counts.sum()), wide.rows, decision)
