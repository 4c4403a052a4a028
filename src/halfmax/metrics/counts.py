"""Counts at a threshold: of one classifier, of each label, or pooled over labels."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array
from halfmax.metrics.flooding import floods

SUM_ROUNDING = 1e-12  # share of a sum of weights; a smaller difference is rounding, not a row


class Counts(NamedTuple):
    """Counts at thresholds: arrays with a number for each label, or pooled numbers.

    The first two change with the threshold, the last two do not. Weighted rows count by their
    weights.
    """

    true_positives: Array
    predicted: Array
    positives: Array
    total: Array

    def pooled(self) -> "Counts":
        """Return the sums over all labels."""
        return Counts(*(part.sum() for part in self))

    def confusion(self) -> tuple[Array, Array, Array, Array]:
        """Return tp, fp, fn, tn."""
        return confusion(*self)

    def floods(self) -> Array:
        """Return True where a label is predicted for far too many rows; see `flooding`."""
        return floods(self.predicted, self.positives, self.total)


def confusion(
    tp: npt.ArrayLike, predicted: npt.ArrayLike, positives: npt.ArrayLike, total: npt.ArrayLike
) -> tuple[Array, Array, Array, Array]:
    """Return tp, fp, fn, tn from the counts of hits, predictions, positives and rows.

    Sums of weights differ by rounding errors. A difference that small counts as 0: otherwise it
    would hide that a ratio is 0/0.
    """
    hit, reached, true, every = (
        np.asarray(part, np.float64) for part in (tp, predicted, positives, total)
    )
    false_positives = beyond_rounding(reached - hit, reached)
    missed = beyond_rounding(true - hit, true)
    rest = beyond_rounding(every - hit - false_positives - missed, every)
    return hit, false_positives, missed, rest


def beyond_rounding(difference: Array, whole: Array) -> Array:
    """Return the difference, or 0 where it is negative or a rounding error of the whole."""
    return np.where(difference > SUM_ROUNDING * whole, difference, 0.0)
