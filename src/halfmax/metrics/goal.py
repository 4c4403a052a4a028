"""What is asked of a tuning, checked once."""

import re
from typing import Any, NamedTuple

import numpy as np

_GUARDS = ("fbr", "smooth", "calibrated", "never", "auto")
_FBR = re.compile(r"fbr:(\d*\.?\d+|\d+\.)", re.ASCII)


class Guard(NamedTuple):
    """The name of a guard, and the F below which ``"fbr"`` lifts a threshold."""

    name: str
    floor: float = 0.1

    def __str__(self) -> str:
        floor = np.format_float_positional(self.floor, trim="-")
        return f"fbr:{floor}" if self.name == "fbr" else self.name


def check_guard(guard: Any) -> Guard | None:
    """The guard of that name; ``"fbr:0.2"`` carries its parameter."""
    if guard is None:
        return None
    if isinstance(guard, str):
        if guard in _GUARDS:
            return Guard(guard)
        match = _FBR.fullmatch(guard)
        if match and 0.0 <= float(match[1]) <= 1.0:
            return Guard("fbr", float(match[1]))
    raise ValueError(
        "guard must be None, 'auto' (recommended), 'calibrated', 'smooth', 'never', 'fbr' or "
        f"'fbr:<F from 0 to 1>' such as 'fbr:0.2'; got {guard!r:.60}"
    )
