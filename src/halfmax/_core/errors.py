"""The errors and warnings of halfmax, whose messages other interfaces can spell their own way.

A message names arguments, settings and functions as Python spells them: ``per_label``,
``guard='auto'``, ``diagnose()``. `in_python` marks each of them, so that another interface, such as
the shell, can replace the spelling by looking it up. Python users never see the marks.
"""

import re
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])
_MARKED = re.compile("\x02([^\x02\x03]*)\x03")  # two control characters that no message holds


def in_python(spelling: str) -> str:
    """Mark an argument, a setting or a function in a message, spelled as in Python.

    >>> respelled(f"use {in_python('per_label=False')}", {"per_label=False": "--shared"}.get)
    'use --shared'
    """
    return f"\x02{spelling}\x03"


def setting(argument: str, value: object) -> str:
    """Mark an argument with a value, as in ``guard='auto'``."""
    return in_python(f"{argument}={value!r}")


def respelled(message: str, spell: Callable[[str], str | None] = str) -> str:
    """Replace each marked spelling by ``spell(spelling)``; by default only the marks go."""
    return _MARKED.sub(lambda found: spell(found[1]) or "", message)


class Respellable(Exception):  # noqa: N818  warnings are exceptions, too
    """An error or warning with a marked message; ``str`` gives it in Python's spelling."""

    def __init__(self, message: str = "") -> None:
        super().__init__(respelled(message))
        self.marked = message

    @property
    def argument(self) -> str | None:
        """The name of the argument that the message is about: the first one it mentions."""
        names = (spelling.partition("=")[0] for spelling in _MARKED.findall(self.marked))
        return next((name for name in names if name.isidentifier()), None)

    def worded(self, spell: Callable[[str], str | None]) -> str:
        """Return the message with every marked spelling replaced by ``spell(spelling)``."""
        return respelled(self.marked, spell)


class ArgumentError(Respellable, ValueError):
    """An argument has a wrong value.

    >>> error = ArgumentError(f"{in_python('max_k')} must not be negative")
    >>> str(error), error.argument, error.worded(lambda name: f"--{name.replace('_', '-')}")
    ('max_k must not be negative', 'max_k', '--max-k must not be negative')
    """


class ArgumentTypeError(Respellable, TypeError):
    """An argument has a wrong type."""


class FileKeptError(Respellable, FileExistsError):
    """A file already exists, and the arguments do not allow overwriting it."""


class HalfmaxWarning(Respellable, UserWarning):
    """Something in the answer deserves a second look; the message says what and why.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    """


class OptimismWarning(HalfmaxWarning):
    """Thresholds flood labels, or look much better here than they will on new data.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    """


def warn(message: str, category: type[HalfmaxWarning] = HalfmaxWarning) -> None:
    """Warn at the line outside of halfmax that called it."""
    frame, hops = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, hops = frame.f_back, hops + 1
    warnings.warn(category(message), stacklevel=hops)
