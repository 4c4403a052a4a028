"""The other half of the gate: options, each checked against its rule."""

import math
from typing import Any

import numpy as np


def check_share(name: str, value: float | None, also: str = "") -> float | None:
    """A number from 0 to 1."""
    if value is None:
        return None
    number = _as_number(value)
    if not 0.0 <= number <= 1.0:
        raise ValueError(f"{name} must be a number from 0 to 1{also}; got {value!r}")
    return number


def _as_number(value: Any) -> float:
    """NaN for what is no number, words for numbers too."""
    try:
        return math.nan if isinstance(value, (str, bytes)) else float(value)
    except (TypeError, ValueError):
        return math.nan


def check_zero_division(value: float) -> float:
    """What 0/0 counts as: 0 to 1, or NaN to leave it out of averages."""
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return float(value)
    return check_share_known("zero_division", value, also=", or nan to leave 0/0 out of averages")


def check_share_known(name: str, value: float, also: str = "") -> float:
    """A number from 0 to 1 that must be given."""
    number = check_share(name, value, also)
    if number is None:
        raise ValueError(f"{name} must be a number from 0 to 1{also}; got None")
    return number


def check_share_inside(name: str, value: float) -> float:
    """A number above 0 and below 1."""
    number = _as_number(value)
    if not 0.0 < number < 1.0:
        raise ValueError(
            f"{name} must be a number above 0 and below 1, a share and not per cent; "
            f"got {value!r:.60}"
        )
    return number


def check_whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """A whole number within limits; 1e6 is one, True is not."""
    limits = f"{least} or more" if most is None else f"from {least} to {most:,}"
    try:
        number = None if isinstance(value, (bool, np.bool_, str, bytes)) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != value or number < least or (most and number > most):
        raise ValueError(f"{name} must be a whole number, {limits}; got {value!r}")
    return number
