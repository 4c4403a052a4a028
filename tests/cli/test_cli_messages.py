"""What commands say: the result first, advice below it, in 80 columns or fewer, coloured or not."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from shell import assert_fits, run, unwrapped
from surroundings import PATIENCE

import halfmax as hm
from halfmax.cli.messages import columns_of, command_line, on_one_line, wrapped

LONG_NAME = "scores of the classifier that was trained in May, held out rows.csv"
DEEP = "a-folder-with-a-long-name/" * 6
FLOOD = "warning: 1 of 2 labels is predicted for more than 5 % of the rows tuned on"
HINT = "--out thresholds.json saves the thresholds"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Tables of which commands warn and complain, some with long names."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    truth = rng.random((400, 2)) < [0.4, 0.005]
    names = ["common", "a rare label with a name of many words, of which most do not matter here"]
    long = pd.DataFrame(
        {
            "instance": np.repeat(np.arange(400), 2),
            "label": np.tile(names, 400),
            "score": (rng.normal(size=truth.shape) + truth * [1, 0]).ravel(),
            "truth": truth.ravel(),
        }
    )
    long.to_csv("long.csv", index=False)
    long.to_csv(LONG_NAME, index=False)
    long.rename(columns={"score": "s", "truth": "t"}).to_csv("renamed.csv", index=False)
    long.assign(score=1 / (1 + np.exp(-long["score"]))).to_csv("chances.csv", index=False)
    wide = long.pivot_table(index="instance", columns="label", values="score")
    wide.to_csv("wide.csv")
    two = pd.DataFrame({"p": rng.random(60).round(3), "y": rng.integers(0, 2, 60)})
    two.assign(z=two["y"], a_second_score_with_a_long_name=two["p"]).to_csv("both.csv", index=False)
    two.to_csv("two.csv", index=False)
    with pytest.warns(hm.OptimismWarning):
        hm.tune_table("long.csv").save("t.json")
    return tmp_path


COMMANDS = [
    "tune long.csv",
    "tune long.csv --guard auto",
    "tune long.csv --shared --metric f2",
    "tune long.csv --min-precision 0.99 --min-recall 0.99",
    "tune long.csv --average samples --guard never",
    "tune long.csv --out out.json --force",
    "tune renamed.csv --binary",
    "tune renamed.csv",
    "tune two.csv",
    "tune two.csv --metric g",
    "tune both.csv",
    "tune both.csv --truth y",
    "tune wide.csv",
    "tune wide.csv --truth-file wide.csv",
    "tune wide.csv --truth-file two.csv",
    "tune no/such/folder/with/a/long/name/and/more/scores-of-the-model.parquet",
    "tune long.csv --score nope",
    "tune long.csv --average mean",
    "tune long.csv --guard everything",
    "tune long.csv --min-precision 2",
    "tune long.csv --weight label",
    f"tune long.csv --out {DEEP}t.json",
    f"tune {DEEP}scores.csv",
    "tune t.json",
    "tune long.csv two.csv",
    "tune long.csv --out long.csv --force",
    "tune long.csv --out t.json",
    "tune long.csv --report page.txt",
    "tune long.csv --title Thresholds",
    "tune long.csv --nonsense",
    "tunes",
    "assess long.csv --resamples 20",
    "assess long.csv --level 7",
    "diagnose long.csv --resamples 20",
    "diagnose two.csv --resamples 20",
    "apply t.json long.csv --out p.csv --force",
    "apply t.json wide.csv --unknown maybe",
    "apply t.json wide.csv --id nothing",
    "apply t.json two.csv",
    "apply t.json long.csv --json",
    "apply t.json long.csv --format xml",
    "apply long.csv t.json",
    "decide long.csv",
    "decide chances.csv --out d.csv --force",
    "decide chances.csv --average samples --max-k -3",
    "report t.json --data two.csv",
    "report t.json --data long.csv --out page.html --quick-report --force",
    "mesh fit long.csv --out m",
    "mesh evaluate t.json long.csv",
    "mesh tag t.json long.csv --rule nothing",
    "mesh generate --out records.txt",
    "reproduce --runs 0",
    "reproduce claims --runs 2",
    "reproduce mesh --scale huge",
]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("columns", [45, 60, 80, 200])
@pytest.mark.parametrize("words", COMMANDS)
def test_whatever_is_said_fits(words, columns):
    shown = run(*words.split(), env={"COLUMNS": str(columns)})
    assert shown.exit_code in (0, 2)
    assert shown.output != ""
    assert_fits(shown.output, min(columns, 80))
    if shown.exit_code == 2:
        assert shown.stdout == ""
        assert "halfmax: " in unwrapped(shown.stderr)


@pytest.mark.usefixtures("folder")
def test_lines_are_not_broken_sooner_than_needed():
    shown = run("tune", "long.csv")
    raw = shown.output.split("warning: ")[1].splitlines()
    for line, next_one in pairwise(raw):
        first = next_one.split()[0]
        assert len(f"{line} {first}") > 80 - len("warning: ") * (line == raw[0])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("columns", [60, 80])
def test_a_file_name_is_not_broken(columns):
    for words in (["tune", LONG_NAME, "--score", "x"], ["tune", "long.csv", "--out", LONG_NAME]):
        shown = run(*words, env={"COLUMNS": str(columns)})
        assert LONG_NAME in shown.output


@pytest.mark.usefixtures("folder")
def test_the_result_stands_above_the_advice():
    shown = run("tune", "long.csv")
    assert "\nwarning: " not in shown.stdout
    assert shown.stderr.startswith(FLOOD)
    assert shown.output.index("Tuned 2 labels") < shown.output.index("warning: ")
    assert shown.output.rindex("common") < shown.output.index("warning: ")
    shown = run("tune", "renamed.csv")
    assert shown.stderr.startswith("Took column 's' as the score and 't' as the truth (false/true)")
    assert "\nwarning: " in shown.stderr
    assert shown.output.index("Tuned 2 labels") < shown.output.index("Took column")


@pytest.mark.usefixtures("folder")
def test_a_document_is_above_the_advice_too():
    shown = run("tune", "long.csv", "--json")
    assert shown.output.startswith('{"command": "tune"')
    assert len(shown.stdout.splitlines()) == 1
    assert shown.output.index("warning: ") > len(shown.stdout) - 1


def test_warnings_are_not_lost_by_an_error(folder, monkeypatch):
    def save(*_):
        raise OSError(28, "No space left on device", "t.json")

    monkeypatch.setattr(hm.Thresholds, "save", save)
    shown = run("tune", "long.csv", "--out", "new.json")
    assert (shown.exit_code, shown.stdout) == (1, "")
    warning, error = shown.stderr.splitlines()
    assert warning.startswith(FLOOD)
    assert error == "halfmax: t.json: No space left on device"
    assert not (folder / "new.json").exists()


def test_an_error_in_the_last_row_leaves_standard_output_empty(folder):
    rows = Path("long.csv").read_text()
    (folder / "bad.csv").write_text(f"{rows}400,unheard of,0.5,1\n")
    shown = run("apply", "t.json", "bad.csv")
    assert (shown.exit_code, shown.stdout) == (2, "")
    assert "the thresholds have no label 'unheard of'" in shown.stderr


def in_terminal(words, columns=80, **env):
    """What a terminal shows of a command whose output and messages both go there."""
    seen, own = pty.openpty()
    fcntl.ioctl(own, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "halfmax", *words]
    env = {**os.environ, "TERM": "xterm", **env}
    with subprocess.Popen(command, stdout=own, stderr=own, stdin=own, env=env) as process:
        os.close(own)
        text = b""
        with suppress(OSError):  # how a terminal says that nobody writes any more
            while part := os.read(seen, 1 << 16):
                text += part
        process.wait(timeout=PATIENCE)
    os.close(seen)
    return text.decode().replace("\r\n", "\n")


YELLOW, DIM, RED = "\x1b[33m", "\x1b[2m", "\x1b[1;31m"


@pytest.mark.usefixtures("folder")
class TestColours:
    """As rich has them: in a terminal, unless it is asked for none."""

    def test_advice_is_coloured_in_a_terminal(self):
        shown = in_terminal(["tune", "long.csv"])
        assert f"{YELLOW}warning: 1 of 2 labels" in shown
        assert f"{DIM}{HINT}" in shown
        assert shown.index("Tuned 2 labels") < shown.index(YELLOW) < shown.index(DIM)

    def test_an_error_begins_in_red(self):
        shown = in_terminal(["tune", "long.csv", "--metric", "g"])
        assert shown.startswith(f"{RED}halfmax:\x1b[0m --metric must be")

    def test_without_colours_on_request(self):
        shown = in_terminal(["tune", "long.csv"], NO_COLOR="1")
        assert YELLOW not in shown
        assert "\nwarning: 1 of 2 labels" in shown
        assert HINT in shown

    def test_a_dumb_terminal_gets_no_codes(self):
        shown = in_terminal(["tune", "long.csv"], TERM="dumb")
        assert "\x1b" not in shown
        assert f"\n{HINT}" in shown

    def test_a_pipe_gets_no_codes_and_no_hints(self):
        command = [sys.executable, "-m", "halfmax", "tune", "long.csv"]
        env = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
        done = subprocess.run(command, capture_output=True, text=True, env=env, check=True)
        assert "\x1b" not in done.stdout + done.stderr
        assert unwrapped(done.stderr).startswith(FLOOD)
        assert HINT not in done.stderr
        done = subprocess.run(command, capture_output=True, env={**env, "FORCE_COLOR": "1"})
        assert YELLOW.encode() in done.stderr
        assert HINT.encode() not in done.stderr

    @pytest.mark.parametrize("words", [["--quiet"], ["--json"], ["--out", "-"]], ids=" ".join)
    def test_hints_are_for_people(self, words):
        shown = in_terminal(["tune", "long.csv", *words])
        assert f"{YELLOW}warning: " in shown
        assert HINT not in shown

    def test_data_never_have_codes(self):
        command = [sys.executable, "-m", "halfmax", "apply", "t.json", "long.csv"]
        env = {**os.environ, "FORCE_COLOR": "1"}
        done = subprocess.run(command, capture_output=True, env=env, check=True)
        assert b"\x1b" not in done.stdout
        assert done.stdout.count(b"\n") == 801

    def test_a_narrow_terminal(self):
        shown = in_terminal(["diagnose", "long.csv", "--resamples", "20"], columns=50, TERM="dumb")
        assert_fits(shown, 50)
        assert "Left out to fit 50 columns: support, predicted" in shown


@pytest.mark.usefixtures("folder")
def test_what_comes_next():
    shown = in_terminal(["tune", "long.csv", "--out", "my t.json"], TERM="dumb")
    assert shown.endswith("\nhalfmax apply 'my t.json' NEW_SCORES predicts with these thresholds\n")


WORDS = st.lists(st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1), min_size=1)


@given(WORDS, st.integers(20, 80), st.sampled_from(["", "  "]))
def test_lines_hold_as_many_words_as_fit(words, columns, indent):
    text = " ".join(words)
    lines = wrapped(text, columns, indent).split("\n")
    assert " ".join(line.removeprefix(indent) for line in lines) == text
    for place, line in enumerate(lines):
        assert cell_len(line) <= columns or " " not in line.strip()
        if place + 1 < len(lines):
            first = lines[place + 1].strip().split(" ")[0]
            assert cell_len(f"{line} {first}") > columns


def test_names_from_the_command_line_stay_whole():
    text = "out of a b c.csv and x y, a b"
    with command_line(["tune", "a b c.csv", "--out=x y"]):
        lines = wrapped(text, 10).split("\n")
    assert lines == ["out of", "a b c.csv", "and x y, a", "b"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("two\nlines ", "two lines"),
        (" a\n  b\n", "a b"),
        ("my  file.csv", "my  file.csv"),
        ("a\x1b[0m\tb", "a\\x1b[0m\\tb"),
    ],
)
def test_a_message_is_one_paragraph_without_control_characters(text, line):
    assert on_one_line(text) == line


@pytest.mark.parametrize(
    ("value", "columns"), [("60", 60), ("200", 80), ("5", 20), ("wide", 80), (None, 80)]
)
def test_how_wide_messages_are(monkeypatch, value, columns):
    monkeypatch.delenv("COLUMNS") if value is None else monkeypatch.setenv("COLUMNS", value)
    assert columns_of(None) == columns
