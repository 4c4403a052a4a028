"""Decide what to predict in long tables of calibrated probabilities."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax._core.progress import ProgressLike
from halfmax.expected.decision import Decision
from halfmax.metrics.average import check_average_without_truth
from halfmax.metrics.metric import Metric

if TYPE_CHECKING:
    from halfmax.tables.engines.work import Batches


@dataclass(frozen=True, eq=False)
class TableDecision:
    """The decisions for a table.

    Attributes
    ----------
    predictions : table or None
        The table with its new column, in the library that it came in. None if it was written to a
        file.
    path : str or None
        The file that was written.
    rows : int or None
        The number of rows in the result. Like `predicted`, `decision` and `rows_read`, it is None
        if an engine decides later.
    predicted : int or None
        How many of these rows are predicted positive.
    decision : Decision or None
        Thresholds, counts and expected scores of each batch.
    rows_read : int or None
        The number of rows in the source.

    See Also
    --------
    decide_table : Makes these decisions.
    Decision : The decisions for a matrix.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from halfmax import decide_table
    >>> d = decide_table(pa.table({"probability": [0.9, 0.5, 0.1]}), label=None)
    >>> d.predicted, d.rows, round(d.expected_score, 3)
    (2, 3, 0.766)
    """

    predictions: Any
    path: str | None = None
    rows: int | None = None
    predicted: int | None = None
    decision: Decision | None = None
    rows_read: int | None = None

    @property
    def expected_score(self) -> float:
        """The expected metric of the predictions."""
        if self.decision is None:
            raise AttributeError("the engine has not decided yet: compute the predictions first")
        return self.decision.expected_score


def decide_table(
    source: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    instance: str = "instance",
    label: str | None = "label",
    probability: str | None = None,
    metric: str | Metric = "f1",
    average: str = "macro",
    zero_division: float = 0.0,
    min_k: int = 0,
    max_k: int | None = None,
    prediction: str = "predicted",
    only_predicted: bool = False,
    overwrite: bool = False,
    progress: ProgressLike = None,
) -> TableDecision:
    """Decide what to predict in a long table of probabilities, as `decide` does for a matrix.

    Decisions are made for whole batches. A table in this process is therefore held in memory as a
    sparse matrix, and Spark and Dask first bring the rows of each batch together.

    Parameters
    ----------
    source : path, list of paths, table, dataset, data frame or relation
        The table, as in `tune_table`, with a row for each (instance, label) pair. A pair that is
        not in the table has probability 0.
    out : path or None
        A Parquet, Arrow or CSV file to write, in the format of its suffix, whole or not at all. It
        must not be one of the input files, nor be inside an input folder.
    instance : str
        The column of instances.
    label : str or None
        The column of labels. None if the whole table is one batch.
    probability : str or None
        The column of probabilities. By default it is ``"probability"``, or ``"score"`` if there is
        no such column.
    metric : str or Metric
        The metric whose expectation is maximised, as in `decide`.
    average : {"macro", "micro", "samples"}
        What a batch is, as in `decide`: ``"samples"`` decides for each instance, ``"macro"`` for
        each label, ``"micro"`` for the whole table.
    zero_division : float
        The value of 0/0, as in `decide`.
    min_k : int
        The fewest items to predict in each batch, as in `decide`.
    max_k : int or None
        The most items to predict in each batch, as in `decide`. Only pairs that have a row can be
        predicted.
    prediction : str
        The name of the new column.
    only_predicted : bool
        Whether to keep only the rows that are predicted positive.
    overwrite : bool
        Whether an existing file at `out` may be replaced.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total).

    Returns
    -------
    TableDecision
        The predictions or the path of their file, and the decision of each batch.

    Raises
    ------
    ValueError
        If a value is not allowed, a pair appears twice, a batch has fewer rows than `min_k`, or
        `out` cannot be used. The message names the row and the file.
    TypeError
        If a column or an argument has the wrong type.
    FileExistsError
        If `out` exists and `overwrite` is False.

    See Also
    --------
    decide : Decide for arrays, sparse matrices and wide data frames.
    apply_table : Predict a table with thresholds.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"instance": [1, 1, 1, 2, 2], "label": ["a", "b", "c", "a", "c"],
    ...                   "probability": [0.9, 0.5, 0.1, 0.2, 0.1]})
    >>> d = decide_table(table, average="samples")
    >>> d.predictions["predicted"].to_pylist(), round(d.expected_score, 4)
    ([1, 1, 0, 1, 0], 0.4797)
    """
    from halfmax.tables import deciding
    from halfmax.tables.deliver import NewColumn, deliver, refuse_engine_output, refuse_output
    from halfmax.tables.engines.work import with_new_field, with_prediction
    from halfmax.tables.open import find_engine
    from halfmax.tables.writing import check_output

    if out is not None:
        check_output(out, overwrite)
    average = check_average_without_truth(average, one_classifier=label is None)
    goal = deciding.DecideGoal(metric, average, zero_division, min_k, max_k)
    new = NewColumn(prediction, only_predicted)
    engine = find_engine(source)
    if engine is not None:
        refuse_engine_output(engine.name, out)
        columns = deciding.find_columns(engine.schema.names, instance, label, probability)
        return TableDecision(deciding.decide_in_engine(engine, columns, goal, new))
    table = deciding.open_probabilities(source, instance, label, probability)
    refuse_output(source, table, out)
    new.check(table.schema)
    decision, predicted, sizes = deciding.decide_rows(table, goal, progress)
    schema = with_new_field(table.schema, prediction)
    rows_before = np.append(0, np.cumsum(sizes))

    def predict(place: int) -> "Batches":
        first = rows_before[place]
        for batch in table.parts[place].read(list(table.schema.names)):
            mine = predicted[first : first + batch.num_rows]
            first += batch.num_rows
            yield with_prediction(batch, schema, mine, lowest=None)

    done = deliver(table, schema, predict, new, out, overwrite, None)
    chosen = int(predicted.sum())
    return TableDecision(
        predictions=done if out is None else None,
        path=None if out is None else os.fspath(out),
        rows=chosen if only_predicted else len(predicted),
        predicted=chosen,
        decision=decision,
        rows_read=len(predicted),
    )
