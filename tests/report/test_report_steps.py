"""The numbers of a report's explorer: thresholds to try, and the counts at each of them."""

import naive
import numpy as np
import pytest
from guard_cases import read
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from strategies import AWKWARD, at_most, many_labels, metrics, one_classifier, to_sparse

from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.report.parts.pooled import pool
from halfmax.report.parts.steps import NO_STEP, count_steps, thin
from halfmax.staircase.grid import Grid, equivalent
from halfmax.staircase.staircase import Staircase

pytestmark = pytest.mark.kernels

AVERAGES = ["macro", "micro", "samples", "weighted"]
limits = st.sampled_from([np.inf, -1.0, 0.0, *AWKWARD]) | st.floats(-2, 2)


@st.composite
def grids(draw):
    sizes = draw(st.lists(st.integers(0, 12), min_size=1, max_size=6))
    steps = [np.sort(draw(st.permutations(range(20)))[:size])[::-1] for size in sizes]
    return Grid(np.append(0, np.cumsum(sizes)), np.concatenate(steps).astype(float))


def steps_of(grid, j):
    return grid.scores[grid.offsets[j] : grid.offsets[j + 1]].tolist()


@given(grids(), st.integers(1, 60))
def test_a_thinned_grid_keeps_its_ends_and_no_more_than_there_is_room_for(grid, most):
    found = thin(grid, most)
    sizes, kept = np.diff(grid.offsets), np.diff(found.offsets)
    assert kept.sum() <= max(most, (sizes > 0).sum())
    cap = kept.max()
    assert np.array_equal(kept, np.minimum(sizes, cap))  # no label has more than its share
    assert np.array_equal(kept, sizes) or np.minimum(sizes, cap + 1).sum() > most
    for j in range(grid.n_labels):
        before, after = steps_of(grid, j), steps_of(found, j)
        assert after == sorted(set(after) & set(before), reverse=True)
        assert after[:1] == before[:1]
        assert len(after) < 2 or after[-1] == before[-1]


@given(hnp.arrays(np.float64, 6, elements=limits), st.sampled_from([np.float32, np.float64]))
def test_an_equivalent_threshold_is_the_lowest_that_is_not_below(thresholds, dtype):
    found = equivalent(thresholds, dtype)
    assert found.dtype == dtype
    for threshold, rounded in zip(thresholds, found, strict=True):
        assert rounded >= threshold
        assert rounded == np.inf or np.nextafter(rounded, dtype(-np.inf)) < threshold
    assert not np.signbit(found[found == 0]).any()


@given(one_classifier(dtypes=[np.float32]), limits)
def test_an_equivalent_threshold_predicts_the_same_rows(case, threshold):
    rounded = equivalent(np.array([threshold]), np.float32)[0]
    assert naive.predict(case.s, float(rounded)) == naive.predict(case.s, threshold)


@st.composite
def labels_to_count(draw):
    """Many labels, dense or sparse, and thresholds of each that shall be among the steps."""
    case = draw(many_labels(dtypes=[np.float32, np.float64], kinds=("none", "whole")))
    marked = draw(hnp.arrays(np.float64, case.s.shape[1], elements=limits))
    sparse = draw(st.booleans())
    data = read(case.y, to_sparse(case.s) if sparse else np.ascontiguousarray(case.s), case.w)
    return case, data, marked


@given(labels_to_count())
def test_every_step_counts_what_its_threshold_predicts(drawn):
    case, data, marked = drawn
    steps = count_steps(data, Staircase.of_checked(data), {"marked": marked})
    stairs, truth, scores = steps.stairs, naive.whole(case.y), naive.numbers(case.s)
    for j, threshold in enumerate(marked):
        y, s = naive.column(truth, j), naive.column(scores, j)
        start, end = stairs.grid.offsets[j : j + 2]
        tried = stairs.thresholds[start:end].tolist()
        assert {limit for limit, _, _ in naive.staircase(y, s)} <= set(tried)
        for step in range(start, end):
            tp, fp, _, _ = naive.confusion(y, naive.predict(s, stairs.thresholds[step]), case.w)
            assert stairs.true_positives[step] == tp
            assert stairs.predicted[step] == tp + fp
        place = steps.marks["marked"][j]
        limit = np.inf if place == NO_STEP else tried[place]
        assert (place == NO_STEP) == (threshold == np.inf)
        assert naive.predict(s, limit) == naive.predict(s, threshold)


@at_most(30)
@given(labels_to_count(), metrics, st.sampled_from([0.0, 1.0, np.nan]))
def test_one_threshold_for_all_gives_every_average_at_every_step(drawn, metric, zero_division):
    case, data, marked = drawn
    objective = Objective(find_metric(metric), zero_division)
    found = pool(data, objective, marked.tolist(), AVERAGES)
    assert found.thresholds[0] == np.inf
    assert (np.diff(found.thresholds) < 0).all()
    truth = naive.whole(case.y)
    for k, threshold in enumerate(found.thresholds):
        guess = naive.predict(case.s, threshold)
        columns = zip(zip(*truth, strict=True), zip(*guess, strict=True), strict=True)
        tp, fp, fn, tn = naive.pooled([naive.confusion(*pair, case.w) for pair in columns])
        counted = found.true_positives[k], found.predicted[k], found.positives, found.total
        assert counted == (tp, tp + fp, tp + fn, tp + fp + fn + tn)
        for average in AVERAGES:
            value = naive.score(truth, guess, metric, average, case.w, zero_division)
            assert naive.same(found.scores[average][k], value), average
    for limit in marked[np.isfinite(marked)]:
        same = [naive.predict(case.s, step) for step in found.thresholds]
        assert naive.predict(case.s, limit) in same
