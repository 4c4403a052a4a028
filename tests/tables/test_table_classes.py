"""Tables whose truth is of any two classes, metrics by name, costs and restrictions."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow
import pyarrow as pa
import pyarrow.compute
import pyarrow.dataset
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from naive_metrics import FORMULAS
from numpy.testing import assert_array_equal
from pyarrow import csv, parquet
from strategies import long_tables, restrictions
from table_cases import CORES, LIMITS, small_limits

import halfmax as hm
from halfmax._core.limits import changed

pytestmark = pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")

RNG = np.random.default_rng(0)
TRUTH = RNG.integers(0, 2, 200)
ROWS = {
    "instance": np.repeat(np.arange(50), 4),
    "label": np.tile(["a", "b", "c", "d"], 50),
    "score": np.round(RNG.random(200) + 0.5 * TRUTH, 2),
}
NAMES = np.array(["no", "yes"])[TRUTH]
KINDS = {  # the column of truth, and its positive class if that has to be named
    "names": (pa.array(NAMES), "yes"),
    "large names": (pa.array(NAMES, pa.large_string()), "yes"),
    "a dictionary": (pa.array(NAMES).dictionary_encode(), "yes"),
    "the other name": (pa.array(np.where(TRUTH, "no", "yes")), "no"),
    "-1 and 1": (pa.array(2 * TRUTH - 1), None),
    "1 and 2 as bytes": (pa.array((TRUTH + 1).astype(np.uint8)), None),
    "1 and 2 as floats": (pa.array(TRUTH + 1.0), None),
    "1 and 2, named": (pa.array(TRUTH + 1), 2),
    "upside down": (pa.array(1 - TRUTH), 0),
    "bool": (pa.array(TRUTH == 1), True),
    "bool, upside down": (pa.array(TRUTH == 0), False),
}
EXPECTED = hm.tune_table(pa.table(ROWS | {"truth": TRUTH}))


def same(one, other):
    assert_array_equal(one.thresholds, other.thresholds)
    assert (one.score, one.labels) == (other.score, other.labels)
    assert_array_equal(one.support, other.support)


@pytest.fixture(params=KINDS)
def column(request):
    return KINDS[request.param]


def test_any_two_classes_are_read(column):
    truth, positive = column
    table = pa.table(ROWS | {"truth": truth})
    same(hm.tune_table(table, pos_label=positive), EXPECTED)
    whole = hm.tune_table(table, pos_label=positive, guard="auto")
    same(whole, hm.tune_table(pa.table(ROWS | {"truth": TRUTH}), guard="auto"))
    plain = pa.table(ROWS | {"truth": TRUTH})
    for function in (hm.assess_table, hm.diagnose_table):
        got = function(table, pos_label=positive, n_resamples=20).table()
        assert_array_equal(got["expected"], function(plain, n_resamples=20).table()["expected"])


def test_classes_may_show_up_late(column):
    truth, positive = column
    with changed(table_rows_at_once=3):
        same(hm.tune_table(pa.table(ROWS | {"truth": truth}), pos_label=positive), EXPECTED)


@pytest.mark.parametrize("write", ["csv", "parquet", "pandas", "polars"])
def test_files_and_frames_hold_names(write, tmp_path):
    table = pa.table(ROWS | {"truth": NAMES})
    source = {
        "csv": lambda: csv.write_csv(table, tmp_path / "t.csv") or tmp_path / "t.csv",
        "parquet": lambda: (
            parquet.write_table(table, tmp_path / "t.parquet", row_group_size=30)
            or tmp_path / "t.parquet"
        ),
        "pandas": lambda: pd.DataFrame(ROWS | {"truth": pd.Categorical(NAMES)}),
        "polars": lambda: pl.DataFrame(ROWS | {"truth": NAMES}),
    }[write]()
    same(hm.tune_table(source, pos_label="yes"), EXPECTED)


def test_one_classifier_is_named_like_its_positive_class():
    table = pa.table({"score": ROWS["score"], "truth": NAMES})
    t = hm.tune_table(table, label=None, pos_label="yes")
    assert (t.labels, t.average) == (("yes",), "binary")
    assert t.threshold == hm.tune(TRUTH, ROWS["score"]).threshold
    guarded = hm.tune_table(table, label=None, pos_label="yes", guard="auto")
    assert guarded.labels == ("yes",)


def refused(truth, **options):
    return lambda: hm.tune_table(pa.table(ROWS | {"truth": truth}), **options)


THREE = np.resize(["a", "b", "c"], 200)
BAD = [
    (
        "names without a positive class",
        refused(NAMES),
        "column 'truth' holds the classes 'no' and 'yes': say which one is positive, "
        "pos_label='yes' or pos_label='no'",
    ),
    ("three names", refused(THREE, pos_label="a"), "must hold two classes; got 3: 'a', 'b' and"),
    (
        "another name",
        refused(NAMES, pos_label="Yes"),
        "pos_label must be a class of column 'truth', which holds 'no' and 'yes'; got 'Yes'",
    ),
    ("three numbers", refused(np.resize([0, 1, 2], 200)), "must be bool or 0/1; row 2 .* has 2"),
    ("fractions", refused(np.resize([0.5, 1.5], 200)), "must be bool or 0/1; row 0 .* has 0.5"),
    (
        "a missing name",
        refused(pa.array([None, *NAMES[1:]]), pos_label="yes"),
        "column 'truth' must not have nulls; row 0",
    ),
]


@pytest.mark.parametrize(("call", "message"), [pytest.param(*case, id=name) for name, *case in BAD])
def test_other_classes_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


MISSING = {  # a table with a missing score or truth in one row
    "pandas NaN": lambda _: pd.DataFrame(ROWS | {"truth": TRUTH}).assign(
        score=lambda rows: rows["score"].where(rows.index != 3)
    ),
    "pandas None": lambda _: pd.DataFrame(ROWS | {"truth": [None, *NAMES[1:]]}),
    "polars null": lambda _: pl.DataFrame(ROWS | {"truth": [None, *TRUTH[1:].tolist()]}),
    "polars NaN": lambda _: pl.DataFrame(
        ROWS | {"truth": TRUTH, "score": np.where(np.arange(200) == 3, np.nan, ROWS["score"])}
    ),
    "arrow": lambda _: pa.table(ROWS | {"truth": pa.array([None, *TRUTH[1:].tolist()])}),
    "parquet": lambda folder: (
        parquet.write_table(
            pa.table(ROWS | {"truth": pa.array([None, *TRUTH[1:].tolist()])}), folder / "t.parquet"
        )
        or folder / "t.parquet"
    ),
    "csv": lambda folder: (
        csv.write_csv(
            pa.table(ROWS | {"truth": pa.array([None, *TRUTH[1:].tolist()])}), folder / "t.csv"
        )
        or folder / "t.csv"
    ),
}


@pytest.mark.parametrize("case", MISSING)
def test_the_message_about_missing_values_has_a_line_that_drops_them(case, tmp_path):
    source = MISSING[case](tmp_path)
    positive = "yes" if case == "pandas None" else None
    with pytest.raises(ValueError, match="To drop such rows: ") as caught:
        hm.tune_table(source, pos_label=positive)
    _, _, line = str(caught.value).partition("To drop such rows: ")
    named = {"source": source, "pyarrow": pyarrow}
    exec(line, named)
    t = hm.tune_table(named["source"], pos_label=positive)
    assert t.support.sum() >= EXPECTED.support.sum() - 1


METRICS = [*FORMULAS, "cost(fp=1, fn=3)", "f1"]


@given(
    long_tables(kinds=("none",)),
    st.sampled_from(METRICS),
    st.sampled_from(["macro", "micro", "weighted"]),
    restrictions(),
    LIMITS,
    CORES,
)
def test_tables_give_the_thresholds_of_matrices(long, metric, average, limits, small, cores):
    if average == "micro":
        assume(metric not in ("mcc", "gmean", "fowlkes_mallows"))
    how = {"metric": metric, "average": average, **limits}
    expected = hm.tune(long.y, long.s, labels=long.labels, **how)
    with small_limits(small, cores):
        got = hm.tune_table(long.table, **how)
    assert_array_equal(got.thresholds, expected.thresholds)
    assert got.score == pytest.approx(expected.score, rel=1e-12, nan_ok=True)


def capacity(tp, fp, fn, tn):
    return tp - 3 * np.maximum(tp + fp - 4, 0) + 0 * fn * tn


def test_metrics_that_are_not_monotone_are_tuned_on_the_whole_matrix():
    metric = hm.Metric("capacity", capacity)
    table = pa.table(ROWS | {"truth": TRUTH})
    matrix = [np.asarray(part).reshape(50, 4) for part in (TRUTH, ROWS["score"])]
    expected = hm.tune(*matrix, metric)
    assert_array_equal(hm.tune_table(table, metric=metric).thresholds, expected.thresholds)
    a = hm.assess_table(table, metric=metric, n_resamples=10)
    assert_array_equal(a.thresholds.thresholds, expected.thresholds)
    with pytest.raises(ValueError, match="ratio of weighted sums"):
        hm.tune_table(table, metric=metric, average="micro")


def test_restrictions_are_assessed():
    table = pa.table(ROWS | {"truth": TRUTH})
    a = hm.assess_table(table, max_predicted=10, n_resamples=20)
    assert (a.thresholds.predicted <= 10).all()
