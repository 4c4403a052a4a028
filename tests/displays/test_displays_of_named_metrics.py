"""Displays of metrics by name, of costs, and of weighted averages."""

import pickle
from fractions import Fraction

import naive
import numpy as np
import pytest
from display_cases import (
    COST,
    CURVE,
    HALF,
    HEALTH,
    NAMES,
    REGION,
    SS,
    YY,
    S,
    Y,
    assert_same,
    texts,
    undrawn,
)
from hypothesis import given
from hypothesis import strategies as st
from naive_metrics import FORMULAS
from scipy import stats
from strategies import one_classifier

import halfmax as hm
from halfmax.displays.assessed_score import AssessedScore

pytestmark = pytest.mark.usefixtures("close_figures")

WORDS = {
    "mcc": "MCC",
    "balanced_accuracy": "balanced accuracy",
    "youden": "Youden's J",
    "kappa": "kappa",
    "gmean": "G-mean",
    "specificity": "specificity",
    "npv": "NPV",
    "fowlkes_mallows": "Fowlkes-Mallows",
}
WITH_A_RULE = ("balanced_accuracy", "youden", "kappa", "specificity", "npv")


def test_every_named_metric_is_tried():
    assert set(WORDS) == set(FORMULAS)


@given(one_classifier(), st.sampled_from([*FORMULAS, {"fp": 1, "fn": 4}]))
def test_curves_are_the_metric_at_every_score(case, metric):
    known = sorted({x for x in naive.numbers(case.s) if x > -np.inf})
    if not known:
        return
    asked = metric if isinstance(metric, str) else hm.cost(**metric)
    with undrawn(CURVE):
        d = CURVE.from_predictions(case.y, case.s, asked, sample_weight=case.w, n_resamples=0)
    truth = naive.whole(case.y)
    for got, t in zip(d.scores, known, strict=True):
        counts = naive.confusion(truth, naive.predict(case.s, t), case.w)
        assert got == pytest.approx(float(naive.metric_value(metric, *counts)), abs=1e-7)
    counts = naive.confusion(truth, [1] * case.rows, case.w)
    expected = naive.metric_value(metric, *counts, Fraction(0))
    assert d.everyone == pytest.approx(float(expected), abs=1e-7)


@pytest.mark.parametrize("metric", WORDS)
def test_metrics_have_their_names_and_fit_on_the_axes(metric):
    for scores in (S, 1 - S):
        d = CURVE.from_predictions(Y, scores, metric)
        assert d.line_.get_label() == WORDS[metric]
        assert any(f": {WORDS[metric]} = " in text for text in texts(d))
        low, high = d.ax_.get_ylim()
        assert low <= min(d.scores.min(), 0.0)
        assert high >= 1.0
        assert (low < 0) == (d.scores.min() < 0)


@pytest.mark.parametrize("metric", WORDS)
def test_rules_of_calibrated_probabilities(metric):
    d = CURVE.from_predictions(Y, S, metric)
    if metric not in WITH_A_RULE:
        assert d.half_max is None
        return
    plug_in = hm.diagnose(Y, S, metric, n_resamples=5).half_max[0]
    assert d.half_max == pytest.approx(plug_in)
    if metric in ("youden", "balanced_accuracy"):
        assert d.half_max == pytest.approx(Y.mean())


def test_costs_are_drawn_as_positive_numbers_without_precision_and_recall():
    d = CURVE.from_predictions(Y, S, hm.cost(fp=2, fn=30))
    assert (d.scores < 0).all()
    np.testing.assert_array_equal(d.line_.get_ydata()[1:], -d.scores)
    assert not {"precision", "recall"} & set(texts(d))
    low, high = d.ax_.get_ylim()
    assert low == 0.0
    assert high >= -d.scores.min()
    assert f"cost of predicting all {2 * (1 - Y.mean()):.3g}" in texts(d)
    band = d.band_.get_paths()[0].vertices[:, 1]
    assert band.min() >= 0.0


def test_costs_that_pay_are_negative():
    d = CURVE.from_predictions(Y, S, hm.cost(fp=1, fn=0, tp=-5))
    assert d.ax_.get_ylim()[0] < (-d.scores).min() < 0


# Half-max.


@pytest.mark.parametrize("metric", [*WITH_A_RULE, COST])
def test_half_max_of_all_sources_agree(metric):
    tuned = HALF.from_thresholds(hm.tune(YY, SS, metric, labels=NAMES))
    found = HALF.from_predictions(YY, SS, metric, labels=NAMES, n_resamples=5)
    order = [NAMES.index(name) for name in found.labels]
    np.testing.assert_allclose(found.half_max, tuned.half_max[order])
    np.testing.assert_array_equal(found.thresholds, tuned.thresholds[order])


def test_half_max_of_costs_is_the_same_for_all_labels():
    d = HALF.from_thresholds(hm.tune(YY, SS, COST))
    np.testing.assert_allclose(d.half_max, 1 / 5)
    assert "fp/(fp + fn), the threshold if calibrated" in texts(d)


def test_rules_that_need_the_base_rate_take_the_number_of_rows_for_thresholds_without_data():
    t = hm.tune(YY, SS, "youden")
    alone = pickle.loads(pickle.dumps(t))
    assert_same(HALF.from_thresholds(t), HALF.from_thresholds(alone, n_rows=300))
    np.testing.assert_allclose(HALF.from_thresholds(t).half_max, YY.mean(axis=0))
    assert "plug-in threshold, if calibrated" in texts(HALF.from_thresholds(t))


def test_pooled_labels_have_the_pooled_base_rate():
    t = hm.tune(YY, SS, "youden", average="micro", per_label=False)
    np.testing.assert_allclose(HALF.from_thresholds(t).half_max, YY.mean())


# Label health.


@pytest.mark.parametrize("metric", [*WORDS, COST])
def test_health_of_every_metric(metric):
    t = hm.tune(YY, SS, metric)
    d = HEALTH.from_predictions(YY, SS, metric)
    np.testing.assert_allclose(d.share, t.predict(SS).mean(axis=0))


def test_health_of_the_weighted_average():
    weighted = HEALTH.from_predictions(YY, SS, average="weighted")
    assert_same(weighted, HEALTH.from_predictions(YY, SS))  # each label is tuned by itself
    assert_same(weighted, HEALTH.from_thresholds(hm.tune(YY, SS, average="weighted")))


def test_health_of_one_classifier_with_costs_of_rows():
    metric = hm.cost(fp=1, fn=np.arange(1.0, 301.0))
    d = HEALTH.from_predictions(Y, S, metric)
    assert d.share[0] == pytest.approx((hm.tune(Y, S, metric).threshold <= S).mean())


# The others.


def test_assessed_costs_are_positive():
    assessed = hm.assess(Y, S, COST, n_resamples=50)
    d = AssessedScore.from_assessment(assessed)
    assert (d.score, d.expected_score) == (-assessed.score, -assessed.expected_score)
    assert d.score_interval == (-assessed.score_interval[1], -assessed.score_interval[0])
    assert d.score_interval[0] <= d.score_interval[1]
    np.testing.assert_array_equal(d.resampled_scores, -assessed.resampled_scores)
    assert any(text.startswith("cost on unlimited new data") for text in texts(d))


def test_the_cost_of_a_region_is_positive():
    d = REGION.from_densities(stats.norm(2), stats.norm(), 0.1, COST)
    assert f"cost = {-d.score:.3f}" in d.ax_.get_title()
