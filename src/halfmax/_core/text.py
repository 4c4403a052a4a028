"""Words for messages and screens."""

from collections.abc import Iterable
from typing import Any


def spell_out(names: Iterable[object], last: str = "and", most: int = 8) -> str:
    """'a', 'b' and 'c'; a long list is cut, and says how many it leaves out."""
    words = [repr(name) for name in names]
    if len(words) > most:
        return ", ".join(words[:most]) + f" {last} {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + f" {last} {words[-1]}"


def on_one_line(value: Any) -> str:
    """A label as it is, on one line."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
