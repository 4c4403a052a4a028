"""Calibrated probabilities, their blend with a label's own counts, and expected scores."""

import naive_guards
import numpy as np
import pytest
from guard_cases import bands_of, count, draw, read
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import optimize
from scipy.special import expit
from sklearn.isotonic import IsotonicRegression
from strategies import compiled, many_labels

import halfmax as hm
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.tuning.guard import bands, calibration, kernels
from halfmax.tuning.guard.blend import blend, model_strength
from halfmax.tuning.guard.cuts import expected_scores

pytestmark = pytest.mark.kernels

INF = np.inf
fewer = settings(max_examples=max(10, settings().max_examples // 4))

# Rates that fall.

counts_of_bands = st.lists(
    st.tuples(st.floats(0.01, 20.0), st.floats(0.0, 1.0)), min_size=1, max_size=9
)


def falling(rows, positives):
    return calibration.falling_rates(np.array([rows], float), np.array([positives], float))[0]


@given(counts_of_bands)
def test_falling_rates_match_the_slow_isotonic_regression(pairs):
    rows = [size for size, _ in pairs]
    positives = [size * rate for size, rate in pairs]
    expected = naive_guards.falling_rates(rows, positives)
    assert_allclose(falling(rows, positives), expected, atol=1e-9)


def test_falling_rates_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    rows = rng.random((20, 60)) * 10 + 0.1
    rate = np.clip(np.linspace(0.9, 0.0, 60) + 0.3 * rng.standard_normal((20, 60)), 0.0, 1.0)
    rates = calibration.falling_rates(rows, rows * rate)
    for j in range(20):
        theirs = IsotonicRegression(increasing=False).fit_transform(
            np.arange(60), rate[j], sample_weight=rows[j]
        )
        assert_allclose(rates[j], theirs, atol=1e-9)


def test_strength_0_keeps_the_labels_own_rates_and_infinite_strength_the_model():
    y, s = draw(3, n=40, base=0.2)
    counted = count(y, s)
    model = np.tile(np.linspace(0.9, 0.01, counted.rows.shape[1]), (20, 1))
    assert blend(counted, model, INF) is model
    own = blend(counted, model, 0.0)
    for j in np.flatnonzero(counted.support):
        some = counted.rows[j] > 0
        expected = naive_guards.falling_rates(counted.rows[j][some], counted.positives[j][some])
        assert_allclose(own[j][some], expected, atol=1e-4)
    most = blend(counted, model, 1e12)
    assert_allclose(most, model, atol=1e-6)


def test_a_blend_weighs_own_counts_by_the_number_of_positives():
    counted = bands_of([[10.0, 10.0]], [[6.0, 0.0]])
    model = np.array([[0.5, 0.1]])
    own = 6 / (6 + 12)
    expected = [own * 0.6 + (1 - own) * 0.5, (1 - own) * 0.1]
    assert_allclose(blend(counted, model, 12.0)[0], expected, atol=1e-6)


def test_a_label_without_positives_keeps_the_model():
    counted = bands_of([[5.0, 15.0], [5.0, 15.0]], [[0.0, 0.0], [3.0, 0.0]])
    model = np.array([[0.3, 0.1], [0.3, 0.1]])
    assert_allclose(blend(counted, model, 0.0)[0], model[0], atol=1e-9)


@pytest.mark.parametrize("strength", [150.0, 1000.0])
def test_the_strength_of_the_model_is_learned(strength):
    # Half of the positives are expected in the first band; the share has a standard deviation of
    # 1/4 / sqrt(strength).
    rng = np.random.default_rng(0)
    model = np.full((3000, 2), 0.05)
    part = np.clip(0.5 + 0.25 * rng.standard_normal(3000) / np.sqrt(strength), 0.0, 1.0)
    support = np.full(3000, 400)
    first = rng.binomial(support, part)
    counted = bands_of(np.full((3000, 2), 4000.0), np.stack([first, support - first], axis=1))
    assert model_strength(counted, model) == pytest.approx(strength, rel=0.25)


# Calibration.


@given(many_labels(), st.booleans())
def test_the_pooled_map_is_finite_and_falls(case, weighted):
    counted = count(case.y, case.s, case.w if weighted else None)
    logits = calibration.pooled_map(counted)
    assert np.isfinite(logits).all()
    assert (np.diff(logits) <= 1e-12).all()


def test_the_pooled_map_is_near_the_pooled_rates():
    rng = np.random.default_rng(0)
    truth = np.linspace(0.9, 0.01, 40)  # at its ends the map is flat from the last middle on
    rows = np.full((5, 40), 4000.0)
    counted = bands_of(rows, rng.binomial(4000, np.tile(truth, (5, 1))))
    assert_allclose(expit(calibration.pooled_map(counted)), truth, atol=0.03)


small_labels = st.integers(0, 10_000)


@fewer
@given(small_labels)
def test_newton_finds_the_most_probable_intercept_and_slope(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 8))
    logits = np.sort(rng.normal(-1.0, 2.0, size))[::-1]
    rows = rng.integers(0, 30, size).astype(float)
    positives = rng.binomial(rows.astype(int), rng.random(size)).astype(float)
    centre, mean = float(rng.normal()), rng.normal(0.0, 0.5, 2)
    root = rng.normal(0.0, 1.0, (2, 2))
    precision = np.linalg.inv(root @ root.T + 0.2 * np.eye(2))
    own, spread = np.zeros((1, 2)), np.empty((1, 2, 2))
    args = (logits, rows, positives, centre, mean, precision)
    cells = logits[None], rows[None], positives[None]
    kernels.fit_own(*cells, centre, mean, precision, 30, 1e-7, own, spread)
    best = optimize.minimize(naive_guards.minus_log_posterior, own[0] + 0.1, args, tol=1e-12)
    assert_allclose(own[0], best.x, atol=1e-3)
    gradient = optimize.approx_fprime(own[0], naive_guards.minus_log_posterior, 1e-6, *args)
    assert_allclose(gradient, 0.0, atol=1e-3 * (1 + rows.sum()))
    assert_allclose(spread[0] @ hessian(own[0], args), np.eye(2), atol=1e-3)


def hessian(at, args, step=1e-4):
    def value(move):
        return naive_guards.minus_log_posterior(at + move, *args)

    unit = step * np.eye(2)
    return np.array(
        [
            [
                value(unit[i] + unit[k])
                - value(unit[i] - unit[k])
                - value(unit[k] - unit[i])
                + value(-unit[i] - unit[k])
                for k in range(2)
            ]
            for i in range(2)
        ]
    ) / (4 * step**2)


def hierarchy(seed, n_rows=1500, n_labels=300):
    """Labels whose calibration differs by a normal intercept and slope, and their truth."""
    known, rng = np.random.default_rng(5), np.random.default_rng(seed)
    intercept = known.normal(-2.5, 1.0, n_labels)
    slope = known.normal(1.0, 0.25, n_labels)
    s = rng.normal(-3.0, 1.5, (n_rows, n_labels))
    p = expit(intercept + slope * s)
    return (rng.random(p.shape) < p).astype(np.int8), s, p


def log_loss(counted, probabilities, labels):
    p = np.clip(probabilities, 1e-6, 1 - 1e-6)[labels]
    hits, rows = counted.positives[labels], counted.rows[labels]
    return -(hits * np.log(p) + (rows - hits) * np.log(1 - p)).sum()


@compiled
def test_calibration_recovers_a_simulated_hierarchy():
    y, s, p = hierarchy(1)
    counted = count(y, s)
    prior = calibration.learn_prior(counted)
    found = calibration.calibrate(counted, prior)
    edges = counted.edges[0]
    at = len(edges) - np.searchsorted(edges[::-1], s, side="right")
    ours = np.take_along_axis(found.T, at, axis=0)
    assert 0.5 < prior.variance[0, 0] < 1.6  # of intercepts; the truth is about 1
    assert np.abs(ours - p).mean() < 0.3 * p.mean()
    assert ours.mean() == pytest.approx(p.mean(), rel=0.06)
    assert (np.diff(found, axis=1) <= 0.0).all()


@compiled
def test_calibration_beats_the_pooled_map_and_each_label_alone_on_new_data():
    y, s, p = hierarchy(1)
    counted = count(y, s)
    new_y, new_s, new_p = hierarchy(2)
    new = bands.count_bands(read(new_y, new_s), counted.edges)
    model = calibration.calibrate(counted, calibration.learn_prior(counted))
    pooled = np.tile(expit(calibration.pooled_map(counted)), (counted.n_labels, 1))
    alone = blend(counted, pooled, 0.0)
    rare = (counted.support > 0) & (counted.support < 10)
    assert rare.sum() > 50
    for labels in (rare, counted.support >= 10):
        assert log_loss(new, model, labels) < log_loss(new, pooled, labels)
        assert log_loss(new, model, labels) < log_loss(new, alone, labels)
    assert p.shape == new_p.shape


# Expected scores.


@pytest.mark.parametrize("metric", ["f1", "f2", "f0.5", "jaccard"])
@pytest.mark.parametrize(
    ("top", "size", "near"), [(0.3, 300, 0.02), (0.9, 300, 0.02), (0.3, 30, 0.06), (0.9, 30, 0.1)]
)
def test_expected_scores_are_near_the_exact_ones(metric, top, size, near):
    # The approximation is worst for a few nearly certain items, about which a hit says the most.
    p = top * np.exp(-np.arange(size) / (size / 10))
    exact = hm.expected_curve(p, metric)[1:]
    hits, predicted = np.cumsum(p), np.arange(1.0, size + 1)
    ours = expected_scores(Objective(find_metric(metric)), hits, predicted, p.sum(), size)
    assert ours.max() == pytest.approx(exact.max(), rel=near)
    assert exact[ours.argmax()] == pytest.approx(exact.max(), rel=0.01)


@pytest.mark.parametrize("metric", ["f1", "jaccard"])
def test_expected_scores_are_near_simulated_ones(metric):
    p = 0.8 * np.exp(-np.arange(40) / 6)
    simulated = naive_guards.simulated_scores(p, metric, 1000, seed=0)
    objective = Objective(find_metric(metric))
    ours = expected_scores(objective, np.cumsum(p), np.arange(1.0, 41), p.sum(), 40)
    assert_allclose(ours, simulated, atol=0.04)


def test_expected_scores_of_other_metrics_are_those_of_expected_counts():
    objective = Objective(find_metric("accuracy"))
    hits, predicted = np.array([1.5, 2.0]), np.array([2.0, 4.0])
    ours = expected_scores(objective, hits, predicted, np.array([2.5]), 10.0)
    assert_allclose(ours, objective(hits, predicted, 2.5, 10.0))
