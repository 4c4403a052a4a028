"""Open a table of any kind: find its columns, and decide whether to look for duplicates."""

from dataclasses import dataclass
from typing import Any

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.progress import ProgressLike
from halfmax.tables.columns import Columns
from halfmax.tables.duplicates import refuse_duplicates
from halfmax.tables.engines.dask import DaskTable, is_dask
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.spark import SparkTable, is_spark
from halfmax.tables.matrix import of_instances, read_matrix
from halfmax.tables.sources import LocalTable, open_table


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table in this process or in an engine, with its columns found.

    ``refuse_duplicates`` says whether a pair that appears in two rows is an error.
    """

    place: LocalTable | Engine
    columns: Columns
    refuse_duplicates: bool

    @property
    def is_local(self) -> bool:
        """Whether this process reads the table itself."""
        return isinstance(self.place, LocalTable)

    @property
    def native(self) -> Any:
        """The frame whose library results should use, or None."""
        return self.place.native if isinstance(self.place, LocalTable) else None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read, as far as they are known."""
        return self.place.files if isinstance(self.place, LocalTable) else ()


def find_engine(source: Any) -> Engine | None:
    """Return the engine that holds a data frame, or None if the frame is in this process."""
    if is_spark(source):
        return SparkTable(source)
    return DaskTable(source) if is_dask(source) else None


def open_source(source: Any, columns: Columns, check_duplicates: bool | None) -> OpenedTable:
    """Open a table and find its columns.

    By default duplicates are looked for, unless that would shuffle the whole table.
    """
    if check_duplicates not in (None, True, False):
        raise TypeError(f"check_duplicates must be True, False or None; got {check_duplicates!r}")
    engine = find_engine(source)
    place = open_table(source, columns) if engine is None else engine
    found = (
        place.columns
        if isinstance(place, LocalTable)
        else columns.found_in(place.schema, "the table")
    )
    if check_duplicates and found.instance is None:
        raise ArgumentError(
            f"{in_python('check_duplicates')} needs the column of instances: name it with "
            f"{in_python('instance=...')}"
        )
    check = engine is None if check_duplicates is None else check_duplicates
    return OpenedTable(place, found, check and found.instance is not None)


def open_labelled(
    source: Any,
    label: str | None,
    score: str,
    truth: str,
    weight: str | None,
    instance: str | None,
    check_duplicates: bool | None,
) -> OpenedTable:
    """Open a table of scores and their truth."""
    optional = frozenset({"instance"}) if instance == "instance" else frozenset()
    columns = Columns(label, score, truth, weight, instance, optional)
    return open_source(source, columns, check_duplicates)


def check_whole_rows(opened: OpenedTable) -> LocalTable:
    """Refuse a table that cannot be turned into a matrix in this process."""
    if not isinstance(opened.place, LocalTable):
        raise ValueError(
            "guards, assessments with weights, average='samples' and a shared threshold for macro "
            "averages look at whole rows of the matrix, which are not collected from "
            f"{opened.place.name}: write the table to Parquet and pass its path, or use "
            "average='macro' or 'micro' without a guard"
        )
    if opened.columns.label is not None and opened.columns.instance is None:
        raise ArgumentError(
            "this needs the column of instances: name it with "
            f"{in_python('instance=...')}; the table has "
            f"{', '.join(map(repr, opened.place.schema.names))}"
        )
    return opened.place


def whole_matrix(
    opened: OpenedTable, progress: ProgressLike, n_instances: int | None = None
) -> LabelledScores:
    """Read the whole table as a sparse matrix; a table in an engine is refused."""
    table = check_whole_rows(opened)
    # With labels, `read_matrix` finds duplicate pairs itself.
    if opened.columns.label is None and opened.refuse_duplicates:
        refuse_duplicates(table)
    data = read_matrix(table, progress)
    return data if n_instances is None else of_instances(data, n_instances)
