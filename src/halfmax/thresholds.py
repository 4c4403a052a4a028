"""The result of tuning: thresholds, what they reach, and how to use and keep them."""

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from halfmax import _apply, _frames, _inputs
from halfmax._errors import spell_out
from halfmax._files import write_whole
from halfmax._inputs import AVERAGES, Labels
from halfmax.metrics import PRECISION, RECALL, confusion
from halfmax.table import Table

Array = npt.NDArray[Any]

FORMAT, VERSION = "halfmax.thresholds", 1
_COLUMNS = ("threshold", "score", "precision", "recall", "support", "predicted")


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds:
    """A decision threshold for each label: a row is predicted iff its score is at or above it.

    Attributes
    ----------
    thresholds : ndarray (m,)
        One for each label; ``+inf`` predicts nobody.
    score : float
        The averaged metric that they reach on the data they were tuned on.
    metric, average : str
        What was maximised; ``average`` is ``"binary"`` for one classifier.
    labels : tuple or None
        Names of the labels, where they are known.
    shared : bool
        True if all labels have one threshold, which is then `threshold`.
    label_scores, precision, recall, support, predicted : ndarray (m,)
        The columns of `table`.
    """

    thresholds: npt.NDArray[np.float64]
    score: float
    metric: str
    average: str
    labels: Labels | None
    shared: bool
    zero_division: float
    label_scores: Array
    precision: Array
    recall: Array
    support: Array
    predicted: Array
    _frame_library: Any = field(default=None)

    @classmethod
    def from_counts(
        cls, thresholds: Array, counts: tuple[Array, ...], *, native: Any, **rest: Any
    ) -> "Thresholds":
        """From the counts (tp, predicted, positives, total) that the thresholds give."""
        _, predicted, positives, _ = counts
        parts = confusion(*counts)
        zero_division = rest["zero_division"]
        return cls(
            thresholds=thresholds,
            precision=PRECISION(*parts, zero_division=zero_division),
            recall=RECALL(*parts, zero_division=zero_division),
            support=positives,
            predicted=predicted,
            _frame_library=None if native is None else _frames.library(native),
            **rest,
        )

    @property
    def threshold(self) -> float:
        """The one threshold, of a single classifier or shared by all labels."""
        if not self.shared:
            raise AttributeError(
                f"each of the {len(self.thresholds)} labels has a threshold of its own: "
                "read .thresholds, or tune with per_label=False"
            )
        return float(self.thresholds[0])

    def table(self) -> Any:
        """Per label: label, threshold, score, precision, recall, support, predicted.

        A frame of the library that the data came in, or a `Table` of plain columns.
        """
        names = list(self.labels) if self.labels else list(range(len(self.thresholds)))
        columns: dict[str, Any] = {"label": names}
        columns |= dict(zip(_COLUMNS, self._columns(), strict=True))
        if self._frame_library is not None:
            return _frames.table(self._frame_library, columns)
        return Table(columns)

    def predict(self, y_score: Any) -> Any:
        """0/1 predictions (int8) for scores, in the container they come in.

        An array gives an array, a sparse matrix a CSR matrix, a frame or series one of its own
        library. Columns of a frame are matched with the labels by name where both are known.
        """
        scores = _inputs.open_scores(y_score, "y_score")
        limits = self._limits_for(scores)
        predictions = _apply.predict(scores.values, limits)
        if scores.native is not None:
            return _frames.like(scores.native, predictions)
        return sparse.csr_matrix(predictions) if sparse.isspmatrix(y_score) else predictions

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, readable by people, that `load` gives back bit for bit.

        The file is written whole or not at all.
        """
        odd = [n for n in self.labels or () if isinstance(n, bool) or not isinstance(n, (str, int))]
        if odd:
            raise TypeError(
                f"labels must be strings or integers to be saved; got {spell_out(odd[:3])}: "
                "tune with labels=[...] that are"
            )
        head = {
            "format": FORMAT,
            "version": VERSION,
            "metric": self.metric,
            "average": self.average,
            "shared": self.shared,
            "zero_division": _encode(self.zero_division),
            "score": _encode(self.score),
        }
        names = self.labels or (None,) * len(self.thresholds)
        cells = zip(names, *(column.tolist() for column in self._columns()), strict=True)
        rows = ",\n    ".join(
            json.dumps(dict(zip(("label", *_COLUMNS), map(_encode, row), strict=True)))
            for row in cells
        )
        text = json.dumps(head, indent=2, allow_nan=False)[:-2]
        write_whole(path, f'{text},\n  "labels": [\n    {rows}\n  ]\n}}\n')

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Thresholds":
        """Read what `save` wrote; everything in the file is checked."""
        raw = Path(path).read_bytes()
        try:
            return _decode_file(raw)
        except (ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            raise ValueError(
                f"{os.fspath(path)} is not a halfmax thresholds file: {reason}"
            ) from None

    def __repr__(self) -> str:
        return f"{self._summary()}\n{self._plain_table()}"

    def _repr_html_(self) -> str:
        return f"<p>{self._summary()}</p>{self._plain_table()._repr_html_()}"

    def _summary(self) -> str:
        what = "one classifier" if self.average == "binary" else f"{len(self.thresholds):,} labels"
        average = "" if self.average == "binary" else f"{self.average} "
        return f"Thresholds for {what}: {average}{self.metric} = {self.score:.4f}"

    def _plain_table(self) -> Table:
        names = list(self.labels) if self.labels else list(range(len(self.thresholds)))
        return Table({"label": names, **dict(zip(_COLUMNS, self._columns(), strict=True))})

    def _columns(self) -> tuple[Array, ...]:
        return (
            self.thresholds,
            self.label_scores,
            self.precision,
            self.recall,
            self.support,
            self.predicted,
        )

    def _limits_for(self, scores: _inputs.Matrix) -> npt.NDArray[np.float64]:
        """The thresholds in the order of the columns of these scores."""
        shape, n_labels = scores.values.shape, len(self.thresholds)
        if len(shape) == 1 and self.average != "binary":
            raise ValueError(
                f"y_score must be rows x {n_labels} labels, as the data tuned on; got 1 dimension"
            )
        if len(shape) == 2 and scores.labels is not None and self.labels is not None:
            order = _inputs.match_labels(self.labels, scores.labels, "the thresholds", "y_score")
            return self.thresholds[order]
        if len(shape) == 2 and shape[1] != n_labels:
            raise ValueError(
                f"y_score must have {n_labels} columns, one for each threshold; got {shape[1]}"
            )
        return self.thresholds


def _encode(value: Any) -> Any:
    """JSON has no infinities and no NaN; they are written as the words "inf" and "nan"."""
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value


def _decode_file(raw: bytes) -> Thresholds:
    content = json.loads(
        raw.decode("utf-8"), parse_constant=_refuse_constant, object_pairs_hook=_no_key_twice
    )
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f'it must be a JSON object with "format": "{FORMAT}" at its top level')
    version = content.get("version")
    if type(version) is not int or version < 1:
        raise ValueError(f'"version" must be a whole number from 1; got {version!r}')
    if version > VERSION:
        raise ValueError(
            f"its version {version} is newer than {VERSION}, the newest that this halfmax reads; "
            "upgrade halfmax"
        )
    rows = _take(content, "labels", list)
    if not rows or not all(isinstance(row, dict) for row in rows):
        raise ValueError('"labels" must be a list of one or more objects')
    names = tuple(_label(row.get("label")) for row in rows)
    threshold, score, precision, recall, support, predicted = (
        np.array([_number(row, name, _ALLOWED.get(name, ("nan",))) for row in rows])
        for name in _COLUMNS
    )
    if min(support.min(), predicted.min()) < 0:
        raise ValueError('"support" and "predicted" must not be negative')
    average = _take(content, "average", str)
    if average not in (*AVERAGES, "binary"):
        raise ValueError(f'"average" must be {spell_out((*AVERAGES, "binary"), "or")}')
    if average == "binary" and len(rows) != 1:
        raise ValueError('"average" is "binary", so there must be one threshold')
    shared = _take(content, "shared", bool)
    if shared and (threshold != threshold[0]).any():
        raise ValueError('"shared" is true, so all thresholds must be equal')
    return Thresholds(
        thresholds=threshold.astype(np.float64),
        score=float(_number(content, "score", ("nan",))),
        metric=_take(content, "metric", str),
        average=average,
        labels=_names(names),
        shared=shared,
        zero_division=_inputs.check_zero_division(
            float(_number(content, "zero_division", ("nan",)))
        ),
        label_scores=score.astype(np.float64),
        precision=precision.astype(np.float64),
        recall=recall.astype(np.float64),
        support=support,
        predicted=predicted,
    )


_LARGEST = float(np.finfo(np.float64).max)
_ALLOWED: dict[str, tuple[str, ...]] = {"threshold": ("inf",), "support": (), "predicted": ()}


def _number(row: dict[str, Any], name: str, words: tuple[str, ...]) -> float | int:
    if name not in row:
        raise ValueError(f'"{name}" is missing')
    value = row[name]
    if isinstance(value, str) and value in words:
        return float(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f'"{name}" must be a number{_or(words)}; got {value!r:.40}')
    if not abs(value) <= _LARGEST:  # also 1e999, which Python reads as inf
        raise ValueError(f'"{name}" must be a finite number{_or(words)}; got {value!r:.40}')
    return value


def _or(words: tuple[str, ...]) -> str:
    return "".join(f' or "{word}"' for word in words)


def _take(content: dict[str, Any], name: str, kind: type) -> Any:
    value = content.get(name)
    if type(value) is not kind:
        raise ValueError(f'"{name}" must be a {kind.__name__}; got {value!r:.40}')
    return value


def _label(value: Any) -> str | int | None:
    if value is not None and type(value) not in (str, int):
        raise ValueError(f'"label" must be a string, an integer or null; got {value!r:.40}')
    return value  # type: ignore[no-any-return]


def _names(names: tuple[str | int | None, ...]) -> Labels | None:
    if all(name is None for name in names):
        return None
    if None in names:
        raise ValueError('"label" must be given for every label or for none')
    return _inputs.check_labels(names, len(names))


def _refuse_constant(word: str) -> Any:
    raise ValueError(f"{word} is not JSON")


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found
