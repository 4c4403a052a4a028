"""Thresholds: their attributes, how they print and predict, and warnings about floors."""

import copy
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import halfmax as hm

pytestmark = pytest.mark.kernels

INF = float("inf")
Y, S = [0, 1, 0, 1], [0.1, 0.35, 0.4, 0.8]
Y2 = np.array([[0, 1], [1, 0], [0, 0], [1, 1]])
S2 = np.array([[0.1, 0.5], [0.35, 0.2], [0.4, 0.6], [0.8, 0.7]])
COLUMNS = ["label", "threshold", "score", "precision", "recall", "support", "predicted"]


@pytest.fixture
def one():
    return hm.tune(Y, S)


@pytest.fixture
def two():
    return hm.tune(Y2, S2, labels=["cat", "dog"])


# Attributes.


def test_attributes_of_one_classifier(one):
    assert one.threshold == 0.35
    assert type(one.threshold) is float
    assert one.score == 0.8
    assert type(one.score) is float
    assert_array_equal(one.thresholds, [0.35])
    assert (one.metric, one.average, one.shared, one.labels) == ("f1", "binary", True, None)
    assert one.zero_division == 0.0


def test_attributes_of_labels(two):
    assert_array_equal(two.thresholds, [0.35, 0.5])
    assert two.thresholds.dtype == np.float64
    assert two.score == pytest.approx((0.8 + 0.8) / 2, abs=1e-15)
    assert (two.metric, two.average, two.shared) == ("f1", "macro", False)
    assert two.labels == ("cat", "dog")
    assert_array_equal(two.label_scores, [0.8, 0.8])
    assert_array_equal(two.precision, [2 / 3, 2 / 3])
    assert_array_equal(two.recall, [1, 1])
    assert_array_equal(two.specificity, [0.5, 0.5])
    assert_array_equal(two.support, [2, 2])
    assert_array_equal(two.predicted, [3, 3])


def test_a_threshold_of_each_label_is_not_one_threshold(two):
    with pytest.raises(AttributeError, match=r"each of the 2 labels.*\.thresholds.*per_label=Fals"):
        _ = two.threshold
    assert not hasattr(two, "threshold")


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_a_shared_threshold_is_one_threshold_for_every_label(average):
    t = hm.tune(Y2, S2, average=average, per_label=False)
    assert t.shared
    assert_array_equal(t.thresholds, [t.threshold, t.threshold])


def test_instance_is_samples():
    assert hm.tune(Y2, S2, average="instance").average == "samples"


def test_one_label_as_a_column_has_a_threshold_of_its_own():
    t = hm.tune(np.reshape(Y, (-1, 1)), np.reshape(S, (-1, 1)))
    assert_array_equal(t.thresholds, [0.35])
    assert t.average == "macro"


@pytest.mark.parametrize("metric", ["f1", "f2", "f0.5", "jaccard", "accuracy", hm.FBeta(1.3)])
def test_the_metric_is_kept_by_name_and_its_score_is_what_predictions_reach(metric):
    t = hm.tune(Y, S, metric=metric)
    assert t.metric == (metric if isinstance(metric, str) else "f1.3")
    assert t.score == hm.score(Y, t.predict(S), metric=metric)


def test_a_result_cannot_be_rebound(one):
    with pytest.raises(AttributeError):
        one.score = 1.0


# The table.


def test_the_table_holds_plain_columns(two):
    table = two.table()
    assert list(table) == COLUMNS
    assert len(table) == 7
    assert table.n_rows == 2
    assert table["label"] == ["cat", "dog"]
    assert_array_equal(table["threshold"], two.thresholds)
    assert_array_equal(table["score"], two.label_scores)
    for name in COLUMNS[3:]:
        assert_array_equal(table[name], getattr(two, name))
    assert list(table.rows())[1] == ("dog", 0.5, 0.8, 2 / 3, 1, 2, 3)


def test_the_table_numbers_labels_without_names():
    assert hm.tune(Y2, S2).table()["label"] == [0, 1]


def test_an_unknown_column_is_a_key_error(two):
    with pytest.raises(KeyError, match="treshold"):
        two.table()["treshold"]


def test_repr_sums_up_and_shows_the_table(two):
    lines = repr(two).splitlines()
    assert lines[0] == "Thresholds for 2 labels: macro f1 = 0.8000"
    assert lines[1].split() == COLUMNS
    assert lines[2].split() == ["cat", "0.35", "0.8", "0.6667", "1", "2", "3"]
    assert lines[1:] == repr(two.table()).splitlines()


def test_repr_of_one_classifier(one):
    assert repr(one).startswith("Thresholds for one classifier: f1 = 0.8000\n")


def test_columns_of_the_repr_are_aligned_with_their_names(two):
    header, *rows = repr(two.table()).splitlines()
    assert {len(row) for row in rows} == {len(header)}


def of_many_labels(n_labels):
    return hm.tune(np.tile(Y2[:, :1], n_labels), np.tile(S2[:, :1], n_labels))


def test_many_labels_are_cut_with_a_count():
    t = of_many_labels(1500)
    *shown, last = repr(t).splitlines()[2:]
    assert len(shown) == 8
    assert last == "... and 1,492 more; table() has them all"
    assert last in Tags(t._repr_html_()).text
    assert Tags(t._repr_html_()).tags.count("tr") == 1 + len(shown)


def test_few_labels_are_not_cut():
    t = of_many_labels(5)
    assert len(repr(t).splitlines()) == 2 + 5
    assert "more" not in repr(t) + t._repr_html_()


@pytest.mark.parametrize("labels", [[2024, 10_000], [True, False], ["a", "b"]])
def test_labels_are_names_and_print_as_they_are(labels):
    rows = repr(hm.tune(Y2, S2, labels=labels)).splitlines()[2:]
    assert [row.split()[0] for row in rows] == list(map(str, labels))


def test_large_numbers_print_in_full():
    t = hm.tune(Y, [-20000.0, 12345.25, 0.0, 98765.0], sample_weight=[1, 20000.25, 1, 1])
    cells = repr(t).splitlines()[-1].split()
    assert cells[0].replace(",", "").startswith("12345")
    assert cells[4].replace(",", "").startswith("20001")


def test_one_classifier_without_a_name_shows_no_label_0():
    unnamed, named = (
        hm.tune(Y, [0.1, 0.9, 0.3, 0.8]),
        hm.tune(Y, [0.1, 0.9, 0.3, 0.8], labels=["x"]),
    )
    assert repr(unnamed).splitlines()[1].split()[0] == "threshold"
    assert unnamed.table()["label"] == [0]
    assert repr(named).splitlines()[2].split()[0] == "x"
    for result in (hm.assess(Y, [0.1, 0.9, 0.3, 0.8]), hm.diagnose(Y, [0.1, 0.9, 0.3, 0.8])):
        assert "label  " not in repr(result)
        assert "\n0 " not in repr(result)
    assert "batch" not in repr(hm.decide([0.2, 0.7])).splitlines()[1]


def test_a_label_with_line_breaks_or_escapes_does_not_break_the_lines():
    t = hm.tune(Y2, S2, labels=["two\nlines", "\x1b[31mred"])
    assert len(repr(t).splitlines()) == 4
    assert "\x1b" not in repr(t)


class Tags(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.text = [], ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def test_html_escapes_labels():
    hostile = "<script>alert(1)</script>"
    t = hm.tune(Y2, S2, labels=[hostile, "a & b"])
    for page in (t._repr_html_(), t.table()._repr_html_()):
        assert hostile not in page
        assert "script" not in Tags(page).tags
        assert hostile in Tags(page).text
        assert "a & b" in Tags(page).text


def test_html_escapes_the_metric():
    metric = hm.Metric("<img src=x>", lambda tp, fp, fn, _tn: tp / (tp + fp + fn))
    page = hm.tune(Y, S, metric=metric)._repr_html_()
    assert "<img src=x>" not in page
    assert "<img src=x>" in Tags(page).text


def test_html_holds_the_summary_and_the_table(two):
    page = Tags(two._repr_html_())
    assert page.tags.count("tr") == 3
    assert "macro f1 = 0.8000" in page.text
    assert all(name in page.text for name in COLUMNS)


# Predictions.


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (np.array([0.34, 0.35, 0.9]), [0, 1, 1]),
        ([0.34, 0.35, 0.9], [0, 1, 1]),
        ((0.34, 0.35), [0, 1]),
        (np.array([0, 1]), [0, 1]),
        (np.array([[0.34], [0.35]]), [[0], [1]]),
        ([-INF, -1e308, 1e308], [0, 0, 1]),
    ],
)
def test_predictions_of_one_classifier(one, given, expected):
    predictions = one.predict(given)
    assert type(predictions) is np.ndarray
    assert predictions.dtype == np.int8
    assert_array_equal(predictions, expected)


@pytest.mark.parametrize("form", [np.array, np.asfortranarray, np.ndarray.tolist])
def test_predictions_of_labels(two, form):
    predictions = two.predict(form(S2))
    assert type(predictions) is np.ndarray
    assert predictions.dtype == np.int8
    assert_array_equal(predictions, [[0, 1], [1, 0], [1, 1], [1, 1]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_sparse_scores_give_sparse_predictions_of_the_same_kind(two, form, kind):
    scores = getattr(sparse, f"{form}_{kind}")(S2)
    predictions = two.predict(scores)
    assert type(predictions) is getattr(sparse, f"csr_{kind}")
    assert predictions.dtype == np.int8
    assert predictions.shape == S2.shape
    assert_array_equal(predictions.toarray(), two.predict(S2))
    assert (predictions.data == 1).all()


def test_predictions_do_not_alias_the_scores(one):
    scores = np.array(S)
    one.predict(scores)[:] = 7
    assert_array_equal(scores, S)


def test_names_do_not_matter_for_scores_without_names(two):
    assert_array_equal(two.predict(S2), hm.tune(Y2, S2).predict(S2))


def test_infinity_predicts_no_rows_not_even_the_largest_number():
    t = hm.tune([0, 0], [0.5, 1e308])
    assert t.threshold == INF
    largest = np.finfo(np.float64).max
    assert t.predict([largest, 1.0, -INF]).sum() == 0
    labels = hm.tune([[0, 1], [0, 1]], [[0.5, 0.5], [0.6, 0.4]])
    assert_array_equal(labels.thresholds, [INF, 0.4])
    assert_array_equal(labels.predict(sparse.csr_array([[largest, 0.4]])).toarray(), [[0, 1]])


@pytest.mark.parametrize(
    "threshold",
    [0.1, np.nextafter(np.float64(np.float32(0.1)), 1), np.nextafter(np.float64(0.5), 1)],
)
def test_float32_scores_meet_float64_thresholds_exactly(threshold):
    t = hm.tune([1], [threshold])
    near = np.float32(threshold)
    scores = np.array([np.nextafter(near, np.float32(-1)), near, np.nextafter(near, np.float32(1))])
    assert scores.dtype == np.float32
    expected = [float(score) >= threshold for score in scores]
    assert_array_equal(t.predict(scores), expected)
    column = sparse.csr_array(scores[:, None])
    assert column.dtype == np.float32
    assert_array_equal(t.predict(column).toarray().ravel(), expected)


def test_thresholds_of_float32_scores_are_those_scores():
    scores = np.array(S, np.float32)
    t = hm.tune(Y, scores)
    assert t.threshold == float(scores[1])
    assert_array_equal(t.predict(scores), [0, 1, 1, 1])


# Copies.


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
@pytest.mark.parametrize("library", [None, "pandas", "polars", "pyarrow"])
def test_a_result_can_be_copied_and_pickled(again, library):
    scores = S2
    if library is not None:
        module = pytest.importorskip(library)
        make = module.table if library == "pyarrow" else module.DataFrame
        scores = make({"cat": S2[:, 0], "dog": S2[:, 1]})
    t = hm.tune(Y2, scores)
    twin = again(t)
    assert repr(twin) == repr(t)
    assert type(twin.table()) is type(t.table())
    assert_array_equal(twin.predict(S2), t.predict(S2))


# Floors.

UPSIDE_DOWN = np.array([[0.1, 0.9], [0.9, 0.1]])
TRUTH = np.array([[1, 1], [0, 0]])
FLOOR = {"min_precision": 0.9}

WARNED = {
    "one classifier": (
        TRUTH[:, 0],
        UPSIDE_DOWN[:, 0],
        FLOOR,
        "no threshold satisfies min_precision=0.9: no rows are predicted",
    ),
    "both floors": (
        TRUTH[:, 0],
        UPSIDE_DOWN[:, 0],
        {"min_precision": 0.75, "min_recall": 0.5},
        "no threshold satisfies min_precision=0.75 and min_recall=0.5: no rows are predicted",
    ),
    "macro": (
        TRUTH,
        UPSIDE_DOWN,
        FLOOR,
        "1 of 2 labels (0) cannot satisfy min_precision=0.9: no rows are predicted for it",
    ),
    "macro with names": (
        TRUTH,
        UPSIDE_DOWN,
        FLOOR | {"labels": ["cat", "dog"]},
        "1 of 2 labels ('cat') cannot satisfy min_precision=0.9: no rows are predicted for it",
    ),
    "micro": (
        TRUTH,
        UPSIDE_DOWN[:, [0, 0]],
        FLOOR | {"average": "micro"},
        "no threshold satisfies min_precision=0.9: no rows are predicted",
    ),
    "micro, shared": (
        TRUTH,
        UPSIDE_DOWN[:, [0, 0]],
        FLOOR | {"average": "micro", "per_label": False},
        "no threshold satisfies min_precision=0.9: no rows are predicted",
    ),
}


@pytest.mark.parametrize("case", WARNED)
def test_floors_that_cannot_be_satisfied_raise_a_warning_and_predict_no_rows(case):
    y_true, y_score, options, text = WARNED[case]
    with pytest.warns(hm.HalfmaxWarning, match=f"^{re.escape(text)}$") as caught:
        t = hm.tune(y_true, y_score, **options)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert t.thresholds[0] == INF
    assert t.predicted[0] == 0
    if case.startswith("macro"):
        assert t.thresholds[1] == 0.9


@pytest.mark.parametrize("case", WARNED)
def test_an_assessment_warns_of_such_floors_in_the_same_words(case):
    y_true, y_score, options, text = WARNED[case]
    with pytest.warns(hm.HalfmaxWarning, match=f"^{re.escape(text)}$") as caught:
        hm.assess(y_true, y_score, **options)
    assert [warning.filename for warning in caught] == [__file__]


def test_many_labels_below_a_floor_are_counted_and_some_are_named():
    truth, scores = np.tile(TRUTH[:, :1], 9), np.tile(UPSIDE_DOWN[:, :1], 9)
    text = r"9 of 9 labels \(0, 1, 2, 3, 4 and 4 more\) .*: no rows are predicted for them$"
    with pytest.warns(hm.HalfmaxWarning, match=text):
        hm.tune(truth, scores, **FLOOR)


def test_floors_that_are_satisfied_raise_no_warning():
    t = hm.tune(Y, S, min_precision=1.0)
    assert (t.threshold, t.precision[0]) == (0.8, 1.0)
    t = hm.tune(Y2, S2, min_recall=1.0, metric="precision")
    assert_array_equal(t.recall, [1, 1])


def test_the_warning_is_a_user_warning():
    assert issubclass(hm.HalfmaxWarning, UserWarning)
