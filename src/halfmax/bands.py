"""All labels counted on one scale: how many rows and positives each has in every band of scores.

Guards pool what labels tell about each other, so their counts must stand side by side. A label's
own staircase cannot: its steps are its own positives' scores. Bands are cut for all labels alike,
half way between neighbouring positives of the pooled scores, so that no positive sits on an edge
that was drawn for it: on new data it would fall just short as often as not.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._inputs import LabelledScores
from halfmax.grid import Grid, positive_entries
from halfmax.staircase import Staircase

Array = npt.NDArray[Any]

_POSITIVES_PER_BAND = 4
_MOST_BANDS, _FEWEST_BANDS = 512, 16
_MOST_CELLS = 1 << 19  # labels x bands, unless that leaves too few bands


class Bands(NamedTuple):
    """Counts of labels x bands, from high scores to low; the last band is below every edge."""

    edges: Array  # falling; band b holds the scores from edges[b] up to the edge before
    rows: npt.NDArray[np.float64]
    positives: npt.NDArray[np.float64]

    @classmethod
    def of(cls, data: LabelledScores) -> "Bands":
        """Cut the bands for these scores and count."""
        return count_bands(data, cut_edges(data))

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
        return Bands(self.edges, self.rows[labels], self.positives[labels])

    def without(self, part: "Bands") -> "Bands":
        """What is left when some of the rows are taken out."""
        return Bands(self.edges, self.rows - part.rows, self.positives - part.positives)

    def thresholds(self, reached: Array) -> npt.NDArray[np.float64]:
        """The threshold of each label that predicts its first so many bands; +inf for none."""
        edges = np.append(np.inf, self.edges.astype(np.float64))
        return edges[reached] + 0.0  # no -0.0 in an answer


def cut_edges(data: LabelledScores) -> Array:
    """Half way between neighbouring positives, and at the lowest positive; falling."""
    _, scores, _ = positive_entries(data)
    scores = np.sort(scores[scores > -np.inf])[::-1]
    if not len(scores):
        return scores
    between = (scores[:-1] / 2 + scores[1:] / 2)[scores[1:] < scores[:-1]]
    wanted = max(_FEWEST_BANDS, len(scores) // _POSITIVES_PER_BAND)
    wanted = min(wanted, _MOST_BANDS, max(_FEWEST_BANDS, _MOST_CELLS // data.n_labels))
    if len(between) > wanted:
        between = between[np.linspace(0, len(between) - 1, wanted).astype(np.int64)]
    return np.unique(np.append(between, scores[-1]))[::-1]


def count_bands(data: LabelledScores, edges: Array) -> Bands:
    """Count rows and positives of each label in each band; weights are scaled to a mean of 1."""
    n_labels, n_bands = data.n_labels, len(edges)
    offsets = np.arange(n_labels + 1) * n_bands
    stairs = Staircase.of_checked(data, Grid(offsets, np.tile(edges, n_labels)))
    scale = 1.0 if data.weights is None else data.n_rows / data.total
    shape = (n_labels, n_bands)
    return Bands(
        edges,
        scale * _within(stairs.predicted.reshape(shape), stairs.total),
        scale * _within(stairs.true_positives.reshape(shape), stairs.positives),
    )


def _within(reached: Array, whole: Array) -> Array:
    """Counts of bands from counts at or above their edges."""
    counts = np.diff(reached, axis=1, prepend=0, append=whole[:, None])
    within: Array = np.maximum(counts.astype(np.float64), 0.0)  # sums of weights are rounded
    return within
