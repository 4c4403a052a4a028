"""Tune thresholds on long tables: macro and micro where the data is, all else as a matrix."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.progress import ProgressLike
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.objective import NotMonotoneError
from halfmax.tuning import tune
from halfmax.tuning.exact.choose import choose_on
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tuning import Tuning
from halfmax.tuning.warn import warn_of_problems

if TYPE_CHECKING:
    from halfmax.tables.open import OpenedTable

_ENOUGH_ROWS = 1 << 62


def tune_table(
    source: Any,
    label: str | None = "label",
    score: str = "score",
    truth: str = "truth",
    metric: str | Metric = "f1",
    average: str = "macro",
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
) -> Thresholds:
    """Tune the thresholds of a long table, with one row for each (instance, label) pair.

    The table stays where it is. Two passes over it, in bounded memory, give exactly the thresholds
    that `tune` gives for the same data as a matrix: the first pass collects the scores of the
    positives, the second counts how many scores reach each of them.

    Parameters
    ----------
    source : path, list of paths, table, dataset, data frame or relation
        A path, glob or folder of Parquet, Arrow IPC or CSV files (compressed CSV such as
        ``.csv.gz`` too), or a list of paths; a pyarrow table or dataset; a pandas, polars or any
        other data frame that Narwhals supports; a DuckDB relation; a Spark or Dask data frame,
        which is processed inside its engine.
    label : str or None
        The column of labels, strings or integers. None if the table holds one classifier.
    score : str
        The column of scores, finite or ``-inf``.
    truth : str
        The column of the truth, two classes as in `tune`. Names, and a `pos_label`, take one more
        pass over this column.
    metric : str or Metric
        The metric to maximise, as in `tune`.
    average : {"macro", "micro", "samples", "weighted"}
        How labels are averaged, as in `tune`. All but ``"samples"`` are computed where the data is.
    instance : str or None
        The column of instances, strings or integers. It is needed to find duplicates and for
        everything that looks at whole rows of the matrix; otherwise it may be absent.
    weight : str or None
        The column of weights. Each row of the table has its own, so the pairs of one instance may
        differ.
    per_label : bool
        Whether each label gets a threshold of its own, as in `tune`.
    guard : str or None
        The guard against overfitted thresholds, as in `tune`. Guards, ``average="samples"`` and
        ``average="macro"`` with ``per_label=False`` look at whole rows: the table is then held in
        memory as a sparse matrix, and tables of Spark and Dask are refused.
    zero_division : float
        The value of 0/0, as in `tune`.
    min_precision, min_recall, min_specificity, max_predicted : float or None
        What restricts the thresholds, as in `tune`.
    n_instances : int or None
        The number of instances. A pair that is not in the table is a negative that is never
        predicted, as in a sparse matrix, and only metrics that count true negatives, such as
        accuracy, depend on how many such pairs there are. By default the instances in the table
        are counted, which takes one more pass over their column. Pass the number if further
        instances have no rows at all, or if there is no column of instances.
    check_duplicates : bool or None
        Whether to refuse a pair that appears in two rows. By default this is done if there is a
        column of instances, but not in Spark and Dask, where it would shuffle the whole table.
    pos_label : class, optional
        The positive class, as in `tune`.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total) in rows. The total is 0 if it is
        not known.

    Returns
    -------
    Thresholds
        The thresholds. Labels are sorted: numbers by value, strings by code point.

    Raises
    ------
    ValueError
        If a value is not allowed, a pair appears twice, or a file cannot be read. The message
        names the row and the file.
    TypeError
        If a column or an argument has the wrong type.

    See Also
    --------
    tune : Tune arrays, sparse matrices and wide data frames.
    apply_table : Apply the thresholds to a table.
    assess_table : Estimate what the thresholds will reach on new data.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = {"label": ["cat", "cat", "cat", "dog", "dog"],
    ...          "score": [0.9, 0.4, 0.1, 0.8, 0.3], "truth": [1, 1, 0, 0, 1]}
    >>> t = tune_table(pa.table(table))
    >>> t.labels, t.thresholds.tolist(), round(t.score, 4)
    (('cat', 'dog'), [0.4, 0.3], 0.8333)
    """
    from halfmax.tables.classes import reading_classes
    from halfmax.tables.open import open_labelled

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
    found = reading_classes(
        opened, pos_label, lambda table: _tune_opened(table, goal, n_instances, progress)
    )
    assert found._tuning is not None
    return replace(found, _tuning=replace(found._tuning, files=opened.files))


def _tune_opened(
    opened: "OpenedTable", goal: Goal, n_instances: int | None, progress: ProgressLike
) -> Thresholds:
    """Tune where the data is if possible, and otherwise on the whole matrix."""
    from halfmax.tables.open import whole_matrix

    if not goal.needs_rows:
        try:
            return _tune_in_place(opened, goal, n_instances, progress)
        except NotMonotoneError:  # every score has to be tried, not only those of positives
            if not (goal.labels_apart and opened.is_local):
                raise
    return tune.tune_checked(whole_matrix(opened, progress, n_instances), goal)


def _tune_in_place(
    opened: "OpenedTable", goal: Goal, n_instances: int | None, progress: ProgressLike
) -> Thresholds:
    tuned = tune_on_staircases(opened, goal, n_instances, progress)
    tuning = tuned._tuning
    assert tuning is not None
    weighted = opened.columns.weight is not None
    counts = tuning.choice.counts
    most = counts.total.max()
    rows = _ENOUGH_ROWS if weighted else int(most)  # a sum of weights is not a number of rows
    # A label with fewer rows than another still has all instances.
    counts = counts._replace(total=np.full_like(counts.total, most))
    whole = replace(tuning, choice=tuning.choice._replace(counts=counts))
    warn_of_problems(whole, tuned, rows, weighted)
    return replace(tuned, _tuning=replace(tuning, choice=tuning.choice._replace(stairs=None)))


def tune_on_staircases(
    opened: "OpenedTable", goal: Goal, n_instances: int | None, progress: ProgressLike
) -> Thresholds:
    """Tune on the staircases of the table; the result keeps them."""
    from halfmax.tables.open import whole_matrix
    from halfmax.tables.passes import Passes

    apart = goal.per_label or goal.one_classifier
    with Passes(opened, progress, 2 if apart else 3) as passes:
        tally = passes.collect()
        tally = tally.of_instances(n_instances, goal.objective, passes.count_instances)
        if apart:
            stairs = passes.staircase(tally)
            average = "macro" if goal.one_classifier else goal.average
            choice = choose_on(stairs, average, goal.objective)._replace(stairs=stairs)
        else:
            choice = passes.choose_shared(tally, goal.objective)
    labels = opened.columns.name_of_one if goal.one_classifier else tuple(sorted(passes.names))

    def read(progress: ProgressLike) -> LabelledScores:
        return whole_matrix(opened, progress, n_instances)

    return Thresholds.of(Tuning(goal, choice, None, read), labels, opened.native)
