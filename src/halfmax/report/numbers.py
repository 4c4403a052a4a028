"""The numbers for the scripts of the page, as JSON that is safe inside HTML.

Scores are as the page shows them: those of costs are the costs.
"""

import json
import math
from typing import Any

import numpy as np

from halfmax._core.result import Table
from halfmax._core.types import Array
from halfmax.honesty.diagnosis import FINDINGS
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.named import PRECISION, RECALL
from halfmax.metrics.words import name_of_rule
from halfmax.report.charts import kinds_of_curves
from halfmax.report.content import Content
from halfmax.report.parts.rules import PLUG_IN, USUAL
from halfmax.staircase.grid import equivalent

MOST_ROWS = 30_000  # in the table of a decision
_DIGITS = 6  # for numbers that are only displayed; counts and thresholds are exact


def numbers_of(content: Content) -> dict[str, Any]:
    """Return all numbers: of labels, steps, rules, and of all labels pooled."""
    subject, words, stairs = content.subject, content.words, content.steps.stairs
    return {
        "metric": _metric(content),
        "average": subject.thresholds.average,
        "averages": {
            average: {"score": words.name_of(average), "best": words.name_of_best(average)}
            for average in words.averages
        },
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
        "curves": kinds_of_curves(words.name),
        "half_max": name_of_rule(words.metric),
        "decision": _decision(content),
    }


def as_html_json(content: Any) -> str:
    """Return JSON that cannot close the script element that contains it."""
    text = json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def _metric(content: Content) -> dict[str, Any]:
    """Return the metric's name and, if it is a ratio of counts, its weights; NaN is null."""
    objective, words = content.objective, content.words
    parts = _parts(objective.metric)
    if parts is not None and words.is_cost:
        parts = [words.value(weight) for weight in parts[0]], parts[1]
    return {
        "name": words.name,
        "decimals": words.decimals,
        "parts": parts,
        "precision": _parts(PRECISION),
        "recall": _parts(RECALL),
        "zero": _known(objective.zero_division),
    }


def _parts(metric: Any) -> Any:
    return metric.parts if isinstance(metric, LinearFractional) else None


def _labels(content: Content) -> dict[str, Any]:
    choice, assessed, words = content.tuned.choice, content.assessment, content.words
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
        "score": _short(words.value(content.label_scores)) if _needs_scores(content) else None,
        "expected": _short(words.value(expected)),
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
    value = content.words.value
    return {"score": _exact(value(at_steps)), "nobody": _exact(value(at_none))}


def _pooled(content: Content) -> dict[str, Any] | None:
    pooled = content.pooled
    if pooled is None:
        return None
    scores = {average: content.words.value(some) for average, some in pooled.scores.items()}
    return {
        "threshold": _exact(pooled.thresholds[1:]),
        "tp": _exact(pooled.true_positives[1:]),
        "predicted": _exact(pooled.predicted[1:]),
        "support": float(pooled.positives),
        "total": float(pooled.total),
        "scores": {average: _exact(some[1:]) for average, some in scores.items()},
        "nobody": {average: _known(float(some[0])) for average, some in scores.items()},
        "best": {average: _known(value) for average, value in content.best_shared.items()},
        "cuts": _cuts(content),
    }


def _cuts(content: Content) -> list[dict[str, Any]]:
    """Return the rules with one threshold for all that are not the best of an average."""
    kind = content.subject.data.scores.dtype
    return [
        {
            "key": rule.key,
            "name": rule.name,
            "at": float(equivalent(rule.choice.thresholds[:1], kind)[0]),
        }
        for rule in content.rules
        if rule.key in (USUAL, PLUG_IN)
    ]


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
