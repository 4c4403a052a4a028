"""A wrong table or call is refused with an error that names the argument, the rule and the row."""

import re
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bad_table_cases import (
    COLUMNS,
    INF,
    NAN,
    TABLE,
    T,
    apply,
    assess,
    check,
    decide,
    frame,
    other,
    table,
    tune,
    write,
)
from pyarrow import csv, feather

import halfmax as hm
from halfmax._core.limits import changed

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


ONE = hm.tune([0, 1], [0.1, 0.9])
NUMBERED = hm.tune([[0, 1], [1, 0]], [[0.1, 0.9], [0.8, 0.3]])


# What is wrong, the call, the error, and what its message must say.
BAD = [
    # columns that are not there
    (
        "no label",
        tune(table(label=None)),
        ValueError,
        r"^the table has no column 'label'; it has 'instance', 'score', 'truth' and 'weight': name "
        r"the column with label=\.\.\., or use label=None for one classifier$",
    ),
    ("no score", tune(score="p"), ValueError, r"no column 'p'; it has .*'score'.*score=\.\.\."),
    ("no truth", tune(truth="y"), ValueError, r"no column 'y'; it has .*'truth'.*truth=\.\.\."),
    ("no weight", tune(weight="w"), ValueError, r"no column 'w'; it has .*weight=\.\.\."),
    ("no instance", tune(instance="doc"), ValueError, r"no column 'doc'; .*instance=\.\.\."),
    ("capital letters", tune(label="Label"), ValueError, r"no column 'Label'; it has .*'label'"),
    ("pandas, no truth", tune(frame(), truth="y"), ValueError, r"'y'; it has 'instance'.*'truth'"),
    (
        "many columns",
        tune(pa.table({f"c{i}": [1] for i in range(500)})),
        ValueError,
        r"'c19' and 480 more",
    ),
    ("no column to apply to", apply(score="p"), ValueError, r"no column 'p'; it has .*'score'"),
    (
        "no probability",
        decide(table(score=None), probability=None),
        ValueError,
        r"no column 'probability'; it has .*'truth'",
    ),
    ("no instance to decide", decide(table(instance=None)), ValueError, r"no column 'instance'"),
    # columns that mean nothing
    ("two roles", tune(score="truth"), ValueError, r"'truth' cannot mean two things.*score"),
    ("two roles, decide", decide(instance="label"), ValueError, r"'label' cannot mean two"),
    ("a number for a name", tune(label=3), TypeError, r"label must be the name of a column; got 3"),
    ("no score at all", tune(score=[1]), TypeError, r"score must be the name .*got \[1\]"),
    (
        "the same name twice",
        tune(TABLE.append_column("score", TABLE["score"])),
        ValueError,
        r"the table has more than one column 'score'",
    ),
    (
        "the same name twice, pandas",
        tune(pd.concat([frame(), frame()[["score"]]], axis=1)),
        ValueError,
        r"column names must not repeat.*'score'",
    ),
    (
        "a note twice",
        apply(T, TABLE.append_column("note", TABLE["score"]).append_column("note", TABLE["score"])),
        ValueError,
        r"column names must not repeat; 'note' does",
    ),
    # types
    (
        "labels as floats",
        tune(table(label=[1.0, 2.0, 1.0, 2.0])),
        TypeError,
        r"^column 'label' of the table must hold strings or integers; it holds double$",
    ),
    ("labels as bool", tune(table(label=[True] * 4)), TypeError, r"'label'.*it holds bool"),
    ("labels as lists", tune(table(label=[["a"]] * 4)), TypeError, r"'label'.*it holds list"),
    (
        "instances as dates",
        tune(table(instance=np.array(["2014-05-14"] * 4, "M8[s]"))),
        TypeError,
        r"'instance'.*strings or integers; it holds timestamp",
    ),
    ("scores as text", tune(table(score=["0.1"] * 4)), TypeError, r"'score'.*numbers.*string"),
    ("scores as bool", tune(table(score=[True] * 4)), TypeError, r"'score'.*numbers.*bool"),
    ("truth as text", tune(table(truth=["no"] * 4)), ValueError, r"one class only, 'no'"),
    (
        "weights as text",
        tune(table(weight=["1"] * 4), weight="weight"),
        TypeError,
        r"'weight'.*num",
    ),
    ("labels missing", tune(table(label=[None] * 4)), TypeError, r"'label'.*it holds nulls only"),
    ("truth missing", tune(table(truth=[None] * 4)), TypeError, r"'truth'.*it holds nulls only"),
    ("mixed labels", tune(frame(label=["a", 1, "b", 2])), TypeError, r"one type:.*column label"),
    ("mixed truth", tune(frame(truth=[0, "1", 1, 0])), TypeError, r"one type:.*column truth"),
    ("complex scores", tune(frame(score=[1j] * 4)), TypeError, r"one type|complex"),
    (
        "labels beyond 64 bits",
        tune(table(label=pa.array([1, 2, 2**63, 2], pa.uint64()))),
        ValueError,
        r"'label' must hold strings, or integers below 2\*\*63; the table has larger",
    ),
    # values
    (
        "a null label",
        tune(table(label=["a", None, "a", "b"])),
        ValueError,
        r"^column 'label' must not have nulls; row 1 of the table has one. To drop such rows: ",
    ),
    (
        "a null among coded labels",
        tune(table(label=pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 0]), ["a", None]))),
        ValueError,
        r"'label' must not have nulls; row 1",
    ),
    (
        "a null category",
        tune(frame(label=pd.Categorical(["a", None, "a", "b"]))),
        ValueError,
        r"row 1",
    ),
    ("a null id", tune(table(instance=[1, 2, 3, None])), ValueError, r"'instance' .*nulls; row 3"),
    ("a null score", tune(table(score=[0.1, None, 1, 1])), ValueError, r"'score' .*nulls; row 1"),
    ("a null truth", tune(table(truth=[0, 1, None, 1])), ValueError, r"'truth' .*nulls; row 2"),
    (
        "a null weight",
        tune(table(weight=[1, 1, None, 1]), weight="weight"),
        ValueError,
        r"'weight' .*nulls; row 2",
    ),
    ("pandas' NaN", tune(frame(score=[0.1, NAN, 1, 1])), ValueError, r"'score' .*nulls; row 1"),
    (
        "polars' null",
        tune(pl.DataFrame(COLUMNS).with_columns(truth=pl.Series([0, 1, None, 1]))),
        ValueError,
        r"'truth' .*nulls; row 2",
    ),
    (
        "NaN",
        tune(table(score=[0.1, 0.2, NAN, 1])),
        ValueError,
        r"^column 'score' must be finite or -inf; row 2 of the table has nan. To drop such rows: ",
    ),
    (
        "infinity",
        tune(table(score=[0.1, 0.2, 1, INF])),
        ValueError,
        r"finite or -inf; row 3 .* inf",
    ),
    ("NaN to apply to", apply(T, table(score=[NAN] * 4)), ValueError, r"'score'.*row 0 .* nan"),
    (
        "truth of 2",
        tune(table(truth=[0, 1, 2, 1])),
        ValueError,
        r"^column 'truth' must be bool or 0/1; row 2 of the table has 2$",
    ),
    ("truth of -1", tune(table(truth=[-1, 0, 1, 1])), ValueError, r"0/1; row 0 .* has -1"),
    (
        "truth of dates",
        tune(table(truth=np.array(["2014"] * 4, "M8[s]"))),
        TypeError,
        "two classes",
    ),
    ("soft truth", tune(table(truth=[0, 0.5, 1, 1])), ValueError, r"0/1; row 1 .* has 0\.5"),
    ("truth of NaN", tune(table(truth=[0.0, NAN, 1, 1])), ValueError, r"row 1 .* has nan. To drop"),
    (
        "truth of 0.3",
        tune(table(truth=pa.array([Decimal("0.3"), Decimal(1), Decimal(0), Decimal(1)]))),
        ValueError,
        r"0/1; row 0 .* has 0\.3",
    ),
    (
        "a negative weight",
        tune(table(weight=[1, 1, -2, 1]), weight="weight"),
        ValueError,
        r"^column 'weight' must be finite and not negative; row 2 of the table has -2",
    ),
    (
        "a weight of NaN",
        tune(table(weight=[1, NAN, 2, 1]), weight="weight"),
        ValueError,
        r"'weight' must be finite .*row 1 .* nan",
    ),
    (
        "weights that do not count",
        tune(table(weight=[0] * 4), weight="weight"),
        ValueError,
        r"column 'weight' must not be zero everywhere",
    ),
    (
        "the same, with rows",
        tune(table(weight=[0] * 4), weight="weight", average="samples"),
        ValueError,
        r"column 'weight' must not be zero everywhere",
    ),
    (
        "weights too heavy",
        tune(table(weight=[1e200] * 4), weight="weight"),
        ValueError,
        r"column 'weight' .*at most 1e\+100; .*scale it down",
    ),
    (
        "1.5 for probability",
        decide(table(score=[0.1, 1.5, 1, 1])),
        ValueError,
        r"0 to 1; row 1 .*1\.5",
    ),
    ("-inf for one", decide(table(score=[0.1, 0.5, 1, -INF])), ValueError, r"0 to 1; row 3 .*-inf"),
    # nothing there
    (
        "no rows",
        tune(TABLE[:0]),
        ValueError,
        r"^the table must have at least one row; it has none$",
    ),
    ("no rows, pandas", tune(frame().iloc[:0]), ValueError, r"at least one row"),
    ("no rows, samples", tune(TABLE[:0], average="samples"), ValueError, r"at least one row"),
    ("no rows to decide", decide(TABLE[:0]), ValueError, r"at least one row"),
    ("no rows to assess", assess(TABLE[:0]), ValueError, r"at least one row"),
    # no tables
    ("an array", tune(np.zeros((3, 4))), TypeError, r"^source must be a path, glob.*got ndarray$"),
    ("a dict", tune(COLUMNS), TypeError, r"source must be .*got dict"),
    ("None", tune(None), TypeError, r"source must be .*got NoneType"),
    ("a series", tune(pd.Series([1])), TypeError, r"source must be .*got Series"),
    ("several frames", tune([TABLE, TABLE]), TypeError, r"source must be .*got list"),
    ("no paths", tune([]), TypeError, r"source must be .*got list"),
    ("bytes", tune(b"scores.parquet"), TypeError, r"source must be .*got bytes"),
    (
        "a connection",
        lambda: tune(duckdb.connect())(),
        TypeError,
        r"source must be .*DuckDBPyConnection",
    ),
    ("a reader", tune(TABLE.to_reader()), TypeError, r"read only once.*pass reader\.read_all\(\)"),
    # what needs instances
    (
        "samples without instances",
        tune(table(instance=None), average="samples"),
        ValueError,
        r"instance=\.\.\.; the table has 'label', 'score', 'truth', 'weight'",
    ),
    ("guard without", tune(instance=None, guard="auto"), ValueError, r"instance=\.\.\."),
    ("shared without", tune(instance=None, per_label=False), ValueError, r"instance=\.\.\."),
    ("assess without", assess(instance=None), ValueError, r"vary together.*instance=\.\.\."),
    ("diagnose without", lambda: hm.diagnose_table(TABLE, instance=None), ValueError, r"instance="),
    (
        "weights of an instance differ",
        tune(table(weight=[1, 2, 3, 3]), weight="weight", guard="smooth"),
        ValueError,
        r"all rows of an instance must have the same weight here.*those of 1 differ.*"
        r"without a guard",
    ),
    # options
    ("no such metric", tune(metric="f"), ValueError, r"f"),
    ("no such average", tune(average="mean"), ValueError, r"average"),
    ("no such guard", tune(guard="maybe"), ValueError, r"guard"),
    ("per_label", tune(per_label="no"), TypeError, r"per_label must be True or False; got 'no'"),
    ("floor", tune(min_precision=2), ValueError, r"min_precision"),
    ("floors and guard", tune(min_recall=0.5, guard="auto"), ValueError, r"guard=None"),
    ("floors and samples", tune(min_recall=0.5, average="samples"), ValueError, r"min_recall"),
    ("progress", tune(progress="yes"), TypeError, r"progress must be .*got 'yes'"),
    (
        "too few instances",
        tune(n_instances=1),
        ValueError,
        r"n_instances must be the number of instances; got 1, but one label alone has 2 rows",
    ),
    ("n_instances of 2.5", tune(n_instances=2.5), ValueError, r"whole number.*2\.5"),
    (
        "n_instances beside weights",
        tune(n_instances=9, weight="weight"),
        ValueError,
        r"leave it out",
    ),
    (
        "n_instances beside weights and guard",
        tune(n_instances=9, weight="weight", guard="auto"),
        ValueError,
        r"leave it out",
    ),
    (
        "too few instances for a guard",
        tune(n_instances=1, guard="auto"),
        ValueError,
        r"n_instances must be the number of instances; got 1, but the table alone has 2",
    ),
    ("resamples", assess(n_resamples=0), ValueError, r"n_resamples"),
    (
        "unknown",
        apply(unknown="skip"),
        ValueError,
        r"unknown must be 'error', 'never' or 'ignore'; got 'skip'",
    ),
    (
        "min_k",
        decide(TABLE[:3], average="samples", min_k=2),
        ValueError,
        r"min_k=2 asks for more predictions than some batch has rows in the table: lower it",
    ),
    ("min_k of one batch", decide(label=None, min_k=9), ValueError, r"min_k"),
    ("max_k below min_k", decide(min_k=2, max_k=1), ValueError, r"max_k"),
    # thresholds that do not fit
    (
        "an unknown label",
        apply(T, table(label=["a", "b", "c", "b"])),
        ValueError,
        r"no label 'c', which row 2 of the table has\. They have 'a' and 'b': .*never'.*='ignore'",
    ),
    (
        "numbers and names",
        apply(NUMBERED),
        TypeError,
        r"labels of the thresholds are like 0, but column 'label' holds text",
    ),
    (
        "names and numbers",
        apply(T, table(label=[0, 1, 0, 1])),
        TypeError,
        r"like 'a', but column 'label' holds integers",
    ),
    (
        "a number too high",
        apply(NUMBERED, table(label=[0, 1, 2, 1])),
        ValueError,
        r"no label 2, which row 2",
    ),
    (
        "predicted already",
        apply(T, TABLE.append_column("predicted", TABLE["truth"])),
        ValueError,
        r"already has a column 'predicted': .*prediction=\.\.\.",
    ),
    ("decided already", decide(prediction="truth"), ValueError, r"already has a column 'truth'"),
    ("no thresholds", apply({"a": 0.5}), TypeError, r"dict"),
    ("no file of thresholds", apply("none.json"), FileNotFoundError, r"none\.json"),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [row[1:] for row in BAD], ids=[b[0] for b in BAD]
)
def test_wrong_calls_and_tables_are_refused(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "Arrow" not in type(caught.value).__name__
    if "thresholds" not in str(caught.value):
        assert "\n" not in str(caught.value)


PLACES = [
    (
        "score",
        [0.1, 0.2, 0.3, NAN],
        r"finite or -inf; row 1 of row group 1 of .*/1\.parquet has nan",
    ),
    ("truth", [0, 1, 1, 3], r"bool or 0/1; row 1 of row group 1 of .*/1\.parquet has 3"),
    ("label", ["a", "b", None, "b"], r"nulls; row 0 of row group 1 of .*/1\.parquet has one"),
    ("instance", [3, 3, 4, None], r"nulls; row 1 of row group 1 of .*/1\.parquet has one"),
    ("weight", [1, 1, 1, -1.0], r"not negative; row 1 of row group 1 of .*/1\.parquet has -1\.0"),
]


@pytest.mark.parametrize(("name", "values", "message"), PLACES, ids=[row[0] for row in PLACES])
def test_a_wrong_value_is_found_in_its_row_group(tmp_path, name, values, message):
    bad = table(**({"instance": [3, 3, 4, 4]} | {name: values}))
    write(tmp_path, TABLE, bad, other(5), row_group_size=2)
    for average in ("macro", "samples"):
        with pytest.raises(ValueError, match=message):
            hm.tune_table(tmp_path, weight="weight", average=average)


def test_a_wrong_value_is_found_in_a_frame_of_many_slices():
    for source in (table(truth=[0, 1, 0, 7]), frame(truth=[0, 1, 0, 7])):
        with (
            changed(table_rows_at_once=3),
            pytest.raises(ValueError, match="row 3 of the table has 7"),
        ):
            hm.tune_table(source)


@pytest.mark.parametrize("suffix", ["csv", "arrow", "arrows", "parquet"])
def test_a_wrong_value_is_found_in_every_format(tmp_path, suffix):
    path, bad = tmp_path / f"t.{suffix}", table(score=[0.1, 0.2, INF, 0.3])
    if suffix == "csv":
        csv.write_csv(bad, path)
    elif suffix == "arrow":
        feather.write_feather(bad, path, chunksize=2)
    elif suffix == "arrows":
        with pa.ipc.new_stream(path, bad.schema) as writer:
            writer.write_table(bad, max_chunksize=3)
    else:
        pq.write_table(bad, path, row_group_size=2)
    inside = {"arrow": "row 0 of record batch 1", "parquet": "row 0 of row group 1"}
    where = f"{inside.get(suffix, 'row 2')} of {re.escape(str(path))} has inf"
    with pytest.raises(ValueError, match=where):
        hm.tune_table(path)


def test_true_negatives_are_counted_only_if_their_number_is_known():
    part = TABLE.slice(0, 3)
    message = r"'accuracy' counts true negatives, and labels have from 1 to 2 rows: .*n_instances"
    check(tune(part, metric="accuracy", instance=None), ValueError, message)
    assert tune(part, metric="accuracy", instance=None, n_instances=2)().score == 1.0
    for ask in (tune, assess):
        assert ask(part, metric="accuracy")().score == 1.0
    unknown = "the weights of 1 .* pairs are not known.*add a row for every instance and label"
    check(tune(part, metric="accuracy", weight="weight"), ValueError, unknown)
    message = "labels have from .* rows: add a row for every instance and label"
    nameless = {"weight": "weight", "instance": None}
    check(tune(part, metric="accuracy", **nameless), ValueError, message)


def test_true_negatives_are_not_counted_if_pairs_appear_twice():
    twice = pa.concat_tables([TABLE, TABLE])
    how = {"metric": "accuracy", "check_duplicates": False}
    check(tune(twice, **how), ValueError, "8 rows for 4 .* pairs: keep one row for each pair")
