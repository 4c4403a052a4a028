"""The result of assessing: what tuned thresholds will show on new data, and how sure that is."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.checks import Guard
from halfmax._core.labelled import LabelledScores
from halfmax._core.result import Shown
from halfmax._core.table import Table
from halfmax.honesty.intervals import Estimate
from halfmax.metrics.metric import Objective
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.thresholds import Thresholds

Array = npt.NDArray[Any]


class Case(NamedTuple):
    """What is assessed, and how thoroughly."""

    data: LabelledScores
    average: str
    per_label: bool
    objective: Objective
    guard: Guard | None
    tuned: Thresholds
    n_resamples: int
    level: float
    seed: int
    progress: Any
    stairs: Staircase | None = None  # of all rows, where `data` holds only some of them

    def without_idle_rows(self) -> "Case":
        """Without rows of weight zero, which must not take part in anything."""
        weights = self.data.weights
        if weights is None or weights.all():
            return self
        return self._replace(data=self.data.of_rows(np.flatnonzero(weights)))

    @property
    def tails(self) -> tuple[float, float]:
        return (1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0

    @property
    def counts(self) -> tuple[Array, ...]:
        """True positives, predicted, positives and total of each label, of rows without weights."""
        tuned = self.tuned
        precision = np.nan_to_num(tuned.precision)
        hits = np.where(tuned.predicted > 0, np.rint(precision * tuned.predicted), 0)
        rows = np.full(len(hits), self.data.n_rows) if self.stairs is None else self.stairs.total
        return hits, tuned.predicted, tuned.support, rows


class Judgement(NamedTuple):
    """What was found: of the whole, then of each label."""

    expected: float
    bars: Estimate
    deviations: Array  # of the replicates, in standard errors
    label_expected: Array
    label_bars: Estimate
    threshold_low: Array
    threshold_high: Array


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Shown):
    """What new data will show, where tuned thresholds flatter themselves.

    Attributes
    ----------
    expected_score : float
        The score to expect on new data of the same size.
    score, optimism : float
        The score on the data tuned on, and by how much that is too high.
    score_interval : (float, float)
        Where the score on endless new data lies, as far as these data can tell. It is no interval
        for the score of one new set, a test split for example: that scatters more, because its own
        rows are drawn by chance too.
    threshold_interval : (float, float) or (ndarray, ndarray)
        Where the best threshold lies; two arrays, low and high ends, if labels have thresholds of
        their own. ``+inf`` says that predicting nobody may be best.
    resampled_scores : ndarray (n_resamples,)
        A picture of what is known of the score on endless new data. For one classifier without a
        guard they are the bootstrap's scores, moved to `expected_score` and its standard error;
        otherwise, quantiles of the normal law of its log-odds, from which `score_interval` always
        comes.
    label_scores, label_expected_scores : ndarray (m,)
        The same of each label. A label with few positives is judged by tuning with one less, which
        is harsh for it, but right for the mean over labels.
    label_score_intervals : (ndarray, ndarray)
        Low and high ends for each label.
    thresholds : Thresholds
        The thresholds assessed.
    level : float
        The share of intervals that hold the truth, the score on endless new data.
    """

    expected_score: float
    score_interval: tuple[float, float]
    threshold_interval: tuple[Any, Any]
    resampled_scores: npt.NDArray[np.float64]
    label_expected_scores: npt.NDArray[np.float64]
    label_score_intervals: tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]
    thresholds: Thresholds
    level: float
    _frame_library: Any = field(default=None)

    @classmethod
    def of(cls, case: Case, found: Judgement) -> "Assessment":
        """From what was found."""
        ends: tuple[Any, Any] = found.threshold_low, found.threshold_high
        if case.tuned.shared:
            ends = float(ends[0][0]), float(ends[1][0])
        low, high = (float(np.ravel(end)[0]) for end in found.bars.interval(case.level))
        return cls(
            expected_score=found.expected,
            score_interval=(min(low, found.expected), max(high, found.expected)),
            threshold_interval=ends,
            resampled_scores=found.bars.at(found.deviations),
            label_expected_scores=found.label_expected,
            label_score_intervals=found.label_bars.interval(case.level),
            thresholds=case.tuned,
            level=case.level,
            _frame_library=case.tuned._frame_library,
        )

    @property
    def score(self) -> float:
        return self.thresholds.score

    @property
    def optimism(self) -> float:
        return self.score - self.expected_score

    @property
    def label_scores(self) -> Array:
        return self.thresholds.label_scores

    def table(self) -> Any:
        """Per label: label, threshold, low, high, score, expected, support.

        Low and high are the ends of the threshold's interval. A frame of the library that the data
        came in, or a `Table` of plain columns.
        """
        return super().table()

    def _summary(self) -> str:
        tuned = self.thresholds
        average = "" if tuned.average == "binary" else f"{tuned.average} "
        low, high = self.score_interval
        return (
            f"Assessment: {average}{tuned.metric} = {self.score:.4f} here, "
            f"{self.expected_score:.4f} expected on new data "
            f"({100 * self.level:g} % interval {low:.4f} to {high:.4f}, for endless new data)"
        )

    def _plain_table(self) -> Table:
        tuned = self.thresholds
        size = len(tuned.thresholds)
        low, high = (np.broadcast_to(end, size) for end in self.threshold_interval)
        return Table(
            {
                "label": list(tuned.labels) if tuned.labels else list(range(size)),
                "threshold": tuned.thresholds,
                "low": low,
                "high": high,
                "score": self.label_scores,
                "expected": self.label_expected_scores,
                "support": tuned.support,
            }
        )
