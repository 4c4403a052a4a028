"""One threshold for all labels: the exact optimum of the mean over labels, or over rows.

Every score changes the metric of one group: its label for macro averages, its row for samples
averages. From the highest score down, each score changes the mean by what its own group gains or
loses, so a sweep over sorted scores sees the mean at every threshold. As in `one`, most of the
sweep can be skipped. At a few edges the mean is exact, which gives a floor. Between two edges no
group can do better than to catch all of its positives there and none of its negatives, which gives
a ceiling. Only where the ceiling reaches the floor are scores sorted and swept.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio
from halfmax.tuning.exact.groups import Groups
from halfmax.tuning.exact.samples_kernels import advance_ratio
from halfmax.tuning.exact.shared_kernels import (
    advance,
    count_bins,
    count_places,
    find_bins,
    follow_mean,
    pick,
)
from halfmax.tuning.exact.ties import MEAN_ROUNDING

_MOST_CELLS = 1 << 21  # groups x edges
_CELLS_AT_ONCE = 1 << 14


class _Best(NamedTuple):
    mean: float
    threshold: float


def best_shared(groups: Groups, objective: Objective) -> float:
    """Return the threshold with the largest weighted mean of the groups' objectives."""
    objective.require_monotone(groups.positives, groups.total)
    groups = groups.with_float_totals()
    nothing = np.zeros(len(groups.positives), groups.weights.dtype)
    value = objective(nothing, nothing, groups.positives, groups.total)
    best = _Best(_mean_of(groups, value), np.inf)
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
    """Yield each of these bins with its scores from high to low."""
    sizes = np.zeros(n_bins + 1, np.int64)
    count_places(place, sizes)
    batch = np.cumsum(sizes[bins]) // limits.shared_picked
    for some in np.split(bins, np.flatnonzero(np.diff(batch)) + 1):
        yield from zip(some, _sorted_bins(groups, place, sizes, some), strict=True)


def _sorted_bins(groups: Groups, place: Array, sizes: Array, bins: Array) -> Iterator[Groups]:
    """Sort the scores of each bin, picked in one pass over all scores."""
    stops = np.cumsum(sizes[bins])
    starts = stops - sizes[bins]
    ends = np.full(len(sizes), -1)
    ends[bins] = starts
    picked = groups.empty(int(sizes[bins].sum()))
    pick(
        place,
        groups.scores,
        groups.group,
        groups.positive,
        groups.weights,
        ends,
        picked.scores,
        picked.group,
        picked.positive,
        picked.weights,
    )

    def falling(part: slice) -> Groups:
        inside = picked.take(part)
        return inside.take(np.argsort(-inside.scores))

    return map_blocks(falling, map(slice, starts, stops))


def _edges(groups: Groups) -> Array:
    """Return some of the positives' distinct scores from high to low, including the lowest."""
    falling: Array = np.unique(groups.scores[groups.positive == 1])[::-1]
    falling = falling[falling > -np.inf]
    most = min(max(_MOST_CELLS // len(groups.positives), 8), limits.shared_edges, len(falling))
    chosen: Array = falling[np.linspace(0, len(falling) - 1, most).astype(np.int64)]
    return chosen


def _bins_of(scores: Array, edges: Array) -> Array:
    """Find the first of the falling edges that each score reaches, or the number of edges."""
    place = np.empty(len(scores), np.int16)
    blocks = spans(len(scores), limits.shared_chunk)
    for _ in map_blocks(lambda part: find_bins(scores[part], edges, place[part]), blocks):
        pass
    return place


def _counts_in_bins(groups: Groups, place: Array, n_bins: int) -> tuple[Array, Array]:
    """Count the positives and the scores between edges, bins x groups."""
    tp = np.zeros((len(groups.positives), n_bins), groups.weights.dtype)
    predicted = np.zeros_like(tp)  # a group's bins are adjacent, as its scores often are
    count_bins(place, groups.group, groups.positive, groups.weights, n_bins, tp, predicted)
    return np.ascontiguousarray(tp.T), np.ascontiguousarray(predicted.T)


def _open_bins(
    groups: Groups, objective: Objective, tp: Array, predicted: Array, hits: Array, floor: float
) -> npt.NDArray[np.int64]:
    """Return the bins between edges that may contain the best threshold."""
    bins = np.arange(len(tp))
    if np.isnan(objective.zero_division):
        return bins  # groups enter and leave the mean with NaN, so it has no simple ceiling
    floor = max(floor, *_means(groups, objective, tp, predicted))
    fewest = hits.copy()
    fewest[1:] += predicted[:-1]
    ceiling = _means(groups, objective, tp, fewest)
    return bins[np.array(ceiling) >= floor - MEAN_ROUNDING]


def _means(groups: Groups, objective: Objective, tp: Array, predicted: Array) -> list[float]:
    """Return the mean at each edge, of bins x groups; few groups are computed together."""
    size, found = len(groups.positives), list[float]()
    for part in spans(len(tp), max(_CELLS_AT_ONCE // size, 1)):
        times = part.stop - part.start
        positives, total = np.tile(groups.positives, times), np.tile(groups.total, times)
        values = objective(tp[part].ravel(), predicted[part].ravel(), positives, total)
        found += [_mean_of(groups, value) for value in values.reshape(-1, size)]
    return found


def _mean_of(groups: Groups, value: Array) -> float:
    total, _, weight = _running(groups, value)
    return total / weight if weight > 0 else np.nan


def _running(groups: Groups, value: Array) -> Array:
    known = ~np.isnan(value)
    weight = groups.importance[known]
    return np.array([(weight * value[known]).sum(), 0.0, weight.sum()])


def _sweep(groups: Groups, objective: Objective, above: tuple[Array, Array], best: _Best) -> _Best:
    """Follow the mean down the sorted scores, starting from the counts above them."""
    tp, predicted = (part.copy() for part in above)
    value = objective(tp, predicted, groups.positives, groups.total)
    running = _running(groups, value)
    found = np.array([best.mean, -1.0])
    for start in range(0, len(groups.scores), limits.shared_chunk):
        part = slice(start, start + limits.shared_chunk)
        group = groups.group[part]
        after = _values_after(groups, objective, part, tp, predicted)
        follow_mean(start, groups.scores, group, after, groups.importance, value, running, found)
    if found[1] < 0:
        return best
    return _Best(float(found[0]), float(groups.scores[int(found[1])]) + 0.0)


def _values_after(
    groups: Groups, objective: Objective, part: slice, tp: Array, predicted: Array
) -> Array:
    """Return the group's objective after each score of a part, and advance the counts."""
    group, positive, weights = groups.group[part], groups.positive[part], groups.weights[part]
    positives, total = groups.positives, groups.total
    ratio = as_plain_ratio(objective)
    if len(ratio):
        after = np.empty(len(group))
        advance_ratio(group, positive, weights, tp, predicted, positives, total, ratio, after)
        return after
    counts = np.empty((2, len(group)), tp.dtype)
    advance(group, positive, weights, tp, predicted, counts)
    return objective(counts[0], counts[1], positives[group], total[group])
