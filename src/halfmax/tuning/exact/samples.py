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
from halfmax._core.jit import kernel
from halfmax._core.limits import limits
from halfmax._core.types import Array, Floats
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio, divide
from halfmax.tuning.exact.falling import Falling, fall
from halfmax.tuning.exact.groups import group_scores
from halfmax.tuning.exact.shared import best_shared
from halfmax.tuning.exact.ties import MEAN_ROUNDING

_MOST_SWEEPS = 100
_MOST_AT_ONCE = 1 << 26  # scores, less than a second
_ROUNDING = 1e-12  # a generous bound on the rounding errors of sums


# A row has four gains. The first two are what it would gain if one more negative, or one more
# positive, were predicted. The last two are what it gained when the last negative, or the last
# positive, was predicted. No positive of any row gains more than `most[0]`. Rows are passed as
# codes, see `Falling`.


@kernel
def _gains_of_ratio(
    codes: Array,
    tp: Array,
    fp: Array,
    positives: Array,
    total: int,
    importance: Array,
    ratio: Array,
    gains: Array,
    most: Array,
) -> None:
    """Compute the gains of some rows from the ratio, whose sums change by constant amounts."""
    # What a hit and a predicted negative add, above and below the fraction line.
    hit, hit_ = ratio[0] - ratio[2], ratio[4] - ratio[6]
    negative, negative_ = ratio[1] - ratio[3], ratio[5] - ratio[7]
    for code in codes:
        i = code >> 2
        true, false = positives[i] - tp[i], total - positives[i] - fp[i]  # not predicted
        above = ratio[0] * tp[i] + ratio[1] * fp[i] + ratio[2] * true + ratio[3] * false
        below = ratio[4] * tp[i] + ratio[5] * fp[i] + ratio[6] * true + ratio[7] * false
        here = divide(above, below, ratio[8])
        gains[i] = 0.0  # for impossible changes
        if false > 0:
            gains[i, 0] = importance[i] * (
                divide(above + negative, below + negative_, ratio[8]) - here
            )
        if true > 0:
            gains[i, 1] = importance[i] * (divide(above + hit, below + hit_, ratio[8]) - here)
        if fp[i] > 0:
            gains[i, 2] = importance[i] * (
                here - divide(above - negative, below - negative_, ratio[8])
            )
        if tp[i] > 0:
            gains[i, 3] = importance[i] * (here - divide(above - hit, below - hit_, ratio[8]))
        most[0] = max(most[0], gains[i, 1], gains[i, 3])


@kernel
def _gains_in_windows(
    codes: Array, tp: Array, fp: Array, middle: Array, windows: Array, gains: Array, most: Array
) -> bool:
    """Look up the gains of some rows in their windows; False if a row has left its window."""
    reach = windows.shape[1] >> 1
    inside = True
    for code in codes:
        i = code >> 2
        a, b = tp[i] - middle[i, 0], fp[i] - middle[i, 1]
        if max(abs(a), abs(b)) >= reach:
            inside = False
            continue
        a += reach
        b += reach
        here = windows[i, a, b]
        gains[i, 0] = windows[i, a, b + 1] - here
        gains[i, 1] = windows[i, a + 1, b] - here
        gains[i, 2] = here - windows[i, a, b - 1]
        gains[i, 3] = here - windows[i, a - 1, b]
        most[0] = max(most[0], gains[i, 1], gains[i, 3])
    return inside


@kernel
def _best_place(
    codes: Array, n_now: int, positives: int, gains: Array, most: float, records: Array
) -> int:
    """Find how many of a label's falling scores to predict; the first `n_now` are predicted now.

    A negative gains nothing, so the search ends where the remaining positives could not lift the
    value to the best. Among values that are equal within rounding the first has the highest
    threshold. It exceeds every value before it, so it was recorded.
    """
    value, best = 0.0, 0.0
    n_records, left = 0, positives
    for e in range(codes.size):
        code = codes[e]
        value += gains[code >> 2, (code & 1) + (2 if e < n_now else 0)]
        left -= code & 1
        if code & 2:
            if value > best:
                best = value
                records[n_records, 0] = value
                records[n_records, 1] = e + 1
                n_records += 1
            elif value + left * most < best - _ROUNDING:
                break
    if best <= MEAN_ROUNDING:
        return 0
    for k in range(n_records):
        if records[k, 0] >= best - MEAN_ROUNDING:
            return int(records[k, 1])
    return 0


@kernel
def _move(codes: Array, step: int, tp: Array, fp: Array) -> None:
    """Add some scores to the predictions (step 1), or remove them (step -1)."""
    for code in codes:
        if code & 1:
            tp[code >> 2] += step
        else:
            fp[code >> 2] += step


@kernel
def _sweep(
    place: Array,
    edges: Array,
    codes: Array,
    positives: Array,
    n_predicted: Array,
    records: Array,
    tp: Array,
    fp: Array,
    row_positives: Array,
    total: int,
    importance: Array,
    ratio: Array,
    middle: Array,
    windows: Array,
    gains: Array,
    most: Array,
) -> None:
    """Move labels to their best places, one after the other, starting at label `place[0]`.

    The sweep stops when a row has left its window, when all labels in succession have stayed
    (`place[1]` counts them), after the last label, or after enough scores to check for Ctrl-C.
    """
    n_labels = n_predicted.size
    inside, left = True, _MOST_AT_ONCE
    while inside and left > 0 and place[0] < n_labels and place[1] < n_labels:
        j = place[0]
        here = codes[edges[j] : edges[j + 1]]
        left -= here.size
        now = n_predicted[j]
        best = _best_place(here, now, positives[j], gains, most[0], records)
        place[0] += 1
        place[1] = place[1] + 1 if best == now else 0
        n_predicted[j] = best
        moved = here[min(now, best) : max(now, best)]
        _move(moved, 1 if best > now else -1, tp, fp)
        if ratio.size:
            _gains_of_ratio(moved, tp, fp, row_positives, total, importance, ratio, gains, most)
        else:
            inside = _gains_in_windows(moved, tp, fp, middle, windows, gains, most)


@kernel
def _count_rows(edges: Array, codes: Array, n_predicted: Array, tp: Array, fp: Array) -> None:
    """Count the predicted positives and the predicted negatives of each row."""
    for j in range(n_predicted.size):
        _move(codes[edges[j] : edges[j] + n_predicted[j]], 1, tp, fp)


class _RowState:
    """The predictions of each row, and what its metric would gain by any change."""

    def __init__(self, data: LabelledScores, labels: Falling, objective: Objective) -> None:
        self.tp, self.fp = np.zeros((2, data.n_rows), np.int64)
        _count_rows(labels.edges, labels.codes, labels.n_predicted, self.tp, self.fp)
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
        _sweep(
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
        if len(self.ratio):
            _gains_of_ratio(
                4 * rows,
                self.tp,
                self.fp,
                self.positives,
                self.total,
                self.importance,
                self.ratio,
                self.gains,
                self.most,
            )
        else:
            self.refill(rows)
            _gains_in_windows(
                4 * rows, self.tp, self.fp, self.middle, self.windows, self.gains, self.most
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
