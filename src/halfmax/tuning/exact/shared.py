"""One threshold for all labels: the exact best of the mean over labels, or over rows.

Every score changes the metric of one group: its label for macro averages, its row for per-instance
ones. Taken from the highest score down, each changes the mean by what its own group gains or loses,
so a sweep over sorted scores sees the mean at every threshold. Most of the sweep is spared by the
idea of `binary`: at a few edges the mean is exact, which gives a floor; between two edges no group
can do better than to catch all of its positives there and none of its negatives, which gives a
ceiling; only where the ceiling reaches the floor are scores sorted and swept.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.jit import kernel
from halfmax._core.labelled import LabelledScores
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio, ratio_at
from halfmax.staircase.grid import locate_positives

_CHUNK = 1 << 20
_IN_STEP = 1 << 10  # scores and places that stay in the cache
_MOST_CELLS = 1 << 21
_MOST_EDGES = 256
_MOST_PICKED = 1 << 23  # scores that are moved to their bins at a time
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

    @property
    def entries(self) -> tuple[Array, Array, Array, Array]:
        """What there is of each score."""
        return self.scores, self.group, self.positive, self.weights

    def with_entries(self, scores: Array, group: Array, positive: Array, weights: Array) -> Self:
        """Other scores of the same groups."""
        return self._replace(scores=scores, group=group, positive=positive, weights=weights)

    def take(self, entry: Array | slice) -> Self:
        """Some of the scores."""
        return self.with_entries(*(part[entry] for part in self.entries))

    def empty(self, size: int) -> Self:
        """Room for as many scores."""
        return self.with_entries(*(np.empty(size, part.dtype) for part in self.entries))


class _Best(NamedTuple):
    mean: float
    threshold: float


@kernel
def _search_in_step(scores: Array, edges: Array, first: Array) -> None:
    """Find the last of the falling edges above each score, or the first edge.

    The scores search together, which lets the compiler use vector registers.
    """
    first[:] = 0
    length = edges.size
    while length > 1:
        half: Any = np.int32(length >> 1)
        for e in range(scores.size):
            f = first[e]
            first[e] = np.int32(f + half) if edges[np.uint32(f + half - 1)] > scores[e] else f
        length -= half


@kernel
def _find_bins(scores: Array, edges: Array, place: Array) -> None:
    """Find the first of the falling edges that each score reaches, or the number of edges."""
    first = np.empty(_IN_STEP, np.int32)
    for start in range(0, scores.size, _IN_STEP):
        some = scores[start : start + _IN_STEP]
        _search_in_step(some, edges, first[: some.size])
        for e in range(some.size):
            place[start + e] = first[e] + (edges[first[e]] > some[e])


@kernel
def _count_bins(
    place: Array,
    group: Array,
    positive: Array,
    weights: Array,
    n_bins: int,
    tp: Array,
    predicted: Array,
) -> None:
    """Count each score into its group and the bin that it lies in; below the last edge is none."""
    for e in range(place.size):
        if place[e] < n_bins:
            predicted[group[e], place[e]] += weights[e]
            tp[group[e], place[e]] += weights[e] * positive[e]


@kernel
def _count_places(place: Array, sizes: Array) -> None:
    """Count the scores of each bin."""
    for e in range(place.size):
        sizes[place[e]] += 1


@kernel
def _pick(
    place: Array,
    scores: Array,
    group: Array,
    positive: Array,
    weights: Array,
    ends: Array,
    picked_scores: Array,
    picked_group: Array,
    picked_positive: Array,
    picked_weights: Array,
) -> None:
    """Copy scores to where those of their bin end so far; -1 leaves a bin out."""
    for e in range(place.size):
        to = ends[place[e]]
        if to >= 0:
            picked_scores[to] = scores[e]
            picked_group[to] = group[e]
            picked_positive[to] = positive[e]
            picked_weights[to] = weights[e]
            ends[place[e]] = to + 1


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
def _advance_ratio(
    group: Array,
    positive: Array,
    weights: Array,
    tp: Array,
    predicted: Array,
    positives: Array,
    total: Array,
    ratio: Array,
    after: Array,
) -> None:
    """Count each score into its group and note the group's ratio after it."""
    for e in range(group.size):
        g = group[e]
        predicted[g] += weights[e]
        tp[g] += weights[e] * positive[e]
        after[e] = ratio_at(ratio, tp[g], predicted[g], positives[g], total[g])


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
    place = _bins_of(groups.scores, edges)
    hits, all_inside = _counts_in_bins(groups, place, len(edges))
    tp, predicted = np.cumsum(hits, axis=0), np.cumsum(all_inside, axis=0)
    bins = _open_bins(groups, objective, tp, predicted, hits, best.mean)
    for b, inside in _scores_in_bins(groups, place, len(edges), bins):
        above = (tp[b - 1], predicted[b - 1]) if b else (nothing, nothing)
        best = _sweep(inside, objective, above, best)
    return best.threshold


def _scores_in_bins(
    groups: Groups, place: Array, n_bins: int, bins: Array
) -> Iterator[tuple[int, Groups]]:
    """Each of these bins with its scores from high to low."""
    sizes = np.zeros(n_bins + 1, np.int64)
    _count_places(place, sizes)
    batch = np.cumsum(sizes[bins]) // _MOST_PICKED
    for some in np.split(bins, np.flatnonzero(np.diff(batch)) + 1):
        yield from zip(some, _sorted_bins(groups, place, sizes, some), strict=True)


def _sorted_bins(groups: Groups, place: Array, sizes: Array, bins: Array) -> Iterator[Groups]:
    """The scores of each bin, picked in one pass over all of them."""
    stops = np.cumsum(sizes[bins])
    starts = stops - sizes[bins]
    ends = np.full(len(sizes), -1)
    ends[bins] = starts
    picked = groups.empty(int(sizes[bins].sum()))
    _pick(place, *groups.entries, ends, *picked.entries)

    def falling(part: slice) -> Groups:
        inside = picked.take(part)
        return inside.take(np.argsort(-inside.scores))

    return map_blocks(falling, map(slice, starts, stops))


def _edges(groups: Groups) -> Array:
    """Some of the positives' distinct scores, from high to low, the lowest among them."""
    falling: Array = np.unique(groups.scores[groups.positive == 1])[::-1]
    falling = falling[falling > -np.inf]
    most = min(max(_MOST_CELLS // len(groups.positives), 8), _MOST_EDGES, len(falling))
    chosen: Array = falling[np.linspace(0, len(falling) - 1, most).astype(np.int64)]
    return chosen


def _bins_of(scores: Array, edges: Array) -> Array:
    """For each score the first of the falling edges that it reaches, or the number of edges."""
    place = np.empty(len(scores), np.int16)
    blocks = spans(len(scores), _CHUNK)
    for _ in map_blocks(lambda part: _find_bins(scores[part], edges, place[part]), blocks):
        pass
    return place


def _counts_in_bins(groups: Groups, place: Array, n_bins: int) -> tuple[Array, Array]:
    """Positives and scores between edges, bins x groups."""
    tp = np.zeros((len(groups.positives), n_bins), groups.weights.dtype)
    predicted = np.zeros_like(tp)  # a group's bins lie together, as its scores often do
    entries = groups.group, groups.positive, groups.weights
    _count_bins(place, *entries, n_bins, tp, predicted)
    return np.ascontiguousarray(tp.T), np.ascontiguousarray(predicted.T)


def _open_bins(
    groups: Groups, objective: Objective, tp: Array, predicted: Array, hits: Array, floor: float
) -> npt.NDArray[np.int64]:
    """The bins between edges that may hold the best threshold."""
    bins = np.arange(len(tp))
    if np.isnan(objective.zero_division):
        return bins  # groups come and go with their NaN, so a mean has no simple ceiling
    floor = max(floor, *(_mean(groups, objective, tp[b], predicted[b]) for b in bins))
    without = np.zeros_like(predicted[0])
    ceiling = [
        _mean(groups, objective, tp[b], hits[b] + (predicted[b - 1] if b else without))
        for b in bins
    ]
    return bins[np.array(ceiling) >= floor - TIE]


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
        after = _values_after(groups, objective, part, tp, predicted)
        _follow_mean(start, groups.scores, group, after, groups.importance, value, running, found)
    if found[1] < 0:
        return best
    return _Best(float(found[0]), float(groups.scores[int(found[1])]) + 0.0)


def _values_after(
    groups: Groups, objective: Objective, part: slice, tp: Array, predicted: Array
) -> Array:
    """What each score of a part makes of its group's objective; the counts move on."""
    entries = groups.group[part], groups.positive[part], groups.weights[part]
    ratio = as_plain_ratio(objective)
    if len(ratio):
        after = np.empty(len(entries[0]))
        _advance_ratio(*entries, tp, predicted, groups.positives, groups.total, ratio, after)
        return after
    counts = np.empty((2, len(entries[0])), tp.dtype)
    _advance(*entries, tp, predicted, counts)
    group = entries[0]
    return objective(counts[0], counts[1], groups.positives[group], groups.total[group])


def group_scores(data: LabelledScores, average: str) -> Groups:
    """The scores with their groups: the rows of a samples average, the labels of a macro one."""
    scores, positive = flat_scores(data)
    units = np.broadcast_to(np.int64(1), len(scores))
    if average == "samples":
        return Groups(
            scores,
            _rows(data),
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
        _columns(data),
        positive,
        weights=units if data.weights is None else data.weights[_rows(data)],
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


def _rows(data: LabelledScores) -> Array:
    """The row of each score in the line of `flat_scores`."""
    rows = np.arange(data.n_rows, dtype=np.int32)
    if isinstance(data.scores, np.ndarray):
        return np.repeat(rows, data.n_labels)
    return np.repeat(rows, np.diff(data.scores.indptr))


def _columns(data: LabelledScores) -> Array:
    """The label of each score in the line of `flat_scores`."""
    if isinstance(data.scores, np.ndarray):
        return np.tile(np.arange(data.n_labels, dtype=np.int32), data.n_rows)
    columns: Array = data.scores.indices
    return columns
