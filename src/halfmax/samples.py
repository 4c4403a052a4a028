"""Per-instance averages with one threshold for each label: coordinate ascent.

The labels of a row share its metric, so their thresholds cannot be chosen apart and the exact
optimum is out of reach. From the best threshold that all labels share, one label after the other
moves to its own exact best while the others stay, until none moves: a local optimum, never below
the shared threshold.
"""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax import _apply
from halfmax._inputs import LabelledScores
from halfmax._jit import kernel
from halfmax.metrics import Objective
from halfmax.shared import TIE, best_shared, column_of, flat_scores, group_scores, row_of

Array = npt.NDArray[Any]
_MOST_SWEEPS = 100
# Where a row may go when one label changes: as it is, one more positive or negative predicted, one
# positive or negative less. (tp, predicted) of each:
_MOVES = np.array([(0, 0), (0, 1), (1, 1), (0, -1), (-1, -1)])


@kernel
def _best_place(
    rows: Array, scores: Array, positive: Array, n_now: int, near: Array, changes: Array
) -> int:
    """How many of these falling scores to predict, given what each row's metric would become.

    `near` holds a row's value at each of `_MOVES`; the first `n_now` rows are predicted now.
    """
    worth, best = 0.0, 0.0
    for e in range(rows.size):
        i = rows[e]
        if e < n_now:
            worth += near[i, 0] - near[i, 3 + positive[e]]
        else:
            worth += near[i, 1 + positive[e]] - near[i, 0]
        changes[e] = worth
        if e + 1 == rows.size or scores[e + 1] != scores[e]:
            best = max(best, worth)
    if best <= TIE:
        return 0
    for e in range(rows.size):
        # The first of equals within rounding is the highest threshold.
        if changes[e] >= best - TIE and (e + 1 == rows.size or scores[e + 1] != scores[e]):
            return e + 1
    return 0


class _RowState:
    """What each row has predicted and hit, and what its metric would be after any move."""

    def __init__(self, data: LabelledScores, thresholds: Array, objective: Objective) -> None:
        predictions = _apply.predict(data.scores, thresholds)
        hits = data.truth.multiply(predictions).sum(axis=1)
        self.tp = np.asarray(hits).ravel().astype(np.int64)
        self.predicted = np.asarray(predictions.sum(axis=1, dtype=np.int64)).ravel()
        self.positives = np.diff(data.truth.indptr).astype(np.int64)
        self.total = data.n_labels
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self.importance = weights / weights.sum()
        self.objective = objective
        self.near = np.empty((data.n_rows, len(_MOVES)))
        self.refresh(np.arange(data.n_rows))

    def refresh(self, rows: Array) -> None:
        """Look around again after these rows have moved; impossible moves are never asked for."""
        positives = self.positives[rows, None]
        tp = np.clip(self.tp[rows, None] + _MOVES[:, 0], 0, positives)
        most = self.total - positives + tp
        predicted = np.clip(self.predicted[rows, None] + _MOVES[:, 1], tp, most)
        value = self.objective(tp, predicted, positives, self.total)
        self.near[rows] = value * self.importance[rows, None]


def ascend(data: LabelledScores, objective: Objective) -> npt.NDArray[np.float64]:
    """One threshold for each label, a local optimum of the mean over rows."""
    shared = best_shared(group_scores(data, "samples"), objective)
    thresholds = np.full(data.n_labels, shared)
    rows, scores, positive, edges = _columns(data, shared)
    state = _RowState(data, thresholds, objective)
    n_predicted = np.array([_reach(scores[start:end], shared) for start, end in pairwise(edges)])
    scratch = np.empty(int(np.diff(edges).max(initial=0)))
    for _ in range(_MOST_SWEEPS):
        moved = False
        for j in range(data.n_labels):
            part = slice(edges[j], edges[j + 1])
            now = n_predicted[j]
            best = _best_place(rows[part], scores[part], positive[part], now, state.near, scratch)
            thresholds[j] = scores[part][best - 1] + 0.0 if best else np.inf
            if best != now:
                moved = True
                n_predicted[j] = best
                _apply_move(state, rows[part], positive[part], now, best)
        if not moved:
            break
    return thresholds


def _apply_move(state: _RowState, rows: Array, positive: Array, now: int, best: int) -> None:
    sign = 1 if best > now else -1
    span = slice(min(now, best), max(now, best))
    touched = rows[span]  # a label has one score a row, so no row comes twice
    state.predicted[touched] += sign
    state.tp[touched] += sign * positive[span].astype(np.int64)
    state.refresh(touched)


def _columns(data: LabelledScores, shared: float) -> tuple[Array, Array, Array, Array]:
    """Rows, scores and positives of each label from high to low, label after label, and the edges.

    Scores below both the shared threshold and the label's lowest positive can never be predicted.
    """
    scores, positive = flat_scores(data)
    known = np.flatnonzero(scores > -np.inf)
    column = column_of(data, known)
    lowest = np.full(data.n_labels, shared)
    hit = positive[known] == 1
    np.minimum.at(lowest, column[hit], scores[known[hit]])
    kept = scores[known] >= lowest[column]
    entry, column = known[kept], column[kept]
    order = np.lexsort((-scores[entry], column))
    entry = entry[order]
    edges = np.searchsorted(column[order], np.arange(data.n_labels + 1))
    return row_of(data, entry), scores[entry], positive[entry], edges


def _reach(falling: Array, threshold: float) -> int:
    """How many of the falling scores are at or above the threshold."""
    return int(np.searchsorted(-falling, -threshold, side="right"))
