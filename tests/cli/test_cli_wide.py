"""Wide files on the command line: a column for each label, a row for each instance."""

import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv, parquet
from shell import run

import halfmax as hm

LABELS = ["sports", "[bold]x[/]", "plat\x1bypus"]


def make(rows=60):
    rng = np.random.default_rng(0)
    truth = rng.random((rows, 3)) < [0.4, 0.3, 0.2]
    scores = rng.normal(size=truth.shape) + 2 * truth
    return pd.DataFrame(truth.astype(int), columns=LABELS), pd.DataFrame(scores, columns=LABELS)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Scores and their truth, whose rows and columns stand in another order; their arrays."""
    monkeypatch.chdir(tmp_path)
    truth, scores = make()
    ids = [f"{place:03}" for place in range(len(truth))]
    scores.assign(doc=ids).to_csv("scores.csv", index=False)
    mixed = truth.assign(doc=ids).iloc[::-1]
    mixed[mixed.columns[::-1]].to_csv("truth.csv", index=False)
    return truth, scores


def test_thresholds_are_those_of_the_arrays(files):
    truth, scores = files
    shown = run("tune", "scores.csv", "--truth-file", "truth.csv", "--id", "doc", "--out", "t.json")
    assert shown.exit_code == 0, shown.output
    kept, expected = hm.Thresholds.load("t.json"), hm.tune(truth, scores)
    assert kept.labels == expected.labels == tuple(LABELS)
    np.testing.assert_array_equal(kept.thresholds, expected.thresholds)
    assert f"Tuned 3 labels: macro f1 = {expected.score:.4f} on these rows" in shown.stdout
    assert "Wrote t.json" in shown.stdout


@pytest.mark.usefixtures("files")
def test_names_are_shown_as_text():
    shown = run("tune", "scores.csv", "--truth-file", "truth.csv", "--id", "doc")
    assert "[bold]x[/]" in shown.stdout
    assert "plat\\x1bypus" in shown.stdout
    assert "\x1b" not in shown.output


def test_options_reach_the_library(files):
    truth, scores = files
    options = ["--average", "micro", "--metric", "f2", "--shared", "--min-precision", "0.6"]
    shown = run("tune", "scores.csv", "--truth-file", "truth.csv", "--id=doc", "--json", *options)
    expected = hm.tune(truth, scores, "f2", "micro", per_label=False, min_precision=0.6)
    document = json.loads(shown.stdout)
    assert document["score"] == expected.score
    assert (document["metric"], document["average"], document["shared"]) == ("f2", "micro", True)
    assert [row["threshold"] for row in document["labels"]] == expected.thresholds.tolist()


def test_weights_come_from_the_truth_file(files):
    truth, scores = files
    weights = np.linspace(0.5, 2, len(truth))
    scores.to_csv("scores.csv", index=False)
    truth.assign(w=weights).to_csv("truth.csv", index=False)
    shown = run("tune", "scores.csv", "--truth-file", "truth.csv", "--weight", "w", "--json")
    expected = hm.tune(truth, scores, sample_weight=weights)
    assert json.loads(shown.stdout)["score"] == pytest.approx(expected.score)


def test_the_column_instance_needs_no_option(files):
    truth, scores = files
    for name, frame in (("scores", scores), ("truth", truth[::-1])):
        table = pa.Table.from_pandas(frame.assign(instance=frame.index), preserve_index=False)
        parquet.write_table(table, f"{name}.parquet")
    shown = run("tune", "scores.parquet", "--truth-file", "truth.parquet", "--json")
    assert json.loads(shown.stdout)["score"] == hm.tune(truth, scores).score


def test_assess_and_diagnose(files):
    truth, scores = files
    options = ["scores.csv", "--truth-file", "truth.csv", "--id", "doc", "--resamples", 50]
    expected = hm.assess(truth, scores, n_resamples=50)
    assessed = json.loads(run("assess", *options, "--json").stdout)
    assert assessed["expected_score"] == expected.expected_score
    assert assessed["score_interval"] == list(expected.score_interval)
    diagnosed = json.loads(run("diagnose", *options, "--json").stdout)
    found = hm.diagnose(truth, scores, n_resamples=50)
    assert diagnosed["counts"] == found.counts
    assert [row["findings"] for row in diagnosed["labels"]] == [list(f) for f in found.findings]
    assert "expected on new ones" in run("assess", *options).stdout
    assert "Findings for" in run("diagnose", *options).stdout


@pytest.mark.parametrize("out", ["p.csv", "p.csv.gz", "p.parquet", "p.arrow"])
def test_predictions_are_wide_too_and_keep_the_ids(files, out):
    truth, scores = files
    tuned = hm.tune(truth, scores)
    tuned.save("t.json")
    shown = run("apply", "t.json", "scores.csv", "--id", "doc", "--out", out)
    assert shown.exit_code == 0, shown.output
    written = {
        "p.parquet": lambda: parquet.read_table(out),
        "p.arrow": lambda: pa.ipc.open_file(out).read_all(),
    }.get(out, lambda: csv.read_csv(out, convert_options=_as_text("doc")))()
    assert written.column_names == ["doc", *LABELS]
    assert written["doc"].to_pylist()[:2] == ["000", "001"]
    expected = tuned.predict(scores)
    np.testing.assert_array_equal(written.drop_columns("doc").to_pandas(), expected)
    assert f"{expected.to_numpy().sum():,} predicted in 60 rows" in shown.stdout


def _as_text(name):
    return csv.ConvertOptions(column_types={name: pa.string()})


def test_labels_that_are_numbers_are_found_among_the_names_of_columns(files):
    truth, scores = files
    tuned = hm.tune(truth, scores, labels=[1, 2, 3])
    tuned.save("t.json")
    scores.set_axis(["1", "2", "3"], axis=1).to_csv("scores.csv", index=False)
    assert run("apply", "t.json", "scores.csv", "--out", "p.csv").exit_code == 0
    np.testing.assert_array_equal(pd.read_csv("p.csv"), tuned.predict(scores.to_numpy()))


def test_decide(files):
    _, scores = files
    probabilities = 1 / (1 + np.exp(-scores))
    probabilities.to_csv("probabilities.csv", index=False)
    options = ["--wide", "--average", "samples", "--max-k", 2]
    shown = run("decide", "probabilities.csv", *options, "--out", "d.csv", "--json")
    expected = hm.decide(probabilities, average="samples", max_k=2)
    np.testing.assert_array_equal(pd.read_csv("d.csv"), expected.predictions)
    document = json.loads(shown.stdout)
    assert document["expected_score"] == pytest.approx(expected.expected_score)
    assert document["rows"] == len(probabilities)
    assert document["predicted"] == expected.counts.sum()
    assert (
        "Expected samples f1" in run("decide", "probabilities.csv", *options, "--out", "-").stderr
    )


TWO = ["tune", "scores.csv", "--truth-file", "truth.csv"]
WRONG = {
    "text that is no id": (
        TWO,
        {"scores": "doc,a\nx,1\n"},
        "column 'doc' of scores.csv must hold numbers; it holds text: if 'doc' identifies rows, "
        "pass --id doc",
    ),
    "no such id": ([*TWO, "--id", "row"], {}, "scores.csv has no column 'row'; it has 'sports'"),
    "an id missing": ([*TWO, "--id", "doc"], {"truth": "doc,a\nx,1\n"}, "truth.csv lacks 'y' of"),
    "an id too many": (
        [*TWO, "--id", "doc"],
        {"truth": "doc,a\nx,1\ny,0\nz,0\n"},
        "scores.csv lacks 'z' of column 'doc', which truth.csv has",
    ),
    "an id twice": (
        [*TWO, "--id", "doc"],
        {"truth": "doc,a\nx,1\nx,1\ny,0\n"},
        "column 'doc' of truth.csv must not repeat; 'x' appears more than once",
    ),
    "an empty id": (
        [*TWO, "--id", "doc"],
        {"truth": "doc,a\nx,1\n,0\n"},
        "column 'doc' of truth.csv must not have empty cells",
    ),
    "fewer rows": (
        TWO,
        {"scores": "a\n1\n2\n", "truth": "a\n1\n"},
        "both files must have the same number",
    ),
    "other labels": (TWO, {"scores": "a\n1\n", "truth": "b\n1\n"}, "label names of"),
    "truth that is not 0/1": (TWO, {"scores": "a\n1\n", "truth": "a\n2\n"}, "the truth"),
    "a score that is missing": (
        TWO,
        {"scores": "a,b\n1,2\n,2\n", "truth": "a,b\n1,0\n1,0\n"},
        "column 'a' must not have empty cells; line 3 of scores.csv has one: fill it",
    ),
    "the same column twice": (TWO, {"scores": "a,a\n1,2\n", "truth": "a\n1\n"}, "has 'a' twice"),
    "two files of scores": ([*TWO, "scores.csv"], {}, "--truth-file takes one file of scores"),
    "ids of scores alone": (
        TWO,
        {"scores": "instance,a\n1,2\n", "truth": "a\n1\n"},
        "scores.csv has ids in column 'instance', and truth.csv has none: give them in both files",
    ),
    "ids of the truth alone": (
        TWO,
        {"scores": "a\n2\n", "truth": "instance,a\n1,1\n"},
        "truth.csv has ids in column 'instance', and scores.csv has none: give them in both files",
    ),
    "a label with a word of the library": (
        TWO,
        {"scores": "y_score\n1\n", "truth": "b\n1\n"},
        "missing from the scores: 'b'; missing from the truth: 'y_score'",
    ),
    "no file": (["tune", "x.csv", "--truth-file", "truth.csv"], {}, "no file or folder x.csv"),
    "no label at all": (TWO, {"scores": "instance\n1\n"}, "scores.csv has no column of a label"),
    "another encoding": (TWO, {"scores": "größe,b\n1,2\n".encode("latin-1")}, "It must be UTF-8"),
    "a ragged file": (TWO, {"scores": "a,b\n1\n"}, "scores.csv cannot be read as CSV"),
}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("words", "content", "message"), WRONG.values(), ids=list(WRONG))
def test_errors_are_one_line(tmp_path, words, content, message):
    scores = content.get("scores", "doc,a\nx,0.5\ny,0.25\n" if "truth" in content else None)
    for name, text in (("scores", scores), ("truth", content.get("truth"))):
        if text is not None:
            content = text if isinstance(text, bytes) else text.encode()
            (tmp_path / f"{name}.csv").write_bytes(content)
    shown = run(*words, "--out", "t.json")
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert shown.stderr.startswith("halfmax: ")
    assert shown.stderr.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores.csv", "truth.csv"]


def test_columns_that_no_threshold_knows_are_named(files):
    truth, scores = files
    hm.tune(truth, scores).save("t.json")
    scores.assign(more=1.0).to_csv("scores.csv", index=False)
    shown = run("apply", "t.json", "scores.csv", "--out", "p.csv")
    assert shown.exit_code == 2
    message = "column 'more' of scores.csv has no threshold: --unknown ignore leaves it out, "
    assert message in shown.stderr


def test_columns_that_no_threshold_knows_may_be_left_alone(files):
    truth, scores = files
    tuned = hm.tune(truth, scores)
    tuned.save("t.json")
    scores.insert(1, "more", 1e300)
    scores.to_csv("scores.csv", index=False)
    assert run("apply", "t.json", "scores.csv", "--unknown=never", "--out", "p.csv").exit_code == 0
    written = pd.read_csv("p.csv")
    assert written.columns.tolist() == scores.columns.tolist()
    assert not written.pop("more").any()
    np.testing.assert_array_equal(written, tuned.predict(scores[LABELS]))
    shown = run("apply", "t.json", "scores.csv", "--unknown=maybe", "--out", "q.csv")
    assert "--unknown must be 'error', 'never' or 'ignore'; got 'maybe'" in shown.stderr


def test_columns_that_no_threshold_knows_may_be_left_out(files):
    truth, scores = files
    tuned = hm.tune(truth, scores)
    tuned.save("t.json")
    extra = scores.assign(more=1e300, doc=[f"{place:03}" for place in scores.index], title="a, b")
    extra.to_csv("scores.csv", index=False)
    shown = run("apply", "t.json", "scores.csv", "--unknown", "ignore")
    expected = tuned.predict(scores)
    pd.testing.assert_frame_equal(
        pd.read_csv(io.StringIO(shown.stdout), lineterminator="\n"), expected, check_dtype=False
    )
    shown = run("apply", "t.json", "scores.csv", "--unknown", "ignore", "--id", "doc")
    assert shown.stdout.splitlines()[0].split(",")[0] == "doc"
    assert shown.stdout.splitlines()[1].startswith("000,")


DOCUMENTS = "doc,a,b\n017,0.5,0.25\n018,0.75,0.5\n019,0.1,0.2\n"
NUMBERED = DOCUMENTS.replace("01", "1")
TRUTH = "a,b\n1,0\n0,1\n0,0\n"
PAIR = ["tune", "new.csv", "--truth-file", "truth.csv"]
APPLY = ["apply", "t.json", "new.csv", "--out", "p.csv"]
IF_IDS = "if 'doc' identifies rows, pass --id doc"
IGNORE = "--unknown ignore leaves out columns without a threshold"
SUGGESTED = {
    "apply, text": (
        APPLY,
        DOCUMENTS.replace("01", "x"),
        f"column 'doc' of new.csv has no threshold: {IF_IDS}; {IGNORE}",
    ),
    "apply, numbers": (
        APPLY,
        NUMBERED,
        f"column 'doc' of new.csv has no threshold: {IF_IDS}; {IGNORE}",
    ),
    "apply, text that is never predicted": (
        [*APPLY, "--unknown", "never"],
        DOCUMENTS.replace("01", "x"),
        f"column 'doc' of new.csv must hold numbers; it holds text: {IF_IDS}; {IGNORE}",
    ),
    "apply, two columns": (
        APPLY,
        "age,a,b,my doc\n1,0.5,0.25,x\n1,0.75,0.5,y\n2,0.1,0.2,z\n",
        "columns 'age' and 'my doc' of new.csv have no thresholds: if 'my doc' identifies rows, "
        f"pass --id 'my doc'; {IGNORE}",
    ),
    "apply, ids are known": (
        [*APPLY, "--id", "doc"],
        "doc,a,b,title\nx,0.5,0.25,A\ny,0.75,0.5,B\n",
        "column 'title' of new.csv has no threshold: --unknown ignore leaves it out, --unknown "
        "never predicts 0 for it",
    ),
    "apply, a label is missing": (
        APPLY,
        "a\n0.5\n",
        "the thresholds need columns 'b', which new.csv lacks; it has 'a'",
    ),
    "decide, text": (
        ["decide", "new.csv", "--wide"],
        DOCUMENTS.replace("01", "x"),
        f"column 'doc' of new.csv must hold numbers; it holds text: {IF_IDS}",
    ),
    "decide, numbers": (
        ["decide", "new.csv", "--wide"],
        NUMBERED,
        f"column 'doc' of new.csv must hold probabilities, from 0 to 1; it holds 19: {IF_IDS}",
    ),
    "decide, ids are known": (
        ["decide", "new.csv", "--wide", "--id", "doc"],
        "doc,a,title\nx,0.5,A\n",
        "column 'title' of new.csv must hold numbers; it holds text: remove it",
    ),
    "tune, text": (
        PAIR,
        DOCUMENTS.replace("01", "x"),
        f"column 'doc' of new.csv must hold numbers; it holds text: {IF_IDS}",
    ),
    "tune, numbers in one file": (
        PAIR,
        NUMBERED,
        "new.csv has a column 'doc', and truth.csv has none: if it identifies rows, give it in "
        "both files and pass --id doc; otherwise remove it",
    ),
    "tune, numbers in both files": (
        ["tune", "new.csv", "--truth-file", "new.csv"],
        NUMBERED,
        f"column 'doc' of new.csv must hold 0/1; it holds 19: {IF_IDS}",
    ),
}


@pytest.mark.parametrize(("words", "content", "message"), SUGGESTED.values(), ids=list(SUGGESTED))
def test_a_column_that_is_no_label_may_be_the_id(tmp_path, monkeypatch, words, content, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "new.csv").write_text(content)
    (tmp_path / "truth.csv").write_text(TRUTH)
    hm.tune([[1, 0], [0, 1]], [[0.9, 0.1], [0.2, 0.8]], labels=["a", "b"]).save("t.json")
    shown = run(*words)
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert shown.stderr == f"halfmax: {message}\n"
    if "pass --id" in message and "both" not in message:
        name = "my doc" if "my doc" in message else "doc"
        assert "pass --id" not in run(*words, "--id", name).stderr


def test_names_in_capitals_have_a_format_too(files):
    truth, scores = files
    scores.to_csv("S.TSV", sep="\t", index=False)
    truth.to_csv("T.Tsv", sep="\t", index=False)
    document = json.loads(run("tune", "S.TSV", "--truth-file", "T.Tsv", "--json").stdout)
    assert document["score"] == hm.tune(truth, scores).score


COLUMN_OF_LONG = ["--label=label", "--score=score"]
REFUSED = {
    "tune": [*COLUMN_OF_LONG, "--truth=truth", "--trust-rows", "--binary", "--n-instances=9"],
    "assess": [*COLUMN_OF_LONG, "--truth=truth", "--check-duplicates", "--n-instances=9"],
    "diagnose": [*COLUMN_OF_LONG, "--truth=truth", "--trust-rows", "--binary"],
    "apply": [*COLUMN_OF_LONG, "--prediction=yes", "--only-predicted"],
    "decide": [*COLUMN_OF_LONG, "--prediction=yes", "--only-predicted", "--binary"],
}


@pytest.mark.parametrize(
    ("command", "option"),
    [(command, option) for command, options in REFUSED.items() for option in options],
)
def test_options_of_long_tables_are_refused(files, command, option):
    hm.tune(*files).save("t.json")
    words = {
        "apply": ["t.json", "scores.csv", "--id=doc", "--wide", "--out=p.csv"],
        "decide": ["scores.csv", "--id=doc", "--wide", "--out=d.csv"],
    }.get(command, ["scores.csv", "--truth-file=truth.csv", "--id=doc"])
    shown = run(command, *words, option)
    assert shown.exit_code == 2
    name = option.partition("=")[0]
    message = {"--score": {"decide": "--probability"}.get(command, "--score")}.get(name, name)
    assert message in shown.stderr
    assert "is for long tables, and " in shown.stderr
