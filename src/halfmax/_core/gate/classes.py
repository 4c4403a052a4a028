"""Two classes of any kind, such as 'yes' and 'no' or -1 and 1, read as 1 and 0.

Of two numbers, or of False and True, the larger is positive. Of two names the caller says which one
is, as ``pos_label``.
"""

import math
from numbers import Number
from typing import Any

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.arrays import Matrix, check_binary, first_place, refuse_not_binary
from halfmax._core.gate.missing import Together, drop_line
from halfmax._core.text import spell_out
from halfmax._core.types import Array

_NUMBERS = "buif"
_SHOWN = 5


def check_truth(matrix: Matrix, name: str, pos_label: Any = None, rows: Together = None) -> Any:
    """Return truth as a uint8 array (1-D) or a CSR of ones (2-D), whatever its classes are.

    `rows` are the arguments that hold the same rows, for the line that drops missing ones.
    """
    if pos_label is None and _holds_numbers(matrix):
        return check_binary(matrix, name, lambda: _of_two_numbers(matrix, name, rows))
    if matrix.is_sparse:
        _check_sparse(name, pos_label)
        return check_binary(matrix, name)
    return check_binary(_compared(matrix, positive_class(matrix, name, pos_label, rows)), name)


def check_predicted(matrix: Matrix, name: str, truth: Matrix, pos_label: Any = None) -> Any:
    """Return predictions as `check_truth` does: the classes of the truth, or 0 and 1."""
    if matrix.is_sparse or truth.is_sparse:
        return check_truth(matrix, name, None if truth.is_sparse else pos_label)
    known = _classes(truth.values)
    if _are_zero_and_one(known):
        if pos_label is None and len(known) == 2 and _holds_numbers(matrix):
            return check_binary(matrix, name)
        return check_truth(matrix, name, pos_label)
    found = _classes(matrix.values)
    if _are_zero_and_one(found):
        _refuse_two_readings(found, known, name)
        return check_binary(matrix, name)
    positive = positive_class(truth, "y_true", pos_label)
    strange = [value for value in found if value not in known and value != positive]
    if strange:
        raise ArgumentError(
            f"{in_python(name)} must hold the classes of {in_python('y_true')}, "
            f"{_spelled(known)}, or 0 and 1; got {_spelled(strange)}"
        )
    return check_binary(_compared(matrix, positive), name)


def positive_class(matrix: Matrix, name: str, pos_label: Any, rows: Together = None) -> Any:
    """Return which class of a dense truth is positive, after checking that there are two."""
    classes = _classes(matrix.values)
    if any(map(_is_missing, classes)):
        _refuse_missing(matrix, name, rows)
    if pos_label is None and _holds_numbers(matrix) and not _are_whole(classes):
        refuse_not_binary(matrix, name)
    if len(classes) > 2 and matrix.values.ndim == 2:
        _refuse_column(matrix, name)
    return which_is_positive(classes, in_python(name), pos_label)


def _refuse_column(matrix: Matrix, name: str) -> None:
    """Refuse a column that alone holds more than two classes, such as one that numbers rows."""
    classes = [_classes(column) for column in matrix.values.T]
    worst = max(range(len(classes)), key=lambda place: len(classes[place]))
    if len(found := classes[worst]) > 2:
        label = f":, {worst}" if matrix.labels is None else repr(matrix.labels[worst])
        raise ArgumentError(
            f"{in_python(name)} must hold two classes; {in_python(name)}[{label}] holds "
            f"{len(found):,}: {_spelled(found)}. If it identifies rows, leave it out; otherwise "
            "compare with the positive class first"
        )


def which_is_positive(classes: list[Any], what: str, pos_label: Any) -> Any:
    """Return which of two classes is positive; `what` holds them, for errors."""
    if len(classes) > 2:
        example = pos_label if pos_label in classes else classes[0]
        raise ArgumentError(
            f"{what} must hold two classes; got {len(classes):,}: {_spelled(classes)}. Compare "
            f"with the positive class first, as in y == {example!r}"
        )
    if pos_label is None:
        return _larger(classes, what)
    if pos_label not in classes and (len(classes) == 2 or not _alike(pos_label, classes[0])):
        only = "" if len(classes) == 2 else "only "
        raise ArgumentError(
            f"{in_python('pos_label')} must be a class of {what}, which holds {only}"
            f"{_spelled(classes)}; got {pos_label!r}"
        )
    return pos_label


def _larger(classes: list[Any], what: str) -> Any:
    """Return the larger of two numbers; refuse all other classes."""
    if _are_whole(classes) and (len(classes) == 2 or _are_zero_and_one(classes)):
        return max(classes) if len(classes) == 2 else 1
    ways = " or ".join(in_python(setting_of(value)) for value in reversed(classes))
    if len(classes) == 2:
        raise ArgumentError(
            f"{what} holds the classes {_spelled(classes)}: say which one is positive, {ways}"
        )
    raise ArgumentError(
        f"{what} holds one class only, {_spelled(classes)}: name the positive class, {ways} if "
        "that is it"
    )


def setting_of(value: Any) -> str:
    """Return ``pos_label='yes'``, as the caller would write it."""
    return f"pos_label={value!r}"


def _of_two_numbers(matrix: Matrix, name: str, rows: Together) -> Matrix:
    """Read two numbers that are not 0 and 1, such as -1 and 1."""
    stored = matrix.values.data if matrix.is_sparse else matrix.values
    if stored.dtype.kind == "f" and np.isnan(stored).any():
        _refuse_missing(matrix, name, rows)
    if matrix.is_sparse:  # what is absent is 0, so that 1 is the only other class
        refuse_not_binary(matrix, name)
    return _compared(matrix, positive_class(matrix, name, None))


def _compared(matrix: Matrix, positive: Any) -> Matrix:
    return matrix._replace(values=np.asarray(matrix.values == positive, np.bool_))


def _classes(values: Array) -> list[Any]:
    """Return the distinct values in order."""
    if values.dtype.kind in _NUMBERS:
        low, high = values.min(), values.max()
        if ((values == low) | (values == high)).all():  # much faster than sorting
            return sorted({low.item(), high.item()})
        return list(np.unique(values).tolist())
    found = set(values.ravel().tolist())
    try:
        return sorted(found)
    except TypeError:  # None, or names beside numbers
        return sorted(found, key=str)


def _are_zero_and_one(classes: list[Any]) -> bool:
    return all(_is_number(value) and value in (0, 1) for value in classes)


def _are_whole(classes: list[Any]) -> bool:
    return all(_is_number(value) and value % 1 == 0 for value in classes)


def _is_number(value: Any) -> bool:
    return isinstance(value, Number) and not isinstance(value, complex)


def _alike(one: Any, other: Any) -> bool:
    """Whether both are numbers, or neither is."""
    return _is_number(one) == _is_number(other)


def _is_missing(value: Any) -> bool:
    """Whether it is None, NaN, or NA and NaT of pandas, which need not be installed."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float) and math.isnan(value)


def _holds_numbers(matrix: Matrix) -> bool:
    return matrix.values.dtype.kind in _NUMBERS


def _spelled(classes: list[Any]) -> str:
    return spell_out(classes, most=_SHOWN)


def _check_sparse(name: str, pos_label: Any) -> None:
    if not (_is_number(pos_label) and pos_label == 1):
        raise ArgumentError(
            f"{in_python('pos_label')} must be 1 for the sparse matrix {in_python(name)}, whose "
            f"absent entries are 0; got {pos_label!r}"
        )


def _refuse_missing(matrix: Matrix, name: str, rows: Together) -> None:
    missing = np.frompyfunc(_is_missing, 1, 1)
    stored = matrix.values.data if matrix.is_sparse else matrix.values
    place, value = first_place(matrix, missing(stored).astype(np.bool_))
    raise ArgumentError(
        f"{in_python(name)} must not have missing values; {in_python(name)}[{place}] is {value}"
        f"{drop_line(name, rows)}"
    )


def _refuse_two_readings(found: list[Any], known: list[Any], name: str) -> None:
    """Refuse predictions that are all 1 where 1 is the negative class of the truth."""
    if found == [1] and known[0] == 1 and all(map(_is_number, known)):
        raise ArgumentError(
            f"{in_python(name)} is 1 in every row, which is both the positive prediction and the "
            f"negative class of {in_python('y_true')}, {_spelled(known)}: compare both with the "
            "positive class first, as in y == positive"
        )
