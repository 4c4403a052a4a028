"""A MEDLINE record: the parts of it that halfmax uses."""

import re
from typing import NamedTuple

MOST_TEXT = 16 << 20  # characters of a record: the longest real ones have some hundred thousand

_BLANKS = re.compile("[ \t\r\n]+")  # white space of XML; other Unicode spaces are text


class Record(NamedTuple):
    r"""A citation: its title, abstract and distinct MeSH descriptors, in their order.

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
        """Title and abstract, as far as they exist."""
        return join_text(self.title, self.abstract)


class Deletion(NamedTuple):
    """A citation that NLM has withdrawn, up to a version, or (None) in all versions."""

    pmid: str
    version: int | None


class BadRecordError(Exception):
    """What is wrong with a record; the reader adds the file and the place."""


def join_text(title: str, abstract: str) -> str:
    """Join a title and an abstract, either of which may be empty."""
    return f"{title}\n{abstract}" if title and abstract else title or abstract


def tidy(text: str) -> str:
    """Collapse blanks to single spaces, and strip them at both ends."""
    if text.isascii():
        return " ".join(text.split())  # equal, and ten times faster
    return _BLANKS.sub(" ", text).strip(" ")
