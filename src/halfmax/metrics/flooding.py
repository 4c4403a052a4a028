"""Labels that are predicted for far too many rows, judged by counts alone."""

import numpy as np

from halfmax._core.types import Array

FLOOD_SHARE, FLOOD_TIMES = 0.05, 10.0  # a share of the rows, and a multiple of the base rate
_SURE, _DOUBT = 3.0, 2.0  # standard deviations


def floods(predicted: Array, positives: Array, total: Array | float) -> Array:
    """Return True where a label is predicted for more than 5 % of rows and 10 times its base rate.

    All three are counts of the same rows, either those tuned on or new ones. A label may flood one
    set and not the other, so a number of floods must say which rows it is about.
    """
    flooding: Array = (predicted > FLOOD_SHARE * np.asarray(total)) & (
        predicted > FLOOD_TIMES * positives
    )
    return flooding


def most_predicted(positives: Array, total: float, doubtful: Array | bool = False) -> Array:
    """Return how many rows a label may be predicted for.

    It is bounded so that it does not flood a new data set of the same size. Both these rows and new
    rows vary by chance: k predicted now may be k + 3 sqrt(2 k) then. The number of positives may be
    luck, so one standard deviation is subtracted from it, and two for a `doubtful` label, which has
    not been shown to be informative.
    """
    less = np.where(doubtful, _DOUBT, 1.0) * np.sqrt(positives)
    sure = np.maximum(positives - less, 0.0)
    limit = np.maximum(FLOOD_SHARE * total, FLOOD_TIMES * sure)
    root = (np.sqrt(2.0 * _SURE**2 + 4.0 * limit) - _SURE * np.sqrt(2.0)) / 2.0
    most: Array = root**2
    return most
