"""Checks of `min_k` and `max_k`: the fewest and most items to predict in a batch."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, in_python

_MOST_ITEMS = 1 << 62


def check_limits(
    min_k: Any, max_k: Any, shape: tuple[int, int]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the fewest and most items to predict in each batch; `shape` is batches x items."""
    n_batches, n_items = shape
    fewest = _whole_numbers("min_k", min_k, n_batches)
    most = _whole_numbers("max_k", n_items if max_k is None else max_k, n_batches)
    for name, limit in (
        ("the number of items", np.full(n_batches, n_items)),
        (in_python("max_k"), most),
    ):
        if (fewest > limit).any():
            batch = int(np.argmax(fewest > limit))
            where = "" if n_batches == 1 else f" in batch {batch}"
            raise ArgumentError(
                f"{in_python('min_k')} must not be above {name}{where}; "
                f"got {fewest[batch]} and {limit[batch]}"
            )
    return fewest, np.minimum(most, n_items)


def _whole_numbers(name: str, values: Any, n_batches: int) -> npt.NDArray[np.int64]:
    """Return one whole number, 0 or more, for each batch; a single number is used for all."""
    array = np.asarray(values)
    whole = array.dtype.kind in "iu" or (
        array.dtype.kind == "f" and bool((np.floor(array) == array).all())
    )
    if not whole or not ((array >= 0) & (array <= _MOST_ITEMS)).all():
        raise ArgumentError(
            f"{in_python(name)} must be a whole number of items, 0 or more, one for all batches or "
            f"one for each; got {values!r}"
        )
    if array.ndim and array.shape != (n_batches,):
        raise ArgumentError(
            f"{in_python(name)} must be one number, or one for each of the {n_batches} batches; "
            f"got shape {array.shape}"
        )
    return np.full(n_batches, array, np.int64)
