"""Thresholds that belong to no single staircase, assessed on rows that they have not seen.

Shared by all labels, tuned for the mean over rows, guarded or kept above floors, thresholds are
found by sweeps of their own and no staircase can tell what they would have been. So they are tuned
anew: without each tenth of the rows, which they then predict, and on replicates of the rows, which
give their intervals and, without a guard, how much the tuned score flatters.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from halfmax._core import predict as _apply
from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.honesty import intervals, on_staircase
from halfmax.honesty.case import Case, Judgement
from halfmax.honesty.weighted_rows import Units
from halfmax.metrics.average import mean_of_known
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
_MOST_REPLICATES = 40  # each is a tuning of its own
_MOST_GUARDED = 20  # a guard tunes ten times as long, and intervals of 40 cover but 1 % more


class _Unseen(NamedTuple):
    """The truth beside what was predicted without it: matrices of ones, and what rows weigh.

    Weights are in rows: they add up to as many as they are worth (Kish).
    """

    truth: Any
    predictions: Any
    weights: Array | None
    unit: float  # the weight, as given, of one such row
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


class _Again(NamedTuple):
    """Thresholds of replicates x labels, and by how much each replicate flatters them.

    The last column of `flattery` is the averaged score, those before it are the labels.
    """

    thresholds: Array
    flattery: Array


def judge(case: Case) -> Judgement:
    """Assess thresholds that are tuned together."""
    case = case.without_idle_rows()
    most = _MOST_REPLICATES if case.goal.guard is None else _MOST_GUARDED
    folds, replicates = min(_FOLDS, case.data.n_rows), min(case.draws.n_resamples, most)

    def tuned(data: LabelledScores) -> Array:
        return choose_thresholds(data, case.goal).thresholds

    ranks = ranks_of_rows(case.data)
    fold = _deal(case, folds)[ranks]
    with Progress(case.draws.progress, "tuning again", folds + replicates) as told:
        without = _tuned_without(case.data, fold, tuned, told)
        again = _retuned(case, replicates, ranks, tuned, told)
    unseen = _Unseen.of(case.data, _predict_apart(case.data, fold, without))
    objective = Units(unseen.unit, unseen.unit).objective(case.goal.objective)
    of_label = objective(*unseen.counts)
    if case.goal.labels_apart and case.goal.metric.is_share_of_hits:
        by_hit = _by_hit(case.data, fold, without, case.goal.metric)
        of_label = np.where(case.tuned.support > 0, by_hit, of_label)
    ends = np.quantile(again.thresholds, case.draws.tails, axis=0, method="inverted_cdf")
    return _with_errors(case, unseen, objective, of_label, ends, again if _is_best(case) else None)


def _is_best(case: Case) -> bool:
    """Whether thresholds are the best on the data, so that nothing does better elsewhere."""
    return case.goal.guard is None and not case.goal.objective.floors


def _less_flattery(case: Case, cross_fitted: Array, again: _Again) -> tuple[Array, Array]:
    """What labels and the whole reach, and how unsure that is, if replicates have a say.

    Cross-fitting is right on average, but for many positives it varies more than the score itself:
    there, what is expected is the tuned score without the flattery that the bootstrap sees.
    """
    flattery = on_staircase.UNSEEN * np.nan_to_num(again.flattery).mean(axis=0)
    part = _part_of_bootstrap(case)
    tuned = np.append(case.tuned.label_scores, case.tuned.score)
    mixed = np.where(part > 0.0, part * (tuned - flattery), 0.0)
    mixed += np.where(part < 1.0, (1.0 - part) * cross_fitted, 0.0)
    mixed[-1] = min(mixed[-1], case.tuned.score)
    return mixed, part * on_staircase.UNSURE * np.maximum(flattery, 0.0)


def _part_of_bootstrap(case: Case) -> Array:
    """For each label and for the whole: how much of the estimate should be the bootstrap's.

    A threshold that labels share is tuned on all of their positives.
    """
    positives = case.tuned.support / Units.of(case.data).positive
    if case.tuned.shared:
        every = leave_one_out.part_of_bootstrap(positives.sum())
        return np.full(len(positives) + 1, every)
    part = leave_one_out.part_of_bootstrap(positives)
    return np.append(part, (part * positives).sum() / max(positives.sum(), 1e-300))


def judge_elsewhere(case: Case) -> Judgement:
    """Judge thresholds by rows that they were not tuned on; these say nothing of better ones."""
    case = case.without_idle_rows()
    limits = case.tuned.thresholds
    one_fold = np.zeros(case.data.n_rows, np.int64)
    unseen = _Unseen.of(case.data, _predict_apart(case.data, one_fold, limits[None]))
    objective = Units(unseen.unit, unseen.unit).objective(case.goal.objective)
    ends = np.array([limits, limits])
    return _with_errors(case, unseen, objective, objective(*unseen.counts), ends)


def _with_errors(
    case: Case,
    unseen: _Unseen,
    objective: Objective,
    of_label: Array,
    ends: Array,
    again: _Again | None = None,
) -> Judgement:
    """The expected score of the whole, how sure that is, and the same for each label."""
    expected, variance = _whole(case, unseen, objective, of_label)
    unsure = np.zeros(len(of_label) + 1)
    if again is not None:
        mixed, unsure = _less_flattery(case, np.append(of_label, expected), again)
        of_label, expected = mixed[:-1], float(mixed[-1])
    bounded = intervals.is_bounded(of_label, np.array(expected))
    bars = _label_bars(unseen, objective, of_label, bounded).less_sure_by(unsure[:-1])
    whole = intervals.estimate(expected, variance, bounded).less_sure_by(unsure[-1])
    steady = special.ndtri((np.arange(case.draws.n_resamples) + 0.5) / case.draws.n_resamples)
    whole = bars if case.data.is_binary else whole
    return Judgement(expected, whole, steady, of_label, bars, *ends)


def _deal(case: Case, folds: int) -> Array:
    """The fold of each row, by its rank."""
    stream = np.random.SeedSequence(case.draws.seed, spawn_key=(0,))
    return np.random.default_rng(stream).permutation(case.data.n_rows) % folds


def score_unseen(data: LabelledScores, fold: Array, goal: Goal) -> float:
    """What thresholds, one for each label, reach on rows that were not tuned on.

    They are tuned without each fold, which counts from 0, and predict it.
    """
    without = _tuned_without(data, fold, lambda part: choose_thresholds(part, goal).thresholds)
    if goal.labels_apart and goal.metric.is_share_of_hits:
        return mean_of_known(_by_hit(data, fold, without, goal.metric))
    predictions = _predict_apart(data, fold, without)
    return score(data.truth, predictions, goal.metric, goal.average, data.weights)


def _by_hit(data: LabelledScores, fold: Array, thresholds: Array, metric: Metric) -> Array:
    """The score of each label: hits of rows not seen, each worth what its threshold makes of it.

    Pooled, a label would have the hits of one threshold and the false positives of another, which
    flatters rare labels much.
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
    rows = intervals.row_sums(truth, predictions, slopes)
    if weights is not None:
        rows = weights * rows
    share = max(int((~np.isnan(values)).sum()), 1)
    return mean_of_known(values), float((rows**2).sum()) / share**2


def _variance_of_mean(values: Array, weights: Array | None) -> float:
    """Of the weighted mean of what is not NaN."""
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    if weights is None:
        return float(values[known].var() / known.sum())
    share = weights[known] / weights[known].sum()
    return float(((share * (values[known] - mean_of_known(values, weights))) ** 2).sum())


def _label_bars(
    unseen: _Unseen, objective: Objective, of_label: Array, bounded: bool
) -> intervals.Estimate:
    """Errors from counts; rows of unequal weight vary as their squares."""
    counts = unseen.counts
    bars = intervals.estimate_from_counts(objective, counts, of_label, bounded)
    if unseen.weights is None:
        return bars
    squares = np.array(label_counts(unseen.truth, unseen.predictions, unseen.weights**2))
    return bars._replace(error=bars.error * np.sqrt(intervals.uneven(objective, counts, squares)))


def _tuned_without(
    data: LabelledScores, fold: Array, tuned: Tune, told: Progress | None = None
) -> Array:
    """Thresholds of folds x labels, tuned on the rows of the other folds."""

    def of_rest(number: int) -> Array:
        rest = data.of_rows(np.flatnonzero(fold != number))
        return tuned(rest) if rest.total > 0 else np.full(data.n_labels, np.inf)

    found = []
    for thresholds in map_blocks(of_rest, range(int(fold.max()) + 1)):
        found.append(thresholds)
        if told is not None:
            told.advance(1)
    return np.array(found)


def _predict_apart(data: LabelledScores, fold: Array, thresholds: Array) -> Any:
    """Each row predicted with the thresholds of its fold."""

    def predict(number: int) -> Any:
        found = _apply.predict(data.scores[np.flatnonzero(fold == number)], thresholds[number])
        return found if data.is_binary else sparse.csr_array(found, dtype=np.float64)

    parts = list(map_blocks(predict, range(len(thresholds))))
    order = np.argsort(np.argsort(fold, kind="stable"), kind="stable")
    if data.is_binary:
        return np.concatenate(parts)[order]
    return sparse.csr_array(sparse.vstack(parts, format="csr")[order])


def _retuned(case: Case, replicates: int, ranks: Array, tuned: Tune, told: Progress) -> _Again:
    """Thresholds tuned on rows drawn again, so many times."""
    data = case.data
    here = _predictions(data, case.tuned.thresholds)

    def tuned_again(number: int) -> tuple[Array, Array]:
        stream = np.random.SeedSequence(case.draws.seed, spawn_key=(1, number))
        times = np.random.default_rng(stream).poisson(1.0, data.n_rows)[ranks]
        if not times.any():
            return np.full(data.n_labels, np.inf), np.zeros(data.n_labels + 1)
        thresholds = tuned(_drawn(data, times, as_rows=case.goal.guard is not None))
        if not _is_best(case):
            return thresholds, np.zeros(data.n_labels + 1)
        there = _predictions(data, thresholds)
        return thresholds, _gain(case, there, times) - _gain(case, here, times)

    found = []
    for pair in map_blocks(tuned_again, range(replicates)):
        found.append(pair)
        told.advance(1)
    return _Again(*map(np.array, zip(*found, strict=True)))


def _gain(case: Case, predictions: Any, times: Array) -> Array:
    """By how much predictions score higher on a replicate than on the data.

    Those of the tuned thresholds do so by chance alone: they are subtracted, which leaves a tenth
    of the noise.
    """
    weights = case.data.weights
    drawn = times.astype(np.float64) if weights is None else times * weights
    on_drawn, on_data = (_reached(case, predictions, each) for each in (drawn, weights))
    return on_drawn - on_data


def _reached(case: Case, predictions: Any, weights: Array | None) -> Array:
    """The score of each label, and then the averaged score."""
    truth = case.data.truth
    if case.data.is_binary:
        truth = sparse.csr_array(truth[:, None])
    metric, zero_division = case.goal.metric, case.goal.objective.zero_division
    counts = label_counts(truth, predictions, weights)
    labels = metric(*counts, zero_division=zero_division)
    whole = mean_of_known(labels)
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


def _drawn(data: LabelledScores, times: Array, as_rows: bool) -> LabelledScores:
    """Each row so many times: as its weight, or as rows of their own.

    A guard asks how much the data tell, and rows of uneven weights tell less: as weights the same
    draws would count for half.
    """
    if as_rows:
        return data.of_rows(np.repeat(np.arange(data.n_rows), times))
    weights = times.astype(np.float64)
    return data._replace(weights=weights if data.weights is None else weights * data.weights)
