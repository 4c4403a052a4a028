"""One threshold for all labels: the exact best of the mean over labels, or over rows.

Every score changes the metric of one group: its label for macro averages, its row for per-instance
ones. Taken from the highest score down, each changes the mean by what its own group gains or loses,
so a single sweep over the sorted scores sees the mean at every threshold.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._inputs import LabelledScores
from halfmax._jit import kernel
from halfmax.metrics import Objective
from halfmax.staircase import locate_positives

Array = npt.NDArray[Any]

_CHUNK = 1 << 20
TIE = 1e-13  # means closer than this are equal: their sums were rounded in different orders


class Groups(NamedTuple):
    """Scores from high to low, each in its group."""

    scores: Array
    group: Array
    positive: Array  # uint8
    weights: Array  # of each score
    positives: Array  # of each group, as are the rest
    total: Array
    importance: Array


@kernel
def _advance(
    group: Array, positive: Array, weights: Array, tp: Array, predicted: Array, counts: Array
) -> None:
    """Count each score into its group and note the group's counts after it."""
    for e in range(group.size):
        g = group[e]
        predicted[g] += weights[e]
        tp[g] += weights[e] * positive[e]
        counts[0, e] = tp[g]
        counts[1, e] = predicted[g]


@kernel
def _follow_mean(
    start: int,
    scores: Array,
    group: Array,
    after: Array,
    importance: Array,
    value: Array,
    running: Array,
    best: Array,
) -> None:
    """Follow the mean over groups; remember the first place where it is largest.

    Neumaier's summation: millions of small changes must not drown the last digits. A group whose
    value is NaN (0/0 left out of averages) has no weight.
    """
    for e in range(group.size):
        g = group[e]
        change = 0.0
        if not np.isnan(value[g]):
            change -= importance[g] * value[g]
            running[2] -= importance[g]
        if not np.isnan(after[e]):
            change += importance[g] * after[e]
            running[2] += importance[g]
        value[g] = after[e]
        total = running[0] + change
        if abs(running[0]) >= abs(change):
            running[1] += (running[0] - total) + change
        else:
            running[1] += (change - total) + running[0]
        running[0] = total
        if start + e + 1 < scores.size and scores[start + e + 1] == scores[start + e]:
            continue
        mean = (running[0] + running[1]) / running[2] if running[2] > 0 else np.nan
        if mean > best[0] + TIE or (np.isnan(best[0]) and not np.isnan(mean)):
            best[0] = mean
            best[1] = start + e


def best_shared(groups: Groups, objective: Objective) -> float:
    """The threshold with the largest weighted mean of the groups' objectives."""
    objective.require_monotone(groups.positives, groups.total)
    nothing = np.zeros(len(groups.positives), groups.weights.dtype)
    value = objective(nothing, nothing, groups.positives, groups.total)
    known = ~np.isnan(value)
    running = np.array(
        [(groups.importance * value)[known].sum(), 0.0, groups.importance[known].sum()]
    )
    best = np.array([running[0] / running[2] if running[2] > 0 else np.nan, -1.0])
    tp, predicted = nothing.copy(), nothing.copy()
    for start in range(0, len(groups.scores), _CHUNK):
        part = slice(start, min(start + _CHUNK, len(groups.scores)))
        group = groups.group[part]
        counts = np.empty((2, len(group)), tp.dtype)
        _advance(group, groups.positive[part], groups.weights[part], tp, predicted, counts)
        after = objective(counts[0], counts[1], groups.positives[group], groups.total[group])
        _follow_mean(start, groups.scores, group, after, groups.importance, value, running, best)
    return np.inf if best[1] < 0 else float(groups.scores[int(best[1])]) + 0.0


def group_scores(data: LabelledScores, average: str) -> Groups:
    """Sort the scores that could matter: those not below the lowest positive's."""
    scores, positive = flat_scores(data)
    reachable = (positive == 1) & (scores > -np.inf)
    entry = np.flatnonzero(scores >= scores[reachable].min(initial=np.inf))
    entry = entry[np.argsort(-scores[entry], kind="stable")]
    ordered = scores[entry], positive[entry]
    in_row = np.diff(data.truth.indptr)
    row_weights = np.ones(data.n_rows) if data.weights is None else data.weights
    units = np.broadcast_to(np.int64(1), len(entry))
    if average == "samples":
        return Groups(
            scores=ordered[0],
            group=row_of(data, entry),
            positive=ordered[1],
            weights=units,
            positives=in_row,
            total=np.full(data.n_rows, data.n_labels),
            importance=row_weights,
        )
    weighted = data.weights is not None
    return Groups(
        scores=ordered[0],
        group=column_of(data, entry),
        positive=ordered[1],
        weights=row_weights[row_of(data, entry)] if weighted else units,
        positives=np.bincount(
            data.truth.indices,
            np.repeat(row_weights, in_row) if weighted else None,
            minlength=data.n_labels,
        ),
        total=np.full(data.n_labels, data.total),
        importance=np.ones(data.n_labels),
    )


def flat_scores(data: LabelledScores) -> tuple[Array, Array]:
    """All scores in one line, row after row, and which of them are positives' (uint8)."""
    if isinstance(data.scores, np.ndarray):
        return data.scores.ravel(), data.truth.toarray().ravel()
    positive = np.zeros(data.scores.nnz, np.uint8)
    place = locate_positives(data)
    positive[place[place >= 0]] = 1
    return data.scores.data, positive


def row_of(data: LabelledScores, entry: Array) -> Array:
    """The row of each place in the line of `flat_scores`."""
    if isinstance(data.scores, np.ndarray):
        return entry // data.n_labels
    return np.searchsorted(data.scores.indptr, entry, side="right") - 1


def column_of(data: LabelledScores, entry: Array) -> Array:
    """The label of each place in the line of `flat_scores`."""
    if isinstance(data.scores, np.ndarray):
        return entry % data.n_labels
    column: Array = data.scores.indices[entry]
    return column
