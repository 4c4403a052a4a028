"""Known mistakes of other libraries and of earlier versions, as regression tests."""

import signal
import threading
from fractions import Fraction
from math import inf

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.datasets import make_multilabel_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score, fbeta_score
from sklearn.multiclass import OneVsRestClassifier
from strategies import compiled, to_sparse

import halfmax as hm
from halfmax._core import threads
from halfmax._core.compiled import variant
from halfmax.expected.batches import Batches, CountRule
from halfmax.expected.best_count import _find_stretches
from halfmax.expected.ratio import find_ratio

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("seed", range(5))
def test_tied_scores_reach_the_reported_f1(seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(500) < 0.3).astype(int)
    s = np.round(rng.normal(0.4 + 0.1 * y, 0.1), 2)
    t = hm.tune(y, s)
    assert t.score == pytest.approx(f1_score(y, s >= t.threshold), abs=1e-12)
    assert t.score == pytest.approx(max(f1_score(y, s >= c) for c in np.unique(s)), abs=1e-12)


def test_a_constant_score_predicts_all_rows():
    y = np.arange(1000) < 50
    t = hm.tune(y, np.full(1000, 0.3))
    assert t.threshold == 0.3
    assert t.predict(np.full(1000, 0.3)).all()
    assert round(t.score, 4) == 0.0952


@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_sparse_scores_are_not_all_predicted(average, per_label):
    rng = np.random.default_rng(0)
    y = (rng.random((200, 12)) < 0.1).astype(np.int8)
    s = rng.normal(2.0 * y, 1.0)
    s[rng.random(s.shape) < 0.5] = -inf
    stored = to_sparse(s)
    t = hm.tune(y, stored, average=average, per_label=per_label)
    predicted = t.predict(stored)
    everything = hm.score(y, s > -inf, average=average)
    assert 0 < predicted.nnz < stored.nnz / 2
    assert t.score > everything + 0.1


def test_a_rare_label_with_constant_scores_floods_macro_and_vanishes_in_micro():
    rng = np.random.default_rng(1)
    n = 1000
    common = rng.random(n) < 0.5
    rare = np.arange(n) < 5
    y = np.stack([common, rare], axis=1)
    s = np.stack([np.where(common, 0.8, 0.2), np.full(n, 0.01)], axis=1)
    assert hm.tune(y, s, average="macro").predict(s)[:, 1].all()
    assert not hm.tune(y, s, average="micro").predict(s)[:, 1].any()


@pytest.mark.parametrize("shape", [(1.0, 3.0), (2.0, 2.0), (0.5, 4.0)])
def test_the_best_threshold_is_half_the_best_f1(shape):
    # Near its top F1 falls with the square of the distance, while chance moves it by the root of
    # the number of scores in between: the threshold is off by about n ** (-1/3), here 0.022.
    n = 100_000
    rng = np.random.default_rng(2)
    p = rng.beta(*shape, n)
    y = rng.random(n) < p
    t = hm.tune(y, p)
    assert t.threshold == pytest.approx(t.score / 2, abs=0.022)
    # Over that distance both the fall and the chance are a few n ** (-2/3) of F1.
    assert hm.score(y, p >= t.score / 2) == pytest.approx(t.score, abs=4 * n ** (-2 / 3))


def test_micro_predicts_each_label_down_to_half_the_pooled_f1():
    n = 10_000 if variant() == "python" else 40_000
    rng = np.random.default_rng(3)
    p = np.stack([rng.beta(1, 3, n), rng.beta(2, 2, n), rng.beta(1, 9, n)], axis=1)
    y = rng.random(p.shape) < p
    t = hm.tune(y, p, average="micro")
    assert t.thresholds == pytest.approx(np.full(3, t.score / 2), abs=n ** (-1 / 3))


def test_thresholds_tuned_for_one_vs_rest_are_the_ones_applied():
    # Wrapped in OneVsRestClassifier, TunedThresholdClassifierCV predicts as if never tuned.
    x, y = make_multilabel_classification(400, n_classes=4, random_state=0)
    model = OneVsRestClassifier(LogisticRegression()).fit(x[:200], y[:200])
    scores = model.predict_proba(x[200:])
    t = hm.tune(y[200:], scores)
    predicted = t.predict(scores)
    assert (predicted == (scores >= t.thresholds)).all()
    assert (predicted != model.predict(x[200:])).any()
    assert t.score == pytest.approx(f1_score(y[200:], predicted, average="macro"), abs=1e-12)
    assert t.score > f1_score(y[200:], model.predict(x[200:]), average="macro")


@pytest.mark.parametrize("beta", [0.5, 2.0])
def test_beta_weighs_recall_not_precision(beta):
    # Many predictions, high recall, low precision: F2 must exceed F1, F0.5 must not.
    y, predicted = [1, 1, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]
    got = hm.score(y, predicted, hm.FBeta(beta))
    assert got == pytest.approx(fbeta_score(y, predicted, beta=beta), abs=1e-12)
    assert (got > hm.score(y, predicted)) == (beta > 1)


@compiled
def test_accuracy_of_a_million_equal_items_keeps_its_digits():
    p = np.full(10**6, 0.3)
    assert abs(hm.decide(p, "accuracy").expected_score - 0.7) < 1e-15
    p[0] = 0.5 + 1e-6
    assert hm.decide(p, "accuracy").counts[0] == 1


def test_accuracy_close_to_0_keeps_its_digits():
    p = [0.9999998876915398, 0.9999999999999988]
    exact = float(sum(1 - Fraction(x) for x in p) / 2)
    assert hm.decide(p, "accuracy", max_k=0).expected_score == pytest.approx(
        exact, rel=1e-15, abs=0
    )
    assert hm.expected_curve(p, "accuracy")[0] == pytest.approx(exact, rel=1e-15, abs=0)


def tie_of(b2, tp, larger):
    """Rows, scores and the two equally good thresholds of a label with as many positives as b2
    has parts: F-beta is the same for `tp` hits at 0.9 as for `larger` at 0.6, and lower below.
    """
    positives = b2.denominator
    few, many = (2 * hits - b2.numerator for hits in (tp, larger))
    y, s = np.zeros(many + 50 * positives, int), np.full(many + 50 * positives, 0.1)
    s[:few], s[few:many] = 0.9, 0.6
    y[:tp] = y[few : few + larger - tp] = 1
    y[len(y) - (positives - larger) :] = 1
    return y, s


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("beta", ["0.1", "0.3", "0.7", "0.9"])
def test_the_highest_of_equal_thresholds_wins_whatever_beta(beta, average):
    b2, metric = Fraction(beta) ** 2, f"f{beta}"
    for tp in range(b2.numerator, b2.denominator - 1, 3):
        y, s = tie_of(b2, tp, b2.denominator - 1)
        assert hm.tune(y[:, None], s[:, None], metric, average).thresholds[0] == 0.9
        assert hm.tune(y, s, metric).threshold == 0.9


@pytest.mark.parametrize("average", ["macro", "micro"])
@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_rounded_sums_of_weights_do_not_hide_0_over_0(average, per_label, seed):
    random = np.random.default_rng(seed)
    y, s = np.ones(40, int), random.random(40).round(1)
    how = {"sample_weight": random.integers(1, 30, 40) / 10, "zero_division": 0.5}
    specificity = hm.LinearFractional("specificity", (0, 0, 0, 1), (0, 1, 0, 1))
    assert hm.tune(y, s, specificity, **how).score == 0.5
    got = hm.tune(y[:, None], s[:, None], specificity, average, per_label, **how)
    assert got.score == 0.5
    guess = (s > 0.4).astype(int)
    assert hm.score(y, guess, specificity, **how) == 0.5
    assert hm.score(y[:, None], guess[:, None], specificity, average, **how) == 0.5


@pytest.mark.parametrize("floor", ["min_precision", "min_recall"])
def test_a_floor_of_0_restricts_nothing(floor):
    got = hm.tune([1, 0], [-inf, 1.0], zero_division=float("nan"), **{floor: 0.0})
    assert (got.threshold, got.score) == (inf, 0.0)  # and nothing warns


def test_a_share_of_one_that_rounding_took_above_it_is_legal():
    draws = np.zeros((155, 2), int)  # 155 times 1/155 is more than 1 in floats
    assert hm.decide_joint(*hm.joint_from_samples(draws), zero_division=1.0).expected_score == 1.0
    assert hm.decide_joint([[1 + 1e-12], [-1e-12]], -1e-12).counts[0] == 1


def test_probabilities_of_any_float_are_decided():
    p = np.random.default_rng(0).random((5, 4))
    expected = hm.decide(p, average="samples").counts
    for dtype in (np.float32, np.longdouble):
        found = hm.decide(sparse.csr_array(p).astype(dtype), average="samples")
        assert_array_equal(found.counts, expected)


def test_tiny_probabilities_survive_a_huge_beta():
    assert hm.decide([1e-300], hm.FBeta(1e100)).expected_score == pytest.approx(
        1e-300, rel=1e-12, abs=0
    )


def test_few_counts_are_candidates_even_if_recall_weighs_most():
    rising = np.sort(np.random.default_rng(0).random(10_000))
    rule = CountRule(find_ratio("f100"), 0.0, np.array([0]), np.array([10_000]))
    found = _find_stretches(Batches(rising, np.array([0, 10_000]), 10_000), rule)
    assert 0 < found.first[0] <= found.last[0] < found.first[0] + 2_000


@compiled
@pytest.mark.usefixtures("usual_signals")
def test_ctrl_c_stops_work_on_all_threads_and_the_next_call_works(monkeypatch):
    monkeypatch.setattr(threads, "available_cores", lambda: 3)
    p, before = np.random.default_rng(0).random((4_000, 300)), set(threading.enumerate())
    with pytest.raises(KeyboardInterrupt):
        hm.decide(p, average="samples", progress=lambda *_: signal.raise_signal(signal.SIGINT))
    assert set(threading.enumerate()) <= before
    assert hm.decide(p[:3], average="samples").predictions.any()
