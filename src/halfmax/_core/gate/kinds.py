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


def names_of_columns(values: Any) -> tuple[Any, ...] | None:
    """Return the coordinates that name the columns of a matrix of xarray; None for all others."""
    if "xarray" not in sys.modules or not isinstance(values, sys.modules["xarray"].DataArray):
        return None
    if values.ndim != 2 or values.dims[1] not in values.indexes:
        return None
    return tuple(values.indexes[values.dims[1]].tolist())


def may_be_frame(values: Any) -> bool:
    """Whether Narwhals has to be asked if it is a data frame or a series."""
    return not isinstance(values, _PLAIN) and not is_sparse(values)
