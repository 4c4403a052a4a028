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

from typing import Any, NamedTuple, TypeGuard

import numpy as np
import numpy.typing as npt

from halfmax._jit import kernel
from halfmax.metrics import LinearFractional, Metric, Objective
from halfmax.micro import NOBODY, Worth
from halfmax.reciprocal import exponential_sum
from halfmax.resampling import without_nan
from halfmax.staircase import Staircase

Array = npt.NDArray[Any]

MANY = 20  # positives from which on the bootstrap errs less than leaving one out
FEW, PLENTY = 10.0, 40.0  # between these both are mixed: a sharp border would select the lucky
_SHAPES = np.geomspace(1e-3, 1e6, 400)  # of the gamma law, from very uneven labels to equal ones
_CASES_AT_ONCE = 1 << 14


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


class LeftOut(NamedTuple):
    """Of each label: the expected score, and the sum of squares of what single positives add."""

    expected: Array
    squares: Array


def of_each_label(stairs: Staircase, objective: Objective, fewer_than: float = np.inf) -> LeftOut:
    """The expected score of each label on new data of this size, tuned for itself.

    With `fewer_than`, of labels with fewer positives only, which saves time; of others NaN.
    """
    column, metric = stairs.grid.columns, objective.metric
    chosen = chosen_without_positive(stairs, objective)
    copies = stairs.rises(stairs.true_positives)
    asked = stairs.positives < fewer_than
    if is_share_of_hits(metric):
        hit = np.flatnonzero((chosen >= np.arange(len(chosen))) & asked[column])
        worth = _expected_of_hits(stairs, metric, column[hit], chosen[hit])
        add = np.bincount(column[hit], copies[hit] * worth, stairs.n_labels)
        squares = np.bincount(column[hit], copies[hit] * worth**2, stairs.n_labels)
        nothing = objective(0, 0, stairs.positives, stairs.total)
        expected = np.where(stairs.positives > 0, add, nothing)
    else:
        expected, squares = _as_they_are(stairs, objective, chosen, copies)
    return LeftOut(*(np.where(asked, part, np.nan) for part in (expected, squares)))


def part_of_bootstrap(positives: Array) -> Array:
    """How much of a label's estimate should be the bootstrap's: none if few, all if plenty."""
    return np.clip((np.asarray(positives) - FEW) / (PLENTY - FEW), 0.0, 1.0)


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


def _chosen(stairs: Staircase, worth_of: Worth, positive: int) -> Array:
    column = stairs.grid.columns
    tp, predicted = stairs.true_positives, stairs.predicted
    positives, total = stairs.positives - positive, stairs.total - 1
    counts = positives[column], total[column]
    chosen = np.empty(len(tp), np.int64)
    _choose_without(
        stairs.grid.offsets,
        without_nan(worth_of(tp, predicted, *counts)),
        without_nan(worth_of(tp - positive, predicted - 1, *counts)),
        without_nan(worth_of(0, 0, np.maximum(positives, 0), total), positives <= 0),
        np.empty(len(tp)),
        chosen,
    )
    return chosen


def is_share_of_hits(metric: Metric) -> TypeGuard[LinearFractional]:
    """Whether each hit adds the same to the metric and nothing else does: F-beta, Jaccard."""
    if not isinstance(metric, LinearFractional):
        return False
    (_, *others), (per_hit, _, _, per_rest) = metric.parts
    return not any(others) and per_hit > 0 and per_rest == 0


def _expected_of_hits(
    stairs: Staircase, metric: LinearFractional, label: Array, step: Array
) -> Array:
    """What each hit is expected to add to its label's metric on new data."""
    shape, rate = _law_of_frequencies(stairs.positives)
    (gain, *_), (per_hit, per_false, per_missed, _) = metric.parts
    positives = stairs.positives[label]
    tp = stairs.true_positives[step]
    false = stairs.predicted[step] - tp
    farthest = per_hit + (per_hit + per_missed) * (10.0 + 10.0 * positives.max(initial=0))
    times, weights = exponential_sum(per_hit, farthest + per_false * 10.0 * false.max(initial=1))
    z_hit, z_false, z_missed = (np.exp(-times * d) for d in (per_hit, per_false, per_missed))
    worth = np.empty(len(label))
    for start in range(0, len(label), _CASES_AT_ONCE):
        part = slice(start, start + _CASES_AT_ONCE)
        chance = (tp[part] / (positives[part] + 1))[:, None]
        other = 1.0 - (chance * z_hit + (1.0 - chance) * z_missed)
        among = (shape + positives[part])[:, None] * np.log1p(other / (rate + 1.0))
        among += false[part][:, None] * np.log(2.0 - z_false)
        worth[part] = np.exp(-among) @ (weights * z_hit)
    return gain * worth


def _law_of_frequencies(positives: Array) -> tuple[float, float]:
    """Shape and rate of the gamma law whose Poisson counts look most like these."""
    from scipy.special import gammaln  # takes long to import, and most tunings need none of this

    count, labels = np.unique(positives, return_counts=True)
    mean = max(float(positives.mean()), 1e-9)
    shape, rate = _SHAPES[:, None], _SHAPES[:, None] / mean
    likely = gammaln(count + shape) - gammaln(shape) - count * np.log1p(rate)
    likely -= shape * np.log1p(1.0 / rate)
    best = np.argmax(likely @ labels)
    return float(_SHAPES[best]), float(_SHAPES[best]) / mean


def _as_they_are(stairs: Staircase, objective: Objective, chosen: Array, copies: Array) -> LeftOut:
    """The same for any metric, with the counts as they are here.

    A left-out positive adds what its label's metric would be without hits at its threshold, and,
    if it is hit, all that the hits add.
    """
    column = stairs.grid.columns
    somebody = chosen != NOBODY
    tp = np.where(somebody, stairs.true_positives[chosen], 0)
    predicted = np.where(somebody, stairs.predicted[chosen], 0)
    counts = stairs.positives[column], stairs.total[column]
    without = objective(0, predicted, *counts)
    hit = chosen >= np.arange(len(chosen))
    add = np.where(hit, (objective(tp, predicted, *counts) - without) / np.maximum(tp, 1), 0.0)
    seen = np.bincount(column, copies, stairs.n_labels)
    judged = np.bincount(column, copies * without, stairs.n_labels) / np.maximum(seen, 1)
    judged += np.bincount(column, copies * add, stairs.n_labels)
    squares = np.bincount(column, copies * add**2, stairs.n_labels)
    nothing = objective(0, 0, stairs.positives, stairs.total)
    return LeftOut(np.where(seen > 0, judged, nothing), squares)
