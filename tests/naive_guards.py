"""Slow twins of what the guards compute: plain loops, one label and one row at a time."""

from math import comb, exp, inf, log, sqrt
from typing import Any

import naive
import numpy as np
from scipy import stats


def rows_of(s: Any, y: Any) -> tuple[list[Any], list[Any]]:
    """Scores and truth as rows of labels; one classifier is one label."""
    s, y = naive.numbers(s), naive.whole(y)
    if not isinstance(s[0], list):
        s, y = [[value] for value in s], [[value] for value in y]
    return s, y


def positive_scores(y: Any, s: Any) -> list[float]:
    """The distinct scores of all labels' positives that can be reached, from high to low."""
    s, y = rows_of(s, y)
    found = {
        score + 0.0
        for scores, truths in zip(s, y, strict=True)
        for score, truth in zip(scores, truths, strict=True)
        if truth and score > -inf
    }
    return sorted(found, reverse=True)


def rows_worth(rows: int, weights: Any = None) -> float:
    """The effective sample size (Kish): the number of equal weights with as much information."""
    w = [1.0] * rows if weights is None else [float(x) for x in weights]
    return sum(w) ** 2 / sum(x * x for x in w)


def band_counts(y: Any, s: Any, edges: Any, weights: Any = None) -> tuple[Any, Any]:
    """Rows and positives of each label and band; weights add up to the effective sample size."""
    s, y = rows_of(s, y)
    w = [1.0] * len(s) if weights is None else [float(x) for x in weights]
    scale = rows_worth(len(s), weights) / sum(w)
    edges = [[float(edge) for edge in own] for own in edges]
    rows = np.zeros((len(s[0]), len(edges[0]) + 1))
    positives = np.zeros_like(rows)
    for i, scores in enumerate(s):
        for j, score in enumerate(scores):
            band = 0
            while band < len(edges[j]) and score < edges[j][band]:
                band += 1
            rows[j, band] += w[i] * scale
            positives[j, band] += w[i] * scale * y[i][j]
    return rows, positives


def falling_rates(rows: Any, positives: Any) -> list[float]:
    """Isotonic regression: the least, over starts, of the largest mean over ends."""
    rates = []
    for b in range(len(rows)):
        from_start = []
        for i in range(b + 1):
            means = [sum(positives[i : k + 1]) / sum(rows[i : k + 1]) for k in range(b, len(rows))]
            from_start.append(max(means))
        rates.append(min(from_start))
    return rates


def minus_log_posterior(
    own: Any, logits: Any, rows: Any, positives: Any, centre: float, mean: Any, precision: Any
) -> float:
    """Minus the log posterior of one label's intercept and slope: binomial counts, normal prior."""
    off = [own[0] - mean[0], own[1] - mean[1]]
    value = sum(off[i] * precision[i][k] * off[k] for i in range(2) for k in range(2)) / 2
    for b in range(len(rows)):
        z = logits[b] + own[0] + own[1] * (logits[b] - centre)
        value += rows[b] * np.logaddexp(0.0, z) - positives[b] * z
    return value


def simulated_scores(p: Any, metric: str, runs: int, seed: int) -> list[float]:
    """The mean metric of predicting the first k items, for each k from 1, over simulated truths."""
    rng = np.random.default_rng(seed)
    sums = [0.0] * len(p)
    for _ in range(runs):
        truth = rng.random(len(p)) < p
        positives, hits = int(truth.sum()), 0
        for k in range(len(p)):
            hits += int(truth[k])
            counts = hits, k + 1 - hits, positives - hits, len(p) - k - 1 - positives + hits
            sums[k] += float(naive.metric_value(metric, *counts))
    return [total / runs for total in sums]


def best_f1(y: Any, s: Any) -> tuple[float, float]:
    """The best F1 of one label and the highest threshold that reaches it."""
    best = naive.best_threshold(y, s)
    return float(best.score), best.threshold


def chance_of_score(y: Any, s: Any) -> float:
    """Hoeffding's bound, written out: the positives come early enough for the best F1."""
    n, a = len(y), sum(y)
    best = best_f1(y, s)[0]
    if best == 0.0:
        return 1.0
    chance = 0.0
    for edge in positive_scores(y, s):
        k = sum(truth and score >= edge for truth, score in zip(y, s, strict=True))
        first = min(2 * k / best - a, n)
        if first < k * (1 - 1e-9):
            continue
        first = max(first, k)
        found, usual = k / first, a / n
        if found <= usual:
            return 1.0
        surprise = found * log(found / usual)
        if found < 1:
            surprise += (1 - found) * log((1 - found) / (1 - usual))
        chance += exp(-first * surprise)
    return min(chance, 1.0)


def exact_chance_of_score(n: int, a: int, best: float) -> float:
    """The probability that a of n rows in random order reach this F1, by trying every order."""
    reaching = 0
    for place in range(2**n):
        if place.bit_count() != a:
            continue
        hits = 0
        for i in range(n):
            hits += place >> i & 1
            if 2 * hits / (i + 1 + a) >= best - 1e-12:
                reaching += 1
                break
    return reaching / comb(n, a)


def chance_of_ranks(y: Any, s: Any) -> float:
    """Mann and Whitney's test; negatives tied with a positive, also at -inf, count as above it."""
    positives = [score for truth, score in zip(y, s, strict=True) if truth]
    negatives = [score for truth, score in zip(y, s, strict=True) if not truth]
    if len(positives) < 10 or not negatives:
        return 1.0
    lost = sum(low >= high for high in positives for low in negatives)
    pairs = len(positives) * len(negatives)
    z = (pairs / 2 - lost) / sqrt(pairs * (len(y) + 1) / 12)
    return float(stats.norm.sf(z))


def uninformative(y: Any, s: Any) -> list[bool]:
    """Benjamini and Hochberg's procedure, step by step, over labels that have positives."""
    s, y = rows_of(s, y)
    chances = {}
    for j in range(len(s[0])):
        truth, scores = naive.column(y, j), naive.column(s, j)
        if any(truth):
            of_label = min(chance_of_score(truth, scores), chance_of_ranks(truth, scores))
            chances[j] = min(2 * of_label, 1.0)
    last = 0.0
    for place, chance in enumerate(sorted(chances.values()), start=1):
        if chance <= 0.05 * place / len(chances):
            last = chance
    return [j not in chances or chances[j] > last for j in range(len(s[0]))]


def floods(predicted: float, positives: float, total: float) -> bool:
    return predicted / total > 0.05 and predicted > 10 * positives
