from itertools import pairwise
from math import inf

import naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import assert_close, batches, ranked
from numpy.testing import assert_array_equal
from scipy import sparse
from strategies import METRICS, averages, compiled, forms, layouts, probabilities, shares_of_nothing

import halfmax as hm
from halfmax._core.compiled import variant
from halfmax._core.limits import changed

pytestmark = pytest.mark.kernels

names = st.sampled_from((*METRICS, "f0.1", "f10"))
one_batch = probabilities(st.integers(1, 8))
shapes = st.sampled_from([(1, 1), (1, 5), (5, 1), (2, 3), (3, 2), (2, 4), (4, 2), (3, 3)])
matrices = probabilities(shapes)
FIELDS = (
    "thresholds",
    "expected_scores",
    "counts",
    "half_max_thresholds",
    "half_max_counts",
    "half_max_scores",
)


def dense(predictions):
    return predictions.toarray() if sparse.issparse(predictions) else np.asarray(predictions)


def check(d, p, metric="f1", average="macro", zero_division=0.0, min_k=0, max_k=None):
    """Compare everything in a decision with the naive twin."""
    p = np.asarray(p, np.float64)
    guess, groups = dense(d.predictions), batches(p.shape, average)
    assert guess.dtype == np.int8
    assert guess.shape == p.shape
    assert all(getattr(d, name).shape == (len(groups),) for name in FIELDS)
    lows = np.broadcast_to(min_k, len(groups))
    highs = np.broadcast_to(p.size if max_k is None else max_k, len(groups))
    scores = []
    for b, (places, low, high) in enumerate(zip(groups, lows, highs, strict=True)):
        values = p.ravel()[places]
        curve = naive.expected_curve(values, metric, zero_division)
        best, order = naive.best_k(curve, low, high), ranked(values)
        k = d.counts[b]
        assert k in best.allowed
        assert sorted(order[:k]) == np.flatnonzero(guess.ravel()[places]).tolist()
        assert d.thresholds[b] == (values[order[k - 1]] if k else inf)
        assert_close(d.expected_scores[b], curve[k])
        scores.append(float(curve[k]))
        plug_in = naive.plug_in_threshold(metric, scores[-1])
        assert_close(d.half_max_thresholds[b], plug_in)
        above = ((values >= d.half_max_thresholds[b]) & (values > 0)).sum()
        assert d.half_max_counts[b] == np.clip(above, low, min(high, len(values)))
        assert_close(d.half_max_scores[b], curve[d.half_max_counts[b]])
    assert_close(d.expected_score, np.mean(scores))


def assert_same(got, expected):
    for name in FIELDS:
        assert_array_equal(getattr(got, name), getattr(expected, name), err_msg=name)
    assert got.expected_score == expected.expected_score
    assert_array_equal(dense(got.predictions), dense(expected.predictions))


# One batch.


@given(one_batch, names, shares_of_nothing)
def test_the_best_of_all_counts_is_taken(p, metric, zero_division):
    d = hm.decide(p, metric, zero_division=zero_division)
    check(d, p, metric, zero_division=zero_division)
    assert d.threshold == d.thresholds[0]


@given(one_batch, names, shares_of_nothing, st.data())
def test_the_count_stays_within_its_limits(p, metric, zero_division, data):
    low = data.draw(st.integers(0, len(p)))
    high = data.draw(st.none() | st.integers(low, len(p) + 2))
    limits = {"zero_division": zero_division, "min_k": low, "max_k": high}
    check(hm.decide(p, metric, **limits), p, metric, **limits)


@given(one_batch, st.floats(0.01, 100.0))
def test_any_beta_is_accepted(p, beta):
    metric = hm.FBeta(beta)
    check(hm.decide(p, metric), p, metric.name)


def test_of_equal_probabilities_the_earliest_are_predicted():
    p = [0.5, 0.9, 0.5, 0.5, 0.9]
    assert_array_equal(hm.decide(p, max_k=3).predictions, [1, 1, 0, 0, 1])
    assert_array_equal(hm.decide(p, max_k=1).predictions, [0, 1, 0, 0, 0])
    assert_array_equal(hm.decide([0.0, 0.0, 0.0], min_k=2).predictions, [1, 1, 0])


def test_of_equally_good_counts_the_smallest_is_taken():
    assert_array_equal(hm.decide([0.5, 0.9, 0.5], "accuracy").predictions, [0, 1, 0])
    assert_array_equal(hm.decide([0.0, 0.2, 0.0], "recall").predictions, [0, 1, 0])
    assert_array_equal(hm.decide([0.4, 0.4, 0.4], "precision").counts, [1])
    assert_array_equal(hm.decide([0.0, 0.0]).predictions, [0, 0])


def test_predicting_nothing_is_best_where_zero_division_rewards_it():
    assert hm.decide([0.01, 0.02]).counts[0] > 0
    d = hm.decide([0.01, 0.02], zero_division=1.0)
    assert (d.counts[0], d.threshold) == (0, inf)
    assert_close(d.expected_score, 0.99 * 0.98)


# Matrices.


@given(matrices, names, averages, shares_of_nothing)
def test_each_batch_of_a_matrix_is_decided(p, metric, average, zero_division):
    d = hm.decide(p, metric, average, zero_division)
    check(d, p, metric, average, zero_division)


@given(matrices, names, averages, shares_of_nothing, st.data())
def test_the_count_of_each_batch_stays_within_its_limits(p, metric, average, zero_division, data):
    groups = batches(p.shape, average)
    each = st.integers(0, len(groups[0]))
    lows = data.draw(st.lists(each, min_size=len(groups), max_size=len(groups)))
    highs = [low + data.draw(st.integers(0, 3)) for low in lows]
    if data.draw(st.booleans()):
        limits = {"min_k": np.array(lows), "max_k": highs}
    else:
        limits = {"min_k": min(lows), "max_k": max(highs)}
    d = hm.decide(p, metric, average, zero_division, **limits)
    check(d, p, metric, average, zero_division, **limits)


@given(matrices, names)
def test_instance_is_another_word_for_samples(p, metric):
    assert_same(hm.decide(p, metric, "instance"), hm.decide(p, metric, "samples"))


@given(matrices, names)
def test_rows_are_the_columns_of_the_transpose(p, metric):
    rows, columns = hm.decide(p, metric, "samples"), hm.decide(p.T, metric, "macro")
    assert_array_equal(rows.counts, columns.counts)
    assert_array_equal(rows.expected_scores, columns.expected_scores)
    assert_array_equal(rows.predictions, columns.predictions.T)


@given(matrices, names)
def test_micro_is_one_batch_in_the_order_of_rows(p, metric):
    got, flat = hm.decide(p, metric, "micro"), hm.decide(p.ravel(), metric)
    assert_array_equal(got.predictions.ravel(), flat.predictions)
    assert got.threshold == flat.threshold
    assert got.expected_score == flat.expected_score


@given(matrices, names, averages)
def test_layouts_hold_the_same_numbers(p, metric, average):
    expected = hm.decide(p.astype(np.float64), metric, average)
    for layout in layouts(p):
        before = layout.tobytes()
        assert_same(hm.decide(layout, metric, average), expected)
        assert layout.tobytes() == before
    assert_same(hm.decide(p.astype(np.float64).tolist(), metric, average), expected)


@given(matrices, names, averages, st.booleans(), st.data())
def test_deciding_in_small_blocks_changes_nothing(p, metric, average, is_sparse, data):
    source = sparse.csr_array(p) if is_sparse else p
    most = data.draw(
        hnp.arrays(np.int64, len(batches(p.shape, average)), elements=st.integers(0, 4))
    )
    expected = hm.decide(source, metric, average, max_k=most)
    names = ("decide_block_cells", "decide_block_stored", "decide_fewest_columns")
    with changed(**{name: data.draw(st.sampled_from([1, 5])) for name in names}):
        assert_same(hm.decide(source, metric, average, max_k=most), expected)


def test_read_only_input_is_accepted():
    p = np.random.default_rng(0).random((20, 30))
    p.setflags(write=False)
    for average in ("macro", "micro", "samples"):
        assert hm.decide(p, average=average).predictions.any()


def test_many_batches_have_no_single_threshold():
    d = hm.decide(np.full((3, 2), 0.5), average="samples")
    with pytest.raises(AttributeError, match="thresholds"):
        _ = d.threshold


# Sparse.


def stored(p, form, keep):
    """The probabilities as a sparse matrix; `keep` marks zeros to store explicitly."""
    row, column = np.nonzero((p > 0) | keep)
    entries = sparse.coo_array((p[row, column], (row, column)), shape=p.shape)
    return entries.asformat(form)


@given(matrices, forms, names, averages, shares_of_nothing, st.data())
def test_sparse_input_is_decided_like_dense_input(p, form, metric, average, zero_division, data):
    p = p * data.draw(hnp.arrays(np.bool_, p.shape))
    source = stored(p, form, data.draw(hnp.arrays(np.bool_, p.shape)))
    before = source.data.tobytes()
    most = len(batches(p.shape, average)[0])
    low = data.draw(st.just(0) | st.integers(0, most))
    high = data.draw(st.none() | st.integers(low, most + 1))
    options = {"zero_division": zero_division, "min_k": low, "max_k": high}
    d = hm.decide(source, metric, average, **options)
    assert source.data.tobytes() == before
    assert d.predictions.format == "csr"
    assert (d.predictions.data == 1).all()
    assert_same(d, hm.decide(p, metric, average, **options))


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("metric", ["f1", "f0.3", "jaccard", "accuracy", "precision", "recall"])
def test_larger_sparse_input_is_decided_like_dense_input(average, metric):
    rng = np.random.default_rng(3)
    p = rng.random((40, 60)).round(2) * (rng.random((40, 60)) < 0.15)
    p[7], p[:, 11] = 0.0, 0.0
    for options in ({}, {"min_k": 1}, {"max_k": 5}, {"zero_division": 1.0}, {"min_k": 30}):
        expected = hm.decide(p, metric, average, **options)
        assert_same(hm.decide(sparse.csr_array(p), metric, average, **options), expected)


@pytest.mark.parametrize("stored_in_a_row", [63, 64, 700])
def test_long_sparse_rows_are_decided_like_dense_rows(stored_in_a_row):
    p = np.zeros((3, 900))
    p[1, 100 : 100 + stored_in_a_row] = np.random.default_rng(4).random(stored_in_a_row).round(2)
    p[2, :9] = 0.3
    for options in ({}, {"min_k": 850}):
        expected = hm.decide(p, average="samples", **options)
        assert_same(hm.decide(sparse.csr_array(p), average="samples", **options), expected)


@pytest.mark.parametrize("metric", ["f1", "jaccard", "accuracy", "precision", "recall"])
def test_more_cells_than_memory_holds(metric):
    values, places = np.array([0.9, 0.2, 0.6]), np.array([7, 200_000, 299_999])
    source = sparse.coo_array((values, (places, places[::-1])), shape=(300_000, 300_000))
    d, few = hm.decide(source, metric, "micro"), hm.decide(values, metric)
    chosen = few.predictions == 1
    row, column = d.predictions.nonzero()
    assert_array_equal(row, places[chosen])
    assert_array_equal(column, places[::-1][chosen])
    if metric != "accuracy":
        assert_close(d.expected_score, few.expected_score)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_no_stored_entries_means_no_predictions(average):
    d = hm.decide(sparse.csr_array((3, 4)), average=average)
    assert d.predictions.shape == (3, 4)
    assert d.predictions.nnz == 0
    assert (d.thresholds == inf).all()
    assert (d.expected_scores == 0).all()
    assert hm.decide(sparse.csr_array((3, 4)), average=average, zero_division=1.0).expected_score


def test_an_old_style_sparse_matrix_returns_one():
    d = hm.decide(sparse.csr_matrix([[0.0, 0.9], [0.4, 0.0]]), average="samples")
    assert sparse.isspmatrix_csr(d.predictions)
    assert_array_equal(d.predictions.toarray(), [[0, 1], [1, 0]])


# Longer batches, compared with the whole curve.


def row(kind, n, seed):
    rng = np.random.default_rng([n, seed])
    return {
        "uniform": lambda: rng.random(n),
        "few": lambda: rng.beta(0.1, 3.0, n),
        "rounded": lambda: rng.random(n).round(2),
        "tiny": lambda: rng.random(n) * 1e-6,
        "one": lambda: np.append(rng.random(n - 1) * 1e-3, 0.8),
        "sure": lambda: rng.beta(0.1, 0.1, n),
        "equal": lambda: np.full(n, rng.random()),
        "zeros": lambda: rng.random(n) * (rng.random(n) < 0.1),
        "falling": lambda: 1.0 / np.arange(1, n + 1),
        "two levels": lambda: rng.choice([0.02, 0.6], n),
    }[kind]()


KINDS = (
    "uniform",
    "few",
    "rounded",
    "tiny",
    "one",
    "sure",
    "equal",
    "zeros",
    "falling",
    "two levels",
)


def assert_best(k, score, curve, low=0, high=None):
    choices = curve[low:] if high is None else curve[low : high + 1]
    assert low <= k < low + len(choices)
    assert curve[k] >= choices.max() * (1 - 1e-13)
    assert_close(score, curve[k])


LENGTHS = [(30, 0.0), (64, 0.5), (100, 1.0), (257, 0.0), (400, 0.5)]
if variant() == "python":  # the longest takes half of the time; 257 items take the same path
    LENGTHS.pop()


@pytest.mark.parametrize("metric", ["f1", "f0.2", "f1.3", "f5", "jaccard", "recall", "accuracy"])
@pytest.mark.parametrize("kind", KINDS)
def test_the_best_count_of_a_longer_batch(kind, metric):
    for n, zero_division in LENGTHS:
        p = row(kind, n, 1)
        curve = hm.expected_curve(p, metric, zero_division)
        d = hm.decide(p, metric, zero_division=zero_division)
        assert_best(d.counts[0], d.expected_scores[0], curve)
        assert_close(d.half_max_scores[0], curve[d.half_max_counts[0]])


@pytest.mark.parametrize("kind", KINDS)
def test_the_best_count_by_convolution(kind):
    for metric in ("f1", "f0.5", "f3", "jaccard"):
        p = row(kind, 150, 9)
        d = hm.decide(p, metric)
        curve = np.array(naive.convolved_curve(p, metric))
        assert_best(d.counts[0], d.expected_scores[0], curve)


@pytest.mark.parametrize("average", ["macro", "samples"])
@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard"])
def test_the_best_counts_of_longer_rows_and_columns(average, metric):
    seeds = range(1 if variant() == "python" else 2)
    p = np.array([row(kind, 200, seed) for kind in KINDS for seed in seeds])
    rng = np.random.default_rng(5)
    lows = rng.integers(0, 150, len(p))
    highs = lows + rng.integers(0, 100, len(p))
    source = p if average == "samples" else np.ascontiguousarray(p.T)
    d = hm.decide(source, metric, average, min_k=lows, max_k=highs)
    guess = d.predictions if average == "samples" else d.predictions.T
    for b, values in enumerate(p):
        curve = hm.expected_curve(values, metric)
        assert_best(d.counts[b], d.expected_scores[b], curve, lows[b], highs[b])
        assert_array_equal(np.flatnonzero(guess[b]), sorted(ranked(values)[: d.counts[b]]))


@compiled
@pytest.mark.parametrize("metric", ["f1", "f0.1", "f10", "jaccard", "accuracy"])
@pytest.mark.parametrize("kind", ["uniform", "few", "rounded", "tiny", "falling", "two levels"])
def test_the_best_count_of_a_hundred_thousand(kind, metric):
    p = row(kind, 100_000, 1)
    curve = hm.expected_curve(p, metric)
    d = hm.decide(p, metric)
    assert_best(d.counts[0], d.expected_scores[0], curve)
    some = hm.decide(p, metric, min_k=123, max_k=4567)
    assert_best(some.counts[0], some.expected_scores[0], curve, 123, 4567)
    assert_array_equal(
        np.flatnonzero(d.predictions), np.sort(np.argsort(-p, kind="stable")[: d.counts[0]])
    )


@compiled
def test_a_million_even_chances_are_all_predicted():
    n = 1_000_000
    d = hm.decide(np.full(n, 0.5))
    assert d.counts[0] == n
    assert_close(d.expected_score, naive.grouped_value([(n, 0.5)], n))


# Theorem 2 and the batch observation of the paper.


def test_a_poor_item_is_predicted_when_it_is_the_best_of_its_batch():
    assert_array_equal(hm.decide([0.02, 0.1, 0.03]).predictions, [0, 1, 0])


@pytest.mark.parametrize("n", [10, 100, 1000, 10_000])
def test_a_poor_item_is_left_out_of_a_batch_of_even_chances(n):
    d = hm.decide(np.append(np.full(n, 0.5), 0.1))
    assert_array_equal(d.predictions, np.append(np.ones(n, np.int8), 0))
    assert abs(d.expected_score - 2 / 3) < 1 / n
    assert abs(d.half_max_thresholds[0] - 1 / 3) < 1 / n


@pytest.mark.parametrize("n", [30, 300, 3000])
@pytest.mark.parametrize("metric", ["f1", "f0.5", "f2", "jaccard"])
def test_the_plug_in_threshold_is_off_by_one_part_in_n(n, metric):
    d = hm.decide((np.arange(n) + 0.5) / n, metric)
    assert abs(d.threshold - d.half_max_thresholds[0]) < 2 / n
    assert d.expected_score * (1 - 1 / n**2) <= d.half_max_scores[0] <= d.expected_score


# Frames in and out.

COLUMNS = {"cat": [0.9, 0.2, 0.0], "dog": [0.3, 0.35, 0.8], "eel": [0.0, 0.0, 0.1]}


@pytest.fixture(params=["pandas", "polars", "pyarrow"])
def library(request):
    return {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}[request.param]


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_frames_return_as_the_kind_of_frame_that_came_in(library, average):
    source = library(COLUMNS)
    d = hm.decide(source, average=average)
    plain = hm.decide(np.column_stack(list(COLUMNS.values())), average=average)
    assert type(d.predictions) is type(source)
    for name, expected in zip(COLUMNS, plain.predictions.T, strict=True):
        assert_array_equal(np.asarray(d.predictions[name]), expected)
    assert_array_equal(d.thresholds, plain.thresholds)
    assert d.expected_score == plain.expected_score


def test_the_index_of_a_frame_is_kept():
    source = pd.DataFrame(COLUMNS, index=["x", "y", "z"])
    predictions = hm.decide(source, average="samples").predictions
    assert predictions.index.equals(source.index)
    assert (predictions.dtypes == np.int8).all()
    series = hm.decide(source["dog"]).predictions
    assert series.index.equals(source.index)
    assert (series.name, series.dtype) == ("dog", np.int8)


def test_a_series_is_one_batch():
    expected = hm.decide(COLUMNS["dog"])
    for series in (pd.Series, pl.Series, lambda values: pa.chunked_array([values])):
        source = series(COLUMNS["dog"])
        d = hm.decide(source)
        assert type(d.predictions) is type(source)
        assert_array_equal(np.asarray(d.predictions), expected.predictions)
        assert d.threshold == expected.threshold


def test_the_table_shows_both_rules(library):
    d = hm.decide(library(COLUMNS), average="macro")
    table = d.table()
    assert type(table) is type(library(COLUMNS))
    columns = {name: np.asarray(table[name]) for name in ("label", "predicted", "difference")}
    assert columns["label"].tolist() == list(COLUMNS)
    assert_array_equal(columns["predicted"], d.counts)
    assert_array_equal(columns["difference"], d.expected_scores - d.half_max_scores)
    assert "expected macro f1" in repr(d)


# What is refused.


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_impossible_limits_are_refused(average):
    p = np.full((3, 4), 0.5)
    most = len(batches(p.shape, average)[0])
    assert hm.decide(p, average=average, min_k=most, max_k=99).predictions.all()
    for limits in (
        {"min_k": most + 1},
        {"min_k": 2, "max_k": 1},
        {"max_k": -1},
        {"min_k": -1},
        {"min_k": [1] * 13},
        {"max_k": [1] * 13},
    ):
        with pytest.raises(ValueError, match=r"min_k|max_k"):
            hm.decide(p, average=average, **limits)


@pytest.mark.parametrize("value", [1.5, -0.25, np.nan, inf])
def test_values_that_are_no_probabilities_are_refused(value):
    p = np.full((3, 4), 0.5)
    p[1, 2] = value
    for source in (p, sparse.csr_array(p)):
        with pytest.raises(ValueError, match=r"(?s)1, 2.*tune"):
            hm.decide(source, average="samples")


def test_other_metrics_are_refused():
    gain = hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))
    with pytest.raises(ValueError, match="metric"):
        hm.decide([0.5, 0.2], gain)


# Progress.


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_progress_is_reported_to_the_end(average, is_sparse):
    p = np.random.default_rng(1).random((20, 30))
    p = sparse.csr_array(p) if is_sparse else p
    reports = []
    with changed(decide_block_cells=100, decide_block_stored=100):
        d = hm.decide(p, average=average, progress=lambda *step: reports.append(step))
        assert_same(d, hm.decide(p, average=average))
    assert reports[-1][0] == reports[-1][1]
    assert len(reports) > 1 or average == "micro"
    assert all(a[0] < b[0] and a[1] == b[1] for a, b in pairwise(reports))


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_a_decision_can_be_interrupted(average):
    def stop(_done, _total):
        raise KeyboardInterrupt

    p = np.random.default_rng(1).random((20, 30))
    with changed(decide_block_cells=100):
        with pytest.raises(KeyboardInterrupt):
            hm.decide(p, average=average, progress=stop)
        assert hm.decide(p, average=average).predictions.any()
