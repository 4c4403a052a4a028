"""The numbers of a threshold curve: counts at the scores of a label, and a bootstrap band."""

from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Floats
from halfmax.displays.one_label import OneLabel
from halfmax.metrics.counts import Counts
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid
from halfmax.staircase.staircase import Staircase

_PART = 640  # three times this and a few more scores are kept at most


def counts_at_scores(one: OneLabel, best: float) -> tuple[Staircase, Counts]:
    """Count a label at its own scores; the counts are those of ascending thresholds."""
    stairs = Staircase.of_checked(one.data, grid_of_scores(one.data, best))
    counts = Counts(
        stairs.true_positives[::-1],
        stairs.predicted[::-1],
        stairs.positives[0],
        stairs.total[0],
    )
    return stairs, counts


def grid_of_scores(data: LabelledScores, best: float) -> Grid:
    """Return the distinct scores of the label, or enough of them to draw, with the best one."""
    stored = data.scores if isinstance(data.scores, np.ndarray) else data.scores.data
    known = require_finite(np.unique(stored[stored > -np.inf]))
    kept = known[places_to_draw(known, best)]
    return Grid.from_entries(np.zeros(len(kept), np.int64), kept, 1)


def require_finite(found: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Refuse a label without any score that can be predicted."""
    if not len(found):
        raise ValueError(
            "y_score must have a finite score to draw; for this label all are -inf or absent"
        )
    return found


def places_to_draw(rising: npt.NDArray[Any], best: float) -> npt.NDArray[np.int64]:
    """Keep at most 2,000: evenly by rank, evenly along the axis, and densely at the top."""
    size = len(rising)
    if size <= 3 * _PART:
        return np.arange(size)
    by_rank = np.linspace(0, size - 1, _PART).astype(np.int64)
    along_axis = np.linspace(float(rising[0]), float(rising[-1]), _PART)
    by_place = np.minimum(np.searchsorted(rising, along_axis), size - 1)
    from_top = size - np.unique(np.geomspace(1, size, _PART).astype(np.int64))
    chosen = np.minimum(np.searchsorted(rising, [best]), size - 1)
    return np.unique(np.r_[by_rank, by_place, from_top, chosen])


def band(
    data: LabelledScores,
    stairs: Staircase,
    objective: Objective,
    level: float,
    n_resamples: int,
    rng: np.random.Generator,
) -> tuple[Floats, Floats]:
    """Return the low and high ends of the metric at each threshold under resampling of rows.

    In the Poisson bootstrap, the number of rows between two thresholds is Poisson with their number
    as its mean. If weights differ, their total is a sum of such draws; it is approximated by a
    Poisson number of equal weights with the same mean and variance.
    """
    squares = stairs
    if data.weights is not None:
        squares = Staircase.of_checked(data._replace(weights=data.weights**2), stairs.grid)
    pairs = zip(_rows_between(stairs), _rows_between(squares), strict=True)
    hits, false = (_resample(*pair, n_resamples, rng).cumsum(axis=1) for pair in pairs)
    positives, total = hits[:, -1:], hits[:, -1:] + false[:, -1:]
    tp, predicted = hits[:, :-1], hits[:, :-1] + false[:, :-1]
    values = objective(tp, predicted, positives, total)[:, ::-1]
    tails = (1.0 - level) / 2.0, (1.0 + level) / 2.0
    low, high = np.quantile(values, tails, axis=0)
    return low, high


def _rows_between(stairs: Staircase) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Count positives and negatives from each threshold up to the next, then those below all."""
    hits = np.append(stairs.true_positives, stairs.positives)
    all_rows = np.append(stairs.predicted, stairs.total)
    return np.diff(hits, prepend=0), np.diff(all_rows - hits, prepend=0)


def _resample(
    sums: npt.NDArray[Any], squares: npt.NDArray[Any], n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Draw totals of weights again, from their sums and sums of squares."""
    sums, squares = np.maximum(sums, 0.0), np.maximum(squares, 0.0)
    one = np.divide(squares, sums, out=np.ones(len(sums)), where=sums > 0)  # the typical weight
    numbers = np.divide(sums, one, out=np.zeros(len(sums)), where=one > 0)
    again: Floats = rng.poisson(numbers, (n_resamples, len(sums))) * one
    return again
