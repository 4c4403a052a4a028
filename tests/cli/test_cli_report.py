"""Reports on the command line: beside tuned thresholds, and later on saved ones."""

import importlib.util
import inspect
import json
import re
import signal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import run
from surroundings import locked

import halfmax as hm
from halfmax._core import extras
from halfmax._core import files as _files
from halfmax._core.files import write_whole
from halfmax.cli.commands import report as report_page

ROWS, LABELS = 40, ["anatomy", "botany", "zoology"]
KNOWN = {"scores.parquet", "wide.csv", "truth.csv", "one.parquet", "t.json", "one.json"}
TUNE = ["tune", "scores.parquet"]
REPORT = ["report", "t.json", "--data", "scores.parquet"]
WIDE = ["--truth-file", "truth.csv"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A long table; the same wide, one label of it, and thresholds of each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.random((ROWS, 3)) < [0.5, 0.4, 0.3]
    scores = 1 / (1 + np.exp(1 - rng.normal(size=truth.shape) - 2 * truth))
    found = pd.DataFrame(
        {
            "instance": np.repeat(np.arange(ROWS), 3),
            "label": np.tile(LABELS, ROWS),
            "score": scores.ravel(),
            "truth": truth.ravel(),
        }
    )
    found.to_parquet("scores.parquet", index=False)
    pd.DataFrame(scores, columns=LABELS).to_csv("wide.csv", index=False)
    pd.DataFrame(truth.astype(int), columns=LABELS).to_csv("truth.csv", index=False)
    found[found["label"] == "botany"].to_parquet("one.parquet", index=False)
    hm.tune_table(found).save("t.json")
    hm.tune(truth[:, 1], scores[:, 1]).save("one.json")
    return found


def files():
    return {path.name for path in Path().iterdir()} - KNOWN


def page(name="report.html"):
    return Path(name).read_text("utf-8")


@pytest.fixture
def asked(monkeypatch):
    """What the library is asked for, in place of the page itself."""
    calls = []

    def report(thresholds, path, y_true=None, y_score=None, **wanted):
        calls.append((thresholds, y_true, y_score, wanted))
        write_whole(path, f"a page of {len(thresholds.thresholds)} labels")
        return Path(path)

    monkeypatch.setattr(hm.Thresholds, "report", report)
    return calls


class TestBesideThresholds:
    """``halfmax tune --report``."""

    @pytest.mark.usefixtures("table")
    def test_both_files_are_written(self):
        words = ["--out", "new.json", "--report", "page.html", "--title", "Birds & <b>bees"]
        shown = run(*TUNE, *words)
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.endswith("Wrote new.json\nWrote page.html\n")
        assert files() == {"new.json", "page.html"}
        assert all(name in page("page.html") for name in LABELS)
        assert "<title>Birds &amp; &lt;b&gt;bees</title>" in page("page.html")
        assert Path("new.json").read_bytes() == Path("t.json").read_bytes()

    @pytest.mark.usefixtures("table")
    def test_a_page_alone_from_standard_input(self):
        data = Path("scores.parquet").read_bytes()
        shown = run("tune", "-", "--report", "page.htm", "--quick-report", "--json", input=data)
        assert shown.exit_code == 0, shown.output
        document = json.loads(shown.stdout)
        assert (document["out"], document["report"]) == (None, "page.htm")
        assert all(name in page("page.htm") for name in LABELS)
        assert files() == {"page.htm"}

    @pytest.mark.usefixtures("table")
    @pytest.mark.parametrize(
        "words", [["wide.csv", *WIDE], ["one.parquet", "--binary"], ["-", *WIDE]], ids=" ".join
    )
    def test_wide_files_and_one_classifier(self, words):
        more = {"input": Path("wide.csv").read_bytes()} if "-" in words else {}
        shown = run("tune", *words, "--report", "page.html", "--quick-report", **more)
        assert shown.exit_code == 0, shown.output
        assert shown.stdout.endswith("\nWrote page.html\n")
        assert "--binary" in words or all(name in page("page.html") for name in LABELS)

    @pytest.mark.usefixtures("table")
    def test_arguments_passed_to_the_library(self, asked):
        assert run(*TUNE, "--report", "page.html").exit_code == 0
        assert run(*TUNE, "--report", "q.html", "--quick-report", "--title", "T").exit_code == 0
        (_, truth, _, whole), (*_, quick) = asked
        assert truth is None
        assert (whole["title"], quick["title"]) == (None, "T")
        assert "assessment" not in whole
        assert quick["assessment"] is quick["diagnosis"] is False
        assert callable(whole["progress"])

    @pytest.mark.usefixtures("table", "asked")
    def test_no_page_is_null_in_the_document(self):
        assert json.loads(run(*TUNE, "--json").stdout)["report"] is None

    @pytest.mark.usefixtures("table", "asked")
    def test_thresholds_may_be_piped_beside_a_page(self):
        shown = run(*TUNE, "--out", "-", "--report", "page.html")
        assert shown.stdout == page("t.json")
        assert shown.stderr.endswith("Wrote page.html\n")

    @pytest.mark.usefixtures("table", "asked")
    def test_quiet_says_nothing_beside_a_page(self):
        shown = run(*TUNE, "--report", "page.html", "--quiet")
        assert (shown.exit_code, shown.output) == (0, "")

    @pytest.mark.usefixtures("table", "asked")
    def test_force_overwrites_both(self):
        words = [*TUNE, "--out", "new.json", "--report", "page.html"]
        for name in ("new.json", "page.html"):
            Path(name).write_text("what was here")
        assert run(*words).exit_code == 2
        assert page("new.json") == page("page.html") == "what was here"
        assert run(*words, "--force").exit_code == 0
        assert page("page.html") == "a page of 3 labels"
        assert page("new.json") == page("t.json")

    @pytest.mark.usefixtures("table", "asked")
    def test_nothing_is_written_if_tuning_fails(self, monkeypatch):
        def fail(*_, **__):
            raise ValueError("no good")

        monkeypatch.setattr(hm, "tune_table", fail)
        shown = run(*TUNE, "--out", "new.json", "--report", "page.html")
        assert (shown.exit_code, shown.output) == (2, "halfmax: no good\n")
        assert files() == set()

    @pytest.mark.usefixtures("table")
    @pytest.mark.parametrize(
        ("error", "code", "message"),
        [(MemoryError(), 1, "there is not enough memory"), (KeyboardInterrupt(), 130, "stopped")],
        ids=["memory", "interrupt"],
    )
    def test_thresholds_stay_if_only_the_page_fails(self, monkeypatch, error, code, message):
        def fail(_, path, **__):
            write_whole(path, "half of a pa")
            raise error

        monkeypatch.setattr(hm.Thresholds, "report", fail)
        shown = run(*TUNE, "--out", "new.json", "--report", "page.html")
        assert shown.exit_code == code
        assert shown.stderr == (
            f"halfmax: {message}\n"
            "halfmax: the thresholds are in new.json; halfmax report writes a page about them\n"
        )
        assert files() == {"new.json"}
        assert page("new.json") == page("t.json")

    @pytest.mark.usefixtures("table", "usual_signals")
    def test_a_signal_that_was_swallowed_leaves_no_page(self, monkeypatch):
        def report(_, path, **__):
            write_whole(path, "a page")
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                return

        monkeypatch.setattr(hm.Thresholds, "report", report)
        shown = run(*TUNE, "--report", "page.html")
        assert (shown.exit_code, shown.output) == (130, "halfmax: stopped\n")
        assert files() == set()

    def test_warnings_are_printed_once(self, table, monkeypatch):
        rare = table["truth"] & (table["instance"] == table["instance"][table["truth"].idxmax()])
        rng = np.random.default_rng(0)
        many = pd.DataFrame({"instance": np.arange(2000), "label": "x", "score": rng.random(2000)})
        many["truth"] = many["instance"] < rare.sum()
        many.to_parquet("scores.parquet")

        def report(_, path, **__):
            write_whole(path, "a page")
            hm.tune_table(many)  # warns as tuning did

        monkeypatch.setattr(hm.Thresholds, "report", report)
        shown = run(*TUNE, "--report", "page.html", "--json")
        assert len(json.loads(shown.stdout)["warnings"]) == 1
        assert shown.stderr.count("warning: ") == 1

    @pytest.mark.usefixtures("asked")
    def test_rows_without_ids_are_refused_before_the_work(self, table, monkeypatch):
        table.drop(columns="instance").to_parquet("scores.parquet")
        monkeypatch.setattr(hm, "tune_table", lambda *_, **__: pytest.fail("too late"))
        shown = run(*TUNE, "--out", "new.json", "--report", "page.html")
        assert shown.exit_code == 2
        assert "this needs the column of instances" in shown.stderr
        assert "name it with --instance; the table has" in shown.stderr
        assert files() == set()


class TestOfSavedThresholds:
    """``halfmax report``."""

    @pytest.mark.usefixtures("table")
    def test_the_page_is_that_of_tune(self):
        assert run(*TUNE, "--report", "page.html", "--quick-report").exit_code == 0
        shown = run(*REPORT, "--quick-report")
        assert shown.exit_code == 0, shown.output
        reached = f"macro f1 = {hm.Thresholds.load('t.json').score:.4f}"
        message = f"Report on 3 labels in {ROWS} rows: {reached}\nWrote report.html\n"
        assert shown.stdout == message
        assert page() == page("page.html")

    @pytest.mark.usefixtures("table")
    def test_wide_files(self):
        words = ["--data", "wide.csv", *WIDE, "--out", "page.html", "--quick-report", "--json"]
        shown = run("report", "t.json", *words)
        assert shown.exit_code == 0, shown.output
        document = json.loads(shown.stdout)
        assert document["command"] == "report"
        assert (document["out"], document["rows"], document["metric"]) == ("page.html", ROWS, "f1")
        assert document["score"] == hm.Thresholds.load("t.json").score
        assert document["warnings"] == []
        assert all(name in page("page.html") for name in LABELS)

    @pytest.mark.usefixtures("table")
    @pytest.mark.parametrize("words", [[], ["--binary"]])
    def test_one_classifier_needs_no_labels(self, words):
        shown = run("report", "one.json", "--data", "one.parquet", "--quick-report", *words)
        assert shown.exit_code == 0, shown.output
        reached = f"f1 = {hm.Thresholds.load('one.json').score:.4f}"
        assert shown.stdout.startswith(f"Report on one classifier in {ROWS} rows: {reached}\n")

    @pytest.mark.usefixtures("table")
    def test_both_may_be_piped_but_one_at_a_time(self, asked):
        for words, name in (
            (["-", "--data", "scores.parquet"], "t.json"),
            (["t.json", "--data", "-"], "scores.parquet"),
        ):
            shown = run("report", *words, "--force", input=Path(name).read_bytes())
            assert shown.exit_code == 0, shown.output
        (_, first, *_), (_, second, *_) = asked
        assert (first != second).nnz == 0

    def test_arguments_passed_to_the_library(self, table, asked):
        names = {"instance": "doc", "label": "tag", "score": "p", "truth": "y"}
        half = table["instance"] < ROWS / 2
        weighted = table.assign(w=table["instance"] + 1.0).rename(columns=names)
        weighted[half].to_parquet("first.parquet")
        weighted[~half].to_parquet("second.parquet")
        words = ["--data", "first.parquet", "--data", "second.parquet", "--weight", "w"]
        words += [f"--{ours}={theirs}" for ours, theirs in names.items()]
        words += ["--resamples", 7, "--seed", 3, "--title", "T", "--quick-report"]
        assert run("report", "t.json", *words).exit_code == 0
        [(thresholds, truth, scores, wanted)] = asked
        assert thresholds.labels == wanted["labels"] == tuple(LABELS)
        truths = table.pivot(index="instance", columns="label", values="truth")
        np.testing.assert_array_equal(truth.toarray(), truths)
        np.testing.assert_array_equal(scores.toarray().ravel(), table["score"])
        np.testing.assert_array_equal(wanted["sample_weight"], np.arange(1.0, ROWS + 1))
        assert (wanted["n_resamples"], wanted["seed"], wanted["title"]) == (7, 3, "T")
        assert wanted["assessment"] is wanted["diagnosis"] is False

    def test_labels_without_rows_are_reported(self, table, asked):
        table[table["label"] != "botany"].to_csv("new.csv", index=False)
        shown = run("report", "t.json", "--data", "new.csv")
        assert shown.exit_code == 0, shown.output
        message = "the data have no rows for 'botany': counted as never true and never predicted"
        assert shown.stderr == f"warning: {message}\n"
        [(_, truth, scores, wanted)] = asked
        assert wanted["labels"] == tuple(LABELS)
        assert truth.shape == scores.shape == (ROWS, 3)
        assert (truth[:, [1]].nnz, scores[:, [1]].nnz, scores.nnz) == (0, 0, 2 * ROWS)
        assert scores.has_sorted_indices

    def test_labels_that_are_numbers(self, table, asked):
        numbers = table.assign(label=table["label"].map(dict(zip(LABELS, [10, 9, 8], strict=True))))
        hm.tune_table(numbers).save("t.json")
        numbers.to_csv("scores.csv", index=False)
        for name in LABELS:
            place = str({"anatomy": 10, "botany": 9, "zoology": 8}[name])
            for file in ("wide.csv", "truth.csv"):
                Path(file).write_text(page(file).replace(name, place))
        for words in (["scores.csv"], ["wide.csv", *WIDE]):
            shown = run("report", "t.json", "--data", *words, "--force")
            assert shown.exit_code == 0, shown.output
        assert asked[0][3]["labels"] == (8, 9, 10)
        assert asked[1][0].labels == ("8", "9", "10")  # columns have names
        np.testing.assert_array_equal(asked[0][1].toarray()[:, 1], asked[1][1]["9"])

    def test_words_that_look_like_numbers_in_csv(self, table, asked):
        words = table.assign(label=table["label"].map(dict(zip(LABELS, "12x", strict=True))))
        hm.tune_table(words).save("t.json")
        words[words["label"] != "x"].to_csv("scores.csv", index=False)
        shown = run("report", "t.json", "--data", "scores.csv")
        assert shown.exit_code == 0, shown.output
        assert asked[0][3]["labels"] == ("1", "2", "x")

    @pytest.mark.usefixtures("table", "asked")
    def test_existing_files_are_kept(self):
        Path("report.html").write_text("what was here")
        shown = run(*REPORT)
        assert shown.exit_code == 2
        message = "report.html already exists; pass --force to overwrite it"
        assert shown.stderr == f"halfmax: {message}\n"
        assert page() == "what was here"
        assert run(*REPORT, "--force").exit_code == 0
        assert page() == "a page of 3 labels"

    def test_as_many_resamples_as_the_library_draws(self):
        here = inspect.signature(report_page.report).parameters
        there = inspect.signature(hm.Thresholds.report).parameters
        assert here["resamples"].default == there["n_resamples"].default
        assert here["seed"].default == there["seed"].default


CLASSES = {"yes": ["--positive", "yes"], "no": ["--positive", "no"]}


def shown_score(name="report.html"):
    """Return the first number on a page."""
    return float(re.search(r'id="score-here" data-value="([^"]*)"', page(name))[1])


@pytest.mark.usefixtures("table")
class TestOfOtherGoals:
    """Classes by name, costs, weighted means and restrictions, beside tuning and later."""

    @pytest.fixture
    def named(self, table):
        """Tables whose truth is yes or no: of one classifier, of many labels, and wide."""
        words = table.assign(truth=np.where(table["truth"], "yes", "no"))
        words.to_csv("named.csv", index=False)
        words[words["label"] == "botany"].drop(columns="label").to_csv("two.csv", index=False)
        wide = words.pivot(index="instance", columns="label", values="truth")
        wide.to_csv("named-truth.csv", index=False)
        return words

    @pytest.mark.parametrize("positive", CLASSES)
    @pytest.mark.parametrize(
        "data",
        [["two.csv"], ["named.csv"], ["wide.csv", "--truth-file", "named-truth.csv"]],
        ids=["one", "many", "wide"],
    )
    def test_classes_have_names(self, named, data, positive):
        words = CLASSES[positive]
        shown = run("tune", *data, *words, "--out", "new.json", "--report", "page.html")
        assert shown.exit_code == 0, shown.output
        shown = run("report", "new.json", "--data", *data, *words)
        assert shown.exit_code == 0, shown.output
        assert page() == page("page.html")
        part = named[named["label"] == "botany"] if data == ["two.csv"] else named
        assert hm.Thresholds.load("new.json").support.sum() == (part["truth"] == positive).sum()
        said = f"<dt>Positive class</dt><dd>{positive}</dd>"
        assert (said in page()) == (data == ["two.csv"])

    @pytest.mark.usefixtures("named")
    @pytest.mark.parametrize(
        ("words", "message"),
        [
            ([], "holds the classes 'no' and 'yes': say which one is positive, --positive yes"),
            (
                ["--positive", "no"],
                "--positive must be the class that the threshold is for, 'yes'; got 'no'",
            ),
        ],
    )
    def test_the_positive_class_is_asked_for(self, words, message):
        assert run("tune", "two.csv", "--positive", "yes", "--out", "new.json").exit_code == 0
        shown = run("report", "new.json", "--data", "two.csv", *words)
        assert shown.exit_code == 2
        assert message in shown.stderr
        assert "report.html" not in files()

    @pytest.mark.usefixtures("named")
    def test_rows_with_missing_values_can_be_dropped(self):
        assert run("tune", "two.csv", "--positive", "yes", "--out", "new.json").exit_code == 0
        lines = page("two.csv").splitlines()
        instance, _, truth = lines[3].split(",")
        Path("two.csv").write_text("\n".join([*lines[:3], f"{instance},,{truth}", *lines[4:]]))
        shown = run("report", "new.json", "--data", "two.csv", "--positive", "yes")
        assert shown.exit_code == 2
        assert "column 'score' must not have empty cells; line 4 of two.csv has one" in shown.stderr
        assert "awk" in shown.stderr

    @pytest.mark.parametrize(
        ("data", "words"),
        [
            (["one.parquet", "--binary"], ["--cost", "fp=1,fn=10"]),
            (["scores.parquet"], ["--cost", "fp=1,fn=10,tp=-2"]),
            (["wide.csv", *WIDE], ["--cost", "fp=1,fn=10", "--average", "samples"]),
            (["scores.parquet"], ["--metric", "mcc"]),
            (["scores.parquet"], ["--metric", "balanced_accuracy", "--average", "weighted"]),
            (["scores.parquet"], ["--average", "weighted", "--shared"]),
            (["scores.parquet"], ["--max-predicted", 12, "--min-specificity", 0.5]),
            (["one.parquet", "--binary"], ["--metric", "youden", "--max-predicted", 0.4]),
        ],
        ids=str,
    )
    def test_every_goal_is_reported(self, data, words):
        shown = run("tune", *data, *words, "--out", "new.json", "--report", "page.html")
        assert shown.exit_code == 0, shown.output
        shown = run("report", "new.json", "--data", *data, "--quick-report")
        assert shown.exit_code == 0, shown.output
        tuned = hm.Thresholds.load("new.json")
        sign = -1 if "--cost" in words else 1
        for name in ("page.html", "report.html"):
            assert shown_score(name) == pytest.approx(sign * tuned.score)
        assert f" = {sign * tuned.score:.4f}\n" in shown.stdout

    def test_thresholds_that_a_person_wrote(self):
        numbers = dict(zip(LABELS, [0.3, 0.4, 0.5], strict=True))
        hm.Thresholds.from_dict(numbers, hm.cost(fp=1, fn=10)).save("mine.json")
        shown = run("report", "mine.json", "--data", "scores.parquet", "--quick-report")
        assert shown.exit_code == 0, shown.output
        assert f"mean macro cost(fp=1, fn=10) = {shown_score():.4f}\n" in shown.stdout

    def test_costs_of_each_row_are_refused(self):
        text = page("one.json").replace('"f1"', '"cost(fp=1, fn=per row)"')
        Path("mine.json").write_text(text)
        shown = run("report", "mine.json", "--data", "one.parquet")
        assert shown.exit_code == 2
        assert "these thresholds minimise costs of each row, which a page of counts" in shown.stderr
        assert "in Python, Thresholds.report takes one cost for each outcome" in shown.stderr
        assert files() == {"mine.json"}


NEW = ["--out", "new.json"]
WRONG = {
    "there is no folder": [*TUNE, *NEW, "--report", "no/page.html"],
    "--out must end in .html or .htm": [*REPORT, "--out", "page.txt"],
    "--report must end in .html or .htm, as pages do; got 'page.txt'": [
        *[*TUNE, *NEW, "--report", "page.txt"],
    ],
    "--report must name a file: a page is not written to": [*TUNE, *NEW, "--report", "-"],
    "--out must name a file: a page is not written to": [*REPORT, "--out", "-"],
    "--out and --report must be two files; got page.html for both": [
        *[*TUNE, "--out", "page.html", "--report", "./page.html"],
    ],
    "--title needs --report, which names the page": [*TUNE, *NEW, "--title", "x"],
    "--quick-report needs --report, which names the page": [*TUNE, *NEW, "--quick-report"],
    "--title must not be empty": [*TUNE, *NEW, "--report", "page.html", "--title", " "],
    "it is a folder; choose another name": [*REPORT, "--out", "folder.html"],
    "Missing option '--data'": ["report", "t.json"],
    "Missing argument 'THRESHOLDS'": ["report", "--data", "scores.parquet"],
    "no.json: No such file or directory": ["report", "no.json", "--data", "scores.parquet"],
    "there is no file or folder no.csv": ["report", "t.json", "--data", "no.csv"],
    "there is no file or folder no-truth.csv": [
        *["report", "t.json", "--data", "wide.csv", "--truth-file", "no-truth.csv"],
    ],
    "truth.csv is not a halfmax thresholds file": [
        *["report", "truth.csv", "--data", "scores.parquet"],
    ],
    "the thresholds have no label 'yeti'; they have 'anatomy', 'botany' and 'zoology'": [
        *["report", "t.json", "--data", "strange.csv"],
    ],
    "missing from the thresholds: 'yeti'": [
        *["report", "t.json", "--data", "strange-wide.csv", "--truth-file", "strange-wide.csv"],
    ],
    "the table must have at least one row; it has none": [
        "report",
        "t.json",
        "--data",
        "empty.parquet",
    ],
    "has no column 'p'": [*REPORT, "--score", "p"],
    "--resamples must be a whole number, 1 or more; got 0": [*REPORT, "--resamples", 0],
    "--seed must be a whole number": [*REPORT, "--seed", -1],
    "--binary is for thresholds of one classifier; these are of 3 labels": [*REPORT, "--binary"],
    "these thresholds are of one classifier: give a table": [
        *["report", "one.json", "--data", "wide.csv", *WIDE],
    ],
    "instance 0": ["report", "one.json", "--data", "scores.parquet"],
    "--label is for long tables": [
        *["report", "t.json", "--data", "wide.csv", *WIDE, "--label", "tag"],
    ],
    "--truth-file takes one file of scores; got 2": [
        *["report", "t.json", "--data", "wide.csv", "--data", "wide.csv", *WIDE],
    ],
    "these thresholds are for 'mine', a metric of your own": [
        *["report", "mine.json", "--data", "scores.parquet"],
    ],
    "- can stand for one file only": ["report", "-", "--data", "-"],
}


@pytest.mark.parametrize(("message", "words"), WRONG.items(), ids=list(WRONG))
def test_errors_are_one_line(table, message, words):
    Path("folder.html").mkdir()
    Path("mine.json").write_text(page("t.json").replace('"f1"', '"mine"'))
    table.iloc[:0].to_parquet("empty.parquet")
    table.replace({"label": "botany"}, "yeti").to_csv("strange.csv", index=False)
    Path("strange-wide.csv").write_text("anatomy,yeti,zoology\n1,0,1\n")
    before = files()
    shown = run(*words)
    assert shown.exit_code == 2
    assert message in shown.stderr
    assert shown.stderr.startswith("halfmax: ")
    assert shown.stderr.count("\n") == 1
    assert shown.stdout == ""
    assert files() == before


@pytest.mark.usefixtures("table", "no_work")
@pytest.mark.parametrize("words", [[*TUNE, *NEW, "--report", "page.html"], REPORT], ids=" ".join)
class TestBeforeTheWork:
    """What keeps a page from being written is known before anything is counted."""

    @pytest.fixture
    def no_work(self, monkeypatch):
        monkeypatch.setattr(hm, "tune_table", lambda *_, **__: pytest.fail("too late"))
        monkeypatch.setattr(hm.Thresholds, "load", lambda *_: pytest.fail("too late"))

    def test_missing_packages_are_named(self, words, monkeypatch):
        def find_spec(name):
            return None if name == "itables" else importlib.util.find_spec(name)

        monkeypatch.setattr(extras, "find_spec", find_spec)
        shown = run(*words)
        assert shown.exit_code == 2
        message = "this needs 'itables', not installed: pip install 'halfmax[report]'"
        assert shown.stderr == f"halfmax: {message}\n"
        assert files() == set()

    def test_a_folder_that_cannot_be_written(self, words):
        with locked(Path()):
            shown = run(*words)
        assert shown.exit_code == 2
        assert shown.stderr.count("\n") == 1
        assert files() == set()

    def test_a_folder_that_refuses(self, words, monkeypatch):
        def refuse(path, *_, **__):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(_files.os, "open", refuse)
        shown = run(*words)
        assert shown.exit_code == 2
        assert shown.stderr.endswith(
            f"{'page' if 'tune' in words else 'report'}.html: Permission denied\n"
        )
        assert ".part" not in shown.stderr
        assert files() == set()
