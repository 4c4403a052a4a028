"""What tuned thresholds do to a positive that they have not seen, on the staircase alone.

Leave one positive out, tune on the rest, and look whether the threshold still catches it. That
needs no second pass: without a positive of step i, the steps above i keep their counts and the
others lose one hit and one prediction, so the best of either part, from running maxima, is the new
choice. All positives of all labels take as long as one reading of the staircase.

Left out at random, a positive of a label with a + 1 of them is a new positive of a label tuned with
a. So the sum over all labels is right for tuning on all of the data, though each label is judged by
a tuning with one positive less; a label with a single one gets nothing, and labels with two speak
for it.

A hit adds to F1 of its label ``2 / (positives + predicted)``, counts of the new data that it comes
with. These are drawn again, and are small where labels are rare: their expectation is taken. How
many other positives come follows the gamma law of label frequencies that explains best how many
the labels have here; the chance that such a one is hit, where `tp` of `a` were with this one, is
``tp / (a + 1)``; new false positives follow the old ones.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.jit import kernel
from halfmax._core.reciprocal import exponential_sum
from halfmax._core.types import Array
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import NOBODY, Staircase, Worth, without_nan

MANY = 20  # positives from which on the bootstrap errs less than leaving one out
FEW, PLENTY = 10.0, 40.0  # between these both are mixed: a sharp border would select the lucky
_SHAPES = np.geomspace(1e-3, 1e6, 400)  # of the gamma law, from very uneven labels to equal ones
_COARSE = 20  # of these shapes are looked at first
_CASES_AT_ONCE = 1 << 14
_PAIRS_AT_ONCE = 1 << 20
_LEAST = 1e-6  # rows; what is worth less adds nothing
_NOTHING_LEFT = 1e-9  # rows
_ROUNDING = 1e-9  # of what weighted counts are worth


@kernel
def _choose_without(
    offsets: Array, above: Array, below: Array, nobody: Array, best_above: Array, chosen: Array
) -> None:
    """The step chosen when an item of each step is left out.

    `above` is the worth of steps above the item, which does not count there, `below` of the others.
    """
    for j in range(offsets.size - 1):
        best, step = nobody[j], NOBODY
        for k in range(offsets[j], offsets[j + 1]):
            best_above[k], chosen[k] = best, step
            if above[k] > best:
                best, step = above[k], k
        best, step = -np.inf, NOBODY
        for k in range(offsets[j + 1] - 1, offsets[j] - 1, -1):
            if below[k] >= best:
                best, step = below[k], k
            if best > best_above[k]:
                chosen[k] = step


class Uneven(NamedTuple):
    """Rows that are not all worth the same, as they are left out and as new ones come.

    Each positive has the step on which it stands and the number of rows that it is worth. `stairs`
    count every row once; `sizes` of positives and of negatives say what new ones may be worth.
    """

    step: Array
    size: Array
    stairs: Staircase
    sizes: tuple[Array, Array]

    def of_labels(self, asked: Array) -> "Uneven":
        """With the positives of some labels."""
        kept = asked[self.stairs.grid.columns[self.step]]
        return self._replace(step=self.step[kept], size=self.size[kept])


class LeftOut(NamedTuple):
    """Of each label: the expected score, and the sum of squares of what single positives add."""

    expected: Array
    squares: Array


def of_each_label(
    stairs: Staircase,
    objective: Objective,
    fewer_than: float = np.inf,
    every: Array | None = None,
    uneven: Uneven | None = None,
) -> LeftOut:
    """The expected score of each label on new data of this size, tuned for itself.

    With `fewer_than`, of labels with fewer positives only, which saves time; of others NaN. `every`
    holds the positives of all labels, where the staircases are of some of them; `uneven` what rows
    are worth, if that is not one each.
    """
    asked = stairs.positives < fewer_than
    if uneven is None:
        chosen = chosen_without_positive(stairs, objective)
        copies = stairs.rises(stairs.true_positives)
        left = _Left(np.arange(len(chosen)), chosen, copies, np.ones(len(chosen)))
    else:
        uneven = uneven.of_labels(asked)
        chosen = chosen_without_each(stairs, objective, uneven)
        left = _Left(uneven.step, chosen, np.ones(len(chosen)), uneven.size)
    if objective.metric.is_share_of_hits:
        hit = np.flatnonzero(left.is_hit & asked[stairs.grid.columns[left.step]])
        found = _by_hits(stairs, objective, left.where(hit), every, uneven)
    else:
        found = _as_they_are(stairs, objective, left)
    return LeftOut(*(np.where(asked, part, np.nan) for part in found))


class _Left(NamedTuple):
    """Positives left out: their steps, what is chosen without one, how many, and their sizes."""

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
    """Each hit adds what it is expected to be worth."""
    metric, label = objective.metric, stairs.grid.columns[hit.step]
    assert isinstance(metric, LinearFractional)
    if uneven is None:
        law = _law_of_frequencies(stairs.positives if every is None else every)
        worth = _worth_of_hits(stairs, metric, law, hit.chosen)
    else:
        law = _law_of_frequencies(uneven.stairs.positives)
        more = hit.size, uneven.sizes
        worth = _expected_of_hits(uneven.stairs, metric, law, label, hit.chosen, *more)
    add = np.bincount(label, hit.copies * worth, stairs.n_labels)
    squares = np.bincount(label, hit.copies * worth**2, stairs.n_labels)
    nothing = objective(0, 0, stairs.positives, stairs.total)
    return LeftOut(np.where(stairs.positives > 0, add, nothing), squares)


def part_of_bootstrap(positives: Array) -> Array:
    """How much of a label's estimate should be the bootstrap's: none if few, all if plenty."""
    return np.clip((np.asarray(positives) - FEW) / (PLENTY - FEW), 0.0, 1.0)


def mixed(positives: Array, judged: Array, left_out: Array, one_classifier: bool) -> Array:
    """What the bootstrap expects of labels with plenty of positives, leaving one out of the others.

    A positive left out of a label with a + 1 speaks for a label with a: it takes that one's share.
    """
    part = part_of_bootstrap(positives)
    one_less = part if one_classifier else part_of_bootstrap(positives - 1)
    expected: Array = np.where(part > 0.0, part * judged, 0.0)
    return expected + np.where(one_less < 1.0, (1.0 - one_less) * left_out, 0.0)


def with_empty_labels(
    objective: Objective, positives: Array, predicted: Array, expected: Array
) -> Array:
    """Labels without positives in new data: 0/0 if nobody is predicted there, else 0.

    Which labels that will be is as uncertain as which they are here. If 0/0 is left out of the
    mean, each label's score counts for as many labels as are expected to stay in.
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
    """How likely each label has no positive in new data of this size."""
    shape, rate = _law_of_frequencies(positives)
    none: Array = ((rate + 1.0) / (rate + 2.0)) ** (shape + positives)
    return none


def chosen_without_positive(stairs: Staircase, worth_of: Worth) -> Array:
    """For each step, what is chosen when one of its positives is left out."""
    return _chosen(stairs, worth_of, 1)


def chosen_without_negative(stairs: Staircase, worth_of: Worth) -> Array:
    """The same for a negative at or above the step and below the step before."""
    return _chosen(stairs, worth_of, 0)


def chosen_without_each(stairs: Staircase, worth_of: Worth, uneven: Uneven) -> Array:
    """For each positive, what is chosen without it: all steps of its label are tried."""
    chosen = np.full(len(uneven.step), NOBODY)
    length = np.diff(stairs.grid.offsets)[stairs.grid.columns[uneven.step]]
    group = np.cumsum(length) // _PAIRS_AT_ONCE
    for some in np.split(np.arange(len(chosen)), np.flatnonzero(np.diff(group)) + 1):
        if len(some):
            part = uneven.step[some], uneven.size[some], length[some]
            chosen[some] = _chosen_without(stairs, worth_of, *part)
    return chosen


def _chosen_without(
    stairs: Staircase, worth_of: Worth, left_out: Array, size: Array, length: Array
) -> Array:
    """The same for some of them, whose labels have so many steps."""
    label = stairs.grid.columns[left_out]
    first = np.append(0, np.cumsum(length))
    pair = np.repeat(np.arange(len(label)), length)
    step = np.arange(first[-1]) + (stairs.grid.offsets[label] - first[:-1])[pair]
    counts = np.maximum(stairs.positives[label] - size, 0.0), stairs.total[label] - size
    lost = np.where(step >= left_out[pair], size[pair], 0.0)
    at_step = (np.maximum(part[step] - lost, 0.0) for part in _steps(stairs))
    worth = without_nan(worth_of(*at_step, *(part[pair] for part in counts)))
    nobody = without_nan(worth_of(0, 0, *counts), counts[0] <= _NOTHING_LEFT)
    best = np.maximum.reduceat(worth, first[:-1])
    # A step that lost its only positive counts what the step above does, but for rounding.
    best = best - _ROUNDING * np.where(np.isfinite(best), np.abs(best), 0.0)
    found = np.flatnonzero(worth >= best[pair])
    owner, highest = np.unique(pair[found], return_index=True)
    chosen = np.full(len(label), NOBODY)
    chosen[owner] = step[found[highest]]
    return np.where(best > nobody, chosen, NOBODY)


def _steps(stairs: Staircase) -> tuple[Array, Array]:
    return stairs.true_positives, stairs.predicted


def _chosen(stairs: Staircase, worth_of: Worth, positive: int) -> Array:
    column = stairs.grid.columns
    tp, predicted = stairs.true_positives, stairs.predicted
    positives, total = stairs.positives - positive, stairs.total - 1
    counts = positives[column], total[column]
    chosen = np.empty(len(tp), np.int64)
    _choose_without(
        stairs.grid.offsets,
        without_nan(worth_of(tp, predicted, *counts)),
        without_nan(worth_of(np.maximum(tp - positive, 0), np.maximum(predicted - 1, 0), *counts)),
        without_nan(worth_of(0, 0, np.maximum(positives, 0), total), positives <= 0),
        np.empty(len(tp)),
        chosen,
    )
    return chosen


def _worth_of_hits(
    stairs: Staircase, metric: LinearFractional, law: tuple[float, float], chosen: Array
) -> Array:
    """What hits of these steps are expected to add; most positives of a label share one step."""
    asked = np.zeros(len(stairs.predicted), np.bool_)
    asked[chosen] = True
    step = np.flatnonzero(asked)
    worth = np.zeros(len(asked))
    worth[step] = _expected_of_hits(stairs, metric, law, stairs.grid.columns[step], step)
    return worth[chosen]


def _expected_of_hits(
    stairs: Staircase,
    metric: LinearFractional,
    law: tuple[float, float],
    label: Array,
    step: Array,
    size: Array | float = 1.0,
    sizes: tuple[Array, Array] = (np.ones(1), np.ones(1)),
) -> Array:
    """What each hit is expected to add to its label's metric on new data.

    A hit is worth `size` rows; the other positives and negatives are each worth any of `sizes`.
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
    worth = np.empty(len(label))
    for start in range(0, len(label), _CASES_AT_ONCE):
        part = slice(start, start + _CASES_AT_ONCE)
        chance = (tp[part] / (positives[part] + 1))[:, None]
        other = 1.0 - (chance * z_hit + (1.0 - chance) * z_missed)
        among = (shape + positives[part])[:, None] * np.log1p(other / (rate + 1.0))
        among += false[part][:, None] * np.log(2.0 - z_false)
        among += times * (per_hit * own[part])[:, None]
        worth[part] = np.exp(-among) @ weights
    return gain * own * worth


def _law_of_frequencies(positives: Array) -> tuple[float, float]:
    """Shape and rate of the gamma law whose Poisson counts look most like these."""
    from scipy.special import gammaln  # takes long to import, and most tunings need none of this

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
    """The same for any metric, with the counts as they are here.

    A left-out positive adds what its label's metric would be without hits at its threshold, and,
    if it is hit, all that the hits add.
    """
    label, chosen, rows = stairs.grid.columns[left.step], left.chosen, left.copies * left.size
    somebody = chosen != NOBODY
    tp = np.where(somebody, stairs.true_positives[chosen], 0)
    predicted = np.where(somebody, stairs.predicted[chosen], 0)
    counts = stairs.positives[label], stairs.total[label]
    without = objective(0, predicted, *counts)
    more = (objective(tp, predicted, *counts) - without) / np.where(tp > 0, tp, 1)
    add = np.where(left.is_hit, more, 0.0)
    seen = np.bincount(label, rows, stairs.n_labels)
    judged = np.bincount(label, rows * without, stairs.n_labels) / np.where(seen > 0, seen, 1)
    judged += np.bincount(label, rows * add, stairs.n_labels)
    squares = np.bincount(label, rows * left.size * add**2, stairs.n_labels)
    nothing = objective(0, 0, stairs.positives, stairs.total)
    return LeftOut(np.where(seen > 0, judged, nothing), squares)
