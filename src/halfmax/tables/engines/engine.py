"""What a distributed engine has to offer, so that tables larger than one machine can be tuned.

An engine moves work to the partitions of its table and brings back little: lists that are as long
as the positives, or sums. It never has to know what the work is about.
"""

import platform
import re
from collections.abc import Iterator
from typing import Any, Protocol

import pyarrow as pa

# What engines say, somewhere in a long text, when the Python of their workers is not fit for work.
_FAULTS = (
    (r"No module named '([\w.]+)'", "lacks {found!r}"),
    (r"PACKAGE_NOT_INSTALLED\] (\w+)", "lacks {found!r}"),
    (
        r"Python in worker has different version:? (\d+\.\d+)",
        "is Python {found}, and this one is Python {here}",
    ),
    (r'Cannot run program "([^"]+)"', "cannot be started"),
)


def fault_of_python(error: BaseException) -> str | None:
    """What is wrong with the Python of an engine's workers, if that is what the error is about."""
    text = f"{error!r} {error} {error.__cause__}"
    for pattern, words in _FAULTS:
        if found := re.search(pattern, text):
            return words.format(found=found[1], here=platform.python_version())
    return None


class Work(Protocol):
    """What happens to one partition: its record batches in, record batches of `schema` out.

    It can be pickled, may run more than once, also in several threads at a time, and reads only the
    `columns` that it names. A partition may have no batches. `part` is its name for messages.
    Integers of the `schema` are signed and strings are plain, which all engines have.
    """

    @property
    def columns(self) -> list[str]: ...

    @property
    def schema(self) -> pa.Schema: ...

    def __call__(
        self, batches: Iterator[pa.RecordBatch], part: str
    ) -> Iterator[pa.RecordBatch]: ...


class Engine(Protocol):
    """A table that lies in partitions elsewhere."""

    @property
    def name(self) -> str:
        """The engine's name, for messages."""

    @property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns."""

    def collect(self, work: Work) -> pa.Table:
        """Run the work on all partitions and bring what it gives to the caller."""

    def add_up(self, work: Work) -> pa.Table:
        """The same with the column "count" added up over rows that are otherwise equal."""

    def map(self, work: Work) -> Any:
        """A lazy frame of the engine's own kind, of what the work gives for each partition."""

    def together(self, column: str) -> "Engine":
        """The same table with all rows of equal value in `column` in the same partition."""

    def count_distinct(self, column: str) -> tuple[int, int]:
        """The number of rows, and of distinct values in a column."""

    def count_pairs(self, first: str, second: str) -> pa.Table:
        """Some pairs of values that stand in more than one row, if any: (first, second, count)."""
