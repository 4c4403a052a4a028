"""Every number of a diagnosis is what a slow computation gives."""

import numpy as np
import pytest
from diagnose_cases import FINDINGS, INF, herd
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit
from strategies import many_labels

import halfmax as hm


def f1(y, predicted):
    hits = int((y & predicted).sum())
    either = int(y.sum() + predicted.sum())
    return 2 * hits / either if either else 0.0


def check_against_slow_numbers(y, s, d, assessed, tuned):
    y, s = np.asarray(y, bool), np.asarray(s, float)
    n, low, high = len(y), *assessed.threshold_interval
    score_low, _ = assessed.label_score_intervals
    probabilities = s[s > -INF].size > 0 and all(0 <= x <= 1 for x in s[s > -INF])
    assert d.probabilities == probabilities
    assert d.n_rows == n
    assert sorted(d.labels) == list(range(y.shape[1]))
    assert len(d.findings) == y.shape[1]
    keys = []
    for place, j in enumerate(d.labels):
        support = sum(map(int, y[:, j]))
        threshold = tuned.thresholds[j]
        predicted = (s[:, j] >= threshold) & (s[:, j] > -INF)
        assert d.support[place] == support
        assert d.base_rate[place] == support / n
        assert d.thresholds[place] == threshold
        assert d.predicted[place] == predicted.sum()
        assert d.scores[place] == pytest.approx(f1(y[:, j], predicted))
        assert d.scores[place] == tuned.label_scores[j]
        assert d.expected_scores[place] == assessed.label_expected_scores[j]
        assert d.threshold_interval[0][place] == low[j]
        assert d.threshold_interval[1][place] == high[j]
        assert d.everyone[place] == pytest.approx(2 * d.base_rate[place] / (1 + d.base_rate[place]))
        rows = {cut: int(((s[:, j] >= cut) & (s[:, j] > -INF)).sum()) for cut in (low[j], high[j])}
        most, fewest = rows[low[j]], rows[high[j]]
        found = set(d.findings[place])
        flooding = predicted.sum() > 0.05 * n and predicted.sum() > 10 * support
        assert ("flooding" in found) == flooding
        assert ("too few positives" in found) == (support**2 < n)
        assert ("unstable threshold" in found) == (most > 3 * max(fewest, 1))
        half = d.scores[place] / 2
        assert d.half_max[place] == half if half > 0 else np.isnan(d.half_max[place])
        at_half = int((s[:, j] >= half).sum())
        at_lowest = int((s[:, j] >= score_low[j] / 2).sum())
        elsewhere = min(at_half, at_lowest) > most or max(at_half, at_lowest) < fewest
        assert ("miscalibrated" in found) == (probabilities and half > 0 and elsewhere)
        harm = -int(predicted.sum()) if flooding else 0
        keys.append((harm, -(d.scores[place] - d.expected_scores[place])))
        assert d.findings[place] == tuple(name for name in FINDINGS if name in found)
    assert keys == sorted(keys)


@settings(max_examples=40)
@given(many_labels(dtypes=[np.float64], kinds=["none"]), st.integers(0, 3))
def test_every_number_is_what_a_slow_computation_gives(case, seed):
    options = {"n_resamples": 20, "seed": seed}
    check_against_slow_numbers(
        case.y,
        case.s,
        hm.diagnose(case.y, case.s, **options),
        hm.assess(case.y, case.s, **options),
        hm.tune(case.y, case.s),
    )


@pytest.mark.parametrize("squashed", [False, True])
def test_every_number_of_labels_of_every_kind(squashed):
    y, s = herd(600)
    s = expit(s) if squashed else s
    options = {"n_resamples": 50, "level": 0.8, "seed": 3}
    check_against_slow_numbers(
        y, s, hm.diagnose(y, s, **options), hm.assess(y, s, **options), hm.tune(y, s)
    )


@pytest.mark.parametrize("metric", ["f2", "f0.5", "jaccard", "accuracy", "precision", "recall"])
def test_everyone_is_the_score_of_predicting_everyone(metric):
    y, s = herd(300)
    d = hm.diagnose(y, s, metric, n_resamples=5)
    order = list(d.labels)
    for place, j in enumerate(order):
        everyone = hm.score(y[:, j], np.ones(len(y), int), metric)
        assert d.everyone[place] == pytest.approx(everyone)
    assert_array_equal(d.thresholds, hm.tune(y, s, metric).thresholds[order])
    assert d.metric == metric


@pytest.mark.parametrize(
    ("metric", "cut"),
    [
        ("f1", lambda f: f / 2),
        ("f2", lambda f: f / 5),
        ("jaccard", lambda f: f / (1 + f)),
        ("accuracy", lambda f: 0 * f + 0.5),
    ],
)
def test_half_max_is_the_cut_of_calibrated_probabilities(metric, cut):
    y, s = herd(300)
    d = hm.diagnose(y[:, :4], s[:, :4], metric, n_resamples=5)
    assert_allclose(d.half_max, cut(d.scores))


def test_a_custom_metric_has_no_half_max_and_is_not_judged_by_it():
    y, s = herd(300)
    metric = hm.Metric("mine", lambda tp, fp, fn, _tn: tp / (tp + fp + fn))
    d = hm.diagnose(y[:, :4], expit(s[:, :4]), metric, n_resamples=5)
    assert np.isnan(d.half_max).all()
    assert d.counts["miscalibrated"] == 0


def test_labels_are_ordered_by_flooded_rows_and_then_by_optimism():
    rng = np.random.default_rng(0)
    n = 500
    y = np.zeros((n, 4), int)
    y[:3, 0] = y[:2, 1] = 1
    y[:10, 2] = y[:200, 3] = 1
    s = np.empty((n, 4))
    s[:, 0] = np.where(np.arange(n) < 100, 1.0, 0.0)  # floods 100 rows
    s[:, 1] = np.where(np.arange(n) < 400, 1.0, 0.0)  # floods 400 rows
    s[:, 2:] = rng.normal(size=(n, 2)) + [1, 9] * y[:, 2:]
    d = hm.diagnose(y, s, labels=["wet", "wetter", "shaky", "good"])
    assert d.labels == ("wetter", "wet", "shaky", "good")
    assert d.labels_with("flooding") == ["wetter", "wet"]
    assert_array_equal(d.predicted[:2], [400, 100])
