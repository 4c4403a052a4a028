"""Thresholds that a person sets: built from a dictionary, changed, or joined with others."""

import dataclasses
from collections.abc import Hashable, Mapping
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.gate.labels import check_labels, not_known
from halfmax._core.gate.options import check_zero_division
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import check_average, mean_over_labels
from halfmax.metrics.counts import Counts
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric

if TYPE_CHECKING:
    from halfmax.tuning.thresholds import Thresholds
    from halfmax.tuning.tuning import Tuning

_UNKNOWN = float("nan")
# What a threshold decides.
_REACHED = ("label_scores", "precision", "recall", "specificity", "predicted")


def fields_from_dict(
    thresholds: Mapping[Any, float], metric: str | Metric, average: str, zero_division: float
) -> dict[str, Any]:
    """Return the fields of thresholds of which only the numbers are known."""
    numbers = _read(thresholds, "thresholds")
    is_binary = average == "binary" and len(numbers) == 1
    settled = "binary" if is_binary else check_average(average, one_classifier=False)
    return _of_numbers(numbers, settled) | {
        "metric": find_metric(metric).name,
        "zero_division": check_zero_division(zero_division),
    }


def _of_numbers(numbers: dict[Hashable, float], average: str) -> dict[str, Any]:
    """Return the fields that follow from the numbers alone."""
    size = len(numbers)
    unknown = {name: np.full(size, _UNKNOWN) for name in (*_REACHED, "support")}
    return unknown | {
        "thresholds": np.array(list(numbers.values())),
        "score": _UNKNOWN,
        "average": average,
        "labels": check_labels(numbers, size),
        "shared": average == "binary",
    }


def replaced(tuned: "Thresholds", changes: Mapping[Any, float] | float) -> "Thresholds":
    """Return the thresholds with some of them changed, and what they reach if data are at hand."""
    thresholds = _changed(tuned, changes)
    changed = thresholds != tuned.thresholds
    if not changed.any():
        return dataclasses.replace(tuned)
    tuning = tuned._tuning
    if tuning is not None:
        shared = tuned.shared and _are_equal(thresholds)
        tuning = _with_thresholds(tuning, thresholds, shared)
        counted = np.flatnonzero(changed | tuned._unknown)
        counts = _count_again(tuning, counted)
        if counts is not None:
            return _recounted(tuned, tuning, counts, counted)
    return _not_counted(tuned, tuning, thresholds, changed)


def united(left: "Thresholds", right: "Thresholds | Mapping[Any, float]") -> "Thresholds":
    """Return the thresholds of the labels of both; labels in both have those on the right.

    If only numbers of labels on the left are new, the data on the left say what they reach.
    """
    if isinstance(right, Mapping):
        right = _like(left, _read(right, "thresholds"))
    average = _common_average(left, right)
    if left._tuning is not None and right._unknown.all() and set(right) <= set(left):
        return replaced(left, right.to_dict())
    places = {**left._places, **{k: len(left) + j for k, j in right._places.items()}}
    taken = np.array(list(places.values()))
    arrays: dict[str, Any] = {
        part.name: np.concatenate([getattr(left, part.name), getattr(right, part.name)])[taken]
        for part in dataclasses.fields(left)
        if isinstance(getattr(left, part.name), np.ndarray)
    }
    known = average in ("macro", "weighted", "binary") and not np.isnan(arrays["predicted"]).any()
    shared = average == "binary" or (
        left.shared
        and right.shared
        and "binary" not in (left.average, right.average)
        and _are_equal(arrays["thresholds"])
    )
    return dataclasses.replace(
        left,
        **arrays,
        labels=tuple(places),
        average=average,
        score=_mean(arrays, average) if known else _UNKNOWN,
        shared=shared,
        guard=left.guard if left.guard == right.guard else None,
        _frame_library=left._frame_library or right._frame_library,
        _tuning=None,
    )


def _like(thresholds: "Thresholds", numbers: dict[Hashable, float]) -> "Thresholds":
    """Return numbers as thresholds for the same metric and average."""
    average = thresholds.average
    if average == "binary" and len(numbers) > 1:
        average = "macro"
    fields = _of_numbers(numbers, average) | {"guard": None, "_frame_library": None}
    return dataclasses.replace(thresholds, **fields, _tuning=None)


def _mean(arrays: dict[str, Any], average: str) -> float:
    return mean_over_labels(arrays["label_scores"], average, arrays["support"])


def _read(thresholds: Any, name: str) -> dict[Hashable, float]:
    """Check a dictionary of labels and thresholds."""
    if not isinstance(thresholds, Mapping):
        hint = ": call to_dict() on it first" if hasattr(thresholds, "to_dict") else ""
        raise ArgumentTypeError(
            f"{in_python(name)} must be a dictionary of labels and thresholds, such as "
            f"{{'cats': 0.3, 'dogs': 0.6}}; got {type(thresholds).__name__}{hint}"
        )
    if not thresholds:
        raise ArgumentError(
            f"{in_python(name)} must hold at least one label with its threshold; got an empty "
            "dictionary"
        )
    return {
        label.item() if isinstance(label, np.generic) else label: _number(
            value, f"{in_python(name)}[{label!r:.60}]"
        )
        for label, value in thresholds.items()
    }


def _number(value: Any, name: str) -> float:
    """Check a threshold; -0.0 becomes 0.0."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (Real, Decimal)):
        raise ArgumentTypeError(
            f"{name} must be a number, or inf to predict no rows; got {value!r:.60}"
        )
    try:
        number = float(value) + 0.0
    except OverflowError:
        number = _UNKNOWN
    if np.isnan(number) or number == -np.inf:
        hint = ": to predict all rows, use a number below all scores" if number == -np.inf else ""
        raise ArgumentError(
            f"{name} must be a number, or inf to predict no rows; got {value!r:.60}{hint}"
        )
    return number


def _changed(tuned: "Thresholds", changes: Any) -> Floats:
    """Return all thresholds after the changes."""
    if isinstance(changes, Real) and not isinstance(changes, (bool, np.bool_)):
        if not tuned.shared and len(tuned) > 1:
            raise ArgumentError(
                f"{in_python('changes')} must be a dictionary of labels and thresholds, because "
                f"each of the {len(tuned):,} labels has a threshold of its own; got {changes!r}"
            )
        return np.full(len(tuned), _number(changes, in_python("changes")))
    thresholds = tuned.thresholds.copy()
    for label, value in _read(changes, "changes").items():
        if label not in tuned:
            end = not_known(label, tuned.labels, len(tuned))
            raise ArgumentError(f"labels of {in_python('changes')} must be {end}")
        thresholds[tuned._places[label]] = value
    return thresholds


def _with_thresholds(tuning: "Tuning", thresholds: Floats, shared: bool) -> "Tuning":
    """Return the tuning after changes by hand, which neither a guard nor floors restrict."""
    goal = dataclasses.replace(
        tuning.goal,
        objective=tuning.goal.objective.unrestricted,
        guard=None,
        per_label=not shared,
    )
    choice = tuning.choice._replace(thresholds=thresholds, stairs=tuning.stairs_at_hand)
    return dataclasses.replace(tuning, goal=goal, choice=choice, by_hand=True)


def _count_again(tuning: "Tuning", labels: Array) -> Counts | None:
    """Count some labels at their thresholds; None if that would need a look at data not in memory.

    A staircase holds the counts at scores of positives and no others.
    """
    from halfmax.tuning.exact.choose import count_at, grid_of, read_at

    thresholds = tuning.choice.thresholds[labels]
    if tuning.data is not None:
        return count_at(tuning.data.of_labels(labels), thresholds).counts
    stairs = tuning.stairs_at_hand
    if stairs is None or tuning.goal.average_shown == "samples":
        return None
    found = read_at(stairs.of_labels(labels), grid_of(thresholds, stairs.grid.scores.dtype))
    is_step = np.isfinite(found.thresholds) | ~np.isfinite(thresholds)
    return found.counts if is_step.all() else None


def _recounted(
    tuned: "Thresholds", tuning: "Tuning", counts: Counts, labels: Array
) -> "Thresholds":
    """Return the result with new counts of some labels."""
    every = Counts(*map(_with_values, tuning.choice.counts, counts, repeat(labels)))
    choice = tuning.choice._replace(counts=every)
    tuning = dataclasses.replace(tuning, choice=choice)
    found = type(tuned).of(tuning, tuned.labels, None, tuning.score_over_rows())
    return dataclasses.replace(found, _frame_library=tuned._frame_library)


def _with_values(values: Array, new: Array, places: Array) -> Array:
    """Return values with new ones in some places; a sum of weights among counts stays a float."""
    changed = values.astype(np.result_type(values, new))
    changed[places] = new
    return changed


def _not_counted(
    tuned: "Thresholds", tuning: "Tuning | None", thresholds: Floats, changed: Array
) -> "Thresholds":
    """Return the result without what the changed labels reach.

    The tuning keeps their old counts: whoever reads the data again counts anew.
    """
    unknown: dict[str, Any] = {
        name: np.where(changed, _UNKNOWN, getattr(tuned, name)) for name in _REACHED
    }
    return dataclasses.replace(
        tuned,
        **unknown,
        thresholds=thresholds,
        score=_UNKNOWN,
        shared=tuned.shared and _are_equal(thresholds),
        guard=None,
        _tuning=tuning,
    )


def _are_equal(thresholds: Floats) -> bool:
    return bool((thresholds == thresholds[0]).all())


def _common_average(left: "Thresholds", right: "Thresholds") -> str:
    """Return the average of joined thresholds; classifiers of one label each become labels."""
    for name in ("metric", "zero_division"):
        mine, other = getattr(left, name), getattr(right, name)
        if mine != other and not (mine != mine and other != other):  # NaN
            _refuse_to_join(f"the same {name}", mine, other)
    if left.labels is None or right.labels is None:
        raise ValueError(
            "thresholds must have names of labels to be joined with |: tune with labels=[...]"
        )
    averages = {left.average, right.average}
    if averages == {"binary"} and left.labels == right.labels:
        return "binary"
    averages = {"macro" if average == "binary" else average for average in averages}
    if len(averages) > 1:
        _refuse_to_join("the same average", left.average, right.average)
    return averages.pop()


def _refuse_to_join(what: str, mine: Any, other: Any) -> None:
    raise ValueError(f"thresholds must have {what} to be joined with |; got {mine!r} and {other!r}")
