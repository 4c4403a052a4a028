"""Slow twins of what halfmax computes: plain loops, every threshold tried, exact fractions."""

from fractions import Fraction
from itertools import product
from math import inf, isnan, nan, prod, sqrt
from typing import Any, NamedTuple

import numpy as np

SLACK = 1e-12
WHOLE_RATIOS = ("f1", "f0.5", "f2", "jaccard", "accuracy", "precision", "recall", "gain")


class Best(NamedTuple):
    """The highest of the best thresholds, what it reaches, and all that may be answered.

    Where sums of floats blur ties, any of the equally good thresholds may be answered.
    """

    threshold: Any
    score: Any
    allowed: list[Any]


def same(a: Any, b: Any) -> bool:
    """Equal up to rounding, NaN included."""
    a, b = float(a), float(b)
    return (isnan(a) and isnan(b)) or abs(a - b) <= SLACK


def numbers(values: Any) -> list[Any]:
    """Scores as Python floats, which hold every float16, float32 and float64."""
    array = np.asarray(values)
    if array.ndim == 2:
        return [numbers(row) for row in array]
    return [float(value) for value in array.tolist()]


def whole(values: Any) -> list[Any]:
    array = np.asarray(values)
    if array.ndim == 2:
        return [whole(row) for row in array]
    return [int(value) for value in array.tolist()]


def exact_weights(weights: Any, size: int) -> list[Fraction]:
    if weights is None:
        return [Fraction(1)] * size
    return [Fraction(value) for value in np.asarray(weights).tolist()]


def column(matrix: Any, j: int) -> list[Any]:
    return [row[j] for row in matrix]


def predict(s: Any, threshold: Any) -> list[Any]:
    """0/1 for 1-D scores and one threshold, or for rows x labels and one or many thresholds."""
    s = numbers(s)
    if not isinstance(s[0], list):
        return [int(score != -inf and score >= threshold) for score in s]
    limits = list(threshold) if np.ndim(threshold) else [threshold] * len(s[0])
    columns = [predict(column(s, j), limits[j]) for j in range(len(s[0]))]
    return [[labels[i] for labels in columns] for i in range(len(s))]


def confusion(y: Any, predicted: Any, weights: Any = None) -> tuple[Fraction, ...]:
    tp = fp = fn = tn = Fraction(0)
    for truth, guess, weight in zip(y, predicted, exact_weights(weights, len(y)), strict=True):
        if truth and guess:
            tp += weight
        elif guess:
            fp += weight
        elif truth:
            fn += weight
        else:
            tn += weight
    return tp, fp, fn, tn


def metric_value(name: str, tp: Any, fp: Any, fn: Any, tn: Any, zero_division: Any = 0) -> Any:
    if name == "fowlkes-mallows":
        below: Any = sqrt((tp + fp) * (tp + fn))
        above: Any = float(tp)
    elif name == "gain":
        above, below = 4 * tp - fp, tp + fp + fn + tn
    elif name == "jaccard":
        above, below = tp, tp + fp + fn
    elif name == "accuracy":
        above, below = tp + tn, tp + fp + fn + tn
    elif name == "precision":
        above, below = tp, tp + fp
    elif name == "recall":
        above, below = tp, tp + fn
    else:
        b2 = Fraction(name.removeprefix("f")) ** 2
        above, below = (1 + b2) * tp, (1 + b2) * tp + fp + b2 * fn
    if below:
        return above / below
    return nan if isnan(zero_division) else Fraction(zero_division)


def mean(values: list[Any], weights: list[Fraction]) -> Any:
    """The weighted mean of what is not NaN."""
    known = [(v, w) for v, w in zip(values, weights, strict=True) if not isnan(v)]
    left = sum(w for _, w in known)
    return sum(v * w for v, w in known) / left if left else nan


def score(
    y_true: Any,
    y_pred: Any,
    metric: str = "f1",
    average: str = "macro",
    weights: Any = None,
    zero_division: Any = 0,
) -> Any:
    y, guess = whole(y_true), whole(y_pred)
    if not isinstance(y[0], list):
        return metric_value(metric, *confusion(y, guess, weights), zero_division)
    if average == "samples":
        of_rows = [
            metric_value(metric, *confusion(*pair), zero_division)
            for pair in zip(y, guess, strict=True)
        ]
        return mean(of_rows, exact_weights(weights, len(y)))
    counts = [confusion(column(y, j), column(guess, j), weights) for j in range(len(y[0]))]
    if average == "micro":
        return metric_value(metric, *pooled(counts), zero_division)
    of_labels = [metric_value(metric, *label, zero_division) for label in counts]
    return mean(of_labels, [Fraction(1)] * len(of_labels))


def pooled(counts: Any) -> tuple[Any, ...]:
    return tuple(sum(part) for part in zip(*counts, strict=True))


def thresholds_of(s: Any) -> list[float]:
    """+inf and every distinct finite score, from high to low; -0.0 is 0.0."""
    finite = {value + 0.0 for value in np.ravel(numbers(s)).tolist() if value != -inf}
    return [inf, *sorted(finite, reverse=True)]


def keeps_floors(
    counts: Any, zero_division: Any, min_precision: float | None, min_recall: float | None
) -> bool:
    for name, floor in (("precision", min_precision), ("recall", min_recall)):
        if floor is not None and not float(metric_value(name, *counts, zero_division)) >= floor:
            return False
    return True


def ties_are_exact(metric: str, weights: Any) -> bool:
    """Counts that are whole numbers give the same float wherever two ratios are equal."""
    blurred = weights is not None and (np.asarray(weights) % 1 != 0).any()
    return metric in WHOLE_RATIOS and not blurred


def pick(choices: list[tuple[Any, Any]], exact: bool) -> Best:
    """The best of (threshold, score) pairs that come from high to low."""
    top = max(value for _, value in choices)
    equals = [t for t, value in choices if (value == top if exact else value >= top - SLACK)]
    return Best(equals[0], top, equals[:1] if exact else equals)


def best_threshold(
    y: Any,
    s: Any,
    metric: str = "f1",
    weights: Any = None,
    zero_division: Any = 0,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> Best:
    y, choices = whole(y), []
    nobody = metric_value(metric, *confusion(y, [0] * len(y), weights), zero_division)
    for threshold in thresholds_of(s):
        counts = confusion(y, predict(s, threshold), weights)
        if keeps_floors(counts, zero_division, min_precision, min_recall):
            choices.append((threshold, metric_value(metric, *counts, zero_division)))
    return pick(choices or [(inf, nobody)], ties_are_exact(metric, weights))


def best_each_label(y: Any, s: Any, *args: Any, **kwargs: Any) -> list[Best]:
    y, s = whole(y), numbers(s)
    return [best_threshold(column(y, j), column(s, j), *args, **kwargs) for j in range(len(y[0]))]


def best_shared(
    y: Any,
    s: Any,
    metric: str = "f1",
    average: str = "macro",
    weights: Any = None,
    zero_division: Any = 0,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> Best:
    choices = []
    for threshold in thresholds_of(s):
        guess = predict(s, threshold)
        if min_precision is not None or min_recall is not None:  # floors of the pooled counts
            pairs = zip(zip(*whole(y), strict=True), zip(*guess, strict=True), strict=True)
            counts = pooled([confusion(*pair, weights) for pair in pairs])
            if not keeps_floors(counts, zero_division, min_precision, min_recall):
                continue
        choices.append((threshold, score(y, guess, metric, average, weights, zero_division)))
    if not choices:
        nobody = score(y, predict(s, inf), metric, average, weights, zero_division)
        choices = [(inf, nobody)]
    return pick(choices, ties_are_exact(metric, weights))


def best_micro_per_label(
    y: Any,
    s: Any,
    metric: str = "f1",
    weights: Any = None,
    zero_division: Any = 0,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> Best:
    """Every combination of thresholds; among equals the fewest predictions win."""
    y, s = whole(y), numbers(s)
    of_label = []
    for j in range(len(y[0])):
        label = column(s, j)
        of_label.append(
            [(t, confusion(column(y, j), predict(label, t), weights)) for t in thresholds_of(label)]
        )
    assert prod(map(len, of_label)) <= 5000, "too many combinations to try"
    choices = []
    for combination in product(*of_label):
        counts = pooled([counts for _, counts in combination])
        if keeps_floors(counts, zero_division, min_precision, min_recall):
            value = metric_value(metric, *counts, zero_division)
            choices.append((tuple(t for t, _ in combination), value, counts[0] + counts[1]))
    if not choices:
        nobody = [labels[0] for labels in of_label]
        value = metric_value(metric, *pooled([counts for _, counts in nobody]), zero_division)
        choices = [(tuple(t for t, _ in nobody), value, 0)]
    top = max(value for _, value, _ in choices)
    if not ties_are_exact(metric, weights):
        allowed = [t for t, value, _ in choices if value >= top - SLACK]
        return Best(allowed[0], top, allowed)
    equals = [(t, predicted) for t, value, predicted in choices if value == top]
    fewest = min(predicted for _, predicted in equals)
    allowed = [t for t, predicted in equals if predicted == fewest]
    allowed = [t for t in allowed if not any(is_higher(other, t) for other in allowed)]
    return Best(allowed[0], top, allowed)


def is_higher(some: tuple[float, ...], others: tuple[float, ...]) -> bool:
    return some != others and all(a >= b for a, b in zip(some, others, strict=True))


def staircase(y: Any, s: Any, weights: Any = None) -> list[tuple[float, Fraction, Fraction]]:
    """Score, true positives and predicted at each positive's score, from high to low."""
    y, s = whole(y), numbers(s)
    of_positives = {score + 0.0 for truth, score in zip(y, s, strict=True) if truth}
    steps = []
    for threshold in sorted(of_positives - {-inf}, reverse=True):
        tp, fp, _, _ = confusion(y, predict(s, threshold), weights)
        steps.append((threshold, tp, tp + fp))
    return steps
