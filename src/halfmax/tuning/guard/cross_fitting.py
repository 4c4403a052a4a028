"""Cross-fitting: how far the cut of a label should differ from the common cut of all labels."""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.staircase.stable_order import ranks_of_rows
from halfmax.tuning.guard.bands import Bands, count_bands
from halfmax.tuning.guard.calibration import Prior, calibrate
from halfmax.tuning.guard.cuts import plan_cuts, reach

_FOLDS, _REPEATS, _MANY_LABELS = 5, 3, 1000
_SHARES = np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5])  # the weights of a label's own cut


def share_by_cross_fitting(
    data: LabelledScores,
    bands: Bands,
    doubtful: Array,
    prior: Prior,
    strength: float,
    objective: Objective,
) -> float:
    """Return the share of its own cut that a label should follow, from held-out rows.

    Thresholds from four fifths of the rows are judged on the last fifth. The result is a mean of
    all shares; each is weighted by how likely it is to be as good as the best one, exp(-z^2 / 2)
    of the paired difference over labels.
    """
    some = bands.support > 0
    folds, repeats = min(_FOLDS, data.n_rows), _REPEATS if some.sum() < _MANY_LABELS else 1
    counts = np.zeros((2, len(_SHARES), bands.n_labels))
    if folds < 2 or not some.any():
        return 1.0
    scale, ranks = data.rows_per_weight, ranks_of_rows(data)
    for repeat in range(repeats):
        stream = np.random.SeedSequence(0, spawn_key=(repeat,))
        fold = (np.random.default_rng(stream).permutation(data.n_rows) % folds)[ranks]
        for k in range(folds):
            held_out = count_bands(data.of_rows(np.flatnonzero(fold == k)), bands.edges, scale)
            rest = bands.without(held_out)
            plan = plan_cuts(rest, calibrate(rest, prior), strength, objective, doubtful)
            counts += np.stack([_count(held_out, reach(plan, share)) for share in _SHARES], axis=1)
    hits, predicted = counts[:, :, some] / repeats
    values = objective(hits, predicted, bands.support[some], bands.total)
    return _weighted_share(np.nan_to_num(values))


def _weighted_share(values: Array) -> float:
    off = values - values[int(np.argmax(values.mean(axis=1)))]
    error = off.std(axis=1) / np.sqrt(off.shape[1])
    likely = np.exp(-0.5 * (off.mean(axis=1) / np.maximum(error, 1e-12)) ** 2)
    return float((likely * _SHARES).sum() / likely.sum())


def _count(held_out: Bands, reached: Array) -> Array:
    """Count true positives and predictions of each label among held-out rows."""
    inside = np.arange(held_out.rows.shape[1])[None, :] < reached[:, None]
    return np.stack(
        [(held_out.positives * inside).sum(axis=1), (held_out.rows * inside).sum(axis=1)]
    )
