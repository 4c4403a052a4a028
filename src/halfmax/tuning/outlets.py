"""What thresholds become outside of Python's arrays: pictures, SQL and ONNX graphs."""

import os
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, cast

from halfmax._core.hooks import hook

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from onnx import ModelProto

    from halfmax.tuning.thresholds import Thresholds


class Outlets:
    """Thresholds as pictures, as SQL and as ONNX graphs."""

    def plot(self, ax: "Axes | None" = None, label: Hashable | None = None, **how: Any) -> Any:
        """Draw the thresholds.

        One classifier, or one of many labels, is drawn as the metric, precision and recall at every
        threshold, with the chosen one marked; this needs the data that were tuned. Many labels are
        drawn as how often each is predicted and occurs or, if the data are not in memory, against
        the thresholds of calibrated probabilities. Notebooks show the same pictures. It needs
        ``pip install 'halfmax[report]'``.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        label : hashable, optional
            Which of many labels to draw: its name, or its position if labels have no names.
        **how : dict
            Further arguments of the display's ``from_thresholds`` and ``plot``.

        Returns
        -------
        ThresholdCurveDisplay, LabelHealthDisplay or HalfMaxDisplay
            The display, drawn.

        Raises
        ------
        ValueError
            If the label is unknown, or the picture needs data that the thresholds do not know.
        """
        return hook("plot_thresholds")(self, ax, label, how)

    def to_onnx(
        self,
        path: str | os.PathLike[str] | None = None,
        dtype: Any = "float32",
        opset: int = 13,
    ) -> "ModelProto":
        """Build an ONNX graph that predicts the same rows as `predict`.

        Its input ``scores`` has a row for each instance and a column for each label, or one
        dimension for one classifier. Its output ``predictions`` has the same shape and holds 0 and
        1 as int64. Join it to a model with ``onnx.compose.merge_models``. Names of labels are in
        the metadata of the graph. It needs ``pip install 'halfmax[onnx]'``.

        Parameters
        ----------
        path : str or os.PathLike, optional
            A file to write, whole or not at all, and never over the data that `tune_table` read.
        dtype : {"float32", "float64"}, default "float32"
            The type of the scores. A threshold between two float32 numbers becomes the higher one,
            which predicts the same float32 scores. Scores in float64 must be rounded for such a
            graph, which may cut those near a threshold differently; "float64" is exact for them.
        opset : int, default 13
            The version of ONNX operators: that of the model which the graph is joined to.

        Returns
        -------
        onnx.ModelProto
            The graph.

        Raises
        ------
        ValueError
            If the type or the version is not supported, or the path is that of the data.

        See Also
        --------
        register_onnx : Convert whole scikit-learn pipelines.
        """
        from halfmax.tuning.export.onnx import write_onnx

        if path is not None:
            self._refuse_own_data(path)
        return write_onnx(cast("Thresholds", self), path, dtype, opset)

    def _refuse_own_data(self, path: str | os.PathLike[str]) -> None:
        raise NotImplementedError

    def to_sql(
        self,
        dialect: str = "postgres",
        *,
        table: str | None = None,
        keep: str | Sequence[str] = (),
        label: str | None = None,
        score: str | None = None,
        prediction: str | None = None,
        suffix: str = "",
    ) -> str:
        """Write the thresholds as SQL that predicts the same rows as `predict`.

        Each label is a column of scores with the name of the label, and its prediction is 1 or 0.
        A score that is NULL or ``-inf`` is never predicted. NaN, which `predict` refuses, is
        greater than every number in some databases. It needs ``pip install 'halfmax[sql]'``.

        Parameters
        ----------
        dialect : str, default "postgres"
            A dialect that sqlglot knows, such as ``"duckdb"``, ``"sqlite"``, ``"mysql"``,
            ``"bigquery"``, ``"snowflake"``, ``"spark"`` or ``"tsql"``.
        table : str, optional
            The table to select from, spelled as in that dialect. The result is then a whole query.
        keep : str or list of str, optional
            Columns of the table to select before the predictions; ``"*"`` for all of them.
        label : str, optional
            For a long table, with one row for each instance and label: its column of labels. Other
            labels than those of the thresholds are not predicted. Text is compared as the database
            does it; MySQL and SQL Server ignore case unless the column has another collation.
        score : str, default "score"
            The column of scores of one classifier or of a long table.
        prediction : str, default "predicted"
            The name of the column of predictions of one classifier or of a long table.
        suffix : str, default ""
            What is added to the name of each label to name its predictions.

        Returns
        -------
        str
            One expression per label, separated by commas, or with `table` a query.

        Raises
        ------
        ValueError
            If the dialect is unknown, or names are missing or would come twice.
        TypeError
            If a name is not a string, or a label is neither a string nor an integer.
        """
        from halfmax.tuning.export.sql import SqlNames, write_sql

        names = SqlNames(table, keep, label, score, prediction, suffix)
        return write_sql(cast("Thresholds", self), dialect, names)
