"""How kernels are compiled: without the GIL, so that threads help, and cached on disk."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile a bare typed loop."""
    return _compile(function, fastmath=False)


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a loop whose sums may be reordered, so that the compiler can use vector registers.

    Only reassociation is allowed: NaN and the infinities keep their meaning.
    """
    return _compile(function, fastmath={"reassoc"})


def _compile(function: Kernel, fastmath: bool | set[str]) -> Kernel:
    # Division by zero gives inf or NaN, as in numpy: a check that raises would keep every division
    # out of the vector registers.
    options: dict[str, Any] = {"nogil": True, "fastmath": fastmath, "error_model": "numpy"}
    try:
        compiled = numba.njit(function, cache=True, **options)
    except RuntimeError:  # neither the package's nor the user's cache folder is writable
        compiled = numba.njit(function, **options)
    return cast(Kernel, compiled)
