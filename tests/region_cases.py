"""Densities, base rates and checks that the tests of decision regions share."""

import math
from functools import cache
from itertools import chain

import naive
import numpy as np
import pytest
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

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
    """A mixture of normals with the methods of scipy's older distributions, for naive twins."""

    def __init__(self, *parts):
        self.parts = [stats.norm(*part) for part in parts]

    def __getattr__(self, name):
        if name == "pmf":
            raise AttributeError(name)
        return lambda s: np.mean([getattr(part, name)(s) for part in self.parts], axis=0)


def counts(region):
    return region.tp, region.fp, region.fn, region.tn


def inner_ends(region, positive, negative):
    """Ends of intervals that lie inside both supports."""
    low = max(positive.support()[0], negative.support()[0])
    high = min(positive.support()[1], negative.support()[1])
    return [end for end in chain(*region.intervals) if low < end < high]


def ratio(positive, negative, b, s):
    with np.errstate(divide="ignore", invalid="ignore"):
        return b * positive.pdf(s) / ((1 - b) * negative.pdf(s))


def assert_is_sound(region, b, beta=1):
    """Check what holds for all densities."""
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
    """Check that it is sound, and that no union of cells around its ends or elsewhere is better."""
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
    "Cauchy against a normal": (stats.cauchy(2), Z),
    "logistic": (stats.logistic(1), stats.logistic(0, 2)),
    "Laplace against a normal": (stats.laplace(), Z),
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


SAMPLE = np.random.default_rng(0).normal(size=30)
