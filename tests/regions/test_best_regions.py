"""Decision regions of continuous densities reach the best metric (Theorem 1)."""

import math
from itertools import chain

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from region_cases import (
    INF,
    SMOOTH,
    Parts,
    Z,
    assert_is_sound,
    assert_optimal,
    base_rates,
    counts,
    few_rates,
    found,
    inner_ends,
    mixture,
    ratio,
    smooth,
    some_rates,
)
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm

# Two unit normals.


@given(st.floats(0.01, 12.0), base_rates)
def test_two_unit_normals_reach_what_direct_optimisation_reaches(d, b):
    region = hm.decision_region(stats.norm(d), Z, b)
    best = naive.best_ray(stats.norm(d), Z, b, -40.0, d + 40.0)
    assert region.score == pytest.approx(best, rel=1e-9, abs=0)
    assert_is_sound(region, b)


@given(st.floats(0.05, 12.0), base_rates, st.sampled_from([0.1, 0.5, 1, 1.3, 2, 10]))
def test_two_unit_normals_have_the_threshold_of_their_ratio(d, b, beta):
    region = hm.decision_region(stats.norm(d), Z, b, hm.FBeta(beta))
    cut = math.log(region.likelihood_ratio * (1 - b) / b) / d + d / 2
    if region.intervals == [(-INF, INF)]:  # the rest has less mass than the smallest float
        assert cut < -37
    else:
        assert_allclose(region.threshold, cut, rtol=1e-9, atol=1e-9)
        assert region.intervals == [(region.threshold, INF)]
    assert_is_sound(region, b, beta)


@pytest.mark.parametrize("metric", ["f0.5", "f2"])
@some_rates
def test_f_beta_of_two_unit_normals_is_the_best_of_all_thresholds(metric, b):
    beta = float(metric[1:])
    for d in (0.3, 2.0, 9.0):
        region = hm.decision_region(stats.norm(d), Z, b, metric)
        best = naive.best_ray(stats.norm(d), Z, b, -40.0, d + 40.0, beta)
        assert region.score == pytest.approx(best, rel=1e-9, abs=0)


# Theorem 1.


@smooth
@few_rates
def test_the_ratio_at_every_end_is_the_jaccard_index_reached(name, b):
    (positive, negative), region = SMOOTH[name], found(name, b)
    jaccard = region.tp / (region.tp + region.fp + region.fn)
    assert region.likelihood_ratio == pytest.approx(jaccard, rel=1e-12, abs=0)
    ends = np.array(inner_ends(region, positive, negative))
    seen = ends[np.minimum(positive.pdf(ends), negative.pdf(ends)) > 1e-290]
    assert_allclose(ratio(positive, negative, b, seen), jaccard, rtol=1e-6)


@smooth
@few_rates
def test_no_other_region_is_better(name, b):
    assert_optimal(found(name, b), *SMOOTH[name], b)


@smooth
@few_rates
def test_a_score_is_inside_if_its_ratio_reaches_the_cut(name, b):
    (positive, negative), region = SMOOTH[name], found(name, b)
    q = np.array([1e-12, 1e-6, *np.linspace(0.001, 0.999, 333), 1 - 1e-6])
    s = np.concatenate([positive.ppf(q), negative.ppf(q)])
    of_s = ratio(positive, negative, b, s)
    clear = np.abs(of_s / region.likelihood_ratio - 1) > 1e-6
    assert_array_equal(region.contains(s[clear]), of_s[clear] > region.likelihood_ratio)


@smooth
def test_jaccard_and_f1_agree_on_the_region(name):
    of_f1, of_jaccard = found(name, 0.3), found(name, 0.3, "jaccard")
    assert_allclose(of_f1.intervals, of_jaccard.intervals, rtol=1e-9)
    assert_allclose(counts(of_f1), counts(of_jaccard), rtol=1e-9, atol=1e-12)
    assert of_jaccard.score == pytest.approx(of_f1.likelihood_ratio, rel=1e-12, abs=0)
    assert (of_f1.metric, of_jaccard.metric) == ("f1", "jaccard")


@smooth
@pytest.mark.parametrize("metric", ["f2", "f0.5"])
def test_no_other_region_has_a_better_f_beta(name, metric):
    assert_optimal(found(name, 0.1, metric), *SMOOTH[name], 0.1, float(metric[1:]))


# Regions that are not a single ray.


@pytest.mark.parametrize("shift", [0.0, 0.7, -3.0])
@pytest.mark.parametrize("b", [0.01, 0.3, 0.6])
def test_a_wider_positive_has_two_intervals_that_beat_every_threshold(shift, b):
    positive = stats.norm(shift, 3)
    region = hm.decision_region(positive, Z, b)
    (a, low), (high, z) = region.intervals
    assert (a, z) == (-INF, INF)
    assert low < high
    assert region.score > naive.best_ray(positive, Z, b, -60, 60) + 1e-3
    with pytest.raises(AttributeError, match="intervals"):
        _ = region.threshold


@pytest.mark.parametrize("shift", [0.0, 0.7, -3.0])
@pytest.mark.parametrize("b", [0.01, 0.3, 0.6])
def test_a_narrower_positive_has_one_interval_that_beats_every_threshold(shift, b):
    negative = stats.norm(shift, 3)
    region = hm.decision_region(Z, negative, b)
    ((low, high),) = region.intervals
    assert -INF < low < high < INF
    assert region.score > naive.best_ray(Z, negative, b, -60, 60) + 1e-3
    with pytest.raises(AttributeError, match="intervals"):
        _ = region.threshold


@given(st.floats(-2.0, 2.0), st.floats(0.2, 0.95) | st.floats(1.05, 5.0), base_rates)
def test_ends_of_two_normals_solve_the_quadratic_equation(shift, scale, b):
    positive = stats.norm(shift, scale)
    region = hm.decision_region(positive, Z, b)
    assert_is_sound(region, b)
    cut = math.log(region.likelihood_ratio * (1 - b) / b * scale)
    # (s^2 - ((s - shift) / scale)^2) / 2 = cut
    a2, a1, a0 = 1 - scale**-2, 2 * shift / scale**2, -((shift / scale) ** 2) - 2 * cut
    if a1**2 <= 4 * a2 * a0:
        assert region.intervals == [(-INF, INF)]
        return
    half = math.sqrt(a1**2 - 4 * a2 * a0) / (2 * a2)
    low, high = sorted([-a1 / (2 * a2) - half, -a1 / (2 * a2) + half])
    if max(abs(low), abs(high)) < 30:
        expected = [(low, high)] if scale < 1 else [(-INF, low), (high, INF)]
        assert_allclose(region.intervals, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("b", [0.2, 0.4])
def test_three_hills_have_three_intervals(b):
    positive = mixture((-4, 0.5), (0, 0.3), (5, 0.4))
    region = hm.decision_region(positive, stats.norm(0, 3), b)
    assert len(region.intervals) == 3
    assert region.contains([-4.0, -2.0, 0.0, 2.0, 5.0, 8.0]).tolist() == [True, False] * 3
    assert_optimal(region, Parts((-4, 0.5), (0, 0.3), (5, 0.4)), stats.norm(0, 3), b)


def test_many_narrow_hills_are_all_found():
    places = np.arange(12) * 3.0
    kde = KernelDensity(bandwidth=0.01).fit(places[:, None])
    region = hm.decision_region(kde, stats.uniform(-10, 60), 0.3)
    assert len(region.intervals) == 12
    assert region.contains(places).all()
    assert not region.contains(places + 1.5).any()


@some_rates
def test_densities_that_do_not_overlap_are_separated(b):
    for positive, negative in [
        (stats.uniform(2, 1), stats.uniform(0, 1)),
        (stats.uniform(1, 1), stats.uniform(0, 1)),
        (stats.expon(5), stats.uniform(0, 5)),
        (([1, 2], [3, 4, 5]), ([5, 1], [0, 1, 2])),
        (stats.randint(5, 9), stats.randint(0, 5)),
    ]:
        region = hm.decision_region(positive, negative, b)
        assert_allclose(counts(region), (b, 0, 0, 1 - b), rtol=1e-12, atol=1e-15)
        assert region.score == pytest.approx(1.0, abs=1e-12)
        assert region.likelihood_ratio == pytest.approx(1.0, abs=1e-12)


# Densities that jump.


@pytest.mark.parametrize("b", [1e-6, 0.01, 0.3, 0.499, 0.501, 0.9, 0.999])
def test_a_uniform_against_its_upper_half_by_hand(b):
    # 0 to 1/2 is free of negatives and reaches J = 1/2; the rest has the ratio b / (2 (1 - b))
    region = hm.decision_region(stats.uniform(0, 1), stats.uniform(0.5, 0.5), b)
    everything = b > 0.5
    assert_allclose(region.intervals, [(0.0, 1.0 if everything else 0.5)], rtol=0, atol=1e-12)
    assert region.likelihood_ratio == pytest.approx(b if everything else 0.5, rel=1e-9, abs=0)


@some_rates
def test_the_upper_half_against_a_uniform_by_hand(b):
    region = hm.decision_region(stats.uniform(0.5, 0.5), stats.uniform(0, 1), b)
    assert_allclose(region.intervals, [(0.5, 1.0)], rtol=0, atol=1e-12)
    assert region.likelihood_ratio == pytest.approx(b / (b + (1 - b) / 2), rel=1e-9, abs=0)


STEPS = stats.rv_histogram(([1, 5, 0, 2], [-2.0, -1, 0, 1, 4]), density=False)
JUMPS = {
    "exponential from 1, from 0": (stats.expon(1), stats.expon(0)),
    "exponential from 0, from 1": (stats.expon(0), stats.expon(1)),
    "uniform against normal": (stats.uniform(-1, 3), Z),
    "normal against uniform": (Z, stats.uniform(-1, 3)),
    "truncated at different places": (stats.truncnorm(-1, 2), stats.truncnorm(-2, 1)),
    "Pareto": (stats.pareto(1.5), stats.pareto(2.5, scale=0.5)),
    "two uniforms": (stats.uniform(0, 2), stats.uniform(1, 3)),
    "triangle against uniform": (stats.triang(0.3), stats.uniform(0.1, 0.5)),
    "steps against normal": (STEPS, Z),
    "normal against steps": (Z, STEPS),
}


@pytest.mark.parametrize(("positive", "negative"), JUMPS.values(), ids=JUMPS)
@few_rates
def test_no_other_region_of_densities_that_jump_is_better(positive, negative, b):
    region = hm.decision_region(positive, negative, b)
    assert_optimal(region, positive, negative, b)


# Scores on another scale.


moved = st.tuples(st.floats(-3.0, 3.0), st.floats(0.3, 3.0))


@given(moved, base_rates, st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.sampled_from([1, -1]))
def test_moved_and_mirrored_scores_have_the_region_moved_and_mirrored(of_p, b, shift, scale, sign):
    plain = hm.decision_region(stats.norm(*of_p), Z, b)
    got = hm.decision_region(
        stats.norm(shift + sign * scale * of_p[0], scale * of_p[1]), stats.norm(shift, scale), b
    )
    assert got.score == pytest.approx(plain.score, rel=1e-9, abs=0)
    expected = sorted(shift + sign * scale * end for end in chain(*plain.intervals))
    for ours, theirs in zip(chain(*got.intervals), expected, strict=True):
        if abs((theirs - shift) / scale) < 20:
            assert ours == pytest.approx(theirs, rel=1e-7, abs=1e-7 * scale)


# Regressions.


def test_thresholds_far_from_all_mass_are_found_too():
    assert hm.decision_region(stats.norm(200), Z, 0.1).threshold == pytest.approx(100, abs=0.1)
    region = hm.decision_region(stats.beta(2001, 2), stats.beta(2000, 3), 2000 / 2002)
    assert region.threshold == pytest.approx(region.score / 2, abs=1e-9)


def test_a_gap_without_mass_is_not_predicted():
    region = hm.decision_region(stats.uniform(0, 1), stats.uniform(5, 1), 0.1)
    assert region.intervals == [(0.0, 1.0)]
