"""Example rows of a report, and the labels that each rule predicts for them."""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.gate.labelled import LabelledScores
from halfmax.report.parts.rules import JudgedRule

_ROWS = 8


class Example(NamedTuple):
    """A row: the columns of its true labels, and of the labels that each rule predicts."""

    row: int
    truth: list[int]
    predicted: dict[str, list[int]]


def some_rows(data: LabelledScores, rules: list[JudgedRule]) -> list[Example]:
    """Choose rows evenly over the data, from those with labels if there are any."""
    known = np.flatnonzero(np.diff(data.truth.indptr))
    rows = known if len(known) else np.arange(data.n_rows)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, _ROWS).astype(np.int64))]
    part = data.of_rows(rows)
    predicted = {rule.key: predict.predict(part.scores, rule.choice.thresholds) for rule in rules}
    return [
        Example(
            int(row),
            _columns(part.truth, i),
            {key: _columns(found, i) for key, found in predicted.items()},
        )
        for i, row in enumerate(rows)
    ]


def _columns(matrix: Any, row: int) -> Any:
    if isinstance(matrix, np.ndarray):
        return np.flatnonzero(matrix[row]).tolist()
    stored = matrix.indices[matrix.indptr[row] : matrix.indptr[row + 1]]
    return np.sort(stored).tolist()
