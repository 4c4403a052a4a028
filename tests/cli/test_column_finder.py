"""Columns with unusual names: found by their values, or asked for with commands to type."""

import gzip
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from shell import run

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.cli.column_finder import CLASSES, FRACTIONS, NAMES, OTHER, WHOLE, describe

ROWS = 60
RNG = np.random.default_rng(0)
SCORE = RNG.random(ROWS).round(3)
TRUTH = (RNG.random(ROWS) < SCORE).astype(int)
PLACES = np.arange(ROWS)
IDS = [f"d{place}" for place in PLACES]
FEW = [f"tag {place % 4}" for place in PLACES]
RANKS = (100 * SCORE).astype(int)  # whole numbers that repeat
TWO = {"prob": SCORE, "y": TRUTH}
NOTE = "Took column {} as the score and {} as the truth ({}); --score and --truth name others\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(columns, name="data.csv", **how):
    frame = pd.DataFrame(columns)
    if name.endswith(".parquet"):
        frame.to_parquet(name, index=False)
    elif name.endswith(".arrow"):
        frame.to_feather(name)
    else:
        frame.to_csv(name, index=False, **how)


def document(*words, **more):
    shown = run(*words, "--json", **more)
    assert shown.exit_code == 0, shown.stderr
    return json.loads(shown.stdout), shown.stderr


EXPECTED = hm.tune(TRUTH, SCORE).threshold

FOUND = {
    "two columns": (TWO, ("'prob'", "'y'", "0/1")),
    "the truth first": ({"y": TRUTH, "prob": SCORE}, ("'prob'", "'y'", "0/1")),
    "true and false": ({"p": SCORE, "outcome": TRUTH == 1}, ("'p'", "'outcome'", "false/true")),
    "fractions for truth": ({"p": SCORE, "y": TRUTH + 0.0}, ("'p'", "'y'", "0/1")),
    "ids that are names": ({"doc": IDS, **TWO}, ("'prob'", "'y'", "0/1")),
    "ids that are numbers": ({"id": PLACES + 100, **TWO}, ("'prob'", "'y'", "0/1")),
    "ids at the end": ({**TWO, "instance": PLACES}, ("'prob'", "'y'", "0/1")),
    "row numbers": ({"": PLACES, **TWO}, ("'prob'", "'y'", "0/1")),
    "days": ({"day": pd.Timestamp("2026-01-02"), **TWO}, ("'prob'", "'y'", "0/1")),
    "one value": ({"split": "test", **TWO}, ("'prob'", "'y'", "0/1")),
    "a constant 0": ({"fold": 0, **TWO}, ("'prob'", "'y'", "0/1")),
    "a truth called label": ({"prob": SCORE, "label": TRUTH}, ("'prob'", "'label'", "0/1")),
    "capitals": ({"Score": SCORE, "Truth": TRUTH}, ("'Score'", "'Truth'", "0/1")),
    "names with spaces": ({"a score": SCORE, "is it?": TRUTH}, ("'a score'", "'is it?'", "0/1")),
}


@pytest.mark.parametrize("command", ["tune", "assess", "diagnose"])
@pytest.mark.parametrize(("columns", "took"), FOUND.values(), ids=list(FOUND))
def test_found_by_their_values(columns, took, command):
    write(columns)
    draws = [] if command == "tune" else ["--resamples", 20]
    found, said = document(command, "data.csv", *draws)
    assert said == NOTE.format(*took)
    assert [row["threshold"] for row in found["labels"]] == [EXPECTED]


@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("data.csv", {"sep": ";", "decimal": ","}),
        ("data.csv", {"sep": "\t"}),
        ("data.tsv", {"sep": "\t"}),
        ("data.csv.gz", {}),
        ("data.parquet", {}),
        ("data.arrow", {}),
    ],
)
def test_every_format_is_searched(name, how):
    write({"p": SCORE, "outcome": TRUTH}, name, **how)
    found, said = document("tune", name)
    assert said == NOTE.format("'p'", "'outcome'", "0/1")
    assert found["labels"][0]["threshold"] == EXPECTED


def test_standard_input_is_searched():
    write(TWO)
    content = gzip.compress(Path("data.csv").read_bytes())
    found, said = document("tune", "-", input=content)
    assert (found["labels"][0]["threshold"], said) == (
        EXPECTED,
        NOTE.format("'prob'", "'y'", "0/1"),
    )


def test_the_first_file_with_rows_is_searched(folder):
    (folder / "parts").mkdir()
    for name, rows in (("0", []), ("1", slice(0, 30)), ("2", slice(30, None))):
        part = {key: values[rows] for key, values in TWO.items()}
        write({k: v.astype(TWO[k].dtype) for k, v in part.items()}, f"parts/{name}.parquet")
    found, said = document("tune", "parts")
    assert (found["labels"][0]["threshold"], said) == (
        EXPECTED,
        NOTE.format("'prob'", "'y'", "0/1"),
    )


LABELLED = {"instance": PLACES // 4, "label": FEW, **TWO}


@pytest.mark.parametrize("label", ["label", "tag"])
def test_labels_stay_labels(label):
    write({label if name == "label" else name: values for name, values in LABELLED.items()})
    chosen = [] if label == "label" else ["--label", label]
    found, said = document("tune", "data.csv", *chosen)
    assert said.startswith(NOTE.format("'prob'", "'y'", "0/1"))
    expected = hm.tune_table(pd.DataFrame(LABELLED), score="prob", truth="y")
    assert [row["threshold"] for row in found["labels"]] == expected.thresholds.tolist()


def test_two_labels_are_no_truth():
    write({"label": [f"tag {place % 2}" for place in PLACES], **TWO})
    found, said = document("tune", "data.csv")
    assert len(found["labels"]) == 2
    assert said == NOTE.format("'prob'", "'y'", "0/1")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"score": SCORE, "truth": TRUTH, "label": "x"}, ""),
        ({"score": SCORE, "y": TRUTH, "label": "x"}, "Took column 'y' as the truth (0/1); --truth"),
        ({"p": SCORE, "truth": TRUTH, "label": "x"}, "Took column 'p' as the score; --score names"),
        (
            {"score": SCORE, "truth": TRUTH},
            "Took the table as one classifier, as with --binary: it",
        ),
        ({"score": SCORE, "truth": TRUTH, "more": SCORE}, "Took the table as one classifier, as"),
        ({"score": SCORE, "truth": TRUTH, "doc": IDS}, "Took the table as one classifier, as with"),
        (
            {"score": RANKS, "y": TRUTH, "more": SCORE},
            "Took column 'y' as the truth (0/1); --truth",
        ),
        ({"rank": RANKS, "y": TRUTH}, "Took column 'rank' as the score and 'y' as the truth (0/1)"),
        ({"id": PLACES * 7, "rank": RANKS, "y": TRUTH}, "Took column 'rank' as the score and 'y'"),
    ],
)
def test_usual_names_come_first(columns, said):
    write(columns)
    shown = run("tune", "data.csv")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stderr.startswith(said)
    assert bool(shown.stderr) == bool(said)


@pytest.mark.parametrize("score", ["prob", "other", "score"])
@pytest.mark.parametrize("truth", ["y", "no", "truth"])
def test_what_is_chosen_wins(score, truth):
    write({**TWO, "other": 1 - SCORE, "no": 1 - TRUTH, "score": SCORE / 2, "truth": TRUTH})
    names = {"score": score, "truth": truth}
    found, said = document("tune", "data.csv", *(f"--{role}={n}" for role, n in names.items()))
    frame = pd.read_csv("data.csv")
    expected = hm.tune(frame[names["truth"]], frame[names["score"]])
    assert found["labels"][0]["threshold"] == expected.threshold
    assert "Took column" not in said


def test_a_chosen_name_that_is_missing_is_not_searched_for():
    write(TWO)
    shown = run("tune", "data.csv", "--binary", "--score", "p")
    assert shown.exit_code == 2
    assert "data.csv has no column 'p'; it has 'prob' and 'y': name the column with --score" in (
        shown.stderr
    )


HAS = "it has {}. Type one of these:"
ASKED = {
    "two truths": (
        {**TWO, "sex": ["f", "m"] * 30},
        "cannot tell which column of data.csv is the truth, 'y' or 'sex'; it has 'prob', 'y' and "
        "'sex'. Type one of these:",
        ["--truth y", "--truth sex"],
    ),
    "two scores": (
        {**TWO, "my other": SCORE},
        "cannot tell which column of data.csv is the score, 'prob' or 'my other'; it has 'prob', "
        "'y' and 'my other'. Type one of these:",
        ["--score prob", "--score 'my other'"],
    ),
    "a label of 0/1 beside a truth": (
        {**TWO, "label": 1 - TRUTH},
        "cannot tell which column of data.csv is the truth, 'y' or 'label'; it has 'prob', 'y' and "
        "'label'. Type one of these:",
        ["--truth y", "--truth label"],
    ),
    "perhaps labels": (
        {"tag": FEW, **TWO},
        "column 'tag' of data.csv may hold labels. If it does, type the first of these; for one "
        "classifier, the second:",
        ["--label tag", "--binary"],
    ),
    "perhaps labels that are numbers": (
        {"tag": PLACES % 5, "score": SCORE, "truth": TRUTH},
        "column 'tag' of data.csv may hold labels. If it does, type the first of these; for one "
        "classifier, the second:",
        ["--label tag", "--binary"],
    ),
    "perhaps labels of instances": (
        {"instance": PLACES // 4, "tag": FEW, **TWO},
        "column 'tag' of data.csv may hold labels. If it does, type the first of these; for one "
        "classifier, the second:",
        ["--label tag", "--binary"],
    ),
}


@pytest.mark.parametrize(("columns", "message", "options"), ASKED.values(), ids=list(ASKED))
def test_what_may_mean_two_things_is_asked_for(columns, message, options):
    write(columns)
    shown = run("tune", "data.csv", "--metric", "f2")
    typed = "halfmax tune data.csv --metric f2"
    commands = [f"{typed} {option}" for option in options]
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.output.splitlines()[-len(options) :] == [f"    {line}" for line in commands]
    assert shown.stderr == f"halfmax: {message} {' '.join(commands)}\n"


def test_a_command_that_was_shown_works():
    write({**TWO, "sex": ["f", "m"] * 30, "age": 20 + PLACES % 9})
    shown = run("tune", "data.csv", "--truth", "y", "--binary")
    assert shown.exit_code == 0
    assert shown.stderr == "Took column 'prob' as the score; --score names another\n"


def test_instances_that_differ_have_no_labels():
    write({"instance": PLACES, "country": FEW, **TWO})
    found, said = document("tune", "data.csv")
    assert (found["labels"][0]["threshold"], said) == (
        EXPECTED,
        NOTE.format("'prob'", "'y'", "0/1"),
    )


NOT_FOUND = {
    "no truth": (
        {"prob": SCORE, "doc": IDS},
        "data.csv has no column 'truth', and none of the others has two values, such as 0/1 or "
        "yes/no; it has 'prob' and 'doc': name the column with --truth",
    ),
    "a wide file": (
        {"a": SCORE, "b": 1 - SCORE},
        "data.csv has no column 'truth', and none of the others has two values, such as 0/1 or "
        "yes/no; it has 'a' and 'b': name the column with --truth. If it has a column for each "
        "label, name the file of their truth: halfmax tune data.csv --truth-file TRUTH_FILE",
    ),
    "no score": (
        {"doc": IDS, "y": TRUTH},
        "data.csv has no column 'score', and none of the others holds numbers that could be it; "
        "it has 'doc' and 'y': name the column with --score",
    ),
    "row numbers": (
        {"row": PLACES, "y": TRUTH},
        "data.csv has no column 'score', and none of the others holds numbers that could be it; "
        "it has 'row' and 'y': name the column with --score",
    ),
    "no rows": ({"prob": [], "y": []}, "data.csv must have at least one row"),
}


@pytest.mark.parametrize(("columns", "message"), NOT_FOUND.values(), ids=list(NOT_FOUND))
def test_what_is_not_there_is_named(columns, message):
    write(columns)
    shown = run("tune", "data.csv")
    assert (shown.exit_code, shown.stderr) == (2, f"halfmax: {message}\n")


def test_names_that_repeat_are_refused_as_ever(folder):
    (folder / "data.csv").write_text("prob,prob,truth,label\n1,2,1,a\n")
    shown = run("tune", "data.csv")
    assert "data.csv has no column 'score'; it has 'prob', 'prob'" in shown.stderr


def test_all_commands_of_a_session_find_the_columns():
    write(TWO)
    write({"doc": IDS, "prob": SCORE}, "new.csv")
    assert run("tune", "data.csv", "--out", "t.json").exit_code == 0
    shown = run("apply", "t.json", "new.csv")
    assert shown.stderr.endswith("Took column 'prob' as the score; --score names another\n")
    predicted = pd.read_csv(io.StringIO(shown.stdout))["predicted"]
    assert predicted.tolist() == (SCORE >= EXPECTED).astype(int).tolist()
    shown = run("report", "t.json", "--data", "data.csv", "--quick-report")
    assert shown.exit_code == 0, shown.stderr
    assert shown.stderr == NOTE.format("'prob'", "'y'", "0/1")


def test_a_table_of_labels_is_applied_to_a_column_of_any_name():
    hm.tune_table(pd.DataFrame(LABELLED), score="prob", truth="y").save("t.json")
    numbered = {"label": FEW, "p": SCORE, "instance": PLACES // 4, "y": TRUTH}
    write(numbered)
    shown = run("apply", "t.json", "data.csv")
    assert shown.stderr.endswith("Took column 'p' as the score; --score names another\n")


KINDS = {
    "fractions": ([0.1, 0.2, None, 0.3], FRACTIONS, ()),
    "two fractions": ([0.1, 0.2, 0.1], FRACTIONS, (0.1, 0.2)),
    "infinities": ([float("-inf"), 0.5], FRACTIONS, (float("-inf"), 0.5)),
    "0/1": ([0, 1, None, 1], CLASSES, (0, 1)),
    "0 alone": ([0, 0], CLASSES, (0,)),
    "1/2": ([1, 2, 2], CLASSES, (1, 2)),
    "-1/1": ([-1.0, 1.0], CLASSES, (-1, 1)),
    "bools": ([True, True], CLASSES, (True,)),
    "yes/no": (["yes", "no", "no"], CLASSES, ("no", "yes")),
    "names": (["a", "b", "c"], NAMES, ()),
    "one name": (["a", "a"], NAMES, ("a",)),
    "whole": ([3, 7, 9], WHOLE, ()),
    "one number": ([7, 7], WHOLE, (7,)),
    "lists": ([[1], [2]], OTHER, ()),
    "nothing": ([None, None], OTHER, ()),
}


@pytest.mark.parametrize(("values", "kind", "few"), KINDS.values(), ids=list(KINDS))
def test_what_a_column_may_be(values, kind, few):
    found = describe("x", pa.chunked_array([pa.array(values)]))
    assert (found.kind, found.values) == (kind, few)
    if kind not in (OTHER,) and isinstance(values[0], str):
        coded = pa.chunked_array([pa.array(values).dictionary_encode()])
        assert describe("x", coded) == found


def test_classes_by_name_are_a_truth():
    """Which of them is positive, the library asks."""
    write({"prob": SCORE, "spam": np.where(TRUTH, "yes", "no")})
    shown = run("tune", "data.csv")
    assert NOTE.format("'prob'", "'spam'", "no/yes") in shown.stderr


def test_only_the_first_rows_are_looked_at():
    write({"p": SCORE, "y": [*TRUTH[:50], *range(10)]}, "data.parquet")
    with changed(first_rows=50):
        shown = run("tune", "data.parquet")
    assert shown.exit_code == 2
    assert "column 'y' must be bool or 0/1; row 52 of" in shown.stderr
