"""The counts that a threshold gives: of one classifier, of each label, or pooled over labels."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array
from halfmax.metrics.flooding import floods

SUM_ROUNDING = 1e-12  # of a sum of weights; less than this share of it is no row


class Counts(NamedTuple):
    """What thresholds count: arrays with a number for each label, or numbers of all labels.

    The first two change with the threshold, the last two do not. Rows with weights are counted by
    their weights.
    """

    true_positives: Array
    predicted: Array
    positives: Array
    total: Array

    def pooled(self) -> "Counts":
        """The sums over all labels."""
        return Counts(*(part.sum() for part in self))

    def confusion(self) -> tuple[Array, Array, Array, Array]:
        """tp, fp, fn, tn."""
        return confusion(*self)

    def floods(self) -> Array:
        """True where a label is predicted for far too many rows; see `flooding`."""
        return floods(self.predicted, self.positives, self.total)


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
