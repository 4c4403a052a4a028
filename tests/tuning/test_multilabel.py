"""Many labels: every average, with one threshold for each label or one for all."""

import warnings
from math import inf, nan

import naive
import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from strategies import (
    FLOATS,
    METRICS,
    Case,
    averages,
    floors,
    forms,
    many_labels,
    metrics,
    restrictions,
    to_sparse,
    zero_divisions,
)

import halfmax as hm
from halfmax._core.gate.labelled import read_labelled
from halfmax._core.limits import changed
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio
from halfmax.tuning.exact import falling, samples, samples_kernels, shared

pytestmark = pytest.mark.kernels

GAIN = hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))
ways = st.tuples(averages, st.booleans())
small = many_labels(most_rows=5, most_labels=3)
more = settings(max_examples=3 * settings().max_examples)


def no_plain_ratio(_objective):
    """Treat a metric like a user's own, which kernels cannot compute."""
    return np.empty(0)


ratios = st.sampled_from([as_plain_ratio, no_plain_ratio])
few_edges = st.fixed_dictionaries(
    {
        "shared_edges": st.sampled_from([2, 3, 5, 256]),
        "shared_chunk": st.sampled_from([1, 3, 1 << 20]),
        "shared_picked": st.sampled_from([1, 4, 1 << 23]),
    }
)
small_windows = st.fixed_dictionaries(
    {
        "window_reach": st.sampled_from([1, 2, 3, 32]),
        "window_cells": st.sampled_from([1, 200, 1 << 20]),
        "insertion_sort": st.sampled_from([0, 2, 32]),
        "sort_block_entries": st.sampled_from([1, 5, 1 << 20]),
    }
)
exactly_weighted = many_labels(kinds=("none", "whole"))


def tune(case, metric="f1", average="macro", per_label=True, zero_division=0.0, **kwargs):
    metric = GAIN if metric == "gain" else metric
    t = hm.tune(
        case.y, case.s, metric, average, per_label, case.w, zero_division=zero_division, **kwargs
    )
    guess = t.predict(case.s)
    assert naive.same(t.score, hm.score(case.y, guess, metric, average, case.w, zero_division))
    return t


@given(many_labels(), metrics, zero_divisions)
def test_macro_takes_the_best_threshold_of_each_label(case, metric, zero_division):
    expected = naive.best_each_label(case.y, case.s, metric, case.w, zero_division)
    got = tune(case, metric, "macro", True, zero_division)
    assert naive.same(got.score, sum(best.score for best in expected) / len(expected))
    for threshold, best in zip(got.thresholds, expected, strict=True):
        assert threshold in best.allowed


@given(many_labels(kinds=("none", "whole")), metrics, zero_divisions, restrictions(), st.booleans())
def test_macro_keeps_the_restrictions_of_each_label(case, metric, zero_division, limits, is_sparse):
    expected = naive.best_each_label(case.y, case.s, metric, case.w, zero_division, **limits)
    given_ = case._replace(s=to_sparse(case.s)) if is_sparse else case
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = tune(given_, metric, "macro", True, zero_division, **limits)
    missed = []
    for j, (threshold, best) in enumerate(zip(got.thresholds, expected, strict=True)):
        assert threshold in best.allowed
        guess = naive.predict(case.s[:, j], threshold)
        counts = naive.confusion(case.y[:, j], guess, case.w)
        missed += [j] if not naive.keeps_floors(counts, zero_division, **limits) else []
    found = hm.HalfmaxWarning if missed or not np.any(case.y) else hm.OptimismWarning
    assert [w.category for w in caught] == [found]
    assert all(got.thresholds[missed] == inf)


@more
@given(many_labels(), metrics, averages, zero_divisions, few_edges, ratios)
def test_one_threshold_for_all_labels_is_the_best_of_all(
    case, metric, average, zero_division, limits, ratio
):
    expected = naive.best_shared(case.y, case.s, metric, average, case.w, zero_division)
    with pytest.MonkeyPatch.context() as patch, changed(**limits):
        patch.setattr(shared, "as_plain_ratio", ratio)
        got = tune(case, metric, average, False, zero_division)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed
    assert set(got.thresholds) == {got.threshold}


@given(
    st.tuples(*[st.one_of(st.integers(0, 10), st.floats(0, 1e6))] * 4),
    st.sampled_from([*METRICS, "f1.37"]),
    st.sampled_from([0.0, 0.5, nan]),
)
def test_kernels_compute_ratios_bit_for_bit_as_objectives(counts, name, zero_division):
    tp, fp, fn, tn = map(float, counts)
    objective = Objective(find_metric(name), zero_division)
    held = tp, tp + fp, tp + fn, tp + fp + fn + tn
    ratio, after = as_plain_ratio(objective), np.empty(1)
    group, positive, weights = np.zeros(1, np.int32), np.zeros(1, np.uint8), np.zeros(1)
    samples_kernels.advance_ratio(group, positive, weights, *np.array(held)[:, None], ratio, after)
    np.testing.assert_array_equal(after[0], objective(*held))


@pytest.mark.parametrize("average", ["macro", "samples"])
@pytest.mark.parametrize("edges", [2, 5])
@pytest.mark.parametrize("seed", range(4))
def test_the_best_shared_threshold_lies_between_edges(average, edges, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((25, 3)) < 0.3).astype(np.int8)
    case = Case(y, np.round(rng.normal(1.5 * y, 1.0), 2), None)
    expected = naive.best_shared(case.y, case.s, "f1", average)
    with changed(shared_edges=edges):
        assert tune(case, "f1", average, False).threshold == expected.threshold


@given(many_labels(kinds=("none", "whole")), metrics, zero_divisions, floors, floors)
def test_one_threshold_keeps_pooled_floors(case, metric, zero_division, low, high):
    limits = {"min_precision": low, "min_recall": high}
    expected = naive.best_shared(case.y, case.s, metric, "micro", case.w, zero_division, **limits)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HalfmaxWarning)
        got = tune(case, metric, "micro", False, zero_division, **limits)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed


@more
@given(small, metrics | st.just("gain"), zero_divisions)
def test_micro_finds_the_best_combination_of_thresholds(case, metric, zero_division):
    expected = naive.best_micro_per_label(case.y, case.s, metric, case.w, zero_division)
    got = tune(case, metric, "micro", True, zero_division)
    assert naive.same(got.score, expected.score)
    assert tuple(got.thresholds) in expected.allowed


@more
@given(small, metrics, floors, floors, zero_divisions)
def test_micro_keeps_pooled_floors(case, metric, low, high, zero_division):
    limits = {"min_precision": low, "min_recall": high}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = tune(case, metric, "micro", True, zero_division, **limits)
    guess = naive.predict(case.s, got.thresholds)
    counts = naive.pooled(
        naive.confusion(case.y[:, j], naive.column(guess, j), case.w)
        for j in range(case.y.shape[1])
    )
    near = [None if floor is None else floor - 1e-12 for floor in (low, high)]
    kept = naive.keeps_floors(counts, zero_division, *near)
    missed = any("satisf" in str(w.message) for w in caught)
    assert kept or (caught and all(got.thresholds == inf))
    if missed and None in (low, high):
        possible = naive.best_micro_per_label(
            case.y, case.s, metric, case.w, zero_division, low, high
        )
        assert possible.threshold == (inf,) * case.y.shape[1] or case.w is not None
    best = naive.best_micro_per_label(case.y, case.s, metric, case.w, zero_division, *near)
    assert got.score <= best.score + 1e-12


@more
@given(many_labels(most_rows=20, most_labels=2), metrics, floors, floors, zero_divisions)
def test_micro_under_floors_is_never_below_the_best_shared_threshold(
    case, metric, low, high, zero_division
):
    beyond = [
        None if floor is None else floor + 1e-12 * (case.w is not None) for floor in (low, high)
    ]
    together = naive.best_shared(case.y, case.s, metric, "micro", case.w, zero_division, *beyond)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HalfmaxWarning)
        limits = {"min_precision": low, "min_recall": high}
        got = tune(case, metric, "micro", True, zero_division, **limits)
    if together.threshold < inf:
        assert got.score >= together.score - 1e-12


@more
@given(small, metrics, floors, floors)
def test_micro_under_floors_no_label_can_improve_alone(case, metric, low, high):
    limits = {"min_precision": low, "min_recall": high}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HalfmaxWarning)
        got = tune(case, metric, "micro", True, 0.0, **limits)
    beyond = [None if floor is None else floor + 1e-12 for floor in (low, high)]
    for j in range(case.y.shape[1]):
        for threshold in [*case.s[:, j], inf]:
            moved = got.thresholds.copy()
            moved[j] = threshold if threshold > -inf else inf
            guess = naive.predict(case.s, moved)
            columns = (
                naive.confusion(case.y[:, k], naive.column(guess, k), case.w)
                for k in range(case.y.shape[1])
            )
            counts = naive.pooled(columns)
            if naive.keeps_floors(counts, 0.0, *beyond):
                assert naive.metric_value(metric, *counts, 0.0) <= got.score + 1e-9


def test_micro_under_a_floor_may_stop_inside_a_label():
    # Between its corners at 3 and 30 predictions the label has a step at 15 that keeps the floor.
    y = np.isin(np.arange(30), [0, 1, 2, 10, 11, 12, 13, 14, *range(23, 30)])
    case = Case(y[:, None], np.arange(30, 0, -1.0)[:, None], None)
    alone = hm.tune(y, case.s[:, 0], min_precision=0.52)
    got = tune(case, "f1", "micro", min_precision=0.52)
    assert (got.thresholds[0], got.score) == (alone.threshold, alone.score) == (16.0, 16 / 30)


@pytest.mark.parametrize("floor", ["min_precision", "min_recall"])
def test_micro_under_a_floor_ignores_positives_that_weigh_nothing(floor):
    y, s = np.array([[1, 1], [0, 0], [1, 1]]), np.array([[0.9, 0.9], [0.5, 0.1], [0.4, -inf]])
    got = tune(Case(y, s, np.array([0, 1, 1])), "f1", "micro", **{floor: 0.5})
    assert got.thresholds.tolist() == [0.4, inf]


def test_micro_keeps_two_floors_that_no_path_keeps():
    y, s = [[1, 1], [0, 0], [1, 0], [0, 1]], [[0.3, 0.1], [0.1, 0.4], [0.2, 0.4], [0.2, 0.4]]
    got = hm.tune(y, s, average="micro", min_precision=0.6, min_recall=0.6)
    assert got.thresholds.tolist() == [0.3, 0.1]


weights_of_counts = st.tuples(*[st.integers(-2, 2)] * 4)


@settings(more, suppress_health_check=[HealthCheck.filter_too_much])
@given(
    many_labels(most_rows=5, most_labels=2, kinds=("none", "whole")),
    weights_of_counts,
    weights_of_counts,
    st.sampled_from([0.0, 0.5, 1.0]),
)
def test_micro_finds_the_best_of_any_monotone_ratio(case, numerator, denominator, zero_division):
    ratio = hm.LinearFractional("ratio", numerator, denominator)
    try:
        got = tune(case, ratio, "micro", True, zero_division)
    except ValueError as refused:
        assume("'ratio'" not in str(refused))  # it is not monotone
        raise
    best = naive.best_micro_per_label(case.y, case.s, ratio, case.w, zero_division)
    assert naive.same(got.score, best.score)


NEGATED_JACCARD = hm.LinearFractional("j", (-1, 0, 0, 0), (-1, -1, -1, 0))


def test_a_ratio_of_negative_sums_is_the_ratio_of_positive_ones():
    y = [[1], [0], [0], [0], [0], [1]]
    s = [[0.9], [0.7], [0.6], [0.5], [0.4], [0.1]]
    for per_label in (True, False):
        got = hm.tune(y, s, NEGATED_JACCARD, "micro", per_label)
        assert (got.thresholds.tolist(), got.score) == ([0.9], 0.5)
    draws = {"average": "micro", "n_resamples": 40}
    expected = hm.assess(y, s, "jaccard", **draws)
    found = hm.assess(y, s, NEGATED_JACCARD, **draws)
    assert found.expected_score == expected.expected_score
    assert found.threshold_interval[0].tolist() == expected.threshold_interval[0].tolist()


def test_a_choice_that_is_0_over_0_may_be_the_best_of_a_micro_average():
    # Predicting all rows is 0/0, which counts as 0; all other predictions score lower.
    missed = hm.LinearFractional("missed", (0, 0, -1, -1), (0, 0, 1, 2))
    y, s = [[1, 1], [1, 1]], [[0.9, 0.8], [0.7, 0.6]]
    got = hm.tune(y, s, missed, "micro")
    assert got.score == 0.0
    assert got.predicted.tolist() == [2, 2]


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_ratio_with_a_pole_is_refused(average):
    pole = hm.LinearFractional("pole", (1, 0, 0, 0), (1, 0, 0, -1))
    with pytest.raises(ValueError, match=r"'pole' must have a denominator of one sign; .* a pole"):
        hm.tune([[1], [0], [0], [0]], [[0.9], [0.5], [0.4], [0.3]], pole, average)


def test_micro_serves_ratios_that_are_undefined_if_all_rows_are_predicted():
    npv = hm.LinearFractional("npv", (0, 0, 0, 1), (0, 0, 1, 1))
    y, s = [[1, 1], [1, 1], [0, 1], [1, 0]], [[0.25, 0.75], [0.5, 0], [0.75, 0.5], [0.75, 0]]
    assert hm.tune(y, s, npv, "micro").score == 0.5


def test_labels_that_are_left_out_cannot_be_tuned_apart():
    with pytest.raises(ValueError, match="zero_division=nan leaves labels out"):
        hm.tune([[1], [0]], [[0.5], [0.6]], "precision", zero_division=float("nan"))
    y, s = [[1, 0], [0, 0]], [[0.5, 0.1], [0.6, 0.2]]
    got = hm.tune(y, s, zero_division=float("nan"))
    assert (got.thresholds.tolist(), got.score) == ([0.5, inf], pytest.approx(2 / 3))


def test_a_floor_is_kept_at_its_boundary_whatever_the_weights():
    y, s = np.repeat([1, 0], [7, 3]), np.full(10, 0.4)
    for weights in (None, np.full(10, 1 / 3)):
        assert hm.tune(y, s, sample_weight=weights, min_precision=0.7).threshold == 0.4


def test_micro_precision_takes_the_highest_of_equal_thresholds():
    y, s = np.ones((2, 1), int), np.array([[0.9], [0.8]])
    assert tune(Case(y, s, None), "precision", "micro").thresholds.tolist() == [0.9]


@given(many_labels(most_rows=6, most_labels=3), metrics, zero_divisions)
def test_samples_per_label_is_a_local_optimum_above_the_shared_one(case, metric, zero_division):
    got = tune(case, metric, "samples", True, zero_division)
    together = naive.best_shared(case.y, case.s, metric, "samples", case.w, zero_division)
    assert got.score >= together.score - 1e-12
    for j in range(case.y.shape[1]):
        for threshold in naive.thresholds_of(case.s[:, j]):
            moved = got.thresholds.copy()
            moved[j] = threshold
            guess = naive.predict(case.s, moved)
            reached = naive.score(case.y, guess, metric, "samples", case.w, zero_division)
            assert reached <= got.score + 1e-9


@more
@given(many_labels(most_rows=6), metrics, zero_divisions, small_windows, ratios, st.booleans())
def test_samples_per_label_makes_the_same_moves_as_its_slow_twin(
    case, metric, zero_division, limits, ratio, is_sparse
):
    given_ = case._replace(s=to_sparse(case.s)) if is_sparse else case
    start = tune(given_, metric, "samples", False, zero_division).threshold
    expected = naive.ascend_samples(case.y, case.s, metric, case.w, zero_division, start)
    with pytest.MonkeyPatch.context() as patch, changed(**limits):
        patch.setattr(samples, "as_plain_ratio", ratio)
        got = tune(given_, metric, "samples", True, zero_division)
    assert got.thresholds.tolist() == expected


def test_gains_of_rows_inside_their_windows_are_updated_if_another_row_has_left():
    windows = np.zeros((2, 3, 3))
    windows[0, 2, 1] = 0.5  # what the first row gains by a positive; the second row has moved
    gains, most = np.zeros((2, 4)), np.zeros(1)
    tp, fp, middle = np.array([0, 1]), np.array([0, 0]), np.zeros((2, 2), int)
    rows = 4 * np.arange(2)
    positives, importance, no_ratio = np.ones(2, int), np.ones(2), np.empty(0)

    def look_around(codes):
        return samples_kernels.look_around(
            codes, tp, fp, positives, 2, importance, no_ratio, middle, windows, gains, most
        )

    assert not look_around(rows)
    assert (gains[0, 1], most[0]) == (0.5, 0.5)
    assert look_around(rows[:1])


def test_samples_per_label_of_one_long_row_predicts_its_positives():
    rng = np.random.default_rng(5)
    y = (rng.random((1, 3000)) < 0.2).astype(np.int8)
    s = rng.normal(1.5 * y, 1.0)
    got = tune(Case(y, s, None), "f1", "samples")
    assert got.score == 1.0
    assert got.thresholds.tolist() == np.where(y == 1, s, inf)[0].tolist()


def test_samples_per_label_computes_the_metric_for_many_labels_at_once():
    calls = []

    def jaccard(tp, fp, fn, tn):
        calls.append(len(tp))
        return tp / (tp + fp + fn + 0 * tn)

    rng = np.random.default_rng(5)
    y = (rng.random((1, 20_000)) < 0.2).astype(np.int8)
    hm.tune(y, rng.normal(1.5 * y, 1.0), hm.Metric("mine", jaccard), "samples")
    assert len(calls) < 1000


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "rounded", "narrow", "both zeros"])
def test_scores_of_labels_are_sorted(dtype, kind):
    rng = np.random.default_rng(6)
    y = (rng.random((700, 5)) < [0.5, 0.1, 0.01, 0.001, 0.9]).astype(np.int8)
    s = {
        "normal": lambda: rng.normal(y),
        "rounded": lambda: np.round(rng.normal(y), 1),
        "narrow": lambda: 1.0 + 1e-6 * rng.normal(y),
        "both zeros": lambda: rng.choice([-0.0, 0.0, -1e-310, 1e-310], y.shape),
    }[kind]().astype(dtype)
    start = float(np.quantile(s, 0.9))
    with changed(sort_block_entries=1000):
        got = falling.fall(read_labelled(y, s), start)
    for j in range(5):
        kept = np.flatnonzero(s[:, j] >= s[y[:, j] == 1, j].min(initial=start))
        rows = kept[np.argsort(-s[kept, j], kind="stable")]
        ends = np.append(np.diff(s[rows, j]) != 0, True)[: len(rows)]
        codes = got.codes[got.edges[j] : got.edges[j + 1]]
        assert codes.tolist() == (4 * rows + 2 * ends + y[rows, j]).tolist()
        assert got.positives[j] == y[rows, j].sum()
        assert got.n_predicted[j] == (s[:, j] >= start).sum()


@pytest.mark.parametrize("metric", ["f1", "jaccard", "accuracy"])
@pytest.mark.parametrize("seed", range(4))
def test_samples_per_label_moves_until_no_label_can(metric, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random((40, 6)) < [0.1, 0.2, 0.3, 0.5, 0.5, 0.9]).astype(np.int8)
    case = Case(y, np.round(rng.normal(0.7 * y + np.arange(6), 1.0), 1), None)
    got = tune(case, metric, "samples")
    for j in range(6):
        for threshold in naive.thresholds_of(case.s[:, j]):
            moved = got.thresholds.copy()
            moved[j] = threshold
            assert hm.score(y, case.s >= moved, metric, "samples") <= got.score + 1e-9


@given(many_labels(), metrics, ways)
def test_the_table_shows_the_counts_of_each_threshold(case, metric, way):
    got = tune(case, metric, *way)
    table = got.table()
    guess = naive.predict(case.s, got.thresholds)
    assert list(table["threshold"]) == list(got.thresholds)
    for j in range(case.y.shape[1]):
        tp, fp, fn, tn = naive.confusion(case.y[:, j], naive.column(guess, j), case.w)
        assert naive.same(table["score"][j], naive.metric_value(metric, tp, fp, fn, tn))
        assert naive.same(table["precision"][j], naive.metric_value("precision", tp, fp, fn, tn))
        assert naive.same(table["recall"][j], naive.metric_value("recall", tp, fp, fn, tn))
        assert table["support"][j] == pytest.approx(float(tp + fn), rel=1e-12)
        assert table["predicted"][j] == pytest.approx(float(tp + fp), rel=1e-12)


@given(many_labels(), ways)
def test_predictions_are_scores_at_or_above_their_threshold(case, way):
    got = tune(case, "f1", *way)
    guess = got.predict(case.s)
    assert guess.dtype == np.int8
    assert guess.tolist() == naive.predict(case.s, got.thresholds)


@given(many_labels(dtypes=FLOATS), metrics, ways, forms, st.data())
def test_sparse_scores_give_what_dense_ones_give(case, metric, way, form, data):
    keep = data.draw(hnp.arrays(np.bool_, case.s.shape) | st.none())
    y = data.draw(st.sampled_from([case.y, sparse.csr_array(case.y), sparse.csc_array(case.y)]))
    s = to_sparse(case.s, form, keep)
    dense, got = tune(case, metric, *way), tune(Case(y, s, case.w), metric, *way)
    assert got.thresholds.tolist() == dense.thresholds.tolist()
    assert naive.same(got.score, dense.score)
    assert sparse.issparse(got.predict(s))
    assert got.predict(s).toarray().tolist() == dense.predict(case.s).tolist()


@given(many_labels(dtypes=FLOATS), ways)
def test_sparse_truth_is_truth(case, way):
    expected = tune(case, "f1", *way)
    got = tune(case._replace(y=sparse.coo_array(case.y)), "f1", *way)
    assert got.thresholds.tolist() == expected.thresholds.tolist()


@given(exactly_weighted, metrics, ways, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, metric, way, random):
    order = random.sample(range(case.rows), case.rows)
    shuffled = Case(case.y[order], case.s[order], None if case.w is None else case.w[order])
    one, other = tune(case, metric, *way), tune(shuffled, metric, *way)
    assert one.thresholds.tolist() == other.thresholds.tolist()
    assert naive.same(one.score, other.score)


@given(many_labels(kinds=("whole",)), metrics, ways)
def test_a_whole_weight_counts_as_that_many_rows_of_labels(case, metric, way):
    copies = np.repeat(np.arange(case.rows), np.asarray(case.w, int))
    got = tune(case, metric, *way)
    expected = tune(Case(case.y[copies], case.s[copies], None), metric, *way)
    assert got.thresholds.tolist() == expected.thresholds.tolist()
    assert naive.same(got.score, expected.score)


@given(exactly_weighted, metrics, ways, st.data())
def test_an_increasing_change_of_scores_moves_thresholds_along(case, metric, way, data):
    old = naive.thresholds_of(case.s)[:0:-1]
    any_finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    new = sorted(data.draw(st.sets(any_finite, min_size=len(old), max_size=len(old))))
    moved = dict(zip([-inf, *old, inf], [-inf, *new, inf], strict=True))
    s = np.array([[moved[value] for value in row] for row in naive.numbers(case.s)])
    got = tune(Case(case.y, s, case.w), metric, *way)
    assert got.thresholds.tolist() == [moved[t] for t in tune(case, metric, *way).thresholds]


def bytes_of(values):
    if sparse.issparse(values):
        values = values.tocsr(copy=False)
        return values.data.tobytes(), values.indices.tobytes(), values.indptr.tobytes()
    return None if values is None else values.tobytes()


@given(many_labels(dtypes=FLOATS), ways, st.booleans())
def test_inputs_of_many_labels_are_unchanged(case, way, is_sparse):
    if is_sparse:
        case = case._replace(y=sparse.csr_array(case.y), s=to_sparse(case.s))
    before = [bytes_of(part) for part in case]
    tune(case, "f1", *way)
    assert before == [bytes_of(part) for part in case]


def test_unsorted_sparse_scores_are_read_and_left_unsorted():
    s = sparse.csr_array(([0.2, 0.9, 0.5], [2, 0, 1], [0, 2, 3]), shape=(2, 3))
    y = [[1, 0, 0], [0, 1, 0]]
    got = tune(Case(y, s, None))
    assert s.indices.tolist() == [2, 0, 1]
    assert got.thresholds.tolist() == [0.9, 0.5, inf]


@given(many_labels(most_labels=1), metrics, st.sampled_from(["macro", "micro"]), st.booleans())
def test_one_column_is_one_classifier(case, metric, average, per_label):
    alone = hm.tune(case.y[:, 0], case.s[:, 0], metric, sample_weight=case.w)
    got = tune(case, metric, average, per_label)
    expected = naive.best_threshold(case.y[:, 0], case.s[:, 0], metric, case.w)
    assert naive.same(got.score, alone.score)
    assert {alone.threshold, *got.thresholds} <= set(expected.allowed)


@pytest.mark.parametrize("per_label", [True, False])
def test_user_metrics_work_with_macro_and_samples(per_label):
    mine = hm.Metric("mine", lambda tp, fp, fn, tn: 4 * tp - fp + 0 * (fn + tn))
    y, s = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[0.9, 0.8], [0.7, 0.6], [0.5, 0.4]])
    for average in ("macro", "samples"):
        assert tune(Case(y, s, None), mine, average, per_label).score > 0


def test_micro_per_label_refuses_metrics_that_are_not_ratios():
    mine = hm.Metric("mine", lambda tp, fp, fn, tn: 4 * tp - fp + 0 * (fn + tn))
    with pytest.raises(ValueError, match="ratio of"):
        hm.tune([[1], [0]], [[0.9], [0.1]], mine, "micro")
    assert hm.tune([[1], [0]], [[0.9], [0.1]], mine, "micro", per_label=False).threshold == 0.9


@pytest.mark.parametrize(("average", "per_label"), [("macro", False), ("samples", True)])
def test_floors_are_refused_where_they_have_no_meaning(average, per_label):
    with pytest.raises(ValueError, match="no meaning"):
        hm.tune([[1], [0]], [[0.9], [0.1]], "f1", average, per_label, min_recall=0.5)
