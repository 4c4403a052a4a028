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
    names = _coordinates(values, 1)
    return None if names is None else tuple(names.tolist())


def names_of_rows(values: Any) -> Any:
    """Return the coordinates that name the rows of xarray, a pandas index; None for all others."""
    return _coordinates(values, 0)


def _coordinates(values: Any, dimension: int) -> Any:
    if "xarray" not in sys.modules or not isinstance(values, sys.modules["xarray"].DataArray):
        return None
    return values.indexes.get(values.dims[dimension]) if values.ndim > dimension else None


def may_be_frame(values: Any) -> bool:
    """Whether Narwhals has to be asked if it is a data frame or a series."""
    return not isinstance(values, _PLAIN) and not is_sparse(values)
