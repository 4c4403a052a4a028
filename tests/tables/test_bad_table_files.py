"""Damaged files, files that do not match, and wrong paths are refused, and the file is named."""

import gzip
import re
import struct

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from bad_table_cases import COLUMNS, TABLE, T, apply, check, other, table, tune, write
from pyarrow import csv, dataset, feather

import halfmax as hm
from halfmax._core.errors import ArgumentError, ArgumentTypeError
from halfmax._core.limits import changed

pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


def damaged(path, kind):
    """Parquet that is truncated, something else, empty, or has one flipped byte."""
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
    message = rf"{where}{tmp_path}/1\.parquet cannot be read as Parquet: .*truncated or damaged$"
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
def test_truncated_arrow_is_named(tmp_path, kind, left):
    path = tmp_path / "t.arrow"
    arrow_of(path, kind)
    path.write_bytes(path.read_bytes()[:left])
    check(tune(path), ValueError, rf"^{path} cannot be read as Arrow IPC: .*truncated or damaged$")


TEXTS = table(label=["dög", "cät", "dög", "cät"])


WRITERS = {
    "t.parquet": lambda path: pq.write_table(TEXTS, path, row_group_size=2),
    "t.arrow": lambda path: feather.write_feather(TEXTS, path, compression="uncompressed"),
    "t.arrows": lambda path: pa.ipc.new_stream(path, TEXTS.schema),
    "t.csv": lambda path: csv.write_csv(TEXTS, path),
}


@pytest.fixture(params=WRITERS)
def spoilt(request, tmp_path):
    """The path and the bytes of a file, for each format."""
    path = tmp_path / request.param
    writer = WRITERS[path.name](str(path))
    if path.name == "t.arrows":
        with writer:
            writer.write_table(TEXTS, max_chunksize=2)
    return path, path.read_bytes()


def test_text_that_is_not_utf8_is_refused_with_its_file(spoilt):
    path, raw = spoilt
    path.write_bytes(raw.replace("dög".encode(), b"d\xff\xffg"))
    check(tune(path), ValueError, rf"{path} cannot be read as .*(?i:utf-?8)")
    path.write_bytes(raw.replace(b"truth", b"tr\xffth"))
    check(tune(path), ValueError, rf"{path} cannot be read as .*(?i:utf-?8)")


def test_text_offsets_out_of_range_are_refused_with_their_file(tmp_path):
    path = tmp_path / "t.arrow"
    arrow_of(path, "file")
    ends = struct.pack("<5i", *range(5))
    assert path.read_bytes().count(ends) == 1
    path.write_bytes(path.read_bytes().replace(ends, struct.pack("<5i", 0, 1, 2, 1 << 30, 4)))
    where = rf"record batch 0 of {path} cannot be read as Arrow IPC: .*damaged$"
    check(tune(path), ValueError, where)
    check(apply(T, path, tmp_path / "o.csv"), ValueError, where)


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_error_of_a_wrong_byte_names_the_file(spoilt, flip):
    (path, raw), bare = spoilt, {}
    step = 17  # so that it is quick; all bytes were tried when this was written
    for place in range(flip % step, len(raw), step):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ flip]) + raw[place + 1 :])
        try:
            hm.tune_table(path, instance=None)
        except (ValueError, TypeError) as error:
            ours = type(error) in (ValueError, TypeError, ArgumentError, ArgumentTypeError)
            named = ours and str(path) in str(error)
            if not named and "at least one row" not in str(error):  # a stream that ends at once
                bare[place] = error
    assert bare == {}


HEAD = "instance,label,score,truth\n"


CSV = [
    ("a bad number", f"{HEAD}1,a,0.5,1\n2,a,high,0\n", r"column #2: Row #3: .*double.*'high'$"),
    ("a comma for a point", f'{HEAD}1,a,"0,5",1\n', r"Row #2: .*double.*'0,5'$"),
    ("ragged", f"{HEAD}1,a,0.5,1\n2,a,0.5\n", r"Row #3: Expected 4 columns, got 3: 2,a,0.5"),
    ("nothing", "", r"Empty CSV file"),
    ("truth later bad", f"{HEAD}1,a,0.5,1\n2,a,0.5,maybe\n", r"holds the classes '1' and 'maybe'"),
    ("no label", f"{HEAD}1,,0.5,1\n", r"'label' must not have nulls; row 0 of .*t\.csv has one"),
    ("no score", f"{HEAD}1,a,,1\n", r"'score' must not have nulls; row 0 of .*t\.csv has one"),
    ("no truth", f"{HEAD}1,a,1,1\n2,a,1,\n", r"'truth' must not have nulls; row 1 of .*t\.csv"),
    ("NaN", f"{HEAD}1,a,0.5,1\n2,a,NaN,1\n", r"finite or -inf; row 1 of .*t\.csv has nan"),
    ("truth of 3", f"{HEAD}1,a,0.5,1\n2,a,1,2\n3,a,1,3\n", r"bool or 0/1; row 1 of .*t\.csv has 2"),
    ("semicolons", HEAD + "1;a;0.5;1\n", r"Row #2: Expected 4 columns, got 1: 1;a;0.5;1"),
    ("commas", HEAD.replace(",", ";") + "1,a,0.5,1\n", r"Row #2: Expected 1 columns, got 4: 1,a"),
    ("no header", "1,a,0.5,1\n", r"has no column 'label'; it has '1', 'a', '0.5' and '1'"),
    ("a name twice", "label,score,truth,score\na,1,1,1\n", r"more than one column 'score'"),
    ("header only", HEAD, r"at least one row"),
]


@pytest.mark.parametrize(("text", "message"), [row[1:] for row in CSV], ids=[row[0] for row in CSV])
def test_bad_csv_is_refused(tmp_path, text, message):
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        hm.tune_table(path)
    assert "\n" not in str(caught.value)


def test_csv_in_another_encoding_is_refused(tmp_path):
    (tmp_path / "t.csv").write_bytes(HEAD.encode() + "1,café,0.5,1\n".encode("latin-1"))
    check(tune(tmp_path / "t.csv"), ValueError, r"t\.csv cannot be read as CSV: .*UTF8")


def test_a_truncated_gzip_is_refused(tmp_path):
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
    message = r"'label' must have one type in all files; it holds text in .*0.*integers in .*1\.par"
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


def test_missing_files_are_refused(tmp_path):
    check(
        tune(tmp_path / "no.parquet"), FileNotFoundError, r"there is no file or folder .*no\.parq"
    )
    check(tune(f"{tmp_path}/*.parquet"), FileNotFoundError, r"no file matches .*/\*\.parquet")
    check(
        tune(tmp_path), FileNotFoundError, r"the folder .* contains no Parquet, Arrow or CSV file"
    )
    (tmp_path / "_temporary").mkdir()
    pq.write_table(TABLE, tmp_path / "_temporary" / "0.parquet")
    check(tune(str(tmp_path)), FileNotFoundError, r"contains no Parquet")
    check(tune(f"{tmp_path}/*"), FileNotFoundError, r"no file matches")


def test_the_suffix_must_show_the_format(tmp_path):
    for name in ("scores.xlsx", "scores", "scores.parquet.gz"):
        (tmp_path / name).touch()
        check(
            tune(tmp_path / name), ValueError, r"cannot tell the format; .*'\.parquet'.*'\.csv\.gz'"
        )


def test_files_of_two_formats_are_refused(tmp_path):
    write(tmp_path, TABLE)
    csv.write_csv(other(5), tmp_path / "1.csv")
    message = r"the same format; .*0\.parquet is Parquet, .*1\.csv is CSV: use a glob"
    check(tune(tmp_path), ValueError, message)
    assert hm.tune_table(f"{tmp_path}/*.csv").support.tolist() == [1, 1]


def test_a_file_named_twice_is_refused(tmp_path):
    path = write(tmp_path, table(instance=None)) / "0.parquet"
    (tmp_path / "link.parquet").symlink_to(path)
    for paths in ([path, path], [tmp_path], [path, f"{tmp_path}/../{tmp_path.name}/0.parquet"]):
        check(
            tune(paths), ValueError, r"each file must be named only once; .* would be counted twice"
        )


def test_the_folder_of_a_delta_table_is_refused(tmp_path):
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


def test_a_stream_that_ends_between_two_batches_is_refused(tmp_path):
    path = tmp_path / "half.arrows"
    with pa.ipc.new_stream(path, TABLE.schema) as stream:
        stream.write_table(TABLE, max_chunksize=2)
    path.write_bytes(path.read_bytes()[:-8])
    check(
        tune(path), ValueError, r"half\.arrows cannot be read as Arrow IPC: the stream has no end"
    )


@pytest.mark.parametrize("name", ["part-00001", "b.csv.xz", "c.jsonl"])
def test_unknown_files_of_a_folder_that_may_contain_rows_are_refused(tmp_path, name):
    write(tmp_path, TABLE)
    (tmp_path / "notes.md").write_text("harmless")
    assert hm.tune_table(tmp_path).labels == ("a", "b")
    (tmp_path / name).write_bytes(b"some")
    check(tune(tmp_path), ValueError, rf"{re.escape(name)} in the folder .* may contain rows")
