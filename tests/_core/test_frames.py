"""Data frames and series in and out: names, order, index and library are kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import halfmax as hm

pytestmark = pytest.mark.kernels

TRUTH = {"cat": [0, 1, 0, 1], "dog": [1, 0, 0, 1], "eel": [1, 1, 0, 0]}
SCORES = {
    "cat": [0.1, 0.35, 0.4, 0.8],
    "dog": [0.5, 0.2, 0.6, 0.7],
    "eel": [0.9, 0.8, 0.85, 0.1],
}
THRESHOLDS = {"cat": 0.35, "dog": 0.5, "eel": 0.8}
PREDICTED = {"cat": [0, 1, 1, 1], "dog": [1, 0, 1, 1], "eel": [1, 1, 1, 0]}
COLUMNS = ["label", "threshold", "score", "precision", "recall", "support", "predicted"]


def array(columns):
    return np.column_stack(list(columns.values()))


def reordered(columns, *names):
    return {name: columns[name] for name in names}


@dataclass(frozen=True)
class Library:
    """How the tests make and read the frames of one library."""

    frame: Any
    series: Any
    frame_type: type
    series_type: type
    names: Any
    values: Any
    int8: Any

    def read(self, frame):
        assert type(frame) is self.frame_type
        return {name: self.values(frame[name]) for name in self.names(frame)}


LIBRARIES = {
    "pandas": Library(
        pd.DataFrame,
        lambda values: pd.Series(values, name="p"),
        pd.DataFrame,
        pd.Series,
        lambda frame: list(frame.columns),
        lambda column: column.tolist(),
        np.dtype(np.int8),
    ),
    "polars": Library(
        pl.DataFrame,
        lambda values: pl.Series("p", values),
        pl.DataFrame,
        pl.Series,
        lambda frame: frame.columns,
        lambda column: column.to_list(),
        pl.Int8,
    ),
    "pyarrow": Library(
        pa.table,
        lambda values: pa.chunked_array([values]),
        pa.Table,
        pa.ChunkedArray,
        lambda frame: frame.column_names,
        lambda column: column.to_pylist(),
        pa.int8(),
    ),
}


@pytest.fixture(params=LIBRARIES)
def library(request):
    return LIBRARIES[request.param]


def dtype_of(column):
    return column.type if isinstance(column, pa.ChunkedArray) else column.dtype


# Frames in.


def test_labels_come_from_the_columns(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    assert t.labels == tuple(TRUTH)
    assert_array_equal(t.thresholds, list(THRESHOLDS.values()))


def test_truth_is_matched_with_scores_by_name(library):
    scores = reordered(SCORES, "eel", "cat", "dog")
    t = hm.tune(library.frame(TRUTH), library.frame(scores))
    assert t.labels == ("eel", "cat", "dog")
    assert dict(zip(t.labels, t.thresholds, strict=True)) == THRESHOLDS


def test_predictions_are_scored_against_truth_by_name(library):
    predictions = library.frame(reordered(TRUTH, "dog", "eel", "cat"))
    assert hm.score(library.frame(TRUTH), predictions) == 1.0


def test_a_staircase_is_named_by_the_columns(library):
    stairs = hm.Staircase.of(library.frame(TRUTH), library.frame(SCORES))
    assert stairs.labels == tuple(TRUTH)
    assert_array_equal(stairs["dog"].thresholds, [0.7, 0.5])


def test_labels_replace_the_names_of_the_columns(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES), labels=["a", "b", "c"])
    assert t.labels == ("a", "b", "c")


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("per_label", [True, False])
def test_frames_and_arrays_give_the_same_result(library, average, per_label):
    options = {"average": average, "per_label": per_label, "sample_weight": [1, 2, 3, 4]}
    framed = hm.tune(library.frame(TRUTH), library.frame(SCORES), **options)
    plain = hm.tune(array(TRUTH), array(SCORES), **options)
    assert_array_equal(framed.thresholds, plain.thresholds)
    assert framed.score == plain.score


def test_weights_may_be_a_series(library):
    weights = [1.0, 0.0, 2.5, 1.0]
    t = hm.tune(TRUTH["cat"], SCORES["cat"], sample_weight=library.series(weights))
    assert t.score == hm.tune(TRUTH["cat"], SCORES["cat"], sample_weight=weights).score


def test_booleans_and_integers_mix_in_a_frame_of_truth(library):
    truth = TRUTH | {"dog": [bool(y) for y in TRUTH["dog"]]}
    t = hm.tune(library.frame(truth), library.frame(SCORES))
    assert_array_equal(t.thresholds, list(THRESHOLDS.values()))


def test_integers_and_floats_mix_in_a_frame_of_scores(library):
    scores = SCORES | {"dog": [5, 2, 6, 7]}
    t = hm.tune(library.frame(TRUTH), library.frame(scores))
    assert_array_equal(t.thresholds, [0.35, 5.0, 0.8])
    assert library.read(t.predict(library.frame(scores))) == PREDICTED


def test_frames_are_not_changed(library):
    truth, scores = library.frame(TRUTH), library.frame(SCORES)
    hm.tune(truth, scores).predict(scores)
    assert library.read(truth) == TRUTH
    assert library.read(scores) == SCORES


# Mixed containers.

OTHERS = {
    "array": array,
    "list": lambda columns: array(columns).tolist(),
    "CSR": lambda columns: sparse.csr_array(array(columns)),
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "pyarrow": pa.table,
}


@pytest.mark.parametrize("other", OTHERS)
def test_truth_and_scores_may_come_in_different_containers(library, other):
    for truth, scores in (
        (library.frame(TRUTH), OTHERS[other](SCORES)),
        (OTHERS[other](TRUTH), library.frame(SCORES)),
    ):
        t = hm.tune(truth, scores)
        assert t.labels == tuple(TRUTH)
        assert_array_equal(t.thresholds, list(THRESHOLDS.values()))


@pytest.mark.parametrize("other", ["array", "CSR"])
def test_the_table_is_a_frame_when_only_one_side_came_as_one(library, other):
    t = hm.tune(library.frame(TRUTH), OTHERS[other](SCORES))
    assert type(t.table()) is library.frame_type


def test_predictions_have_the_container_of_their_scores_not_of_the_tuning_data(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    assert type(t.predict(array(SCORES))) is np.ndarray
    assert type(t.predict(sparse.csr_array(array(SCORES)))) is sparse.csr_array
    assert type(t.predict(pl.DataFrame(SCORES))) is pl.DataFrame


# Frames out.


def test_the_table_is_a_frame_of_the_same_library(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    table = library.read(t.table())
    assert list(table) == COLUMNS
    assert table["label"] == list(TRUTH)
    assert table["threshold"] == list(THRESHOLDS.values())
    assert table["score"] == t.label_scores.tolist()
    assert table["support"] == [2, 2, 2]
    assert table["predicted"] == [3, 3, 3]


def test_the_repr_is_plain_text_for_frames_too(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    assert repr(t) == repr(hm.tune(array(TRUTH), array(SCORES), labels=list(TRUTH)))


@pytest.mark.parametrize("labels", [[1, "a", "b"], [("a", 1), ("b", 2), ("c", 3)]])
def test_labels_that_do_not_fit_one_column_still_make_a_table(library, labels):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES), labels=labels)
    assert library.read(t.table())["threshold"] == list(THRESHOLDS.values())


@pytest.mark.parametrize("order", [("cat", "dog", "eel"), ("eel", "cat", "dog")])
def test_predictions_keep_names_order_and_library(library, order):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    predictions = t.predict(library.frame(reordered(SCORES, *order)))
    assert list(library.names(predictions)) == list(order)
    assert library.read(predictions) == reordered(PREDICTED, *order)
    assert {dtype_of(predictions[name]) for name in order} == {library.int8}


def test_predictions_have_as_many_rows_as_the_scores(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    one_row = {name: values[:1] for name, values in SCORES.items()}
    expected = {name: values[:1] for name, values in PREDICTED.items()}
    assert library.read(t.predict(library.frame(one_row))) == expected


def test_frames_of_thresholds_without_names_are_read_in_order(library):
    t = hm.tune(array(TRUTH), array(SCORES))
    predictions = library.read(t.predict(library.frame(SCORES)))
    assert predictions == PREDICTED


def test_columns_are_matched_by_label_names(library):
    t = hm.tune(array(TRUTH), array(SCORES), labels=list(TRUTH))
    scores = reordered(SCORES, "eel", "dog", "cat")
    assert library.read(t.predict(library.frame(scores))) == PREDICTED


def test_loaded_thresholds_match_columns_by_name(library, tmp_path):
    hm.tune(library.frame(TRUTH), library.frame(SCORES)).save(tmp_path / "t.json")
    t = hm.Thresholds.load(tmp_path / "t.json")
    scores = reordered(SCORES, "eel", "dog", "cat")
    assert library.read(t.predict(library.frame(scores))) == PREDICTED


# Series.


def test_series_give_one_threshold_and_a_series_of_predictions(library):
    t = hm.tune(library.series(TRUTH["cat"]), library.series(SCORES["cat"]))
    assert t.threshold == 0.35
    predictions = t.predict(library.series(SCORES["cat"]))
    assert type(predictions) is library.series_type
    assert dtype_of(predictions) == library.int8
    assert library.values(predictions) == PREDICTED["cat"]
    assert getattr(predictions, "name", "p") == "p"
    assert type(t.table()) is library.frame_type


def test_series_mix_with_lists(library):
    for truth, scores in (
        (library.series(TRUTH["cat"]), SCORES["cat"]),
        (TRUTH["cat"], library.series(SCORES["cat"])),
    ):
        assert hm.tune(truth, scores).threshold == 0.35


def test_a_frame_of_one_column_is_rows_by_one_label(library):
    truth, scores = library.frame({"cat": TRUTH["cat"]}), library.frame({"cat": SCORES["cat"]})
    t = hm.tune(truth, scores)
    assert t.labels == ("cat",)
    assert_array_equal(t.thresholds, [0.35])
    assert library.read(t.predict(scores)) == {"cat": PREDICTED["cat"]}


def test_arrow_chunks_are_one_column():
    truth, scores = pa.chunked_array([[0], [1, 0, 1]]), pa.chunked_array([[0.1, 0.35], [0.4, 0.8]])
    t = hm.tune(truth, scores)
    assert t.threshold == 0.35
    assert t.predict(scores).to_pylist() == [0, 1, 1, 1]


# What is refused.


def without(columns, name):
    return {key: values for key, values in columns.items() if key != name}


def renamed(columns, old, new):
    return {new if key == old else key: values for key, values in columns.items()}


DIFFERING = {
    "lacks one": (without(SCORES, "dog"), ["missing from y_score: 'dog'"]),
    "has one more": (SCORES | {"fox": SCORES["cat"]}, ["'fox'"]),
    "has another": (renamed(SCORES, "dog", "fox"), ["missing from y_score: 'dog'", "'fox'"]),
    "is in capitals": (renamed(SCORES, "dog", "Dog"), ["missing from y_score: 'dog'", "'Dog'"]),
}


@pytest.mark.parametrize("case", DIFFERING)
def test_names_that_differ_from_the_thresholds_are_listed(library, case):
    columns, words = DIFFERING[case]
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    with pytest.raises(ValueError, match=r"label names .*y_score.* differ") as caught:
        t.predict(library.frame(columns))
    assert all(word in str(caught.value) for word in words)
    assert "'cat'" not in str(caught.value)


@pytest.mark.parametrize("case", DIFFERING)
def test_names_that_differ_between_truth_and_scores_are_listed(library, case):
    columns, words = DIFFERING[case]
    with pytest.raises(ValueError, match=r"label names .*y_true.*y_score.* differ") as caught:
        hm.tune(library.frame(TRUTH), library.frame(columns))
    assert all(word in str(caught.value) for word in words)


def test_a_column_of_strings_is_refused_by_name(library):
    with pytest.raises(
        TypeError, match=r"y_score\['dog'\] must be numbers or bool; row 0 holds 'n'"
    ):
        hm.tune(library.frame(TRUTH), library.frame(SCORES | {"dog": ["n", "y", "n", "y"]}))


def test_a_missing_value_is_refused_by_column_and_row(library):
    with pytest.raises(ValueError, match=r"y_score\['dog'\].*missing.*first in row 2"):
        hm.tune(library.frame(TRUTH), library.frame(SCORES | {"dog": [0.1, 0.2, None, None]}))
    with pytest.raises(
        ValueError, match=r"y_score must not have missing.*1 value is missing, in row 1"
    ):
        hm.tune(library.series([0, 1]), library.series([0.1, None]))
    with pytest.raises(
        ValueError, match=r"sample_weight must not have missing.*1 value is missing, in row 0"
    ):
        hm.tune([0, 1], [0.1, 0.2], sample_weight=library.series([None, 1.0]))


def test_truth_of_three_numbers_is_refused_by_value(library):
    with pytest.raises(ValueError, match=r"y_true must hold two classes; y_true\['dog'\] holds 3"):
        hm.tune(library.frame(TRUTH | {"dog": [1, 0, 0, 2]}), library.frame(SCORES))


EMPTY = np.zeros(0)


def test_an_empty_frame_is_refused(library):
    empty = library.frame(dict.fromkeys(TRUTH, EMPTY))
    with pytest.raises(ValueError, match=r"y_true must not be empty; got shape \(0, 3\)"):
        hm.tune(empty, empty)
    with pytest.raises(ValueError, match=r"y_true must not be empty; got shape \(0,\)"):
        hm.tune(library.series(EMPTY), library.series(EMPTY))


def test_a_frame_without_columns_is_refused(library):
    with pytest.raises(ValueError, match=r"y_true must not be empty"):
        hm.tune(library.frame({}), library.frame({}))


def test_a_frame_of_one_column_is_one_classifier_beside_a_series(library):
    truth, scores = TRUTH["cat"], SCORES["cat"]
    expected = hm.tune(truth, scores)
    for y in (truth, library.series(truth), library.frame({"cat": truth})):
        for s in (library.series(scores), library.frame({"score": scores})):
            if isinstance(y, library.frame_type) and isinstance(s, library.frame_type):
                continue  # two frames are labels
            t = hm.tune(y, s)
            assert (t.threshold, t.score) == (expected.threshold, expected.score)
            assert t.average == "binary"
            assert_array_equal(np.ravel(t.predict(s)), expected.predict(scores))


def test_a_frame_of_labels_is_no_single_classifier(library):
    t = hm.tune(library.frame(TRUTH), library.frame(SCORES))
    with pytest.raises(ValueError, match=r"y_score must be rows x 3 labels"):
        t.predict(library.series(SCORES["cat"]))


def test_lazy_frames_are_refused_with_the_way_out():
    lazy, frame = pl.LazyFrame(SCORES), pl.DataFrame(TRUTH)
    for call, name in (
        (lambda: hm.tune(frame, lazy), "y_score"),
        (lambda: hm.tune(lazy, frame), "y_true"),
        (lambda: hm.tune(frame, lazy.collect()).predict(lazy), "y_score"),
    ):
        with pytest.raises(TypeError, match=rf"{name} is a lazy frame; call collect\(\)"):
            call()


TWICE = {
    "pandas": lambda values: pd.DataFrame(values, columns=["cat", "cat", "dog"]),
    "pyarrow": lambda values: pa.table(list(np.transpose(values)), names=["cat", "cat", "dog"]),
}


@pytest.mark.parametrize("kind", TWICE)
def test_column_names_that_repeat_are_refused_by_name(kind):
    truth, scores = TWICE[kind](array(TRUTH)), TWICE[kind](array(SCORES))
    t = hm.tune(array(TRUTH), array(SCORES))
    for call, name in (
        (lambda: hm.tune(array(TRUTH), scores), "y_score"),
        (lambda: hm.tune(truth, array(SCORES)), "y_true"),
        (lambda: t.predict(scores), "y_score"),
    ):
        with pytest.raises(ValueError, match=rf"(?s){name}.*'cat'"):
            call()


# What pandas has of its own.

INDEXES = {
    "strings": ["w", "x", "y", "z"],
    "backwards": [3, 2, 1, 0],
    "repeating": [7, 7, 7, 8],
    "with a name": pd.Index([4, 3, 2, 1], name="id"),
    "dates": pd.date_range("2014-05-14", periods=4),
    "two levels": pd.MultiIndex.from_product([["a", "b"], [1, 2]], names=["g", "i"]),
}


@pytest.mark.parametrize("index", INDEXES.values(), ids=INDEXES)
def test_predictions_keep_the_index(index):
    scores = pd.DataFrame(SCORES, index=index)
    predictions = hm.tune(pd.DataFrame(TRUTH, index=index), scores).predict(scores)
    pd.testing.assert_frame_equal(
        predictions, pd.DataFrame(PREDICTED, index=index, dtype=np.int8), check_freq=False
    )
    column = hm.tune(TRUTH["cat"], scores["cat"]).predict(scores["cat"])
    expected = pd.Series(PREDICTED["cat"], index=index, dtype=np.int8, name="cat")
    pd.testing.assert_series_equal(column, expected, check_freq=False)


def test_rows_in_another_order_are_an_error():
    truth, scores = pd.DataFrame(TRUTH), pd.DataFrame(SCORES)
    with pytest.raises(ValueError, match=r"same order.*y_score\.loc\[y_true\.index\]"):
        hm.tune(truth, scores[::-1])
    with pytest.raises(ValueError, match=r"same order.*y_pred\.loc\[y_true\.index\]"):
        hm.score(truth["cat"], truth["cat"][::-1])


COUNTING = {
    "default": range(4),
    "numbers": [0, 1, 2, 3],
    "nullable": pd.Index([0, 1, 2, 3], dtype="Int64"),
    "of Arrow": pd.Index([0, 1, 2, 3], dtype="uint8[pyarrow]"),
}
UNLIKE = {
    "numbers": [5, 6, 7, 8],
    "one differs": ["w", "x", "y", "Z"],
    "repeating": [7, 7, 8, 8],
    "with a null": pd.Index([0, None, 2, 3], dtype="Int64"),
    "dates": pd.date_range("2014-05-14", periods=4, tz="UTC"),
    "two levels": pd.MultiIndex.from_product([["a", "c"], [1, 2]]),
    "categories": pd.CategoricalIndex(list("abcd")),
}


@pytest.mark.parametrize("counting", COUNTING.values(), ids=COUNTING)
@pytest.mark.parametrize("index", (COUNTING | UNLIKE).values(), ids=COUNTING | UNLIKE)
def test_an_index_that_counts_from_0_goes_with_any(counting, index):
    truth = pd.DataFrame(TRUTH, index=index)
    scores = pd.DataFrame(SCORES, index=counting)
    weights = pd.Series([1.0, 1.0, 1.0, 1.0], counting)
    expected = hm.tune(array(TRUTH), array(SCORES)).thresholds
    for one, other in ((truth, scores), (truth.set_axis(counting), scores.set_axis(index))):
        assert_array_equal(hm.tune(one, other).thresholds, expected)
        assert_array_equal(hm.tune(one, other, sample_weight=weights).thresholds, expected)
    assert hm.score(truth, truth.set_axis(counting)) == 1.0


@pytest.mark.parametrize("index", UNLIKE.values(), ids=UNLIKE)
def test_rows_of_other_indexes_are_an_error(index):
    truth, scores = pd.DataFrame(TRUTH, list("wxyz")), pd.DataFrame(SCORES, index=index)
    weights = pd.Series([1.0, 2.0, 1.0, 1.0], index)
    same = scores.set_axis(truth.index)
    how = r"indexes differ.*loc\[{0}\.index\].*{1}\.reset_index\(drop=True\)"
    for call, names in (
        (lambda: hm.tune(truth, scores), ("y_true", "y_score")),
        (lambda: hm.assess(truth["cat"], scores["cat"]), ("y_true", "y_score")),
        (lambda: hm.diagnose(truth, scores), ("y_true", "y_score")),
        (lambda: hm.score(truth, (scores > 0.5).astype(int)), ("y_true", "y_pred")),
        (lambda: hm.tune(truth, same, sample_weight=weights), ("y_true", "sample_weight")),
        (lambda: hm.tune(array(TRUTH), same, sample_weight=weights), ("y_score", "sample_weight")),
        (lambda: hm.score(truth, truth, sample_weight=weights), ("y_true", "sample_weight")),
        (lambda: hm.joint_from_samples(truth, weights), ("draws", "sample_weight")),
    ):
        with pytest.raises(ValueError, match=how.format(*names)):
            call()


def test_weights_in_another_order_are_an_error():
    truth, scores = pd.DataFrame(TRUTH), pd.DataFrame(SCORES)
    with pytest.raises(ValueError, match=r"same order.*sample_weight\.loc\[y_true\.index\]"):
        hm.tune(truth, scores, sample_weight=pd.Series([1.0, 1.0, 2.0, 1.0])[::-1])


def test_the_first_difference_of_indexes_is_shown():
    truth, scores = pd.Series([0, 1, 1], list("abc")), pd.Series([0.1, 0.2, 0.3], list("abd"))
    with pytest.raises(ValueError, match="first in row 2: 'c' and 'd'"):
        hm.tune(truth, scores)


NULLABLE_TRUTH = ["Int64", "Int8", "UInt8", "boolean", "Float64", "int64[pyarrow]", "bool[pyarrow]"]
NULLABLE_SCORES = ["Float64", "Float32", "double[pyarrow]", "float[pyarrow]"]


@pytest.mark.parametrize("dtype", NULLABLE_TRUTH)
def test_truth_may_be_of_a_nullable_type(dtype):
    truth = pd.DataFrame(TRUTH).astype(dtype)
    assert_array_equal(hm.tune(truth, array(SCORES)).thresholds, list(THRESHOLDS.values()))
    assert hm.tune(truth["cat"], SCORES["cat"]).threshold == 0.35
    assert hm.score(truth, array(TRUTH)) == 1.0


@pytest.mark.parametrize("dtype", NULLABLE_SCORES)
def test_scores_may_be_of_a_nullable_type(dtype):
    scores = pd.DataFrame(SCORES).astype(dtype)
    t = hm.tune(pd.DataFrame(TRUTH), scores)
    kind = np.float32 if dtype in ("Float32", "float[pyarrow]") else np.float64
    assert_array_equal(t.thresholds, np.array(list(THRESHOLDS.values()), kind))
    pd.testing.assert_frame_equal(t.predict(scores), pd.DataFrame(PREDICTED, dtype=np.int8))


@pytest.mark.parametrize("dtype", ["Float64", "double[pyarrow]"])
def test_nullable_scores_that_are_missing_are_refused(dtype):
    scores = pd.DataFrame(SCORES | {"dog": [0.1, 0.2, None, 0.4]}).astype(dtype)
    with pytest.raises(ValueError, match=r"y_score\['dog'\].*missing.*row 2"):
        hm.tune(pd.DataFrame(TRUTH), scores)


@pytest.mark.parametrize("columns", [[0, 1, 2], [30, 10, 20], pd.Index([5, 6, 7])])
def test_integer_columns_are_labels(columns, tmp_path):
    truth, scores = (pd.DataFrame(array(x), columns=columns) for x in (TRUTH, SCORES))
    t = hm.tune(truth, scores)
    assert t.labels == tuple(columns)
    assert {type(label) for label in t.labels} == {int}
    backwards = scores[list(columns)[::-1]]
    assert_array_equal(t.predict(backwards), array(PREDICTED)[:, ::-1])
    assert list(t.predict(backwards).columns) == list(columns)[::-1]
    t.save(tmp_path / "t.json")
    assert_array_equal(
        hm.Thresholds.load(tmp_path / "t.json").predict(backwards).columns, columns[::-1]
    )


def test_integer_names_are_not_their_digits():
    t = hm.tune(array(TRUTH), array(SCORES), labels=[0, 1, 2])
    with pytest.raises(ValueError, match=r"y_score: 0, 1 and 2; .*: '0', '1' and '2'"):
        t.predict(pl.DataFrame({str(i): values for i, values in enumerate(SCORES.values())}))


def test_names_of_two_levels_are_labels():
    columns = pd.MultiIndex.from_tuples([("pet", "cat"), ("pet", "dog"), ("sea", "eel")])
    truth, scores = (pd.DataFrame(array(x), columns=columns) for x in (TRUTH, SCORES))
    t = hm.tune(truth, scores)
    assert t.labels == tuple(columns)
    assert_array_equal(t.predict(scores[columns[::-1]]), array(PREDICTED)[:, ::-1])
