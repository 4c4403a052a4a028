"""Labelled scores in, thresholds out."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from halfmax._core import checks, labelled, predict
from halfmax._core.labelled import LabelledScores
from halfmax._core.labels import Labels
from halfmax.metrics.average import check_average, mean_of_known
from halfmax.metrics.goal import Guard, check_guard
from halfmax.metrics.metric import Metric, find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import score
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, choose
from halfmax.tuning.found import Origin
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.warn import warn_below_floors, warn_of_curse, warn_of_nothing


def tune(
    y_true: Any,
    y_score: Any,
    metric: str | Metric = "f1",
    average: str = "macro",
    per_label: bool = True,
    sample_weight: Any = None,
    labels: Iterable[Hashable] | None = None,
    guard: str | None = None,
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
    guard : None or str
        None is the exact optimum on the data given, which flatters itself where labels have few
        positives. The others give up some of that for score on new data:

        - ``"auto"``, recommended: labels lend each other strength (pooled calibration, an intercept
          and a slope for each label shrunk to the others), a label's own counts are weighed against
          that, how far cuts may differ is found by cross-fitting, and no label floods;
        - ``"calibrated"``: the pooled calibration alone, then half of the best expected F; it may
          flood, and trusts that labels have scores of similar shapes;
        - ``"smooth"``: the label's own counts alone, made to fall, and a threshold between scores;
          it may flood;
        - ``"fbr"`` or ``"fbr:0.2"``: a label whose best F is below 0.1, or 0.2, gets its highest
          score as threshold (macro only);
        - ``"never"``: labels that are uninformative or flood, see `diagnose`, are not predicted.
          On few rows that may be all of them, with a warning.
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
    wanted = check_guard(guard)
    objective = Objective(
        find_metric(metric),
        checks.check_zero_division(zero_division),
        checks.check_share("min_precision", min_precision),
        checks.check_share("min_recall", min_recall),
    )
    data = labelled.read_labelled(y_true, y_score, sample_weight, labels)
    average = check_average(average, one_classifier=data.is_binary)
    return tune_checked(data, average, per_label, objective, wanted)


def tune_checked(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None,
) -> Thresholds:
    """Tune data that have passed the gate, and warn of what the answer will not keep."""
    refuse_what_cannot_be(data.is_binary, average, per_label, objective, guard)
    choice = choose_with(data, average, per_label, objective, guard)
    tuned = result(data, average, per_label, objective, choice, guard)
    warn_below_floors(objective, choice, tuned)
    warn_of_nothing(objective, choice, tuned, guard, data.n_rows)
    stairs = None if data.weights is not None else lambda: Staircase.of_checked(data)
    warn_of_curse(objective, choice, tuned, guard, data.n_rows, stairs)
    return tuned


def choose_with(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None,
) -> Choice:
    """The exact optimum, or what a guard chooses instead."""
    if guard is None:
        return choose(data, average, per_label, objective)
    from halfmax.tuning.guard.guards import (
        choose_guarded,  # scipy.special would slow every first call
    )

    return choose_guarded(data, average, objective, guard)


def refuse_what_cannot_be(
    one_classifier: bool,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None = None,
) -> None:
    """Refuse what has no meaning, or what could not be solved exactly."""
    _refuse_to_choose(one_classifier, average, per_label, objective)
    if guard is not None:
        _refuse_to_guard(one_classifier, average, per_label, objective, guard)


def _refuse_to_choose(
    one_classifier: bool, average: str, per_label: bool, objective: Objective
) -> None:
    if one_classifier or average == "micro":
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


def _refuse_to_guard(
    one_classifier: bool, average: str, per_label: bool, objective: Objective, guard: Guard
) -> None:
    if objective.floors:
        raise ValueError(
            "min_precision and min_recall are kept on the data given, which a guard looks past: "
            "use guard=None with them"
        )
    if one_classifier:
        return
    if not per_label:
        raise ValueError(
            f"guard={guard.name!r} needs per_label=True: one threshold for all labels has next to "
            "nothing to overfit; use guard=None with it"
        )
    if guard.name == "fbr" and average != "macro":
        raise ValueError(
            f"guard='fbr' is a rule for average='macro'; got average={average!r}: use 'auto'"
        )


def result(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    choice: Choice,
    guard: Guard | None,
) -> Thresholds:
    """What was chosen, as the answer that users get."""
    origin = Origin(lambda *_: data, average, per_label, objective, guard)
    reached = None
    if average == "samples" and not data.is_binary:
        predictions = predict.predict(data.scores, choice.thresholds)
        how = objective.metric, average, data.weights, objective.zero_division
        reached = score(data.truth, predictions, *how)
    average = "binary" if data.is_binary else average
    what = choice, average, per_label, objective, data.labels, data.native
    return result_of_counts(*what, origin, reached)


def result_of_counts(
    choice: Choice,
    average: str,
    per_label: bool,
    objective: Objective,
    labels: Labels | None,
    native: Any,
    origin: Origin,
    reached: float | None = None,
) -> Thresholds:
    """The same from counts alone, which tell every average but that over rows."""
    plain = Objective(objective.metric, objective.zero_division)
    of_label = plain(*choice.counts)
    if average == "micro":
        reached = plain(*choice.counts.pooled()).item()
    return Thresholds.from_counts(
        choice.thresholds,
        choice.counts,
        label_scores=of_label,
        score=mean_of_known(of_label) if reached is None else reached,
        metric=objective.metric.name,
        average=average,
        shared=average == "binary" or not per_label,
        labels=labels,
        zero_division=objective.zero_division,
        native=native,
        guard=None if origin.guard is None else str(origin.guard),
        _origin=origin,
    )
