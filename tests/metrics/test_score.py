import warnings
from math import isnan, nan

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as sk
from strategies import averages, metrics, truths, weights

import halfmax as hm

pytestmark = pytest.mark.kernels

SKLEARN = {
    "f1": sk.f1_score,
    "f0.5": lambda *a, **k: sk.fbeta_score(*a, beta=0.5, **k),
    "f2": lambda *a, **k: sk.fbeta_score(*a, beta=2, **k),
    "f0.7": lambda *a, **k: sk.fbeta_score(*a, beta=0.7, **k),
    "f1.1": lambda *a, **k: sk.fbeta_score(*a, beta=1.1, **k),
    "jaccard": sk.jaccard_score,
    "precision": sk.precision_score,
    "recall": sk.recall_score,
}


@st.composite
def predictions(draw, dimensions=None):
    two = draw(st.booleans()) if dimensions is None else dimensions == 2
    shape = (draw(st.integers(1, 6)), *((draw(st.integers(2, 4)),) if two else ()))
    return draw(truths(shape)), draw(truths(shape)), draw(weights(shape[0]))


def of_sklearn(y, guess, metric, average, w, zero_division):
    y, guess = np.asarray(y, int), np.asarray(guess, int)
    if metric == "accuracy":
        cells = None if w is None else np.repeat(w, y[0].size)
        return sk.accuracy_score(y.ravel(), guess.ravel(), sample_weight=cells)
    average = "binary" if y.ndim == 1 else average
    return SKLEARN[metric](y, guess, average=average, sample_weight=w, zero_division=zero_division)


@given(predictions(), metrics, averages, st.sampled_from([0.0, 1.0, nan]))
def test_score_equals_its_naive_twin(case, metric, average, zero_division):
    y, guess, w = case
    expected = naive.score(y, guess, metric, average, w, zero_division)
    got = hm.score(y, guess, metric, average, w, zero_division)
    assert isinstance(got, float)
    assert naive.same(got, expected)


@given(predictions(), metrics, averages, st.sampled_from([0.0, 1.0]))
def test_score_equals_scikit_learn(case, metric, average, zero_division):
    y, guess, w = case
    expected = of_sklearn(y, guess, metric, average, w, zero_division)
    assert naive.same(hm.score(y, guess, metric, average, w, zero_division), expected)


@given(predictions(), st.sampled_from(["f1", "f2", "precision", "recall"]), averages)
def test_score_leaves_out_0_by_0_as_scikit_learn_does(case, metric, average):
    y, guess, w = case
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        expected = of_sklearn(y, guess, metric, average, w, nan)
    assert naive.same(hm.score(y, guess, metric, average, w, nan), expected)


CONTAINERS = {
    "list": lambda a: a.astype(int).tolist(),
    "csr": sparse.csr_array,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
    "matrix": sparse.csr_matrix,
    "lil": sparse.lil_array,
    "pandas": lambda a: pd.DataFrame(a, columns=list("abcd")[: a.shape[1]]),
    "polars": lambda a: pl.DataFrame(a, schema=list("abcd")[: a.shape[1]]),
}


@given(predictions(2), averages, st.data())
def test_score_is_the_same_in_every_container(case, average, data):
    y, guess, w = case
    one, other = (data.draw(st.sampled_from(sorted(CONTAINERS))) for _ in range(2))
    expected = hm.score(y, guess, average=average, sample_weight=w)
    got = hm.score(CONTAINERS[one](y), CONTAINERS[other](guess), "f1", average, w)
    assert got == expected


def test_stored_zeros_are_zeros():
    y = sparse.csr_array(([1, 0, 1], [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    guess = sparse.csr_array(([1, 1], [0, 1], [0, 2, 2]), shape=(2, 2))
    for average in ("macro", "micro", "samples"):
        expected = naive.score([[1, 0], [1, 0]], [[1, 1], [0, 0]], "f1", average)
        assert naive.same(hm.score(y, guess, average=average), expected)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_sparse_input_is_never_made_dense(monkeypatch, average):
    def refuse(*_, **__):
        raise AssertionError("made dense")

    rng = np.random.default_rng(0)
    y, guess = (sparse.csr_array(rng.random((30, 20)) < 0.1) for _ in range(2))
    expected = naive.score(y.toarray(), guess.toarray(), "f1", average)
    for kind in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix):
        for name in ("toarray", "todense", "__array__"):
            monkeypatch.setattr(kind, name, refuse, raising=False)
    assert naive.same(hm.score(y, guess, average=average), expected)
    assert naive.same(hm.score(y.tocsc(), guess.tocoo(), average=average), expected)


def test_sparse_input_far_too_large_to_be_dense():
    n = 10**6
    y = sparse.csr_array((np.ones(3), ([0, 5, n - 1], [7, 7, n - 1])), shape=(n, n))
    guess = sparse.csr_array((np.ones(2), ([0, n - 1], [7, 0])), shape=(n, n))
    assert naive.same(hm.score(y, guess, average="micro"), 2 / 5)
    assert naive.same(hm.score(y, guess, average="macro"), 2 / 3 / n)
    assert naive.same(hm.score(y, guess, average="samples"), 1 / n)


@given(predictions(2), metrics)
def test_instance_is_another_word_for_samples(case, metric):
    y, guess, w = case
    assert hm.score(y, guess, metric, "instance", w) == hm.score(y, guess, metric, "samples", w)


def test_the_score_of_a_user_metric():
    distance = hm.Metric("matches", lambda tp, fp, fn, tn: tp + tn - fp - fn)
    assert hm.score([1, 1, 0, 0], [1, 0, 0, 0], distance) == 2.0


def test_nan_remains_where_everything_is_left_out():
    assert isnan(hm.score([0, 0], [0, 0], zero_division=nan))
    for average in ("macro", "micro", "samples"):
        assert isnan(hm.score([[0, 0]], [[0, 0]], average=average, zero_division=nan))
