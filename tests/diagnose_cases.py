"""Labels of every kind, and what the tests of diagnose share."""

from functools import cache

import numpy as np
from scipy.special import expit, logit

import halfmax as hm

FINDINGS = (
    "uninformative",
    "flooding",
    "too few positives",
    "unstable threshold",
    "miscalibrated",
)
COLUMNS = [
    "label",
    "support",
    "base_rate",
    "threshold",
    "low",
    "high",
    "score",
    "expected",
    "everyone",
    "predicted",
    "findings",
]
INF = np.inf
NAMES = ("strong", "noise", "rare", "constant", "empty", "full")


def herd(n=2000, seed=0):
    """Labels of every kind: strong, noise, rare noise, one score for all, empty and full."""
    rng = np.random.default_rng(seed)
    y = rng.random((n, 6)) < [0.3, 0.2, 0.003, 0.01, 0.0, 1.0]
    s = rng.normal(size=(n, 6)) + [4, 0, 0, 0, 0, 0] * y
    s[:, 3] = 0.5
    return y.astype(int), s


def of(diagnosis, label):
    """The findings of one label."""
    return set(diagnosis.findings[diagnosis.labels.index(label)])


@cache
def diagnosis_of_herd():
    return hm.diagnose(*herd(), labels=NAMES)


def calibrated(n, m, base, sharp, seed=0):
    rng = np.random.default_rng(seed)
    p = expit(rng.normal(size=(n, m)) * sharp + logit(base))
    return rng.random((n, m)) < p, p
