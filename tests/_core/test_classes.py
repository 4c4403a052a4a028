"""Two classes of any kind are read alike, everywhere that truth is taken."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.metrics import f1_score

import halfmax as hm
from halfmax._core.gate.labelled import read_labelled

pytestmark = pytest.mark.kernels

TRUTH = np.array([0, 1, 0, 1, 1, 0, 0, 1, 0, 0])
SCORES = np.array([0.1, 0.9, 0.3, 0.35, 0.8, 0.2, 0.6, 0.7, 0.15, 0.4])
NAMES = np.array(["no", "yes"])[TRUTH]

CLASSES = {  # how the truth is written, and its positive class if that has to be said
    "list of names": (NAMES.tolist(), "yes"),
    "array of names": (NAMES, "yes"),
    "array of bytes": (NAMES.astype("S"), b"yes"),
    "array of objects": (NAMES.astype(object), "yes"),
    "string dtype of NumPy": (NAMES.astype(np.dtypes.StringDType()), "yes"),
    "pandas names": (pd.Series(NAMES), "yes"),
    "pandas objects": (pd.Series(NAMES, dtype=object), "yes"),
    "pandas category": (pd.Series(NAMES).astype("category"), "yes"),
    "a bare category": (pd.Categorical(NAMES), "yes"),
    "polars names": (pl.Series(NAMES.tolist()), "yes"),
    "polars category": (pl.Series(NAMES.tolist(), dtype=pl.Categorical), "yes"),
    "polars enum": (pl.Series(NAMES.tolist(), dtype=pl.Enum(["no", "yes"])), "yes"),
    "arrow names": (pa.chunked_array([NAMES.tolist()]), "yes"),
    "bool": (TRUTH == 1, None),
    "-1 and 1": (2 * TRUTH - 1, None),
    "1 and 2": (TRUTH + 1, None),
    "floats": (TRUTH * 1.0, None),
    "objects that are numbers": (TRUTH.astype(object), None),
    "nullable integers": (pd.Series(TRUTH + 1, dtype="Int8"), None),
    "a category of numbers": (pd.Series(TRUTH).astype("category"), None),
    "numbers, said": (2 * TRUTH - 1, 1),
    "bool, said": (TRUTH == 1, True),
    "upside down": (1 - TRUTH, 0),
    "names, upside down": (np.where(TRUTH, "no", "yes"), "no"),
}
TWO_READINGS = "upside down"  # predictions of 0 and 1 are classes there, and 0 is positive


@pytest.fixture(params=CLASSES)
def written(request):
    return CLASSES[request.param]


@pytest.fixture(params=[name for name in CLASSES if name != TWO_READINGS])
def written_plainly(request):
    return CLASSES[request.param]


def test_tune_reads_the_same_truth(written):
    y, positive = written
    expected, got = hm.tune(TRUTH, SCORES), hm.tune(y, SCORES, pos_label=positive)
    assert (got.threshold, got.score) == (expected.threshold, expected.score)
    assert_array_equal(got.support, expected.support)
    assert got.labels == ((positive,) if isinstance(positive, str) else None)


def test_everything_that_takes_truth_reads_the_same(written):
    y, positive = written
    calls = [
        lambda y, **how: hm.assess(y, SCORES, n_resamples=50, **how).expected_score,
        lambda y, **how: hm.diagnose(y, SCORES, n_resamples=50, **how).expected_scores[0],
        lambda y, **how: hm.Staircase.of(y, SCORES, **how).true_positives.tolist(),
        lambda y, **how: hm.Grid.of(y, SCORES, **how).scores.tolist(),
    ]
    for call in calls:
        assert call(y, pos_label=positive) == call(TRUTH)


def test_predictions_may_be_classes_or_0_and_1(written_plainly):
    y, positive = written_plainly
    guess = (SCORES >= 0.35).astype(int)
    expected = hm.score(TRUTH, guess, "mcc")
    assert hm.score(y, guess == 1, "mcc", pos_label=positive) == expected
    if positive in ("yes", "no"):
        other = {"yes": "no", "no": "yes"}[positive]
        classes = np.where(guess, positive, other)
        for made in (classes, classes.tolist(), pd.Series(classes).astype("category")):
            assert hm.score(y, made, "mcc", pos_label=positive) == expected


def test_predictions_of_0_and_1_are_classes_if_the_truth_is_0_and_1():
    guess = (SCORES >= 0.35).astype(int)
    assert hm.score(TRUTH, guess, pos_label=0) == f1_score(TRUTH, guess, pos_label=0)


def test_a_matrix_of_names_has_one_positive_class():
    truth, scores = np.stack([TRUTH, 1 - TRUTH], axis=1), np.stack([SCORES, 1 - SCORES], axis=1)
    expected = hm.tune(truth, scores).thresholds
    names = np.array(["no", "yes"])[truth]
    frame = pd.DataFrame(names, columns=["a", "b"])
    for y in (names, names.tolist(), frame, frame.astype("category"), pl.from_pandas(frame)):
        assert_array_equal(hm.tune(y, scores, pos_label="yes").thresholds, expected)
    assert_array_equal(hm.tune(2 * truth - 1, scores).thresholds, expected)


def test_truth_without_its_positive_class_has_no_positives():
    with pytest.warns(hm.HalfmaxWarning, match="no positives"):
        t = hm.tune(["no"] * 30, np.arange(30.0), pos_label="yes")
    assert (t.threshold, t.support[0]) == (np.inf, 0)


def test_a_sparse_matrix_takes_1_as_its_positive_class():
    truth = np.stack([TRUTH, 1 - TRUTH], axis=1)
    scores = np.stack([SCORES, SCORES], axis=1)
    expected = hm.tune(truth, scores).thresholds
    assert_array_equal(hm.tune(sparse.csr_array(truth), scores, pos_label=1).thresholds, expected)


@given(
    st.lists(st.booleans(), min_size=2, max_size=20).filter(lambda y: len(set(y)) == 2),
    st.one_of(
        st.tuples(st.integers(-5, 5), st.integers(-5, 5)).filter(lambda two: two[0] < two[1]),
        st.tuples(st.text(max_size=3), st.text(max_size=3)).filter(lambda two: two[0] != two[1]),
    ),
)
def test_any_two_classes_are_read(truth, classes):
    y = [classes[int(one)] for one in truth]
    positive = classes[1] if isinstance(classes[1], str) else None
    data = read_labelled(y, np.zeros(len(y)), pos_label=positive)
    assert data.truth.tolist() == truth


MISSING = {  # truth and scores, of which one has missing values
    "list of names": (["no", None, "yes"], [0.1, 0.2, 0.3]),
    "list of numbers": ([0, 1, 1], [0.1, float("nan"), 0.3]),
    "list of floats": ([0, float("nan"), 1], np.array([0.1, 0.2, 0.3])),
    "arrays": (np.array([0, 1, 1]), np.array([0.1, np.nan, 0.3])),
    "objects": (np.array(["no", np.nan, "yes"], object), np.array([0.1, 0.2, 0.3])),
    "matrices": (np.eye(3, dtype=int), np.where(np.eye(3) > 0, [0.5, np.nan, 0.7], 0.1)),
    "names in a matrix": (
        np.array([["no", "yes"], [None, "no"], ["yes", "no"]], object),
        np.arange(6.0).reshape(3, 2),
    ),
    "sparse": (
        sparse.csr_array(np.eye(3, dtype=int)),
        sparse.csr_array(np.diag([0.5, np.nan, 0.7])),
    ),
    "pandas scores": (pd.Series([0, 1, 1]), pd.Series([0.1, None, 0.3])),
    "pandas truth": (pd.Series(["no", None, "yes"]), pd.Series([0.1, 0.2, 0.3])),
    "pandas category": (pd.Series(["no", None, "yes"], dtype="category"), np.arange(3.0)),
    "pandas nullable": (pd.Series([0, None, 1], dtype="Int8"), np.arange(3.0)),
    "pandas frames": (
        pd.DataFrame(np.eye(3, dtype=int), columns=list("abc")),
        pd.DataFrame(np.diag([0.5, np.nan, 0.7]), columns=list("abc")),
    ),
    "polars scores": (pl.Series([0, 1, 1]), pl.Series([0.1, None, 0.3])),
    "polars NaN": (pl.Series([0, 1, 1]), pl.Series([0.1, float("nan"), 0.3])),
    "polars truth": (pl.Series(["no", None, "yes"]), pl.Series([0.1, 0.2, 0.3])),
    "polars frames": (
        pl.DataFrame({"a": [0, 1, 1], "b": [1, 0, 0]}),
        pl.DataFrame({"a": [0.1, None, 0.3], "b": [0.1, 0.2, 0.3]}),
    ),
    "polars beside an array": (pl.Series([0, None, 1]), np.arange(3.0)),
}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("case", MISSING)
def test_the_message_about_missing_values_has_a_line_that_drops_them(case, weighted):
    y_true, y_score = MISSING[case]
    weight = np.ones(3) if weighted else None
    positive = "yes" if "no" in str(y_true) else None
    with pytest.raises(ValueError, match=r"(missing|is nan).*To drop such rows: ") as caught:
        hm.tune(y_true, y_score, sample_weight=weight, pos_label=positive)
    _, _, line = str(caught.value).partition("To drop such rows: ")
    named = {"np": np, "y_true": y_true, "y_score": y_score, "sample_weight": weight}
    exec(line, named)
    kept = named["y_true"], named["y_score"]
    assert [np.shape(part)[0] for part in kept] == [2, 2]
    hm.tune(*kept, sample_weight=named["sample_weight"], pos_label=positive)


def test_predict_and_score_have_such_a_line_too():
    t = hm.tune([0, 1], [0.1, 0.2])
    with pytest.raises(ValueError, match=r"keep = ~np.isnan\(y_score\); y_score = y_score\[keep\]"):
        t.predict(np.array([0.1, np.nan]))
    with pytest.raises(ValueError, match=r"y_true, y_pred = y_true\[keep\], np.asarray\(y_pred\)"):
        hm.score(np.array([0.0, np.nan]), [0, 1])


def test_an_infinite_score_is_not_missing():
    with pytest.raises(ValueError, match=r"y_score\[1\] is inf$"):
        hm.tune([0, 1], [0.1, np.inf])
