"""Checks of options that are numbers: shares and whole numbers."""

import math
from typing import Any

import numpy as np

from halfmax._core.errors import ArgumentError, in_python


def check_share(name: str, value: float | None, also: str = "") -> float | None:
    """Check a number from 0 to 1, or None; `also` says in the error what else is allowed."""
    if value is None:
        return None
    number = as_number(value)
    if not 0.0 <= number <= 1.0:
        raise ArgumentError(f"{in_python(name)} must be a number from 0 to 1{also}; got {value!r}")
    return number


def as_number(value: Any) -> float:
    """Convert to float; NaN for anything that is not a number, including True and "0.5"."""
    try:
        return math.nan if isinstance(value, (str, bytes, bool, np.bool_)) else float(value)
    except (TypeError, ValueError):
        return math.nan


def check_zero_division(value: float) -> float:
    """Check the value of 0/0: from 0 to 1, or NaN to leave it out of averages."""
    if isinstance(value, (float, np.floating)) and math.isnan(value):
        return float(value)
    return check_share_known("zero_division", value, also=", or nan to leave 0/0 out of averages")


def check_share_known(name: str, value: float, also: str = "") -> float:
    """Check a number from 0 to 1 that must not be None."""
    number = check_share(name, value, also)
    if number is None:
        raise ArgumentError(f"{in_python(name)} must be a number from 0 to 1{also}; got None")
    return number


def check_share_inside(name: str, value: float) -> float:
    """Check a number above 0 and below 1."""
    number = as_number(value)
    if not 0.0 < number < 1.0:
        raise ArgumentError(
            f"{in_python(name)} must be a number above 0 and below 1, a share and not per cent; "
            f"got {value!r:.60}"
        )
    return number


def check_whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """Check a whole number within limits; 1e6 is accepted, True is not."""
    limits = f"{least} or more" if most is None else f"from {least} to {most:,}"
    try:
        number = None if isinstance(value, (bool, np.bool_, str, bytes)) else int(value)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != value or number < least or (most and number > most):
        raise ArgumentError(f"{in_python(name)} must be a whole number, {limits}; got {value!r}")
    return number
