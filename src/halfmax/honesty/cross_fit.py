"""The general way to assess: tune again without some rows, and predict those held-out rows.

Thresholds that are shared by all labels, tuned for the mean over rows, guarded or kept above floors
do not follow from the staircase of each label, so the quick way of `halfmax.honesty.on_staircase`
cannot judge them. They are tuned again instead: without each tenth of the rows, which they then
predict (cross-fitting), and on bootstrap replicates of the rows, which give their intervals and,
without a guard, the optimism of the tuned score.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from halfmax._core import predict as _apply
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.honesty import intervals, on_staircase
from halfmax.honesty.case import Case, Judgement
from halfmax.honesty.weighted_rows import Units
from halfmax.metrics.average import mean_of_known, mean_over_labels
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import label_counts, row_counts, score
from halfmax.staircase import leave_one_out
from halfmax.staircase.stable_order import ranks_of_rows
from halfmax.tuning.exact import choose
from halfmax.tuning.tune import choose_thresholds

Tune = Callable[[LabelledScores], Array]  # data in, thresholds out

_FOLDS = 10
MOST_REPLICATES = 40  # each is tuned anew
_MOST_GUARDED = 20  # guards take ten times as long, and intervals of 40 cover only 1 % more


class _Unseen(NamedTuple):
    """Truth and held-out predictions as sparse matrices of ones, with the weights of rows.

    Weights are in effective rows: they add up to the effective sample size (Kish).
    """

    truth: Any
    predictions: Any
    weights: Array | None
    unit: float  # the original weight of one effective row
    four: tuple[Array, Array, Array, Array]  # tp, fp, fn, tn of each label

    @classmethod
    def of(cls, data: LabelledScores, predictions: Any) -> "_Unseen":
        truth, weights, unit = data.truth, data.weights, 1.0
        if data.is_binary:
            truth, predictions = (sparse.csr_array(x[:, None]) for x in (truth, predictions))
        if weights is not None:
            heaviest = float(weights.max())
            weights = weights / heaviest
            one = float((weights**2).sum() / weights.sum())
            weights, unit = weights / one, heaviest * one
        four = label_counts(truth, predictions, weights)
        return cls(truth, predictions, weights, unit, four)

    @property
    def counts(self) -> Counts:
        """The counts of each label."""
        tp, fp, fn, tn = self.four
        return Counts(tp, tp + fp, tp + fn, tp + fp + fn + tn)


class _Retuned(NamedTuple):
    """Thresholds of replicates x labels, and the optimism of each replicate.

    The last column of `optimism` is for the averaged score, those before it are for the labels.
    """

    thresholds: Array
    optimism: Array


def judge(case: Case) -> Judgement:
    """Assess thresholds of any kind by tuning them again."""
    case = case.without_idle_rows()
    case = replace(case, goal=case.goal.for_parts_of(case.data))
    most = MOST_REPLICATES if case.goal.guard is None else _MOST_GUARDED
    folds, replicates = min(_FOLDS, case.data.n_rows), min(case.draws.n_resamples, most)

    def tuned(data: LabelledScores) -> Array:
        return choose_thresholds(data, case.goal).thresholds

    ranks = ranks_of_rows(case.data)
    fold = _assign_folds(case, folds)[ranks]
    with Progress(case.draws.progress, "tuning again", folds + replicates) as meter:
        without = _tuned_without(case.data, fold, tuned, meter)
        redrawn = _retuned(case, replicates, ranks, tuned, meter)
    unseen = _Unseen.of(case.data, _predict_by_fold(case.data, fold, without))
    objective = Units(unseen.unit, unseen.unit).objective(case.goal.objective)
    of_label = objective(*unseen.counts)
    if case.goal.labels_apart and case.goal.metric.is_share_of_hits:
        by_hit = _by_hit(case.data, fold, without, case.goal.metric)
        of_label = np.where(case.tuned.support > 0, by_hit, of_label)
    ends = np.quantile(redrawn.thresholds, case.draws.tails, axis=0, method="inverted_cdf")
    kept = redrawn if _is_best(case) else None
    return _with_errors(case, unseen, objective, of_label, ends, kept)


def _is_best(case: Case) -> bool:
    """Whether the thresholds maximise the score on the data, so that it can only fall."""
    return case.goal.guard is None and not case.goal.objective.restrictions


def _blended(case: Case, cross_fitted: Array, redrawn: _Retuned) -> tuple[Array, Array]:
    """Blend cross-fitted scores with the bootstrap; also return the error of the optimism.

    The scores are those of all labels, then the averaged one. Cross-fitting is right on average,
    but for many positives it varies more than the score itself. There the tuned score minus the
    optimism seen by the bootstrap is used instead.
    """
    optimism = on_staircase.OPTIMISM_FACTOR * np.nan_to_num(redrawn.optimism).mean(axis=0)
    part = _part_of_bootstrap(case)
    tuned = np.append(case.tuned.label_scores, case.tuned.score)
    mixed = np.where(part > 0.0, part * (tuned - optimism), 0.0)
    mixed += np.where(part < 1.0, (1.0 - part) * cross_fitted, 0.0)
    mixed[-1] = min(mixed[-1], case.tuned.score)
    return mixed, part * on_staircase.OPTIMISM_ERROR * np.maximum(optimism, 0.0)


def _part_of_bootstrap(case: Case) -> Array:
    """The share of the bootstrap in the estimate of each label, then of the averaged score.

    A threshold shared by all labels is tuned on all of their positives.
    """
    positives = case.tuned.support / Units.of(case.data).positive
    if case.tuned.shared:
        every = leave_one_out.part_of_bootstrap(positives.sum())
        return np.full(len(positives) + 1, every)
    part = leave_one_out.part_of_bootstrap(positives)
    return np.append(part, (part * positives).sum() / max(positives.sum(), 1e-300))


def judge_elsewhere(case: Case) -> Judgement:
    """Judge thresholds on rows that they were not tuned on; threshold intervals are points."""
    case = case.without_idle_rows()
    thresholds = case.tuned.thresholds
    one_fold = np.zeros(case.data.n_rows, np.int64)
    unseen = _Unseen.of(case.data, _predict_by_fold(case.data, one_fold, thresholds[None]))
    objective = Units(unseen.unit, unseen.unit).objective(case.goal.objective)
    ends = np.array([thresholds, thresholds])
    return _with_errors(case, unseen, objective, objective(*unseen.counts), ends)


def _with_errors(
    case: Case,
    unseen: _Unseen,
    objective: Objective,
    of_label: Array,
    ends: Array,
    redrawn: _Retuned | None = None,
) -> Judgement:
    """The expected averaged score and its error, and the same for each label."""
    expected, variance = _whole(case, unseen, objective, of_label)
    unsure = np.zeros(len(of_label) + 1)
    if redrawn is not None:
        mixed, unsure = _blended(case, np.append(of_label, expected), redrawn)
        of_label, expected = mixed[:-1], float(mixed[-1])
    range_ = intervals.range_of(objective, unseen.counts, case.tuned.label_scores)
    bars = _label_bars(unseen, objective, of_label, range_).with_extra_error(unsure[:-1])
    whole = intervals.estimate(expected, variance, range_).with_extra_error(unsure[-1])
    steady = special.ndtri((np.arange(case.draws.n_resamples) + 0.5) / case.draws.n_resamples)
    whole = bars if case.data.is_binary else whole
    low, high = ends
    return Judgement(
        expected=expected,
        bars=whole,
        deviations=steady,
        label_expected=of_label,
        label_bars=bars,
        threshold_low=low,
        threshold_high=high,
    )


def _assign_folds(case: Case, folds: int) -> Array:
    """The fold of each row, by its rank."""
    stream = np.random.SeedSequence(case.draws.seed, spawn_key=(0,))
    return np.random.default_rng(stream).permutation(case.data.n_rows) % folds


def score_unseen(data: LabelledScores, fold: Array, goal: Goal) -> float:
    """The score of thresholds on rows that they were not tuned on.

    For each fold, numbered from 0, thresholds are tuned without it and then predict it. A cap on
    the number of predicted rows is the same share of the rows tuned on.
    """
    goal, plain = goal.for_parts_of(data), goal.objective.unrestricted
    without = _tuned_without(data, fold, lambda part: choose_thresholds(part, goal).thresholds)
    predictions = _predict_by_fold(data, fold, without)
    nothing = plain(0, 0, 1, 2)  # the score of predicting nothing
    if not (goal.labels_apart and goal.metric.is_share_of_hits and nothing == 0.0):
        zero = plain.zero_division
        return score(data.truth, predictions, goal.metric, goal.average, data.weights, zero)
    by_hit = _by_hit(data, fold, without, goal.metric)
    alone = plain(*_Unseen.of(data, predictions).counts)  # right for labels without positives
    of_label = np.where(data.positives > 0, by_hit, alone)
    return mean_over_labels(of_label, goal.average, data.positives)


def _by_hit(data: LabelledScores, fold: Array, thresholds: Array, metric: Metric) -> Array:
    """The score of each label: held-out hits, each valued by the score of its own threshold.

    Pooling the folds would combine the hits of one threshold with the false positives of another,
    which is far too optimistic for rare labels.
    """

    def of_fold(number: int) -> tuple[Array, Array]:
        unseen = data.of_rows(np.flatnonzero(fold == number))
        hits = choose.count_at(unseen, thresholds[number]).counts.true_positives
        counts = choose.count_at(data, thresholds[number]).counts
        value = metric(*counts.confusion())
        return value, value * hits / np.where(counts[0] > 0, counts[0], 1.0)

    values, gains = np.array(list(map_blocks(of_fold, range(len(thresholds))))).swapaxes(0, 1)
    return np.asarray(np.minimum(gains.sum(axis=0), values.max(axis=0)))


def _whole(
    case: Case, unseen: _Unseen, objective: Objective, of_label: Array
) -> tuple[float, float]:
    """The averaged score and its variance over rows."""
    truth, predictions, weights = unseen[:3]
    if case.goal.average_shown == "samples":
        values = case.goal.metric(
            *row_counts(truth, predictions), zero_division=objective.zero_division
        )
        return mean_of_known(values, weights), _variance_of_mean(values, weights)
    counts, values = unseen.counts, of_label
    if case.goal.average == "micro":
        counts = counts.pooled()
        values = np.atleast_1d(objective(*counts))
    slopes = intervals.influence(objective, counts)
    reached = mean_over_labels(values, case.goal.average, counts.positives)
    if case.goal.average == "weighted":
        slopes = intervals.of_weighted_mean(slopes, values, counts.positives, reached)
        values = np.ones(1)  # the slopes are those of the mean
    rows = intervals.row_sums(truth, predictions, slopes)
    if weights is not None:
        rows = weights * rows
    share = max(int((~np.isnan(values)).sum()), 1)
    return reached, float((rows**2).sum()) / share**2


def _variance_of_mean(values: Array, weights: Array | None) -> float:
    """The variance of the weighted mean of the values that are not NaN."""
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    if weights is None:
        return float(values[known].var() / known.sum())
    share = weights[known] / weights[known].sum()
    return float(((share * (values[known] - mean_of_known(values, weights))) ** 2).sum())


def _label_bars(
    unseen: _Unseen, objective: Objective, of_label: Array, range_: intervals.Range | None
) -> intervals.Estimate:
    """Standard errors from counts; rows of unequal weight vary by their squares."""
    counts = unseen.counts
    bars = intervals.estimate_from_counts(objective, counts, of_label, range_)
    if unseen.weights is None:
        return bars
    squares = np.array(label_counts(unseen.truth, unseen.predictions, unseen.weights**2))
    inflation = intervals.variance_inflation(objective, counts, squares)
    return bars._replace(error=bars.error * np.sqrt(inflation))


def _tuned_without(
    data: LabelledScores, fold: Array, tuned: Tune, meter: Progress | None = None
) -> Array:
    """Thresholds of folds x labels, tuned on the rows of the other folds."""

    def of_rest(number: int) -> Array:
        rest = data.of_rows(np.flatnonzero(fold != number))
        return tuned(rest) if rest.total > 0 else np.full(data.n_labels, np.inf)

    found = []
    for thresholds in map_blocks(of_rest, range(int(fold.max()) + 1)):
        found.append(thresholds)
        if meter is not None:
            meter.advance(1)
    return np.array(found)


def _predict_by_fold(data: LabelledScores, fold: Array, thresholds: Array) -> Any:
    """Predict each row with the thresholds of its fold."""

    def predict(number: int) -> Any:
        found = _apply.predict(data.scores[np.flatnonzero(fold == number)], thresholds[number])
        return found if data.is_binary else sparse.csr_array(found, dtype=np.float64)

    parts = list(map_blocks(predict, range(len(thresholds))))
    order = np.argsort(np.argsort(fold, kind="stable"), kind="stable")
    if data.is_binary:
        return np.concatenate(parts)[order]
    return sparse.csr_array(sparse.vstack(parts, format="csr")[order])


def _retuned(case: Case, replicates: int, ranks: Array, tuned: Tune, meter: Progress) -> _Retuned:
    """Tune thresholds on bootstrap replicates of the rows."""
    data = case.data
    here = _predictions(data, case.tuned.thresholds)

    def tuned_again(number: int) -> tuple[Array, Array]:
        stream = np.random.SeedSequence(case.draws.seed, spawn_key=(1, number))
        times = np.random.default_rng(stream).poisson(1.0, data.n_rows)[ranks]
        if not times.any():
            return np.full(data.n_labels, np.inf), np.zeros(data.n_labels + 1)
        thresholds = tuned(_resampled(data, times, as_rows=case.goal.guard is not None))
        if not _is_best(case):
            return thresholds, np.zeros(data.n_labels + 1)
        there = _predictions(data, thresholds)
        return thresholds, _gain(case, there, times) - _gain(case, here, times)

    found = []
    for pair in map_blocks(tuned_again, range(replicates)):
        found.append(pair)
        meter.advance(1)
    return _Retuned(*map(np.array, zip(*found, strict=True)))


def _gain(case: Case, predictions: Any, times: Array) -> Array:
    """How much higher predictions score on a replicate than on the data.

    For the tuned thresholds this is chance alone. The caller subtracts it, which leaves a tenth of
    the noise.
    """
    weights = case.data.weights
    drawn = times.astype(np.float64) if weights is None else times * weights
    on_drawn, on_data = (_reached(case, predictions, each) for each in (drawn, weights))
    return on_drawn - on_data


def _reached(case: Case, predictions: Any, weights: Array | None) -> Array:
    """The score of each label, followed by the averaged score."""
    truth = case.data.truth
    if case.data.is_binary:
        truth = sparse.csr_array(truth[:, None])
    metric, zero_division = case.goal.metric, case.goal.objective.zero_division
    counts = label_counts(truth, predictions, weights)
    labels = metric(*counts, zero_division=zero_division)
    whole = mean_over_labels(labels, case.goal.average, counts[0] + counts[2])
    if case.goal.average == "micro":
        tp, fp, fn, tn = (part.sum() for part in counts)
        whole = float(metric(tp, fp, fn, tn, zero_division))
    elif case.goal.average_shown == "samples":
        rows = metric(*row_counts(truth, predictions), zero_division=zero_division)
        whole = mean_of_known(rows, weights)
    return np.append(labels, whole)


def _predictions(data: LabelledScores, thresholds: Array) -> Any:
    found = _apply.predict(data.scores, thresholds)
    return sparse.csr_array(found[:, None] if data.is_binary else found, dtype=np.float64)


def _resampled(data: LabelledScores, times: Array, as_rows: bool) -> LabelledScores:
    """Repeat each row `times` times, as a weight or as rows of their own.

    A guard depends on the amount of information in the data, and rows of unequal weight carry less:
    as weights, these draws would count as half as many rows.
    """
    if as_rows:
        return data.of_rows(np.repeat(np.arange(data.n_rows), times))
    weights = times.astype(np.float64)
    return data._replace(weights=weights if data.weights is None else weights * data.weights)
