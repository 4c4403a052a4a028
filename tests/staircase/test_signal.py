"""Flooding labels and labels without signal."""

import naive_guards
import numpy as np
import pytest
from guard_cases import read
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.special import expit
from scipy.stats import false_discovery_control
from strategies import FLOATS, compiled, many_labels

import halfmax as hm
from halfmax.metrics.flooding import floods, most_predicted
from halfmax.staircase import significance

pytestmark = pytest.mark.kernels


def uninformative(data):
    return significance.uninformative(significance.staircase_in_rows(data))


INF = np.inf
fewer = settings(max_examples=max(10, settings().max_examples // 4))


def test_floods_match_their_definition():
    for total in (20, 100, 1000):
        for positives in (0, 1, 3, 10):
            for predicted in range(total + 1):
                expected = naive_guards.floods(predicted, positives, total)
                assert floods(predicted, positives, total) == expected


@given(st.integers(0, 100_000), st.integers(1, 1_000_000), st.booleans())
def test_the_cap_stays_three_deviations_below_the_flooding_limit(positives, total, doubtful):
    most = float(most_predicted(positives, total, doubtful))
    sure = max(positives - (2 if doubtful else 1) * np.sqrt(positives), 0)
    limit = max(0.05 * total, 10 * sure)
    assert most + 3 * np.sqrt(2 * most) == pytest.approx(limit)
    assert not floods(most, positives, total)


def test_labels_are_doubtful_one_by_one():
    positives = np.array([4, 100, 100, 400])
    both = most_predicted(positives, 1000, np.array([True, True, False, False]))
    for j, doubtful in enumerate((True, True, False, False)):
        assert both[j] == most_predicted(positives[j], 1000, doubtful)
    assert_array_equal(
        most_predicted(positives, 1000),
        most_predicted(positives, 1000, np.zeros(4, bool)),
    )


@fewer
@given(st.integers(0, 10_000))
def test_p_values_match_their_definitions(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    y = (rng.random(n) < rng.random()).astype(int).tolist()
    s = rng.normal(np.array(y) * rng.random() * 3, 1.0).round(int(rng.integers(0, 3)))
    s[rng.random(n) < 0.1] = -INF
    stairs = hm.Staircase.of(y, s)
    assert significance.chance_of_score(stairs)[0] == pytest.approx(
        naive_guards.chance_of_score(y, s.tolist()), rel=1e-6
    )
    assert significance.chance_of_ranks(stairs)[0] == pytest.approx(
        naive_guards.chance_of_ranks(y, s.tolist()), rel=1e-6
    )


@pytest.mark.parametrize(("n", "a"), [(8, 1), (8, 3), (10, 2), (10, 5), (6, 6)])
def test_the_p_value_of_a_score_bounds_the_exact_one(n, a):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = np.zeros(n, int)
        y[rng.permutation(n)[:a]] = 1
        s = rng.permutation(n).astype(float)
        bound = significance.chance_of_score(hm.Staircase.of(y, s))[0]
        best = naive_guards.best_f1(y.tolist(), s)[0]
        assert bound >= naive_guards.exact_chance_of_score(n, a, best) - 1e-12


def random_labels(n, n_labels, base, levels, distance, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n_labels)) < base).astype(np.int8)
    s = rng.standard_normal((n, n_labels)) + distance * y
    return y, s if levels is None else np.floor(levels * expit(s))


@compiled
@pytest.mark.parametrize("levels", [None, 2, 6])
@pytest.mark.parametrize("base", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("way", ["chance_of_score", "chance_of_ranks"])
def test_p_values_are_valid_without_signal_and_small_with_it(way, base, levels):
    chance = getattr(significance, way)
    none = chance(hm.Staircase.of(*random_labels(300, 4000, base, levels, 0.0, seed=1)))
    for level in (0.001, 0.01, 0.05, 0.2):
        assert (none <= level).mean() <= level + 4 * np.sqrt(level / 4000)
    if base == 0.1 and levels != 2:  # two levels: half of the negatives are tied with positives
        some = chance(hm.Staircase.of(*random_labels(300, 500, base, levels, 2.0, seed=2)))
        assert (some <= 0.01).mean() > 0.8


@fewer
@given(many_labels(most_rows=20, dtypes=FLOATS, kinds=("none",)))
def test_uninformative_labels_match_the_slow_twin(case):
    expected = naive_guards.uninformative(case.y, case.s)
    assert uninformative(read(case.y, case.s)).tolist() == expected


@compiled
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=40))
def test_adjusted_p_values_are_those_of_scipy_to_the_last_bit(chances):
    expected = false_discovery_control(chances)
    assert_array_equal(significance.adjusted(np.array(chances)), expected)


def test_few_labels_are_called_informative_by_mistake():
    wrong = informative = 0
    for seed in range(20):
        y, s = random_labels(200, 100, 0.1, None, 0.0, seed)
        informed = random_labels(200, 100, 0.1, None, 2.0, seed + 1000)
        both = read(np.hstack([y, informed[0]]), np.hstack([s, informed[1]]))
        found = ~uninformative(both)
        wrong += found[:100].sum()
        informative += found.sum()
        nothing = ~uninformative(read(y, s))
        assert nothing.sum() <= 2
    assert informative > 0.8 * 20 * 100
    assert wrong <= 0.05 * informative


def test_the_scale_of_weights_is_no_evidence():
    y, s = random_labels(200, 20, 0.1, None, 0.7, seed=0)
    plain = uninformative(read(y, s))
    assert 0 < plain.sum() < 20
    for scale in (1e-200, 0.001, 1.0, 1e6, 1e90):
        weighed = read(y, s, np.full(200, scale))
        assert_array_equal(uninformative(weighed), plain)
    half = np.repeat([1.0, 0.0], 100)
    kept = [part[:, y[:100].any(axis=0)] for part in (y, s)]
    expected = uninformative(read(*(part[:100] for part in kept)))
    assert (uninformative(read(*kept, half)) >= expected).all()
