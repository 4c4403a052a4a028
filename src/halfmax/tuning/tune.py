"""`tune`: from labelled scores to the thresholds that maximise a metric."""

from collections.abc import Hashable, Iterable
from typing import Any

from halfmax._core.gate.labelled import LabelledScores, read_labelled
from halfmax.metrics.cost import check_rows_of_costs
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, choose
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tuning import Tuning
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
    min_specificity: float | None = None,
    max_predicted: float | None = None,
    pos_label: Any = None,
) -> Thresholds:
    """Find the thresholds with the highest metric on labelled scores.

    The optimum is exact over all possible thresholds, including ``+inf``, which predicts no rows.
    Rows with equal scores are predicted together. Among equally good thresholds the highest wins.

    Parameters
    ----------
    y_true : array-like, 1-D or rows x labels
        Truth; dense, scipy sparse or a data frame. Two classes of any kind: 0/1, bool, two other
        numbers, of which the larger is positive, or two names with `pos_label`.
    y_score : array-like of the same shape
        Scores on any scale; higher means more likely positive. ``-inf``, or an entry absent from a
        sparse matrix, is never predicted. Integers are read as float64.
    metric : str or Metric, default "f1"
        ``"f1"``, any ``"f<beta>"``, ``"jaccard"``, ``"accuracy"``, ``"precision"``, ``"recall"``,
        ``"mcc"``, ``"balanced_accuracy"``, ``"youden"``, ``"kappa"``, ``"gmean"``,
        ``"specificity"``, ``"npv"``, ``"fowlkes_mallows"``; `cost` for costs; or a `Metric` of
        your own. One that falls with tp or rises with fp somewhere takes longer, because every
        score is tried, and serves one classifier and ``average="macro"`` only.
    average : {"macro", "micro", "samples", "weighted"}, default "macro"
        How the metric is averaged over many labels: the mean over labels, the metric of pooled
        counts, the mean over rows, or the mean over labels weighted by their positives. 1-D input
        has nothing to average.
    per_label : bool, default True
        Whether each label gets its own threshold, or all labels share one. Without restrictions the
        optimum is exact and global in all cases but one: ``average="samples"`` with
        ``per_label=True`` gives a local optimum, found by moving one label at a time from the best
        shared threshold, and never below that.
    sample_weight : 1-D array-like, optional
        One weight for each row.
    labels : sequence, optional
        Names of the labels; by default the column names of data frames.
    guard : str, optional
        None is the exact optimum on these data, which is too optimistic where labels have few
        positives. The guards give up some of that score for a better score on new data:

        - ``"auto"``, recommended: labels learn from each other (pooled calibration, with an
          intercept and a slope for each label that are shrunk towards the others), this is weighed
          against a label's own counts, cross-fitting finds how far cuts may differ, and no label
          floods;
        - ``"calibrated"``: the pooled calibration alone, then half of the best expected F; it may
          flood, and assumes that the scores of all labels have similar shapes;
        - ``"smooth"``: the label's own counts alone, smoothed by isotonic regression, and a
          threshold between scores; it may flood;
        - ``"fbr"`` or ``"fbr:0.2"``: a label whose best F is below 0.1, or 0.2, gets its highest
          score as threshold (macro only);
        - ``"never"``: labels that are uninformative or flood, see `diagnose`, are not predicted.
          With few rows that may be all labels, which raises a warning.
    zero_division : float, default 0.0
        Value of 0/0, from 0 to 1; NaN leaves it out of averages.
    min_precision, min_recall, min_specificity : float, optional
        Floors that the thresholds must satisfy on these data: for each label, or for the pooled
        counts of ``average="micro"``. On new data a floor that binds here holds in about half of
        the cases, so ask for more than you need. Where no threshold satisfies them, no rows are
        predicted, and a warning says so. Pooled floors with one threshold per label are a knapsack
        problem: the answer satisfies them, is at least as good as the best shared threshold that
        does, and cannot be improved by changing one label's threshold; it need not be the global
        optimum.
    max_predicted : int or float, optional
        The most rows that may be predicted, for each label or for pooled counts: a number of rows
        from 1, or a share of them below 1.
    pos_label : class, optional
        The positive class, such as ``"yes"``; needed if the classes have names.

    Returns
    -------
    Thresholds
        With ``threshold`` or ``thresholds``, ``score``, ``table()``, ``predict(y_score)`` and
        ``save(path)``.

    Raises
    ------
    ValueError
        If an argument is invalid, such as a NaN score, an unknown metric, or options that exclude
        each other. The message names the argument and says what to do.
    TypeError
        If an argument has an unsuitable type.

    See Also
    --------
    assess : What these thresholds will reach on new data.
    diagnose : Which labels will misbehave, and why.
    decide : The best predictions without labels, from calibrated probabilities.
    tune_table : Tune the scores of a long table of any size.

    Examples
    --------
    >>> t = tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.threshold, t.score
    (0.35, 0.8)
    """
    goal = Goal.ask(
        metric,
        average,
        per_label,
        guard,
        zero_division,
        min_precision=min_precision,
        min_recall=min_recall,
        min_specificity=min_specificity,
        max_predicted=max_predicted,
    )
    data = read_labelled(y_true, y_score, sample_weight, labels, pos_label)
    check_rows_of_costs(goal.metric, y_true=y_true, y_score=y_score)
    return tune_checked(data, goal.settle(data.is_binary))


def tune_checked(data: LabelledScores, goal: Goal) -> Thresholds:
    """Tune data that have passed the gate, and warn if the answer will disappoint."""
    tuned = tune_silently(data, goal)
    assert tuned._tuning is not None
    warn_of_problems(tuned._tuning, tuned, data.n_rows, weighted=data.weights is not None)
    return tuned


def tune_silently(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Thresholds:
    """Tune data that have passed the gate, without warnings.

    `stairs` is the staircase of these data, if it has been built already.
    """
    tuning = Tuning(goal, choose_thresholds(data, goal, stairs), data)
    return Thresholds.of(tuning, data.labels, data.native, tuning.score_over_rows())


def choose_thresholds(data: LabelledScores, goal: Goal, stairs: Staircase | None = None) -> Choice:
    """Choose the exact optimum, or the thresholds of a guard."""
    if goal.guard is None:
        return choose(data, goal, stairs)
    from halfmax.tuning.guard.guards import choose_guarded  # scipy.special is slow to import

    return choose_guarded(data, goal)
