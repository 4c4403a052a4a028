"""Completion in bash, zsh and fish, as the scripts of these shells ask for it."""

import os
import re
import subprocess
import sys

import pytest
from surroundings import PATIENCE
from typer.testing import CliRunner

from halfmax.cli import app

COMMANDS = {"tune", "apply", "assess", "diagnose", "decide", "report", "demo", "reproduce", "mesh"}
SHELLS = ("bash", "zsh", "fish")
CASES = {
    "halfmax ": COMMANDS,
    "halfmax mesh ": {"fit", "tag", "evaluate", "generate"},
    "halfmax tune --average m": {"macro", "micro"},
    "halfmax assess --average s": {"samples"},
    "halfmax tune --quick": {"--quick-report"},
    "halfmax report --t": {"--truth", "--truth-file", "--title", "--trust-rows"},
    "halfmax decide --metric f": {"f1", "f0.5", "f2"},
    "halfmax tune --guard a": {"auto"},
    "halfmax apply --format ": {"csv", "arrow"},
    "halfmax apply --unknown ": {"error", "never", "ignore"},
    "halfmax mesh tag --format j": {"jsonl"},
    "halfmax reproduce mesh --scale ": {"small", "paper"},
}


def question(shell, words):
    """The variables that the script of a shell sets to ask for completions."""
    if shell == "bash":
        return {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    more = {"_TYPER_COMPLETE_FISH_ACTION": "get-args"} if shell == "fish" else {}
    return {"_TYPER_COMPLETE_ARGS": words, **more}


def answers(shell, text):
    """The names in what a shell is answered; zsh and fish get help beside them."""
    if shell == "zsh":
        return set(re.findall(r'^(?:_arguments .*\(\()?"([^":]+)"', text, re.MULTILINE))
    return {line.split("\t")[0] for line in text.splitlines()}


def ask(shell, words):
    env = {**question(shell, words), "_HALFMAX_COMPLETE": f"complete_{shell}"}
    return CliRunner().invoke(app, [], prog_name="halfmax", env=env)


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(("words", "completed"), CASES.items(), ids=list(CASES))
def test_names_are_completed(shell, words, completed):
    assert answers(shell, ask(shell, words).stdout) == completed


@pytest.mark.parametrize("shell", SHELLS)
def test_files_are_left_to_the_shell(shell):
    shown = ask(shell, "halfmax tune sco").stdout.strip()
    assert shown == ("_files" if shell == "zsh" else "")


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_of_each_shell_asks_this_program(shell):
    env = {"_HALFMAX_COMPLETE": f"source_{shell}"}
    script = CliRunner().invoke(app, [], prog_name="halfmax", env=env).stdout
    assert f"_HALFMAX_COMPLETE=complete_{shell}" in script


def test_bash_completes_with_the_script_that_is_shown():
    """Not only the protocol: bash reads the script and gets the names from the program."""
    python = f"{sys.executable} -m halfmax"
    script = f"""
        halfmax() {{ {python} "$@"; }}
        env() {{ while [[ $1 == *=* ]]; do local -x "$1"; shift; done; "$@"; }}
        eval "$(_HALFMAX_COMPLETE=source_bash {python})"
        complete -p halfmax
        COMP_WORDS=(halfmax tune --average m) COMP_CWORD=3
        _halfmax_completion halfmax
        echo "${{COMPREPLY[*]}}"
    """
    done = subprocess.run(
        ["bash", "-c", script], capture_output=True, text=True, timeout=PATIENCE, env=os.environ
    )
    assert done.stdout.splitlines() == [
        "complete -o default -F _halfmax_completion halfmax",
        "macro micro",
    ]


def test_completion_can_be_installed_and_shown():
    shown = CliRunner().invoke(app, ["--help"]).stdout
    assert "--install-completion" in shown
    assert "--show-completion" in shown
