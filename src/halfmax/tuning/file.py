"""The file format of thresholds: readable JSON, one label per line, checked on load."""

import json
import os
from pathlib import Path
from typing import Any, Self

import numpy as np

from halfmax._core.files import write_whole
from halfmax._core.gate import options
from halfmax._core.gate.labels import Labels, check_labels
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.metrics.average import AVERAGES, WEIGHTED
from halfmax.metrics.goal import check_guard

FORMAT, VERSION = "halfmax.thresholds", 1
COLUMNS = ("threshold", "score", "precision", "recall", "support", "predicted")
_LATER = ("specificity",)  # columns that files of earlier versions do not have


class Saved:
    """Thresholds that can be saved in a file, without the data that were tuned."""

    metric: str
    average: str
    shared: bool
    guard: str | None
    zero_division: float
    score: float
    labels: Labels | None
    specificity: Array

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the thresholds to a readable JSON file, without loss.

        Parameters
        ----------
        path : str or os.PathLike
            The file. It is written whole or not at all, and never over the data that `tune_table`
            read.

        Raises
        ------
        TypeError
            If a label is neither a string nor an integer.
        ValueError
            If the path is that of the data.
        """
        self._refuse_own_data(path)
        head = {
            "metric": self.metric,
            "average": self.average,
            "shared": self.shared,
            "guard": self.guard,
            "zero_division": self.zero_division,
            "score": self.score,
        }
        write_whole(path, encode(head, self.labels, (*self._columns(), self.specificity)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read thresholds that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file; everything in it is checked.

        Returns
        -------
        Thresholds
            Equal to those saved, bit for bit.

        Raises
        ------
        ValueError
            If the file is not a file of thresholds. The message says what is wrong with it.
        """
        raw = Path(path).read_bytes()
        try:
            return cls(**decode(raw))
        except (ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            raise ValueError(
                f"{os.fspath(path)} is not a halfmax thresholds file: {reason}"
            ) from None

    def _refuse_own_data(self, path: str | os.PathLike[str]) -> None:
        raise NotImplementedError

    def _columns(self) -> tuple[Array, ...]:
        raise NotImplementedError


def encode(head: dict[str, Any], labels: Labels | None, columns: tuple[Array, ...]) -> str:
    """Return the text of a file: what was maximised, then one line per label."""
    odd = [name for name in labels or () if type(name) not in (str, int)]
    if odd:
        raise TypeError(
            f"labels must be strings or integers to be saved; got {spell_out(odd[:3])}: "
            "tune with labels=[...] of these types"
        )
    top = {"format": FORMAT, "version": VERSION, **{k: _encode(v) for k, v in head.items()}}
    names = labels or (None,) * len(columns[0])
    cells = zip(names, *(column.tolist() for column in columns), strict=True)
    rows = [
        dict(zip(("label", *COLUMNS, *_LATER), map(_encode, row), strict=True)) for row in cells
    ]
    lines = ",\n    ".join(map(_dump, rows))
    return f'{json.dumps(top, indent=2)[:-2]},\n  "labels": [\n    {lines}\n  ]\n}}\n'


def _dump(row: dict[str, Any]) -> str:
    text = json.dumps(row, ensure_ascii=False, allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair is not text, but may be in a name
        return json.dumps(row, allow_nan=False)
    return text


def decode(raw: bytes) -> dict[str, Any]:
    """Return the fields of the thresholds in a file; a ValueError says what is wrong with it."""
    if not raw.strip():
        raise ValueError("it is empty")
    text = raw.decode("utf-8")
    try:
        content = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=_no_key_twice)
    except _ConstantError:
        _refuse_numbers(json.loads(text))
        raise
    _refuse_numbers(content)
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'it must be a JSON object with "format": "{FORMAT}" at its top level')
    _check_version(content.get("version"))
    fields = _decode_head(content) | _decode_labels(_take(content, "labels", list))
    thresholds, average, shared = (fields[name] for name in ("thresholds", "average", "shared"))
    if average == "binary" and (len(thresholds) != 1 or not shared):
        raise ValueError(
            '"average" is "binary", so there must be exactly one threshold, '
            'and "shared" must be true'
        )
    if shared and (thresholds != thresholds[0]).any():
        raise ValueError('"shared" is true, so all thresholds must be equal')
    return fields


def _refuse_numbers(content: Any) -> None:
    """Refuse a plain dictionary of labels and numbers, with what reads it."""
    if isinstance(content, dict) and content and all(map(_is_number, content.values())):
        raise ValueError(
            "it is a plain dictionary of labels and numbers: read it with "
            "Thresholds.from_dict(json.load(file)), and write such files with save"
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _check_version(version: Any) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f'"version" must be a whole number, 1 or more; got {version!r:.40}')
    if version > VERSION:
        raise ValueError(
            f"its version {version} is newer than {VERSION}, the newest that this halfmax reads; "
            "upgrade halfmax"
        )


def _decode_head(content: dict[str, Any]) -> dict[str, Any]:
    head = {name: _take(content, name, str) for name in ("metric", "average")}
    if not head["metric"]:
        raise ValueError('"metric" must not be empty')
    known = (*AVERAGES, WEIGHTED, "binary")
    if head["average"] not in known:
        raise ValueError(f'"average" must be {spell_out(known, "or")}')
    zero_division = float(_number(content, "zero_division"))
    return head | {
        "shared": _take(content, "shared", bool),
        "guard": _guard(content.get("guard")),
        "score": float(_number(content, "score")),
        "zero_division": options.check_zero_division(zero_division),
    }


def _guard(name: Any) -> str | None:
    """Return the guard; older files do not have one."""
    guard = check_guard(name)
    return None if guard is None else str(guard)


def _decode_labels(rows: list[Any]) -> dict[str, Any]:
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError('"labels" must be a list of one or more objects')
    cells: dict[str, Array] = {}
    rows = [dict.fromkeys(_LATER, "nan") | row for row in rows]
    for name in (*COLUMNS, *_LATER):
        words = _WORDS.get(name, ("nan",))
        cells[name] = np.array([_number(row, name, words, place) for place, row in enumerate(rows)])
    for name in ("precision", "recall", "specificity"):
        if ((cells[name] < 0) | (cells[name] > 1)).any():
            raise ValueError(f'"{name}" must be from 0 to 1, or "nan"')
    for name in ("support", "predicted"):
        if cells[name].dtype == object or (cells[name] < 0).any():
            raise ValueError(f'"{name}" must be a number from 0 that fits in 64 bits, or "nan"')
    _check_unknown(cells)
    return {
        "labels": _names(tuple(_label(row.get("label")) for row in rows)),
        "thresholds": cells["threshold"].astype(np.float64),
        "label_scores": cells["score"].astype(np.float64),
        "precision": cells["precision"].astype(np.float64),
        "recall": cells["recall"].astype(np.float64),
        "specificity": cells["specificity"].astype(np.float64),
        "support": cells["support"],
        "predicted": cells["predicted"],
    }


def _check_unknown(cells: dict[str, Array]) -> None:
    """Check that numbers of a label which are not known go together: without counts no score."""
    not_predicted = np.isnan(cells["predicted"])
    if (np.isnan(cells["support"]) & ~not_predicted).any():
        raise ValueError('"predicted" must be "nan" where "support" is')
    for name in ("score", "precision", "recall", "specificity"):
        if (not_predicted & ~np.isnan(cells[name])).any():
            raise ValueError(f'"{name}" must be "nan" where "predicted" is')


# JSON has no infinities and no NaN: where they make sense, they are written as these words.
_WORDS: dict[str, tuple[str, ...]] = {"threshold": ("inf",)}
_IN_JSON = {bool: "true or false", str: "a string", list: "a list"}
_LARGEST = float(np.finfo(np.float64).max)


def _encode(value: Any) -> Any:
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


def _number(
    row: dict[str, Any], name: str, words: tuple[str, ...] = ("nan",), place: int | None = None
) -> float | int:
    where = f'"{name}"' if place is None else f'"{name}" of label {place}'
    if name not in row:
        raise ValueError(f"{where} is missing")
    value = row[name]
    if isinstance(value, str) and value in words:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{where} must be a number{_or(words)}; got {value!r:.40}")
    if not abs(value) <= _LARGEST:  # also 1e999, which Python reads as inf
        raise ValueError(f"{where} must be a finite number{_or(words)}; got {value!r:.40}")
    return value


def _or(words: tuple[str, ...]) -> str:
    return "".join(f' or "{word}"' for word in words)


def _take(content: dict[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if type(value) is not kind:
        raise ValueError(f'"{name}" must be {_IN_JSON[kind]}; got {value!r:.40}')
    return value


def _label(value: Any) -> str | int | None:
    if value is not None and type(value) not in (str, int):
        raise ValueError(f'"label" must be a string, an integer or null; got {value!r:.40}')
    return value  # type: ignore[no-any-return]


def _names(names: tuple[str | int | None, ...]) -> Labels | None:
    if all(name is None for name in names):
        return None
    if None in names:
        raise ValueError('"label" must be present for every label or for none')
    return check_labels(names, len(names))


class _ConstantError(ValueError):
    """A number that JSON does not have."""


def _refuse_constant(word: str) -> Any:
    raise _ConstantError(f"{word} is not JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found
