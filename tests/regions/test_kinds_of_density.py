"""A density may come as a distribution, a function or a kernel density estimate."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from region_cases import INF, Parts, Z, assert_is_sound, assert_optimal, counts, mixture
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm

# One density in different forms.


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
def test_every_form_of_a_density_gives_the_same_region(way, moments, b):
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


def test_a_support_says_where_functions_are_not_zero():
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


# Regressions.


def test_an_outlier_does_not_hide_the_modes_of_a_kernel_density():
    rng = np.random.default_rng(3)
    data = [rng.normal(mean, 1, 300) for mean in (1, 0)]
    far = [np.append(data[0], 1e4), np.append(data[1], -1e4)]
    with_outliers, without = (
        hm.decision_region(*(KernelDensity(bandwidth=0.01).fit(x[:, None]) for x in pair), 0.3)
        for pair in (far, data)
    )
    assert with_outliers.score == pytest.approx(without.score, abs=0.01)


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
    with pytest.raises(ValueError, match="for a periodic distribution pass support"):
        hm.decision_region(stats.norm(2), stats.vonmises(2), 0.3)
