"""Commands that learn from labelled scores: tune, assess, diagnose."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from halfmax.cli import options as o
from halfmax.cli.bar import Bar
from halfmax.cli.reporting import refuse_two_outputs, report
from halfmax.cli.running import Run, running
from halfmax.cli.streams import STANDARD, incoming, outgoing


class Given(NamedTuple):
    """Labelled scores, long or with a truth file wide, and the columns that they are in."""

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
    given = Given(
        sources, label, score, truth, instance, weight, truth_file, binary, check_duplicates
    )
    goal = {"metric": metric, "average": average, "guard": guard, "per_label": not shared}
    rest = {"min_precision": min_precision, "min_recall": min_recall}
    if n_instances is not None:
        rest["n_instances"] = n_instances
    with running(quiet, debug) as run:
        refuse_two_outputs(out, as_json)
        if out is None:
            tuned = _ask("tune", given, run, zero_division=zero_division, **goal, **rest)
        else:
            with _thresholds_file(out, force, run) as path:
                tuned = _ask("tune", given, run, zero_division=zero_division, **goal, **rest)
                tuned.save(path)
        report("tune", tuned, run, as_json, out)


def assess(
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
    check_duplicates: o.Duplicates = None,
    truth_file: o.TruthFile = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say what thresholds tuned on these scores will show on new data, with intervals."""
    given = Given(
        sources, label, score, truth, instance, weight, truth_file, binary, check_duplicates
    )
    goal = {"metric": metric, "average": average, "guard": guard, "per_label": not shared}
    draws = {"n_resamples": resamples, "level": level, "seed": seed}
    with running(quiet, debug) as run:
        found = _ask("assess", given, run, zero_division=zero_division, **goal, **draws)
        report("assess", found, run, as_json)


def diagnose(
    sources: o.Sources,
    metric: o.Metric = "f1",
    zero_division: o.ZeroDivision = 0.0,
    resamples: o.Resamples = 1000,
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
    given = Given(
        sources, label, score, truth, instance, None, truth_file, binary, check_duplicates
    )
    draws = {"n_resamples": resamples, "level": level, "seed": seed}
    with running(quiet, debug) as run:
        found = _ask("diagnose", given, run, metric=metric, zero_division=zero_division, **draws)
        report("diagnose", found, run, as_json)


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
    from halfmax.cli.wide import NAMES, in_order_of, read_wide

    if len(given.sources) > 1 or given.binary or "n_instances" in wanted:
        raise ValueError(
            "--truth-file takes one file of scores, and neither --binary nor --n-instances"
        )
    with incoming([*given.sources, str(given.truth_file)], run) as (score_path, truth_path):
        scores = read_wide(score_path, given.instance)
        truth = in_order_of(scores, read_wide(truth_path, given.instance, given.weight))
    run.names |= NAMES
    bar.begin(f"{name}: {scores.rows:,} rows")
    if given.weight is not None:
        wanted["sample_weight"] = truth.weights
    if name != "tune":
        wanted["progress"] = bar
    return getattr(hm, name)(truth.labels, scores.labels, **wanted)


@contextmanager
def _thresholds_file(out: str, force: bool, run: Run) -> Iterator[str]:
    from halfmax._files import check_writable, whole_file

    if out != STANDARD:
        check_writable(out, force)
    with outgoing(out, ".json", run) as path, whole_file(path, overwrite=force) as part:
        yield str(part)
