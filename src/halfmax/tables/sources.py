"""Tables that this process reads itself: files, Arrow tables, data frames and relations."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from halfmax._core.limits import limits
from halfmax.tables.arrow import pa
from halfmax.tables.columns import Columns, kind_of_id, plain_schema
from halfmax.tables.files import CSV, Part, checked_batches, format_of, open_files
from halfmax.tables.rows import Rows, read_rows

KNOWN = (
    "a path, glob or folder of Parquet, Arrow IPC or CSV files (or a list of them), a pyarrow "
    "table or dataset, a pandas, polars or other frame that Narwhals supports, a DuckDB relation, "
    "or a Spark or Dask data frame"
)


@dataclass(frozen=True, eq=False)
class LocalTable:
    """A table that this process reads itself, in parts.

    ``columns`` are those that were found; ``native`` is the data frame that was passed, if any.
    """

    parts: list[Part]
    schema: pa.Schema
    columns: Columns
    native: Any = None
    untyped: bool = False  # CSV, whose ids are read as text
    is_file: bool = False
    files: tuple[str, ...] = ()  # the files that are read, as far as they are known

    def rows_of(self, place: int, columns: Columns | None = None) -> Iterator[Rows]:
        """Read and check the rows of a part, with all columns that were found or some of them."""
        part, columns = self.parts[place], columns or self.columns
        return read_rows(part.read(columns.names), columns, part.name, part.first)

    @property
    def rows(self) -> int | None:
        """The number of rows, or None if it is not known before they are read."""
        sizes = [part.rows for part in self.parts]
        return None if None in sizes else sum(size or 0 for size in sizes)


def open_table(source: Any, columns: Columns, whole: bool = False) -> LocalTable:
    """Open a source, and check that every part has the columns and that their types agree.

    With ``whole`` the other columns can be read as well.
    """
    if paths := as_paths(source):
        return _of_files(paths, columns, whole)
    schema, parts, native, names = _of_frame(source, None if whole else columns.names)
    files = tuple(getattr(source, "files", ())) if _is_dataset(source) else ()
    return LocalTable(
        parts, schema, columns.found_in(schema, "the table", names), native, files=files
    )


def as_paths(source: Any) -> list[str]:
    """Return the paths, or an empty list if the source is something else."""
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    several = source if isinstance(source, (list, tuple)) else []
    every_one = all(isinstance(one, (str, os.PathLike)) for one in several)
    return [os.fspath(one) for one in several] if every_one else []


def _of_files(paths: Sequence[str], columns: Columns, whole: bool) -> LocalTable:
    files = open_files(paths, columns)
    first, *others = [file for file in files if file.parts] or files[:1]  # or none has rows
    found, schema = columns.found_in(first.schema, first.path), first.schema
    for file in others:
        here = columns.found_in(file.schema, file.path)
        names, expected = (
            (set(schema.names) if whole else set(roles.names))
            for schema, roles in ((file.schema, here), (first.schema, found))
        )
        if names != expected:
            raise ValueError(
                f"all files must have the same columns; only one of {first.path} and {file.path} "
                f"has {min(names ^ expected)!r}"
            )
        for name in found.ids:
            kinds = [kind_of_id(schema.field(name).type) for schema in (first.schema, file.schema)]
            if kinds[0] != kinds[1]:
                raise TypeError(
                    f"column {name!r} must have one type in all files; it holds {kinds[0]} in "
                    f"{first.path} and {kinds[1]} in {file.path}"
                )
        if whole:
            schema = _united(schema, file.schema, file.path)
    parts = [part for file in files for part in file.parts]
    untyped = format_of(first.path) == CSV
    read = tuple(os.path.abspath(file.path) for file in files)
    return LocalTable(parts, schema, found, untyped=untyped, is_file=True, files=read)


def _united(some: pa.Schema, others: pa.Schema, path: str) -> pa.Schema:
    """Merge two schemas; a column that differs takes the type that holds the values of both."""
    fields = [some.field(field.name) for field in others]
    if [field.type for field in others] == [field.type for field in fields]:
        return some
    try:
        plain = [plain_schema(schema) for schema in (some, others)]
        return pa.unify_schemas(plain, promote_options="permissive")
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())
        raise TypeError(
            f"each column must hold values of one type in all files; in {path}: {reason:.300}"
        ) from error


def _of_frame(source: Any, columns: list[str] | None) -> "_Opened":
    if _is_dataset(source):
        return source.schema, [_of_dataset(source)], None, source.schema.names
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table):
        return source.schema, _slices(source), source, source.schema.names
    if isinstance(source, pa.RecordBatchReader):
        raise TypeError(
            "source can be read only once, and tuning reads it twice: pass reader.read_all(), or "
            "write it to a file"
        )
    if is_duckdb(source):
        return _of_duckdb(source)
    return _of_narwhals(source, columns)


def _is_dataset(source: Any) -> bool:
    from pyarrow import dataset

    return isinstance(source, dataset.Dataset)


_Opened = tuple[pa.Schema, list[Part], Any, list[str]]


def _slices(table: pa.Table) -> list[Part]:
    def part(first: int) -> Part:
        rows = table.slice(first, limits.table_rows_at_once)

        def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
            return iter((rows if columns is None else rows.select(columns)).to_batches())

        return Part("the table", rows.num_rows, read, first)

    return [part(first) for first in range(0, table.num_rows, limits.table_rows_at_once)]


def _of_dataset(whole: Any) -> Part:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        # Its fragments would lose a filter that the dataset may have. A short readahead keeps
        # memory bounded.
        ahead = {"batch_readahead": 2, "fragment_readahead": 1}

        def batches() -> Iterator[pa.RecordBatch]:
            return iter(
                whole.to_batches(columns=columns, batch_size=limits.table_rows_at_once, **ahead)
            )

        return checked_batches("the dataset", "a table", "", batches)

    return Part("the dataset", None, read)


def is_duckdb(source: Any) -> bool:
    """Whether the source is a DuckDB relation, which is computed anew each time it is read."""
    return type(source).__name__ == "DuckDBPyRelation"


def _of_duckdb(relation: Any) -> _Opened:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        some = relation if columns is None else relation.select(*map(_quoted, columns))
        to_reader = getattr(some, "to_arrow_reader", None) or some.fetch_arrow_reader  # older name
        return iter(to_reader(limits.table_rows_at_once))

    schema = relation.limit(0).to_arrow_table().schema
    return schema, [Part("the relation", None, read)], None, schema.names


def _quoted(name: str) -> str:
    escaped = name.replace('"', '""')
    return f'"{escaped}"'


def _of_narwhals(source: Any, columns: list[str] | None) -> _Opened:
    import narwhals as nw

    try:
        frame: Any = nw.from_native(source, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        reason = " ".join(str(error).split())
        raise ValueError(f"column names must not repeat: {reason:.300}") from error
    if not isinstance(frame, (nw.DataFrame, nw.LazyFrame)):
        raise TypeError(f"source must be {KNOWN}; got {type(source).__name__}")
    names = list(frame.collect_schema().names())
    if columns is not None:
        frame = frame.select([name for name in names if name in columns])
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    try:
        table = nw.maybe_reset_index(frame).to_arrow()  # the index of pandas is not a column
    except (pa.ArrowException, TypeError) as error:
        reason = " ".join(str(error).split())
        raise TypeError(f"each column must hold values of one type: {reason:.300}") from error
    return table.schema, _slices(table), frame.to_native(), names
