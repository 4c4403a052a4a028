"""The warnings that halfmax gives."""

import sys
import warnings
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1])


class HalfmaxWarning(UserWarning):
    """Something in the answer deserves a second look; the message says what and why."""


class OptimismWarning(HalfmaxWarning):
    """Thresholds flood labels, or look much better here than they will on new data."""


def warn(message: str, category: type[Warning] = HalfmaxWarning) -> None:
    """Warn at the line outside of halfmax that called it."""
    frame, hops = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame, hops = frame.f_back, hops + 1
    warnings.warn(message, category, stacklevel=hops)
