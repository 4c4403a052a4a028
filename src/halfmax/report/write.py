"""Write a report: check the request, compute its content and write the file."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.files import check_writable, whole_file
from halfmax._core.gate.arrays import open_matrix
from halfmax._core.gate.labelled import LabelledScores, read_labelled
from halfmax._core.gate.labels import match_labels
from halfmax._core.text import spell_out
from halfmax.expected.decision import Decision
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import ASSESS_RESAMPLES, Draws
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal, check_guard
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import PRECISION, RECALL, find_metric
from halfmax.metrics.objective import Objective
from halfmax.report.content import Subject, gather, names_of
from halfmax.report.page import check_installed, page_of
from halfmax.report.row_costs import with_one_cost
from halfmax.tuning.exact.choose import count_at
from halfmax.tuning.report_request import ReportRequest
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tuning import Tuning

_LEVEL = 0.95
_FEW_LABELS = 50  # that are assessed in a second or so, as `assess` does it
_FEWER_RESAMPLES = 200


def write_report(request: ReportRequest) -> Path:
    """Write the report of `Thresholds.report`; everything is checked before the long work."""
    check_installed()
    draws = Draws.ask(_resamples(request), _LEVEL, request.seed, request.progress)
    _check_kinds(request)
    request = with_one_cost(request)
    check_writable(request.path, request.overwrite)
    subject = _subject_of(request)
    _check_same_subject(subject)
    content = gather(subject, draws)
    page = page_of(content, request.title or _title(request.thresholds))
    with whole_file(request.path, request.overwrite) as part:
        part.write_bytes(
            page.encode("utf-8", "replace")
        )  # half of a surrogate pair cannot be encoded
    return Path(request.path)


def _resamples(request: ReportRequest) -> int:
    """Return the number of bootstrap replicates: by default that of `assess` for few labels."""
    if request.n_resamples is not None:
        return request.n_resamples
    few = len(request.thresholds) <= _FEW_LABELS
    return ASSESS_RESAMPLES if few else _FEWER_RESAMPLES


def _title(thresholds: Thresholds) -> str:
    """Return the default title of the page."""
    size = len(thresholds.thresholds)
    labels = "1 label" if size == 1 else f"{size:,} labels"
    return f"Thresholds for {'one classifier' if thresholds.average == 'binary' else labels}"


def _positive_class(request: ReportRequest) -> Any:
    """Return the positive class; by default the one that names the label of one classifier."""
    named = request.thresholds.labels
    if request.pos_label is not None or named is None or len(named) > 1:
        return request.pos_label
    values = open_matrix(request.y_true, "y_true", classes=True).values
    holds_names = isinstance(values, np.ndarray) and values.dtype.kind not in "buif"
    return named[0] if holds_names and (values == named[0]).any() else None


def _subject_of(request: ReportRequest) -> Subject:
    """Return the data to report on, the tuning, and whether that used these data."""
    thresholds, known = request.thresholds, request.thresholds._tuning
    if request.y_true is not None and request.y_score is not None:
        data = read_labelled(
            request.y_true,
            request.y_score,
            request.sample_weight,
            request.labels,
            _positive_class(request),
        )
        if data.is_binary and len(thresholds) == 1:
            thresholds = _of_one_classifier(thresholds)
            request = replace(request, thresholds=thresholds)
        if request.labels is None:
            check_same_class(thresholds, request.pos_label)
        data = _in_order(thresholds, data)
        goal = _goal_of(thresholds, request.metric)
        return _subject(request, data, goal)
    alone = [
        name
        for name in ("y_true", "y_score", "sample_weight", "labels", "pos_label")
        if getattr(request, name) is not None
    ]
    if alone:
        raise ValueError(f"y_true and y_score must both be passed with {spell_out(alone)}")
    if known is None:
        raise ValueError(
            "these thresholds do not know the data that they were tuned on (for example, because "
            "they were loaded from a file): pass y_true and y_score, the same or new ones"
        )
    _metric_of(thresholds, request.metric)
    data = known.load(request.progress)
    subject = _subject(request, data, known.goal)
    if not _has_counts(thresholds, subject.tuning.choice.counts):
        raise ValueError(
            "the data that the thresholds were tuned on have changed since then: pass y_true and "
            "y_score"
        )
    if known.data is not None:
        subject = subject._replace(tuning=known)
    return subject._replace(remembered=not known.by_hand)


def _subject(request: ReportRequest, data: LabelledScores, goal: Goal) -> Subject:
    choice = count_at(data, request.thresholds.thresholds)
    tuning = Tuning(goal, choice, data)
    tuned = request.thresholds
    tuned_here = not tuned._unknown.all() and _has_counts(tuned, choice.counts)
    return Subject(request, data, tuning, tuned_here)


def _of_one_classifier(thresholds: Thresholds) -> Thresholds:
    """Return the threshold of a single label as that of one classifier."""
    if thresholds.average == "binary":
        return thresholds
    return replace(thresholds, average="binary", shared=True, _tuning=None)


def _in_order(thresholds: Thresholds, data: LabelledScores) -> LabelledScores:
    """Return the labels in the order of the thresholds, by name if both have names."""
    size = len(thresholds.thresholds)
    if data.is_binary != (thresholds.average == "binary"):
        what = "one classifier" if thresholds.average == "binary" else f"{size:,} labels"
        shape = "1 dimension" if data.is_binary else f"{data.n_labels:,} columns"
        raise ArgumentError(f"the thresholds are for {what}; {in_python('y_score')} has {shape}")
    if thresholds.labels is not None and data.labels is not None:
        order = match_labels(data.labels, thresholds.labels, "y_score", "the thresholds")
        if order == list(range(size)):
            return data
        truth, scores = (_columns(part, order) for part in (data.truth, data.scores))
        return data._replace(truth=truth, scores=scores, labels=thresholds.labels)
    if data.n_labels != size:
        raise ArgumentError(
            f"{in_python('y_score')} must have {size:,} columns, one for each threshold; got "
            f"{data.n_labels:,}"
        )
    return data


def check_same_class(thresholds: Thresholds, pos_label: Any) -> None:
    """Refuse a positive class that is not the one that a classifier's threshold is for."""
    known = thresholds.labels if thresholds.average == "binary" else None
    if known is not None and isinstance(pos_label, str) and (pos_label,) != known:
        raise ArgumentError(
            f"{in_python('pos_label')} must be the class that the threshold is for, {known[0]!r}; "
            f"got {pos_label!r}: if that is another name of the same class, pass truth of 0 and 1"
        )


def _columns(matrix: Any, order: list[int]) -> Any:
    """Reorder columns; rows of a sparse matrix stay sorted, as kernels need them."""
    found = matrix[:, order]
    if not isinstance(found, np.ndarray):
        found.sort_indices()
    return found


def _goal_of(thresholds: Thresholds, metric: str | Metric | None) -> Goal:
    """Return the goal of the tuning, as far as the thresholds know it."""
    found = _metric_of(thresholds, metric)
    if thresholds._tuning is not None:
        return thresholds._tuning.goal
    return Goal(
        Objective(found, thresholds.zero_division),
        "macro" if thresholds.average == "binary" else thresholds.average,
        per_label=not thresholds.shared,
        guard=check_guard(thresholds.guard),
        one_classifier=thresholds.average == "binary",
    )


def _metric_of(thresholds: Thresholds, metric: str | Metric | None) -> Metric:
    """Return the metric that the thresholds maximise, by its name or from the request."""
    if metric is None and thresholds._tuning is not None:
        return thresholds._tuning.goal.metric
    try:
        found = find_metric(thresholds.metric if metric is None else metric)
    except ValueError:
        found = None
    if found is None or found.name != thresholds.metric:
        raise ValueError(
            f"metric must be the {thresholds.metric!r} that these thresholds are for; got "
            f"{metric!r}"
        )
    return found


def _has_counts(thresholds: Thresholds, counts: Counts) -> bool:
    """Return whether these are the counts of the tuning, as far as those are known."""
    parts, known = counts.confusion(), ~thresholds._unknown
    zero = thresholds.zero_division
    pairs = (
        (counts.positives, thresholds.support),
        (counts.predicted, thresholds.predicted),
        (PRECISION(*parts, zero_division=zero), thresholds.precision),
        (RECALL(*parts, zero_division=zero), thresholds.recall),
    )
    return all(
        np.allclose(a[known], b[known], rtol=1e-9, atol=0.0, equal_nan=True) for a, b in pairs
    )


def _check_kinds(request: ReportRequest) -> None:
    decision, title = request.decision, request.title
    for name, value, kind in (
        ("assessment", request.assessment, Assessment),
        ("diagnosis", request.diagnosis, Diagnosis),
    ):
        if not (value is None or value is False or isinstance(value, kind)):
            raise TypeError(
                f"{name} must be what {'assess' if kind is Assessment else 'diagnose'}() returns, "
                f"None to compute it here, or False to leave it out; got {type(value).__name__}"
            )
    if not (decision is None or isinstance(decision, Decision)):
        raise TypeError(f"decision must be what decide() returns; got {type(decision).__name__}")
    if not (title is None or (isinstance(title, str) and title.strip())):
        raise TypeError(f"title must be a string that is not blank; got {title!r:.60}")


def _check_same_subject(subject: Subject) -> None:
    """Refuse an assessment of other thresholds, or a diagnosis of other labels."""
    request, tuned = subject.request, subject.thresholds
    assessed, found = request.assessment, request.diagnosis
    if isinstance(assessed, Assessment):
        if not subject.tuned_here:
            raise ValueError(
                "assessment predicts the score on new data, but these are new data, on which the "
                "score is measured directly: leave it out"
            )
        judged = assessed.thresholds
        alike = np.array_equal(judged.thresholds, tuned.thresholds)
        if not (alike and judged.metric == tuned.metric):
            raise ValueError(
                "assessment must be of the same thresholds and metric; got one of other thresholds "
                "or another metric"
            )
    if isinstance(found, Diagnosis) and not any(
        set(found.labels) == set(names) for names in names_of(subject)
    ):
        raise ValueError(
            f"diagnosis must be of the same {len(tuned.thresholds):,} labels; got one of others"
        )
