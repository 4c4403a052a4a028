"""Folds of `ThresholdClassifier`: cv, refit and estimators that are already fitted."""

import numpy as np
import pytest
from classifier_cases import (
    EACH,
    LABELLERS,
    LOGIT,
    NB,
    XM,
    YM,
    X,
    Y,
    of_labels,
    response,
    threshold,
)
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LogisticRegression,
)
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm
from halfmax.estimators.folds import LabelFolds


def test_a_share_without_refit_keeps_the_estimator_of_that_split():
    model = threshold(LOGIT, cv=0.3, refit=False, random_state=0).fit(X, Y)
    ((train, test),) = LabelFolds(0.3, np.random.RandomState(0)).split(X, Y)
    assert Y[test].mean() == pytest.approx(Y.mean(), abs=0.5 / len(test))
    fitted = clone(LOGIT).fit(X[train], Y[train])
    assert_allclose(model.estimator_.coef_, fitted.coef_)
    best = hm.tune(Y[test], fitted.predict_proba(X[test])[:, 1])
    assert (model.threshold_, model.score_) == (best.threshold, best.score)
    model.set_params(refit=True).fit(X, Y)
    assert model.threshold_ == best.threshold
    assert_allclose(model.estimator_.coef_, clone(LOGIT).fit(X, Y).coef_)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("estimator", [EACH, KNeighborsClassifier(5)], ids=["each", "neighbours"])
def test_a_share_of_labels_without_refit(estimator, form):
    model = threshold(estimator, cv=0.3, refit=False, random_state=1).fit(XM, form(YM))
    ((train, test),) = LabelFolds(0.3, np.random.RandomState(1)).split(XM, YM)
    fitted = clone(estimator).fit(XM[train], YM[train])
    best = hm.tune(YM[test], of_labels(fitted.predict_proba(XM[test])))
    assert_array_equal(model.thresholds_, best.thresholds)
    scores = of_labels(fitted.predict_proba(XM))
    assert_array_equal(sparse.csr_array(model.predict(XM)).toarray(), scores >= model.thresholds_)


def test_one_split_without_refit():
    split = np.arange(60), np.arange(60, 120)
    model = threshold(LOGIT, cv=[split], refit=False).fit(X, Y)
    assert_allclose(model.estimator_.coef_, clone(LOGIT).fit(X[:60], Y[:60]).coef_)


class Quiet(GaussianNB):
    """Fits and returns nothing, which scikit-learn's own meta-estimators accept."""

    def fit(self, X, y, sample_weight=None):
        super().fit(X, y, sample_weight)


@pytest.mark.parametrize(
    "options", [{}, {"rule": "expected"}, {"cv": 0.3, "refit": False}, {"n_jobs": 2}]
)
def test_an_estimator_whose_fit_returns_nothing(options):
    model = hm.ThresholdClassifier(Quiet(), **options).fit(X, Y)
    usual = hm.ThresholdClassifier(GaussianNB(), **options).fit(X, Y)
    assert isinstance(model.estimator_, Quiet)
    assert (model.threshold_, model.score_) == (usual.threshold_, usual.score_)
    assert_array_equal(model.predict(X), usual.predict(X))


def test_refit_fits_a_clone_on_all_rows():
    estimator = LogisticRegression()
    model = threshold(estimator).fit(X, Y)
    assert model.estimator_ is not estimator
    assert not hasattr(estimator, "coef_")
    assert_allclose(model.estimator_.coef_, estimator.fit(X, Y).coef_)


@pytest.mark.parametrize("refit", [True, False])
def test_prefit_takes_the_estimator_as_it_is(refit):
    estimator = LogisticRegression().fit(X[:60], Y[:60])
    coef = estimator.coef_.copy()
    model = threshold(estimator, cv="prefit", refit=refit).fit(X[60:], Y[60:])
    assert model.estimator_ is estimator
    assert_array_equal(estimator.coef_, coef)
    best = hm.tune(Y[60:], estimator.predict_proba(X[60:])[:, 1])
    assert (model.threshold_, model.score_) == (best.threshold, best.score)


@pytest.mark.parametrize("name", ["one-vs-rest", "multi-output", "network", "ridge", "forest"])
def test_prefit_labels(name):
    estimator = clone(LABELLERS[name]).fit(XM[:45], YM[:45])
    model = threshold(estimator, cv="prefit").fit(XM[45:], YM[45:])
    scores = of_labels(getattr(estimator, response(estimator))(XM[45:]))
    assert_array_equal(model.thresholds_, hm.tune(YM[45:], scores).thresholds)
    assert_array_equal(model.predict(XM[45:]), scores >= model.thresholds_)


@pytest.mark.parametrize("rule", ["empirical", "expected"])
def test_a_perfect_prefit_tree_scores_one(rule):
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y)
    model = threshold(tree, cv="prefit", rule=rule).fit(X, Y)
    assert model.score_ == model.score(X, Y) == 1.0


def test_a_frozen_estimator_is_never_fitted_again():
    fitted = LogisticRegression().fit(X[:60], Y[:60])
    frozen = threshold(FrozenEstimator(fitted), cv=3).fit(X[60:], Y[60:])
    prefit = threshold(fitted, cv="prefit").fit(X[60:], Y[60:])
    assert frozen.threshold_ == prefit.threshold_
    assert frozen.estimator_.estimator is fitted
    assert clone(frozen).estimator.estimator is fitted
    assert frozen.n_features_in_ == 3


def test_rows_scored_more_than_once_count_each_time():
    cv = RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)
    model = threshold(cv=cv).fit(X, Y)
    rows, scores = [], []
    for train, test in cv.split(X):
        rows.append(test)
        scores.append(GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
    rows, scores = np.concatenate(rows), np.concatenate(scores)
    best = hm.tune(Y[rows], scores)
    assert (model.threshold_, model.score_) == (best.threshold, best.score)
    first = slice(0, len(Y))
    order = np.argsort(rows[first])
    times = len(model.assessment_.resampled_scores)
    once = hm.assess(Y[rows[first]][order], scores[first][order], n_resamples=times)
    assert model.assessment_.thresholds.threshold == model.threshold_
    assert model.assessment_.score == model.score_
    assert model.expected_score_ == pytest.approx(once.expected_score, abs=1e-12)


def test_rows_that_are_never_scored_do_not_count_in_tuning():
    cv = ShuffleSplit(2, test_size=0.2, random_state=1)
    model = threshold(cv=cv).fit(X, Y)
    rows, scores = [], []
    for train, test in cv.split(X):
        rows.append(test)
        scores.append(GaussianNB().fit(X[train], Y[train]).predict_proba(X[test])[:, 1])
    rows = np.concatenate(rows)
    assert len(np.unique(rows)) < len(Y)
    assert model.threshold_ == hm.tune(Y[rows], np.concatenate(scores)).threshold


def test_leave_one_out():
    x, y = X[:40], Y[:40]
    model = threshold(cv=LeaveOneOut()).fit(x, y)
    scores = cross_val_predict(NB, x, y, cv=LeaveOneOut(), method="predict_proba")[:, 1]
    assert model.threshold_ == hm.tune(y, scores).threshold


@pytest.mark.parametrize("form", [list, iter])
def test_splits_of_any_form(form):
    lists = [(train.tolist(), test.tolist()) for train, test in KFold(3).split(X)]
    model = threshold(cv=form(lists)).fit(X, Y)
    assert model.threshold_ == threshold(cv=KFold(3)).fit(X, Y).threshold_


def test_parallel_folds_give_the_same_result():
    alone = threshold(EACH, cv=2).fit(XM, YM)
    together = threshold(EACH, cv=2, n_jobs=2).fit(XM, YM)
    assert_array_equal(alone.thresholds_, together.thresholds_)
    assert alone.expected_score_ == together.expected_score_


def test_fit_does_not_change_its_arguments():
    x, y, w = X.copy(), Y.copy(), np.ones(len(Y))
    threshold().fit(x, y, w)
    assert_array_equal(x, X)
    assert_array_equal(y, Y)
    assert_array_equal(w, 1.0)
