"""Deliver a table with predictions: return it in the library it came in, or write it to a file."""

import os
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.files import refuse_input, refuse_inside
from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks
from halfmax.tables.arrow import pa, pc
from halfmax.tables.convert import to_numpy
from halfmax.tables.files import in_large_batches, takes_in
from halfmax.tables.sources import LocalTable, as_paths
from halfmax.tables.writing import table_file
from halfmax.tables.written import Written

Path = str | os.PathLike[str]
Predicting = Callable[[int], Iterator[pa.RecordBatch]]  # the batches of a part, by its number


class NewColumn(NamedTuple):
    """The name of the column of predictions, and which rows to drop.

    These are rows that are not predicted, or rows of labels without a threshold, which are IGNORED.
    """

    name: str
    only_predicted: bool
    known_only: bool = False

    @property
    def lowest(self) -> int | None:
        """The lowest prediction of rows that are kept, or None if all are."""
        if self.only_predicted:
            return 1
        return 0 if self.known_only else None

    def check(self, schema: pa.Schema) -> None:
        """Refuse a name that the table already has, and tables whose names repeat."""
        names = schema.names
        if twice := [name for name in names if names.count(name) > 1]:
            raise ValueError(f"column names must not repeat; {twice[0]!r} does")
        if self.name in schema.names:
            raise ArgumentError(
                f"the table already has a column {self.name!r}: choose another name for the new "
                f"one with {in_python('prediction=...')}"
            )

    def on_all_rows(self) -> "NewColumn":
        """Return the column without dropping rows: `deliver` counts them and drops them later."""
        return self._replace(only_predicted=False, known_only=False)


def refuse_engine_output(name: str, out: Any) -> None:
    """Refuse `out` for a table in an engine, which writes its own files."""
    if out is not None:
        raise ValueError(f"out is not for tables of {name}: let {name} write the returned frame")


def refuse_output(source: Any, table: LocalTable, out: Path | None) -> None:
    """Refuse an output file that is one of the input files or inside an input folder."""
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
    """Predict all parts, and return the table or write it."""
    with Progress(progress, "rows predicted", table.rows or 0) as bar:
        batches = _in_order(table, predict, bar)
        if out is not None:
            return _write(batches, schema, new, out, overwrite)
        if table.native is None:
            return pa.Table.from_batches(_kept(batches, new), schema)
        whole = pa.Table.from_batches(batches, schema)
    return _as_frame(whole, table.native, new)


def _in_order(table: LocalTable, predict: Predicting, bar: Progress) -> Iterator[pa.RecordBatch]:
    """Predict all batches in order, on all cores if the parts are small enough for memory."""
    places = range(len(table.parts))
    if any(part.rows is None or part.rows > limits.table_rows_at_once for part in table.parts):
        for place in places:
            for batch in predict(place):
                bar.advance(batch.num_rows)
                yield batch
        return
    results = map_blocks(lambda place: list(predict(place)), places)
    for part, batches in zip(table.parts, results, strict=True):
        bar.advance(part.rows or 0)
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
    """Keep all rows, or only those whose prediction is not too low."""
    if new.lowest is None:
        return batches
    return (batch.filter(pc.greater_equal(batch[new.name], new.lowest)) for batch in batches)


def _as_frame(whole: pa.Table, native: Any, new: NewColumn) -> Any:
    """Add the new column to the caller's frame, which keeps its types and its index."""
    import narwhals as nw

    frame = nw.from_native(native, eager_only=True)
    backend = nw.get_native_namespace(native)
    values = to_numpy(whole[new.name])
    frame = frame.with_columns(nw.new_series(new.name, values, nw.Int8, backend=backend))
    if new.lowest is not None:
        frame = frame.filter(nw.col(new.name) >= new.lowest)
    return frame.to_native()
