"""The counts behind a threshold curve: at which scores, and how they would vary."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Floats
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid
from halfmax.staircase.staircase import Staircase

_PART = 640  # three times this, and a few, are the most scores kept


def grid_of_scores(data: LabelledScores, best: float) -> Grid:
    """The label's different scores, or enough of them to draw, the best among them."""
    stored = data.scores if isinstance(data.scores, np.ndarray) else data.scores.data
    known = np.unique(stored[stored > -np.inf])
    if not len(known):
        raise ValueError(
            "y_score must have a finite score to draw; of this label all are -inf or absent"
        )
    kept = _thinned(known, best)
    return Grid.from_entries(np.zeros(len(kept), np.int64), kept, 1)


def _thinned(rising: npt.NDArray[Any], best: float) -> npt.NDArray[Any]:
    """At most 2,000 of them: even in rank, even along the axis, and dense among the highest."""
    size = len(rising)
    if size <= 3 * _PART:
        return rising
    by_rank = np.linspace(0, size - 1, _PART).astype(np.int64)
    ends = float(rising[0]), float(rising[-1])
    by_place = np.minimum(np.searchsorted(rising, np.linspace(*ends, _PART)), size - 1)
    from_top = size - np.unique(np.geomspace(1, size, _PART).astype(np.int64))
    chosen = np.minimum(np.searchsorted(rising, [best]), size - 1)
    taken: npt.NDArray[Any] = rising[np.unique(np.r_[by_rank, by_place, from_top, chosen])]
    return taken


def band(
    data: LabelledScores,
    stairs: Staircase,
    objective: Objective,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Where the metric at each threshold lies when the rows are drawn again.

    In the Poisson bootstrap the rows between two thresholds weigh Poisson of their number. Weights
    that differ have the sum of such draws; a Poisson number of equal weights with the same mean
    and variance stands for it.
    """
    squares = stairs
    if data.weights is not None:
        squares = Staircase.of_checked(data._replace(weights=data.weights**2), stairs.grid)
    pairs = zip(_rows_between(stairs), _rows_between(squares), strict=True)
    hits, false = (_draw_again(*pair, n_resamples, rng).cumsum(axis=1) for pair in pairs)
    positives, total = hits[:, -1:], hits[:, -1:] + false[:, -1:]
    tp, predicted = hits[:, :-1], hits[:, :-1] + false[:, :-1]
    values = objective(tp, predicted, positives, total)[:, ::-1]
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = np.quantile(values, tails, axis=0)
    return low, high


def _rows_between(stairs: Staircase) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Positives and negatives from each threshold up to the next, and last those below all."""
    hits = np.append(stairs.true_positives, stairs.positives)
    all_rows = np.append(stairs.predicted, stairs.total)
    return np.diff(hits, prepend=0), np.diff(all_rows - hits, prepend=0)


def _draw_again(
    sums: npt.NDArray[Any], squares: npt.NDArray[Any], n_resamples: int, rng: np.random.Generator
) -> Floats:
    sums, squares = np.maximum(sums, 0.0), np.maximum(squares, 0.0)
    one = np.divide(squares, sums, out=np.ones(len(sums)), where=sums > 0)  # the usual weight
    numbers = np.divide(sums, one, out=np.zeros(len(sums)), where=one > 0)
    again: Floats = rng.poisson(numbers, (n_resamples, len(sums))) * one
    return again
