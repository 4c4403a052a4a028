"""Half-max: for calibrated probabilities the best threshold is half the maximum F1.

Predicting one more item of probability p turns a false negative into a true positive with
probability p, and a true negative into a false positive otherwise. A ratio N / D of weighted sums
of the counts does not fall if what this adds to N is at least N / D times what it adds to D. Solved
for p, the item should be predicted if p is at least::

    (a + b * score) / (c + d * score)

where `score` is the ratio reached. For F1 that is score / 2, the theorem of Lipton, Elkan and
Narayanaswamy (2014); for F-beta it is score / (1 + beta^2), for the Jaccard index J it is
J / (1 + J), and for accuracy it is 1/2. In terms of the likelihood ratio (Theorem 1), the odds of a
positive are compared with the Jaccard index that the rule reaches.
"""

import numpy as np

from halfmax._core.types import Array

Coefficients = tuple[float, float, float, float]  # the weights of tp, fp, fn and tn


def cut_of(numerator: Coefficients, denominator: Coefficients) -> Coefficients:
    """Return (a, b, c, d) of the threshold ``(a + b * score) / (c + d * score)`` of a ratio."""
    (tp, fp, fn, tn), (tp_, fp_, fn_, tn_) = numerator, denominator
    return tn - fp, fp_ - tn_, (tp - fn) - (fp - tn), (fp_ - tn_) - (tp_ - fn_)


def threshold_at(cut: Coefficients, score: Array) -> Array:
    """Return the best threshold of calibrated probabilities where `score` is the best score."""
    a, b, c, d = cut
    with np.errstate(divide="ignore", invalid="ignore"):
        threshold: Array = np.asarray((a + b * score) / (c + d * score))
    return threshold


def odds_at(cut: Coefficients, score: float) -> float:
    """Return the smallest likelihood ratio to predict where `score` is reached."""
    a, b, c, d = cut
    gain, cost = (c - a) + (d - b) * score, a + b * score
    if cost <= 0.0:
        return 0.0
    return cost / gain if gain > 0.0 else np.inf
