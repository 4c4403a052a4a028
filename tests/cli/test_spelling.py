"""The table of the shell's spellings: its options exist, and settings follow it."""

import pytest
import typer

from halfmax.cli import app
from halfmax.cli.spelling import SPELLINGS, in_shell


def options(command):
    """All names of options of a command and of those below it."""
    for option in command.params:
        yield from (*option.opts, *option.secondary_opts)
    for below in getattr(command, "commands", {}).values():
        yield from options(below)


def test_every_option_in_the_table_exists():
    known = {"--help", *options(typer.main.get_command(app))}
    words = {word.strip(";,") for text in SPELLINGS.values() for word in text.split()}
    assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("n_resamples", "--resamples"),
        ("guard='auto'", "--guard auto"),
        ("min_k=3", "--min-k 3"),
        ("zero_division=nan", "--zero-division nan"),
        ("truth=...", "--truth"),
        ("label=None", "--binary"),
        ("guard=None", "no --guard"),
        ("y_true", "the truth"),
        ("diagnose()", "halfmax diagnose"),
        ("the thresholds", "the thresholds"),
        ("pos_label='yes'", "--positive yes"),
        ("sort='yes'", "sort='yes'"),
        (
            "Compare with the positive class first, as in y == 'b'",
            "Give it two classes, the positive one and one for all other rows",
        ),
    ],
)
def test_spellings(python, shell):
    assert in_shell(python) == shell
