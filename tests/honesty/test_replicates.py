"""Bootstrap replicates follow the law of rows drawn again."""

import naive
import numpy as np
import pytest
from assess_cases import INF, UNWEIGHTED, binary
from hypothesis import given
from hypothesis import strategies as st
from laws import LIKELY, chance_of_equal_laws
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from strategies import many_labels, metrics

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase import bootstrap
from halfmax.staircase.staircase import NO_STEP

pytestmark = pytest.mark.kernels


def draw(y, s, runs, seed=1, metric="f1"):
    """Thresholds and scores of replicates of one classifier."""
    stairs = hm.Staircase.of(y, s)
    steps = bootstrap.Steps.of(stairs, np.array([0]))
    rng = np.random.default_rng(seed)
    step, values = bootstrap.resample(steps, Objective(find_metric(metric)), runs, rng)
    thresholds = np.where(step == NO_STEP, INF, stairs.thresholds[step])
    return thresholds[:, 0], values[:, 0]


CASES = {
    "few": ([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.4, 0.3, 0.2, 0.1]),
    "ties": ([1, 0, 1, 0, 0, 1, 1, 0], [0.9, 0.9, 0.4, 0.4, 0.4, 0.4, 0.1, 0.0]),
    "never predicted": ([1, 1, 0, 1, 0], [0.9, -INF, 0.5, 0.3, -INF]),
    "one positive": ([0, 1, 0], [0.9, 0.5, 0.1]),
    "all positive": ([1, 1, 1], [0.9, 0.5, 0.1]),
    "constant": ([1, 0, 0, 1], [0.5] * 4),
    "many steps": binary(600, 0.4, 1.0),
    "rounded": binary(800, 0.2, 1.0, decimals=1),
}


@pytest.mark.parametrize("metric", ["f1", "jaccard", "accuracy"])
@pytest.mark.parametrize("name", CASES)
def test_replicates_have_the_law_of_rows_drawn_again(name, metric):
    y, s = CASES[name]
    thresholds, scores = draw(y, s, 4000, metric=metric)
    expected_thresholds, expected_scores = naive.resampled(y, s, 4000, seed=2, metric=metric)
    for ours, theirs in ((thresholds, expected_thresholds), (scores, expected_scores)):
        finite = [np.where(np.isinf(x), 99.0, x) for x in (ours, theirs)]
        assert chance_of_equal_laws(*finite) > LIKELY


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_the_law_does_not_depend_on_the_blocks(blocks):
    y, s = CASES["many steps"]
    expected = naive.resampled(y, s, 3000, seed=3)
    with changed(bootstrap_blocks=blocks):
        drawn = draw(y, s, 3000)
    for ours, theirs in zip(drawn, expected, strict=True):
        assert stats.ks_2samp(ours, theirs).pvalue > LIKELY


class AsOften:
    """A stand-in for a random generator that draws every row exactly once."""

    def poisson(self, mean, size):
        return np.broadcast_to(mean, size).astype(np.int64)

    def binomial(self, n, p):
        return np.rint(n * p).astype(np.int64)


@given(many_labels(kinds=UNWEIGHTED, most_rows=9), metrics, st.sampled_from([1, 2, 64]))
def test_rows_drawn_once_each_choose_what_tune_chooses(case, metric, blocks):
    stairs = hm.Staircase.of(case.y, case.s)
    labels = np.flatnonzero(np.diff(stairs.grid.offsets))
    if not len(labels):
        return
    with changed(bootstrap_blocks=blocks):
        steps = bootstrap.Steps.of(stairs, labels)
        step, values = bootstrap.resample(steps, Objective(find_metric(metric)), 2, AsOften())
    tuned = hm.tune(case.y, case.s, metric)
    found = np.where(step == NO_STEP, INF, stairs.thresholds[stairs.grid.offsets[labels] + step])
    assert_array_equal(found, [tuned.thresholds[labels]] * 2)
    assert_allclose(values, [tuned.label_scores[labels]] * 2, atol=1e-12)
