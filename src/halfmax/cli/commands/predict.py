"""Commands that predict: apply thresholds, or decide without labels."""

import os
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.outcome import refuse_two_outputs, report
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Run, running
from halfmax.cli.streams import check_table_out, incoming, outgoing

if TYPE_CHECKING:
    from halfmax.cli.wide import Wide
    from halfmax.expected.decision import Decision
    from halfmax.tuning.thresholds import Thresholds

Unknown = Annotated[
    str,
    typer.Option(
        help="For labels without a threshold: error, or never, which does not predict them.",
        metavar="NAME",
        autocompletion=o.complete_unknown,
        rich_help_panel="Output",
    ),
]
_OF_LONG = ("label", "score", "probability", "prediction", "only_predicted", "binary")


class Made(NamedTuple):
    """Predictions that were written: rows, 1s in them, rows that were read, what led to them."""

    rows: int
    predicted: int
    rows_read: int
    decision: "Decision | None" = None


class Target(NamedTuple):
    """Where predictions go, and in which form they are reported."""

    out: str
    form: str | None
    force: bool
    as_json: bool


def apply(
    context: typer.Context,
    thresholds: o.ThresholdsFile,
    sources: o.Sources,
    out: o.Out,
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
    """Predict new scores by the thresholds that tune has found."""

    def make(run: Run, bar: Bar, path: str) -> Made:
        import halfmax as hm

        with incoming([thresholds, *sources], run) as (file, *paths):
            tuned = hm.Thresholds.load(file)
            if wide or _looks_wide(tuned, paths, label):
                _refuse_of_wide(context)
                return _apply_wide(tuned, _one_wide(paths, instance), path, unknown)
            o.refuse_given(context, ["instance"], "is for wide tables, and this one is long")
            written = hm.apply_table(
                tuned,
                paths,
                path,
                label=label,
                score=score,
                prediction=prediction,
                only_predicted=only_predicted,
                unknown=unknown,
                progress=bar,
            )
            return Made(written.rows, written.predicted, written.rows_read)

    with running(quiet, debug) as run:
        _write("apply", make, run, Target(out, form, force, as_json), [thresholds, *sources])


def decide(
    context: typer.Context,
    sources: o.Sources,
    out: o.Out,
    average: o.Average = "macro",
    metric: o.Metric = "f1",
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
    """Predict what maximises the expected metric, from calibrated probabilities alone."""
    goal: dict[str, Any] = {"metric": metric, "average": average, "zero_division": zero_division}
    goal |= {"min_k": min_k, "max_k": max_k}

    def make(run: Run, bar: Bar, path: str) -> Made:
        import halfmax as hm

        with incoming(sources, run) as paths:
            if wide:
                _refuse_of_wide(context)
                return _decide_wide(_one_wide(paths, instance), path, progress=bar, **goal)
            made: Any = hm.decide_table(
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
            return Made(made.rows, made.predicted, made.rows_read, made.decision)

    with running(quiet, debug) as run:
        _write("decide", make, run, Target(out, form, force, as_json), sources)


def _write(
    name: str, make: Callable[[Run, Bar, str], Made], run: Run, to: Target, sources: list[str]
) -> None:
    """Make predictions in a file that appears when it is whole, then say what was made."""
    refuse_two_outputs(to.out, to.as_json)
    ending = check_table_out(to.out, to.form, to.force)
    refuse_own_input({"--out": to.out}, sources)
    with outgoing(to.out, ending, to.force, run) as path, run.working(f"{name}: reading") as bar:
        made = make(run, bar, path)
    report(name, made, run, to.as_json, to.out)


def _looks_wide(tuned: "Thresholds", paths: list[str], label: str) -> bool:
    """Whether one file has a column for each label, and none that says which label a row has."""
    from halfmax.cli.wide import columns_of

    if len(paths) > 1 or not os.path.isfile(paths[0]) or tuned.labels is None:
        return False
    names = set(columns_of(paths[0]))
    return label not in names and names.issuperset(map(str, tuned.labels))


def _one_wide(paths: list[str], instance: str | None) -> "Wide":
    from halfmax.cli.wide import read_wide

    if len(paths) > 1:
        raise ValueError(f"a wide table must be one file; got {len(paths):,}")
    return read_wide(paths[0], instance)


def _refuse_of_wide(context: typer.Context) -> None:
    o.refuse_given(context, _OF_LONG, "is for long tables, and this one is wide")


def _apply_wide(tuned: "Thresholds", scores: "Wide", path: str, unknown: str) -> Made:
    from halfmax.cli.wide import named_as_columns, write_wide
    from halfmax.tables.apply import UNKNOWN

    if unknown not in UNKNOWN:
        raise ValueError(f"--unknown must be {' or '.join(UNKNOWN)}; got {unknown!r}")
    tuned = named_as_columns(tuned)
    if tuned.labels is not None and unknown == "never":
        tuned = _with_strangers(tuned, scores.labels.column_names)
    predictions = tuned.predict(scores.labels)
    write_wide(scores.with_ids(predictions), path)
    predicted = sum(int(column.to_numpy().sum()) for column in predictions.columns)
    return Made(scores.rows, predicted, scores.rows)


def _with_strangers(tuned: "Thresholds", names: list[str]) -> "Thresholds":
    """Thresholds that no score reaches for the other columns."""
    import numpy as np

    known = dict.fromkeys(tuned.labels or ())
    strangers = [name for name in names if name not in known]
    never = np.full(len(strangers), np.inf)
    return replace(
        tuned, labels=(*known, *strangers), thresholds=np.append(tuned.thresholds, never)
    )


def _decide_wide(given: "Wide", path: str, **wanted: Any) -> Made:
    import halfmax as hm
    from halfmax.cli.wide import write_wide

    decision = hm.decide(given.labels, **wanted)
    write_wide(given.with_ids(decision.predictions), path)
    return Made(given.rows, int(decision.counts.sum()), given.rows, decision)
