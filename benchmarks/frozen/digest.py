"""One hash for any answer: numbers by their bits, frames by columns, objects by what they tell."""

import hashlib
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

import halfmax as hm

# What each public class says of itself, as its docstring lists it.
ATTRIBUTES = {
    "Thresholds": "thresholds threshold score metric average labels shared zero_division "
    "label_scores precision recall support predicted guard",
    "Assessment": "expected_score score optimism score_interval threshold_interval "
    "resampled_scores label_scores label_expected_scores label_score_intervals thresholds level",
    "Diagnosis": "labels findings support base_rate thresholds threshold_interval scores "
    "expected_scores everyone half_max predicted probabilities n_rows metric counts",
    "Decision": "predictions thresholds threshold expected_score expected_scores counts "
    "half_max_thresholds half_max_counts half_max_scores metric average labels",
    "JointDecision": "predictions expected_score expected_scores counts metric",
    "TableDecision": "predictions path rows predicted decision rows_read",
    "Written": "path rows predicted rows_read",
    "DecisionRegion": "intervals likelihood_ratio score tp fp fn tn metric base_rate threshold",
    "Grid": "offsets scores n_labels columns",
    "Staircase": "grid true_positives predicted positives total labels thresholds n_labels",
    "ThresholdCurveDisplay": "thresholds scores precision recall band level threshold score "
    "best_threshold best_score half_max base_rate everyone metric label",
    "ExpectedCurveDisplay": "expected k threshold half_max_k half_max_threshold metric",
    "HalfMaxDisplay": "labels thresholds half_max support miscalibrated metric",
    "LabelHealthDisplay": "labels base_rate share flooding n_rows",
    "DecisionRegionDisplay": "scores positive negative intervals cut score metric steps odds",
    "WinnersCurseDisplay": "n base_rates fractions runs",
}


def digest(value: Any) -> str:
    """The SHA-256 of a value, of whatever kind it is."""
    whole = hashlib.sha256()
    for part in _parts(value):
        whole.update(len(part).to_bytes(8, "little"))
        whole.update(part)
    return whole.hexdigest()


def _parts(value: Any) -> Iterator[bytes]:
    """The value as a series of byte strings that no other value has."""
    if isinstance(value, np.ndarray):
        yield from _array(value)
    elif isinstance(value, np.generic):
        yield from _array(np.asarray(value))
    elif sparse.issparse(value):
        yield from _sparse(value)
    elif value is None or isinstance(value, (bool, int, str, bytes, Path)):
        yield type(value).__name__.encode() if not isinstance(value, Path) else b"path"
        yield value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    elif isinstance(value, float):
        yield b"float"
        yield value.hex().encode()
    elif isinstance(value, BaseException):
        yield b"raises"
        yield kind_of(value).encode()
    elif isinstance(value, dict):
        yield f"dict {len(value)}".encode()
        for key, item in value.items():
            yield from _parts(key)
            yield from _parts(item)
    elif isinstance(value, (list, tuple, range)):
        yield f"{'tuple' if isinstance(value, tuple) else 'list'} {len(value)}".encode()
        for item in value:
            yield from _parts(item)
    else:
        yield from _frame_or_object(value)


def _array(array: np.ndarray) -> Iterator[bytes]:
    yield f"array {array.dtype.str} {array.shape}".encode()
    if array.dtype.kind == "O":
        yield from _parts(array.tolist())
    else:
        yield np.ascontiguousarray(array).tobytes()


def _sparse(matrix: Any) -> Iterator[bytes]:
    yield f"{type(matrix).__name__} {matrix.shape}".encode()
    rows = matrix.tocsr()
    for part in (rows.indptr, rows.indices, rows.data):
        yield from _array(part)


def _frame_or_object(value: Any) -> Iterator[bytes]:
    library = type(value).__module__.partition(".")[0]
    if library in ("pandas", "polars", "pyarrow"):
        yield f"{library} {type(value).__name__}".encode()
        yield from _parts(
            {"pandas": _of_pandas, "polars": _of_polars}.get(library, _of_arrow)(value)
        )
        return
    for name, kind in _public_classes().items():
        if isinstance(value, kind):
            yield name.encode()
            yield from _parts({key: _read(value, key) for key in ATTRIBUTES[name].split()})
            return
    if not is_dataclass(value):
        raise TypeError(f"no digest of a {type(value).__qualname__}")
    names = [field.name for field in fields(value) if not field.name.startswith("_")]
    yield b"record"
    yield from _parts({name: getattr(value, name) for name in names})


def kind_of(error: BaseException) -> str:
    """The name of its type; of an error that carries its argument, that of its built-in base."""
    kinds = (kind for kind in type(error).__mro__ if kind.__module__ != "halfmax._core.errors")
    return next(kinds).__name__


@cache
def _public_classes() -> dict[str, type]:
    return {name: getattr(hm, name) for name in ATTRIBUTES}


def _read(value: Any, name: str) -> Any:
    """An attribute, or the kind of error that it is not there."""
    try:
        return getattr(value, name)
    except AttributeError as error:
        return error


def _of_pandas(frame: Any) -> list[Any]:
    if frame.ndim == 2:
        columns = [_of_pandas(frame.iloc[:, place]) for place in range(frame.shape[1])]
        return [frame.columns.tolist(), frame.index.tolist(), columns]
    values = frame.to_numpy() if frame.dtype.kind in "iufb" else frame.tolist()
    return [str(frame.name), frame.index.tolist(), str(frame.dtype), values]


def _of_polars(frame: Any) -> list[Any]:
    if hasattr(frame, "columns"):
        return [_of_polars(frame[name]) for name in frame.columns]
    return [frame.name, str(frame.dtype), frame.to_list()]


def _of_arrow(table: Any) -> list[Any]:
    return [
        [name, str(table.schema.field(name).type), table.column(name).to_pylist()]
        for name in table.schema.names
    ]
