"""The input and output of an assessment: `Draws`, `Case` and `Judgement`."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.gate.options import check_share_inside, check_whole
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array
from halfmax.honesty.intervals import Estimate
from halfmax.metrics.cost import Cost, RowCost
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.thresholds import Thresholds

ASSESS_RESAMPLES = 1000  # of `assess` by default


@dataclass(frozen=True)
class Draws:
    """How thoroughly to assess: the options that every assessment has."""

    n_resamples: int = ASSESS_RESAMPLES
    level: float = 0.95
    seed: int = 0
    progress: ProgressLike = None

    @classmethod
    def ask(cls, n_resamples: int, level: float, seed: int, progress: ProgressLike) -> "Draws":
        """Check the options of a public function."""
        Progress(progress, "", 1)
        return cls(
            n_resamples=check_whole("n_resamples", n_resamples, 1),
            level=check_share_inside("level", level),
            seed=check_whole("seed", seed, 0),
            progress=progress,
        )

    @property
    def tails(self) -> tuple[float, float]:
        """The probabilities of the quantiles that are the ends of an interval."""
        return (1.0 - self.level) / 2.0, (1.0 + self.level) / 2.0


@dataclass(frozen=True, eq=False)
class Case:
    """What is assessed: thresholds, the data they were tuned on, and their goal."""

    data: LabelledScores
    goal: Goal
    tuned: Thresholds
    draws: Draws
    stairs: Staircase | None = None  # the staircase of all rows; `data` may hold only some of them

    def without_idle_rows(self) -> "Case":
        """Drop rows of weight zero, which must not influence anything."""
        weights = self.data.weights
        if weights is None or weights.all():
            return self
        return replace(self, data=self.data.of_rows(np.flatnonzero(weights)), stairs=None)

    @property
    def best_scores(self) -> Array:
        """What each label could reach at most: +inf, but for costs what perfect scores cost."""
        metric, data = self.goal.metric, self.data
        if isinstance(metric, Cost):
            total = data.total if self.stairs is None else self.stairs.total
            return metric.best_score(self.tuned.support, np.asarray(total))
        if isinstance(metric, RowCost):
            costs = metric.for_truth(data.truth)
            return -np.array([np.average(np.minimum(*costs), weights=data.weights)])
        return np.full(len(self.tuned.support), np.inf)

    @property
    def counts(self) -> Counts:
        """The counts of each label, for rows without weights."""
        tuned = self.tuned
        precision = np.nan_to_num(tuned.precision)
        hits = np.where(tuned.predicted > 0, np.rint(precision * tuned.predicted), 0)
        rows = np.full(len(hits), self.data.n_rows) if self.stairs is None else self.stairs.total
        return Counts(hits, tuned.predicted, tuned.support, rows)


class Judgement(NamedTuple):
    """What was found: for the averaged score, then for each label."""

    expected: float
    bars: Estimate
    deviations: Array  # how far the replicates' scores are off, in standard errors
    label_expected: Array
    label_bars: Estimate
    threshold_low: Array
    threshold_high: Array
