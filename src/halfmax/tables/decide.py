"""Decisions for long tables of calibrated probabilities."""

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from scipy import sparse

from halfmax._core.matrix import Matrix
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
    """What `decide` is asked for."""

    metric: str | Metric
    average: str
    zero_division: float
    min_k: int
    max_k: int | None

    def decide(self, probabilities: Matrix, progress: ProgressLike) -> Decision:
        """Decide which of the probabilities are predicted."""
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
    """What was decided for a table.

    Attributes
    ----------
    predictions
        The table with its new column, in the library it came in; None if it went to a file.
    path : str or None
        The file that it went to.
    rows, predicted : int
        Rows of what was made, and how many of them are predicted.
    decision : Decision
        Thresholds, counts and expected scores of each batch. It and the numbers are None where an
        engine decides later.
    rows_read : int
        Rows of the table that was given.
    """

    predictions: Any
    path: str | None = None
    rows: int | None = None
    predicted: int | None = None
    decision: Decision | None = None
    rows_read: int | None = None

    @property
    def expected_score(self) -> float:
        """The expected metric of what is predicted."""
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
    """The decisions of `decide`, for a table with a row for each (instance, label).

    Parameters
    ----------
    source
        As `tune_table` takes it. Whole batches are decided, so a table that lies here is held in
        memory as a sparse matrix, and Spark and Dask bring the rows of a batch together first.
    out : path, optional
        A Parquet, Arrow or CSV file, as its name tells, written whole or not at all. It
        must not be a file that is read, nor lie in a folder that is read.
    instance, label, probability : str
        Names of the columns; that of probabilities is ``"probability"``, or ``"score"`` if there is
        none. A pair that is not in the table has probability 0. ``label=None`` is one batch.
    metric, average, zero_division, min_k, max_k
        As `decide` takes them: ``"samples"`` decides for each instance, ``"macro"`` for each label.
        No more can be predicted than the table has rows for.
    prediction, only_predicted, overwrite, progress
        As `apply_table` takes them.

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
    rule = DecideGoal(metric, average, zero_division, min_k, max_k)
    new = NewColumn(prediction, only_predicted)
    engine = find_engine(source)
    if engine is not None:
        refuse_engine_output(engine.name, out)
        columns = _columns(engine.schema.names, instance, label, probability)
        return TableDecision(_in_engine(engine, columns, rule, new))
    table = _open(source, instance, label, probability)
    refuse_output(source, table, out)
    new.check(table.schema)
    decision, predicted, sizes = _decide(table, rule, progress)
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
    if is_duckdb(source):  # computed anew, its rows might come in another order
        source = source.to_arrow_table()
    table = open_table(source, Columns(None, None), whole=True)
    columns = _columns(table.schema.names, instance, label, probability)
    if table.is_file:  # which is read with regard to what its columns mean
        return open_table(source, columns, whole=True)
    return replace(table, columns=columns.found_in(table.schema, "the table"))


def _decide(
    table: LocalTable, rule: DecideGoal, progress: ProgressLike
) -> tuple[Decision, Array, list[int]]:
    """The decision, whether each row of the table is predicted, and the rows of each part."""
    name = table.columns.score
    assert name is not None

    def check(rows: Rows) -> None:
        check_probabilities(rows.scores, name, rows.place)

    pairs = read_pairs(table, progress, check)
    if table.columns.label is None:
        decision = rule.decide(Matrix(pairs.scores, None, None), progress)
        return decision, decision.predictions == 1, pairs.sizes
    stored = pairs.stored(table)
    stored.data = pairs.scores[stored.data]
    decision = rule.decide(Matrix(stored, pairs.labels, None), progress)
    predicted = _in_table(decision.predictions, pairs, rule)
    if rule.average == "samples":
        decision = replace(decision, labels=tuple(pairs.instances))
    return decision, predicted, pairs.sizes


def _in_table(predictions: Any, pairs: Pairs, rule: DecideGoal) -> Array:
    """Which rows of the table are predicted.

    Where `min_k` asks for pairs that cannot be true, those that have a row come first.
    """
    places = sparse.coo_array(predictions)
    width = len(pairs.labels)
    chosen = np.sort(places.row.astype(np.int64) * width + places.col)
    own = pairs.rows * width + pairs.columns
    found = np.isin(own, chosen, assume_unique=True)
    absent = np.setdiff1d(chosen, own, assume_unique=True)
    if len(absent):
        _take_instead(absent, own, found, width, rule)
    return found


def _take_instead(absent: Array, own: Array, found: Array, width: int, rule: DecideGoal) -> None:
    """For each prediction without a row, another row of its batch that is not predicted yet."""
    free = np.flatnonzero(~found)
    wanted, batch = (_batches(keys, width, rule.average) for keys in (absent, own[free]))
    order = np.argsort(batch, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order)) - np.searchsorted(batch[order], batch[order])
    taken = rank < np.bincount(wanted, minlength=int(batch.max(initial=0)) + 1)[batch]
    found[free[taken]] = True
    if taken.sum() < len(absent):
        raise ValueError(
            f"min_k={rule.min_k} asks for more predictions than some batch has rows in the table: "
            "lower it, or list the pairs that may be predicted"
        )


def _batches(keys: Array, width: int, average: str) -> Array:
    """The batch of each pair: its instance, its label, or the one that there is."""
    if average == "micro":
        return np.zeros_like(keys)
    return keys // width if average == "samples" else keys % width


def _in_engine(engine: Engine, columns: Columns, rule: DecideGoal, new: NewColumn) -> Any:
    found = columns.found_in(engine.schema, "the table")
    new.check(engine.schema)
    key = {"samples": found.instance, "macro": found.label}.get(rule.average)
    if key is None:
        raise ValueError(
            f"a decision for the whole table at once is not made inside {engine.name}: use "
            "average='samples' or 'macro', or write the table to Parquet and give its path"
        )
    return engine.together(key).map(DecideParts(found, engine.schema, rule, new))


@dataclass(frozen=True)
class DecideParts:
    """All columns and one more: 1 where the pair is predicted. A partition holds whole batches."""

    roles: Columns
    given: pa.Schema
    rule: DecideGoal
    new: NewColumn

    @property
    def columns(self) -> list[str]:
        return list(self.given.names)

    @property
    def schema(self) -> pa.Schema:
        return with_new_field(self.given, self.new.name)

    def __call__(self, batches: Batches, part: str) -> Batches:  # noqa: ARG002
        """One partition."""
        whole = pa.Table.from_batches(batches, self.given)
        if not whole.num_rows:
            return
        table = open_table(whole, self.roles, whole=True)
        predicted = _decide(table, self.rule, None)[1]
        first = 0
        for batch in whole.to_batches():
            mine = predicted[first : first + batch.num_rows]
            first += batch.num_rows
            yield with_prediction(batch, self.schema, mine, self.new.only_predicted)
