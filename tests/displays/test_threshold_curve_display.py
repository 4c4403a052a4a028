"""Threshold curves hold the metric at every score, and a band by resampling."""

from fractions import Fraction

import numpy as np
import pytest
from display_cases import CURVE, NAMES, SS, YY, S, Y, assert_same, texts, undrawn
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import halfmax as hm
from halfmax._core.gate.labelled import read_labelled
from halfmax.displays import curve_counts
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import Staircase
from tests import naive, strategies

pytestmark = pytest.mark.usefixtures("close_figures")


def naive_at(case, threshold, metric, zero_division=0):
    guess = naive.predict(case.s, threshold)
    return float(naive.score(naive.whole(case.y), guess, metric, "macro", case.w, zero_division))


@given(strategies.one_classifier(), strategies.metrics, strategies.zero_divisions)
def test_curves_are_the_metric_at_every_score(case, metric, zero_division):
    known = sorted({x for x in naive.numbers(case.s) if x > -np.inf})
    how = {"sample_weight": case.w, "zero_division": zero_division, "n_resamples": 0}
    if not known:
        with pytest.raises(ValueError, match="must have a finite score"):
            CURVE.from_predictions(case.y, case.s, metric, **how)
        return
    with undrawn(CURVE):
        d = CURVE.from_predictions(case.y, case.s, metric, **how)
    assert d.thresholds.tolist() == known
    for values, name in (
        (d.scores, metric),
        (d.precision, "precision"),
        (d.recall, "recall"),
    ):
        expected = [naive_at(case, t, name, zero_division) for t in known]
        np.testing.assert_allclose(values, expected, atol=1e-9)
    tuned = hm.tune(case.y, case.s, metric, "macro", True, case.w, zero_division=zero_division)
    assert (d.threshold, d.best_threshold) == (tuned.threshold, tuned.threshold)
    assert d.score == d.best_score == tuned.score
    all_rows = naive.confusion(naive.whole(case.y), [1] * case.rows, case.w)
    assert d.base_rate == pytest.approx(float(all_rows[0] / sum(all_rows)))
    value = naive.metric_value(metric, *all_rows, Fraction(zero_division))
    assert d.everyone == pytest.approx(float(value))
    assert d.band is None


@given(strategies.one_classifier(kinds=("none",)), st.floats(-2, 2))
def test_any_threshold_can_be_chosen(case, threshold):
    if not (np.asarray(case.s, float) > -np.inf).any():
        return
    how = {"threshold": threshold, "n_resamples": 0}
    with undrawn(CURVE):
        d = CURVE.from_predictions(case.y, case.s, **how)
    assert d.threshold == threshold
    assert d.score == pytest.approx(naive_at(case, threshold, "f1"))
    assert d.best_score >= d.score - 1e-12


def test_a_threshold_that_predicts_no_rows():
    d = CURVE.from_predictions(Y, S, threshold=np.inf)
    assert (d.threshold, d.score) == (np.inf, 0.0)
    assert any("none" in text for text in texts(d))


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "accuracy"])
def test_the_rule_of_calibrated_probabilities_is_shown_where_it_holds(metric):
    d = CURVE.from_predictions(Y, S, metric)
    assert d.half_max == pytest.approx(naive.plug_in_threshold(metric, d.best_score))
    assert CURVE.from_predictions(Y, 3 * S, metric).half_max is None
    own = hm.Metric("own", lambda tp, fp, fn, _tn: 2 * tp / (2 * tp + fp + fn))
    assert CURVE.from_predictions(Y, S, own).half_max is None


def test_many_scores_are_thinned_and_the_best_and_both_ends_are_kept():
    rng = np.random.default_rng(1)
    s = rng.normal(size=20_000)
    y = rng.random(len(s)) < 1 / (1 + np.exp(3 - s))
    d = CURVE.from_predictions(y, s, n_resamples=0)
    assert 1000 < len(d.thresholds) <= 2000
    assert {s.min(), s.max(), d.best_threshold} <= set(d.thresholds.tolist())
    assert (np.diff(d.thresholds) > 0).all()
    assert d.scores.max() == d.best_score
    for k in range(0, len(d.thresholds), 199):
        assert d.scores[k] == pytest.approx(hm.score(y, s >= d.thresholds[k]))


def test_the_band_is_that_of_resampled_rows():
    rng = np.random.default_rng(3)
    s = rng.random(400).round(2)
    y = rng.random(400) < s
    d = CURVE.from_predictions(y, s, level=0.9, n_resamples=4000)
    weights = rng.poisson(1.0, (4000, 400))
    for k in range(0, len(d.thresholds), 9):
        hit, guess = weights @ (y & (s >= d.thresholds[k])), weights @ (s >= d.thresholds[k])
        again = 2 * hit / np.maximum(guess + weights @ y, 1)
        ends = np.quantile(again, (0.05, 0.95))
        np.testing.assert_allclose([d.band[0][k], d.band[1][k]], ends, atol=0.02)


def test_uneven_weights_have_a_wider_band_and_equal_weights_do_not():
    objective = Objective(find_metric("f1"))
    half = Y[:100], S[:100]

    def width(weights):
        data = read_labelled(*half, weights)
        stairs = Staircase.of_checked(data, curve_counts.grid_of_scores(data, 0.5))
        rng = np.random.default_rng(0)
        low, high = curve_counts.band(data, stairs, objective, 0.95, 2000, rng)
        return (high - low).mean()

    assert width(np.full(100, 7.0)) == pytest.approx(width(None), rel=0.02)
    uneven = np.where(np.arange(100) % 10 == 0, 10.0, 0.01)
    assert width(uneven) > 1.5 * width(None)


def test_the_same_seed_is_the_same_band():
    one, same, other = (CURVE.from_predictions(Y, S, seed=seed) for seed in (1, 1, 2))
    assert_same(one, same)
    assert (one.band[0] != other.band[0]).any()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_one_of_many_labels_is_drawn_as_if_it_were_alone(container):
    t = hm.tune(YY, container(SS), labels=NAMES)
    for j, name in enumerate(NAMES):
        alone = CURVE.from_predictions(YY[:, j], SS[:, j])
        found = CURVE.from_thresholds(t, name)
        by_place = CURVE.from_predictions(YY, container(SS), label=j)
        alone.label = found.label = by_place.label
        assert_same(alone, found)
        assert_same(alone, by_place)


def test_thresholds_that_know_their_data_can_be_drawn():
    found = CURVE.from_thresholds(hm.tune(Y, S, min_precision=0.9))
    assert found.precision[found.thresholds == found.threshold] >= 0.9
    assert found.best_score > found.score  # of all thresholds, without the floor
    assert "best" in texts(found)


def test_estimators_of_one_and_of_many_labels():
    X = np.random.default_rng(2).normal(size=(300, 3))
    classes = np.where(Y, "yes", "no")
    one = LogisticRegression().fit(X, classes)
    found = CURVE.from_estimator(one, X, classes)
    same = CURVE.from_predictions(classes, one.predict_proba(X)[:, 1], pos_label="yes")
    assert_same(found, same, but=["name"])
    assert (found.pos_label, found.name, same.name) == ("yes", "LogisticRegression", None)
    other = CURVE.from_estimator(one, X, classes, pos_label="no")
    assert other.base_rate == pytest.approx(1 - found.base_rate)
    many = OneVsRestClassifier(LogisticRegression()).fit(X, YY)
    found = CURVE.from_estimator(many, X, YY, label=2)
    assert_same(found, CURVE.from_predictions(YY, many.predict_proba(X), label=2))
    ridge = Ridge().fit(X, Y)
    found = CURVE.from_estimator(ridge, X, Y.astype(int))
    assert found.thresholds[-1] == ridge.predict(X).max()


# Classifiers with a threshold of their own.

OLD, NEW = (np.random.default_rng(seed).normal(size=(400, 2)) for seed in (3, 4))
OLD_Y, NEW_Y = (np.where(X[:, 0] + X[:, 1] ** 2 > 1.5, "b", "a") for X in (OLD, NEW))
OWN_RULES = {
    "tuned": {"metric": "f2"},
    "the first class": {"pos_label": "a", "metric": "jaccard"},
    "decisions of the first class": {"pos_label": "a", "response_method": "decision_function"},
    "fixed": {"thresholds": 0.3},
    "costs": {"metric": hm.cost(fp=1, fn=4)},
}


@pytest.mark.parametrize("options", OWN_RULES.values(), ids=OWN_RULES)
@pytest.mark.parametrize("in_pipeline", [False, True])
def test_the_threshold_of_a_threshold_classifier_is_marked(options, in_pipeline):
    model = own = hm.ThresholdClassifier(LogisticRegression(), **options)
    if in_pipeline:
        model = make_pipeline(StandardScaler(), own)
    model.fit(OLD, OLD_Y)
    found = CURVE.from_estimator(model, NEW, NEW_Y, n_resamples=0)
    assert (found.threshold, found.metric) == (own.threshold_, own._rule.goal.metric.name)
    assert found.score == pytest.approx(model.score(NEW, NEW_Y))
    assert found.best_score >= found.score
    other = CURVE.from_estimator(model, NEW, NEW_Y, "mcc", n_resamples=0)
    assert (other.threshold, other.metric) == (own.threshold_, "mcc")
    assert CURVE.from_estimator(model, NEW, NEW_Y, threshold=0.7, n_resamples=0).threshold == 0.7
    shown = hm.PrecisionRecallDisplay.from_estimator(model, NEW, NEW_Y)
    assert (shown.threshold, shown.metric) == (found.threshold, found.metric)


def test_fixed_thresholds_of_a_fitted_estimator_are_marked():
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(OLD, OLD_Y)
    model = hm.ThresholdClassifier(fitted, thresholds=0.4)
    assert CURVE.from_estimator(model, NEW, NEW_Y, n_resamples=0).threshold == 0.4


def test_a_threshold_is_not_marked_in_scores_that_it_does_not_cut():
    model = hm.ThresholdClassifier(LogisticRegression()).fit(OLD, OLD_Y)
    for other in ({"pos_label": "a"}, {"response_method": "decision_function"}):
        found = CURVE.from_estimator(model, NEW, NEW_Y, n_resamples=0, **other)
        assert found.threshold == found.best_threshold
    model = hm.ThresholdClassifier(LogisticRegression(), rule="expected").fit(OLD, OLD_Y)
    found = CURVE.from_estimator(model, NEW, NEW_Y, n_resamples=0)
    assert found.threshold == found.best_threshold
    of_labels = hm.ThresholdClassifier(OneVsRestClassifier(LogisticRegression()), cv=2)
    of_labels.fit(OLD, OLD > 0)
    found = CURVE.from_estimator(of_labels, NEW, NEW > 0, label=1, n_resamples=0)
    assert found.threshold == found.best_threshold
