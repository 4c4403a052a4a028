"""Metrics by name, and any function of the counts, in every search against slow twins."""

from types import SimpleNamespace

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_metrics import FORMULAS
from numpy.testing import assert_array_equal
from sklearn import metrics as sklearn_metrics
from strategies import (
    at_most,
    averages,
    many_labels,
    one_classifier,
    restrictions,
    to_sparse,
    zero_divisions,
)

import halfmax as hm
from halfmax.metrics.named import find_metric

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
]

names = st.sampled_from(list(FORMULAS))
pooled_names = st.sampled_from(["kappa", "youden", "balanced_accuracy", "specificity", "npv"])
whole = ("none", "whole")
more = settings(max_examples=2 * settings().max_examples)


def tune(case, metric, average="macro", per_label=True, zero_division=0.0, **options):
    return hm.tune(
        case.y,
        case.s,
        metric,
        average,
        per_label,
        sample_weight=case.w,
        zero_division=zero_division,
        **options,
    )


def check(got, expected):
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed


@more
@given(one_classifier(kinds=whole), names, zero_divisions, restrictions())
def test_one_classifier(case, name, zero_division, limits):
    for options in ({}, limits):
        expected = naive.best_threshold(case.y, case.s, name, case.w, zero_division, **options)
        check(tune(case, name, zero_division=zero_division, **options), expected)


@more
@given(many_labels(kinds=whole), names, zero_divisions, st.booleans())
def test_labels_by_themselves(case, name, zero_division, is_sparse):
    expected = naive.best_each_label(case.y, case.s, name, case.w, zero_division)
    given_ = case._replace(s=to_sparse(case.s)) if is_sparse else case
    got = tune(given_, name, zero_division=zero_division)
    assert naive.same(got.score, sum(best.score for best in expected) / len(expected))
    for threshold, best in zip(got.thresholds, expected, strict=True):
        assert threshold in best.allowed


@given(many_labels(kinds=whole), names, averages | st.just("weighted"), zero_divisions)
def test_one_threshold_for_all_labels(case, name, average, zero_division):
    expected = naive.best_shared(case.y, case.s, name, average, case.w, zero_division)
    got = tune(case, name, average, False, zero_division)
    assert naive.same(got.score, expected.score)


@more
@given(many_labels(most_rows=5, most_labels=3, kinds=whole), pooled_names, zero_divisions)
def test_pooled_counts_with_a_threshold_for_each_label(case, name, zero_division):
    expected = naive.best_micro_per_label(case.y, case.s, name, case.w, zero_division)
    got = tune(case, name, "micro", True, zero_division)
    assert naive.same(got.score, expected.score)


@pytest.mark.parametrize("name", ["mcc", "gmean", "fowlkes_mallows"])
def test_roots_of_pooled_counts_are_refused_in_words(name):
    y, s = np.eye(4, dtype=int), np.eye(4)
    message = (
        rf"ratio of weighted sums .*got '{name}'.*tune\(..., per_label=False\), works with any"
    )
    with pytest.raises(ValueError, match=message):
        hm.tune(y, s, name, "micro")
    assert hm.tune(y, s, name, "micro", per_label=False).score == 1.0


@at_most(20)
@given(many_labels(most_rows=6), names, zero_divisions)
def test_the_mean_over_rows_is_never_below_the_best_shared_threshold(case, name, zero_division):
    together = naive.best_shared(case.y, case.s, name, "samples", case.w, zero_division)
    got = tune(case, name, "samples", True, zero_division)
    assert got.score >= float(together.score) - 1e-12
    guess = naive.predict(case.s, got.thresholds)
    assert naive.same(got.score, naive.score(case.y, guess, name, "samples", case.w, zero_division))


@given(many_labels(kinds=whole), st.sampled_from(["f1", "jaccard", "mcc"]), zero_divisions)
def test_the_weighted_mean_has_the_thresholds_of_the_mean(case, name, zero_division):
    plain, got = (tune(case, name, a, True, zero_division) for a in ("macro", "weighted"))
    assert_array_equal(got.thresholds, plain.thresholds)
    guess = naive.predict(case.s, got.thresholds)
    expected = naive.score(case.y, guess, name, "weighted", case.w, zero_division)
    assert naive.same(got.score, expected)
    again = hm.score(case.y, guess, name, "weighted", case.w, zero_division)
    assert naive.same(again, expected)


def test_an_average_of_none_is_the_score_of_each_label():
    rng = np.random.default_rng(0)
    y, guess = rng.random((60, 4)) < 0.3, rng.random((60, 4)) < 0.4
    for container in (np.asarray, lambda labels: np.asarray(labels, int).tolist()):
        found = hm.score(container(y), container(guess), average=None)
        assert_array_equal(found, sklearn_metrics.f1_score(y, guess, average=None))


SKLEARN = {
    "mcc": sklearn_metrics.matthews_corrcoef,
    "kappa": sklearn_metrics.cohen_kappa_score,
    "balanced_accuracy": sklearn_metrics.balanced_accuracy_score,
    "specificity": lambda y, guess: sklearn_metrics.recall_score(y, guess, pos_label=0),
    "npv": lambda y, guess: sklearn_metrics.precision_score(
        y, guess, pos_label=0, zero_division=0.0
    ),
    "youden": lambda y, guess: sklearn_metrics.balanced_accuracy_score(y, guess, adjusted=True),
}


@pytest.mark.parametrize("name", SKLEARN)
def test_scores_are_those_of_scikit_learn(name):
    rng = np.random.default_rng(0)
    for rate in (0.1, 0.5, 0.9):
        y = rng.random(200) < rate
        y[:2] = 0, 1
        for guess in (rng.random(200) < rate, y, np.zeros(200, bool), np.ones(200, bool)):
            expected = SKLEARN[name](y, guess)
            assert hm.score(y, guess, name) == pytest.approx(expected, rel=1e-12, abs=1e-15)


def test_weighted_averages_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    y, guess = rng.random((50, 5)) < [0, 0.1, 0.3, 0.5, 0.9], rng.random((50, 5)) < 0.4
    weights = rng.integers(0, 3, 50)
    for zero_division in (0.0, 1.0):
        how = {"average": "weighted", "zero_division": zero_division}
        expected = sklearn_metrics.f1_score(y, guess, sample_weight=weights, **how)
        assert hm.score(y, guess, sample_weight=weights, **how) == pytest.approx(expected)
    nothing = np.zeros((3, 2), int)
    for made in (nothing, nothing + np.array([1, 0])):
        how = {"average": "weighted", "zero_division": 1.0}
        assert hm.score(nothing, made, **how) == sklearn_metrics.f1_score(nothing, made, **how)


# Metrics that are not monotone: every score is tried.

ODD = {
    "capacity": lambda tp, fp, fn, tn: tp - 3 * np.maximum(tp + fp - 2, 0) + 0 * fn * tn,
    "hits are dear": lambda tp, fp, fn, tn: -(5 * tp + fp + fn) / (tp + fp + fn + tn),
    "false alarms": lambda tp, fp, fn, tn: fp / (fp + tn) + 0 * tp * fn,
    "not too many": lambda tp, fp, fn, tn: -np.abs(fp - fn) + 0 * tp * tn,
}


def twin(name):
    """The same metric for exact twins, which count in fractions."""

    def formula(*counts):
        with np.errstate(invalid="ignore"):
            return float(ODD[name](*(np.float64(float(count)) for count in counts)))

    return SimpleNamespace(formula=formula)


odd = st.sampled_from(list(ODD))


@more
@given(one_classifier(kinds=whole), odd, zero_divisions, restrictions())
def test_every_score_of_one_classifier_is_tried(case, name, zero_division, limits):
    metric = hm.Metric(name, ODD[name])
    for options in ({}, limits):
        expected = naive.best_threshold(
            case.y, case.s, twin(name), case.w, zero_division, **options
        )
        check(tune(case, metric, zero_division=zero_division, **options), expected)


@more
@given(many_labels(kinds=whole), odd, zero_divisions, st.booleans())
def test_every_score_of_each_label_is_tried(case, name, zero_division, is_sparse):
    expected = naive.best_each_label(case.y, case.s, twin(name), case.w, zero_division)
    given_ = case._replace(s=to_sparse(case.s)) if is_sparse else case
    got = tune(given_, hm.Metric(name, ODD[name]), zero_division=zero_division)
    for threshold, best, reached in zip(got.thresholds, expected, got.label_scores, strict=True):
        assert naive.same(reached, best.score)
        assert threshold in best.allowed


def test_a_threshold_may_be_the_score_of_a_negative():
    y, s = [1, 0, 0, 1], [0.9, 0.7, 0.5, 0.3]
    t = hm.tune(y, s, hm.Metric("false alarms", ODD["false alarms"]))
    assert (t.threshold, t.score) == (0.5, 1.0)


@pytest.mark.parametrize(
    "options", [{"average": "micro"}, {"average": "samples"}, {"per_label": False}]
)
def test_other_searches_refuse_metrics_that_are_not_monotone(options):
    metric = hm.Metric("false alarms", ODD["false alarms"])
    with pytest.raises(ValueError, match=r"ratio of weighted sums|rises when a false positive"):
        hm.tune(np.eye(3, dtype=int), np.eye(3), metric, **options)


# Assessments and diagnoses of all of them.


@pytest.mark.parametrize("name", [*FORMULAS, "cost(fp=1, fn=5)"])
def test_new_rows_show_what_is_expected(name):
    """Over many small data sets, the mean of what is expected is that of what is found."""
    rng = np.random.default_rng(3)
    found, expected, inside = [], [], 0
    for seed in range(60):
        y = rng.random(300) < 0.2
        s = rng.normal(size=300) + 1.5 * y
        a = hm.assess(y, s, name, n_resamples=60, seed=seed)
        new = rng.random(20_000) < 0.2
        scores = rng.normal(size=20_000) + 1.5 * new
        reached = hm.score(new, a.thresholds.predict(scores), name)
        found.append(reached)
        expected.append(a.expected_score)
        inside += a.score_interval[0] <= reached <= a.score_interval[1]
    size = abs(np.mean(found)) + 0.05
    assert np.mean(expected) == pytest.approx(np.mean(found), abs=0.06 * size)
    assert inside >= 50


def test_restricted_and_weighted_assessments_expect_what_new_rows_show():
    rng = np.random.default_rng(4)
    y = rng.random((400, 6)) < [0.5, 0.3, 0.2, 0.2, 0.1, 0.1]
    s = rng.normal(size=y.shape) + 1.5 * y
    new = rng.random((20_000, 6)) < [0.5, 0.3, 0.2, 0.2, 0.1, 0.1]
    scores = rng.normal(size=new.shape) + 1.5 * new
    for options in (
        {"average": "weighted"},
        {"average": "weighted", "guard": "auto"},
        {"max_predicted": 60},
        {"min_specificity": 0.9},
        {"average": "micro", "max_predicted": 0.1},
    ):
        a = hm.assess(y, s, n_resamples=60, **options)
        average = options.get("average", "macro")
        reached = hm.score(new, a.thresholds.predict(scores), average=average)
        assert a.expected_score == pytest.approx(reached, abs=0.05)
        assert a.score_interval[0] - 0.02 <= reached <= a.score_interval[1] + 0.02


def test_costs_of_rows_are_assessed():
    rng = np.random.default_rng(5)
    gaps = []
    for seed in range(40):
        y = rng.random(300) < 0.2
        s, amount = rng.normal(size=300) + 1.5 * y, rng.lognormal(size=300)
        a = hm.assess(y, s, hm.cost(fp=0.3, fn=amount), n_resamples=40, seed=seed)
        new = rng.random(20_000) < 0.2
        scores, amounts = rng.normal(size=20_000) + 1.5 * new, rng.lognormal(size=20_000)
        reached = hm.score(new, a.thresholds.predict(scores), hm.cost(fp=0.3, fn=amounts))
        gaps.append((a.expected_score - reached, a.score - reached))
        assert a.score_interval[0] <= a.expected_score <= a.score_interval[1]
        assert a.threshold_interval[0] <= a.threshold_interval[1]
    of_expected, of_tuned = np.mean(gaps, axis=0)
    assert abs(of_expected) < 0.01
    assert of_tuned > of_expected


@pytest.mark.parametrize("name", [*FORMULAS, "cost(fp=1, fn=5)"])
def test_labels_are_diagnosed_for_any_metric(name):
    rng = np.random.default_rng(6)
    y = rng.random((600, 3)) < [0.3, 0.1, 0.02]
    p = np.clip(0.3 * y + rng.random(y.shape) * 0.5, 0, 1)
    d = hm.diagnose(y, p, name, n_resamples=40)
    assert d.metric == find_metric(name).name
    assert np.isfinite(d.expected_scores).all()


def test_intervals_of_costs_do_not_promise_less_than_perfect_scores_cost():
    y, s = np.repeat([0, 1], 50), np.arange(100.0)
    for metric, least in (
        (hm.cost(fp=1, fn=2), 0.0),
        (hm.cost(fp=3, fn=2, tp=1, tn=0.5), 0.75),
        (hm.cost(fp=np.ones(100), fn=2), 0.0),
    ):
        a = hm.assess(y, s, metric, n_resamples=50)
        low, high = a.score_interval
        assert low < a.expected_score <= high <= -least
        assert a.label_score_intervals[1][0] <= -least
