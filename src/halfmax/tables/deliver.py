"""A table with predictions: given back as it came, or written to a file."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from halfmax._core.files import refuse_input, refuse_inside
from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks
from halfmax.tables.files import in_large_batches, takes_in
from halfmax.tables.sources import LocalTable, as_paths
from halfmax.tables.writing import table_file

Path = str | os.PathLike[str]
Predicting = Callable[[int], Iterator[pa.RecordBatch]]  # of the part at that place


@dataclass(frozen=True)
class Written:
    """What went to a file: its path, its rows, how many are predicted, and how many were read."""

    path: str
    rows: int
    predicted: int
    rows_read: int


class NewColumn(NamedTuple):
    """The name of the column of predictions, and whether other rows are dropped."""

    name: str
    only_predicted: bool

    def check(self, schema: pa.Schema) -> None:
        """It must be new, and those that are there must differ."""
        names = schema.names
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"names of columns must not repeat; {twice[0]!r} does")
        if self.name in schema.names:
            raise ValueError(
                f"the table has a column {self.name!r} already: give the new one another name "
                "with prediction=..."
            )

    def on_all_rows(self) -> "NewColumn":
        """The same column, with no row dropped: `deliver` does that, and counts them before."""
        return self._replace(only_predicted=False)


def refuse_engine_output(name: str, out: Any) -> None:
    """An engine writes its own files."""
    if out is not None:
        raise ValueError(f"out is for tables that lie here; let {name} write the frame given back")


def refuse_output(source: Any, table: LocalTable, out: Path | None) -> None:
    """The file to write must not be one that is read, nor lie in a folder that is read."""
    if out is not None:
        refuse_input("out", out, table.files)
        for folder in filter(os.path.isdir, as_paths(source)):
            if takes_in(folder, os.fspath(out)):
                refuse_inside("out", out, folder)


def deliver(
    table: LocalTable,
    schema: pa.Schema,
    predict: Predicting,
    new: NewColumn,
    out: Path | None,
    overwrite: bool,
    progress: ProgressLike,
) -> Any:
    """Run over all parts, and give the table back or write it."""
    with Progress(progress, "rows predicted", table.rows or 0) as told:
        batches = _in_order(table, predict, told)
        if out is not None:
            return _write(batches, schema, new, out, overwrite)
        if table.native is None:
            return pa.Table.from_batches(_kept(batches, new), schema)
        whole = pa.Table.from_batches(batches, schema)
    return _as_given(whole, table.native, new)


def _in_order(table: LocalTable, predict: Predicting, told: Progress) -> Iterator[pa.RecordBatch]:
    """All batches; on all cores if the parts, of which some wait in memory, are known as small."""
    places = range(len(table.parts))
    if any(part.rows is None or part.rows > limits.table_rows_at_once for part in table.parts):
        for place in places:
            for batch in predict(place):
                told.advance(batch.num_rows)
                yield batch
        return
    results = map_blocks(lambda place: list(predict(place)), places)
    for part, batches in zip(table.parts, results, strict=True):
        told.advance(part.rows or 0)
        yield from batches


def _write(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, new: NewColumn, out: Path, overwrite: bool
) -> Written:
    rows = predicted = read = 0

    def counted() -> Iterator[pa.RecordBatch]:
        nonlocal read
        for batch in batches:
            read += batch.num_rows
            yield batch

    with table_file(out, schema, overwrite) as writer:
        for batch in in_large_batches(_kept(counted(), new)):
            writer.write_batch(batch)
            rows += batch.num_rows
            predicted += pc.sum(batch[new.name]).as_py() or 0
    return Written(os.fspath(out), rows, predicted, read)


def _kept(batches: Iterator[pa.RecordBatch], new: NewColumn) -> Iterator[pa.RecordBatch]:
    """All rows, or those that are predicted."""
    if not new.only_predicted:
        return batches
    return (batch.filter(pc.equal(batch[new.name], 1)) for batch in batches)


def _as_given(whole: pa.Table, native: Any, new: NewColumn) -> Any:
    """The frame that the caller gave, with its own types and index, and the new column."""
    import narwhals as nw

    frame = nw.from_native(native, eager_only=True)
    backend = nw.get_native_namespace(native)
    values = whole[new.name].to_numpy()
    frame = frame.with_columns(nw.new_series(new.name, values, nw.Int8, backend=backend))
    return (frame.filter(nw.col(new.name) == 1) if new.only_predicted else frame).to_native()
