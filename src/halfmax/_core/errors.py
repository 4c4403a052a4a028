"""Words shared by error messages, and the warning that halfmax gives."""

from collections.abc import Iterable


class HalfmaxWarning(UserWarning):
    """Something in the answer deserves a second look; the message says what and why."""


class OptimismWarning(HalfmaxWarning):
    """Thresholds flood labels, or look much better here than they will on new data."""


def spell_out(names: Iterable[object], last: str = "and", most: int = 8) -> str:
    """'a', 'b' and 'c'; a long list is cut, and says how many it leaves out."""
    words = [repr(name) for name in names]
    if len(words) > most:
        return ", ".join(words[:most]) + f" {last} {len(words) - most} more"
    if len(words) < 2:
        return "".join(words)
    return ", ".join(words[:-1]) + f" {last} {words[-1]}"
