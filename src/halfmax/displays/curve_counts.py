"""The numbers of a threshold curve: counts at the scores of a label, and a bootstrap band."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate import options
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.gate.labels import names_or_places, place_of
from halfmax._core.types import Floats
from halfmax.metrics.counts import Counts
from halfmax.metrics.goal import Goal
from halfmax.metrics.named import PRECISION, RECALL
from halfmax.metrics.objective import Objective
from halfmax.staircase.grid import Grid
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import choose, count_at

_PART = 640  # three times this and a few more scores are kept at most


def curve_fields(
    data: LabelledScores,
    objective: Objective,
    label: Hashable | None,
    threshold: float | None,
    level: float,
    n_resamples: int,
    seed: int,
) -> dict[str, Any]:
    """Return the fields of a `ThresholdCurveDisplay`: one label counted at its own scores."""
    level = options.check_share_inside("level", level)
    n_resamples = options.check_whole("n_resamples", n_resamples, 0)
    rng = np.random.default_rng(options.check_whole("seed", seed, 0))
    place = place_of(label, data.labels, data.n_labels)
    name = None if data.is_binary else names_or_places(data.labels, data.n_labels)[place]
    data = data.of_labels(np.array([place]))
    chosen = best = choose(data, Goal(objective))
    if threshold is not None:
        marked = np.array([_check_threshold(threshold)])
        chosen = count_at(data, marked)._replace(thresholds=marked)
    stairs = Staircase.of_checked(data, grid_of_scores(data, float(best.thresholds[0])))
    positives, total = stairs.positives[0], stairs.total[0]
    counts = Counts(stairs.true_positives[::-1], stairs.predicted[::-1], positives, total)
    parts = counts.confusion()
    best_score = float(objective(*best.counts)[0])
    half_max = objective.metric.plug_in(np.array([best_score]))[0]
    known = data.may_be_probabilities and np.isfinite(half_max) and positives > 0
    return {
        "thresholds": stairs.thresholds[::-1],
        "scores": objective(*counts),
        "precision": PRECISION(*parts, zero_division=objective.zero_division),
        "recall": RECALL(*parts, zero_division=objective.zero_division),
        "band": band(data, stairs, objective, level, n_resamples, rng) if n_resamples else None,
        "level": level,
        "threshold": float(chosen.thresholds[0]),
        "score": float(objective(*chosen.counts)[0]),
        "best_threshold": float(best.thresholds[0]),
        "best_score": best_score,
        "half_max": float(half_max) if known else None,
        "base_rate": float(positives / total),
        "everyone": float(objective(positives, total, positives, total)),
        "metric": objective.metric.name,
        "label": name,
    }


def _check_threshold(threshold: Any) -> float:
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        value = np.nan
    if np.isnan(value) or value == -np.inf:
        raise ValueError(
            f"threshold must be a number, or inf to predict no rows; got {threshold!r:.60}: if "
            "there are many thresholds, pass the one of the label"
        )
    return value


def grid_of_scores(data: LabelledScores, best: float) -> Grid:
    """Return the distinct scores of the label, or enough of them to draw, with the best one."""
    stored = data.scores if isinstance(data.scores, np.ndarray) else data.scores.data
    known = np.unique(stored[stored > -np.inf])
    if not len(known):
        raise ValueError(
            "y_score must have a finite score to draw; for this label all are -inf or absent"
        )
    kept = _thinned(known, best)
    return Grid.from_entries(np.zeros(len(kept), np.int64), kept, 1)


def _thinned(rising: npt.NDArray[Any], best: float) -> npt.NDArray[Any]:
    """Keep at most 2,000: evenly by rank, evenly along the axis, and densely at the top."""
    size = len(rising)
    if size <= 3 * _PART:
        return rising
    by_rank = np.linspace(0, size - 1, _PART).astype(np.int64)
    along_axis = np.linspace(float(rising[0]), float(rising[-1]), _PART)
    by_place = np.minimum(np.searchsorted(rising, along_axis), size - 1)
    from_top = size - np.unique(np.geomspace(1, size, _PART).astype(np.int64))
    chosen = np.minimum(np.searchsorted(rising, [best]), size - 1)
    kept: npt.NDArray[Any] = rising[np.unique(np.r_[by_rank, by_place, from_top, chosen])]
    return kept


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
