"""Predictions go to files whole or not at all, in the format of the suffix."""

import gzip
import io
import os

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import csv, feather
from table_cases import LONG

import halfmax as hm

TABLE = LONG.table
T = hm.tune(LONG.y, LONG.s, labels=LONG.labels)
LIMITS = dict(zip(T.labels, T.thresholds.tolist(), strict=True))
PREDICTED = [int(row["score"] >= LIMITS[row["label"]]) for row in TABLE.to_pylist()]
CHANCES = TABLE.set_column(2, "score", pa.array(np.linspace(0, 1, TABLE.num_rows)))

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


def read_csv(path, delimiter=","):
    text = {"label": pa.string()}
    return csv.read_csv(
        path,
        parse_options=csv.ParseOptions(delimiter=delimiter),
        convert_options=csv.ConvertOptions(column_types=text),
    )


def read_stream(path):
    with pa.ipc.open_stream(path) as reader:
        return reader.read_all()


READERS = {
    "o.parquet": pq.read_table,
    "o.pq": pq.read_table,
    "o.arrow": lambda path: pa.ipc.open_file(path).read_all(),
    "o.feather": feather.read_table,
    "o.arrows": read_stream,
    "o.csv": read_csv,
    "o.tsv": lambda path: read_csv(path, "\t"),
    "o.csv.gz": read_csv,
    "o.csv.bz2": read_csv,
    "O.TSV.GZ": lambda path: read_csv(io.BytesIO(gzip.decompress(path.read_bytes())), "\t"),
}


def with_predictions(table, name="predicted"):
    return table.append_column(name, pa.array(PREDICTED, pa.int8()))


@pytest.fixture(params=["apply", "decide"])
def predict(request):
    """Either way to write a file from a table."""
    if request.param == "apply":
        return lambda source, *out, **how: hm.apply_table(T, source, *out, **how)
    return lambda source, *out, **how: hm.decide_table(source, *out, probability="score", **how)


@pytest.mark.parametrize(("name", "read"), READERS.items(), ids=READERS)
def test_the_suffix_chooses_the_format(tmp_path, name, read):
    written = hm.apply_table(T, TABLE, tmp_path / name)
    assert (written.path, written.rows) == (str(tmp_path / name), TABLE.num_rows)
    assert written.predicted == sum(PREDICTED) == T.predicted.sum()
    found, expected = read(tmp_path / name), with_predictions(TABLE)
    assert found.to_pydict() == expected.to_pydict()
    if "sv" not in name.lower():
        assert found.schema.equals(expected.schema)
    assert os.listdir(tmp_path) == [name]
    again = hm.apply_table(T, tmp_path / name, prediction="again")  # and halfmax reads it
    assert again["again"].to_pylist() == PREDICTED


def test_only_predicted_rows(tmp_path):
    sources = {"table": TABLE, "pandas": TABLE.to_pandas(), "duckdb": duckdb.from_arrow(TABLE)}
    expected = TABLE.filter(np.array(PREDICTED, np.bool_))
    for name, source in sources.items():
        out = tmp_path / f"{name}.parquet"
        written = hm.apply_table(T, source, out, only_predicted=True, prediction="yes")
        assert (written.rows, written.predicted) == (sum(PREDICTED), sum(PREDICTED))
        found = pq.read_table(out)
        assert found.column_names == [*TABLE.column_names, "yes"]
        assert found.drop_columns(["yes"]).to_pydict() == expected.to_pydict()


def test_labels_without_threshold_are_never_predicted_on_request():
    some = hm.tune_table(TABLE.filter(pa.compute.field("label") == "ant"))
    found = hm.apply_table(some, TABLE, unknown="never")["predicted"].to_pylist()
    limit = some.thresholds[0]
    rows = TABLE.to_pylist()
    assert found == [int(row["label"] == "ant" and row["score"] >= limit) for row in rows]


@pytest.mark.parametrize("only", [False, True])
@pytest.mark.parametrize("form", ["table", "pandas", "polars", "csv", "parquet"])
def test_rows_of_labels_without_threshold_are_left_out_on_request(tmp_path, form, only):
    some = hm.tune_table(TABLE.filter(pa.compute.field("label") == "ant"))
    limit = some.thresholds[0]
    expected = [
        (row["instance"], int(row["score"] >= limit))
        for row in TABLE.to_pylist()
        if row["label"] == "ant" and (not only or row["score"] >= limit)
    ]
    out = tmp_path / f"out.{form}"
    how = {"unknown": "ignore", "only_predicted": only}
    if form in ("csv", "parquet"):
        written = hm.apply_table(some, TABLE, out, **how)
        assert (written.rows, written.rows_read) == (len(expected), TABLE.num_rows)
        assert written.predicted == sum(predicted for _, predicted in expected)
        found = READERS[f"o.{form}"](out).to_pandas()
    else:
        sources = {"table": TABLE, "pandas": TABLE.to_pandas(), "polars": pl.from_arrow(TABLE)}
        found = hm.apply_table(some, sources[form], **how)
        found = found if form == "pandas" else found.to_pandas()
    assert list(zip(found["instance"], found["predicted"], strict=True)) == expected
    assert set(found["label"]) == {"ant"}


def test_thresholds_may_come_from_a_file(tmp_path):
    T.save(tmp_path / "t.json")
    assert hm.apply_table(tmp_path / "t.json", TABLE)["predicted"].to_pylist() == PREDICTED


def test_one_classifier_needs_no_label():
    one = hm.tune([0, 1], [0.1, 0.7])
    table = pa.table({"score": [0.7, 0.6, -np.inf]})
    assert hm.apply_table(one, table)["predicted"].to_pylist() == [1, 0, 0]


def test_thresholds_without_names_are_those_of_labels_0_1_2():
    t = hm.tune([[1, 0], [0, 1]], [[0.8, 0.3], [0.2, 0.6]])
    table = pa.table({"label": pa.array([1, 0], pa.int8()), "score": [0.7, 0.7]})
    assert hm.apply_table(t, table)["predicted"].to_pylist() == [1, 0]


# What comes back.


def test_a_frame_comes_back_as_it_came(predict):
    frame = CHANCES.to_pandas().set_index(pd.Index(range(0, 2 * TABLE.num_rows, 2), name="row"))
    frame["note"] = pd.Categorical(frame["note"], categories=["not read", "never"])
    for only in (False, True):
        out = predict(frame, only_predicted=only)
        out = getattr(out, "predictions", out)
        assert type(out) is pd.DataFrame
        assert out["predicted"].dtype == np.int8
        expected = frame.loc[out.index]
        pd.testing.assert_frame_equal(out.drop(columns="predicted"), expected)
        assert len(out) == len(frame) or only
        assert set(out["predicted"]) == ({1} if only else {0, 1})


@pytest.mark.parametrize("lazy", [False, True])
def test_polars_gives_polars(predict, lazy):
    frame = pl.from_arrow(CHANCES)
    out = predict(frame.lazy() if lazy else frame)
    out = getattr(out, "predictions", out)
    assert type(out) is pl.DataFrame
    assert out.drop("predicted").equals(frame)
    assert out["predicted"].dtype == pl.Int8


def test_empty_tables_have_no_predictions(tmp_path):
    for source in (TABLE[:0], TABLE[:0].to_pandas(), pl.from_arrow(TABLE[:0])):
        out = hm.apply_table(T, source)
        assert type(out) is type(source)
        assert len(out) == 0
    written = hm.apply_table(T, TABLE[:0], tmp_path / "o.parquet")
    assert (written.rows, written.predicted) == (0, 0)
    assert pq.read_table(tmp_path / "o.parquet").schema.equals(with_predictions(TABLE).schema)


def test_decisions_are_written_with_what_they_expect(tmp_path):
    found = hm.decide_table(CHANCES, tmp_path / "o.parquet", probability="score")
    here = hm.decide_table(CHANCES, probability="score")
    assert (found.predictions, found.path) == (None, str(tmp_path / "o.parquet"))
    assert (here.path, here.rows, found.rows) == (None, CHANCES.num_rows, CHANCES.num_rows)
    assert found.expected_score == here.expected_score
    assert pq.read_table(tmp_path / "o.parquet").equals(here.predictions)
    assert found.predicted == here.predicted == sum(here.predictions["predicted"].to_pylist())


def test_the_index_of_pandas_is_no_column_of_the_file(tmp_path):
    frame = TABLE.to_pandas().iloc[[3, 1, 2]]
    hm.apply_table(T, frame, tmp_path / "o.parquet")
    found = pq.read_table(tmp_path / "o.parquet")
    assert found.column_names == [*TABLE.column_names, "predicted"]
    assert found["score"].to_pylist() == frame["score"].tolist()


def test_other_columns_of_csv_stay_as_they_are_written(tmp_path):
    head = "id,label,score,zip,day,note\n"
    (tmp_path / "1.csv").write_text(f'{head}1,ant,0.50,007,2014-05-14,"a ""word"""\n')
    (tmp_path / "2.csv").write_text(f"{head}x,bée,1e-3,abc,,\n", "utf-8")
    hm.apply_table(T, str(tmp_path / "?.csv"), tmp_path / "out.csv")
    found = pd.read_csv(tmp_path / "out.csv", dtype=str, keep_default_na=False)
    assert found["id"].tolist() == ["1", "x"]
    assert found["zip"].tolist() == ["007", "abc"]
    assert found["day"].tolist() == ["2014-05-14", ""]
    assert found["note"].tolist() == ['a "word"', ""]
    assert found["label"].tolist() == ["ant", "bée"]
    assert found["score"].astype(float).tolist() == [0.5, 0.001]


def test_columns_of_any_type_are_carried_along(tmp_path):
    more = {
        "when": pa.array(np.arange(TABLE.num_rows), pa.timestamp("us", "UTC")),
        "tags": pa.array([["x"]] * TABLE.num_rows),
        "coded": pa.array(["u", None] * (TABLE.num_rows // 2)).dictionary_encode(),
        "whole": pa.array([{"a": 1}] * TABLE.num_rows),
        "gaps": pa.array([1, None] * (TABLE.num_rows // 2)),
    }
    table = pa.table(dict(zip(TABLE.column_names, TABLE.columns, strict=True)) | more)
    pq.write_table(table, tmp_path / "t.parquet", row_group_size=64)
    hm.apply_table(T, tmp_path / "t.parquet", tmp_path / "o.parquet")
    assert pq.read_table(tmp_path / "o.parquet").to_pylist() == with_predictions(table).to_pylist()
    kinds = pq.read_schema(tmp_path / "o.parquet")
    assert kinds.field("when").type == table.schema.field("when").type
    assert kinds.field("coded").type == table.schema.field("coded").type


def test_files_that_were_coded_differently_are_joined(tmp_path):
    half = TABLE.num_rows // 2
    coded = TABLE[half:].set_column(1, "label", TABLE["label"][half:].dictionary_encode())
    for names in (("1", "2"), ("2", "1")):
        folder = tmp_path / "".join(names)
        folder.mkdir()
        for name, table in zip(names, (TABLE[:half], coded), strict=True):
            pq.write_table(table, folder / f"{name}.parquet")
        out = hm.apply_table(T, folder)
        assert sorted(out["label"].to_pylist()) == sorted(TABLE["label"].to_pylist())
        assert sum(out["predicted"].to_pylist()) == sum(PREDICTED)


def test_an_input_file_is_never_overwritten(tmp_path):
    path = tmp_path / "t.arrow"
    feather.write_feather(TABLE, path, compression="uncompressed", chunksize=50)
    with pytest.raises(ValueError, match=r"out must not be a file that is read; .*t\.arrow is the"):
        hm.apply_table(T, path, path, overwrite=True)
    assert feather.read_table(path).to_pydict() == TABLE.to_pydict()


# All or nothing.


def bad_at_the_end(folder):
    """Files of which the last has a score that is not a number."""
    folder.mkdir()
    size = CHANCES.num_rows // 4
    pieces = [CHANCES.slice(size * k, size) for k in range(4)]
    last = pieces[-1]["score"].to_numpy().copy()
    last[-1] = np.nan
    pieces[-1] = pieces[-1].set_column(2, "score", pa.array(last))
    for number, piece in enumerate(pieces):
        pq.write_table(piece, folder / f"{number}.parquet", row_group_size=9)
    return folder


@pytest.mark.parametrize("name", ["o.parquet", "o.arrow", "o.csv.gz"])
def test_an_error_in_the_last_row_leaves_nothing(tmp_path, predict, name):
    source = bad_at_the_end(tmp_path / "in")
    with pytest.raises(ValueError, match=r"row \d+ of row group 5 of .*3\.parquet has nan"):
        predict(source, tmp_path / name)
    assert os.listdir(tmp_path) == ["in"]


def test_an_error_leaves_what_was_there(tmp_path, predict):
    (tmp_path / "o.parquet").write_text("old")
    with pytest.raises(ValueError, match="nan"):
        predict(bad_at_the_end(tmp_path / "in"), tmp_path / "o.parquet", overwrite=True)
    assert (tmp_path / "o.parquet").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["in", "o.parquet"]


@pytest.mark.parametrize("name", ["o.parquet", "o.arrow", "o.csv"])
def test_ctrl_c_leaves_what_was_there(tmp_path, name):
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=20)
    (tmp_path / name).write_text("old")

    def interrupt(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    how = {"overwrite": True, "progress": interrupt}
    with pytest.raises(KeyboardInterrupt):
        hm.apply_table(T, tmp_path / "t.parquet", tmp_path / name, **how)
    assert sorted(os.listdir(tmp_path)) == sorted([name, "t.parquet"])
    assert (tmp_path / name).read_text() == "old"


def test_a_file_is_only_replaced_on_request(tmp_path, predict):
    (tmp_path / "o.csv").write_text("old")
    with pytest.raises(FileExistsError, match=r"o\.csv already exists; pass overwrite=True"):
        predict("no.parquet", tmp_path / "o.csv")  # known before anything is read
    assert (tmp_path / "o.csv").read_text() == "old"
    predict(CHANCES, tmp_path / "o.csv", overwrite=True)
    assert read_csv(tmp_path / "o.csv").num_rows == CHANCES.num_rows
    assert os.listdir(tmp_path) == ["o.csv"]


def test_a_file_that_comes_to_be_there_meanwhile_is_kept(tmp_path):
    pq.write_table(TABLE, tmp_path / "t.parquet")
    with pytest.raises(FileExistsError, match="already exists"):
        hm.apply_table(
            T,
            tmp_path / "t.parquet",
            tmp_path / "o.csv",
            progress=lambda *_: (tmp_path / "o.csv").write_text("other"),
        )
    assert (tmp_path / "o.csv").read_text() == "other"
    assert sorted(os.listdir(tmp_path)) == ["o.csv", "t.parquet"]


NO_PLACES = [
    ("no/o.parquet", FileNotFoundError, r"cannot write .*: there is no folder .*/no$"),
    ("o.xlsx", ValueError, r"cannot tell the format of .*o\.xlsx: .*'\.parquet'.*'\.csv\.gz'"),
    ("o", ValueError, r"cannot tell the format of "),
    ("folder.parquet", OSError, r"cannot write .*: it is a folder"),
]


@pytest.mark.parametrize(("name", "error", "message"), NO_PLACES, ids=[row[0] for row in NO_PLACES])
def test_where_nothing_can_be_written_is_known_before(tmp_path, predict, name, error, message):
    (tmp_path / "folder.parquet").mkdir()
    with pytest.raises(error, match=message):
        predict("no.parquet", tmp_path / name)
    assert os.listdir(tmp_path) == ["folder.parquet"]


def test_coded_columns_go_to_arrow_files_of_several_batches(tmp_path):
    coded = TABLE.set_column(1, "label", TABLE["label"].dictionary_encode())
    source = tmp_path / "coded.parquet"
    pq.write_table(coded, source, row_group_size=7)
    out = tmp_path / "out.arrow"
    hm.apply_table(hm.tune_table(TABLE), source, out)
    found = pa.ipc.open_file(out).read_all()
    assert found["label"].to_pylist() == TABLE["label"].to_pylist()


def test_small_batches_become_large_row_groups(tmp_path):
    source, out = tmp_path / "small.parquet", tmp_path / "out.parquet"
    pq.write_table(TABLE, source, row_group_size=2)
    hm.apply_table(hm.tune_table(TABLE), source, out)
    assert pq.ParquetFile(out).num_row_groups == 1


def test_stored_zeros_come_before_absent_pairs():
    table = pa.table({"instance": [1, 2, 2], "label": ["b", "a", "b"], "probability": [0.0] * 3})
    found = hm.decide_table(table, average="samples", min_k=1)
    assert found.predictions["predicted"].to_pylist() == [1, 1, 0]
    assert found.expected_score == 0.0
