"""Compile kernels of the benchmarks for this processor, into ``build``, when they are first used.

A rival may use every instruction that there is, reorder its sums and fuse products into them.
"""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent
BUILD = HERE.parent / "build" / "benchmarks"
FLAGS = [
    "-O3",
    "-march=native",
    "-ffp-contract=fast",
    "-fassociative-math",
    "-fno-signed-zeros",
    "-fno-trapping-math",
    "-fno-math-errno",
    "-fno-tree-slp-vectorize",  # it packs unrelated numbers, which costs a few percent here
]
DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "infer_types": True,
}


@cache
def compiled(name: str) -> ModuleType:
    """Return a module of this folder, compiled; it is compiled again if it has changed."""
    source = HERE / f"{name}.py"
    built = BUILD / f"{name}.so"
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        _compile(name, source).replace(built)
    spec = importlib.util.spec_from_file_location(name, built)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _compile(name: str, source: Path) -> Path:
    try:
        from Cython.Build import cythonize
        from setuptools import Distribution, Extension
    except ImportError as error:
        raise ImportError(
            "this benchmark compiles a published algorithm: pip install 'halfmax[bench]'"
        ) from error
    extensions = cythonize(
        [Extension(name, [str(source)], extra_compile_args=FLAGS)],
        build_dir=str(BUILD),
        compiler_directives=DIRECTIVES,
        quiet=True,
    )
    command = Distribution({"ext_modules": extensions}).get_command_obj("build_ext")
    command.build_lib = command.build_temp = str(BUILD)
    command.ensure_finalized()
    command.run()
    return Path(command.get_ext_fullpath(name))
