"""Opening a table of any kind: its columns found, and whether duplicates shall be refused."""

from dataclasses import dataclass
from typing import Any

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.labelled import LabelledScores
from halfmax._core.progress import ProgressLike
from halfmax.metrics.goal import Goal
from halfmax.tables.columns import Columns
from halfmax.tables.duplicates import refuse_duplicates
from halfmax.tables.engines.dask import DaskTable, is_dask
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.spark import SparkTable, is_spark
from halfmax.tables.matrix import of_instances, read_matrix
from halfmax.tables.sources import LocalTable, open_table


@dataclass(frozen=True, eq=False)
class OpenedTable:
    """A table here or in an engine, its columns found, and whether duplicates shall be refused."""

    place: LocalTable | Engine
    columns: Columns
    refuse_duplicates: bool

    @property
    def native(self) -> Any:
        """The frame whose library answers should use."""
        return self.place.native if isinstance(self.place, LocalTable) else None

    @property
    def files(self) -> tuple[str, ...]:
        """The files that are read, as far as they are known."""
        return self.place.files if isinstance(self.place, LocalTable) else ()


def find_engine(source: Any) -> Engine | None:
    """The engine that a data frame lives in, if it is not this process."""
    if is_spark(source):
        return SparkTable(source)
    return DaskTable(source) if is_dask(source) else None


def open_source(source: Any, columns: Columns, check_duplicates: bool | None) -> OpenedTable:
    """Find the columns; duplicates are looked for unless that would shuffle the whole table."""
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
    wanted = engine is None if check_duplicates is None else check_duplicates
    return OpenedTable(place, found, wanted and found.instance is not None)


def open_labelled(
    source: Any,
    label: str | None,
    score: str,
    truth: str,
    weight: str | None,
    instance: str | None,
    check_duplicates: bool | None,
) -> OpenedTable:
    """Open a table of scores with the truth about them."""
    optional = frozenset({"instance"}) if instance == "instance" else frozenset()
    columns = Columns(label, score, truth, weight, instance, optional)
    return open_source(source, columns, check_duplicates)


def needs_rows(goal: Goal) -> bool:
    """Whether counts of the single labels do not tell everything."""
    if goal.guard is not None:
        return True
    by_rows = goal.average == "samples" or (goal.average == "macro" and not goal.per_label)
    return by_rows and not goal.one_classifier


def check_whole_rows(opened: OpenedTable) -> LocalTable:
    """Refuse a table whose rows cannot be brought together to those of a matrix."""
    if not isinstance(opened.place, LocalTable):
        raise ValueError(
            f"guards, assessments with weights, average='samples' and shared thresholds of macro "
            f"averages look at whole rows, which are not brought together from "
            f"{opened.place.name}: write the table to Parquet and give its path, or use "
            "average='macro' or 'micro' without guard"
        )
    if opened.columns.label is not None and opened.columns.instance is None:
        raise ArgumentError(
            "which rows belong to one instance must be known here: name its column with "
            f"{in_python('instance=...')}; the table has "
            f"{', '.join(map(repr, opened.place.schema.names))}"
        )
    return opened.place


def whole_matrix(
    opened: OpenedTable, progress: ProgressLike, n_instances: int | None = None
) -> LabelledScores:
    """All rows as a sparse matrix; of an engine's table that would be too much."""
    table = check_whole_rows(opened)
    if opened.columns.label is None and opened.refuse_duplicates:  # a matrix finds its own
        refuse_duplicates(table)
    data = read_matrix(table, progress)
    return data if n_instances is None else of_instances(data, n_instances)
