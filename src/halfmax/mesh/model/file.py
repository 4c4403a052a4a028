"""The file of a tagger: a zip of plain arrays, all checked when they are read."""

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax.mesh.stages import Arrays, decode_texts, encode_texts
from halfmax.metrics.average import AVERAGES

_FORMAT, _VERSION = "halfmax.tagger", 1
_TEXTS = ("terms", "vocabulary")

# Each array's type and shape, in terms of the numbers of terms, words and factors.
_SHAPES: dict[str, tuple[type[np.generic], tuple[str, ...]]] = {
    "counts": (np.int64, ("terms",)),
    "documents": (np.uint64, ("documents",)),
    "idf": (np.float32, ("words",)),
    "loadings": (np.float32, ("words", "rank")),
    "offset": (np.float32, ("rank",)),
    "weights": (np.float32, ("rank", "terms")),
    "intercept": (np.float32, ("terms",)),
    "penalties": (np.float64, ("terms",)),
    **{f"thresholds_{name}": (np.float64, ("terms",)) for name in AVERAGES},
}


def write(path: Path, texts: Mapping[str, list[str]], arrays: Arrays) -> None:
    """Write lists of texts and arrays."""
    head = {"format": encode_texts([_FORMAT, str(_VERSION)])}
    encoded = {name: encode_texts(some) for name, some in texts.items()}
    with path.open("wb") as file:
        np.savez(file, **head, **encoded, **arrays)  # type: ignore[arg-type]


def read(path: str | os.PathLike[str]) -> tuple[dict[str, list[str]], Arrays]:
    """Read lists of texts and arrays, or raise an error that says what is wrong with the file."""
    name = os.fspath(path)
    with open(path, "rb") as file:  # errors of opening stay as they are
        try:
            return _read(file)
        except Exception as error:  # zipfile and numpy raise a dozen kinds for damaged files
            reason = f"it has no {error}" if isinstance(error, KeyError) else str(error)
            raise ValueError(
                f"{name} is not a tagger of halfmax: {reason or type(error).__name__}; create one "
                "with halfmax mesh fit"
            ) from None


def _read(file: Any) -> tuple[dict[str, list[str]], Arrays]:
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its parts must not be compressed")
        inside = {member.filename.removesuffix(".npy"): member for member in members}
        if decode_texts(_array(archive, inside["format"])) != [_FORMAT, str(_VERSION)]:
            raise ValueError(f"it must have the format {_FORMAT!r} and version {_VERSION}")
        texts = {name: decode_texts(_array(archive, inside[name])) for name in _TEXTS}
        arrays = {name: _array(archive, inside[name]) for name in _SHAPES}
    _check(texts, arrays)
    return texts, arrays


def _array(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> npt.NDArray[Any]:
    with archive.open(member) as part:
        array: npt.NDArray[Any] = np.lib.format.read_array(part, allow_pickle=False)
        return array


def _check(texts: dict[str, list[str]], arrays: Arrays) -> None:
    sizes = {"terms": len(texts["terms"]), "words": len(texts["vocabulary"])}
    for size, name in (("rank", "offset"), ("documents", "documents")):
        sizes[size] = len(np.atleast_1d(arrays[name]))
    for name, some in texts.items():
        if not some or len(set(some)) < len(some):
            raise ValueError(f"its {name} must not be empty or repeat")
    for name, (dtype, shape) in _SHAPES.items():
        array, expected = arrays[name], tuple(sizes[size] for size in shape)
        if array.dtype != dtype or array.shape != expected:
            raise ValueError(
                f"its {name} must be {np.dtype(dtype)} of shape {expected}, not {array.dtype} of "
                f"shape {array.shape}"
            )
        missing = np.isnan(array) if name.startswith("thresholds") else ~np.isfinite(array)
        if missing.any():
            raise ValueError(f"its {name} must be numbers; some are not")
