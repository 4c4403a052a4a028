"""One classifier where every row has its own costs: the threshold with the lowest mean cost.

Lowering the threshold past a row changes the cost by what that row costs if it is predicted, less
what it costs if not. Summed from the highest score down, these changes give the cost of every
threshold.
"""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.metrics.cost import CostOfRows, RowCost
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal


def best_threshold(data: LabelledScores, goal: Goal) -> float:
    """Return the threshold with the lowest cost, +inf included; the highest among equals."""
    assert isinstance(goal.metric, RowCost)
    return lowest_cost(data, goal.metric.for_truth(data.truth), goal)


def lowest_cost(data: LabelledScores, costs: CostOfRows, goal: Goal) -> float:
    """Return the threshold with the lowest cost of rows that may be weighted."""
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    order = np.argsort(-data.scores, kind="stable")
    order = order[data.scores[order] > -np.inf]
    scores, weight = data.scores[order], weights[order]
    last = np.append(scores[1:] != scores[:-1], True)[: len(scores)]
    change = (costs.predicted - costs.passed)[order] * weight
    total = np.append(0.0, np.cumsum(change)[last])
    total[~_allowed(data, goal, order, weight, last)] = np.inf
    best = int(np.argmin(total))
    return np.inf if best == 0 else float(scores[last][best - 1]) + 0.0


def _allowed(data: LabelledScores, goal: Goal, order: Array, weight: Array, last: Array) -> Array:
    """Return True for thresholds that satisfy the restrictions; the first predicts no rows."""
    tp, predicted = (
        np.append(0.0, np.cumsum(part)[last]) for part in (weight * data.truth[order], weight)
    )
    weights = 1.0 if data.weights is None else data.weights
    positives = (weights * data.truth).sum()
    counts = Counts(tp, predicted, np.full(len(tp), positives), np.full(len(tp), data.total))
    objective = goal.objective
    allowed = objective.restrictions.hold(counts.confusion(), objective.zero_division)
    return allowed if allowed.any() else np.arange(len(tp)) == 0
