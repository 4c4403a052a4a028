"""Labelled scores in, the labels that will misbehave out."""

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from halfmax._core import checks, labelled
from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Wanted
from halfmax._core.types import Array
from halfmax.honesty.assess import How, check_how, tune_and_assess
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.diagnosis import FINDINGS, Diagnosis
from halfmax.metrics.flooding import floods
from halfmax.metrics.metric import Metric, find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase.signal import uninformative
from halfmax.tuning.exact.choose import count_at

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
    progress: Wanted = None,
) -> Diagnosis:
    """Which labels will misbehave on new data, why, and how much they hurt.

    Each label is tuned for itself, as ``tune(average="macro")`` does, and then examined:

    - *uninformative*: a test does not show that it beats predicting everyone; the number of labels
      is allowed for (false discovery rate of 5 %);
    - *flooding*: predicted for more than 5 % of rows and more than 10 times its base rate;
    - *too few positives*: fewer rows than 1/b^2 at base rate b, the scale below which a
      classifier without any skill would often look as good;
    - *unstable threshold*: the ends of the threshold's interval predict numbers of rows that are
      more than 3 times apart;
    - *miscalibrated*: half of the best F1 (the matching cut for other metrics), where calibrated
      probabilities have their best threshold, predicts more rows than the threshold's interval, or
      fewer, and so does half of the lowest F1 that the score's interval allows. Only scores from 0
      to 1 are judged; others are no probabilities, and the answer says so.

    Parameters
    ----------
    y_true, y_score, metric, labels, zero_division
        As `tune` takes them.
    n_resamples, level, seed, progress
        As `assess` takes them, which gives intervals and expected scores. The same seed gives the
        same findings, whatever the order of rows and columns.

    Returns
    -------
    Diagnosis
        With ``table()``, ``findings``, ``counts``, ``labels_with(finding)`` and ``explain(label)``,
        sorted by how much each label hurts: first those that flood, by the rows that they flood,
        then by how much of the tuned score new data will not show. Labels that are equal in this
        keep the order of their columns.

    >>> rng = np.random.default_rng(0)
    >>> y = rng.random((500, 2)) < [0.3, 0.02]
    >>> d = diagnose(y, rng.normal(size=(500, 2)) + [3, 0] * y, labels=["good", "platypus"])
    >>> d.labels_with("too few positives")
    ['platypus']
    """
    how = check_how(n_resamples, level, seed, progress)
    objective = Objective(find_metric(metric), checks.check_zero_division(zero_division))
    return diagnose_checked(labelled.read_labelled(y_true, y_score, None, labels), objective, how)


def diagnose_checked(data: LabelledScores, objective: Objective, how: How) -> Diagnosis:
    """Diagnose data that have passed the gate."""
    assessed = tune_and_assess(data, "macro", True, objective, None, how)
    return diagnose_assessed(data, objective, assessed)


def diagnose_assessed(
    data: LabelledScores, objective: Objective, assessed: Assessment
) -> Diagnosis:
    """The same where the labels, each tuned for itself, have been assessed already."""
    tuned = assessed.thresholds
    size, total = len(tuned.thresholds), data.n_rows
    low, high = (np.broadcast_to(end, size) for end in assessed.threshold_interval)
    most, fewest = (count_at(data, end).counts.predicted for end in (low, high))
    known = (tuned.support > 0) & (tuned.label_scores > 0)
    half_max = np.where(known, objective.metric.plug_in(tuned.label_scores), np.nan)
    lowest = objective.metric.plug_in(assessed.label_score_intervals[0])
    probabilities = data.may_be_probabilities
    found = {
        "uninformative": uninformative(data),
        "flooding": floods(tuned.predicted, tuned.support, total),
        "too few positives": tuned.support.astype(np.float64) ** 2 < total,
        "unstable threshold": most > _UNSTABLE_TIMES * np.maximum(fewest, 1),
        "miscalibrated": probabilities
        & (half_max > 0)
        & _elsewhere(data, (lowest, half_max), (fewest, most)),
    }
    lost = np.nan_to_num(tuned.label_scores - assessed.label_expected_scores)
    order = np.lexsort((-lost, np.where(found["flooding"], -tuned.predicted, 0)))
    names = np.array(list(FINDINGS))
    flags = np.stack([found[name] for name in names], axis=1)
    given = tuned.labels if tuned.labels is not None else tuple(range(size))
    return Diagnosis(
        labels=tuple(given[j] for j in order),
        findings=tuple(tuple(names[flags[j]].tolist()) for j in order),
        support=tuned.support[order],
        base_rate=tuned.support[order] / total,
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


def _elsewhere(data: LabelledScores, cuts: tuple[Array, Array], rows: tuple[Array, Array]) -> Array:
    """True where all cuts from the first to the second predict more rows than these, or fewer.

    Rows are compared, not thresholds: between two scores all thresholds are one.
    """
    fewest, most = rows
    ends = [count_at(data, cut).counts.predicted for cut in cuts]
    missed: Array = (np.minimum(*ends) > most) | (np.maximum(*ends) < fewest)
    return missed
