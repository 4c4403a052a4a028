"""Thresholds that belong together, assessed on rows that they have not seen.

Shared by all labels, or tuned for the mean over rows, thresholds are found by sweeps of their own
and no staircase can tell what they would have been. So they are tuned anew: without each tenth of
the rows, which they then predict, and on replicates of the rows, for their intervals.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse, special

from halfmax import _apply, choosing, error_bars
from halfmax._progress import Progress
from halfmax._threads import map_blocks
from halfmax.assessment import Case, Judgement
from halfmax.scoring import label_counts, mean_of_known, row_counts

Array = npt.NDArray[Any]

_FOLDS = 10
_MOST_REPLICATES = 40  # each is a tuning of its own


def judge(case: Case) -> Judgement:
    """Assess thresholds that are tuned together."""
    replicates = min(case.n_resamples, _MOST_REPLICATES)
    folds = min(_FOLDS, case.data.n_rows)
    with Progress(case.progress, "tuning again", folds + replicates) as told:
        predictions = _predict_unseen(case, folds, told)
        thresholds = _retuned(case, replicates, told)
    objective, truth = case.objective, case.data.truth
    tp, fp, _, _ = label_counts(truth, predictions, None)
    counts = tp, tp + fp, case.tuned.support, np.full(len(tp), case.data.n_rows)
    of_label = objective(*counts)
    expected, variance = _whole(case, predictions, counts)
    bounded = error_bars.is_bounded(of_label, np.array(expected))
    whole = error_bars.estimate(expected, variance, bounded)
    bars = error_bars.estimate_from_counts(objective, counts, of_label, bounded)
    steady = special.ndtri((np.arange(case.n_resamples) + 0.5) / case.n_resamples)
    ends = np.quantile(thresholds, case.tails, axis=0, method="inverted_cdf")
    expected = min(expected, case.tuned.score)
    return Judgement(expected, whole, steady, of_label, bars, *ends)


def _whole(case: Case, predictions: Any, counts: tuple[Array, ...]) -> tuple[float, float]:
    """The averaged score and its variance over rows."""
    objective, truth = case.objective, case.data.truth
    if case.average == "samples":
        values = objective.metric(
            *row_counts(truth, predictions), zero_division=objective.zero_division
        )
        known = values[~np.isnan(values)]
        return mean_of_known(values), float(known.var() / len(known)) if len(known) else 0.0
    if case.average == "micro":
        counts = tuple(part.sum() for part in counts)
    slopes = error_bars.influence(objective, counts)
    rows = error_bars.row_sums(truth, predictions, slopes)
    values = objective(*counts)
    share = 1 if case.average == "micro" else max(int((~np.isnan(values)).sum()), 1)
    return mean_of_known(np.atleast_1d(values)), float((rows**2).sum()) / share**2


def _predict_unseen(case: Case, folds: int, told: Progress) -> Any:
    """Each row predicted with thresholds tuned without it and its fold."""
    data = case.data
    stream = np.random.SeedSequence(case.seed, spawn_key=(0,))
    fold = np.random.default_rng(stream).permutation(data.n_rows) % folds

    def predict(number: int) -> Any:
        seen = np.flatnonzero(fold != number)
        thresholds = np.full(data.n_labels, np.inf)
        if len(seen):
            thresholds = _tuned(case, data.of_rows(seen))
        unseen = data.scores[np.flatnonzero(fold == number)]
        return sparse.csr_array(_apply.predict(unseen, thresholds), dtype=np.float64)

    parts = []
    for part in map_blocks(predict, range(folds)):
        parts.append(part)
        told.advance(1)
    order = np.argsort(np.argsort(fold, kind="stable"), kind="stable")
    return sparse.csr_array(sparse.vstack(parts, format="csr")[order])


def _retuned(case: Case, replicates: int, told: Progress) -> Array:
    """Thresholds of replicates x labels, each tuned on rows of Poisson weights."""
    data = case.data

    def tuned(number: int) -> Array:
        stream = np.random.SeedSequence(case.seed, spawn_key=(1, number))
        weights = np.random.default_rng(stream).poisson(1.0, data.n_rows).astype(np.float64)
        if not weights.any():
            return np.full(data.n_labels, np.inf)
        return _tuned(case, data._replace(weights=weights))

    found = []
    for thresholds in map_blocks(tuned, range(replicates)):
        found.append(thresholds)
        told.advance(1)
    return np.array(found)


def _tuned(case: Case, data: Any) -> Array:
    return choosing.choose(data, case.average, case.per_label, case.objective).thresholds
