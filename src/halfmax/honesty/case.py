"""What is assessed, and what was found."""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.honesty.intervals import Estimate
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Guard
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.thresholds import Thresholds


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
    def counts(self) -> Counts:
        """The counts of each label, of rows without weights."""
        tuned = self.tuned
        precision = np.nan_to_num(tuned.precision)
        hits = np.where(tuned.predicted > 0, np.rint(precision * tuned.predicted), 0)
        rows = np.full(len(hits), self.data.n_rows) if self.stairs is None else self.stairs.total
        return Counts(hits, tuned.predicted, tuned.support, rows)


class Judgement(NamedTuple):
    """What was found: of the whole, then of each label."""

    expected: float
    bars: Estimate
    deviations: Array  # of the replicates, in standard errors
    label_expected: Array
    label_bars: Estimate
    threshold_low: Array
    threshold_high: Array
