"""Labelled scores in, what new data will show out."""

from collections.abc import Hashable, Iterable
from typing import Any, TypedDict

import numpy as np

from halfmax._core import checks, labelled
from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Progress, Wanted
from halfmax.honesty import cross_fit, on_staircase
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case
from halfmax.metrics.average import check_average
from halfmax.metrics.goal import Guard, check_guard
from halfmax.metrics.metric import Metric, find_metric
from halfmax.metrics.objective import Objective
from halfmax.tuning import tune
from halfmax.tuning.thresholds import Thresholds


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
    progress: Wanted = None,
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
    if not isinstance(per_label, (bool, np.bool_)):
        raise TypeError(f"per_label must be True or False; got {per_label!r}")
    how = check_how(n_resamples, level, seed, progress)
    wanted = check_guard(guard)
    objective = Objective(find_metric(metric), checks.check_zero_division(zero_division))
    data = labelled.read_labelled(y_true, y_score, sample_weight, labels)
    average = check_average(average, one_classifier=data.is_binary)
    return tune_and_assess(data, average, per_label, objective, wanted, how)


class How(TypedDict):
    """How thoroughly something is assessed."""

    n_resamples: int
    level: float
    seed: int
    progress: Wanted


def check_how(n_resamples: int, level: float, seed: int, progress: Wanted) -> How:
    """The options that every assessment has."""
    Progress(progress, "", 1)
    return How(
        n_resamples=checks.check_whole("n_resamples", n_resamples, 1),
        level=checks.check_share_inside("level", level),
        seed=checks.check_whole("seed", seed, 0),
        progress=progress,
    )


def tune_and_assess(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None,
    how: How,
) -> Assessment:
    """Tune data that have passed the gate, and assess what that gives."""
    what = data, average, per_label, objective
    tune.refuse_what_cannot_be(data.is_binary, *what[1:], guard)
    tuned = tune.result(*what, tune.choose_with(*what, guard), guard)
    return assess_checked(*what, guard, tuned, **how)


def assess_checked(
    data: LabelledScores,
    average: str,
    per_label: bool,
    objective: Objective,
    guard: Guard | None,
    tuned: Thresholds,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    progress: Wanted = None,
) -> Assessment:
    """Assess thresholds that were tuned in the same way on the same data, past the gate."""
    how = n_resamples, level, seed, progress
    case = Case(data, average, per_label, objective, guard, tuned, *how)
    quick = on_staircase.can_judge(data, average, per_label, objective, guard)
    return Assessment.of(case, (on_staircase if quick else cross_fit).judge(case))
