"""Long work in stages: each stage is reported when it is done, and its result is cached.

The result of a stage is a file in a folder. Its name depends on all inputs of the stage and of the
stages before it. If the work is repeated with the same inputs, the file is read and the stage is
not run again.
"""

import hashlib
import json
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from halfmax import __version__
from halfmax._core.files import whole_file

Arrays = dict[str, npt.NDArray[Any]]
Opened = TypeVar("Opened")

_LETTERS = 16  # length of the digest in a file's name


class Stage(NamedTuple):
    """A finished stage: its name, the time since the stage before, and the peak memory."""

    name: str
    seconds: float
    peak_bytes: int | None  # None where the system does not report it
    reused: bool


class Stages:
    """The stages of one piece of work, in order; without a folder nothing is cached.

    ``report`` is called with each finished stage.
    """

    def __init__(
        self, folder: str | Path | None, report: Callable[[Stage], object] | None = None
    ) -> None:
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
        self.done: list[Stage] = []
        self.files: list[Path] = []  # the files of these stages, written or found
        self._report = report
        self._watch = _Watch()
        self._digest = hashlib.sha256(__version__.encode()).hexdigest()

    def run(self, name: str, depends_on: object, make: Callable[[], Arrays]) -> Arrays:
        """Return the arrays of a stage, computed or cached; `depends_on` must be JSON."""
        path = self._path(name, depends_on, ".npz")
        found = None if path is None else _load_arrays(path)
        arrays = make() if found is None else found
        if path is not None and found is None:
            with whole_file(path) as part, part.open("wb") as file:
                np.savez(file, **arrays)  # type: ignore[arg-type]
        self._finish(name, reused=found is not None)
        return arrays

    def file(
        self,
        name: str,
        depends_on: object,
        make: Callable[[Path], object],
        opened: Callable[[Path], Opened],
    ) -> Opened:
        """Open the file of a stage, which `make` writes whole if it is not cached."""
        path = self._path(name, depends_on, "")
        if path is None:
            raise ValueError("a stage that writes a file needs a folder")
        found = None
        with suppress(OSError, ValueError):  # missing or damaged
            found = opened(path)
        if found is None:
            make(path)
        self._finish(name, reused=found is not None)
        return opened(path) if found is None else found

    def _path(self, name: str, depends_on: object, ending: str) -> Path | None:
        words = json.dumps([self._digest, name, depends_on], sort_keys=True)
        self._digest = hashlib.sha256(words.encode()).hexdigest()
        if self.folder is None:
            return None
        stem = "-".join(name.split())
        self.files.append(self.folder / f"{stem}-{self._digest[:_LETTERS]}{ending}")
        return self.files[-1]

    def _finish(self, name: str, reused: bool) -> None:
        stage = Stage(name, *self._watch.lap(), reused)
        self.done.append(stage)
        if self._report is not None:
            self._report(stage)


def fingerprint(paths: Iterable[Path]) -> list[list[object]]:
    """The paths, sizes and times of files, which change when the files do."""
    stats = [(path.resolve(), path.stat()) for path in paths]
    return [[str(path), stat.st_size, stat.st_mtime_ns] for path, stat in stats]


def digest_of(rows: npt.NDArray[Any]) -> str:
    """A digest of row numbers."""
    return hashlib.sha256(np.ascontiguousarray(rows, np.int64).tobytes()).hexdigest()


def encode_texts(texts: Iterable[str]) -> npt.NDArray[np.uint8]:
    """Encode texts as an array of bytes, which needs no pickle."""
    return np.frombuffer(json.dumps(list(texts), ensure_ascii=False).encode(), np.uint8)


def decode_texts(array: npt.NDArray[Any]) -> list[str]:
    """Decode the texts that `encode_texts` has encoded."""
    texts = json.loads(array.astype(np.uint8, casting="safe").tobytes())
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise ValueError("expected a list of texts")
    return texts


def pack_sparse(name: str, matrix: Any) -> Arrays:
    """Return the parts of a CSR matrix as arrays, under names that begin with `name`."""
    shape = np.array(matrix.shape)
    parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    return {f"{name}_{part}": array for part, array in {**parts, "shape": shape}.items()}


def unpack_sparse(name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Any:
    """Rebuild the CSR matrix that `pack_sparse` has packed."""
    from scipy import sparse

    data, indices, indptr, shape = (
        arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr", "shape")
    )
    return sparse.csr_array((data, indices, indptr), shape=tuple(shape.tolist()))


def _load_arrays(path: Path) -> Arrays | None:
    """Load the arrays of a file; None if it is missing or damaged and must be made again."""
    if not path.exists():
        return None
    # zipfile and numpy raise a dozen kinds of errors for damaged files, and numpy does not close a
    # file that is not a zip.
    with suppress(Exception), path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return {name: arrays[name] for name in arrays.files}
    return None


class _Watch:
    """Measure time and peak memory since the last lap, including what happens between stages."""

    def __init__(self) -> None:
        self._begin()

    def lap(self) -> tuple[float, int | None]:
        """Return seconds and bytes since the last lap, and start the next one."""
        found = time.perf_counter() - self._started, _peak_bytes()
        self._begin()
        return found

    def _begin(self) -> None:
        with suppress(OSError):  # this resets the peak on Linux
            Path("/proc/self/clear_refs").write_text("5")
        self._started = time.perf_counter()


def _peak_bytes() -> int | None:
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/self/status").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) << 10
    with suppress(ImportError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak << 10
    return None
