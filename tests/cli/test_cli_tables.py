"""Long tables on the command line: a row for each instance and label."""

import io
import json
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from shell import run

import halfmax as hm
from halfmax.cli import bar
from halfmax.cli.documents import DOCUMENTS
from halfmax.tuning import tune as tuning

ROWS, LABELS = 60, ["a", "b", "c"]


def make():
    rng = np.random.default_rng(0)
    truth = rng.random((ROWS, 3)) < [0.4, 0.3, 0.2]
    probabilities = 1 / (1 + np.exp(1 - rng.normal(size=truth.shape) - 2 * truth))
    return pd.DataFrame(
        {
            "instance": np.repeat(np.arange(ROWS), 3),
            "label": np.tile(LABELS, ROWS),
            "score": probabilities.ravel(),
            "truth": truth.ravel(),
        }
    )


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A long table, and the same in files."""
    monkeypatch.chdir(tmp_path)
    found = make()
    found.to_parquet("scores.parquet", index=False)
    found.to_csv("scores.csv", index=False)
    return found


def files():
    return {path.name for path in Path().iterdir()} - {"scores.parquet", "scores.csv"}


@pytest.mark.parametrize("source", ["scores.parquet", "scores.csv", "scores.[cp]*v"])
def test_thresholds_are_those_of_the_library(table, source):
    options = ["--average", "micro", "--metric", "f2"]
    shown = run("tune", source, *options, "--out", "t.json")
    assert shown.exit_code == 0, shown.output
    kept = hm.Thresholds.load("t.json")
    expected = hm.tune_table(table, metric="f2", average="micro")
    np.testing.assert_array_equal(kept.thresholds, expected.thresholds)
    assert kept.labels == tuple(LABELS)
    assert "Tuned 3 labels: micro f2" in shown.stdout
    assert "Wrote t.json" in shown.stdout


def test_columns_may_have_other_names(table):
    names = {"instance": "doc", "label": "tag", "score": "p", "truth": "y"}
    table.rename(columns=names).to_parquet("scores.parquet")
    options = [f"--{ours}={theirs}" for ours, theirs in names.items()]
    document = json.loads(run("tune", "scores.parquet", *options, "--json").stdout)
    assert document["score"] == hm.tune_table(table).score


def test_one_classifier(table):
    table.drop(columns="label").drop_duplicates("instance").to_parquet("scores.parquet")
    shown = run("tune", "scores.parquet", "--binary", "--out", "t.json")
    assert shown.exit_code == 0, shown.output
    assert "Tuned one classifier: f1 = " in shown.stdout
    shown = run("apply", "t.json", "scores.parquet", "--out", "p.csv")
    predicted = pd.read_csv("p.csv")["predicted"]
    assert predicted.sum() == hm.Thresholds.load("t.json").predicted[0]
    assert f"{predicted.sum()} predicted in {ROWS} rows" in shown.stdout


def test_options_reach_the_library(table):
    options = ["--guard", "auto", "--zero-division", "nan"]
    document = json.loads(run("tune", "scores.parquet", *options, "--json").stdout)
    expected = hm.tune_table(table, guard="auto", zero_division=float("nan"))
    assert document["score"] == expected.score
    assert document["zero_division"] == "nan"
    shared = json.loads(run("tune", "scores.parquet", "--shared", "--json").stdout)
    assert len({row["threshold"] for row in shared["labels"]}) == 1
    floors = ["--min-precision", "0.9", "--min-recall", "0.1"]
    document = json.loads(run("tune", "scores.parquet", *floors, "--json").stdout)
    assert min(row["precision"] for row in document["labels"]) >= 0.9


@pytest.mark.parametrize("out", ["p.csv", "1.2.p.csv.gz", "p.parquet", "p.arrow"])
def test_predictions(table, out):
    tuned = hm.tune_table(table)
    tuned.save("t.json")
    shown = run("apply", "t.json", "scores.parquet", "--out", out, "--prediction", "yes")
    assert shown.exit_code == 0, shown.output
    read = {"p.parquet": pd.read_parquet, "p.arrow": pd.read_feather}.get(out, pd.read_csv)
    expected = hm.apply_table(tuned, table)["predicted"]
    np.testing.assert_array_equal(read(out)["yes"], expected)
    assert shown.stdout == f"{expected.sum():,} predicted in 180 rows\nWrote {out}\n"


@pytest.mark.parametrize("out", [[], ["--out", "-"]], ids=["by default", "on request"])
def test_predictions_go_to_standard_output(table, out):
    """Nothing but the data stands there; the summary is on stderr."""
    tuned = hm.tune_table(table)
    tuned.save("t.json")
    shown = run("apply", "t.json", "scores.parquet", *out)
    assert shown.exit_code == 0
    expected = hm.apply_table(tuned, table)
    assert shown.stdout.startswith("instance,label,score,truth,predicted\n0,a,0.5")
    np.testing.assert_array_equal(pd.read_csv(io.StringIO(shown.stdout)), expected)
    assert shown.stderr == f"{expected['predicted'].sum():,} predicted in 180 rows\n"
    quiet = run("decide", "scores.parquet", *out, "--quiet")
    expected = hm.decide_table(table).predictions
    np.testing.assert_array_equal(pd.read_csv(io.StringIO(quiet.stdout)), expected)
    assert quiet.stderr == ""


def test_decisions(table):
    options = ["--average", "samples", "--max-k", 1, "--only-predicted", "--out", "d.csv"]
    document = json.loads(run("decide", "scores.parquet", *options, "--json").stdout)
    expected = hm.decide_table(table, average="samples", max_k=1)
    assert document["expected_score"] == expected.expected_score
    assert document["predicted"] == len(pd.read_csv("d.csv")) <= ROWS
    table.rename(columns={"score": "p"}).to_parquet("scores.parquet")
    shown = run("decide", "scores.parquet", "--probability", "p", "--out", "-")
    assert len(pd.read_csv(io.StringIO(shown.stdout))) == len(table)
    assert "Expected macro f1 = " in shown.stderr


@pytest.mark.parametrize("command", ["assess", "diagnose"])
def test_what_new_data_will_show(table, command):
    options = ["--resamples", 50, "--level", 0.9, "--seed", 1]
    document = json.loads(run(command, "scores.parquet", *options, "--json").stdout)
    library = getattr(hm, f"{command}_table")
    expected = DOCUMENTS[command](library(table, n_resamples=50, level=0.9, seed=1))
    assert {**document, **json.loads(json.dumps(expected))} == document
    assert run(command, "scores.parquet", *options).exit_code == 0


def test_instances_without_rows_are_assessed(table):
    options = ["--metric", "accuracy", "--n-instances", 100, "--resamples", 50]
    document = json.loads(run("assess", "scores.parquet", *options, "--json").stdout)
    expected = hm.assess_table(table, metric="accuracy", n_instances=100, n_resamples=50)
    assert document["expected_score"] == expected.expected_score
    assert document["score"] > hm.tune_table(table, metric="accuracy").score


def test_the_keys_of_documents_stay(table):
    """Scripts rely on them: add keys, but take none away."""
    hm.tune_table(table).save("t.json")
    label = {"label", "threshold", "score", "support"}
    keys = {
        "tune": {"metric", "average", "shared", "zero_division", "score", "never_predicted"},
        "assess": {"metric", "average", "score", "expected_score", "optimism", "score_interval"},
        "diagnose": {"metric", "rows", "probabilities", "counts"},
        "apply": {"rows", "rows_read", "predicted", "out"},
        "decide": {"metric", "average", "expected_score", "rows", "rows_read", "predicted", "out"},
    }
    for command, wanted in keys.items():
        words = ["scores.parquet", *["--out", f"{command}.csv"] * (command in ("apply", "decide"))]
        document = json.loads(
            run(command, *["t.json"] * (command == "apply"), *words, "--json").stdout
        )
        assert document["command"] == command
        assert document["warnings"] == []
        assert wanted <= set(document)
        if command in ("tune", "assess", "diagnose"):
            assert label <= set(document["labels"][0])


def test_a_document_has_words_for_infinity(table):
    table.assign(truth=table["truth"] & (table["label"] != "b")).to_parquet("scores.parquet")
    document = json.loads(run("tune", "scores.parquet", "--json").stdout)
    assert document["labels"][1]["threshold"] == "inf"
    assert document["never_predicted"] == 1
    shown = run("tune", "scores.parquet")
    assert "Never predicted: 1 label, 1 of them without positives" in shown.stdout


def test_warnings_are_lines_in_the_words_of_options(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.zeros(2000, bool)
    truth[rng.integers(2000, size=2)] = True
    flood = pd.DataFrame({"label": "x", "score": rng.random(2000), "truth": truth})
    flood.to_parquet(tmp_path / "scores.parquet")
    shown = run("tune", tmp_path / "scores.parquet", "--json")
    document = json.loads(shown.stdout)
    assert shown.stderr == f"warning: {document['warnings'][0]}\n"
    assert "--guard auto gives thresholds that hold on new data" in shown.stderr
    assert "see halfmax diagnose for details" in shown.stderr


def test_many_labels_are_cut_to_a_screen(tmp_path, monkeypatch):
    names = [f"label {i} {'of a long name' * 20}" for i in range(40)]
    many = pd.DataFrame({"label": np.repeat(names, 4), "score": np.tile([1, 2, 3, 4], 40)})
    many["truth"] = many["score"] > 2
    many.to_parquet(tmp_path / "scores.parquet")
    monkeypatch.setenv("COLUMNS", "40")
    shown = run("tune", tmp_path / "scores.parquet").stdout
    assert "Most frequent, 10 of 40 labels:" in shown
    assert shown.count("…\n") == 10  # the names, and no number
    assert max(map(len, shown.splitlines())) <= 72


@pytest.mark.parametrize("columns", ["40", "60", "80", "200"])
@pytest.mark.parametrize(
    "names", [("a", "b"), ("cat", "dog"), ("anatomy", "botany"), ("x" * 9, "y")]
)
def test_short_names_of_labels_are_shown_at_any_width(tmp_path, monkeypatch, names, columns):
    two = pd.DataFrame({"label": np.repeat(names, 20), "score": np.tile(np.arange(20.0), 2)})
    two["truth"], two["instance"] = two["score"] > 12, np.tile(np.arange(20), 2)
    two.to_parquet(tmp_path / "scores.parquet")
    monkeypatch.setenv("COLUMNS", columns)
    for command in ("tune", "assess", "diagnose"):
        lines = run(command, tmp_path / "scores.parquet").stdout.splitlines()
        (head,) = [place for place, line in enumerate(lines) if line.startswith("label")]
        assert [line.split()[0] for line in lines[head + 1 : head + 3]] == list(names)


def test_the_label_of_one_classifier_is_shown_if_it_has_a_name(tmp_path):
    one = pd.DataFrame({"score": np.arange(20.0), "truth": np.arange(20) > 12})
    one.to_csv(tmp_path / "numbers.csv", index=False)
    one.assign(truth=np.where(one["truth"], "Yes", "No")).to_csv(tmp_path / "w.csv", index=False)
    for command in ("tune", "assess"):
        unnamed = run(command, tmp_path / "numbers.csv").stdout
        assert "threshold" in unnamed
        assert "label" not in unnamed
        assert "\nYes  " in run(command, tmp_path / "w.csv", "--positive", "Yes").stdout


class TestOutputs:
    """Written whole or not at all, and never over what is there."""

    @pytest.mark.parametrize(
        "words",
        [
            ["tune", "scores.parquet", "--out", "kept"],
            ["apply", "t.json", "scores.parquet", "--out", "kept.csv"],
            ["decide", "scores.parquet", "--out", "kept.csv"],
        ],
        ids=lambda words: words[0],
    )
    def test_force(self, table, words):
        hm.tune_table(table).save("t.json")
        kept = Path(words[-1])
        kept.write_text("what was here")
        shown = run(*words)
        assert shown.exit_code == 2
        message = f"halfmax: {kept} already exists; pass --force to overwrite it\n"
        assert shown.stderr == message
        assert kept.read_text() == "what was here"
        assert run(*words, "--force").exit_code == 0
        assert kept.read_text() != "what was here"
        assert files() == {"t.json", kept.name}

    @pytest.mark.usefixtures("table")
    def test_existing_files_are_found_before_the_work(self, monkeypatch):
        Path("t.json").write_text("what was here")
        monkeypatch.setattr(hm, "tune_table", lambda *_, **__: pytest.fail("too late"))
        assert run("tune", "scores.parquet", "--out", "t.json").exit_code == 2

    def test_a_file_that_appears_meanwhile_is_kept(self, table, monkeypatch):
        tuned = hm.tune_table(table)

        def tune(*_, **__):
            Path("t.json").write_text("somebody else's")
            return tuned

        monkeypatch.setattr(hm, "tune_table", tune)
        assert run("tune", "scores.parquet", "--out", "t.json").exit_code == 2
        assert Path("t.json").read_text() == "somebody else's"
        assert files() == {"t.json"}

    @pytest.mark.parametrize(
        ("error", "code", "message"),
        [
            (KeyboardInterrupt(), 130, "halfmax: stopped\n"),
            (ValueError("no\ngood"), 2, "halfmax: no good\n"),
            (OSError(28, "No space left on device"), 1, "halfmax: [Errno 28] No space left on"),
            (MemoryError(), 1, "halfmax: there is not enough memory\n"),
            (IndexError("7"), 1, "halfmax: unexpected error, IndexError: 7 (--debug shows where)"),
        ],
        ids=lambda value: type(value).__name__,
    )
    @pytest.mark.parametrize("out", ["t.json", "-"])
    @pytest.mark.usefixtures("table")
    def test_an_error_leaves_nothing(self, monkeypatch, error, code, message, out):
        def fail(*_, **__):
            raise error

        monkeypatch.setattr(hm, "tune_table", fail)
        shown = run("tune", "scores.parquet", "--out", out)
        assert shown.exit_code == code
        assert shown.stderr.startswith(message)
        assert shown.stderr.count("\n") == 1
        assert shown.stdout == ""
        assert files() == set()

    @pytest.mark.usefixtures("table")
    def test_quiet_says_nothing_beside_a_file(self):
        shown = run("tune", "scores.parquet", "--out", "t.json", "--quiet")
        assert (shown.exit_code, shown.output) == (0, "")
        assert "Tuned 3 labels" in run("tune", "scores.parquet", "--quiet").stdout

    @pytest.mark.usefixtures("table")
    def test_debug_shows_the_traceback(self):
        shown = run("tune", "scores.parquet", "--score", "nope", "--debug")
        assert shown.exit_code == 2
        assert "Traceback" in shown.stderr
        assert shown.stderr.splitlines()[-1].startswith("halfmax: scores.parquet has no column")


def swallow(number):
    """A signal as pyarrow treats it that comes while pyarrow imports pandas."""
    with suppress(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.usefixtures("usual_signals")
class TestSwallowedSignals:
    """What a signal raises may be lost; the command stops all the same and writes nothing."""

    @pytest.mark.parametrize("out", ["out.csv", "-"])
    @pytest.mark.parametrize(
        "words",
        [["tune", "scores.csv"], ["apply", "t.json", "scores.csv"], ["decide", "scores.csv"]],
        ids=lambda words: words[0],
    )
    @pytest.mark.parametrize(
        ("number", "code", "message"),
        [
            (signal.SIGINT, 130, "halfmax: stopped\n"),
            (signal.SIGTERM, 143, ""),
            (signal.SIGHUP, 129, ""),
        ],
    )
    def test_after_the_work(self, table, monkeypatch, words, out, number, code, message):
        hm.tune_table(table).save("t.json")
        Path("out.csv").write_text("what was here")
        function = getattr(hm, f"{words[0]}_table")

        def work(*given, **options):
            made = function(*given, **options)
            swallow(number)
            return made

        monkeypatch.setattr(hm, f"{words[0]}_table", work)
        shown = run(*words, "--out", out, "--force")
        assert (shown.exit_code, shown.stdout, shown.stderr) == (code, "", message)
        assert Path("out.csv").read_text() == "what was here"
        assert files() == {"t.json", "out.csv"}

    @pytest.mark.usefixtures("table")
    def test_while_thresholds_are_written(self, monkeypatch):
        save = hm.Thresholds.save

        def save_and_swallow(tuned, path):
            save(tuned, path)
            swallow(signal.SIGINT)

        monkeypatch.setattr(hm.Thresholds, "save", save_and_swallow)
        assert run("tune", "scores.csv", "--out", "t.json").exit_code == 130
        assert files() == set()

    @pytest.mark.usefixtures("table")
    def test_the_next_progress_stops_the_work(self, monkeypatch):
        message = []

        def work(*_, progress, **__):
            swallow(signal.SIGINT)
            message.append("before")
            progress(1, 2)
            message.append("after")

        monkeypatch.setattr(hm, "tune_table", work)
        assert run("tune", "scores.csv").exit_code == 130
        assert message == ["before"]

    @pytest.mark.usefixtures("table")
    def test_an_error_caused_by_the_signal_is_not_reported(self, monkeypatch):
        def work(*_, **__):
            swallow(signal.SIGINT)
            raise ImportError("pandas is half there")

        monkeypatch.setattr(hm, "tune_table", work)
        shown = run("tune", "scores.csv")
        assert (shown.exit_code, shown.output) == (130, "halfmax: stopped\n")

    def test_a_signal_that_is_ignored_stays_so(self, table, monkeypatch):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        tuned = hm.tune_table(table)

        def work(*_, **__):
            signal.raise_signal(signal.SIGHUP)
            return tuned

        monkeypatch.setattr(hm, "tune_table", work)
        assert run("tune", "scores.csv").exit_code == 0


class TestStandardInput:
    """Kept in a file for the library, whatever format it has."""

    def test_every_format_is_known_by_its_beginning(self, table):
        expected = hm.tune_table(table).score
        arrow, stream = pa.Table.from_pandas(table, preserve_index=False), io.BytesIO()
        with pa.ipc.new_stream(stream, arrow.schema) as writer:
            writer.write_table(arrow)
        table.to_csv("scores.csv.gz", index=False)
        table.to_csv("scores.csv.bz2", index=False)
        table.to_feather("scores.arrow")
        names = ["scores.csv", "scores.csv.gz", "scores.csv.bz2", "scores.arrow", "scores.parquet"]
        for content in [stream.getvalue(), *(Path(name).read_bytes() for name in names)]:
            shown = run("tune", "-", "--json", input=content)
            assert json.loads(shown.stdout)["score"] == expected

    def test_thresholds_may_be_piped(self, table):
        tuned = run("tune", "scores.parquet", "--out", "-")
        shown = run("apply", "-", "scores.parquet", "--out", "-", input=tuned.stdout)
        expected = hm.apply_table(hm.tune_table(table), table)["predicted"]
        found = pd.read_csv(io.StringIO(shown.stdout))
        np.testing.assert_array_equal(found["predicted"], expected)

    @pytest.mark.parametrize(
        ("words", "content", "message"),
        [
            (["tune", "-"], "", "standard input is empty"),
            (["tune", "-", "-"], "x", "- can stand for one file only"),
            (["apply", "-", "-", "--out", "p.csv"], "x", "- can stand for one file only"),
            (["tune", "-"], "label,score\na,1\n", "standard input has no column 'truth'"),
            (
                ["tune", "-"],
                "label,score,truth\na,x,1\n",
                "column 'score' of standard input must hold numbers; line 2 has 'x'",
            ),
            (["apply", "-", "scores.csv", "--out", "p.csv"], "{}", "standard input is not a half"),
        ],
    )
    @pytest.mark.usefixtures("table")
    def test_errors_name_standard_input(self, words, content, message):
        shown = run(*words, input=content)
        assert shown.exit_code == 2
        assert shown.stderr.startswith(f"halfmax: {message}")
        assert files() == set()


WRONG = {
    "--metric must be 'f1'": ["tune", "scores.parquet", "--metric", "f"],
    "--cost is for costs; got 'g'": ["tune", "scores.parquet", "--metric", "g"],
    "--average must be 'macro'": ["assess", "scores.parquet", "--average", "mean"],
    "--guard must be 'auto'": ["tune", "scores.parquet", "--guard", "x"],
    "--min-precision must be a number from 0 to 1": ["tune", "scores.csv", "--min-precision", 2],
    "--resamples must be a whole number": ["assess", "scores.parquet", "--resamples", 0],
    "--level must be a number": ["diagnose", "scores.parquet", "--level", 95],
    "--seed must be a whole number": ["assess", "scores.parquet", "--seed", -1],
    "--min-k must be a whole number": ["decide", "scores.csv", "--min-k", -1, "--out", "d.csv"],
    "--instance is for wide tables": ["apply", "t.json", "scores.csv", "--out=p.csv", "--id=x"],
    "--unknown must be": ["apply", "t.json", "scores.csv", "--out", "p.csv", "--unknown", "x"],
    "there is no file or folder nope.csv": ["tune", "nope.csv"],
    "no.json: No such file or directory": ["apply", "no.json", "scores.csv", "--out", "p.csv"],
    "it has 'instance', 'label', 'score' and 'truth': name the column with --label, or use "
    "--binary": ["tune", "scores.parquet", "--label", "tag"],
    "--json and the output both go to standard output: name a file with --out": [
        "tune",
        "scores.parquet",
        "--json",
        "--out",
        "-",
    ],
    "--format is for standard output": [
        "decide",
        "scores.csv",
        "--out",
        "d.csv",
        "--format",
        "csv",
    ],
    "--format must be csv or arrow": ["decide", "scores.csv", "--out", "-", "--format", "xml"],
    "there is no folder": ["tune", "scores.parquet", "--out", "no/t.json"],
    "it is a folder; choose another name": ["tune", "scores.csv", "--out", "."],
    "a wide table must be one file": ["decide", "a.csv", "b.csv", "--wide", "--out", "d.csv"],
    "Missing argument 'FILES'": ["apply", "t.json"],
    "No such option: --avrage": ["tune", "scores.csv", "--avrage", "macro"],
    "No such command 'tunes'. Did you mean 'tune'?": ["tunes"],
}


@pytest.mark.parametrize(("message", "words"), WRONG.items(), ids=list(WRONG))
def test_errors_are_one_line(table, message, words):
    hm.tune_table(table).save("t.json")
    shown = run(*words)
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert shown.stderr.startswith("halfmax: ")
    assert shown.stderr.count("\n") == 1
    assert files() == {"t.json"}


@pytest.mark.parametrize(
    ("done", "total", "elapsed", "message"),
    [
        (0, 0, 5.0, "0:05"),
        (12_345_678, 0, 5.0, "12.35M, 2.469M/s, 0:05"),
        (45_000_000, 1e8, 3.6, "45M of 100M, 12.5M/s, 0:04 left"),
        (3, 37, 652.0, "3 of 37, 0.0046/s, 2:03:09 left"),
        (2e6, 1e7, 0.0002, "2M of 10M"),  # of any number a second
        (2e6, None, 0.9, "2M, 0:01"),
        (1.2e7, 1.2e7, 14.2, "12M of 12M, 0:14"),  # nothing is left, and it goes on
    ],
)
def test_what_a_bar_counts(done, total, elapsed, message):
    assert bar.counts(SimpleNamespace(completed=done, total=total, elapsed=elapsed)) == message


class Seen(bar.Bar):
    """A bar that keeps what it is message to draw."""

    stretches: ClassVar[list]

    def begin(self, what, total=None):
        super().begin(what, total)
        self.stretches.append([what, total, 0])

    def __call__(self, done, total):
        super().__call__(done, total)
        self.stretches[-1][1:] = total, done


@pytest.fixture
def stretches(monkeypatch):
    monkeypatch.setattr(sys.modules["halfmax.cli.run"], "Bar", Seen)
    monkeypatch.setattr(Seen, "stretches", [], raising=False)
    return Seen.stretches


@pytest.mark.parametrize("source", ["scores.parquet", "scores.csv"])
@pytest.mark.usefixtures("table")
def test_a_bar_counts_each_row_once_in_a_pass(stretches, source):
    size = 3 * ROWS
    known = size if source == "scores.parquet" else 0
    assert run("tune", source, "--report", "r.html", "--quick-report").exit_code == 0
    of_rows = [stretch for stretch in stretches if "rows read" in stretch[0] and stretch[2]]
    passes = ["rows read, pass 1 of 2", "rows read, pass 2 of 2", "rows read"]  # for the report
    if source == "scores.csv":  # whose ids are text, and may come in any order
        passes.insert(1, "rows read, for duplicates")
    assert of_rows == [[name, known, size] for name in passes]


@pytest.mark.usefixtures("table")
def test_a_bar_counts_nothing_while_a_guard_works(stretches, monkeypatch):
    def tune_checked(*given):
        assert stretches[-2:] == [["rows read", 3 * ROWS, 3 * ROWS], ["tune: computing", None, 0]]
        return tune(*given)

    tune = tuning.tune_checked
    monkeypatch.setattr(tuning, "tune_checked", tune_checked)
    assert run("tune", "scores.parquet", "--guard", "auto", "--quiet").exit_code == 0


def test_a_callback_gets_all_passes(table):
    message = []
    hm.tune_table(table, progress=lambda *now: message.append(now))
    assert message[-1] == (6 * ROWS, 6 * ROWS)


@pytest.mark.parametrize(
    "words", [["apply", "t.json", "scores.csv"], ["decide", "scores.parquet"]], ids=" ".join
)
def test_rows_that_were_read_are_counted_where_only_some_are_written(table, words):
    hm.tune_table(table).save("t.json")
    shown = run(*words, "--out", "all.csv", "--json")
    predicted = int(pd.read_csv("all.csv")["predicted"].sum())
    document = json.loads(shown.stdout)
    rows = 3 * ROWS
    assert (document["rows"], document["rows_read"], document["predicted"]) == (
        rows,
        rows,
        predicted,
    )
    shown = run(*words, "--out", "some.csv", "--only-predicted", "--json")
    document = json.loads(shown.stdout)
    assert (document["rows"], document["rows_read"], document["predicted"]) == (
        predicted,
        rows,
        predicted,
    )
    shown = run(*words, "--out", "some.parquet", "--only-predicted")
    assert f"{predicted} predicted in {rows} rows; {predicted} written\n" in shown.stdout


def test_progress_of_rows_that_are_not_written(table):
    message = []
    t = hm.tune_table(table)
    how = {"only_predicted": True, "progress": lambda *now: message.append(now)}
    written = hm.apply_table(t, "scores.csv", "some.csv", **how)
    assert (message[-1][0], written.rows_read) == (3 * ROWS, 3 * ROWS)
    assert written.rows == written.predicted == hm.apply_table(t, "scores.csv", **how).num_rows


def test_thresholds_set_by_hand_are_applied_and_reported(table):
    numbers = hm.Thresholds.from_dict(dict.fromkeys(LABELS, 0.5))
    numbers.save("own.json")
    assert run("apply", "own.json", "scores.csv", "--out", "out.csv").exit_code == 0
    np.testing.assert_array_equal(pd.read_csv("out.csv")["predicted"], table["score"] >= 0.5)
    done = run("report", "own.json", "--data", "scores.csv", "--out", "page.html", "--json")
    truth, scores = (table[name].to_numpy().reshape(ROWS, 3) for name in ("truth", "score"))
    reached = hm.score(truth, numbers.predict(scores))
    assert json.loads(done.stdout)["score"] == pytest.approx(reached)
