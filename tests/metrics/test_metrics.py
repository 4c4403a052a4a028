from itertools import product
from math import isnan, nan

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import METRICS

import halfmax as hm
from halfmax.metrics.counts import confusion
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio
from halfmax.metrics.restrictions import Restrictions

pytestmark = pytest.mark.kernels

COUNTS = list(product(range(4), repeat=4))


def fowlkes_mallows(tp, fp, fn, tn):
    return tp / np.sqrt((tp + fp) * (tp + fn)) + 0 * tn


@pytest.mark.parametrize("zero_division", [0.0, 0.5, 1.0, nan])
@pytest.mark.parametrize("name", METRICS)
def test_named_metrics_at_all_small_counts(name, zero_division):
    got = find_metric(name)(*np.transpose(COUNTS), zero_division=zero_division)
    expected = [naive.metric_value(name, *map(naive.Fraction, c), zero_division) for c in COUNTS]
    assert all(map(naive.same, got, expected))


@given(st.tuples(*[st.integers(0, 10**15)] * 4), st.floats(0.01, 100.0))
def test_fbeta_at_any_count(counts, beta):
    got = float(hm.FBeta(beta)(*counts))
    expected = naive.metric_value(str(naive.Fraction(beta)), *map(naive.Fraction, counts))
    assert got == pytest.approx(float(expected), rel=1e-12)


def test_kernels_skip_metrics_that_are_not_plain_ratios():
    mine = hm.Metric("fowlkes-mallows", fowlkes_mallows)
    gain = hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))
    floored = Objective(find_metric("f1"), 0.0, Restrictions.ask(min_precision=0.5))
    for objective in (Objective(mine), Objective(gain), floored):
        assert not len(as_plain_ratio(objective))


@pytest.mark.parametrize(
    ("name", "beta"), [("f1", 1.0), ("f2", 2.0), ("f0.5", 0.5), ("f1.3", 1.3), ("f10", 10.0)]
)
def test_f_names_carry_their_beta(name, beta):
    assert find_metric(name).beta == beta
    assert hm.FBeta(beta).name == name


def test_metric_objects_find_themselves():
    mine = hm.Metric("fowlkes-mallows", fowlkes_mallows)
    assert find_metric(mine) is mine


@pytest.mark.parametrize("name", ["f", "F1", "f-1", "f1e3", "fbeta", "", "auc", None, 1, "f1 "])
def test_unknown_names_are_refused(name):
    with pytest.raises(ValueError, match="metric must be"):
        find_metric(name)


@pytest.mark.parametrize("beta", [0, -1.0, np.inf, nan, 1e200])
def test_beta_must_be_positive_and_finite(beta):
    with pytest.raises(ValueError, match="beta must be above 0"):
        hm.FBeta(beta)


def test_f0_is_refused_like_beta_0():
    with pytest.raises(ValueError, match="beta must be above 0"):
        find_metric("f0")


@pytest.mark.parametrize("beta", ["two", None, [1.0]])
def test_beta_must_be_a_number(beta):
    with pytest.raises(TypeError, match="beta must be a number"):
        hm.FBeta(beta)


def test_linear_fractional_is_a_ratio_of_weighted_sums():
    tversky = hm.LinearFractional("tversky", (1, 0, 0, 0), (1, 0.5, 0.25, 0))
    assert float(tversky(3, 2, 4, 7)) == 3 / 5


@pytest.mark.parametrize("weights", [(1, 0, 0), (1, 0, 0, nan), (1, 0, 0, np.inf)])
def test_linear_fractional_needs_four_finite_weights(weights):
    with pytest.raises(ValueError, match="four finite weights"):
        hm.LinearFractional("bad", weights, (1, 1, 1, 1))


def test_a_metric_of_one_value_for_many_counts_is_refused():
    with pytest.raises(ValueError, match="one value for each count"):
        hm.Metric("sum", lambda tp, *_: tp.sum())([1, 2], 0, 0, 0)


def test_zero_division_replaces_only_nan():
    metric = hm.Metric("fowlkes-mallows", fowlkes_mallows)
    assert metric([0, 1], 0, [0, 1], 0, zero_division=0.5).tolist() == [0.5, 1 / np.sqrt(2)]
    assert isnan(metric(0, 0, 0, 0, zero_division=nan))


def test_metrics_broadcast():
    assert find_metric("f1")([[1], [2]], [0, 1, 2], 1, 0).shape == (2, 3)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda tp, fp, fn, tn: tp + fp + 0 * fn * tn, "rises when a false"),
        (lambda tp, fp, fn, tn: fn - fp + 0 * tp * tn, "falls when a true"),
    ],
)
@pytest.mark.parametrize("size", [4, 1000])
def test_searches_for_monotone_metrics_refuse_others(function, words, size):
    objective = Objective(hm.Metric("odd", function))
    with pytest.raises(ValueError, match=words):
        objective.require_monotone(np.array([size // 2]), np.array([size]))


def test_monotone_metrics_are_trusted():
    Objective(hm.Metric("fowlkes-mallows", fowlkes_mallows)).require_monotone(
        np.array([1, 5, 300]), np.array([400, 400, 400])
    )


@given(st.tuples(*[st.integers(0, 50)] * 4))
def test_confusion_gives_back_the_four_counts(counts):
    tp, fp, fn, _ = counts
    assert confusion(tp, tp + fp, tp + fn, sum(counts)) == counts


def test_rounded_counts_are_never_negative():
    tenths = np.cumsum([0.1, 0.1, 0.1])[-1]
    assert confusion(tenths, 0.3, 0.3, 0.3)[1:] == (0, 0, 0)
