from functools import cache

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LIKELY, chance_of_equal_laws, chance_of_law
from numpy.testing import assert_array_equal
from scipy import stats

import halfmax as hm
from halfmax._core import threads


def simulate(n, base_rate, runs, seed=0, **options):
    got = hm.simulate_winners_curse(n, base_rate, runs, seed, **options)
    assert got.shape == (runs,)
    assert got.dtype == np.float64
    return got


# The naive twins.


def test_the_law_of_two_items_by_hand():
    # labels 11 and 01 end with a positive, 10 is best after its first item, 00 predicts no items
    np.testing.assert_allclose(naive.winners_curse_law(2, 0.25), [0.5625, 0.1875, 0.25])


@pytest.mark.parametrize(("n", "base_rate"), [(1, 0.3), (5, 0.2), (8, 0.6)])
def test_the_twins_agree(n, base_rate):
    drawn = naive.winners_curse(n, base_rate, 20_000, seed=1)
    assert chance_of_law(drawn, naive.winners_curse_law(n, base_rate)) > LIKELY


@given(st.lists(st.booleans(), min_size=1, max_size=12))
def test_the_twin_chooses_what_tune_chooses(labels):
    scores = -np.arange(len(labels))
    predicted = hm.tune(labels, scores).predict(scores).sum()
    assert_array_equal(naive.chosen_counts(np.array([labels])), [predicted])


# The law is exact.

SMALL = [(n, b) for n in (1, 2, 3, 5, 8, 12) for b in (0.02, 0.3, 0.5, 0.9)]


@pytest.mark.parametrize(("n", "base_rate"), SMALL)
def test_few_items_follow_the_law_of_all_outcomes(n, base_rate):
    law = naive.winners_curse_law(n, base_rate)
    assert chance_of_law(simulate(n, base_rate, 40_000), law) > LIKELY


def test_another_law_of_few_items_would_be_noticed():
    for n, base_rate in [(1, 0.3), (3, 0.3), (8, 0.05), (12, 0.5)]:
        law = naive.winners_curse_law(n, base_rate * 4 / 3)
        assert chance_of_law(simulate(n, base_rate, 40_000), law) < 1e-6


MIDDLE = [
    (50, 0.01),
    (50, 0.14),
    (50, 0.9),
    (300, 0.002),
    (300, 0.06),
    (300, 0.5),
    (520, 0.02),
    (700, 0.04),  # more items than the first blocks
    (700, 0.3),
]


@cache
def both_ways(n, base_rate):
    return simulate(n, base_rate, 20_000, seed=3), naive.winners_curse(n, base_rate, 3000, seed=4)


@pytest.mark.parametrize(("n", "base_rate"), MIDDLE)
def test_the_law_is_that_of_the_plain_simulation(n, base_rate):
    got, plain = both_ways(n, base_rate)
    assert chance_of_equal_laws(got, plain) > LIKELY
    assert stats.ks_2samp(got, plain).pvalue > LIKELY


@pytest.mark.parametrize(("n", "base_rate"), MIDDLE)
def test_moments_are_those_of_the_plain_simulation(n, base_rate):
    got, plain = both_ways(n, base_rate)
    for a, b in ((got, plain), ((got - got.mean()) ** 2, (plain - plain.mean()) ** 2)):
        error = np.hypot(a.std() / np.sqrt(len(a)), b.std() / np.sqrt(len(b)))
        assert abs(a.mean() - b.mean()) < 4 * error


@pytest.mark.parametrize(("n", "base_rate"), [(50, 0.14), (300, 0.06), (300, 0.002), (700, 0.04)])
def test_another_law_would_be_noticed(n, base_rate):
    got, (_, plain) = simulate(n, base_rate * 4 / 3, 20_000), both_ways(n, base_rate)
    assert chance_of_equal_laws(got, plain) < 1e-4


def test_the_law_is_that_of_tuning():
    n, base_rate, rng = 400, 0.05, np.random.default_rng(7)
    tuned = []
    for _ in range(1000):
        y, s = rng.random(n) < base_rate, rng.normal(size=n)
        tuned.append(hm.tune(y, s).predict(s).mean())
    assert chance_of_equal_laws(simulate(n, base_rate, 20_000), np.array(tuned), 10) > LIKELY


def test_large_n_agrees_with_places_drawn_one_by_one():
    n, base_rate, rng = 10**6, 1e-5, np.random.default_rng(8)
    plain = []
    for _ in range(3000):
        places = np.sort(rng.choice(n, rng.binomial(n, base_rate), replace=False)) + 1
        f1 = 2 * np.arange(1, len(places) + 1) / (len(places) + places)
        plain.append(places[np.argmax(f1)] / n if len(places) else 0.0)
    assert chance_of_equal_laws(simulate(n, base_rate, 20_000), np.array(plain)) > LIKELY


# What the answer looks like.


@given(st.integers(1, 2000), st.floats(1e-6, 1 - 1e-6), st.integers(0, 2**70))
def test_a_fraction_is_a_count_of_items(n, base_rate, seed):
    got = simulate(n, base_rate, 3, seed)
    counts = np.rint(got * n)
    assert_array_equal(counts / n, got)
    assert ((counts >= 0) & (counts <= n)).all()


def test_one_item_is_predicted_if_it_is_positive():
    got = simulate(1, 0.25, 10_000)
    assert set(got) == {0.0, 1.0}
    assert abs(got.mean() - 0.25) < 0.02


def test_no_items_are_predicted_where_none_is_positive():
    assert_array_equal(simulate(1000, 1e-300, 500), np.zeros(500))


def test_all_items_are_predicted_where_all_are_positive():
    assert_array_equal(simulate(1000, np.nextafter(1, 0), 500), np.ones(500))


LARGE = pytest.mark.parametrize("n", [10**4, 10**6, 10**9, 10**10])


@LARGE
def test_a_handful_is_predicted_only_below_one_over_the_root_of_n(n):
    few = [np.mean(simulate(n, x / n**0.5, 150) * n < 10 * n**0.5 / x) for x in (0.3, 1, 4)]
    assert few[0] > 0.6
    assert 0.3 < few[1] < 0.7
    assert few[2] < 0.05


@LARGE
def test_half_is_predicted_only_above_one_over_the_cube_root_of_n(n):
    less = [np.mean(simulate(n, x / n ** (1 / 3), 150) < 0.5) for x in (0.1, 0.54, 3)]
    assert less[0] > 0.8
    assert 0.3 < less[1] < 0.7
    assert less[2] < 0.05


def test_nearly_all_items_are_predicted_at_high_base_rates():
    assert simulate(10**6, 0.3, 200).min() > 0.99


@pytest.mark.parametrize("n", [10**6, 10**11])
def test_hardly_any_items_are_predicted_at_low_base_rates(n):
    assert np.median(simulate(n, 0.3 / n**0.5, 200)) < 0.02


def test_few_positives_among_many_items_are_found_one_by_one():
    n = 10**10
    counts = simulate(n, 1e-10, 2000) * n
    none = np.mean(counts == 0)
    assert abs(none - np.exp(-1)) < 0.05
    assert len(np.unique(counts)) > 1200  # hardly two at the same place


# Seeds, cores and progress.


def test_the_answer_does_not_depend_on_the_number_of_cores(monkeypatch):
    answers = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        answers.append(simulate(10**6, 1e-3, 2000, seed=9))
    assert_array_equal(answers[0], answers[1])
    assert_array_equal(answers[0], answers[2])


def test_a_seed_always_gives_the_same_answer():
    answers = [simulate(1000, 0.03, 300, seed) for seed in (0, 0, 1, np.int64(1), 2**100)]
    assert_array_equal(answers[0], answers[1])
    assert_array_equal(answers[2], answers[3])
    assert (answers[0] != answers[2]).any()
    assert (answers[0] != answers[4]).any()
    assert_array_equal(hm.simulate_winners_curse(1000, 0.03, 300), answers[0])


def test_runs_are_independent():
    got = simulate(10**4, 0.01, 20_000)
    for lag in (1, 2, 255, 256, 257):
        assert abs(np.corrcoef(got[lag:], got[:-lag])[0, 1]) < 4 / np.sqrt(len(got))


def test_groups_of_runs_and_seeds_are_all_different():
    runs = [simulate(10**6, 1e-5, 1024, seed).reshape(4, 256) for seed in range(3)]
    rows = np.concatenate(runs)
    assert len({row.tobytes() for row in rows}) == len(rows)


def test_whole_floats_are_whole_numbers():
    assert_array_equal(hm.simulate_winners_curse(1e3, 0.1, 5.0), simulate(1000, 0.1, 5))


def test_progress_is_reported_to_the_end():
    reports = []
    got = simulate(1000, 0.03, 1000, progress=lambda *step: reports.append(step))
    assert_array_equal(got, simulate(1000, 0.03, 1000))
    assert reports[-1] == (1000, 1000)
    assert [done for done, _ in reports] == sorted({done for done, _ in reports})


def test_a_simulation_can_be_interrupted():
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(1000, 0.03, 1000, progress=stop)
