"""Errors for bad densities, base rates and simulations name the problem clearly."""

import math

import numpy as np
import pytest
from scipy import stats
from sklearn.neighbors import KernelDensity

import halfmax as hm

NAN, INF = math.nan, math.inf
Z = stats.norm()
HISTOGRAM = ([1, 2], [0, 1, 2])
TWO_DIMENSIONS = np.random.default_rng(0).normal(size=(2, 30))


def region(positive=Z, negative=Z, base_rate=0.3, **options):
    return lambda: hm.decision_region(positive, negative, base_rate, **options)


def curse(n=100, base_rate=0.1, runs=10, **options):
    return lambda: hm.simulate_winners_curse(n, base_rate, runs, **options)


def half_a_density(s):
    return np.exp(-s * s / 2) / math.sqrt(2 * math.pi) / 2


def negative_somewhere(s):
    return Z.pdf(s) * (1 + 2 * s)


def nan_somewhere(s):
    return np.where(np.abs(s) < 1, Z.pdf(s), NAN)


# What is wrong, the call, the error, and what its message must say.
BAD = [
    # base rates
    ("no positives", region(base_rate=0), ValueError, r"base_rate must be.*above 0.*got 0"),
    ("no negatives", region(base_rate=1.0), ValueError, r"base_rate must be.*below 1.*got 1.0"),
    ("percent", region(base_rate=30), ValueError, r"base_rate must be.*got 30"),
    ("below 0", region(base_rate=-0.1), ValueError, r"base_rate must be.*got -0.1"),
    ("NaN", region(base_rate=NAN), ValueError, r"base_rate must be.*got nan"),
    ("word", region(base_rate="half"), ValueError, r"base_rate must be.*got 'half'"),
    ("number in quotes", region(base_rate="0.5"), ValueError, r"base_rate must be.*got '0.5'"),
    ("no base rate", region(base_rate=None), ValueError, r"base_rate must be.*got None"),
    ("two base rates", region(base_rate=[0.1, 0.2]), ValueError, r"base_rate must be a number"),
    ("certainly", region(base_rate=True), ValueError, r"base_rate must be.*got True"),
    # densities as functions
    ("a negative density", region(negative_somewhere), ValueError, r"positive.*negative.*at -"),
    (
        "the other is negative",
        region(negative=negative_somewhere),
        ValueError,
        r"^negative must be a density.*negative",
    ),
    ("NaN somewhere", region(nan_somewhere), ValueError, r"positive must.*NaN.*nan"),
    ("half", region(half_a_density), ValueError, r"positive.*gives 0\.5.*support"),
    ("twice", region(lambda s: 2 * Z.pdf(s)), ValueError, r"positive.*gives 2.*support"),
    (
        "the other is half",
        region(negative=half_a_density),
        ValueError,
        r"^negative.*gives 0\.5.*support",
    ),
    (
        "on the wrong support",
        region(Z.pdf, Z.pdf, support=(0, 1)),
        ValueError,
        r"positive.*\(0, 1\) gives 0\.3413.*support",
    ),
    ("all zero", region(lambda s: 0 * s), ValueError, r"positive.*gives 0.*support"),
    ("constant", region(lambda _: 1.0), ValueError, r"positive.*integrate.*support"),
    ("infinite", region(lambda _: INF), ValueError, r"positive"),
    ("a word", region(lambda _: "high"), (TypeError, ValueError), r"positive"),
    ("nothing", region(lambda _: None), (TypeError, ValueError), r"positive"),
    (
        "complex",
        region(lambda s: Z.pdf(s) * (1 + 0j)),
        (TypeError, ValueError),
        r"positive.*complex",
    ),
    ("three for one", region(lambda _: np.zeros(3)), ValueError, r"positive.*one density for each"),
    # distributions
    ("not frozen", region(stats.gamma), TypeError, r"positive.*freeze"),
    ("the other is not frozen", region(negative=stats.beta), TypeError, r"^negative.*freeze"),
    ("discrete, not frozen", region(stats.poisson), TypeError, r"positive.*freeze"),
    ("a class", region(stats.Normal), TypeError, r"positive"),
    ("bad parameters", region(stats.norm(0, -1)), ValueError, r"positive.*parameters"),
    ("NaN for a parameter", region(stats.norm(NAN)), ValueError, r"positive.*parameters"),
    ("many at once", region(stats.norm([0, 1])), ValueError, r"positive must be one distribution"),
    (
        "of two scores",
        region(stats.multivariate_normal([0, 0])),
        (TypeError, ValueError),
        r"positive",
    ),
    ("no width", region(stats.uniform(0, 0)), ValueError, r"positive"),
    (
        "discrete against continuous",
        region(stats.poisson(3)),
        ValueError,
        r"positive.*discrete.*negative.*continuous|discrete",
    ),
    ("continuous against discrete", region(negative=stats.poisson(3)), ValueError, r"discrete"),
    ("atoms against bins", region(stats.poisson(3), HISTOGRAM), ValueError, r"discrete"),
    ("atoms against a function", region(stats.poisson(3), Z.pdf), ValueError, r"discrete"),
    # kernel density estimates
    (
        "scipy's KDE of two scores",
        region(stats.gaussian_kde(TWO_DIMENSIONS)),
        ValueError,
        r"positive.*one score.*2 dimensions",
    ),
    (
        "scikit-learn's KDE of two scores",
        region(KernelDensity().fit(TWO_DIMENSIONS.T)),
        ValueError,
        r"positive.*one score.*2 dimensions",
    ),
    ("not fitted", region(KernelDensity()), (TypeError, ValueError), r"positive.*fit"),
    # histograms
    ("as many edges", region(([1, 2], [0, 1])), ValueError, r"positive.*one more edge"),
    ("edges first", region(([0, 1, 2], [1, 2])), ValueError, r"positive.*one more edge"),
    ("edges that fall", region(([1, 2], [2, 1, 0])), ValueError, r"edges of positive.*ascending"),
    ("edges twice", region(([1, 2], [0, 0, 1])), ValueError, r"edges of positive.*ascending"),
    ("endless edges", region(([1, 2], [0, 1, INF])), ValueError, r"edges of positive.*finite"),
    ("NaN edge", region(([1, 2], [0, NAN, 2])), ValueError, r"edges of positive.*finite"),
    ("negative count", region(([1, -2], [0, 1, 2])), ValueError, r"heights of positive.*negative"),
    ("NaN count", region(([1, NAN], [0, 1, 2])), ValueError, r"heights of positive.*finite"),
    ("all empty", region(([0, 0], [0, 1, 2])), ValueError, r"heights of positive.*all zero"),
    ("no bins", region(([], [0])), ValueError, r"positive"),
    ("words", region((["a"], [0, 1])), (TypeError, ValueError), r"positive.*histogram"),
    ("three parts", region(([1], [0, 1], 3)), (TypeError, ValueError), r"positive.*histogram"),
    (
        "of the other",
        region(negative=([1, -2], [0, 1, 2])),
        ValueError,
        r"heights of negative.*negative",
    ),
    (
        "of two scores",
        region(np.histogram2d(*TWO_DIMENSIONS)),
        (TypeError, ValueError),
        r"positive.*histogram",
    ),
    # no density at all
    ("a number", region(0.5), TypeError, r"positive must be.*distribution.*float"),
    ("None", region(None), TypeError, r"positive must be"),
    ("a name", region("norm"), TypeError, r"positive must be"),
    ("a sample", region(TWO_DIMENSIONS[0]), TypeError, r"positive must be.*ndarray"),
    ("a list of scores", region([0.1, 0.5]), TypeError, r"positive must be.*list"),
    ("the other is a sample", region(negative=TWO_DIMENSIONS[0]), TypeError, r"^negative must be"),
    # supports
    ("backwards", region(support=(1, 0)), ValueError, r"support must be \(low, high\)"),
    ("a point", region(support=(1, 1)), ValueError, r"support must be \(low, high\)"),
    ("NaN end", region(support=(0, NAN)), ValueError, r"support must be \(low, high\)"),
    ("one end", region(support=1.0), ValueError, r"support must be \(low, high\)"),
    ("three ends", region(support=(0, 1, 2)), ValueError, r"support must be \(low, high\)"),
    ("word for a support", region(support="unit"), ValueError, r"support must be \(low, high\)"),
    (
        "a support too small for a distribution",
        region(support=(0, 1)),
        ValueError,
        r"positive.*0\.3413",
    ),
    (
        "a support too small for atoms",
        region(stats.poisson(3), stats.poisson(3), support=(0, 2)),
        ValueError,
        r"support.*positive|positive.*support",
    ),
    # metrics
    ("precision", region(metric="precision"), ValueError, r"precision.*shrink|nothing"),
    ("unknown metric", region(metric="f"), ValueError, r"metric must be 'f1'"),
    (
        "a metric of one's own",
        region(metric=hm.Metric("mine", lambda tp, *_: tp)),
        ValueError,
        r"metric.*'mine'",
    ),
    (
        "a ratio that falls with tp",
        region(metric=hm.LinearFractional("odd", (-1, 0, 0, 0), (1, 1, 1, 1))),
        ValueError,
        r"'odd'",
    ),
    (
        "a ratio that rises with fp",
        region(metric=hm.LinearFractional("odd", (1, 1, 0, 0), (1, 1, 1, 1))),
        ValueError,
        r"'odd'",
    ),
    (
        "precision in disguise",
        region(metric=hm.LinearFractional("ppv", (1, 0, 0, 0), (1, 1, 0, 0))),
        ValueError,
        r"ppv",
    ),
    # the winner's curse
    ("no items", curse(n=0), ValueError, r"n must be a whole number.*1.*got 0"),
    ("items below 0", curse(n=-5), ValueError, r"n must be a whole number.*got -5"),
    ("half an item", curse(n=1.5), ValueError, r"n must be a whole number.*got 1.5"),
    ("NaN items", curse(n=NAN), ValueError, r"n must be a whole number.*got nan"),
    ("endless items", curse(n=INF), ValueError, r"n must be a whole number.*got inf"),
    ("far too many items", curse(n=10**30), ValueError, r"n must be a whole number.*got 1000"),
    ("items in words", curse(n="100"), ValueError, r"n must be a whole number.*got '100'"),
    ("a yes for items", curse(n=True), ValueError, r"n must be a whole number.*got True"),
    ("many n", curse(n=[10, 20]), ValueError, r"n must be a whole number"),
    ("curse without positives", curse(base_rate=0.0), ValueError, r"base_rate must be.*got 0.0"),
    ("curse without negatives", curse(base_rate=1), ValueError, r"base_rate must be.*got 1"),
    ("curse of NaN", curse(base_rate=NAN), ValueError, r"base_rate must be.*got nan"),
    ("curse in words", curse(base_rate="rare"), ValueError, r"base_rate must be.*got 'rare'"),
    ("many base rates", curse(base_rate=[0.1, 0.2]), ValueError, r"base_rate must be a number"),
    ("no runs", curse(runs=0), ValueError, r"runs must be a whole number.*1 or more.*got 0"),
    ("runs below 0", curse(runs=-1), ValueError, r"runs must be a whole number.*got -1"),
    ("half a run", curse(runs=2.5), ValueError, r"runs must be a whole number.*got 2.5"),
    ("no number of runs", curse(runs=None), ValueError, r"runs must be a whole number.*None"),
    ("negative seed", curse(seed=-1), ValueError, r"seed must be a whole number.*0.*got -1"),
    ("half a seed", curse(seed=0.5), ValueError, r"seed must be a whole number.*got 0.5"),
    ("no seed", curse(seed=None), ValueError, r"seed must be a whole number.*got None"),
    (
        "a generator",
        curse(seed=np.random.default_rng(0)),
        ValueError,
        r"seed must be a whole number.*Generator",
    ),
    ("odd progress", curse(progress=3), TypeError, r"progress must be True.*got 3"),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [row[1:] for row in BAD], ids=[row[0] for row in BAD]
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_an_error_inside_a_density_is_not_hidden():
    def broken(_):
        raise RuntimeError("no such table")

    with pytest.raises(RuntimeError, match="no such table"):
        hm.decision_region(broken, Z, 0.3)


def test_contains_refuses_nan():
    with pytest.raises(ValueError, match="NaN"):
        hm.decision_region(Z, Z, 0.3).contains([0.0, NAN])


@pytest.mark.parametrize("points", [0, -1, 1.5, "many"])
def test_curves_need_a_whole_number_of_points(points):
    with pytest.raises(ValueError, match="points must be a whole number"):
        hm.decision_region(Z, Z, 0.3).curves(points)
