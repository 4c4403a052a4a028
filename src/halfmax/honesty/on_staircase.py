"""The quick way to assess: on staircases, where each label has its own threshold.

This serves one classifier, macro and micro averages. `halfmax.honesty.cross_fit` is the general
way. Labels with few positives are judged by leaving out each positive in turn. For many positives
that is right on average but varies a lot, and the bootstrap is better: tune on each replicate, and
measure how much the score there exceeds the score of the same threshold on the data. A replicate is
tuned to the noise of the data and to its own noise, and only the effect of the latter is visible.
The maximum of a smooth curve with noise of variance v is too high by a multiple of ``v ** (2/3)``,
so twice the noise gives ``2 ** (2/3)`` times the optimism, half of which is visible: the visible
optimism is multiplied by ``2 ** (1/3)``.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse, special

from halfmax._core import predict
from halfmax._core.types import Array
from halfmax.honesty import intervals
from halfmax.honesty.case import Case, Judgement
from halfmax.honesty.redraw import Redrawn, redraw
from halfmax.honesty.weighted_rows import Units
from halfmax.metrics.average import mean_of_known
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import label_counts
from halfmax.staircase import leave_one_out
from halfmax.staircase.staircase import Staircase, ValueOfCounts
from halfmax.tuning.exact import choose, micro

OPTIMISM_FACTOR = 2.0 ** (1.0 / 3.0)  # the optimism relative to what the bootstrap shows of it
OPTIMISM_ERROR = 1.0 / 3.0  # its standard error relative to the optimism, about, in simulations
_COMMON_ERROR = 0.15  # the share of the optimism that may remain in all labels alike


class _Counted(NamedTuple):
    """A case counted in effective rows; see `halfmax.honesty.weighted_rows`."""

    case: Case
    units: Units
    stairs: Staircase
    counts: Counts  # at the tuned thresholds
    objective: Objective  # a function of such counts
    uneven: leave_one_out.Uneven | None  # sizes of single rows, if they have weights

    @classmethod
    def of(cls, case: Case) -> "_Counted":
        units = Units.of(case.data)
        stairs = Staircase.of_checked(case.data) if case.stairs is None else case.stairs
        stairs = units.stairs(stairs)
        counts: Counts = case.counts
        if case.data.weights is not None:
            counts = units.rows(*choose.count_at(case.data, case.tuned.thresholds).counts)
        objective = units.objective(case.goal.objective)
        uneven = units.uneven(case.data, stairs.grid)
        return cls(case, units, stairs, counts, objective, uneven)

    @property
    def is_binary(self) -> bool:
        return self.case.data.is_binary

    def predictions(self) -> tuple[Any, Any]:
        """Truth and predictions as sparse matrices of ones."""
        data = self.case.data
        truth, found = data.truth, predict.predict(data.scores, self.case.tuned.thresholds)
        if self.is_binary:
            truth, found = truth[:, None], found[:, None]
        return sparse.csr_array(truth), sparse.csr_array(found, dtype=np.float64)

    def row_sums(self, counts: Counts) -> Array:
        """What each row adds to a score of these counts, per label or pooled."""
        slopes = self.units.slopes(intervals.influence(self.objective, counts))
        rows = intervals.row_sums(*self.predictions(), slopes)
        weights = self.case.data.weights
        return rows if weights is None else weights * rows

    def plain(self) -> tuple[Array, Array]:
        """The positives and predictions of each label, with every row counted once."""
        if self.uneven is None:
            return self.stairs.positives, self.counts.predicted
        data = self.case.data._replace(weights=None)
        predicted = choose.count_at(data, self.case.tuned.thresholds).counts.predicted
        return self.uneven.stairs.positives, predicted

    def variance_inflation(self) -> Array:
        """The variance of each label's score relative to that of rows of equal weight."""
        weights = self.case.data.weights
        if weights is None:
            return np.ones(self.stairs.n_labels)
        heaviest = weights.max()
        light = Units(*(unit / heaviest for unit in self.units))
        squares = light.squares(*label_counts(*self.predictions(), (weights / heaviest) ** 2))
        return intervals.variance_inflation(self.objective, self.counts, squares)


def can_judge(goal: Goal) -> bool:
    """Whether each label's staircase alone decides its threshold.

    This holds for pooled counts too, where all labels share one cut. Guards and restrictions depend
    on more than the counts of a label's steps, and so does a mean weighted by positives.
    """
    if goal.guard is not None or goal.objective.restrictions:
        return False
    if goal.labels_apart:
        return goal.average != "weighted"
    ratio = goal.metric.ratio_at(0.5, 0.5)
    return (
        goal.average == "micro"
        and goal.per_label
        and ratio is not None
        and any(weight for part in ratio.parts for weight in part[2:])
    )


def judge(case: Case) -> Judgement:
    """Assess thresholds of labels that are tuned separately."""
    case = case.without_idle_rows()
    counted = _Counted.of(case)
    if case.goal.average_shown == "micro":
        return _judge_pooled(counted)
    stairs, objective, tuned = counted.stairs, counted.objective, case.tuned.label_scores
    found = redraw(case, stairs, objective)
    few = leave_one_out.PLENTY + 1
    left = leave_one_out.of_each_label(stairs, objective, few, uneven=counted.uneven)
    expected, unsure = _expected_of_labels(counted, found, left.expected)
    of_label = np.minimum(expected, tuned)
    counts = intervals.with_score(objective, counted.counts, of_label)
    range_ = intervals.range_of(case.goal.objective, case.counts, tuned)
    inflation = counted.variance_inflation()
    bars = intervals.estimate_from_counts(objective, counts, of_label, range_)
    bars = bars._replace(error=bars.error * np.sqrt(inflation)).with_extra_error(unsure)
    whole = bars
    if not counted.is_binary:
        separate = inflation * intervals.variance(objective, counts) + unsure**2
        part = leave_one_out.part_of_bootstrap(stairs.positives)
        variances = part * separate + np.where(part < 1.0, (1.0 - part) * left.squares, 0.0)
        common = _COMMON_ERROR / OPTIMISM_ERROR * mean_of_known(unsure)
        whole = _mean_of_labels(counted, expected, variances, inflation, range_)
        whole = whole.with_extra_error(np.asarray(common))
    away = _deviations(counted, found.replicates, range_)
    reached = min(mean_of_known(expected), case.tuned.score)
    return Judgement(
        expected=reached,
        bars=whole,
        deviations=away,
        label_expected=of_label,
        label_bars=bars,
        threshold_low=found.low,
        threshold_high=found.high,
    )


def _expected_of_labels(counted: _Counted, found: Redrawn, left_out: Array) -> tuple[Array, Array]:
    """The expected score of each label, and the standard error of its optimism."""
    positives, alone = counted.stairs.positives, counted.is_binary
    optimism = OPTIMISM_FACTOR * found.optimism
    judged = counted.case.tuned.label_scores - optimism
    expected = leave_one_out.mixed(positives, judged, left_out, alone)
    if not alone:
        plain_positives, predicted = counted.plain()
        expected = leave_one_out.with_empty_labels(
            counted.objective, plain_positives, predicted, expected
        )
    part = leave_one_out.part_of_bootstrap(positives)
    return expected, part * OPTIMISM_ERROR * np.maximum(optimism, 0.0)


def _judge_pooled(counted: _Counted) -> Judgement:
    """Assess pooled counts: sums over labels, each of which loses hits of its own."""
    case, objective = counted.case, counted.objective
    value_of, per_hit = _pooled_value(case)
    found = redraw(case, counted.stairs, value_of)
    counts, lost = _pooled_counts(counted, value_of, OPTIMISM_FACTOR * found.optimism / per_hit)
    of_label = objective(*counts)
    range_ = intervals.range_of(case.goal.objective, case.counts, case.tuned.label_scores)
    bars = intervals.estimate_from_counts(objective, counts, of_label, range_)
    bars = bars._replace(error=bars.error * np.sqrt(counted.variance_inflation()))
    bars = bars.with_extra_error(OPTIMISM_ERROR * lost * _per_hit(objective, counts))
    pooled = counts.pooled()
    expected = min(float(objective(*pooled)), case.tuned.score)
    whole = intervals.estimate_from_counts(objective, pooled, np.asarray(expected), range_)
    factor = _shared_rows_factor(counted.row_sums(pooled), intervals.variance(objective, pooled))
    whole = whole._replace(error=whole.error * np.sqrt(factor))
    unsure = np.hypot(OPTIMISM_ERROR * np.sqrt((lost**2).sum()), _COMMON_ERROR * lost.sum())
    whole = whole.with_extra_error(unsure * _per_hit(objective, pooled))
    away = _deviations(counted, found.replicates, range_)
    return Judgement(
        expected=expected,
        bars=whole,
        deviations=away,
        label_expected=of_label,
        label_bars=bars,
        threshold_low=found.low,
        threshold_high=found.high,
    )


def _per_hit(objective: Objective, counts: Counts) -> Array:
    """What a score loses when a hit becomes a miss."""
    slopes = intervals.influence(objective, counts)
    return np.asarray(slopes.hit - slopes.missed)


def _pooled_counts(counted: _Counted, value_of: ValueOfCounts, lost: Array) -> tuple[Counts, Array]:
    """The counts of labels on new data, and the hits that they lose according to the bootstrap.

    Labels with few positives are judged by leaving out each positive and each negative in turn.
    """
    stairs, part = counted.stairs, leave_one_out.part_of_bootstrap(counted.stairs.positives)
    tp, predicted, *_ = counted.counts
    lost = np.clip(lost, 0.0, tp)
    hits = _hits_kept(counted, value_of)
    chosen = leave_one_out.chosen_without_negative(stairs, value_of)
    false = _kept(stairs, chosen, stairs.predicted - stairs.true_positives)
    hits = part * (tp - lost) + (1.0 - part) * hits
    false = part * (predicted - tp) + (1.0 - part) * false
    return Counts(hits, hits + false, stairs.positives, stairs.total), part * lost


def _hits_kept(counted: _Counted, value_of: ValueOfCounts) -> Array:
    """For each label, how many of the left-out positives are predicted."""
    stairs, rows = counted.stairs, counted.uneven
    if rows is None:
        chosen = leave_one_out.chosen_without_positive(stairs, value_of)
        return _kept(stairs, chosen, stairs.true_positives)
    rows = rows.of_labels(leave_one_out.part_of_bootstrap(stairs.positives) < 1.0)
    hit = leave_one_out.chosen_without_each(stairs, value_of, rows) >= rows.step
    return np.bincount(stairs.grid.columns[rows.step], rows.size * hit, stairs.n_labels)


def _kept(stairs: Staircase, chosen: Array, counts: Array) -> Array:
    """For each label, how many of the left-out rows are predicted."""
    kept = stairs.rises(counts) * (chosen >= np.arange(len(chosen)))
    return np.bincount(stairs.grid.columns, kept, stairs.n_labels)


def _pooled_value(case: Case) -> tuple[ValueOfCounts, float]:
    """The value of a step for the pooled score, and of one hit; predicting nothing is worth 0."""
    tp, predicted, positives, total = (part.sum().item() for part in case.counts)
    metric = micro.require_ratio(case.goal.objective.metric, positives, total)
    if micro.pooled_parts((tp, predicted, positives, total), metric)[1] < 0:
        metric = metric.negated()
    (hit_n, predicted_n), (hit_d, predicted_d) = map(micro.slopes, metric.parts)
    reached = 0.0 if np.isnan(case.tuned.score) else case.tuned.score
    per_hit, per_prediction = hit_n - reached * hit_d, predicted_n - reached * predicted_d

    def value_of(tp: Any, predicted: Any, positives: Any, _: Any) -> Array:
        value = per_hit * np.asarray(tp) + per_prediction * np.asarray(predicted)
        return np.broadcast_to(value, np.shape(positives))

    gained = per_hit + per_prediction
    return value_of, gained if gained > 0 else np.inf


def _mean_of_labels(
    counted: _Counted,
    expected: Array,
    variances: Array,
    inflation: Array,
    range_: intervals.Range | None,
) -> intervals.Estimate:
    """The mean over labels.

    The variance is multiplied by a factor measured from the rows that labels share.
    """
    known = ~np.isnan(expected)
    if not known.any():
        return intervals.estimate(np.nan, 0.0, range_)
    separate = inflation * intervals.variance(counted.objective, counted.counts)
    spread = variances[known].sum() * _shared_rows_factor(
        counted.row_sums(counted.counts), separate
    )
    if spread == 0 and counted.counts.predicted.any():
        highest = counted.case.tuned.label_scores[known].max()
        spread = 0.5 * highest**2  # as if half a hit had been observed, where there was none
    return intervals.estimate(mean_of_known(expected), spread / known.sum() ** 2, range_)


def _shared_rows_factor(rows: Array, separate: Array) -> float:
    """The factor by which shared rows increase the variance of a score; at least 1."""
    whole = float(np.sum(separate))
    return max(1.0, float((rows**2).sum()) / whole) if whole > 0 else 1.0


def _deviations(counted: _Counted, replicates: Array, range_: intervals.Range | None) -> Array:
    """Standardised deviations of replicates; normal quantiles for few positives or many labels."""
    positives = counted.stairs.positives
    if counted.is_binary and positives[0] >= leave_one_out.MANY and replicates.size:
        least = 0.5 / (positives[0] + 1.0)
        if range_ is not None:
            replicates = special.logit(np.clip(range_.share(replicates), least, 1.0 - least))
        away = replicates[0] - replicates[1]
        if away.std() > 0:
            return np.asarray((away - away.mean()) / away.std())
    size = counted.case.draws.n_resamples
    return np.asarray(special.ndtri((np.arange(size) + 0.5) / size))
