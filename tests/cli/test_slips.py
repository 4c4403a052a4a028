"""Slips on the command line: swapped files, spaces in costs, decimal commas, misspelled options."""

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.table import Table as Grid
from shell import run

import halfmax as hm
from halfmax.cli.layout import fit
from halfmax.cli.run import NO_READER

RNG = np.random.default_rng(0)
SCORE = RNG.random(60).round(3)
TRUTH = (RNG.random(60) < SCORE).astype(int)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    pd.DataFrame({"score": SCORE, "truth": TRUTH}).to_csv("x.csv", index=False)
    hm.tune(TRUTH, SCORE).save("t.json")
    return tmp_path


def refused(*words):
    shown = run(*words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    return shown.stderr.removeprefix("halfmax: ").rstrip("\n")


# Files.


@pytest.mark.parametrize(
    "words", ["tune t.json", "assess t.json x.csv", "diagnose x.csv t.json", "decide t.json"]
)
def test_thresholds_are_no_scores(words):
    said = "t.json holds thresholds, and scores are wanted here. halfmax apply predicts with"
    assert refused(*words.split()).startswith(said)


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("apply x.csv t.json", "apply t.json x.csv"),
        ("apply x.csv t.json --quiet", "apply t.json x.csv --quiet"),
        ("report x.csv --data t.json", "report t.json --data x.csv"),
    ],
)
def test_the_thresholds_come_first(words, meant):
    said = "the thresholds come first, and t.json holds them. Type this: halfmax"
    assert refused(*words.split()) == f"{said} {meant}"
    assert run(*meant.split()).exit_code == 0


def test_no_thresholds_at_all():
    assert refused("apply", "x.csv", "x.csv").startswith(
        "x.csv is not a halfmax thresholds file, which comes first"
    )


def test_files_of_text_are_tables_if_they_are_named(folder):
    expected = run("tune", "x.csv", "--json").stdout
    content = Path("x.csv").read_bytes()
    for name, text in (
        ("x.txt", content),
        ("x.TXT", content.replace(b",", b"\t")),
        ("y.txt", content.replace(b",", b";")),
        ("x.txt.gz", gzip.compress(content)),
    ):
        Path(name).write_bytes(text)
        assert run("tune", name, "--json").stdout == expected
    (folder / "parts").mkdir()
    os.rename("x.csv", "parts/x.csv")
    Path("parts/README.txt").write_text("what,these,are\n")
    assert run("tune", "parts", "--json").stdout == expected
    os.remove("parts/x.csv")
    assert "the folder parts contains no Parquet, Arrow or CSV file" in refused("tune", "parts")


# Options.


@pytest.mark.parametrize("costs", [["fp=8", "fn=100"], ["fp=8,", "fn=100"], ["fp=8,fn=9", "tp=1"]])
def test_costs_with_a_space(costs):
    joined = ",".join(part.strip(",") for part in costs)
    assert refused("tune", "x.csv", "--cost", *costs, "--quiet") == (
        f"costs are one word, with commas between them; {costs[1]!r} is no file: "
        f"halfmax tune x.csv --cost {joined} --quiet"
    )
    assert run("tune", "x.csv", "--cost", joined, "--quiet").exit_code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--min-precision", "0,6"], "--min-precision must be a number; got '0,6': write 0.6"),
        (["--max-predicted=0,25"], "--max-predicted must be a number; got '0,25': write 0.25"),
        (["--zero-division", "none"], "--zero-division must be a number; got 'none'"),
        (["--n-instances", "1.5"], "--n-instances must be a whole number; got '1.5'"),
    ],
)
def test_what_is_no_number(words, said):
    assert refused("tune", "x.csv", *words) == f"{said} (see halfmax tune --help)"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("--postive", "'--positive'"),
        ("--postive=yes", "'--positive'"),
        ("--min", "'--min-recall', '--min-precision' or '--min-specificity'"),
        ("--zzz", None),
    ],
)
def test_the_option_that_is_most_alike_comes_first(typed, meant):
    more = "" if meant is None else f". Did you mean {meant}?"
    name = typed.partition("=")[0]
    expected = f"No such option: {name}{more} (see halfmax tune --help)"
    assert refused("tune", "x.csv", typed) == expected


# Screens.


@pytest.mark.parametrize("words", ["--help", "tune --help", "mesh --help", "--version", ""])
@pytest.mark.parametrize("columns", ["80", "60"])
def test_nobody_reads_the_help(words, columns):
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-m", "halfmax", *words.split()],
        stdout=writer,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": columns},
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (NO_READER, b"")


def test_help_says_which_rows_a_number_counts():
    text = " ".join(run("tune", "--help").stdout.replace("│", " ").split())
    assert "The most of the rows tuned on that may be predicted for each label" in text
    assert "sensitivity" in text


def test_words_of_help_stay_whole_in_narrow_terminals():
    shown = run("tune", "--help", env={"COLUMNS": "50"}).stdout
    for word in ("balanced_accuracy", "fowlkes_mallows", "specificity", "thresholds"):
        assert re.search(rf"(?<!\w){word}(?!\w)", shown)


@pytest.mark.parametrize("columns", [35, 40, 45, 50, 60])
@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("assess --cost fp=8,fn=100", ["threshold", "cost", "expected_cost"]),
        ("assess", ["threshold", "score", "expected"]),
        ("tune --cost fp=8,fn=100", ["threshold", "cost"]),
        ("tune", ["threshold", "score"]),
        ("diagnose --cost fp=8,fn=100", ["cost", "expected_cost"]),
    ],
)
@pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")
def test_narrow_tables_keep_the_answer(words, kept, columns):
    name, *more = words.split()
    shown = run(name, "x.csv", *more, env={"COLUMNS": str(columns)})
    *_, head = (line.split() for line in shown.stdout.splitlines() if kept[0] in line.split())
    assert [column for column in head if column in kept] == kept
    assert "…" not in shown.stdout


def test_columns_are_left_out_in_order_and_numbers_stay_whole():
    grid = Grid(box=None, pad_edge=False)
    for name in ("low", "cost", "support", "findings"):
        grid.add_column(name, no_wrap=name != "findings", min_width=8)
    grid.add_row("0.123456", "0.5", "123456789", "floods")
    assert fit(grid, 20) == ["low", "support"]
    assert [column.header for column in grid.columns] == ["cost", "findings"]


def test_prices_that_pay_errors_are_questioned_below_the_result_as_other_warnings_are():
    shown = run("tune", "x.csv", "--cost", "fp=8,fn=-100")
    assert "\nwarning: fn=-100 costs less than tp=0, so errors pay: " in shown.stderr
    assert "HalfmaxWarning" not in shown.stderr
    document = json.loads(run("tune", "x.csv", "--cost", "fp=8,fn=-100", "--json").stdout)
    assert document["warnings"][0].startswith("fn=-100 costs less")
