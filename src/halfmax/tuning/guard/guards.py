"""Guards: rules that give up some score on the data at hand for a better score on new data.

``"calibrated"`` trusts the pooled probabilities of `calibration` alone, ``"smooth"`` a label's own
counts alone, and ``"auto"`` weighs the two by how well the first explain the second (`blend`). All
three then follow the half-max theorem: a label predicts down to the band where its probability
falls below half of the best F1 that is expected of it, or the matching cut of another metric
(`cuts`). ``"auto"`` also limits how many rows a label may predict (`caps`) and how far the cuts of
labels may differ (`cross_fitting`). ``"fbr"`` and ``"never"`` change the exact optimum of single
labels instead.
"""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.types import Array, Floats
from halfmax.metrics.goal import Goal, Guard
from halfmax.metrics.objective import Objective
from halfmax.staircase.significance import staircase_in_rows, uninformative
from halfmax.staircase.stable_order import keys_of_counts
from halfmax.tuning.exact.choose import Choice, choose, count_at
from halfmax.tuning.guard.bands import (
    Bands,
    common_edges,
    count_bands,
    on_their_own_scale,
    own_edges,
)
from halfmax.tuning.guard.blend import strength_for
from halfmax.tuning.guard.calibration import calibrate, learn_prior
from halfmax.tuning.guard.caps import doubtful_labels
from halfmax.tuning.guard.cross_fitting import share_by_cross_fitting
from halfmax.tuning.guard.cuts import plan_cuts, reach
from halfmax.tuning.guard.one_cut import reach_one_cut


def choose_guarded(data: LabelledScores, goal: Goal) -> Choice:
    """Choose the thresholds of any guard, and count at them."""
    objective, guard = goal.objective, goal.guard
    assert guard is not None
    if guard.name not in ("fbr", "never"):
        objective.require_monotone(np.array([data.n_rows // 2]), np.array([data.n_rows]))
        average = "macro" if goal.over_labels else goal.average
        return count_at(data, guarded_thresholds(data, average, objective, guard))
    naive = choose(data, goal)
    if guard.name == "fbr":
        low = objective(*naive.counts) < guard.floor
        return count_at(data, np.where(low, _highest_scores(data), naive.thresholds))
    stairs = naive.stairs
    if stairs is None or data.weights is not None:
        stairs = staircase_in_rows(data)
    flagged = naive.counts.floods() | uninformative(stairs)
    return count_at(data, np.where(flagged, np.inf, naive.thresholds))


def guarded_thresholds(
    data: LabelledScores, average: str, objective: Objective, guard: Guard
) -> Floats:
    """Return the thresholds of a calibrating guard: auto, calibrated or smooth."""
    if data.weights is not None:  # rows of weight 0 must not influence the edges
        data = data.of_rows(np.flatnonzero(data.weights))
    bands = count_bands(data, common_edges(data))
    if average != "macro" and not data.is_binary:
        return _cut_at_one_place(data, bands, average, objective, guard)
    alone = on_their_own_scale(data, bands)
    if data.is_binary or not len(alone):
        return _pooled_thresholds(data, bands, objective, guard)
    thresholds = np.empty(data.n_labels)
    thresholds[alone] = _own_thresholds(data.of_labels(alone), objective, guard)
    rest = np.setdiff1d(np.arange(data.n_labels), alone)
    if len(rest):
        part = data.of_labels(rest)
        bands = count_bands(part, common_edges(part))
        thresholds[rest] = _pooled_thresholds(part, bands, objective, guard)
    return thresholds


def _pooled_thresholds(
    data: LabelledScores, bands: Bands, objective: Objective, guard: Guard
) -> Floats:
    """Give every label its own cut, based on what all labels show."""
    if not bands.edges.shape[1]:  # no threshold can reach any positive
        return np.full(data.n_labels, np.inf)
    some = _prior_labels(bands)
    prior = learn_prior(bands.of_labels(some))
    model = calibrate(bands, prior)
    strength, doubtful = strength_for(guard, bands, model), doubtful_labels(data, guard)
    share = 1.0
    if doubtful is not None and bands.n_labels > 1:
        share = share_by_cross_fitting(
            data.of_labels(some), bands.of_labels(some), doubtful[some], prior, strength, objective
        )
    return bands.thresholds(reach(plan_cuts(bands, model, strength, objective, doubtful), share))


def _own_thresholds(data: LabelledScores, objective: Objective, guard: Guard) -> Floats:
    """Treat labels whose scores are not comparable with others, each by its own counts alone."""
    bands = count_bands(data, own_edges(data))
    rate = (bands.support + 0.5) / (bands.total + 1.0)
    model = np.broadcast_to(rate[:, None], bands.rows.shape)
    plan = plan_cuts(bands, model, 0.0, objective, doubtful_labels(data, guard))
    return bands.thresholds(reach(plan, 1.0))


def _cut_at_one_place(
    data: LabelledScores, bands: Bands, average: str, objective: Objective, guard: Guard
) -> Floats:
    """Cut all labels at the same probability, which is best for pooled counts and for rows."""
    if not bands.edges.shape[1]:
        return np.full(data.n_labels, np.inf)
    model = calibrate(bands, learn_prior(bands.of_labels(_prior_labels(bands))))
    strength = strength_for(guard, bands, model)
    plan = plan_cuts(bands, model, strength, objective, doubtful_labels(data, guard))
    return bands.thresholds(reach_one_cut(data, plan, average, objective))


def _prior_labels(bands: Bands) -> Array:
    """Choose the labels that the prior is learned from: all, or a sample, half with positives.

    The sample is as good as random, and does not depend on the order of the labels.
    """
    most = limits.prior_labels
    if bands.n_labels <= most:
        return np.arange(bands.n_labels)
    order = np.argsort(keys_of_counts(np.hstack([bands.positives, bands.rows])), kind="stable")
    live = bands.support[order] > 0
    some, empty = order[live], order[~live]
    some = some[: max(most // 2, most - len(empty))]
    return np.sort(np.append(some, empty[: most - len(some)]))


def _highest_scores(data: LabelledScores) -> Floats:
    """Return the highest score of each label; +inf if no threshold can reach any."""
    if isinstance(data.scores, np.ndarray):
        highest = data.scores.reshape(data.n_rows, -1).max(axis=0).astype(np.float64)
    else:
        highest = np.full(data.n_labels, -np.inf)
        np.maximum.at(highest, data.scores.indices, data.scores.data)
    return np.where(highest > -np.inf, highest, np.inf)
