"""Classifiers converted by skl2onnx predict as they do in scikit-learn."""

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import halfmax as hm

skl2onnx = pytest.importorskip("skl2onnx")
onnxruntime = pytest.importorskip("onnxruntime")
onnxruntime.set_default_logger_severity(4)  # shapes that skl2onnx guesses wrong for forests

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
    pytest.mark.filterwarnings("ignore:Attribute `prob[AB]_`:FutureWarning"),  # of SVC, in skl2onnx
]

ROWS = 600
RNG = np.random.default_rng(0)
# Few different values, so that many rows tie at the threshold, and two columns of any number.
X = np.column_stack([RNG.integers(0, 3, (ROWS, 4)), RNG.normal(size=(ROWS, 2))]).astype(np.float32)
Y = np.column_stack(
    [
        X[:, 0] + X[:, 1] + RNG.normal(size=ROWS) > 2.5,
        X[:, 1] + RNG.normal(size=ROWS) > 1.5,
        X[:, 2] + X[:, 4] > 2.5,
    ]
).astype(int)
Classifier = hm.ThresholdClassifier


@pytest.fixture(autouse=True, scope="module")
def _registered():
    hm.register_onnx()


def converted(model, rows=X, **options):
    return skl2onnx.to_onnx(model, rows[:1], **options)


def answers(model, rows=X, **options):
    session = onnxruntime.InferenceSession(converted(model, rows, **options).SerializeToString())
    return session.run(None, {"X": rows})


def forest(**options):
    return RandomForestClassifier(40, max_depth=4, random_state=0, **options)


TWO_CLASSES = {
    "logistic": LogisticRegression(),
    "forest": forest(),
    "boosting": GradientBoostingClassifier(n_estimators=10, random_state=0),
    "discriminant": QuadraticDiscriminantAnalysis(),
    "bayes": GaussianNB(),
    "network": MLPClassifier((3,), max_iter=20, random_state=0),
    "calibrated": CalibratedClassifierCV(LinearSVC()),
    "pipeline": make_pipeline(StandardScaler(), LogisticRegression()),
    "search": GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}),
    "search of a pipeline": GridSearchCV(
        make_pipeline(StandardScaler(), LogisticRegression()), {"logisticregression__C": [0.1, 1]}
    ),
    "linear svm": LinearSVC(),
    "svm": SVC(),
    "sgd": SGDClassifier(random_state=0),
    "ridge classifier": RidgeClassifier(),
    "svm in a pipeline": make_pipeline(StandardScaler(), LinearSVC()),
    "regressor": Ridge(),
    "forest of regressors": RandomForestRegressor(20, max_depth=4, random_state=0),
}
MANY_LABELS = {
    "one vs rest": OneVsRestClassifier(LogisticRegression()),
    "one vs rest, scores": OneVsRestClassifier(LinearSVC()),
    "multioutput": MultiOutputClassifier(LogisticRegression()),
    "multioutput of trees": MultiOutputClassifier(DecisionTreeClassifier(max_depth=3)),
    "forest": forest(),
    "network": MLPClassifier((3,), max_iter=20, random_state=0),
    "pipeline": make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())),
    "ridge": Ridge(),
}
ONLY_FLOAT32 = {"one vs rest, scores", "network"}  # in skl2onnx and onnxruntime


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_two_classes_are_predicted_alike(name, dtype):
    rows = X.astype(dtype)
    model = Classifier(TWO_CLASSES[name], cv=3).fit(rows, Y[:, 0])
    label, scores = answers(model, rows)
    assert_same(label, model.predict(rows))
    assert scores.shape == (ROWS, 2 if hasattr(model, "predict_proba") else 1)


@pytest.mark.parametrize(
    ("name", "dtype"),
    [(name, np.float32) for name in MANY_LABELS]
    + [(name, np.float64) for name in MANY_LABELS if name not in ONLY_FLOAT32],
)
def test_many_labels_are_predicted_alike(name, dtype):
    rows = X.astype(dtype)
    model = Classifier(MANY_LABELS[name], cv=3).fit(rows, Y)
    label, scores = answers(model, rows)
    assert_same(label, model.predict(rows))
    assert scores.shape == Y.shape


def assert_same(found, expected):
    """Equal labels, of which neither is the same for all rows."""
    assert found.shape == expected.shape
    assert len(np.unique(expected)) == 2
    np.testing.assert_array_equal(found.astype(expected.dtype), expected)


@pytest.mark.parametrize("estimator", [LogisticRegression(), forest(), GaussianNB()])
def test_rows_at_the_threshold_are_predicted_alike(estimator):
    """The threshold is the score of rows that are predicted again: many tie there."""
    model = Classifier(estimator.fit(X, Y[:, 0]), cv="prefit").fit(X, Y[:, 0])
    assert (estimator.predict_proba(X)[:, 1] == model.threshold_).any()
    assert_same(answers(model)[0], model.predict(X))


def test_many_attained_thresholds_predict_alike():
    estimator, seen = forest().fit(X, Y[:, 0]), set()
    for beta in np.geomspace(0.2, 4.0, 16):
        model = Classifier(estimator, cv="prefit", metric=hm.FBeta(beta)).fit(X, Y[:, 0])
        seen.add(model.threshold_)
        assert_same(answers(model)[0], model.predict(X))
    assert len(seen) > 5


@pytest.mark.parametrize("pos_label", [None, "no", "yes"])
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("kind", [str, object])
def test_classes_by_name(pos_label, method, kind):
    y = np.where(Y[:, 0], "yes", "no").astype(kind)
    model = Classifier(LogisticRegression(), pos_label=pos_label, response_method=method)
    label, _ = answers(model.fit(X, y))
    assert_same(label, model.predict(X))


@pytest.mark.parametrize("classes", [(False, True), (-1, 1), (3, 7), (0.0, 1.0)])
@pytest.mark.parametrize("first", [True, False])
def test_classes_that_are_numbers(classes, first):
    y = np.array(classes)[Y[:, 0]]
    model = Classifier(LogisticRegression(), pos_label=classes[0] if first else None).fit(X, y)
    label, _ = answers(model)
    assert label.dtype == np.int64
    assert_same(label, model.predict(X))


def test_a_regressor_of_the_first_class():
    model = Classifier(Ridge(), pos_label=1).fit(X, Y[:, 0])
    assert_same(answers(model)[0], model.predict(X))


@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
@pytest.mark.parametrize("labels", [False, True])
def test_scores_of_the_estimator_are_the_second_output(method, labels):
    estimator = OneVsRestClassifier(LogisticRegression()) if labels else LogisticRegression()
    model = Classifier(estimator, response_method=method).fit(X, Y if labels else Y[:, 0])
    expected = getattr(model, method)(X)
    found = answers(model)[1]
    np.testing.assert_allclose(found, expected.reshape(found.shape), rtol=1e-4, atol=1e-5)
    name = "probabilities" if method == "predict_proba" else "scores"
    assert [output.name for output in converted(model).graph.output] == ["label", name]


def test_the_classifier_is_a_step_of_a_pipeline():
    model = make_pipeline(StandardScaler(), Classifier(LogisticRegression())).fit(X, Y[:, 0])
    assert_same(answers(model)[0], model.predict(X))
    same = answers(model, options={"zipmap": False})
    np.testing.assert_array_equal(same[0], answers(model)[0])


def test_a_pipeline_that_reads_text():
    words = np.array([["cheap pills now"], ["see you at lunch"], ["cheap lunch"]] * 30, object)
    y = np.array([1, 0, 0] * 30)
    model = make_pipeline(CountVectorizer(lowercase=False), Classifier(LogisticRegression())).fit(
        words[:, 0], y
    )
    graph = skl2onnx.to_onnx(
        model, initial_types=[("X", skl2onnx.common.data_types.StringTensorType([None, 1]))]
    )
    session = onnxruntime.InferenceSession(graph.SerializeToString())
    assert_same(session.run(None, {"X": words})[0], model.predict(words[:, 0]))


def test_a_frozen_estimator():
    frozen = FrozenEstimator(OneVsRestClassifier(LogisticRegression()).fit(X, Y))
    model = Classifier(frozen).fit(X, Y)
    assert_same(answers(model)[0], model.predict(X))


def test_a_label_that_is_never_predicted():
    fitted = OneVsRestClassifier(LogisticRegression()).fit(X, Y)
    without = Y * [1, 0, 1]
    model = Classifier(fitted, cv="prefit").fit(X, without)
    assert model.thresholds_[1] == np.inf
    label, _ = answers(model)
    assert_same(label, model.predict(X))
    assert label[:, 1].sum() == 0


def test_registering_twice_does_no_harm():
    hm.register_onnx()
    hm.register_onnx()
    model = Classifier(LogisticRegression()).fit(X, Y[:, 0])
    assert_same(answers(model)[0], model.predict(X))


def without_positives():
    return np.column_stack([Y[:, 0], np.zeros(ROWS, int)])


def scored_by(method):
    model = Classifier(LogisticRegression()).fit(X, Y[:, 0])
    model._rule = model._rule._replace(method=method)
    return model


DATES = np.array(["2020-01-01", "2020-02-01"], "datetime64[D]")
REFUSED = {
    "expected rule": (
        lambda: Classifier(LogisticRegression(), rule="expected").fit(X, Y[:, 0]),
        "rule='expected' cannot be converted .* all rows of its batch: fit with rule='empirical'",
    ),
    "dates as classes": (
        lambda: Classifier(LogisticRegression()).fit(X, DATES[Y[:, 0]]),
        "classes must be strings or integers to be converted to ONNX; got .*2020",
    ),
    "another method": (
        lambda: scored_by("predict_log_proba"),
        "scores of predict_log_proba cannot be converted .* response_method='predict_proba'",
    ),
    "discriminant": (
        lambda: Classifier(LinearDiscriminantAnalysis()).fit(X, Y[:, 0]),
        "predict_proba of LinearDiscriminantAnalysis .* response_method='decision_function'",
    ),
    "tree of labels": (
        lambda: Classifier(DecisionTreeClassifier(max_depth=3)).fit(X, Y),
        "predict_proba of DecisionTreeClassifier with many labels .* MultiOutputClassifier",
    ),
    "label of one class": (
        lambda: Classifier(forest()).fit(X, without_positives()),
        "RandomForestClassifier saw only one class of some labels, .* OneVsRestClassifier",
    ),
    "scores without converter": (
        lambda: Classifier(
            QuadraticDiscriminantAnalysis(), response_method="decision_function"
        ).fit(X, Y[:, 0]),
        "cannot convert decision_function of QuadraticDiscriminantAnalysis: .* predict_proba",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_converted_is_refused_in_words(name):
    make, message = REFUSED[name]
    with pytest.raises(NotImplementedError, match=message):
        converted(make())


def test_a_classifier_must_be_fitted():
    with pytest.raises(NotFittedError, match=r"must be fitted to be converted .* cv='prefit'"):
        converted(Classifier(LogisticRegression()))


@pytest.mark.parametrize(
    ("estimator", "y"),
    [(LinearDiscriminantAnalysis(), Y[:, 0]), (DecisionTreeClassifier(max_depth=3), Y)],
)
def test_refusals_are_needed_as_long_as_probabilities_are_converted_wrongly(estimator, y):
    model = estimator.fit(X, y)
    found = answers(model, options={id(model): {"zipmap": False}})[1]
    assert np.abs(found - np.array(model.predict_proba(X))).max() > 0.1


def test_the_discriminant_is_converted_by_its_scores():
    model = Classifier(LinearDiscriminantAnalysis(), response_method="decision_function")
    assert_same(answers(model.fit(X, Y[:, 0]))[0], model.predict(X))


def test_without_skl2onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("halfmax._core.extras.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"needs 'skl2onnx', .* 'halfmax\[onnx\]'"):
        hm.register_onnx()
