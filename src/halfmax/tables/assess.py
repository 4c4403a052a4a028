"""Assess and diagnose thresholds that are tuned on long tables."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.progress import ProgressLike
from halfmax.honesty import on_staircase
from halfmax.honesty.assess import tune_and_assess
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Case, Draws
from halfmax.honesty.diagnose import diagnose_checked
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.objective import NotMonotoneError
from halfmax.tables.tune import tune_on_staircases

if TYPE_CHECKING:
    from halfmax.tables.open import OpenedTable


def assess_table(
    source: Any,
    label: str | None = "label",
    score: str = "score",
    truth: str = "truth",
    metric: str | Metric = "f1",
    average: str = "macro",
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 0,
    *,
    instance: str | None = "instance",
    weight: str | None = None,
    per_label: bool = True,
    guard: str | None = None,
    zero_division: float = 0.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    min_specificity: float | None = None,
    max_predicted: float | None = None,
    n_instances: int | None = None,
    check_duplicates: bool | None = None,
    pos_label: Any = None,
    progress: ProgressLike = None,
) -> Assessment:
    """Estimate what the thresholds of `tune_table` will reach on new data.

    Without weights, guard and restrictions, macro and micro averages take three passes over the
    table, wherever it is; the third fetches only the rows that are true or predicted. Otherwise the
    table is held in memory as a sparse matrix.

    Parameters
    ----------
    source : path, list of paths, table, dataset, data frame or relation
        The table, as in `tune_table`.
    label : str or None
        The column of labels, or None for one classifier.
    score : str
        The column of scores.
    truth : str
        The column of the truth.
    metric : str or Metric
        The metric to maximise, as in `tune`.
    average : {"macro", "micro", "samples", "weighted"}
        How labels are averaged, as in `tune`.
    n_resamples : int
        The number of resamples, as in `assess`.
    level : float
        The probability that an interval covers, as in `assess`.
    seed : int
        The seed of the resampling, as in `assess`.
    instance : str or None
        The column of instances. The labels of one instance vary together, so it is required unless
        ``label=None``.
    weight : str or None
        The column of weights, as in `tune_table`.
    per_label : bool
        Whether each label gets a threshold of its own, as in `tune`.
    guard : str or None
        The guard against overfitted thresholds, as in `tune`.
    zero_division : float
        The value of 0/0, as in `tune`.
    min_precision, min_recall, min_specificity, max_predicted : float or None
        What restricts the thresholds, as in `tune`.
    n_instances : int or None
        The number of instances, as in `tune_table`.
    check_duplicates : bool or None
        Whether to refuse a pair that appears in two rows, as in `tune_table`.
    pos_label : class, optional
        The positive class, as in `tune`.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total).

    Returns
    -------
    Assessment
        What `assess` returns for a matrix whose rows are in the order of the instances.

    Raises
    ------
    ValueError
        If a value is not allowed, a pair appears twice, or a file cannot be read.
    TypeError
        If a column or an argument has the wrong type.

    See Also
    --------
    assess : Assess arrays, sparse matrices and wide data frames.
    tune_table : The thresholds alone.
    diagnose_table : Which labels will misbehave.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> table = pa.table({"score": scores, "truth": rng.random(400) < scores})
    >>> a = assess_table(table, label=None, n_resamples=100)
    >>> print(f"{a.score:.3f} on these rows, about {a.expected_score:.3f} on new ones")
    0.812 on these rows, about 0.808 on new ones
    """
    from halfmax.tables.classes import reading_classes
    from halfmax.tables.open import open_labelled

    draws = Draws.ask(n_resamples, level, seed, progress)
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
    goal = goal.settle(one_classifier=label is None)
    opened = open_labelled(source, label, score, truth, weight, instance, check_duplicates)
    return reading_classes(
        opened, pos_label, lambda table: _assess_opened(table, goal, n_instances, draws)
    )


def _assess_opened(
    opened: "OpenedTable", goal: Goal, n_instances: int | None, draws: Draws
) -> Assessment:
    """Assess where the data is if possible, and otherwise on the whole matrix."""
    from halfmax.tables.open import whole_matrix

    if on_staircase.can_judge(goal) and opened.columns.weight is None and not goal.needs_rows:
        try:
            return _assess_in_place(opened, goal, n_instances, draws)
        except NotMonotoneError:  # every score has to be tried, not only those of positives
            if not opened.is_local:
                raise
    return tune_and_assess(whole_matrix(opened, draws.progress, n_instances), goal, draws)


def diagnose_table(
    source: Any,
    label: str | None = "label",
    score: str = "score",
    truth: str = "truth",
    metric: str | Metric = "f1",
    n_resamples: int = 200,
    level: float = 0.95,
    seed: int = 0,
    *,
    instance: str | None = "instance",
    zero_division: float = 0.0,
    check_duplicates: bool | None = None,
    pos_label: Any = None,
    progress: ProgressLike = None,
) -> Diagnosis:
    """Find the labels of a long table that will misbehave on new data, and why.

    The table is held in memory as a sparse matrix, so tables of Spark and Dask are refused.

    Parameters
    ----------
    source : path, list of paths, table, dataset, data frame or relation
        The table, as in `tune_table`.
    label : str or None
        The column of labels, or None for one classifier.
    score : str
        The column of scores.
    truth : str
        The column of the truth.
    metric : str or Metric
        The metric to maximise, as in `tune`.
    n_resamples : int
        The number of resamples, as in `diagnose`.
    level : float
        The probability that an interval covers, as in `diagnose`.
    seed : int
        The seed of the resampling, as in `diagnose`.
    instance : str or None
        The column of instances, required unless ``label=None``.
    zero_division : float
        The value of 0/0, as in `tune`.
    check_duplicates : bool or None
        Whether to refuse a pair that appears in two rows, as in `tune_table`.
    pos_label : class, optional
        The positive class, as in `tune`.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total).

    Returns
    -------
    Diagnosis
        What `diagnose` returns for the table as a matrix.

    Raises
    ------
    ValueError
        If a value is not allowed, a pair appears twice, or a file cannot be read.
    TypeError
        If a column or an argument has the wrong type.

    See Also
    --------
    diagnose : Diagnose arrays, sparse matrices and wide data frames.
    assess_table : What the thresholds will reach on new data.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow as pa
    >>> rng = np.random.default_rng(0)
    >>> scores = rng.random(400)
    >>> truth = np.append(rng.random(200) < scores[:200], rng.random(200) < 0.1)
    >>> table = pa.table({"instance": np.tile(np.arange(200), 2), "score": scores, "truth": truth,
    ...                   "label": ["good"] * 200 + ["random"] * 200})
    >>> diagnose_table(table, n_resamples=50).labels_with("uninformative")
    ['random']
    """
    from halfmax.tables.classes import reading_classes
    from halfmax.tables.open import open_labelled, whole_matrix

    draws = Draws.ask(n_resamples, level, seed, progress)
    goal = Goal.ask(metric, zero_division=zero_division)
    opened = open_labelled(source, label, score, truth, None, instance, check_duplicates)
    data = reading_classes(opened, pos_label, lambda table: whole_matrix(table, progress))
    return diagnose_checked(data, goal, draws)


def _assess_in_place(
    opened: "OpenedTable", goal: Goal, n_instances: int | None, draws: Draws
) -> Assessment:
    from halfmax.tables.rows_that_count import no_rows, rows_that_count

    if not goal.one_classifier and opened.columns.instance is None:
        raise ArgumentError(
            "labels of one instance vary together, so this needs the column of instances: name it "
            f"with {in_python('instance=...')}"
        )
    tuned = tune_on_staircases(opened, goal, n_instances, draws.progress)
    tuning = tuned._tuning
    assert tuning is not None
    data = no_rows(True) if goal.one_classifier else rows_that_count(opened, tuned)
    case = Case(data, goal, tuned, draws, tuning.stairs)
    light = replace(tuned, _tuning=replace(tuning, choice=tuning.choice._replace(stairs=None)))
    return replace(Assessment.of(case, on_staircase.judge(case)), thresholds=light)
