"""`Written`: a table with predictions that was written to a file."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Written:
    """A table with predictions that was written to a file.

    Attributes
    ----------
    path : str
        The file.
    rows : int
        The number of rows in it.
    predicted : int
        How many of these rows are predicted positive.
    rows_read : int
        The number of rows in the source.

    See Also
    --------
    apply_table : Writes such a file.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import pyarrow as pa
    >>> from halfmax import apply_table, tune
    >>> t = tune([0, 1, 1], [0.2, 0.4, 0.9])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = apply_table(t, pa.table({"score": [0.3, 0.7]}), pathlib.Path(folder, "a.csv"))
    >>> written.rows, written.predicted
    (2, 1)
    """

    path: str
    rows: int
    predicted: int
    rows_read: int
