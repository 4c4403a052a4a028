"""Find the compiled kernels: ``import halfmax.expected.kernels`` loads machine code where it can.

A module whose name ends in ``kernels`` is ordinary Python. The wheel also has it compiled, in the
folder ``_compiled``: once for any processor ("baseline") and once for processors with AVX2. All
three give the same answers. The environment variable ``HALFMAX_KERNELS`` overrides the choice:
"avx2", "baseline", or "python" for the interpreter.
"""

import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from pathlib import Path
from types import ModuleType

VARIABLE = "HALFMAX_KERNELS"
_PACKAGE = Path(__file__).parents[1]
_ENDINGS = (".abi3.so", ".pyd", ".so")


class _KernelFinder:
    """Finds compiled modules for Python's import statement; None leaves a module to others."""

    @staticmethod
    def find_spec(
        name: str,
        path: Sequence[str] | None = None,  # noqa: ARG004
        target: ModuleType | None = None,  # noqa: ARG004
    ) -> ModuleSpec | None:
        if not (name.startswith("halfmax.") and name.endswith("kernels")):
            return None
        file = _file_of(name, variant())
        return None if file is None else spec_from_file_location(name, file)


def install() -> None:
    """Let Python's import statement find compiled kernels."""
    if _KernelFinder not in sys.meta_path:
        sys.meta_path.insert(0, _KernelFinder)


@cache
def variant() -> str:
    """Return which kernels this process runs: "avx2", "baseline" or "python"."""
    chosen = os.environ.get(VARIABLE, "")
    has_baseline, has_avx2 = (_PACKAGE / "_compiled" / name for name in ("baseline", "avx2"))
    if chosen not in ("", "avx2", "baseline", "python"):
        raise ValueError(f"{VARIABLE} must be 'avx2', 'baseline' or 'python'; got {chosen!r}")
    if chosen == "python":
        return chosen
    if not has_baseline.is_dir():
        _warn_of_interpreter()
        return "python"
    import halfmax._core.processor as processor

    fast = has_avx2.is_dir() and processor.has_avx2()
    if chosen == "avx2" and not fast:
        raise ValueError(
            f"{VARIABLE} is 'avx2', but this processor or this build of halfmax has no AVX2; "
            "set it to 'baseline', or unset it"
        )
    return chosen or ("avx2" if fast else "baseline")


def _file_of(name: str, variant: str) -> Path | None:
    if variant == "python":
        return None
    inside = Path(*name.split(".")[1:])
    for ending in _ENDINGS:
        for file in (_PACKAGE / "_compiled" / variant / inside.parent).glob(
            f"{inside.name}*{ending}"
        ):
            return file
    return None


def _warn_of_interpreter() -> None:
    import warnings

    from halfmax._core.errors import HalfmaxWarning

    warnings.warn(
        "halfmax was installed without compiled kernels, so the interpreter runs them, many times "
        "slower. Install a wheel, or a C compiler and Python's headers (Debian: gcc, libc6-dev, "
        "python3-dev) and halfmax again",
        HalfmaxWarning,
        stacklevel=2,
    )
