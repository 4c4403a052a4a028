"""Weighted rows, guards and floors in assess; cross-fitting."""

import numpy as np
import pytest
from assess_cases import AVERAGES, GAIN, GUARDS, check, close, same, some_labels
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from strategies import at_most, compiled, forms, many_labels, metrics, one_classifier, to_sparse

import halfmax as hm
from halfmax._core import threads
from halfmax._core.gate import labelled
from halfmax.honesty import assess, cross_fit, on_staircase
from halfmax.honesty.case import Draws
from halfmax.metrics.goal import Goal
from halfmax.tuning import tune

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("average", AVERAGES)
def test_only_unequal_weights_matter(average, per_label):
    y, s = some_labels(average)
    options = {"average": average, "per_label": per_label, "n_resamples": 5}
    plain = hm.assess(y, s, **options)
    for each in (1.0, 2.0, 0.1):
        close(plain, hm.assess(y, s, sample_weight=np.full(len(y), each), **options))


def test_the_size_of_weights_matters_to_a_metric_that_is_not_a_ratio():
    y, s = some_labels("macro")
    ones, threes = (
        hm.assess(y, s, GAIN, sample_weight=np.full(len(y), each)) for each in (1.0, 3.0)
    )
    assert threes.expected_score == pytest.approx(3 * ones.expected_score)
    assert_allclose(threes.score_interval, 3 * np.array(ones.score_interval))


@compiled
@pytest.mark.parametrize("guard", [None, "auto", "never"])
@pytest.mark.parametrize("average", AVERAGES)
def test_rows_of_weight_zero_change_nothing(average, guard):
    y, s = some_labels(average, n=40, n_labels=3)
    weights = np.random.default_rng(1).exponential(size=len(y))
    options = {"average": average, "guard": guard, "n_resamples": 5}
    more = np.concatenate([y, 1 - y]), np.concatenate([s, s + 0.33])
    a = hm.assess(*more, sample_weight=np.append(weights, 0 * weights), **options)
    close(a, hm.assess(y, s, sample_weight=weights, **options))


@at_most(12)
@given(one_classifier(), metrics, st.sampled_from([None, *GUARDS]), st.sampled_from([0.0, 1.0]))
def test_one_classifier_weighted_and_guarded(case, metric, guard, zero_division):
    options = {"sample_weight": case.w, "guard": guard, "zero_division": zero_division}
    a = hm.assess(case.y, case.s, metric, n_resamples=4, **options)
    check(a, 4, guarded=guard is not None)
    assert np.isfinite([a.expected_score, *a.score_interval, *a.resampled_scores]).all()
    tuned = hm.tune(case.y, case.s, metric, **options)
    assert (a.thresholds.threshold, a.score) == (tuned.threshold, tuned.score)


@compiled
@pytest.mark.parametrize("guard", [None, *GUARDS])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@at_most(5)
@given(many_labels(), metrics, forms)
def test_many_labels_weighted_and_guarded(average, guard, case, metric, form):
    if guard is not None and guard.startswith("fbr") and average != "macro":
        return
    options = {"metric": metric, "average": average, "sample_weight": case.w, "guard": guard}
    a = hm.assess(case.y, case.s, n_resamples=3, **options)
    check(a, 3, guarded=guard is not None)
    assert np.isfinite([a.expected_score, *a.score_interval, *a.resampled_scores]).all()
    again = sparse.csr_array(case.y), to_sparse(case.s, form)
    close(a, hm.assess(*again, n_resamples=3, **options))
    assert_array_equal(a.thresholds.thresholds, hm.tune(case.y, case.s, **options).thresholds)


@compiled
@given(many_labels(), metrics)
@at_most(5)
def test_one_weighted_threshold_for_all(case, metric):
    for average in ("macro", "micro", "samples"):
        options = {"average": average, "per_label": False, "sample_weight": case.w}
        check(hm.assess(case.y, case.s, metric, n_resamples=3, **options), 3)


@compiled
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_guarded_and_weighted_answers_do_not_depend_on_threads(monkeypatch, average):
    y, s = some_labels(average, n=40)
    found = []
    for cores in (1, 5):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        weights = np.arange(len(y)) % 3
        options = {"average": average, "guard": "auto", "n_resamples": 6, "seed": 3}
        found.append(hm.assess(y, s, sample_weight=weights, **options))
    same(*found)


@pytest.mark.parametrize(
    "options",
    [
        {"guard": "best"},
        {"guard": "auto", "per_label": False},
        {"guard": "fbr", "average": "micro"},
        {"guard": "auto", "average": "micro", "metric": GAIN},
        {"sample_weight": [1, 2]},
        {"sample_weight": np.zeros(80)},
        {"sample_weight": -np.ones(80)},
        {"sample_weight": np.ones(80), "zero_division": np.nan, "metric": "precision"},
    ],
)
def test_assess_refuses_what_tune_refuses_with_the_same_message(options):
    messages = []
    for function in (hm.tune, hm.assess):
        with pytest.raises(ValueError, match=r"\w") as error:
            function(*some_labels("macro"), **options)
        messages.append(str(error.value))
    assert messages[0] == messages[1]


def test_a_guard_tunes_thirty_times_at_most():
    reports = []
    y, s = some_labels("macro")
    hm.assess(y, s, guard="smooth", progress=lambda *step: reports.append(step))
    assert reports[-1] == (30, 30)


@compiled
@pytest.mark.parametrize("guard", [None, "auto"])
def test_checked_data_are_tuned_and_assessed_like_raw_data(guard):
    y, s = some_labels("macro", n=40, n_labels=3)
    goal = Goal.ask("f1", guard=guard).settle(one_classifier=False)
    tuned = tune.tune_checked(labelled.read_labelled(y, s), goal)
    a = assess.assess_tuned(tuned, tuned._tuning, Draws(n_resamples=7))
    same(a, hm.assess(y, s, guard=guard, n_resamples=7))
    assert a.thresholds is tuned


def test_floors_restrict_thresholds_but_not_expected_scores():
    y, s = some_labels("macro")
    goal = Goal.ask("f1", min_precision=0.6).settle(one_classifier=False)
    tuned = tune.tune_checked(labelled.read_labelled(y, s), goal)
    a = assess.assess_tuned(tuned, tuned._tuning, Draws(n_resamples=9))
    check(a, 9, guarded=True)
    assert 0 < a.expected_score < 1


def test_each_held_out_hit_is_valued_by_the_score_of_its_threshold(monkeypatch):
    y, s = some_labels("macro", n=30)
    w = np.random.default_rng(0).exponential(size=30)
    fold = np.arange(30) % 10
    monkeypatch.setattr(cross_fit, "_assign_folds", lambda *_: fold)
    monkeypatch.setattr(cross_fit, "ranks_of_rows", lambda _: np.arange(30))
    monkeypatch.setattr(cross_fit, "_is_best", lambda _: False)  # cross-fitting alone
    monkeypatch.setattr(on_staircase, "can_judge", lambda *_: False)
    expected = np.zeros(y.shape[1])
    for k in range(10):
        t = hm.tune(y[fold != k], s[fold != k], sample_weight=w[fold != k])
        for j, threshold in enumerate(t.thresholds):
            everyone = w @ y[:, j] + w @ (s[:, j] >= threshold)
            hits = w[fold == k] @ (y & (s >= threshold))[fold == k, j]
            expected[j] += 2 * hits / everyone
    assert y.any(axis=0).all()
    a = hm.assess(y, s, sample_weight=w, n_resamples=2)
    assert_allclose(a.label_expected_scores, expected)
    assert a.expected_score == pytest.approx(expected.mean())


@pytest.mark.parametrize("average", AVERAGES)
def test_held_out_rows_are_predicted_by_thresholds_tuned_without_them(average):
    y, s = some_labels(average, n=31)
    data = labelled.read_labelled(y, s)
    fold = np.random.default_rng(0).integers(0, 4, len(y))

    def tuned(part):
        return np.asarray(part.scores.mean(axis=0, keepdims=True)).ravel()

    thresholds = cross_fit._tuned_without(data, fold, tuned)
    found = cross_fit._predict_by_fold(data, fold, thresholds)
    found = found.toarray() if average != "binary" else found
    for k in range(4):
        assert_array_equal(found[fold == k], s[fold == k] >= s[fold != k].mean(axis=0))
