"""Without pyarrow, arrays are tuned as ever, and what needs it says what to install."""

import subprocess
import sys

import numpy as np
import pytest

import halfmax as hm

MESSAGE = "this needs 'pyarrow', not installed: pip install 'halfmax[tables]'"
HIDDEN = """
import sys

class Hiding:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, *where):
        return None if name.partition(".")[0] == "pyarrow" else self.finder.find_spec(name, *where)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Hiding, sys.meta_path)
"""
OF_TABLES = [
    "tune_table('long.csv')",
    "assess_table('long.csv')",
    "diagnose_table('long.csv')",
    "decide_table('long.csv')",
    "apply_table('t.json', 'long.csv')",
]
DATA = (
    "import numpy as np, scipy.sparse as sp, warnings; warnings.simplefilter('ignore'); "
    "p = np.random.default_rng(0).random((60, 3)); y = (p > 0.6).astype(int); "
)


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    lines = [f"{i},{j},{rng.random()},{i % 2}" for i in range(20) for j in "ab"]
    text = "\n".join(["instance,label,score,truth", *lines])
    for name in ("long.csv", "wide.csv", "truth.csv", "records.jsonl"):
        (tmp_path / name).write_text(f"{text}\n")
    (tmp_path / "long.parquet").write_bytes(b"PAR1")
    hm.tune([0, 1], [0.2, 0.7]).save(tmp_path / "t.json")
    return tmp_path


def run(program, folder=None):
    done = subprocess.run(
        [sys.executable, "-c", f"{HIDDEN}import halfmax as hm; {program}"],
        capture_output=True,
        text=True,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def shell(words, folder):
    program = f"{HIDDEN}from halfmax.cli import app; app({words.split()!r}, prog_name='halfmax')"
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=folder
    )


@pytest.mark.parametrize("call", OF_TABLES)
def test_functions_of_tables_say_what_to_install(call, folder):
    program = f"\ntry:\n    hm.{call}\nexcept ModuleNotFoundError as e:\n    print(e, e.name)"
    assert run(program, folder) == f"{MESSAGE} pyarrow"


def test_importing_the_parts_of_tables_says_what_to_install():
    modules = ["tables.files", "tables.engines.work", "mesh.records.corpus", "cli.wide"]
    program = (
        f"\nfrom importlib import import_module\nfor name in {modules}:\n    try:\n"
        "        import_module(f'halfmax.{name}')\n    except ModuleNotFoundError as e:\n"
        "        print(e)"
    )
    assert run(program).splitlines() == [MESSAGE] * len(modules)


def test_every_public_name_can_be_imported_and_read():
    run("exec('from halfmax import *'); assert all(getattr(hm, n).__doc__ for n in hm.__all__)")


@pytest.mark.parametrize(
    "call",
    [
        "hm.tune(y, p)",
        "hm.tune(y.tolist(), p.tolist(), average='samples')",
        "hm.tune(sp.csr_array(y), sp.csr_array(p), guard='auto')",
        "hm.tune(pd.DataFrame(y), pd.DataFrame(p)).table()",
        "hm.tune(pl.DataFrame(y), pl.DataFrame(p)).table()",
        "hm.tune(y, p).predict(pd.DataFrame(p))",
        "hm.tune(y, p).predict(pl.DataFrame(p))",
        "hm.assess(y, p, n_resamples=20)",
        "hm.diagnose(pl.DataFrame(y), pl.DataFrame(p), n_resamples=20).table()",
        "hm.decide(pd.DataFrame(p))",
        "hm.decide(pl.DataFrame(p), average='samples').predictions",
        "hm.expected_curve(pl.Series(p[:, 0]))",
        "hm.score(pl.DataFrame(y), pl.DataFrame(y))",
        "hm.ThresholdClassifier(__import__('sklearn.dummy').dummy.DummyClassifier()).fit(p, y)",
    ],
)
def test_arrays_and_frames_need_no_pyarrow(call):
    program = f"{DATA}import pandas as pd, polars as pl; {call}; print('done')"
    assert run(program) == "done"


def test_a_report_needs_no_pyarrow(tmp_path):
    assert run(f"{DATA}hm.tune(y, p).report('r.html', n_resamples=20); print('done')", tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        "tune long.csv",
        "tune long.parquet --out new.json",
        "tune wide.csv --truth-file truth.csv",
        "assess long.csv --json",
        "diagnose long.csv",
        "decide long.csv --out d.csv",
        "decide wide.csv --wide --out d.csv",
        "apply t.json long.csv --out p.csv",
        "report t.json --data long.csv --out r.html",
        "mesh fit records.jsonl --out tagger.model",
    ],
)
def test_the_shell_says_what_to_install_in_one_line(words, folder):
    before = sorted(folder.iterdir())
    done = shell(words, folder)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"halfmax: {MESSAGE}\n")
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("words", ["--help", "--version", "tune --help", "mesh --help"])
def test_the_shell_explains_itself_without_pyarrow(words, tmp_path):
    assert shell(words, tmp_path).returncode == 0
