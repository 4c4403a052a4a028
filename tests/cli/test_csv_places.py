"""Messages about cells of CSV files name lines, as editors count them."""

import gzip
import shlex
import subprocess
from pathlib import Path

import pytest
from shell import run

from halfmax.cli.csv_places import in_lines

GOOD = [f"0.{place},{place % 2}" for place in range(1, 8)]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(lines, name="data.csv", ending="\n"):
    Path(name).write_bytes("".join(line + ending for line in lines).encode())


def refused(*words, **more):
    shown = run(*words, **more)
    assert (shown.exit_code, shown.stdout) == (2, "")
    return shown.stderr


EMPTY = "must not have empty cells; {} has one"


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["p,y", *GOOD, "0.5,"], "line 9"),
        (["p,y", "", *GOOD, "", "", "0.5,"], "line 12"),
        (["p,y,words", '0.1,0,"a', "", 'b"', "0.2,1,c", "0.5,,"], "line 6"),
        (["p,y,words", '0.1,0,"a', 'b"', '0.5,,"a', 'b"'], "line 4"),
        (["\ufeffp;y", *(line.replace(",", ";") for line in GOOD), "0.5;"], "line 9"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_the_line_of_an_empty_cell(lines, place, ending):
    write(lines, ending=ending)
    assert f"'y' {EMPTY.format(f'{place} of data.csv')}" in refused(
        "tune", "data.csv", "--binary", "--truth", "y"
    )


def test_lines_of_compressed_files_and_of_standard_input():
    write(["p,y", *GOOD, "0.5,"])
    content = Path("data.csv").read_bytes()
    Path("data.csv.gz").write_bytes(gzip.compress(content))
    assert EMPTY.format("line 9 of data.csv.gz") in refused("tune", "data.csv.gz")
    assert EMPTY.format("line 9 of standard input") in refused("tune", "-", input=content)


def test_every_message_about_a_row_names_its_line():
    write(["p,y", *GOOD, "0.5,7"])
    assert "; line 9 of data.csv has 7" in refused("tune", "data.csv", "--truth=y")
    write(["id,p,y", "a,0.1,0", "b,0.2,1", "a,0.3,1"])
    said = refused("tune", "data.csv", "--id", "id")
    assert "appears in line 2 of data.csv and again in line 4 of data.csv. Drop" in said


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("row 3 of none.csv has one", "row 3 (counted from 0) of none.csv has one"),
        ("row 3 of row group 1 of a.parquet has 7", "row 3 of row group 1 of a.parquet has 7"),
        (
            "'x' must not have nulls; row 3 of the table",
            "'x' must not have nulls; row 3 of the table",
        ),
    ],
)
def test_what_is_not_known_is_not_claimed(said, shown):
    assert in_lines(said) == shown


@pytest.mark.parametrize("value", ["abc", "NA", "3.26%"])
def test_a_word_among_numbers_is_named_with_its_line(value):
    write(["p,y", "", *GOOD, f"{value},1"])
    said = refused("tune", "data.csv", "--score", "p")
    assert said.endswith(f"column 'p' of data.csv must hold numbers; line 10 has '{value}'\n")


def test_a_word_far_below_the_first_rows():
    lines = [f"{0.1 + place % 7 / 10:.17f},{place % 2}" for place in range(60_000)]
    write(["p,y", *lines, "0.5,x"])
    said = refused("tune", "data.csv")
    assert said.endswith("column 'y' of data.csv must hold numbers; line 60002 has 'x'\n")


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("name", ["data.csv", "a b=c.tsv", "complete.csv"])
@pytest.mark.parametrize("cells", ["0.5\t", "\t1"])
def test_the_command_that_drops_rows_is_right_as_typed(name, cells, ending):
    """It was wrong for lines that end in CRLF, and would have emptied complete.csv."""
    delimiter = "\t" if name.endswith(".tsv") else ","
    lines = [line.replace(",", delimiter) for line in GOOD]
    odd = cells.replace("\t", delimiter)
    write([f"p{delimiter}y", *lines, odd], name, ending)
    before = Path(name).read_bytes()
    said = refused("tune", name)
    command = said.partition("This drops such rows:")[2]
    subprocess.run(command, shell=True, check=True)
    assert Path(name).read_bytes() == before
    assert run("tune", shlex.split(command)[-1]).exit_code == 0
    assert len(Path(shlex.split(command)[-1]).read_text().splitlines()) == len(GOOD) + 1


def test_no_command_writes_over_a_file():
    write(["p,y", *GOOD, "0.5,"])
    Path("complete.csv").write_text("mine")
    Path("complete2.csv").write_text("mine, too")
    assert refused("tune", "data.csv").endswith("> complete3.csv\n")


@pytest.mark.parametrize(
    ("scores", "truth", "said"),
    [
        ("0.1,\n", "1,0\n", "column 'b' must not have empty cells; line 3 of s.csv has one: fill"),
        (
            "0.1,nan\n",
            "1,0\n",
            "column 'b' must not have empty cells; line 3 of s.csv has nan: fill",
        ),
        ("0.1,0\n", ",0\n", "column 'a' must not have empty cells; line 3 of t.csv has one: fill"),
    ],
)
def test_empty_cells_of_wide_files(scores, truth, said):
    Path("s.csv").write_text("a,b\n0.2,0.3\n" + scores)
    Path("t.csv").write_text("a,b\n0,1\n" + truth)
    assert f"{said} it, or drop this row\n" in refused("tune", "s.csv", "--truth-file", "t.csv")
