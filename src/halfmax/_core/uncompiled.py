"""A stand-in for the module `cython`, so that the interpreter can run kernels without Cython.

Types mean nothing to the interpreter: declarations and decorators do nothing, and arrays of a fixed
size are numpy arrays.
"""

from collections.abc import Callable
from threading import local
from typing import Any, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

compiled = False


class _Type:
    """A C type: calling it converts a number, and ``type[n]`` is an array of n numbers."""

    def __init__(self, dtype: type[np.generic], convert: Callable[[Any], Any]) -> None:
        self.dtype, self.convert = dtype, convert

    def __getitem__(self, size: Any) -> Callable[[], np.ndarray]:
        return lambda: np.empty(size, self.dtype)

    def __call__(self, value: Any) -> Any:
        return self.convert(value)


float = _Type(np.float32, np.float32)  # noqa: A001
double = _Type(np.float64, np.float64)
int = _Type(np.int32, np.int32)  # noqa: A001
uchar = _Type(np.uint8, np.uint8)
uint = _Type(np.uint32, np.uint32)
longlong = _Type(np.int64, np.int64)
ulonglong = _Type(np.uint64, np.uint64)
Py_ssize_t = _Type(np.intp, np.intp)
bint = _Type(np.int8, bool)


def declare(kind: Callable[..., Any], value: Any = None) -> Any:
    """Return a value of a C type, or an array of a fixed size."""
    return kind() if value is None else kind(value)


def cast(kind: Callable[[Any], Any], value: Any) -> Any:
    """Convert a number to a C type."""
    return kind(value)


def fused_type(*_: object) -> object:
    """Stand for any one of several types."""
    return object


def cfunc(function: Function) -> Function:
    """Mark a function that only compiled code calls."""
    return function


def inline(function: Function) -> Function:
    """Mark a function to be compiled into its callers."""
    return function


def exceptval(*_: object, **__: object) -> Callable[[Function], Function]:
    """Mark a function that never raises an exception."""
    return cfunc


class _NoGil:
    """Both a decorator and a context, in which numpy's numbers overflow silently as those of C."""

    def __init__(self) -> None:
        self._here = local()

    def __call__(self, function: Function) -> Function:
        return function

    def __enter__(self) -> None:
        state = np.errstate(all="ignore")
        state.__enter__()
        self._here.states = [*getattr(self._here, "states", ()), state]

    def __exit__(self, *error: Any) -> None:
        self._here.states.pop().__exit__(*error)


nogil: Any = _NoGil()
