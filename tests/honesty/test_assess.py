"""What assess returns: intervals, seeds, frames, progress and awkward data."""

import io
import sys

import numpy as np
import pandas as pd
import polars as pl
import pytest
from assess_cases import GAIN, INF, UNWEIGHTED, binary, check, same
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from strategies import at_most, compiled, forms, many_labels, metrics, one_classifier, to_sparse

import halfmax as hm
from halfmax._core import threads
from halfmax._core.limits import changed
from halfmax.metrics.metric import FBeta

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("metric", ["accuracy", GAIN])
def test_metrics_that_are_not_a_share_of_hits_are_assessed_too(metric):
    y, s = binary(40, 0.3, 1.0)
    a = hm.assess(y, s, metric, n_resamples=50)
    low, high = a.score_interval
    assert low <= a.expected_score <= min(high, a.score)


@at_most(20)
@given(one_classifier(kinds=UNWEIGHTED), metrics, st.sampled_from([0.0, 1.0]))
def test_one_classifier_of_every_awkward_kind(case, metric, zero_division):
    a = hm.assess(case.y, case.s, metric, n_resamples=9, zero_division=zero_division)
    check(a, 9)
    tuned = hm.tune(case.y, case.s, metric, zero_division=zero_division)
    assert (a.thresholds.threshold, a.score) == (tuned.threshold, tuned.score)


@compiled
@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@at_most(6)
@given(many_labels(kinds=UNWEIGHTED), metrics, forms)
def test_many_labels_of_every_awkward_kind(average, per_label, case, metric, form):
    options = {"metric": metric, "average": average, "per_label": per_label, "n_resamples": 5}
    a = hm.assess(case.y, case.s, **options)
    check(a, 5)
    same(a, hm.assess(sparse.csr_array(case.y), to_sparse(case.s, form), **options))
    tuned = hm.tune(case.y, case.s, metric, average, per_label)
    assert_array_equal(a.thresholds.thresholds, tuned.thresholds)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_zero_division_of_nan_leaves_labels_out(average):
    y, s = np.array([[1, 0], [0, 0], [1, 0]]), np.array([[3, 1], [2, 2], [1, 3]])
    a = hm.assess(y, s, average=average, zero_division=float("nan"), n_resamples=20)
    assert a.score == 0.8
    assert 0 <= a.expected_score <= 0.8


def test_intervals_of_binary_and_shared_thresholds_are_numbers():
    y, s = binary(200, 0.3, 1.0)
    assert all(isinstance(end, float) for end in hm.assess(y, s).threshold_interval)
    both = np.column_stack([y, y]), np.column_stack([s, -s])
    low, high = hm.assess(*both, n_resamples=10, per_label=False).threshold_interval
    assert isinstance(low, float)
    assert low <= high
    assert hm.assess(*both, n_resamples=10).threshold_interval[0].shape == (2,)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch, average):
    rng = np.random.default_rng(0)
    y = rng.random((60, 8)) < 0.3
    s = rng.random((60, 8)) + 0.3 * y
    runs = 6 if average == "samples" else 600  # up to 30 of these runs tune anew
    found = []
    with changed(redraw_blocks=40):
        for cores in (1, 5):
            monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
            found.append(hm.assess(y, s, average=average, n_resamples=runs, seed=3))
        same(*found)
        other = hm.assess(y, s, average=average, n_resamples=runs, seed=4)
    assert np.any(np.not_equal(other.threshold_interval, found[0].threshold_interval))


def test_frames_in_frames_out():
    y, s = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[0.9, 0.2], [0.1, 0.8], [0.7, 0.6]])
    plain = hm.assess(y, s, labels=["cat", "dog"], n_resamples=20)
    for library in (pd, pl):
        frames = [library.DataFrame({"cat": x[:, 0], "dog": x[:, 1]}) for x in (y, s)]
        a = hm.assess(*frames, n_resamples=20)
        same(a, plain)
        assert isinstance(a.table(), library.DataFrame)
        assert list(a.table()["label"]) == ["cat", "dog"]


def test_the_repr_of_a_small_assessment():
    a = hm.assess([[1, 0], [1, 1], [0, 1]], [[3, 1], [2, 2], [1, 3]], n_resamples=50, level=0.9)
    first, head, *rows = repr(a).splitlines()
    assert first.startswith("Assessment: macro f1 = 1.0000 here, ")
    assert "(90 % interval" in first
    assert head.split() == ["label", "threshold", "low", "high", "score", "expected", "support"]
    assert len(rows) == 2


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_progress_is_reported_to_the_end(average):
    reports = []
    y, s = np.eye(6, dtype=int), np.eye(6) + np.arange(6) / 10

    def report(done, total):
        reports.append((done, total))

    hm.assess(y, s, average=average, n_resamples=300, progress=report)
    assert reports[-1][0] == reports[-1][1]
    assert reports == sorted(reports)


def test_progress_on_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    hm.assess(*binary(50, 0.4, 1.0), n_resamples=300, progress=True)
    assert "drawing the rows again: 100 %" in sys.stderr.getvalue()


def test_higher_levels_have_wider_intervals():
    y, s = binary(500, 0.2, 1.0)
    narrow, wide = (hm.assess(y, s, level=level) for level in (0.5, 0.99))
    for a, b in (
        (narrow.score_interval, wide.score_interval),
        (narrow.threshold_interval, wide.threshold_interval),
    ):
        assert b[0] < a[0] < a[1] < b[1]
    assert_allclose(np.mean(narrow.resampled_scores), narrow.expected_score, atol=0.01)


@compiled
def test_a_hundred_thousand_labels_with_one_positive_each():
    m, n = 100_000, 500
    rng = np.random.default_rng(0)
    rows = rng.integers(0, n, m)
    y = sparse.csr_array((np.ones(m, np.int8), (rows, np.arange(m))), shape=(n, m))
    s = sparse.csr_array((rng.random(m), (rows, np.arange(m))), shape=(n, m))
    for average in ("macro", "micro"):
        a = hm.assess(y, s, average=average)
        assert (a.score, a.expected_score) == (1.0, 0.0)
        assert_array_equal(a.threshold_interval[1], INF)


def test_equal_staircases_of_one_step_are_drawn_once():
    y = np.zeros((6, 5), int)
    y[[0, 1, 2, 3, 3, 4], [0, 1, 2, 3, 4, 4]] = 1
    s = np.random.default_rng(0).permuted(np.tile(np.arange(6.0)[:, None], 5), axis=0)
    totals = []
    a = hm.assess(y, s, n_resamples=10, progress=lambda _, total: totals.append(total))
    kinds = {int(k) for k in a.thresholds.predicted[:4]}
    assert totals[-1] == 10 * (len(kinds) + 1)


def test_inputs_are_not_changed():
    y, s = binary(60, 0.3, 1.0)
    before = y.copy(), s.copy()
    hm.assess(y, s, n_resamples=10)
    assert_array_equal(y, before[0])
    assert_array_equal(s, before[1])


def test_f_beta_objects_are_metrics():
    y, s = binary(200, 0.3, 1.0)
    same(hm.assess(y, s, "f2", n_resamples=20), hm.assess(y, s, FBeta(2), n_resamples=20))


def test_accuracy_varies_even_where_no_rows_are_predicted():
    rng = np.random.default_rng(0)
    y = (rng.random(1000) < 0.05).astype(int)
    a = hm.assess(y, rng.normal(size=1000), "accuracy", n_resamples=100)
    low, high = a.score_interval
    assert low <= a.score <= high
    assert 0.02 < high - low < 0.05


def test_replicates_in_which_no_positive_can_be_reached():
    scores = [-np.inf, -0.7, -np.inf, -0.6, 0.0, -np.inf]
    a = hm.assess([1, 1, 1, 0, 0, 0], scores, "precision", zero_division=np.nan, n_resamples=300)
    assert a.threshold_interval[1] == np.inf


def test_labels_without_positives_do_not_disturb_a_weighted_mean():
    rng = np.random.default_rng(0)
    y = rng.random((200, 4)) < [0.3, 0.2, 0.0, 0.0]
    a = hm.assess(y, rng.normal(size=y.shape) + y, average="weighted")
    assert a.score_interval[0] < a.expected_score < a.score_interval[1] < 1.0
    assert np.isfinite(a.resampled_scores).all()
