"""Thresholds from long tables: macro and micro where the data lie, everything else as a matrix."""

from dataclasses import replace
from typing import Any

import numpy as np

from halfmax._core import checks
from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import Wanted
from halfmax.metrics.average import check_average
from halfmax.metrics.goal import Guard, check_guard
from halfmax.metrics.metric import Metric, find_metric
from halfmax.metrics.objective import Objective
from halfmax.tables.columns import Columns
from halfmax.tables.duplicates import refuse_duplicates
from halfmax.tables.matrix import of_instances, read_matrix
from halfmax.tables.passes import Opened, Passes, open_source
from halfmax.tables.sources import Table
from halfmax.tuning import tune
from halfmax.tuning.exact.choose import Choice, choose_on
from halfmax.tuning.found import Origin
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.warn import warn_below_floors, warn_of_curse, warn_of_nothing

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
    progress: Wanted = None,
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
    wanted = check_guard(guard)
    objective = Objective(
        find_metric(metric),
        checks.check_zero_division(zero_division),
        checks.check_share("min_precision", min_precision),
        checks.check_share("min_recall", min_recall),
    )
    average = check_how_averaged(label, average, per_label, objective, wanted)
    opened = open_labelled(source, label, score, truth, weight, instance, check_duplicates)
    if not needs_rows(label, average, per_label, wanted):
        found = _tune_in_place(opened, average, per_label, objective, n_instances, progress)
    else:
        data = whole_matrix(opened, progress, n_instances)
        found = tune.tune_checked(data, average, per_label, objective, wanted)
    assert found._origin is not None
    return replace(found, _origin=found._origin._replace(files=opened.files))


def check_how_averaged(
    label: str | None, average: str, per_label: bool, objective: Objective, guard: Guard | None
) -> str:
    """The average, after what has no meaning is refused, before anything is read."""
    if not isinstance(per_label, (bool, np.bool_)):
        raise TypeError(f"per_label must be True or False; got {per_label!r}")
    average = check_average(average, one_classifier=label is None)
    tune.refuse_what_cannot_be(label is None, average, per_label, objective, guard)
    return average


def open_labelled(
    source: Any,
    label: str | None,
    score: str,
    truth: str,
    weight: str | None,
    instance: str | None,
    check_duplicates: bool | None,
) -> Opened:
    """Open a table of scores with the truth about them."""
    optional = frozenset({"instance"}) if instance == "instance" else frozenset()
    columns = Columns(label, score, truth, weight, instance, optional)
    return open_source(source, columns, check_duplicates)


def needs_rows(label: str | None, average: str, per_label: bool, guard: Guard | None) -> bool:
    """Whether counts of the single labels do not tell everything."""
    if guard is not None:
        return True
    return label is not None and (average == "samples" or (average == "macro" and not per_label))


def check_whole_rows(opened: Opened) -> Table:
    """Refuse a table whose rows cannot be brought together to those of a matrix."""
    if not isinstance(opened.place, Table):
        raise ValueError(
            f"guards, assessments with weights, average='samples' and shared thresholds of macro "
            f"averages look at whole rows, which are not brought together from "
            f"{opened.place.name}: write the table to Parquet and give its path, or use "
            "average='macro' or 'micro' without guard"
        )
    if opened.columns.label is not None and opened.columns.instance is None:
        raise ValueError(
            "which rows belong to one instance must be known here: name its column with "
            f"instance=...; the table has {', '.join(map(repr, opened.place.schema.names))}"
        )
    return opened.place


def whole_matrix(
    opened: Opened, progress: Wanted, n_instances: int | None = None
) -> LabelledScores:
    """All rows as a sparse matrix; of an engine's table that would be too much."""
    table = check_whole_rows(opened)
    if opened.columns.label is None and opened.refuse_duplicates:  # a matrix finds its own
        refuse_duplicates(table)
    data = read_matrix(table, progress)
    return data if n_instances is None else of_instances(data, n_instances)


def _tune_in_place(
    opened: Opened,
    average: str,
    per_label: bool,
    objective: Objective,
    n_instances: int | None,
    progress: Wanted,
) -> Thresholds:
    choice, tuned = choose_in_place(opened, average, per_label, objective, n_instances, progress)
    warn_below_floors(objective, choice, tuned)
    weighted = opened.columns.weight is not None
    most = choice.counts.total.max()
    rows = _ENOUGH_ROWS if weighted else int(most)  # a sum of weights tells no rows
    # Labels with fewer rows than others have no fewer instances.
    counts = choice.counts._replace(total=np.full_like(choice.counts.total, most))
    whole = choice._replace(counts=counts)
    warn_of_nothing(objective, whole, tuned, None, rows)
    warn_of_curse(objective, whole, tuned, None, rows, None if weighted else choice.stairs)
    return tuned


def choose_in_place(
    opened: Opened,
    average: str,
    per_label: bool,
    objective: Objective,
    n_instances: int | None,
    progress: Wanted,
) -> tuple[Choice, Thresholds]:
    """What the staircases of the table choose, and the answer made of it."""
    one_classifier = opened.columns.label is None
    with Passes(opened, progress, 2 if per_label or one_classifier else 3) as passes:
        tally = passes.collect()
        tally = tally.of_instances(n_instances, objective, passes.count_instances)
        if per_label or one_classifier:
            stairs = passes.staircase(tally)
            choice = choose_on(stairs, "macro" if one_classifier else average, objective)
            choice = choice._replace(stairs=stairs)
        else:
            choice = passes.choose_shared(tally, objective)
    labels = None if one_classifier else tuple(sorted(passes.names))
    kind = "binary" if one_classifier else average

    def load(progress: Wanted = None) -> LabelledScores:
        return whole_matrix(opened, progress, n_instances)

    origin = Origin(load, average, per_label, objective, None, at_hand=False)
    return choice, tune.result_of_counts(
        choice, kind, per_label, objective, labels, opened.native, origin
    )
