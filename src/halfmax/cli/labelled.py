"""Commands that learn from labelled scores: tune, assess, diagnose."""

from typing import Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.reporting import refuse_two_outputs, report
from halfmax.cli.running import Run, running
from halfmax.cli.streams import STANDARD, incoming, outgoing

_OF_LONG = ("label", "score", "truth", "binary", "n_instances", "check_duplicates")


class Given(NamedTuple):
    """Labelled scores, long or with a truth file wide, and the columns that they are in."""

    context: typer.Context
    sources: list[str]
    label: str
    score: str
    truth: str
    instance: str | None
    weight: str | None
    truth_file: str | None
    binary: bool
    check_duplicates: bool | None

    @property
    def columns(self) -> dict[str, Any]:
        """Of a long table, as the library calls them."""
        named = {"instance": self.instance, "weight": self.weight}
        return {
            "label": None if self.binary else self.label,
            "score": self.score,
            "truth": self.truth,
            "check_duplicates": self.check_duplicates,
            **{role: name for role, name in named.items() if name is not None},
        }


def tune(
    context: typer.Context,
    sources: o.Sources,
    average: o.Average = "macro",
    metric: o.Metric = "f1",
    guard: o.Guard = None,
    shared: o.Shared = False,
    min_precision: o.MinPrecision = None,
    min_recall: o.MinRecall = None,
    zero_division: o.ZeroDivision = 0.0,
    label: o.Label = "label",
    score: o.Score = "score",
    truth: o.Truth = "truth",
    instance: o.Instance = None,
    weight: o.Weight = None,
    binary: o.Binary = False,
    n_instances: o.Instances = None,
    check_duplicates: o.Duplicates = None,
    truth_file: o.TruthFile = None,
    out: o.ThresholdsOut = None,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Find the thresholds with the highest metric, exactly, from labelled scores."""
    columns = label, score, truth, instance, weight
    given = Given(context, sources, *columns, truth_file, binary, check_duplicates)
    goal = {"metric": metric, "average": average, "guard": guard, "per_label": not shared}
    rest = {"min_precision": min_precision, "min_recall": min_recall}
    rest |= _if_given(n_instances)
    with running(quiet, debug) as run:
        refuse_two_outputs(out, as_json)
        if out is None:
            tuned = _ask("tune", given, run, zero_division=zero_division, **goal, **rest)
        else:
            _check_thresholds_out(out, force)
            with outgoing(out, ".json", force, run) as path:
                tuned = _ask("tune", given, run, zero_division=zero_division, **goal, **rest)
                tuned.save(path)
        report("tune", tuned, run, as_json, out)


def assess(
    context: typer.Context,
    sources: o.Sources,
    average: o.Average = "macro",
    metric: o.Metric = "f1",
    guard: o.Guard = None,
    shared: o.Shared = False,
    zero_division: o.ZeroDivision = 0.0,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    label: o.Label = "label",
    score: o.Score = "score",
    truth: o.Truth = "truth",
    instance: o.Instance = None,
    weight: o.Weight = None,
    binary: o.Binary = False,
    n_instances: o.Instances = None,
    check_duplicates: o.Duplicates = None,
    truth_file: o.TruthFile = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say what thresholds tuned on these scores will show on new data, with intervals."""
    columns = label, score, truth, instance, weight
    given = Given(context, sources, *columns, truth_file, binary, check_duplicates)
    goal = {"metric": metric, "average": average, "guard": guard, "per_label": not shared}
    draws = {"n_resamples": resamples, "level": level, "seed": seed, **_if_given(n_instances)}
    with running(quiet, debug) as run:
        found = _ask("assess", given, run, zero_division=zero_division, **goal, **draws)
        report("assess", found, run, as_json)


def diagnose(
    context: typer.Context,
    sources: o.Sources,
    metric: o.Metric = "f1",
    zero_division: o.ZeroDivision = 0.0,
    resamples: o.Resamples = 200,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    label: o.Label = "label",
    score: o.Score = "score",
    truth: o.Truth = "truth",
    instance: o.Instance = None,
    binary: o.Binary = False,
    check_duplicates: o.Duplicates = None,
    truth_file: o.TruthFile = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say which labels will misbehave on new data, and why, the most harmful first."""
    columns = label, score, truth, instance, None
    given = Given(context, sources, *columns, truth_file, binary, check_duplicates)
    draws = {"n_resamples": resamples, "level": level, "seed": seed}
    with running(quiet, debug) as run:
        found = _ask("diagnose", given, run, metric=metric, zero_division=zero_division, **draws)
        report("diagnose", found, run, as_json)


def _if_given(n_instances: int | None) -> dict[str, Any]:
    """Functions for wide arrays do not have it."""
    return {} if n_instances is None else {"n_instances": n_instances}


def _ask(name: str, given: Given, run: Run, **wanted: Any) -> Any:
    """What the function of that name says of the table, or its twin for arrays of wide files."""
    with run.working(f"{name}: reading") as bar:
        if given.truth_file is not None:
            return _ask_of_wide(name, given, run, bar, wanted)
        import halfmax as hm

        with incoming(given.sources, run) as paths:
            return getattr(hm, f"{name}_table")(paths, progress=bar, **given.columns, **wanted)


def _ask_of_wide(name: str, given: Given, run: Run, bar: Bar, wanted: dict[str, Any]) -> Any:
    import halfmax as hm
    from halfmax.cli.wide import in_order_of, read_wide

    o.refuse_given(given.context, _OF_LONG, "is for long tables, and with --truth-file it is wide")
    if len(given.sources) > 1:
        raise ValueError(f"--truth-file takes one file of scores; got {len(given.sources):,}")
    with incoming([*given.sources, str(given.truth_file)], run) as (score_path, truth_path):
        scores = read_wide(score_path, given.instance)
        truth = in_order_of(scores, read_wide(truth_path, given.instance, given.weight))
    bar.begin(f"{name}: {scores.rows:,} rows")
    if given.weight is not None:
        wanted["sample_weight"] = truth.weights
    if name != "tune":
        wanted["progress"] = bar
    return getattr(hm, name)(truth.labels, scores.labels, **wanted)


def _check_thresholds_out(out: str, force: bool) -> None:
    from halfmax._files import check_writable

    if out != STANDARD:
        check_writable(out, force)
