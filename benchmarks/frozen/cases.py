"""What a case is, and how it is run: its value, and the words said on the way."""

import os
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from benchmarks.frozen.digest import digest, kind_of

# Of these no library promises when and how often they come.
_UNSTEADY = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, ImportWarning)

_PLACES = re.compile(r"\b0x[0-9a-f]+")


class Case(NamedTuple):
    """A name, and what computes its answer; `Answer` where some of that is text."""

    name: str
    work: Callable[[], Any]


class Answer(NamedTuple):
    """An answer of both kinds; None for none."""

    values: Any = None
    words: Any = None


def run(case: Case) -> dict[str, str]:
    """The hashes of a case: of its values, of its words, and of its warnings or error."""
    error = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = case.work()
        except Exception as raised:  # what is refused is an answer, too
            found, error = raised, raised
    found = found if isinstance(found, Answer) else Answer(found)
    hashes = {}
    if found.values is not None:
        hashes[f"values:{case.name}"] = digest(found.values)
    if found.words is not None:
        hashes[f"words:{case.name}"] = digest(found.words)
    if said := list(_said(caught)):
        hashes[f"words:{case.name}:warnings"] = digest(said)
    if error is not None:
        hashes[f"words:{case.name}:error"] = digest([kind_of(error), *_lines(error)])
    return hashes


def _said(caught: list[warnings.WarningMessage]) -> Iterator[tuple[str, str]]:
    for one in caught:
        if not issubclass(one.category, _UNSTEADY):
            yield one.category.__name__, steady(str(one.message))


def _lines(error: BaseException) -> list[str]:
    return [steady(text) for text in (str(error), *getattr(error, "__notes__", ()))]


def steady(text: str) -> str:
    """Without what differs from run to run: the working directory, places in memory."""
    return _PLACES.sub("<place>", text.replace(os.getcwd(), "<here>"))
