"""Thresholds that belong to no single staircase, assessed on rows that they have not seen.

Shared by all labels, tuned for the mean over rows, weighted or guarded, thresholds are found by
sweeps of their own and no staircase can tell what they would have been. So they are tuned anew:
without each tenth of the rows, which they then predict, and on replicates of the rows, for their
intervals.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from halfmax import _apply, choosing, error_bars, leave_one_out, tuning
from halfmax._inputs import LabelledScores
from halfmax._progress import Progress
from halfmax._threads import map_blocks
from halfmax.assessment import Case, Judgement
from halfmax.metrics import LinearFractional, Metric, Objective, confusion
from halfmax.scoring import label_counts, mean_of_known, row_counts, score

Array = npt.NDArray[Any]
Tuning = Callable[[LabelledScores], Array]  # data in, thresholds out

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
    def counts(self) -> tuple[Array, ...]:
        """True positives, predicted, positives and total of each label."""
        tp, fp, fn, tn = self.four
        return tp, tp + fp, tp + fn, tp + fp + fn + tn


def judge(case: Case) -> Judgement:
    """Assess thresholds that are tuned together."""
    case = _of_rows_that_weigh(case)
    most = _MOST_REPLICATES if case.guard is None else _MOST_GUARDED
    folds, replicates = min(_FOLDS, case.data.n_rows), min(case.n_resamples, most)

    def tuned(data: LabelledScores) -> Array:
        how = case.average, case.per_label, case.objective, case.guard
        return tuning.choose_with(data, *how).thresholds

    fold = _deal(case, folds)
    with Progress(case.progress, "tuning again", folds + replicates) as told:
        without = _tuned_without(case.data, fold, tuned, told)
        thresholds = _retuned(case, replicates, tuned, told)
    unseen = _Unseen.of(case.data, _predict_apart(case.data, fold, without))
    objective = _of_counts_in_rows(case.objective, unseen.unit)
    of_label = objective(*unseen.counts)
    if _adds_hits(case.data, case.average, case.per_label, case.objective.metric):
        by_hit = _by_hit(case.data, fold, without, case.objective.metric)
        of_label = np.where(case.tuned.support > 0, by_hit, of_label)
    ends = np.quantile(thresholds, case.tails, axis=0, method="inverted_cdf")
    found = _with_errors(case, unseen, objective, of_label, ends)
    if case.guard is None and not case.objective.floors:  # what is best cannot do better elsewhere
        found = found._replace(expected=min(found.expected, case.tuned.score))
    return found


def judge_elsewhere(case: Case) -> Judgement:
    """Judge thresholds by rows that they were not tuned on; these say nothing of better ones."""
    case = _of_rows_that_weigh(case)
    limits = case.tuned.thresholds
    one_fold = np.zeros(case.data.n_rows, np.int64)
    unseen = _Unseen.of(case.data, _predict_apart(case.data, one_fold, limits[None]))
    objective = _of_counts_in_rows(case.objective, unseen.unit)
    ends = np.array([limits, limits])
    return _with_errors(case, unseen, objective, objective(*unseen.counts), ends)


def _with_errors(
    case: Case, unseen: _Unseen, objective: Objective, of_label: Array, ends: Array
) -> Judgement:
    """The expected score of the whole, how sure that is, and the same for each label."""
    expected, variance = _whole(case, unseen, objective, of_label)
    bounded = error_bars.is_bounded(of_label, np.array(expected))
    bars = _label_bars(unseen, objective, of_label, bounded)
    whole = bars if case.data.is_binary else error_bars.estimate(expected, variance, bounded)
    steady = special.ndtri((np.arange(case.n_resamples) + 0.5) / case.n_resamples)
    return Judgement(expected, whole, steady, of_label, bars, *ends)


def _of_rows_that_weigh(case: Case) -> Case:
    """Without rows of weight zero, which must not take places in folds."""
    weights = case.data.weights
    if weights is None or weights.all():
        return case
    return case._replace(data=case.data.of_rows(np.flatnonzero(weights)))


def _deal(case: Case, folds: int) -> Array:
    stream = np.random.SeedSequence(case.seed, spawn_key=(0,))
    return np.random.default_rng(stream).permutation(case.data.n_rows) % folds


def _of_counts_in_rows(objective: Objective, unit: float) -> Objective:
    """What is judged; a metric that is no ratio may depend on how weights were given."""
    metric = objective.metric

    def of_rows(tp: Array, fp: Array, fn: Array, tn: Array) -> Array:
        return objective.metric(unit * tp, unit * fp, unit * fn, unit * tn, np.nan)

    if unit != 1.0 and not isinstance(metric, LinearFractional):
        metric = Metric(metric.name, of_rows)
    return Objective(metric, objective.zero_division)


def score_unseen(
    data: LabelledScores, fold: Array, tuned: Tuning, average: str, metric: Metric
) -> float:
    """What thresholds, one for each label, reach on rows that were not tuned on.

    They are tuned without each fold, which counts from 0, and predict it.
    """
    without = _tuned_without(data, fold, tuned)
    if _adds_hits(data, average, True, metric):
        return mean_of_known(_by_hit(data, fold, without, metric))
    return score(data.truth, _predict_apart(data, fold, without), metric, average, data.weights)


def _adds_hits(data: LabelledScores, average: str, per_label: bool, metric: Metric) -> bool:
    """Whether the whole is the mean of labels whose score is a sum over their hits."""
    apart = data.is_binary or (average == "macro" and per_label)
    return apart and leave_one_out.is_share_of_hits(metric)


def _by_hit(data: LabelledScores, fold: Array, thresholds: Array, metric: Metric) -> Array:
    """The score of each label: hits of rows not seen, each worth what its threshold makes of it.

    Pooled, a label would have the hits of one threshold and the false positives of another, which
    flatters rare labels much.
    """

    def of_fold(number: int) -> tuple[Array, Array]:
        unseen = data.of_rows(np.flatnonzero(fold == number))
        hits = choosing.count_at(unseen, thresholds[number]).true_positives
        counts = choosing.count_at(data, thresholds[number]).counts
        value = metric(*confusion(*counts))
        return value, value * hits / np.where(counts[0] > 0, counts[0], 1.0)

    values, gains = np.array(list(map_blocks(of_fold, range(len(thresholds))))).swapaxes(0, 1)
    return np.asarray(np.minimum(gains.sum(axis=0), values.max(axis=0)))


def _whole(
    case: Case, unseen: _Unseen, objective: Objective, of_label: Array
) -> tuple[float, float]:
    """The averaged score and its variance over rows."""
    truth, predictions, weights = unseen[:3]
    if case.average == "samples" and not case.data.is_binary:
        values = case.objective.metric(
            *row_counts(truth, predictions), zero_division=objective.zero_division
        )
        return mean_of_known(values, weights), _variance_of_mean(values, weights)
    counts, values = unseen.counts, of_label
    if case.average == "micro":
        counts = tuple(part.sum() for part in counts)
        values = np.atleast_1d(objective(*counts))
    slopes = error_bars.influence(objective, counts)
    rows = error_bars.row_sums(truth, predictions, slopes)
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
) -> error_bars.Estimate:
    """Errors from counts; rows of unequal weight vary as their squares."""
    counts = unseen.counts
    bars = error_bars.estimate_from_counts(objective, counts, of_label, bounded)
    if unseen.weights is None:
        return bars
    squared = label_counts(unseen.truth, unseen.predictions, unseen.weights**2)
    slopes = np.array(error_bars.influence(objective, counts))
    more = ((np.array(squared) - np.array(unseen.four)) * slopes**2).sum(axis=0)
    apart = error_bars.variance(objective, counts)
    ratio = 1.0 + np.divide(more, apart, out=np.zeros_like(apart), where=apart > 0)
    return bars._replace(error=bars.error * np.sqrt(np.maximum(ratio, 0.0)))


def _tuned_without(
    data: LabelledScores, fold: Array, tuned: Tuning, told: Progress | None = None
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


def _retuned(case: Case, replicates: int, tuned: Tuning, told: Progress) -> Array:
    """Thresholds of replicates x labels, each tuned on rows drawn again."""
    data = case.data

    def tuned_again(number: int) -> Array:
        stream = np.random.SeedSequence(case.seed, spawn_key=(1, number))
        times = np.random.default_rng(stream).poisson(1.0, data.n_rows)
        if not times.any():
            return np.full(data.n_labels, np.inf)
        return tuned(_drawn(data, times, as_rows=case.guard is not None))

    found = []
    for thresholds in map_blocks(tuned_again, range(replicates)):
        found.append(thresholds)
        told.advance(1)
    return np.array(found)


def _drawn(data: LabelledScores, times: Array, as_rows: bool) -> LabelledScores:
    """Each row so many times: as its weight, or as rows of their own.

    A guard asks how much the data tell, and rows of uneven weights tell less: as weights the same
    draws would count for half.
    """
    if as_rows:
        return data.of_rows(np.repeat(np.arange(data.n_rows), times))
    weights = times.astype(np.float64)
    return data._replace(weights=weights if data.weights is None else weights * data.weights)
