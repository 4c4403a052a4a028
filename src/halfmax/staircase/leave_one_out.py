"""Leave-one-out estimates of the score on new data, from the staircase alone.

Leave one positive out, tune on the rest, and see whether the threshold still catches it. That
needs no second pass over the data: without a positive of step i, the steps above i keep their
counts and the others lose one hit and one prediction. So the new choice is the best of the two
parts, each from a running maximum. All positives of all labels together take as long as reading
the staircase once.

Leaving one of a + 1 positives out is like testing a label tuned on a positives with a new one. So
the sum over all labels is right for tuning on all of the data, although each label is judged by a
tuning with one positive fewer. A label with a single positive contributes nothing, and labels with
two positives stand in for it.

A hit adds ``2 / (positives + predicted)`` to the F1 of its label, where the counts are those of the
new data. These counts are random, and small for rare labels, so their expectation is taken. The
number of other positives follows the gamma distribution of label frequencies that best explains the
numbers of positives in these data. If `tp` of `a` positives are hit, this one included, another
positive is hit with probability ``tp / (a + 1)``. New false positives are drawn with the old number
as their mean.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.reciprocal import exponential_sum
from halfmax._core.types import Array
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective
from halfmax.staircase.kernels import choose_without
from halfmax.staircase.staircase import NO_STEP, Staircase, ValueOfCounts, without_nan

MANY = 20  # from this many positives, the bootstrap errs less than leaving one out
FEW, PLENTY = 10.0, 40.0  # between them both are mixed: a sharp border would favour lucky labels
_SHAPES = np.geomspace(1e-3, 1e6, 400)  # gamma shapes, from very uneven labels to equal ones
_COARSE = 20  # every 20th shape is tried first
_CASES_AT_ONCE = 1 << 14
_PAIRS_AT_ONCE = 1 << 20
_LEAST = 1e-6  # rows; a positive that weighs less adds nothing
_NOTHING_LEFT = 1e-9  # rows
_ROUNDING = 1e-9  # the relative error of values of weighted counts


class Uneven(NamedTuple):
    """Rows of different sizes (weights), both those left out and new ones.

    `step` and `size` are the step of each positive and the number of rows that it counts for.
    `stairs` counts every row once. `sizes` are the sizes that new positives and new negatives may
    have.
    """

    step: Array
    size: Array
    stairs: Staircase
    sizes: tuple[Array, Array]

    def of_labels(self, selected: Array) -> "Uneven":
        """Keep the positives of some labels."""
        kept = selected[self.stairs.grid.columns[self.step]]
        return self._replace(step=self.step[kept], size=self.size[kept])


class LeftOut(NamedTuple):
    """For each label: the expected score, and the sum of squares of single positives' shares."""

    expected: Array
    squares: Array


def of_each_label(
    stairs: Staircase,
    objective: Objective,
    fewer_than: float = np.inf,
    every: Array | None = None,
    uneven: Uneven | None = None,
) -> LeftOut:
    """Return the expected score of each label on new data of this size, each label tuned alone.

    With `fewer_than`, labels with at least that many positives get NaN, which saves time. `every`
    holds the positives of all labels, if `stairs` has only some of the labels. `uneven` describes
    rows with weights.
    """
    selected = stairs.positives < fewer_than
    if uneven is None:
        chosen = chosen_without_positive(stairs, objective)
        copies = stairs.rises(stairs.true_positives)
        left = _Left(np.arange(len(chosen)), chosen, copies, np.ones(len(chosen)))
    else:
        uneven = uneven.of_labels(selected)
        chosen = chosen_without_each(stairs, objective, uneven)
        left = _Left(uneven.step, chosen, np.ones(len(chosen)), uneven.size)
    if objective.metric.is_share_of_hits:
        hit = np.flatnonzero(left.is_hit & selected[stairs.grid.columns[left.step]])
        found = _by_hits(stairs, objective, left.where(hit), every, uneven)
    else:
        found = _as_they_are(stairs, objective, left)
    return LeftOut(*(np.where(selected, part, np.nan) for part in found))


class _Left(NamedTuple):
    """Positives left out: their steps, the step chosen without one, how many, and their sizes."""

    step: Array
    chosen: Array
    copies: Array
    size: Array

    @property
    def is_hit(self) -> Array:
        return self.chosen >= self.step

    def where(self, kept: Array) -> "_Left":
        return _Left(*(part[kept] for part in self))


def _by_hits(
    stairs: Staircase, objective: Objective, hit: _Left, every: Array | None, uneven: Uneven | None
) -> LeftOut:
    """Add up the expected contributions of the hits of each label."""
    metric, label = objective.metric, stairs.grid.columns[hit.step]
    assert isinstance(metric, LinearFractional)
    if uneven is None:
        law = _law_of_frequencies(stairs.positives if every is None else every)
        value = _value_of_hits(stairs, metric, law, hit.chosen)
    else:
        law = _law_of_frequencies(uneven.stairs.positives)
        value = _expected_of_hits(
            uneven.stairs, metric, law, label, hit.chosen, hit.size, uneven.sizes
        )
    add = np.bincount(label, hit.copies * value, stairs.n_labels)
    squares = np.bincount(label, hit.copies * value**2, stairs.n_labels)
    nothing = objective(0, 0, stairs.positives, stairs.total)
    return LeftOut(np.where(stairs.positives > 0, add, nothing), squares)


def part_of_bootstrap(positives: Array) -> Array:
    """Return the bootstrap's share in a label's estimate: 0 if positives are few, 1 if plenty."""
    return np.clip((np.asarray(positives) - FEW) / (PLENTY - FEW), 0.0, 1.0)


def mixed(positives: Array, judged: Array, left_out: Array, one_classifier: bool) -> Array:
    """Mix the bootstrap's estimates (plenty of positives) with leave-one-out (few positives).

    A positive left out of a label with a + 1 stands for a label with a, so it gets that share.
    """
    part = part_of_bootstrap(positives)
    one_less = part if one_classifier else part_of_bootstrap(positives - 1)
    expected: Array = np.where(part > 0.0, part * judged, 0.0)
    return expected + np.where(one_less < 1.0, (1.0 - one_less) * left_out, 0.0)


def with_empty_labels(
    objective: Objective, positives: Array, predicted: Array, expected: Array
) -> Array:
    """Account for labels without positives in new data: 0/0 if they predict no rows, else 0.

    Which labels these will be is as uncertain as which they are in these data. If 0/0 is left out
    of the mean, scores are scaled to the number of labels expected to stay in it.
    """
    if not objective.metric.is_share_of_hits:
        return expected
    zero_division = objective.zero_division
    hits: Array = np.where(positives > 0, expected, 0.0)
    if zero_division == 0.0:
        return hits
    silent = chance_of_none(positives) * np.exp(-predicted.astype(np.float64))
    if np.isnan(zero_division):
        stay = len(expected) - silent.sum()
        known = positives > 0
        scale = known.sum() / max(stay, 1.0)
        return np.where(known, scale * np.nan_to_num(expected), np.nan)
    return hits + zero_division * silent


def chance_of_none(positives: Array) -> Array:
    """Return the probability that each label has no positive in new data of this size."""
    shape, rate = _law_of_frequencies(positives)
    none: Array = ((rate + 1.0) / (rate + 2.0)) ** (shape + positives)
    return none


def chosen_without_positive(stairs: Staircase, value_of: ValueOfCounts) -> Array:
    """For each step, find the step chosen when one of its positives is left out."""
    return _chosen(stairs, value_of, 1)


def chosen_without_negative(stairs: Staircase, value_of: ValueOfCounts) -> Array:
    """For each step, find the step chosen without a negative between it and the step above."""
    return _chosen(stairs, value_of, 0)


def chosen_without_each(stairs: Staircase, value_of: ValueOfCounts, uneven: Uneven) -> Array:
    """For each positive, find the step chosen without it by trying all steps of its label."""
    chosen = np.full(len(uneven.step), NO_STEP)
    length = np.diff(stairs.grid.offsets)[stairs.grid.columns[uneven.step]]
    group = np.cumsum(length) // _PAIRS_AT_ONCE
    for some in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(group)) + 1):
        if len(some):
            chosen[some] = _chosen_without(
                stairs, value_of, uneven.step[some], uneven.size[some], length[some]
            )
    return chosen


def _chosen_without(
    stairs: Staircase, value_of: ValueOfCounts, left_out: Array, size: Array, length: Array
) -> Array:
    """Find the step chosen without each of some positives, whose labels have `length` steps."""
    label = stairs.grid.columns[left_out]
    first = np.append(0, np.cumsum(length))
    pair = np.repeat(np.arange(len(label)), length)
    step = np.arange(first[-1]) + (stairs.grid.offsets[label] - first[:-1])[pair]
    positives = np.maximum(stairs.positives[label] - size, 0.0)
    total = stairs.total[label] - size
    lost = np.where(step >= left_out[pair], size[pair], 0.0)
    tp = np.maximum(stairs.true_positives[step] - lost, 0.0)
    predicted = np.maximum(stairs.predicted[step] - lost, 0.0)
    value = without_nan(value_of(tp, predicted, positives[pair], total[pair]))
    none_value = without_nan(value_of(0, 0, positives, total), positives <= _NOTHING_LEFT)
    best = np.maximum.reduceat(value, first[:-1])
    # A step that lost its only positive has the counts of the step above, except for rounding.
    best = best - _ROUNDING * np.where(np.isfinite(best), np.abs(best), 0.0)
    found = np.flatnonzero(value >= best[pair])
    owner, highest = np.unique(pair[found], return_index=True)
    chosen = np.full(len(label), NO_STEP)
    chosen[owner] = step[found[highest]]
    return np.where(best > none_value, chosen, NO_STEP)


def _chosen(stairs: Staircase, value_of: ValueOfCounts, positive: int) -> Array:
    column = stairs.grid.columns
    tp, predicted = stairs.true_positives, stairs.predicted
    positives, total = stairs.positives - positive, stairs.total - 1
    step_positives, step_total = positives[column], total[column]
    fewer_tp, fewer = np.maximum(tp - positive, 0), np.maximum(predicted - 1, 0)
    chosen = np.empty(len(tp), np.int64)
    choose_without(
        stairs.grid.offsets,
        without_nan(value_of(tp, predicted, step_positives, step_total)),
        without_nan(value_of(fewer_tp, fewer, step_positives, step_total)),
        without_nan(value_of(0, 0, np.maximum(positives, 0), total), positives <= 0),
        NO_STEP,
        np.empty(len(tp)),
        chosen,
    )
    return chosen


def _value_of_hits(
    stairs: Staircase, metric: LinearFractional, law: tuple[float, float], chosen: Array
) -> Array:
    """Return the expected contribution of a hit at each chosen step.

    Most positives of a label share one chosen step, so each step is computed once.
    """
    needed = np.zeros(len(stairs.predicted), np.bool_)
    needed[chosen] = True
    step = np.flatnonzero(needed)
    value = np.zeros(len(needed))
    value[step] = _expected_of_hits(stairs, metric, law, stairs.grid.columns[step], step)
    return value[chosen]


def _expected_of_hits(
    stairs: Staircase,
    metric: LinearFractional,
    law: tuple[float, float],
    label: Array,
    step: Array,
    size: Array | float = 1.0,
    sizes: tuple[Array, Array] = (np.ones(1), np.ones(1)),
) -> Array:
    """Return what each hit is expected to add to its label's metric on new data.

    A hit counts for `size` rows; other positives and negatives have any of `sizes`, equally likely.
    """
    shape, rate = law
    (gain, *_), (per_hit, per_false, per_missed, _) = metric.parts
    positives, tp = stairs.positives[label], stairs.true_positives[step]
    false = stairs.predicted[step] - tp
    own = np.broadcast_to(np.maximum(size, _LEAST), len(label))
    heaviest, heavy = (part.max() for part in sizes)
    farthest = per_hit * own.max(initial=1.0)
    farthest += (per_hit + per_missed) * heaviest * (10.0 + 10.0 * positives.max(initial=0))
    farthest += per_false * heavy * 10.0 * false.max(initial=1)
    times, weights = exponential_sum(per_hit * own.min(initial=1.0), farthest)
    z_hit, z_missed, z_false = (
        np.exp(-np.outer(times * per_one, of)).mean(axis=1)
        for per_one, of in ((per_hit, sizes[0]), (per_missed, sizes[0]), (per_false, sizes[1]))
    )
    value = np.empty(len(label))
    for start in range(0, len(label), _CASES_AT_ONCE):
        part = slice(start, start + _CASES_AT_ONCE)
        chance = (tp[part] / (positives[part] + 1))[:, None]
        other = 1.0 - (chance * z_hit + (1.0 - chance) * z_missed)
        among = (shape + positives[part])[:, None] * np.log1p(other / (rate + 1.0))
        among += false[part][:, None] * np.log(2.0 - z_false)
        among += times * (per_hit * own[part])[:, None]
        value[part] = np.exp(-among) @ weights
    return gain * own * value


def _law_of_frequencies(positives: Array) -> tuple[float, float]:
    """Fit shape and rate of a gamma law whose Poisson counts explain these best."""
    from scipy.special import gammaln  # slow to import, and most calls of `tune` do not need it

    count, labels = np.unique(positives, return_counts=True)
    mean = max(float(positives.mean()), 1e-9)

    def likeliest(shapes: Array) -> int:
        shape, rate = shapes[:, None], shapes[:, None] / mean
        likely = gammaln(count + shape) - gammaln(shape) - count * np.log1p(rate)
        likely -= shape * np.log1p(1.0 / rate)
        return int(np.argmax(likely @ labels))

    first = max(_COARSE * (likeliest(_SHAPES[::_COARSE]) - 1), 0)
    near = _SHAPES[first : first + 2 * _COARSE + 1]  # there is one peak
    shape = float(near[likeliest(near)])
    return shape, shape / mean


def _as_they_are(stairs: Staircase, objective: Objective, left: _Left) -> LeftOut:
    """Estimate any metric with the counts of these data.

    A positive left out adds the value that its label's metric has at its threshold without hits. If
    it is hit, it also adds its share of all that the hits add.
    """
    label, chosen, rows = stairs.grid.columns[left.step], left.chosen, left.copies * left.size
    predicts = chosen != NO_STEP
    tp = np.where(predicts, stairs.true_positives[chosen], 0)
    predicted = np.where(predicts, stairs.predicted[chosen], 0)
    positives, total = stairs.positives[label], stairs.total[label]
    without = objective(0, predicted, positives, total)
    more = (objective(tp, predicted, positives, total) - without) / np.where(tp > 0, tp, 1)
    add = np.where(left.is_hit, more, 0.0)
    seen = np.bincount(label, rows, stairs.n_labels)
    judged = np.bincount(label, rows * without, stairs.n_labels) / np.where(seen > 0, seen, 1)
    judged += np.bincount(label, rows * add, stairs.n_labels)
    squares = np.bincount(label, rows * left.size * add**2, stairs.n_labels)
    nothing = objective(0, 0, stairs.positives, stairs.total)
    return LeftOut(np.where(seen > 0, judged, nothing), squares)
