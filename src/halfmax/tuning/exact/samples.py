"""Samples averages with one threshold for each label: coordinate ascent.

The labels of a row share its metric, so their thresholds cannot be chosen independently, and the
exact optimum is out of reach. From the best shared threshold, one label after the other moves to
its own exact best while the others stay, until none moves. The result is a local optimum, never
below the shared threshold.

A kernel moves the labels. If the metric is a plain ratio, the kernel computes it directly. Any
other metric is unknown to it: for each row it has a window of values around the current counts of
the row, and it stops when a row is about to leave its window. Then the windows are refilled, for
all rows at once.
"""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.types import Array, Floats
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio
from halfmax.tuning.exact.falling import Falling, fall
from halfmax.tuning.exact.groups import group_scores
from halfmax.tuning.exact.samples_kernels import count_rows, look_around, sweep
from halfmax.tuning.exact.shared import best_shared

_MOST_SWEEPS = 100


class _RowState:
    """The predictions of each row, and what its metric would gain by any change."""

    def __init__(self, data: LabelledScores, labels: Falling, objective: Objective) -> None:
        self.tp, self.fp = np.zeros((2, data.n_rows), np.int64)
        count_rows(labels.edges, labels.codes, labels.n_predicted, self.tp, self.fp)
        self.positives = np.diff(data.truth.indptr).astype(np.int64)
        self.total = data.n_labels
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        self.importance = weights / weights.sum()
        self.objective = objective
        self.ratio = as_plain_ratio(objective)
        side = int(np.sqrt(limits.window_cells / data.n_rows))
        self.reach = min(max((side - 1) // 2, 1), limits.window_reach)
        n_windows = 0 if len(self.ratio) else data.n_rows
        self.windows = np.empty((n_windows, 2 * self.reach + 1, 2 * self.reach + 1))
        self.middle = np.empty((n_windows, 2), np.int64)
        self.gains = np.empty((data.n_rows, 4))
        self.most = np.zeros(1)
        self.look_around(np.arange(data.n_rows))

    def sweep(self, place: Array, labels: Falling, records: Array) -> None:
        """Move labels to their best places; `place` says where to start and where it stopped."""
        sweep(
            place,
            labels.edges,
            labels.codes,
            labels.positives,
            labels.n_predicted,
            records,
            self.tp,
            self.fp,
            self.positives,
            self.total,
            self.importance,
            self.ratio,
            self.middle,
            self.windows,
            self.gains,
            self.most,
        )

    def look_around(self, rows: Array) -> None:
        """Compute what these rows gain by each change."""
        if not len(self.ratio):
            self.refill(rows)
        look_around(
            4 * rows,
            self.tp,
            self.fp,
            self.positives,
            self.total,
            self.importance,
            self.ratio,
            self.middle,
            self.windows,
            self.gains,
            self.most,
        )

    def refill(self, rows: Array) -> None:
        """Centre the windows of these rows; cells of impossible counts are never read."""
        self.middle[rows, 0], self.middle[rows, 1] = self.tp[rows], self.fp[rows]
        around = np.arange(-self.reach, self.reach + 1)
        positives = self.positives[rows, None, None]
        tp = np.clip(self.tp[rows, None, None] + around[:, None], 0, positives)
        fp = np.clip(self.fp[rows, None, None] + around, 0, self.total - positives)
        value = self.objective(tp, tp + fp, positives, self.total)
        self.windows[rows] = value * self.importance[rows, None, None]

    def follow(self) -> None:
        """Centre the windows of rows that are at least half way to the border, or beyond it."""
        if len(self.ratio):
            return
        moved = np.maximum(abs(self.tp - self.middle[:, 0]), abs(self.fp - self.middle[:, 1]))
        self.look_around(np.flatnonzero(2 * moved >= self.reach))


def ascend(data: LabelledScores, objective: Objective) -> Floats:
    """Find one threshold for each label, a local optimum of the mean over rows."""
    shared = best_shared(group_scores(data, "samples"), objective)
    labels = fall(data, shared)
    state = _RowState(data, labels, objective)
    records = np.empty((int(np.diff(labels.edges).max(initial=0)), 2))
    stayed = 0
    for _ in range(_MOST_SWEEPS):
        place = np.array([0, stayed])
        while place[0] < data.n_labels and place[1] < data.n_labels:
            state.sweep(place, labels, records)
            state.follow()
        stayed = place[1]
        if stayed >= data.n_labels:
            break
    return labels.thresholds()
