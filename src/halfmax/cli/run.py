"""How a command runs: what is told meanwhile, and what an error becomes."""

import errno
import os
import re
import signal
import sys
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from textwrap import fill
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from halfmax.cli.bar import Bar

FAILED, WRONG_INPUT, INTERRUPTED, NO_READER, BY_SIGNAL = 1, 2, 130, 141, 128
EXIT_CODES = (
    "0 all is well, 2 wrong input or usage, 1 an unexpected error, 130 stopped by Ctrl-C, "
    "141 nobody reads the output, 143 ended by SIGTERM, 129 by SIGHUP"
)

_WRONG = (ValueError, TypeError, OSError, ImportError)
_NOT_THE_INPUT = (errno.ENOSPC, errno.EDQUOT, errno.EIO)  # the disk is full, or broken
_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has the last
_UsageError: Any = typer.BadParameter.__bases__[0]  # of the click that typer brings along

# What the library calls its arguments, and what they are called here.
_ARGUMENT = re.compile(
    r"^(average|guard|level|max_k|max_words|metric|min_count|min_k|min_precision|min_recall|"
    r"n_instances|n_labels|n_resamples|n_test|n_train|n_words|penalty|prediction|rank|rule|seed|"
    r"unknown|zero_division)(?= (must|is for) )"
)
_COLUMN = re.compile(r"\b(instance|label|prediction|probability|score|truth|weight)=\.\.\.")
_CHOICE = re.compile(r"\b(average|guard|metric)='(\w+)'")
# Arrays, of wide files; in quotes it is a label, and with more around it the name of a file.
_ARRAY = re.compile(r"(?<![^\s(])(y_true|y_score|y_prob)(?=[\s\[,;:)]|$)")
_ARRAYS = {"y_true": "the truth", "y_score": "the scores", "y_prob": "the probabilities"}
_SPELLINGS = {
    "--n-resamples": "--resamples",
    "--n-labels": "--terms",
    "--n-words": "--words",
    "--n-train": "--records",
    "--n-test": "--test-records",
    "n_train times labels_per_record, so that": "--records times the terms of a record, so that",
    "n_train times words_per_record, so that": "--records times the words of a record, so that",
    "--guard must be None, ": "--guard must be ",
    ", or a Metric object": "",
    "or use label=None for one classifier": "or use --binary for one classifier; --help tells of "
    "files with a column for each label",
    "label=None": "--binary",
    "instance=None": "--trust-rows",
    "per_label=False": "--shared",
    "diagnose()": "halfmax diagnose",
    "say that it may be replaced": "--force replaces it",
}


def _switches_without_type(options: list[Any]) -> list[Any]:
    """The same options; help shows the type of a switch, which takes no value, as nothing."""
    for option in options:
        if getattr(option, "is_flag", False) and option.metavar is None:
            option.metavar = ""
    return options


class Command(TyperCommand):
    """A command whose help shows no type for switches, --help among them."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options and arguments."""
        return _switches_without_type(super().get_params(ctx))


class Group(TyperGroup):
    """Commands under a name, whose help does the same."""

    def get_params(self, ctx: Any) -> list[Any]:
        """All options and arguments."""
        return _switches_without_type(super().get_params(ctx))


class OneLineErrors(Group):
    """Commands whose wrong usage is told in a line, too."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run a command; by itself it ends the process with the exit code."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **extra)
        except _UsageError as error:
            if not standalone_mode:
                raise
            where = "halfmax" if error.ctx is None else error.ctx.command_path
            complain(f"halfmax: {on_one_line(error.format_message())} ({where} --help tells more)")
            code = WRONG_INPUT
        if standalone_mode:
            sys.exit(code or 0)
        return code


class Run:
    """One command at work: its warnings, and the names that its messages use."""

    def __init__(self, quiet: bool) -> None:
        self.quiet = quiet
        self.warnings: list[str] = []
        self.names: dict[str, str] = {}  # of files that the caller does not know
        self.last_words: list[str] = []  # after what went wrong: lines that say what can be done
        self.asked: int | None = None  # to stop, by the signal of that number

    def stop(self, number: int, *_: object) -> None:
        """Handle a signal: unwind the stack, so that temporary files go."""
        self.asked = number
        self.stop_if_asked()

    def stop_if_asked(self) -> None:
        """Stop now if what the signal raised was swallowed, as in imports that pyarrow makes."""
        if self.asked is not None:
            raise KeyboardInterrupt

    @contextmanager
    def working(self, what: str) -> Iterator[Bar]:
        """A bar while it takes long; afterwards each warning is a line, told once."""
        with warnings.catch_warnings(record=True) as caught:
            from halfmax._core.errors import HalfmaxWarning

            warnings.simplefilter("always", HalfmaxWarning)
            try:
                with Bar(what, self.stop_if_asked, shown=not self.quiet) as bar:
                    yield bar
                    self.stop_if_asked()
            finally:
                told = dict.fromkeys(self.reworded(str(w.message)) for w in caught)
                new = [warning for warning in told if warning not in self.warnings]
                self.warnings += new
                for warning in new:
                    complain(f"warning: {warning}")

    def reworded(self, text: str) -> str:
        """A message of the library in the words of the command line, on one line."""
        for ours, theirs in self.names.items():
            text = text.replace(ours, theirs)
        return on_one_line(respelled(text))


def respelled(text: str) -> str:
    """The library's words for its arguments as options."""
    text = _ARGUMENT.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
    text = _ARRAY.sub(lambda found: _ARRAYS[found[1]], text)
    text = _CHOICE.sub(r"--\1 \2", _COLUMN.sub(r"--\1", text))
    for ours, theirs in _SPELLINGS.items():
        text = text.replace(ours, theirs)
    return text


def on_one_line(text: str) -> str:
    """Words as they are, with what would move the cursor spelled out."""
    words = " ".join(text.split())
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in words)


def complain(line: str) -> None:
    """A line on stderr; a terminal gets several that break between words."""
    width = None
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no stderr at all
        width = os.get_terminal_size(sys.stderr.fileno()).columns
    if width:
        line = fill(line, max(width, 20), break_long_words=False, break_on_hyphens=False)
    print(line, file=sys.stderr)


@contextmanager
def running(quiet: bool = False, debug: bool = False) -> Iterator[Run]:
    """What goes wrong is one line on stderr and an exit code; with `debug`, the traceback too."""
    run = Run(quiet)
    try:
        with _heard(run.stop):
            yield run
            run.stop_if_asked()
            if sys.stdout is not None:
                sys.stdout.flush()
    except (typer.Exit, SystemExit):
        raise
    except BaseException as error:
        code = _exit_code(error) if run.asked is None else BY_SIGNAL + run.asked
        if debug:
            traceback.print_exc()
        if isinstance(error, BrokenPipeError):
            _let_go_of_stdout()
        if code == INTERRUPTED or (run.asked is None and code != NO_READER):
            told = "stopped" if code == INTERRUPTED else _told(error, run)
            for line in (told, *run.last_words):
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


def _told(error: BaseException, run: Run) -> str:
    if isinstance(error, OSError) and error.strerror and error.filename:
        return run.reworded(f"{error.filename}: {error.strerror}")
    if isinstance(error, _WRONG):
        return run.reworded(str(error) or type(error).__name__)
    if isinstance(error, MemoryError):
        return "there is not enough memory"
    words = run.reworded(f"{type(error).__name__}: {error}")
    return f"unexpected error, {words} (--debug shows where)"


def _let_go_of_stdout() -> None:
    """Whoever read the output has seen enough; what is still in its buffer goes nowhere."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextmanager
def _heard(stop: Callable[..., None]) -> Iterator[None]:
    """Signals that end a process, also of timeout(1) and of a terminal that closes, call `stop`.

    One that is ignored stays so, as SIGHUP below nohup(1).
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        before = {number: signal.getsignal(number) for number in numbers}
    heard = [number for number, old in before.items() if old not in (signal.SIG_IGN, None)]
    for number in heard:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in heard:
            signal.signal(number, before[number])
