"""Where a guard caps a label: how many bands it may predict at most, so that it does not flood."""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.metrics.flooding import most_predicted
from halfmax.metrics.goal import Guard
from halfmax.staircase.significance import staircase_in_rows, uninformative
from halfmax.tuning.guard.bands import Bands


def doubtful_labels(data: LabelledScores, guard: Guard) -> Array | None:
    """Flag labels not shown to be informative; None if the guard does not cap labels."""
    return uninformative(staircase_in_rows(data)) if guard.name == "auto" else None


def allowed_bands(bands: Bands, predicted: Array, doubtful: Array | None) -> Array:
    """Return how many bands each label may predict; all if `doubtful` is None.

    `predicted` is the number of rows down to each band. The cap of a doubtful label is lower.
    """
    if doubtful is None:
        return np.full(bands.n_labels, bands.edges.shape[1])
    most = most_predicted(bands.support, bands.total, doubtful)[:, None]
    allowed: Array = (predicted[:, :-1] <= most).sum(axis=1)
    return allowed
