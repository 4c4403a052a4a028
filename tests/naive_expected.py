"""Slow twins of decisions without labels: every outcome tried in exact fractions, or plain sums.

Everything is a sum of positive terms, so that the twins in floats lose nothing to cancellation.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import fsum, prod, sqrt
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import metric_value, numbers

UNIT = 1 << 1074  # a float between 0 and 1 is a whole number of units
TIE = Fraction(1, 10**13)
BLUR = Fraction(1, 10**322)  # a few of the smallest floats: no result is closer to 0 than that

Law = dict[tuple[int, ...], Fraction]  # the probability of each label vector

AWKWARD = (0.0, 1.0, 0.5, 0.25, 0.1, 1 / 3, 1e-9, 1e-200, 1e-310, 5e-324, 1 - 2**-53, 0.5 + 2**-53)
zero_divisions = st.sampled_from([0.0, 1.0, 0.5])


class Best(NamedTuple):
    """The smallest of the best k, what it earns, and all that rounding may answer instead."""

    k: int
    score: Any
    allowed: list[int]


@st.composite
def probabilities(draw: Any, shape: Any) -> Any:
    """Exact 0 and 1, ties, neighbouring floats, subnormals, and ordinary ones."""
    kind = draw(st.sampled_from(["mixed", "mixed", "ties", "any", "narrow", "constant", "small"]))
    of_kind: dict[str, Any] = {
        "mixed": st.sampled_from(AWKWARD) | st.floats(0.0, 1.0),
        "ties": st.sampled_from([0.0, 0.2, 0.5, 1.0]),
        "any": st.floats(0.0, 1.0),
        "narrow": st.integers(-3, 3).map(lambda step: 0.3 + step * 2**-54),
        "constant": st.just(draw(st.sampled_from(AWKWARD) | st.floats(0.0, 1.0))),
        "small": st.floats(0.0, 1e-6),
    }
    p = draw(hnp.arrays(np.float64, shape, elements=of_kind[kind], fill=st.nothing()))
    return p.astype(draw(st.sampled_from([np.float64, np.float64, np.float32])))


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


def best_k(curve: Any, min_k: int = 0, max_k: int | None = None) -> Best:
    """Answers no worse than a tie, and not above the smallest of the best."""
    last = len(curve) - 1 if max_k is None else min(max_k, len(curve) - 1)
    choices = range(min_k, last + 1)
    top = max(curve[k] for k in choices)
    first = next(k for k in choices if curve[k] == top)
    allowed = [k for k in range(min_k, first + 1) if curve[k] >= top - TIE * Fraction(top)]
    if 0 < top < BLUR / TIE:
        allowed = [k for k in choices if curve[k] >= top - BLUR]
    return Best(first, top, allowed)


# Independent items: how many of the first k are true, and how many of the rest.


def prefixes(p: Any) -> list[Any]:
    """The law of the number of true items among the first k, for each k."""
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
    """q and p_empty of labels that know nothing of each other."""
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
