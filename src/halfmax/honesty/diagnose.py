"""`diagnose`: the labels that will misbehave on new data, and why."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from halfmax._core.gate.labelled import LabelledScores, read_labelled
from halfmax._core.progress import ProgressLike
from halfmax._core.types import Array, Floats
from halfmax.honesty.assess import tune_and_assess
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Draws
from halfmax.honesty.diagnosis import FINDINGS, Diagnosis
from halfmax.metrics.flooding import floods
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.staircase.significance import uninformative
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import count_at_each
from halfmax.tuning.tuning import Tuning

_UNSTABLE_TIMES = 3.0


def diagnose(
    y_true: Any,
    y_score: Any,
    metric: str | Metric = "f1",
    n_resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    *,
    labels: Iterable[Hashable] | None = None,
    zero_division: float = 0.0,
    pos_label: Any = None,
    progress: ProgressLike = None,
) -> Diagnosis:
    """Find the labels that will misbehave on new data, why, and how much they hurt.

    Each label is tuned separately, as by ``tune(average="macro")``, and then examined:

    - *uninformative*: a test does not show that it beats predicting every row; the test corrects
      for the number of labels (false discovery rate of 5 %);
    - *flooding*: predicted for more than 5 % of rows and more than 10 times its base rate;
    - *too few positives*: fewer rows than 1/b^2 at base rate b, the scale below which a
      classifier without any skill would often look as good;
    - *unstable threshold*: one end of the threshold's interval predicts more than 3 times as many
      rows as the other;
    - *miscalibrated*: the threshold that calibrated probabilities would have (half the best F1)
      lies clearly outside the threshold's interval: it, and the same rule at the lowest plausible
      F1, both predict more rows than the interval allows, or both fewer. For other metrics the
      matching cut replaces half the F1. Only scores from 0 to 1 are judged; others are not
      probabilities, and the result says so.

    Parameters
    ----------
    y_true, y_score : array-like of shape (rows,) or (rows, labels)
        The truth, two classes, and the scores, as in `tune`.
    metric : str or Metric
        The metric to maximise, as in `tune`.
    n_resamples : int
        The number of bootstrap replicates, as in `assess`.
    level : float
        The level of all intervals, as in `assess`.
    seed : int
        The seed of the random numbers. The findings do not depend on the order of rows and columns.
    labels : sequence, optional
        The names of the labels, as in `tune`.
    zero_division : float
        The value of 0/0, as in `tune`.
    pos_label : class, optional
        The positive class, as in `tune`.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``.

    Returns
    -------
    Diagnosis
        The ``findings``, ``counts``, ``labels_with(finding)``, ``explain(label)`` and ``table()``.
        Labels are sorted by how much they hurt: first those that flood, by the number of rows that
        they flood, then the others by how much lower they will score on new data. Labels that are
        equal in this respect keep the order of their columns.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `tune` would refuse the data or the options, or if `n_resamples`, `level` or `seed` is
        out of its range.

    See Also
    --------
    assess : Intervals and expected scores for any average.
    diagnose_table : Diagnose a long table of any size.
    LabelHealthDisplay : A picture of a diagnosis.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmax import diagnose
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random((500, 2)) < [0.3, 0.02]
    >>> d = diagnose(y, rng.normal(size=(500, 2)) + [3, 0] * y, labels=["good", "platypus"])
    >>> d.labels_with("too few positives")
    ['platypus']
    """
    goal = Goal.ask(metric, zero_division=zero_division)
    draws = Draws.ask(n_resamples, level, seed, progress)
    data = read_labelled(y_true, y_score, None, labels, pos_label)
    return diagnose_checked(data, goal, draws)


def diagnose_checked(
    data: LabelledScores, goal: Goal, draws: Draws, stairs: Staircase | None = None
) -> Diagnosis:
    """Diagnose data that have passed the gate; `stairs` is their staircase, if known."""
    assessed = tune_and_assess(data, goal.settle(data.is_binary), draws, stairs)
    assert assessed.thresholds._tuning is not None
    return diagnose_assessed(assessed.thresholds._tuning, assessed)


def diagnose_assessed(tuning: Tuning, assessed: Assessment) -> Diagnosis:
    """Diagnose separately tuned labels that have been assessed."""
    data, objective, tuned = tuning.load(), tuning.goal.objective, assessed.thresholds
    size, total = len(tuned.thresholds), data.n_rows
    low, high = (np.broadcast_to(end, size) for end in assessed.threshold_interval)
    known = (tuned.support > 0) & ((tuned.label_scores > 0) | objective.metric.is_cost)
    rate = tuned.support / total
    half_max = np.where(known, objective.metric.plug_in(tuned.label_scores, rate), np.nan)
    lowest = objective.metric.plug_in(assessed.label_score_intervals[0], rate)
    probabilities = data.may_be_probabilities
    most, fewest, *cut = _predicted_at(data, low, high, lowest, half_max)
    found = {
        "uninformative": uninformative(tuning.stairs),
        "flooding": floods(tuned.predicted, tuned.support, total),
        "too few positives": tuned.support.astype(np.float64) ** 2 < total,
        "unstable threshold": most > _UNSTABLE_TIMES * np.maximum(fewest, 1),
        "miscalibrated": probabilities & (half_max > 0) & _elsewhere(cut, fewest, most),
    }
    lost = np.nan_to_num(tuned.label_scores - assessed.label_expected_scores)
    order = np.lexsort((-lost, np.where(found["flooding"], -tuned.predicted, 0)))
    names = np.array(list(FINDINGS))
    flags = np.stack([found[name] for name in names], axis=1)
    labels = tuned.labels if tuned.labels is not None else tuple(range(size))
    return Diagnosis(
        labels=tuple(labels[j] for j in order),
        findings=tuple(tuple(names[flags[j]].tolist()) for j in order),
        support=tuned.support[order],
        base_rate=rate[order],
        thresholds=tuned.thresholds[order],
        threshold_interval=(low[order], high[order]),
        scores=tuned.label_scores[order],
        expected_scores=assessed.label_expected_scores[order],
        everyone=objective(tuned.support, total, tuned.support, total)[order],
        half_max=half_max[order],
        predicted=tuned.predicted[order],
        probabilities=probabilities,
        n_rows=total,
        metric=tuned.metric,
        _frame_library=tuned._frame_library,
    )


def _predicted_at(data: LabelledScores, *thresholds: Floats) -> list[Array]:
    """How many rows each label is predicted for at each of these thresholds."""
    return [found.counts.predicted for found in count_at_each(data, thresholds)]


def _elsewhere(cuts: list[Array], fewest: Array, most: Array) -> Array:
    """True where both cuts, and so all between them, predict more than `most` rows or too few.

    Numbers of rows are compared, because all thresholds between two neighbouring scores are the
    same rule.
    """
    missed: Array = (np.minimum(*cuts) > most) | (np.maximum(*cuts) < fewest)
    return missed
