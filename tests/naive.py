"""Slow twins of what halfmax computes: plain loops, everything tried, exact fractions.

Twins in floats are sums of positive terms, so that they lose nothing to cancellation.
"""

import struct
from collections import Counter
from fractions import Fraction
from itertools import pairwise, product
from math import fsum, inf, isnan, nan, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from naive_metrics import FORMULAS, minus_cost
from scipy import stats

SLACK = 1e-12
UNIT = 1 << 1074  # a float between 0 and 1 is a whole number of units
TIE = Fraction(1, 10**13)
BLUR = Fraction(1, 10**322)  # a few of the smallest floats: no result is closer to 0 than that

Law = dict[tuple[int, ...], Fraction]  # the probability of each label vector


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


def metric_value(name: Any, tp: Any, fp: Any, fn: Any, tn: Any, zero_division: Any = 0) -> Any:
    """The metric of that name, or the ratio of two sums of whole weights of the counts.

    Costs are a dictionary; any other function of the counts is the attribute ``formula``.
    """
    if isinstance(name, dict):
        return minus_cost(name, tp, fp, fn, tn)
    formula = FORMULAS.get(name) if isinstance(name, str) else getattr(name, "formula", None)
    if formula is not None:
        value = formula(tp, fp, fn, tn)
        return zero_division if isnan(value) else value
    if not isinstance(name, str):
        above, below = (
            sum(int(w) * count for w, count in zip(part, (tp, fp, fn, tn), strict=True))
            for part in name.parts
        )
    elif name == "fowlkes-mallows":
        below = sqrt((tp + fp) * (tp + fn))
        above = float(tp)
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
    positives = [label[0] + label[2] for label in counts]
    known = [support for support, value in zip(positives, of_labels, strict=True) if value == value]
    by_support = average == "weighted" and any(known)
    return mean(of_labels, positives if by_support else [Fraction(1)] * len(of_labels))


def pooled(counts: Any) -> tuple[Any, ...]:
    return tuple(sum(part) for part in zip(*counts, strict=True))


def thresholds_of(s: Any) -> list[float]:
    """+inf and every distinct finite score, from high to low; -0.0 is 0.0."""
    finite = {value + 0.0 for value in np.ravel(numbers(s)).tolist() if value != -inf}
    return [inf, *sorted(finite, reverse=True)]


def keeps_floors(
    counts: Any,
    zero_division: Any,
    min_precision: float | None = None,
    min_recall: float | None = None,
    min_specificity: float | None = None,
    max_predicted: float | None = None,
) -> bool:
    floors = {"precision": min_precision, "recall": min_recall, "specificity": min_specificity}
    for name, floor in floors.items():
        if floor and not float(metric_value(name, *counts, zero_division)) >= floor:
            return False
    if max_predicted is None:
        return True
    most = max_predicted if max_predicted >= 1 else Fraction(max_predicted) * sum(counts)
    return bool(counts[0] + counts[1] <= most)


def ties_are_exact(metric: str, weights: Any) -> bool:
    """Whether equal ratios give equal floats, which they do for whole counts."""
    blurred = weights is not None and (np.asarray(weights) % 1 != 0).any()
    return not hasattr(metric, "formula") and metric != "fowlkes-mallows" and not blurred


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
    *floors: float | None,
    **limits: float | None,
) -> Best:
    y, choices = whole(y), []
    nobody = metric_value(metric, *confusion(y, [0] * len(y), weights), zero_division)
    for threshold in thresholds_of(s):
        counts = confusion(y, predict(s, threshold), weights)
        if keeps_floors(counts, zero_division, *floors, **limits):
            choices.append((threshold, metric_value(metric, *counts, zero_division)))
    return pick(choices or [(inf, nobody)], ties_are_exact(metric, weights))


def mean_cost_of_rows(y: Any, guess: Any, costs: dict[str, Any], weights: Any = None) -> Fraction:
    """The mean cost of predictions, where every row has its own costs."""
    heavy = exact_weights(weights, len(guess))
    price = {name: [Fraction(str(value)) for value in row] for name, row in costs.items()}
    outcome = {(1, 1): "tp", (0, 1): "fp", (1, 0): "fn", (0, 0): "tn"}
    pairs = enumerate(zip(whole(y), guess, strict=True))
    return sum(heavy[i] * price[outcome[pair]][i] for i, pair in pairs) / sum(heavy)


def best_threshold_of_rows(
    y: Any, s: Any, costs: dict[str, Any], weights: Any = None, **limits: float | None
) -> Best:
    """The threshold with the lowest mean cost, where every row has its own costs."""
    y, choices = whole(y), []
    for threshold in thresholds_of(s):
        guess = predict(s, threshold)
        if threshold == inf or keeps_floors(confusion(y, guess, weights), 0, **limits):
            choices.append((threshold, -mean_cost_of_rows(y, guess, costs, weights)))
    if len(choices) > 1 and not keeps_floors(confusion(y, predict(s, inf), weights), 0, **limits):
        choices = choices[1:]
    return pick(choices, exact=False)


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
    *floors: float | None,
    **limits: float | None,
) -> Best:
    choices = []
    for threshold in thresholds_of(s):
        guess = predict(s, threshold)
        if floors or limits:  # of the pooled counts
            pairs = zip(zip(*whole(y), strict=True), zip(*guess, strict=True), strict=True)
            counts = pooled([confusion(*pair, weights) for pair in pairs])
            if not keeps_floors(counts, zero_division, *floors, **limits):
                continue
        choices.append((threshold, score(y, guess, metric, average, weights, zero_division)))
    if not choices:
        nobody = score(y, predict(s, inf), metric, average, weights, zero_division)
        choices = [(inf, nobody)]
    return pick(choices, ties_are_exact(metric, weights))


def ascend_samples(
    y: Any, s: Any, metric: str, weights: Any, zero_division: Any, start: float
) -> list[float]:
    """Move one label after the other to its best threshold for the mean over rows.

    It starts with one threshold for all labels and ends when none moves. A label that gains nothing
    over predicting no row predicts no row; the highest of equal thresholds wins.
    """
    n_labels = len(numbers(s)[0])
    chosen = [start] * n_labels
    predicted = predict(s, chosen)
    for _ in range(100):
        before = predicted
        for j in range(n_labels):
            choices = thresholds_of([row[j : j + 1] for row in numbers(s)])
            tried = [[*chosen[:j], threshold, *chosen[j + 1 :]] for threshold in choices]
            values = [
                score(y, predict(s, one), metric, "samples", weights, zero_division)
                for one in tried
            ]
            best = max(values)
            first = next(k for k, value in enumerate(values) if value >= best - TIE)
            chosen = tried[0 if best - values[0] <= TIE else first]
        predicted = predict(s, chosen)
        if predicted == before:
            break
    return chosen


def best_micro_per_label(
    y: Any,
    s: Any,
    metric: str = "f1",
    weights: Any = None,
    zero_division: Any = 0,
    *floors: float | None,
    **limits: float | None,
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
        if keeps_floors(counts, zero_division, *floors, **limits):
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


# Long tables.


class Swept(NamedTuple):
    """The highest of the best thresholds of one label, and the counts at it."""

    threshold: float
    value: Any
    true_positives: Fraction
    predicted: Fraction
    positives: Fraction
    total: Fraction


def sweep(
    rows: list[tuple[float, int, int]], metric: str = "f1", zero_division: Any = 0, absent: int = 0
) -> Swept:
    """From the highest score down, over (score, truth, weight); absent rows are negatives."""
    total = sum((Fraction(weight) for _, _, weight in rows), Fraction(absent))
    positives = sum((Fraction(weight) for _, truth, weight in rows if truth), Fraction(0))
    tp = predicted = Fraction(0)
    best = None
    for threshold in [inf, *sorted({score for score, _, _ in rows} - {-inf}, reverse=True)]:
        for score, truth, weight in rows:
            if score == threshold:
                predicted += weight
                tp += weight * truth
        rest = predicted - tp, positives - tp, total - predicted - positives + tp
        value = metric_value(metric, tp, *rest, zero_division)
        if best is None or value > best.value:
            best = Swept(threshold, value, tp, predicted, positives, total)
    assert best is not None
    return best


def by_label(rows: Any) -> dict[Any, list[tuple[float, int, int]]]:
    """Rows of a long table, (label, score, truth, weight), one list for each label in order."""
    found: dict[Any, list[tuple[float, int, int]]] = {}
    for label, *row in rows:
        found.setdefault(label, []).append(tuple(row))
    return {label: found[label] for label in sorted(found)}


# Decisions without labels.


class BestCount(NamedTuple):
    """The smallest of the best k, what it earns, and all that rounding may answer instead."""

    k: int
    score: Any
    allowed: list[int]


def assert_close(got: Any, expected: Any) -> None:
    """Equal to twelve digits; below the smallest normal number floats have fewer."""
    expected = np.array(expected, np.float64)
    np.testing.assert_allclose(got, expected, rtol=1e-12, atol=float(BLUR), strict=True)


def beta_squared(metric: str) -> float:
    return float(metric.removeprefix("f")) ** 2


def ranked(p: Any) -> list[int]:
    """Positions from the most to the least probable; of equals the earliest first."""
    p = numbers(p)
    return sorted(range(len(p)), key=lambda i: -p[i])


# Independent items: all 2^n outcomes.


def expected_curve(p: Any, metric: str = "f1", zero_division: Any = 0) -> list[Fraction]:
    n, units = len(p), sorted((int(Fraction(x) * UNIT) for x in numbers(p)), reverse=True)
    chances: Counter[tuple[int, int, int]] = Counter()
    for y in product((0, 1), repeat=n):
        chance = prod(x if true else UNIT - x for x, true in zip(units, y, strict=True))
        for k in range(n + 1):
            chances[k, sum(y[:k]), sum(y)] += chance
    curve = [Fraction(0)] * (n + 1)
    for (k, tp, size), chance in chances.items():
        counts = map(Fraction, (tp, k - tp, size - tp, n - k - size + tp))
        curve[k] += chance * metric_value(metric, *counts, zero_division)
    return [value / UNIT**n for value in curve]


def best_k(curve: Any, min_k: int = 0, max_k: int | None = None) -> BestCount:
    """Answers no worse than a tie, and not above the smallest of the best."""
    last = len(curve) - 1 if max_k is None else min(max_k, len(curve) - 1)
    choices = range(min_k, last + 1)
    top = max(curve[k] for k in choices)
    first = next(k for k in choices if curve[k] == top)
    allowed = [k for k in range(min_k, first + 1) if curve[k] >= top - TIE * Fraction(top)]
    if 0 < top < BLUR / TIE:
        allowed = [k for k in choices if curve[k] >= top - BLUR]
    return BestCount(first, top, allowed)


# Independent items: how many of the first k are true, and how many of the rest.


def prefixes(p: Any) -> list[Any]:
    """The distribution of the number of true items among the first k, for each k."""
    laws = [np.ones(1)]
    for x in p:
        laws.append(np.append(laws[-1] * (1 - x), 0.0) + np.append(0.0, laws[-1] * x))
    return laws


def convolved_curve(
    p: Any, metric: str = "f1", zero_division: float = 0.0, at: Any = None
) -> list[float]:
    """The expected metric at each k, or at some k; floats."""
    p = np.sort(np.array(numbers(p)))[::-1]
    n, heads, tails = len(p), prefixes(p), prefixes(p[::-1])[::-1]
    sizes, nothing = np.arange(n + 1), zero_division * heads[-1][0]
    curve = []
    for k in range(n + 1) if at is None else at:
        if metric == "accuracy":
            curve.append(fsum([*p[:k], *(1 - p[k:])]) / n)
        elif metric == "precision":
            curve.append(fsum(p[:k]) / k if k else zero_division)
        elif metric == "recall":
            hits = np.convolve(sizes[: k + 1] * heads[k], tails[k])
            curve.append(fsum([*hits[1:] / sizes[1:], nothing]))
        elif k == 0:
            curve.append(nothing)
        elif metric == "jaccard":
            curve.append(fsum(p[:k]) * fsum(tails[k] / (k + sizes[: n - k + 1])))
        else:
            b2 = beta_squared(metric)
            hits = np.convolve(sizes[: k + 1] * heads[k], tails[k])  # E[tp; so many are true]
            curve.append(fsum((1 + b2) * hits / (k + b2 * sizes)))
    return curve


# Groups of equal items, of any size.


def binomial(n: int, p: float) -> tuple[int, Any]:
    """The first count that matters, and the probabilities from there on."""
    if n == 0 or p in (0.0, 1.0):
        return int(n * p), np.ones(1)
    mode, reach = int((n + 1) * p), int(12 * sqrt(n * p * (1 - p))) + 60
    below = np.arange(mode, max(mode - reach, 0), -1)
    above = np.arange(mode, min(mode + reach, n))
    falling = np.cumprod(below / (n - below + 1) * (1 - p) / p)
    rising = np.cumprod((n - above) / (above + 1) * p / (1 - p))
    chances = np.concatenate([falling[::-1], [1.0], rising])
    return mode - len(below), chances / fsum(chances)


def number_true(groups: list[tuple[int, float]]) -> tuple[Any, Any]:
    """Counts of true items, as far as they matter, and their probabilities."""
    first, chances = 0, np.ones(1)
    for n, p in groups:
        start, of_group = binomial(n, p)
        first, chances = first + start, np.convolve(chances, of_group)
    return first + np.arange(len(chances)), chances


def grouped_value(groups: list[tuple[int, float]], k: int, metric: str = "f1") -> float:
    """The expected metric at k >= 1 of groups (how many, how probable), most probable first."""
    head, tail, left = [], [], k
    for n, p in groups:
        taken = min(n, left)
        head, tail, left = [*head, (taken, p)], [*tail, (n - taken, p)], left - taken
    (hits, of_hits), (misses, of_misses) = number_true(head), number_true(tail)
    if metric == "jaccard":
        return fsum(n * p for n, p in head) * fsum(of_misses / (k + misses))
    of_sizes = np.convolve(hits * of_hits, of_misses)
    sizes = hits[0] + misses[0] + np.arange(len(of_sizes))
    if metric == "recall":
        return fsum(of_sizes[sizes > 0] / sizes[sizes > 0])
    b2 = beta_squared(metric)
    return fsum((1 + b2) * of_sizes / (k + b2 * sizes))


# A matrix in batches.


def batches(shape: tuple[int, ...], average: str) -> list[Any]:
    """The places of each batch in the flattened input."""
    places = np.arange(prod(shape)).reshape(shape)
    if len(shape) == 1 or average == "micro":
        return [places.ravel()]
    return list(places.T if average == "macro" else places)


def plug_in_threshold(metric: str, reached: float) -> float:
    if metric == "jaccard":
        return reached / (1 + reached)
    if metric in ("accuracy", "precision", "recall"):
        return {"accuracy": 0.5, "precision": reached, "recall": 0.0}[metric]
    return reached / (1 + beta_squared(metric))


# Dependent labels.


def joint(law: Law) -> tuple[Any, float]:
    """q[i, s-1] = P(y_i = 1 and |y| = s), and the probability of no label."""
    n = len(next(iter(law)))
    q = [[Fraction(0)] * n for _ in range(n)]
    for y, chance in law.items():
        for i in range(n):
            if y[i]:
                q[i][sum(y) - 1] += chance
    return np.array(q, np.float64), float(law.get((0,) * n, 0))


def expected_value(law: Law, h: Any, metric: str = "f1", zero_division: Any = 0) -> Fraction:
    total = Fraction(0)
    for y, chance in law.items():
        pairs = Counter(zip(y, map(int, h), strict=True))
        counts = (Fraction(pairs[cell]) for cell in ((1, 1), (0, 1), (1, 0), (0, 0)))
        total += chance * metric_value(metric, *counts, zero_division)
    return total


def best_value(
    law: Law,
    metric: str = "f1",
    zero_division: Any = 0,
    min_k: int = 0,
    max_k: int | None = None,
) -> Fraction:
    """The most that any set of labels earns."""
    n = len(next(iter(law)))
    last = n if max_k is None else max_k
    return max(
        expected_value(law, h, metric, zero_division)
        for h in product((0, 1), repeat=n)
        if min_k <= sum(h) <= last
    )


def independent_joint(p: Any) -> tuple[Any, float]:
    """q and p_empty of independent labels."""
    p = numbers(p)
    q = [x * prefixes(p[:i] + p[i + 1 :])[-1] for i, x in enumerate(p)]
    return np.array(q), float(prefixes(p)[-1][0])


def matrix_product_value(q: Any, p_empty: float, beta: float, zero_division: float = 0.0) -> float:
    """The most that any set of labels earns: for each k the k largest entries of a product."""
    n, b2 = len(q), beta * beta
    sizes, ks = np.arange(1, q.shape[1] + 1), np.arange(1, n + 1)
    gains = (1 + b2) * (q @ (1 / (ks + b2 * sizes[:, None])))
    of_k = [fsum(np.sort(gains[:, k - 1])[-k:]) for k in ks]
    return max(zero_division * p_empty, *of_k)


def joint_from_samples(draws: Any, weights: Any = None, max_size: int | None = None) -> Any:
    n = len(draws[0])
    weights = [1] * len(draws) if weights is None else weights
    q = [[Fraction(0)] * (n if max_size is None else max_size) for _ in range(n)]
    empty = Fraction(0)
    for y, weight in zip(draws, map(Fraction, weights), strict=True):
        empty += weight if not any(y) else 0
        for i in range(n):
            if y[i]:
                q[i][int(sum(y)) - 1] += weight
    total = sum(map(Fraction, weights))
    return np.array([[x / total for x in row] for row in q], np.float64), float(empty / total)


# Regions of known densities.


def measure(intervals: Any, distribution: Any) -> float:
    """The probability that a scipy distribution has on closed intervals."""
    inside = 0.0
    for low, high in intervals:
        right = distribution.sf(low) - distribution.sf(high)
        left = distribution.cdf(high) - distribution.cdf(low)
        inside += float(right if distribution.cdf(low) > 0.5 else left)
        if hasattr(distribution, "pmf"):
            inside += float(distribution.pmf(low))
    return inside


def region_counts(intervals: Any, positive: Any, negative: Any, b: float) -> tuple[float, ...]:
    """tp, fp, fn and tn of predicting the intervals, as fractions."""
    hit, alarm = measure(intervals, positive), measure(intervals, negative)
    return b * hit, (1 - b) * alarm, b * (1 - hit), (1 - b) * (1 - alarm)


def maximum(function: Any, low: float, high: float, steps: int = 20_001) -> float:
    """The largest value on an interval: a fine scan, then thirds around the best of it."""
    at = np.linspace(low, high, steps)
    best = int(np.argmax(function(at)))
    low, high = at[max(best - 1, 0)], at[min(best + 1, steps - 1)]
    while high - low > 1e-9 * max(abs(low), abs(high), 1.0):
        thirds = np.array([(2 * low + high) / 3, (low + 2 * high) / 3])
        left, right = function(thirds)
        low, high = (low, thirds[1]) if left >= right else (thirds[0], high)
    return float(max(function(np.array([low, high]))))


def best_ray(positive: Any, negative: Any, b: float, low: float, high: float, beta: Any = 1) -> Any:
    """The best F-beta of one threshold between low and high."""
    b2 = beta * beta

    def value(t: Any) -> Any:
        hit, alarm = positive.sf(t), negative.sf(t)
        return (1 + b2) * b * hit / (b * hit + (1 - b) * alarm + b2 * b)

    return maximum(value, low, high)


def best_union(edges: Any, positive: Any, negative: Any, b: float, beta: Any = 1) -> float:
    """The best F-beta of any union of the cells between neighbouring edges."""
    cells = list(pairwise(edges))
    chosen = np.array(list(product((0, 1), repeat=len(cells))))
    hit, alarm = (
        chosen @ [measure([cell], density) for cell in cells] for density in (positive, negative)
    )
    b2 = beta * beta
    return float(np.max((1 + b2) * b * hit / (b * hit + (1 - b) * alarm + b2 * b)))


Masses = list[tuple[Fraction, Fraction]]  # what each atom weighs among positives and negatives


def subset_counts(chosen: Any, masses: Masses, b: Fraction) -> tuple[Fraction, ...]:
    """tp, fp, fn and tn of predicting the chosen atoms, given as 0/1."""
    cells = [Fraction(0)] * 4
    for taken, (hit, alarm) in zip(chosen, masses, strict=True):
        cells[0 if taken else 2] += b * hit
        cells[1 if taken else 3] += (1 - b) * alarm
    return tuple(cells)


def best_subsets(masses: Masses, b: Fraction, metric: str) -> tuple[Any, list[Any]]:
    """The most that any set of atoms earns, and those of its sets that predict the least."""
    counts = {
        chosen: subset_counts(chosen, masses, b) for chosen in product((0, 1), repeat=len(masses))
    }
    values = {chosen: metric_value(metric, *cells) for chosen, cells in counts.items()}
    top = max(values.values())
    predicted = {chosen: sum(counts[chosen][:2]) for chosen in counts if values[chosen] == top}
    fewest = min(predicted.values())
    return top, [chosen for chosen, share in predicted.items() if share == fewest]


def bin_masses(histograms: Any) -> tuple[list[Fraction], Masses]:
    """The edges of two histograms (counts, edges) united, and what lies between each two."""
    exact = [([Fraction(x) for x in h], [Fraction(x) for x in e]) for h, e in histograms]
    edges = sorted({edge for _, of_one in exact for edge in of_one})

    def mass(counts: Any, of_one: Any, low: Fraction, high: Fraction) -> Fraction:
        inside = Fraction(0)
        for count, (start, end) in zip(counts, pairwise(of_one), strict=True):
            overlap = max(min(high, end) - max(low, start), Fraction(0))
            inside += count * overlap / (end - start)
        return inside / sum(counts)

    masses = [(mass(*exact[0], *span), mass(*exact[1], *span)) for span in pairwise(edges)]
    return edges, masses


# The winner's curse.


def chosen_counts(labels: Any) -> Any:
    """How many each run predicts, of labels in the order of their scores (runs x items)."""
    tp = np.cumsum(labels, axis=1)
    f1 = 2 * tp / (np.arange(1, labels.shape[1] + 1) + tp[:, -1:])
    return np.where(f1.max(axis=1) > 0, np.argmax(f1, axis=1) + 1, 0)


def winners_curse(n: int, b: float, runs: int, seed: int) -> Any:
    """Draw scores, sort them and sweep over them."""
    rng = np.random.default_rng(seed)
    scores, labels = rng.normal(b, 1.0, (runs, n)), rng.random((runs, n)) < b
    order = np.argsort(-scores, axis=1)
    return chosen_counts(np.take_along_axis(labels, order, axis=1)) / n


def winners_curse_law(n: int, b: float) -> Any:
    """The probability of predicting 0 to n items, over all 2^n label vectors."""
    labels = np.array(list(product((0, 1), repeat=n)))
    true = labels.sum(axis=1)
    return np.bincount(chosen_counts(labels), b**true * (1 - b) ** (n - true), minlength=n + 1)


# Drawing rows again, and leaving them out.


def resampled(y: Any, s: Any, runs: int, seed: int, metric: str = "f1") -> tuple[Any, Any]:
    """The best threshold of each run and its score; rows are weighted one by one and all swept."""
    rng = np.random.default_rng(seed)
    y, s = np.asarray(y, int), np.asarray(s, float)
    weights = rng.poisson(1.0, (runs, len(y)))
    positives, total = (weights * y).sum(axis=1), weights.sum(axis=1)
    order = np.argsort(-s)
    hits, predicted = (np.cumsum(w[:, order], axis=1) for w in (weights * y, weights))
    order = order[s[order] > -np.inf]
    ends = [k for k in range(len(order)) if k + 1 == len(order) or s[order[k + 1]] < s[order[k]]]
    thresholds, values = [inf, *s[order[ends]]], []
    for k in [-1, *ends]:
        tp = hits[:, k] if k >= 0 else np.zeros(runs)
        fp = predicted[:, k] - tp if k >= 0 else np.zeros(runs)
        top, bottom = {
            "f1": (2 * tp, tp + fp + positives),
            "jaccard": (tp, fp + positives),
            "accuracy": (tp + total - positives - fp, total),
        }[metric]
        values.append(np.where(bottom > 0, top / np.maximum(bottom, 1), 0.0))
    return np.array(thresholds)[np.argmax(values, axis=0)], np.max(values, axis=0)


def caught_unseen(y: Any, s: Any, metric: str = "f1") -> list[bool]:
    """For each positive, whether the best threshold without it would predict it."""
    y, s = whole(y), numbers(s)
    caught = []
    for i in range(len(y)):
        if y[i]:
            rest_y, rest_s = y[:i] + y[i + 1 :], s[:i] + s[i + 1 :]
            best = best_threshold(rest_y, rest_s, metric).threshold if rest_y else inf
            caught.append(s[i] != -inf and s[i] >= best)
    return caught


def linear_choice(y: Any, s: Any, per_hit: float, per_prediction: float) -> float:
    """The highest threshold with the largest weighted sum of hits and predictions."""
    best, at = 0.0, inf
    for threshold in sorted({score for score in numbers(s) if score != -inf}, reverse=True):
        predicted = [int(score >= threshold) for score in numbers(s)]
        hits = sum(a * b for a, b in zip(whole(y), predicted, strict=True))
        value = per_hit * hits + per_prediction * sum(predicted)
        if value > best + SLACK:
            best, at = value, threshold
    return at


def expected_of_hit(
    weights: tuple[float, ...], positives: int, tp: int, fp: int, law: tuple[float, float]
) -> float:
    """E of 1 / (weighted sum of tp, fp, fn) of new data with one hit and random other rows."""
    shape, rate = law
    per_hit, per_false, per_missed = weights
    most = 60 + 12 * positives
    others = stats.nbinom.pmf(np.arange(most), shape + positives, (rate + 1) / (rate + 2))
    false = stats.nbinom.pmf(np.arange(60 + 12 * fp), fp, 0.5) if fp else np.ones(1)
    value = 0.0
    for n, chance in enumerate(others):
        hits = stats.binom.pmf(np.arange(n + 1), n, tp / (positives + 1))
        for h, share in enumerate(hits):
            below = per_hit * (1 + h) + per_missed * (n - h) + per_false * np.arange(len(false))
            value += chance * share * (false / below).sum()
    return value


# Rows dealt to parts.


def dealt(truth: Any, shares: Any) -> list[int]:
    """The part of each row: labels from the rarest on, rows in order, then rows without labels."""
    truth = whole(truth)
    rows, labels = range(len(truth)), range(len(truth[0]))
    part_of: dict[int, int] = {}

    def roomiest(own: list[int]) -> int:
        """The part that lacks most of these rows; of several the one with most room, or first."""
        lacks = [share * len(own) for share in shares]
        room = [share * len(truth) for share in shares]
        for row, part in part_of.items():
            lacks[part] -= row in own
            room[part] -= 1
        return max(range(len(shares)), key=lambda part: (lacks[part], room[part]))

    for j in sorted(labels, key=lambda j: sum(column(truth, j))):
        own = [i for i in rows if truth[i][j]]
        for i in own:
            if i not in part_of:
                part_of[i] = roomiest(own)
    for i in rows:
        if i not in part_of:
            part_of[i] = roomiest(list(rows))
    return [part_of[i] for i in rows]


# Keys of rows: hashes of 64 bits, added up so that no order matters.

_WRAP = 1 << 64


def mixed(number: int) -> int:
    """The finaliser of splitmix64."""
    number = (number + 0x9E3779B97F4A7C15) % _WRAP
    number = (number ^ (number >> 30)) * 0xBF58476D1CE4E5B9 % _WRAP
    number = (number ^ (number >> 27)) * 0x94D049BB133111EB % _WRAP
    return number ^ (number >> 31)


def bits(number: float) -> int:
    """The 64 bits of a float; those of 0.0 for -0.0."""
    return int.from_bytes(struct.pack("<d", float(number) + 0.0), "little")


def keys_of_scores(s: Any, steps: list[list[float]], columns: list[int]) -> list[tuple[int, int]]:
    """For each row, sums of hashes: of labels' keys and steps, and of labels' keys and scores."""
    keys = []
    for row in np.asarray(s, np.float64):
        entries = [(x, *of) for x, *of in zip(row, steps, columns, strict=True) if x != -inf]
        by_step = sum(
            mixed((key + sum(bool(t > x) for t in own)) % _WRAP) for x, own, key in entries
        )
        by_value = sum(mixed((key + bits(x)) % _WRAP) for x, _, key in entries)
        keys.append((by_step % _WRAP, by_value % _WRAP))
    return keys
