"""Commands that messages propose: what was typed, with a few words changed."""

import shlex
from collections.abc import Collection, Sequence

from halfmax.cli.messages import typed_words


def command(*more: str) -> str:
    """Return the command that was typed, with more words behind it."""
    return _joined([*typed_words(), *more])


def replaced(options: Collection[str], value: str, without: Collection[str] = ()) -> str | None:
    """Return the command with another value of an option, and without some words.

    Returns None if the option was not typed.
    """
    words = [word for word in typed_words() if word not in without]
    for place, word in enumerate(words):
        name, is_one_word, _ = word.partition("=")
        if name in options and is_one_word:
            words[place] = f"{name}={value}"
            return _joined(words)
        if word in options and place + 1 < len(words):
            words[place + 1] = value
            return _joined(words)
    return None


def value_of(options: Collection[str]) -> str | None:
    """Return the value of an option as it was typed, the last one; None if it was not typed."""
    words = typed_words()
    found = None
    for place, word in enumerate(words):
        name, is_one_word, value = word.partition("=")
        if name in options and (is_one_word or place + 1 < len(words)):
            found = value if is_one_word else words[place + 1]
    return found


def without(options: Collection[str], flags: Collection[str] = (), more: Sequence[str] = ()) -> str:
    """Return the command without some options and their values, and with more words behind it."""
    kept, skip = list[str](), False
    for word in typed_words():
        if not skip and word.partition("=")[0] not in (*options, *flags):
            kept.append(word)
        skip = not skip and word in options
    return _joined([*kept, *more])


def swapped(one: str, other: str) -> str:
    """Return the command with two of its words in each other's place."""
    places = {one: other, other: one}
    return _joined([places.get(word, word) for word in typed_words()])


def _joined(words: Sequence[str]) -> str:
    return shlex.join(["halfmax", *words])
