"""Decision regions of calibrated scores (Corollary 1) and of uninformative ones (Theorem 3)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from region_cases import INF, SAMPLE, Z, counts, mixture, some_rates
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm

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
def test_an_uninformative_score_is_positive_on_its_whole_support(same, intervals, b):
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
