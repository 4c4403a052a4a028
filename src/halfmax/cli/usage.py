"""Commands as people type them: help in plain words, and wrong usage as one message."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import SequenceMatcher
from functools import partial
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from halfmax._core.text import spell_out
from halfmax.cli import messages, proposals
from halfmax.cli.run import FAILED, NO_READER, WRONG_INPUT, let_go_of_stdout

_NOT_A_NUMBER = re.compile(r"Input should be a valid (number|integer)")
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+")
_ALIKE, _MOST_ALIKE = 0.75, 3  # options to propose for one that does not exist
_NARROW_NAMES = 20  # columns for the names of options in a narrow terminal
_ONE_LINE = 10_000  # columns that no help of an option needs
_UsageError: Any = typer.BadParameter.__bases__[0]  # from the click that typer includes


def _in_plain_words(parameters: list[Any]) -> list[Any]:
    """Leave the names of Python's types out of the help."""
    for one in parameters:
        if getattr(one, "is_flag", False) and one.metavar is None:
            one.metavar = ""  # a switch takes no value
        if one.param_type_name == "argument":
            piece = one.metavar if one.nargs == 1 else f"{one.metavar}..."
            one.display_type_rich = lambda ctx: ""  # noqa: ARG005
            one.get_usage_pieces = lambda ctx, piece=piece: [piece]  # noqa: ARG005
    return parameters


def _fit_help(command: Any, formatter: Any) -> None:
    """Make the help as wide as other messages; in a narrow terminal, without frames."""
    from typer import rich_utils

    formatter.width = rich_utils.MAX_WIDTH = messages.columns_of(sys.stdout)
    if formatter.width < messages.MOST_COLUMNS:
        command.rich_markup_mode = None
        formatter.write_dl = partial(formatter.write_dl, col_max=_NARROW_NAMES)


@contextmanager
def _until_nobody_reads() -> Iterator[None]:
    """End with the code of a closed pipe if the reader of a help or version has gone."""
    try:
        yield
    except BrokenPipeError:
        let_go_of_stdout()
        raise typer.Exit(NO_READER) from None


def _print_help(command: Any, print_it: Callable[[Any, Any], None], ctx: Any, to: Any) -> None:
    """Print the help of a command by the method that its class has."""
    _fit_help(command, to)
    try:
        print_it(ctx, to)
    except SystemExit:  # by rich, if nobody reads; it has let go of stdout
        raise typer.Exit(NO_READER) from None


def _unwrap_help() -> None:
    """Keep the help of an option on one line: fish takes each line for a completion."""
    from typer import rich_utils

    rich_utils.MAX_WIDTH = _ONE_LINE


class Command(TyperCommand):
    """A command whose help has no Python in it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments."""
        return _in_plain_words(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print_help(self, super().format_help, ctx, formatter)


class Group(TyperGroup):
    """A group of commands whose help has no Python in it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments."""
        return _in_plain_words(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _print_help(self, super().format_help, ctx, formatter)


class Program(Group):
    """All commands; wrong usage is reported like every other error."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        """Read the command line, as far as the name of the command; print the help."""
        with _until_nobody_reads():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        with _until_nobody_reads():
            return super().invoke(ctx)

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
        if "_HALFMAX_COMPLETE" in os.environ:
            _unwrap_help()
        with messages.command_line(sys.argv[1:] if args is None else args):
            try:
                code = super().main(
                    args, prog_name, complete_var, False, windows_expand_args, **extra
                )
            except _UsageError as error:
                if not standalone_mode:
                    raise
                where = "halfmax" if error.ctx is None else error.ctx.command_path
                why = messages.on_one_line(_explained(error))
                messages.complain(f"{why} (see {where} --help)")
                code = WRONG_INPUT
            except OSError as error:  # help or a version that cannot be written
                messages.complain(f"standard output: {error.strerror}")
                code = FAILED
        if standalone_mode:
            sys.exit(code or 0)
        return code


def _explained(error: Any) -> str:
    """Say what is wrong with the command line, and what was meant if it can be told."""
    message = str(error.format_message())
    if _NOT_A_NUMBER.search(message):
        return _not_a_number(error.param.opts, whole="integer" in message)
    if not hasattr(error, "possibilities") or not hasattr(error, "option_name"):
        return message
    typed, there = error.option_name, _options_of(error.ctx)
    alike = [name for name in there if _likeness(name, typed) >= _ALIKE or name.startswith(typed)]
    alike.sort(key=lambda name: -_likeness(name, typed))
    meant = f". Did you mean {spell_out(alike[:_MOST_ALIKE], 'or')}?" if alike else ""
    return f"{error.message}{meant}"


def _options_of(context: Any) -> list[str]:
    """Return the options of a command, as they are typed."""
    options = context.command.params if context is not None else []
    names = (name for one in options for name in (*one.opts, *one.secondary_opts))
    return [name for name in names if name.startswith("--")]


def _likeness(one: str, other: str) -> float:
    return SequenceMatcher(None, one, other).ratio()


def _not_a_number(options: Sequence[str], whole: bool) -> str:
    value = proposals.value_of(options)
    got = "" if value is None else f"; got {value!r}"
    if value is not None and not whole and _DECIMAL_COMMA.fullmatch(value):
        got += f": write {value.replace(',', '.')}"
    return f"{options[0]} must be a {'whole ' * whole}number{got}"
