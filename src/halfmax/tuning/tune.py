"""Labelled scores in, thresholds out."""

from collections.abc import Hashable, Iterable
from typing import Any

from halfmax._core.labelled import LabelledScores, read_labelled
from halfmax._core.predict import predict
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.score import score
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, choose
from halfmax.tuning.found import Tuning
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.warn import warn_of_problems


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
    floors = {"min_precision": min_precision, "min_recall": min_recall}
    goal = Goal.ask(metric, average, per_label, guard, zero_division, **floors)
    data = read_labelled(y_true, y_score, sample_weight, labels)
    return tune_checked(data, goal.settle(data.is_binary))


def tune_checked(data: LabelledScores, goal: Goal) -> Thresholds:
    """Tune data that have passed the gate, and warn of what the answer will not keep."""
    tuned = tune_silently(data, goal)
    assert tuned._tuning is not None
    warn_of_problems(tuned._tuning, tuned, data.n_rows, weighted=data.weights is not None)
    return tuned


def tune_silently(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Thresholds:
    """Tune data that have passed the gate, without a warning.

    `stairs` is the staircase of these data, if it is known already.
    """
    tuning = Tuning(goal, choose_thresholds(data, goal, stairs), data)
    reached = None
    if goal.average_shown == "samples":
        predictions = predict(data.scores, tuning.choice.thresholds)
        zero = goal.objective.zero_division
        reached = score(data.truth, predictions, goal.metric, "samples", data.weights, zero)
    return Thresholds.of(tuning, data.labels, data.native, reached)


def choose_thresholds(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Choice:
    """The exact optimum, or what a guard chooses instead."""
    if goal.guard is None:
        return choose(data, goal, stairs)
    from halfmax.tuning.guard.guards import choose_guarded  # scipy.special is slow to import

    return choose_guarded(data, goal)
