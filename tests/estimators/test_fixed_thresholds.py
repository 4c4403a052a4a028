"""`ThresholdClassifier` with fixed thresholds, with fit and on models that are fitted already."""

import pickle

import numpy as np
import pandas as pd
import pytest
from classifier_cases import (
    BINARY,
    EACH,
    LABELLERS,
    LOGIT,
    NB,
    XM,
    YM,
    AsScores,
    X,
    Y,
    of_labels,
    response,
    threshold,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score, fbeta_score
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import halfmax as hm

WORDS = np.array(["no", "yes"])[Y]
FRAME = pd.DataFrame(YM, columns=list("abcd"))
CUTS = [0.6, 0.3, 0.2, 0.4]
CLASSIFIERS = [name for name in BINARY if name != "ridge" and "regression" not in name]


# The same as scikit-learn's FixedThresholdClassifier.


@pytest.mark.filterwarnings("ignore:divide by zero encountered in log:RuntimeWarning")
@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("with_fit", [True, False])
def test_two_classes_are_predicted_as_by_scikit_learn(name, with_fit):
    fitted = clone(BINARY[name]).fit(X, Y)
    cut = 0.3 if response(fitted) == "predict_proba" else -0.4
    ours = threshold(fitted, thresholds=cut)
    theirs = FixedThresholdClassifier(fitted, threshold=cut)
    if with_fit:
        for model in (ours, theirs):
            model.fit(X, Y)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    assert_array_equal(ours.classes_, theirs.classes_)
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        assert hasattr(ours, method) == hasattr(theirs, method)
        if hasattr(ours, method):
            assert_array_equal(getattr(ours, method)(X), getattr(theirs, method)(X))
    assert ours.score(X, Y) == pytest.approx(f1_score(Y, theirs.predict(X)))


@pytest.mark.parametrize("with_fit", [True, False])
@pytest.mark.parametrize("pos_label", ["no", "yes"])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("cut", [-1.0, 0.2, 0.8, 2.0])
def test_either_class_may_be_positive_as_in_scikit_learn(pos_label, method, cut, with_fit):
    fitted = clone(LOGIT).fit(X, WORDS)
    how = {"pos_label": pos_label, "response_method": method}
    ours = threshold(fitted, thresholds=cut, **how)
    theirs = FixedThresholdClassifier(fitted, threshold=cut, **how)
    if with_fit:
        for model in (ours, theirs):
            model.fit(X, WORDS)
    assert_array_equal(ours.predict(X), theirs.predict(X))
    expected = f1_score(WORDS, theirs.predict(X), pos_label=pos_label)
    assert ours.score(X, WORDS) == pytest.approx(expected)


def test_without_a_fitted_estimator_both_refuse():
    for model in (threshold(LOGIT, thresholds=0.3), FixedThresholdClassifier(LOGIT, threshold=0.3)):
        for method in ("predict", "predict_proba", "decision_function"):
            with pytest.raises(NotFittedError):
                getattr(clone(model), method)(X)
        assert not hasattr(clone(model), "classes_")


# Every form of thresholds.


@pytest.mark.parametrize("with_fit", [True, False])
@pytest.mark.parametrize("name", LABELLERS)
def test_labels_are_predicted_at_fixed_thresholds_by_any_estimator(name, with_fit):
    fitted = clone(LABELLERS[name]).fit(XM, YM)
    scores = of_labels(getattr(fitted, response(fitted))(XM))
    for cuts in (CUTS, 0.4):
        model = threshold(fitted, thresholds=cuts)
        if with_fit:
            model.set_params(cv="prefit").fit(XM, YM)
            assert_array_equal(model.thresholds_, np.full(4, cuts))
        assert_array_equal(model.predict(XM), scores >= cuts)
        assert model.predict(XM).dtype == np.int64
        reached = f1_score(YM, scores >= cuts, average="macro", zero_division=0)
        assert model.score(XM, YM) == pytest.approx(reached)


@given(
    st.lists(st.sampled_from([-1.0, 0.0, 0.25, 0.5, np.inf]), min_size=4, max_size=4),
    st.permutations("abcd"),
    st.sampled_from(["list", "array", "dict", "series", "thresholds"]),
)
def test_names_decide_where_there_are_names(cuts, order, form):
    """Thresholds and labels of a frame are matched by name; numbers follow the columns."""
    scores = np.random.default_rng(0).choice([-np.inf, -1.0, 0.0, 0.25, 0.5], (30, 4))
    truth = pd.DataFrame((scores[:, ::-1] > 0).astype(int), columns=order)
    named = dict(zip("abcd", cuts, strict=True))
    here = [named[name] for name in order]
    tuned = hm.tune(truth[list("abcd")], scores)
    passed = {
        "list": here,
        "array": np.array(here),
        "dict": named,
        "series": pd.Series(named),
        "thresholds": pickle.loads(pickle.dumps(tuned)),
    }[form]
    if form == "thresholds":
        here = [tuned.thresholds["abcd".index(name)] for name in order]
    model = threshold(AsScores(one=False), thresholds=passed).fit(scores, truth)
    assert_array_equal(model.thresholds_, here)
    assert_array_equal(model.predict(scores), scores >= here)
    shuffled = truth[list("dcba")]
    expected = hm.score(truth.to_numpy(), scores >= here)
    assert model.score(scores, shuffled) == expected


@pytest.mark.parametrize(
    "passed",
    [
        0.25,
        np.float32(0.25),
        [0.25],
        np.array(0.25),
        {"yes": 0.25},
        hm.tune(Y[:60], np.where(Y, 0.25, 0.0)[:60]),
    ],
    ids=["float", "float32", "list", "0-d", "dict", "thresholds"],
)
@pytest.mark.parametrize("with_fit", [True, False])
def test_one_threshold_in_every_form(passed, with_fit):
    fitted = clone(NB).fit(X, WORDS)
    model = threshold(fitted, thresholds=passed)
    if with_fit:
        assert model.fit(X, WORDS).threshold_ == 0.25
    expected = np.where(fitted.predict_proba(X)[:, 1] >= 0.25, "yes", "no")
    assert_array_equal(model.predict(X), expected)


def test_thresholds_of_per_row_costs_predict_for_a_classifier():
    """Costs of each row are tuned by `tune`; the classifier then has its thresholds."""
    amounts = np.abs(X[:, 2]) + 0.5
    scores = cross_val_predict(NB, X, Y, method="predict_proba")[:, 1]
    tuned = hm.tune(Y, scores, metric=hm.cost(fp=1, fn=amounts))
    model = threshold(thresholds=tuned).fit(X, Y)
    assert model.threshold_ == tuned.threshold
    with pytest.raises(ValueError, match=r"metric has costs for each row.*thresholds=t"):
        threshold(metric=hm.cost(fp=1, fn=amounts)).fit(X, Y)


# What fit does.


class Counted(BernoulliNB):
    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        return super().fit(X, y, sample_weight)


def test_fit_fits_the_estimator_once_and_tunes_nothing():
    model = threshold(Counted(), thresholds=0.4, cv=7, refit=False, random_state=3)
    model.fit(X, Y)
    assert Counted.fits == 1
    plain = BernoulliNB().fit(X, Y)
    assert_array_equal(model.predict(X), plain.predict_proba(X)[:, 1] >= 0.4)
    assert model.assessment_ is None
    assert not any(hasattr(model, name) for name in ("score_", "expected_score_", "staircase_"))
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    threshold(Counted().fit(X, Y), thresholds=0.4, cv="prefit").fit(X, Y)
    assert Counted.fits == 2


def test_weights_reach_the_estimator_or_a_warning_says_that_they_have_no_effect():
    weights = np.arange(len(Y)) % 3
    model = threshold(NB, thresholds=0.4).fit(X, Y, weights)
    expected = clone(NB).fit(X, Y, sample_weight=weights).predict_proba(X)
    assert_array_equal(model.predict_proba(X), expected)
    with pytest.warns(hm.HalfmaxWarning, match=r"takes no sample_weight: .* have no effect"):
        threshold(KNeighborsClassifier(), thresholds=0.4).fit(X, Y, weights)


def test_nothing_remains_of_a_tuned_fit():
    model = threshold(cv=3).fit(X, Y)
    assert model.expected_score_ <= model.score_
    model.set_params(thresholds=0.4).fit(X, Y)
    assert not hasattr(model, "score_")
    assert not hasattr(model, "staircase_")
    assert model.assessment_ is None
    model.set_params(thresholds=None)
    with pytest.raises(NotFittedError):
        model.predict(X)
    assert model.fit(X, Y).score_ == threshold(cv=3).fit(X, Y).score_


@pytest.mark.parametrize("start", ["never fitted", "fitted", "tuned"])
def test_thresholds_count_from_the_moment_they_are_set(start):
    model = threshold(clone(LOGIT).fit(X, Y), thresholds=0.5)
    if start == "tuned":
        tuned = model.set_params(thresholds=None, cv=3).fit(X, Y).threshold_
    elif start == "fitted":
        model.fit(X, Y)
    for cut in (0.1, 0.9):
        model.set_params(thresholds=cut)
        assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= cut)
        if start != "never fitted":
            assert model.threshold_ == cut
    if start == "tuned":
        assert model.set_params(thresholds=None).threshold_ == tuned
        assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= tuned)


def test_scores_use_the_metric_the_average_and_the_value_of_0_over_0():
    fitted = clone(EACH).fit(XM, YM)
    truth = YM.copy()
    truth[:, 3] = 0
    for average in ("macro", "micro", "samples", "weighted"):
        for zero_division in (0.0, 1.0):
            how = {"average": average, "zero_division": zero_division}
            model = threshold(fitted, thresholds=[0.5, 0.5, 0.5, np.inf], metric="f2", **how)
            expected = fbeta_score(truth, model.predict(XM), beta=2, **how)
            assert model.score(XM, truth) == pytest.approx(expected)
    model = threshold(fitted, thresholds=0.5, metric=hm.cost(fp=1, fn=3), average="micro")
    wrong = model.predict(XM) - YM
    assert model.score(XM, YM) == pytest.approx(-np.where(wrong < 0, 3, wrong).mean())


# Estimators that hide what they were fitted on.


@pytest.mark.parametrize("estimator", [OneVsRestClassifier(NB), MLPClassifier((3,), max_iter=1)])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_two_labels_are_not_two_classes(estimator):
    """Both have classes_ of [0, 1] after either."""
    labels = clone(estimator).fit(XM, YM[:, :2])
    classes = clone(estimator).fit(XM, YM[:, 0])
    assert_array_equal(labels.classes_, classes.classes_)
    found = threshold(labels, thresholds=0.3).predict(XM)
    assert_array_equal(found, labels.predict_proba(XM) >= 0.3)
    found = threshold(classes, thresholds=0.3).predict(XM)
    assert_array_equal(found, classes.predict_proba(XM)[:, 1] >= 0.3)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_predictions_of_an_estimator_stay_sparse(form):
    fitted = OneVsRestClassifier(NB).fit(XM, form(YM))
    found = threshold(fitted, thresholds=CUTS).predict(XM)
    assert type(found) is type(fitted.predict(XM)) is sparse.csr_matrix
    assert_array_equal(found.toarray(), fitted.predict_proba(XM) >= CUTS)


def test_texts_need_no_matrix():
    texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"] * 3
    labels = np.array([[1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1]] * 3)
    fitted = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(BernoulliNB())).fit(texts, labels)
    model = threshold(fitted, thresholds=[0.5, 0.5, 0.3])
    assert_array_equal(model.predict(texts), fitted.predict_proba(texts) >= [0.5, 0.5, 0.3])


@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_a_regressor_is_taken_to_know_0_and_1(pos_label):
    fitted = Ridge().fit(X, (1 if pos_label is None else pos_label) == Y)
    model = threshold(fitted, thresholds=0.4, pos_label=pos_label)
    above = fitted.predict(X) >= 0.4
    assert_array_equal(model.predict(X), 1 - above if pos_label == 0 else above)
    assert_array_equal(model.classes_, [0, 1])
    high = model.decision_function(X)
    assert_array_equal(high, 1 - fitted.predict(X) if pos_label == 0 else fitted.predict(X))
    labels = threshold(Ridge().fit(XM, YM), thresholds=CUTS)
    assert_array_equal(np.array(labels.classes_), [[0, 1]] * 4)
    assert_array_equal(labels.decision_function(XM), labels.estimator.predict(XM))


def test_names_of_thresholds_are_the_names_of_labels():
    """Columns of y are then matched by name, though the estimator has seen no names."""
    fitted = clone(EACH).fit(XM, FRAME)
    tuned = hm.tune(FRAME, fitted.predict_proba(XM))
    model = threshold(fitted, thresholds=tuned)
    assert model.score(XM, FRAME[list("dbca")]) == model.score(XM, YM) == tuned.score
    assert_array_equal(model.predict(XM), tuned.predict(fitted.predict_proba(XM)))


# Tools of scikit-learn.


@pytest.mark.parametrize("cuts", [0.3, [0.3], {1: 0.3}, hm.tune(Y, X[:, 0])], ids=type)
def test_copies_keep_the_thresholds(cuts):
    model = threshold(clone(NB).fit(X, Y), thresholds=cuts)
    expected = model.predict(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    copy = clone(model)
    assert str(copy.get_params()["thresholds"]) == str(cuts)
    assert_array_equal(copy.fit(X, Y).predict(X), expected)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))


def test_a_frozen_estimator_survives_cloning():
    model = clone(threshold(FrozenEstimator(clone(NB).fit(X, Y)), thresholds=0.3))
    check_is_fitted(model)
    plain = clone(NB).fit(X, Y).predict_proba(X)[:, 1] >= 0.3
    assert_array_equal(model.predict(X), plain)
    assert_array_equal(model.fit(X[:9], Y[:9]).predict(X), plain)
    scores = cross_val_score(model, X, Y, cv=2)
    assert_array_equal(scores, [f1_score(Y[half], plain[half]) for half in halves()])


def halves():
    return [test for _, test in StratifiedKFold(2).split(X, Y)]


def test_at_the_end_of_a_fitted_pipeline():
    scaler = StandardScaler().fit(X)
    inner = clone(LOGIT).fit(scaler.transform(X), Y)
    whole = make_pipeline(scaler, threshold(inner, thresholds=0.2))
    assert_array_equal(whole.predict(X), whole.predict_proba(X)[:, 1] >= 0.2)
    assert_array_equal(whole.classes_, [0, 1])
    around = threshold(make_pipeline(scaler, inner), thresholds=0.2)
    assert_array_equal(around.predict(X), whole.predict(X))
    assert_array_equal(clone(whole).fit(X, Y).predict(X), whole.predict(X))


def test_grid_search_over_thresholds():
    frozen = FrozenEstimator(clone(LOGIT).fit(X, Y))
    cuts = np.linspace(0.05, 0.95, 19)
    grid = GridSearchCV(threshold(frozen, metric="mcc"), {"thresholds": cuts}, cv=2).fit(X, Y)
    p = frozen.predict_proba(X)[:, 1]
    expected = [
        np.mean([hm.score(Y[half], p[half] >= cut, "mcc") for half in halves()]) for cut in cuts
    ]
    np.testing.assert_allclose(grid.cv_results_["mean_test_score"], expected)
    assert grid.best_estimator_.threshold_ == cuts[np.argmax(expected)]
    forms = [None, [0.2], {1: 0.3}, hm.tune(Y, p)]
    grid = GridSearchCV(threshold(LOGIT, cv=3), {"thresholds": forms}, cv=2).fit(X, Y)
    assert np.isfinite(grid.cv_results_["mean_test_score"]).all()


def test_fixed_thresholds_are_scored_by_the_metric_that_they_were_tuned_for():
    X, y = make_classification(300, weights=[0.8], random_state=0)
    model = LogisticRegression().fit(X, y)
    p = model.predict_proba(X)[:, 1]
    for metric in ("mcc", hm.cost(fp=1, fn=5)):
        t = hm.tune(y, p, metric)
        assert hm.ThresholdClassifier(model, thresholds=t).score(X, y) == pytest.approx(t.score)
    chosen = hm.ThresholdClassifier(model, thresholds=t, metric="f2").score(X, y)
    assert chosen == pytest.approx(hm.score(y, t.predict(p), "f2"))
