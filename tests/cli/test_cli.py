"""The command line: help with examples, plain errors, and what it prints."""

import inspect
import subprocess
import sys

import pytest
from shell import run

import halfmax
from halfmax.cli import app, options
from halfmax.cli.commands import labelled
from halfmax.expected.ratio import find_ratio
from halfmax.metrics.goal import check_guard
from halfmax.metrics.named import find_metric
from halfmax.paper import reproduce as study
from halfmax.paper.claims.claim import SLIP, Claim
from halfmax.paper.curse.simulation import simulate_curse
from halfmax.paper.reproduce import Reproduction
from halfmax.tables.apply import UNKNOWN

COMMANDS = (
    ["tune"],
    ["apply"],
    ["assess"],
    ["diagnose"],
    ["decide"],
    ["report"],
    ["demo"],
    ["reproduce"],
    ["reproduce", "figures"],
    ["reproduce", "claims"],
    ["reproduce", "curse"],
    ["reproduce", "mesh"],
    ["mesh"],
    ["mesh", "fit"],
    ["mesh", "tag"],
    ["mesh", "evaluate"],
    ["mesh", "generate"],
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help_with_an_example(command):
    shown = run(*command, "--help")
    assert shown.exit_code == 0
    assert f"Example: halfmax {' '.join(command)}" in shown.output


def test_every_command_is_in_the_list_above():
    names = {command.callback.__name__ for command in app.registered_commands}
    groups = {group.name: group.typer_instance for group in app.registered_groups}
    assert names | set(groups) == {command[0] for command in COMMANDS}
    for name, group in groups.items():
        parts = {command.callback.__name__ for command in group.registered_commands}
        assert parts == {command[1] for command in COMMANDS if command[:-1] == [name]}


def test_no_words_show_the_help():
    shown = run()
    assert shown.exit_code == 2
    assert "reproduce" in shown.output


def test_the_help_has_the_exit_codes():
    assert "Exit codes: 0 success, 2 wrong input or usage, 1 unexpected error" in run("-h").output


def test_names_that_complete_are_names_of_the_library():
    for name in options.complete_metric(""):
        assert find_metric(name).name == name
    for name in options.complete_guard(""):
        assert check_guard(name).name == name
    assert options.complete_average("") == ["macro", "micro", "samples", "weighted"]
    assert options.complete_plain_average("") == ["macro", "micro", "samples"]
    for name in options.complete_expected_metric(""):
        assert find_ratio(name)
    assert options.complete_unknown("") == list(UNKNOWN)
    assert options.complete_format("a") == ["arrow"]


def test_version():
    assert run("--version").output == f"halfmax {halfmax.__version__}\n"


def test_it_runs_as_a_module_too():
    shown = subprocess.run(
        [sys.executable, "-m", "halfmax", "--version"], capture_output=True, text=True, check=True
    )
    assert shown.stdout == f"halfmax {halfmax.__version__}\n"


def test_curse_prints_a_table_and_where_the_page_is(monkeypatch):
    def reproduce(out, parts, runs, seed, **_):
        assert (out, parts) == ("paper", ("curse",))
        found = Reproduction(runs, seed, curse=simulate_curse(runs, seed, n=1000))
        return "paper/curse.html", found

    monkeypatch.setattr(study, "reproduce", reproduce)
    shown = run("reproduce", "curse", "--out", "paper", "--runs", 10)
    assert shown.exit_code == 0, shown.output
    assert "10 runs of 1,000 examples" in shown.output
    assert "below half" in shown.output
    assert "Open paper/curse.html" in shown.output


@pytest.mark.parametrize("command", ["assess", "diagnose"])
def test_as_many_resamples_as_the_library_draws(command):
    here = inspect.signature(getattr(labelled, command)).parameters["resamples"]
    there = inspect.signature(getattr(halfmax, f"{command}_table")).parameters["n_resamples"]
    assert here.default == there.default


def test_claims_are_printed_with_the_reasons(tmp_path, monkeypatch):
    claims = [
        Claim("one", "here", "What holds.", "0.18", 0.1818, "pass"),
        Claim(
            "two", "there", "Not [b]this[/b].", "0.84", 0.83333, "differs", SLIP, "Rounded twice."
        ),
    ]
    found = Reproduction(runs=1, seed=0, claims=claims)
    monkeypatch.setattr(study, "reproduce", lambda *_, **__: (tmp_path / "claims.html", found))
    shown = run("reproduce", "claims", "--out", tmp_path)
    for words in ("0.18", "pass", "0.84", "0.8333", "differs", "Rounded twice.", "[b]this[/b]"):
        assert words in shown.output
    assert f" 1 {SLIP}" in shown.output
    assert "1 of 2 claims agree; the others explain why not" in shown.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["reproduce", "--runs", "0"], "halfmax: --runs must be a whole number, 1 or more; got 0"),
        (["reproduce", "curse", "--seed", "-1"], "seed must be a whole number, 0 or more"),
        (["reproduce", "--out", __file__], "out must be a folder that can be written"),
        (["reproduce", "--out", ""], "out must name a folder"),
        (["reproduce", "--out", "x", "claims"], "--out must come after 'claims'"),
        (["reproduce", "--seed", "1", "mesh"], "--seed must come after 'mesh'"),
        (["reproduce", "mesh", "--out", __file__], "out must be a folder that can be written"),
        (["reproduce", "mesh", "--out", ""], "out must name a folder"),
        (["reproduce", "mesh", "--rank", "0"], "--rank must be a whole number, 1 or more; got 0"),
        (["reproduce", "mesh", "--scale", "big"], "--scale must be small or paper; got 'big'"),
        (["reproduce", "mesh", "--data", "none", "x"], "there is no file or folder none"),
        (["reproduce", "mesh", "x"], "Got unexpected extra argument"),
        (
            ["reproduce", "mesh", "--data", __file__, "--scale", "small"],
            "--scale is for generated records, and --data names real ones",
        ),
        (["reproduce", "--runs", "many"], "--runs"),
        (["reproduce", "figure"], "figure"),
        (["tunes"], "tunes"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_errors_are_one_line(words, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run(*words)
    assert shown.exit_code == 2
    assert message in shown.output
    assert "Traceback" not in shown.output
    assert not list(tmp_path.iterdir())


def test_an_interrupt_is_no_traceback(tmp_path, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "reproduce", stop)
    shown = run("reproduce", "--out", tmp_path)
    assert shown.exit_code == 130
    assert "stopped" in shown.output
