"""Labels that are tuned apart, assessed on their staircases: one classifier, macro, micro.

Labels with few positives are judged by leaving each positive out. Where there are many, that is
right on average but varies much, and the bootstrap is better: tune on each replicate, and see by
how much the score there is above the score of the same threshold on the data. A replicate is tuned
on the noise of the data and on its own, of which only the latter is seen. The best of a smooth
curve with noise of variance v is too high by a multiple of ``v ** (2/3)``, so twice the noise gives
``2 ** (2/3)`` of the optimism, half of it seen: what is seen is multiplied by ``2 ** (1/3)``.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from halfmax import _apply, error_bars, leave_one_out, micro
from halfmax._inputs import LabelledScores
from halfmax._options import Guard
from halfmax._progress import Progress
from halfmax._threads import map_blocks, spans
from halfmax.assessment import Case, Judgement
from halfmax.metrics import LinearFractional, Objective
from halfmax.micro import Worth
from halfmax.resampling import FIRST_BLOCKS, Replicates, Steps, resample, without_nan
from halfmax.scoring import mean_of_known
from halfmax.staircase import Staircase

Array = npt.NDArray[Any]

_UNSEEN = 2.0 ** (1.0 / 3.0)
_UNSURE = 1.0 / 3.0  # of the optimism: about its standard error in simulations
_LEFT = 0.15  # of the optimism: what may be left in all labels alike
_BLOCKS_AT_ONCE, _RUNS_AT_ONCE = 1 << 8, 250  # part of what a seed means


class _Resampled(NamedTuple):
    """Of each label: ends of its threshold's interval, and how much replicates flatter."""

    low: Array
    high: Array
    optimism: Array
    replicates: Array  # worth in each replicate beside worth on the data; of one classifier only


def can_judge(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None,
) -> bool:
    """Whether labels choose apart, also in pooled counts, where one cut is common to all.

    Guards, weights and floors choose by more than the counts of a label's steps.
    """
    if guard is not None or data.weights is not None or objective.floors:
        return False
    if data.is_binary:
        return True
    if not per_label or average == "samples":
        return False
    metric = objective.metric
    return average == "macro" or (
        isinstance(metric, LinearFractional)
        and any(weight for part in metric.parts for weight in part[2:])
    )


def judge(case: Case) -> Judgement:
    """Assess thresholds of labels that are tuned apart."""
    stairs = case.stairs or Staircase.of_checked(case.data)
    if case.average == "micro" and not case.data.is_binary:
        return _judge_pooled(case, stairs)
    found = _resample(case, stairs, case.objective)
    tuned = case.tuned.label_scores
    left = leave_one_out.of_each_label(stairs, case.objective, leave_one_out.PLENTY + 1)
    expected, unsure = _expected_of_labels(case, stairs, found, left.expected)
    of_label = np.minimum(expected, tuned)
    counts = error_bars.with_score(case.objective, case.counts, of_label)
    bounded = error_bars.is_bounded(tuned, of_label)
    bars = error_bars.estimate_from_counts(case.objective, counts, of_label, bounded)
    bars = bars.less_sure_by(unsure)
    whole = bars
    if not case.data.is_binary:
        apart = error_bars.variance(case.objective, counts) + unsure**2
        part = leave_one_out.part_of_bootstrap(stairs.positives)
        variances = part * apart + np.where(part < 1.0, (1.0 - part) * left.squares, 0.0)
        common = _LEFT / _UNSURE * mean_of_known(unsure)
        whole = _mean_of_labels(case, expected, variances, bounded)
        whole = whole.less_sure_by(np.asarray(common))
    away = _deviations(case, found.replicates, bounded)
    reached = min(mean_of_known(expected), case.tuned.score)
    return Judgement(reached, whole, away, of_label, bars, found.low, found.high)


def _expected_of_labels(
    case: Case, stairs: Staircase, found: "_Resampled", left_out: Array
) -> tuple[Array, Array]:
    """The expected score of each label, and how unsure its optimism is.

    A positive left out of a label with a + 1 speaks for a label with a: it takes that one's share.
    """
    tuned, positives = case.tuned.label_scores, stairs.positives
    optimism = _UNSEEN * found.optimism
    part = leave_one_out.part_of_bootstrap(positives)
    one_less = part if case.data.is_binary else leave_one_out.part_of_bootstrap(positives - 1)
    judged = np.where(part > 0.0, part * (tuned - optimism), 0.0)
    expected = judged + np.where(one_less < 1.0, (1.0 - one_less) * left_out, 0.0)
    if not case.data.is_binary and leave_one_out.is_share_of_hits(case.objective.metric):
        expected = _with_empty_labels(case, positives, expected)
    return expected, part * _UNSURE * np.maximum(optimism, 0.0)


def _with_empty_labels(case: Case, positives: Array, expected: Array) -> Array:
    """Labels without positives in new data: 0/0 if nobody is predicted there, else 0.

    Which labels that will be is as uncertain as which they are here. If 0/0 is left out of the
    mean, each label's score counts for as many labels as are expected to stay in.
    """
    none = leave_one_out.chance_of_none(positives)
    silent = none * np.exp(-case.tuned.predicted.astype(np.float64))
    zero_division = case.objective.zero_division
    if np.isnan(zero_division):
        stay = len(expected) - silent.sum()
        known = positives > 0
        scale = known.sum() / max(stay, 1.0)
        return np.where(known, scale * np.nan_to_num(expected), np.nan)
    hits: Array = np.where(positives > 0, expected, 0.0)
    return hits + zero_division * silent


def _judge_pooled(case: Case, stairs: Staircase) -> Judgement:
    """Pooled counts are sums over labels, so those of left-out positives and negatives serve."""
    objective = case.objective
    worth = _pooled_worth(case)
    found = _resample(case, stairs, worth)
    hits = _kept(
        stairs, leave_one_out.chosen_without_positive(stairs, worth), stairs.true_positives
    )
    false = _kept(
        stairs,
        leave_one_out.chosen_without_negative(stairs, worth),
        stairs.predicted - stairs.true_positives,
    )
    counts = hits, hits + false, stairs.positives, stairs.total
    of_label = objective(*counts)
    bounded = error_bars.is_bounded(case.tuned.label_scores, of_label)
    bars = error_bars.estimate_from_counts(objective, counts, of_label, bounded)
    pooled = tuple(part.sum() for part in counts)
    expected = min(float(objective(*pooled)), case.tuned.score)
    whole = error_bars.estimate_from_counts(objective, pooled, np.asarray(expected), bounded)
    rows = error_bars.row_sums(
        case.data.truth, _predictions(case), error_bars.influence(objective, pooled)
    )
    together = _together(rows, error_bars.variance(objective, pooled))
    whole = whole._replace(error=whole.error * np.sqrt(together))
    away = _deviations(case, found.replicates, bounded)
    return Judgement(expected, whole, away, of_label, bars, found.low, found.high)


def _kept(stairs: Staircase, chosen: Array, counts: Array) -> Array:
    """Of each label, how many of those that were left out are predicted."""
    kept = stairs.rises(counts) * (chosen >= np.arange(len(chosen)))
    return np.bincount(stairs.grid.columns, kept, stairs.n_labels)


def _pooled_worth(case: Case) -> Worth:
    """What a label's step is worth beside the pooled score; nobody is worth 0."""
    metric = micro.require_ratio(case.objective.metric)
    tp, predicted, positives, total = (part.sum().item() for part in case.counts)
    if micro.pooled_parts((tp, predicted, positives, total), metric)[1] < 0:
        metric = metric.negated()
    (hit_n, predicted_n), (hit_d, predicted_d) = map(micro.slopes, metric.parts)
    reached = 0.0 if np.isnan(case.tuned.score) else case.tuned.score
    per_hit, per_prediction = hit_n - reached * hit_d, predicted_n - reached * predicted_d

    def worth(tp: Any, predicted: Any, positives: Any, _: Any) -> Array:
        value = per_hit * np.asarray(tp) + per_prediction * np.asarray(predicted)
        return np.broadcast_to(value, np.shape(positives))

    return worth


def _mean_of_labels(
    case: Case, expected: Array, variances: Array, bounded: bool
) -> error_bars.Estimate:
    """The mean over labels; labels of the same rows vary together, by a measured factor."""
    objective, known = case.objective, ~np.isnan(expected)
    if not known.any():
        return error_bars.estimate(np.nan, 0.0, bounded)
    slopes = error_bars.influence(objective, case.counts)
    rows = error_bars.row_sums(case.data.truth, _predictions(case), slopes)
    spread = variances[known].sum() * _together(rows, error_bars.variance(objective, case.counts))
    if spread == 0 and case.tuned.predicted.any():
        spread = 0.5 * case.tuned.label_scores[known].max() ** 2  # half a hit, where none was seen
    return error_bars.estimate(mean_of_known(expected), spread / known.sum() ** 2, bounded)


def _together(rows: Array, apart: Array) -> float:
    """How much more a score varies because its labels share rows; at least 1."""
    whole = float(np.sum(apart))
    return max(1.0, float((rows**2).sum()) / whole) if whole > 0 else 1.0


def _predictions(case: Case) -> Any:
    found = _apply.predict(case.data.scores, case.tuned.thresholds)
    return sparse.csr_array(found, dtype=np.float64)


def _deviations(case: Case, replicates: Array, bounded: bool) -> Array:
    """Standardised deviations, as many replicates have them, or else as the normal law has them."""
    support = case.tuned.support
    if case.data.is_binary and support[0] >= leave_one_out.MANY and replicates.size:
        least = 0.5 / (support[0] + 1.0)
        drawn, on_data = np.clip(replicates, least, 1.0 - least) if bounded else replicates
        away = special.logit(drawn) - special.logit(on_data) if bounded else drawn - on_data
        if away.std() > 0:
            return np.asarray((away - away.mean()) / away.std())
    size = case.n_resamples
    return np.asarray(special.ndtri((np.arange(size) + 0.5) / size))


def _resample(case: Case, stairs: Staircase, worth_of: Worth) -> _Resampled:
    """Draw all labels again, a group of them at a time, and keep quantiles and means."""
    labels, same_as = _different_labels(stairs)
    on_data, nobody = _worth_on_data(stairs, worth_of)
    first = stairs.grid.offsets
    low, high = np.full((2, stairs.n_labels), micro.NOBODY)
    optimism = np.zeros(stairs.n_labels)
    pair = np.empty((2, 0))
    done = len(labels) * case.n_resamples
    with Progress(case.progress, "drawing the rows again", max(done, 1)) as told:
        for group, drawn in _drawn(case, stairs, worth_of, labels, told):
            there = drawn.step != micro.NOBODY
            own = np.where(there, on_data[first[group] + drawn.step], nobody[group])
            gain = np.where(np.isfinite(drawn.worth), drawn.worth - own, 0.0)
            optimism[group] = gain.mean(axis=0)
            ends = np.quantile(drawn.step, case.tails, axis=0, method="inverted_cdf")
            high[group], low[group] = ends
            if case.data.is_binary:
                pair = np.array([drawn.worth[:, 0], own[:, 0]])
    low, high, optimism = low[same_as], high[same_as], optimism[same_as]
    return _Resampled(_thresholds(stairs, low), _thresholds(stairs, high), optimism, pair)


def _drawn(case: Case, stairs: Staircase, worth_of: Worth, labels: Array, told: Progress) -> Any:
    """Groups of labels with their replicates."""
    blocks = np.cumsum(np.minimum(np.diff(stairs.grid.offsets)[labels], FIRST_BLOCKS))
    full = np.arange(_BLOCKS_AT_ONCE, blocks[-1] if len(blocks) else 0, _BLOCKS_AT_ONCE)
    groups = [g for g in np.split(labels, np.searchsorted(blocks, full)) if len(g)]
    runs = spans(case.n_resamples, _RUNS_AT_ONCE)

    def draw(work: tuple[int, slice]) -> Replicates:
        place, span = work
        stream = np.random.SeedSequence(case.seed, spawn_key=(place, span.start))
        steps = Steps.of(stairs, groups[place])
        rng = np.random.default_rng(stream)
        return resample(steps, worth_of, span.stop - span.start, rng)

    parts: list[Replicates] = []
    every = [(place, span) for place in range(len(groups)) for span in runs]
    for (place, span), part in zip(every, map_blocks(draw, every), strict=True):
        parts.append(part)
        told.advance(part.step.size)
        if span is runs[-1]:
            yield groups[place], Replicates(*map(np.concatenate, zip(*parts, strict=True)))
            parts = []


def _different_labels(stairs: Staircase) -> tuple[Array, Array]:
    """Labels with steps, of labels with the same single step only one, and which stands for each.

    A million labels with one positive each have a few thousand different staircases.
    """
    sizes = np.diff(stairs.grid.offsets)
    lone = np.flatnonzero(sizes == 1)
    step = stairs.grid.offsets[lone]
    alike = (stairs.true_positives[step], stairs.predicted[step], stairs.positives[lone])
    _, shown, which = np.unique(
        np.stack(alike, axis=1), axis=0, return_index=True, return_inverse=True
    )
    same_as = np.arange(stairs.n_labels)
    same_as[lone] = lone[shown][which.ravel()]
    return np.unique(np.append(np.flatnonzero(sizes > 1), lone[shown])), same_as


def _worth_on_data(stairs: Staircase, worth_of: Worth) -> tuple[Array, Array]:
    column = stairs.grid.columns
    counts = stairs.positives[column], stairs.total[column]
    on_data = without_nan(worth_of(stairs.true_positives, stairs.predicted, *counts))
    return on_data, np.nan_to_num(worth_of(0, 0, stairs.positives, stairs.total))


def _thresholds(stairs: Staircase, place: Array) -> Array:
    """The threshold of a place among each label's steps."""
    ends = np.full(stairs.n_labels, np.inf)
    there = np.flatnonzero(place != micro.NOBODY)
    ends[there] = stairs.grid.scores[stairs.grid.offsets[there] + place[there]]
    return ends + 0.0
