"""Messages on stderr: at most 80 columns wide, broken between words, coloured in a terminal."""

import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from halfmax._core.text import on_one_line as printable

MOST_COLUMNS = 80
_FEWEST_COLUMNS = 20
_INDENT = "  "  # of all lines of a message but the first
_NO_BREAK = "\ue000"  # stands for a space inside a name, where no line may end
ERROR, WARNING, NOTE, HINT = "bold red", "yellow", "", "dim"

_typed: ContextVar[tuple[str, ...]] = ContextVar("_typed", default=())


@contextmanager
def command_line(words: Sequence[str]) -> Iterator[None]:
    """Remember the words of the command line; file names among them are not broken at spaces."""
    token = _typed.set(tuple(words))
    try:
        yield
    finally:
        _typed.reset(token)


def typed_words() -> tuple[str, ...]:
    """Return the words of the command line after ``halfmax``."""
    return _typed.get()


def columns_of(stream: Any) -> int:
    """Return the width of messages: that of the terminal or of COLUMNS, at most 80."""
    columns = MOST_COLUMNS
    with suppress(KeyError, ValueError):
        columns = int(os.environ["COLUMNS"])
    with suppress(OSError, ValueError, AttributeError):  # no terminal, or no stream at all
        columns = os.get_terminal_size(stream.fileno()).columns or columns
    return max(_FEWEST_COLUMNS, min(columns, MOST_COLUMNS))


def is_terminal(stream: Any) -> bool:
    """Whether somebody looks at a stream."""
    with suppress(OSError, ValueError, AttributeError):
        return bool(stream.isatty())
    return False


def on_one_line(text: str) -> str:
    """Join lines with spaces and escape control characters."""
    return printable(" ".join(line.strip() for line in text.splitlines()))


def wrapped(text: str, columns: int, indent: str = "") -> str:
    """Break a text into lines between words; a word or file name longer than a line stays whole."""
    from rich.cells import cell_len

    for name in _names_with_spaces():
        text = text.replace(name, name.replace(" ", _NO_BREAK))
    first, *words = text.split(" ")
    lines = [first]
    for word in words:
        longer = f"{lines[-1]} {word}"
        if cell_len(longer) <= columns or not lines[-1].strip():
            lines[-1] = longer
        else:
            lines.append(indent + word)
    return "\n".join(lines).replace(_NO_BREAK, " ")


def _names_with_spaces() -> set[str]:
    values = (part for word in typed_words() for part in (word, word.partition("=")[2]))
    return {value for value in values if " " in value}


def say(text: str, style: str = NOTE) -> None:
    """Print a message on stderr, in a style if it is a terminal."""
    _print(wrapped(text, columns_of(sys.stderr), _INDENT), style)


def complain(text: str) -> None:
    """Print an error on stderr."""
    head = "halfmax:"
    _print(wrapped(f"{head} {text}", columns_of(sys.stderr), _INDENT), NOTE, len(head))


def say_command(words: str) -> None:
    """Print a command to copy on lines of its own, which a shell reads as one."""
    words = re.sub("'[^']*'", lambda quoted: quoted[0].replace(" ", _NO_BREAK), words)
    columns = columns_of(sys.stderr) - len(" \\")
    lines = wrapped(words, columns - 2 * len(_INDENT), _INDENT).splitlines()
    _print(" \\\n".join(2 * _INDENT + line for line in lines), NOTE)


def _print(lines: str, style: str, head: int = 0) -> None:
    """Print lines; the first letters, up to `head`, have the style of errors."""
    if sys.stderr is None:
        return
    from rich.console import Console
    from rich.text import Text

    text = Text(lines, style)
    text.stylize(ERROR, 0, head)
    with suppress(BrokenPipeError):  # nobody reads messages any more
        Console(file=sys.stderr, highlight=False).print(text, soft_wrap=True)
