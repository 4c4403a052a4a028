"""`Assessment`: what tuned thresholds will reach on new data, and how certain that is."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from halfmax._core.result import Result, Table
from halfmax._core.types import Array, Floats
from halfmax.honesty.case import Case, Judgement
from halfmax.metrics.average import mean_over_labels
from halfmax.metrics.words import cost_of, costs_alone, is_cost, shown, with_costs
from halfmax.tuning.thresholds import Thresholds


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Result):
    """What tuned thresholds will reach on new data, and how certain that is.

    Attributes
    ----------
    expected_score : float
        The score to expect on new data of the same size.
    score, optimism : float
        The score on the data tuned on, and by how much it is too high.
    score_interval : (float, float)
        The interval for the score on unlimited new data. It is not an interval for the score of
        one new set, such as a test split, which varies more because its own rows are random too.
    threshold_interval : (float, float) or (ndarray, ndarray)
        The interval for the best threshold; two arrays, the low and high ends, if each label has
        its own threshold. ``+inf`` means that predicting no rows may be best.
    resampled_scores : ndarray of shape (n_resamples,)
        The distribution of the score on unlimited new data. For one classifier without a guard
        these are the bootstrap's scores, shifted and scaled to `expected_score` and its standard
        error. Otherwise they are quantiles of the normal distribution of its log-odds, which
        `score_interval` always comes from.
    label_scores, label_expected_scores : ndarray of shape (labels,)
        The score and expected score of each label. A label with few positives is judged by tuning
        with one positive less, which is harsh for the label but right for the mean over labels.
    label_score_intervals : (ndarray, ndarray)
        The low and high ends for each label.
    thresholds : Thresholds
        The thresholds assessed.
    cost, expected_cost : float
        If costs were minimised: the mean cost of a row here, and the one to expect.
    cost_interval : (float, float)
        If costs were minimised: the interval for the mean cost.
    level : float
        The share of intervals that contain the truth, the score on unlimited new data.

    See Also
    --------
    assess : The function that returns it.
    Thresholds : The thresholds that it judges.

    Examples
    --------
    >>> from halfmax import assess
    >>> a = assess([0, 1, 0, 1, 0, 1], [0.1, 0.9, 0.3, 0.8, 0.2, 0.4])
    >>> a.score, a.expected_score < a.score
    (1.0, True)
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
        """Make the result from what was found; `assess` calls it.

        Parameters
        ----------
        case : Case
            What was assessed.
        found : Judgement
            What was found.

        Returns
        -------
        Assessment
            The result.
        """
        ends: tuple[Any, Any] = found.threshold_low, found.threshold_high
        if case.tuned.shared:
            ends = float(ends[0][0]), float(ends[1][0])
        best = case.best_scores
        highest = mean_over_labels(best, case.goal.average, case.tuned.support)
        low, high = (float(np.ravel(end)[0]) for end in found.bars.interval(case.draws.level))
        label_low, label_high = found.label_bars.interval(case.draws.level)
        return cls(
            expected_score=found.expected,
            score_interval=(min(low, found.expected), max(min(high, highest), found.expected)),
            threshold_interval=ends,
            resampled_scores=np.minimum(found.bars.at(found.deviations), highest),
            label_expected_scores=found.label_expected,
            label_score_intervals=(label_low, np.minimum(label_high, best)),
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
    def cost(self) -> float:
        """The mean cost of a row on the data tuned on, if costs were minimised."""
        return cost_of(self.thresholds.metric, self.score)

    @property
    def expected_cost(self) -> float:
        """The mean cost of a row to expect on new data, if costs were minimised."""
        return cost_of(self.thresholds.metric, self.expected_score)

    @property
    def cost_interval(self) -> tuple[float, float]:
        """The interval for the mean cost on unlimited new data, if costs were minimised."""
        low, high = (cost_of(self.thresholds.metric, end) for end in self.score_interval)
        return high, low

    @property
    def label_scores(self) -> Array:
        return self.thresholds.label_scores

    def table(self) -> Any:
        """Tabulate the labels: label, threshold, low, high, score, expected, support.

        Low and high are the ends of the threshold's interval. For costs, cost and expected_cost
        are added.

        Returns
        -------
        data frame or Table
            One row per label, as a frame of the library that the data came in, or as a `Table` of
            plain columns.
        """
        return super().table()

    def _summary(self) -> str:
        tuned = self.thresholds
        average = "" if tuned.average == "binary" else f"{tuned.average} "
        average = "mean " if is_cost(tuned.metric) else average
        low, high = sorted(shown(tuned.metric, end) for end in self.score_interval)
        return (
            f"Assessment: {average}{tuned.metric} = {shown(tuned.metric, self.score):.4f} here, "
            f"{shown(tuned.metric, self.expected_score):.4f} expected on new data "
            f"({100 * self.level:g} % interval {low:.4f} to {high:.4f} on unlimited new data)"
        )

    def _plain_table(self) -> Table:
        tuned = self.thresholds
        size = len(tuned.thresholds)
        low, high = (np.broadcast_to(end, size) for end in self.threshold_interval)
        table = Table(
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
        return with_costs(tuned.metric, table)

    def _shown_table(self) -> Table:
        return costs_alone(self._plain_table()).without_place()
