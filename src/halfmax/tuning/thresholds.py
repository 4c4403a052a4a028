"""`Thresholds`, the result of tuning: how to read, use, save and report thresholds."""

import os
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.files import refuse_input
from halfmax._core.gate import frames
from halfmax._core.gate.labels import Labels
from halfmax._core.hooks import hook
from halfmax._core.progress import ProgressLike
from halfmax._core.result import Result, Table
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import mean_over_labels
from halfmax.metrics.cost import RowCost
from halfmax.metrics.named import PRECISION, RECALL, SPECIFICITY
from halfmax.metrics.words import cost_of, costs_alone, is_cost, known_metric, with_costs
from halfmax.tuning.by_label import ByLabel
from halfmax.tuning.file import COLUMNS, Saved
from halfmax.tuning.outlets import Outlets
from halfmax.tuning.predicting import Predicting
from halfmax.tuning.report_request import ReportRequest

if TYPE_CHECKING:
    from halfmax.tuning.tuning import Tuning

_SHOWN = 8  # labels


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(ByLabel, Predicting, Saved, Outlets, Result):
    """A decision threshold for each label.

    A row is predicted if and only if its score is at or above the threshold. `tune` returns
    thresholds; `Thresholds.load` reads them from a file, and `Thresholds.from_dict` takes your own.
    ``t["cats"]`` is the threshold of a label, ``"cats" in t``, ``len(t)`` and iteration are about
    labels, and ``t | other`` has the labels of both (those on the right where both have them);
    `keys`, `values`, `items` and `get` are those of a dictionary. Arrays are read-only: `replace`
    changes thresholds. The repr shows the first 8 of many labels in their order; `table` has all.

    Attributes
    ----------
    thresholds : ndarray, shape (m,)
        One for each label; ``+inf`` predicts no rows.
    threshold : float
        The only threshold, of one classifier or shared by all labels.
    score : float
        The averaged metric that they reach on the data they were tuned on.
    metric : str
        Name of the metric that was maximised.
    average : str
        How it was averaged over labels; ``"binary"`` for one classifier.
    labels : tuple or None
        Names of the labels, if they are known.
    shared : bool
        True if all labels have the same threshold, by choice.
    zero_division : float
        Value of 0/0.
    label_scores : ndarray, shape (m,)
        The metric of each label.
    precision : ndarray, shape (m,)
        The precision of each label.
    recall : ndarray, shape (m,)
        The recall of each label.
    specificity : ndarray, shape (m,)
        The specificity of each label: the share of its negatives that are not predicted. NaN if
        the number of rows is not known, as in files of earlier versions. `table` leaves it out.
    support : ndarray, shape (m,)
        Positives of each label.
    predicted : ndarray, shape (m,)
        Rows predicted for each label.
    guard : str or None
        The guard that chose the thresholds.

    See Also
    --------
    tune : Find the thresholds that maximise a metric.

    Notes
    -----
    For pictures, `replace` and `report`, the result of `tune` keeps a reference to its data. `save`
    and pickling leave the data out. Two results are equal if all attributes above are equal (NaN
    equals NaN), whatever their data. Scores and counts that are not known, such as those of
    `from_dict`, are NaN.

    Examples
    --------
    >>> import halfmax as hm
    >>> t = hm.tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> t.predict([0.3, 0.35, 0.9])
    array([0, 1, 1], dtype=int8)
    >>> t = hm.Thresholds.from_dict({"cats": 0.3, "dogs": 0.6})
    >>> t["dogs"]
    0.6
    """

    thresholds: Floats
    score: float
    metric: str
    average: str
    labels: Labels | None
    shared: bool
    zero_division: float
    label_scores: Array
    precision: Array
    recall: Array
    specificity: Array
    support: Array
    predicted: Array
    guard: str | None = None
    _frame_library: Any = field(default=None, compare=False)
    _tuning: "Tuning | None" = field(default=None, compare=False)

    @classmethod
    def of(
        cls, tuning: "Tuning", labels: Labels | None, native: Any, reached: float | None = None
    ) -> Self:
        """Build the result that users get from what was tuned.

        Parameters
        ----------
        tuning : Tuning
            The goal, the data and the choice.
        labels : tuple or None
            Names of the labels.
        native : frame or None
            A data frame whose library `table` should use.
        reached : float, optional
            The score, where counts of labels do not determine it: for ``average="samples"``, and
            for costs of each row.

        Returns
        -------
        Thresholds
            With the scores that the thresholds reach on these data.
        """
        goal, counts = tuning.goal, tuning.choice.counts
        plain = goal.objective.unrestricted
        of_rows = isinstance(goal.metric, RowCost)
        of_label = np.array([reached]) if of_rows else plain(*counts)
        if goal.average_shown == "micro":
            reached = plain(*counts.pooled()).item()
        elif reached is None:
            reached = mean_over_labels(of_label, goal.average, counts.positives)
        parts = counts.confusion()
        return cls(
            thresholds=tuning.choice.thresholds,
            score=reached,
            metric=goal.metric.name,
            average=goal.average_shown,
            labels=labels,
            shared=goal.one_threshold,
            zero_division=plain.zero_division,
            label_scores=of_label,
            precision=PRECISION(*parts, zero_division=plain.zero_division),
            recall=RECALL(*parts, zero_division=plain.zero_division),
            specificity=SPECIFICITY(*parts, zero_division=plain.zero_division),
            support=counts.positives,
            predicted=counts.predicted,
            guard=None if goal.guard is None else str(goal.guard),
            _frame_library=None if native is None else frames.library(native),
            _tuning=tuning,
        )

    @property
    def threshold(self) -> float:
        """The only threshold, of one classifier or shared by all labels."""
        if not self.shared and len(self.thresholds) > 1:
            raise AttributeError(
                f"each of the {len(self.thresholds)} labels has a threshold of its own: "
                "read .thresholds, or tune with per_label=False"
            )
        return float(self.thresholds[0])

    def table(self) -> Any:
        """Return a table with one row per label.

        Returns
        -------
        data frame or Table
            With the columns label, threshold, score, precision, recall, support and predicted. A
            frame of the library that the data came in, or else a `Table` of plain columns.
        """
        return super().table()

    def report(
        self,
        path: str | os.PathLike[str],
        y_true: Any = None,
        y_score: Any = None,
        *,
        sample_weight: Any = None,
        labels: Any = None,
        pos_label: Any = None,
        metric: Any = None,
        assessment: Any = None,
        diagnosis: Any = None,
        decision: Any = None,
        title: str | None = None,
        n_resamples: int | None = None,
        seed: int = 0,
        overwrite: bool = True,
        progress: ProgressLike = None,
    ) -> Path:
        """Write a report: one interactive HTML file that works offline and can be mailed.

        It shows what the thresholds reach and what to expect on new data, which labels misbehave
        and what to do, and lets the reader try other thresholds for every label. It needs
        ``pip install 'halfmax[report]'``.

        Parameters
        ----------
        path : str or os.PathLike
            The file to write, whole or not at all.
        y_true : array-like, optional
            Truth to report on, as `tune` takes it: the same data or new ones. By default the data
            that the thresholds were tuned on; required for thresholds loaded from a file.
        y_score : array-like, optional
            Scores to report on, as `tune` takes them.
        sample_weight : 1-D array-like, optional
            Weights of these rows.
        labels : sequence, optional
            Names of the labels, as in `tune`.
        pos_label : class, optional
            The positive class of `y_true`, as in `tune`.
        metric : str or Metric, optional
            Required for thresholds loaded from a file that maximise a `Metric` of your own, and for
            costs of each row: counts cannot show those, so pass one `cost` for each outcome, such
            as their means.
        assessment : Assessment, False or None
            The result of `assess` for the same thresholds. None computes it, which takes longest
            with a guard; False leaves it out.
        diagnosis : Diagnosis, False or None
            The result of `diagnose` for the same thresholds. None computes it; False leaves it out.
        decision : Decision, optional
            A result of `decide` for a batch, which gets a section of its own.
        title : str, optional
            Title of the page.
        n_resamples : int, optional
            The number of bootstrap replicates, as in `assess`. By default as many as `assess`
            draws, 1,000, so that both show the same numbers; for more than 50 labels it is 200,
            and the page says so.
        seed : int, default 0
            The seed of the random numbers, as in `assess`.
        overwrite : bool, default True
            Whether an existing file may be replaced.
        progress : bool or callable, optional
            True for progress lines on stderr, or a callback ``progress(done, total)``.

        Returns
        -------
        pathlib.Path
            The path of the report.

        Raises
        ------
        ValueError
            If the data are missing or do not fit the thresholds.
        FileExistsError
            If the file exists and `overwrite` is False.
        """
        self._refuse_own_data(path)
        request = ReportRequest(
            self,
            path,
            y_true,
            y_score,
            sample_weight=sample_weight,
            labels=labels,
            pos_label=pos_label,
            metric=metric,
            assessment=assessment,
            diagnosis=diagnosis,
            decision=decision,
            title=title,
            n_resamples=n_resamples,
            seed=seed,
            overwrite=overwrite,
            progress=progress,
        )
        written: Path = hook("write_report")(request)
        return written

    @property
    def cost(self) -> float:
        """The mean cost of a row, if costs were minimised: minus the score."""
        return cost_of(self.metric, self.score)

    @property
    def plug_in(self) -> Floats:
        """The threshold that calibrated probabilities would have, for each label.

        Half the best score for F1, ``fp / (fp + fn)`` for costs; NaN where no formula gives it.
        """
        tuning = self._tuning
        metric = known_metric(self.metric) if tuning is None else tuning.goal.metric
        if metric is None:
            return np.full(len(self.thresholds), np.nan)
        scores, rates = self.label_scores, None
        if tuning is not None:
            rates = tuning.choice.counts.positives / tuning.choice.counts.total
        if self.average == "micro":
            scores, rates = (
                np.full(len(scores), self.score),
                None if rates is None else rates.mean(),
            )
        return metric.plug_in(scores, rates)

    def __copy__(self) -> Self:
        return replace(self)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything except the data that were tuned."""
        return {part.name: getattr(self, part.name) for part in fields(self)} | {"_tuning": None}

    def _refuse_own_data(self, path: str | os.PathLike[str]) -> None:
        if self._tuning is not None:
            refuse_input("path", path, self._tuning.files)

    def _summary(self) -> str:
        what = f"{len(self.thresholds):,} labels"
        if len(self.thresholds) == 1:
            what = "one classifier" if self.average == "binary" else "1 label"
        average = "" if self.average == "binary" else f"{self.average} "
        unknown = self._unknown.any() or not np.isnan(self.zero_division)  # otherwise 0/0
        reached = "unknown" if np.isnan(self.score) and unknown else f"= {self.score:.4f}"
        if is_cost(self.metric):
            cost = "unknown" if np.isnan(self.score) else f"= {self.cost:.4g}"
            return f"Thresholds for {what}: mean {self.metric} {cost}{self._elkan()}"
        return f"Thresholds for {what}: {average}{self.metric} {reached}"

    def _elkan(self) -> str:
        """Return the cut of calibrated probabilities, in words, if one cost has one cut."""
        cut = self.plug_in[0]
        return "" if np.isnan(cut) else f" (calibrated probabilities would be cut at {cut:.4g})"

    def _plain_table(self) -> Table:
        names = list(self.labels) if self.labels else list(range(len(self.thresholds)))
        columns = {"label": names, **dict(zip(COLUMNS, self._columns(), strict=True))}
        return with_costs(self.metric, Table(columns, self._unknown))

    def _shown_table(self) -> Table:
        table = costs_alone(self._plain_table()).without_place()
        return table.beginning(_SHOWN, "table() has them all")

    def _columns(self) -> tuple[Array, ...]:
        return (
            self.thresholds,
            self.label_scores,
            self.precision,
            self.recall,
            self.support,
            self.predicted,
        )
