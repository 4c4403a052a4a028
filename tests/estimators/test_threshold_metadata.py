"""Weights and metadata of `ThresholdClassifier`, with and without metadata routing."""

import numpy as np
import pandas as pd
import pytest
from classifier_cases import FOLDS, XM, YM, X, Y, threshold
from numpy.testing import assert_allclose, assert_array_equal
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.linear_model import (
    LogisticRegression,
)
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm

WEIGHTS = np.arange(120) % 3
TWICE = np.repeat(np.arange(120), WEIGHTS)


def repeated(splits, times):
    """Return the same splits of rows that are repeated this many times."""
    ends = np.cumsum(times)
    where = [np.arange(end - size, end) for end, size in zip(ends, times, strict=True)]
    return [tuple(np.concatenate([where[i] for i in part]) for part in split) for split in splits]


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("rule", ["empirical", "expected"])
def test_whole_weights_are_repeated_rows(rule, average):
    folds = list(KFold(3).split(X))
    y = np.column_stack([Y, X[:, 0] > 0.2]).astype(int)
    options = {"average": average, "rule": rule}
    trees = DecisionTreeClassifier(max_depth=3, random_state=0)
    once = threshold(trees, cv=folds, **options).fit(X, y, sample_weight=WEIGHTS)
    again = threshold(trees, cv=repeated(folds, WEIGHTS), **options).fit(X[TWICE], y[TWICE])
    assert_array_equal(once.predict(X[:30]), again.predict(X[:30]))
    if rule == "empirical":
        assert_allclose(once.thresholds_, again.thresholds_)
        assert once.score_ == pytest.approx(again.score_)


def test_whole_weights_of_two_classes_are_repeated_rows():
    folds = list(KFold(3).split(X))
    once = threshold(cv=folds).fit(X, Y, sample_weight=WEIGHTS)
    again = threshold(cv=repeated(folds, WEIGHTS)).fit(X[TWICE], Y[TWICE])
    assert once.threshold_ == pytest.approx(again.threshold_)
    assert once.score_ == pytest.approx(again.score_)
    assert_array_equal(once.predict(X), again.predict(X))
    assert once.threshold_ != pytest.approx(threshold(cv=folds).fit(X, Y).threshold_)


@pytest.mark.parametrize("form", [list, pd.Series, lambda w: w.astype(np.float32)])
def test_weights_may_come_in_any_container(form):
    plain = threshold(cv=3).fit(X, Y, WEIGHTS)
    assert threshold(cv=3).fit(X, Y, form(WEIGHTS)).threshold_ == plain.threshold_


def test_weights_that_the_estimator_cannot_use_count_in_tuning_and_warn():
    estimator = KNeighborsClassifier(7)
    with pytest.warns(hm.HalfmaxWarning, match=r"KNeighborsClassifier takes no sample_weight") as w:
        model = threshold(estimator, cv=3).fit(X, Y, sample_weight=WEIGHTS)
    assert w[0].filename == __file__
    scores = cross_val_predict(estimator, X, Y, cv=StratifiedKFold(3), method="predict_proba")
    best = hm.tune(Y, scores[:, 1], sample_weight=WEIGHTS)
    assert (model.threshold_, model.score_) == (best.threshold, best.score)
    assert best.threshold != hm.tune(Y, scores[:, 1]).threshold


def test_weights_for_a_prefit_estimator_count_in_tuning():
    estimator = KNeighborsClassifier(7).fit(X[:60], Y[:60])
    model = threshold(estimator, cv="prefit").fit(X[60:], Y[60:], WEIGHTS[60:])
    scores = estimator.predict_proba(X[60:])[:, 1]
    assert model.threshold_ == hm.tune(Y[60:], scores, sample_weight=WEIGHTS[60:]).threshold


class Listener(ClassifierMixin, BaseEstimator):
    """Remembers the arguments of its fits."""

    heard: tuple = ()

    def fit(self, X, y, sample_weight=None, note=None, colour="grey"):
        Listener.heard = (*Listener.heard, (X, y, sample_weight, note, colour))
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-X[:, 0]))
        return np.column_stack([1 - p, p])


@pytest.fixture
def heard():
    Listener.heard = ()
    return lambda: Listener.heard


@pytest.mark.parametrize("form", [list, np.asarray])
@pytest.mark.parametrize("routing", [False, True])
def test_fit_parameters_follow_the_rows_into_the_folds(heard, routing, form):
    with config_context(enable_metadata_routing=routing):
        estimator = Listener()
        if routing:
            estimator.set_fit_request(note=True, colour=True, sample_weight=True)
        notes = form(range(120))
        model = threshold(estimator, cv=3)
        model.fit(X, Y, sample_weight=WEIGHTS, note=notes, colour="red")
    assert len(heard()) == 4
    for x, y, weights, note, colour in heard():
        assert_array_equal(x, X[note])
        assert_array_equal(y, Y[note])
        assert_array_equal(weights, WEIGHTS[note])
        assert colour == "red"
    assert sorted(len(x) for x, *_ in heard()) == [80, 80, 80, 120]


@pytest.mark.parametrize("requested", [True, False])
@config_context(enable_metadata_routing=True)
def test_routed_weights_reach_the_estimator_that_requests_them(heard, requested):
    estimator = Listener().set_fit_request(sample_weight=requested)
    model = threshold(estimator, cv=3).fit(X, Y, sample_weight=WEIGHTS)
    assert all((weights is not None) == requested for *_, weights, _, _ in heard())
    best = hm.tune(Y, X[:, 0], sample_weight=WEIGHTS)
    assert_array_equal(model.predict(X), X[:, 0] >= best.threshold)  # they count in tuning anyway


@config_context(enable_metadata_routing=True)
def test_routed_weights_of_a_logistic_regression():
    estimator = LogisticRegression().set_fit_request(sample_weight=True)
    model = threshold(estimator, cv=3).fit(X, Y, sample_weight=WEIGHTS)
    fitted = LogisticRegression().fit(X, Y, sample_weight=WEIGHTS)
    assert_allclose(model.estimator_.coef_, fitted.coef_)
    single = threshold(estimator, cv=[(np.arange(50), np.arange(50, 120))], refit=False)
    single.fit(X, Y, sample_weight=WEIGHTS)
    fitted = LogisticRegression().fit(X[:50], Y[:50], sample_weight=WEIGHTS[:50])
    assert_allclose(single.estimator_.coef_, fitted.coef_)


@config_context(enable_metadata_routing=True)
def test_weights_reach_labels_inside_one_vs_rest_by_routing():
    inner = LogisticRegression().set_fit_request(sample_weight=True)
    weights = np.arange(90) % 3 + 0.0
    model = threshold(OneVsRestClassifier(inner), cv=FOLDS).fit(XM, YM, sample_weight=weights)
    fitted = LogisticRegression().fit(XM, YM[:, 1], sample_weight=weights)
    assert_allclose(model.estimator_.estimators_[1].coef_, fitted.coef_)


@config_context(enable_metadata_routing=True)
def test_rows_without_weight_count_as_missing():
    weights = (np.arange(120) % 2 == 0).astype(float)
    folds = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    halves = [(train[::2] // 2, test[::2] // 2) for train, test in folds]
    estimator = LogisticRegression().set_fit_request(sample_weight=True)
    light = threshold(estimator, cv=folds).fit(X, Y, sample_weight=weights)
    fewer = threshold(estimator, cv=halves).fit(X[::2], Y[::2])
    assert_allclose(light.predict_proba(X), fewer.predict_proba(X), atol=1e-5)
    assert_array_equal(light.predict(X), fewer.predict(X))


@config_context(enable_metadata_routing=True)
def test_metadata_without_a_request_are_an_error():
    with pytest.raises(TypeError, match="note"):
        threshold(LogisticRegression()).fit(X, Y, note=np.ones(120))


GROUPS = np.arange(120) // 10


@pytest.mark.parametrize("routing", [False, True])
def test_groups_reach_the_splitter(heard, routing):
    with config_context(enable_metadata_routing=routing):
        model = threshold(Listener(), cv=GroupKFold(3)).fit(X, Y, groups=GROUPS)
    folds = list(GroupKFold(3).split(X, Y, GROUPS))
    fitted_on = sorted(x[:, 0].sum() for x, *_ in heard() if len(x) < 120)
    assert_allclose(fitted_on, sorted(X[train, 0].sum() for train, _ in folds))
    assert model.predict(X).shape == (120,)


def test_weights_of_a_step_of_a_pipeline():
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    model = threshold(pipeline, cv=3)
    model.fit(X, Y, logisticregression__sample_weight=WEIGHTS)
    fitted = clone(pipeline).fit(X, Y, logisticregression__sample_weight=WEIGHTS)
    assert_allclose(model.estimator_[-1].coef_, fitted[-1].coef_)


@config_context(enable_metadata_routing=True)
def test_weights_come_through_grid_search_and_cross_validation(heard):
    inner = Listener().set_fit_request(sample_weight=True)
    model = threshold(inner, cv=2)
    model.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    grid = GridSearchCV(model, {"metric": ["f1"]}, cv=2).fit(X, Y, sample_weight=WEIGHTS)
    best = hm.tune(Y, X[:, 0], sample_weight=WEIGHTS)
    assert_array_equal(grid.predict(X), X[:, 0] >= best.threshold)
    count = len(heard())
    found = cross_validate(model, X, Y, cv=2, params={"sample_weight": WEIGHTS})
    assert len(heard()) == count + 6
    for (train, test), value in zip(
        StratifiedKFold(2).split(X, Y), found["test_score"], strict=True
    ):
        fitted = clone(model).fit(X[train], Y[train], sample_weight=WEIGHTS[train])
        assert value == fitted.score(X[test], Y[test], WEIGHTS[test])
