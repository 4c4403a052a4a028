"""Write tables to files batch by batch; a file appears whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from halfmax._core.files import check_writable, whole_file
from halfmax._core.text import spell_out
from halfmax.tables.arrow import pa
from halfmax.tables.columns import plain_schema
from halfmax.tables.csv_lines import csv_head, csv_lines
from halfmax.tables.files import ARROW, CSV, PARQUET, compression_of, delimiter_of, format_of
from halfmax.tables.rows import plain

_STREAM = ".arrows"
_ENDINGS = (".parquet", ".arrow", ".arrows", ".csv", ".csv.gz", ".tsv")


def check_output(path: str | os.PathLike[str], overwrite: bool) -> None:
    """Refuse a path that cannot be written, before the long work begins."""
    if format_of(os.fspath(path)) is None:
        raise ValueError(
            f"cannot tell the format of {os.fspath(path)}: its name must end in "
            f"{spell_out(_ENDINGS, 'or')}"
        )
    check_writable(path, overwrite)


@contextmanager
def table_file(path: str | os.PathLike[str], schema: pa.Schema, overwrite: bool) -> Iterator[Any]:
    """Open a writer of record batches, in the format of the path's suffix."""
    with whole_file(path, overwrite) as part, _writer(part, Path(path).name, schema) as writer:
        yield writer


def _writer(part: Path, name: str, schema: pa.Schema) -> Any:
    kind = format_of(name)
    if kind == PARQUET:
        from pyarrow import parquet

        return parquet.ParquetWriter(part, schema)
    if kind == ARROW:
        if name.lower().endswith(_STREAM):
            return pa.ipc.new_stream(os.fspath(part), schema)
        return _ArrowWriter(part, plain_schema(schema))
    assert kind == CSV
    return _CsvWriter(part, name, schema)


class _ArrowWriter:
    """Write an Arrow file without dictionaries, which must not change from batch to batch."""

    def __init__(self, part: Path, schema: pa.Schema) -> None:
        self._schema = schema
        self._writer = pa.ipc.new_file(os.fspath(part), schema)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        columns = [plain(column) for column in batch.columns]
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))

    def __enter__(self) -> "_ArrowWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()


class _CsvWriter:
    """Write a CSV file, compressed if its suffix says so."""

    def __init__(self, part: Path, name: str, schema: pa.Schema) -> None:
        self._delimiter = delimiter_of(name)
        self._file = pa.output_stream(os.fspath(part), compression=compression_of(name))
        self._file.write(csv_head(schema, self._delimiter))

    def write_batch(self, batch: pa.RecordBatch) -> None:
        self._file.write(csv_lines(batch.columns, self._delimiter))

    def __enter__(self) -> "_CsvWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
