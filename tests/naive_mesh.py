"""Slow twins of the tagger: every threshold tried, every document really left out."""

from fractions import Fraction
from typing import Any

import naive
import numpy as np
from sklearn.linear_model import Ridge


def highest_f1(probabilities: Any) -> Fraction:
    """The most that 2 sum_S p / (sum p + |S|) reaches, S the highest so and so many."""
    falling = sorted((Fraction(p) for p in probabilities), reverse=True)
    total, gained, best = sum(falling), Fraction(0), Fraction(0)
    for count, p in enumerate(falling, 1):
        gained += p
        best = max(best, 2 * gained / (total + count))
    return best


def ratio(probabilities: Any, predicted: Any) -> Fraction:
    """The F1 that predicting some of the items lets expect, as a ratio of expectations."""
    exact = [Fraction(p) for p in probabilities]
    gained = sum((p for p, chosen in zip(exact, predicted, strict=True) if chosen), Fraction(0))
    below = sum(exact) + sum(map(bool, predicted))
    return 2 * gained / below if below else Fraction(0)


def excess(probabilities: Any, cut: float) -> Fraction:
    """mean((p - cut)+), which is 0 where nobody is above the cut."""
    above = [max(Fraction(p) - Fraction(cut), Fraction(0)) for p in probabilities]
    return sum(above) / len(above)


def mean(probabilities: Any) -> Fraction:
    return sum(map(Fraction, probabilities)) / len(probabilities)


def predictions(scores: Any, of_labels: Any, of_documents: Any = None) -> list[list[bool]]:
    """What reaches the threshold of its label, and of its document if that has one."""
    rows = naive.numbers(scores)
    floors = [0.0] * len(rows) if of_documents is None else of_documents
    return [
        [score >= cut and score >= floor for score, cut in zip(row, of_labels, strict=True)]
        for row, floor in zip(rows, floors, strict=True)
    ]


def f1(truth: Any, predicted: Any) -> Fraction:
    """Of any pairs, 0 where it is 0/0."""
    pairs = list(zip(truth, predicted, strict=True))
    hits = sum(bool(t and p) for t, p in pairs)
    below = sum(bool(t) + bool(p) for t, p in pairs)
    return Fraction(2 * hits, below) if below else Fraction(0)


def fit_ridge(factors: Any, truth: Any, penalties: Any) -> Any:
    """scikit-learn's ridge, a penalty for each label; the intercept has none."""
    model = Ridge(alpha=np.broadcast_to(penalties, truth.shape[1]), solver="svd")
    return model.fit(np.asarray(factors, np.float64), np.asarray(truth, np.float64))


def left_out_outputs(factors: Any, truth: Any, penalties: Any) -> Any:
    """The output for each document by a ridge that is fitted to all others."""
    rows = []
    for i in range(len(factors)):
        model = fit_ridge(np.delete(factors, i, 0), np.delete(truth, i, 0), penalties)
        rows.append(model.predict(np.asarray(factors[i : i + 1], np.float64)).ravel())
    return np.array(rows)


def left_out_errors(factors: Any, truth: Any, tried: Any) -> Any:
    """Penalties x labels: mean squared errors of the above, all penalties side by side."""
    side_by_side = np.tile(truth, (1, len(tried)))
    outputs = left_out_outputs(factors, side_by_side, np.repeat(tried, truth.shape[1]))
    return ((side_by_side - outputs) ** 2).mean(axis=0).reshape(len(tried), -1)


def counts(mesh: list[tuple[str, ...]]) -> dict[str, int]:
    """How many of the documents have each term."""
    names = sorted({term for terms in mesh for term in terms})
    return {name: sum(name in terms for terms in mesh) for name in names}


def truth(mesh: list[tuple[str, ...]], terms: list[str]) -> list[list[int]]:
    return [[int(term in own) for term in terms] for own in mesh]
