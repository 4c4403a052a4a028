"""The command in a real shell: pipes, signals, exit codes, a terminal."""

import fcntl
import os
import pty
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from shell import assert_fits, unwrapped
from surroundings import PATIENCE, wait_until

import halfmax as hm

pytestmark = pytest.mark.usefixtures("usual_signals")

HALFMAX = f"{shlex.quote(sys.executable)} -m halfmax"
HUNG_UP, STOPPED, NO_READER, TERMINATED = 129, 130, 141, 143
WITH_AN_EARLY_BAR = """
from halfmax._core.limits import changed
from halfmax.cli import app
with changed(seconds_before_bar=0.1):
    app(prog_name="halfmax")
"""
WITH_A_BAR_AT_ONCE = """
from halfmax.cli import app, bar
class Timer:
    def __init__(self, _, start):
        self.start = start
    def cancel(self):
        pass
bar.Timer = Timer
app(prog_name="halfmax")
"""
INTERRUPTED_IMPORT = """
import sys
class Finder:
    def find_spec(name, *_):
        if name == "typer":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Finder)
import halfmax.cli
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with wide scores and their truth; temporary files have a place of their own."""
    (tmp_path / "work").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    rng = np.random.default_rng(0)
    truth = pd.DataFrame(rng.random((60, 2)) < 0.4, columns=["a", "b"])
    scores = truth * 2 + rng.normal(size=truth.shape)
    truth.astype(int).to_csv("truth.csv", index=False)
    scores.to_csv("scores.csv", index=False)
    hm.tune(truth, scores).save("t.json")
    return tmp_path / "work"


def shell(line, **more):
    """Run a line of bash in which the word halfmax is the command."""
    script = f'halfmax() {{ {HALFMAX} "$@"; }}; set -o pipefail; {line}'
    return subprocess.run(["bash", "-c", script], capture_output=True, timeout=PATIENCE, **more)


def left(folder):
    """Files that were not there before, and temporary ones."""
    known = {"scores.csv", "truth.csv", "t.json"}
    here = {path.name for path in folder.iterdir()} - known
    return here | {path.name for path in (folder.parent / "temporary").iterdir()}


def test_a_pipe_from_scores_to_predictions(folder):
    line = (
        "cat scores.csv | halfmax tune - --truth-file truth.csv --out - "
        "| halfmax apply - scores.csv --format arrow > p.arrows"
    )
    done = shell(line)
    assert done.returncode == 0, done.stderr
    expected = hm.Thresholds.load("t.json").predict(pd.read_csv("scores.csv"))
    np.testing.assert_array_equal(pa.ipc.open_stream("p.arrows").read_pandas(), expected)
    assert b"Tuned 2 labels" in done.stderr  # standard output belongs to the data
    assert left(folder) == {"p.arrows"}


def test_a_closed_pipe_prints_no_error(folder):
    many = pd.concat([pd.read_csv("scores.csv")] * 10_000)
    many.to_parquet("many.parquet")
    done = shell("halfmax apply t.json many.parquet --out - --quiet | head -c 20 > some.csv")
    assert done.returncode == NO_READER
    assert done.stderr == b""
    assert left(folder) == {"many.parquet", "some.csv"}


@pytest.mark.usefixtures("folder")
def test_exit_codes():
    wrong = shell("halfmax apply t.json scores.csv --out t.json")
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(b"halfmax: cannot tell the format of t.json: its name must end")
    usage = shell("halfmax apply t.json")
    assert usage.returncode == 2
    assert usage.stderr == b"halfmax: Missing argument 'FILES'. (see halfmax apply --help)\n"


@contextmanager
def started(*words, program=WITH_AN_EARLY_BAR, **more):
    """A command that waits for its input."""
    command = [sys.executable, "-c", program, *words]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **more}
    process = subprocess.Popen(command, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()


def begin_input(process, folder):
    """Send the head of a table, and wait until the command has read it and waits for more."""
    process.stdin.write(b"a,b\n")
    process.stdin.flush()
    wait_until(lambda: process.poll() is not None or (not unread(process.stdin) and left(folder)))
    assert process.poll() is None, process.stderr.read()


def unread(pipe):
    """The number of bytes that nobody has read yet."""
    return struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))[0]


@pytest.mark.parametrize(
    ("sent", "code", "message"),
    [
        (signal.SIGINT, STOPPED, b"halfmax: stopped\n"),
        (signal.SIGTERM, TERMINATED, b""),
        (signal.SIGHUP, HUNG_UP, b""),
    ],
)
def test_stopped_in_the_middle_it_leaves_nothing(folder, sent, code, message):
    words = ["tune", "-", "--truth-file", "truth.csv", "--out", "new.json"]
    with started(*words) as process:
        begin_input(process, folder)
        process.send_signal(sent)
        _, errors = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert errors == message
    assert left(folder) == set()


def test_stopped_at_the_very_start_it_is_quiet():
    done = subprocess.run([sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True)
    assert (done.returncode, done.stderr) == (STOPPED, b"")


@contextmanager
def terminal(columns=80):
    """Both ends of a terminal: what is typed and seen, and what a process takes for its own."""
    seen, own = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    try:
        yield seen, own
    finally:
        os.close(seen)


def read_until(seen, wanted=None):
    """What a terminal shows until it shows what is wanted, or until the end."""
    text = b""
    while wanted is None or wanted not in text:
        assert select.select([seen], [], [], PATIENCE)[0], text
        try:
            text += os.read(seen, 1 << 16)
        except OSError:  # how a terminal says that nobody writes any more
            break
    return text.decode()


def test_a_bar_in_a_terminal_after_a_while(folder, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    words = ["apply", "t.json", "-", "--out", "p.csv"]
    with terminal() as (seen, own), started(*words, stderr=own) as process:
        os.close(own)
        assert "apply: reading" in read_until(seen, b"0:01")
        process.stdin.write((folder / "scores.csv").read_bytes())
        process.stdin.close()
        assert read_until(seen).endswith("\x1b[2K")  # the bar is gone in the end
        assert b"predicted in 60 rows" in process.stdout.read()
        assert process.wait(timeout=PATIENCE) == 0


WARNED = """
import warnings, halfmax as hm
from halfmax.cli import app
def diagnose(*_, **__):
    warnings.warn("of " + "w0rd-5 " * 40, hm.HalfmaxWarning)
    raise ValueError("a-b " * 60 + "/a/path/that/is/longer/than/the/terminal/is/wide")
hm.diagnose = diagnose
app(prog_name="halfmax")
"""


@pytest.mark.usefixtures("folder")
def test_a_terminal_gets_lines_that_break_between_words(monkeypatch):
    monkeypatch.setenv("TERM", "dumb")
    words = ["diagnose", "scores.csv", "--truth-file", "truth.csv", "--quiet"]
    command = [sys.executable, "-c", WARNED, *words]
    plain = subprocess.run(command, capture_output=True, text=True).stderr
    assert_fits(plain)
    assert unwrapped(plain).count("\n") == 2
    with terminal(columns=40) as (seen, own), subprocess.Popen(command, stderr=own) as process:
        os.close(own)
        shown = read_until(seen).replace("\r", "")
        assert process.wait(timeout=PATIENCE) == 2
    assert shown.split() == plain.split()
    *lines, path = shown.splitlines()
    assert len(path) > 40
    assert 33 < max(map(len, lines)) <= 40


def test_nothing_is_drawn_without_a_terminal(folder):
    words = ["apply", "t.json", "-", "--out", "p.csv"]
    with started(*words, program=WITH_A_BAR_AT_ONCE) as process:
        scores = (folder / "scores.csv").read_bytes()
        _, errors = process.communicate(scores, timeout=PATIENCE)
    assert process.returncode == 0
    assert errors == b""


OF_PAGES = ["altair", "vl_convert", "itables", "jinja2", "matplotlib", "halfmax.report"]
HEAVY = ["numpy", "pyarrow", "scipy", "sklearn", "halfmax.tables.files", *OF_PAGES]


def loaded(names, program):
    """Which of the modules are there after a program."""
    assert all(map(find_spec, names)), "a module that does not exist is never loaded"
    program = f"import sys; {program}; print('loaded', *(n for n in {names} if n in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return done.stdout.split(b"loaded")[-1].split()


def test_help_and_import_are_quick():
    assert loaded([*HEAVY, "rich"], "import halfmax.cli") == []
    called = "from halfmax.cli import app; app(['report', '--help'], standalone_mode=False)"
    assert loaded(HEAVY, called) == []


@pytest.mark.usefixtures("folder")
def test_no_page_loads_nothing_for_pages():
    words = ["tune", "scores.csv", "--truth-file", "truth.csv", "--out", "new.json"]
    called = f"from halfmax.cli import app; app({words}, standalone_mode=False)"
    assert loaded(OF_PAGES, called) == []
