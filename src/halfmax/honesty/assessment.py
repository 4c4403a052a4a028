"""The result of assessing: what tuned thresholds will show on new data, and how sure that is."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfmax._core.result import Result, Table
from halfmax._core.types import Array, Floats
from halfmax.honesty.case import Case, Judgement
from halfmax.tuning.thresholds import Thresholds


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Result):
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
    resampled_scores: Floats
    label_expected_scores: Floats
    label_score_intervals: tuple[Floats, Floats]
    thresholds: Thresholds
    level: float
    _frame_library: Any = field(default=None)

    @classmethod
    def of(cls, case: Case, found: Judgement) -> "Assessment":
        """From what was found."""
        ends: tuple[Any, Any] = found.threshold_low, found.threshold_high
        if case.tuned.shared:
            ends = float(ends[0][0]), float(ends[1][0])
        low, high = (float(np.ravel(end)[0]) for end in found.bars.interval(case.draws.level))
        return cls(
            expected_score=found.expected,
            score_interval=(min(low, found.expected), max(high, found.expected)),
            threshold_interval=ends,
            resampled_scores=found.bars.at(found.deviations),
            label_expected_scores=found.label_expected,
            label_score_intervals=found.label_bars.interval(case.draws.level),
            thresholds=case.tuned,
            level=case.draws.level,
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
