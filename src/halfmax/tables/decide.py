"""Decide what to predict in long tables of calibrated probabilities."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from halfmax._core.errors import ArgumentError, setting
from halfmax._core.gate.arrays import Matrix
from halfmax._core.progress import ProgressLike
from halfmax._core.types import Array
from halfmax.expected.decide import decide_matrix
from halfmax.expected.decision import Decision
from halfmax.metrics.average import check_average
from halfmax.metrics.metric import Metric
from halfmax.tables.columns import Columns
from halfmax.tables.deliver import NewColumn, deliver, refuse_engine_output, refuse_output
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.work import Batches, with_new_field, with_prediction
from halfmax.tables.matrix import Pairs, read_pairs
from halfmax.tables.open import find_engine
from halfmax.tables.rows import Rows, check_probabilities
from halfmax.tables.sources import LocalTable, is_duckdb, open_table
from halfmax.tables.writing import check_output

_PROBABILITY, _SCORE = "probability", "score"


@dataclass(frozen=True, eq=False)
class DecideGoal:
    """The arguments of `decide` that define the goal."""

    metric: str | Metric
    average: str
    zero_division: float
    min_k: int
    max_k: int | None

    def decide(self, probabilities: Matrix, progress: ProgressLike) -> Decision:
        """Decide which items to predict."""
        return decide_matrix(
            probabilities,
            self.metric,
            self.average,
            self.zero_division,
            self.min_k,
            self.max_k,
            progress=progress,
        )


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
    if out is not None:
        check_output(out, overwrite)
    average = check_average(average, one_classifier=label is None)
    goal = DecideGoal(metric, average, zero_division, min_k, max_k)
    new = NewColumn(prediction, only_predicted)
    engine = find_engine(source)
    if engine is not None:
        refuse_engine_output(engine.name, out)
        columns = _columns(engine.schema.names, instance, label, probability)
        return TableDecision(_in_engine(engine, columns, goal, new))
    table = _open(source, instance, label, probability)
    refuse_output(source, table, out)
    new.check(table.schema)
    decision, predicted, sizes = _decide(table, goal, progress)
    schema = with_new_field(table.schema, prediction)
    rows_before = np.append(0, np.cumsum(sizes))

    def predict(place: int) -> Batches:
        first = rows_before[place]
        for batch in table.parts[place].read(list(table.schema.names)):
            mine = predicted[first : first + batch.num_rows]
            first += batch.num_rows
            yield with_prediction(batch, schema, mine, only_predicted=False)

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


def _columns(
    names: list[str], instance: str | None, label: str | None, probability: str | None
) -> Columns:
    if probability is None:
        probability = _SCORE if _SCORE in names and _PROBABILITY not in names else _PROBABILITY
    return Columns(label, probability, instance=None if label is None else instance)


def _open(source: Any, instance: str, label: str | None, probability: str | None) -> LocalTable:
    if is_duckdb(source):  # if it were computed again, its rows could come in another order
        source = source.to_arrow_table()
    table = open_table(source, Columns(None, None), whole=True)
    columns = _columns(table.schema.names, instance, label, probability)
    if table.is_file:  # the types of CSV columns depend on their roles
        return open_table(source, columns, whole=True)
    return replace(table, columns=columns.found_in(table.schema, "the table"))


def _decide(
    table: LocalTable, goal: DecideGoal, progress: ProgressLike
) -> tuple[Decision, Array, list[int]]:
    """Return the decision, which rows of the table are predicted, and the rows of each part."""
    name = table.columns.score
    assert name is not None

    def check(rows: Rows) -> None:
        check_probabilities(rows.scores, name, rows.place)

    pairs = read_pairs(table, progress, check)
    if table.columns.label is None:
        decision = goal.decide(Matrix(pairs.scores, None, None), progress)
        return decision, decision.predictions == 1, pairs.sizes
    stored = pairs.stored(table)
    stored.data = pairs.scores[stored.data]
    decision = goal.decide(Matrix(stored, pairs.labels, None), progress)
    predicted = _in_table(decision.predictions, pairs, goal)
    if goal.average == "samples":
        decision = replace(decision, labels=tuple(pairs.instances))
    return decision, predicted, pairs.sizes


def _in_table(predictions: Any, pairs: Pairs, goal: DecideGoal) -> Array:
    """Return which rows of the table are predicted.

    Where `min_k` demands pairs of probability 0, pairs that have a row come first.
    """
    places = sparse.coo_array(predictions)
    width = len(pairs.labels)
    chosen = np.sort(places.row.astype(np.int64) * width + places.col)
    own = pairs.rows * width + pairs.columns
    found = np.isin(own, chosen, assume_unique=True)
    absent = np.setdiff1d(chosen, own, assume_unique=True)
    if len(absent):
        _take_instead(absent, own, found, width, goal)
    return found


def _take_instead(absent: Array, own: Array, found: Array, width: int, goal: DecideGoal) -> None:
    """Replace each prediction without a row by an unpredicted row of the same batch."""
    free = np.flatnonzero(~found)
    needed, batch = (_batches(keys, width, goal.average) for keys in (absent, own[free]))
    order = np.argsort(batch, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.searchsorted(batch[order], batch[order])
    taken = rank < np.bincount(needed, minlength=int(batch.max(initial=0)) + 1)[batch]
    found[free[taken]] = True
    if taken.sum() < len(absent):
        raise ArgumentError(
            f"{setting('min_k', goal.min_k)} asks for more predictions than some batch has rows in "
            "the table: lower it, or add rows for the pairs that may be predicted"
        )


def _batches(keys: Array, width: int, average: str) -> Array:
    """The batch of each pair: its instance, its label, or the only batch."""
    if average == "micro":
        return np.zeros_like(keys)
    return keys // width if average == "samples" else keys % width


def _in_engine(engine: Engine, columns: Columns, goal: DecideGoal, new: NewColumn) -> Any:
    found = columns.found_in(engine.schema, "the table")
    new.check(engine.schema)
    key = {"samples": found.instance, "macro": found.label}.get(goal.average)
    if key is None:
        raise ValueError(
            f"{engine.name} cannot decide for the whole table as one batch: use average='samples' "
            "or 'macro', or write the table to Parquet and pass its path"
        )
    return engine.together(key).map(DecideParts(found, engine.schema, goal, new))


@dataclass(frozen=True)
class DecideParts:
    """Add a column to a partition of whole batches: 1 where the pair is predicted, otherwise 0."""

    roles: Columns
    input_schema: pa.Schema
    goal: DecideGoal
    new: NewColumn

    @property
    def columns(self) -> list[str]:
        return list(self.input_schema.names)

    @property
    def schema(self) -> pa.Schema:
        return with_new_field(self.input_schema, self.new.name)

    def __call__(self, batches: Batches, part: str) -> Batches:  # noqa: ARG002
        """Process one partition."""
        whole = pa.Table.from_batches(batches, self.input_schema)
        if not whole.num_rows:
            return
        table = open_table(whole, self.roles, whole=True)
        predicted = _decide(table, self.goal, None)[1]
        first = 0
        for batch in whole.to_batches():
            mine = predicted[first : first + batch.num_rows]
            first += batch.num_rows
            yield with_prediction(batch, self.schema, mine, self.new.only_predicted)
