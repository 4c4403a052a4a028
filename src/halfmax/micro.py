"""Micro averages with one threshold for each label: pooled counts, exact global optimum.

Pooled over labels, a linear-fractional metric is a ratio N / D of sums over labels. Dinkelbach's
method turns its maximum into a sum that each label maximises alone: at the ratio r reached so far,
label j takes the step with the largest ``N_j - r D_j``, then r becomes the ratio of the new choice.
A handful of rounds end at the global optimum. For F1 this says that every label goes on predicting
as long as its next step has a precision above half of the pooled F1: one cut for all labels.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._jit import kernel
from halfmax.metrics import Coefficients, LinearFractional, Objective
from halfmax.staircase import Staircase

Array = npt.NDArray[Any]
NOBODY = -1


@kernel
def _best_linear(
    offsets: Array, tp: Array, predicted: Array, per_hit: float, per_prediction: float, step: Array
) -> None:
    """For each label the step with the largest weighted sum; nobody is worth 0 and wins a tie."""
    for j in range(offsets.size - 1):
        best = 0.0
        step[j] = NOBODY
        for k in range(offsets[j], offsets[j + 1]):
            value = per_hit * tp[k] + per_prediction * predicted[k]
            if value > best:
                best = value
                step[j] = k


@kernel
def _concave_steps(offsets: Array, tp: Array, predicted: Array, kept: Array) -> int:
    """The corners of each label's concave hull in (predicted, tp), the origin left out."""
    written = 0
    for j in range(offsets.size - 1):
        start = written
        for k in range(offsets[j], offsets[j + 1]):
            while written > start:
                last = kept[written - 1]
                before_tp = tp[kept[written - 2]] if written - 1 > start else 0.0
                before = predicted[kept[written - 2]] if written - 1 > start else 0.0
                # The last corner stays if the way to it is steeper than the way on from it.
                if (tp[last] - before_tp) * (predicted[k] - predicted[last]) > (
                    tp[k] - tp[last]
                ) * (predicted[last] - before):
                    break
                written -= 1
            kept[written] = k
            written += 1
    return written


def best_steps(stairs: Staircase, objective: Objective) -> Array:
    """The step of each label, or `NOBODY`, that together maximise the pooled objective."""
    metric = objective.metric
    if not isinstance(metric, LinearFractional):
        raise ValueError(
            "average='micro' with one threshold per label needs a metric that is a ratio of "
            f"weighted sums of the counts (f-beta, jaccard, accuracy, LinearFractional); got "
            f"{metric!r}. Use per_label=False, which serves any monotone metric"
        )
    objective.require_monotone(stairs.positives.sum(keepdims=True), stairs.total.sum(keepdims=True))
    if objective.floors:
        return _best_on_frontier(stairs, objective)
    chosen = _dinkelbach(stairs, metric)
    nobody = np.full(stairs.n_labels, NOBODY)
    return (
        chosen
        if pooled_worth(stairs, objective, chosen) > pooled_worth(stairs, objective, nobody)
        else nobody
    )


def pooled_counts(stairs: Staircase, step: Array) -> tuple[float, float, float, float]:
    """tp, predicted, positives and total over all labels at the chosen steps."""
    taken = step[step != NOBODY]
    return (
        stairs.true_positives[taken].sum().item(),
        stairs.predicted[taken].sum().item(),
        stairs.positives.sum().item(),
        stairs.total.sum().item(),
    )


def pooled_worth(stairs: Staircase, objective: Objective, step: Array) -> float:
    """What these steps are worth together; 0/0 that counts for nothing is below everything."""
    worth = objective(*pooled_counts(stairs, step)).item()
    return -np.inf if np.isnan(worth) else worth


def _dinkelbach(stairs: Staircase, metric: LinearFractional) -> Array:
    (hit_n, predicted_n), (hit_d, predicted_d) = map(_slopes, metric.parts)
    offsets = stairs.grid.offsets
    step = np.where(np.diff(offsets) > 0, offsets[1:] - 1, NOBODY)
    numerator, denominator = _pooled_parts(stairs, metric, step)
    while denominator > 0:
        # Cross-multiplied, so that whole counts give exact ties: no division happens in between.
        following = np.empty_like(step)
        _best_linear(
            offsets,
            stairs.true_positives,
            stairs.predicted,
            denominator * hit_n - numerator * hit_d,
            denominator * predicted_n - numerator * predicted_d,
            following,
        )
        new_numerator, new_denominator = _pooled_parts(stairs, metric, following)
        if new_denominator <= 0 or new_numerator / new_denominator < numerator / denominator:
            break
        settled = new_numerator / new_denominator == numerator / denominator
        step, numerator, denominator = following, new_numerator, new_denominator
        if settled:
            break
    return step


def _best_on_frontier(stairs: Staircase, objective: Objective) -> Array:
    """The best choice that keeps pooled floors.

    Labels take the steps of their concave hulls in order of precision, steepest first; pooled
    precision falls and recall rises on the way, and the best stop that keeps the floors is taken.
    Without floors that is the optimum which Dinkelbach's method finds. With them the true optimum
    may lie off this path by part of one label's step: finding it is a knapsack problem.
    """
    offsets, tp, predicted = stairs.grid.offsets, stairs.true_positives, stairs.predicted
    kept = np.empty(len(tp), np.int64)
    kept = kept[: _concave_steps(offsets, tp, predicted, kept)]
    label = np.searchsorted(offsets, kept, side="right") - 1
    opens = np.append(True, np.diff(label) != 0)[: len(kept)]
    more_tp, more = (_rise(values[kept], opens) for values in (tp, predicted))
    order = np.argsort(-more_tp / more, kind="stable")
    tp_there = np.append(0, np.cumsum(more_tp[order]))
    predicted_there = np.append(0, np.cumsum(more[order]))
    worth = objective(tp_there, predicted_there, stairs.positives.sum(), stairs.total.sum())
    taken = order[: int(np.nanargmax(worth))]
    step = np.full(stairs.n_labels, NOBODY)
    np.maximum.at(step, label[taken], kept[taken])
    return step


def _rise(values: Array, opens: Array) -> Array:
    """What each step adds to the one before it of the same label."""
    return values - np.where(opens, 0, np.roll(values, 1))


def _slopes(weights: Coefficients) -> tuple[float, float]:
    """What a weighted sum of tp, fp, fn, tn gains for each hit and for each prediction."""
    tp, fp, fn, tn = weights
    return tp - fp - fn + tn, fp - tn


def _pooled_parts(stairs: Staircase, metric: LinearFractional, step: Array) -> tuple[float, float]:
    tp, predicted, positives, total = pooled_counts(stairs, step)
    counts = (tp, predicted - tp, positives - tp, total - predicted - positives + tp)
    numerator, denominator = (
        sum(w * c for w, c in zip(part, counts, strict=True)) for part in metric.parts
    )
    return numerator, denominator
