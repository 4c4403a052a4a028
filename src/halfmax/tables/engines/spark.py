"""Spark data frames: work runs as Arrow map functions inside the executors."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

import pyarrow as pa

from halfmax._core.errors import ArgumentError, ArgumentTypeError
from halfmax.tables.engines.engine import Engine, Work, fault_of_python
from halfmax.tables.files import in_large_batches

_FEW = 5
# How a traceback names the errors of the work.
_COMPLAINTS = {
    "TypeError": TypeError,
    "ValueError": ValueError,
    f"{ArgumentTypeError.__module__}.ArgumentTypeError": ArgumentTypeError,
    f"{ArgumentError.__module__}.ArgumentError": ArgumentError,
}
_COMPLAINT = re.compile(rf"^({'|'.join(map(re.escape, _COMPLAINTS))}): (.*)$", re.MULTILINE)

Batches = Iterator[pa.RecordBatch]


def is_spark(frame: Any) -> bool:
    """True for a data frame of Spark, classic or Connect; imports nothing."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
        for kind in type(frame).__mro__
    )


class SparkTable:
    """A Spark data frame whose partitions are worked on where they are."""

    name = "Spark"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        return self.frame.limit(0).toArrow().schema

    def collect(self, work: Work) -> pa.Table:
        """Run the work on all partitions and bring what it gives to the caller."""
        with self._sent(work) as fetch:
            return self._fetched(self._mapped(work, fetch)).cast(work.schema)

    def add_up(self, work: Work) -> pa.Table:
        """The same with the column "count" added up over rows that are otherwise equal."""
        from pyspark.sql import functions

        with self._sent(work) as fetch:
            keys = [name for name in work.schema.names if name != "count"]
            counts = self._mapped(work, fetch).groupBy(*keys)
            total = counts.agg(functions.sum("count").alias("count"))
            return self._fetched(total).cast(work.schema)

    def map(self, work: Work) -> Any:
        """A lazy frame of what the work gives for each partition."""
        return self._mapped(work, self._send(work))

    def together(self, column: str) -> Engine:
        """The same table with all rows of equal value in `column` in the same partition."""
        return SparkTable(self.frame.repartition(_quoted(column)))

    def count_distinct(self, column: str) -> tuple[int, int]:
        """The number of rows, and of distinct values in a column."""
        from pyspark.sql import functions

        values = functions.count_distinct(functions.col(_quoted(column)))
        counts = functions.count("*").alias("rows"), values.alias("values")
        found = self._fetched(self.frame.agg(*counts))
        return found["rows"][0].as_py(), found["values"][0].as_py()

    def count_pairs(self, first: str, second: str) -> pa.Table:
        """Some pairs of values that stand in more than one row, if any: (first, second, count)."""
        from pyspark.sql import functions

        pairs = self.frame.select(
            functions.col(_quoted(first)).alias("first"),
            functions.col(_quoted(second)).alias("second"),
        )
        counts = pairs.groupBy("first", "second").agg(functions.count("*").alias("count"))
        return self._fetched(counts.filter("count > 1").limit(_FEW))

    def _mapped(self, work: Work, fetch: Callable[[], Work]) -> Any:
        from pyspark.sql.pandas.types import from_arrow_schema

        chosen = self.frame.select(*map(_quoted, work.columns))
        schema = from_arrow_schema(work.schema, prefer_timestamp_ntz=True)
        return chosen.mapInArrow(_on_each_partition(fetch), schema)

    def _fetched(self, frame: Any) -> pa.Table:
        """The rows of a small frame; complaints of the work are raised as it raised them."""
        try:
            return frame.toArrow()
        except Exception as error:
            complaints = _COMPLAINT.findall(str(error))
            if complaints:
                kind, message = complaints[-1]
                raise _COMPLAINTS[kind](message) from error
            fault = fault_of_python(error)
            if fault is None:
                raise
        raise ImportError(_how_to_mend(fault, self._python)) from None

    @property
    def _python(self) -> str:
        """What executors call to start Python, where that is known."""
        with suppress(Exception):  # Spark Connect does not tell
            return f", {self.frame.sparkSession.sparkContext.pythonExec!r},"
        return ""

    def _send(self, work: Work) -> Callable[[], Work]:
        """A way for the executors to get the work, which may be large."""
        if "connect" in type(self.frame).__module__:  # has no broadcasts
            return lambda: work
        sent = self.frame.sparkSession.sparkContext.broadcast(work)
        return _Broadcast(sent)

    @contextmanager
    def _sent(self, work: Work) -> Iterator[Callable[[], Work]]:
        """The same for as long as it is needed."""
        fetch = self._send(work)
        try:
            yield fetch
        finally:
            if isinstance(fetch, _Broadcast):
                fetch.sent.destroy()


class _Broadcast:
    """Work that each executor gets once, however many partitions it has."""

    def __init__(self, sent: Any) -> None:
        self.sent = sent

    def __call__(self) -> Work:
        work: Work = self.sent.value
        return work


def _on_each_partition(fetch: Callable[[], Work]) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        task: Any = TaskContext.get()
        return fetch()(in_large_batches(batches), f"partition {task.partitionId()}")

    return run


def _how_to_mend(fault: str, python: str) -> str:
    return (
        f"the Python that Spark's executors run{python} {fault}. They need one with pyarrow and "
        "halfmax, which PYSPARK_PYTHON must name before the session starts. If they run on this "
        f"machine, use this one: os.environ['PYSPARK_PYTHON'] = {sys.executable!r}; on every other "
        "machine, install halfmax"
    )


def _quoted(column: str) -> str:
    escaped = column.replace("`", "``")
    return f"`{escaped}`"
