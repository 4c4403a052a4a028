"""The first rows of files, with the types that their values have."""

from collections.abc import Sequence

from halfmax._core.limits import limits
from halfmax.tables.arrow import pa
from halfmax.tables.columns import Columns
from halfmax.tables.files import (
    CSV,
    File,
    compression_of,
    dialect_of,
    find_files,
    format_of,
    open_files,
    reader_errors,
)


def first_file(paths: Sequence[str]) -> File:
    """Open the first file of a table that has rows, or the first of all."""
    files = (open_files([path], Columns(label=None, score=None))[0] for path in find_files(paths))
    first = next(files)
    return first if first.parts else next((file for file in files if file.parts), first)


def first_rows(file: File) -> pa.Table:
    """Read the first rows of a file."""
    rows = _of_csv(file.path) if format_of(file.path) == CSV else _of_parts(file)
    return rows.slice(0, limits.first_rows)


def _of_parts(file: File) -> pa.Table:
    batches: list[pa.RecordBatch] = []
    for part in file.parts:
        for batch in part.read(None):
            batches.append(batch)
            if sum(one.num_rows for one in batches) >= limits.first_rows:
                return pa.Table.from_batches(batches)
    return pa.Table.from_batches(batches) if batches else file.schema.empty_table()


def _of_csv(path: str) -> pa.Table:
    """Read the first block of a CSV file, with types inferred from it."""
    from pyarrow import csv

    with reader_errors(path, CSV):
        dialect = dialect_of(path)
        with csv.open_csv(
            pa.input_stream(path, compression=compression_of(path)),
            csv.ReadOptions(use_threads=False),
            csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            csv.ConvertOptions(
                null_values=[""], strings_can_be_null=True, decimal_point=dialect.decimal_point
            ),
        ) as reader:
            first = next(iter(reader), None)
            return pa.Table.from_batches([] if first is None else [first], reader.schema)
