"""`ThresholdClassifier` among scikit-learn's tools: pickle, clone, search, pipelines, refits."""

import pickle

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from classifier_cases import EACH, FOLDS, LOGIT, NB, XM, YM, X, Y, threshold
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import (
    LogisticRegression,
    Ridge,
)
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import BernoulliNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils import estimator_html_repr

import halfmax as hm

# Tools of scikit-learn.


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


def test_a_clone_has_the_options_and_no_fitted_attributes():
    model = threshold(LOGIT, metric="f2", guard="auto", cv=3, pos_label=1).fit(X, Y)
    copy = clone(model)
    assert not hasattr(copy, "thresholds_")
    assert copy.estimator is not model.estimator
    assert str(copy.get_params()) == str(model.get_params())
    assert copy.fit(X, Y).threshold_ == model.threshold_


def test_parameters_of_the_inner_estimator_are_set_by_name():
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
    """Scorers of scikit-learn take high scores for the second class, whichever is positive."""
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


def test_text_models_have_no_number_of_features():
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


def test_the_html_of_a_model_names_both_estimators():
    model = threshold(LOGIT)
    for shown in (model, model.fit(X, Y)):
        picture = estimator_html_repr(shown)
        assert "ThresholdClassifier" in picture
        assert "LogisticRegression" in picture
    assert repr(clone(model)) == "ThresholdClassifier(estimator=LogisticRegression())"


def test_thresholds_within_thresholds():
    model = threshold(threshold(cv=2), cv=2).fit(X, Y)
    assert_array_equal(model.predict(X), model.predict_proba(X)[:, 1] >= model.threshold_)


# A model that is fitted twice.


def test_nothing_remains_of_an_earlier_fit():
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


def test_a_failed_fit_leaves_the_fitted_model_usable():
    model = threshold(cv=3).fit(X, Y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="multiclass"):
        model.fit(X, np.arange(120) % 3)
    assert_array_equal(model.predict(X), before)


def test_parameters_set_after_fit_take_effect_in_the_next_fit():
    model = threshold(EACH, cv=3).fit(XM, YM)
    before, reached = model.predict(XM), model.score(XM, YM)
    model.set_params(rule="expected", average="samples", metric="f2")
    assert_array_equal(model.predict(XM), before)
    assert model.score(XM, YM) == reached
    model.fit(XM, YM).set_params(rule="empirical")
    decision = hm.decide(model.predict_proba(XM), "f2", "samples")
    assert_array_equal(model.predict(XM), decision.predictions)


def test_fitting_again_gives_the_same_result():
    model = threshold(EACH, cv=3, random_state=1)
    first = model.fit(XM, YM).thresholds_
    assert_array_equal(model.fit(XM, YM).thresholds_, first)


# The assessment is computed on first access.


@pytest.mark.parametrize(
    ("options", "weighted"),
    [({"average": "samples"}, False), ({"guard": "auto"}, False), ({}, True), ({}, False)],
)
def test_the_assessment_is_computed_on_first_access(options, weighted):
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


# A fit that fails leaves the fitted model unchanged.


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
