"""What is kept of a MEDLINE record."""

import re
from typing import NamedTuple

MOST_TEXT = 16 << 20  # of a record: the longest real ones have some hundred thousand characters

_BLANKS = re.compile("[ \t\r\n]+")  # as XML knows them: other spaces of Unicode are text


class Record(NamedTuple):
    r"""A citation: its title, abstract and distinct MeSH descriptors, in the order given.

    >>> Record("1", "Aspirin and fever.", "We gave aspirin.", ("Aspirin", "Fever")).text
    'Aspirin and fever.\nWe gave aspirin.'
    """

    pmid: str
    title: str
    abstract: str  # "" if there is none
    mesh: tuple[str, ...]
    version: int = 1

    @property
    def text(self) -> str:
        """Title and abstract, whichever are there."""
        return join_text(self.title, self.abstract)


class Deletion(NamedTuple):
    """A citation that NLM has withdrawn, up to a version or (None) whatever its version."""

    pmid: str
    version: int | None


class BadRecordError(Exception):
    """What is wrong with a record; the reader adds the file and the place."""


def join_text(title: str, abstract: str) -> str:
    """The text of a record that has these."""
    return f"{title}\n{abstract}" if title and abstract else title or abstract


def tidy(text: str) -> str:
    """The same with single blanks, and none at its ends."""
    if text.isascii():
        return " ".join(text.split())  # the same, ten times faster
    return _BLANKS.sub(" ", text).strip(" ")
