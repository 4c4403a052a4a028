"""Compile the kernels and bundle Vega; everything else about the package is in pyproject.toml.

Every module of `src` whose name ends in ``kernels`` is ordinary Python that Cython turns into C. It
is compiled once for any processor ("baseline") and, on x86-64, once more for processors with AVX2.
`halfmax._core.compiled` chooses between them when they are imported. Without a C compiler the
package is installed all the same, and the interpreter runs the kernels.

Vega draws the charts of reports in the browser. Bundling it takes a second, so that is done here,
once, by vl-convert, which is needed no more afterwards. Source archives contain the bundle. Without
it the package is installed all the same, and `halfmax.report.vega` bundles Vega in each process.
"""

import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

ROOT = Path(__file__).parent
SOURCE = Path("src/halfmax")
BUILD = Path("build/kernels")  # where the C files go
SHARED = "halfmax._core.cyutility"  # what all compiled kernels have in common
VEGA = SOURCE / "report/templates/vega.js"
BUNDLER = "vl-convert-python>=1.9,<2"

DIRECTIVES = {
    "language_level": 3,
    "boundscheck": False,
    "wraparound": False,
    "initializedcheck": False,
    "cdivision": True,
    "infer_types": True,
    "freethreading_compatible": True,
}

# Answers must not depend on the processor: no fused multiply-add, and no sum in another order.
# Floating-point exceptions and errno are never looked at, which leaves more loops to the vector
# registers.
if os.name == "nt":
    FLAGS, AVX2 = ["/O2", "/fp:precise"], ["/arch:AVX2"]
else:
    FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    AVX2 = ["-march=x86-64-v3"]
VARIANTS = {"baseline": FLAGS}
if platform.machine().lower() in ("x86_64", "amd64"):
    VARIANTS["avx2"] = FLAGS + AVX2

# One wheel serves Python 3.11 and later, except for builds without the GIL, which have no stable
# binary interface.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
LIMITED = [("Py_LIMITED_API", "0x030B0000"), ("CYTHON_LIMITED_API", "1")] if STABLE else []

NO_COMPILER = (
    "halfmax: the kernels were not compiled, so the interpreter will run them, many times slower. "
    "A source build needs a C compiler and Python's headers "
    "(Debian: apt-get install gcc libc6-dev python3-dev)"
)

NO_VEGA = (
    "halfmax: Vega was not bundled, so reports will need vl-convert and take a second longer "
    "(pip install vl-convert-python)"
)


class BuildKernels(build_ext):
    """Compile on all cores, and go on without kernels where there is no compiler."""

    def finalize_options(self):
        super().finalize_options()
        self.parallel = self.parallel or os.cpu_count()

    def run(self):
        try:
            super().run()
        except Exception as error:
            if os.environ.get("HALFMAX_NEED_COMPILER"):
                raise
            for built in (SOURCE, Path(self.build_lib) / "halfmax"):  # all kernels or none
                shutil.rmtree(built / "_compiled", ignore_errors=True)
            self.extensions = self.ext_map = []
            print(f"{NO_COMPILER}\n  ({error})", file=sys.stderr)

    def copy_extensions_to_source(self):
        for extension in self.extensions:
            target = Path(self.get_ext_fullpath(extension.name))
            target.parent.mkdir(parents=True, exist_ok=True)
        super().copy_extensions_to_source()


class BuildPackage(build_py):
    """Copy the package, with Vega."""

    def run(self):
        bundle_vega()
        super().run()


class BuildArchive(sdist):
    """Pack the sources, with Vega."""

    def run(self):
        bundle_vega()
        super().run()


def bundle_vega() -> None:
    """Write Vega as the text of a script element, if it is not there yet and vl-convert is."""
    if VEGA.exists():
        return
    try:
        import vl_convert

        bundle = vl_convert.javascript_bundle()
    except Exception as error:
        if os.environ.get("HALFMAX_NEED_VEGA"):
            raise
        print(f"{NO_VEGA}\n  ({error})", file=sys.stderr)
        return
    text = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    VEGA.write_text(text, encoding="utf-8", newline="\n")


def needed_to_build() -> list[str]:
    """What to install for this build, besides the `build-system` of pyproject.toml.

    Pip and build ask with the command egg_info. There are no wheels of vl-convert for musl, and
    compiling it there would take far longer than it saves.
    """
    is_asked = sys.argv[-1] == "egg_info"
    has_wheel = "musl" not in (sysconfig.get_config_var("EXT_SUFFIX") or "")
    return [BUNDLER] if is_asked and has_wheel and not VEGA.exists() else []


def compiled(name: str, source: Path, flags: list[str]) -> Extension:
    """Describe one compiled module."""
    return Extension(
        name,
        [source.as_posix()],
        extra_compile_args=flags,
        define_macros=LIMITED,
        py_limited_api=STABLE,
    )


def kernel_modules() -> dict[str, Path]:
    """The names of all kernel modules and their C files, translated if they are not up to date."""
    names = {
        ".".join(path.relative_to("src").with_suffix("").parts): path
        for path in sorted(SOURCE.rglob("*kernels.py"))
    }
    shared = Extension(SHARED, [(BUILD / "cyutility.c").as_posix()])
    translated = cythonize(
        [shared, *(Extension(name, [path.as_posix()]) for name, path in names.items())],
        build_dir=BUILD.as_posix(),
        compiler_directives=DIRECTIVES,
        shared_utility_qualified_name=SHARED,
        quiet=True,
    )
    return {extension.name: Path(extension.sources[0]) for extension in translated}


def extensions() -> list[Extension]:
    """Describe all compiled modules; each kernel module is there once for each variant."""
    BUILD.mkdir(parents=True, exist_ok=True)
    files = kernel_modules()
    found = [
        compiled(SHARED, files.pop(SHARED), FLAGS),
        compiled("halfmax._core.processor", SOURCE / "_core/processor.c", FLAGS),
    ]
    for variant, flags in VARIANTS.items():
        for name, file in files.items():
            copy = BUILD / variant / f"{name}.c"  # of its own, and so are its object files
            copy.parent.mkdir(exist_ok=True)
            if not copy.exists() or copy.read_bytes() != file.read_bytes():
                shutil.copyfile(file, copy)
            place = name.replace("halfmax.", f"halfmax._compiled.{variant}.", 1)
            found.append(compiled(place, copy, flags))
    return found


os.chdir(ROOT)
setup(
    ext_modules=extensions(),
    cmdclass={"build_ext": BuildKernels, "build_py": BuildPackage, "sdist": BuildArchive},
    setup_requires=needed_to_build(),
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
