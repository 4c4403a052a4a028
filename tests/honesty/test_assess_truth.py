"""Assessments are right on data whose truth is known, and on real scores."""

import numpy as np
import pytest
from assess_cases import binary
from scipy import stats
from strategies import compiled

import halfmax as hm

pytestmark = pytest.mark.kernels


@compiled
@pytest.mark.parametrize(("n", "base_rate", "distance"), [(2000, 0.05, 1.0), (1000, 0.1, 2.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(n, base_rate, distance):
    def f1(threshold):
        tpr, fpr = stats.norm.sf(threshold - distance), stats.norm.sf(threshold)
        return 2 * base_rate * tpr / (base_rate * (1 + tpr) + (1 - base_rate) * fpr)

    grid = np.linspace(-3, 5, 8001)
    best = grid[np.argmax(f1(grid))]
    held = []
    for seed in range(200):
        a = hm.assess(*binary(n, base_rate, distance, seed), n_resamples=400, seed=seed)
        reached = f1(a.thresholds.threshold)
        intervals = (reached, *a.score_interval), (best, *a.threshold_interval)
        errors = a.score - reached, a.expected_score - reached
        held.append([*(low <= truth <= high for truth, low, high in intervals), *errors])
    score, threshold, naive_error, error = np.mean(held, axis=0)
    assert 0.91 <= score <= 0.985
    assert 0.91 <= threshold <= 0.985
    assert abs(error) < 0.35 * naive_error


@compiled
@pytest.mark.parametrize("metric", ["youden", "kappa", "mcc"])
@pytest.mark.parametrize("weighted", [False, True])
def test_intervals_of_scores_without_signal_hold_the_truth_which_is_0(metric, weighted):
    held, highest = [], []
    for seed in range(100):
        truth, scores = binary(500, 0.2, 0.0, seed)
        weights = np.random.default_rng(seed).choice([1.0, 2.0], 500) if weighted else None
        a = hm.assess(truth, scores, metric, sample_weight=weights, n_resamples=50, seed=seed)
        low, high = a.score_interval
        held.append(low <= 0.0 <= high)
        highest.append(high)
    assert np.mean(held) >= 0.9
    assert max(highest) < 0.5


@pytest.mark.parametrize(
    ("average", "guard"), [("macro", None), ("micro", None), ("weighted", None), ("macro", "auto")]
)
def test_an_interval_of_no_skill_reaches_below_0_for_many_labels_too(average, guard):
    rng = np.random.default_rng(0)
    truth, scores = rng.random((300, 4)) < 0.3, rng.normal(size=(300, 4))
    a = hm.assess(truth, scores, "kappa", average, guard=guard, n_resamples=50)
    assert -0.2 < a.score_interval[0] < 0.0 < a.score_interval[1] < 0.3


@compiled
@pytest.mark.parametrize(("typical", "spread"), [(1.5, 1.0), (3.0, 0.5), (20.0, 0.7)])
def test_macro_of_rare_labels_is_right_on_average(typical, spread):
    rng = np.random.default_rng(0)
    n, m = 1000, 300
    rate = np.minimum(typical * np.exp(spread * rng.standard_normal(m)) / n, 0.3)
    distance = rng.normal(1.8, 0.7, m)
    found = []
    for seed in range(4):
        y, s, new_y, new_s = (
            part
            for _ in range(2)
            for y in [rng.random((n, m)) < rate]
            for part in (y, rng.standard_normal((n, m)) + distance * y)
        )
        a = hm.assess(y, s, n_resamples=100, seed=seed)
        found.append((a.score, a.expected_score, hm.score(new_y, a.thresholds.predict(new_s))))
    naive_score, expected, reached = np.mean(found, axis=0)
    assert expected == pytest.approx(reached, rel=0.1)
    assert abs(expected - reached) < 0.3 * (naive_score - reached)


@compiled
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_real_scores_reach_on_new_data_what_was_expected(real, average):
    _, splits = real
    a = hm.assess(*splits["tune"], average=average, n_resamples=100)
    truth, scores = splits["test"]
    predicted = a.thresholds.predict(scores)
    reached = hm.score(truth, predicted, average=average)
    assert a.expected_score == pytest.approx(reached, rel=0.2)
    assert abs(a.expected_score - reached) < abs(a.score - reached)
    if average == "macro":  # over labels with a positive in the split concerned
        there, here = np.flatnonzero(truth.sum(axis=0)), a.thresholds.support > 0
        expected = a.expected_score * len(here) / here.sum()
        assert expected == pytest.approx(hm.score(truth[:, there], predicted[:, there]), rel=0.2)


@compiled
def test_guarded_thresholds_reach_on_new_data_what_was_expected(real):
    name, splits = real
    if name == "mesh":
        pytest.skip("eleven tunings of 2,616 labels take too long for a test")
    a = hm.assess(*splits["tune"], guard="auto", n_resamples=1)
    truth, scores = splits["test"]
    assert a.expected_score == pytest.approx(hm.score(truth, a.thresholds.predict(scores)), rel=0.2)


def labels_alike(positives, n_rows=2000, n_labels=300, apart=2.5, seed=0):
    """Two draws of labels with this many positives on average."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        y = rng.random((n_rows, n_labels)) < positives / n_rows
        yield y.astype(int), rng.normal(size=y.shape) + apart * y


@compiled
@pytest.mark.parametrize("positives", [15, 20, 30])
def test_the_methods_for_few_and_many_positives_agree_in_between(positives):
    here, (truth, scores) = labels_alike(positives)
    a = hm.assess(*here, n_resamples=100)
    shown = hm.score(truth, a.thresholds.predict(scores))
    assert a.expected_score == pytest.approx(shown, rel=0.06)
    assert a.optimism > 0.5 * (a.score - shown)


@compiled
@pytest.mark.parametrize("zero_division", [1.0, 0.5, np.nan])
def test_labels_without_positives_in_new_data_are_accounted_for(zero_division):
    here, (truth, scores) = labels_alike(1.0, n_labels=1000)
    a = hm.assess(*here, n_resamples=50, zero_division=zero_division)
    shown = hm.score(truth, a.thresholds.predict(scores), zero_division=zero_division)
    assert abs(a.expected_score - shown) < 0.15 * abs(a.score - shown)


# Weights and guards.


@compiled
@pytest.mark.parametrize("negatives_weigh", [1.0, 5.0])
def test_weighted_scores_are_right_on_average(negatives_weigh):
    n, base_rate, distance = 1000, 0.1, 1.5
    found = []
    for seed in range(100):
        y, s = binary(n, base_rate, distance, seed)
        weights = np.where(y, 1.0, negatives_weigh)
        weights *= np.random.default_rng(seed + 1000).exponential(size=n)
        a = hm.assess(y, s, sample_weight=weights, n_resamples=100, seed=seed)
        tp, fp = stats.norm.sf(a.thresholds.threshold - np.array([distance, 0.0]))
        weight = negatives_weigh * (1 - base_rate) / base_rate
        reached = 2 * tp / (tp + weight * fp + 1)
        low, high = a.score_interval
        found.append((a.score - reached, a.expected_score - reached, low <= reached <= high))
    naive_error, error, held = np.mean(found, axis=0)
    assert abs(error) < 0.3 * naive_error
    assert 0.9 < held < 0.99


def macro_and_micro(thresholds, rates, distances):
    """F1 on unlimited data of independent labels with normal scores."""
    tp = rates * stats.norm.sf(thresholds - distances)
    both = rates + tp + (1 - rates) * stats.norm.sf(thresholds)
    return {"macro": np.mean(2 * tp / both), "micro": 2 * tp.sum() / both.sum()}


@compiled
@pytest.mark.parametrize(
    ("average", "weighted", "n", "positives", "apart", "least"),
    [
        ("macro", True, 600, 8.0, np.linspace(0.5, 2.5, 30), 0.87),
        ("micro", False, 2000, 100.0, np.array([1.0, 1.5, 2.0]), 0.91),
    ],
)
def test_intervals_of_averages_hold_the_truth(average, weighted, n, positives, apart, least):
    rates, held = np.full(len(apart), positives / n), []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        y = rng.random((n, len(apart))) < rates
        s = rng.standard_normal(y.shape) + apart * y
        w = np.exp(0.5 * rng.standard_normal(n)) if weighted else None
        a = hm.assess(y, s, average=average, sample_weight=w, n_resamples=60, seed=seed)
        low, high = a.score_interval
        held.append(low <= macro_and_micro(a.thresholds.thresholds, rates, apart)[average] <= high)
    assert np.mean(held) > least


@compiled
@pytest.mark.parametrize(
    ("guard", "weighted"), [("auto", False), ("smooth", False), (None, True), ("auto", True)]
)
def test_rare_labels_guarded_or_weighted_are_right_on_average(guard, weighted):
    n, m, found = 500, 60, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rate = np.minimum(5.0 * np.exp(0.7 * rng.standard_normal(m)) / n, 0.3)
        distance = rng.normal(1.8, 0.7, m)

        def draw_rows(rng=rng, rate=rate, distance=distance):
            y = rng.random((n, m)) < rate
            weights = rng.exponential(size=n) if weighted else None
            return y, rng.standard_normal((n, m)) + distance * y, weights

        y, s, w = draw_rows()
        runs = 100 if guard is None else 1
        a = hm.assess(y, s, sample_weight=w, guard=guard, n_resamples=runs, seed=seed)
        new = [
            hm.score(y, a.thresholds.predict(s), sample_weight=w)
            for y, s, w in (draw_rows() for _ in range(10))
        ]
        found.append((a.score, a.expected_score, np.mean(new)))
    tuned, expected, reached = np.mean(found, axis=0)
    assert expected == pytest.approx(reached, rel=0.12)
    assert abs(expected - reached) < 0.7 * abs(tuned - reached)
