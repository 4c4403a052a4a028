"""The protocol of a distributed engine, for tables larger than one machine.

An engine sends work to the partitions of its table and returns little: lists as long as the
positives, or sums. It does not need to know what the work does.
"""

import platform
import re
from collections.abc import Iterator
from typing import Any, Protocol

from halfmax.tables.arrow import pa

# What engines say, somewhere in a long text, when the Python of their workers cannot run the work.
_FAULTS = (
    (r"No module named '([\w.]+)'", "lacks {found!r}"),
    (r"this needs '([\w.]+)'[^:]*, not installed", "lacks {found!r}"),
    (r"PACKAGE_NOT_INSTALLED\] (\w+)", "lacks {found!r}"),
    (
        r"Python in worker has different version:? (\d+\.\d+)",
        "is Python {found}, but this process runs Python {here}",
    ),
    (r'Cannot run program "([^"]+)"', "cannot be started"),
)


def fault_of_python(error: BaseException) -> str | None:
    """Describe what is wrong with the Python of an engine's workers; None for other errors."""
    text = f"{error!r} {error} {error.__cause__}"
    for pattern, words in _FAULTS:
        if found := re.search(pattern, text):
            return words.format(found=found[1], here=platform.python_version())
    return None


class Work(Protocol):
    """The work done on one partition: record batches in, record batches of `schema` out.

    It can be pickled, may run more than once and in several threads at the same time, and reads
    only the `columns` that it names. A partition may have no batches. `part` is its name for
    messages. Integers of the `schema` are signed and strings are not dictionary-encoded, because
    all engines support these types.
    """

    @property
    def columns(self) -> list[str]: ...

    @property
    def schema(self) -> pa.Schema: ...

    def __call__(
        self, batches: Iterator[pa.RecordBatch], part: str
    ) -> Iterator[pa.RecordBatch]: ...


class Engine(Protocol):
    """A table whose partitions are held by a distributed engine."""

    @property
    def name(self) -> str:
        """The engine's name, for messages."""

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""

    def collect(self, work: Work) -> pa.Table:
        """Run the work on all partitions, and return its results to the caller."""

    def add_up(self, work: Work) -> pa.Table:
        """Run the work like `collect`, and sum the column "count" over rows that are equal."""

    def map(self, work: Work) -> Any:
        """Return a lazy frame of the engine: the results of the work for each partition."""

    def together(self, column: str) -> "Engine":
        """Return the table with all rows of equal value in `column` in the same partition."""

    def count_distinct(self, column: str) -> tuple[int, int]:
        """Count the rows, and the distinct values of a column."""

    def count_pairs(self, first: str, second: str) -> pa.Table:
        """Find some pairs of values that appear in more than one row: (first, second, count)."""
