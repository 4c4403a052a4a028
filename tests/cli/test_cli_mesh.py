"""MeSH terms on the command line: generate, fit, tag, evaluate; the case study."""

import gzip
import inspect
import io
import json
import os
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from shell import assert_fits, run
from surroundings import locked
from typer.testing import CliRunner

from halfmax._core.limits import changed
from halfmax.cli import app, bar
from halfmax.cli.commands import mesh
from halfmax.mesh.model import fit
from halfmax.mesh.model.settings import PENALTIES, Settings
from halfmax.mesh.model.tagger import RULES, Tagger
from halfmax.mesh.records.corpus import gather
from halfmax.mesh.records.generator import Recipe
from halfmax.mesh.records.reading import read_records
from halfmax.mesh.rules.evaluate import evaluate
from halfmax.paper.mesh import study

RECORDS, TERMS, WORDS = 120, 40, 600
SMALL = ["--records", RECORDS, "--terms", TERMS, "--words", WORDS]
RANK = ["--rank", 10]  # which is fast
FIT = ["fit", "all.jsonl", "--out", "m", *RANK]
KEPT = "halfmax: finished stages are kept in m.work and are used when the command is run again"
IN_PAPER = "p/mesh.work"
SEEN = (
    "20 of 21 records are among those that the tagger learned from, so their scores are too good; "
    "evaluate on others"
)
STAGES = ["records", "words", "factors", "penalties", "thresholds"]


def mesh_run(*words, code=0, **more):
    shown = run("mesh", *words, **more)
    assert shown.exit_code == code, shown.output
    return shown


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Made-up records, some of them again without terms, and a model of them."""
    folder = tmp_path_factory.mktemp("made")
    mesh_run("generate", "--out", folder / "all.jsonl", *SMALL)
    lines = (folder / "all.jsonl").read_text("utf-8").splitlines()
    rows = [{**json.loads(line), "mesh": []} for line in lines[:5]]
    (folder / "bare.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    mesh_run("fit", folder / "all.jsonl", "--out", folder / "model", *RANK)
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it to work in; temporary files have a place of their own."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    monkeypatch.setattr("tempfile.tempdir", None)
    shutil.copytree(made, tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    yield tmp_path / "work"
    assert not list((tmp_path / "temporary").iterdir())


def new_files():
    return {path.name for path in Path().iterdir()} - {"all.jsonl", "bare.jsonl", "model"}


def test_fit_has_the_defaults_of_the_library():
    here, there = inspect.signature(mesh.fit).parameters, Settings()
    for name in ("rank", "penalty", "min_count", "max_words", "seed"):
        assert here[name].default == getattr(there, name)


@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("mesh fit --penalty ", PENALTIES),
        ("mesh tag --rule ", RULES),
        ("reproduce mesh --scale ", study.SCALES),
    ],
)
def test_completion(words, completed):
    line = f"halfmax {words}"
    asked = {"COMP_WORDS": line, "COMP_CWORD": "4", "_HALFMAX_COMPLETE": "complete_bash"}
    done = CliRunner().invoke(app, [], prog_name="halfmax", env=asked)
    assert done.stdout.split() == list(completed)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("out", ["r.xml", "r.xml.gz", "r.jsonl", "R.JSONL.GZ"])
def test_records_are_the_same_in_every_format(out):
    shown = mesh_run("generate", "--out", out, *SMALL)
    assert shown.stdout == f"Generated 120 records of 40 terms and 600 words\nWrote {out}\n"
    assert list(read_records(out)) == list(read_records("all.jsonl"))


@pytest.mark.usefixtures("folder")
def test_the_number_of_records_is_as_requested():
    document = json.loads(
        mesh_run("generate", "--out", "r.jsonl", "--records", 7, "--seed", 1, "--json").stdout
    )
    assert document == {
        "command": "mesh generate",
        "records": 7,
        "test_records": 0,
        "terms": 3,
        "words": 35,
        "test_out": None,
        "out": "r.jsonl",
        "warnings": [],
    }
    assert len(list(read_records("r.jsonl"))) == 7
    assert mesh_run("generate", "--out", "q.xml", "--records", 1, "--quiet").output == ""


@pytest.mark.usefixtures("folder")
def test_other_records_to_evaluate_on():
    two = ["generate", "--out", "r.jsonl", "--test-out", "t.xml.gz", *SMALL]
    assert mesh_run(*two).stdout.splitlines() == [
        "Generated 120 records of 40 terms and 600 words, and 24 more to evaluate on",
        "Wrote r.jsonl",
        "Wrote t.xml.gz",
    ]
    first, others = list(read_records("r.jsonl")), list(read_records("t.xml.gz"))
    assert first == list(read_records("all.jsonl"))
    assert len(others) == 24
    assert not {record.pmid for record in first} & {record.pmid for record in others}
    terms = [{term for record in some for term in record.mesh} for some in (first, others)]
    assert terms[0] >= terms[1]
    assert mesh_run("evaluate", "model", "t.xml.gz").stderr == ""  # the tagger knows none of them
    document = json.loads(mesh_run(*two, "--test-records", 3, "--force", "--json").stdout)
    assert (document["test_records"], document["out"], document["test_out"]) == (
        3,
        "r.jsonl",
        "t.xml.gz",
    )
    assert len(list(read_records("t.xml.gz"))) == 3


@pytest.mark.usefixtures("folder")
def test_both_files_or_none(monkeypatch):
    def stop(*_):
        raise OSError("so it is")

    monkeypatch.setattr("halfmax.mesh.records.writing._xml_lines", stop)
    shown = mesh_run("generate", "--out", "r.jsonl", "--test-out", "t.xml", *SMALL, code=2)
    assert shown.stderr == "halfmax: so it is\n"
    assert new_files() == set()


@pytest.mark.usefixtures("folder")
def test_fit_reports_each_stage_and_what_it_learned():
    shown = mesh_run("fit", "all.jsonl", "bare.jsonl", "--out", "m", "--penalty", "per-label")
    first, fitted, penalties, wrote = shown.stdout.splitlines()
    assert first == "125 records read: 115 with MeSH terms, 5 without, 5 replaced, 0 deleted"
    assert fitted.startswith("Fitted 40 terms to 115 documents: 600 words, rank 114, ")
    assert penalties.startswith("Penalties: median ")
    assert wrote == "Wrote m"
    names = [line.split(":")[0].split()[0] for line in shown.stderr.splitlines()]
    assert names == STAGES
    assert new_files() == {"m"}


@pytest.mark.usefixtures("folder")
def test_fit_for_machines():
    options = ["--rank", 5, "--min-count", 3, "--max-words", 50, "--penalty", "0.5", "--seed", 1]
    document = json.loads(mesh_run("fit", "all.jsonl", "--out", "m", *options, "--json").stdout)
    tagger = Tagger.load("m")
    assert min(tagger.counts) >= 3
    assert set(tagger.penalties) == {0.5}
    assert (document["command"], document["out"], document["warnings"]) == ("mesh fit", "m", [])
    assert (document["rank"], document["words"], document["terms"]) == (5, 50, len(tagger.terms))
    assert (document["penalty"], document["median_penalty"]) == (0.5, 0.5)
    assert document["with_largest_penalty"] == len(tagger.terms)
    assert document["bytes"] == Path("m").stat().st_size
    assert [stage["name"].split()[0] for stage in document["stages"]] == STAGES
    assert not any(stage["reused"] for stage in document["stages"])


@pytest.mark.usefixtures("folder")
def test_a_quiet_fit_says_nothing_and_finds_the_same():
    assert mesh_run(*FIT, "--quiet").output == ""
    assert Path("m").read_bytes() == Path("model").read_bytes()


def expected_tags(source, **how):
    records = list(read_records(source))
    tags = Tagger.load("model").tag((record.text for record in records), **how)
    return {
        record.pmid: {tag.term: round(tag.score, 6) for tag in found}
        for record, found in zip(records, tags, strict=True)
    }


def assert_close(found, expected):
    """The same terms; float32 is not the same to the last digit in batches of other sizes."""
    assert found.keys() == expected.keys()
    for pmid, scores in found.items():
        assert scores == pytest.approx(expected[pmid], abs=2e-6)


def from_lines(text):
    rows = map(json.loads, text.splitlines())
    return {row["pmid"]: dict(zip(row["mesh"], row["scores"], strict=True)) for row in rows}


def from_frame(frame, pmids):
    assert list(frame.columns) == ["pmid", "term", "score"]
    groups = {str(pmid): of_one for pmid, of_one in frame.groupby("pmid")}
    none = frame[:0]
    return {p: dict(groups.get(p, none)[["term", "score"]].to_numpy().tolist()) for p in pmids}


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("average", ["micro", "macro", "samples"])
def test_tags_are_those_of_the_library(rule, average):
    with changed(tag_records_read=50, tag_records_written=30):  # so that there are several batches
        shown = mesh_run("tag", "model", "all.jsonl", "--rule", rule, "--average", average)
    expected = expected_tags("all.jsonl", average=average, rule=rule)
    assert_close(from_lines(shown.stdout), expected)
    scores = [json.loads(line)["scores"] for line in shown.stdout.splitlines()]
    assert all(high >= low for of_one in scores for high, low in pairwise(of_one))
    n_terms = sum(map(len, expected.values()))
    assert shown.stderr.startswith(f"{n_terms:,} terms predicted for 120 records; without any: ")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("out", ["t.jsonl", "t.jsonl.gz", "t.csv", "t.v2.csv.gz", "t.parquet"])
def test_tags_in_files(out):
    shown = mesh_run("tag", "model", "all.jsonl", "--out", out)
    expected = expected_tags("all.jsonl")
    if "jsonl" in out:
        opened = gzip.open if out.endswith(".gz") else open
        with opened(out, "rt", encoding="utf-8") as file:
            assert from_lines(file.read()) == expected
    else:
        read = pd.read_parquet if out.endswith("parquet") else pd.read_csv
        assert from_frame(read(out), expected) == expected
    assert shown.stdout.splitlines()[1] == f"Wrote {out}"
    assert new_files() == {out}


@pytest.mark.usefixtures("folder")
def test_records_without_terms_through_a_pipe():
    shown = mesh_run("tag", "model", "-", input=Path("bare.jsonl").read_bytes())
    assert from_lines(shown.stdout) == expected_tags("bare.jsonl")
    packed = gzip.compress(Path("bare.jsonl").read_bytes())
    shown = mesh_run("tag", "model", "-", "--format", "csv", "--quiet", input=packed)
    assert shown.stderr == ""
    frame = pd.read_csv(io.StringIO(shown.stdout))
    assert from_frame(frame, expected_tags("bare.jsonl")) == expected_tags("bare.jsonl")
    document = json.loads(mesh_run("tag", "model", "bare.jsonl", "--out", "t.csv", "--json").stdout)
    assert (document["records"], document["terms"], document["out"]) == (5, len(frame), "t.csv")


def test_evaluation(folder):
    lines = Path("all.jsonl").read_text("utf-8").splitlines()
    strange = {"pmid": 1, "title": "x", "mesh": ["Unheard Of"]}
    Path("test.jsonl").write_text("\n".join([*lines[:20], json.dumps(strange)]), "utf-8")
    document = json.loads(mesh_run("evaluate", "model", "test.jsonl", "--json").stdout)
    found = evaluate(Tagger.load("model"), gather("test.jsonl", folder.parent / "corpus"))
    assert (document["documents"], document["headings"]) == (21, found.n_headings)
    assert (document["unknown_headings"], document["terms"]) == (1, TERMS)
    assert (document["seen_documents"], document["warnings"]) == (20, [SEEN])
    for row, judged in zip(document["rules"], found.judged, strict=True):
        assert row["rule"] == judged.rule.name
        assert row["macro"] == judged.macro
        assert row["macro_occurring"] == judged.macro_seen
        assert (row["micro"], row["samples"]) == (judged.micro, judged.samples)
        assert row["terms_per_document"] == judged.predicted.sum() / 21
    both = mesh_run("evaluate", "model", "test.jsonl")
    assert both.stderr == f"warning: {SEEN}\n"
    shown = both.stdout
    assert "21 records with" in shown
    assert "fewer than 1 in 100 of the records" in shown.replace("\n", " ")
    assert "1 of them of terms unknown to the tagger" in shown
    best = document["rules"][-1]
    cells = next(line for line in shown.splitlines() if line.startswith("auto samples")).split()
    assert cells[2:5] == [f"{best[name]:.4f}" for name in ("macro", "macro_occurring", "micro")]


@pytest.mark.usefixtures("folder")
def test_rare_terms_predicted_everywhere_are_counted():
    tagger = Tagger.load("model")
    tagger.counts[:] = np.arange(len(tagger.counts))
    object.__setattr__(tagger, "documents", np.arange(301, dtype=np.uint64))
    tagger.thresholds["macro"][:] = 0.0
    tagger.save("flood")
    document = json.loads(mesh_run("evaluate", "flood", "all.jsonl", "--json").stdout)
    floods = {row["rule"]: row["floods"] for row in document["rules"]}
    assert floods["auto macro"] == 4  # of counts 0, 1, 2 and 3
    assert floods["0.5"] < 4


def interrupt(monkeypatch, error):
    def stop(*_):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(fit, "tune_left_out", stop)
        return mesh_run(*FIT, code=130 if error is KeyboardInterrupt else 2)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("error", "message"), [(KeyboardInterrupt, "stopped"), (ValueError("so it is"), "so it is")]
)
def test_an_interrupted_fit_goes_on(error, message, monkeypatch):
    stopped = interrupt(monkeypatch, error)
    assert stopped.stderr.splitlines()[-2:] == [
        f"halfmax: {message}",
        KEPT,
    ]
    assert new_files() == {"m.work"}
    for name in ("learn_words", "find_factors"):
        monkeypatch.setattr(fit, name, None)  # whoever calls it fails
    shown = mesh_run(*FIT)
    lines = shown.stderr.splitlines()
    assert [line.split()[0].rstrip(":") for line in lines] == STAGES
    assert all("found in m.work, " in line for line in lines[:-1])
    assert "found" not in lines[-1]
    assert Path("m").read_bytes() == Path("model").read_bytes()
    assert new_files() == {"m"}


@pytest.mark.usefixtures("folder")
def test_files_that_are_not_stages_are_not_removed(monkeypatch):
    interrupt(monkeypatch, KeyboardInterrupt)
    Path("m.work", "my-notes.txt").write_text("mine")
    Path("m.work", "words-0123456789abcdef.npz").touch()  # perhaps of a run that goes on
    mesh_run(*FIT)
    assert sorted(os.listdir("m.work")) == ["my-notes.txt", "words-0123456789abcdef.npz"]


@pytest.mark.usefixtures("folder")
def test_a_named_folder_is_kept_and_serves_other_settings():
    words = [*FIT, "--work", "stages"]
    mesh_run(*words)
    assert len(os.listdir("stages")) == len(STAGES)
    lines = mesh_run(*words, "--force", "--rank", 5).stderr.splitlines()
    assert ["found in stages" in line for line in lines] == [True, True, False, False, False]
    assert new_files() == {"m", "stages"}


@pytest.fixture
def bad(folder):
    Path("no.xml").write_text("<html>")
    Path("list.jsonl").write_text("[1]")
    packed = gzip.compress(Path("all.jsonl").read_bytes())
    Path("cut.jsonl.gz").write_bytes(packed[: len(packed) // 2])
    lines = Path("all.jsonl").read_text("utf-8").splitlines(keepends=True)
    Path("two.jsonl").write_text("".join(lines[:2]), "utf-8")
    Path("folder").mkdir()
    return folder


MAKE = ["generate", "--out", "r.xml"]


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["fit", "no.xml", "--out", "m"], "no.xml, line 1, column 7: the root element must be"),
        (["fit", "list.jsonl", "--out", "m"], "list.jsonl is a JSON list"),
        (["fit", "cut.jsonl.gz", "--out", "m"], "cut.jsonl.gz is cut short"),
        (["fit", "nowhere", "--out", "m"], "there is no file or folder nowhere"),
        (["fit", "all.jsonl", "all.jsonl", "--out", "m"], "each file must be named only once"),
        (["fit", "folder", "--out", "m"], "the folder folder holds no file that ends in"),
        (["fit", "-", "--out", "m"], "- cannot stand for a file here"),
        (["fit", "bare.jsonl", "--out", "m"], "none of the 5 records has any"),
        (["fit", "all.jsonl"], "Missing option '--out'. (see halfmax mesh fit --help)"),
        (["fit", "all.jsonl", "--out", "model"], "model already exists; pass --force"),
        (["fit", "all.jsonl", "--out", "folder"], "it is a folder; choose another name"),
        (["fit", "all.jsonl", "--out", "none/m"], "there is no folder"),
        ([*FIT, "--work", "model"], "model: File exists"),
        ([*FIT, "--rank", 0], "--rank must be a whole number, 1 or more; got 0"),
        ([*FIT, "--penalty", "none"], "--penalty must be 'shared', 'per-label' or a number above"),
        ([*FIT, "--penalty", "-1"], "--penalty must be 'shared', 'per-label' or a number above"),
        ([*FIT, "--min-count", 0], "--min-count must be a whole number, 1 or more"),
        ([*FIT, "--max-words", 1], "--max-words must be a whole number, 2 or more"),
        ([*FIT, "--seed", -1], "--seed must be a whole number, from 0 to"),
        (["tag", "nowhere", "all.jsonl"], "nowhere: No such file or directory"),
        (["tag", "all.jsonl", "all.jsonl"], "all.jsonl is not a tagger of halfmax"),
        (["tag", "model", "no.xml"], "no.xml, line 1, column 7: the root element must be"),
        (["tag", "model", "-"], "standard input is empty"),
        (["tag", "model", "all.jsonl", "--rule", "max"], "--rule must be auto or plug-in; got"),
        (["tag", "model", "all.jsonl", "--average", "mean"], "--average must be 'macro', 'micro'"),
        (["tag", "model", "all.jsonl", "--format", "xml"], "--format must be jsonl or csv; got"),
        (["tag", "model", "all.jsonl", "--out", "t.csv", "--format", "csv"], "--format is for"),
        (["tag", "model", "all.jsonl", "--out", "t.txt"], "its name must end in '.jsonl', '.json"),
        (["tag", "model", "cut.jsonl.gz", "--out", "t.csv"], "cut.jsonl.gz is cut short"),
        (["tag", "model", "all.jsonl", "--out", "two.jsonl"], "two.jsonl already exists"),
        (["tag", "model", "all.jsonl", "--json"], "--json and the output both go to"),
        (["evaluate", "two.jsonl", "all.jsonl"], "two.jsonl is not a tagger of halfmax"),
        (["evaluate", "model", "bare.jsonl"], "none of the 5 records has MeSH terms"),
        (["evaluate", "model", "cut.jsonl.gz"], "cut.jsonl.gz is cut short"),
        (["generate", "--out", "r.csv"], "r.csv: its name must end in '.xml', '.xml.gz', '.jsonl'"),
        (["generate", "--out", "-"], "cannot tell the format of -: its name must end in"),
        (["generate", "--out", "two.jsonl"], "two.jsonl already exists"),
        ([*MAKE, "--test-out", "t.csv"], "cannot tell the format of t.csv: its name must end in"),
        ([*MAKE, "--test-out", "two.jsonl"], "two.jsonl already exists; pass --force"),
        ([*MAKE, "--test-out", "none/t.xml"], "there is no folder"),
        ([*MAKE, "--test-out", "./r.xml"], "--out and --test-out must be two files; got r.xml for"),
        ([*MAKE, "--test-records", 5], "--test-records is for --test-out, which names their file"),
        (
            [*MAKE, "--test-out", "t.xml", "--test-records", 0],
            "--test-records must be a whole number, 1 or more; got 0",
        ),
        (["generate", "--out", "r.xml", "--records", 0], "--records must be a whole number"),
        (["generate", "--out", "r.xml", "--terms", 0], "--terms must be a whole number"),
        (
            ["generate", "--out", "r.xml", "--records", 2, "--terms", 99],
            "--terms must be at most --records times the terms of a record, so that each has a "
            "place; got 99, more than 2 times 12",
        ),
    ],
    ids=lambda value: " ".join(map(str, value)) if isinstance(value, list) else "",
)
def test_errors_are_one_line_and_leave_no_files(words, message):
    before = new_files()
    shown = mesh_run(*words, code=2)
    (line,) = shown.stderr.splitlines()
    assert line.startswith("halfmax: ")
    assert message in line
    assert shown.stdout == ""
    assert new_files() == before


@pytest.mark.usefixtures("bad")
@pytest.mark.parametrize(
    ("words", "message", "finished"),
    [
        (
            [*FIT, "--min-count", 121],
            "--min-count must leave some terms; no term occurs in at least 121",
            1,
        ),
        (["fit", "two.jsonl", "--out", "m"], "at least 3 records with MeSH terms are needed", 1),
        ([*FIT, "--rank", 120], "--rank must be below the number of documents (120)", 2),
    ],
)
def test_an_error_after_a_stage_keeps_the_stage(words, message, finished):
    *stages, line, kept = mesh_run(*words, code=2).stderr.splitlines()
    assert len(stages) == finished
    assert message in line
    assert kept == KEPT
    assert len(os.listdir("m.work")) == finished


def test_a_folder_that_cannot_be_written(folder):
    place = folder / "locked"
    place.mkdir()
    with locked(place):
        shown = mesh_run("fit", "all.jsonl", "--out", "locked/m", code=2)
    assert shown.stderr == "halfmax: locked/m.work: Permission denied\n"
    assert not list(place.iterdir())


def test_the_case_study(folder, monkeypatch):
    monkeypatch.setitem(study.SCALES, "small", Recipe(600, 60, 150, 1_000))
    shown = run("reproduce", "mesh", *RANK, "--out", "paper", "--seed", 1, env={"COLUMNS": "100"})
    assert shown.exit_code == 0, shown.output
    stages = [line.split(":")[0] for line in shown.stderr.splitlines()]
    assert (stages[:3], stages[-1]) == (["records", "words", "factors"], "sweep of penalties")
    lines = shown.stdout.splitlines()
    assert_fits(shown.stdout)
    assert lines[:4] == [
        "Records: synthetic records, scale 'small', seed 1; 600 to learn from, 60 held",
        "out",
        "150 terms, 1,000 words, rank 10",
        "Bold terms are rare: fewer than 1 in 100 records to learn from have them",
    ]
    assert lines[-1] == "Open paper/mesh.html"
    page = (folder / "paper" / "mesh.html").read_text("utf-8")
    titles = [line[:-1] for line in lines if line.endswith(":")]
    assert [title.split(",")[0] for title in titles] == [
        *["Most often predicted for macro F1"] * 2,
        *["On 60 held-out documents"] * 2,
    ]
    assert all(title in page for title in titles)
    assert shown.stdout.count("\nplug-in macro ") == 2
    assert new_files() == {"paper"}
    assert "mesh.work" not in os.listdir("paper")


@pytest.fixture
def asked(monkeypatch):
    """What the case study is asked for; in the end it stops."""
    calls = []

    def reproduce(out, data, scale, settings, stages, progress):
        assert callable(progress)
        calls.append((out, data, scale, settings))
        fit.gather_records(data or "all.jsonl", stages)
        raise KeyboardInterrupt

    monkeypatch.setattr("halfmax.paper.mesh.write.reproduce_mesh", reproduce)
    return calls


@pytest.mark.parametrize(
    ("words", "data", "options"),
    [
        ("", None, {}),
        ("--data all.jsonl", ["all.jsonl"], {}),
        ("--data=all.jsonl b.jsonl --rank 5", ["all.jsonl", "b.jsonl"], {"rank": 5}),
        (
            "--data all.jsonl b.jsonl --min-count 2 --data c.jsonl bare.jsonl",
            ["all.jsonl", "b.jsonl", "c.jsonl", "bare.jsonl"],
            {"min_count": 2},
        ),
        ("--seed 3 --data c.jsonl --data b.jsonl", ["c.jsonl", "b.jsonl"], {"seed": 3}),
    ],
)
def test_paths_keep_their_order(words, data, options, folder, asked):
    for name in ("b.jsonl", "c.jsonl"):
        shutil.copy(folder / "all.jsonl", name)
    shown = run("reproduce", "mesh", *words.split(), "--out", "p")
    assert shown.exit_code == 130, shown.output
    assert asked == [("p", data, "small", Settings(**options))]
    assert shown.stderr.splitlines()[-2:] == ["halfmax: stopped", KEPT.replace("m.work", IN_PAPER)]
    assert len(os.listdir(IN_PAPER)) == 1


@pytest.mark.usefixtures("folder")
def test_stages_of_the_study_in_a_named_folder(asked):
    words = ["reproduce", "mesh", "--data", "all.jsonl", "--work", "w", "--out", "p", "--quiet"]
    for _ in range(2):
        assert run(*words).stderr == f"halfmax: stopped\n{KEPT.replace('m.work', 'w')}\n"
    assert len(asked) == 2
    assert "records: found in w, " in run(*words[:-1]).stderr
    assert len(os.listdir("w")) == 1


@pytest.mark.usefixtures("folder")
def test_a_study_of_no_records():
    shown = run("reproduce", "mesh", "--data", "bare.jsonl")
    assert shown.exit_code == 2
    (line,) = shown.stderr.splitlines()
    assert line.endswith("none of the 5 records has any")
    assert not os.listdir("paper")


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_lines_are_printed_above_the_bar(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with changed(seconds_before_bar=0.0), bar.Bar("work", lambda: None) as drawn:
        drawn.begin("counted", 3)
        drawn(1, 3)
        drawn(2, 9)
        (task,) = drawn._drawn.tasks
        assert (task.completed, task.total) == (2, 9)
        drawn._start()
        drawn.say("[b]first[/b] :smile:: 1 s")
        drawn.begin("not counted")
        (task,) = drawn._drawn.tasks
        assert (task.description, task.total) == ("not counted", None)
    assert "[b]first[/b] :smile:: 1 s\n" in screen.getvalue()


def test_lines_without_a_terminal(capsys):
    with bar.Bar("work", lambda: None) as drawn:
        drawn.say("shown")
    with bar.Bar("work", lambda: None, shown=False) as drawn:
        drawn.say("not message")
    assert capsys.readouterr().err == "shown\n"
