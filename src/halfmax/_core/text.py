"""Text helpers for messages and screens."""

from collections.abc import Iterable
from typing import Any


def spell_out(names: Iterable[object], last: str = "and", most: int = 8) -> str:
    """List names as in "'a', 'b' and 'c'"; a long list ends with the number left out."""
    words = [repr(name) for name in names]
    if len(words) > most:
        return ", ".join(words[:most]) + f" {last} {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + f" {last} {words[-1]}"


def on_one_line(value: Any) -> str:
    """Return a label as text, with line breaks and other control characters escaped."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in str(value))
