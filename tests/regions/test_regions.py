import math
from fractions import Fraction
from functools import cache
from itertools import chain, pairwise

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm

INF = math.inf
Z = stats.norm()
GAIN = hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))
base_rates = st.floats(math.log(1e-6), math.log(999)).map(lambda x: 1 / (1 + math.exp(-x)))
some_rates = pytest.mark.parametrize("b", [1e-6, 0.3, 0.5, 0.999])
few_rates = pytest.mark.parametrize("b", [1e-4, 0.3, 0.95])


def mixture(*parts, weights=None):
    """A mixture of normals (mean, standard deviation) that knows its cdf, sf and pdf."""
    weights = np.full(len(parts), 1 / len(parts)) if weights is None else weights
    return stats.Mixture([stats.Normal(mu=m, sigma=s) for m, s in parts], weights=weights)


class Parts:
    """The same for twins: what scipy's older distributions are called."""

    def __init__(self, *parts):
        self.parts = [stats.norm(*part) for part in parts]

    def __getattr__(self, name):
        if name == "pmf":
            raise AttributeError(name)
        return lambda s: np.mean([getattr(part, name)(s) for part in self.parts], axis=0)


def counts(region):
    return region.tp, region.fp, region.fn, region.tn


def inner_ends(region, positive, negative):
    """Ends of intervals where both densities live."""
    low = max(positive.support()[0], negative.support()[0])
    high = min(positive.support()[1], negative.support()[1])
    return [end for end in chain(*region.intervals) if low < end < high]


def ratio(positive, negative, b, s):
    with np.errstate(divide="ignore", invalid="ignore"):
        return b * positive.pdf(s) / ((1 - b) * negative.pdf(s))


def assert_is_sound(region, b, beta=1):
    """What holds whatever the densities are."""
    tp, fp, fn, tn = counts(region)
    assert min(tp, fp, fn, tn) >= 0
    assert tp + fn == pytest.approx(b, rel=1e-9, abs=0)
    assert fp + tn == pytest.approx(1 - b, rel=1e-9, abs=0)
    assert region.score == pytest.approx(
        (1 + beta**2) * tp / (tp + fp + beta**2 * b), rel=1e-9, abs=1e-12
    )
    assert region.likelihood_ratio == pytest.approx(tp / (beta**2 * b + fp), rel=1e-9, abs=0)
    ends = list(chain(*region.intervals))
    assert ends == sorted(ends)
    assert all(isinstance(end, float) for end in ends)


def assert_optimal(region, positive, negative, b, beta=1):
    """Sound, and no union of cells around its ends, and elsewhere, is better."""
    assert_is_sound(region, b, beta)
    expected = naive.region_counts(region.intervals, positive, negative, b)
    assert_allclose(counts(region), expected, rtol=0, atol=1e-11)
    ends = [end for end in chain(*region.intervals) if abs(end) < INF][:4]
    step = 0.01 * (positive.ppf(0.75) - positive.ppf(0.25))
    edges = {-INF, INF, *ends, *(end - step for end in ends), *(end + step for end in ends)}
    edges |= {density.ppf(q) for density in (positive, negative) for q in (0.2, 0.8)}
    assert naive.best_union(sorted(edges), positive, negative, b, beta) <= region.score + 1e-12


# Densities that are positive on a common interval, and smooth.
SMOOTH = {
    "unit normals": (stats.norm(1.5), Z),
    "far apart": (stats.norm(30), Z),
    "wider": (stats.norm(0, 3), Z),
    "narrower": (Z, stats.norm(0, 3)),
    "wider and higher": (stats.norm(1, 2), Z),
    "nearly as wide": (stats.norm(1, 1.0001), Z),
    "heavy tails": (stats.t(2), Z),
    "light tails": (Z, stats.t(2)),
    "Cauchy": (stats.cauchy(1), stats.cauchy(-1)),
    "Cauchy of two widths": (stats.cauchy(0, 3), stats.cauchy(0, 1)),
    "Cauchy beside a normal": (stats.cauchy(2), Z),
    "logistic": (stats.logistic(1), stats.logistic(0, 2)),
    "Laplace beside a normal": (stats.laplace(), Z),
    "exponential": (stats.expon(scale=3), stats.expon()),
    "gamma, infinite at 0": (stats.gamma(0.5), stats.gamma(2.0)),
    "gamma, both infinite at 0": (stats.gamma(0.7), stats.gamma(0.4)),
    "beta, infinite at both ends": (stats.beta(0.5, 0.3), stats.beta(0.6, 0.9)),
    "beta, U against hill": (stats.beta(0.5, 0.5), stats.beta(3, 3)),
    "Weibull": (stats.weibull_min(0.8, scale=2), stats.weibull_min(1.7)),
    "lognormal": (stats.lognorm(1.2), stats.lognorm(0.6)),
    "truncated": (stats.truncnorm(-1, 2), stats.truncnorm(-1, 2, loc=0, scale=1)),
    "chi-square": (stats.chi2(6), stats.chi2(3)),
    "Gumbel": (stats.gumbel_r(1), stats.gumbel_r(0)),
    "skewed": (stats.skewnorm(4, 1), stats.skewnorm(-4, 0)),
    "large numbers": (stats.norm(1e9 + 2e3, 1e3), stats.norm(1e9, 1e3)),
    "small numbers": (stats.norm(1e-9, 1e-9), stats.norm(0, 2e-9)),
}
smooth = pytest.mark.parametrize("name", SMOOTH)


@cache
def found(name, b, metric="f1"):
    return hm.decision_region(*SMOOTH[name], b, metric)


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
    if region.intervals == [(-INF, INF)]:  # what is left out has less mass than any float
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


# Regions that are no ray.


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
def test_densities_without_common_ground_are_told_apart(b):
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
def test_a_uniform_beside_its_upper_half_by_hand(b):
    # 0 to 1/2 is free of negatives and reaches J = 1/2; the rest has the ratio b / (2 (1 - b))
    region = hm.decision_region(stats.uniform(0, 1), stats.uniform(0.5, 0.5), b)
    everything = b > 0.5
    assert_allclose(region.intervals, [(0.0, 1.0 if everything else 0.5)], rtol=0, atol=1e-12)
    assert region.likelihood_ratio == pytest.approx(b if everything else 0.5, rel=1e-9, abs=0)


@some_rates
def test_the_upper_half_beside_a_uniform_by_hand(b):
    region = hm.decision_region(stats.uniform(0.5, 0.5), stats.uniform(0, 1), b)
    assert_allclose(region.intervals, [(0.5, 1.0)], rtol=0, atol=1e-12)
    assert region.likelihood_ratio == pytest.approx(b / (b + (1 - b) / 2), rel=1e-9, abs=0)


STEPS = stats.rv_histogram(([1, 5, 0, 2], [-2.0, -1, 0, 1, 4]), density=False)
JUMPS = {
    "exponential from 1, from 0": (stats.expon(1), stats.expon(0)),
    "exponential from 0, from 1": (stats.expon(0), stats.expon(1)),
    "uniform beside normal": (stats.uniform(-1, 3), Z),
    "normal beside uniform": (Z, stats.uniform(-1, 3)),
    "truncated at different places": (stats.truncnorm(-1, 2), stats.truncnorm(-2, 1)),
    "Pareto": (stats.pareto(1.5), stats.pareto(2.5, scale=0.5)),
    "two uniforms": (stats.uniform(0, 2), stats.uniform(1, 3)),
    "triangle beside uniform": (stats.triang(0.3), stats.uniform(0.1, 0.5)),
    "steps beside normal": (STEPS, Z),
    "normal beside steps": (Z, STEPS),
}


@pytest.mark.parametrize(("positive", "negative"), JUMPS.values(), ids=JUMPS)
@few_rates
def test_no_other_region_of_densities_that_jump_is_better(positive, negative, b):
    region = hm.decision_region(positive, negative, b)
    assert_optimal(region, positive, negative, b)


# Calibrated scores (Corollary 1).

shapes = st.floats(0.3, 20.0)


@given(shapes, shapes, st.sampled_from(["f1", "f0.5", "f2", "f1.3"]))
def test_the_threshold_of_calibrated_scores_is_half_the_maximum(a, c, metric):
    region = hm.decision_region(stats.beta(a + 1, c), stats.beta(a, c + 1), a / (a + c), metric)
    assert abs(region.threshold - region.score / (1 + float(metric[1:]) ** 2)) < 1e-9


CALIBRATED = {  # densities of scores on 0 to 1 that are their own probabilities
    "uniform": lambda s: 1.0 + 0 * s,
    "hill": lambda s: 30 * s**2 * (1 - s) ** 2,
    "rare": lambda s: 50 * (1 - s) ** 49,
    "waves": lambda s: 1 + 0.9 * np.cos(6 * np.pi * s),
}


@pytest.mark.parametrize("density", CALIBRATED.values(), ids=CALIBRATED)
def test_calibrated_functions_have_the_threshold_of_half_the_maximum(density):
    at, weights = np.polynomial.legendre.leggauss(200)
    at, weights = (at + 1) / 2, weights / 2
    b = float(np.sum(weights * at * density(at)))
    region = hm.decision_region(
        lambda s: s * density(s) / b, lambda s: (1 - s) * density(s) / (1 - b), b, support=(0, 1)
    )
    assert abs(region.threshold - region.score / 2) < 1e-9
    t = region.threshold
    above = t + (1 - t) * at
    tp = (1 - t) * float(np.sum(weights * above * density(above)))
    assert abs(region.tp - tp) < 1e-9
    assert region.intervals == [(t, 1.0)]


def test_calibrated_uniform_scores_by_hand():
    # (1 - t^2) / (3/2 - t) = 2 t
    region = hm.decision_region(stats.beta(2, 1), stats.beta(1, 2), 0.5)
    assert region.threshold == pytest.approx((3 - math.sqrt(5)) / 2, abs=1e-12)


# Uninformative scores (Theorem 3).

SAMPLE = np.random.default_rng(0).normal(size=30)
SAME = {
    "normal": (Z, stats.norm(0, 1)),
    "not frozen, without parameters": (stats.norm, stats.norm),
    "Cauchy": (stats.cauchy(3), stats.cauchy(3)),
    "function": (Z.pdf, Z.pdf),
    "function and distribution": (lambda s: np.exp(-s * s / 2) / math.sqrt(2 * math.pi), Z),
    "scipy's KDE": (stats.gaussian_kde(SAMPLE), stats.gaussian_kde(SAMPLE)),
    "scikit-learn's KDE": (KernelDensity().fit(SAMPLE[:, None]),) * 2,
    "Normal": (stats.Normal(), Z),
    "Mixture": (mixture((0, 1), (3, 2)), mixture((0, 1), (3, 2))),
}


@pytest.mark.parametrize(("positive", "negative"), SAME.values(), ids=SAME)
@some_rates
def test_an_uninformative_score_is_always_positive(positive, negative, b):
    region = hm.decision_region(positive, negative, b)
    assert region.intervals == [(-INF, INF)]
    assert region.score == pytest.approx(2 * b / (1 + b), rel=1e-9, abs=0)
    assert_allclose(counts(region), (b, 1 - b, 0, 0), rtol=1e-9, atol=1e-12)
    assert region.threshold == -INF
    assert region.contains([-1e300, 0, 1e300]).all()


@pytest.mark.parametrize(
    ("same", "intervals"),
    [
        (stats.beta(2, 3), [(0.0, 1.0)]),
        (stats.expon(2), [(2.0, INF)]),
        (stats.uniform(-3, 5), [(-3.0, 2.0)]),
        (([1, 2, 3], [0, 1, 4, 5]), [(0.0, 5.0)]),
        (stats.rv_histogram(([1, 2], [0, 1, 4]), density=False), [(0.0, 4.0)]),
    ],
)
@some_rates
def test_an_uninformative_score_is_positive_wherever_it_lives(same, intervals, b):
    region = hm.decision_region(same, same, b)
    assert region.intervals == intervals
    assert region.score == pytest.approx(2 * b / (1 + b), rel=1e-12, abs=0)


@pytest.mark.parametrize(
    ("same", "intervals"),
    [
        (stats.binom(7, 0.3), [(0.0, 7.0)]),
        (stats.poisson(4), [(0.0, INF)]),
        (stats.geom(0.2), [(1.0, INF)]),
        (stats.skellam(3, 1), [(-INF, INF)]),
    ],
)
@some_rates
def test_an_uninformative_atom_is_always_positive(same, intervals, b):
    region = hm.decision_region(same, same, b)
    assert region.intervals == intervals
    assert region.score == pytest.approx(2 * b / (1 + b), rel=1e-12, abs=0)


# Atoms.


@st.composite
def atoms(draw, most=8):
    """What each atom weighs, in sixteenths, so that floats are exact and ties are frequent."""
    n = draw(st.integers(1, most))
    places = draw(st.lists(st.integers(-8, 8), min_size=n, max_size=n, unique=True))
    law = st.lists(st.integers(0, n - 1), min_size=16, max_size=16)
    weights = [np.bincount(draw(law), minlength=n) for _ in range(2)]
    b = Fraction(draw(st.integers(1, 15)), 16)
    return np.sort(places) / 2, weights, b


@given(atoms(), st.sampled_from(["f1", "f0.5", "f2", "jaccard", "accuracy", "recall", "gain"]))
def test_of_all_sets_of_atoms_the_smallest_of_the_best_is_found(given_atoms, metric):
    places, weights, b = given_atoms
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
def test_only_atoms_that_exist_are_inside(given_atoms, metric):
    places, weights, b = given_atoms
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
    assert abs(region.tp - hit[chosen & clear].sum()) < 1e-4  # what lies beyond
    assert 2 * hit[chosen].sum() / (hit[chosen].sum() + alarm[chosen].sum() + b) < (
        region.score + 1e-9
    )


def test_many_atoms_far_from_zero_are_told_apart():
    mean, shift = 4e6, 4e3  # two standard deviations
    region = hm.decision_region(stats.poisson(mean + shift), stats.poisson(mean), 0.3)
    expected = hm.decision_region(stats.norm(2), Z, 0.3)
    assert region.score == pytest.approx(expected.score, abs=1e-3)
    assert region.threshold == pytest.approx(mean + shift * expected.threshold / 2, abs=20)


def test_a_tail_too_long_to_list_is_warned_of():
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


def test_a_histogram_can_come_in_many_ways():
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


# The same density, given in other ways.


def gauss(mean=0.0, width=1.0):
    return lambda s: np.exp(-(((s - mean) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))


def scalar_gauss(mean=0.0, width=1.0):
    def density(s):
        return math.exp(-(((s - mean) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))

    return density


WAYS = {
    "distribution": stats.norm,
    "its pdf": lambda *a: stats.norm(*a).pdf,
    "function of arrays": gauss,
    "function of numbers": scalar_gauss,
    "Normal": lambda mean, width: stats.Normal(mu=mean, sigma=width),
    "a mixture of one": lambda mean, width: mixture((mean, width)),
    "KDE of one point": lambda mean, width: KernelDensity(bandwidth=width).fit([[mean]]),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize(
    ("moments", "b"), [((1.5, 1.0), 1e-6), ((0.5, 2.0), 0.2), ((-1.0, 0.25), 0.99)]
)
def test_a_density_can_come_in_many_ways(way, moments, b):
    expected = hm.decision_region(stats.norm(*moments), Z, b)
    for positive, negative in ((way(*moments), way(0.0, 1.0)), (way(*moments), Z)):
        got = hm.decision_region(positive, negative, b)
        assert got.score == pytest.approx(expected.score, rel=0, abs=1e-9)
        assert_allclose(counts(got), counts(expected), rtol=0, atol=1e-9)
        assert_allclose(got.intervals, expected.intervals, rtol=1e-6, atol=1e-6)


def test_kernel_density_estimates_are_mixtures():
    points = np.array([-1.0, 0.2, 0.9, 4.0])
    kde = stats.gaussian_kde(points, bw_method=0.2)
    width = math.sqrt(kde.covariance[0, 0])
    same = Parts(*((point, width) for point in points))
    expected = hm.decision_region(same.pdf, Z, 0.3)
    sk = KernelDensity(bandwidth=width).fit(points[:, None])
    for positive in (kde, sk, mixture(*((point, width) for point in points))):
        got = hm.decision_region(positive, Z, 0.3)
        assert_allclose(got.intervals, expected.intervals, rtol=0, atol=1e-9)
        assert_allclose(counts(got), counts(expected), rtol=0, atol=1e-9)
        assert_optimal(got, same, Z, 0.3)


@pytest.mark.parametrize("kernel", ["tophat", "epanechnikov", "exponential"])
def test_other_kernels_are_densities_too(kernel):
    rng = np.random.default_rng(2)
    kdes = [
        KernelDensity(kernel=kernel, bandwidth=0.7).fit(rng.normal(mean, 1.0, (6, 1)))
        for mean in (1.0, 0.0)
    ]
    region = hm.decision_region(*kdes, 0.3)
    assert_is_sound(region, 0.3)
    s = np.linspace(-8, 9, 200_001)
    p1, p0 = (np.exp(kde.score_samples(s[:, None])) for kde in kdes)
    chosen = 0.3 * p1 > 0.7 * p0 * region.likelihood_ratio
    tp, fp = (c * np.sum(p[chosen]) * (s[1] - s[0]) for c, p in ((0.3, p1), (0.7, p0)))
    assert abs(region.tp - tp) < 1e-4
    assert abs(region.fp - fp) < 1e-4


def test_a_support_says_where_functions_live():
    rate = hm.decision_region(
        lambda s: np.exp(-s), lambda s: 2 * np.exp(-2 * s), 0.3, support=(0, INF)
    )
    expected = hm.decision_region(stats.expon(), stats.expon(scale=0.5), 0.3)
    assert rate.threshold == pytest.approx(expected.threshold, abs=1e-9)
    assert rate.intervals[0][1] == INF
    assert_allclose(counts(rate), counts(expected), rtol=0, atol=1e-9)


def test_functions_may_overflow_far_out_and_be_infinite_at_an_end():
    for positive, negative, support, expected in (
        (lambda s: s * np.exp(-s), lambda s: np.exp(-s), (0, INF), (stats.gamma(2), stats.expon())),
        (
            lambda s: np.where(s > 0, np.exp(-s), 0.0),
            lambda s: np.where(s > 0, 2 * np.exp(-2 * s), 0.0),
            None,
            (stats.expon(), stats.expon(scale=0.5)),
        ),
        (
            stats.beta(0.5, 0.5).pdf,
            stats.beta(0.5, 2).pdf,
            (0, 1),
            (stats.beta(0.5, 0.5), stats.beta(0.5, 2)),
        ),
    ):
        got = hm.decision_region(positive, negative, 0.3, support=support)
        # A density that is infinite at 1 keeps 1e-8 of its mass between 1 and the float below.
        assert got.score == pytest.approx(hm.decision_region(*expected, 0.3).score, abs=1e-8)


@pytest.mark.parametrize(("mean", "width"), [(30.0, 1.0), (100.0, 15.0), (0.0, 1e-3), (0.0, 1e5)])
def test_ordinary_functions_are_found_on_the_whole_line(mean, width):
    region = hm.decision_region(gauss(mean + 2 * width, width), gauss(mean, width), 0.3)
    expected = hm.decision_region(stats.norm(2), Z, 0.3)
    assert region.score == pytest.approx(expected.score, abs=1e-9)
    assert region.threshold == pytest.approx(mean + width * expected.threshold, rel=1e-9, abs=0)


def test_a_narrow_function_is_found_in_its_support():
    densities = gauss(1000.02, 0.01), gauss(1000.0, 0.01)
    region = hm.decision_region(*densities, 0.3, support=(999, 1001))
    expected = hm.decision_region(stats.norm(2), Z, 0.3)
    assert region.score == pytest.approx(expected.score, abs=1e-9)
    assert region.threshold == pytest.approx(1000 + expected.threshold / 100, abs=1e-9)


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


# Other metrics.


@smooth
def test_accuracy_cuts_at_even_odds(name):
    positive, negative = SMOOTH[name]
    for b in (0.01, 0.6):
        region = found(name, b, "accuracy")
        assert region.likelihood_ratio == 1.0
        assert region.score == pytest.approx(region.tp + region.tn, rel=1e-12, abs=0)
        assert region.score >= max(b, 1 - b) - 1e-12
        ends = np.array(inner_ends(region, positive, negative))
        seen = ends[np.minimum(positive.pdf(ends), negative.pdf(ends)) > 1e-290]
        assert_allclose(ratio(positive, negative, b, seen), 1.0, rtol=1e-6)


def test_accuracy_may_predict_nothing():
    for densities in ((stats.norm(0, 0.9), Z), (Z, Z), ((SAMPLE > 0, range(31)),) * 2):
        region = hm.decision_region(*densities, 0.01, "accuracy")
        assert region.intervals == []
        assert counts(region) == pytest.approx((0, 0, 0.01, 0.99))
        assert not region.contains(0.0)
        assert not region.contains(np.linspace(-9, 9, 9)).any()
        with pytest.raises(AttributeError, match=r"nothing|intervals"):
            _ = region.threshold


def test_recall_takes_all_that_can_be_positive():
    for positive, intervals in (
        (Z, [(-INF, INF)]),
        (stats.expon(2), [(2.0, INF)]),
        (stats.uniform(-1, 3), [(-1.0, 2.0)]),
    ):
        region = hm.decision_region(positive, stats.norm(1, 2), 0.1, "recall")
        assert region.intervals == intervals
        assert region.likelihood_ratio == 0.0
        assert region.score == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("b", [0.01, 0.3, 0.9])
def test_another_ratio_has_the_cut_of_its_weights(b):
    region = hm.decision_region(stats.norm(1), Z, b, GAIN)
    assert region.likelihood_ratio == pytest.approx(0.25)
    assert region.metric == "gain"
    assert region.score == pytest.approx(4 * region.tp - region.fp, rel=1e-9, abs=0)
    value = naive.maximum(lambda t: 4 * b * stats.norm(1).sf(t) - (1 - b) * Z.sf(t), -40, 40)
    assert region.score == pytest.approx(value, abs=1e-9)


def test_a_ratio_may_be_negative():
    loss = hm.LinearFractional("loss", (0, -1, -1, 0), (1, 1, 1, 1))
    coins = [stats.bernoulli(p) for p in (0.8, 0.3)]
    for densities in ((stats.norm(1), Z), (([1, 4], [0, 1, 2]), ([3, 1], [0, 1, 2])), coins):
        got, expected = (hm.decision_region(*densities, 0.4, m) for m in (loss, "accuracy"))
        assert got.intervals == expected.intervals
        assert got.score == pytest.approx(expected.score - 1, abs=1e-12)


def test_a_ratio_of_ones_own_may_be_f1():
    own = hm.LinearFractional("own", (2, 0, 0, 0), (2, 1, 1, 0))
    got, expected = (hm.decision_region(stats.t(3), Z, 0.2, m) for m in (own, "f1"))
    assert_allclose(got.intervals, expected.intervals, rtol=1e-9)
    assert got.score == pytest.approx(expected.score, abs=1e-12)


def test_a_metric_may_be_an_object():
    got, expected = (hm.decision_region(stats.norm(1), Z, 0.2, m) for m in (hm.FBeta(2), "f2"))
    assert got.intervals == expected.intervals
    assert got.metric == expected.metric == "f2"


@pytest.mark.parametrize("beta", [1e-6, 1e-3, 1e3, 1e6])
def test_extreme_betas(beta):
    region = hm.decision_region(stats.norm(1), Z, 0.2, hm.FBeta(beta))
    best = naive.best_ray(stats.norm(1), Z, 0.2, -40, 40, beta)
    assert region.score == pytest.approx(best, abs=1e-9)


# The result.


def test_contains_takes_numbers_and_arrays():
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    (_, low), (high, _) = region.intervals
    assert region.contains(low) is True
    assert region.contains(0) is False
    assert region.contains(np.float64(high)) is True
    assert region.contains(np.nextafter(high, 0)) is False
    got = region.contains(np.array([[-INF, low], [0.0, INF]]))
    assert got.dtype == np.bool_
    assert_array_equal(got, [[True, True], [False, True]])
    assert_array_equal(region.contains([low, 0]), [True, False])
    assert region.contains([]).shape == (0,)


@pytest.mark.parametrize("points", [2, 100, 512])
def test_curves_hold_what_a_picture_shows(points):
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    curves = region.curves(points)
    assert list(curves) == ["score", "positive", "negative", "ratio", "predicted"]
    assert curves.n_rows == points
    s = curves["score"]
    assert np.isfinite(s).all()
    assert (np.diff(s) > 0).all()
    assert_allclose(curves["positive"], stats.norm(0, 3).pdf(s), rtol=1e-9)
    assert_allclose(curves["negative"], Z.pdf(s), rtol=1e-9)
    assert_allclose(curves["ratio"], ratio(stats.norm(0, 3), Z, 0.3, s), rtol=1e-9)
    assert_array_equal(curves["predicted"], region.contains(s))


def test_curves_show_every_end():
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    s = region.curves()["score"]
    assert len(s) == 512
    assert all(s[0] < end < s[-1] for end in chain(*region.intervals) if abs(end) < INF)


def test_curves_of_atoms_have_a_row_for_each():
    densities = [stats.rv_discrete(values=([1, 2, 4], p)) for p in ([0.5, 0.5, 0], [0.25, 0, 0.75])]
    region = hm.decision_region(*densities, 0.5)
    curves = region.curves()
    assert_array_equal(curves["score"], [1, 2, 4])
    assert_array_equal(curves["positive"], [0.5, 0.5, 0.0])
    assert_array_equal(curves["negative"], [0.25, 0.0, 0.75])
    assert_array_equal(curves["ratio"], [2.0, INF, 0.0])
    assert_array_equal(curves["predicted"], [True, True, False])


@pytest.mark.parametrize(
    "densities",
    [
        (stats.gamma(0.5), stats.gamma(2)),
        (stats.beta(0.5, 0.5), stats.beta(0.5, 0.7)),
        (stats.uniform(2, 1), stats.uniform(0, 1)),
        (stats.cauchy(1), stats.cauchy()),
        (([1, 2], [0, 1, 2]), ([2, 1], [1, 2, 3])),
        (stats.poisson(3), stats.poisson(1)),
    ],
)
def test_curves_never_warn_and_agree_with_contains(densities):
    region = hm.decision_region(*densities, 0.3)
    curves = region.curves(50)
    assert np.isfinite(curves["score"]).all()
    assert_array_equal(curves["predicted"], region.contains(curves["score"]))


def test_a_region_says_what_it_is():
    region = hm.decision_region(stats.norm(1), Z, 0.3)
    assert (region.metric, region.base_rate) == ("f1", 0.3)
    assert f"{region.score:.4f}" in repr(region)
    assert "f1" in repr(region)
    for other in (hm.decision_region(Z, Z, 0.1), hm.decision_region(Z, Z, 0.1, "accuracy")):
        assert repr(other)


def test_what_is_given_is_not_changed():
    counted, edges = np.array([1, 2, 3]), np.array([0.0, 1, 2, 3])
    hm.decision_region((counted, edges), (counted[::-1], edges), 0.5)
    assert counted.tolist() == [1, 2, 3]
    assert edges.tolist() == [0, 1, 2, 3]


def test_a_region_is_the_same_every_time():
    kde = stats.gaussian_kde(SAMPLE)
    first, second = (hm.decision_region(kde, stats.t(3), 0.2) for _ in range(2))
    assert first.intervals == second.intervals
    assert counts(first) == counts(second)


# What once went wrong.


def test_an_outlier_does_not_hide_the_modes_of_a_kernel_density():
    rng = np.random.default_rng(3)
    data = [rng.normal(mean, 1, 300) for mean in (1, 0)]
    far = [np.append(data[0], 1e4), np.append(data[1], -1e4)]
    with_outliers, without = (
        hm.decision_region(*(KernelDensity(bandwidth=0.01).fit(x[:, None]) for x in pair), 0.3)
        for pair in (far, data)
    )
    assert with_outliers.score == pytest.approx(without.score, abs=0.01)


def test_thresholds_far_from_all_mass_are_found_too():
    assert hm.decision_region(stats.norm(200), Z, 0.1).threshold == pytest.approx(100, abs=0.1)
    region = hm.decision_region(stats.beta(2001, 2), stats.beta(2000, 3), 2000 / 2002)
    assert region.threshold == pytest.approx(region.score / 2, abs=1e-9)


def test_the_best_region_seen_is_kept():
    region = hm.decision_region(stats.norm(0, 0.3), Z, 1e-4, hm.FBeta(1e-8))
    assert region.score > 3.3e-4


def test_a_gap_without_mass_is_not_predicted():
    apart = hm.decision_region(stats.uniform(0, 1), stats.uniform(5, 1), 0.1)
    assert apart.intervals == [(0.0, 1.0)]


def test_a_frozen_histogram_keeps_its_bins():
    rng = np.random.default_rng(0)
    bins = [np.histogram(rng.normal(mean, 1, 3000), bins=200) for mean in (1, 0)]
    plain = hm.decision_region(*bins, 0.3)
    frozen = [stats.rv_histogram(pair)(loc=5, scale=2) for pair in bins]
    moved = hm.decision_region(*frozen, 0.3)
    assert moved.score == pytest.approx(plain.score, abs=1e-12)
    assert_allclose(moved.intervals, np.array(plain.intervals) * 2 + 5)


def test_a_tophat_kernel_makes_a_histogram():
    rng = np.random.default_rng(0)
    data = [rng.normal(mean, 1, 40) for mean in (1, 0)]
    kernels = [KernelDensity(bandwidth=0.3, kernel="tophat").fit(x[:, None]) for x in data]
    region = hm.decision_region(*kernels, 0.3)
    s = np.linspace(-5, 6, 100_001)
    odds = np.array([np.exp(k.score_samples(s[:, None])) for k in kernels]) * [[0.3], [0.7]]
    inside = odds[0] > region.likelihood_ratio * odds[1]
    assert (region.contains(s) == inside)[odds.sum(axis=0) > 0].mean() > 0.999
    assert region.tp == pytest.approx(odds[0][inside].sum() * (s[1] - s[0]), abs=1e-3)


def test_jumps_and_singular_ends_of_functions_are_integrated():
    rng = np.random.default_rng(1)
    for _ in range(20):
        box = stats.uniform(rng.normal(0, 3), rng.exponential(2) + 0.05)
        got, expected = (hm.decision_region(p, Z, 0.3).score for p in (box.pdf, box))
        assert got == pytest.approx(expected, abs=1e-9)


def test_a_periodic_distribution_needs_its_support():
    period = (-np.pi, np.pi)
    assert_is_sound(
        hm.decision_region(stats.vonmises(2), stats.vonmises(1), 0.3, support=period), 0.3
    )
    with pytest.raises(ValueError, match="for a periodic distribution give support"):
        hm.decision_region(stats.norm(2), stats.vonmises(2), 0.3)


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [((0, 0, 0, 1), (0, 0, 1, 1)), ((1, 0, 0, 0), (1, 1, 0, 0))],
)
def test_denominators_that_vanish_are_refused(numerator, denominator):
    with pytest.raises(ValueError, match="denominator above 0 whatever is predicted"):
        hm.decision_region(stats.norm(1), Z, 0.3, hm.LinearFractional("x", numerator, denominator))


def test_curves_of_histograms_are_densities():
    bins = np.histogram([1, 2, 2, 3, 7, 9.5], bins=[0, 2, 3, 10]), ([1, 1], [0, 5, 10])
    curves = hm.decision_region(*bins, 0.3).curves()
    widths = np.diff([0, 2, 3, 5, 10])
    for name in ("positive", "negative"):
        assert (curves[name] * widths).sum() == pytest.approx(1)


def test_a_ratio_of_negative_sums_has_the_region_of_positive_ones():
    negated = hm.LinearFractional("j", (-1, 0, 0, 0), (-1, -1, -1, 0))
    found, wanted = (
        hm.decision_region(stats.norm(1.5), stats.norm(), 0.2, metric)
        for metric in (negated, "jaccard")
    )
    assert found.intervals == wanted.intervals
