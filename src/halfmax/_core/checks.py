"""The other half of the gate: options, each checked against its rule."""

import math
import re
from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import spell_out

Labels = tuple[Hashable, ...]
AVERAGES = ("macro", "micro", "samples")
_MOST_ITEMS = 1 << 62
_GUARDS = ("fbr", "smooth", "calibrated", "never", "auto")
_FBR = re.compile(r"fbr:(\d*\.?\d+|\d+\.)", re.ASCII)


class Guard(NamedTuple):
    """The name of a guard, and the F below which ``"fbr"`` lifts a threshold."""

    name: str
    floor: float = 0.1

    def __str__(self) -> str:
        floor = np.format_float_positional(self.floor, trim="-")
        return f"fbr:{floor}" if self.name == "fbr" else self.name


def check_labels(labels: Iterable[Hashable], n_labels: int) -> Labels:
    """Label names: one for each column, none twice."""
    if isinstance(labels, (str, bytes)):
        raise TypeError(f"labels must be a sequence of names; got the single name {labels!r}")
    try:
        names = tuple(x.item() if isinstance(x, np.generic) else x for x in labels)
        set(names)
    except TypeError:
        raise TypeError(
            f"labels must be a sequence of names (hashable values); got {labels!r}"
        ) from None
    if len(names) != n_labels:
        raise ValueError(f"labels must name each of the {n_labels} labels; got {len(names)} names")
    if len(set(names)) != len(names):
        seen: set[Hashable] = set()
        twice = [name for name in names if name in seen or seen.add(name)]  # type: ignore[func-returns-value]
        raise ValueError(f"labels must not repeat; {spell_out(dict.fromkeys(twice))} came twice")
    return names


def check_average(average: str, one_classifier: bool) -> str:
    """'macro', 'micro' or 'samples'; the paper's word 'instance' means 'samples'.

    One classifier has nothing to average, which 'binary' says too.
    """
    if average == "instance":
        return "samples"
    if average == "binary" and one_classifier:
        return "macro"
    if average not in AVERAGES:
        raise ValueError(
            f"average must be {spell_out(AVERAGES, 'or')} ('instance' means 'samples'); "
            f"got {average!r}"
        )
    return average


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


def check_limits(
    min_k: Any, max_k: Any, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The fewest and the most items to predict in each of the batches x items."""
    n_batches, n_items = shape
    fewest = _whole_numbers("min_k", min_k, n_batches)
    most = _whole_numbers("max_k", n_items if max_k is None else max_k, n_batches)
    for name, limit in (("the number of items", np.full(n_batches, n_items)), ("max_k", most)):
        if (fewest > limit).any():
            batch = int(np.argmax(fewest > limit))
            where = "" if n_batches == 1 else f" in batch {batch}"
            raise ValueError(
                f"min_k must not be above {name}{where}; got {fewest[batch]} and {limit[batch]}"
            )
    return fewest, np.minimum(most, n_items)


def _whole_numbers(name: str, values: Any, n_batches: int) -> npt.NDArray[np.int64]:
    """One whole number for each batch, none negative; one number is for all."""
    array = np.asarray(values)
    whole = array.dtype.kind in "iu" or (
        array.dtype.kind == "f" and bool((np.floor(array) == array).all())
    )
    if not whole or not ((array >= 0) & (array <= _MOST_ITEMS)).all():
        raise ValueError(
            f"{name} must be a whole number of items, 0 or more, for all batches or one for each; "
            f"got {values!r}"
        )
    if array.ndim and array.shape != (n_batches,):
        raise ValueError(
            f"{name} must be one number, or one for each of the {n_batches} batches; "
            f"got shape {array.shape}"
        )
    return np.full(n_batches, array, np.int64)


def match_labels(known: Labels, given: Labels, known_as: str, given_as: str) -> list[int]:
    """Where each given label stands among the known ones; both must be the same set."""
    where = {label: place for place, label in enumerate(known)}
    missing = [label for label in known if label not in set(given)]
    extra = [label for label in given if label not in where]
    if missing or extra:
        parts = [f"missing from {given_as}: {spell_out(missing)}"] if missing else []
        parts += [f"missing from {known_as}: {spell_out(extra)}"] if extra else []
        raise ValueError(f"label names of {known_as} and {given_as} differ: {'; '.join(parts)}")
    return [where[label] for label in given]


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
