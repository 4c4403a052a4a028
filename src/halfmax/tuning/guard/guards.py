"""Guards: rules that give up score on the data given for score on new data.

``"calibrated"`` trusts the pooled probabilities of `calibration` alone, ``"smooth"`` a label's own
counts alone, and ``"auto"`` weighs the two by how well the first explain the second. All three then
follow the half-max theorem: a label predicts down to the band where its probability falls below
half of the best F1 that is expected of it (the matching cut for other metrics).
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Array, Floats
from halfmax.metrics.flooding import most_predicted
from halfmax.metrics.goal import Goal, Guard
from halfmax.metrics.metric import LinearFractional
from halfmax.metrics.objective import Objective
from halfmax.staircase.signal import staircase_in_rows, uninformative
from halfmax.staircase.stable_order import keys_of_counts, ranks_of_rows
from halfmax.tuning.exact import shared
from halfmax.tuning.exact.choose import Choice, choose, count_at
from halfmax.tuning.guard.bands import (
    Bands,
    common_edges,
    count_bands,
    on_their_own_scale,
    own_edges,
)
from halfmax.tuning.guard.calibration import Prior, calibrate, falling_rates, learn_prior

_ROUNDING = 1e-9
_EMPTY = 1e-6  # the weight of a band without rows: it keeps the model's probability
_LEAST_WORTH, _MOST_WORTH = 100.0, 1e9  # of the model, in positives
_TEACHERS = 4096  # labels; more of them would not make the prior any better known
_FOLDS, _REPEATS, _MANY_LABELS = 5, 3, 1000
_SHARES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])  # of a label's own cut against the shared one
_COMMON_CUTS = np.linspace(-8.0, 3.0, 111)  # logits


class CutPlan(NamedTuple):
    """For each label and band: the probability, the expected score down to it, and the limits."""

    bands: Bands
    probabilities: Array
    scores: Array
    cuts: Array  # (labels,), logits
    common: float  # the best cut that all labels share, a logit
    allowed: Array  # (labels,), how many bands may be predicted at most


def choose_guarded(data: LabelledScores, goal: Goal) -> Choice:
    """The thresholds of any guard, and the counts that they give."""
    objective, guard = goal.objective, goal.guard
    assert guard is not None
    if guard.name not in ("fbr", "never"):
        objective.require_monotone(np.array([data.n_rows // 2]), np.array([data.n_rows]))
        return count_at(data, guarded_thresholds(data, goal.average, objective, guard))
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
    """The thresholds of the calibrating guards."""
    if data.weights is not None:  # what weighs nothing draws no edges either
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
    """Every label has a cut of its own, from what all labels tell."""
    if not bands.edges.shape[1]:  # no positive that any threshold could reach
        return np.full(data.n_labels, np.inf)
    teachers = _teachers(bands)
    prior = learn_prior(bands.of_labels(teachers))
    model = calibrate(bands, prior)
    worth, doubtful = _worth(bands, model, guard), _doubtful(data, guard)
    share = 1.0
    if doubtful is not None and bands.n_labels > 1:
        lesson = data.of_labels(teachers), bands.of_labels(teachers), doubtful[teachers]
        share = _share_by_cross_fitting(*lesson, prior, worth, objective)
    return bands.thresholds(_reach(_plan(bands, model, worth, objective, doubtful), share))


def _own_thresholds(data: LabelledScores, objective: Objective, guard: Guard) -> Floats:
    """Labels whose scores cannot be compared with others': each from its own counts alone."""
    bands = count_bands(data, own_edges(data))
    rate = (bands.support + 0.5) / (bands.total + 1.0)
    model = np.broadcast_to(rate[:, None], bands.rows.shape)
    plan = _plan(bands, model, 0.0, objective, _doubtful(data, guard))
    return bands.thresholds(_reach(plan, 1.0))


def _cut_at_one_place(
    data: LabelledScores, bands: Bands, average: str, objective: Objective, guard: Guard
) -> Floats:
    """All labels are cut at the same probability, which pooled counts and rows ask for."""
    if not bands.edges.shape[1]:
        return np.full(data.n_labels, np.inf)
    model = calibrate(bands, learn_prior(bands.of_labels(_teachers(bands))))
    worth = _worth(bands, model, guard)
    plan = _plan(bands, model, worth, objective, _doubtful(data, guard))
    if average == "samples":
        cut = _best_for_rows(data, plan, objective)
    else:
        cut = _best_for_pooled(plan, objective)
    reached = (plan.probabilities >= cut * (1.0 - _ROUNDING)).sum(axis=1)
    return bands.thresholds(np.minimum(reached, plan.allowed))


def _teachers(bands: Bands) -> Array:
    """All labels, or so many that what they share is well known, half or more with positives.

    Which ones is as good as random, and does not depend on the order of the labels.
    """
    if bands.n_labels <= _TEACHERS:
        return np.arange(bands.n_labels)
    order = np.argsort(keys_of_counts(np.hstack([bands.positives, bands.rows])), kind="stable")
    live = bands.support[order] > 0
    some, empty = order[live], order[~live]
    some = some[: max(_TEACHERS // 2, _TEACHERS - len(empty))]
    return np.sort(np.append(some, empty[: _TEACHERS - len(some)]))


def _doubtful(data: LabelledScores, guard: Guard) -> Array | None:
    """The labels not shown to be informative, for the guard that lets no label flood."""
    return uninformative(staircase_in_rows(data)) if guard.name == "auto" else None


def _worth(bands: Bands, model: Array, guard: Guard) -> float:
    known = {"smooth": 0.0, "calibrated": np.inf}
    return known[guard.name] if guard.name in known else worth_of_model(bands, model)


def blend(bands: Bands, model: Array, worth: float) -> Array:
    """The model's probabilities and the label's own counts; the model is worth so many positives.

    A label with a positives has weight a / (a + worth) for its own counts.
    """
    if np.isinf(worth):
        return model
    support = bands.support[:, None]
    own = support / np.maximum(support + worth, _EMPTY)
    positives = own * bands.positives + (1.0 - own) * bands.rows * model + _EMPTY * model
    return falling_rates(bands.rows + _EMPTY, positives)


def worth_of_model(bands: Bands, model: Array) -> float:
    """How many of a label's positives the model is worth, from how far labels stray from it.

    At the quartiles of a label's expected positives, those found differ from those expected by
    chance (the variance of a bridge) and because the model is wrong by some share. What is left
    after chance gives the variance of that share, and its inverse the number of positives.
    """
    support = bands.support
    expected, found = np.cumsum(bands.rows * model, axis=1), np.cumsum(bands.positives, axis=1)
    whole = expected[:, -1]
    label = np.arange(bands.n_labels)
    stray = scale = 0.0
    for quartile in (0.25, 0.5, 0.75):
        band = np.minimum((expected < quartile * whole[:, None]).sum(axis=1), bands.edges.shape[1])
        part = expected[label, band] / whole
        hits = part * support
        stray += ((found[label, band] - hits) ** 2 - hits * (1.0 - part)).sum()
        scale += ((hits * (1.0 - part)) ** 2).sum()
    if stray <= 0.0:
        return _MOST_WORTH
    return float(np.clip(scale / stray, _LEAST_WORTH, _MOST_WORTH))


def _plan(
    bands: Bands, model: Array, worth: float, objective: Objective, doubtful: Array | None
) -> CutPlan:
    """What is expected of each label and band; with `doubtful`, no label may flood."""
    probabilities = blend(bands, model, worth)
    predicted = np.cumsum(bands.rows, axis=1)
    hits = np.cumsum(bands.rows * probabilities, axis=1)
    scores = expected_scores(objective, hits, predicted, hits[:, -1:], bands.total)[:, :-1]
    allowed = np.full(bands.n_labels, bands.edges.shape[1])
    if doubtful is not None:
        most = most_predicted(bands.support, bands.total, doubtful)[:, None]
        allowed = (predicted[:, :-1] <= most).sum(axis=1)
    probabilities = probabilities[:, :-1]
    cuts = _cut_of(objective, scores.max(axis=1), probabilities, scores)
    live = bands.support > 0
    common = _common_cut(probabilities[live], scores[live]) if live.any() else 0.0
    return CutPlan(bands, probabilities, scores, cuts, common, allowed)


def _cut_of(objective: Objective, best: Array, probabilities: Array, scores: Array) -> Array:
    """The logit of the probability down to which each label predicts: half of its best F1."""
    if isinstance(objective.metric, LinearFractional):
        cut = objective.metric.plug_in(best)
    else:  # no such law: the probability of the best band
        cut = probabilities[np.arange(len(scores)), scores.argmax(axis=1)]
    inside: Array = np.clip(np.nan_to_num(cut, nan=0.5), 1e-15, 1.0 - 1e-15)
    return np.asarray(logit(inside))


def _common_cut(probabilities: Array, scores: Array) -> float:
    """The logit of the cut with the best mean expected score, if these labels shared one."""
    label = np.arange(len(scores))
    best, found = -np.inf, 0.0
    for cut in _COMMON_CUTS:
        reached = (probabilities >= expit(cut)).sum(axis=1)
        mean = np.where(reached > 0, scores[label, np.maximum(reached - 1, 0)], 0.0).mean()
        if mean > best:
            best, found = mean, float(cut)
    return found


def _reach(plan: CutPlan, share: float) -> Array:
    """How many bands each label predicts at a cut between its own and the common one."""
    cut = share * plan.cuts + (1.0 - share) * plan.common
    reached = (plan.probabilities >= expit(cut)[:, None] * (1.0 - _ROUNDING)).sum(axis=1)
    within: Array = np.minimum(reached, plan.allowed)
    return within


def _best_for_pooled(plan: CutPlan, objective: Objective) -> float:
    """The cut with the best expected pooled counts: it is the cut of the score that it reaches."""
    if not isinstance(objective.metric, LinearFractional):
        raise ArgumentError(
            f"{in_python('guard')} with {setting('average', 'micro')} needs a LinearFractional "
            "metric such as 'f1'; "
            f"got {objective.metric.name!r}"
        )
    rows = plan.bands.rows[:, :-1].ravel()
    probabilities = plan.probabilities.ravel()
    order = np.argsort(-probabilities, kind="stable")
    predicted = np.cumsum(rows[order])
    hits = np.cumsum((rows * probabilities)[order])
    size = plan.bands.total * plan.bands.n_labels
    positives = float(plan.bands.support.sum())
    scores = objective(hits, predicted, np.maximum(positives, hits[-1]), size)
    return float(probabilities[order[int(np.argmax(scores))]])


def _best_for_rows(data: LabelledScores, plan: CutPlan, objective: Objective) -> float:
    """One cut for all labels has little to overfit: the best on the data given, by rows."""
    table = np.concatenate([plan.probabilities, np.full((plan.bands.n_labels, 1), -np.inf)], axis=1)
    ascending = plan.bands.edges[0, ::-1]  # the same for all labels

    def look_up(scores: Array, label: Array) -> Array:
        band = len(ascending) - np.searchsorted(ascending, scores, side="right")
        return np.where(scores > -np.inf, table[label, band], -np.inf)

    if isinstance(data.scores, np.ndarray):
        calibrated = look_up(data.scores, np.arange(data.n_labels)[None, :])
    else:
        calibrated = data.scores.copy()
        calibrated.data = look_up(calibrated.data, calibrated.indices)
    groups = shared.group_scores(data._replace(scores=calibrated), "samples")
    return shared.best_shared(groups, objective)


def _share_by_cross_fitting(
    data: LabelledScores,
    bands: Bands,
    doubtful: Array,
    prior: Prior,
    worth: float,
    objective: Objective,
) -> float:
    """How much of its own cut a label should follow: the mean of what new rows do not refuse.

    Thresholds from four fifths of the rows are judged on the last fifth. Each share is weighed by
    how likely it is to be as good as the best, over labels: exp(-z^2 / 2) of the paired difference.
    """
    some = bands.support > 0
    folds, repeats = min(_FOLDS, data.n_rows), _REPEATS if some.sum() < _MANY_LABELS else 1
    counts = np.zeros((2, len(_SHARES), bands.n_labels))
    if folds < 2 or not some.any():
        return 1.0
    scale, ranks = data.rows_per_weight, ranks_of_rows(data)
    for repeat in range(repeats):
        stream = np.random.SeedSequence(0, spawn_key=(repeat,))
        fold = (np.random.default_rng(stream).permutation(data.n_rows) % folds)[ranks]
        for k in range(folds):
            held = count_bands(data.of_rows(np.flatnonzero(fold == k)), bands.edges, scale)
            rest = bands.without(held)
            plan = _plan(rest, calibrate(rest, prior), worth, objective, doubtful)
            counts += np.stack([_judge(held, _reach(plan, share)) for share in _SHARES], axis=1)
    hits, predicted = counts[:, :, some] / repeats
    values = objective(hits, predicted, bands.support[some], bands.total)
    return _weighed_share(np.nan_to_num(values))


def _weighed_share(values: Array) -> float:
    off = values - values[int(np.argmax(values.mean(axis=1)))]
    error = off.std(axis=1) / np.sqrt(off.shape[1])
    likely = np.exp(-0.5 * (off.mean(axis=1) / np.maximum(error, 1e-12)) ** 2)
    return float((likely * _SHARES).sum() / likely.sum())


def _judge(held: Bands, reached: Array) -> Array:
    """True positives and predictions of each label among rows held out."""
    inside = np.arange(held.rows.shape[1])[None, :] < reached[:, None]
    return np.stack([(held.positives * inside).sum(axis=1), (held.rows * inside).sum(axis=1)])


def _highest_scores(data: LabelledScores) -> Floats:
    """The highest score of each label; +inf where it has none that can be reached."""
    if isinstance(data.scores, np.ndarray):
        highest = data.scores.reshape(data.n_rows, -1).max(axis=0).astype(np.float64)
    else:
        highest = np.full(data.n_labels, -np.inf)
        np.maximum.at(highest, data.scores.indices, data.scores.data)
    return np.where(highest > -np.inf, highest, np.inf)


def expected_scores(
    objective: Objective, hits: Array, predicted: Array, positives: Array, total: float
) -> Array:
    """The expected score of rows whose positives fall by chance, to second order.

    For rare labels the expected ratio is not the ratio of expectations. Each hit of F-beta or
    Jaccard adds the same over a denominator of the counts that it comes with. The other hits and
    the misses vary like Poisson numbers, and the mean of 1/x is ``1/m + variance/m^3`` to second
    order. Other metrics take the expected counts as they are.
    """
    metric = objective.metric
    if not isinstance(metric, LinearFractional) or not metric.is_share_of_hits:
        values = objective(hits, predicted, positives, total)
        return np.nan_to_num(values, nan=-np.inf)
    (gain, *_), (per_hit, per_false, per_missed, _) = metric.parts
    missed, more = positives - hits, per_hit - per_false
    mean = per_false * predicted + per_missed * missed + more * (1.0 + hits)
    variance = per_missed**2 * missed + more**2 * hits
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(mean > 0.0, 1.0 / mean + variance / mean**3, 0.0)
    scores: Array = gain * hits * inverse
    return scores
