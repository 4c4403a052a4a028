"""Commands run in this process, and what they say on stderr."""

import re
from typing import NamedTuple

from rich.cells import cell_len
from typer.testing import CliRunner

from halfmax.cli import app

COLUMNS = 80


class Shown(NamedTuple):
    """What a command showed; messages on stderr have one line each, however they were wrapped."""

    exit_code: int
    stdout: str
    stderr: str
    output: str  # both, as they were mixed and wrapped
    exception: BaseException | None


def run(*words, **more):
    """Run a command; whatever it says on stderr must fit into 80 columns."""
    done = CliRunner().invoke(app, [str(word) for word in words], **more)
    if "--debug" not in words:  # which shows a traceback
        assert_fits(done.stderr)
    return Shown(done.exit_code, done.stdout, unwrapped(done.stderr), done.output, done.exception)


def unwrapped(text):
    """Join the lines of each message: all but the first are indented."""
    return re.sub(r"(?: \\)?\n +", " ", text)


def assert_fits(text, columns=COLUMNS):
    """Lines are not wider than the screen, unless a line is one word that is."""
    for line in text.splitlines():
        assert cell_len(line) <= columns or len(line.split()) == 1, line
