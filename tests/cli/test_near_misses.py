"""What almost works: names with a typo, files without names, columns with a wrong cell."""

import shlex
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import run

RNG = np.random.default_rng(0)
SCORE = RNG.random(60).round(3)
TRUTH = np.where(RNG.random(60) < SCORE, "Yes", "No")
IDS = [f"d{place}" for place in range(60)]
CHURN = {"p(churn)": SCORE, "churned?": TRUTH}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(columns, name="x.csv", **how):
    pd.DataFrame(columns).to_csv(name, index=False, **how)


def refused(*words):
    shown = run(*words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    return shown.stderr.removeprefix("halfmax: ").rstrip("\n")


def with_cell(column, cell, row=3):
    """The columns with another cell in one of them; row 3 is on line 5."""
    cells = list(CHURN[column])
    cells[row] = cell
    return {**CHURN, column: cells}


# Names.


HAS = "it has 'p(churn)' and 'churned?'"


@pytest.mark.parametrize(
    ("words", "said", "better"),
    [
        (["--truth", "churned"], "'churned'", ["--truth", "churned?"]),
        (["--truth=churned"], "'churned'", ["--truth=churned?"]),
        (["--truth", "Churned?", "--binary"], "'Churned?'", ["--truth", "churned?", "--binary"]),
        (["--score", "churn"], "'churn'", ["--score", "p(churn)"]),
        (["--weight", "p(chrn)"], "'p(chrn)'", ["--weight", "p(churn)"]),
        (["--id", "churned"], "'churned'", ["--id", "churned?"]),
    ],
)
@pytest.mark.parametrize("command", ["tune", "assess"])
def test_a_typo_is_said_before_anything_is_guessed(command, words, said, better):
    write(CHURN)
    if "--weight" in words and command == "assess":
        words, better = [*words, "--binary"], [*better, "--binary"]
    meant = shlex.join(["halfmax", command, "x.csv", *better])
    name = better[0].partition("=")[2] or better[1]
    assert refused(command, "x.csv", *words) == (
        f"x.csv has no column {said}; {HAS}. If you mean {name!r}, type this: {meant}"
    )


@pytest.mark.parametrize(
    ("option", "hint"), [("truth", ""), ("label", ", or use --binary for one classifier")]
)
def test_a_name_that_is_like_no_other(option, hint):
    write(CHURN)
    assert refused("tune", "x.csv", f"--{option}", "zzz") == (
        f"x.csv has no column 'zzz'; {HAS}: name the column with --{option}{hint}"
    )


def test_a_file_where_a_column_is_wanted():
    """The command that is proposed works as typed."""
    write({"doc": IDS, "a": SCORE, "b": 1 - SCORE, "c": SCORE})
    true = TRUTH == "Yes"
    write({"doc": IDS, "a": true, "b": ~true, "c": true}, "truth.csv")
    works = "halfmax tune x.csv --quiet --truth-file truth.csv --id doc"
    assert refused("tune", "x.csv", "--quiet", "--truth", "truth.csv", "--score=a") == (
        "--truth names a column of x.csv, and truth.csv is a file. If both have a column for each "
        f"label, type this: {works}"
    )
    assert run(*shlex.split(works)[1:]).exit_code == 0
    said = refused("tune", "x.csv", "--score", "a", "--binary", "--quiet")
    assert said.endswith(works.replace("truth.csv", "TRUTH_FILE"))


# A line of names.


@pytest.mark.parametrize(
    ("columns", "how", "said", "names"),
    [
        (CHURN, {}, "'0.637' and 'Yes'", "score,truth"),
        ({"id": IDS, **CHURN}, {}, "", "column1,score,truth"),
        (CHURN, {"sep": ";"}, "'0.637' and 'Yes'", "score;truth"),
        ({"y": TRUTH == "Yes", "p": SCORE}, {"sep": "\t"}, "", "truth\\tscore"),
        ({"y": 1 * (TRUTH == "Yes"), "p": SCORE}, {}, "", "truth,score"),
    ],
)
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_a_file_without_names(columns, how, said, names, ending):
    write(columns, "no names.csv", header=False, lineterminator=ending, **how)
    before = Path("no names.csv").read_bytes()
    shown = refused("tune", "no names.csv", "--positive", "Yes")
    assert "the first line of no names.csv looks like data, not like names of columns" in shown
    assert said in shown
    message, _, command = shown.partition("this adds a line of names: ")
    assert command == f"printf '{names}\\n' | cat - 'no names.csv' > named.csv"
    assert "--score and --truth say so" in message
    subprocess.run(command, shell=True, check=True)
    assert Path("no names.csv").read_bytes() == before
    positive = [] if "y" in columns else ["--positive", "Yes"]
    binary = [] if len(columns) == 2 else ["--binary"]
    shown = run("tune", "named.csv", *positive, *binary)
    assert shown.exit_code == 0, shown.stderr
    assert "named2.csv" in refused("tune", "no names.csv")


def test_new_scores_without_names():
    write(CHURN)
    assert run("tune", "x.csv", "--positive", "Yes", "--out", "t.json").exit_code == 0
    write({"p": SCORE}, "new.csv", header=False)
    shown = run("apply", "t.json", "new.csv")
    assert shown.exit_code == 2
    assert "looks like data" in shown.stderr
    assert "If not, --score says so" in shown.stderr
    assert run("apply", "t.json", "new.csv", "--score", str(SCORE[0])).exit_code == 0


@pytest.mark.parametrize("first", ["1,1", "0.5,0.25,1"])
def test_first_lines_of_numbers(first):
    width = first.count(",") + 1
    Path("x.csv").write_text("\n".join([first, *(["0.1,0.2,0"[-4 * (width - 1) :]] * 3)]))
    assert "looks like data" in refused("tune", "x.csv")


@pytest.mark.parametrize(
    "columns",
    [
        {"prob": SCORE, "Yes": TRUTH},  # a column may be called like its positive class
        {"1": SCORE, "truth": TRUTH == "Yes"},
    ],
)
def test_names_that_may_be_values(columns, folder):
    """A number as a name is only accepted if it is named, or in a format that has names."""
    write(columns)
    number = "1" in columns
    words = ["--positive", "Yes"] * (not number)
    assert run("tune", "x.csv", *words).exit_code == (2 if number else 0)
    assert run("tune", "x.csv", *words, "--score", next(iter(columns))).exit_code == 0
    pd.DataFrame(columns).to_parquet(folder / "x.parquet")
    assert run("tune", "x.parquet", *words).exit_code == 0


# Cells.


COULD = "Column {!r} could be it, but line 5 has {!r}"


@pytest.mark.parametrize(
    ("cell", "do"),
    [
        ("abc", "correct it, or drop this row"),
        ("NA", "correct it, or drop this row"),
        ("3.26%", "correct it, or drop this row"),
        ("0,0326", "write 0.0326"),
    ],
)
@pytest.mark.parametrize("more", [{}, {"age": range(60)}, {"age": [20, 30] * 30}])
def test_a_score_with_one_wrong_cell(cell, do, more):
    """It is not left for another column of numbers, either."""
    write({**with_cell("p(churn)", cell), **more})
    could = COULD.format("p(churn)", cell)
    said = f"x.csv has no column 'score'. {could}, which is not a number: {do}"
    assert refused("tune", "x.csv", "--truth", "churned?", "--binary") == (said)


def test_a_score_with_several_wrong_cells():
    columns = with_cell("p(churn)", "NA")
    columns["p(churn)"][7] = columns["p(churn)"][9] = "?"
    write(columns)
    assert "'NA', which is not a number (nor are 2 other cells): " in refused("tune", "x.csv")


@pytest.mark.parametrize("third", ["NA", "No ", "no"])
def test_a_truth_with_a_third_value(third):
    write(with_cell("churned?", third))
    could = COULD.format("churned?", third)
    assert refused("tune", "x.csv") == (
        f"x.csv has no column 'truth'. {could} beside 'No' and 'Yes': correct it, or drop this row"
    )


@pytest.mark.parametrize("ends", ["x.csv", "x.parquet"])
def test_a_third_value_of_a_truth_that_is_named(ends):
    third = {"score": SCORE, "truth": with_cell("churned?", "NA")["churned?"]}
    write(third)
    pd.DataFrame(third).to_parquet("x.parquet")
    place = "line 5" if ends == "x.csv" else "row 3 (counted from 0)"
    for words in ([], ["--positive", "Yes"]):
        said = refused("tune", ends, "--binary", *words)
        assert said == (
            f"column 'truth' of {ends} must hold two classes; {place} has 'NA' beside 'No' and "
            "'Yes': correct it, or drop this row"
        )


def test_numbers_with_a_third_value():
    write({"p": SCORE, "y": [0, 1, 1, 9, *[0, 1] * 28]})
    assert f"{COULD.format('y', 9)} beside 0 and 1: correct" in refused("tune", "x.csv")


def test_three_classes_become_two_in_the_file():
    """The shell has no y to compare; this was advice for Python."""
    three = ["No", "Yes", "Maybe"] * 20
    write({"p": SCORE, "y": three})
    classes = "'Maybe', 'No' and 'Yes'"
    do = "ive it two classes, the positive one and one for all other rows"
    assert refused("tune", "x.csv").endswith(f"but has 3 classes, {classes}: g{do}")
    for words in ([], ["--positive", "Yes"]):
        said = refused("tune", "x.csv", "--truth", "y", *words)
        assert said.endswith(f"column 'y' must hold two classes; got 3: {classes}. G{do}")


@pytest.mark.parametrize(
    ("columns", "score"),
    [
        ({"points": [3, 5, 6] * 20, "y": TRUTH, "id": ["A3", *map(str, range(59))]}, "points"),
        ({"note": ["0.5", *IDS[1:]], "y": TRUTH, "points": [3, 5, 6] * 20}, "points"),
        ({"p": SCORE, "y": TRUTH, "other": ["NA", *SCORE[1:]]}, "p"),
    ],
)
def test_other_columns_of_words_do_no_harm(columns, score):
    write(columns)
    shown = run("tune", "x.csv", "--positive", "Yes", "--binary")
    assert shown.exit_code == 0, shown.stderr
    assert f"Took column {score!r} as the score" in shown.stderr
