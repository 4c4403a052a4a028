"""Which method scores, and logarithms of probabilities as scores."""

import numpy as np
import pytest
from classifier_cases import FOLDS, LOGIT, NB, XM, YM, X, Y, threshold
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.multioutput import ClassifierChain
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm
from halfmax.estimators.responses import find_method, scores_of
from halfmax.estimators.targets import TargetKind

TREE = DecisionTreeClassifier(random_state=0)
LOGS = {"response_method": "predict_log_proba"}


@pytest.mark.parametrize(
    ("asked", "estimator", "expected"),
    [
        ("auto", LOGIT, "predict_proba"),
        ("auto", SVC(), "decision_function"),
        ("auto", Ridge(), "predict"),
        ("predict_log_proba", LOGIT, "predict_log_proba"),
        (["predict_log_proba", "decision_function"], LOGIT, "predict_log_proba"),
        (["predict_log_proba", "decision_function"], SVC(), "decision_function"),
        (("decision_function", "predict_proba"), NB, "predict_proba"),
        (["predict", "predict_proba"], NB, "predict_proba"),
        (["predict_proba", "predict"], Ridge(), "predict"),
    ],
)
def test_the_first_method_that_the_estimator_has_scores(asked, estimator, expected):
    assert find_method(estimator, asked) == expected
    model = threshold(estimator, response_method=asked, cv=2)
    same = threshold(estimator, response_method=expected, cv=2)
    assert model.fit(X, Y).threshold_ == same.fit(X, Y).threshold_


@pytest.mark.parametrize("estimator", [LOGIT, NB], ids=["logistic", "naive Bayes"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_logarithms_rank_as_probabilities_do(estimator, pos_label):
    logs, plain = (threshold(estimator, pos_label=pos_label, cv=3, **how) for how in (LOGS, {}))
    for model in (logs, plain):
        model.fit(X, Y)
    assert_allclose(np.exp(logs.threshold_), plain.threshold_)
    assert logs.score_ == plain.score_
    assert_array_equal(logs.predict(X), plain.predict(X))
    assert_allclose(logs.expected_score_, plain.expected_score_, atol=1e-3)


@pytest.mark.parametrize("estimator", [LOGIT, TREE], ids=["logistic", "tree"])
@pytest.mark.parametrize("pos_label", [0, 1])
def test_logarithms_are_tuned_on_pooled_scores(estimator, pos_label):
    """A tree knows only probabilities of 0 and 1, whose logarithms are -inf and exactly 0."""
    model = threshold(estimator, pos_label=pos_label, cv=3, **LOGS).fit(X, Y)
    with np.errstate(divide="ignore"):
        pooled = cross_val_predict(
            estimator, X, Y, cv=StratifiedKFold(3), method="predict_log_proba"
        )[:, pos_label]
    best = hm.tune(pos_label == Y, pooled)
    assert (model.threshold_, model.score_) == (best.threshold, best.score)
    assert (estimator is not TREE) or model.threshold_ == 0.0


def test_a_logarithm_of_exactly_0_is_predicted_and_minus_infinity_never():
    fitted = clone(TREE).fit(X, Y)
    model = threshold(fitted, thresholds=0.0, **LOGS)
    assert_array_equal(model.predict(X), Y)
    assert_array_equal(threshold(fitted, thresholds=-1e300, **LOGS).predict(X), Y)
    assert not threshold(fitted, thresholds=5e-324, **LOGS).predict(X).any()


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestClassifier(5, random_state=0),
        ClassifierChain(NB),
        MLPClassifier((4,), solver="lbfgs", max_iter=500, random_state=0),
    ],
    ids=["list of matrices", "chain", "network"],
)
def test_logarithms_of_many_labels(estimator):
    logs, plain = (threshold(estimator, cv=FOLDS, **how).fit(XM, YM) for how in (LOGS, {}))
    assert_allclose(np.exp(logs.thresholds_), plain.thresholds_)
    assert_array_equal(logs.predict(XM), plain.predict(XM))


def test_a_label_of_a_single_class_has_no_logarithm():
    y = YM.copy()
    y[:, 0], y[:, 1] = 0, 1
    fitted = RandomForestClassifier(5, random_state=0).fit(XM, y)
    scores = scores_of(fitted, XM, "predict_log_proba", TargetKind(None, 1, 4))
    assert (scores[:, 0] == -np.inf).all()
    assert (scores[:, 1] == 0.0).all()


class OneColumn(ClassifierMixin, BaseEstimator):
    """A classifier that returns the logarithm of one class alone."""

    def __init__(self, classes):
        self.classes = classes

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.array(self.classes)
        return self

    def predict_log_proba(self, X):
        return np.log(X[:, :1])


@pytest.mark.parametrize(
    ("classes", "pos_label", "turned"),
    [([0, 1], 1, False), ([0, 1], 0, True), ([1], 1, False), ([1], 0, True), ([0], 1, True)],
)
def test_one_column_of_logarithms_is_turned_for_the_other_class(classes, pos_label, turned):
    p = np.array([[1e-20], [0.25], [0.5], [1.0 - 2**-53], [1.0]])
    kind = TargetKind.of_classes(np.array([0, 1]), pos_label)
    model = OneColumn(classes).fit(p, None)
    scores = scores_of(model, p, "predict_log_proba", kind)
    with np.errstate(divide="ignore"):
        assert_allclose(scores, np.log(1 - p[:, 0] if turned else p[:, 0]), atol=1e-16)
