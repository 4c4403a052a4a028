from itertools import pairwise

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive import assert_close, grouped_value
from numpy.testing import assert_array_equal
from strategies import METRICS, compiled, probabilities, shares_of_nothing

import halfmax as hm

pytestmark = pytest.mark.kernels

NAMES = (*METRICS, "f0.01", "f100", "f3.7")
named = st.sampled_from(NAMES)
names = named | st.floats(0.01, 100.0).map(lambda beta: hm.FBeta(beta).name)
small = probabilities(st.integers(1, 8))


def batch(kind, n):
    rng = np.random.default_rng(n)
    return {
        "uniform": lambda: rng.random(n),
        "beta": lambda: rng.beta(0.3, 3.0, n),
        "extreme": lambda: rng.beta(0.02, 0.02, n),
        "equal": lambda: np.full(n, 0.3),
        "rounded": lambda: rng.random(n).round(1),
        "zeros and ones": lambda: rng.choice([0.0, 1.0, 1.0, 0.4], n),
        "nearly ones": lambda: 1.0 - rng.random(n) * 1e-12,
        "no ones": lambda: np.zeros(n),
        "tiny": lambda: rng.choice([5e-324, 1e-310, 1e-300, 1e-20], n),
        "tiny and large": lambda: rng.choice([5e-324, 1e-310, 0.7], n),
        "sum 1e-9": lambda: _scaled(rng.random(n), 1e-9),
        "sum 1e-3": lambda: _scaled(rng.random(n), 1e-3),
        "sum 1": lambda: _scaled(rng.random(n), 1.0),
        "one large": lambda: np.append(0.9, np.full(n - 1, 1e-5)),
        "geometric": lambda: 0.5 ** np.arange(1, n + 1),
    }[kind]()


def _scaled(p, total):
    return p / p.sum() * total


KINDS = (
    "uniform",
    "beta",
    "extreme",
    "equal",
    "rounded",
    "zeros and ones",
    "nearly ones",
    "no ones",
    "tiny",
    "tiny and large",
    "sum 1e-9",
    "sum 1e-3",
    "sum 1",
    "one large",
    "geometric",
)


# The naive twins agree with each other.


@given(small, names, shares_of_nothing)
def test_the_twins_agree(p, metric, zero_division):
    expected = naive.expected_curve(p, metric, zero_division)
    assert_close(naive.convolved_curve(p, metric, zero_division), expected)


@pytest.mark.parametrize("metric", ["f1", "f0.1", "f10", "jaccard", "recall"])
def test_the_twin_of_groups_agrees(metric):
    groups = [(3, 1.0), (60, 0.4), (40, 0.01), (5, 0.0)]
    expected = naive.convolved_curve(
        np.repeat([p for _, p in groups], [n for n, _ in groups]), metric
    )
    assert_close([grouped_value(groups, k, metric) for k in range(1, 109)], expected[1:])


# Every entry of the curve.


@given(small, names, shares_of_nothing)
def test_the_curve_is_the_mean_over_all_outcomes(p, metric, zero_division):
    expected = naive.expected_curve(p, metric, zero_division)
    assert_close(hm.expected_curve(p, metric, zero_division), expected)


@pytest.mark.parametrize(
    ("kind", "metric"),
    [
        ("uniform", "f1"),
        ("zeros and ones", "f0.01"),
        ("tiny and large", "f100"),
        ("sum 1e-3", "f1.3"),
        ("extreme", "jaccard"),
        ("beta", "recall"),
    ],
)
def test_the_curve_of_twelve_items(kind, metric):
    p = batch(kind, 12)
    expected = naive.expected_curve(p, metric, 0.5)
    assert_close(hm.expected_curve(p, metric, 0.5), expected)


@pytest.mark.parametrize("metric", NAMES)
@pytest.mark.parametrize("kind", KINDS)
def test_the_curve_is_what_convolution_gives(kind, metric):
    for n, zero_division in ((1, 0.5), (33, 1.0), (150, 0.0)):
        p = batch(kind, n)
        expected = naive.convolved_curve(p, metric, zero_division)
        assert_close(hm.expected_curve(p, metric, zero_division), expected)


@compiled
@pytest.mark.parametrize("metric", ["f1", "f0.01", "f0.3", "f100", "jaccard", "recall"])
@pytest.mark.parametrize("kind", ["uniform", "beta", "equal", "extreme", "sum 1", "tiny and large"])
def test_the_curve_of_four_hundred_items(kind, metric):
    p = batch(kind, 400)
    expected = naive.convolved_curve(p, metric, 1.0)
    assert_close(hm.expected_curve(p, metric, 1.0), expected)


@compiled
@pytest.mark.parametrize("metric", ["f1", "f0.1", "f30", "jaccard", "recall"])
@pytest.mark.parametrize("kind", ["uniform", "beta", "geometric", "sum 1"])
def test_the_curve_of_two_thousand_items(kind, metric):
    p, some = batch(kind, 2000), [0, 1, 2, 17, 400, 1000, 1999, 2000]
    expected = naive.convolved_curve(p, metric, 1.0, at=some)
    assert_close(hm.expected_curve(p, metric, 1.0)[some], expected)


@compiled
@pytest.mark.parametrize("metric", ["f1", "f0.01", "f100", "jaccard", "recall"])
def test_the_curve_of_many_items_in_groups(metric):
    groups = [(1000, 1.0), (100_000, 0.3), (400_000, 1e-3), (1000, 0.0)]
    p = np.repeat([p for _, p in groups], [n for n, _ in groups])
    some = [1, 2, 999, 1001, 30_000, 101_000, 101_001, 300_000, 502_000]
    expected = [grouped_value(groups, k, metric) for k in some]
    assert_close(hm.expected_curve(p, metric)[some], expected)


@compiled
@pytest.mark.parametrize("metric", ["f1", "f100", "jaccard"])
def test_a_million_true_of_two_million(metric):
    n, some = 2_000_000, [1, 1000, 500_000, 1_999_999, 2_000_000]
    expected = [grouped_value([(n, 0.5)], k, metric) for k in some]
    assert_close(hm.expected_curve(np.full(n, 0.5), metric)[some], expected)


@compiled
@pytest.mark.parametrize("metric", ["f1", "f0.5", "jaccard", "recall"])
def test_a_million_certain_items(metric):
    n = 1_000_000
    k, b2 = np.arange(n + 1), 0.25 if metric == "f0.5" else 1.0
    linear = metric in ("jaccard", "recall")
    expected = k / n if linear else (1 + b2) * k / (k + b2 * n)
    assert_close(hm.expected_curve(np.ones(n), metric), expected)


# What pencil and paper give.


def test_two_items_by_hand():
    # of F1 = 2 tp / (k + number true), over the outcomes 11, 10, 01
    p, q = 0.75, 0.25
    one = p * q * 2 / 3 + p * (1 - q) * 1
    both = p * q * 1 + p * (1 - q) * 2 / 3 + (1 - p) * q * 2 / 3
    assert_close(hm.expected_curve([q, p]), [0.0, one, both])
    assert_close(hm.expected_curve([q, p], zero_division=1.0), [0.1875, one, both])


@given(st.sampled_from([5e-324, 1e-310, 1e-9, 0.3, 1.0]), names)
def test_the_expected_metric_of_one_item_is_its_probability(p, metric):
    assert_close(hm.expected_curve([p], metric)[1], p)


def test_the_smallest_probability_is_not_lost():
    assert_array_equal(hm.expected_curve([5e-324]), [0.0, 5e-324])


@given(small)
def test_precision_is_the_mean_of_the_most_probable(p):
    top = np.sort(p.astype(np.float64))[::-1]
    got = hm.expected_curve(p, "precision", 0.5)
    assert_close(got, [0.5, *(np.mean(top[:k]) for k in range(1, len(p) + 1))])


@given(small, shares_of_nothing)
def test_predicting_everything_has_full_recall(p, zero_division):
    nothing = np.prod(1 - p.astype(np.float64))
    got = hm.expected_curve(p, "recall", zero_division)[-1]
    assert got == pytest.approx(1 - nothing + zero_division * nothing, rel=0, abs=1e-12)


@given(small, names, shares_of_nothing)
def test_values_lie_between_zero_and_one(p, metric, zero_division):
    got = hm.expected_curve(p, metric, zero_division)
    assert got.dtype == np.float64
    assert got.shape == (len(p) + 1,)
    assert (got >= 0).all()
    assert (got <= 1 + 1e-12).all()


@given(small, names)
def test_zero_division_counts_only_for_zero_over_zero(p, metric):
    zero, one = (hm.expected_curve(p, metric, zero_division) for zero_division in (0.0, 1.0))
    nothing = np.prod(1 - p.astype(np.float64))
    gain = np.zeros(len(p) + 1)
    if metric == "recall":
        gain[:] = nothing
    elif metric != "accuracy":
        gain[0] = 1.0 if metric == "precision" else nothing
    np.testing.assert_allclose(one - zero, gain, rtol=1e-12, atol=1e-12)


@given(st.integers(1, 300), st.floats(0.01, 100.0))
def test_the_curve_of_certain_items(n, beta):
    k, b2 = np.arange(n + 1), beta * beta
    assert_close(hm.expected_curve(np.ones(n), hm.FBeta(beta)), (1 + b2) * k / (k + b2 * n))


@given(small, names, st.integers(1, 3))
def test_impossible_items_change_only_the_curve_of_accuracy(p, metric, more):
    got = hm.expected_curve(np.append(p, np.zeros(more)), metric, 0.5)[: len(p) + 1]
    if metric == "accuracy":
        got = (got * (len(p) + more) - more) / len(p)
        np.testing.assert_allclose(got, hm.expected_curve(p, metric), rtol=0, atol=1e-12)
    else:
        assert_close(got, hm.expected_curve(p, metric, 0.5))


# What comes in, and what is refused.


@given(small, names, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(p, metric, random):
    shuffled = p[random.sample(range(len(p)), len(p))]
    assert_array_equal(hm.expected_curve(shuffled, metric), hm.expected_curve(p, metric))


@given(small, names)
def test_the_container_does_not_matter(p, metric):
    wide = p.astype(np.float64)
    before = p.tobytes()
    expected = hm.expected_curve(wide, metric)
    padded = np.full(2 * len(p), 0.5, p.dtype)
    padded[::2] = p
    for values in (p, wide.tolist(), padded[::2], pd.Series(wide), pl.Series("p", wide)):
        assert_array_equal(hm.expected_curve(values, metric), expected)
    assert p.tobytes() == before


def test_whole_numbers_are_probabilities_too():
    for values in ([1, 0, 1], np.array([1, 0, 1], np.int8), np.array([True, False, True])):
        assert_array_equal(hm.expected_curve(values), hm.expected_curve([1.0, 0.0, 1.0]))


def test_a_metric_may_be_an_object():
    p = batch("uniform", 20)
    assert_array_equal(hm.expected_curve(p, hm.FBeta(2)), hm.expected_curve(p, "f2"))


@pytest.mark.parametrize(
    "metric",
    [
        hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1)),
        hm.Metric("hits", lambda tp, fp, fn, tn: tp + 0 * fp + 0 * fn + 0 * tn),
        "F1",
        "auc",
    ],
)
def test_other_metrics_are_refused(metric):
    with pytest.raises(ValueError, match="metric"):
        hm.expected_curve([0.5, 0.2], metric)


@pytest.mark.parametrize("metric", ["f1", "jaccard", "precision", "recall", "accuracy"])
def test_progress_is_reported_to_the_end(metric):
    reports = []
    p = batch("uniform", 300)
    got = hm.expected_curve(p, metric, progress=lambda *step: reports.append(step))
    assert_array_equal(got, hm.expected_curve(p, metric))
    assert reports
    assert reports[-1][0] == reports[-1][1]
    assert all(a[0] < b[0] and a[1] == b[1] for a, b in pairwise(reports))


def test_a_curve_can_be_interrupted():
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.expected_curve(batch("uniform", 300), progress=stop)
