"""Thresholds as a thing to hold: looked up, built, changed, joined and compared by label."""

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction

import naive
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import averages, forms, many_labels, metrics, one_classifier, to_sparse

import halfmax as hm

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")]

INF, NAN = float("inf"), float("nan")
RNG = np.random.default_rng(0)
YY = RNG.random((200, 3)) < [0.1, 0.3, 0.5]
SS = 1 / (1 + np.exp(-RNG.normal(size=YY.shape) - 1.5 * YY))
NAMES = ["cats", "dogs", "emus"]
REACHED = ("label_scores", "precision", "recall", "specificity", "predicted")


def tuned(**options):
    return hm.tune(YY, SS, **({"labels": NAMES} | options))


def loaded(thresholds, path):
    thresholds.save(path)
    return hm.Thresholds.load(path)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "thresholds.json"


# Looked up.


def test_a_label_is_looked_up_by_name():
    t = tuned()
    assert [t[name] for name in NAMES] == t.thresholds.tolist()
    assert type(t["cats"]) is float


def test_labels_without_names_are_looked_up_by_position():
    t = tuned(labels=None)
    assert t[np.int64(2)] == t[2] == t.thresholds[2]
    assert t.to_dict() == dict(enumerate(t.thresholds.tolist()))
    assert hm.tune(YY[:, 0], SS[:, 0])[0] == t[0]


def test_a_result_is_about_its_labels_as_a_dictionary_is():
    t = tuned()
    assert list(t) == list(t.keys()) == NAMES
    assert len(t) == 3
    assert "cats" in t
    assert 0 not in t
    assert dict(t) == {**t} == t.to_dict()
    assert all(type(value) is float for value in t.to_dict().values())
    assert list(t.items()) == list(zip(t.keys(), t.values(), strict=True)) == [*dict(t).items()]
    assert (t.get("dogs"), t.get("owls"), t.get("owls", 0.5)) == (t["dogs"], None, 0.5)


@pytest.mark.parametrize(
    ("labels", "label", "message"),
    [
        (NAMES, "cat", "label must be 'cats', 'dogs' or 'emus'; got 'cat': did you mean 'cats'?"),
        (NAMES, "DOGS", "label must be .*; got 'DOGS': did you mean 'dogs'?"),
        (NAMES, "zebras", "label must be 'cats', 'dogs' or 'emus'; got 'zebras'"),
        (NAMES, 0, "label must be 'cats', 'dogs' or 'emus'; got 0"),
        ([1, 2, 3], "2", "label must be 1, 2 or 3; got '2': did you mean 2?"),
        (None, 3, "label must be from 0 to 2; got 3"),
        (None, -1, "label must be from 0 to 2; got -1"),
        (None, "cats", "label must be from 0 to 2; got 'cats'"),
    ],
)
def test_an_unknown_label_is_a_key_error_that_names_the_known_ones(labels, label, message):
    with pytest.raises(KeyError) as caught:
        tuned(labels=labels)[label]
    start, _, end = message.partition(".*")
    assert str(caught.value).startswith(start)
    assert str(caught.value).endswith(end)
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


def test_the_only_label_without_a_name_is_label_0():
    with pytest.raises(KeyError, match="label must be 0, because the only label has no name"):
        hm.tune([0, 1], [0.1, 0.9])["yes"]


def test_several_labels_are_refused_with_what_to_use():
    with pytest.raises(TypeError, match=r"a single name; got \['cats'\]: .* to_dict\(\)"):
        tuned()[["cats"]]


# Built from a dictionary.


def test_thresholds_from_a_dictionary_predict_and_know_nothing_else():
    t = hm.Thresholds.from_dict({"cats": 0.3, "dogs": 30, "emus": INF})
    assert (t.labels, t.thresholds.tolist()) == (("cats", "dogs", "emus"), [0.3, 30.0, INF])
    assert (t.metric, t.average, t.shared, t.guard) == ("f1", "macro", False, None)
    assert np.isnan(t.score)
    for name in (*REACHED, "support"):
        assert np.isnan(getattr(t, name)).all()
    assert_array_equal(t.predict([[0.3, 29.0, 1e308], [-INF, 30.0, 0.0]]), [[1, 0, 0], [0, 1, 0]])


def test_what_is_unknown_is_shown_so():
    t = hm.Thresholds.from_dict({"cats": 0.3, "dogs": 0.6}, average="micro", metric="f2")
    lines = repr(t).splitlines()
    assert lines[0] == "Thresholds for 2 labels: micro f2 unknown"
    assert lines[2].split() == ["cats", "0.3", *["unknown"] * 5]
    assert "nan" not in repr(t) + repr(t.table()) + t._repr_html_()
    assert np.isnan(t.table()["score"]).all()


def test_a_score_of_nothing_but_0_over_0_is_known():
    t = hm.tune([0, 0], [0.1, 0.2], zero_division=NAN)
    assert repr(t).splitlines()[0] == "Thresholds for one classifier: f1 = nan"
    assert repr(t).splitlines()[-1].split()[2] == "nan"


def test_one_label_takes_scores_in_one_or_two_dimensions():
    t = hm.Thresholds.from_dict({"spam": 0.3})
    assert t.threshold == 0.3
    assert_array_equal(t.predict([0.2, 0.3]), [0, 1])
    assert_array_equal(t.predict([[0.2], [0.3]]), [[0], [1]])
    found = t.predict(pd.Series([0.2, 0.3], index=["x", "y"]))
    assert found.to_dict() == {"x": 0, "y": 1}


@pytest.mark.parametrize("size", [1, 2])
def test_any_average_over_labels_is_known_to_a_dictionary(path, size):
    for average in ("macro", "micro", "samples", "weighted"):
        t = hm.Thresholds.from_dict(dict.fromkeys(NAMES[:size], 0.4), average=average)
        assert (t.average, t.shared) == (average, False)
        assert loaded(t, path) == t


def test_one_classifier_from_a_dictionary(path):
    t = hm.Thresholds.from_dict({"spam": 0.3}, average="binary")
    assert (t.average, t.shared, t.threshold) == ("binary", True, 0.3)
    assert repr(t).startswith("Thresholds for one classifier: f1 unknown\n")
    assert loaded(t, path) == t


@pytest.mark.parametrize("value", [1, np.float32(0.5), np.int8(3), Decimal("0.1"), Fraction(1, 3)])
def test_numbers_of_any_kind_are_thresholds(value):
    assert hm.Thresholds.from_dict({"a": value})["a"] == float(value)


def test_names_and_options_are_kept():
    t = hm.Thresholds.from_dict({np.int64(7): -0.0}, hm.FBeta(1.3), "instance", NAN)
    assert (t.labels, type(t.labels[0])) == ((7,), int)
    assert (t.metric, t.average) == ("f1.3", "samples")
    assert np.isnan(t.zero_division)
    assert str(t[7]) == "0.0"


BUILT = [
    ([0.3, 0.6], {}, TypeError, r"thresholds must be a dictionary .*; got list$"),
    (0.3, {}, TypeError, r"thresholds must be a dictionary .* such as {'cats': 0\.3.*; got float$"),
    (pd.Series({"a": 0.3}), {}, TypeError, r"got Series: call to_dict\(\) on it first"),
    ({}, {}, ValueError, "thresholds must hold at least one label .*; got an empty dictionary"),
    ({"a": NAN}, {}, ValueError, r"thresholds\['a'\] must be a number, or inf .*; got nan$"),
    ({"a": -INF}, {}, ValueError, "got -inf: to predict all rows, use a number below all scores"),
    ({"a": 10**400}, {}, ValueError, r"thresholds\['a'\] must be a number, or inf .*; got 1000"),
    ({"a": "0.3"}, {}, TypeError, r"thresholds\['a'\] must be a number, or inf .*; got '0.3'$"),
    ({"a": True}, {}, TypeError, "must be a number, or inf .*; got True"),
    ({"a": None}, {}, TypeError, "must be a number, or inf .*; got None"),
    ({"a": [0.3]}, {}, TypeError, r"must be a number, or inf .*; got \[0.3\]"),
    ({"a": 1j}, {}, TypeError, "must be a number, or inf .*; got 1j"),
    ({"a": 0.3}, {"metric": "F1"}, ValueError, "use metric='f1'"),
    ({"a": 0.3}, {"average": "mean"}, ValueError, "average must be .*; got 'mean'"),
    ({"a": 1, "b": 2}, {"average": "binary"}, ValueError, "average must be .*; got 'binary'"),
    ({"a": 0.3}, {"zero_division": 2}, ValueError, "zero_division must be .*; got 2"),
]


@pytest.mark.parametrize(("numbers", "options", "error", "message"), BUILT)
def test_dictionaries_that_are_no_thresholds_are_refused(numbers, options, error, message):
    with pytest.raises(error, match=message):
        hm.Thresholds.from_dict(numbers, **options)


names = st.text() | st.integers()
numbers = st.floats(allow_nan=False).filter(lambda x: x > -INF)


@given(st.dictionaries(names, numbers, min_size=1), metrics, averages)
def test_a_dictionary_comes_back_also_from_a_file(tmp_path_factory, some, metric, average):
    t = hm.Thresholds.from_dict(some, metric, average)
    assert t.to_dict() == some
    assert list(t) == list(some)
    again = loaded(t, tmp_path_factory.getbasetemp() / "from_dict.json")
    assert again == t
    assert hash(again) == hash(t)
    assert repr(again) == repr(t)


@given(many_labels(), st.data())
def test_predictions_are_those_of_the_numbers(case, data):
    some = st.sampled_from([INF, *case.s.ravel()[case.s.ravel() > -INF].tolist(), 0.3])
    limits = [data.draw(some) for _ in range(case.s.shape[1])]
    t = hm.Thresholds.from_dict(dict(enumerate(limits)))
    assert_array_equal(t.predict(case.s), naive.predict(case.s, limits))
    if len(limits) == 1:
        assert_array_equal(t.predict(case.s[:, 0]), naive.predict(case.s[:, 0], limits[0]))


# Changed.


def check_reached(t, y, s, w):
    """What the thresholds reach must be what a slow twin counts."""
    y, s, limits = np.reshape(y, (len(y), -1)), np.reshape(s, (len(y), -1)), t.thresholds
    guess = naive.predict(s, limits)
    counts = [
        naive.confusion(naive.column(naive.whole(y), j), naive.column(guess, j), w)
        for j in range(len(limits))
    ]
    for j, (tp, fp, fn, tn) in enumerate(counts):
        assert naive.same(t.support[j], tp + fn)
        assert naive.same(t.predicted[j], tp + fp)
        for values, metric in (
            (t.label_scores, t.metric),
            (t.precision, "precision"),
            (t.recall, "recall"),
            (t.specificity, "specificity"),
        ):
            value = naive.metric_value(metric, tp, fp, fn, tn, t.zero_division)
            assert naive.same(values[j], value)
    average = "macro" if t.average == "binary" else t.average
    assert naive.same(t.score, naive.score(y, guess, t.metric, average, w, t.zero_division))


def draw_changes(data, t, s):
    """New thresholds for some labels: scores, numbers near them, and infinity."""
    known = np.unique(np.asarray(s, np.float64))
    known = known[known > -INF].tolist()
    near = [math.nextafter(value, side) for value in known for side in (-INF, INF)]
    some = st.sampled_from([INF, 0.3, *known, *(x for x in near if x > -INF)])
    chosen = data.draw(st.lists(st.sampled_from(list(t)), min_size=1, unique=True))
    return {label: data.draw(some) for label in chosen}


@given(one_classifier(), metrics, st.data())
def test_one_changed_threshold_is_counted_again(case, metric, data):
    t = hm.tune(case.y, case.s, metric, sample_weight=case.w)
    changes = draw_changes(data, t, case.s)
    found = t.replace(changes)
    assert found == t.replace(changes[0])
    assert (found.threshold, found.shared, found.average) == (changes[0], True, "binary")
    check_reached(found, case.y, case.s, case.w)


@given(many_labels(), metrics, averages, st.booleans(), st.sampled_from([0.0, 1.0]), st.data())
def test_changed_labels_are_counted_again(case, metric, average, per_label, zero, data):
    options = {"sample_weight": case.w, "zero_division": zero, "per_label": per_label}
    t = hm.tune(case.y, case.s, metric, average, **options)
    changes = draw_changes(data, t, case.s)
    found = t.replace(changes)
    assert found.to_dict() == {**t.to_dict(), **changes}
    assert found.shared == (not per_label and len(set(found.thresholds.tolist())) == 1)
    check_reached(found, case.y, case.s, case.w)


@given(many_labels(kinds=("none", "whole")), averages, forms, st.data())
def test_changed_labels_of_sparse_scores_are_counted_again(case, average, form, data):
    scores = to_sparse(case.s, form)
    t = hm.tune(case.y, scores, average=average, sample_weight=case.w)
    dense = hm.tune(case.y, case.s, average=average, sample_weight=case.w)
    changes = draw_changes(data, t, case.s)
    found, expected = t.replace(changes), dense.replace(changes)
    if t == dense:  # a tie between thresholds of the samples average may be cut elsewhere
        assert found == expected
    check_reached(found, case.y, case.s, case.w)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_changing_everything_to_what_another_tuning_found_gives_what_it_reached(average):
    best = tuned(average=average)
    found = tuned(metric="f1", average="macro").replace(best.to_dict())
    assert found.to_dict() == best.to_dict()
    for name in REACHED:
        assert_array_equal(getattr(found, name), getattr(best, name))


def test_no_change_changes_nothing():
    t = tuned(guard="auto")
    same = t.replace(t.to_dict())
    assert same == t
    assert same is not t
    assert same.guard == "auto"
    assert t.replace({"cats": t["cats"]}) == t


def test_a_changed_result_leaves_the_original_alone():
    t = tuned()
    before = copy.deepcopy(t)
    t.replace({"cats": 0.5})
    assert t == before


def test_a_guard_and_floors_do_not_survive_a_change():
    t = tuned(guard="auto").replace({"cats": 0.5})
    assert t.guard is None
    assert t._tuning.goal.guard is None
    t = tuned(min_recall=0.9).replace({"cats": INF})
    assert not t._tuning.goal.objective.restrictions
    assert t.recall[0] == 0.0


def test_a_shared_threshold_is_changed_by_a_number():
    t = tuned(per_label=False)
    found = t.replace(0.25)
    assert (found.shared, found.threshold) == (True, 0.25)
    assert_array_equal(found.thresholds, [0.25] * 3)
    apart = t.replace({"dogs": 0.25})
    assert not apart.shared
    assert not hasattr(apart, "threshold")
    check_reached(apart, YY, SS, None)


def test_changes_can_be_changed_again():
    t = tuned().replace({"cats": 0.5}).replace({"dogs": 0.5})
    assert t == tuned().replace({"dogs": 0.5, "cats": 0.5})
    assert t.replace(tuned().to_dict()).score == tuned().score


def test_without_data_what_changed_labels_reach_is_unknown(path):
    t = loaded(tuned(guard="auto"), path)
    found = t.replace({"dogs": 0.5})
    assert found["dogs"] == 0.5
    assert np.isnan(found.score)
    assert found.guard is None
    assert_array_equal(found.support, t.support)
    for name in REACHED:
        assert np.isnan(getattr(found, name)).tolist() == [False, True, False]
        assert_array_equal(getattr(found, name)[[0, 2]], getattr(t, name)[[0, 2]])
    row = repr(found).splitlines()[3].split()
    assert row == ["dogs", "0.5", "unknown", "unknown", "unknown", str(t.support[1]), "unknown"]
    assert loaded(found, path) == found


CHANGES = [
    ({"cat": 0.3}, ValueError, "labels of changes must be 'cats', .* did you mean 'cats'?"),
    ({0: 0.3}, ValueError, "labels of changes must be 'cats', 'dogs' or 'emus'; got 0"),
    ({}, ValueError, "changes must hold at least one label"),
    ({"cats": NAN}, ValueError, r"changes\['cats'\] must be a number, or inf"),
    ({"cats": "high"}, TypeError, r"changes\['cats'\] must be a number, or inf"),
    ([0.3], TypeError, "changes must be a dictionary of labels and thresholds"),
    (True, TypeError, "changes must be a dictionary .*; got bool"),
    (0.3, ValueError, "changes must be a dictionary .* 3 labels has a threshold of its own; got 0"),
]


@pytest.mark.parametrize(("changes", "error", "message"), CHANGES)
def test_bad_changes_are_refused(changes, error, message):
    with pytest.raises(error, match=message):
        tuned().replace(changes)


def test_a_bad_number_for_one_classifier_is_refused():
    with pytest.raises(ValueError, match=r"changes must be a number, or inf .*; got nan"):
        hm.tune(YY[:, 0], SS[:, 0]).replace(NAN)


# Changed after tuning a table, which is not in memory.


def long_table():
    return pa.table(
        {
            "instance": np.repeat(np.arange(len(YY)), 3),
            "label": np.tile(NAMES, len(YY)),
            "score": SS.ravel(),
            "truth": YY.ravel(),
        }
    )


@pytest.fixture
def table(tmp_path):
    from pyarrow import parquet

    parquet.write_table(long_table(), tmp_path / "scores.parquet")
    return tmp_path / "scores.parquet"


def test_a_table_is_not_read_again_for_a_change(table):
    t = hm.tune_table(table)
    table.unlink()
    found = t.replace({"cats": 0.5})
    assert np.isnan(found.predicted).tolist() == [True, False, False]
    assert np.isnan(found.score)


def test_a_staircase_at_hand_knows_the_counts_at_scores_of_positives(table):
    t = hm.tune_table(table)
    stairs = t._tuning.stairs  # reads the table and keeps what it counts
    table.unlink()
    step, between = float(stairs["cats"].thresholds[3]), 0.123
    found = t.replace({"cats": step, "dogs": INF})
    check_reached(found, YY, SS, None)
    assert np.isnan(t.replace({"cats": between}).score)
    again = t.replace({"cats": between}).replace({"cats": step, "dogs": INF})
    assert again == found


# Joined.


def test_labels_of_both_are_joined_and_those_on_the_right_win():
    left, right = tuned(), hm.tune(YY[:, 1:], SS[:, 1:] / 2, labels=["dogs", "owls"])
    found = left | right
    assert found.to_dict() == left.to_dict() | right.to_dict()
    assert list(found) == ["cats", "dogs", "emus", "owls"]
    assert found.predicted.tolist() == [
        left.predicted[0],
        right.predicted[0],
        left.predicted[2],
        right.predicted[1],
    ]
    assert found.score == pytest.approx(found.label_scores.mean(), abs=1e-15)
    assert_array_equal(left.predict(SS), tuned().predict(SS))


def test_classifiers_tuned_one_at_a_time_become_labels():
    alone = [hm.tune(YY[:, j], SS[:, j], labels=[NAMES[j]]) for j in range(3)]
    found = alone[0] | alone[1] | alone[2]
    assert found == tuned()
    assert alone[0] | alone[0] == alone[0]


def test_a_joined_score_is_unknown_unless_labels_decide_it():
    for average in ("micro", "samples"):
        left, right = tuned(average=average), tuned(average=average, labels=["a", "b", "c"])
        assert np.isnan((left | right).score)
        assert repr(left | right).startswith(f"Thresholds for 6 labels: {average} f1 unknown\n")
    found = tuned() | hm.Thresholds.from_dict({"owls": 0.5})
    assert np.isnan(found.score)
    assert repr(found).splitlines()[-1].split() == ["owls", "0.5", *["unknown"] * 5]


@pytest.mark.parametrize("average", ["macro", "micro", "samples", "weighted"])
def test_new_numbers_for_labels_in_memory_are_counted(average):
    t = tuned(average=average)
    numbers = {"dogs": 0.25, "cats": INF}
    other = hm.Thresholds.from_dict(numbers, average=average)
    assert t | other == t | numbers == t.replace(numbers)
    assert not np.isnan((t | numbers).score)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_a_dictionary_is_joined_as_thresholds_for_the_same_goal(average):
    cost = hm.cost(fp=1, fn=3)
    t = tuned(metric=cost, average=average, zero_division=1.0)
    found = t | {"owls": 0.25}
    owls = hm.Thresholds.from_dict({"owls": 0.25}, cost, average, 1.0)
    assert found == t | owls
    assert list(found.items()) == [*t.items(), ("owls", 0.25)]
    own = hm.Metric("own", lambda tp, fp, fn, tn: tp / (tp + fp + fn + tn))
    assert (tuned(metric=own) | {"owls": 0.25}).metric == "own"


def test_a_dictionary_is_joined_to_one_classifier():
    t = hm.tune(YY[:, 0], SS[:, 0], labels=["cats"])
    assert (t | {"cats": 0.4}) == t.replace(0.4)
    assert ((t | {"dogs": 0.4}).average, (t | {"dogs": 0.4, "emus": 1}).average) == ("macro",) * 2


def test_what_is_joined_keeps_a_guard_and_a_shared_threshold_only_in_common():
    guarded, plain = tuned(guard="auto"), tuned(labels=["a", "b", "c"])
    assert (guarded | plain).guard is None
    assert (guarded | tuned(guard="auto", labels=["a", "b", "c"])).guard == "auto"
    one, other = tuned(per_label=False), tuned(per_label=False, labels=["a", "b", "c"])
    assert (one | other).shared
    assert not (one | other.replace(0.5)).shared
    assert not (one | plain).shared


def test_joined_thresholds_can_be_saved(path):
    found = tuned() | hm.Thresholds.from_dict({"owls": 0.5})
    assert loaded(found, path) == found


def test_a_joined_table_comes_in_the_library_of_the_left_or_else_the_right():
    frame = hm.tune(YY[:, :1], pd.DataFrame({"cats": SS[:, 0]}))
    plain = hm.tune(YY[:, 1:2], SS[:, 1:2], labels=["dogs"])
    assert isinstance((frame | plain).table(), pd.DataFrame)
    assert isinstance((plain | frame).table(), pd.DataFrame)


JOINED = [
    (tuned(metric="f2"), ValueError, r"must have the same metric to be joined .* 'f1' and 'f2'"),
    (tuned(average="micro"), ValueError, r"the same average .* got 'macro' and 'micro'"),
    (tuned(zero_division=1.0), ValueError, r"the same zero_division .* got 0\.0 and 1\.0"),
    (tuned(labels=None), ValueError, r"must have names of labels to be joined .* labels=\[...\]"),
    ({"cats": "high"}, TypeError, r"thresholds\['cats'\] must be a number, or inf"),
    ({}, ValueError, "thresholds must hold at least one label"),
    (0.4, TypeError, r"unsupported operand type\(s\) for \|"),
]


@pytest.mark.parametrize(("other", "error", "message"), JOINED)
def test_what_does_not_belong_together_is_not_joined(other, error, message):
    with pytest.raises(error, match=message):
        _ = tuned() | other


# Compared.


def test_equal_results_are_equal_whatever_their_data(path):
    t = tuned(sample_weight=np.linspace(0.1, 1, len(YY)), zero_division=NAN)
    assert t == tuned(sample_weight=np.linspace(0.1, 1, len(YY)), zero_division=NAN)
    again = loaded(t, path)
    assert again == t
    assert hash(again) == hash(t)
    frame = hm.tune(YY, pd.DataFrame(SS, columns=NAMES))
    assert frame == tuned()
    assert len({t, again, frame}) == 2


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_copies_are_equal(again):
    t = tuned()
    assert t["cats"] == again(t)["cats"]
    assert again(t) == t
    assert "_places" not in vars(again(t))


@pytest.mark.parametrize(
    "other",
    [
        tuned(metric="f2"),
        tuned(average="micro"),
        tuned(labels=None),
        tuned(labels=["a", "b", "c"]),
        tuned(guard="auto"),
        tuned(zero_division=1.0),
        tuned().replace({"cats": 0.5}),
        hm.Thresholds.from_dict(tuned().to_dict()),
        hm.tune(YY[:, :2], SS[:, :2], labels=NAMES[:2]),
        tuned().to_dict(),
        None,
        0.5,
    ],
)
def test_any_difference_makes_results_unequal(other):
    assert tuned() != other
    assert other != tuned()


# Kept as it is.


@pytest.mark.parametrize(
    "again", [lambda t: t, copy.copy, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))]
)
def test_arrays_of_a_result_cannot_be_written_to(again):
    t = again(tuned())
    for name in ("thresholds", "support", *REACHED):
        with pytest.raises(ValueError, match="read-only"):
            getattr(t, name)[0] = 0.9
    assert t == tuned()


def test_arrays_of_callers_can_still_be_written_to():
    y, s, w = YY.copy(), SS.copy(), np.ones(len(YY))
    t = hm.tune(y, s, sample_weight=w)
    hm.assess(y, s, sample_weight=w)
    assert all(array.flags.writeable for array in (y, s, w, t.predict(s)))
    frame = hm.tune(YY, pd.DataFrame(SS, columns=NAMES)).table()
    frame.loc[0, "threshold"] = 0.9
    assert frame["threshold"][0] == 0.9


def test_arrays_of_other_results_cannot_be_written_to():
    y, s = YY[:, :2], SS[:, :2]
    assessed, diagnosed, decided = hm.assess(y, s), hm.diagnose(y, s), hm.decide(s)
    for array in (
        assessed.resampled_scores,
        *assessed.label_score_intervals,
        diagnosed.thresholds,
        *diagnosed.threshold_interval,
        decided.thresholds,
    ):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0.9
    decided.predictions[0] = 0  # made for the caller alone


# Shown.


@pytest.mark.parametrize("size", [1, 8, 10, 11, 200])
def test_the_first_labels_are_shown_in_their_order(size):
    t = hm.Thresholds.from_dict({f"label {j}": j / size for j in range(size)})
    rows = repr(t).splitlines()[2:]
    shown = size if size <= 10 else 8
    assert [row.split()[1] for row in rows[:shown]] == [str(j) for j in range(shown)]
    rest = rows[shown:]
    assert rest == ([] if size <= 10 else [f"... and {size - 8} more; table() has them all"])
    assert t._repr_html_().count("<tr>") == 1 + shown
    assert (f"... and {size - 8} more; table() has them all" in t._repr_html_()) == (size > 10)
    assert t.table().n_rows == size


# Used elsewhere.


def test_a_table_is_predicted_with_numbers_of_ones_own(path):
    t = hm.Thresholds.from_dict(dict.fromkeys(NAMES, 0.5))
    found = hm.apply_table(t, long_table())["predicted"].to_numpy()
    assert_array_equal(found, t.predict(SS).ravel())
    t.save(path)
    assert_array_equal(hm.apply_table(path, long_table())["predicted"].to_numpy(), found)
