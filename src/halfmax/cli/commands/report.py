"""``halfmax report``: a page about thresholds, on the data tuned on or on new data."""

import math
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from halfmax.cli import options as o
from halfmax.cli import outcome
from halfmax.cli.bar import Bar
from halfmax.cli.groups import ColumnOptions, expanded
from halfmax.cli.labelled_files import LabelledFiles, open_long, read_long, read_wide_pair
from halfmax.cli.missing_rows import suggesting_to_drop_rows
from halfmax.cli.own_input import refuse_own_input
from halfmax.cli.run import Run, running
from halfmax.cli.streams import STANDARD, incoming, outgoing
from halfmax.cli.thresholds_files import refuse_swapped

if TYPE_CHECKING:
    from halfmax._core.gate.labelled import LabelledScores
    from halfmax.tuning.thresholds import Thresholds

_ENDINGS = (".html", ".htm")

Data = Annotated[
    list[str],
    typer.Option(
        "--data",
        help="Labelled scores, as for tune: files, folders or globs; - is standard input. May be "
        "repeated.",
        metavar="FILE",
        rich_help_panel="Columns and files",
        show_default=False,
    ),
]
PageOut = Annotated[
    str,
    typer.Option(
        "--out", help="The page to write, .html.", metavar="FILE", rich_help_panel="Output"
    ),
]


class Reported(NamedTuple):
    """A written page: its thresholds, the number of rows, and the score on them."""

    thresholds: "Thresholds"
    rows: int
    score: float = math.nan


@expanded
def report(
    context: typer.Context,
    thresholds: o.ThresholdsFile,
    data: Data,
    columns: ColumnOptions,
    weight: o.Weight = None,
    resamples: o.PageResamples = None,
    seed: o.Seed = 0,
    out: PageOut = "report.html",
    title: o.Title = None,
    quick_report: o.QuickReport = False,
    force: o.Force = False,
    quiet: o.Quiet = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Write a page about thresholds: their score on these data, and how it could be better."""
    files = LabelledFiles.of(context, data, columns, weight)
    options = {**report_options(title, quick_report), "n_resamples": resamples, "seed": seed}
    with running(quiet, debug) as run:
        _check_draws(resamples, seed)
        check_page("--out", out, force, title)
        refuse_swapped(thresholds, data, run)
        refuse_own_input({"--out": out}, [thresholds, *files.paths()])
        with outgoing(out, ".html", force, run) as path, run.working("report: reading") as bar:
            written = _write(thresholds, files, path, options, run, bar)
        outcome.report("report", written, run, as_json, out)


def check_page(option: str, out: str, force: bool, title: str | None = None) -> None:
    """Refuse a page that cannot be written, before the long work."""
    from halfmax._core.files import check_writable
    from halfmax.report.page import check_installed

    if out == STANDARD:
        raise ValueError(f"{option} must name a file: a page is not written to standard output")
    if not out.lower().endswith(_ENDINGS):
        raise ValueError(f"{option} must end in {' or '.join(_ENDINGS)}, as pages do; got {out!r}")
    check_writable(out, force)
    check_installed()
    if title is not None and not title.strip():
        raise ValueError("--title must not be empty")


def report_options(title: str | None, quick: bool) -> dict[str, Any]:
    """Return the options of a report as keyword arguments of the library."""
    left_out = {"assessment": False, "diagnosis": False} if quick else {}
    return {"title": title, **left_out}


def _check_draws(resamples: int | None, seed: int) -> None:
    from halfmax._core.gate.options import check_whole

    if resamples is not None:
        check_whole("n_resamples", resamples, 1)
    check_whole("seed", seed, 0)


def _write(
    file: str, files: LabelledFiles, path: str, options: dict[str, Any], run: Run, bar: Bar
) -> Reported:
    import halfmax as hm

    with incoming([file, *files.paths()], run) as (kept, *paths):
        tuned = hm.Thresholds.load(kept)
        _check_kind(tuned, files)
        _check_metric(tuned)
        if files.is_wide:
            written, arrays = _read_wide(tuned, files, paths)
        else:
            labels = tuned.average != "binary"
            files = files if labels else files._replace(label=None)
            files = files.found(paths, run, need_labels=labels)
            _check_class(tuned, files)
            from halfmax.cli.near_misses import naming_third_values

            with suggesting_to_drop_rows(paths, run), naming_third_values(paths, files.truth):
                written, arrays = _read_long(tuned, files, paths, bar)
    written.thresholds.report(path, **arrays, **options, progress=bar)
    return written._replace(score=_score(written.thresholds, arrays))


def _score(tuned: "Thresholds", arrays: dict[str, Any]) -> float:
    import halfmax as hm

    return hm.score(
        arrays["y_true"],
        tuned.predict(arrays["y_score"]),
        metric=tuned.metric,
        average=tuned.average,
        sample_weight=arrays["sample_weight"],
        zero_division=tuned.zero_division,
    )


def _check_kind(tuned: "Thresholds", files: LabelledFiles) -> None:
    if tuned.average == "binary" and files.is_wide:
        raise ValueError(
            "--truth-file is for files with a column for each label, and these thresholds are of "
            "one classifier: give a table with columns of scores and truth"
        )
    if tuned.average != "binary" and files.columns.binary:
        labels = f"{len(tuned.thresholds):,} labels"
        raise ValueError(f"--binary is for thresholds of one classifier; these are of {labels}")


def _check_class(tuned: "Thresholds", files: LabelledFiles) -> None:
    from halfmax.report.write import check_same_class

    check_same_class(tuned, files.pos_label)


def _check_metric(tuned: "Thresholds") -> None:
    from halfmax.metrics.cost import has_costs_of_rows
    from halfmax.metrics.named import find_metric

    if has_costs_of_rows(tuned.metric):
        raise ValueError(
            "these thresholds minimise costs of each row, which a page of counts cannot show: in "
            "Python, Thresholds.report takes one cost for each outcome as metric=..."
        )
    try:
        find_metric(tuned.metric)
    except ValueError:
        raise ValueError(
            f"these thresholds are for {tuned.metric!r}, a metric of your own that no file holds: "
            "in Python, Thresholds.report takes it as metric=..."
        ) from None


def _read_wide(
    tuned: "Thresholds", files: LabelledFiles, paths: list[str]
) -> tuple[Reported, dict[str, Any]]:
    from halfmax.cli.wide import named_as_columns

    truth, scores = read_wide_pair(files, paths)
    arrays = {"y_true": truth.labels, "y_score": scores.labels, "sample_weight": truth.weights}
    return Reported(named_as_columns(tuned), scores.rows), arrays


def _read_long(
    tuned: "Thresholds", files: LabelledFiles, paths: list[str], bar: Bar
) -> tuple[Reported, dict[str, Any]]:
    """Read a table as a matrix."""
    opened = open_long(files, paths)
    data = read_long(files, opened, bar)
    if tuned.average != "binary":
        data = _in_order_of(tuned, data, opened.place.untyped)
    arrays = {"y_true": data.truth, "y_score": data.scores, "sample_weight": data.weights}
    return Reported(tuned, data.n_rows), {**arrays, "labels": data.labels}


def _in_order_of(tuned: "Thresholds", data: "LabelledScores", untyped: bool) -> "LabelledScores":
    """Return the data with the labels of the thresholds; a label without rows is all negative."""
    from halfmax._core.errors import warn
    from halfmax._core.text import spell_out

    key: Any = str if untyped else lambda name: name  # in CSV, 1 may be text
    names = list(tuned.labels or range(len(tuned.thresholds)))
    known = {key(name): place for place, name in enumerate(names)}
    found = [known.get(key(name)) for name in data.labels or ()]
    unknown = [name for name, place in zip(data.labels or (), found, strict=True) if place is None]
    if unknown:
        raise ValueError(
            f"the thresholds have no label {spell_out(unknown, 'or')}; they have {spell_out(names)}"
        )
    if lacking := [names[place] for place in sorted({*range(len(names))} - {*found})]:
        warn(
            f"the data have no rows for {spell_out(lacking)}: counted as never true and never "
            "predicted"
        )
    truth, scores = (_moved(part, found, len(names)) for part in (data.truth, data.scores))
    return data._replace(truth=truth, scores=scores, labels=tuned.labels)


def _moved(matrix: Any, places: Any, size: int) -> Any:
    """Move the columns of a sparse matrix to new places among `size` columns."""
    import numpy as np
    from scipy import sparse

    columns = np.array(places, np.int64)[matrix.indices]
    shape = matrix.shape[0], size
    moved = sparse.csr_array((matrix.data, columns, matrix.indptr), shape=shape)
    moved.sort_indices()
    return moved
