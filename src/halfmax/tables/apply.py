"""Thresholds applied to long tables: one column more, written to a file or given back."""

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from halfmax._core.files import refuse_input
from halfmax._core.progress import ProgressLike
from halfmax.tables.columns import WHOLE, Columns, kind_of_id
from halfmax.tables.deliver import NewColumn, deliver, refuse_engine_output, refuse_output
from halfmax.tables.engines.work import Predict
from halfmax.tables.open import find_engine
from halfmax.tables.sources import open_table
from halfmax.tables.writing import check_output
from halfmax.tuning.thresholds import Thresholds

UNKNOWN = ("error", "never")


def apply_table(
    thresholds: Thresholds | str | os.PathLike[str],
    source: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    label: str = "label",
    score: str = "score",
    prediction: str = "predicted",
    only_predicted: bool = False,
    unknown: str = "error",
    overwrite: bool = False,
    progress: ProgressLike = None,
) -> Any:
    """Predictions for a long table: 1 where the score reaches the threshold of the label, else 0.

    Parameters
    ----------
    thresholds : Thresholds, or the path of saved ones
        Of `tune_table` or `tune`; labels are matched by name.
    source
        As `tune_table` takes it; neither truth nor instances are needed.
    out : path, optional
        A Parquet, Arrow or CSV file, as its name tells, written whole or not at all, in bounded
        memory. It must not be a file that is read, nor lie in a folder that is read.
    label, score : str
        Names of the columns; thresholds of one classifier need no label.
    prediction : str
        The name of the new column.
    only_predicted : bool
        Keep only the rows that are predicted.
    unknown : {"error", "never"}
        What happens to labels that the thresholds do not know.
    overwrite : bool
        Whether a file at `out` may be replaced.
    progress : bool or function
        True for a line on stderr, or a function of (done, all) in rows; all is 0 if not known.

    Returns
    -------
    Written, or the table
        With `out`, a `Written`. Otherwise the table with its new column: a pandas or polars frame
        or a lazy one of Spark or Dask if it came as one, else a pyarrow table.

    >>> import pyarrow as pa
    >>> from halfmax import tune
    >>> t = tune([[1, 0], [0, 1]], [[0.8, 0.3], [0.2, 0.6]], labels=["cat", "dog"])
    >>> new = pa.table({"label": ["dog", "cat"], "score": [0.7, 0.7]})
    >>> apply_table(t, new)["predicted"].to_pylist()
    [1, 0]
    """
    if unknown not in UNKNOWN:
        raise ValueError(f"unknown must be 'error' or 'never'; got {unknown!r}")
    if out is not None:
        check_output(out, overwrite)
    if not isinstance(thresholds, Thresholds):
        if out is not None:
            refuse_input("out", out, [thresholds])
        thresholds = Thresholds.load(thresholds)
    columns = Columns(None if thresholds.average == "binary" else label, score)
    new = NewColumn(prediction, only_predicted)
    engine = find_engine(source)
    if engine is not None:
        refuse_engine_output(engine.name, out)
        found = columns.found_in(engine.schema, "the table")
        return engine.map(_work(thresholds, engine.schema, found, new, unknown))
    table = open_table(source, columns, whole=True)
    refuse_output(source, table, out)
    every_row = new.on_all_rows()
    work = _work(thresholds, table.schema, table.columns, every_row, unknown, untyped=table.untyped)

    def predict(place: int) -> Iterator[pa.RecordBatch]:
        part = table.parts[place]
        return work(part.read(work.columns), part.name, part.first)

    return deliver(table, work.schema, predict, new, out, overwrite, progress)


def _work(
    thresholds: Thresholds,
    schema: pa.Schema,
    columns: Columns,
    new: "NewColumn",
    unknown: str,
    untyped: bool = False,
) -> Predict:
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
        new.only_predicted,
        unknown_never=unknown == "never",
    )


def _as_column(names: list[Any], kind: pa.DataType, column: str, untyped: bool) -> pa.Array:
    """The labels of thresholds in the type of the table's."""
    if untyped:
        return pa.array([str(name) for name in names], pa.large_string())
    whole = all(type(name) is int for name in names)
    if (kind_of_id(kind) == WHOLE) != whole or not (whole or all(type(n) is str for n in names)):
        raise TypeError(
            f"labels of the thresholds are like {names[0]!r}, and column {column!r} holds "
            f"{kind_of_id(kind)}: they cannot be matched by name"
        )
    return pa.array(names, pa.int64() if whole else pa.large_string())
