"""Inside scikit-learn: `ThresholdClassifier`, `ExpectedFClassifier`, `make_threshold_scorer`."""

from collections.abc import Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.inputs import AVERAGES, GUARDS, METRICS, weights

ATTRIBUTES = "thresholds_ threshold_ score_ staircase_ classes_ n_features_in_ feature_names_in_"


@cache
def two_classes() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(240, 6, weights=[0.8], class_sep=0.6, random_state=0)


@cache
def many_labels() -> tuple[np.ndarray, np.ndarray]:
    return make_multilabel_classification(200, 6, n_classes=4, n_labels=1, random_state=0)


def fitted(X: Any, y: Any, model: Any, assess: bool = False, **fit: Any) -> Answer:
    """What a fitted model tells and predicts."""
    model.fit(X, y, **fit)
    found = {name: getattr(model, name, None) for name in ATTRIBUTES.split()}
    found["predicted"], found["reached"] = model.predict(X), model.score(X, y)
    if assess:
        found["expected"], found["assessment"] = model.expected_score_, model.assessment_
    return Answer(found, repr(model))


def binary() -> Iterator[Case]:
    X, y = two_classes()
    logistic = LogisticRegression()
    ways: dict[str, dict[str, Any]] = {name: {"metric": METRICS[name]} for name in METRICS}
    ways |= {f"guard {guard}": {"guard": guard} for guard in GUARDS}
    ways |= {
        "expected": {"rule": "expected"},
        "expected f2": {"rule": "expected", "metric": "f2"},
        "held out": {"cv": 0.3, "random_state": 1},
        "held out, kept": {"cv": 0.3, "random_state": 1, "refit": False},
        "folds": {"cv": KFold(3)},
        "repeated": {"cv": ShuffleSplit(3, random_state=0)},
        "shuffled": {"cv": 3, "random_state": 5},
        "decision_function": {"response_method": "decision_function"},
        "first class": {"pos_label": 0},
        "two jobs": {"n_jobs": 2},
        "mcc": {"metric": "mcc"},
        "cost": {"metric": hm.cost(fp=1, fn=10)},
        "floors": {"min_precision": 0.4, "min_specificity": 0.8},
        "cap": {"metric": "recall", "max_predicted": 30},
        "cap, held out": {"metric": "recall", "max_predicted": 30, "cv": 0.3},
        "logarithms": {"response_method": "predict_log_proba"},
        "fixed": {"thresholds": 0.3},
    }
    for name, how in ways.items():
        model = hm.ThresholdClassifier(logistic, **how)
        yield Case(f"classifier/one/{name}", partial(fitted, X, y, model))
    for name, inner in {"svm": LinearSVC(), "ridge": Ridge()}.items():
        model = hm.ThresholdClassifier(inner)
        yield Case(f"classifier/one/{name}", partial(fitted, X, y, model, assess=True))
    words = np.array(["no", "yes"])[y]
    yield Case(
        "classifier/one/strings", partial(fitted, X, words, hm.ThresholdClassifier(logistic))
    )
    how = {"assess": True, "sample_weight": weights(len(y)) + 0.1}
    yield Case(
        "classifier/one/weights", partial(fitted, X, y, hm.ThresholdClassifier(logistic), **how)
    )
    prefit = hm.ThresholdClassifier(LogisticRegression().fit(X[:80], y[:80]), cv="prefit")
    yield Case("classifier/one/prefit", partial(fitted, X[80:], y[80:], prefit, assess=True))


def multilabel() -> Iterator[Case]:
    X, y = many_labels()
    each = OneVsRestClassifier(LogisticRegression())
    for average in AVERAGES:
        for rule in ("empirical", "expected"):
            model = hm.ThresholdClassifier(each, average=average, rule=rule, cv=3)
            assess = average != "samples"
            work = partial(fitted, X, y, model, assess=assess)
            yield Case(f"classifier/many/{average}/{rule}", work)
    forest = RandomForestClassifier(5, max_depth=3, random_state=0)
    inner = {"forest": forest, "multi": MultiOutputClassifier(LogisticRegression())}
    ways: dict[str, dict[str, Any]] = {
        "weighted": {"average": "weighted"},
        "shared": {"per_label": False},
        "floor": {"min_recall": 0.5, "metric": "precision"},
        "fixed": {"thresholds": [0.2, 0.3, 0.4, 0.5]},
    }
    for name, how in ways.items():
        model = hm.ThresholdClassifier(each, cv=3, zero_division=1.0, **how)
        yield Case(f"classifier/many/{name}", partial(fitted, X, y, model))
    for name, estimator in inner.items():
        model = hm.ThresholdClassifier(estimator, cv=3, guard="auto")
        yield Case(f"classifier/many/{name}", partial(fitted, X, y, model))
    model = hm.ThresholdClassifier(each, cv=3)
    frame = pd.DataFrame(X, columns=list("abcdef")), pd.DataFrame(y, columns=list("wxyz"))
    yield Case("classifier/many/sparse", partial(fitted, X, sparse.csr_matrix(y), model))
    yield Case("classifier/many/pandas", partial(fitted, *frame, model))


def expected_f(X: Any, y: Any, **how: Any) -> Answer:
    model = hm.ExpectedFClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), **how)
    model.fit(X, y)
    found = [model.sizes_, model.classes_, model.labels_, model.predict(X), model.score(X, y)]
    return Answer([*found, model.predict_proba(X), model.joint(X)], repr(model))


def expecting() -> Iterator[Case]:
    X, y = many_labels()
    for name in ("f1", "f2", "precision", "recall", "accuracy", "FBeta(1.3)"):
        yield Case(f"expected_f/{name}", partial(expected_f, X, y, metric=METRICS[name]))
    for how in ({"min_k": 1}, {"max_k": 1}, {"zero_division": 1.0}):
        yield Case(f"expected_f/{how}", partial(expected_f, X, y, **how))
    yield Case("expected_f/pandas", partial(expected_f, X, pd.DataFrame(y, columns=list("wxyz"))))


def searched(scorer: Any, X: Any, y: Any) -> Any:
    grid = {"C": [0.01, 1.0]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=scorer, cv=3).fit(X, y)
    return search.cv_results_["mean_test_score"], search.best_params_["C"]


def scorers() -> Iterator[Case]:
    X, y = two_classes()
    fit = LogisticRegression().fit(X, y)
    for name in METRICS:
        work = partial(
            lambda s: Answer(s(fit, X, y), repr(s)), hm.make_threshold_scorer(METRICS[name])
        )
        yield Case(f"scorer/one/{name}", work)
    ways: list[dict[str, Any]] = [
        {"folds": 3},
        {"guard": "auto"},
        {"random_state": 1},
        {"pos_label": 0},
        {"metric": "recall", "max_predicted": 30},
        {"min_precision": 0.4},
        {"metric": hm.cost(fp=1, fn=10)},
    ]
    for how in ways:
        yield Case(f"scorer/one/{how}", partial(hm.make_threshold_scorer(**how), fit, X, y))
    weigh = partial(hm.make_threshold_scorer(), fit, X, y, sample_weight=weights(len(y)))
    yield Case("scorer/one/weights", weigh)
    yield Case("scorer/search", partial(searched, hm.make_threshold_scorer("f2"), X, y))
    X, y = many_labels()
    each = OneVsRestClassifier(LogisticRegression())
    for average in AVERAGES:
        scorer = hm.make_threshold_scorer("f1", average)
        work = partial(cross_val_score, each, X, y, scoring=scorer, cv=2)
        yield Case(f"scorer/many/{average}", work)


GROUPS = (binary, multilabel, expecting, scorers)
