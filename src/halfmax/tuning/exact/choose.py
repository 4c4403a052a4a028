"""The exact optimum: choose the best threshold of each label, and count at any thresholds."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.metrics.cost import RowCost
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid, equivalent, grid_of_all, unit_weights
from halfmax.staircase.staircase import NO_STEP, Staircase
from halfmax.tuning.exact import groups, micro, one, pruned, row_costs, samples, shared
from halfmax.tuning.exact.kernels import first_best

_CHUNK_STEPS = 1 << 16  # so that the metric's temporary arrays stay in the cache
_CHUNK_SCORES = 1 << 22  # of labels whose scores are all steps, to bound memory


class Choice(NamedTuple):
    """A threshold for each label and the counts at it."""

    thresholds: Floats
    counts: Counts
    stairs: Staircase | None = None  # if each label was tuned on its staircase


def choose(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Choice:
    """Choose the thresholds with the best objective on these data.

    `stairs` is the staircase of these data, if it has been built already.
    """
    if isinstance(goal.metric, RowCost):
        return count_at(data, np.array([row_costs.best_threshold(data, goal)]))
    if data.is_binary:
        return _best_of_one(data, goal.objective)
    if goal.average != "samples" and goal.per_label:
        if stairs is None and goal.labels_apart and pruned.pays(data, goal.objective):
            return _best_without_stairs(data, goal.objective)
        stairs = Staircase.of_checked(data) if stairs is None else stairs
        if goal.labels_apart and not goal.objective.is_monotone(stairs.positives, stairs.total):
            return _best_of_all(data, goal.objective)
        return choose_on(stairs, goal.average, goal.objective)
    return count_at(data, best_thresholds(data, goal))


def best_thresholds(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Floats:
    """Return the thresholds that `choose` chooses, without counting at them if that takes time."""
    if data.is_binary or (goal.average != "samples" and goal.per_label):
        return choose(data, goal, stairs).thresholds
    if goal.per_label:
        return samples.ascend(data, goal.objective) + 0.0
    return np.full(data.n_labels, best_shared_threshold(data, goal) + 0.0)


def best_shared_threshold(data: LabelledScores, goal: Goal) -> float:
    """Return the best threshold that all labels share."""
    if goal.average == "micro":
        return _best_pooled(data, goal.objective)
    return shared.best_shared(groups.group_scores(data, goal.average), goal.objective)


def choose_on(stairs: Staircase, average: str, objective: Objective) -> Choice:
    """Choose a threshold for each label from their staircases, for pooled counts or by label."""
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
    whole = one.Whole(objective, positives, data.total)
    monotone = objective.is_monotone(np.array([positives]), np.array([data.total]))
    search = one.best_step if monotone else one.best_of_all
    step = search(one.ScoredRows(data.scores, data.truth, weights), whole)
    counts = Counts(
        np.array([step.true_positives]),
        np.array([step.predicted]),
        np.array([positives]),
        np.array([data.total]),
    )
    return Choice(np.array([step.threshold]), counts)


def _best_pooled(data: LabelledScores, objective: Objective) -> float:
    """Tune all entries as the rows of one classifier: one threshold on the pooled counts."""
    scores, truth = groups.flat_scores(data)
    per_row = np.ones(data.n_rows) if data.weights is None else data.weights
    positives = per_row[np.repeat(np.arange(data.n_rows), np.diff(data.truth.indptr))].sum()
    whole = one.Whole(objective, positives, data.total * data.n_labels)
    objective.require_monotone(np.array([positives]), np.array([whole.total]))
    weights: Array = unit_weights(len(scores))
    if data.weights is not None:
        weights = per_row[groups.row_of(data, np.arange(len(scores)))]
    return one.best_step(one.ScoredRows(scores, truth, weights), whole).threshold


def _best_of_each(stairs: Staircase, objective: Objective) -> Choice:
    objective.require_monotone(stairs.positives, stairs.total)
    return _best_steps(stairs, objective)


def _best_steps(stairs: Staircase, objective: Objective) -> Choice:
    """Choose the best step of each label, or none; the highest among equals."""
    step = np.empty(stairs.n_labels, np.int64)
    chunks = np.arange(0, len(stairs.grid.scores), _CHUNK_STEPS)[1:]
    ends = np.unique(np.searchsorted(stairs.grid.offsets, chunks))
    for start, stop in pairwise([0, *ends.tolist(), stairs.n_labels]):
        part = slice(start, stop)
        offsets = stairs.grid.offsets[start : stop + 1]
        steps = slice(offsets[0], offsets[-1])
        positives, total = stairs.positives[part], stairs.total[part]
        length = np.diff(offsets)
        value = objective(
            stairs.true_positives[steps],
            stairs.predicted[steps],
            np.repeat(positives, length),
            np.repeat(total, length),
        )
        none_value = _value_of_none(objective, positives, total)
        first_best(offsets, value, none_value, NO_STEP, step[part])
    return _at_steps(stairs, step)


def _best_of_all(data: LabelledScores, objective: Objective) -> Choice:
    """Try every score of every label, for metrics that are not monotone."""
    found = []
    for labels in spans(data.n_labels, max(_CHUNK_SCORES // data.n_rows, 1)):
        part = data.of_labels(np.arange(labels.start, labels.stop))
        stairs = Staircase.of_checked(part, grid_of_all(part))
        found.append(_best_steps(stairs, objective))
    thresholds, counts = zip(*((choice.thresholds, choice.counts) for choice in found), strict=True)
    joined = Counts(*map(np.concatenate, zip(*counts, strict=True)))
    return Choice(np.concatenate(thresholds), joined)


def _best_without_stairs(data: LabelledScores, objective: Objective) -> Choice:
    thresholds, counts = pruned.best_steps(data, objective)
    tp, predicted, positives, total = counts
    none_value = _value_of_none(objective, positives, total)
    none = ~((tp > 0) & (objective(*counts) > none_value))
    thresholds[none], tp[none], predicted[none] = np.inf, 0, 0
    return Choice(thresholds + 0.0, counts)


def _value_of_none(objective: Objective, positives: Array, total: Array) -> Floats:
    """Return the value of predicting no rows, as the mean over labels should see it."""
    value = objective(0, 0, positives, total)
    value[np.isnan(value) & (positives == 0)] = np.inf  # best left out of the mean
    value[np.isnan(value)] = -np.inf
    return value


def _at_steps(stairs: Staircase, step: Array) -> Choice:
    predicts = step != NO_STEP
    taken = step[predicts]
    thresholds = np.full(stairs.n_labels, np.inf)
    thresholds[predicts] = stairs.grid.scores[taken]
    tp, predicted = np.zeros_like(stairs.positives), np.zeros_like(stairs.positives)
    tp[predicts], predicted[predicts] = stairs.true_positives[taken], stairs.predicted[taken]
    counts = Counts(tp, predicted, stairs.positives, stairs.total)
    return Choice(thresholds + 0.0, counts)


def count_at(data: LabelledScores, thresholds: Floats) -> Choice:
    """Count at any thresholds, with a staircase of one step for each label."""
    return at_only_steps(Staircase.of_checked(data, grid_of(thresholds, data.scores.dtype)))


def count_at_each(data: LabelledScores, several: Sequence[Floats]) -> list[Choice]:
    """Count at several thresholds of each label, in one pass over the data.

    With weights, each set of thresholds gets a pass of its own, so that the rounding of a sum does
    not depend on what else is counted.
    """
    if data.weights is not None:
        return [count_at(data, thresholds) for thresholds in several]
    grids = [grid_of(thresholds, data.scores.dtype) for thresholds in several]
    columns = np.concatenate([grid.columns for grid in grids])
    scores = np.concatenate([grid.scores for grid in grids])
    stairs = Staircase.of_checked(data, Grid.from_entries(columns, scores, data.n_labels))
    return [read_at(stairs, grid) for grid in grids]


def read_at(stairs: Staircase, grid: Grid) -> Choice:
    """Read the counts at the steps of a grid, at most one per label, from `stairs`."""
    step = np.full(stairs.n_labels, NO_STEP)
    threshold = np.full(stairs.n_labels, np.nan, grid.scores.dtype)
    threshold[grid.columns] = grid.scores
    found = np.flatnonzero(stairs.grid.scores == threshold[stairs.grid.columns])
    step[stairs.grid.columns[found]] = found
    return _at_steps(stairs, step)


def grid_of(thresholds: Floats, dtype: npt.DTypeLike) -> Grid:
    """Return a grid with one step for each label, or none where no rows are predicted."""
    column = np.flatnonzero(np.isfinite(thresholds))
    return Grid.from_entries(column, equivalent(thresholds[column], dtype), len(thresholds))


def at_only_steps(stairs: Staircase) -> Choice:
    """Choose the only step of each label, if it has one."""
    step = np.full(stairs.n_labels, NO_STEP)
    step[stairs.grid.columns] = np.arange(len(stairs.grid.scores))
    return _at_steps(stairs, step)
