"""The work of applying thresholds to a table: its labels become those of the thresholds."""

from typing import Any

from halfmax.tables.arrow import pa
from halfmax.tables.columns import WHOLE, Columns, kind_of_id
from halfmax.tables.convert import names_to_column
from halfmax.tables.deliver import NewColumn
from halfmax.tables.engines.work import IGNORED, Predict
from halfmax.tuning.thresholds import Thresholds


def prediction_work(
    thresholds: Thresholds,
    schema: pa.Schema,
    columns: Columns,
    new: NewColumn,
    unknown: str,
    untyped: bool = False,
) -> Predict:
    """Return the work that adds a column of predictions to each batch of a table."""
    new.check(schema)
    labels = None
    if columns.label is not None:
        names: Any = thresholds.labels or range(len(thresholds.thresholds))
        labels = _as_column(list(names), schema.field(columns.label).type, columns.label, untyped)
    return Predict(
        columns,
        schema,
        labels,
        thresholds.thresholds,
        new.name,
        new.lowest,
        unknown_refused=unknown == "error",
        unknown_prediction=IGNORED if unknown == "ignore" else 0,
    )


def _as_column(names: list[Any], kind: pa.DataType, column: str, untyped: bool) -> pa.Array:
    """Convert the labels of thresholds to the type of the table's labels."""
    if untyped:
        return names_to_column([str(name) for name in names])
    whole = all(type(name) is int for name in names)
    if (kind_of_id(kind) == WHOLE) != whole or not (whole or all(type(n) is str for n in names)):
        raise TypeError(
            f"labels of the thresholds are like {names[0]!r}, but column {column!r} holds "
            f"{kind_of_id(kind)}: they cannot be matched by name"
        )
    return names_to_column(names)
