"""`assess`: what tuned thresholds will reach on new data, and how certain that is."""

from collections.abc import Hashable, Iterable
from typing import Any

from halfmax._core.gate.labelled import LabelledScores, read_labelled
from halfmax._core.progress import ProgressLike
from halfmax.honesty import cross_fit, on_staircase, row_costs
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case, Draws
from halfmax.metrics.cost import RowCost, check_rows_of_costs
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune_silently
from halfmax.tuning.tuning import Tuning
from halfmax.tuning.warn import warn_below_floors


def assess(
    y_true: Any,
    y_score: Any,
    metric: str | Metric = "f1",
    average: str = "macro",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    *,
    per_label: bool = True,
    labels: Iterable[Hashable] | None = None,
    zero_division: float = 0.0,
    sample_weight: Any = None,
    guard: str | None = None,
    min_precision: float | None = None,
    min_recall: float | None = None,
    min_specificity: float | None = None,
    max_predicted: float | None = None,
    pos_label: Any = None,
    progress: ProgressLike = None,
) -> Assessment:
    """Estimate what the thresholds of `tune` will reach on new data, with intervals.

    A tuned score is optimistic, because the threshold was chosen for looking best on these very
    rows. New rows of the same kind score lower, and much lower where labels have few positives.

    Parameters
    ----------
    y_true, y_score : array-like of shape (rows,) or (rows, labels)
        The truth, two classes, and the scores, as in `tune`.
    metric : str or Metric
        The metric to maximise, as in `tune`.
    average : {"macro", "micro", "samples", "weighted"}
        How to average over labels or rows, as in `tune`.
    n_resamples : int
        The number of bootstrap replicates of the rows. Where every replicate must be tuned anew
        (see the notes), at most 40 are drawn, and at most 20 with a guard.
    level : float
        The share of intervals that should contain the truth, above 0 and below 1. The truth is the
        score on unlimited new data; the score of a new set of limited size varies more.
    seed : int
        The seed of the random numbers. A seed gives the same answer for any number of threads and
        any order of rows and columns: random numbers depend on the contents of rows and labels,
        not on their positions. There is one exception: thresholds per label for
        ``average="samples"`` are a local optimum that `tune` finds label by label, which may
        change with the order of the columns.
    per_label : bool
        Whether each label has its own threshold, as in `tune`.
    labels : sequence, optional
        The names of the labels, as in `tune`.
    zero_division : float
        The value of 0/0, as in `tune`.
    sample_weight : array-like of shape (rows,), optional
        One weight for each row, used in tuning and in every score. Rows of weight 0 change nothing.
    guard : str, optional
        The guard of `tune`. An assessment tunes thirty times, so ``"auto"`` takes a while.
    min_precision, min_recall, min_specificity, max_predicted : float, optional
        What restricts the thresholds, as in `tune`: on these data only. On new data a restriction
        that binds holds in about half of the cases. Where nothing satisfies them, a warning says
        so.
    pos_label : class, optional
        The positive class, as in `tune`.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``.

    Returns
    -------
    Assessment
        The ``expected_score``, ``optimism``, ``score_interval`` and ``threshold_interval``, their
        counterparts for each label, ``resampled_scores`` and ``table()``.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `tune` would refuse the data or the options, or if `n_resamples`, `level` or `seed` is
        out of its range.

    See Also
    --------
    tune : Choose the thresholds that are assessed.
    diagnose : Find the labels that will misbehave, and why.
    assess_table : Assess a long table of any size.

    Notes
    -----
    Labels with few positives are judged by leaving out each positive in turn, labels with many by
    the Poisson bootstrap. Weighted rows are first converted to their effective sample size (Kish).
    For ``average="samples"`` and ``"weighted"``, shared and restricted thresholds, ten-fold
    cross-fitting takes the place of leaving out positives: each tenth of the rows is predicted with
    thresholds tuned without it.
    Guards are judged by cross-fitting alone. A guard does not maximise the score on these rows, so
    `optimism` can be negative.

    Rows are taken to be independent draws from one source, as new rows will be. The method is
    tested most for F-beta and Jaccard; other metrics of rare labels are judged more roughly. The
    candidate thresholds are scores of positives. For a classifier that hardly errs, the threshold's
    interval is therefore that of the lowest positive, and may lie wholly above the best threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmax import assess
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.05
    >>> a = assess(y, rng.normal(size=2000) + 1.5 * y)
    >>> print(f"{a.score:.2f} here, {a.expected_score:.2f} expected on new data")
    0.38 here, 0.36 expected on new data
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
    draws = Draws.ask(n_resamples, level, seed, progress)
    data = read_labelled(y_true, y_score, sample_weight, labels, pos_label)
    check_rows_of_costs(goal.metric, y_true=y_true, y_score=y_score)
    return tune_and_assess(data, goal.settle(data.is_binary), draws)


def tune_and_assess(
    data: LabelledScores, goal: Goal, draws: Draws, stairs: Staircase | None = None
) -> Assessment:
    """Tune data that have passed the gate, and assess the result.

    A score of 0 needs an explanation if it is that of floors which nothing satisfies.
    """
    if stairs is None and goal.labels_apart and not data.is_binary and on_staircase.can_judge(goal):
        stairs = Staircase.of_checked(data)  # on which they are both tuned and judged
    tuned = tune_silently(data, goal, stairs)
    assert tuned._tuning is not None
    if tuned._tuning.choice.counts.positives.any():
        warn_below_floors(tuned._tuning, tuned)
    return assess_tuned(tuned, tuned._tuning, draws)


def assess_tuned(tuned: Thresholds, tuning: Tuning, draws: Draws) -> Assessment:
    """Assess tuned thresholds, in the quick way if possible, otherwise in the general way."""
    counts = tuning.choice.counts
    quick = on_staircase.can_judge(tuning.goal)
    if isinstance(tuning.goal.metric, RowCost):
        case = Case(tuning.load(), tuning.goal, tuned, draws)
        return Assessment.of(case, row_costs.judge(case))
    if quick and tuning.goal.objective.is_monotone(counts.positives, counts.total):
        case = Case(tuning.load(), tuning.goal, tuned, draws, tuning.stairs)
        return Assessment.of(case, on_staircase.judge(case))
    case = Case(tuning.load(), tuning.goal, tuned, draws)
    return Assessment.of(case, cross_fit.judge(case))
