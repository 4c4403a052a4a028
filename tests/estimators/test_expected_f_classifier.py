"""The plug-in F-maximiser for dependent labels, as a scikit-learn estimator."""

import pickle
from fractions import Fraction

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.metrics import f1_score
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import ClassifierChain
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks
from strategies import AWKWARD, shares_of_nothing

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.expected.joint import Joint, open_joint, reconcile

METRICS = ("f1", "f0.5", "f2", "precision", "recall", "accuracy")
metrics = st.sampled_from(METRICS)


def of_trees(**options):
    """Leaves of full trees hold the frequencies among the rows with the same x."""
    return hm.ExpectedFClassifier(DecisionTreeClassifier(), **options)


def clusters(n, seed):
    """Either most of eight labels, or one of two others."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 4)), np.zeros((n, 10), np.int64)
    many = rng.random(n) < 1 / (1 + np.exp(0.4 - X[:, 0]))
    other = 8 + (rng.random(n) < 1 / (1 + np.exp(-3 * X[:, 1])))
    y[:, :8] = many[:, None] & (rng.random((n, 8)) < 0.9)
    y[~many, other[~many]] = 1
    return X, y


def some_rows(n=60, seed=0):
    """Four labels that depend on X and on each other; some rows have none."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X @ rng.normal(size=(3, 4)) + rng.normal(size=(n, 1)) > 0.5).astype(np.int64)
    y[:2] = [[0] * 4, [1] * 4]
    return X, y


# Models that disagree.


@st.composite
def estimates(draw, elements, most=5):
    """Rows x items x sizes, and rows: any probabilities."""
    rows, items = draw(st.integers(1, 3)), draw(st.integers(1, most))
    shape = rows, items, draw(st.integers(1, items))
    q = draw(hnp.arrays(np.float64, shape, elements=elements, fill=st.nothing()))
    return q, draw(hnp.arrays(np.float64, rows, elements=elements, fill=st.nothing()))


shares = st.sampled_from([0.0, 0.0, 0.1, 0.5, 1.0]) | st.floats(1e-200, 1.0)
awkward = st.sampled_from(AWKWARD) | st.floats(0.0, 1.0)


def naive_shares(column, size):
    """Scaled to add up to the size; what is above 1 then becomes 1, until nothing is."""
    full = set()
    while True:
        others = [i for i in range(len(column)) if i not in full]
        rest, left = sum(column[i] for i in others), size - len(full)
        scaled = {
            i: column[i] * left / rest if rest else Fraction(left, len(others)) for i in others
        }
        above = {i for i, share in scaled.items() if share > 1}
        if not above:
            return [scaled.get(i, Fraction(1)) for i in range(len(column))]
        full |= above


def naive_reconcile(q, p_empty):
    """For one row, exactly."""
    columns = [[Fraction(x) for x in column] for column in zip(*q, strict=True)]
    chances = [sum(column) / size for size, column in enumerate(columns, 1)]
    if not sum(chances):
        return [[0.0] * len(columns) for _ in q], 1.0
    chances = [chance / sum(chances) * (1 - Fraction(p_empty)) for chance in chances]
    repaired = [
        [chance * share for share in naive_shares(column, size)]
        for size, (column, chance) in enumerate(zip(columns, chances, strict=True), 1)
    ]
    return [list(map(float, row)) for row in zip(*repaired, strict=True)], p_empty


@given(estimates(shares))
def test_estimates_are_reconciled_as_by_hand(estimate):
    q, p_empty = reconcile(*estimate)
    for row in range(len(q)):
        expected = naive_reconcile(estimate[0][row].tolist(), estimate[1][row].item())
        assert_allclose(q[row], expected[0], rtol=1e-9, atol=1e-300)
        assert p_empty[row] == expected[1]


@given(estimates(awkward))
def test_reconciled_estimates_are_a_distribution(estimate):
    before = [side.copy() for side in estimate]
    repaired = reconcile(*estimate)
    open_joint(*repaired)
    assert ((repaired.q >= 0.0) & (repaired.q.sum(axis=2) <= 1.0 + 1e-12)[:, :, None]).all()
    assert_array_equal(estimate[0], before[0])
    assert_array_equal(estimate[1], before[1])


@given(estimates(awkward))
def test_items_keep_their_order_in_each_size(estimate):
    order = np.argsort(estimate[0], axis=1, kind="stable")
    given_, repaired = (
        np.take_along_axis(q, order, axis=1) for q in (estimate[0], reconcile(*estimate).q)
    )
    assert (np.diff(repaired, axis=1) >= 0.0).all()
    assert (np.diff(repaired, axis=1)[np.diff(given_, axis=1) == 0.0] == 0.0).all()


@given(estimates(shares))
def test_what_is_impossible_stays_so_if_it_can(estimate):
    q, repaired = estimate[0], reconcile(*estimate).q
    enough = (q > 0.0).sum(axis=1, keepdims=True) >= np.arange(1, q.shape[2] + 1)
    assert (repaired[np.broadcast_to(enough, q.shape) & (q == 0.0)] == 0.0).all()


draws = hnp.arrays(
    np.int8,
    st.tuples(st.integers(1, 3), st.integers(1, 8), st.integers(1, 5)),
    elements=st.integers(0, 1),
    fill=st.nothing(),
)


@given(draws)
def test_a_distribution_stays_as_it_is(draws):
    known = hm.joint_from_samples(draws)
    repaired = reconcile(*known)
    assert_allclose(repaired.q, known.q, rtol=1e-12, atol=1e-15)
    assert_allclose(repaired.p_empty, known.p_empty, rtol=1e-12)


@given(estimates(awkward))
def test_reconciling_twice_changes_nothing(estimate):
    once = reconcile(*estimate)
    twice = reconcile(*once)
    assert_allclose(twice.q, once.q, rtol=1e-9, atol=1e-15)


def test_a_row_without_any_estimate_has_no_labels():
    q, p_empty = reconcile(np.zeros((1, 3, 2)), np.array([0.25]))
    assert not q.any()
    assert p_empty.tolist() == [1.0]


# The best answer, where the models are right.


@st.composite
def discrete(draw):
    """Rows with one of up to three values of x."""
    n_items, groups = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    rows = [
        draw(hnp.arrays(np.int8, (draw(st.integers(1, 7)), n_items), elements=st.integers(0, 1)))
        for _ in range(groups)
    ]
    X = np.repeat(np.arange(groups), [len(part) for part in rows])[:, None]
    return X, np.concatenate(rows), rows


@given(discrete(), metrics, shares_of_nothing, st.integers(0, 1), st.data())
def test_no_set_of_labels_scores_higher(data, metric, zero_division, low, more):
    X, y, rows = data
    high = more.draw(st.none() | st.integers(low, y.shape[1]))
    options = {"zero_division": zero_division, "min_k": low, "max_k": high}
    model = of_trees(metric=metric, **options).fit(X, y)
    predicted = model.predict(np.arange(len(rows))[:, None])
    assert predicted.dtype == np.int64
    for h, part in zip(predicted, rows, strict=True):
        law = {}
        for one in map(tuple, part.tolist()):
            law[one] = law.get(one, 0) + Fraction(1, len(part))
        assert low <= h.sum() <= (len(h) if high is None else high)
        reached = naive.expected_value(law, h, metric, zero_division)
        best = naive.best_value(law, metric, zero_division, low, high)
        assert float(reached) == pytest.approx(float(best), rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "base",
    [
        DecisionTreeClassifier(),
        RandomForestClassifier(3, bootstrap=False, max_features=None, random_state=0),
    ],
)
def test_known_frequencies_are_decided_like_their_draws(base, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(4, size=(301, 1)), rng.integers(2, size=(301, 5))
    y[X[:, 0] == 1, 2:] = 0
    y[X[:, 0] == 2] = [1, 0, 1, 0, 0]
    model = hm.ExpectedFClassifier(base).fit(X, y)
    for x in range(4):
        known = hm.joint_from_samples(y[X[:, 0] == x])
        q, p_empty = model.joint([[x]])
        assert_allclose(q[0], known.q, rtol=1e-12, atol=1e-15)
        assert_allclose(p_empty, [known.p_empty], rtol=1e-12, atol=1e-15)
        assert_array_equal(model.predict([[x]])[0], hm.decide_joint(known).predictions)
        assert_allclose(model.predict_proba([[x]])[0], y[X[:, 0] == x].mean(axis=0), rtol=1e-12)


def test_weights_count_as_rows():
    rng = np.random.default_rng(0)
    X, y = rng.integers(3, size=(40, 1)), rng.integers(2, size=(40, 4))
    weights = rng.integers(1, 4, size=40)
    one = of_trees().fit(X, y, sample_weight=weights).joint(X)
    other = of_trees().fit(np.repeat(X, weights, axis=0), np.repeat(y, weights, axis=0)).joint(X)
    assert_allclose(one.q, other.q, rtol=1e-12, atol=1e-15)
    assert_allclose(one.p_empty, other.p_empty, rtol=1e-12, atol=1e-15)


# New data, where labels depend on each other.


@pytest.mark.parametrize("seed", range(3))
def test_dependent_labels_are_predicted_better_than_without_their_dependence(seed):
    (X, y), (new, truth) = clusters(1500, seed), clusters(1500, 100 + seed)
    base = LogisticRegression()

    def reached(predictions):
        return f1_score(truth, predictions, average="samples", zero_division=0)

    model = hm.ExpectedFClassifier(base).fit(X, y)
    alone = OneVsRestClassifier(base).fit(X, y)
    marginals = hm.decide(alone.predict_proba(new), average="samples").predictions
    chain = ClassifierChain(base).fit(X, y)
    got = model.score(new, truth)
    assert got == pytest.approx(reached(model.predict(new)))
    assert got > reached(chain.predict(new)) + 0.01
    assert got > reached(alone.predict(new)) + 0.1
    assert got > reached(marginals) + 0.03


# Labels of every kind.


def test_labels_that_never_or_always_occur():
    X, y = some_rows()
    y = np.column_stack([y, np.zeros(len(y), int), np.ones(len(y), int)])
    model = hm.ExpectedFClassifier(LogisticRegression()).fit(X, y)
    assert isinstance(model.estimators_[4], DummyClassifier)  # always 0
    assert isinstance(model.estimators_[5], LogisticRegression)  # 1, but with other labels
    assert isinstance(model.empty_estimator_, DummyClassifier)
    probabilities, predictions = model.predict_proba(X), model.predict(X)
    assert not probabilities[:, 4].any()
    assert not predictions[:, 4].any()
    assert predictions[:, 5].all()
    assert_allclose(model.joint(X).p_empty, 0.0)


@pytest.mark.parametrize("value", [0, 1])
def test_labels_that_are_all_alike(value):
    X, y = some_rows()[0], np.full((60, 3), value)
    model = hm.ExpectedFClassifier(LogisticRegression()).fit(X, y)
    assert_array_equal(model.predict(X), y)
    assert_array_equal(model.predict_proba(X), y)
    assert_array_equal(model.joint(X).p_empty, np.full(60, 1.0 - value))
    assert model.sizes_.tolist() == [3 * value]
    assert model.n_features_in_ == 3


def test_rows_without_labels_score_zero_division():
    X = np.zeros((10, 1))
    y = np.array([[0, 0]] * 6 + [[1, 0]] * 3 + [[1, 1]])
    model = of_trees().fit(X, y)
    assert model.sizes_.tolist() == [0, 1, 2]
    assert_allclose(model.joint(X[:1]).p_empty, [0.6])
    assert model.predict(X[:1]).tolist() == [[1, 0]]
    assert model.set_params(zero_division=1.0).predict(X[:1]).tolist() == [[0, 0]]
    assert model.score(X, y) == pytest.approx(0.6)
    assert model.set_params(min_k=1).predict(X[:1]).tolist() == [[1, 0]]


def test_one_label_is_one_column():
    X, y = some_rows()
    model = hm.ExpectedFClassifier(LogisticRegression()).fit(X, y[:, :1])
    alone = LogisticRegression().fit(X, y[:, 0]).predict_proba(X)
    assert_allclose(model.predict_proba(X), alone[:, 1:], rtol=1e-12)
    assert model.predict(X).shape == (60, 1)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
@pytest.mark.parametrize("cells", [1 << 20, 1])
def test_sparse_labels_give_sparse_predictions(container, cells):
    X, y = some_rows()
    expected = hm.ExpectedFClassifier(GaussianNB()).fit(X, y)
    whole = expected.predict(X), expected.predict_proba(X), expected.score(X, y)
    with changed(joint_block_cells=cells):
        model = hm.ExpectedFClassifier(GaussianNB()).fit(X, container(y))
        got = model.predict(X)
        in_blocks = expected.predict(X), expected.predict_proba(X), expected.score(X, y)
        probabilities, score = model.predict_proba(X), model.score(X, container(y))
    kind = sparse.csr_array if issubclass(container, sparse.sparray) else sparse.csr_matrix
    assert type(got) is kind
    assert got.dtype == np.int64
    assert_array_equal(got.toarray(), in_blocks[0])
    assert_array_equal(got.toarray(), whole[0])
    assert_array_equal(probabilities, in_blocks[1])
    assert_allclose(probabilities, whole[1], rtol=1e-9)
    assert score == in_blocks[2] == whole[2]


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_labels_may_be_a_frame(library):
    X, y = some_rows()
    model = hm.ExpectedFClassifier(GaussianNB())
    expected = clone(model).fit(X, y)
    assert expected.labels_ is None
    columns = dict(zip("abcd", y.T, strict=True))
    model.fit(X, library(columns))
    assert model.labels_ == ("a", "b", "c", "d")
    assert_array_equal(model.predict(X), expected.predict(X))
    turned = library({name: columns[name] for name in "dbca"})
    assert model.score(X, turned) == expected.score(X, y)
    with pytest.raises(ValueError, match="label names of y and the y of fit differ"):
        model.score(X, library(dict.fromkeys("abce", columns["a"])))


@pytest.mark.parametrize(
    "container",
    [
        np.asarray,
        np.ndarray.tolist,
        pd.DataFrame,
        sparse.csr_array,
        sparse.coo_matrix,
        lambda X: pl.DataFrame(X, schema=["a", "b", "c"]),
    ],
    ids=["array", "list", "pandas", "csr", "coo", "polars"],
)
def test_blocks_of_rows_are_decided_like_all_at_once(container):
    X, y = some_rows()
    X = container(X)
    model = hm.ExpectedFClassifier(LogisticRegression()).fit(X, y)
    expected = model.predict(X), model.predict_proba(X), *model.joint(X)
    with changed(joint_block_cells=16 * 7):
        got = model.predict(X), model.predict_proba(X), *model.joint(X)
    assert_array_equal(got[0], expected[0])
    for one, other in zip(got[1:], expected[1:], strict=True):
        assert_allclose(one, other, rtol=1e-9, atol=1e-15)


# An estimator among others.


def test_fitted_attributes():
    X, y = some_rows()
    frame = pd.DataFrame(X, columns=["u", "v", "w"])
    model = hm.ExpectedFClassifier(GaussianNB())
    assert not hasattr(model, "n_features_in_")
    assert model.fit(frame, y) is model
    assert len(model.estimators_) == 4
    assert_array_equal(model.sizes_, np.unique(y.sum(axis=1)))
    assert [classes.tolist() for classes in model.classes_] == [[0, 1]] * 4
    assert model.n_features_in_ == 3
    assert model.feature_names_in_.tolist() == ["u", "v", "w"]
    assert not hasattr(model.fit(X, y), "feature_names_in_")
    joint = model.joint(X)
    assert isinstance(joint, Joint)
    assert joint.q.shape == (60, 4, 4)
    assert_allclose(joint.q.sum(axis=2), model.predict_proba(X), rtol=1e-12)
    assert_array_equal(hm.decide_joint(joint).predictions, model.predict(X))


def test_sizes_end_with_the_largest_seen():
    X, y = some_rows()
    y[y.sum(axis=1) > 2] = [1, 0, 0, 1]
    model = hm.ExpectedFClassifier(GaussianNB()).fit(X, y)
    assert model.joint(X).q.shape == (60, 4, 2)


def test_copies_predict_the_same():
    X, y = some_rows()
    model = hm.ExpectedFClassifier(GaussianNB(), metric=hm.FBeta(2.0)).fit(X, y)
    expected = model.predict(X)
    assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), expected)
    with parallel_config("threading"):
        assert_array_equal(clone(model).set_params(n_jobs=2).fit(X, y).predict(X), expected)
    assert "GaussianNB" in model._repr_html_()


def test_scikit_learn_can_search_and_validate():
    X, y = some_rows(120)
    model = make_pipeline(StandardScaler(), hm.ExpectedFClassifier(GaussianNB()))
    name = "expectedfclassifier"
    grid = {f"{name}__estimator__var_smoothing": [0.01, 0.1], f"{name}__metric": ["f1", "recall"]}
    found = GridSearchCV(model, grid, cv=3, scoring="f1_samples", error_score="raise").fit(X, y)
    assert found.best_params_[f"{name}__metric"] == "f1"
    own = cross_val_score(model, X, y, cv=3, error_score="raise")
    assert_allclose(own, cross_val_score(model, X, y, cv=3, scoring="f1_samples"))
    assert_array_equal(found.predict(X).shape, y.shape)
    ranked = cross_val_score(model, X, y, cv=3, scoring="roc_auc", error_score="raise")
    assert (ranked > 0.5).all()


def test_the_estimator_may_be_a_pipeline_of_texts():
    texts = ["red", "red green", "green", "blue", "blue green", ""] * 4
    y = [[word in text for word in ("red", "green", "blue")] for text in texts]
    base = make_pipeline(CountVectorizer(), LogisticRegression(C=100.0))
    model = hm.ExpectedFClassifier(base, zero_division=1.0).fit(texts, y)
    assert_array_equal(model.predict(texts), np.array(y, int))
    weights = np.arange(1.0, 25.0)
    weighted = clone(model).fit(texts, y, logisticregression__sample_weight=weights)
    assert (weighted.predict_proba(texts) != model.predict_proba(texts)).any()
    with pytest.raises(ValueError, match="does not accept the sample_weight"):
        model.fit(texts, y, sample_weight=weights)


def test_weights_are_routed_where_they_are_requested():
    X, y = some_rows()
    weights = np.linspace(0.5, 3.0, 60)
    expected = hm.ExpectedFClassifier(GaussianNB()).fit(X, y, weights)
    with sklearn.config_context(enable_metadata_routing=True):
        requesting = GaussianNB().set_fit_request(sample_weight=True)
        got = hm.ExpectedFClassifier(requesting).fit(X, y, sample_weight=weights)
        assert_array_equal(got.predict_proba(X), expected.predict_proba(X))
        hm.ExpectedFClassifier(requesting).fit(X, y)
        renamed = GaussianNB().set_fit_request(sample_weight="mine")
        got = hm.ExpectedFClassifier(renamed).fit(X, y, mine=weights)
        assert_array_equal(got.predict_proba(X), expected.predict_proba(X))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            hm.ExpectedFClassifier(GaussianNB()).fit(X, y, sample_weight=weights)
        with pytest.raises(TypeError, match="sample_weight"):
            hm.ExpectedFClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_weights_are_routed_through_a_search():
    X, y = some_rows(90)
    weights = np.linspace(0.5, 3.0, 90)
    with sklearn.config_context(enable_metadata_routing=True):
        base = GaussianNB().set_fit_request(sample_weight=True)
        model = hm.ExpectedFClassifier(base).set_score_request(sample_weight=True)
        options = {"cv": 3, "error_score": "raise", "return_estimator": True}
        got = cross_validate(model, X, y, params={"sample_weight": weights}, **options)
    test = np.arange(30)  # unshuffled thirds
    first = clone(model).fit(X[30:], y[30:], weights[30:])
    assert_array_equal(got["estimator"][0].predict_proba(X), first.predict_proba(X))
    expected = hm.score(y[test], first.predict(X[test]), "f1", "samples", weights[test])
    assert got["test_score"][0] == pytest.approx(expected)


def test_scores_can_be_weighted():
    X, y = some_rows()
    model = hm.ExpectedFClassifier(GaussianNB(), metric="f2", zero_division=1.0).fit(X, y)
    weights = np.linspace(0.0, 1.0, 60)
    expected = hm.score(y, model.predict(X), "f2", "samples", weights, 1.0)
    assert model.score(X, y, weights) == expected


# scikit-learn's own checks.

TWO_CLASSES = "the check names the two classes of its one label 1 and 2; labels are 0 and 1"
NAMED_1_AND_2 = (
    "check_classifier_data_not_an_array",
    "check_estimators_dtypes",
    "check_fit2d_1feature",
    "check_sample_weights_not_an_array",
    "check_sample_weights_not_overwritten",
    "check_sample_weights_pandas_series",
    "check_sample_weights_shape",
)
ONE_PROBABILITY = "one label has one column of probabilities; the check asks for one of each class"
EXPECTED_FAILURES = dict.fromkeys(NAMED_1_AND_2, TWO_CLASSES) | {
    "check_classifiers_classes": "the check gives one dimension of words, not rows x labels",
    "check_classifiers_train": "the check gives one column, and asks for one dimension back",
    "check_classifier_multioutput": "the check asks for rounded probabilities; F asks for more",
    "check_estimator_sparse_array": ONE_PROBABILITY,
    "check_estimator_sparse_matrix": ONE_PROBABILITY,
}


@parametrize_with_checks(
    [hm.ExpectedFClassifier(LogisticRegression())],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_scikit_learn_agrees(estimator, check):
    check(estimator)


class Recoded(hm.ExpectedFClassifier):
    """Whatever two numbers the classes of a label are."""

    def fit(self, X, y, sample_weight=None):
        values = np.asarray(y)
        return super().fit(X, values == values.max(), sample_weight)


def recoded_checks():
    for estimator, check in estimator_checks_generator(Recoded(LogisticRegression())):
        if check.func.__name__ in NAMED_1_AND_2:
            yield pytest.param(estimator, check, id=check.func.__name__)


@pytest.mark.parametrize(("estimator", "check"), list(recoded_checks()))
def test_scikit_learn_agrees_once_classes_are_0_and_1(estimator, check):
    check(estimator)


def test_each_check_for_classes_1_and_2_is_made_with_0_and_1():
    assert {case.id for case in recoded_checks()} == set(NAMED_1_AND_2)


# Errors.


class Quiet(GaussianNB):
    """Fits and returns nothing, which scikit-learn's own meta-estimators accept."""

    def fit(self, X, y):
        super().fit(X, y)


def test_an_estimator_whose_fit_returns_nothing():
    X, y = some_rows()
    model, usual = (hm.ExpectedFClassifier(one).fit(X, y) for one in (Quiet(), GaussianNB()))
    assert_array_equal(model.predict(X), usual.predict(X))


class Broken(ClassifierMixin, BaseEstimator):
    """A classifier with the same odd probability everywhere."""

    def __init__(self, value=np.nan, extra=0):
        self.value = value
        self.extra = extra

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.full((len(X), len(self.classes_) + self.extra), self.value)


X, Y = some_rows()
LR = LogisticRegression()


def fit(y=Y, base=LR, X=X, weights=None, **options):
    return lambda: hm.ExpectedFClassifier(base, **options).fit(X, y, weights)


def then(method, *args, base=LR, **options):
    return lambda: getattr(hm.ExpectedFClassifier(base, **options).fit(X, Y), method)(*args)


# The name of the case, the call, the error, and what its message must contain.
BAD = [
    ("no truth", fit(None), ValueError, r"requires y to be passed.*None"),
    ("one dimension", fit(Y[:, 0]), ValueError, r"y must be.*\(60,\).*binary.*ThresholdClassifier"),
    ("classes", fit(Y.sum(axis=1)), ValueError, r"y must be.*multiclass.*label_binarize"),
    ("numbers", fit(X[:, 0]), ValueError, r"y must be.*\(60,\), continuous"),
    ("three dimensions", fit(Y[None]), ValueError, r"y must have.*got 3"),
    ("several classes", fit(Y * 2), ValueError, r"y must hold only 0 and 1.*y\[0?1, 0\] is 2"),
    ("probabilities", fit(Y / 2), ValueError, r"y must hold only 0 and 1.*is 0.5"),
    ("missing", fit(Y * [1, 1, np.nan, 1]), ValueError, r"y\[0, 2\] is nan.*missing"),
    ("sparse classes", fit(sparse.csr_array(Y * 3)), ValueError, r"y must hold.*is 3"),
    ("words", fit([["a", "b"]] * 60), ValueError, r"Unknown label type: y must be numbers"),
    ("complex", fit(Y * 1j), ValueError, r"Complex data not supported: y must be numbers"),
    ("no labels", fit(Y[:, :0]), ValueError, r"y must not be empty"),
    ("fewer rows", fit(Y[:-1]), ValueError, r"got 60 rows in X and 59 in y"),
    ("no estimator", fit(base=None), TypeError, r"estimator must be.*predict_proba.*got None"),
    ("a class", fit(base=LogisticRegression), TypeError, r"estimator must be an instance"),
    ("a regressor", fit(base=LinearRegression()), TypeError, r"estimator.*predict_proba.*Linear"),
    ("no predict_proba", fit(base=RidgeClassifier()), TypeError, r"CalibratedClassifierCV"),
    ("unknown metric", fit(metric="f"), ValueError, r"metric must be 'f1'"),
    (
        "MCC",
        fit(metric="mcc"),
        ValueError,
        r"FBeta, 'precision', 'recall' or 'accuracy'; got 'mcc'",
    ),
    ("Jaccard", fit(metric="jaccard"), ValueError, r"metric 'jaccard' of dependent items"),
    ("0/0 is 2", fit(zero_division=2), ValueError, r"zero_division must be.*0 to 1; got 2"),
    ("0/0 unknown", fit(zero_division=np.nan), ValueError, r"zero_division must be.*got nan"),
    ("too many", fit(min_k=5), ValueError, r"min_k must not be above the number of items.*5 and 4"),
    ("crossed", fit(min_k=2, max_k=1), ValueError, r"min_k must not be above max_k.*2 and 1"),
    ("half a label", fit(max_k=1.5), ValueError, r"max_k must be a whole number.*1.5"),
    ("one limit each", fit(min_k=[1, 1]), ValueError, r"min_k must be one number"),
    ("no jobs", fit(n_jobs=0), ValueError, r"n_jobs must be.*got 0"),
    ("many jobs", fit(n_jobs="all"), ValueError, r"n_jobs must be.*got 'all'"),
    ("few weights", fit(weights=[1.0]), ValueError, r"sample_weight must hold one.*60 rows"),
    ("negative weights", fit(weights=-np.ones(60)), ValueError, r"sample_weight\[0\] is -1"),
    ("no weight", fit(weights=np.zeros(60)), ValueError, r"sample_weight must not be zero"),
    (
        "weights that are not taken",
        fit(base=KNeighborsClassifier(), weights=np.ones(60)),
        TypeError,
        r"sample_weight must be None.*KNeighborsClassifier does not take it.*60 rows",
    ),
    (
        "NaN probabilities",
        then("predict", X, base=Broken()),
        ValueError,
        r"Broken returned nan in row 0",
    ),
    ("percent", then("predict_proba", X, base=Broken(50)), ValueError, r"from 0 to 1.*returned 50"),
    ("below 0", then("joint", X, base=Broken(-0.1)), ValueError, r"from 0 to 1.*returned -0.1"),
    (
        "too many columns",
        then("predict", X, base=Broken(0.1, 1)),
        ValueError,
        r"estimator must return probabilities of shape.*Broken returned shape \(60, ",
    ),
    ("other columns", then("predict", X[:, :2]), ValueError, r"X has 2 features"),
    ("no columns", then("predict_proba", X[0]), ValueError, r"Expected 2D array, got 1D"),
    (
        "other labels",
        then("score", X, Y[:, :3]),
        ValueError,
        r"4 columns, the labels seen in fit; got 3",
    ),
    ("score, short", then("score", X, Y[:-1]), ValueError, r"got 60 rows in X and 59 in y"),
    ("score of one", then("score", X, Y[:, 0]), ValueError, r"4 columns.*got 1"),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*row[1:], id=row[0]) for row in BAD]
)
def test_errors_of_the_classifier_are_clear(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("method", ["predict", "predict_proba", "joint"])
def test_nothing_is_predicted_before_fit(method):
    with pytest.raises(NotFittedError, match="ExpectedFClassifier"):
        getattr(hm.ExpectedFClassifier(LR), method)(X)
    with pytest.raises(NotFittedError, match="ExpectedFClassifier"):
        hm.ExpectedFClassifier(LR).score(X, Y)


def test_options_are_checked_in_fit_and_not_before():
    model = hm.ExpectedFClassifier(None, metric="odd", zero_division=7, min_k=-1, n_jobs="all")
    assert model.get_params()["metric"] == "odd"
    with pytest.raises(TypeError, match="estimator"):
        model.fit(X, Y)
