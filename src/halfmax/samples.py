"""Per-instance averages with one threshold for each label: coordinate ascent.

The labels of a row share its metric, so their thresholds cannot be chosen apart and the exact
optimum is out of reach. From the best threshold that all labels share, one label after the other
moves to its own exact best while the others stay, until none moves: a local optimum, never below
the shared threshold.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax import _apply
from halfmax._inputs import LabelledScores
from halfmax.metrics import Objective
from halfmax.shared import TIE, best_shared, column_of, flat_scores, group_scores, row_of

Array = npt.NDArray[Any]
_MOST_SWEEPS = 100


def ascend(data: LabelledScores, objective: Objective) -> npt.NDArray[np.float64]:
    """One threshold for each label, a local optimum of the mean over rows."""
    shared = best_shared(group_scores(data, "samples"), objective)
    thresholds = np.full(data.n_labels, shared)
    columns = _Columns(data)
    tp, predicted = _row_state(data, thresholds)
    for _ in range(_MOST_SWEEPS):
        moved = [
            _move(j, columns, thresholds, tp, predicted, objective) for j in range(data.n_labels)
        ]
        if not any(moved):
            break
    return thresholds


class _Columns:
    """The scores of one label at a time, from high to low."""

    def __init__(self, data: LabelledScores) -> None:
        self.data = data
        self.in_row = np.diff(data.truth.indptr)
        self.importance = np.ones(data.n_rows) if data.weights is None else data.weights
        self.importance = self.importance / self.importance.sum()
        self.scores, self.positive = flat_scores(data)
        self.is_dense = isinstance(data.scores, np.ndarray)
        if not self.is_dense:
            entry = np.arange(len(self.scores))
            column = column_of(data, entry)
            self.by_column = np.argsort(column, kind="stable")
            self.edges = np.searchsorted(column[self.by_column], np.arange(data.n_labels + 1))

    def __getitem__(self, j: int) -> tuple[Array, Array, Array]:
        """Rows, scores and positives of label ``j``."""
        if self.is_dense:
            entry = np.arange(j, len(self.scores), self.data.n_labels)
        else:
            entry = self.by_column[self.edges[j] : self.edges[j + 1]]
        scores = self.scores[entry]
        entry = entry[scores > -np.inf]
        entry = entry[np.argsort(-self.scores[entry], kind="stable")]
        return row_of(self.data, entry), self.scores[entry], self.positive[entry]


def _row_state(data: LabelledScores, thresholds: Array) -> tuple[Array, Array]:
    """Tp and predicted of each row."""
    predictions = _apply.predict(data.scores, thresholds)
    if isinstance(predictions, np.ndarray):
        predicted = predictions.sum(axis=1, dtype=np.int64)
    else:
        predicted = np.diff(predictions.indptr).astype(np.int64)
    hits = data.truth.multiply(predictions).sum(axis=1)
    return np.asarray(hits).ravel().astype(np.int64), predicted


def _move(
    j: int, columns: _Columns, thresholds: Array, tp: Array, predicted: Array, objective: Objective
) -> bool:
    """Give label ``j`` its best threshold while the others stay; True if predictions change."""
    rows, scores, positive = columns[j]
    now = scores >= thresholds[j]
    without_tp, without = tp[rows] - now * positive, predicted[rows] - now
    fixed = columns.in_row[rows], columns.data.n_labels
    gain = objective(without_tp + positive, without + 1, *fixed)
    gain = (gain - objective(without_tp, without, *fixed)) * columns.importance[rows]
    last_of_equals = np.append(scores[1:] != scores[:-1], True)[: len(scores)]
    worth = np.append(0.0, np.cumsum(gain)[last_of_equals])
    limits = np.append(np.inf, scores[last_of_equals])
    # The first of equals within rounding is the highest threshold.
    best = int(np.argmax(worth >= worth.max() - TIE))
    thresholds[j] = limits[best] + 0.0
    if best == int(now[last_of_equals].sum()):
        return False
    chosen = scores >= thresholds[j]
    tp[rows] = without_tp + chosen * positive
    predicted[rows] = without + chosen
    return True
