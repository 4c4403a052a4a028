"""Checked data in, a threshold for each label out, with the counts that it gives."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.jit import kernel
from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Array, Floats
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid, equivalent, unit_weights
from halfmax.staircase.staircase import NOBODY, Staircase
from halfmax.tuning.exact import micro, one, samples, shared

_CHUNK_STEPS = 1 << 16  # the metric's temporary arrays stay in the cache


class Choice(NamedTuple):
    """A threshold for each label and the counts that it gives."""

    thresholds: Floats
    counts: Counts
    stairs: Staircase | None = None  # of the labels that chose apart


@kernel
def _first_best(offsets: Array, worth: Array, nobody: Array, step: Array) -> None:
    """For each label its best step, the highest among equals; -1 if nobody does as well."""
    for j in range(offsets.size - 1):
        best = -np.inf if np.isnan(nobody[j]) else nobody[j]
        step[j] = NOBODY
        for k in range(offsets[j], offsets[j + 1]):
            if worth[k - offsets[0]] > best:
                best = worth[k - offsets[0]]
                step[j] = k


def choose(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Choice:
    """The thresholds with the best objective on the data given.

    `stairs` is the staircase of these data, if it is known already.
    """
    if data.is_binary:
        return _best_of_one(data, goal.objective)
    if goal.average != "samples" and goal.per_label:
        stairs = Staircase.of_checked(data) if stairs is None else stairs
        return choose_on(stairs, goal.average, goal.objective)
    return count_at(data, best_thresholds(data, goal))


def best_thresholds(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Floats:
    """The same thresholds; what they count is found out only where that costs nothing."""
    if data.is_binary or (goal.average != "samples" and goal.per_label):
        return choose(data, goal, stairs).thresholds
    if goal.per_label:
        return samples.ascend(data, goal.objective) + 0.0
    return np.full(data.n_labels, best_shared_threshold(data, goal) + 0.0)


def best_shared_threshold(data: LabelledScores, goal: Goal) -> float:
    """The threshold that is best for all labels together."""
    if goal.average == "micro":
        return _best_pooled(data, goal.objective)
    return shared.best_shared(shared.group_scores(data, goal.average), goal.objective)


def choose_on(stairs: Staircase, average: str, objective: Objective) -> Choice:
    """The best of labels that choose apart, all of which their staircases tell."""
    if average == "micro":
        found = _at_steps(stairs, micro.best_steps(stairs, objective))
    else:
        found = _best_of_each(stairs, objective)
    return found._replace(stairs=stairs)


def _best_of_one(data: LabelledScores, objective: Objective) -> Choice:
    if data.weights is None:
        weights: Array = unit_weights(data.n_rows)
        positives: float = int(np.count_nonzero(data.truth))
    else:
        weights = data.weights
        positives = float(weights[data.truth == 1].sum())
    objective.require_monotone(np.array([positives]), np.array([data.total]))
    step = one.best_step(
        one.ScoredRows(data.scores, data.truth, weights),
        one.Whole(objective, positives, data.total),
    )
    values = step.threshold, step.true_positives, step.predicted, positives, data.total
    threshold, tp, predicted, positive, total = (np.array([value]) for value in values)
    return Choice(threshold, Counts(tp, predicted, positive, total))


def _best_pooled(data: LabelledScores, objective: Objective) -> float:
    """One threshold on the pooled counts is one classifier whose rows are all the entries."""
    scores, truth = shared.flat_scores(data)
    per_row = np.ones(data.n_rows) if data.weights is None else data.weights
    positives = per_row[np.repeat(np.arange(data.n_rows), np.diff(data.truth.indptr))].sum()
    whole = one.Whole(objective, positives, data.total * data.n_labels)
    objective.require_monotone(np.array([positives]), np.array([whole.total]))
    weights: Array = unit_weights(len(scores))
    if data.weights is not None:
        weights = per_row[shared.row_of(data, np.arange(len(scores)))]
    return one.best_step(one.ScoredRows(scores, truth, weights), whole).threshold


def _best_of_each(stairs: Staircase, objective: Objective) -> Choice:
    objective.require_monotone(stairs.positives, stairs.total)
    step = np.empty(stairs.n_labels, np.int64)
    chunks = np.arange(0, len(stairs.grid.scores), _CHUNK_STEPS)[1:]
    ends = np.unique(np.searchsorted(stairs.grid.offsets, chunks))
    for start, stop in pairwise([0, *ends.tolist(), stairs.n_labels]):
        part = slice(start, stop)
        offsets = stairs.grid.offsets[start : stop + 1]
        steps = slice(offsets[0], offsets[-1])
        positives, total = stairs.positives[part], stairs.total[part]
        length = np.diff(offsets)
        worth = objective(
            stairs.true_positives[steps],
            stairs.predicted[steps],
            np.repeat(positives, length),
            np.repeat(total, length),
        )
        nobody = objective(0, 0, positives, total)
        nobody[np.isnan(nobody) & (positives == 0)] = np.inf  # best left out of the mean
        _first_best(offsets, worth, nobody, step[part])
    return _at_steps(stairs, step)


def _at_steps(stairs: Staircase, step: Array) -> Choice:
    somebody = step != NOBODY
    taken = step[somebody]
    thresholds = np.full(stairs.n_labels, np.inf)
    thresholds[somebody] = stairs.grid.scores[taken]
    tp, predicted = np.zeros_like(stairs.positives), np.zeros_like(stairs.positives)
    tp[somebody], predicted[somebody] = stairs.true_positives[taken], stairs.predicted[taken]
    counts = Counts(tp, predicted, stairs.positives, stairs.total)
    return Choice(thresholds + 0.0, counts)


def count_at(data: LabelledScores, thresholds: Floats) -> Choice:
    """Count at any thresholds: a staircase of one step for each label."""
    return at_only_steps(Staircase.of_checked(data, grid_of(thresholds, data.scores.dtype)))


def count_at_each(data: LabelledScores, several: Sequence[Floats]) -> list[Choice]:
    """Count at several thresholds of each label, in one pass over the data.

    Sums of weights are taken apart, so that no sum depends on what else is counted.
    """
    if data.weights is not None:
        return [count_at(data, thresholds) for thresholds in several]
    grids = [grid_of(thresholds, data.scores.dtype) for thresholds in several]
    columns = np.concatenate([grid.columns for grid in grids])
    scores = np.concatenate([grid.scores for grid in grids])
    stairs = Staircase.of_checked(data, Grid.from_entries(columns, scores, data.n_labels))
    return [read_at(stairs, grid) for grid in grids]


def read_at(stairs: Staircase, grid: Grid) -> Choice:
    """The choice of labels that have one step of a grid at most, all of them steps of `stairs`."""
    step = np.full(stairs.n_labels, NOBODY)
    wanted = np.full(stairs.n_labels, np.nan, grid.scores.dtype)
    wanted[grid.columns] = grid.scores
    found = np.flatnonzero(stairs.grid.scores == wanted[stairs.grid.columns])
    step[stairs.grid.columns[found]] = found
    return _at_steps(stairs, step)


def grid_of(thresholds: Floats, dtype: npt.DTypeLike) -> Grid:
    """A grid with one step for each label, or none where nobody is predicted."""
    column = np.flatnonzero(np.isfinite(thresholds))
    return Grid.from_entries(column, equivalent(thresholds[column], dtype), len(thresholds))


def at_only_steps(stairs: Staircase) -> Choice:
    """The choice of labels that have one step at most."""
    step = np.full(stairs.n_labels, NOBODY)
    step[stairs.grid.columns] = np.arange(len(stairs.grid.scores))
    return _at_steps(stairs, step)
