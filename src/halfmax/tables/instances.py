"""Count the instances of a table, which metrics that count true negatives depend on."""

from dataclasses import replace

from halfmax._core.threads import map_blocks
from halfmax.tables.arrow import pa
from halfmax.tables.columns import Columns
from halfmax.tables.engines.engine import Engine
from halfmax.tables.matrix import instance_type
from halfmax.tables.rows import plain
from halfmax.tables.sources import LocalTable
from halfmax.tables.tally import Size


def count_instances(place: LocalTable | Engine, columns: Columns) -> Size | None:
    """Count a table's rows and instances; None if it has no column of instances."""
    if columns.instance is None:
        return None
    if not isinstance(place, LocalTable):
        return Size(*place.count_distinct(columns.instance))
    return _count_here(place)


def _count_here(table: LocalTable) -> Size:
    kind = instance_type(table)
    table = replace(table, columns=replace(table.columns, score=None, truth=None, weight=None))

    def read(part: int) -> tuple[int, pa.Array]:
        size, ids = 0, [pa.array([], kind)]
        for rows in table.rows_of(part):
            assert rows.instances is not None
            ids.append(plain(rows.instances).cast(kind))
            size += rows.size
        return size, pa.concat_arrays(ids).unique()

    rows, known = 0, pa.array([], kind)
    for size, ids in map_blocks(read, range(len(table.parts))):
        rows += size
        known = pa.concat_arrays([known, ids]).unique()
    return Size(rows, len(known))
