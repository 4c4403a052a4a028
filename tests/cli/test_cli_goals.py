"""Classes by name, costs, floors and caps on the command line."""

import json
import subprocess

import numpy as np
import pytest
from typer.testing import CliRunner

import halfmax as hm
from halfmax.cli import app

RNG = np.random.default_rng(0)
P = np.round(RNG.random(300) ** 2, 3)
TRUTH = (RNG.random(300) < P).astype(int)


def written(folder, classes, name="scores.csv", header="prob,outcome"):
    lines = [f"{p},{classes[y]}" for p, y in zip(P, TRUTH, strict=True)]
    path = folder / name
    path.write_text("\n".join([header, *lines]) + "\n")
    return path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def answer(*words):
    found = run(*words, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


CLASSES = {
    "names": (["no", "yes"], "yes"),
    "names upside down": (["yes", "no"], "no"),
    "other numbers": ([1, 2], None),
    "numbers, said": ([1, 2], "2"),
    "minus one": ([-1, 1], "1"),
    "bool": (["false", "true"], None),
    "bool, said": (["false", "true"], "true"),
    "bool, upside down": (["true", "false"], "False"),
    "0 and 1, upside down": ([1, 0], "0"),
}


@pytest.mark.parametrize("case", CLASSES)
def test_any_two_classes_are_read(tmp_path, case):
    classes, positive = CLASSES[case]
    path = written(tmp_path, classes)
    words = [] if positive is None else ["--positive", positive]
    expected = hm.tune(TRUTH, P)
    for command in ("tune", "assess", "diagnose"):
        found = answer(command, path, *words)
        (label,) = found["labels"]
        assert label["threshold"] == expected.threshold
        assert label["support"] == TRUTH.sum()
        assert found.get("score", expected.score) == expected.score


def test_names_without_a_positive_class_say_what_to_write(tmp_path):
    found = run("tune", written(tmp_path, ["no", "yes"]))
    assert found.exit_code == 2
    words = " ".join(found.stderr.split())
    assert "holds the classes 'no' and 'yes': say which one is positive, --positive yes" in words


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--positive", "Yes"], "--positive must be a class of column 'outcome', which holds"),
        (["--positive", "yes", "--cost", "fp=1"], "--cost must name the costs of fp and fn"),
        (["--positive", "yes", "--cost", "fp=1,fn=x"], "got 'fp=1,fn=x'"),
        (
            ["--positive", "yes", "--cost", "fp=1,fn=2", "--metric", "f2"],
            "--metric and --cost are two goals: choose one",
        ),
        (["--positive", "yes", "--max-predicted", "1.5"], "--max-predicted must be a whole number"),
        (["--positive", "yes", "--min-specificity", "2"], "--min-specificity must be a number"),
        (["--positive", "yes", "--metric", "auc"], "'npv' or 'fowlkes_mallows'; --cost is for"),
        (["--positive", "yes", "--average", "weighted"], "--average weighted is for many labels"),
    ],
)
def test_wrong_goals_are_refused_in_the_words_of_the_shell(tmp_path, words, message):
    found = run("tune", written(tmp_path, ["no", "yes"]), *words)
    assert found.exit_code == 2
    assert message in " ".join(found.stderr.split())


def test_a_positive_class_of_another_type_is_refused(tmp_path):
    for classes, column in ((["false", "true"], "true or false"), ([0, 1], "a number")):
        found = run("tune", written(tmp_path, classes), "--positive", "yes please")
        assert found.exit_code == 2
        assert f"--positive must be {column}, like column 'outcome'" in " ".join(
            found.stderr.split()
        )


def test_costs_are_minimised_and_shown(tmp_path):
    path = written(tmp_path, ["no", "yes"])
    expected = hm.tune(TRUTH, P, hm.cost(fp=1, fn=10))
    words = ["--positive", "yes", "--cost", "fp=1,fn=10"]
    found = answer("tune", path, *words)
    assert (found["metric"], found["score"]) == ("cost(fp=1, fn=10)", expected.score)
    assert found["labels"][0]["cost"] == -expected.score
    screen = run("tune", path, *words, "--out", tmp_path / "t.json").stdout
    assert f"mean cost(fp=1, fn=10) = {-expected.score:.4f} on these rows" in screen
    assert "Calibrated probabilities would have the threshold 0.09091" in screen
    assert "score" not in screen
    assessed = run("assess", path, *words, "--resamples", "50").stdout
    assert "-" not in assessed.splitlines()[0]


def test_restrictions_bind_in_tune_and_assess(tmp_path):
    path = written(tmp_path, ["no", "yes"])
    words = ["--positive", "yes", "--max-predicted", "40", "--min-specificity", "0.9"]
    expected = hm.tune(TRUTH, P, max_predicted=40, min_specificity=0.9)
    for command in ("tune", "assess"):
        (label,) = answer(command, path, *words)["labels"]
        assert label["threshold"] == expected.threshold
    assert expected.predicted[0] <= 40


def test_a_wide_file_of_truth_may_hold_names(tmp_path):
    scores, truth = RNG.random((40, 3)), RNG.integers(0, 2, (40, 3))
    names = ["a", "b", "c"]
    for name, rows in (("scores", scores), ("truth", np.array(["no", "yes"])[truth])):
        text = "\n".join([",".join(names), *(",".join(map(str, row)) for row in rows)])
        (tmp_path / f"{name}.csv").write_text(text + "\n")
    words = [tmp_path / "scores.csv", "--truth-file", tmp_path / "truth.csv"]
    found = answer("tune", *words, "--positive", "yes")
    expected = hm.tune(truth, scores).thresholds
    assert [label["threshold"] for label in found["labels"]] == expected.tolist()
    assert run("tune", *words).exit_code == 2


@pytest.mark.parametrize("header", ["prob,outcome", "the probability;truth or not"])
@pytest.mark.parametrize("missing", ["", "NaN"])
def test_the_message_about_missing_values_has_a_command_that_drops_them(
    tmp_path, monkeypatch, header, missing
):
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, ["no", "yes"], "some scores.csv", header)
    delimiter = ";" if ";" in header else ","
    lines = path.read_text().splitlines()
    lines[1:] = [line.replace(",", delimiter) for line in lines[1:]]
    lines[5] = f"{missing}{delimiter}yes"
    path.write_text("\n".join(lines) + "\n")
    found = run("tune", path.name, "--positive", "yes")
    assert found.exit_code == 2
    message, _, command = found.stderr.rpartition("rows:")
    assert "line 6 of some scores.csv" in " ".join(message.split())
    assert subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    kept = answer("tune", "complete.csv", "--positive", "yes")
    assert kept["labels"][0]["support"] in (TRUTH.sum(), TRUTH.sum() - 1)
    assert len((tmp_path / "complete.csv").read_text().splitlines()) == len(lines) - 1
