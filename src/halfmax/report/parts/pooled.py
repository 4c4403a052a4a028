"""One threshold for all labels: each average of the metric, at a range of thresholds."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import mean_of_known, mean_over_labels
from halfmax.metrics.counts import Counts
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid, equivalent, positive_entries
from halfmax.staircase.staircase import Staircase

_THRESHOLDS = 160
_MOST_CELLS = 1 << 24  # labels, or rows, times thresholds, counted at once


class Pooled(NamedTuple):
    """Counts over all labels and rows at each threshold, from +inf down, and all averages."""

    thresholds: Floats
    true_positives: Array
    predicted: Array
    positives: float
    total: float
    scores: dict[str, Floats]  # for each average


def pool(
    data: LabelledScores, objective: Objective, marked: list[float], averages: Sequence[str]
) -> Pooled:
    """Compute these averages at thresholds over the range of positives, and at marked ones."""
    edges = _edges(data, marked)
    counts = _count(data, edges)
    whole = Counts(
        counts.true_positives.sum(axis=0),
        counts.predicted.sum(axis=0),
        counts.positives.sum(),
        counts.total.sum(),
    )
    of_average: dict[str, Callable[[], Array]] = {
        "micro": lambda: objective(*whole),
        "macro": lambda: _over_labels(counts, objective, "macro"),
        "weighted": lambda: _over_labels(counts, objective, "weighted"),
        "samples": lambda: _over_rows(data, objective, edges),
    }
    return Pooled(
        thresholds=np.append(np.inf, edges),
        true_positives=whole.true_positives,
        predicted=whole.predicted,
        positives=float(whole.positives),
        total=float(whole.total),
        scores={average: of_average[average]() for average in averages},
    )


def _edges(data: LabelledScores, marked: list[float]) -> Array:
    """Return thresholds from high to low, as many as can be counted for all labels at once."""
    scores = positive_entries(data)[1]
    falling = np.unique(scores[np.isfinite(scores)])[::-1]
    most = int(np.clip(_MOST_CELLS // data.n_labels, 8, _THRESHOLDS))
    places = np.linspace(0, len(falling) - 1, min(most, len(falling))).astype(np.int64)
    some = falling[places]
    finite = np.array([value for value in marked if np.isfinite(value)], np.float64)
    edges: Array = np.unique(np.append(some, equivalent(finite, some.dtype)))[::-1]
    return edges


def _count(data: LabelledScores, edges: Array) -> Counts:
    """Count labels x thresholds, at +inf and at these; positives and total have one column."""
    grid = Grid(np.arange(data.n_labels + 1) * len(edges), np.tile(edges, data.n_labels))
    stairs = Staircase.of_checked(data, grid)
    shape, at_infinity = (data.n_labels, len(edges)), ((0, 0), (1, 0))
    return Counts(
        np.pad(stairs.true_positives.reshape(shape), at_infinity),
        np.pad(stairs.predicted.reshape(shape), at_infinity),
        stairs.positives[:, None],
        stairs.total[:, None],
    )


def _over_labels(counts: Counts, objective: Objective, average: str) -> Array:
    """Compute the mean over labels at each threshold."""
    positives = counts.positives[:, 0]
    return np.array(
        [mean_over_labels(column, average, positives) for column in objective(*counts).T]
    )


def _over_rows(data: LabelledScores, objective: Objective, edges: Array) -> Array:
    """Compute the mean over rows at each threshold, with blocks of rows counted as labels."""
    most = _MOST_CELLS // max(len(edges), 1)
    if isinstance(data.scores, np.ndarray):
        most = min(most, limits.transposed_scores // data.n_labels)
    parts = spans(data.n_rows, max(most, 1))
    values = [objective(*_count(_transposed(data, rows), edges)) for rows in parts]
    return np.array([mean_of_known(column, data.weights) for column in np.concatenate(values).T])


def _transposed(data: LabelledScores, rows: slice) -> LabelledScores:
    """Transpose some rows, so that they are counted like labels."""
    truth, scores = data.truth[rows].T.tocsr(), data.scores[rows].T
    scores = np.ascontiguousarray(scores) if isinstance(scores, np.ndarray) else scores.tocsr()
    return LabelledScores(truth, scores, None, None, None)
