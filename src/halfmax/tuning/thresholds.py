"""The result of tuning: thresholds, what they reach, and how to use and keep them."""

import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from halfmax._core import frames
from halfmax._core import predict as _apply
from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.files import refuse_input, write_whole
from halfmax._core.hooks import hook
from halfmax._core.labels import Labels, match_labels
from halfmax._core.matrix import Matrix, like_input, open_scores
from halfmax._core.progress import ProgressLike
from halfmax._core.result import Result, Table
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import mean_of_known
from halfmax.metrics.metric import PRECISION, RECALL
from halfmax.tuning import file
from halfmax.tuning.file import COLUMNS
from halfmax.tuning.found import Tuning


@dataclass(frozen=True, eq=False, repr=False)
class Thresholds(Result):
    """A decision threshold for each label: a row is predicted iff its score is at or above it.

    Attributes
    ----------
    thresholds : ndarray (m,)
        One for each label; ``+inf`` predicts nobody.
    score : float
        The averaged metric that they reach on the data they were tuned on.
    metric, average : str
        What was maximised; ``average`` is ``"binary"`` for one classifier.
    labels : tuple or None
        Names of the labels, where they are known.
    shared : bool
        True if all labels have one threshold, which is then `threshold`.
    label_scores, precision, recall, support, predicted : ndarray (m,)
        The columns of `table`.
    guard : str or None
        The guard that chose them.

    Notes
    -----
    For pictures and `report`, the answer of `tune` holds on to the data that it was given. `save`
    and pickling leave them out.
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
    support: Array
    predicted: Array
    guard: str | None = None
    _frame_library: Any = field(default=None)
    _tuning: Tuning | None = field(default=None)

    @classmethod
    def of(
        cls, tuning: Tuning, labels: Labels | None, native: Any, reached: float | None = None
    ) -> Self:
        """The answer that users get, from what was found.

        `native` is a frame whose library the tables should use. Counts tell every average but that
        over rows, which is given as `reached`.
        """
        goal, counts = tuning.goal, tuning.choice.counts
        plain = goal.objective.without_floors
        of_label = plain(*counts)
        if goal.average_shown == "micro":
            reached = plain(*counts.pooled()).item()
        parts = counts.confusion()
        return cls(
            thresholds=tuning.choice.thresholds,
            score=mean_of_known(of_label) if reached is None else reached,
            metric=goal.metric.name,
            average=goal.average_shown,
            labels=labels,
            shared=goal.one_threshold,
            zero_division=plain.zero_division,
            label_scores=of_label,
            precision=PRECISION(*parts, zero_division=plain.zero_division),
            recall=RECALL(*parts, zero_division=plain.zero_division),
            support=counts.positives,
            predicted=counts.predicted,
            guard=None if goal.guard is None else str(goal.guard),
            _frame_library=None if native is None else frames.library(native),
            _tuning=tuning,
        )

    @property
    def threshold(self) -> float:
        """The one threshold, of a single classifier or shared by all labels."""
        if not self.shared and len(self.thresholds) > 1:
            raise AttributeError(
                f"each of the {len(self.thresholds)} labels has a threshold of its own: "
                "read .thresholds, or tune with per_label=False"
            )
        return float(self.thresholds[0])

    def table(self) -> Any:
        """Per label: label, threshold, score, precision, recall, support, predicted.

        A frame of the library that the data came in, or a `Table` of plain columns.
        """
        return super().table()

    def predict(self, y_score: Any) -> Any:
        """0/1 predictions (int8) for scores, in the container they come in.

        An array gives an array, a sparse matrix a CSR matrix, a frame or series one of its own
        library. Columns of a frame are matched with the labels by name where both are known.
        """
        scores = open_scores(y_score, "y_score")
        limits = self._limits_for(scores)
        predictions = _apply.predict(scores.values, limits)
        return like_input(predictions, scores, y_score)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a JSON file, readable by people, that `load` gives back bit for bit.

        The file is written whole or not at all, and never over the data that `tune_table` read.
        """
        self._refuse_own_data(path)
        head = {
            "metric": self.metric,
            "average": self.average,
            "shared": self.shared,
            "guard": self.guard,
            "zero_division": self.zero_division,
            "score": self.score,
        }
        write_whole(path, file.encode(head, self.labels, self._columns()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read what `save` wrote; everything in the file is checked."""
        raw = Path(path).read_bytes()
        try:
            return cls(**file.decode(raw))
        except (ValueError, RecursionError) as error:
            reason = str(error) or type(error).__name__
            raise ValueError(
                f"{os.fspath(path)} is not a halfmax thresholds file: {reason}"
            ) from None

    def report(
        self,
        path: str | os.PathLike[str],
        y_true: Any = None,
        y_score: Any = None,
        *,
        sample_weight: Any = None,
        labels: Any = None,
        metric: Any = None,
        assessment: Any = None,
        diagnosis: Any = None,
        decision: Any = None,
        title: str | None = None,
        n_resamples: int = 200,
        seed: int = 0,
        overwrite: bool = True,
        progress: ProgressLike = None,
    ) -> Path:
        """Write a report: one HTML file to explore, that works offline and can be mailed.

        It tells what the thresholds reach and what new data will show, which labels misbehave and
        what to do, and lets its reader try other thresholds for every label.

        Parameters
        ----------
        path
            The file to write, whole or not at all.
        y_true, y_score, sample_weight, labels
            The data to report on, as `tune` takes them: the same or new ones. Left out, those that
            the thresholds were tuned on, unless they come from a file.
        metric : str or Metric, optional
            Needed for thresholds from a file that maximise a `Metric` of your own.
        assessment : Assessment, False or None
            What `assess` said of the same thresholds. None makes one, which takes longest where
            there is a guard; False does without.
        diagnosis : Diagnosis, False or None
            The same of `diagnose`.
        decision : Decision, optional
            What `decide` said of a batch, to have a section of its own.
        title : str, optional
            Of the page.
        n_resamples, seed : int
            As `assess` takes them.
        overwrite : bool
            Whether a file that is there may be replaced.
        progress : bool or function
            True for lines on stderr, or a function of (done, all).

        Returns
        -------
        The path. It needs what ``pip install 'halfmax[report]'`` installs.
        """
        self._refuse_own_data(path)
        request = ReportRequest(
            self,
            path,
            y_true,
            y_score,
            sample_weight=sample_weight,
            labels=labels,
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

    def __copy__(self) -> Self:
        return replace(self)

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: all but the data that they were tuned on."""
        return {**self.__dict__, "_tuning": None}

    def _refuse_own_data(self, path: str | os.PathLike[str]) -> None:
        if self._tuning is not None:
            refuse_input("path", path, self._tuning.files)

    def _summary(self) -> str:
        what = f"{len(self.thresholds):,} labels"
        if len(self.thresholds) == 1:
            what = "one classifier" if self.average == "binary" else "1 label"
        average = "" if self.average == "binary" else f"{self.average} "
        return f"Thresholds for {what}: {average}{self.metric} = {self.score:.4f}"

    def _plain_table(self) -> Table:
        names = list(self.labels) if self.labels else list(range(len(self.thresholds)))
        return Table({"label": names, **dict(zip(COLUMNS, self._columns(), strict=True))})

    def _columns(self) -> tuple[Array, ...]:
        return (
            self.thresholds,
            self.label_scores,
            self.precision,
            self.recall,
            self.support,
            self.predicted,
        )

    def _limits_for(self, scores: Matrix) -> Floats:
        """The thresholds in the order of the columns of these scores."""
        shape, n_labels = scores.values.shape, len(self.thresholds)
        if len(shape) == 1 and self.average != "binary":
            raise ArgumentError(
                f"{in_python('y_score')} must be rows x {n_labels} labels, as the data tuned on; "
                "got 1 dimension"
            )
        if len(shape) == 2 and scores.labels is not None and self.labels is not None:
            order = match_labels(self.labels, scores.labels, "the thresholds", "y_score")
            return self.thresholds[order]
        if self.average == "binary" and len(shape) == 2 and shape[1] == 2:
            raise ArgumentError(
                f"{in_python('y_score')} must be one score for each row; of a two-column "
                f"predict_proba pass the positive class, {in_python('y_score')}[:, 1]"
            )
        if len(shape) == 2 and shape[1] != n_labels:
            raise ArgumentError(
                f"{in_python('y_score')} must have {n_labels} columns, one for each threshold; "
                f"got {shape[1]}"
            )
        return self.thresholds


@dataclass(frozen=True, eq=False)
class ReportRequest:
    """What `Thresholds.report` is asked for; its docstring says what each part means."""

    thresholds: Thresholds
    path: str | os.PathLike[str]
    y_true: Any = None
    y_score: Any = None
    sample_weight: Any = None
    labels: Any = None
    metric: Any = None
    assessment: Any = None
    diagnosis: Any = None
    decision: Any = None
    title: str | None = None
    n_resamples: int = 200
    seed: int = 0
    overwrite: bool = True
    progress: ProgressLike = None
