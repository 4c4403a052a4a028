"""Data, estimators and helpers of the tests of `ThresholdClassifier`."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
    SGDClassifier,
)
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier, MultiOutputRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm

INF = float("inf")


def two_classes(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X @ [1.0, 0.7, 0.0] + rng.normal(size=n) > 1.2).astype(np.int64)
    return X, y


def many_labels(n=90, m=4, seed=0):
    """Return labels from common to rare, each on some rows and not on all."""
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
    """Return rows x labels from the result of predict_proba, whatever its shape."""
    if isinstance(answer, list):
        return np.column_stack([part[:, -1] for part in answer])
    return np.asarray(answer)


class AsScores(ClassifierMixin, BaseEstimator):
    """A classifier, fitted from the start, whose scores are its features."""

    def __init__(self, one=True):
        self.one = one

    @property
    def classes_(self):
        return np.array([0, 1]) if self.one else [np.array([0, 1])] * 4

    def fit(self, X, y):  # noqa: ARG002
        return self

    def decision_function(self, X):
        return X[:, 0] if self.one else X

    def predict(self, X):
        return (self.decision_function(X) >= 0).astype(int)

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = not self.one
        return tags


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
