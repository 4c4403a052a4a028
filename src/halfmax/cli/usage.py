"""Commands as people type them: help in plain words, and wrong usage as one message."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from halfmax.cli import messages
from halfmax.cli.run import WRONG_INPUT

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
        _fit_help(self, formatter)
        super().format_help(ctx, formatter)


class Group(TyperGroup):
    """A group of commands whose help has no Python in it."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return all options and arguments."""
        return _in_plain_words(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        _fit_help(self, formatter)
        super().format_help(ctx, formatter)


class Program(Group):
    """All commands; wrong usage is reported like every other error."""

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
                why = messages.on_one_line(error.format_message())
                messages.complain(f"{why} (see {where} --help)")
                code = WRONG_INPUT
        if standalone_mode:
            sys.exit(code or 0)
        return code
