"""The data of the figures: plain arrays, computed by halfmax where possible.

As in Section 4 of the paper, tp, fp, fn and tn are fractions that sum to one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special, stats

from halfmax._core.types import Floats
from halfmax.displays.decision_region import DecisionRegionDisplay
from halfmax.expected.decide import decide
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric
from halfmax.regions.find import decision_region

BASE_RATE = 0.25
FALSE_POSITIVES = (0.0, 0.05, 0.15, 0.35, 0.75)
FALSE_NEGATIVES = (0.0, 0.05, 0.10, 0.15, 0.20)
BATCH_SIZES = (10, 100)
GAP_SIZES = (10, 32, 100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
_POINTS = 101


@dataclass(frozen=True, eq=False)
class Family:
    """Curves over a common x, one for each value of the fixed count."""

    fixed: tuple[float, ...]
    x: Floats
    curves: Floats  # fixed x points


@dataclass(frozen=True, eq=False)
class Surface:
    """F1 for every tp and fp that the base rate allows."""

    tp: Floats
    fp: Floats
    f1: Floats  # fp x tp


@dataclass(frozen=True, eq=False)
class Guessing:
    """Expected F1 of the best threshold for a classifier that knows only the base rate."""

    base_rates: Floats
    limit: Floats  # for an infinite batch
    marked_rates: Floats
    marked: Floats  # batch sizes x marked rates, exact


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled scores, of one classifier or of rows x labels."""

    truth: npt.NDArray[np.bool_]
    scores: Floats
    labels: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Gaps:
    """The gap between the best decisions of finite batches and the rule of half the best F1."""

    sizes: npt.NDArray[np.int64]
    threshold: Floats  # lowest predicted probability minus F*/2, mean over batches
    lost: Floats  # expected F1 of the best decision minus that of the rule


def by_tp(metric: str) -> Family:
    """A metric against tp, for each fixed fp."""
    tp = np.linspace(0.0, BASE_RATE, _POINTS)
    fp = np.array(FALSE_POSITIVES)[:, None]
    return Family(FALSE_POSITIVES, tp, _of_fractions(find_metric(metric), tp, fp))


def by_tn(metric: str) -> Family:
    """A metric against tn, for each fixed fn."""
    tn = np.linspace(0.0, 1.0 - BASE_RATE, _POINTS)
    tp = BASE_RATE - np.array(FALSE_NEGATIVES)[:, None]
    fp = 1.0 - BASE_RATE - tn
    return Family(FALSE_NEGATIVES, tn, _of_fractions(find_metric(metric), tp, fp))


def surface() -> Surface:
    """F1 over its two degrees of freedom."""
    tp = np.linspace(0.0, BASE_RATE, 61)
    fp = np.linspace(0.0, 1.0 - BASE_RATE, 61)
    return Surface(tp, fp, _of_fractions(find_metric("f1"), tp, fp[:, None]))


def _of_fractions(metric: Metric, tp: Floats, fp: Floats) -> Floats:
    return metric(tp, fp, BASE_RATE - tp, 1.0 - BASE_RATE - fp)


def guessing() -> Guessing:
    """Compute 2b/(1+b), and the best expected F1 of finite batches of items of probability b."""
    rates = np.linspace(0.0, 1.0, _POINTS)
    marked = np.array([0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    exact = [decide(np.tile(marked, (n, 1))).expected_scores for n in BATCH_SIZES]
    return Guessing(rates, 2 * rates / (1 + rates), marked, np.array(exact))


def regions() -> dict[str, DecisionRegionDisplay]:
    """Two pairs of normal scores: of equal spread, and with positives of wider spread."""
    negative = stats.norm(0.0, 1.0)
    return {
        "equal spread: one ray": _region(stats.norm(2.0, 1.0), negative),
        "positives spread wider: two rays": _region(stats.norm(1.0, 2.5), negative),
    }


def _region(positive: Any, negative: Any) -> DecisionRegionDisplay:
    found = decision_region(positive, negative, BASE_RATE)
    scores = np.linspace(-6.0, 8.0, 561)
    return DecisionRegionDisplay(
        scores=scores,
        positive=BASE_RATE * positive.pdf(scores),
        negative=(1.0 - BASE_RATE) * negative.pdf(scores),
        intervals=found.intervals,
        cut=found.likelihood_ratio,
        score=found.score,
        metric=found.metric,
    )


def calibrated(n: int = 100_000, seed: int = 0) -> Sample:
    """Draw probabilities, and a truth with these probabilities."""
    rng = np.random.default_rng(seed)
    scores = rng.beta(0.7, 3.0, n)
    return Sample(rng.random(n) < scores, scores)


def batch(n: int = 40, seed: int = 5) -> Floats:
    """Draw the probabilities of a few independent items."""
    return np.random.default_rng(seed).beta(0.6, 1.2, n)


def half_calibrated(n: int = 4_000, labels: int = 120, seed: int = 0) -> Sample:
    """Draw calibrated probabilities of rare to common labels; roots are taken of every tenth."""
    rng = np.random.default_rng(seed)
    rates = np.geomspace(0.002, 0.4, labels)
    scores = special.expit(special.logit(rates) + 1.5 * rng.normal(size=(n, labels)))
    truth = rng.random(scores.shape) < scores
    scores[:, ::10] **= 0.5
    return Sample(truth, scores, tuple(f"label {j + 1}" for j in range(labels)))


def of_all_rates(n: int = 2_000, labels: int = 500, seed: int = 0) -> Sample:
    """Draw labels from rare to common; the rarer a label, the less informative are its scores."""
    rng = np.random.default_rng(seed)
    rates = np.geomspace(1.0 / n, 0.3, labels)
    truth = rng.random((n, labels)) < rates
    scores = rng.normal(size=truth.shape) + np.linspace(0.2, 2.0, labels) * truth
    return Sample(truth, scores, tuple(f"label {j + 1}" for j in range(labels)))


def gaps(sizes: Sequence[int] = GAP_SIZES, cells: int = 8_000_000, seed: int = 0) -> Gaps:
    """Test Theorem 2 on batches of squared uniform probabilities, about `cells` for each size."""
    rng = np.random.default_rng(seed)
    threshold, lost = [], []
    for size in sizes:
        batches = min(1_000, max(1, cells // size))
        d = decide(rng.random((batches, size)) ** 2, average="samples")
        threshold.append((d.thresholds - d.half_max_thresholds).mean())
        lost.append((d.expected_scores - d.half_max_scores).mean())
    return Gaps(np.array(sizes), np.array(threshold), np.array(lost))
