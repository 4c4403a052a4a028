"""Tell containers apart without importing the libraries that they come from."""

import sys
from typing import Any

import numpy as np

_PLAIN = (np.ndarray, list, tuple, int, float, type(None))


def is_sparse(values: Any) -> bool:
    """Whether it is a sparse matrix of scipy; without scipy imported, nothing can be one."""
    if "scipy.sparse" not in sys.modules:
        return False
    from scipy import sparse

    return bool(sparse.issparse(values))


def may_be_frame(values: Any) -> bool:
    """Whether Narwhals has to be asked if it is a data frame or a series."""
    return not isinstance(values, _PLAIN) and not is_sparse(values)
