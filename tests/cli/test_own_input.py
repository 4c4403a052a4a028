"""No command, and no function that knows what it reads, writes over its own input."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest
from shell import run, unwrapped

import halfmax as hm
from halfmax.mesh.records.corpus import gather
from halfmax.mesh.records.generator import Recipe, generate
from halfmax.mesh.records.writing import write_records

pytestmark = pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")

RNG = np.random.default_rng(0)
LONG = pd.DataFrame(
    {
        "instance": np.repeat(np.arange(20), 2),
        "label": ["cat", "dog"] * 20,
        "score": RNG.random(40).round(3),
        "truth": RNG.integers(0, 2, 40),
    }
)
WIDE = LONG.pivot_table(index="instance", columns="label", values="score")
TRUE = LONG.pivot_table(index="instance", columns="label", values="truth")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """Tables, thresholds and links to them."""
    monkeypatch.chdir(tmp_path)
    for name in ("x.csv", "p.csv"):
        LONG.rename(columns={"score": "probability"} if name == "p.csv" else {}).to_csv(name)
    hm.tune_table("x.csv").save("t.json")
    for name in ("parts", "pages"):
        Path(name).mkdir()
        LONG[:20].to_parquet(f"{name}/1.parquet")
        LONG[20:].to_parquet(f"{name}/2.parquet")
    WIDE.to_csv("wide.csv")
    TRUE.to_csv("true.csv")
    Path("t.html").write_bytes(Path("t.json").read_bytes())  # a strange name for thresholds
    Path("soft.csv").symlink_to("x.csv")
    os.link("x.csv", "hard.csv")
    os.link("parts/2.parquet", "elsewhere.parquet")
    Path("there").symlink_to("parts")
    return tmp_path


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def refused(folder, words, **more):
    """Run a command that must not write, and give what it says."""
    before = contents(folder)
    shown = run(*words, "--force", **more)
    assert shown.exit_code == 2, shown.output
    assert contents(folder) == before
    assert shown.stderr.count("\n") == 1
    return shown.stderr


READ = "must not be a file that is read"
INSIDE = "must not lie in a folder that is read"
COMMANDS = [
    ("tune x.csv --out x.csv", f"--out {READ}; x.csv is the input x.csv"),
    ("tune x.csv --out ./parts/../x.csv", f"--out {READ}"),
    ("tune x.csv --out soft.csv", f"--out {READ}; soft.csv is the input x.csv"),
    ("tune x.csv --out hard.csv", f"--out {READ}; hard.csv is the input x.csv"),
    ("tune soft.csv --out x.csv", f"--out {READ}; x.csv is the input soft.csv"),
    ("tune p.csv x.csv --score probability --out x.csv", f"--out {READ}"),
    ("tune *.csv --out x.csv", f"--out {READ}"),
    ("tune parts --out parts/2.parquet", f"--out {READ}"),
    ("tune parts --out elsewhere.parquet", f"--out {READ}; elsewhere.parquet is the input parts/"),
    ("tune parts --out there/3.parquet", f"--out {INSIDE}; there/3.parquet would"),
    ("tune there --out parts/3.parquet", f"--out {INSIDE}"),
    ("tune wide.csv --truth-file true.csv --out true.csv", f"--out {READ}"),
    ("tune wide.csv --truth-file true.csv --out wide.csv", f"--out {READ}"),
    ("apply t.json x.csv --out x.csv", f"--out {READ}"),
    ("apply t.json parts --out parts/new.parquet", f"--out {INSIDE}"),
    ("apply t.json parts --out parts/deep/er/new.parquet", "there is no folder"),
    ("apply t.json pages --out pages/new.csv", f"--out {INSIDE}"),
    ("apply t.json wide.csv --wide --out wide.csv", f"--out {READ}"),
    ("apply soft.csv p.csv --out x.csv", f"--out {READ}"),  # a strange name for thresholds
    ("decide p.csv --out p.csv", f"--out {READ}"),
    ("decide wide.csv --wide --out wide.csv", f"--out {READ}"),
    ("report t.html --data x.csv --out t.html", f"--out {READ}"),
]


@pytest.mark.parametrize(("words", "message"), COMMANDS, ids=[words for words, _ in COMMANDS])
def test_commands_never_overwrite_their_input(folder, words, message):
    assert message in refused(folder, words.split())


def test_a_page_over_an_input(folder):
    os.rename("x.csv", "x.html")
    Path("only.html").symlink_to("x.html")
    for words in ("tune x.html --report only.html", "report t.json --data x.html --out x.html"):
        assert READ in refused(folder, words.split())


ALLOWED = [
    "tune x.csv --out new.csv",
    "tune x.csv --out p.csv",
    "tune parts --out parts/t.json",
    "tune parts --out parts/_2.parquet",
    "apply t.json parts --out new.parquet",
    "apply t.json x.csv --out pages/1.parquet",
    "apply t.json x.csv --out t.csv",
]


@pytest.mark.parametrize("words", ALLOWED)
def test_other_files_are_written(words):
    shown = run(*words.split(), "--force")
    assert shown.exit_code == 0, shown.output


def redirected(words, source, sink, mode):
    """Run a command whose standard streams are files."""
    command = [sys.executable, "-m", "halfmax", *words.split()]
    with open(source) as stdin, open(sink, mode) as stdout:
        return subprocess.run(
            command, stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True
        )


@pytest.mark.parametrize(
    ("words", "source", "sink", "message"),
    [
        ("apply t.json - --out x.csv --force", "x.csv", os.devnull, "x.csv is what standard input"),
        ("tune - --out hard.csv --force", "x.csv", os.devnull, "hard.csv is what standard input"),
        ("apply t.json x.csv --out -", os.devnull, "x.csv", "standard output is the input x.csv"),
        ("tune parts --out -", os.devnull, "elsewhere.parquet", "standard output is the input"),
        ("apply t.json - --out -", "x.csv", "x.csv", "standard output is what standard input"),
    ],
)
def test_redirected_streams(folder, words, source, sink, message):
    before = contents(folder)
    done = redirected(words, source, sink, "a")
    assert done.returncode == 2
    assert f"--out {READ}; {message}" in unwrapped(done.stderr)
    assert contents(folder) == before


def test_streams_of_other_files():
    done = redirected("apply t.json - --out -", "x.csv", "new.csv", "w")
    assert done.returncode == 0, done.stderr
    assert len(pd.read_csv("new.csv")) == len(LONG)


def test_missing_input_is_still_said_as_it_was():
    shown = run("apply", "t.json", "none.csv", "--out", "new.csv")
    assert (shown.exit_code, "no file or folder none.csv" in shown.stderr) == (2, True)


# Records.


@pytest.fixture
def records(folder):
    Path("records").mkdir()
    recipe = Recipe(60, 0, 5, 200, 0)
    write_records(generate(recipe), "records/1.xml.gz")
    write_records(generate(recipe), "mesh.jsonl")
    os.rename("mesh.jsonl", "mesh.json")
    return folder


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("mesh fit records --out records/1.xml.gz", READ),
        ("mesh fit records --out records/model.xml", INSIDE),
        ("mesh fit mesh.json --out mesh.json", READ),
        ("mesh tag model records --out records/1.xml.gz", "cannot tell the format"),
        ("mesh tag model records --out records/tags.jsonl", INSIDE),
        ("mesh tag tags.csv records --out tags.csv", READ),
    ],
)
def test_commands_on_records(records, words, message):
    Path("tags.csv").write_text("a model by a strange name")
    assert message in refused(records, words.split())


def test_the_study_keeps_its_records(records):
    before = contents(records)
    shown = run("reproduce", "mesh", "--data", "mesh.json", "--out", ".")
    assert shown.exit_code == 2
    assert READ in shown.stderr
    assert contents(records) == before


@pytest.mark.usefixtures("records")
def test_records_are_not_gathered_into_one_of_their_files():
    with pytest.raises(ValueError, match=f"path {READ}"):
        gather("records", "records/1.xml.gz")


# Python.


@pytest.mark.parametrize("source", ["x.csv", ["x.csv"], Path("soft.csv"), "x.*"])
def test_tables_never_overwrite_their_input(folder, source):
    before = contents(folder)
    for name in ("x.csv", "hard.csv", Path("soft.csv")):
        with pytest.raises(ValueError, match=f"out {READ}"):
            hm.apply_table("t.json", source, name, overwrite=True)
        with pytest.raises(ValueError, match=f"out {READ}"):
            hm.decide_table(source, name, overwrite=True)
    assert contents(folder) == before


def test_tables_keep_folders_and_datasets(folder):
    before = contents(folder)
    dataset = pa.dataset.dataset("parts")
    with pytest.raises(ValueError, match=f"out {READ}"):
        hm.apply_table("t.json", dataset, "parts/1.parquet", overwrite=True)
    with pytest.raises(ValueError, match=f"out {INSIDE}"):
        hm.apply_table("t.json", Path("parts"), Path("parts/new.parquet"))
    with pytest.raises(ValueError, match=f"out {READ}"):
        hm.apply_table("soft.csv", "p.csv", "x.csv", overwrite=True)
    assert contents(folder) == before


@pytest.mark.parametrize("how", [{}, {"guard": "auto"}, {"average": "samples"}], ids=str)
def test_thresholds_are_not_saved_over_their_data(folder, how, monkeypatch):
    before = contents(folder)
    t = hm.tune_table("x.csv", **how)
    monkeypatch.chdir("parts")
    for call in (t.save, t.report):
        with pytest.raises(ValueError, match=f"path {READ}"):
            call("../hard.csv")
    assert contents(folder) == before
    t.save("../p.csv")


def test_thresholds_may_be_saved_where_they_were_loaded():
    hm.Thresholds.load("t.json").save("t.json")
