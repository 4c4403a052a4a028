"""Errata of Sections 2, 4 and 5, and of half the F1 on data, with the numbers.

The winner's curse has errata of its own, in `errata_section_7`.
"""

from collections.abc import Iterator

import numpy as np
from scipy import stats

from halfmax.expected.decide import decide
from halfmax.expected.decide_joint import decide_joint
from halfmax.metrics.metric import FBeta
from halfmax.metrics.named import ACCURACY
from halfmax.metrics.score import score
from halfmax.paper.claims.claim import ASSUMES, SLIP, Claim, Statement, judged
from halfmax.paper.claims.section_4 import lowest_predicted
from halfmax.tuning.tune import tune

_SEED = 0
_F1 = FBeta(1)


def _stray_factor() -> Iterator[Claim]:
    truth = np.array([[1, 1], [1, 1], [0, 0]], np.int8)
    predictions = np.array([[1, 1], [1, 0], [1, 0]], np.int8)
    tp, fp, fn, tn = 3, 1, 1, 1
    counted = score(truth, predictions, average="micro")
    doubled = float(_F1(2 * tp, fp, fn, tn))
    yield judged(
        Statement(
            "micro-stray-factor",
            "Section 2.2",
            "Micro F1 with tp doubled, as its sum is printed, for tp, fp, fn, tn = 3, 1, 1, 1.",
            doubled,
        ),
        ours=counted,
        agrees=abs(doubled - counted) < 1e-9,
        why="A stray factor 2 before the sum: F1 = 2tp / (2tp + fp + fn) has one already. If fp "
        "and fn, which the paper defines by analogy, carry it too, it cancels in F1; the sums then "
        "are not the counts, and accuracy with tp alone doubled exceeds 1.",
        seen={
            "accuracy": float(ACCURACY(tp, fp, fn, tn)),
            "accuracy with tp doubled": (2 * tp + tn) / (tp + fp + fn + tn),
        },
        grade=SLIP,
    )


def _nothing_to_find() -> Iterator[Claim]:
    n, base_rate = 10, 0.01
    batch = np.full(n, base_rate)
    as_zero, as_one = decide(batch), decide(batch, zero_division=1.0)
    yield judged(
        Statement(
            "nothing-to-find",
            "Section 2, below Equation 1",
            "Theorem 3 does not depend on how F1 is defined if there is nothing to find: items "
            "predicted of 10 with probability 0.01, if 0/0 counts as 1.",
            float(as_zero.counts[0]),
        ),
        ours=float(as_one.counts[0]),
        agrees=bool(as_one.counts[0] == as_zero.counts[0]),
        why="Written in counts F1 is still 0/0 when nothing is positive and nothing predicted. The "
        "proof ends with a proviso, that some example be positive; with none certain to be, the "
        "theorem needs 0/0 to count as 0, as it does by default in halfmax and scikit-learn. If "
        "it counts as 1, predicting nothing is better for rare labels.",
        seen={
            "expected f1 of everybody, 0/0 = 0": as_zero.expected_score,
            "expected f1 of nobody, 0/0 = 1": as_one.expected_score,
        },
        grade=ASSUMES,
    )


def _finite_batch_threshold() -> Iterator[Claim]:
    law, gaps = stats.beta(0.5, 2.0), {}
    for n in (10, 100, 1000, 10_000, 100_000):
        batch = law.ppf((np.arange(n) + 0.5) / n)
        cut = lowest_predicted(batch)
        gaps[n] = cut - decide(np.append(cut, batch)).expected_score / 2
    large = [n for n in gaps if n >= 100]
    slope = np.polyfit(np.log(large), np.log([gaps[n] for n in large]), 1)[0]
    yield judged(
        Statement(
            "theorem-2-gap",
            "Section 4.1, Theorem 2",
            "The probability from which one more item is predicted, minus half the best expected "
            "F1, for 10 items of Beta(0.5, 2) probabilities.",
            0.0,
        ),
        ours=gaps[10],
        agrees=max(map(abs, gaps.values())) < 1e-6,
        why="Exact only in the limit. On n items the gap is of order 1/n: n times the gap tends to "
        f"{1e5 * gaps[100_000]:.2f} for this law.",
        seen={f"gap at n = {n}": gap for n, gap in gaps.items()}
        | {f"n * gap at n = {n}": n * gap for n, gap in gaps.items()}
        | {"slope of log gap over log n": float(slope)},
        grade=ASSUMES,
    )


def _step_of_the_proof() -> Iterator[Claim]:
    tp, fn, fp = 0.1, 0.0, 0.1
    positives, negatives = 0.2, 0.5  # in the stretch that may be added
    added = float(_F1(tp + positives, fp + negatives, fn, 0))
    left_out = float(_F1(tp, fp, fn + positives, 0))
    by_step = added if positives / negatives >= tp / (tp + fn + fp) else left_out
    yield judged(
        Statement(
            "theorem-1-proof-step",
            "Section 4, proof of Theorem 1",
            "A stretch of scores is to be added if its density ratio is at least tp / (tp + fn + "
            "fp). With tp = 0.1, fn = 0, fp = 0.1 and a stretch that holds 0.2 positives and 0.5 "
            "negatives: the F1 reached.",
            by_step,
        ),
        ours=max(added, left_out),
        agrees=abs(by_step - max(added, left_out)) < 1e-9,
        why="The printed step leaves the stretch out, and adding it is better. Its positives are "
        "missing below the line: tp / (tp + fn + bP1 + fp) is right. They vanish as the stretch "
        "shrinks, so the theorem stands for densities.",
        seen={
            "ratio of the stretch": positives / negatives,
            "cut printed": tp / (tp + fn + fp),
            "right cut": tp / (tp + fn + positives + fp),
        },
        grade=SLIP,
    )


def _expected_f1_formula() -> Iterator[Claim]:
    p = np.array([0.6, 0.4, 0.2])
    number_true = np.ones(1)
    for one in p:
        number_true = np.convolve(number_true, [1 - one, one])
    a, exact = np.arange(len(p) + 1), decide(p).expected_score
    of_c = [(p[:c].sum() / (a + c) * number_true).sum() for c in range(1, len(p) + 1)]
    yield judged(
        Statement(
            "expected-f1-formula",
            "Section 4.1, above Theorem 2",
            "The best expected F1 as a sum of E(tp | c) p(a) / (a + c), for probabilities 0.6, "
            "0.4, 0.2.",
            max(of_c),
        ),
        ours=exact,
        agrees=abs(max(of_c) - exact) < 1e-9,
        why="The factor 2 of F1 is missing, and the true positives that are expected depend on the "
        "number a of positives: E(tp | a, c) is what makes the sum exact. With the factor alone "
        f"it is {2 * max(of_c):.4f}.",
        seen={"with the factor 2": 2 * max(of_c)},
        grade=ASSUMES,
    )


def _known_number_of_positives() -> Iterator[Claim]:
    n, base_rate = 10, 0.1
    formula = 2 * base_rate / (1 + base_rate)
    exact = {m: decide(np.full(m, base_rate)).expected_score for m in (n, 100, 1000, 10**5)}
    a = round(base_rate * n)
    one_count = np.zeros((n, n))
    one_count[:, a - 1] = a / n
    known = decide_joint(one_count, 0.0).expected_score
    yield judged(
        Statement(
            "theorem-3-value",
            "Section 4.2, proof of Theorem 3",
            "The best expected F1 of 10 items, each positive with probability 0.1, is 2b / (1 + "
            "b).",
            formula,
        ),
        ours=exact[n],
        agrees=abs(exact[n] - formula) < 1e-6,
        why="The proof takes the number of positives as known, and then its formula is right. If "
        "each item is positive on its own, the number varies and the expectation is lower, by "
        "order 1/n. The decision, to predict all items, is the same.",
        seen={"with exactly 1 positive": known}
        | {f"at n = {m}": value for m, value in exact.items()},
        grade=ASSUMES,
    )


def _ratio_of_expectations() -> Iterator[Claim]:
    rng = np.random.default_rng(_SEED)
    laws = {"Beta(0.5, 2)": (0.5, 2.0), "uniform": (1.0, 1.0), "Beta(1, 20)": (1.0, 20.0)}
    shares = {}
    for law, (a, c) in laws.items():
        for size in (5, 10, 20, 50):
            p = -np.sort(-rng.beta(a, c, (10_000, size)), axis=1)
            ratio = 2 * p.cumsum(axis=1) / (np.arange(1, size + 1) + p.sum(axis=1)[:, None])
            best = decide(p, average="samples").counts
            shares[f"{law}, rows of {size}"] = float(np.mean(ratio.argmax(axis=1) + 1 != best))
    own = [shares[f"Beta(0.5, 2), rows of {size}"] for size in (5, 10, 20, 50)]
    yield judged(
        Statement(
            "ratio-of-expectations",
            "Section 4.2, proof of Theorem 3",
            "Expected F1 as a ratio of expected counts, as in the proof of Theorem 3, chooses as "
            "expected F1 does: share of rows of 10 Beta(0.5, 2) probabilities in which it does "
            "not.",
            0.0,
        ),
        ours=shares["Beta(0.5, 2), rows of 10"],
        agrees=max(own) < 0.01,
        why="The proof may do so, because it takes the number of positives as known. In general a "
        "ratio of expectations is not the expectation of the ratio: for rows of 5 to 50 labels "
        f"they choose another number of labels in {min(own):.0%} to {max(own):.0%} of these rows, "
        "and in more where no label is likely.",
        seen=shares,
        grade=ASSUMES,
    )


def _washing_out_bound() -> Iterator[Claim]:
    n, rates, recall = 10_000, np.array([0.3, 0.1]), 0.9
    a = n * rates.sum()
    c = recall * a  # without false positives
    yield judged(
        Statement(
            "washing-out-bound",
            "Section 5",
            "a + c is at most n times the sum of the base rates, for rates of 0.3 and 0.1 and "
            "predictions that find nine tenths and nothing else: (a + c) / n.",
            float(rates.sum()),
        ),
        ours=(a + c) / n,
        agrees=bool(a + c <= n * rates.sum()),
        why="a alone is n times that sum, so the bound fails as soon as anything is predicted. It "
        "is the other way round: a + c is at least that.",
        grade=SLIP,
    )


def _washing_out_condition() -> Iterator[Claim]:
    n, common, rare = 100_000, 10_000, 100
    ratios = {}
    for recall in (0.9, 0.01):
        tp = recall * common
        fp = 0.1 * tp
        perfect = float(_F1(tp + rare, fp, common - tp, 0))
        never = float(_F1(tp, fp, common - tp + rare, 0))
        ratios[recall] = perfect / never
    yield judged(
        Statement(
            "washing-out-condition",
            "Section 5",
            "A label much rarer than the others leaves micro F1 nearly unchanged: the ratio where "
            f"it has {rare / n:g} of the items, the others {common / n:g}, of which 1 in 100 is "
            "found.",
            "close to 1",
        ),
        ours=ratios[0.01],
        agrees=ratios[0.01] < 1.1,
        why="What must be large beside the rare positives is tp, not the base rates of the others. "
        f"Where nine tenths are found, the ratio is {ratios[0.9]:.3f}.",
        seen={f"ratio when {recall:g} of the others are found": r for recall, r in ratios.items()},
        grade=ASSUMES,
    )


def _tuned_threshold() -> Iterator[Claim]:
    rng, runs = np.random.default_rng(_SEED), 200
    distances, enclosed = {}, 0
    for n in (1000, 10_000, 100_000):
        apart = []
        for _ in range(runs):
            scores = rng.random(n)
            tuned = tune(rng.random(n) < scores, scores)
            next_lower = scores[scores < tuned.threshold].max(initial=0.0)
            apart.append(abs(tuned.threshold - tuned.score / 2))
            enclosed += bool(next_lower <= tuned.score / 2 <= tuned.threshold)
        distances[n] = float(np.mean(apart))
    share = enclosed / (runs * len(distances))
    slope = np.polyfit(np.log(list(distances)), np.log(list(distances.values())), 1)[0]
    yield judged(
        Statement(
            "tuned-threshold-at-half",
            "Section 7",
            "The threshold tuned on labelled, calibrated scores lies between the two scores around "
            "half the F1: share of 600 runs.",
            1.0,
        ),
        ours=share,
        agrees=share > 0.99,
        why="F1 is nearly flat around its maximum, so chance moves the threshold much further than "
        "to the next score. Its distance from half the F1 shrinks like n to the power "
        f"{slope:.2f}, the distance between scores like 1/n.",
        seen={f"mean distance at n = {n}": value for n, value in distances.items()}
        | {"slope of log distance over log n": float(slope)},
    )


TOPICS = (
    _stray_factor,
    _nothing_to_find,
    _step_of_the_proof,
    _finite_batch_threshold,
    _expected_f1_formula,
    _known_number_of_positives,
    _ratio_of_expectations,
    _washing_out_bound,
    _washing_out_condition,
    _tuned_threshold,
)
