"""The help of every command: plain words, whole names, at most 80 columns."""

import re

import pytest
import typer
from shell import assert_fits, run

from halfmax.cli import app

# Names of Python's types, and what stands where an option has no name for its value.
OF_PYTHON = re.compile(
    r"<(?!beta>)\w|list\[|\bbool\b|\b(TEXT|FLOAT|INTEGER|BOOLEAN|PATH)\b|default: None|\bNone\b"
)


def walk(command, words=()):
    """Every command and group with the words that call it."""
    yield list(words), command
    for name, below in getattr(command, "commands", {}).items():
        yield from walk(below, (*words, name))


ALL = list(walk(typer.main.get_command(app)))


def names(command):
    """What must not be broken: options, and what stands for their values."""
    for one in command.params:
        yield from (*one.opts, *one.secondary_opts) if one.opts[0].startswith("-") else ()
        if one.metavar:
            yield one.metavar


@pytest.mark.parametrize("columns", [45, 60, 80, 200])
@pytest.mark.parametrize(("words", "command"), ALL, ids=[" ".join(words) for words, _ in ALL])
def test_help_is_plain_and_fits(words, command, columns):
    shown = run(*words, "--help", env={"COLUMNS": str(columns)})
    assert shown.exit_code == 0
    assert_fits(shown.stdout, min(columns, 80))
    assert OF_PYTHON.search(shown.stdout) is None
    missing = [name for name in names(command) if not is_whole(name, shown.stdout)]
    assert missing == []
    assert "{" not in shown.stdout
    if columns == 80:
        assert f"Usage: halfmax {' '.join([*words, '[OPTIONS]'])}" in shown.stdout


def is_whole(name, text):
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None


def test_every_command_is_tested():
    called = {" ".join(words) for words, _ in ALL}
    assert {"", "tune", "mesh fit", "reproduce mesh", "decide"} <= called
    assert len(called) == 18


@pytest.mark.parametrize("word", ["<bool>", "<list[str]>", "TEXT", "[default: None]", "bool"])
def test_words_of_python_are_recognised(word):
    assert OF_PYTHON.search(f"--out {word}  The file.")


def test_examples_can_be_copied():
    """A terminal of 80 columns shows each on one line."""
    for words, command in ALL:
        if command.epilog and command.epilog.startswith("Example: "):
            assert command.epilog in run(*words, "--help").stdout


def test_the_version_is_the_same_everywhere():
    import halfmax as hm

    assert run("--version").stdout == f"halfmax {hm.__version__}\n"
