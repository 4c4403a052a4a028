"""CSV as it is written: quotes only where a cell needs them, and every cell can be read again."""

import csv
import datetime
import io
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import halfmax as hm
from halfmax.tables.csv_lines import csv_lines
from halfmax.tables.writing import table_file

ODD = (
    "",
    " ",
    ",",
    '"',
    '""',
    "\n",
    "\r\n",
    "a,b",
    'say "no"',
    "two\nlines",
    "\t",
    "é",
    "-1",
    "NA",
)
CELL = st.one_of(st.none(), st.sampled_from(ODD), st.text(st.characters(codec="utf-8")))
T = hm.tune([1, 0], [0.9, 0.1])


def naive_cell(cell, delimiter):
    if cell is None:
        return ""
    plain = cell and not any(sign in cell for sign in (delimiter, '"', "\n", "\r"))
    return cell if plain else '"' + cell.replace('"', '""') + '"'


def naive_lines(rows, delimiter):
    return "".join(
        delimiter.join(naive_cell(cell, delimiter) for cell in row) + "\n" for row in rows
    )


def write(path, table):
    with table_file(path, table.schema, overwrite=True) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    return path


@given(st.lists(st.tuples(CELL, CELL)), st.sampled_from([",", "\t"]), st.integers(0, 2))
def test_lines_are_those_of_the_naive_twin(rows, delimiter, first):
    columns = [
        pa.array([row[place] for row in rows], kind)
        for place, kind in ((0, pa.string()), (1, pa.string()))
    ]
    columns[1] = columns[1].dictionary_encode()
    written = csv_lines([column.slice(first) for column in columns], delimiter)
    assert bytes(written).decode() == naive_lines(rows[first:], delimiter)


@given(st.lists(st.tuples(CELL, CELL), min_size=1), CELL.filter(bool))
def test_others_read_what_is_written(tmp_path_factory, rows, name):
    path = tmp_path_factory.mktemp("csv") / "t.csv"
    table = pa.table(
        {"n": range(len(rows)), name + "!": [a for a, _ in rows], "b": pa.nulls(len(rows))}
    )
    write(path, table)
    with open(path, newline="", encoding="utf-8") as file:
        head, *found = csv.reader(file)
    assert head == table.column_names
    assert [row[1] for row in found] == [a or "" for a, _ in rows]


def test_quotes_stand_only_where_they_are_needed(tmp_path):
    table = pa.table(
        {
            "id": ["x 1", "a,b", 'c "d"', "two\nlines"],
            "na,me": ["", None, "NA", "007"],
            "score": [0.1, 1e300, float("-inf"), None],
            "yes": [True, False, None, True],
            "day": [datetime.date(2026, 1, 2)] * 4,
            "cost": [Decimal("1.20")] * 4,
        }
    )
    assert write(tmp_path / "t.csv", table).read_text() == (
        'id,"na,me",score,yes,day,cost\n'
        'x 1,"",0.1,true,2026-01-02,1.20\n'
        '"a,b",,1e+300,false,2026-01-02,1.20\n'
        '"c ""d""",NA,-inf,,2026-01-02,1.20\n'
        '"two\nlines",007,,true,2026-01-02,1.20\n'
    )
    assert write(tmp_path / "t.tsv", table).read_text().startswith("id\tna,me\tscore")


def test_an_empty_string_is_not_a_null(tmp_path):
    path = write(tmp_path / "t.csv", pa.table({"a": ["", None], "b": [1, 2]}))
    assert path.read_text() == 'a,b\n"",1\n,2\n'
    assert pl.read_csv(path)["a"].to_list() == ["", None]


def test_names_with_commas_and_line_breaks_go_through_all_commands(tmp_path):
    names = ["a,b", 'say "no"', "two\nlines", " x "]
    long = pd.DataFrame(
        [
            (i, name, (i + j) % 3, int((i + j) % 3 > 1))
            for i in range(6)
            for j, name in enumerate(names)
        ],
        columns=["instance", "label", "score", "truth"],
    )
    long.to_csv(tmp_path / "in.csv", index=False)
    t = hm.tune_table(tmp_path / "in.csv")
    assert sorted(t.labels) == sorted(names)
    hm.apply_table(t, tmp_path / "in.csv", tmp_path / "out.csv")
    hm.apply_table(t, tmp_path / "out.csv", tmp_path / "again.csv", prediction="again")
    again = pd.read_csv(tmp_path / "again.csv")
    assert again["label"].tolist() == long["label"].tolist()
    assert again["predicted"].tolist() == again["again"].tolist() == long["truth"].tolist()


def test_a_line_break_in_a_name_may_stand_where_a_block_ends(tmp_path):
    text = "score,note\n" + '0.5,"' + "line\n" * 40 + '"\n'
    rows = 20_000  # four blocks of the reader
    (tmp_path / "in.csv").write_text(text + '0.5,"{}"\n'.format("line\n" * 40) * (rows - 1))
    found = hm.apply_table(T, tmp_path / "in.csv")
    assert found.num_rows == rows
    assert set(found["note"].to_pylist()) == {"line\n" * 40}


@pytest.mark.parametrize("values", [[[1, 2]], [{"a": 1}]], ids=["list", "struct"])
def test_a_column_without_text_is_refused(tmp_path, values):
    table = pa.table({"score": [0.5], "more": values})
    message = r"CSV cannot hold column 'more', whose type is .*: write Parquet or Arrow, or leave"
    with pytest.raises(TypeError, match=message):
        hm.apply_table(T, table, tmp_path / "out.csv")
    assert list(tmp_path.iterdir()) == []
    assert hm.apply_table(T, table, tmp_path / "out.parquet").rows == 1


def test_no_rows_are_a_head(tmp_path):
    table = pa.table({"score": pa.array([], pa.float64()), "note": pa.array([], pa.string())})
    hm.apply_table(T, table, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "score,note,predicted\n"
    assert pd.read_csv(io.StringIO((tmp_path / "out.csv").read_text())).empty
