"""The rule ``score >= threshold``, for arrays and sparse matrices."""

from typing import Any

import numpy as np

from halfmax._core.types import Floats


def predict(scores: Any, thresholds: Floats) -> Any:
    """Return 0/1 as int8 in the container of the scores: an array, or a CSR that stores its ones.

    The thresholds stay float64: rounded to float32 they could exceed a score that they equal.
    """
    if isinstance(scores, np.ndarray):
        predictions = np.empty(scores.shape, np.int8)
        limits = thresholds if scores.ndim == 2 else thresholds[0]
        np.greater_equal(scores, limits, out=predictions.view(np.bool_))
        return predictions
    from scipy import sparse  # slow to import, and arrays do not need it

    kept = scores.data >= thresholds[scores.indices]
    before = np.concatenate([[0], np.cumsum(kept)])
    indices = scores.indices[kept]
    ones = np.ones(len(indices), np.int8)
    return sparse.csr_array((ones, indices, before[scores.indptr]), shape=scores.shape)
