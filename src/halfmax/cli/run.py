"""How a command runs: progress and warnings on stderr, errors as one line and an exit code."""

import errno
import os
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from textwrap import fill
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from halfmax._core.errors import HalfmaxWarning, Respellable
from halfmax.cli.bar import Bar
from halfmax.cli.signals import handled_by
from halfmax.cli.spelling import in_shell

FAILED, WRONG_INPUT, INTERRUPTED, NO_READER, BY_SIGNAL = 1, 2, 130, 141, 128
EXIT_CODES = (
    "0 success, 2 wrong input or usage, 1 unexpected error, 130 stopped by Ctrl-C, "
    "141 output pipe closed, 143 ended by SIGTERM, 129 by SIGHUP"
)

_WRONG = (ValueError, TypeError, OSError, ImportError)
_NOT_THE_INPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # the disk is full, or broken
_UsageError: Any = typer.BadParameter.__bases__[0]  # from the click that typer includes


def _switches_without_type(options: list[Any]) -> list[Any]:
    """Leave the type of switches, which take no value, out of the help."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options


class Command(TyperCommand):
    """A command whose help shows no type for switches, --help among them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments."""
        return _switches_without_type(super().get_params(ctx))


class Group(TyperGroup):
    """A group of commands whose help shows no type for switches."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments."""
        return _switches_without_type(super().get_params(ctx))


class OneLineErrors(Group):
    """A group of commands that reports wrong usage in one line, like every other error."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; in standalone mode, end the process with the exit code."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _UsageError as error:
            if not standalone_mode:
                raise
            where = "halfmax" if error.ctx is None else error.ctx.command_path
            complain(f"halfmax: {on_one_line(error.format_message())} (see {where} --help)")
            code = WRONG_INPUT
        if standalone_mode:
            sys.exit(code or 0)
        return code


class Run:
    """A running command: its warnings, and the file names that its messages use."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.warnings: list[str] = []
        self.names: dict[str, str] = {}  # temporary file -> the name that the caller knows
        self.hints: list[str] = []  # lines after an error that say what can be done
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
        """Show a bar if the work takes long; afterwards print each warning once, as a line."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", HalfmaxWarning)
            try:
                with Bar(what, self.stop_if_asked, shown=not self.quiet) as bar:
                    yield bar
                    self.stop_if_asked()
            finally:
                lines = dict.fromkeys(self.words_of(one.message) for one in caught)
                new = [warning for warning in lines if warning not in self.warnings]
                self.warnings += new
                for warning in new:
                    complain(f"warning: {warning}")

    def words_of(self, error: Exception | str) -> str:
        """Return a message in the shell's spelling, with the caller's file names, on one line."""
        text = error.worded(in_shell) if isinstance(error, Respellable) else str(error)
        for ours, theirs in self.names.items():
            text = text.replace(ours, theirs)
        return on_one_line(text)


def on_one_line(text: str) -> str:
    """Join lines with spaces and escape control characters."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)


def complain(line: str) -> None:
    """Print a line on stderr; on a terminal, wrap it between words."""
    width = None
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no stderr at all
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    if width:
        line = fill(line, max(width, 20), break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)


@contextmanager
def running(quiet: bool = False, debug: bool = False) -> Iterator[Run]:
    """Turn errors into one line on stderr and an exit code; with `debug`, show the traceback."""
    run = Run(quiet)
    try:
        with handled_by(run.stop):
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
            _let_go_of_stdout()
        if code == INTERRUPTED or (run.signal_received is None and code != NO_READER):
            why = "stopped" if code == INTERRUPTED else _explain(error, run)
            for line in (why, *run.hints):
                complain(f"halfmax: {line}")
        raise typer.Exit(code) from None


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


def _let_go_of_stdout() -> None:
    """Discard what is still in the buffer of stdout, whose reader has closed the pipe."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
