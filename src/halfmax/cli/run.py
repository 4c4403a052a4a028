"""How a command runs: its result first, then advice on stderr; an error ends with its code."""

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import typer

from halfmax._core.errors import HalfmaxWarning, Respellable
from halfmax.cli import messages
from halfmax.cli.bar import Bar
from halfmax.cli.csv_places import in_lines
from halfmax.cli.messages import on_one_line
from halfmax.cli.signals import handled_by
from halfmax.cli.spelling import in_shell

FAILED, WRONG_INPUT, INTERRUPTED, NO_READER, BY_SIGNAL = 1, 2, 130, 141, 128
EXIT_CODES = (
    "0 success, 2 wrong input or usage, 1 unexpected error, 130 stopped by Ctrl-C, "
    "141 output pipe closed, 143 ended by SIGTERM, 129 by SIGHUP"
)

_WRONG = (ValueError, TypeError, OSError, ImportError)
_NOT_THE_INPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # the disk is full, or broken


class Run:
    """A running command: what it says beside its result, and the file names that messages use."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.warnings: list[str] = []
        self.notes: list[str] = []  # what the command assumed
        self.next_steps: list[str] = []  # what to do after a success
        self.after_error: list[str] = []  # what remains after an error, and what can be done
        self.commands: list[str] = []  # commands to type instead, after an error
        self.names: dict[str, str] = {}  # temporary file -> the name that the caller knows
        self.signal_received: int | None = None  # the number of the signal that asked to stop

    def stop(self, number: int, *_: object) -> None:
        """Handle a signal: unwind the stack, so that temporary files are removed."""
        self.signal_received = number
        self.stop_if_asked()

    def stop_if_asked(self) -> None:
        """Raise again what a signal raised, if it was swallowed, as in imports by pyarrow."""
        if self.signal_received is not None:
            raise KeyboardInterrupt

    @contextmanager
    def working(self, what: str) -> Iterator[Bar]:
        """Show a bar if the work takes long."""
        with self.noting_warnings(), Bar(what, self.stop_if_asked, shown=not self.quiet) as bar:
            yield bar
            self.stop_if_asked()

    @contextmanager
    def noting_warnings(self) -> Iterator[None]:
        """Keep each warning once, to be shown below the result."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", HalfmaxWarning)
            warnings.showwarning = self._note_warning
            yield

    def _note_warning(self, message: Warning | str, *_: Any, **__: Any) -> None:
        words = self.words_of(message)
        if words not in self.warnings:
            self.warnings.append(words)

    def advise(self) -> None:
        """Say what was assumed, and warn; this stands below the result."""
        for note in self.notes:
            messages.say(note)
        for warning in self.warnings:
            messages.say(f"warning: {warning}", messages.WARNING)

    def suggest(self) -> None:
        """Say what can be done next, if somebody looks."""
        if not self.quiet and messages.is_terminal(sys.stderr):
            for step in self.next_steps:
                messages.say(step, messages.HINT)

    def explain(self, why: str) -> None:
        """Say why the command failed."""
        for line in (why, *self.after_error):
            messages.complain(line)
        for command in self.commands:
            messages.say_command(command)

    def words_of(self, error: Exception | str) -> str:
        """Return a message in the shell's spelling, with the caller's file names, on one line."""
        text = error.worded(in_shell) if isinstance(error, Respellable) else str(error)
        text = in_lines(text)
        for ours, theirs in self.names.items():
            text = text.replace(ours, theirs)
        return on_one_line(text)


@contextmanager
def running(quiet: bool = False, debug: bool = False) -> Iterator[Run]:
    """Turn errors into a message and an exit code; with `debug`, show the traceback."""
    run = Run(quiet)
    try:
        with handled_by(run.stop), run.noting_warnings():
            yield run
            run.stop_if_asked()
            if sys.stdout is not None:
                sys.stdout.flush()
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        code = _exit_code(error) if run.signal_received is None else BY_SIGNAL + run.signal_received
        if debug:
            traceback.print_exc()
        if isinstance(error, BrokenPipeError):
            let_go_of_stdout()
        run.advise()
        if code == INTERRUPTED or (run.signal_received is None and code != NO_READER):
            run.explain("stopped" if code == INTERRUPTED else _explain(error, run))
        raise typer.Exit(code) from None
    run.advise()
    run.suggest()


def _exit_code(error: BaseException) -> int:
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, BrokenPipeError):
        return NO_READER
    if isinstance(error, _WRONG) and getattr(error, "errno", None) not in _NOT_THE_INPUT:
        return WRONG_INPUT
    return FAILED


def _explain(error: BaseException, run: Run) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return run.words_of(f"{error.filename}: {error.strerror}")
    if isinstance(error, _WRONG):
        return run.words_of(error) or type(error).__name__
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    words = run.words_of(f"{type(error).__name__}: {error}")
    return f"unexpected error, {words} (--debug shows where)"


def let_go_of_stdout() -> None:
    """Discard what is still in the buffer of stdout, whose reader has closed the pipe."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
