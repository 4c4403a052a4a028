"""The commands that need labelled scores: tune, assess, diagnose."""

import os
import re
import shlex
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli import proposals
from halfmax.cli.bar import Bar
from halfmax.cli.commands.report import check_page, report_options
from halfmax.cli.groups import (
    ColumnOptions,
    FloorOptions,
    GoalOptions,
    expanded,
    metric_or_cost,
)
from halfmax.cli.labelled_files import LabelledFiles, open_long, read_wide_pair
from halfmax.cli.missing_rows import suggesting_to_drop_rows
from halfmax.cli.outcome import refuse_two_outputs, report
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Run, running
from halfmax.cli.streams import STANDARD, incoming, outgoing, refuse_one_file

if TYPE_CHECKING:
    from halfmax.tuning.thresholds import Thresholds

_COST = re.compile(r"(fp|fn|tp|tn)\s*=")


class Tuned(NamedTuple):
    """The tuned thresholds, and the report about them if one was written."""

    thresholds: "Thresholds"
    page: str | None


class TuneOutput(NamedTuple):
    """The files of thresholds and of the report about them, and the options of the report."""

    out: str | None
    page: str | None
    force: bool
    options: dict[str, Any]


@expanded
def tune(
    context: typer.Context,
    sources: o.Sources,
    goal: GoalOptions,
    floors: FloorOptions,
    columns: ColumnOptions,
    weight: o.Weight = None,
    n_instances: o.Instances = None,
    out: o.ThresholdsOut = None,
    page: o.Report = None,
    title: o.Title = None,
    quick_report: o.QuickReport = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Find the thresholds with the highest metric, exactly, from labelled scores."""
    files = LabelledFiles.of(context, sources, columns, weight)
    with running(quiet, debug) as run:
        refuse_two_outputs(out, as_json)
        _check_costs(context, run)
        question = {**goal.arguments, **floors.arguments, **_if_set(n_instances)}
        to = TuneOutput(out, page, force, report_options(title, quick_report))
        _check_output(context, to, files.paths())
        found = Tuned(_tune(files, question, run, to), page)
        run.next_steps += _next_steps(out, as_json)
        report("tune", found, run, as_json, out, [] if page is None else [page])


@expanded
def assess(
    context: typer.Context,
    sources: o.Sources,
    goal: GoalOptions,
    floors: FloorOptions,
    columns: ColumnOptions,
    resamples: o.Resamples = 1000,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    weight: o.Weight = None,
    n_instances: o.Instances = None,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Estimate what thresholds tuned on these scores will show on new data, with intervals."""
    files = LabelledFiles.of(context, sources, columns, weight)
    draws = {"n_resamples": resamples, "level": level, "seed": seed, **_if_set(n_instances)}
    with running(quiet, debug) as run:
        _check_costs(context, run)
        found = _ask("assess", files, run, **goal.arguments, **floors.arguments, **draws)
        report("assess", found, run, as_json)


@expanded
def diagnose(
    context: typer.Context,
    sources: o.Sources,
    columns: ColumnOptions,
    metric: o.Metric = "f1",
    cost: o.Cost = None,
    zero_division: o.ZeroDivision = 0.0,
    resamples: o.Resamples = 200,
    level: o.Level = 0.95,
    seed: o.Seed = 0,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Show which labels will misbehave on new data, and why, the most harmful first."""
    files = LabelledFiles.of(context, sources, columns)
    draws = {"n_resamples": resamples, "level": level, "seed": seed}
    with running(quiet, debug) as run:
        _check_costs(context, run)
        goal = metric_or_cost(metric, cost)
        found = _ask("diagnose", files, run, metric=goal, zero_division=zero_division, **draws)
        report("diagnose", found, run, as_json)


def _check_costs(context: typer.Context, run: Run) -> None:
    costs, files = context.params["cost"], context.params["sources"]
    if o.is_set(context, "metric") and o.is_set(context, "cost"):
        raise ValueError("--metric and --cost are two goals: choose one")
    more = [file for file in files if _COST.match(file) and not os.path.exists(file)]
    if costs is not None and more:
        joined = ",".join(part.strip(" ,") for part in (costs, *more))
        run.commands.append(proposals.replaced(["--cost"], joined, without=more) or "")
        raise ValueError(f"costs are one word, with commas between them; {more[0]!r} is no file:")


def _next_steps(out: str | None, as_json: bool) -> list[str]:
    if as_json or out == STANDARD:  # a program reads the thresholds
        return []
    if out is None:
        return ["--out thresholds.json saves the thresholds; halfmax apply predicts with them"]
    return [f"halfmax apply {shlex.quote(out)} NEW_SCORES predicts with these thresholds"]


def _check_output(context: typer.Context, to: TuneOutput, sources: list[str]) -> None:
    """Refuse files that cannot be written, before the long work."""
    from halfmax._core.files import check_writable

    if to.page is None:
        o.refuse_options(context, ["title", "quick_report"], "needs --report, which names the page")
    else:
        if to.out is not None:
            refuse_one_file("--out", to.out, "--report", to.page)
        check_page("--report", to.page, to.force, to.options["title"])
    if to.out not in (None, STANDARD):
        check_writable(str(to.out), to.force)
    refuse_own_input({"--out": to.out, "--report": to.page}, sources)


def _if_set(n_instances: int | None) -> dict[str, Any]:
    """Return the argument only if it is set: functions for wide arrays do not have it."""
    return {} if n_instances is None else {"n_instances": n_instances}


def _tune(files: LabelledFiles, goal: dict[str, Any], run: Run, to: TuneOutput) -> "Thresholds":
    """Tune and write the thresholds at once; the report then reads the data once more."""
    tuned: Thresholds
    with _file(to.page, ".html", to.force, run) as page, ExitStack() as reading:
        with _file(to.out, ".json", to.force, run) as path, run.working("tune: reading") as bar:
            paths = reading.enter_context(incoming(files.paths(), run))
            files = files if files.is_wide else files.found(paths, run)
            if page is not None and not files.is_wide:
                open_long(files, paths)  # fails now rather than after the counting
            tuned = _answer("tune", files, paths, bar, goal, run)
            if path is not None:
                tuned.save(path)
        if page is not None:
            with _saved(to.out, run), run.working("writing the report") as bar:
                tuned.report(page, **to.options, progress=bar)
    return tuned


def _file(
    out: str | None, ending: str, force: bool, run: Run
) -> AbstractContextManager[str | None]:
    return nullcontext() if out is None else outgoing(out, ending, force, run)


@contextmanager
def _saved(out: str | None, run: Run) -> Iterator[None]:
    """Say after an error in the report that the thresholds have been written."""
    try:
        yield
    except BaseException:
        if out not in (None, STANDARD):
            run.after_error.append(
                f"the thresholds are in {out}; halfmax report writes a page about them"
            )
        raise


def _ask(name: str, files: LabelledFiles, run: Run, **options: Any) -> Any:
    with run.working(f"{name}: reading") as bar, incoming(files.paths(), run) as paths:
        files = files if files.is_wide else files.found(paths, run)
        return _answer(name, files, paths, bar, options, run)


def _answer(
    name: str,
    files: LabelledFiles,
    paths: list[str],
    bar: Bar,
    options: dict[str, Any],
    run: Run,
) -> Any:
    """Call the library's function of that name: for tables, or for arrays if files are wide."""
    import halfmax as hm

    if not files.is_wide:
        from halfmax.cli.near_misses import naming_third_values

        with suggesting_to_drop_rows(paths, run), naming_third_values(paths, files.truth):
            return getattr(hm, f"{name}_table")(paths, progress=bar, **files.arguments, **options)
    truth, scores = read_wide_pair(files, paths)
    bar.begin(f"{name}: {scores.rows:,} rows")
    if files.weight is not None:
        options["sample_weight"] = truth.weights
    if name != "tune":
        options["progress"] = bar
    return getattr(hm, name)(truth.labels, scores.labels, **options)
