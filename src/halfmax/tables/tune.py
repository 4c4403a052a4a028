"""Thresholds from long tables: macro and micro where the data lie, everything else as a matrix."""

from dataclasses import replace
from typing import Any

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import ProgressLike
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.tables.open import OpenedTable, needs_rows, open_labelled, whole_matrix
from halfmax.tables.passes import Passes
from halfmax.tuning import tune
from halfmax.tuning.exact.choose import choose_on
from halfmax.tuning.found import Tuning
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.warn import warn_of_problems

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
    n_instances: int | None = None,
    check_duplicates: bool | None = None,
    progress: ProgressLike = None,
) -> Thresholds:
    """The thresholds of `tune`, from a table with a row for each (instance, label).

    The table stays where it is. Two passes over it, in bounded memory, give the exact answer: the
    first collects the scores of positives, the second counts how many scores reach each of them.

    Parameters
    ----------
    source
        A path, glob or folder of Parquet, Arrow IPC or CSV files (``.csv.gz`` and the like too), or
        a list of them; a pyarrow table or dataset; a pandas, polars or any other frame that
        Narwhals knows; a DuckDB relation; a Spark or Dask data frame, which is worked on inside its
        engine.
    label, score, truth, weight, instance : str
        Names of the columns. Labels and instances are strings or integers, truth is bool or 0/1,
        scores are finite or ``-inf``. ``label=None`` is for one classifier. `weight` is of a row,
        so that pairs may differ; the column of instances is needed for duplicates and for whatever
        looks at whole rows, and may be missing otherwise.
    metric, average, per_label, guard, zero_division, min_precision, min_recall
        As `tune` takes them. Macro and micro averages are computed where the data lie. Guards,
        ``average="samples"`` and macro with ``per_label=False`` look at whole rows: the table is
        held in memory as a sparse matrix, and tables of Spark and Dask are refused.
    n_instances : int, optional
        A pair that is not in the table is a negative that is never predicted, as in a sparse
        matrix. Only metrics that count true negatives, such as accuracy, need to know how many
        such pairs there are. By default the instances in the table are counted, which takes one
        more pass over their column. Pass the number if other instances have no rows at all, or if
        there is no column of instances.
    check_duplicates : bool, optional
        Whether a pair in two rows is an error. By default it is where there is a column of
        instances, but not in Spark and Dask, where to find out would shuffle the whole table.
    progress : bool or function
        True for a line on stderr, or a function of (done, all) in rows; all is 0 if not known.

    Returns
    -------
    Thresholds
        With the labels in order: numbers by size, strings letter by letter.

    >>> table = {"label": ["cat", "cat", "cat", "dog", "dog"],
    ...          "score": [0.9, 0.4, 0.1, 0.8, 0.3], "truth": [1, 1, 0, 0, 1]}
    >>> import pyarrow as pa
    >>> t = tune_table(pa.table(table))
    >>> t.labels, t.thresholds.tolist(), round(t.score, 4)
    (('cat', 'dog'), [0.4, 0.3], 0.8333)
    """
    floors = {"min_precision": min_precision, "min_recall": min_recall}
    goal = Goal.ask(metric, average, per_label, guard, zero_division, **floors)
    goal = goal.settle(one_classifier=label is None)
    opened = open_labelled(source, label, score, truth, weight, instance, check_duplicates)
    if needs_rows(goal):
        found = tune.tune_checked(whole_matrix(opened, progress, n_instances), goal)
    else:
        found = _tune_in_place(opened, goal, n_instances, progress)
    assert found._tuning is not None
    return replace(found, _tuning=replace(found._tuning, files=opened.files))


def _tune_in_place(
    opened: OpenedTable, goal: Goal, n_instances: int | None, progress: ProgressLike
) -> Thresholds:
    tuned = tune_on_staircases(opened, goal, n_instances, progress)
    tuning = tuned._tuning
    assert tuning is not None
    weighted = opened.columns.weight is not None
    counts = tuning.choice.counts
    most = counts.total.max()
    rows = _ENOUGH_ROWS if weighted else int(most)  # a sum of weights tells no rows
    # Labels with fewer rows than others have no fewer instances.
    counts = counts._replace(total=np.full_like(counts.total, most))
    whole = replace(tuning, choice=tuning.choice._replace(counts=counts))
    warn_of_problems(whole, tuned, rows, weighted)
    return replace(tuned, _tuning=replace(tuning, choice=tuning.choice._replace(stairs=None)))


def tune_on_staircases(
    opened: OpenedTable, goal: Goal, n_instances: int | None, progress: ProgressLike
) -> Thresholds:
    """What the staircases of the table choose; the answer holds on to them."""
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
    labels = None if goal.one_classifier else tuple(sorted(passes.names))

    def read(progress: ProgressLike) -> LabelledScores:
        return whole_matrix(opened, progress, n_instances)

    return Thresholds.of(Tuning(goal, choice, None, read), labels, opened.native)
