"""Draw all labels again (Poisson bootstrap on staircases): optimism and threshold intervals.

Random numbers depend on the contents of a label, not on its position: labels are drawn in the order
of their staircases, and labels with equal staircases share their draws. So neither the order of the
columns nor that of the rows changes an answer. Sharing draws does not bias the mean over labels.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.honesty.case import Case
from halfmax.staircase.bootstrap import Replicates, Steps, resample
from halfmax.staircase.staircase import NO_STEP, Staircase, ValueOfCounts, without_nan

_RUNS_AT_ONCE = 250  # part of what a seed means
_DIGITS = 6  # to which counts are rounded: sums of weights depend on the order of the rows


class Redrawn(NamedTuple):
    """For each label: the ends of its threshold's interval, and the optimism of replicates."""

    low: Array
    high: Array
    optimism: Array
    replicates: Array  # for one classifier only: the value in each replicate and on the data


def redraw(case: Case, stairs: Staircase, value_of: ValueOfCounts) -> Redrawn:
    """Draw all labels again, one group after another, and keep quantiles and means."""
    labels, same_as = different_labels(stairs)
    on_data, none_value = _values_on_data(stairs, value_of)
    first = stairs.grid.offsets
    low, high = np.full((2, stairs.n_labels), NO_STEP)
    optimism = np.zeros(stairs.n_labels)
    pair = np.empty((2, 0))
    done = len(labels) * case.draws.n_resamples
    with Progress(case.draws.progress, "drawing the rows again", max(done, 1)) as meter:
        for group, drawn in _drawn(case, stairs, value_of, labels, meter):
            there = drawn.step != NO_STEP
            own = np.where(there, on_data[first[group] + drawn.step], none_value[group])
            gain = np.where(np.isfinite(drawn.value), drawn.value - own, 0.0)
            optimism[group] = gain.mean(axis=0)
            ends = np.quantile(drawn.step, case.draws.tails, axis=0, method="inverted_cdf")
            high[group], low[group] = ends
            if case.data.is_binary:
                pair = np.array([drawn.value[:, 0], own[:, 0]])
    low, high, optimism = low[same_as], high[same_as], optimism[same_as]
    return Redrawn(_thresholds(stairs, low), _thresholds(stairs, high), optimism, pair)


def _drawn(
    case: Case, stairs: Staircase, value_of: ValueOfCounts, labels: Array, meter: Progress
) -> Iterator[tuple[Array, Replicates]]:
    """Groups of labels with their replicates."""
    blocks = np.cumsum(np.minimum(np.diff(stairs.grid.offsets)[labels], limits.bootstrap_blocks))
    at_once = limits.redraw_blocks
    full = np.arange(at_once, blocks[-1] if len(blocks) else 0, at_once)
    groups = [g for g in np.split(labels, np.searchsorted(blocks, full)) if len(g)]
    runs = spans(case.draws.n_resamples, _RUNS_AT_ONCE)

    def draw(work: tuple[int, slice]) -> Replicates:
        place, span = work
        stream = np.random.SeedSequence(case.draws.seed, spawn_key=(place, span.start))
        steps = Steps.of(stairs, groups[place])
        rng = np.random.default_rng(stream)
        return resample(steps, value_of, span.stop - span.start, rng)

    parts: list[Replicates] = []
    every = [(place, span) for place in range(len(groups)) for span in runs]
    for (place, span), part in zip(every, map_blocks(draw, every), strict=True):
        parts.append(part)
        meter.advance(part.step.size)
        if span is runs[-1]:
            yield groups[place], Replicates(*map(np.concatenate, zip(*parts, strict=True)))
            parts = []


def different_labels(stairs: Staircase) -> tuple[Array, Array]:
    """One label for each distinct staircase, ordered by counts, and the one that each label equals.

    Labels without steps have nothing to draw. A million labels with one positive each have a few
    thousand distinct staircases.
    """
    sizes = np.diff(stairs.grid.offsets)
    order = np.argsort(sizes, kind="stable")
    length, start = np.unique(sizes[order], return_index=True)
    same_as, found = np.arange(stairs.n_labels), [np.empty(0, np.int64)]
    for size, labels in zip(length, np.split(order, start[1:]), strict=True):
        if size > 0:
            shown, which = _distinct(_counts(stairs, labels, size))
            same_as[labels] = labels[shown][which]
            found.append(labels[shown])
    return np.concatenate(found), same_as


def _counts(stairs: Staircase, labels: Array, size: int) -> Array:
    """One row for each label, with all counts of its staircase."""
    step = stairs.grid.offsets[labels][:, None] + np.arange(size)
    of_label = stairs.positives[labels], stairs.total[labels]
    parts = np.stack(of_label, axis=1), stairs.true_positives[step], stairs.predicted[step]
    return np.round(np.concatenate(parts, axis=1), _DIGITS)


def _distinct(rows: Array) -> tuple[Array, Array]:
    """The first row of each group of equal rows, ordered by content, and each row's group."""
    if len(rows) == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    order = np.lexsort(rows.T[::-1])
    new = np.append(True, (np.diff(rows[order], axis=0) != 0).any(axis=1))
    which = np.empty(len(rows), np.int64)
    which[order] = np.cumsum(new) - 1
    return order[new], which


def _values_on_data(stairs: Staircase, value_of: ValueOfCounts) -> tuple[Array, Array]:
    """The value of every step on the data, and of predicting no rows for each label."""
    column = stairs.grid.columns
    positives, total = stairs.positives[column], stairs.total[column]
    on_data = without_nan(value_of(stairs.true_positives, stairs.predicted, positives, total))
    return on_data, np.nan_to_num(value_of(0, 0, stairs.positives, stairs.total))


def _thresholds(stairs: Staircase, place: Array) -> Array:
    """The threshold at a place among each label's steps."""
    ends = np.full(stairs.n_labels, np.inf)
    there = np.flatnonzero(place != NO_STEP)
    ends[there] = stairs.grid.scores[stairs.grid.offsets[there] + place[there]]
    return ends + 0.0
