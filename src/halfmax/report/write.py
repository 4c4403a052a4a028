"""Thresholds and data in, a report file out."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from halfmax._core import labelled
from halfmax._core.files import check_writable, whole_file
from halfmax._core.labelled import LabelledScores
from halfmax._core.labels import match_labels
from halfmax._core.progress import Wanted
from halfmax._core.text import spell_out
from halfmax.expected.decision import Decision
from halfmax.honesty.assess import check_how
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.goal import check_guard
from halfmax.metrics.metric import PRECISION, RECALL, Metric, find_metric
from halfmax.metrics.objective import Objective
from halfmax.report.content import Given, gather, names_of
from halfmax.report.page import NEEDED, page_of
from halfmax.report.pages import need
from halfmax.tuning.exact.choose import count_at
from halfmax.tuning.found import Origin
from halfmax.tuning.thresholds import Thresholds

_LEVEL = 0.95


def write_report(
    thresholds: Thresholds,
    path: str | os.PathLike[str],
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    labels: Any,
    metric: str | Metric | None,
    assessment: Assessment | bool | None,
    diagnosis: Diagnosis | bool | None,
    decision: Decision | None,
    title: str | None,
    n_resamples: int,
    seed: int,
    overwrite: bool,
    progress: Wanted,
) -> Path:
    """What `Thresholds.report` does; all that can be refused is refused before the long work."""
    need(*NEEDED)
    how = check_how(n_resamples, _LEVEL, seed, progress)
    _check_kinds(assessment, diagnosis, decision, title)
    check_writable(path, overwrite)
    what = y_true, y_score, sample_weight, labels, metric, progress
    data, origin, tuned_here = _data_of(thresholds, *what)
    given = Given(thresholds, data, origin, tuned_here, assessment, diagnosis, decision)
    _check_about(given)
    page = page_of(gather(given, how), title or _title(thresholds))
    with whole_file(path, overwrite) as part:
        part.write_bytes(page.encode("utf-8", "replace"))  # half of a surrogate pair is no text
    return Path(path)


def _title(thresholds: Thresholds) -> str:
    size = len(thresholds.thresholds)
    labels = "1 label" if size == 1 else f"{size:,} labels"
    return f"Thresholds for {'one classifier' if thresholds.average == 'binary' else labels}"


def _data_of(
    thresholds: Thresholds,
    y_true: Any,
    y_score: Any,
    sample_weight: Any,
    labels: Any,
    metric: str | Metric | None,
    progress: Wanted,
) -> tuple[LabelledScores, Origin, bool]:
    """The data to report on, how they were tuned, and whether it was on these data."""
    if y_true is not None and y_score is not None:
        data = labelled.read_labelled(y_true, y_score, sample_weight, labels)
        data = _in_order(thresholds, data)
        return data, _origin_of(thresholds, data, metric), _is_tuned_on(thresholds, data)
    rest = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    alone = [name for name, value in (rest | {"labels": labels}).items() if value is not None]
    if alone:
        raise ValueError(f"y_true and y_score must be given beside {spell_out(alone)}")
    origin = thresholds._origin
    if origin is None:
        raise ValueError(
            "these thresholds do not know the data that they were tuned on (they were loaded "
            "from a file, say): give y_true and y_score, the same or new ones"
        )
    _metric_of(thresholds, metric)
    data = origin.load(progress)
    if not _is_tuned_on(thresholds, data):
        raise ValueError(
            "the data that the thresholds were tuned on have changed since then: give y_true and "
            "y_score"
        )
    return data, origin, True


def _in_order(thresholds: Thresholds, data: LabelledScores) -> LabelledScores:
    """The labels in the order of the thresholds, by name where both have names."""
    size = len(thresholds.thresholds)
    if data.is_binary != (thresholds.average == "binary"):
        what = "one classifier" if thresholds.average == "binary" else f"{size:,} labels"
        shape = "1 dimension" if data.is_binary else f"{data.n_labels:,} columns"
        raise ValueError(f"the thresholds are for {what}; y_score has {shape}")
    if thresholds.labels is not None and data.labels is not None:
        order = match_labels(data.labels, thresholds.labels, "y_score", "the thresholds")
        if order == list(range(size)):
            return data
        truth, scores = (_columns(part, order) for part in (data.truth, data.scores))
        return data._replace(truth=truth, scores=scores, labels=thresholds.labels)
    if data.n_labels != size:
        raise ValueError(
            f"y_score must have {size:,} columns, one for each threshold; got {data.n_labels:,}"
        )
    return data


def _columns(matrix: Any, order: list[int]) -> Any:
    """Columns in another order; rows of a sparse matrix stay sorted, as kernels need them."""
    found = matrix[:, order]
    if not isinstance(found, np.ndarray):
        found.sort_indices()
    return found


def _origin_of(thresholds: Thresholds, data: LabelledScores, metric: str | Metric | None) -> Origin:
    """How thresholds were tuned, as far as they tell themselves."""
    known = thresholds._origin
    objective = Objective(_metric_of(thresholds, metric), thresholds.zero_division)
    if known is not None:
        objective = known.objective
    average = "macro" if thresholds.average == "binary" else thresholds.average
    guard = check_guard(thresholds.guard)
    return Origin(lambda *_: data, average, not thresholds.shared, objective, guard)


def _metric_of(thresholds: Thresholds, metric: str | Metric | None) -> Metric:
    """The metric that the thresholds maximise, by its name, or as it is given."""
    if metric is None and thresholds._origin is not None:
        return thresholds._origin.objective.metric
    try:
        found = find_metric(thresholds.metric if metric is None else metric)
    except ValueError:
        found = None
    if found is None or found.name != thresholds.metric:
        raise ValueError(
            f"metric must be the {thresholds.metric!r} that these thresholds maximise; got "
            f"{metric!r}"
        )
    return found


def _is_tuned_on(thresholds: Thresholds, data: LabelledScores) -> bool:
    """Whether the thresholds count on these data what they counted when they were tuned."""
    counts = count_at(data, thresholds.thresholds).counts
    parts = counts.confusion()
    zero = thresholds.zero_division
    pairs = (
        (counts.positives, thresholds.support),
        (counts.predicted, thresholds.predicted),
        (PRECISION(*parts, zero_division=zero), thresholds.precision),
        (RECALL(*parts, zero_division=zero), thresholds.recall),
    )
    return all(np.allclose(a, b, rtol=1e-9, atol=0.0, equal_nan=True) for a, b in pairs)


def _check_kinds(assessment: Any, diagnosis: Any, decision: Any, title: Any) -> None:
    for name, value, kind in (
        ("assessment", assessment, Assessment),
        ("diagnosis", diagnosis, Diagnosis),
    ):
        if not (value is None or value is False or isinstance(value, kind)):
            raise TypeError(
                f"{name} must be what {'assess' if kind is Assessment else 'diagnose'}() gives, "
                f"None to make it here, or False to do without; got {type(value).__name__}"
            )
    if not (decision is None or isinstance(decision, Decision)):
        raise TypeError(f"decision must be what decide() gives; got {type(decision).__name__}")
    if not (title is None or (isinstance(title, str) and title.strip())):
        raise TypeError(f"title must be words; got {title!r:.60}")


def _check_about(given: Given) -> None:
    """Refuse what was found of other thresholds, or of other labels."""
    tuned, assessed, found = given.thresholds, given.assessment, given.diagnosis
    if isinstance(assessed, Assessment):
        if not given.tuned_here:
            raise ValueError(
                "assessment tells what new data will show, and these are new data, which are "
                "measured themselves: leave it out"
            )
        if not np.array_equal(assessed.thresholds.thresholds, tuned.thresholds):
            raise ValueError("assessment must be of the same thresholds; it is of others")
    if isinstance(found, Diagnosis) and not any(
        set(found.labels) == set(names) for names in names_of(given)
    ):
        raise ValueError(f"diagnosis must be of the same {len(tuned.thresholds):,} labels")
