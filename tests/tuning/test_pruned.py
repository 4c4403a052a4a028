"""Thresholds of dense labels with many positives, found without a staircase."""

import warnings

import naive
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import compiled, many_labels, metrics, to_sparse, zero_divisions

import halfmax as hm
from halfmax._core.gate.labelled import read_labelled
from halfmax._core.limits import changed
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact import pruned

pytestmark = pytest.mark.kernels

GAIN = hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))
unweighted = many_labels(kinds=("none",))
sizes = st.fixed_dictionaries(
    {
        "pruned_cells": st.sampled_from([1, 2, 4, 7, 1 << 10]),
        "pruned_row_bytes": st.sampled_from([1, 16, 1 << 8]),
        "count_blocks": st.sampled_from([1, 8]),
    }
)


def tuned_both_ways(y, s, metric="f1", zero_division=0.0, **sizes):
    """Tune on staircases and without them."""
    with changed(pruned_steps=1 << 40):
        on_stairs = hm.tune(y, s, metric, zero_division=zero_division)
    with changed(pruned_steps=0, **sizes):
        without = hm.tune(y, s, metric, zero_division=zero_division)
    assert on_stairs._tuning.choice.stairs is not None
    assert without._tuning.choice.stairs is None
    return on_stairs, without


def assert_same(some, other):
    np.testing.assert_array_equal(some.thresholds, other.thresholds)
    assert not np.signbit(other.thresholds[other.thresholds == 0]).any()
    for one, two in zip(some._tuning.choice.counts, other._tuning.choice.counts, strict=True):
        np.testing.assert_array_equal(one, two)
        assert one.dtype == two.dtype
    assert naive.same(some.score, other.score)


@given(unweighted, metrics, zero_divisions, sizes)
def test_each_label_gets_its_best_threshold(case, metric, zero_division, sizes):
    expected = naive.best_each_label(case.y, case.s, metric, None, zero_division)
    with changed(pruned_steps=0, **sizes):
        got = hm.tune(case.y, case.s, metric, zero_division=zero_division)
    assert got._tuning.choice.stairs is None
    assert naive.same(got.score, sum(best.score for best in expected) / len(expected))
    for threshold, best in zip(got.thresholds, expected, strict=True):
        assert threshold in best.allowed


@given(unweighted, metrics, zero_divisions, sizes)
def test_answers_are_those_of_staircases(case, metric, zero_division, sizes):
    assert_same(*tuned_both_ways(case.y, case.s, metric, zero_division, **sizes))


@given(unweighted, st.sampled_from(["f1", "f2", "recall", "jaccard"]), sizes)
def test_labels_without_positives_may_be_left_out(case, metric, sizes):
    assert_same(*tuned_both_ways(case.y, case.s, metric, np.nan, **sizes))


def drawn(rng, shape, kind):
    """Scores of many shapes; some make most cells empty, or fill one with all rows."""
    y = (rng.random(shape) < rng.choice([0.02, 0.2, 0.5, 0.9], shape[1])).astype(np.int8)
    z = rng.standard_normal(shape) + rng.choice([0.0, 1.5, 4.0], shape[1]) * y
    scores = {
        "normal": z,
        "far away": np.where(rng.random(shape) < 0.01, 1e300 * z, z),
        "over many magnitudes": np.exp(30 * z),
        "crowded below": 1 - np.exp(30 * z - 60),
        "two decimals": np.round(1 / (1 + np.exp(-z)), 2),
        "never": np.where(rng.random(shape) < 0.7, -np.inf, z),
        "heavy tails": rng.standard_cauchy(shape) + y,
        "constant": np.full(shape, -2.0),
        "subnormal": z * 1e-310,
    }
    return y, scores[kind]


KINDS = ("normal", "far away", "over many magnitudes", "crowded below", "two decimals", "never")
KINDS += ("heavy tails", "constant", "subnormal")


@compiled
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("metric", ["f1", "f0.7", "f1000", "accuracy", "precision", "recall"])
def test_scores_of_many_shapes(kind, dtype, metric):
    rng = np.random.default_rng(KINDS.index(kind))
    for shape in ((1500, 37), (300, 150)):
        y, s = drawn(rng, shape, kind)
        with np.errstate(over="ignore"):
            s = np.minimum(s, np.finfo(dtype).max).astype(dtype)
            s[s == np.inf] = np.finfo(dtype).max
        assert_same(*tuned_both_ways(y, s, metric))


@compiled
def test_the_best_are_steps_of_the_staircase():
    rng = np.random.default_rng(0)
    y = (rng.random((20_000, 20)) < 0.2).astype(np.int8)
    s = rng.normal(1.5 * y)
    data = read_labelled(y, s)
    thresholds, counts = pruned.best_steps(data, Objective(find_metric("f1")))
    stairs = Staircase.of_checked(data)
    assert counts.positives.tolist() == y.sum(axis=0).tolist()
    assert (counts.total == len(y)).all()
    assert np.isin(thresholds, stairs.thresholds).all()


def test_other_questions_are_answered_on_staircases():
    rng = np.random.default_rng(1)
    y = (rng.random((30, 3)) < 0.5).astype(np.int8)
    s, w = rng.normal(y), rng.random(30)
    with changed(pruned_steps=0):
        others = [
            hm.tune(y, s, sample_weight=w),
            hm.tune(y, s, GAIN),
            hm.tune(y, s, hm.Metric("own f1", lambda tp, fp, fn, _: 2 * tp / (2 * tp + fp + fn))),
            hm.tune(y, s, min_recall=0.5),
            hm.tune(y, s, average="micro"),
            hm.tune(y, to_sparse(s)),
        ]
        assert hm.tune(y, s)._tuning.choice.stairs is None
    with changed(pruned_steps=0, pruned_rows=29):
        others.append(hm.tune(y, s))
    others.append(hm.tune(y, s))  # few steps
    assert all(other._tuning.choice.stairs is not None for other in others)


def test_a_staircase_is_built_when_it_is_asked_for():
    rng = np.random.default_rng(2)
    y = (rng.random((200, 6)) < 0.4).astype(np.int8)
    on_stairs, without = tuned_both_ways(y, rng.normal(y))
    some, other = on_stairs._tuning.stairs, without._tuning.stairs
    assert some.grid.equals(other.grid)
    np.testing.assert_array_equal(some.predicted, other.predicted)
    np.testing.assert_array_equal(some.true_positives, other.true_positives)


def test_warnings_and_assessments_do_not_depend_on_the_way():
    rng = np.random.default_rng(3)
    y = (rng.random((400, 40)) < np.linspace(0.005, 0.5, 40)).astype(np.int8)
    s = rng.normal(0.5 * y)
    said, assessed = [], []
    for steps in (0, 1 << 40):
        with changed(pruned_steps=steps), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            hm.tune(y, s)
            assessed.append(repr(hm.assess(y, s, n_resamples=20)))
            said.append([str(one.message) for one in caught])
    assert said[0] == said[1]
    assert said[0]
    assert assessed[0] == assessed[1]
