"""A classifier that predicts at its own thresholds, wherever scikit-learn would use it."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.metrics import f1_score, fbeta_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RepeatedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import estimator_html_repr

import halfmax as hm
from halfmax.estimators.folds import LabelFolds

INF = float("inf")


def two_classes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X @ [1.0, 0.7, 0.0] + rng.normal(size=n) > 1.2).astype(np.int64)
    return X, y


def many_labels(n=90, m=4, seed=0):
    """Labels from common to rare; every one on some rows and not on all."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    cuts = np.linspace(-0.5, 1.5, m)
    y = (X @ rng.normal(size=(3, m)) + rng.normal(size=(n, m)) > cuts).astype(np.int64)
    y[0], y[1:4] = 0, 1
    return X, y


X, Y = two_classes()
XM, YM = many_labels()
NB, LOGIT = GaussianNB(), LogisticRegression()
EACH = OneVsRestClassifier(NB)
FOLDS = list(KFold(3).split(XM))


def threshold(estimator=NB, **options):
    return hm.ThresholdClassifier(estimator, **options)


def of_labels(answer):
    """Rows x labels from what predict_proba gives, in whichever shape."""
    if isinstance(answer, list):
        return np.column_stack([part[:, -1] for part in answer])
    return np.asarray(answer)


# Scores of rows not fitted on, pooled and swept once.


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
def test_labels_are_tuned_on_the_pooled_scores_of_the_splits_given(average, metric, guard):
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


# Estimators of every shape.

TREES = {"n_estimators": 5, "random_state": 0}
LABELLERS = {
    "one-vs-rest": EACH,
    "one-vs-rest, logistic": OneVsRestClassifier(LOGIT),
    "one-vs-rest, margins": OneVsRestClassifier(LinearSVC(random_state=0)),
    "one-vs-rest, SVC": OneVsRestClassifier(SVC()),
    "multi-output": MultiOutputClassifier(NB),
    "neighbours": KNeighborsClassifier(7),
    "forest": RandomForestClassifier(**TREES),
    "extra trees": ExtraTreesClassifier(**TREES),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
    "network": MLPClassifier((4,), solver="lbfgs", max_iter=500, random_state=0),
    "ridge classifier": RidgeClassifier(),
    "chain": ClassifierChain(NB),
    "chain, margins": ClassifierChain(RidgeClassifier()),
    "pipeline": make_pipeline(StandardScaler(), EACH),
    "pipeline, list of arrays": make_pipeline(StandardScaler(), MultiOutputClassifier(NB)),
    "grid search": GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 7]}, cv=2),
    "calibrated": MultiOutputClassifier(CalibratedClassifierCV(RidgeClassifier(), cv=2)),
    "ridge": Ridge(),
    "linear regression": LinearRegression(),
    "multi-output regressor": MultiOutputRegressor(Ridge()),
    "pipeline of a regressor": make_pipeline(StandardScaler(), Ridge()),
}
BINARY = {
    "naive Bayes": NB,
    "logistic": LOGIT,
    "SVC": SVC(),
    "margins": LinearSVC(random_state=0),
    "ridge classifier": RidgeClassifier(),
    "neighbours": KNeighborsClassifier(7),
    "forest": RandomForestClassifier(**TREES),
    "boosting": GradientBoostingClassifier(n_estimators=4, random_state=0),
    "histogram boosting": HistGradientBoostingClassifier(max_iter=4),
    "calibrated": CalibratedClassifierCV(RidgeClassifier(), cv=2),
    "one-vs-rest": EACH,
    "SGD": SGDClassifier(random_state=0),
    "grid search": GridSearchCV(LOGIT, {"C": [0.1, 1.0]}, cv=2),
    "pipeline": make_pipeline(StandardScaler(), LOGIT),
    "ridge": Ridge(),
    "linear regression": LinearRegression(),
}


def response(estimator):
    for method in ("predict_proba", "decision_function"):
        if hasattr(estimator, method):
            return method
    return "predict"


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


def test_constant_scores_predict_everybody_or_nobody():
    constant = DummyClassifier(strategy="prior")
    everybody = threshold(constant, cv=StratifiedKFold(2)).fit(X[:100], np.arange(100) % 2)
    assert everybody.predict(X).all()
    assert everybody.score_ == pytest.approx(2 / 3)
    nobody = threshold(constant, metric="accuracy").fit(X, Y)
    assert nobody.threshold_ == INF
    assert not nobody.predict(X).any()


def test_a_constant_of_the_wrong_class_is_no_error():
    model = threshold(DummyClassifier(strategy="constant", constant=1)).fit(X, Y)
    assert model.predict(X).all()


# What y may be.


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
    given = kind(YM).asformat(form)
    model = threshold(estimator, cv=FOLDS[:2]).fit(XM, given)
    dense = threshold(estimator, cv=FOLDS[:2]).fit(XM, YM)
    assert_array_equal(model.thresholds_, dense.thresholds_)
    predictions = model.predict(XM)
    assert sparse.issparse(predictions)
    assert sparse.isspmatrix(predictions) == sparse.isspmatrix(given)
    assert_array_equal(predictions.toarray(), dense.predict(XM))
    assert model.score(XM, given) == model.score(XM, YM) == dense.score(XM, given)
    assert_array_equal(given.toarray(), YM)


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


def test_more_labels_than_a_byte_can_count():
    x, y = many_labels(n=60, m=130)
    shares = OneVsRestClassifier(DummyClassifier())
    fitted = clone(shares).fit(x[:30], y[:30])
    for given in (y.astype(np.int8), sparse.csr_array(y.astype(np.int8))):
        half = [(np.arange(30), np.arange(30, 60))]
        model = threshold(shares, cv=half, refit=False).fit(x, given)
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


def test_inside_multi_output_and_voting_the_thresholds_count():
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


# The expected metric of the batch given.


@pytest.mark.parametrize("metric", ["f1", "f2"])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_expected_rule_decides_on_the_batch(average, metric):
    model = threshold(EACH, rule="expected", metric=metric, average=average, cv=FOLDS)
    model.fit(XM, YM)
    for batch in (XM, XM[:7], XM[:1]):
        decision = hm.decide(model.predict_proba(batch), metric, average)
        assert_array_equal(model.predict(batch), decision.predictions)
    pooled = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    decision = hm.decide(pooled, metric, average)
    assert model.score_ == model.expected_score_
    assert model.score_ == hm.score(YM, decision.predictions, metric, average)
    assert model.assessment_ is None
    assert hasattr(model, "thresholds_") == (average != "samples")
    if average != "samples":
        assert_array_equal(model.thresholds_, np.full(4, decision.thresholds))


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_the_expected_rule_of_two_classes(average):
    model = threshold(rule="expected", average=average).fit(X, Y)
    decision = hm.decide(model.predict_proba(X)[:, 1])
    assert_array_equal(model.predict(X), decision.predictions)
    pooled = cross_val_predict(NB, X, Y, method="predict_proba")[:, 1]
    assert model.threshold_ == hm.decide(pooled).threshold
    assert model.score_ == f1_score(Y, hm.decide(pooled).predictions)


def test_the_expected_rule_of_the_other_class():
    model = threshold(rule="expected", pos_label=0).fit(X, Y)
    decision = hm.decide(model.predict_proba(X)[:, 0])
    assert_array_equal(model.predict(X), 1 - decision.predictions)


def test_a_row_is_predicted_among_hopeless_ones_and_not_among_better_ones():
    model = threshold(rule="expected").fit(X, Y)
    p = model.predict_proba(X)[:, 1]
    row = int(np.argmin(np.abs(p - 0.3)))
    hopeless, better = np.argsort(p)[:20], np.argsort(-p)[:20]
    assert model.predict(X[[row, *hopeless]])[0] == 1
    assert model.predict(X[[row, *better]])[0] == 0
    assert model.predict(X[[row]])[0] == 1  # a batch of one has nothing to lose


def test_rows_are_batches_of_their_own_under_samples():
    model = threshold(EACH, rule="expected", average="samples", cv=FOLDS).fit(XM, YM)
    alone = np.vstack([model.predict(XM[[i]]) for i in range(len(XM))])
    assert_array_equal(alone, model.predict(XM))
    together = threshold(EACH, rule="expected", average="macro", cv=FOLDS).fit(XM, YM)
    alone = np.vstack([together.predict(XM[[i]]) for i in range(len(XM))])
    assert (alone != together.predict(XM)).any()


def test_the_expected_rule_with_labels_that_a_fold_has_not_seen():
    y = YM.copy()
    y[:, 2] = 0
    y[5, 2] = 1  # the only one, so the fold that holds it out has fitted on none
    with pytest.warns(UserWarning, match="Label not 2 is present in all training examples"):
        model = threshold(EACH, rule="expected", cv=FOLDS).fit(XM, y)
    pooled = np.zeros(y.shape)
    for k, (train, test) in enumerate(FOLDS):
        columns = [0, 1, 3] if k == 0 else [0, 1, 2, 3]
        fitted = clone(EACH).fit(XM[train], y[train][:, columns])
        pooled[np.ix_(test, columns)] = fitted.predict_proba(XM[test])
    assert model.score_ == hm.score(y, hm.decide(pooled).predictions)


# What to expect of new data.


def test_the_expected_score_is_near_the_score_on_fresh_data():
    """Many rare labels: the tuned score promises much more than new rows give."""
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


# Folds.


def test_a_share_without_refit_keeps_the_estimator_of_that_part():
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


def test_one_split_given_without_refit():
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
def test_splits_given_in_any_form(form):
    lists = [(train.tolist(), test.tolist()) for train, test in KFold(3).split(X)]
    model = threshold(cv=form(lists)).fit(X, Y)
    assert model.threshold_ == threshold(cv=KFold(3)).fit(X, Y).threshold_


def test_many_folds_at_once_give_the_same():
    alone = threshold(EACH, cv=2).fit(XM, YM)
    together = threshold(EACH, cv=2, n_jobs=2).fit(XM, YM)
    assert_array_equal(alone.thresholds_, together.thresholds_)
    assert alone.expected_score_ == together.expected_score_


def test_fit_leaves_what_it_was_given_alone():
    x, y, w = X.copy(), Y.copy(), np.ones(len(Y))
    threshold().fit(x, y, w)
    assert_array_equal(x, X)
    assert_array_equal(y, Y)
    assert_array_equal(w, 1.0)


# Weights and metadata.

WEIGHTS = np.arange(120) % 3
TWICE = np.repeat(np.arange(120), WEIGHTS)


def repeated(splits, times):
    """The same splits of rows that are written down so many times."""
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


def test_weights_that_the_estimator_cannot_take_count_in_tuning_and_warn():
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
    """Remembers what its fits were given."""

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


@pytest.mark.parametrize("wanted", [True, False])
@config_context(enable_metadata_routing=True)
def test_routed_weights_reach_the_estimator_that_asks_for_them(heard, wanted):
    estimator = Listener().set_fit_request(sample_weight=wanted)
    model = threshold(estimator, cv=3).fit(X, Y, sample_weight=WEIGHTS)
    assert all((weights is not None) == wanted for *_, weights, _, _ in heard())
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
def test_rows_without_weight_might_as_well_be_missing():
    weights = (np.arange(120) % 2 == 0).astype(float)
    folds = [(np.arange(60), np.arange(60, 120)), (np.arange(60, 120), np.arange(60))]
    halves = [(train[::2] // 2, test[::2] // 2) for train, test in folds]
    estimator = LogisticRegression().set_fit_request(sample_weight=True)
    light = threshold(estimator, cv=folds).fit(X, Y, sample_weight=weights)
    fewer = threshold(estimator, cv=halves).fit(X[::2], Y[::2])
    assert_allclose(light.predict_proba(X), fewer.predict_proba(X), atol=1e-5)
    assert_array_equal(light.predict(X), fewer.predict(X))


@config_context(enable_metadata_routing=True)
def test_what_nobody_asked_for_is_an_error():
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


# Among scikit-learn's tools.


@pytest.mark.parametrize("rule", ["empirical", "expected"])
@pytest.mark.parametrize(
    ("estimator", "x", "y"),
    [
        (NB, X, np.array(["a", "b"])[Y]),
        (EACH, XM, YM),
        (EACH, XM, sparse.csr_matrix(YM)),
        (EACH, XM, pd.DataFrame(YM, columns=list("abcd"))),
    ],
    ids=["two classes", "labels", "sparse", "frame"],
)
def test_models_survive_pickle_and_joblib(estimator, x, y, rule, tmp_path):
    model = threshold(estimator, rule=rule, metric="f2", cv=2).fit(x, y)
    joblib.dump(model, tmp_path / "model.joblib")
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        same, found = model.predict(x), copy.predict(x)
        if sparse.issparse(same):
            same, found = same.toarray(), found.toarray()
        assert_array_equal(found, same)
        assert copy.score(x, y) == model.score(x, y)
        assert copy.expected_score_ == model.expected_score_
        if rule == "empirical":
            assert str(copy.assessment_.table()) == str(model.assessment_.table())


def test_a_clone_knows_the_options_and_nothing_of_the_fit():
    model = threshold(LOGIT, metric="f2", guard="auto", cv=3, pos_label=1).fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "thresholds_")
    assert copy.estimator is not model.estimator
    assert str(copy.get_params()) == str(model.get_params())
    assert copy.fit(X, Y).threshold_ == model.threshold_


def test_parameters_of_the_inner_estimator_are_reached_by_name():
    model = threshold(make_pipeline(StandardScaler(), LogisticRegression()))
    model.set_params(estimator__logisticregression__C=0.01, metric="f2", cv=3)
    assert model.estimator[-1].C == 0.01
    names = model.get_params()
    assert names["estimator__logisticregression__C"] == 0.01
    assert (names["metric"], names["cv"]) == ("f2", 3)
    assert "estimator" not in threshold(LOGIT).get_params(deep=False)["estimator"].get_params()


def test_grid_search_over_inner_and_outer_parameters():
    grid = GridSearchCV(
        threshold(LOGIT, cv=2), {"estimator__C": [0.01, 1.0], "guard": [None, "auto"]}, cv=2
    ).fit(X, Y)
    assert len(grid.cv_results_["params"]) == 4
    best = grid.best_estimator_
    assert grid.score(X, Y) == best.score(X, Y) == f1_score(Y, grid.predict(X))
    for (train, test), key in zip(
        StratifiedKFold(2).split(X, Y), ("split0_test_score", "split1_test_score"), strict=True
    ):
        fitted = threshold(clone(LOGIT).set_params(C=0.01), cv=2).fit(X[train], Y[train])
        assert grid.cv_results_[key][0] == fitted.score(X[test], Y[test])


def test_cross_validated_scores_of_labels():
    model = threshold(EACH, cv=2)
    ours = cross_val_score(model, XM, YM, cv=FOLDS)
    theirs = cross_val_score(model, XM, YM, cv=FOLDS, scoring="f1_macro")
    assert_allclose(ours, theirs)


@pytest.mark.parametrize("estimator", [LOGIT, Ridge(), SVC()], ids=["logistic", "ridge", "SVC"])
@pytest.mark.parametrize("pos_label", [None, 0, 1])
def test_rankings_are_those_of_the_estimator(estimator, pos_label):
    """Scorers of scikit-learn take high scores for the second class, whatever is positive here."""
    model = threshold(estimator, pos_label=pos_label, cv=2)
    plain = LOGIT if isinstance(estimator, Ridge) else estimator
    ours, theirs = (cross_val_score(m, X, Y, cv=2, scoring="roc_auc") for m in (model, plain))
    assert_allclose(ours, theirs, atol=0.05)


def test_scorers_of_scikit_learn_see_the_thresholds():
    model = threshold(LOGIT, pos_label="b", cv=2)
    y = np.array(["b", "a"])[Y]
    scorer = make_scorer(f1_score, pos_label="b")
    assert_array_equal(cross_val_score(model, X, y, scoring=scorer), cross_val_score(model, X, y))


def test_at_the_end_of_a_pipeline_names_of_features_are_known():
    pipeline = make_pipeline(StandardScaler(), threshold(LOGIT, cv=2))
    pipeline.set_output(transform="pandas")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    pipeline.fit(frame, Y)
    assert_array_equal(pipeline[-1].feature_names_in_, ["a", "b", "c"])
    assert_array_equal(
        pipeline.predict(frame),
        threshold(make_pipeline(StandardScaler(), LOGIT), cv=2).fit(frame, Y).predict(frame),
    )
    assert pipeline.score(frame, Y) == f1_score(Y, pipeline.predict(frame))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_frames_of_features(library):
    frame = library({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2]})
    model = threshold(LOGIT, cv=3).fit(frame, Y)
    assert_array_equal(model.feature_names_in_, ["a", "b", "c"])
    assert model.n_features_in_ == 3
    assert_array_equal(model.predict(frame), threshold(LOGIT, cv=3).fit(X, Y).predict(X))


def test_texts_have_no_number_of_features():
    texts = ["cheap pills now", "meeting at noon", "cheap watches", "lunch at noon"] * 6
    y = ["spam", "ham", "spam", "ham"] * 6
    model = threshold(make_pipeline(TfidfVectorizer(), BernoulliNB()), cv=3).fit(texts, y)
    assert not hasattr(model, "n_features_in_")
    assert model.predict(["cheap pills", "at noon"]).tolist() == ["spam", "ham"]
    labels = np.array([[1, 0], [0, 1], [1, 0], [0, 1]] * 6)
    tagger = make_pipeline(TfidfVectorizer(), OneVsRestClassifier(BernoulliNB()))
    model = threshold(tagger, cv=3).fit(np.array(texts, object), labels)
    assert_array_equal(model.predict(texts), labels)


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array])
def test_sparse_features(form):
    model = threshold(LOGIT, cv=3).fit(form(X), Y)
    assert_array_equal(model.predict(form(X)), threshold(LOGIT, cv=3).fit(X, Y).predict(X))


def test_a_precomputed_kernel_is_cut_in_both_directions():
    kernel = X @ X.T
    model = threshold(SVC(kernel="precomputed"), cv=3).fit(kernel, Y)
    linear = threshold(SVC(kernel="linear"), cv=3).fit(X, Y)
    assert model.threshold_ == pytest.approx(linear.threshold_, abs=1e-2)
    prefit = threshold(SVC(kernel="precomputed").fit(kernel, Y), cv="prefit").fit(kernel, Y)
    assert_array_equal(
        prefit.predict(kernel), prefit.decision_function(kernel) >= prefit.threshold_
    )


def test_a_picture_of_the_model_names_both():
    model = threshold(LOGIT)
    for shown in (model, model.fit(X, Y)):
        picture = estimator_html_repr(shown)
        assert "ThresholdClassifier" in picture
        assert "LogisticRegression" in picture
    assert repr(clone(model)) == "ThresholdClassifier(estimator=LogisticRegression())"


def test_thresholds_within_thresholds():
    model = threshold(threshold(cv=2), cv=2).fit(X, Y)
    assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= model.threshold_)


# A model fitted twice.


def test_nothing_is_left_of_an_earlier_fit():
    frame = pd.DataFrame(XM, columns=["a", "b", "c"])
    model = threshold(EACH, cv=3).fit(frame, YM[:, 0])
    assert model.threshold_ == model.thresholds_[0]
    model.fit(XM, YM)
    assert not hasattr(model, "threshold_")
    assert not hasattr(model, "feature_names_in_")
    model.set_params(rule="expected", average="samples").fit(XM, YM)
    assert not hasattr(model, "thresholds_")
    assert model.assessment_ is None
    model.set_params(rule="empirical", average="macro")
    model.fit(XM, pd.DataFrame(YM, columns=list("abcd")))
    assert list(model.assessment_.table()["label"]) == list("abcd")
    model.fit(XM, YM)
    assert list(model.assessment_.table()["label"]) == [0, 1, 2, 3]
    texts = [f"word{i % 3}" for i in range(90)]
    model.set_params(estimator=make_pipeline(TfidfVectorizer(), BernoulliNB()))
    model.fit(texts, np.arange(90) % 3 == 0)
    assert not hasattr(model, "n_features_in_")


def test_a_failed_fit_leaves_the_fitted_model_whole():
    model = threshold(cv=3).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="multiclass"):
        model.fit(X, np.arange(120) % 3)
    assert_array_equal(model.predict(X), before)


def test_parameters_set_after_fit_wait_for_the_next_fit():
    model = threshold(EACH, cv=3).fit(XM, YM)
    before, reached = model.predict(XM), model.score(XM, YM)
    model.set_params(rule="expected", average="samples", metric="f2")
    assert_array_equal(model.predict(XM), before)
    assert model.score(XM, YM) == reached
    model.fit(XM, YM).set_params(rule="empirical")
    decision = hm.decide(model.predict_proba(XM), "f2", "samples")
    assert_array_equal(model.predict(XM), decision.predictions)


def test_fitting_again_gives_the_same():
    model = threshold(EACH, cv=3, random_state=1)
    first = model.fit(XM, YM).thresholds_
    assert_array_equal(model.fit(XM, YM).thresholds_, first)


# A label that a fold has not seen.


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
def test_labels_that_nobody_or_everybody_has(name):
    y = YM.copy()
    y[:, 0], y[:, 1] = 0, 1
    model = threshold(LABELLERS[name], cv=3).fit(XM, y)
    assert model.thresholds_[0] == INF
    assert_array_equal(model.predict(XM)[:, 0], 0)
    assert_array_equal(model.predict(XM)[:, 1], 1)


# What takes longer than tuning waits until it is asked for.


@pytest.mark.parametrize(
    ("options", "weighted"),
    [({"average": "samples"}, False), ({"guard": "auto"}, False), ({}, True), ({}, False)],
)
def test_the_assessment_waits_until_it_is_asked_for(options, weighted):
    weights = np.ones(len(XM)) if weighted else None
    model = hm.ThresholdClassifier(KNeighborsClassifier(), **options)
    if weighted:
        with pytest.warns(hm.HalfmaxWarning, match="takes no sample_weight"):
            model.fit(XM, YM, sample_weight=weights)
    else:
        model.fit(XM, YM)
    assert model._pending is not None
    copy = pickle.loads(pickle.dumps(model))
    assert model.expected_score_ == model.assessment_.expected_score
    assert model.assessment_ is model.assessment_
    assert model._pending is None
    assert copy.expected_score_ == model.expected_score_
    assert_array_equal(copy.predict(XM), model.predict(XM))


# A fit that fails leaves what was there.


@pytest.mark.parametrize("rule", ["empirical", "expected"])
def test_a_fit_that_fails_changes_nothing(rule, monkeypatch):
    model = hm.ThresholdClassifier(NB, rule=rule).fit(X, Y)
    before = dict(vars(model))

    def fails(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr(hm.Staircase, "of_checked", fails)
    with pytest.raises(KeyboardInterrupt):
        model.fit(XM, YM[:, 0])
    assert vars(model) == before
    assert len(model.predict(X)) == len(X)
