"""Thresholds and data in, a report file out."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from halfmax import _inputs
from halfmax._files import check_writable, whole_file
from halfmax._inputs import LabelledScores
from halfmax._options import check_guard, match_labels
from halfmax._pages import need
from halfmax._progress import Wanted
from halfmax.assessing import check_how
from halfmax.assessment import Assessment
from halfmax.choosing import count_at
from halfmax.decision import Decision
from halfmax.diagnosis import Diagnosis
from halfmax.metrics import Metric, Objective, find_metric
from halfmax.origin import Origin
from halfmax.report.content import Given, gather
from halfmax.report.page import NEEDED, page_of
from halfmax.thresholds import Thresholds

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
    _check_sizes(given)
    page = page_of(gather(given, how), title or _title(thresholds))
    with whole_file(path, overwrite) as part:
        part.write_text(page, "utf-8")
    return Path(path)


def _title(thresholds: Thresholds) -> str:
    size = len(thresholds.thresholds)
    what = "one classifier" if thresholds.average == "binary" else f"{size:,} labels"
    return f"Thresholds for {what}"


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
    if (y_true is None) != (y_score is None):
        missing = "y_true" if y_true is None else "y_score"
        raise ValueError(f"y_true and y_score go together; {missing} is missing")
    origin = thresholds._origin
    if y_true is None:
        if origin is None:
            raise ValueError(
                "these thresholds do not know the data that they were tuned on (they were loaded "
                "from a file, say): give y_true and y_score, the same or new ones"
            )
        return origin.load(progress), origin, True
    data = _inputs.read_labelled(y_true, y_score, sample_weight, labels)
    data = _in_order(thresholds, data)
    origin = _origin_of(thresholds, data, metric)
    return data, origin, _is_tuned_on(thresholds, data)


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
        truth, scores = data.truth[:, order], data.scores[:, order]
        return data._replace(truth=truth, scores=scores, labels=thresholds.labels)
    if data.n_labels != size:
        raise ValueError(
            f"y_score must have {size:,} columns, one for each threshold; got {data.n_labels:,}"
        )
    return data


def _origin_of(thresholds: Thresholds, data: LabelledScores, metric: str | Metric | None) -> Origin:
    """How thresholds were tuned, as far as they tell themselves."""
    try:
        found = find_metric(thresholds.metric if metric is None else metric)
    except ValueError:
        raise ValueError(
            f"the metric {thresholds.metric!r} is not known by name: give it as metric=..."
        ) from None
    known = thresholds._origin
    objective = Objective(found, thresholds.zero_division)
    if known is not None and metric is None:
        objective = known.objective
    average = "macro" if thresholds.average == "binary" else thresholds.average
    guard = check_guard(thresholds.guard)
    return Origin(lambda *_: data, average, not thresholds.shared, objective, guard)


def _is_tuned_on(thresholds: Thresholds, data: LabelledScores) -> bool:
    """Whether the thresholds count on these data what they counted when they were tuned."""
    found = count_at(data, thresholds.thresholds)
    return np.array_equal(found.positives, thresholds.support) and np.array_equal(
        found.predicted, thresholds.predicted
    )


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


def _check_sizes(given: Given) -> None:
    size = given.data.n_labels
    for name, found in (("assessment", given.assessment), ("diagnosis", given.diagnosis)):
        if isinstance(found, Assessment):
            got = len(found.label_expected_scores)
        elif isinstance(found, Diagnosis):
            got = len(found.labels)
        else:
            continue
        if got != size:
            raise ValueError(f"{name} must be of the same {size:,} labels; got one of {got:,}")
