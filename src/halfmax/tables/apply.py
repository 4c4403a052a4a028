"""Apply thresholds to long tables: add a column of predictions, and return or write the table."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.files import refuse_input
from halfmax._core.progress import ProgressLike
from halfmax._core.text import spell_out
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from halfmax.tables.arrow import pa

UNKNOWN = ("error", "never", "ignore")


def check_unknown(unknown: str) -> None:
    """Refuse an unknown treatment of labels without a threshold."""
    if unknown not in UNKNOWN:
        words = spell_out(UNKNOWN, "or")
        raise ArgumentError(f"{in_python('unknown')} must be {words}; got {unknown!r}")


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
    """Predict a long table: 1 where a score reaches the threshold of its label, otherwise 0.

    Parameters
    ----------
    thresholds : Thresholds or path
        Thresholds of `tune_table` or `tune`, or the path of saved ones. Labels are matched by name.
    source : path, list of paths, table, dataset, data frame or relation
        The table, as in `tune_table`. It needs neither truth nor instances.
    out : path or None
        A Parquet, Arrow or CSV file to write, in the format of its suffix. It is written in bounded
        memory, whole or not at all. It must not be one of the input files, nor be inside an input
        folder.
    label : str
        The column of labels. Thresholds of one classifier do not need it.
    score : str
        The column of scores.
    prediction : str
        The name of the new column.
    only_predicted : bool
        Whether to keep only the rows that are predicted positive.
    unknown : {"error", "never", "ignore"}
        What to do with labels that have no threshold: raise an error, never predict them, or leave
        their rows out of the result.
    overwrite : bool
        Whether an existing file at `out` may be replaced.
    progress : bool, callable or None
        True for a line on stderr, or a function of (done, total) in rows. The total is 0 if it is
        not known.

    Returns
    -------
    Written or table
        With `out`, a `Written`. Otherwise the table with its new column: a pandas or polars frame,
        or a lazy frame of Spark or Dask, if the source was one, else a pyarrow table.

    Raises
    ------
    ValueError
        If a value is not allowed, a label has no threshold, or `out` cannot be used. The message
        names the row and the file.
    TypeError
        If a column has the wrong type.
    FileExistsError
        If `out` exists and `overwrite` is False.

    See Also
    --------
    tune_table : Tune the thresholds.
    Thresholds.predict : Predict arrays, sparse matrices and wide data frames.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from halfmax import tune
    >>> t = tune([[1, 0], [0, 1]], [[0.8, 0.3], [0.2, 0.6]], labels=["cat", "dog"])
    >>> new = pa.table({"label": ["dog", "cat"], "score": [0.7, 0.7]})
    >>> apply_table(t, new)["predicted"].to_pylist()
    [1, 0]
    """
    from halfmax.tables.applying import prediction_work
    from halfmax.tables.columns import Columns
    from halfmax.tables.deliver import NewColumn, deliver, refuse_engine_output, refuse_output
    from halfmax.tables.open import find_engine
    from halfmax.tables.sources import open_table
    from halfmax.tables.writing import check_output

    check_unknown(unknown)
    if out is not None:
        check_output(out, overwrite)
    if not isinstance(thresholds, Thresholds):
        if out is not None:
            refuse_input("out", out, [thresholds])
        thresholds = Thresholds.load(thresholds)
    columns = Columns(None if thresholds.average == "binary" else label, score)
    new = NewColumn(prediction, only_predicted, known_only=unknown == "ignore")
    engine = find_engine(source)
    if engine is not None:
        refuse_engine_output(engine.name, out)
        found = columns.found_in(engine.schema, "the table")
        return engine.map(prediction_work(thresholds, engine.schema, found, new, unknown))
    table = open_table(source, columns, whole=True)
    refuse_output(source, table, out)
    every_row = new.on_all_rows()
    work = prediction_work(
        thresholds, table.schema, table.columns, every_row, unknown, untyped=table.untyped
    )

    def predict(place: int) -> "Iterator[pa.RecordBatch]":
        part = table.parts[place]
        return work(part.read(work.columns), part.name, part.first)

    return deliver(table, work.schema, predict, new, out, overwrite, progress)
