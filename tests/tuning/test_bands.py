"""Bands: edges between positives, and the counts of every label between them."""

from itertools import pairwise

import naive
import naive_guards
import numpy as np
import pytest
from guard_cases import count, draw, read, uneven_weights
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from strategies import many_labels, one_classifier, to_sparse

from halfmax._core.limits import changed, limits
from halfmax.tuning.guard import bands

pytestmark = pytest.mark.kernels

INF = np.inf


@given(many_labels() | one_classifier(), st.booleans(), st.booleans())
def test_bands_count_rows_and_positives(case, is_sparse, own):
    s = to_sparse(case.s) if is_sparse and case.s.ndim == 2 else case.s
    data = read(case.y, s, case.w)
    edges = bands.own_edges(data) if own else bands.common_edges(data)
    found = bands.count_bands(data, edges)
    rows, positives = naive_guards.band_counts(case.y, case.s, found.edges, case.w)
    assert_allclose(found.rows, rows, atol=1e-9)
    assert_allclose(found.positives, positives, atol=1e-9)
    assert found.total == pytest.approx(naive_guards.rows_worth(case.rows, case.w))
    assert_allclose(found.support, positives.sum(axis=1), atol=1e-9)


def lie_between(edges, scores):
    """Whether edges fall, separate all neighbours, and end at the lowest score."""
    if edges != sorted(set(edges), reverse=True) or edges[-1] != scores[-1]:
        return False
    return all(any(below <= edge <= above for edge in edges) for above, below in pairwise(scores))


@given(many_labels())
def test_edges_fall_and_lie_between_positives(case):
    scores = naive_guards.positive_scores(case.y, case.s)
    edges = bands.common_edges(read(case.y, case.s)).astype(float).tolist()
    assert edges == [edges[0]] * case.s.shape[1]
    assert lie_between(edges[0], scores) if scores else edges[0] == []


@given(many_labels())
def test_own_edges_fall_lie_between_own_positives_and_repeat_the_last(case):
    edges = bands.own_edges(read(case.y, case.s)).astype(float).tolist()
    s, y = naive_guards.rows_of(case.s, case.y)
    for j, own in enumerate(edges):
        scores = naive_guards.positive_scores(naive.column(y, j), naive.column(s, j))
        different = list(dict.fromkeys(own))
        assert lie_between(different, scores) if scores else different == [INF]
        assert own == different + different[-1:] * (len(own) - len(different))


def test_edges_are_half_way_between_positives_and_at_the_lowest():
    data = read([[1, 1], [1, 0], [1, 1]], [[0.8, 0.4], [0.6, 0.9], [0.4, -INF]])
    assert_allclose(bands.common_edges(data), [[0.7, 0.5, 0.4]] * 2)
    assert_allclose(bands.own_edges(data), [[0.7, 0.5, 0.4], [0.4, 0.4, 0.4]])


@pytest.mark.parametrize("edges_of", [bands.common_edges, bands.own_edges])
def test_scores_near_the_largest_float_have_edges(edges_of):
    largest = np.finfo(float).max
    edges = edges_of(read([1, 1], [largest, largest / 2]))
    assert_array_equal(edges, [[largest * 0.75, largest / 2]])


def test_there_are_not_too_many_bands():
    y, s = draw(0, n=600, base=0.3)
    data = read(y, s)
    assert bands.common_edges(data).shape[1] <= limits.most_bands + 1
    assert bands.own_edges(data).shape[1] <= limits.most_bands + 1
    for usual, most, expected in ((30, 30, 30), (100, 30, 100), (30, 100, 64), (1, 1, 16)):
        with changed(usual_band_cells=20 * usual, most_band_cells=20 * most):
            assert bands.common_edges(data).shape == (20, expected + 1)


def test_own_edges_are_thinned_out():
    y, s = draw(0, n=600, base=0.3)
    with changed(most_bands=5):
        edges = bands.own_edges(read(y, s))
    assert edges.shape == (20, 6)
    for j in range(20):
        scores = np.sort(s[y[:, j] > 0, j])[::-1]
        assert edges[j, 0] == pytest.approx(scores[:2].mean())
        assert edges[j, -1] == scores[-1]


def test_bands_of_parts_of_the_rows_add_up():
    y, s = draw(1)
    whole = count(y, s)
    first = bands.count_bands(read(y[:150], s[:150]), whole.edges)
    rest = bands.count_bands(read(y[150:], s[150:]), whole.edges)
    for ours, expected in zip(whole.without(first), rest, strict=True):
        assert_array_equal(ours, expected)


@pytest.mark.parametrize("kind", uneven_weights(1))
def test_bands_of_parts_of_weighted_rows_add_up_and_are_never_negative(kind):
    y, s = draw(1, n=150)
    weights = uneven_weights(150)[kind]
    data = read(y, s, weights)
    scale = data.rows_per_weight
    whole = bands.count_bands(data, bands.common_edges(data))
    assert whole.total == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    for k in range(5):
        held = np.arange(150) % 5 == k
        parts = [
            bands.count_bands(read(y[some], s[some], weights[some]), whole.edges, scale)
            for some in (held, ~held)
            if weights[some].any()
        ]
        if len(parts) < 2:  # weights that are all zero are refused
            continue
        left = whole.without(parts[0])
        for ours, expected in zip(left, parts[1], strict=True):
            assert_allclose(ours, expected, atol=1e-9)
        assert (left.rows >= 0.0).all()
        assert (left.positives >= 0.0).all()


def test_thresholds_predict_the_bands_that_they_reach():
    y, s = draw(2)
    data = read(y, s)
    for edges in (bands.common_edges(data), bands.own_edges(data)):
        counted = bands.count_bands(data, edges)
        n_edges = edges.shape[1]
        reached = np.arange(20) * 7 % (n_edges + 1)
        predicted = (s >= counted.thresholds(reached)).sum(axis=0)
        inside = np.arange(n_edges + 1) < reached[:, None]
        assert_array_equal(predicted, (counted.rows * inside).sum(axis=1))
        assert counted.thresholds(np.zeros(20, int)).tolist() == [INF] * 20


def test_labels_on_a_scale_of_their_own_are_found():
    y, s = draw(3, n=600, base=0.2)
    assert not len(bands.on_their_own_scale(read(y, s), count(y, s)))
    s[:, 4] = 1e-6 * s[:, 4] - 3.0
    s[:, 11] += 50.0
    assert 11 not in bands.on_their_own_scale(read(y, s), count(y, s))  # it has enough bands
    y[:, [4, 11]] = 0
    y[:10, [4, 11]] = 1
    assert_array_equal(bands.on_their_own_scale(read(y, s), count(y, s)), [4, 11])
    y[2:10, 4] = 0  # two positives in one band say nothing
    assert_array_equal(bands.on_their_own_scale(read(y, s), count(y, s)), [11])


def test_labels_with_few_different_scores_are_on_the_common_scale():
    y, s = draw(3, n=600, base=0.2)
    s = np.floor(3 * s)
    assert not len(bands.on_their_own_scale(read(y, s), count(y, s)))
