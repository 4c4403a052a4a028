"""`ThresholdClassifier` tunes on pooled out-of-fold scores, for every kind of estimator."""

import numpy as np
import pytest
from classifier_cases import (
    BINARY,
    EACH,
    FOLDS,
    INF,
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
from sklearn.base import clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    GradientBoostingClassifier,
    VotingClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    Ridge,
)
from sklearn.metrics import f1_score, fbeta_score
from sklearn.model_selection import (
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import SVC

import halfmax as hm
from halfmax.estimators.folds import LabelFolds

# Scores of rows not fitted on are pooled and tuned once.


@pytest.mark.parametrize(
    ("metric", "guard"),
    [("f1", None), ("f1", "auto"), ("f2", "auto"), ("accuracy", None), (hm.FBeta(0.5), None)],
)
def test_two_classes_are_tuned_on_the_pooled_scores_of_stratified_folds(metric, guard):
    model = threshold(metric=metric, guard=guard, cv=4).fit(X, Y)
    scores = cross_val_predict(NB, X, Y, cv=StratifiedKFold(4), method="predict_proba")[:, 1]
    best = hm.tune(Y, scores, metric, guard=guard)
    assert model.threshold_ == best.threshold
    assert model.score_ == best.score
    assert_array_equal(model.thresholds_, best.thresholds)


@pytest.mark.parametrize(("metric", "guard"), [("f1", None), ("f1", "auto"), ("f2", None)])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_labels_are_tuned_on_the_pooled_scores_of_the_splits(average, metric, guard):
    model = threshold(EACH, metric=metric, average=average, guard=guard, cv=FOLDS).fit(XM, YM)
    scores = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    best = hm.tune(YM, scores, metric, average, guard=guard)
    assert_array_equal(model.thresholds_, best.thresholds)
    assert model.score_ == best.score
    assert not hasattr(model, "threshold_")


@pytest.mark.parametrize("random_state", [None, 3])
def test_a_number_of_folds_deals_out_every_label(random_state):
    y = YM.copy()
    y[:, 3] = 0
    y[80:84, 3] = 1  # plain folds would hold all of these out together
    model = threshold(EACH, cv=3, random_state=random_state).fit(XM, y)
    seed = None if random_state is None else np.random.RandomState(random_state)
    folds = list(LabelFolds(3, seed).split(XM, y))
    assert min(y[test, 3].sum() for _, test in folds) == 1
    scores = cross_val_predict(EACH, XM, y, cv=folds, method="predict_proba")
    assert_array_equal(model.thresholds_, hm.tune(y, scores).thresholds)


def test_a_seed_shuffles_folds_of_two_classes():
    model = threshold(cv=3, random_state=5).fit(X, Y)
    folds = StratifiedKFold(3, shuffle=True, random_state=5)
    scores = cross_val_predict(NB, X, Y, cv=folds, method="predict_proba")[:, 1]
    assert model.threshold_ == hm.tune(Y, scores).threshold
    assert model.threshold_ != threshold(cv=3, random_state=6).fit(X, Y).threshold_


def test_a_metric_with_a_parameter():
    f1, fbeta1, f2 = (
        threshold(metric=metric).fit(X, Y).threshold_ for metric in ("f1", hm.FBeta(1), "f2")
    )
    assert f1 == fbeta1 > f2


def test_any_function_of_the_counts_may_be_the_metric():
    gain = hm.Metric("gain", lambda tp, fp, *_: 4.0 * tp - fp)
    model = threshold(metric=gain).fit(X, Y)
    scores = cross_val_predict(NB, X, Y, method="predict_proba")[:, 1]
    assert model.threshold_ == hm.tune(Y, scores, gain).threshold
    assert model.score(X, Y) == hm.score(Y, model.predict(X), gain)


def test_tuned_f1_is_above_that_of_the_default_threshold():
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2000, 2))
    y = x[:, 0] + 1.5 * rng.normal(size=2000) > 2.7
    model = threshold(LOGIT).fit(x[:1000], y[:1000])
    default = clone(LOGIT).fit(x[:1000], y[:1000]).predict(x[1000:])
    assert model.score(x[1000:], y[1000:]) > f1_score(y[1000:], default) + 0.1


# Estimators of every kind.


@pytest.mark.parametrize("name", LABELLERS)
def test_labels_are_predicted_at_the_thresholds_by_any_estimator(name):
    estimator = LABELLERS[name]
    model = threshold(estimator, cv=FOLDS).fit(XM, YM)
    method = response(estimator)
    pooled = np.empty(YM.shape)
    for train, test in FOLDS:
        fitted = clone(estimator).fit(XM[train], YM[train])
        pooled[test] = of_labels(getattr(fitted, method)(XM[test]))
    assert_allclose(model.thresholds_, hm.tune(YM, pooled).thresholds)
    fitted = clone(estimator).fit(XM, YM)
    scores = of_labels(getattr(fitted, method)(XM))
    assert_array_equal(model.predict(XM), scores >= model.thresholds_)
    assert model.predict(XM).dtype == np.int64
    assert model.score(XM, YM) == pytest.approx(f1_score(YM, model.predict(XM), average="macro"))
    assert len(model.classes_) == YM.shape[1]


@pytest.mark.parametrize("name", BINARY)
def test_two_classes_are_predicted_at_the_threshold_by_any_estimator(name):
    estimator = BINARY[name]
    model = threshold(estimator, cv=2).fit(X, Y)
    method = response(estimator)
    pooled = cross_val_predict(estimator, X, Y, cv=StratifiedKFold(2), method=method)
    pooled = pooled[:, 1] if pooled.ndim == 2 else pooled
    assert model.threshold_ == pytest.approx(hm.tune(Y, pooled).threshold)
    scores = getattr(clone(estimator).fit(X, Y), method)(X)
    scores = scores[:, 1] if scores.ndim == 2 else scores
    assert_array_equal(model.predict(X), (scores >= model.threshold_).astype(int))
    assert_array_equal(model.classes_, [0, 1])


@pytest.mark.parametrize("estimator", [LOGIT, SVC(), GradientBoostingClassifier(n_estimators=4)])
@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
def test_responses_are_those_of_the_estimator(estimator, method):
    model = threshold(estimator, cv=2)
    there = hasattr(estimator, method)
    assert hasattr(model, method) == there
    model.fit(X, Y)
    assert hasattr(model, method) == there
    if there:
        assert_array_equal(getattr(model, method)(X), getattr(model.estimator_, method)(X))


def test_responses_of_labels_keep_the_shape_of_the_estimator():
    model = threshold(MultiOutputClassifier(NB), cv=2).fit(XM, YM)
    answer = model.predict_proba(XM[:5])
    assert isinstance(answer, list)
    assert [part.shape for part in answer] == [(5, 2)] * 4
    assert not hasattr(model, "decision_function")


@pytest.mark.parametrize(("x", "y"), [(X, Y), (XM, YM)], ids=["two classes", "labels"])
def test_the_decision_function_of_a_regressor_is_its_prediction(x, y):
    model = threshold(Ridge(), cv=2)
    assert hasattr(model, "decision_function")
    assert not hasattr(model, "predict_proba")
    model.fit(x, y)
    assert_array_equal(model.decision_function(x), model.estimator_.predict(x))
    assert is_classifier(model)


def test_linear_regression_of_labels_is_the_tagger_of_the_paper():
    model = threshold(LinearRegression()).fit(XM, YM)
    assert_array_equal(
        model.predict(XM), LinearRegression().fit(XM, YM).predict(XM) >= model.thresholds_
    )
    assert_array_equal(np.array(model.classes_), [[0, 1]] * 4)


def test_constant_scores_predict_all_rows_or_none():
    constant = DummyClassifier(strategy="prior")
    all_rows = threshold(constant, cv=StratifiedKFold(2)).fit(X[:100], np.arange(100) % 2)
    assert all_rows.predict(X).all()
    assert all_rows.score_ == pytest.approx(2 / 3)
    no_rows = threshold(constant, metric="accuracy").fit(X, Y)
    assert no_rows.threshold_ == INF
    assert not no_rows.predict(X).any()


def test_a_constant_prediction_is_tuned_too():
    model = threshold(DummyClassifier(strategy="constant", constant=1)).fit(X, Y)
    assert model.predict(X).all()


# Thresholds are applied, which scikit-learn's meta-estimators do not do.


def test_thresholds_inside_one_vs_rest_are_ignored_by_scikit_learn_and_ours_are_not():
    inner = TunedThresholdClassifierCV(NB, scoring="f1", thresholds=15, cv=0.5, random_state=0)
    inside = OneVsRestClassifier(inner).fit(XM, YM)
    plain = OneVsRestClassifier(NB).fit(XM, YM)
    assert_array_equal(inside.predict(XM), plain.predict(XM))
    assert any(abs(one.best_threshold_ - 0.5) > 0.1 for one in inside.estimators_)
    ours = threshold(EACH, cv=3).fit(XM, YM)
    assert (ours.predict(XM) != plain.predict(XM)).any()
    assert_array_equal(ours.predict(XM), plain.predict_proba(XM) >= ours.thresholds_)


def test_thresholds_are_used_inside_multi_output_and_voting():
    model = MultiOutputClassifier(threshold(cv=3)).fit(XM, YM)
    for j, one in enumerate(model.estimators_):
        assert_array_equal(
            model.predict(XM)[:, j], NB.fit(XM, YM[:, j]).predict_proba(XM)[:, 1] >= one.threshold_
        )
    voting = VotingClassifier([("one", threshold(cv=3))]).fit(X, np.array(["a", "b"])[Y])
    assert_array_equal(voting.predict(X) == "b", threshold(cv=3).fit(X, Y).predict(X))


def test_score_is_the_metric_that_was_maximised():
    two = threshold(metric="f2").fit(X, Y)
    assert two.score(X, Y) == pytest.approx(fbeta_score(Y, two.predict(X), beta=2))
    for average in ("macro", "micro", "samples"):
        rule = "expected" if average == "samples" else "empirical"
        model = threshold(EACH, average=average, rule=rule, cv=FOLDS).fit(XM, YM)
        reached = f1_score(YM, model.predict(XM), average=average, zero_division=0)
        assert model.score(XM, YM) == pytest.approx(reached)
    weights = np.arange(len(Y)) % 3 + 0.5
    assert two.score(X, Y, weights) == hm.score(Y, two.predict(X), "f2", sample_weight=weights)


# The score to expect on new data.


def test_the_expected_score_is_near_the_score_on_fresh_data():
    """With many rare labels, the tuned score is much higher than the score on new rows."""
    rng = np.random.default_rng(8)
    slopes, m = rng.normal(size=(3, 60)), 60

    def draw(n):
        X = rng.normal(size=(n, 3))
        return X, (X @ slopes + 1.5 * rng.normal(size=(n, m)) > 4.0).astype(int)

    X, y = draw(700)
    keep = y.sum(axis=0) >= 3
    fresh_x, fresh_y = draw(6000)
    model = threshold(LinearRegression(), cv=4).fit(X, y[:, keep])
    fresh = model.score(fresh_x, fresh_y[:, keep])
    assert model.expected_score_ < model.score_
    assert abs(model.expected_score_ - fresh) < 0.35 * (model.score_ - fresh)


def test_the_assessment_is_that_of_the_pooled_scores():
    model = threshold(EACH, cv=FOLDS).fit(XM, YM)
    scores = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    order = np.concatenate([test for _, test in FOLDS])
    found = model.assessment_
    same = hm.assess(YM[order], scores[order], n_resamples=len(found.resampled_scores))
    assert model.expected_score_ == found.expected_score == same.expected_score
    assert found.score == model.score_
    assert found.score_interval == same.score_interval
    assert_array_equal(found.thresholds.thresholds, model.thresholds_)
    assert_array_equal(found.label_expected_scores, same.label_expected_scores)
    assert_array_equal(found.thresholds.support, YM.sum(axis=0))


@pytest.mark.parametrize("rule", ["empirical", "expected"])
def test_the_staircase_shows_every_threshold_on_the_pooled_rows(rule):
    model = threshold(EACH, rule=rule, cv=FOLDS).fit(XM, YM)
    scores = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    same = hm.Staircase.of(YM, scores)
    for name in ("thresholds", "true_positives", "predicted", "positives", "total"):
        assert_array_equal(getattr(model.staircase_, name), getattr(same, name))


# A label without positives in the training rows of a fold.


@pytest.mark.filterwarnings("ignore:Label (not )?. is present:UserWarning")
@pytest.mark.parametrize("name", ["one-vs-rest", "one-vs-rest, margins", "neighbours", "forest"])
def test_a_label_without_positives_in_a_fold_is_never_predicted_there(name):
    y = YM.copy()
    y[:, 2] = 0
    y[:2, 2] = 1  # both held out by the first fold
    estimator = LABELLERS[name]
    model = threshold(estimator, cv=FOLDS).fit(XM, y)
    scores = np.full(YM.shape, -INF)
    for k, (train, test) in enumerate(FOLDS):
        fitted = clone(estimator).fit(XM[train], y[train])
        answer = of_labels(getattr(fitted, response(estimator))(XM[test]))
        columns = [0, 1, 3] if k == 0 else [0, 1, 2, 3]
        scores[np.ix_(test, columns)] = answer[:, columns]
    assert_array_equal(model.thresholds_, hm.tune(y, scores).thresholds)
    assert model.thresholds_[2] == INF
    assert not model.predict(XM)[:, 2].any()


@pytest.mark.filterwarnings("ignore:Label (not )?. is present:UserWarning")
@pytest.mark.parametrize("name", ["one-vs-rest", "one-vs-rest, margins", "neighbours", "forest"])
def test_labels_of_no_rows_and_of_all_rows(name):
    y = YM.copy()
    y[:, 0], y[:, 1] = 0, 1
    model = threshold(LABELLERS[name], cv=3).fit(XM, y)
    assert model.thresholds_[0] == INF
    assert_array_equal(model.predict(XM)[:, 0], 0)
    assert_array_equal(model.predict(XM)[:, 1], 1)
