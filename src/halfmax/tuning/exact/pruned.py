"""The best threshold of each label of a dense matrix, without counting at every step.

A staircase of labels with thousands of positives is long, and nearly all of its steps are far from
the best. Here a histogram of each label rules those out, see `pruned_kernels`; the few that are
left are counted exactly. The answer is that of the staircase, bit for bit.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array, Floats
from halfmax.metrics.counts import Counts
from halfmax.metrics.objective import Objective
from halfmax.metrics.plain_ratio import as_plain_ratio
from halfmax.tuning.exact.pruned_kernels import best_of_labels

_MOST_IN_32_BITS = (1 << 31) - 1  # a cell of the histogram counts rows in 32 bits
_FEWEST_COLUMNS = 16  # copied at once, even if threads then have nothing to do
_SAMPLE = 64  # rows that say where the cells of a label are
_SAMPLED_POSITIVES = 1 << 16
_LOW_END = 1 / 32  # of a sample's range; if most of a sample is there, even cells are of no use
_MOST = 0.75


class Cells(NamedTuple):
    """Where the cells of each label are: even parts of its scores, or of their keys."""

    by_key: Array
    start: Floats
    scale: Floats  # cells per unit


def pays(data: LabelledScores, objective: Objective) -> bool:
    """Return whether these data and this objective can be tuned here, in less time."""
    return (
        isinstance(data.scores, np.ndarray)
        and data.weights is None
        and objective.metric.monotone
        and len(as_plain_ratio(objective)) > 0
        and data.n_rows <= min(limits.pruned_rows, _MOST_IN_32_BITS)
        and _usual_steps(data) >= limits.pruned_steps
    )


def _usual_steps(data: LabelledScores) -> float:
    """Estimate the mean steps of a label, none with more than those that count as many."""
    every = data.truth.nnz // _SAMPLED_POSITIVES + 1
    positives = np.bincount(data.truth.indices[::every], minlength=data.n_labels) * every
    return float(np.minimum(positives, limits.few_steps).mean())


def best_steps(data: LabelledScores, objective: Objective) -> tuple[Floats, Counts]:
    """Return each label's best step and the counts at it; +inf and 0 for a label without steps."""
    scores, truth = data.scores, data.truth
    n_rows, n_labels = scores.shape
    integer = np.dtype(f"i{scores.itemsize}")
    least = np.iinfo(integer).min
    n_cells = min(limits.pruned_cells, n_rows) + 2
    cells = _cut(scores[:: n_rows // _SAMPLE + 1], integer, n_cells)
    width = min(
        max(limits.pruned_row_bytes // scores.itemsize, 1),
        max(_FEWEST_COLUMNS, -(-n_labels // limits.count_blocks)),
    )
    keys, counts = np.empty(n_labels, np.int64), np.empty((n_labels, 3), np.int64)

    def find(labels: slice) -> None:
        column = np.empty((width, n_rows), scores.dtype)
        best_of_labels(
            scores[:, labels],
            truth.indptr,
            truth.indices,
            labels.start,
            as_plain_ratio(objective),
            cells.by_key[labels],
            cells.start[labels],
            cells.scale[labels],
            n_cells,
            column,
            column.view(integer),
            least,
            keys[labels],
            counts[labels],
        )

    for _ in map_blocks(find, spans(n_labels, max(width, n_labels // limits.count_blocks))):
        pass
    tp, predicted, positives = np.ascontiguousarray(counts.T)
    thresholds = _reversed_below_0(keys, least).astype(integer).view(scores.dtype)
    thresholds = thresholds.astype(np.float64)
    thresholds[tp == 0] = np.inf
    return thresholds, Counts(tp, predicted, positives, np.full(n_labels, n_rows))


def _cut(sample: Array, integer: np.dtype[np.signedinteger], n_cells: int) -> Cells:
    """Divide the range of some rows evenly; what is beyond it belongs to the cell at that end."""
    known = sample > -np.inf
    keys = _reversed_below_0(sample.view(integer), np.iinfo(integer).min)

    def ends(values: Array) -> tuple[Array, Array]:
        low = np.where(known, values, np.inf).min(axis=0)
        return low, np.where(known, values, -np.inf).max(axis=0)

    with np.errstate(all="ignore"):  # a range that is empty or overflows is one cell
        low, high = ends(sample)
        low_end = known & (sample <= low + _LOW_END * (high - low))
        by_key = low_end.sum(axis=0) > _MOST * known.sum(axis=0)
        low, high = ends(np.where(by_key, keys, sample.astype(np.float64)))
        scale = np.nan_to_num((n_cells - 3) / (high - low), nan=0.0, posinf=0.0)
    return Cells(by_key.astype(np.uint8), low, scale)


def _reversed_below_0(integers: Array, least: int) -> Array:
    """Turn bits of floats into keys, or keys into bits; see `_key` in `pruned_kernels`."""
    return np.where(integers >= 0, integers, integers.dtype.type(least) - integers)
