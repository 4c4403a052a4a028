"""Claims of Sections 1 and 2: the shape of F1, accuracy and Jaccard."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy import stats

from halfmax._core.types import Floats
from halfmax.metrics.metric import FBeta
from halfmax.metrics.named import ACCURACY, JACCARD
from halfmax.metrics.score import score
from halfmax.paper.claims.claim import Claim, Statement, judged
from halfmax.regions.find import decision_region

_F1 = FBeta(1)
_POSITIVES, _NEGATIVES = 100, 400
_ROUNDING = 1e-12
_SEPARATIONS = (0.01, 0.5, 1.0, 2.0, 4.0, 8.0)  # of two unit normals: from no signal to perfect


class _Lattice(NamedTuple):
    """Every confusion matrix with a fixed number of positives and of negatives."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def _lattice() -> _Lattice:
    """True positives down the rows, false positives along the columns."""
    tp, fp = np.meshgrid(np.arange(_POSITIVES + 1.0), np.arange(_NEGATIVES + 1.0), indexing="ij")
    return _Lattice(tp, fp, _POSITIVES - tp, _NEGATIVES - fp)


def _range_of_labels() -> Iterator[Claim]:
    lowest, highest = {}, {}
    for base_rate in (0.001, 0.5, 0.9):
        reached = [
            decision_region(stats.norm(apart), stats.norm(0), base_rate).score
            for apart in _SEPARATIONS
        ]
        lowest[base_rate], highest[base_rate] = min(reached), max(reached)
    yield judged(
        Statement(
            "common-labels-score-high",
            "Section 1",
            "With the best threshold a common label always scores high, a rare one anything from "
            "nearly 0 to nearly 1.",
            None,
        ),
        ours=lowest[0.5],
        agrees=lowest[0.5] > 0.66 and lowest[0.001] < 0.01 and highest[0.001] > 0.9,
        why="Ours is the lowest F1 at a base rate of one half. No classifier is below 2b / (1 + "
        "b), the F1 of predicting all items.",
        seen={f"lowest at {b:g}": f1 for b, f1 in lowest.items()}
        | {f"highest at {b:g}": f1 for b, f1 in highest.items()},
    )


def _forms_of_f1() -> Iterator[Claim]:
    counts = _Lattice(*(part[1:] for part in _lattice()))
    precision, recall = counts.tp / (counts.tp + counts.fp), counts.tp / (counts.tp + counts.fn)
    apart = np.abs(2 / (1 / recall + 1 / precision) - _F1(*counts)).max()
    yield judged(
        Statement(
            "f1-from-counts",
            "Section 2, Equation 1",
            "The harmonic mean of precision and recall is 2tp / (2tp + fp + fn): largest "
            "difference.",
            0.0,
        ),
        ours=apart,
        agrees=bool(apart < _ROUNDING),
    )


def _shape_of_f1() -> Iterator[Claim]:
    counts = _lattice()
    curved = np.diff(_F1(*counts), 2, axis=0)
    yield judged(
        Statement(
            "f1-concave-in-tp",
            "Section 2.1, Figure 2",
            "At fixed fp, F1 is concave in tp: the largest second difference is below 0.",
            None,
        ),
        ours=curved.max(),
        agrees=bool(curved.max() < 0),
        seen={"smallest second difference": curved.min()},
    )
    straight = np.abs(np.diff(ACCURACY(*counts), 2, axis=0)).max()
    yield judged(
        Statement(
            "accuracy-linear-in-tp",
            "Section 2.1, Figure 3",
            "At fixed fp, accuracy is linear in tp: its second differences are 0.",
            0.0,
        ),
        ours=straight,
        agrees=bool(straight < _ROUNDING),
    )
    bowed = np.diff(_F1(*counts)[1:, ::-1], 2, axis=1)  # tn rises as fp falls; 0 if tp is
    yield judged(
        Statement(
            "f1-convex-in-tn",
            "Section 2.1, Figure 5",
            "At fixed fn, F1 is convex in tn: the smallest second difference is above 0.",
            None,
        ),
        ours=bowed.min(),
        agrees=bool(bowed.min() > 0),
        seen={"largest second difference": bowed.max()},
    )


def _jaccard() -> Iterator[Claim]:
    counts = _lattice()
    f1, jaccard = _F1(*counts).ravel(), JACCARD(*counts).ravel()
    apart = np.abs(jaccard - f1 / (2 - f1)).max()
    by_f1 = np.lexsort((jaccard, f1))
    smallest_step = np.diff(jaccard[by_f1]).min()
    yield judged(
        Statement(
            "jaccard-increases-with-f1",
            "Section 2.2",
            "The Jaccard index is an increasing function of F1, F / (2 - F): largest difference.",
            0.0,
        ),
        ours=apart,
        agrees=bool(apart < _ROUNDING and smallest_step > -_ROUNDING),
    )


def _complement() -> Iterator[Claim]:
    n = 10**6
    truth, predictions = np.ones(n, np.int8), np.ones(n, np.int8)
    truth[0] = 0
    plain, complement = score(truth, predictions), score(1 - truth, 1 - predictions)
    yield judged(
        Statement(
            "complement-scores-differently",
            "Section 2.1",
            "F1, and F1 with labels and predictions both complemented, can be as far apart as 1 "
            "and 0: their difference.",
            None,
        ),
        ours=plain - complement,
        agrees=plain - complement > 0.99,
        why=f"All of {n:,} items are predicted and all but one are positive.",
        seen={"f1": plain, "f1 of the complements": complement},
    )


TOPICS = (_range_of_labels, _forms_of_f1, _shape_of_f1, _jaccard, _complement)
