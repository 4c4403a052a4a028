"""Targets of `ThresholdClassifier`: classes of any type, and labels in any container."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from classifier_cases import EACH, FOLDS, LOGIT, TREES, XM, YM, X, Y, many_labels, threshold
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    RandomForestClassifier,
)
from sklearn.linear_model import (
    Ridge,
    RidgeClassifier,
)
from sklearn.metrics import f1_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        (sparse.csr_array, "csr"),
        (sparse.csr_matrix, "csr"),
        (sparse.csr_array, "csc"),
        (sparse.csr_matrix, "coo"),
    ],
)
@pytest.mark.parametrize(
    "estimator",
    [EACH, KNeighborsClassifier(7), RidgeClassifier(), Ridge(), RandomForestClassifier(**TREES)],
    ids=["one-vs-rest", "neighbours", "ridge classifier", "ridge", "forest"],
)
def test_sparse_labels_give_the_same_thresholds_and_sparse_predictions(estimator, kind, form):
    labels = kind(YM).asformat(form)
    model = threshold(estimator, cv=FOLDS[:2]).fit(XM, labels)
    dense = threshold(estimator, cv=FOLDS[:2]).fit(XM, YM)
    assert_array_equal(model.thresholds_, dense.thresholds_)
    predictions = model.predict(XM)
    assert sparse.issparse(predictions)
    assert sparse.isspmatrix(predictions) == sparse.isspmatrix(labels)
    assert_array_equal(predictions.toarray(), dense.predict(XM))
    assert model.score(XM, labels) == model.score(XM, YM) == dense.score(XM, labels)
    assert_array_equal(labels.toarray(), YM)


SAME_LABELS = {
    "list": lambda y: y.tolist(),
    "bool": lambda y: y.astype(bool),
    "float": lambda y: y.astype(float),
    "int8": lambda y: y.astype(np.int8),
    "uint8": lambda y: y.astype(np.uint8),
    "Fortran order": np.asfortranarray,
    "pandas": pd.DataFrame,
    "pandas bool": lambda y: pd.DataFrame(y.astype(bool)),
    "polars": lambda y: pl.DataFrame(y),
}


@pytest.mark.parametrize("form", SAME_LABELS)
def test_labels_may_be_any_zeros_and_ones(form):
    same = SAME_LABELS[form](YM)
    model = threshold(EACH, cv=FOLDS).fit(XM, same)
    plain = threshold(EACH, cv=FOLDS).fit(XM, YM)
    assert_array_equal(model.thresholds_, plain.thresholds_)
    assert_array_equal(model.predict(XM), plain.predict(XM))
    assert model.score(XM, same) == plain.score(XM, YM)


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_names_of_labels_are_kept_and_columns_matched_by_name(library):
    frame = library({name: YM[:, j] for j, name in enumerate("abcd")})
    model = threshold(EACH, cv=FOLDS).fit(XM, frame)
    table = model.assessment_.table()
    assert isinstance(table, library)
    assert list(table["label"]) == list("abcd")
    assert model.score(XM, frame[["d", "b", "a", "c"]]) == model.score(XM, YM)
    assert model.score(XM, frame[["d", "b", "a", "c"]].to_numpy()) != model.score(XM, YM)
    with pytest.raises(ValueError, match="label names of y and the y of fit differ"):
        model.score(XM, library({name: YM[:, j] for j, name in enumerate("abcx")}))


def test_more_labels_than_int8_can_count():
    x, y = many_labels(n=60, m=130)
    shares = OneVsRestClassifier(DummyClassifier())
    fitted = clone(shares).fit(x[:30], y[:30])
    for labels in (y.astype(np.int8), sparse.csr_array(y.astype(np.int8))):
        half = [(np.arange(30), np.arange(30, 60))]
        model = threshold(shares, cv=half, refit=False).fit(x, labels)
        assert_array_equal(model.predict_proba(x), fitted.predict_proba(x))
        predictions = sparse.csr_array(model.predict(x)).toarray()
        assert_array_equal(predictions, fitted.predict_proba(x) >= model.thresholds_)


CLASSES = {
    "strings": np.array(["ham", "spam"]),
    "objects": np.array(["ham", "spam"], object),
    "bool": np.array([False, True]),
    "signs": np.array([-1, 1]),
    "floats": np.array([0.0, 1.0]),
    "1 and 2": np.array([1, 2]),
    "bytes of strings": np.array(["0", "1"]),
}


@pytest.mark.parametrize("estimator", [LOGIT, Ridge()], ids=["logistic", "ridge"])
@pytest.mark.parametrize("response_method", ["auto", "decision_function"])
@pytest.mark.parametrize("name", CLASSES)
def test_classes_may_have_any_names(name, response_method, estimator):
    if response_method == "decision_function" and isinstance(estimator, Ridge):
        response_method = "predict"
    classes = CLASSES[name]
    model = threshold(estimator, response_method=response_method, cv=3).fit(X, classes[Y])
    plain = threshold(estimator, response_method=response_method, cv=3).fit(X, Y)
    assert_array_equal(model.classes_, classes)
    assert model.threshold_ == plain.threshold_
    assert model.predict(X).dtype == classes.dtype
    assert_array_equal(model.predict(X), classes[plain.predict(X)])
    assert model.score(X, classes[Y]) == plain.score(X, Y) == f1_score(Y, plain.predict(X))


@pytest.mark.parametrize("response_method", ["auto", "decision_function", "predict_proba"])
def test_the_other_class_may_be_the_positive_one(response_method):
    options = {"response_method": response_method, "cv": 3}
    names = np.array(["cancer", "healthy"])
    model = threshold(LOGIT, pos_label="cancer", **options).fit(X, names[1 - Y])
    turned = threshold(LOGIT, **options).fit(X, Y)
    assert_array_equal(model.classes_, names)
    assert model.threshold_ == pytest.approx(turned.threshold_, abs=1e-4)
    assert_array_equal(model.predict(X) == "cancer", turned.predict(X) == 1)
    assert set(model.predict(X)) == set(names)
    assert model.score(X, names[1 - Y]) == turned.score(X, Y)
    same = threshold(LOGIT, pos_label="healthy", **options).fit(X, names[1 - Y])
    assert_array_equal(same.predict(X), threshold(LOGIT, **options).fit(X, names[1 - Y]).predict(X))


@pytest.mark.parametrize("pos_label", [0, 1])
@pytest.mark.parametrize("response_method", ["predict_proba", "decision_function"])
def test_predictions_are_the_positive_class_at_and_above_the_threshold(response_method, pos_label):
    model = threshold(LOGIT, response_method=response_method, pos_label=pos_label).fit(X, Y)
    fitted = clone(LOGIT).fit(X, Y)
    if response_method == "predict_proba":
        scores = fitted.predict_proba(X)[:, pos_label]
    else:
        scores = fitted.decision_function(X) * (1 if pos_label else -1)
    assert_array_equal(model.predict(X) == pos_label, scores >= model.threshold_)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert_array_equal(getattr(model, method)(X), getattr(fitted, method)(X))


def test_a_regressor_learns_the_positive_class_that_is_named():
    model = threshold(Ridge(), pos_label=0, cv=3).fit(X, Y)
    fitted = Ridge().fit(X, 1 - Y)
    assert_array_equal(model.predict(X) == 0, fitted.predict(X) >= model.threshold_)


@pytest.mark.parametrize("form", [list, pd.Series, lambda y: pl.Series("y", y), tuple])
def test_two_classes_may_come_in_any_container(form):
    model = threshold().fit(X.tolist(), form(Y.tolist()))
    assert_array_equal(model.predict(X), threshold().fit(X, Y).predict(X))
    assert model.score(X, form(Y.tolist())) == f1_score(Y, model.predict(X))
