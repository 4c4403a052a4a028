"""Find the compiled kernels: ``import halfmax.expected.kernels`` loads machine code where it can.

A module whose name ends in ``kernels`` is ordinary Python. The wheel also has it compiled, in the
folder ``_compiled``: once for any processor ("baseline") and once for processors with AVX2. Both
give the same answers, bit for bit. The environment variable ``HALFMAX_KERNELS`` overrides the
choice: "avx2", "baseline", or "python" for the interpreter.
"""

import os
import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # `import halfmax` imports this module, so it does with little
    from collections.abc import Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType

VARIABLE = "HALFMAX_KERNELS"
_COMPILED = os.path.join(os.path.dirname(os.path.dirname(__file__)), "_compiled")
_ENDINGS = (".abi3.so", ".pyd", ".so")


class _KernelFinder:
    """Finds compiled modules for Python's import statement; None leaves a module to others."""

    @staticmethod
    def find_spec(
        name: str,
        path: "Sequence[str] | None" = None,  # noqa: ARG004
        target: "ModuleType | None" = None,  # noqa: ARG004
    ) -> "ModuleSpec | None":
        if not (name.startswith("halfmax.") and name.endswith("kernels")):
            return None
        from importlib.util import spec_from_file_location

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
    if chosen not in ("", "avx2", "baseline", "python"):
        raise ValueError(f"{VARIABLE} must be 'avx2', 'baseline' or 'python'; got {chosen!r}")
    if chosen == "python":
        return chosen
    if not _has("baseline"):
        _warn_of_interpreter()
        return "python"
    import halfmax._core.processor as processor

    fast = _has("avx2") and processor.has_avx2()
    if chosen == "avx2" and not fast:
        raise ValueError(
            f"{VARIABLE} is 'avx2', but this processor or this build of halfmax has no AVX2; "
            "set it to 'baseline', or unset it"
        )
    return chosen or ("avx2" if fast else "baseline")


def _has(variant: str) -> bool:
    return os.path.isdir(os.path.join(_COMPILED, variant))


def _file_of(name: str, variant: str) -> str | None:
    if variant == "python":
        return None
    *packages, module = name.split(".")[1:]
    folder = os.path.join(_COMPILED, variant, *packages)
    files = os.listdir(folder) if os.path.isdir(folder) else []
    for file in sorted(files):
        if file.split(".")[0] == module and file.endswith(_ENDINGS):
            return os.path.join(folder, file)
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
