"""Assess thresholds of one classifier where every row has its own costs.

Costs are sums over rows, so no counts are needed: each tenth of the rows is predicted with the
threshold that the other rows have, and the mean cost of these predictions is what new rows will
cost. Its error is that of a mean.
"""

import numpy as np
from scipy import special

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.predict import predict
from halfmax._core.progress import Progress
from halfmax._core.types import Array, Floats
from halfmax.honesty import intervals
from halfmax.honesty.case import Case, Judgement
from halfmax.metrics.cost import CostOfRows, RowCost
from halfmax.metrics.goal import Goal
from halfmax.staircase.stable_order import ranks_of_rows
from halfmax.tuning.exact.row_costs import lowest_cost

_FOLDS, _MOST_REPLICATES = 10, 200


def judge(case: Case) -> Judgement:
    """Assess a threshold that minimises the costs of rows."""
    data, goal = case.data, case.goal.for_parts_of(case.data)
    assert isinstance(goal.metric, RowCost)
    costs, ranks = goal.metric.for_truth(data.truth), ranks_of_rows(data)
    replicates = min(case.draws.n_resamples, _MOST_REPLICATES)
    with Progress(case.draws.progress, "tuning again", _FOLDS + replicates) as meter:
        unseen = _costs_unseen(case, goal, costs, ranks)
        meter.advance(_FOLDS)
        drawn = [_drawn_threshold(case, goal, costs, ranks, number) for number in range(replicates)]
        meter.advance(replicates)
    weights = np.ones(data.n_rows) if data.weights is None else data.weights
    share = weights / weights.sum()
    mean = float((share * unseen).sum())
    expected = min(-mean, case.tuned.score)
    variance = float(((share * (unseen - mean)) ** 2).sum())
    bars = intervals.estimate(expected, variance, None)
    size = case.draws.n_resamples
    low, high = np.quantile(drawn, case.draws.tails, method="inverted_cdf")
    return Judgement(
        expected=expected,
        bars=bars,
        deviations=special.ndtri((np.arange(size) + 0.5) / size),
        label_expected=np.array([expected]),
        label_bars=bars._replace(expected=np.array([expected]), centre=np.array([expected])),
        threshold_low=np.array([low]),
        threshold_high=np.array([high]),
    )


def _costs_unseen(case: Case, goal: Goal, costs: CostOfRows, ranks: Array) -> Floats:
    """Return the cost of each row at a threshold that was tuned without it."""
    data = case.data
    stream = np.random.default_rng(np.random.SeedSequence(case.draws.seed, spawn_key=(0,)))
    fold = (stream.permutation(data.n_rows) % min(_FOLDS, data.n_rows))[ranks]
    predictions = np.zeros(data.n_rows, np.int8)
    for number in range(int(fold.max()) + 1):
        inside, rest = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        threshold = _tuned(data.of_rows(rest), _of_rows(costs, rest), goal)
        predictions[inside] = predict(data.scores[inside], np.array([threshold]))
    return costs.of_predictions(predictions)


def _drawn_threshold(case: Case, goal: Goal, costs: CostOfRows, ranks: Array, number: int) -> float:
    """Return the threshold of a bootstrap replicate of the rows."""
    data = case.data
    stream = np.random.SeedSequence(case.draws.seed, spawn_key=(1, number))
    times = np.random.default_rng(stream).poisson(1.0, data.n_rows)[ranks].astype(np.float64)
    weights = times if data.weights is None else times * data.weights
    return _tuned(data._replace(weights=weights), costs, goal)


def _tuned(data: LabelledScores, costs: CostOfRows, goal: Goal) -> float:
    return lowest_cost(data, costs, goal) if data.n_rows and data.total > 0 else np.inf


def _of_rows(costs: CostOfRows, rows: Array) -> CostOfRows:
    return CostOfRows(costs.passed[rows], costs.predicted[rows])
