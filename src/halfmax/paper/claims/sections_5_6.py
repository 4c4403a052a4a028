"""Claims of Sections 5 and 6: micro and macro F1 of many labels, and the table of MeSH terms."""

from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import stats

from halfmax.expected.decide import decide
from halfmax.metrics.score import score
from halfmax.paper.claims.claim import SLIP, Claim, Statement, half_a_digit, judged, printed
from halfmax.regions.find import decision_region
from halfmax.tuning.tune import tune

Labels = npt.NDArray[np.int8]

_SEED = 0


def _two_labels() -> Iterator[Claim]:
    where = "Section 5, two-label example"
    same = stats.norm(0)
    common, rare = (decision_region(same, same, b).score for b in (0.5, 0.1))
    trivial = "The best F1 without information at a base rate of"
    both = "Macro F1 of two labels without information, base rates 0.5 and 0.1"
    yield printed(Statement("two-labels-common", where, f"{trivial} 0.5.", "0.67"), common)
    yield printed(Statement("two-labels-rare", where, f"{trivial} 0.1.", "0.18"), rare)
    statement = Statement("two-labels-trivial", where, f"{both}.", "0.42")
    yield printed(statement, (common + rare) / 2)
    yield printed(
        Statement(
            "two-labels-rare-perfect",
            where,
            f"{both}, once the rare one is predicted perfectly.",
            "0.84",
        ),
        ours=(common + 1) / 2,
        why="The mean of 2/3 and 1 is 0.8333, which rounds to 0.83. Presumably the rounded 0.67 "
        "was averaged with 1 and rounded again: 0.835 to 0.84.",
        seen={"mean of the rounded values": (0.67 + 1) / 2},
    )
    yield printed(
        Statement(
            "two-labels-common-perfect",
            where,
            f"{both}, once the common one is predicted perfectly.",
            "0.59",
        ),
        ours=(1 + rare) / 2,
    )


def _rare_label_without_information() -> Iterator[Claim]:
    """Compare averages on three labels with signal and one of base rate 0.01 without signal."""
    n, rng = 2000, np.random.default_rng(_SEED)
    known = rng.beta([1.0, 0.5, 0.5], [1.0, 1.0, 4.0], (n, 3))
    probabilities = np.hstack([known, np.full((n, 1), 0.01)])
    truth = rng.random(probabilities.shape) < probabilities
    seen = {}
    for average in ("micro", "macro"):
        decided = decide(probabilities, average=average).predictions
        tuned = tune(truth, probabilities, average=average).predict(probabilities)
        seen[average] = decided[:, 3].mean(), tuned[:, 3].mean()
    for average, everything in (("micro", 0.0), ("macro", 1.0)):
        decided_share, tuned_share = seen[average]
        yield judged(
            Statement(
                f"rare-label-{average}",
                "Section 5, before the case study",
                "A rare label without information is best predicted for "
                f"{'all items' if everything else 'none'} under {average} F1: share predicted.",
                everything,
            ),
            ours=decided_share,
            agrees=decided_share == tuned_share == everything,
            why=f"Among {n:,} items of four labels, from probabilities and from labelled data.",
            seen={"from probabilities": decided_share, "from labelled data": tuned_share},
        )


def _micro_f1(rare_positives: int, predict: str) -> float:
    """Micro F1 of two common labels, imperfectly predicted, and a rare one."""
    n = 10_000
    truth, predictions = np.zeros((n, 3), np.int8), np.zeros((n, 3), np.int8)
    truth[:3000, 0], predictions[500:3300, 0] = 1, 1
    truth[:1000, 1], predictions[200:1200, 1] = 1, 1
    truth[:rare_positives, 2] = 1
    predicted = {"perfect": rare_positives, "none": 0, "all": n}[predict]
    predictions[:predicted, 2] = 1
    return score(truth, predictions, average="micro")


def _washed_out() -> Iterator[Claim]:
    tp, a, c = 2500 + 800, 3000 + 1000, 2800 + 1000
    wrong, ratios = 0.0, {}
    for positives in (1000, 100, 10, 1):
        ratio = _micro_f1(positives, "perfect") / _micro_f1(positives, "none")
        formula = (1 + positives / tp) / (1 + positives / (a + c + positives))
        wrong = max(wrong, abs(ratio - formula))
        ratios[positives] = ratio
    yield judged(
        Statement(
            "rare-label-ratio-formula",
            "Section 5",
            "The ratio of micro F1 with the rare label perfect to micro F1 with it never "
            "predicted: largest difference between the formula and counting.",
            0.0,
        ),
        ours=wrong,
        agrees=wrong < 1e-12,
    )
    yield judged(
        Statement(
            "rare-label-washed-out",
            "Section 5",
            "Performance on a rare label hardly moves micro F1: the ratio at 1 positive beside "
            "4,000.",
            "small",
        ),
        ours=ratios[1],
        agrees=ratios[1] - 1 < 0.001,
        why="The paper's word small must mean close to 1: the ratio is never below 1.",
        seen={f"ratio, rare positives: {positives}": ratio for positives, ratio in ratios.items()}
        | {"micro f1, 1 positive, nobody predicted": _micro_f1(1, "none")}
        | {"micro f1, 1 positive, everybody predicted": _micro_f1(1, "all")},
    )


class _Term(NamedTuple):
    """A line of the paper's table, as printed."""

    name: str
    predicted: int
    best_f1: str
    threshold: str


_TERMS = (
    _Term("Humans", 2346, "0.9160", "0.458"),
    _Term("Male", 1472, "0.8055", "0.403"),
    _Term("Female", 1439, "0.8131", "0.407"),
    _Term("Phosphinic Acids", 1401, "1.544e-4", "7.71e-5"),
    _Term("Penicillanic Acid", 1064, "8.534e-4", "4.27e-4"),
    _Term("Adult", 1063, "0.7004", "0.350"),
    _Term("Middle Aged", 1028, "0.7513", "0.376"),
    _Term("Platypus", 980, "4.676e-4", "2.34e-4"),
)
_RARE = ("Phosphinic Acids", "Penicillanic Acid", "Platypus")


def could_be_half(threshold: str, best_f1: str) -> bool:
    """Whether half of some F1 that is printed as `best_f1` is printed as `threshold`."""
    furthest = half_a_digit(best_f1) / 2 + half_a_digit(threshold)
    return abs(Decimal(best_f1) / 2 - Decimal(threshold)) <= furthest


def _mesh_thresholds() -> Iterator[Claim]:
    where = "Section 6, Figure 7"
    odd = next(term for term in _TERMS if term.name == "Phosphinic Acids")
    others = [term for term in _TERMS if term is not odd]
    agree = sum(could_be_half(term.threshold, term.best_f1) for term in others)
    yield judged(
        Statement(
            "mesh-thresholds",
            where,
            "In the table of MeSH terms the threshold printed is half of the best F1 printed, of "
            f"which there are {len(others)} cases beside {odd.name}: cases in which the digits "
            "agree.",
            float(len(others)),
        ),
        ours=float(agree),
        agrees=agree == len(others),
        why="This halves the paper's own numbers; the MEDLINE study is not repeated here.",
        seen={f"half of F1, {term.name}": float(term.best_f1) / 2 for term in others},
    )
    yield judged(
        Statement(
            "mesh-phosphinic-acids",
            where,
            f"The threshold printed for {odd.name} is half its best F1, {odd.best_f1}.",
            odd.threshold,
        ),
        ours=float(odd.best_f1) / 2,
        agrees=could_be_half(odd.threshold, odd.best_f1),
        why="The last digit: every F1 that rounds to 1.544e-4 has a half that rounds to 7.72e-5. "
        "Cutting digits off could give 7.71e-5, but not the 0.403 of Male.",
        grade=SLIP,
    )


def _mesh_shares() -> Iterator[Claim]:
    """Bound the size of the test set, which is not printed, by the counts of all terms."""
    fewest = max(term.predicted for term in _TERMS)
    too_many = 3 * min(term.predicted for term in _TERMS if term.name in _RARE)
    lowest_f1 = 2 / too_many
    yield judged(
        Statement(
            "mesh-more-than-a-third",
            "Section 6",
            "Three rare terms are each predicted for more than a third of the documents: the "
            "largest share that the least predicted of them can have, given the counts of the "
            "table.",
            "more than 1/3",
        ),
        ours=too_many / 3 / fewest,
        agrees=fewest < too_many,
        why=f"Consistent if there are {fewest:,} to {too_many - 1:,} documents, a number that is "
        "not printed; and the rare terms are not predicted for all of them. Counted on so few "
        f"documents an F1 is 0 or at least {lowest_f1:.1e}: the best F1 of Phosphinic Acids and "
        "Platypus is an expectation, or measured on more documents.",
        seen={"fewest documents": fewest, "most documents": too_many - 1, "lowest f1": lowest_f1},
    )


TOPICS = (
    _two_labels,
    _rare_label_without_information,
    _washed_out,
    _mesh_thresholds,
    _mesh_shares,
)
