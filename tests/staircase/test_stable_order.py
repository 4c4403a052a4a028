"""Neither the order of the columns nor that of the rows changes an answer."""

import re
import warnings

import naive
import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from strategies import at_most, compiled, forms, many_labels, to_sparse

import halfmax as hm
from halfmax._core.gate import labelled
from halfmax._core.limits import changed
from halfmax.honesty import redraw
from halfmax.staircase import stable_order

pytestmark = pytest.mark.kernels

GUARDS = [None, "auto", "calibrated", "smooth", "never", "fbr"]
AVERAGES = ["macro", "micro", "samples"]


def make_labels(n=150, m=9, seed=0, decimals=1):
    """Labels with few and with many positives, ties, and a twin of the first with other scores."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n, m)) < np.geomspace(0.02, 0.4, m)).astype(int)
    s = np.round(rng.normal(size=y.shape) + 1.3 * y, decimals)
    y[:, -1], s[:, -1] = y[:, 0], s[:, 0] + 5.0
    return y, s


def orders(y, seed=1):
    rng = np.random.default_rng(seed)
    return rng.permutation(y.shape[0]), rng.permutation(y.shape[1])


def permuted(y, s, weights=None, rows_alone=False):
    """The data in another order, and the order of its columns."""
    rows, columns = orders(y)
    if rows_alone:
        columns = np.sort(columns)
    moved = None if weights is None else weights[rows]
    return (y[rows][:, columns], s[rows][:, columns], moved), columns


def is_local(average, guard):
    """Whether labels move one at a time, from the first column on, to a local optimum."""
    return average == "samples" and guard in (None, "never")


def same_labels(one, other, columns):
    """Compare arrays with one item per label, before and after the columns were permuted."""
    for a, b in zip(one, other, strict=True):
        if np.shape(a):
            a = np.asarray(a)[columns]
        assert_allclose(b, a, rtol=1e-9)


def same_assessment(a, b, columns):
    assert b.expected_score == pytest.approx(a.expected_score, rel=1e-9)
    assert_allclose(b.score_interval, a.score_interval, rtol=1e-9)
    assert_allclose(b.resampled_scores, a.resampled_scores, rtol=1e-9)
    for name in ("threshold_interval", "label_score_intervals"):
        same_labels(getattr(a, name), getattr(b, name), columns)
    parts = "label_expected_scores", "label_scores"
    same_labels(*([getattr(x, name) for name in parts] for x in (a, b)), columns)


# Diagnoses.


@pytest.mark.parametrize("named", [True, False])
def test_a_diagnosis_does_not_depend_on_order(named):
    y, s = make_labels()
    names = [f"label {j}" for j in range(y.shape[1])] if named else None
    (moved_y, moved_s, _), columns = permuted(y, s)
    moved = [names[j] for j in columns] if named else None
    one = hm.diagnose(y, s, labels=names, n_resamples=60)
    other = hm.diagnose(moved_y, moved_s, labels=moved, n_resamples=60)
    assert one.counts == other.counts
    before = list(names or range(y.shape[1]))
    for label in before:
        where = label if named else list(columns).index(label)
        a, b = one.labels.index(label), other.labels.index(where)
        assert one.findings[a] == other.findings[b]
        for parts in ("threshold_interval", "expected_scores", "thresholds", "scores"):
            first, second = np.atleast_2d(getattr(one, parts)), np.atleast_2d(getattr(other, parts))
            assert_allclose(second[:, b], first[:, a], rtol=1e-12)


@compiled
def test_the_diagnosis_of_real_labels_does_not_depend_on_order(real):
    name, splits = real
    if name == "mesh":
        pytest.skip("thousands of labels take long and show no more than other sets do")
    truth, scores = splits["tune"]
    names = [f"label {j:03d}" for j in range(scores.shape[1])]
    one = hm.diagnose(truth, scores, labels=names, n_resamples=100)
    rows, columns = orders(scores)
    moved = sparse.csr_array(truth)[rows][:, columns], scores[rows][:, columns]
    other = hm.diagnose(*moved, labels=[names[j] for j in columns], n_resamples=100)
    assert one.counts == other.counts
    assert dict(zip(one.labels, one.findings, strict=True)) == dict(
        zip(other.labels, other.findings, strict=True)
    )


# Assessments.


@compiled
@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("average", AVERAGES)
def test_an_assessment_does_not_depend_on_order(average, guard):
    if guard == "fbr" and average != "macro":
        return
    options = {"average": average, "guard": guard, "n_resamples": 6}
    y, s = make_labels()
    (moved_y, moved_s, _), columns = permuted(y, s, rows_alone=is_local(average, guard))
    same_assessment(hm.assess(y, s, **options), hm.assess(moved_y, moved_s, **options), columns)


@compiled
@pytest.mark.parametrize("average", AVERAGES)
def test_shared_and_weighted_assessments_do_not_depend_on_order_either(average):
    y, s = make_labels()
    weights = np.random.default_rng(3).integers(1, 21, len(y)) / 10
    for per_label in (False, True):
        options = {"average": average, "n_resamples": 6, "per_label": per_label}
        rows_alone = per_label and is_local(average, None)
        (moved_y, moved_s, moved), columns = permuted(y, s, weights, rows_alone)
        a = hm.assess(y, s, sample_weight=weights, **options)
        b = hm.assess(moved_y, moved_s, sample_weight=moved, **options)
        same_assessment(a, b, columns)


def test_rows_of_one_classifier_may_come_in_any_order():
    y, s = (x[:, -2] for x in make_labels())
    order = np.random.default_rng(0).permutation(len(y))
    for options in ({}, {"guard": "auto"}, {"guard": "smooth"}):
        a, b = (hm.assess(y[i], s[i], n_resamples=5, **options) for i in (np.arange(len(y)), order))
        assert b.expected_score == pytest.approx(a.expected_score, rel=1e-9)
        assert_allclose(b.score_interval, a.score_interval, rtol=1e-9)


def test_labels_with_equal_staircases_share_their_draws():
    y, s = make_labels()
    low, high = hm.assess(y, s, n_resamples=40).threshold_interval
    assert_allclose([low[-1], high[-1]], [low[0] + 5.0, high[0] + 5.0])
    labels, same_as = redraw.different_labels(hm.Staircase.of(y, s))
    assert same_as[-1] == same_as[0]
    assert len(labels) == len(set(same_as[y.any(axis=0)])) == y.any(axis=0).sum() - 1


# Guards, also where the prior is learned from only some of the labels.


@compiled
@pytest.mark.parametrize("prior_labels", [4096, 5])
@pytest.mark.parametrize("guard", GUARDS[1:])
def test_guarded_thresholds_do_not_depend_on_order(guard, prior_labels):
    y, s = make_labels(m=14, decimals=3)
    for average in AVERAGES if guard != "fbr" else ("macro",):
        (moved_y, moved_s, _), columns = permuted(y, s, rows_alone=is_local(average, guard))
        with changed(prior_labels=prior_labels):
            one = hm.tune(y, s, average=average, guard=guard)
            other = hm.tune(moved_y, moved_s, average=average, guard=guard)
        assert_array_equal(other.thresholds, one.thresholds[columns])


# The warning of tune.


@pytest.mark.parametrize("sample", [4096, 7])
def test_the_warning_does_not_depend_on_order(sample):
    rng = np.random.default_rng(0)
    y = (rng.random((400, 30)) < 0.02).astype(int)
    s = rng.normal(size=y.shape)
    (moved_y, moved_s, _), columns = permuted(y, s)
    names = np.array([f"label {j}" for j in range(30)])
    said = []
    for data, labels in (((y, s), names), ((moved_y, moved_s), names[columns])):
        with warnings.catch_warnings(record=True) as caught, changed(warning_labels=sample):
            warnings.simplefilter("always")
            hm.tune(*data, labels=list(labels))
        said.append(re.findall(r"(?:reach|at most about) ([\d.]+)", str(caught[0].message)))
    assert len(said[0]) == 2
    assert said[0] == said[1]


# Ranks.


@at_most(30)
@given(many_labels(most_rows=8), forms)
def test_hashes_of_scores_are_those_of_a_plain_loop(case, form):
    columns = [naive.mixed(j) for j in range(np.shape(case.s)[1])]
    grid = hm.Staircase.of(case.y, case.s).grid
    steps = np.split(grid.scores, grid.offsets[1:-1])
    by_step, by_value = zip(*naive.keys_of_scores(case.s, steps, columns), strict=True)
    weight = naive.mixed(naive.bits(1.0))
    expected = [(weight + key) % 2**64 for key in by_step], by_value
    for scores in (case.s, to_sparse(case.s, form)):
        data = labelled.read_labelled(case.y, scores)
        found = stable_order._keys_of_scores(
            data, grid, np.array(columns, np.uint64), np.arange(data.n_rows)
        )
        assert_array_equal(found, np.array(expected, np.uint64))


def by_rank(data, ranks):
    """The rows in the order of their ranks."""
    order = np.argsort(ranks)
    truth, scores = (x if isinstance(x, np.ndarray) else x.toarray() for x in data[:2])
    weights = None if data.weights is None else data.weights[order]
    return truth[order], scores[order], weights


@at_most(60)
@given(many_labels(most_rows=8))
def test_ranks_give_one_order_whatever_that_of_the_rows(case):
    data = labelled.read_labelled(case.y, case.s, case.w)
    rows, _ = orders(case.y)
    first = by_rank(data, stable_order.ranks_of_rows(data))
    moved = data.of_rows(rows)
    for part, again in zip(first, by_rank(moved, stable_order.ranks_of_rows(moved)), strict=True):
        assert (part is None and again is None) or (part == again).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ranks_follow_rows_and_ignore_columns_containers_and_scales(dtype):
    y, s = make_labels()
    s = np.where(s > -0.5, s, -np.inf).astype(dtype)
    there = np.isfinite(s)
    entries = sparse.csr_array((s[there], np.nonzero(there)), shape=s.shape)
    ranks = stable_order.ranks_of_rows(labelled.read_labelled(y, s))
    assert sorted(ranks) == list(range(len(y)))
    assert_array_equal(stable_order.ranks_of_rows(labelled.read_labelled(y, entries)), ranks)
    (moved_y, moved_s, _), _ = permuted(y, s)
    moved = stable_order.ranks_of_rows(labelled.read_labelled(moved_y, moved_s))
    assert_array_equal(moved, ranks[orders(y)[0]])
    scaled = np.where(there, np.exp(s.astype(np.float64)), -np.inf)
    again = stable_order.ranks_of_rows(labelled.read_labelled(y, scaled))
    same = (
        by_rank(labelled.read_labelled(y, s), again),
        by_rank(labelled.read_labelled(y, s), ranks),
    )
    assert_array_equal(same[0][0], same[1][0])
    for j in range(y.shape[1]):  # rows that changed their places reach the same steps
        steps = np.unique(s[y[:, j] == 1, j])
        assert_array_equal(*(np.searchsorted(steps, part[1][:, j], "right") for part in same))
