"""Bands of scores: how many rows and positives each label has in each band.

Guards pool information across labels, so the counts of all labels must be comparable. Staircases
are not: the steps of a label are its own positives' scores. Bands have the same edges for all
labels, half way between neighbouring positives of the pooled scores. An edge at a positive's own
score would lose half of similar new positives, which fall just below it; midpoints avoid that.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.types import Array, Floats
from halfmax.staircase.grid import Grid, positive_entries
from halfmax.staircase.staircase import Staircase

_POSITIVES_PER_BAND = 4
_FEWEST_BANDS = 16
_ENOUGH = 16  # bands that a label's positives should fall in, if they have that many scores


class Bands(NamedTuple):
    """Counts of labels x bands, from high scores to low; the last band is below all edges."""

    edges: Array  # (labels, bands - 1), falling; band b goes from its edge up to the edge before
    rows: Floats
    positives: Floats

    @property
    def n_labels(self) -> int:
        return len(self.rows)

    @property
    def support(self) -> Array:
        """The positives of each label."""
        support: Array = self.positives.sum(axis=1)
        return support

    @property
    def total(self) -> float:
        """The rows of each label, the same for all."""
        return float(self.rows[0].sum())

    def of_labels(self, labels: Array) -> "Bands":
        """Keep some of the labels."""
        return Bands(self.edges[labels], self.rows[labels], self.positives[labels])

    def without(self, part: "Bands") -> "Bands":
        """Subtract the counts of some of the rows; rounding of weights never goes below 0."""
        rows = np.maximum(self.rows - part.rows, 0.0)
        return Bands(self.edges, rows, np.maximum(self.positives - part.positives, 0.0))

    def thresholds(self, reached: Array) -> Floats:
        """Return thresholds that predict the first `reached` bands of each label; +inf for none."""
        if not self.edges.shape[1]:
            return np.full(self.n_labels, np.inf)
        last = self.edges[np.arange(self.n_labels), np.maximum(reached, 1) - 1]
        return np.where(reached > 0, last.astype(np.float64), np.inf) + 0.0  # never answer -0.0


def common_edges(data: LabelledScores) -> Array:
    """Draw edges for all labels half way between neighbouring positives, and at the lowest."""
    _, scores, _ = positive_entries(data)
    scores = np.sort(scores[scores > -np.inf])[::-1]
    few = max(
        _FEWEST_BANDS,
        min(64, limits.most_band_cells // data.n_labels),
        limits.usual_band_cells // data.n_labels,
    )
    edges = _half_way(scores, min(few, limits.most_bands, len(scores) // _POSITIVES_PER_BAND + 16))
    return np.broadcast_to(edges, (data.n_labels, len(edges)))


def own_edges(data: LabelledScores) -> Array:
    """Draw edges for each label between its own positives; short lists repeat their last edge."""
    columns, scores, _ = positive_entries(data)
    grid = Grid.from_entries(columns, scores, data.n_labels)
    steps = np.split(grid.scores, grid.offsets[1:-1])
    edges = [_half_way(own, limits.most_bands) if len(own) else np.array([np.inf]) for own in steps]
    longest = max(map(len, edges))
    return np.stack([np.append(own, np.repeat(own[-1:], longest - len(own))) for own in edges])


def on_their_own_scale(data: LabelledScores, bands: Bands) -> Array:
    """Find labels whose scores are where other labels have few, so that common bands are too wide.

    Their positives have many different scores but fall into few bands.
    """
    columns, scores, _ = positive_entries(data)
    grid = Grid.from_entries(columns, scores, data.n_labels)
    needed = np.minimum(np.diff(grid.offsets), min(_ENOUGH, bands.edges.shape[1] // 2))
    return np.flatnonzero(2 * (bands.positives > 0).sum(axis=1) < needed)


def _half_way(falling: Array, most: int) -> Array:
    """Return midpoints of neighbours, thinned out evenly to `most`, and the lowest score."""
    between = (falling[:-1] / 2 + falling[1:] / 2)[falling[1:] < falling[:-1]]
    if len(between) > most:
        between = between[np.linspace(0, len(between) - 1, most).astype(np.int64)]
    return np.unique(np.append(between, falling[-1:]))[::-1]


def count_bands(data: LabelledScores, edges: Array, rows_per_weight: float | None = None) -> Bands:
    """Count rows and positives of each label in each band.

    A unit of weight counts for `rows_per_weight` rows. By default the weights of these data add up
    to the effective sample size (Kish).
    """
    n_labels, n_edges = edges.shape
    grid = Grid(np.arange(n_labels + 1) * n_edges, np.ascontiguousarray(edges).ravel())
    stairs = Staircase.of_checked(data, grid)
    scale = data.rows_per_weight if rows_per_weight is None else rows_per_weight
    return Bands(
        edges,
        scale * _within(stairs.predicted.reshape(edges.shape), stairs.total),
        scale * _within(stairs.true_positives.reshape(edges.shape), stairs.positives),
    )


def _within(reached: Array, whole: Array) -> Array:
    """Return the counts inside bands from the counts at or above their edges."""
    counts = np.diff(reached, axis=1, prepend=0, append=whole[:, None])
    within: Array = np.maximum(counts.astype(np.float64), 0.0)  # sums of weights are rounded
    return within
