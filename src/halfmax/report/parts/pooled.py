"""One threshold for all labels: what each average of them would be, over a range of thresholds."""

from typing import NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import mean_of_known
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid, equivalent, positive_entries
from halfmax.staircase.staircase import Staircase

_THRESHOLDS = 160
_MOST_CELLS = 1 << 24  # labels, or rows, times thresholds, counted at once
_MOST_SCORES = 1 << 26  # of a dense matrix, turned at once


class Pooled(NamedTuple):
    """Counts over all labels and rows at each threshold, from +inf down, and the averages."""

    thresholds: Floats
    true_positives: Array
    predicted: Array
    positives: float
    total: float
    scores: dict[str, Floats]  # of each average


def pool(data: LabelledScores, objective: Objective, marked: list[float]) -> Pooled:
    """Every average at thresholds spread over the positives' scores, and at those marked."""
    edges = _edges(data, marked)
    tp, predicted, positives, total = counts = _count(data, edges)
    each = objective(*counts)
    whole = tp.sum(axis=0), predicted.sum(axis=0), positives.sum(), total.sum()
    scores = {
        "micro": objective(*whole),
        "macro": np.array([mean_of_known(column) for column in each.T]),
        "samples": _over_rows(data, objective, edges),
    }
    return Pooled(np.append(np.inf, edges), *whole, scores)


def _edges(data: LabelledScores, marked: list[float]) -> Array:
    """Thresholds from high to low, not more than can be counted for every label at once."""
    scores = positive_entries(data)[1]
    falling = np.unique(scores[np.isfinite(scores)])[::-1]
    most = int(np.clip(_MOST_CELLS // data.n_labels, 8, _THRESHOLDS))
    places = np.linspace(0, len(falling) - 1, min(most, len(falling))).astype(np.int64)
    some = falling[places]
    finite = np.array([value for value in marked if np.isfinite(value)], np.float64)
    edges: Array = np.unique(np.append(some, equivalent(finite, some.dtype)))[::-1]
    return edges


def _count(data: LabelledScores, edges: Array) -> tuple[Array, ...]:
    """Of labels x thresholds, +inf and these: true positives and predicted; then of each label."""
    grid = Grid(np.arange(data.n_labels + 1) * len(edges), np.tile(edges, data.n_labels))
    stairs = Staircase.of_checked(data, grid)
    shape, nobody = (data.n_labels, len(edges)), ((0, 0), (1, 0))
    return (
        np.pad(stairs.true_positives.reshape(shape), nobody),
        np.pad(stairs.predicted.reshape(shape), nobody),
        stairs.positives[:, None],
        stairs.total[:, None],
    )


def _over_rows(data: LabelledScores, objective: Objective, edges: Array) -> Array:
    """The mean over rows at each threshold; some rows at a time take the place of labels."""
    most = _MOST_CELLS // max(len(edges), 1)
    if isinstance(data.scores, np.ndarray):
        most = min(most, _MOST_SCORES // data.n_labels)
    parts = spans(data.n_rows, max(most, 1))
    values = [objective(*_count(_turned(data, rows), edges)) for rows in parts]
    return np.array([mean_of_known(column, data.weights) for column in np.concatenate(values).T])


def _turned(data: LabelledScores, rows: slice) -> LabelledScores:
    """Some rows as labels: instances and labels change places."""
    truth, scores = data.truth[rows].T.tocsr(), data.scores[rows].T
    scores = np.ascontiguousarray(scores) if isinstance(scores, np.ndarray) else scores.tocsr()
    return LabelledScores(truth, scores, None, None, None)
