"""The one way kernels are compiled: no GIL, so that threads help, and cached on disk."""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


def kernel(function: Kernel) -> Kernel:
    """Compile a bare typed loop."""
    return cast(Kernel, numba.njit(function, nogil=True, cache=True))


def summing_kernel(function: Kernel) -> Kernel:
    """Compile a loop whose sums may be reordered, which lets the compiler use vector registers.

    Only reassociation is allowed: NaN and the infinities keep their meaning.
    """
    return cast(Kernel, numba.njit(function, nogil=True, cache=True, fastmath={"reassoc"}))
