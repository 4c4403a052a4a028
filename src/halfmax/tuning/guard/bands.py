"""All labels counted on one scale: how many rows and positives each has in every band of scores.

Guards pool what labels tell about each other, so their counts must stand side by side. A label's
own staircase cannot: its steps are its own positives' scores. Bands are cut for all labels alike,
half way between neighbouring positives of the pooled scores, so that no positive sits on an edge
that was drawn for it: on new data it would fall just short as often as not.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Array, Floats
from halfmax.staircase.grid import Grid, positive_entries
from halfmax.staircase.staircase import Staircase

_POSITIVES_PER_BAND = 4
_MOST_BANDS, _FEWEST_BANDS = 512, 16
_USUAL_CELLS, _MOST_CELLS = 1 << 19, 1 << 22  # labels x bands; more only for up to 64 bands
_ENOUGH = 16  # bands in which a label's positives should lie, if they have so many scores


class Bands(NamedTuple):
    """Counts of labels x bands, from high scores to low; the last band is below every edge."""

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
        """Some of the labels."""
        return Bands(self.edges[labels], self.rows[labels], self.positives[labels])

    def without(self, part: "Bands") -> "Bands":
        """What is left when some of the rows are taken out; rounded sums of weights stay at 0."""
        rows = np.maximum(self.rows - part.rows, 0.0)
        return Bands(self.edges, rows, np.maximum(self.positives - part.positives, 0.0))

    def thresholds(self, reached: Array) -> Floats:
        """The threshold of each label that predicts its first so many bands; +inf for none."""
        if not self.edges.shape[1]:
            return np.full(self.n_labels, np.inf)
        last = self.edges[np.arange(self.n_labels), np.maximum(reached, 1) - 1]
        return np.where(reached > 0, last.astype(np.float64), np.inf) + 0.0  # no -0.0 in an answer


def common_edges(data: LabelledScores) -> Array:
    """The same edges for all labels: half way between neighbouring positives, and at the lowest."""
    _, scores, _ = positive_entries(data)
    scores = np.sort(scores[scores > -np.inf])[::-1]
    few = max(_FEWEST_BANDS, min(64, _MOST_CELLS // data.n_labels), _USUAL_CELLS // data.n_labels)
    edges = _half_way(scores, min(few, _MOST_BANDS, len(scores) // _POSITIVES_PER_BAND + 16))
    return np.broadcast_to(edges, (data.n_labels, len(edges)))


def own_edges(data: LabelledScores) -> Array:
    """Edges for each label between its own positives; short ones repeat their last edge."""
    columns, scores, _ = positive_entries(data)
    grid = Grid.from_entries(columns, scores, data.n_labels)
    steps = np.split(grid.scores, grid.offsets[1:-1])
    edges = [_half_way(own, _MOST_BANDS) if len(own) else np.array([np.inf]) for own in steps]
    longest = max(map(len, edges))
    return np.stack([np.append(own, np.repeat(own[-1:], longest - len(own))) for own in edges])


def on_their_own_scale(data: LabelledScores, bands: Bands) -> Array:
    """The labels whose scores lie where others have few, so that common bands cannot tell them.

    Their positives have many scores and fall into few bands.
    """
    columns, scores, _ = positive_entries(data)
    grid = Grid.from_entries(columns, scores, data.n_labels)
    wanted = np.minimum(np.diff(grid.offsets), min(_ENOUGH, bands.edges.shape[1] // 2))
    return np.flatnonzero(2 * (bands.positives > 0).sum(axis=1) < wanted)


def _half_way(falling: Array, most: int) -> Array:
    """Between neighbours, thinned out evenly to so many, and the lowest itself."""
    between = (falling[:-1] / 2 + falling[1:] / 2)[falling[1:] < falling[:-1]]
    if len(between) > most:
        between = between[np.linspace(0, len(between) - 1, most).astype(np.int64)]
    return np.unique(np.append(between, falling[-1:]))[::-1]


def count_bands(data: LabelledScores, edges: Array, worth: float | None = None) -> Bands:
    """Count rows and positives of each label in each band.

    Weights are scaled so that all rows together are as many as they are worth: `worth` for each
    unit of weight, by default `rows_per_weight` of these data.
    """
    n_labels, n_edges = edges.shape
    grid = Grid(np.arange(n_labels + 1) * n_edges, np.ascontiguousarray(edges).ravel())
    stairs = Staircase.of_checked(data, grid)
    scale = data.rows_per_weight if worth is None else worth
    return Bands(
        edges,
        scale * _within(stairs.predicted.reshape(edges.shape), stairs.total),
        scale * _within(stairs.true_positives.reshape(edges.shape), stairs.positives),
    )


def _within(reached: Array, whole: Array) -> Array:
    """Counts of bands from counts at or above their edges."""
    counts = np.diff(reached, axis=1, prepend=0, append=whole[:, None])
    within: Array = np.maximum(counts.astype(np.float64), 0.0)  # sums of weights are rounded
    return within
