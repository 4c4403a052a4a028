"""Claims of Section 4: the best regions, batches, and classifiers without information."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from scipy import optimize, stats

from halfmax._core.types import Floats
from halfmax.expected.curve import expected_curve
from halfmax.expected.decide import decide
from halfmax.paper.claims.claim import Claim, Statement, judged
from halfmax.regions.find import decision_region
from halfmax.regions.region import DecisionRegion

_HALVINGS = 42
_EXACT = 1e-9
_MANY = 10**6
_SEED = 0


def lowest_predicted(batch: Floats) -> float:
    """The lowest probability at which one more item is predicted together with this batch."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if decide(np.append(middle, batch)).predictions[0]:
            high = middle
        else:
            low = middle
    return high


def _normal_regions() -> list[tuple[float, float, DecisionRegion]]:
    cases = product((0.25, 1.0, 2.0, 4.0), (1e-4, 0.01, 0.1, 0.5, 0.9))
    return [(d, b, decision_region(stats.norm(d), stats.norm(0), b)) for d, b in cases]


def _best_single_threshold(positive: Any, negative: Any, base_rate: float) -> float:
    """The best F1 of one threshold, by a plain search over the scores."""

    def f1(threshold: Any) -> Any:
        tp = base_rate * positive.sf(threshold)
        return 2 * tp / (base_rate + tp + (1 - base_rate) * negative.sf(threshold))

    grid = np.linspace(-12, 12, 481)
    start = grid[np.argmax(f1(grid))]
    found = optimize.minimize_scalar(
        lambda threshold: float(-f1(threshold)),
        bounds=(start - 0.05, start + 0.05),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return float(-found.fun)


def _theorem_1() -> Iterator[Claim]:
    cut, optimum = 0.0, 0.0
    for d, b, region in _normal_regions():
        edge = region.threshold
        ratio = b * stats.norm.pdf(edge, d) / ((1 - b) * stats.norm.pdf(edge))
        jaccard = region.tp / (region.tp + region.fp + region.fn)
        cut = max(cut, abs(ratio - jaccard))
        direct = _best_single_threshold(stats.norm(d), stats.norm(0), b)
        optimum = max(optimum, abs(region.score - direct))
    yield judged(
        Statement(
            "theorem-1-cut",
            "Section 4, Theorem 1",
            "The weighted density ratio at the edge of the best region is the Jaccard index "
            "reached: largest difference over 20 pairs of normals.",
            0.0,
        ),
        ours=cut,
        agrees=cut < _EXACT,
    )
    yield judged(
        Statement(
            "theorem-1-optimum",
            "Section 4, Theorem 1",
            "The region of Theorem 1 has the highest F1: largest difference from a plain search "
            "over thresholds, for the same 20 pairs of normals.",
            0.0,
        ),
        ours=optimum,
        agrees=optimum < _EXACT,
    )


def _unequal_variances() -> Iterator[Claim]:
    positive, negative, base_rate = stats.norm(0.5, 2), stats.norm(0, 1), 0.3
    region = decision_region(positive, negative, base_rate)
    upward = _best_single_threshold(positive, negative, base_rate)
    downward = _best_single_threshold(stats.norm(-0.5, 2), negative, base_rate)
    single = max(upward, downward)
    (_, low), (high, _) = region.intervals
    yield judged(
        Statement(
            "theorem-1-two-intervals",
            "Section 4, Theorem 1",
            "The best region need not be one threshold: with unequal variances two intervals have "
            "a higher F1 than any threshold.",
            None,
        ),
        ours=region.score,
        agrees=region.score > single + 1e-3,
        why="Positives N(0.5, 4), negatives N(0, 1), base rate 0.3.",
        seen={"best single threshold": single, "predicted below": low, "predicted above": high},
    )


def _calibrated() -> Iterator[Claim]:
    shapes = ((0.5, 2.0), (1.0, 1.0), (2.0, 2.0), (1.0, 9.0), (5.0, 1.0), (0.2, 20.0))
    half, for_f2 = [], []
    for a, c in shapes:
        positive, negative, base_rate = stats.beta(a + 1, c), stats.beta(a, c + 1), a / (a + c)
        region = decision_region(positive, negative, base_rate)
        region_f2 = decision_region(positive, negative, base_rate, metric="f2")
        half.append(abs(region.threshold - region.score / 2))
        for_f2.append(abs(region_f2.threshold - region_f2.score / 5))
    yield judged(
        Statement(
            "corollary-1-half",
            "Section 4, Corollary 1",
            "For calibrated probabilities the best threshold is half the best F1: largest "
            "difference over 6 Beta laws.",
            0.0,
        ),
        ours=max(half),
        agrees=max(half) < _EXACT,
    )
    yield judged(
        Statement(
            "f-beta-generalises",
            "Section 1, footnote 1",
            "The results carry over to F-beta; for F2 the best threshold is a fifth of the best "
            "F2: largest difference over 6 Beta laws.",
            0.0,
        ),
        ours=max(for_f2),
        agrees=max(for_f2) < _EXACT,
        why="In general it is F-beta / (1 + beta^2).",
    )


def _batches_of(size: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Yield matrices with a batch in each row, from distributions of different spread and mean."""
    shape = 500, size
    for power in (1, 2, 4):
        yield rng.random(shape) ** power
    for a, c in ((0.2, 0.2), (0.5, 2.0), (5.0, 1.0), (20.0, 20.0)):
        yield rng.beta(a, c, shape)
    sure = rng.random(shape) < 0.7  # nearly sure items, where the limit of one half is approached
    yield np.where(sure, 1 - 0.02 * rng.random(shape), 0.4 + 0.2 * rng.random(shape))


def _same_item_two_batches() -> Iterator[Claim]:
    rng = np.random.default_rng(_SEED)
    shares = []
    for size in (1, 2, 5, 20, 100):
        for batches in _batches_of(size, rng):
            first = np.full((len(batches), 1), 0.1)
            decision = decide(np.hstack([first, 0.1 * batches]), average="samples")
            shares.append(decision.predictions[:, 0].mean())
    lost = decide(np.append(0.1, np.full(1000, 0.5))).predictions[0]
    yield judged(
        Statement(
            "batch-best-of-poor",
            "Section 4.2, batch observation",
            "An item of probability 0.1 is predicted if it is the most probable of its batch: the "
            "share of 20,000 random batches in which it is.",
            1.0,
        ),
        ours=min(shares),
        agrees=min(shares) == 1.0 and lost == 0,
        seen={"predicted among 1,000 items of 0.5": float(lost)},
    )


def _batch_of_halves() -> Iterator[Claim]:
    halves = np.full(_MANY, 0.5)
    best, cut = decide(halves).expected_score, lowest_predicted(halves)
    of_limit = "Equal to the fraction up to 1/n."
    yield judged(
        Statement(
            "batch-halves-f1",
            "Section 4.2, batch observation",
            f"The best expected F1 of {_MANY:,} items of probability 0.5 is close to two thirds.",
            "2/3",
        ),
        ours=best,
        agrees=abs(best - 2 / 3) < 1e-6,
        why=of_limit,
    )
    yield judged(
        Statement(
            "batch-halves-threshold",
            "Section 4.2, batch observation",
            f"One more item beside {_MANY:,} items of probability 0.5 is predicted if its "
            "probability is at least one third.",
            "1/3",
        ),
        ours=cut,
        agrees=abs(cut - 1 / 3) < 1e-6,
        why=of_limit,
    )


def _never_above_half() -> Iterator[Claim]:
    rng = np.random.default_rng(_SEED)
    largest = 0.0
    for size in (1, 2, 3, 5, 10, 50, 200):
        for batches in _batches_of(size, rng):
            decision = decide(batches, average="samples")
            largest = max(largest, batches[decision.predictions == 0].max(initial=0.0))
    perfect = lowest_predicted(np.ones(10))
    yield judged(
        Statement(
            "batch-threshold-at-most-half",
            "Section 4.2, batch observation",
            "No item more probable than 0.5 is ever left out: the most probable item left out of "
            "28,000 random batches.",
            0.5,
        ),
        ours=largest,
        agrees=largest <= 0.5,
        why="The limit is reached by an item beside items that are certain.",
        seen={"threshold beside 10 sure items": perfect},
    )


def _no_information() -> Iterator[Claim]:
    grid = list(product((1, 2, 5, 20, 100, 1000), (1e-4, 0.01, 0.1, 0.5, 0.9, 0.999)))
    all_best = [expected_curve(np.full(n, b)).argmax() == n for n, b in grid]
    yield judged(
        Statement(
            "theorem-3-everybody",
            "Section 4.2, Theorem 3",
            "When all probabilities are equal, predicting all items has the highest expected F1: "
            "share of 36 batches.",
            1.0,
        ),
        ours=float(np.mean(all_best)),
        agrees=all(all_best),
    )
    same = stats.norm(0)
    rare, common = (decision_region(same, same, b).score for b in (0.001, 0.999))
    yield judged(
        Statement(
            "no-information-rare",
            "Section 4.2, Figure 6",
            "At a low base rate (0.001) the best F1 without information is close to 0.",
            "close to 0",
        ),
        ours=rare,
        agrees=rare < 0.01,
    )
    yield judged(
        Statement(
            "no-information-common",
            "Section 4.2, Figure 6",
            "At a high base rate (0.999) the best F1 without information is close to 1.",
            "close to 1",
        ),
        ours=common,
        agrees=common > 0.99,
    )


TOPICS = (
    _theorem_1,
    _unequal_variances,
    _calibrated,
    _same_item_two_batches,
    _batch_of_halves,
    _never_above_half,
    _no_information,
)
