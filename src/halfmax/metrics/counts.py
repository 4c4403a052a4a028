"""The counts that a threshold gives: of one classifier, of each label, or pooled over labels."""

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array

SUM_ROUNDING = 1e-12  # of a sum of weights; less than this share of it is no row


def confusion(
    tp: npt.ArrayLike, predicted: npt.ArrayLike, positives: npt.ArrayLike, total: npt.ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """tp, fp, fn, tn from what was hit, predicted, positive and there.

    Sums of weights miss each other by rounding errors. A difference that small is no row: it must
    not hide that a ratio is 0/0.
    """
    hit, reached, true, every = (
        np.asarray(part, np.float64) for part in (tp, predicted, positives, total)
    )
    false_positives = beyond_rounding(reached - hit, reached)
    missed = beyond_rounding(true - hit, true)
    rest = beyond_rounding(every - hit - false_positives - missed, every)
    return hit, false_positives, missed, rest


def beyond_rounding(difference: Array, whole: Array) -> Array:
    """The difference, or 0 where it is negative or a rounding error of the whole."""
    return np.where(difference > SUM_ROUNDING * whole, difference, 0.0)
