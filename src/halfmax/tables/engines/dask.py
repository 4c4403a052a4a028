"""Dask data frames: work runs on each partition where it is, and sums are reduced as a tree."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any

from halfmax._core.limits import limits
from halfmax.tables.arrow import pa
from halfmax.tables.columns import TEXT, kind_of_id, plain_schema, plain_type
from halfmax.tables.engines.engine import Engine, Work, fault_of_python

_FEW = 5  # repeated pairs that are reported
_FAN_IN = 8  # partial sums that are added at each node of the tree


def is_dask(frame: Any) -> bool:
    """Whether this is a Dask data frame; imports nothing."""
    return any(
        kind.__module__.startswith("dask.dataframe") and kind.__name__ == "DataFrame"
        for kind in type(frame).__mro__
    )


class DaskTable:
    """A Dask data frame; work runs on its partitions where they are."""

    name = "Dask"

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    @cached_property
    def schema(self) -> pa.Schema:
        """Names and Arrow types of the columns, as far as Dask knows them before it computes."""
        from dask.dataframe.utils import meta_nonempty

        meta = meta_nonempty(self.frame._meta)
        return plain_schema(pa.Schema.from_pandas(meta, preserve_index=False))

    def collect(self, work: Work) -> pa.Table:
        """Run the work on all partitions, and return its results to the caller."""
        import dask

        with _explained():
            sent = _sent(work)  # keep a reference until all is computed
            results = self._mapped(_run, work, sent).to_delayed()
            return pa.concat_tables([work.schema.empty_table(), *dask.compute(*results)])

    def add_up(self, work: Work) -> pa.Table:
        """Run the work like `collect`, and sum the column "count" over rows that are equal."""
        import dask

        with _explained():
            sent = _sent(work)  # keep a reference until all is computed
            add = dask.delayed(_added)
            sums = [add([result]) for result in self._mapped(_run, work, sent).to_delayed()]
            while len(sums) > 1:
                sums = [add(sums[at : at + _FAN_IN]) for at in range(0, len(sums), _FAN_IN)]
            return sums[0].compute()

    def map(self, work: Work) -> Any:
        """Return a lazy frame: the results of the work for each partition."""
        import dask

        return self._mapped(_run_to_pandas, work, dask.delayed(work, traverse=False))

    def together(self, column: str) -> Engine:
        """Return the table with all rows of equal value in `column` in the same partition."""
        return DaskTable(self.frame.shuffle(on=column))

    def count_distinct(self, column: str) -> tuple[int, int]:
        """Count the rows, and the distinct values of a column."""
        import dask

        rows, values = dask.compute(self.frame[column].size, self.frame[column].nunique())
        return int(rows), int(values)

    def count_pairs(self, first: str, second: str) -> pa.Table:
        """Find some pairs of values that appear in more than one row: (first, second, count)."""
        import dask

        names = list(dict.fromkeys([first, second]))
        pairs = self.frame[names].shuffle(on=names).to_delayed()
        repeated = dask.delayed(_repeated)
        with _explained():
            found = dask.compute(*[repeated(frame, first, second) for frame in pairs])
        return pa.concat_tables(found, promote_options="permissive").slice(0, _FEW)

    def _mapped(self, run: Callable[..., Any], work: Work, sent: Any) -> Any:
        """Run the work in the task that creates a partition, so that partitions are not moved."""
        chosen = self.frame[work.columns]
        return chosen.map_partitions(
            run,
            sent,
            DaskTable(chosen).schema,
            meta=work.schema.empty_table().to_pandas(),
            enforce_metadata=False,
            clear_divisions=True,  # the index is not kept
        )


def _sent(work: Work) -> Any:
    """Send the work, which may be large, once for all tasks: to the workers, or in the graph."""
    import dask

    if (client := _client()) is not None:
        return dask.delayed(client.scatter(work, broadcast=True, hash=False))
    return dask.delayed(work, traverse=False)


def _client() -> Any:
    """Return the client of the cluster that computes; None if this process computes."""
    from dask.base import get_scheduler

    client: Any = getattr(get_scheduler(), "__self__", None)
    return client if hasattr(client, "scatter") else None


@contextmanager
def _explained() -> Iterator[None]:
    """Raise one clear error if the Python of the workers cannot run the work."""
    try:
        yield
        return
    except Exception as error:
        fault = fault_of_python(error)
        if fault is None or _client() is None:
            raise
    raise ImportError(
        f"the Python of Dask's scheduler or workers {fault}. Install halfmax wherever they run, or "
        f"start them with this Python if they run on this machine: {sys.executable}"
    ) from None


def _run(frame: Any, work: Work, schema: pa.Schema, partition_info: Any = None) -> pa.Table:
    part = f"partition {partition_info['number']}"
    table = _to_arrow(frame, schema, part)
    batches = table.to_batches(max_chunksize=limits.table_rows_at_once)
    return pa.Table.from_batches(work(iter(batches), part), work.schema)


def _run_to_pandas(frame: Any, work: Work, schema: pa.Schema, partition_info: Any = None) -> Any:
    return _run(frame, work, schema, partition_info).to_pandas()


def _to_arrow(frame: Any, schema: pa.Schema, part: str) -> pa.Table:
    """Convert a partition to an Arrow table with the types that Dask declares; keep nulls."""
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except pa.ArrowException as error:
        reason = " ".join(str(error).split())
        raise TypeError(f"each column must hold values of one type; in {part} {reason}") from error
    for found, declared in zip(table.schema, schema, strict=True):
        if not (pa.types.is_null(found.type) or _agree(plain_type(found.type), declared.type)):
            raise TypeError(
                f"column {declared.name!r} holds {plain_type(found.type)} in {part}, but Dask "
                f"declares {declared.type}: give it one type with astype"
            )
    return table.cast(schema)


def _agree(found: pa.DataType, declared: pa.DataType) -> bool:
    return found == declared or kind_of_id(found) == kind_of_id(declared) == TEXT


def _added(counts: list[pa.Table]) -> pa.Table:
    table = pa.concat_tables(counts)
    keys = [name for name in table.schema.names if name != "count"]
    # One thread adds in the order of the rows, so that sums of floats are reproducible.
    total = table.group_by(keys, use_threads=False).aggregate([("count", "sum")])
    return total.rename_columns([*keys, "count"]).cast(table.schema)


def _repeated(frame: Any, first: str, second: str) -> pa.Table:
    counts = frame.groupby([frame[first], frame[second]], observed=True, dropna=False).size()
    counts = counts[counts > 1].head(_FEW)
    columns = [counts.index.get_level_values(0), counts.index.get_level_values(1), counts]
    return pa.table(dict(zip(["first", "second", "count"], map(pa.array, columns), strict=True)))
