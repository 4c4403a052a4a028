"""The loops behind `shared`: scores in the bins between edges, and the mean that follows them."""

from __future__ import annotations

try:
    import cython
except ImportError:
    from halfmax._core import uncompiled as cython
if cython.compiled:
    from cython.cimports.libc.math import NAN, fabs, isnan
else:
    from numpy import abs as fabs
    from numpy import isnan
    from numpy import nan as NAN

import numpy as np

from halfmax.tuning.exact.ties import MEAN_ROUNDING

Score = cython.fused_type(cython.float, cython.double)
Weight = cython.fused_type(cython.longlong, cython.double)

_IN_STEP = cython.declare(cython.Py_ssize_t, 1 << 10)  # scores and places that stay in the cache
_MEAN_ROUNDING = cython.declare(cython.double, MEAN_ROUNDING)


# ---- bins


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _search_in_step(
    scores: cython.const[Score][::1],
    start: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
    edges: cython.const[Score][::1],
    first: cython.int[::1],
) -> cython.void:
    """Find the last of the falling edges above each of `size` scores, or the first edge.

    All scores search in lockstep, which lets the compiler use vector registers: these need 32 bits
    and an unsigned index.
    """
    length: cython.int = edges.shape[0]
    half: cython.int
    f: cython.int
    for e in range(size):
        first[e] = 0
    while length > 1:
        half = length >> 1
        for e in range(size):
            f = first[e]
            first[e] = (
                f + half if edges[cython.cast(cython.uint, f + half - 1)] > scores[start + e] else f
            )
        length -= half


def find_bins(
    scores: cython.const[Score][::1], edges: cython.const[Score][::1], place: cython.short[::1]
) -> None:
    """Find the first of the falling edges that each score reaches, or the number of edges."""
    first: cython.int[::1] = np.empty(_IN_STEP, np.int32)
    start: cython.Py_ssize_t = 0
    with cython.nogil:
        while start < scores.shape[0]:
            size = min(_IN_STEP, scores.shape[0] - start)
            _search_in_step(scores, start, size, edges, first)
            for e in range(size):
                place[start + e] = first[e] + (edges[first[e]] > scores[start + e])
            start += _IN_STEP


def count_bins(
    place: cython.const[cython.short][::1],
    group: cython.const[cython.int][::1],
    positive: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    n_bins: cython.int,
    tp: Weight[:, ::1],
    predicted: Weight[:, ::1],
) -> None:
    """Count each score in its group and bin; scores below the last edge are not counted."""
    with cython.nogil:
        for e in range(place.shape[0]):
            if place[e] < n_bins:
                predicted[group[e], place[e]] += weights[e]
                tp[group[e], place[e]] += weights[e] * positive[e]


def count_places(place: cython.const[cython.short][::1], sizes: cython.longlong[::1]) -> None:
    """Count the scores of each bin."""
    with cython.nogil:
        for e in range(place.shape[0]):
            sizes[place[e]] += 1


def pick(
    place: cython.const[cython.short][::1],
    scores: cython.const[Score][::1],
    group: cython.const[cython.int][::1],
    positive: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    ends: cython.longlong[::1],
    picked_scores: Score[::1],
    picked_group: cython.int[::1],
    picked_positive: cython.uchar[::1],
    picked_weights: Weight[::1],
) -> None:
    """Copy each score to the current end of its bin, which -1 marks as left out."""
    with cython.nogil:
        for e in range(place.shape[0]):
            to = ends[place[e]]
            if to >= 0:
                picked_scores[to] = scores[e]
                picked_group[to] = group[e]
                picked_positive[to] = positive[e]
                picked_weights[to] = weights[e]
                ends[place[e]] = to + 1


# ---- the mean


def advance(
    group: cython.const[cython.int][::1],
    positive: cython.const[cython.uchar][::1],
    weights: cython.const[Weight][:],
    tp: Weight[::1],
    predicted: Weight[::1],
    counts: Weight[:, ::1],
) -> None:
    """Count each score in its group and record the group's counts after it."""
    with cython.nogil:
        for e in range(group.shape[0]):
            g = group[e]
            predicted[g] += weights[e]
            tp[g] += weights[e] * positive[e]
            counts[0, e] = tp[g]
            counts[1, e] = predicted[g]


def follow_mean(
    start: cython.Py_ssize_t,
    scores: cython.const[Score][::1],
    group: cython.const[cython.int][::1],
    after: cython.const[cython.double][::1],
    importance: cython.const[cython.double][::1],
    value: cython.double[::1],
    running: cython.double[::1],
    best: cython.double[::1],
) -> None:
    """Follow the mean over groups and record the first place where it is largest.

    Neumaier's summation keeps the last digits through millions of small changes. A group whose
    value is NaN (0/0 left out of averages) has no weight.
    """
    total: cython.double = running[0]
    lost: cython.double = running[1]
    weight: cython.double = running[2]
    before: cython.double
    change: cython.double
    mean: cython.double
    with cython.nogil:
        for e in range(group.shape[0]):
            g = group[e]
            change = 0.0
            if not isnan(value[g]):
                change -= importance[g] * value[g]
                weight -= importance[g]
            if not isnan(after[e]):
                change += importance[g] * after[e]
                weight += importance[g]
            value[g] = after[e]
            before = total
            total = before + change
            if fabs(before) >= fabs(change):
                lost += (before - total) + change
            else:
                lost += (change - total) + before
            if start + e + 1 < scores.shape[0] and scores[start + e + 1] == scores[start + e]:
                continue
            mean = (total + lost) / weight if weight > 0 else NAN
            if mean > best[0] + _MEAN_ROUNDING or (isnan(best[0]) and not isnan(mean)):
                best[0] = mean
                best[1] = start + e
    running[0], running[1], running[2] = total, lost, weight
