"""The options of `tune` in `ThresholdClassifier`: metrics, costs, floors, caps, averages, 0/0."""

import pickle
import warnings

import numpy as np
import pytest
from classifier_cases import EACH, FOLDS, LOGIT, NB, XM, YM, AsScores, X, Y, threshold
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics import (
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    make_scorer,
    matthews_corrcoef,
)
from sklearn.model_selection import (
    GridSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_val_predict,
)
from strategies import restrictions, weights

import halfmax as hm

NAN = float("nan")
COST = hm.cost(fp=1, fn=10, tp=0.5)
METRICS = ("f1", "f2", "precision", "accuracy", "mcc", "gmean", "kappa", "npv", COST)


def quietly(call):
    """Return the result of a call without its warnings, or the words of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HalfmaxWarning)
        try:
            return call()
        except ValueError as error:
            return str(error)


@st.composite
def rows(draw, labels):
    """Truth and scores of 6 to 14 rows, with ties, both classes, and no label of all rows."""
    n = draw(st.integers(6, 14))
    levels = st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.5, 1.0])
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n * labels, max_size=n * labels)))
    s = np.array(draw(st.lists(levels, min_size=n * labels, max_size=n * labels)))
    y, s = y.reshape(n, labels), s.reshape(n, labels)
    y[:2] = [[0], [1]]
    return y, s, draw(weights(n))


@st.composite
def asked(draw):
    return draw(restrictions()) | {
        "metric": draw(st.sampled_from(METRICS)),
        "average": draw(st.sampled_from(["macro", "micro", "samples", "weighted"])),
        "per_label": draw(st.booleans()),
        "zero_division": draw(st.sampled_from([0.0, 1.0, NAN])),
        "guard": draw(st.sampled_from([None, None, None, "smooth"])),
    }


@given(st.sampled_from([1, 3]).flatmap(rows), asked())
def test_fitted_models_are_tuned_as_by_tune(data, how):
    """The same thresholds, score and errors; and score uses the same metric, average and 0/0."""
    y, s, w = data
    truth = y[:, 0] if y.shape[1] == 1 else y
    if truth.ndim == 1 and how["average"] == "weighted":
        how["average"] = "macro"
    model = threshold(AsScores(truth.ndim == 1), cv="prefit", **how)
    scores = s[:, 0] if truth.ndim == 1 else s
    expected = quietly(lambda: hm.tune(truth, scores, sample_weight=w, **how))
    found = quietly(lambda: model.fit(s, truth, w))
    if isinstance(expected, str):
        assert found == expected
        return
    assert_array_equal(found.thresholds_, expected.thresholds)
    assert_array_equal(found.score_, expected.score)
    predictions = model.predict(s)
    assert_array_equal(predictions, expected.predict(scores))
    measured = {name: how[name] for name in ("metric", "average", "zero_division")}
    same = hm.score(truth, predictions, sample_weight=w, **measured)
    assert_array_equal(model.score(s, truth, w), same)


WAYS = [
    {"min_precision": 0.7},
    {"min_recall": 0.8, "metric": "precision"},
    {"min_specificity": 0.9},
    {"max_predicted": 25},
    {"max_predicted": 0.1, "metric": "recall"},
    {"metric": COST},
    {"metric": "mcc"},
    {"metric": "balanced_accuracy", "zero_division": 1.0},
]


@pytest.mark.parametrize("how", WAYS, ids=str)
def test_two_classes_are_tuned_on_pooled_scores(how):
    model = threshold(cv=4, **how).fit(X, Y)
    scores = cross_val_predict(NB, X, Y, cv=StratifiedKFold(4), method="predict_proba")[:, 1]
    best = hm.tune(Y, scores, **how)
    assert (model.threshold_, model.score_) == (best.threshold, best.score)
    same = hm.assess(Y, scores, **how)
    assert model.expected_score_ == pytest.approx(same.expected_score, rel=1e-9)
    assert model.assessment_.score_interval == pytest.approx(same.score_interval, rel=1e-9)
    assert_array_equal(model.assessment_.thresholds.thresholds, best.thresholds)


@pytest.mark.parametrize(
    "how",
    [
        {"min_precision": 0.5},
        {"min_recall": 0.6, "average": "micro", "metric": "precision"},
        {"max_predicted": 40, "average": "micro"},
        {"average": "weighted"},
        {"average": "weighted", "metric": "kappa", "max_predicted": 12},
        {"per_label": False},
        {"per_label": False, "average": "micro", "metric": "mcc"},
        {"metric": COST, "average": "micro"},
        {"zero_division": NAN},
    ],
    ids=str,
)
def test_labels_are_tuned_on_pooled_scores(how):
    model = threshold(EACH, cv=FOLDS, **how).fit(XM, YM)
    scores = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
    best = hm.tune(YM, scores, **how)
    assert_array_equal(model.thresholds_, best.thresholds)
    assert model.score_ == best.score
    assert np.isfinite(model.expected_score_)
    copy = pickle.loads(pickle.dumps(model))
    assert copy.expected_score_ == model.expected_score_
    assert clone(model).fit(XM, YM).score_ == model.score_


def test_a_number_of_rows_is_the_same_share_of_the_rows_that_are_scored():
    """30 of 120 rows are 9 of 36 that are held out, and 90 of 360 that are scored thrice."""
    held_out = ShuffleSplit(1, test_size=0.3, random_state=0)
    thrice = RepeatedStratifiedKFold(n_splits=2, n_repeats=3, random_state=0)
    for cv, size in ((held_out, 36), (thrice, 360)):
        model = threshold(metric="recall", max_predicted=30, cv=cv).fit(X, Y)
        (predicted,) = {int(n) for n in model.assessment_.thresholds.predicted}
        assert 0.2 < predicted / size <= 0.25
        same = threshold(metric="recall", max_predicted=0.25, cv=cv).fit(X, Y)
        assert model.threshold_ == same.threshold_
        assert model.expected_score_ == same.expected_score_
    weights = np.where(np.arange(120) < 60, 3.0, 1.0)  # 60 of 240 are a quarter
    options = {"metric": "recall", "cv": held_out}
    models = [threshold(max_predicted=most, **options) for most in (60, 0.25)]
    number, share = (model.fit(X, Y, weights).threshold_ for model in models)
    assert number == share
    of_labels = [threshold(EACH, average="micro", max_predicted=most, cv=0.5) for most in (72, 0.2)]
    number, share = (model.fit(XM, YM).thresholds_ for model in of_labels)
    assert_array_equal(number, share)


def test_floors_that_no_threshold_satisfies_warn():
    with pytest.warns(hm.HalfmaxWarning, match=r"no threshold satisfies min_precision=1"):
        model = threshold(min_precision=1.0, min_recall=0.9).fit(X, Y)
    assert not model.predict(X).any()


# Where scikit-learn does the same.


@pytest.mark.parametrize(
    ("metric", "scorer"),
    [
        ("balanced_accuracy", balanced_accuracy_score),
        ("mcc", matthews_corrcoef),
        ("kappa", cohen_kappa_score),
        ("f1", f1_score),
        (COST, lambda y, p: hm.score(y, p, COST)),
    ],
    ids=["balanced accuracy", "mcc", "kappa", "f1", "cost"],
)
def test_no_threshold_of_scikit_learns_search_is_better(metric, scorer):
    fitted = clone(LOGIT).fit(X[:60], Y[:60])
    scores = fitted.predict_proba(X[60:])[:, 1]
    theirs = TunedThresholdClassifierCV(
        fitted, scoring=make_scorer(scorer), thresholds=np.unique(scores), cv="prefit", refit=False
    ).fit(X[60:], Y[60:])
    ours = threshold(fitted, metric=metric, cv="prefit").fit(X[60:], Y[60:])
    assert ours.score_ == pytest.approx(theirs.best_score_)
    assert ours.score(X[60:], Y[60:]) == pytest.approx(scorer(Y[60:], ours.predict(X[60:])))
    assert scorer(Y[60:], theirs.predict(X[60:])) == pytest.approx(ours.score_)


def test_the_threshold_of_costs_is_near_elkans():
    """With calibrated probabilities it is fp / (fp + fn) = 0.2, up to the sample."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(20_000, 2))
    y = rng.random(20_000) < 1 / (1 + np.exp(1.0 - 1.5 * x[:, 0]))
    model = threshold(LOGIT, metric=hm.cost(fp=1, fn=4)).fit(x, y)
    assert model.threshold_ == pytest.approx(0.2, abs=0.03)
    fixed = threshold(model.estimator_, metric=hm.cost(fp=1, fn=4), thresholds=0.2)
    assert model.score_ >= fixed.score(x, y) - 1e-3
    assert model.score_ - 0.01 < model.expected_score_ < model.score_


def test_a_search_minimises_costs():
    grid = GridSearchCV(threshold(LOGIT, metric=COST, cv=2), {"estimator__C": [1e-6, 1.0]}, cv=2)
    grid.fit(X, Y)
    cheap = grid.cv_results_["mean_test_score"]
    assert grid.best_index_ == np.argmax(cheap)
    assert (cheap < 0).all()
    assert grid.score(X, Y) == hm.score(Y, grid.predict(X), COST)


def test_the_expected_rule_knows_the_value_of_nothing():
    """Where a label is hopeless, predicting nothing is right with probability 1 - p."""
    for zero_division in (0.0, 1.0):
        model = threshold(EACH, rule="expected", zero_division=zero_division, cv=FOLDS)
        model.fit(XM, YM)
        decision = hm.decide(model.predict_proba(XM[:3]), zero_division=zero_division)
        assert_array_equal(model.predict(XM[:3]), decision.predictions)
        pooled = cross_val_predict(EACH, XM, YM, cv=FOLDS, method="predict_proba")
        found = hm.decide(pooled, zero_division=zero_division).predictions
        assert_allclose(model.score_, hm.score(YM, found, zero_division=zero_division))
    assert hm.decide([[0.1]], zero_division=1.0).predictions.tolist() == [[0]]
