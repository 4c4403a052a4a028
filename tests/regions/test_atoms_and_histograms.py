"""Decision regions of discrete distributions and of histograms."""

from fractions import Fraction
from itertools import chain, pairwise

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from region_cases import GAIN, Z, assert_is_sound, counts, some_rates
from scipy import stats

import halfmax as hm

# Atoms.


@st.composite
def atoms(draw, most=8):
    """Weights of atoms in sixteenths, so that floats are exact and ties are frequent."""
    n = draw(st.integers(1, most))
    places = draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n, unique=True))
    law = st.lists(st.integers(0, n - 1), min_size=16, max_size=16)
    weights = [np.bincount(draw(law), minlength=n) for _ in range(2)]
    b = Fraction(draw(st.integers(1, 15)), 16)
    return np.sort(places) / 2, weights, b


@given(atoms(), st.sampled_from(["f1", "f0.5", "f2", "jaccard", "accuracy", "recall", "gain"]))
def test_of_all_sets_of_atoms_the_smallest_of_the_best_is_found(case, metric):
    places, weights, b = case
    seen = weights[0] + weights[1] > 0
    places, masses = places[seen], [[Fraction(int(x), 16) for x in w[seen]] for w in weights]
    top, chosen = naive.best_subsets(list(zip(*masses, strict=True)), b, metric)
    densities = [stats.rv_discrete(values=(places, np.array(w[seen]) / 16)) for w in weights]
    region = hm.decision_region(*densities, float(b), GAIN if metric == "gain" else metric)
    got = tuple(map(int, region.contains(places)))
    assert region.score == pytest.approx(float(top), abs=1e-12)
    assert got in chosen
    exact = naive.subset_counts(got, list(zip(*masses, strict=True)), b)
    assert_allclose(counts(region), np.array(exact, float), rtol=0, atol=1e-14)


@given(atoms(5), st.sampled_from(["f1", "f2", "accuracy"]))
def test_only_atoms_that_exist_are_inside(case, metric):
    places, weights, b = case
    densities = [stats.rv_discrete(values=(places, w / 16)) for w in weights]
    region = hm.decision_region(*densities, float(b), metric)
    got = [s for s in places[(weights[0] + weights[1]) > 0] if region.contains(s)]
    ends = list(chain(*region.intervals))
    assert set(ends) <= set(places)
    assert all(any(low <= s <= high for low, high in region.intervals) for s in got)


@pytest.mark.parametrize(
    ("positive", "negative"),
    [
        (stats.poisson(6), stats.poisson(3)),
        (stats.poisson(3), stats.poisson(6)),
        (stats.binom(20, 0.5), stats.binom(20, 0.3)),
        (stats.geom(0.1), stats.geom(0.3)),
        (stats.nbinom(3, 0.2), stats.poisson(5)),
        (stats.poisson(5), stats.nbinom(3, 0.2)),
        (stats.poisson(1000), stats.poisson(900)),
        (stats.skellam(3, 1), stats.skellam(1, 3)),
        (stats.randint(-5, 5), stats.binom(4, 0.5)),
        (stats.poisson(2, loc=-3), stats.poisson(2)),
    ],
)
@some_rates
def test_atoms_follow_their_ratio(positive, negative, b):
    region = hm.decision_region(positive, negative, b)
    assert_is_sound(region, b)
    s = np.arange(-50, 1500)
    hit, alarm = b * positive.pmf(s), (1 - b) * negative.pmf(s)
    clear = np.abs(hit - region.likelihood_ratio * alarm) > 1e-9 * hit + 1e-14
    chosen = hit > region.likelihood_ratio * alarm
    assert_array_equal(region.contains(s[clear]), chosen[clear])
    assert abs(region.tp - hit[chosen & clear].sum()) < 1e-4  # the tails beyond these scores
    assert 2 * hit[chosen].sum() / (hit[chosen].sum() + alarm[chosen].sum() + b) < (
        region.score + 1e-9
    )


def test_many_atoms_far_from_zero_are_separated():
    mean, shift = 4e6, 4e3  # two standard deviations
    region = hm.decision_region(stats.poisson(mean + shift), stats.poisson(mean), 0.3)
    expected = hm.decision_region(stats.norm(2), Z, 0.3)
    assert region.score == pytest.approx(expected.score, abs=1e-3)
    assert region.threshold == pytest.approx(mean + shift * expected.threshold / 2, abs=20)


def test_a_tail_too_long_to_list_causes_a_warning():
    with pytest.warns(hm.HalfmaxWarning, match="too many to list"):
        region = hm.decision_region(stats.zipf(2.5), stats.geom(0.5), 0.3)
    assert_is_sound(region, 0.3)
    assert region.contains([1, 2, 9, 10**5, 10**9]).tolist() == [True, False, True, True, True]


# Histograms.


@st.composite
def histograms(draw):
    edges = draw(st.lists(st.integers(-6, 6), min_size=2, max_size=5, unique=True))
    count = st.integers(0, 4)
    heights = draw(st.lists(count, min_size=len(edges) - 1, max_size=len(edges) - 1).filter(any))
    return heights, sorted(edges)


@given(histograms(), histograms(), st.integers(1, 15), st.sampled_from(["f1", "f2", "accuracy"]))
def test_of_all_sets_of_bins_one_of_the_best_is_found(positive, negative, sixteenths, metric):
    b = Fraction(sixteenths, 16)
    edges, masses = naive.bin_masses([positive, negative])
    top, _ = naive.best_subsets(masses, b, metric)
    region = hm.decision_region(positive, negative, float(b), metric)
    got = [region.contains(float(low + high) / 2) for low, high in pairwise(edges)]
    exact = naive.subset_counts(got, masses, b)
    assert region.score == pytest.approx(float(top), abs=1e-12)
    assert float(naive.metric_value(metric, *exact)) == pytest.approx(float(top), abs=1e-12)
    assert_allclose(counts(region), np.array(exact, float), rtol=0, atol=1e-12)
    assert set(chain(*region.intervals)) <= set(map(float, edges))


def test_equally_good_bins_are_left_out():
    # b = 1/2: the first bin reaches J = 1/2, and the second has the ratio 1/2
    region = hm.decision_region(([2, 1, 0], [0, 1, 2, 3]), ([1, 2, 0], [0, 1, 2, 3]), 0.5)
    assert region.intervals == [(0.0, 1.0)]
    assert region.score == pytest.approx(2 / 3)


def test_every_form_of_a_histogram_gives_the_same_region():
    rng = np.random.default_rng(1)
    positive, negative = np.histogram(rng.normal(1, 1, 500), 12), np.histogram(rng.normal(size=900))
    expected = hm.decision_region(positive, negative, 0.3)
    for change in (
        lambda h: (h[0].tolist(), h[1].tolist()),
        lambda h: (h[0] / h[0].sum(), h[1]),
        lambda h: (h[0] / h[0].sum() * 1e-9, h[1]),
        stats.rv_histogram,
        lambda h: stats.rv_histogram(h)(),
    ):
        got = hm.decision_region(change(positive), change(negative), 0.3)
        assert_allclose(got.intervals, expected.intervals, rtol=1e-12)
        assert_allclose(counts(got), counts(expected), rtol=1e-12)


def test_whole_counts_are_counts_whatever_their_bins():
    # times the widths of their bins these add up to one, as heights of a density would
    region = hm.decision_region(([1, 1], [0, 0.25, 1]), ([1, 1], [0, 0.5, 1]), 0.2)
    assert region.intervals == [(0.0, 0.25)]
    assert counts(region) == pytest.approx((0.1, 0.2, 0.1, 0.6))


def test_counts_and_heights_differ_where_bins_do():
    # numpy's density=True gives heights, whose bins of unlike width hold heights times width
    edges, counted = [0.0, 1.0, 3.0], [1, 2]
    other = ([2, 1], [0.0, 1.5, 3.0])
    of_counts = hm.decision_region((counted, edges), other, 0.5)
    twice = hm.decision_region(stats.rv_histogram((counted, edges), density=False), other, 0.5)
    assert counts(of_counts) == pytest.approx(counts(twice))


# Regressions.


def test_a_frozen_histogram_keeps_its_bins():
    rng = np.random.default_rng(0)
    bins = [np.histogram(rng.normal(mean, 1, 3000), bins=200) for mean in (1, 0)]
    plain = hm.decision_region(*bins, 0.3)
    frozen = [stats.rv_histogram(pair)(loc=5, scale=2) for pair in bins]
    moved = hm.decision_region(*frozen, 0.3)
    assert moved.score == pytest.approx(plain.score, abs=1e-12)
    assert_allclose(moved.intervals, np.array(plain.intervals) * 2 + 5)
