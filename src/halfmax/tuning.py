"""Labelled scores in, thresholds out."""

import warnings
from collections.abc import Hashable, Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax import _apply, _inputs, _options, binary, micro, samples, shared
from halfmax._errors import HalfmaxWarning, spell_out
from halfmax._inputs import LabelledScores
from halfmax._jit import kernel
from halfmax.grid import Grid, unit_weights
from halfmax.metrics import Metric, Objective, find_metric
from halfmax.scoring import mean_of_known, score
from halfmax.staircase import Staircase
from halfmax.thresholds import Thresholds

Array = npt.NDArray[Any]

_CHUNK_STEPS = 1 << 16  # the metric's temporary arrays stay in the cache


class _Choice(NamedTuple):
    """A threshold for each label and the counts that it gives."""

    thresholds: npt.NDArray[np.float64]
    true_positives: Array
    predicted: Array
    positives: Array
    total: Array


@kernel
def _first_best(offsets: Array, worth: Array, nobody: Array, step: Array) -> None:
    """For each label its best step, the highest among equals; -1 if nobody does as well."""
    for j in range(offsets.size - 1):
        best = -np.inf if np.isnan(nobody[j]) else nobody[j]
        step[j] = micro.NOBODY
        for k in range(offsets[j], offsets[j + 1]):
            if worth[k - offsets[0]] > best:
                best = worth[k - offsets[0]]
                step[j] = k


def tune(
    y_true: Any,
    y_score: Any,
    metric: str | Metric = "f1",
    average: str = "macro",
    per_label: bool = True,
    sample_weight: Any = None,
    labels: Iterable[Hashable] | None = None,
    guard: None = None,
    zero_division: float = 0.0,
    *,
    min_precision: float | None = None,
    min_recall: float | None = None,
) -> Thresholds:
    """The thresholds with the highest metric on labelled scores, exact over all thresholds.

    Predicting nobody (``+inf``) is among the choices; equal scores stay together; among equally
    good thresholds the highest wins.

    Parameters
    ----------
    y_true : 1-D, or rows x labels
        0/1 or bool; dense, scipy sparse or a data frame.
    y_score : of the same shape
        Higher means more likely positive; any scale. ``-inf``, or an entry absent from a sparse
        matrix, is never predicted. Integers are read as float64.
    metric : str or Metric
        ``"f1"``, any ``"f<beta>"``, ``"jaccard"``, ``"accuracy"``, ``"precision"``, ``"recall"``,
        or a `Metric` of your own that rises with tp and falls with fp.
    average : {"macro", "micro", "samples"}
        What the score of many labels is: the mean over labels, the metric of pooled counts, or the
        mean over rows. 1-D input has nothing to average.
    per_label : bool
        One threshold for each label, or one for all. Without floors the optimum is exact and global
        in every case but one: ``average="samples"`` with ``per_label=True`` is a local optimum,
        found by moving one label at a time from the best shared threshold, and never below that.
    sample_weight : 1-D, optional
        One weight for each row.
    labels : sequence, optional
        Names of the labels; column names of data frames are used if this is not given.
    guard : None
        Reserved for rules that trade score on this data for score on new data; only None, the
        exact optimum on the data given, is known to this version.
    zero_division : float
        What 0/0 counts as, 0 to 1; NaN leaves it out of averages.
    min_precision, min_recall : float, optional
        Floors that restrict the choice: for each label, or for the pooled counts of
        ``average="micro"``. Where nothing satisfies them the answer is to predict nobody, with a
        warning. Pooled floors with one threshold per label make a knapsack problem: the answer
        keeps them and is at least as good as the best shared threshold that does, and no change of
        one label's threshold improves it; it need not be the best of all.

    Returns
    -------
    Thresholds
        With ``threshold`` or ``thresholds``, ``score``, ``table()``, ``predict(y_score)`` and
        ``save(path)``.

    >>> t = tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.threshold, t.score
    (0.35, 0.8)
    """
    if not isinstance(per_label, (bool, np.bool_)):
        raise TypeError(f"per_label must be True or False; got {per_label!r}")
    if guard is not None:
        raise ValueError(f"guard must be None, the only rule of this version; got {guard!r}")
    objective = Objective(
        find_metric(metric),
        _options.check_zero_division(zero_division),
        _options.check_share("min_precision", min_precision),
        _options.check_share("min_recall", min_recall),
    )
    data = _inputs.read_labelled(y_true, y_score, sample_weight, labels)
    average = _options.check_average(average, one_classifier=data.is_binary)
    _refuse_what_cannot_be(data, average, per_label, objective)
    choice = _choose(data, average, per_label, objective)
    if objective.floors:
        _warn_below_floors(data, average, choice, objective)
    return _result(data, average, per_label, objective, choice)


def _refuse_what_cannot_be(
    data: LabelledScores, average: str, per_label: bool, objective: Objective
) -> None:
    if data.is_binary or average == "micro":
        return
    leaves_out = np.isnan(objective.zero_division)
    if average == "macro" and per_label:
        if leaves_out and np.isnan(objective(0, 0, 1, 2)):
            raise ValueError(
                "zero_division=nan leaves labels out of the mean, and with metric "
                f"{objective.metric.name!r} a threshold decides which: labels cannot be tuned one "
                "at a time; use per_label=False or a number from 0 to 1"
            )
        return
    if objective.floors:
        raise ValueError(
            "min_precision and min_recall are floors for each label (average='macro' with "
            "per_label=True) or for pooled counts (average='micro'); they have no meaning for "
            f"average={average!r} with per_label={per_label}"
        )
    if average == "samples" and per_label and leaves_out:
        raise ValueError(
            "zero_division=nan leaves rows out of the mean, so labels cannot be moved one at a "
            "time; use per_label=False or a number from 0 to 1"
        )


def _choose(data: LabelledScores, average: str, per_label: bool, objective: Objective) -> _Choice:
    if data.is_binary:
        return _best_of_one(data, objective)
    if average == "macro" and per_label:
        return _best_of_each(Staircase.of_checked(data), objective)
    if average == "micro" and per_label:
        stairs = Staircase.of_checked(data)
        return _at_steps(stairs, micro.best_steps(stairs, objective))
    if average == "micro":
        threshold = _best_pooled(data, objective)
    elif per_label:
        return _at_thresholds(data, samples.ascend(data, objective))
    else:
        threshold = shared.best_shared(shared.group_scores(data, average), objective)
    return _at_thresholds(data, np.full(data.n_labels, threshold))


def _best_of_one(data: LabelledScores, objective: Objective) -> _Choice:
    if data.weights is None:
        weights: Array = unit_weights(data.n_rows)
        positives: float = int(np.count_nonzero(data.truth))
    else:
        weights = data.weights
        positives = float(weights[data.truth == 1].sum())
    objective.require_monotone(np.array([positives]), np.array([data.total]))
    step = binary.best_step(
        binary.Rows(data.scores, data.truth, weights),
        binary.Whole(objective, positives, data.total),
    )
    values = step.threshold, step.true_positives, step.predicted, positives, data.total
    return _Choice(*(np.array([value]) for value in values))


def _best_pooled(data: LabelledScores, objective: Objective) -> float:
    """One threshold on the pooled counts is one classifier whose rows are all the entries."""
    scores, truth = shared.flat_scores(data)
    per_row = np.ones(data.n_rows) if data.weights is None else data.weights
    positives = per_row[np.repeat(np.arange(data.n_rows), np.diff(data.truth.indptr))].sum()
    whole = binary.Whole(objective, positives, data.total * data.n_labels)
    objective.require_monotone(np.array([positives]), np.array([whole.total]))
    weights: Array = unit_weights(len(scores))
    if data.weights is not None:
        weights = per_row[shared.row_of(data, np.arange(len(scores)))]
    return binary.best_step(binary.Rows(scores, truth, weights), whole).threshold


def _best_of_each(stairs: Staircase, objective: Objective) -> _Choice:
    objective.require_monotone(stairs.positives, stairs.total)
    step = np.empty(stairs.n_labels, np.int64)
    chunks = np.arange(0, len(stairs.grid.scores), _CHUNK_STEPS)[1:]
    ends = np.unique(np.searchsorted(stairs.grid.offsets, chunks))
    for start, stop in pairwise([0, *ends.tolist(), stairs.n_labels]):
        part = slice(start, stop)
        offsets = stairs.grid.offsets[start : stop + 1]
        steps = slice(offsets[0], offsets[-1])
        positives, total = stairs.positives[part], stairs.total[part]
        length = np.diff(offsets)
        worth = objective(
            stairs.true_positives[steps],
            stairs.predicted[steps],
            np.repeat(positives, length),
            np.repeat(total, length),
        )
        nobody = objective(0, 0, positives, total)
        nobody[np.isnan(nobody) & (positives == 0)] = np.inf  # best left out of the mean
        _first_best(offsets, worth, nobody, step[part])
    return _at_steps(stairs, step)


def _at_steps(stairs: Staircase, step: Array) -> _Choice:
    somebody = step != micro.NOBODY
    taken = step[somebody]
    thresholds = np.full(stairs.n_labels, np.inf)
    thresholds[somebody] = stairs.grid.scores[taken]
    tp, predicted = np.zeros_like(stairs.positives), np.zeros_like(stairs.positives)
    tp[somebody], predicted[somebody] = stairs.true_positives[taken], stairs.predicted[taken]
    return _Choice(thresholds + 0.0, tp, predicted, stairs.positives, stairs.total)


def _at_thresholds(data: LabelledScores, thresholds: npt.NDArray[np.float64]) -> _Choice:
    """Count at thresholds found without staircases: a staircase of one step for each label."""
    column = np.flatnonzero(np.isfinite(thresholds))
    grid = Grid.from_entries(column, thresholds[column].astype(data.scores.dtype), data.n_labels)
    stairs = Staircase.of_checked(data, grid)
    step = np.full(data.n_labels, micro.NOBODY)
    step[column] = np.arange(len(column))
    return _at_steps(stairs, step)


def _warn_below_floors(
    data: LabelledScores, average: str, choice: _Choice, objective: Objective
) -> None:
    """Say where nothing satisfies the floors, so that nobody is predicted."""
    counts = choice[1:]
    if average == "micro" and not data.is_binary:
        counts = tuple(part.sum(keepdims=True) for part in counts)
    below = np.flatnonzero(np.isneginf(objective(*counts)))
    if not len(below):
        return
    floors = " and ".join(f"min_{part.name}={floor:g}" for part, floor in objective.floors)
    if len(counts[0]) == 1:
        certain = data.is_binary or len(objective.floors) == 1
        who = "no threshold satisfies" if certain else "found no thresholds that satisfy"
    else:
        names = data.labels or range(data.n_labels)
        some = spell_out([names[j] for j in below], most=5)
        who = f"{len(below)} of {data.n_labels} labels ({some}) cannot satisfy"
    warnings.warn(f"{who} {floors}: there nobody is predicted", HalfmaxWarning, stacklevel=3)


def _result(
    data: LabelledScores, average: str, per_label: bool, objective: Objective, choice: _Choice
) -> Thresholds:
    plain = Objective(objective.metric, objective.zero_division)
    counts = choice[1:]
    of_label = plain(*counts)
    if data.is_binary or average == "macro":
        reached = mean_of_known(of_label)
    elif average == "micro":
        reached = plain(*(part.sum() for part in counts)).item()
    else:
        predictions = _apply.predict(data.scores, choice.thresholds)
        reached = score(
            data.truth,
            predictions,
            objective.metric,
            average,
            data.weights,
            objective.zero_division,
        )
    return Thresholds.from_counts(
        choice.thresholds,
        counts,
        label_scores=of_label,
        score=reached,
        metric=objective.metric.name,
        average="binary" if data.is_binary else average,
        shared=data.is_binary or not per_label,
        labels=data.labels,
        zero_division=objective.zero_division,
        native=data.native,
    )
