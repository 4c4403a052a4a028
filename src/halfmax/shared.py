"""One threshold for all labels: the exact best of the mean over labels, or over rows.

Every score changes the metric of one group: its label for macro averages, its row for per-instance
ones. Taken from the highest score down, each changes the mean by what its own group gains or loses,
so a sweep over sorted scores sees the mean at every threshold. Most of the sweep is spared by the
idea of `binary`: at a few edges the mean is exact, which gives a floor; between two edges no group
can do better than to catch all of its positives there and none of its negatives, which gives a
ceiling; only where the ceiling reaches the floor are scores sorted and swept.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._inputs import LabelledScores
from halfmax._jit import kernel
from halfmax.grid import locate_positives
from halfmax.metrics import Objective

Array = npt.NDArray[Any]

_CHUNK = 1 << 20
_MOST_CELLS = 1 << 22
_MOST_EDGES = 256
TIE = 1e-13  # means closer than this are equal: their sums were rounded in different orders


class Groups(NamedTuple):
    """Scores in any order, each in its group."""

    scores: Array
    group: Array
    positive: Array  # uint8
    weights: Array  # of each score
    positives: Array  # of each group, as are the rest
    total: Array
    importance: Array

    def take(self, entry: Array) -> "Groups":
        """Some of the scores."""
        return self._replace(
            scores=self.scores[entry],
            group=self.group[entry],
            positive=self.positive[entry],
            weights=self.weights[entry],
        )


class _Best(NamedTuple):
    mean: float
    threshold: float


@kernel
def _bin_scores(
    scores: Array,
    group: Array,
    positive: Array,
    weights: Array,
    edges: Array,
    tp: Array,
    predicted: Array,
    place: Array,
) -> None:
    """Count each score into the first of the falling edges that it reaches."""
    for e in range(scores.size):
        first, length = 0, edges.size
        while length > 0:
            half = length >> 1
            if edges[first + half] > scores[e]:
                first += half + 1
                length -= half + 1
            else:
                length = half
        place[e] = first
        if first < edges.size:
            predicted[first, group[e]] += weights[e]
            tp[first, group[e]] += weights[e] * positive[e]


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
    best = _Best(_mean(groups, objective, nothing, nothing), np.inf)
    edges = _edges(groups)
    if not len(edges):
        return best.threshold
    tp = np.zeros((len(edges), len(nothing)), groups.weights.dtype)
    predicted = np.zeros_like(tp)
    place = np.empty(len(groups.scores), np.int32)
    scores, group, positive, weights, *_ = groups
    _bin_scores(scores, group, positive, weights, edges, tp, predicted, place)
    hits = tp.copy()
    np.cumsum(tp, axis=0, out=tp)
    np.cumsum(predicted, axis=0, out=predicted)
    for b in _open_bins(groups, objective, tp, predicted, hits, best.mean):
        above = (tp[b - 1], predicted[b - 1]) if b else (nothing, nothing)
        entry = np.flatnonzero(place == b)
        entry = entry[np.argsort(-scores[entry])]
        best = _sweep(groups.take(entry), objective, above, best)
    return best.threshold


def _edges(groups: Groups) -> Array:
    """Some of the positives' distinct scores, from high to low, the lowest among them."""
    falling: Array = np.unique(groups.scores[groups.positive == 1])[::-1]
    most = min(max(_MOST_CELLS // len(groups.positives), 8), _MOST_EDGES, len(falling))
    chosen: Array = falling[np.linspace(0, len(falling) - 1, most).astype(np.int64)]
    return chosen


def _open_bins(
    groups: Groups, objective: Objective, tp: Array, predicted: Array, hits: Array, floor: float
) -> list[int]:
    """The bins between edges that may hold the best threshold."""
    bins = range(len(tp))
    if np.isnan(objective.zero_division):
        return list(bins)  # groups come and go with their NaN, so a mean has no simple ceiling
    floor = max(floor, *(_mean(groups, objective, tp[b], predicted[b]) for b in bins))
    before = np.concatenate([np.zeros_like(predicted[:1]), predicted[:-1]])
    ceiling = [_mean(groups, objective, tp[b], before[b] + hits[b]) for b in bins]
    return [b for b in bins if ceiling[b] >= floor - TIE]


def _mean(groups: Groups, objective: Objective, tp: Array, predicted: Array) -> float:
    value = objective(tp, predicted, groups.positives, groups.total)
    total, _, weight = _running(groups, value)
    return total / weight if weight > 0 else np.nan


def _running(groups: Groups, value: Array) -> Array:
    known = ~np.isnan(value)
    weight = groups.importance[known]
    return np.array([(weight * value[known]).sum(), 0.0, weight.sum()])


def _sweep(groups: Groups, objective: Objective, above: tuple[Array, Array], best: _Best) -> _Best:
    """Follow the mean down sorted scores, from the counts above them."""
    tp, predicted = (part.copy() for part in above)
    value = objective(tp, predicted, groups.positives, groups.total)
    running = _running(groups, value)
    found = np.array([best.mean, -1.0])
    for start in range(0, len(groups.scores), _CHUNK):
        part = slice(start, start + _CHUNK)
        group = groups.group[part]
        counts = np.empty((2, len(group)), tp.dtype)
        _advance(group, groups.positive[part], groups.weights[part], tp, predicted, counts)
        after = objective(counts[0], counts[1], groups.positives[group], groups.total[group])
        _follow_mean(start, groups.scores, group, after, groups.importance, value, running, found)
    if found[1] < 0:
        return best
    return _Best(float(found[0]), float(groups.scores[int(found[1])]) + 0.0)


def group_scores(data: LabelledScores, average: str) -> Groups:
    """The scores that could matter, those not below the lowest positive's, with their groups."""
    scores, positive = flat_scores(data)
    lowest = np.min(scores, where=(positive == 1) & (scores > -np.inf), initial=np.inf)
    entry = np.flatnonzero(scores >= lowest)
    scores, positive = scores[entry], positive[entry]
    units = np.broadcast_to(np.int64(1), len(entry))
    if average == "samples":
        return Groups(
            scores,
            row_of(data, entry),
            positive,
            weights=units,
            positives=np.diff(data.truth.indptr),
            total=np.full(data.n_rows, data.n_labels),
            importance=np.ones(data.n_rows) if data.weights is None else data.weights,
        )
    per_positive = None
    if data.weights is not None:
        per_positive = np.repeat(data.weights, np.diff(data.truth.indptr))
    return Groups(
        scores,
        column_of(data, entry),
        positive,
        weights=units if data.weights is None else data.weights[row_of(data, entry)],
        positives=np.bincount(data.truth.indices, per_positive, minlength=data.n_labels),
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
