"""The one way kernels are compiled: no GIL, so that threads help, and cached on disk."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile a bare typed loop."""
    return _compile(function, fastmath=False)


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a loop whose sums may be reordered, which lets the compiler use vector registers.

    Only reassociation is allowed: NaN and the infinities keep their meaning.
    """
    return _compile(function, fastmath={"reassoc"})


def _compile(function: Kernel, fastmath: bool | set[str]) -> Kernel:
    # numpy's rule for division by zero, inf or NaN: a check that raises would keep every division
    # out of the vector registers.
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "error_model": "numpy"}
    try:
        compiled = numba.njit(function, cache=True, **options)
    except RuntimeError:  # no folder to cache in: neither the package's nor the user's is writable
        compiled = numba.njit(function, **options)
    return cast(Kernel, compiled)
