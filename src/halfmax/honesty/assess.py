"""Labelled scores in, what new data will show out."""

from collections.abc import Hashable, Iterable
from typing import Any

from halfmax._core.labelled import LabelledScores, read_labelled
from halfmax._core.progress import ProgressLike
from halfmax.honesty import cross_fit, on_staircase
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case, Draws
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.found import Tuning
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune_silently


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
    progress: ProgressLike = None,
) -> Assessment:
    """What the thresholds of `tune` will reach on new data, and how sure they are.

    A tuned score flatters: the threshold was chosen because it looked best on these very rows. New
    rows of the same kind show less, and much less where labels have few positives.

    Parameters
    ----------
    y_true, y_score, metric, average, per_label, labels, zero_division
        As `tune` takes them; what it gives for them is assessed.
    n_resamples : int
        How often the rows are drawn again. What is not judged on a staircase, see the notes, is
        tuned anew for each and stops at 40, with a guard at 20.
    level : float
        The share of intervals that shall hold the truth, above 0 and below 1. The truth is the
        score on endless new data; the score of a new set of limited size scatters more.
    seed : int
        The same seed gives the same answer, whatever the number of threads and the order of rows
        and columns. Random numbers follow from what rows and labels hold, not from their places.
        One exception: thresholds per label for ``average="samples"`` are a local optimum that
        `tune` finds label by label, so it may change with the order of the columns.
    sample_weight : 1-D, optional
        One weight for each row, in tuning and in every score. Rows of weight 0 change nothing.
    guard : None or str
        The guard of `tune`. Each assessment tunes thirty times, so ``"auto"`` takes its time.
    progress : bool or function
        True for a line on stderr, or a function of (done, all).

    Returns
    -------
    Assessment
        With ``expected_score``, ``optimism``, ``score_interval``, ``threshold_interval``, the same
        for each label, ``resampled_scores`` and ``table()``.

    Notes
    -----
    Labels with few positives are judged by leaving each positive out, labels with many by the
    Poisson bootstrap; weighted rows are first counted as the number of rows that they are worth.
    For `average="samples"` and shared thresholds ten-fold cross-fitting takes the place of leaving
    positives out: each tenth of the rows is predicted with thresholds tuned without it. Guards are
    judged by cross-fitting alone. A guard does not seek the best score here, so with one
    `optimism` can be below 0. Rows are taken to be
    independent draws of one source, as new rows will be. Tested most for F-beta and
    Jaccard; other metrics of rare labels are judged more roughly. Thresholds tried are scores of
    positives, so for a classifier that hardly errs the threshold's interval is that of the lowest
    positive and can lie wholly above the best threshold.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.05
    >>> a = assess(y, rng.normal(size=2000) + 1.5 * y)
    >>> print(f"{a.score:.2f} here, {a.expected_score:.2f} expected on new data")
    0.38 here, 0.36 expected on new data
    """
    goal = Goal.ask(metric, average, per_label, guard, zero_division)
    draws = Draws.ask(n_resamples, level, seed, progress)
    data = read_labelled(y_true, y_score, sample_weight, labels)
    return tune_and_assess(data, goal.settle(data.is_binary), draws)


def tune_and_assess(
    data: LabelledScores, goal: Goal, draws: Draws, stairs: Staircase | None = None
) -> Assessment:
    """Tune data that have passed the gate, and assess what that gives."""
    tuned = tune_silently(data, goal, stairs)
    assert tuned._tuning is not None
    return assess_tuned(tuned, tuned._tuning, draws)


def assess_tuned(tuned: Thresholds, tuning: Tuning, draws: Draws) -> Assessment:
    """Assess thresholds that were tuned in this way."""
    quick = on_staircase.can_judge(tuning.goal)
    stairs = tuning.stairs if quick else None
    case = Case(tuning.load(), tuning.goal, tuned, draws, stairs)
    return Assessment.of(case, on_staircase.judge(case) if quick else cross_fit.judge(case))
