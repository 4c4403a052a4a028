"""The two classes of a column of truth, where they are not 0 and 1.

Names of classes, and a positive class that the caller names, take one more pass over the column
of truth, which lists its values. Numbers are taken for 0 and 1 until one turns up that is not.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from halfmax._core.gate.classes import which_is_positive
from halfmax._core.threads import map_blocks
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import TEXT, Columns, kind_of_id, plain_type
from halfmax.tables.engines.work import Batches
from halfmax.tables.missing import showing_how_to_drop
from halfmax.tables.open import OpenedTable
from halfmax.tables.rows import NotZeroOneError, Place, known_column, plain
from halfmax.tables.sources import LocalTable

_MANY = 100  # distinct values; no more are listed

Found = TypeVar("Found")


@dataclass(frozen=True)
class ListClasses:
    """List the distinct values of the truth in a partition, with the number of rows of each."""

    name: str
    kind: pa.DataType

    @property
    def columns(self) -> list[str]:
        return [self.name]

    @property
    def schema(self) -> pa.Schema:
        return pa.schema({"value": self.kind, "count": pa.int64()})

    def __call__(self, batches: Batches, part: str) -> Batches:
        """Process one partition."""
        first = 0
        for batch in batches:
            if batch.num_rows:
                column = plain(known_column(batch, self.name, Place(part, first)))
                found = pc.value_counts(column.cast(self.kind))
                columns = [found.field("values"), found.field("counts")]
                yield pa.record_batch(columns, schema=self.schema).slice(0, _MANY)
            first += batch.num_rows


def reading_classes(
    opened: OpenedTable, pos_label: Any, answer: Callable[[OpenedTable], Found]
) -> Found:
    """Return the answer for a table whose truth may be of any two classes.

    `answer` is asked once more if the truth turns out to be of other numbers than 0 and 1.
    """
    with showing_how_to_drop(opened.place):
        return _read(opened, pos_label, answer)


def _read(opened: OpenedTable, pos_label: Any, answer: Callable[[OpenedTable], Found]) -> Found:
    name = opened.columns.truth
    assert name is not None
    if pos_label is not None or kind_of_id(opened.place.schema.field(name).type) == TEXT:
        return answer(_with_classes(opened, name, pos_label))
    try:
        return answer(opened)
    except NotZeroOneError as error:
        refusal = str(error)  # whose traceback would keep readers open
    values = _values_of(opened, name)
    if len(values) != 2 or any(value % 1 for value in values):
        raise ValueError(refusal)
    return answer(_with_classes(opened, name, None))


def _with_classes(opened: OpenedTable, name: str, pos_label: Any) -> OpenedTable:
    values = _values_of(opened, name)
    positive = which_is_positive(values, f"column {name!r}", pos_label)
    negative = next((value for value in values if value != positive), None)
    columns = replace(opened.columns, classes=(negative, positive))
    place = opened.place
    if isinstance(place, LocalTable):
        place = replace(place, columns=columns)
    return replace(opened, place=place, columns=columns)


def _values_of(opened: OpenedTable, name: str) -> list[Any]:
    """Return the distinct values of a column, in order."""
    place = opened.place
    kind = _kind_to_list(plain_type(place.schema.field(name).type))
    work = ListClasses(name, kind)
    if isinstance(place, LocalTable):
        found = _listed_here(place, work)
    else:
        found = place.add_up(work)["value"].unique()
    values = [_plain(value) for value in found.to_pylist()]
    return sorted(values)


def _listed_here(table: LocalTable, work: ListClasses) -> pa.Array:
    only = Columns(label=None, score=None, truth=work.name)

    def values(place: int) -> pa.Array:
        part = table.parts[place]
        parts = [batch["value"] for batch in work(part.read(only.names), part.name)]
        return pa.concat_arrays([pa.array([], work.kind), *parts]).unique()

    known = pa.array([], work.kind)
    for found in map_blocks(values, range(len(table.parts))):
        known = pa.concat_arrays([known, found]).unique().slice(0, _MANY)
    return known


def _kind_to_list(kind: pa.DataType) -> pa.DataType:
    """Return the type as which all engines can list values of this type."""
    if kind_of_id(kind) == TEXT:
        return pa.large_string()
    return pa.int64() if pa.types.is_integer(kind) or pa.types.is_boolean(kind) else pa.float64()


def _plain(value: Any) -> Any:
    """Return 1 for 1.0, as a person would write it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value
