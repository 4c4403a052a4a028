"""Data and checks that the tests of assess share."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import halfmax as hm

INF = np.inf
UNWEIGHTED = ("none",)
AVERAGES = ["binary", "macro", "micro", "samples"]
GUARDS = ["auto", "calibrated", "smooth", "never", "fbr", "fbr:0.3"]
GAIN = hm.Metric("gain", lambda tp, fp, _fn, _tn: tp - fp)


def binary(n, base_rate, distance, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < base_rate).astype(np.int8)
    s = rng.standard_normal(n) + distance * y
    return y, s if decimals is None else np.round(s, decimals)


def check(a, n_resamples, guarded=False):
    low, high = a.score_interval
    assert low <= a.expected_score <= high
    assert guarded or a.expected_score <= a.score + 1e-12
    assert a.optimism == a.score - a.expected_score
    assert a.resampled_scores.shape == (n_resamples,)
    size = len(a.thresholds.thresholds)
    for low, high in (a.label_score_intervals, a.threshold_interval):
        assert (np.asarray(low) <= np.asarray(high)).all()
    assert a.label_expected_scores.shape == a.label_score_intervals[0].shape == (size,)
    assert list(a.table()) == ["label", "threshold", "low", "high", "score", "expected", "support"]
    assert "expected on new data" in repr(a)
    assert "<table>" in a._repr_html_()


def same(a, b):
    assert (a.expected_score, a.score_interval) == (b.expected_score, b.score_interval)
    assert_array_equal(a.threshold_interval, b.threshold_interval)
    assert_array_equal(a.label_expected_scores, b.label_expected_scores)
    assert_array_equal(a.resampled_scores, b.resampled_scores)


def some_labels(average, seed=0, n=80, n_labels=5):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n_labels)) < np.linspace(0.05, 0.4, n_labels)).astype(int)
    s = np.round(rng.normal(size=y.shape) + 1.5 * y, 1)
    return (y[:, -1], s[:, -1]) if average == "binary" else (y, s)


def close(a, b):
    assert a.expected_score == pytest.approx(b.expected_score)
    assert_allclose(a.score_interval, b.score_interval)
    assert_allclose(a.threshold_interval, b.threshold_interval)
    assert_allclose(a.label_expected_scores, b.label_expected_scores)
    assert_allclose(a.label_score_intervals, b.label_score_intervals)
    assert_allclose(a.resampled_scores, b.resampled_scores)
