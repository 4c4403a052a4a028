"""What is wrong with a table is said with its column, file and row, and nothing is written."""

import gzip
import re
import struct
from decimal import Decimal

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, dataset, feather

import halfmax as hm
from halfmax._core.limits import changed

NAN, INF = float("nan"), float("inf")
COLUMNS = {
    "instance": [1, 1, 2, 2],
    "label": ["a", "b", "a", "b"],
    "score": [0.1, 0.9, 0.8, 0.3],
    "truth": [0, 1, 1, 0],
    "weight": [1.0, 1.0, 2.0, 2.0],
}
TABLE = pa.table(COLUMNS)
T = hm.tune_table(TABLE)
ONE = hm.tune([0, 1], [0.1, 0.9])
NUMBERED = hm.tune([[0, 1], [1, 0]], [[0.1, 0.9], [0.8, 0.3]])

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


def table(**columns):
    """The table with some columns changed, or left out if they are None."""
    whole = COLUMNS | columns
    return pa.table({name: values for name, values in whole.items() if values is not None})


def frame(**columns):
    return pd.DataFrame(COLUMNS | columns)


def tune(source=TABLE, **how):
    return lambda: hm.tune_table(source, **how)


def assess(source=TABLE, **how):
    return lambda: hm.assess_table(source, **how)


def apply(thresholds=T, source=TABLE, *out, **how):
    return lambda: hm.apply_table(thresholds, source, *out, **how)


def decide(source=TABLE, *out, **how):
    how = {"probability": "score", **how}
    return lambda: hm.decide_table(source, *out, **how)


def check(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert type(caught.value) is error
    assert "\n" not in str(caught.value)


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
        r"names of columns must not repeat.*'score'",
    ),
    (
        "a note twice",
        apply(T, TABLE.append_column("note", TABLE["score"]).append_column("note", TABLE["score"])),
        ValueError,
        r"names of columns must not repeat; 'note' does",
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
    ("truth as text", tune(table(truth=["no"] * 4)), TypeError, r"'truth'.*bool or 0/1.*string"),
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
        r"^column 'label' must not have nulls; row 1 of the table has one$",
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
        r"^column 'score' must be finite or -inf; row 2 of the table has nan$",
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
    ("truth of -1", tune(table(truth=[-1, 1, 1, 1])), ValueError, r"0/1; row 0 .* has -1"),
    ("soft truth", tune(table(truth=[0, 0.5, 1, 1])), ValueError, r"0/1; row 1 .* has 0\.5"),
    ("truth of NaN", tune(table(truth=[0.0, NAN, 1, 1])), ValueError, r"0/1; row 1 .* has nan"),
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
        r"all rows of an instance must have the same weight here.*those of 1 differ.*without guard",
    ),
    # options
    ("no such metric", tune(metric="f"), ValueError, r"f"),
    ("no such average", tune(average="weighted"), ValueError, r"average"),
    ("no such guard", tune(guard="maybe"), ValueError, r"guard"),
    ("per_label", tune(per_label="no"), TypeError, r"per_label must be True or False; got 'no'"),
    ("floor", tune(min_precision=2), ValueError, r"min_precision"),
    ("floors and guard", tune(min_recall=0.5, guard="auto"), ValueError, r"guard=None"),
    ("floors and samples", tune(min_recall=0.5, average="samples"), ValueError, r"floors"),
    ("progress", tune(progress="yes"), TypeError, r"progress must be .*got 'yes'"),
    (
        "too few instances",
        tune(n_instances=1),
        ValueError,
        r"n_instances must be the number of instances; one label alone has 2 rows, and it is 1",
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
        r"n_instances must be the number of instances; the table alone has 2, and it is 1",
    ),
    ("resamples", assess(n_resamples=0), ValueError, r"n_resamples"),
    (
        "unknown",
        apply(unknown="skip"),
        ValueError,
        r"unknown must be 'error' or 'never'; got 'skip'",
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
        r"no label 'c'; row 2 of the table has\. They have 'a' and 'b': .*unknown='never'",
    ),
    (
        "numbers and names",
        apply(NUMBERED),
        TypeError,
        r"labels of the thresholds are like 0, and column 'label' holds text",
    ),
    (
        "names and numbers",
        apply(T, table(label=[0, 1, 0, 1])),
        TypeError,
        r"like 'a', and column 'label' holds integers",
    ),
    (
        "a number too high",
        apply(NUMBERED, table(label=[0, 1, 2, 1])),
        ValueError,
        r"no label 2; row 2",
    ),
    (
        "predicted already",
        apply(T, TABLE.append_column("predicted", TABLE["truth"])),
        ValueError,
        r"has a column 'predicted' already: .*prediction=\.\.\.",
    ),
    ("decided already", decide(prediction="truth"), ValueError, r"has a column 'truth' already"),
    ("no thresholds", apply({"a": 0.5}), TypeError, r"dict"),
    ("no file of thresholds", apply("none.json"), FileNotFoundError, r"none\.json"),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [row[1:] for row in BAD], ids=[b[0] for b in BAD]
)
def test_what_is_wrong_is_said(call, error, message):
    with pytest.raises(error, match=message) as caught:
        call()
    assert "Arrow" not in type(caught.value).__name__
    if "thresholds" not in str(caught.value):
        assert "\n" not in str(caught.value)


# Files.


def write(folder, *tables, **how):
    for number, one in enumerate(tables):
        pq.write_table(one, folder / f"{number}.parquet", **how)
    return folder


def other(number, **columns):
    """A table of other instances."""
    return table(instance=[2 * number, 2 * number, 2 * number + 1, 2 * number + 1], **columns)


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


def damaged(path, kind):
    """Parquet that is cut short, something else, empty, or has one byte that fell over."""
    raw = bytearray(path.read_bytes())
    if kind == "cut":
        raw = raw[: len(raw) // 2]
    elif kind == "no footer":
        raw = raw[:-4]
    elif kind == "else":
        raw = b"a,b\n1,2\n" * 50
    elif kind == "empty":
        raw = b""
    else:
        column = pq.ParquetFile(path).metadata.row_group(1).column(2)
        first = column.dictionary_page_offset or column.data_page_offset
        raw[first + column.total_compressed_size - 1] ^= 0xFF
    path.write_bytes(raw)


@pytest.mark.parametrize("kind", ["cut", "no footer", "else", "empty", "byte"])
def test_a_damaged_file_among_others_is_named(tmp_path, kind):
    write(tmp_path, TABLE, other(5), other(6), row_group_size=2, write_page_checksum=True)
    damaged(tmp_path / "1.parquet", kind)
    (tmp_path / "out").mkdir()
    out = tmp_path / "out" / "o.parquet"
    where = "row group 1 of " if kind == "byte" else "^"
    message = rf"{where}{tmp_path}/1\.parquet cannot be read as Parquet: .*cut short or damaged$"
    for call in (tune(f"{tmp_path}/*.parquet"), apply(T, f"{tmp_path}/?.parquet", out)):
        check(call, ValueError, message)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_damaged_file_of_a_dataset_is_named(tmp_path):
    write(tmp_path, TABLE, other(5), other(6))
    source = dataset.dataset(tmp_path)
    damaged(tmp_path / "1.parquet", "cut")
    check(tune(source), ValueError, r"the dataset cannot be read .*1\.parquet")


def arrow_of(path, kind):
    if kind == "stream":
        with pa.ipc.new_stream(path, TABLE.schema) as writer:
            writer.write_table(TABLE)
    else:
        feather.write_feather(TABLE, path, compression="uncompressed")


@pytest.mark.parametrize("kind", ["file", "stream"])
@pytest.mark.parametrize("left", [0, 4, 20, 300, -30])
def test_arrow_that_is_cut_short_is_named(tmp_path, kind, left):
    path = tmp_path / "t.arrow"
    arrow_of(path, kind)
    path.write_bytes(path.read_bytes()[:left])
    check(tune(path), ValueError, rf"^{path} cannot be read as Arrow IPC: .*cut short or damaged$")


TEXTS = table(label=["dög", "cät", "dög", "cät"])
WRITERS = {
    "t.parquet": lambda path: pq.write_table(TEXTS, path, row_group_size=2),
    "t.arrow": lambda path: feather.write_feather(TEXTS, path, compression="uncompressed"),
    "t.arrows": lambda path: pa.ipc.new_stream(path, TEXTS.schema),
    "t.csv": lambda path: csv.write_csv(TEXTS, path),
}


@pytest.fixture(params=WRITERS)
def spoilt(request, tmp_path):
    """A path, and what a file of each format holds there."""
    path = tmp_path / request.param
    writer = WRITERS[path.name](str(path))
    if path.name == "t.arrows":
        with writer:
            writer.write_table(TEXTS, max_chunksize=2)
    return path, path.read_bytes()


def test_a_text_that_is_none_is_told_with_its_file(spoilt):
    path, raw = spoilt
    path.write_bytes(raw.replace("dög".encode(), b"d\xff\xffg"))
    check(tune(path), ValueError, rf"{path} cannot be read as .*(?i:utf-?8)")
    path.write_bytes(raw.replace(b"truth", b"tr\xffth"))
    check(tune(path), ValueError, rf"{path} cannot be read as .*(?i:utf-?8)")


def test_a_text_that_is_nowhere_is_told_with_its_file(tmp_path):
    path = tmp_path / "t.arrow"
    arrow_of(path, "file")
    ends = struct.pack("<5i", *range(5))
    assert path.read_bytes().count(ends) == 1
    path.write_bytes(path.read_bytes().replace(ends, struct.pack("<5i", 0, 1, 2, 1 << 30, 4)))
    where = rf"record batch 0 of {path} cannot be read as Arrow IPC: .*damaged$"
    check(tune(path), ValueError, where)
    check(apply(T, path, tmp_path / "o.csv"), ValueError, where)


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_whatever_byte_is_wrong_no_error_leaves_out_the_file(spoilt, flip):
    (path, raw), bare = spoilt, {}
    step = 17  # so that it is quick; all bytes were tried when this was written
    for place in range(flip % step, len(raw), step):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ flip]) + raw[place + 1 :])
        try:
            hm.tune_table(path, instance=None)
        except (ValueError, TypeError) as error:
            named = type(error) in (ValueError, TypeError) and str(path) in str(error)
            if not named and "at least one row" not in str(error):  # a stream that ends at once
                bare[place] = error
    assert bare == {}


HEAD = "instance,label,score,truth\n"
CSV = [
    ("a bad number", f"{HEAD}1,a,0.5,1\n2,a,high,0\n", r"column #2: Row #3: .*double.*'high'$"),
    ("a comma for a point", f'{HEAD}1,a,"0,5",1\n', r"Row #2: .*double.*'0,5'$"),
    ("ragged", f"{HEAD}1,a,0.5,1\n2,a,0.5\n", r"Row #3: Expected 4 columns, got 3: 2,a,0.5"),
    ("nothing", "", r"Empty CSV file"),
    ("truth later bad", f"{HEAD}1,a,0.5,1\n2,a,0.5,maybe\n", r"'truth' of .* 0/1; it holds string"),
    ("no label", f"{HEAD}1,,0.5,1\n", r"'label' must not have nulls; row 0 of .*t\.csv has one"),
    ("no score", f"{HEAD}1,a,,1\n", r"'score' must not have nulls; row 0 of .*t\.csv has one"),
    ("no truth", f"{HEAD}1,a,1,1\n2,a,1,\n", r"'truth' must not have nulls; row 1 of .*t\.csv"),
    ("NaN", f"{HEAD}1,a,0.5,1\n2,a,NaN,1\n", r"finite or -inf; row 1 of .*t\.csv has nan"),
    ("truth of 2", f"{HEAD}1,a,0.5,1\n2,a,1,2\n", r"bool or 0/1; row 1 of .*t\.csv has 2"),
    ("semicolons", HEAD.replace(",", ";") + "1;a;0.5;1\n", r"it has 'instance;label;score;truth'"),
    ("no header", "1,a,0.5,1\n", r"has no column 'label'; it has '1', 'a', '0.5' and '1'"),
    ("a name twice", "label,score,truth,score\na,1,1,1\n", r"more than one column 'score'"),
    ("header only", HEAD, r"at least one row"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in CSV], ids=[row[0] for row in CSV])
def test_bad_csv_is_told(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        hm.tune_table(path)
    assert "\n" not in str(caught.value)


def test_csv_in_another_encoding_is_told(tmp_path):
    (tmp_path / "t.csv").write_bytes(HEAD.encode() + "1,café,0.5,1\n".encode("latin-1"))
    check(tune(tmp_path / "t.csv"), ValueError, r"t\.csv cannot be read as CSV: .*UTF8")


def test_a_gzip_that_is_cut_short_is_told(tmp_path):
    rows = "".join(f"{i},a,{i / 7},1\n" for i in range(5000))
    whole = gzip.compress((HEAD + rows).encode())
    for size in (30, len(whole) // 2, len(whole) - 9):
        (tmp_path / "t.csv.gz").write_bytes(whole[:size])
        check(
            tune(tmp_path / "t.csv.gz"), ValueError, r"t\.csv\.gz cannot be read as CSV: .*damaged$"
        )


# Files that do not go together.


def test_a_file_without_the_column_is_named(tmp_path):
    write(tmp_path, TABLE, other(5, truth=None), other(6))
    check(tune(tmp_path), ValueError, rf"^{tmp_path}/1\.parquet has no column 'truth'; it has")


def test_instances_in_some_files_only_are_refused(tmp_path):
    write(tmp_path, TABLE, table(instance=None))
    message = r"same columns; only one of .*/0\.parquet and .*/1\.parquet has 'instance'"
    check(tune(tmp_path), ValueError, message)
    assert hm.tune_table(tmp_path, instance=None).support.tolist() == [2, 2]


def test_labels_of_two_kinds_are_refused(tmp_path):
    write(tmp_path, TABLE, other(5, label=[1, 2, 1, 2]))
    message = (
        r"'label' must be of one kind in all files; it holds text in .*0.*integers in .*1\.par"
    )
    check(tune(tmp_path), TypeError, message)


def test_other_columns_must_go_together_to_be_written(tmp_path):
    write(tmp_path, TABLE, other(5).append_column("note", TABLE["label"]))
    assert hm.tune_table(tmp_path).support.tolist() == [2, 2]
    check(apply(T, tmp_path), ValueError, r"same columns; only one of .* has 'note'")
    write(
        tmp_path,
        *(t.append_column("note", t[n]) for t, n in ((TABLE, "label"), (other(5), "truth"))),
    )
    assert hm.tune_table(tmp_path).support.tolist() == [2, 2]
    check(apply(T, tmp_path), TypeError, r"one type in all files; in .*1\.parquet: .*note")


def test_a_wrong_type_in_one_file_is_named(tmp_path):
    write(tmp_path, TABLE, other(5, score=["1"] * 4))
    check(tune(tmp_path), TypeError, r"'score' of .*/1\.parquet must hold numbers; it holds string")


def test_folders_that_are_columns_are_explained(tmp_path):
    dataset.write_dataset(
        TABLE, tmp_path, format="parquet", partitioning=["label"], partitioning_flavor="hive"
    )
    check(
        tune(tmp_path), ValueError, r"no column 'label'; .*dataset\(folder, partitioning='hive'\)"
    )


# Paths.


def test_there_is_nothing_at_the_path(tmp_path):
    check(
        tune(tmp_path / "no.parquet"), FileNotFoundError, r"there is no file or folder .*no\.parq"
    )
    check(tune(f"{tmp_path}/*.parquet"), FileNotFoundError, r"no file matches .*/\*\.parquet")
    check(tune(tmp_path), FileNotFoundError, r"the folder .* holds no Parquet, Arrow or CSV file")
    (tmp_path / "_temporary").mkdir()
    pq.write_table(TABLE, tmp_path / "_temporary" / "0.parquet")
    check(tune(str(tmp_path)), FileNotFoundError, r"holds no Parquet")
    check(tune(f"{tmp_path}/*"), FileNotFoundError, r"no file matches")


def test_the_format_must_be_told_by_the_name(tmp_path):
    for name in ("scores.xlsx", "scores", "scores.parquet.gz"):
        (tmp_path / name).touch()
        check(
            tune(tmp_path / name), ValueError, r"cannot tell the format; .*'\.parquet'.*'\.csv\.gz'"
        )


def test_two_formats_are_no_table(tmp_path):
    write(tmp_path, TABLE)
    csv.write_csv(other(5), tmp_path / "1.csv")
    message = r"one format; .*0\.parquet is Parquet, .*1\.csv is CSV: use a glob"
    check(tune(tmp_path), ValueError, message)
    assert hm.tune_table(f"{tmp_path}/*.csv").support.tolist() == [1, 1]


def test_a_file_counts_once(tmp_path):
    path = write(tmp_path, table(instance=None)) / "0.parquet"
    (tmp_path / "link.parquet").symlink_to(path)
    for paths in ([path, path], [tmp_path], [path, f"{tmp_path}/../{tmp_path.name}/0.parquet"]):
        check(tune(paths), ValueError, r"each file must be named once; .* would count twice")


def test_a_delta_table_is_not_its_files(tmp_path):
    write(tmp_path, TABLE)
    (tmp_path / "_delta_log").mkdir()
    check(tune(tmp_path), ValueError, r"is a Delta table.*to_pyarrow_dataset\(\)")


@pytest.mark.parametrize("label", ["a", "new"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, label):
    write(tmp_path, TABLE)
    longer = table(**{name: [*values, values[0]] for name, values in COLUMNS.items()})
    longer = longer.set_column(1, "label", pa.array(["a", "b", "a", "b", label]))

    def change(*_):
        write(tmp_path, longer)

    message = r"row group 0 of .* has changed while it was"
    with changed(scan_kept_bytes=0):
        check(tune(tmp_path, progress=change), ValueError, message)


def test_a_stream_that_ends_between_two_batches_is_cut_short(tmp_path):
    path = tmp_path / "half.arrows"
    with pa.ipc.new_stream(path, TABLE.schema) as stream:
        stream.write_table(TABLE, max_chunksize=2)
    path.write_bytes(path.read_bytes()[:-8])
    check(tune(path), ValueError, r"half\.arrows cannot be read as Arrow IPC: the stream does not")


@pytest.mark.parametrize("name", ["part-00001", "b.csv.xz", "c.jsonl"])
def test_files_of_a_folder_that_may_hold_rows_are_not_passed_over(tmp_path, name):
    write(tmp_path, TABLE)
    (tmp_path / "notes.md").write_text("harmless")
    assert hm.tune_table(tmp_path).labels == ("a", "b")
    (tmp_path / name).write_bytes(b"some")
    check(tune(tmp_path), ValueError, rf"{re.escape(name)} in the folder .* may hold rows")


def test_true_negatives_are_counted_only_if_it_is_known_how_many_there_are():
    part = TABLE.slice(0, 3)
    message = r"'accuracy' counts true negatives, and labels have from 1 to 2 rows: .*n_instances"
    check(tune(part, metric="accuracy", instance=None), ValueError, message)
    assert tune(part, metric="accuracy", instance=None, n_instances=2)().score == 1.0
    for ask in (tune, assess):
        assert ask(part, metric="accuracy")().score == 1.0
    unknown = "the weights of 1 pairs .* are not known.*give every instance a row for every label"
    check(tune(part, metric="accuracy", weight="weight"), ValueError, unknown)
    message = "labels have from .* rows: give every instance a row for every label"
    nameless = {"weight": "weight", "instance": None}
    check(tune(part, metric="accuracy", **nameless), ValueError, message)


def test_true_negatives_are_not_counted_where_pairs_stand_twice():
    twice = pa.concat_tables([TABLE, TABLE])
    how = {"metric": "accuracy", "check_duplicates": False}
    check(tune(twice, **how), ValueError, "8 rows for 4 pairs.*keep one row for each pair")
