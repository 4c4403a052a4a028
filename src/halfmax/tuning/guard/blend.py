"""Blend a label's calibrated probabilities with its own counts."""

import numpy as np

from halfmax._core.types import Array
from halfmax.metrics.goal import Guard
from halfmax.tuning.guard.bands import Bands
from halfmax.tuning.guard.calibration import falling_rates

_EMPTY = 1e-6  # the weight of a band without rows: it keeps the model's probability
_LEAST_STRENGTH, _MOST_STRENGTH = 100.0, 1e9  # the model's strength, in positives


def blend(bands: Bands, model: Array, strength: float) -> Array:
    """Blend the model's probabilities with a label's own counts.

    The model counts for `strength` positives: a label with a positives gives its own counts the
    weight a / (a + strength).
    """
    if np.isinf(strength):
        return model
    support = bands.support[:, None]
    own = support / np.maximum(support + strength, _EMPTY)
    positives = own * bands.positives + (1.0 - own) * bands.rows * model + _EMPTY * model
    return falling_rates(bands.rows + _EMPTY, positives)


def strength_for(guard: Guard, bands: Bands, model: Array) -> float:
    """Return the strength of the model that a guard asks for; ``"auto"`` learns it."""
    known = {"smooth": 0.0, "calibrated": np.inf}
    return known[guard.name] if guard.name in known else model_strength(bands, model)


def model_strength(bands: Bands, model: Array) -> float:
    """Learn how many positives the model should count for, from how far labels stray from it.

    At the quartiles of a label's expected positives, the observed positives differ from the
    expected ones by chance (the variance of a bridge) and because the model is wrong by some
    share. What chance does not explain gives the variance of that share, and the inverse of this
    variance is the number of positives.
    """
    support = bands.support
    expected, found = np.cumsum(bands.rows * model, axis=1), np.cumsum(bands.positives, axis=1)
    whole = expected[:, -1]
    label = np.arange(bands.n_labels)
    stray = scale = 0.0
    for quartile in (0.25, 0.5, 0.75):
        band = np.minimum((expected < quartile * whole[:, None]).sum(axis=1), bands.edges.shape[1])
        part = expected[label, band] / whole
        hits = part * support
        stray += ((found[label, band] - hits) ** 2 - hits * (1.0 - part)).sum()
        scale += ((hits * (1.0 - part)) ** 2).sum()
    if stray <= 0.0:
        return _MOST_STRENGTH
    return float(np.clip(scale / stray, _LEAST_STRENGTH, _MOST_STRENGTH))
