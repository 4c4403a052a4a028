"""The numbers for the scripts of the page, as JSON that is safe inside HTML."""

import json
import math
from typing import Any

import numpy as np

from halfmax._core.result import Table
from halfmax._core.types import Array
from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.named import PRECISION, RECALL
from halfmax.metrics.objective import Objective
from halfmax.metrics.words import AVERAGE_WORDS, metric_name, name_of_rule
from halfmax.report.charts import kinds_of_curves
from halfmax.report.content import Content

MOST_ROWS = 30_000  # in the table of a decision
_DIGITS = 6  # for numbers that are only displayed; counts and thresholds are exact


def numbers_of(content: Content) -> dict[str, Any]:
    """Return all numbers: of labels, steps, rules, and of all labels pooled."""
    subject, stairs = content.subject, content.steps.stairs
    objective = subject.goal.objective
    return {
        "metric": _metric(objective),
        "average": subject.thresholds.average,
        "averages": AVERAGE_WORDS,
        "total": _exact(stairs.total[:1])[0],
        "names": content.names,
        "first": int(np.argmax(stairs.positives)),
        "labels": _labels(content),
        "steps": {
            "offsets": stairs.grid.offsets.tolist(),
            "threshold": _exact(stairs.thresholds),
            "tp": _exact(stairs.true_positives),
            "predicted": _exact(stairs.predicted),
            **_scores_if_needed(content),
        },
        "rules": [
            {"key": rule.key, "name": rule.name, "at": content.steps.marks[rule.key].tolist()}
            for rule in content.rules
        ],
        "pooled": _pooled(content),
        "findings": list(FINDINGS),
        "curves": kinds_of_curves(metric_name(objective.metric.name)),
        "half_max": name_of_rule(objective.metric.name),
        "decision": _decision(content),
    }


def as_html_json(content: Any) -> str:
    """Return JSON that cannot close the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _metric(objective: Objective) -> dict[str, Any]:
    """Return the metric's name and, if it is a ratio of counts, its weights; NaN is null."""
    metric = objective.metric
    return {
        "name": metric_name(metric.name),
        "parts": _parts(metric),
        "precision": _parts(PRECISION),
        "recall": _parts(RECALL),
        "zero": _known(objective.zero_division),
    }


def _parts(metric: Any) -> Any:
    return metric.parts if isinstance(metric, LinearFractional) else None


def _labels(content: Content) -> dict[str, Any]:
    choice, assessed = content.tuned.choice, content.assessment
    size = len(content.names)
    low = high = expected = np.full(size, np.nan)
    if assessed is not None:
        expected = assessed.label_expected_scores
        if content.subject.tuned_here:
            low, high = (np.broadcast_to(end, size) for end in assessed.threshold_interval)
    found = {name: 1 << place for place, name in enumerate(FINDINGS)}
    return {
        "threshold": _exact(choice.thresholds),
        "tp": _exact(choice.counts.true_positives),
        "predicted": _exact(choice.counts.predicted),
        "support": _exact(choice.counts.positives),
        "score": _short(content.label_scores) if _needs_scores(content) else None,
        "expected": _short(expected),
        "low": _short(low),
        "high": _short(high),
        "half_max": _short(content.half_max),
        "found": [sum(found[name] for name in names) for names in content.findings],
    }


def _needs_scores(content: Content) -> bool:
    return _parts(content.subject.goal.objective.metric) is None


def _scores_if_needed(content: Content) -> dict[str, Any]:
    """Return the score of each step and of predicting no rows, if the page cannot compute it."""
    if not _needs_scores(content):
        return {"score": None, "nobody": None}
    objective, stairs = content.objective, content.steps.stairs
    label = stairs.grid.columns
    at_steps = objective(
        stairs.true_positives, stairs.predicted, stairs.positives[label], stairs.total[label]
    )
    at_none = objective(0, 0, stairs.positives, stairs.total)
    return {"score": _exact(at_steps), "nobody": _exact(at_none)}


def _pooled(content: Content) -> dict[str, Any] | None:
    pooled = content.pooled
    if pooled is None:
        return None
    return {
        "threshold": _exact(pooled.thresholds[1:]),
        "tp": _exact(pooled.true_positives[1:]),
        "predicted": _exact(pooled.predicted[1:]),
        "support": float(pooled.positives),
        "total": float(pooled.total),
        "scores": {average: _exact(scores[1:]) for average, scores in pooled.scores.items()},
        "nobody": {average: _known(float(scores[0])) for average, scores in pooled.scores.items()},
        "best": {average: _known(value) for average, value in content.best_shared.items()},
        "usual": float(content.usual.choice.thresholds[0]),
    }


def _decision(content: Content) -> dict[str, Any] | None:
    """Return the first rows of the table of a decision."""
    decision = content.subject.request.decision
    if decision is None:
        return None
    table = _columns_of(decision._plain_table())
    if decision.labels is None and decision.average == "macro":
        table["label"] = _named(content.names, table["label"])
    return {name.replace("_", " "): column for name, column in table.items()}


def _named(names: list[str], places: list[Any]) -> list[Any]:
    """Return the names of the labels, if the decision has as many."""
    return names if len(names) == len(places) else places


def _columns_of(table: Table) -> dict[str, Any]:
    """Return the first rows of a table, by column."""
    return {
        name: _short(np.asarray(column)[:MOST_ROWS])
        if np.asarray(column).dtype.kind in "fiub"
        else [str(value) for value in column[:MOST_ROWS]]
        for name, column in table.items()
    }


def _exact(values: Array) -> list[Any]:
    """Return exact numbers; null stands for those that JSON lacks."""
    return [_known(value) for value in np.asarray(values).tolist()]


def _short(values: Array) -> list[Any]:
    """Return numbers for display, in few digits."""
    if values.dtype.kind != "f":
        return _exact(values)
    return [_known(float(f"{value:.{_DIGITS}g}")) for value in values.tolist()]


def _known(value: Any) -> Any:
    """Return a number for JSON: None if it is not finite, an int if it is whole."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    return value
