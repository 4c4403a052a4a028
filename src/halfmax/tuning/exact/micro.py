"""Micro averages with one threshold for each label: the exact global optimum of pooled counts.

Pooled over labels, a linear-fractional metric is a ratio N / D of sums over labels. Dinkelbach's
method turns its maximum into a sum that each label maximises independently: at the current ratio r,
label j takes the step with the largest ``N_j - r D_j``, then r becomes the ratio of the new choice.
A handful of rounds reach the global optimum. For F1 this means that every label keeps predicting as
long as its next step has a precision above half of the pooled F1: one cut for all labels.
"""

import numpy as np

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.types import Array
from halfmax.metrics.counts import confusion
from halfmax.metrics.half_max import Coefficients
from halfmax.metrics.metric import LinearFractional, Metric
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import NO_STEP, Staircase, ValueOfCounts
from halfmax.tuning.exact.kernels import best_linear, concave_steps
from halfmax.tuning.exact.ties import MEAN_ROUNDING, SUM_ROUNDING

PooledCounts = tuple[float, float, float, float]  # tp, predicted, positives, total


def require_ratio(metric: Metric, positives: float, total: float) -> LinearFractional:
    """Return the metric as a ratio of weighted sums of pooled counts, or refuse it.

    Only such a ratio can be maximised exactly with a threshold for each label.
    """
    ratio = metric.ratio_at(positives, total - positives)
    if ratio is not None:
        return ratio
    raise ArgumentError(
        f"{setting('average', 'micro')} with one threshold per label needs a metric that is a "
        "ratio of weighted sums of the counts, such as f-beta, jaccard, accuracy, kappa, youden, "
        f"balanced_accuracy or a cost; got {metric!r}. One threshold for all labels, "
        f"{in_python('tune(..., per_label=False)')}, works with any monotone metric"
    )


def best_steps(stairs: Staircase, objective: Objective) -> Array:
    """Choose the step of each label, or `NO_STEP`, that together maximise the pooled objective."""
    positives, total = stairs.positives.sum(keepdims=True), stairs.total.sum(keepdims=True)
    metric = require_ratio(objective.metric, positives.item(), total.item())
    objective.require_monotone(positives, total)
    if objective.restrictions:
        return _best_found(stairs, objective)
    metric, most, least = _orient(stairs, metric)
    if not any(weight for part in metric.parts for weight in part[2:]):
        return _best_alone(stairs, objective)
    best = np.full(stairs.n_labels, NO_STEP)
    for step in (_dinkelbach(stairs, metric, most), least):
        if pooled_value(stairs, objective, step) > pooled_value(stairs, objective, best):
            best = step
    return best


def pooled_counts(stairs: Staircase, step: Array) -> PooledCounts:
    """Sum tp, predicted, positives and total over all labels at the chosen steps."""
    taken = step[step != NO_STEP]
    return (
        stairs.true_positives[taken].sum().item(),
        stairs.predicted[taken].sum().item(),
        stairs.positives.sum().item(),
        stairs.total.sum().item(),
    )


def pooled_value(stairs: Staircase, value_of: ValueOfCounts, step: Array) -> float:
    """Return the value of the pooled counts at these steps; -inf for NaN (0/0 left out)."""
    value = value_of(*pooled_counts(stairs, step)).item()
    return -np.inf if np.isnan(value) else value


def _orient(stairs: Staircase, metric: LinearFractional) -> tuple[LinearFractional, Array, Array]:
    """Orient the ratio so that its denominator is not negative.

    Also find the choices with the largest and the smallest denominator. A monotone ratio has no
    pole, so its denominator has one sign. If its smallest value is 0, the choice there is 0/0,
    which Dinkelbach's method cannot compare with others.
    """
    per_hit, per_prediction = slopes(metric.denominator)
    most = _largest_sums(stairs, per_hit, per_prediction)
    least = _largest_sums(stairs, -per_hit, -per_prediction)
    high = pooled_parts(pooled_counts(stairs, most), metric)[1]
    return (metric, most, least) if high > 0 else (metric.negated(), least, most)


def _dinkelbach(stairs: Staircase, metric: LinearFractional, step: Array) -> Array:
    """Find the choice with the largest ratio among those that are not 0/0, starting at `step`."""
    numerator, denominator = pooled_parts(pooled_counts(stairs, step), metric)
    while denominator > 0:
        # Cross-multiplied, without a division, so that whole counts give exact ties.
        gains = [
            denominator * above - numerator * below
            for above, below in zip(*map(slopes, metric.parts), strict=True)
        ]
        following = _largest_sums(stairs, *gains)
        reached = numerator / denominator
        numerator, denominator = pooled_parts(pooled_counts(stairs, following), metric)
        if denominator <= 0 or numerator / denominator < reached - SUM_ROUNDING * abs(reached):
            break
        step = following
        if numerator / denominator <= reached:
            break
    return step


def _largest_sums(stairs: Staircase, per_hit: float, per_prediction: float) -> Array:
    step = np.empty(stairs.n_labels, np.int64)
    best_linear(
        stairs.grid.offsets,
        stairs.true_positives,
        stairs.predicted,
        float(per_hit),
        float(per_prediction),
        SUM_ROUNDING,
        NO_STEP,
        step,
    )
    return step


def _best_found(stairs: Staircase, objective: Objective) -> Array:
    """Find a good choice that satisfies pooled floors; the best one is a knapsack problem.

    Two paths lead from predicting no rows to predicting every positive. On the first, labels take
    the steps of their concave hulls in order of precision, steepest first; without floors the best
    stop on it is the optimum that Dinkelbach's method finds. On the second they take all their
    steps in order of score: the shared thresholds. From the better stop of the two, single labels
    move as long as that helps. So the answer is never below the best shared threshold that
    satisfies the floors, and no change of one label's threshold improves it. If no stop satisfies
    the floors, a first search comes as close to them as it can, and the second goes on from there;
    with a single floor, failure then proves that no choice satisfies it.
    """
    offsets, tp, predicted = stairs.grid.offsets, stairs.true_positives, stairs.predicted
    corners = np.empty(len(tp), np.int64)
    corners = corners[: concave_steps(offsets, tp, predicted, corners)]
    _, more_tp, more = _rises(stairs, corners)
    corners, slope = corners[more > 0], more_tp[more > 0] / more[more > 0]
    steepest = corners[np.argsort(-slope, kind="stable")]
    every = np.flatnonzero(_rises(stairs, np.arange(len(tp)))[2] > 0)
    highest = every[np.argsort(-stairs.grid.scores[every], kind="stable")]
    paths = [
        (steepest, np.ones(len(steepest), bool)),
        (highest, _last_of_equals(stairs.grid.scores[highest])),
    ]
    step = _climb(stairs, objective, paths)
    if np.isneginf(pooled_value(stairs, objective, step)):  # no stop satisfies the floors
        step = _climb(stairs, objective.shortfall, paths)
        while _move_one(stairs, objective, step):
            pass
    satisfied = pooled_value(stairs, objective, step) > -np.inf
    return step if satisfied else np.full(stairs.n_labels, NO_STEP)


def _climb(stairs: Staircase, value_of: ValueOfCounts, paths: list[tuple[Array, Array]]) -> Array:
    """Start at the best stop of the paths and move single labels as long as that helps."""
    stops = [_best_stop(stairs, value_of, path, is_stop) for path, is_stop in paths]
    step = max(stops, key=lambda step: pooled_value(stairs, value_of, step))
    while _move_one(stairs, value_of, step):
        pass
    return step


def _best_alone(stairs: Staircase, objective: Objective) -> Array:
    """Choose the best single step, for a metric of the predicted rows alone, such as precision.

    Pooled it is a mean over predictions, so no choice beats the best step of a single label.
    """
    positives, total = stairs.positives.sum(), stairs.total.sum()
    value = objective(stairs.true_positives, stairs.predicted, positives, total)
    value[np.isnan(value)] = -np.inf
    step = np.full(stairs.n_labels, NO_STEP)
    none_value = pooled_value(stairs, objective, step)
    if len(value) and value.max() > none_value:
        equals = np.flatnonzero(value == value.max())
        fewest = equals[np.argmin(stairs.predicted[equals])]
        step[stairs.grid.columns[fewest]] = fewest
    return step


def _best_stop(stairs: Staircase, value_of: ValueOfCounts, path: Array, is_stop: Array) -> Array:
    """Return the step of each label at the best stop of a path of steps."""
    order = np.argsort(path)  # label by label, to see what each step adds
    back = np.argsort(order)
    label, more_tp, more = (part[back] for part in _rises(stairs, path[order]))
    value = value_of(
        np.append(0, np.cumsum(more_tp)),
        np.append(0, np.cumsum(more)),
        stairs.positives.sum(),
        stairs.total.sum(),
    )
    value[1:][~is_stop] = -np.inf
    value[np.isnan(value)] = -np.inf
    taken = slice(int(np.argmax(value)))
    step = np.full(stairs.n_labels, NO_STEP)
    np.maximum.at(step, label[taken], path[taken])
    return step


def _move_one(stairs: Staircase, value_of: ValueOfCounts, step: Array) -> bool:
    """Move the label whose change of threshold helps most; return False if none helps."""
    tp, predicted, positives, total = pooled_counts(stairs, step)
    label = stairs.grid.columns
    predicts = step != NO_STEP
    own_tp, own = np.zeros_like(stairs.positives), np.zeros_like(stairs.positives)
    own_tp[predicts] = stairs.true_positives[step[predicts]]
    own[predicts] = stairs.predicted[step[predicts]]
    # Replace a label's own step by each of its steps, then by predicting nothing.
    there_tp = np.append(stairs.true_positives - own_tp[label], -own_tp) + tp
    there = np.append(stairs.predicted - own[label], -own) + predicted
    value = value_of(there_tp, there, positives, total)
    best = int(np.nanargmax(value))
    if not value[best] > pooled_value(stairs, value_of, step) + MEAN_ROUNDING:
        return False
    if best < len(label):
        step[label[best]] = best
    else:
        step[best - len(label)] = NO_STEP
    return True


def _rises(stairs: Staircase, steps: Array) -> tuple[Array, Array, Array]:
    """Return the label of each of these steps, and the tp and predictions that it adds."""
    label = np.searchsorted(stairs.grid.offsets, steps, side="right") - 1
    opens = np.append(True, np.diff(label) != 0)[: len(steps)]
    tp, predicted = stairs.true_positives[steps], stairs.predicted[steps]
    return (
        label,
        tp - np.where(opens, 0, np.roll(tp, 1)),
        predicted - np.where(opens, 0, np.roll(predicted, 1)),
    )


def _last_of_equals(scores: Array) -> Array:
    return np.append(scores[1:] != scores[:-1], True)[: len(scores)]


def slopes(weights: Coefficients) -> tuple[float, float]:
    """Return what a weighted sum of tp, fp, fn, tn gains per hit and per prediction."""
    tp, fp, fn, tn = weights
    return tp - fp - fn + tn, fp - tn


def pooled_parts(counts: PooledCounts, metric: LinearFractional) -> tuple[float, float]:
    """Return the numerator and the denominator of a ratio at these counts."""
    numerator, denominator = metric.sums(*confusion(*counts))
    return float(numerator), float(denominator)
