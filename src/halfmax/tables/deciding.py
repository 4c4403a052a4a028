"""Decide on the rows of a table: in this process for all batches, in an engine for each."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from halfmax._core.errors import ArgumentError, setting
from halfmax._core.gate.arrays import Matrix
from halfmax._core.progress import ProgressLike
from halfmax._core.types import Array
from halfmax.expected.decide import decide_matrix
from halfmax.expected.decision import Decision
from halfmax.metrics.metric import Metric
from halfmax.tables.arrow import pa
from halfmax.tables.columns import Columns
from halfmax.tables.deliver import NewColumn
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.work import Batches, with_new_field, with_prediction
from halfmax.tables.matrix import Pairs, read_pairs
from halfmax.tables.rows import Rows, check_probabilities
from halfmax.tables.sources import LocalTable, is_duckdb, open_table

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


def find_columns(
    names: list[str], instance: str | None, label: str | None, probability: str | None
) -> Columns:
    """Return the columns of a table; that of probabilities is called so, or is the score."""
    if probability is None:
        probability = _SCORE if _SCORE in names and _PROBABILITY not in names else _PROBABILITY
    return Columns(label, probability, instance=None if label is None else instance)


def open_probabilities(
    source: Any, instance: str, label: str | None, probability: str | None
) -> LocalTable:
    """Open a table of probabilities in this process."""
    if is_duckdb(source):  # if it were computed again, its rows could come in another order
        source = source.to_arrow_table()
    table = open_table(source, Columns(None, None), whole=True)
    columns = find_columns(table.schema.names, instance, label, probability)
    if table.is_file:  # the types of CSV columns depend on their roles
        return open_table(source, columns, whole=True)
    return replace(table, columns=columns.found_in(table.schema, "the table"))


def decide_rows(
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


def decide_in_engine(engine: Engine, columns: Columns, goal: DecideGoal, new: NewColumn) -> Any:
    """Return the frame of the engine that decides when it is computed."""
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
        predicted = decide_rows(table, self.goal, None)[1]
        first = 0
        for batch in whole.to_batches():
            mine = predicted[first : first + batch.num_rows]
            first += batch.num_rows
            yield with_prediction(batch, self.schema, mine, self.new.lowest)
