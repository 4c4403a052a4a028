"""Spark data frames: work runs as Arrow map functions inside the executors."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import Any

from halfmax._core.errors import ArgumentError, ArgumentTypeError
from halfmax.tables.arrow import pa
from halfmax.tables.engines.engine import Engine, Work, fault_of_python
from halfmax.tables.files import in_large_batches
from halfmax.tables.rows import MissingValueError, NotZeroOneError

_FEW = 5  # repeated pairs that are reported
# How a traceback names the errors of the work.
_ERRORS = {
    "TypeError": TypeError,
    "ValueError": ValueError,
    f"{ArgumentTypeError.__module__}.ArgumentTypeError": ArgumentTypeError,
    f"{ArgumentError.__module__}.ArgumentError": ArgumentError,
    f"{NotZeroOneError.__module__}.NotZeroOneError": NotZeroOneError,
    f"{MissingValueError.__module__}.MissingValueError": MissingValueError,
}
_RAISED = re.compile(rf"^({'|'.join(map(re.escape, _ERRORS))}): (.*)$", re.MULTILINE)

Batches = Iterator[pa.RecordBatch]


def is_spark(frame: Any) -> bool:
    """Whether this is a Spark data frame, classic or Connect; imports nothing."""
    return any(
        kind.__module__.startswith("pyspark.sql") and kind.__name__ == "DataFrame"
        for kind in type(frame).__mro__
    )


class SparkTable:
    """A Spark data frame; work runs on its partitions where they are."""

    name = "Spark"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""
        return self.frame.limit(0).toArrow().schema

    def collect(self, work: Work) -> pa.Table:
        """Run the work on all partitions, and return its results to the caller."""
        with self._sent(work) as fetch:
            return self._fetched(self._mapped(work, fetch)).cast(work.schema)

    def add_up(self, work: Work) -> pa.Table:
        """Run the work like `collect`, and sum the column "count" over rows that are equal."""
        from pyspark.sql import functions

        with self._sent(work) as fetch:
            keys = [name for name in work.schema.names if name != "count"]
            counts = self._mapped(work, fetch).groupBy(*keys)
            total = counts.agg(functions.sum("count").alias("count"))
            return self._fetched(total).cast(work.schema)

    def map(self, work: Work) -> Any:
        """Return a lazy frame: the results of the work for each partition."""
        return self._mapped(work, self._send(work))

    def together(self, column: str) -> Engine:
        """Return the table with all rows of equal value in `column` in the same partition."""
        return SparkTable(self.frame.repartition(_quoted(column)))

    def count_distinct(self, column: str) -> tuple[int, int]:
        """Count the rows, and the distinct values of a column."""
        from pyspark.sql import functions

        values = functions.count_distinct(functions.col(_quoted(column)))
        rows = functions.count("*").alias("rows")
        found = self._fetched(self.frame.agg(rows, values.alias("values")))
        return found["rows"][0].as_py(), found["values"][0].as_py()

    def count_pairs(self, first: str, second: str) -> pa.Table:
        """Find some pairs of values that appear in more than one row: (first, second, count)."""
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
        """Fetch the rows of a small frame; raise errors of the work as the work raised them."""
        try:
            return frame.toArrow()
        except Exception as error:
            raised = _RAISED.findall(str(error))
            if raised:
                kind, message = raised[-1]
                raise _ERRORS[kind](message) from error
            fault = fault_of_python(error)
            if fault is None:
                raise
        raise ImportError(_how_to_fix(fault, self._python)) from None

    @property
    def _python(self) -> str:
        """The command with which executors start Python, if it is known."""
        with suppress(Exception):  # Spark Connect does not say
            return f", {self.frame.sparkSession.sparkContext.pythonExec!r},"
        return ""

    def _send(self, work: Work) -> Callable[[], Work]:
        """Return a function that fetches the work, which may be large, in the executors."""
        if "connect" in type(self.frame).__module__:  # Spark Connect has no broadcasts
            return lambda: work
        sent = self.frame.sparkSession.sparkContext.broadcast(work)
        return _Broadcast(sent)

    @contextmanager
    def _sent(self, work: Work) -> Iterator[Callable[[], Work]]:
        """Send the work, and destroy the broadcast afterwards."""
        fetch = self._send(work)
        try:
            yield fetch
        finally:
            if isinstance(fetch, _Broadcast):
                fetch.sent.destroy()


class _Broadcast:
    """Work that each executor receives once, however many partitions it has."""

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


def _how_to_fix(fault: str, python: str) -> str:
    return (
        f"the Python that Spark's executors run{python} {fault}. They need a Python with pyarrow "
        "and halfmax, which PYSPARK_PYTHON must name before the session starts. If they run on "
        f"this machine, use this one: os.environ['PYSPARK_PYTHON'] = {sys.executable!r}; on every "
        "other machine, install halfmax"
    )


def _quoted(column: str) -> str:
    escaped = column.replace("`", "``")
    return f"`{escaped}`"
