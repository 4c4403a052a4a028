"""`make_threshold_scorer`: every model is scored at its own thresholds, chosen on other rows."""

import pickle
import warnings

import naive
import numpy as np
import pandas as pd
import pytest
from classifier_cases import AsScores
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

import halfmax as hm

X, Y = make_classification(200, weights=[0.8], class_sep=0.5, random_state=0)
RNG = np.random.default_rng(0)
MANY = (X[:, :4] + RNG.normal(size=(200, 4)) > [0.0, 0.5, 1.0, 1.5]).astype(int)
BOTH = GaussianNB().fit(X, Y)
EACH = OneVsRestClassifier(GaussianNB()).fit(X, MANY)


def by_hand(truth, scores, folds, average="macro", metric="f1", weights=None, **how):
    """Tune on all folds but one, and predict that one.

    For labels with thresholds of their own, and a metric that is 0 where nothing is predicted, each
    hit there counts the metric per hit of its threshold on all rows.
    """
    columns = truth[:, None] if truth.ndim == 1 else truth
    fold = np.array(naive.dealt(columns, np.full(folds, 1 / folds)))
    zero_division = how.get("zero_division", 0.0)
    predicted = np.zeros(truth.shape, int)
    total, best = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    if (how.get("max_predicted") or 0) >= 1:
        cells = len(truth) if weights is None else weights.sum()
        cells *= columns.shape[1] if average == "micro" else 1
        how["max_predicted"] = min(how["max_predicted"] / cells, 1 - 1e-12)
    for number in range(folds):
        seen, rest = fold != number, fold == number
        weight = None if weights is None else weights[seen]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", hm.HalfmaxWarning)
            tuned = hm.tune(truth[seen], scores[seen], metric, average, sample_weight=weight, **how)
        predicted[rest] = tuned.predict(scores[rest])
        for j, everywhere in enumerate(tuned.predict(scores).reshape(columns.shape).T):
            value = hm.score(columns[:, j], everywhere, metric, sample_weight=weights)
            hits = columns[:, j] * everywhere * (1.0 if weights is None else weights)
            best[j] = max(best[j], value)
            total[j] += value * hits[rest].sum() / max(hits.sum(), 1e-300)
    by_hit = metric in ("f1", "f2", "jaccard", "recall") or (
        metric == "precision" and zero_division == 0
    )
    apart = how.get("per_label", True) and average in ("macro", "weighted")
    if not (by_hit and (truth.ndim == 1 or apart)):
        return hm.score(truth, predicted, metric, average, weights, zero_division)
    of_label = np.minimum(total, best)
    there = np.ones(len(truth)) if weights is None else weights
    positives = there @ columns
    for j in np.flatnonzero(positives == 0):
        rest = predicted.reshape(columns.shape)[:, j]
        of_label[j] = hm.score(columns[:, j], rest, metric, "macro", weights, zero_division)
    if average == "weighted" and positives.any():
        return np.average(of_label, weights=positives)
    return np.nanmean(of_label)


@pytest.mark.parametrize("folds", [2, 5])
@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard"])
def test_two_classes_by_hand(folds, metric):
    got = hm.make_threshold_scorer(metric, folds=folds)(BOTH, X, Y)
    expected = by_hand(Y, BOTH.predict_proba(X)[:, 1], folds, metric=metric)
    assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("guard", [None, "auto"])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("container", [np.array, sparse.csr_array, sparse.csc_matrix, pd.DataFrame])
def test_many_labels_by_hand(average, container, guard):
    scorer = hm.make_threshold_scorer("f1", average, guard=guard, folds=3)
    expected = by_hand(MANY, EACH.predict_proba(X), 3, average, guard=guard)
    assert_allclose(scorer(EACH, X, container(MANY)), expected, rtol=1e-12)


@pytest.mark.parametrize(("model", "truth"), [(BOTH, Y), (EACH, MANY)])
def test_weights_by_hand(model, truth):
    weights = RNG.integers(0, 4, 200)
    scores = model.predict_proba(X)
    scores = scores[:, 1] if truth.ndim == 1 else scores
    expected = by_hand(truth, scores, 5, weights=weights)
    assert_allclose(hm.make_threshold_scorer()(model, X, truth, weights), expected, rtol=1e-12)


@pytest.mark.parametrize(
    "how",
    [
        {"min_precision": 0.75},
        {"metric": "precision", "min_recall": 0.5},
        {"min_specificity": 0.95},
        {"metric": "recall", "max_predicted": 30},
        {"metric": "recall", "max_predicted": 0.15},
        {"metric": "mcc", "max_predicted": 50},
        {"metric": hm.cost(fp=1, fn=4)},
        {"metric": "balanced_accuracy"},
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_options_of_tune_by_hand(how, weighted):
    """A number of rows is a share of all rows that are scored, and so of the rows tuned on."""
    weights = RNG.integers(1, 4, 200) if weighted else None
    expected = by_hand(Y, BOTH.predict_proba(X)[:, 1], 5, weights=weights, **how)
    got = hm.make_threshold_scorer(**how)(BOTH, X, Y, weights)
    assert_allclose(got, expected, rtol=1e-12)
    assert got != hm.make_threshold_scorer()(BOTH, X, Y, weights)


@pytest.mark.parametrize(
    "how",
    [
        {"min_precision": 0.4},
        {"average": "micro", "max_predicted": 100},
        {"average": "micro", "min_recall": 0.5, "metric": "precision"},
        {"average": "weighted"},
        {"average": "weighted", "metric": "mcc"},
        {"per_label": False},
        {"per_label": False, "average": "samples"},
        {"zero_division": 1.0},
        {"zero_division": float("nan")},
        {"zero_division": 1.0, "metric": "precision"},
        {"zero_division": 1.0, "average": "samples"},
        {"metric": hm.cost(fp=1, fn=4), "average": "micro"},
    ],
    ids=str,
)
def test_options_of_tune_for_many_labels_by_hand(how):
    truth = np.column_stack([MANY, np.zeros(200, int)])
    scores = np.column_stack([EACH.predict_proba(X), RNG.random(200)])
    model = AsScores(one=False)
    expected = by_hand(truth, scores, 4, **how)
    assert_allclose(hm.make_threshold_scorer(folds=4, **how)(model, scores, truth), expected)


def test_a_search_looks_for_the_lowest_cost():
    scorer = hm.make_threshold_scorer(hm.cost(fp=1, fn=5))
    grid = {"n_neighbors": [1, 25]}
    search = GridSearchCV(KNeighborsClassifier(), grid, scoring=scorer).fit(X, Y)
    found = search.cv_results_["mean_test_score"]
    assert found[0] < found[1] < 0
    assert search.best_params_ == {"n_neighbors": 25}


def test_logarithms_rank_as_probabilities_do():
    scores = [
        hm.make_threshold_scorer(response_method=method)(BOTH, X, Y)
        for method in ("auto", "predict_log_proba", ["decision_function", "predict_log_proba"])
    ]
    assert_allclose(scores, scores[0])


def test_classes_of_any_type_and_either_may_be_positive():
    words = np.where(Y == 1, "bad", "good")
    model = GaussianNB().fit(X, words)
    probability = model.predict_proba(X)
    for place, word in enumerate(["bad", "good"]):
        scorer = hm.make_threshold_scorer(pos_label=word)
        expected = by_hand((words == word).astype(int), probability[:, place], 5)
        assert_allclose(scorer(model, X, words), expected, rtol=1e-12)


def test_regressors_can_be_scored():
    model = Ridge().fit(X, Y)
    scorer = hm.make_threshold_scorer()
    assert_allclose(scorer(model, X, Y), by_hand(Y, model.predict(X), 5), rtol=1e-12)
    signs = 2 * Y - 1
    model = Ridge().fit(X, signs)
    assert_allclose(scorer(model, X, signs), by_hand(Y, model.predict(X), 5), rtol=1e-12)
    model = Ridge().fit(X, MANY)
    assert_allclose(scorer(model, X, MANY), by_hand(MANY, model.predict(X), 5), rtol=1e-12)


def test_a_threshold_of_one_half_has_no_special_meaning():
    """Scores in the same order on another scale reach the same."""

    class Shrunk(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            positive = BOTH.predict_proba(X)[:, 1] / 10
            return np.column_stack([1 - positive, positive])

    scorer = hm.make_threshold_scorer("f1")
    assert scorer(Shrunk(), X, Y) == scorer(BOTH, X, Y) > 0.5
    assert f1_score(Y, Shrunk().predict_proba(X)[:, 1] >= 0.5) == 0


def test_the_score_of_noise_is_not_optimistic():
    """On scores without signal a tuned score is luck, which other rows do not share."""
    rng = np.random.default_rng(1)

    class Noise(ClassifierMixin, BaseEstimator):
        classes_ = np.array([0, 1])

        def predict_proba(self, X):
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    tuned, scored = [], []
    for _ in range(100):
        rows, truth = rng.random((300, 1)), (rng.random(300) < 0.02).astype(int)
        tuned.append(hm.tune(truth, rows[:, 0]).score)
        scored.append(hm.make_threshold_scorer()(Noise(), rows, truth))
    all_rows = 2 * 0.02 / 1.02
    assert np.mean(tuned) > 1.6 * all_rows
    assert np.mean(scored) < 1.1 * all_rows


def test_rows_of_a_single_class_can_be_scored():
    scorer = hm.make_threshold_scorer()
    assert scorer(BOTH, X[Y == 0], Y[Y == 0]) == 0.0
    assert scorer(BOTH, X[Y == 1], Y[Y == 1]) > 0.9
    assert hm.make_threshold_scorer()(Ridge().fit(X, Y), X[Y == 0], Y[Y == 0]) == 0.0


def test_constant_scores_can_be_scored():
    model = DummyClassifier().fit(X, Y)
    all_rows = 2 * Y.mean() / (1 + Y.mean())
    assert_allclose(hm.make_threshold_scorer()(model, X, Y), all_rows)


def test_random_state_shuffles_reproducibly():
    scores = [hm.make_threshold_scorer(random_state=seed)(BOTH, X, Y) for seed in (None, 0, 0, 1)]
    assert scores[1] == scores[2]
    assert len(set(scores)) > 1


def test_scorers_can_be_cloned_and_pickled():
    scorer = hm.make_threshold_scorer("f2", "micro", folds=3, guard="auto", random_state=0)
    for copy in (clone(scorer), pickle.loads(pickle.dumps(scorer))):
        assert copy.get_params() == scorer.get_params()
        assert copy(EACH, X, MANY) == scorer(EACH, X, MANY)
    assert "ThresholdScorer" in repr(scorer)


def test_model_selection_uses_the_scorer():
    search = GridSearchCV(
        LogisticRegression(),
        {"C": [1e-4, 1.0]},
        scoring={"at half": "f1", "at best": hm.make_threshold_scorer("f1")},
        refit="at best",
    ).fit(X, Y)
    at_half, at_best = (search.cv_results_[f"mean_test_at {name}"] for name in ("half", "best"))
    assert at_half[0] == 0
    assert (at_best > at_half).all()
    both = cross_val_score(GaussianNB(), X, Y, scoring=hm.make_threshold_scorer(), n_jobs=2)
    alone = cross_val_score(GaussianNB(), X, Y, scoring=hm.make_threshold_scorer())
    assert_allclose(both, alone)


def test_weights_are_routed_where_they_are_requested():
    weights = RNG.integers(1, 4, 200).astype(float)
    with config_context(enable_metadata_routing=True):
        model = GaussianNB().set_fit_request(sample_weight=False)
        with_weights, without = (
            hm.make_threshold_scorer().set_score_request(sample_weight=requested)
            for requested in (True, False)
        )
        scorings = {"with": with_weights, "without": without}
        found = cross_validate(model, X, Y, scoring=scorings, params={"sample_weight": weights})
        plain = cross_val_score(model, X, Y, scoring=hm.make_threshold_scorer())
    assert_allclose(found["test_without"], plain)
    assert not np.allclose(found["test_with"], plain)


BAD = [
    ("metric", lambda: hm.make_threshold_scorer("g1"), ValueError, "metric must be"),
    ("average", lambda: hm.make_threshold_scorer(average="mean"), ValueError, "average must be"),
    ("guard", lambda: hm.make_threshold_scorer(guard="x"), ValueError, "guard must be"),
    ("no average", lambda: hm.make_threshold_scorer(average=None), ValueError, "one number is max"),
    ("floor", lambda: hm.make_threshold_scorer(min_recall=2), ValueError, "min_recall must be"),
    ("cap", lambda: hm.make_threshold_scorer(max_predicted=0), ValueError, "max_predicted must be"),
    ("0/0", lambda: hm.make_threshold_scorer(zero_division=2), ValueError, "zero_division must be"),
    ("per label", lambda: hm.make_threshold_scorer(per_label=1), TypeError, "per_label must be"),
    (
        "a guard with a floor",
        lambda: hm.make_threshold_scorer(guard="auto", min_recall=0.5),
        ValueError,
        "min_recall=0.5 is guaranteed only on the data you pass",
    ),
    (
        "a floor of rows",
        lambda: hm.make_threshold_scorer(average="samples", min_recall=0.5)(EACH, X, MANY),
        ValueError,
        "min_recall=0.5 must hold for each label",
    ),
    (
        "a metric that cannot be pooled",
        lambda: hm.make_threshold_scorer("mcc", "micro")(EACH, X, MANY),
        ValueError,
        "average='micro' .*needs a metric that is a ratio",
    ),
    (
        "costs of rows",
        lambda: hm.make_threshold_scorer(hm.cost(fp=np.ones(200), fn=1)),
        ValueError,
        "metric has costs for each row, which cannot be divided into folds.*one number for each",
    ),
    (
        "method",
        lambda: hm.make_threshold_scorer(response_method=["proba"])(BOTH, X, Y),
        ValueError,
        r"response_method must be 'auto', .*got \['proba'\]",
    ),
    ("folds", lambda: hm.make_threshold_scorer(folds=1), ValueError, "folds must be"),
    ("one row", lambda: hm.make_threshold_scorer()(BOTH, X[:1], Y[:1]), ValueError, "got one row"),
    (
        "classes",
        lambda: hm.make_threshold_scorer()(GaussianNB().fit(X, Y + MANY[:, 0]), X, Y + MANY[:, 0]),
        ValueError,
        "multiclass.*label_binarize",
    ),
    (
        "other classes",
        lambda: hm.make_threshold_scorer()(BOTH, X, Y + 1),
        ValueError,
        "y must hold the classes seen in fit, 0 and 1; got 2",
    ),
    ("short y", lambda: hm.make_threshold_scorer()(BOTH, X, Y[:90]), ValueError, "and 90 in y"),
    ("short X", lambda: hm.make_threshold_scorer()(BOTH, X[:90], Y), ValueError, "90 rows in X"),
    ("no y", lambda: hm.make_threshold_scorer()(BOTH, X, None), ValueError, "requires y"),
    (
        "short weights",
        lambda: hm.make_threshold_scorer()(BOTH, X, Y, [1.0]),
        ValueError,
        "sample_weight must hold one weight for each",
    ),
    ("columns", lambda: hm.make_threshold_scorer()(EACH, X, MANY[:, :2]), ValueError, "2 labels"),
]


@pytest.mark.parametrize(("call", "error", "message"), [row[1:] for row in BAD])
def test_errors_of_the_scorer_are_clear(call, error, message):
    with pytest.raises(error, match=message):
        call()
