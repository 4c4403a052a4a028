"""Calibrated probabilities for every label, even the rarest, by pooling across labels.

A label with two positives cannot be calibrated alone. Three layers pool what all labels show:

1. *One map for all*: the pooled positive rate of each band, monotone in the score (isotonic
   regression), on the logit scale.
2. *What kind of label*: a logistic regression pooled over labels corrects the map by how many
   positives it expects of the label and by the band's rank within the label.
3. *This label*: an intercept and a slope of its own, shrunk towards those of the others by a normal
   prior whose variances are learned from all labels (empirical Bayes). A label with many positives
   follows its own counts; a label with none follows the others.

Probabilities are averaged over the remaining uncertainty of a label's intercept and slope.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.tuning.guard import kernels
from halfmax.tuning.guard.bands import Bands

_MOST_NEWTON, _NEWTON_DONE = 30, 1e-7
_MOST_ROUNDS, _ROUNDS_DONE = 40, 1e-3
_LEAST_VARIANCE = 1e-6
_IDENTITY = np.array([0.0, 1.0, 0.0, 0.0])  # the pooled map, unchanged


class Prior(NamedTuple):
    """What all labels together show, before a label's own counts are used."""

    map: Array  # (bands,), the pooled logits
    level: float  # the mean of `_levels`
    kind: Array  # (4,), weights of 1, map, level and rank
    centre: float  # the logit around which a slope turns
    mean: Array  # (2,), of intercepts and slopes
    variance: Array  # (2, 2)


def falling_rates(rows: Array, positives: Array) -> Array:
    """Fit falling rates to the bands of each label (isotonic regression)."""
    rates = np.empty_like(rows)

    def fit(part: slice) -> None:
        kernels.falling_rates(rows[part], positives[part], rates[part])

    for _ in map_blocks(fit, spans(len(rows), limits.calibration_block_labels)):
        pass
    return rates


def learn_prior(bands: Bands) -> Prior:
    """Learn from all labels what is known about a label before its own counts are used."""
    logits = pooled_map(bands)
    level = float(_levels(bands, logits).mean())
    prior = Prior(logits, level, _IDENTITY.copy(), 0.0, np.zeros(2), np.eye(2) / 2)
    prior = prior._replace(kind=_fit_kind(bands, prior))
    cells = _cell_logits(bands, prior)
    expected = bands.rows * expit(cells)
    prior = prior._replace(centre=float((expected * cells).sum() / expected.sum()))
    own = np.zeros((bands.n_labels, 2))
    for _ in range(_MOST_ROUNDS):
        own, spread = _posterior(bands, cells, prior, own)
        mean = own.mean(axis=0)
        off = own - mean
        variance = (off[:, :, None] * off[:, None, :] + spread).mean(axis=0)
        variance += _LEAST_VARIANCE * np.eye(2)
        moved = np.abs(variance - prior.variance).max()
        prior = prior._replace(mean=mean, variance=variance)
        if moved < _ROUNDS_DONE:
            break
    return prior


def calibrate(bands: Bands, prior: Prior) -> Array:
    """Return the probability of a positive in each band of each label, given its counts."""
    cells = _cell_logits(bands, prior)
    own, spread = _posterior(bands, cells, prior, np.tile(prior.mean, (bands.n_labels, 1)))
    x = cells - prior.centre
    variance = spread[:, 0, :1] + x * (2.0 * spread[:, 0, 1:] + x * spread[:, 1, 1:])
    flat = np.sqrt(1.0 + np.pi / 8.0 * variance)  # MacKay's mean of a logistic over a normal
    means = expit((cells + own[:, :1] + own[:, 1:] * x) / flat)
    falling: Array = np.minimum.accumulate(means, axis=1)
    return falling


def pooled_map(bands: Bands) -> Array:
    """Return the logit of the pooled positive rate of each band, falling without flat stretches.

    Isotonic regression gives blocks of equal rates. Half a positive and half a negative are added
    to each block, so that no rate is 0 or 1. Between the middles of blocks the logit is
    interpolated linearly in the logarithm of the rank, which no monotone change of the scores
    alters.
    """
    rows, positives = bands.rows.sum(axis=0), bands.positives.sum(axis=0)
    fitted = falling_rates(np.maximum(rows, 1e-9)[None, :], positives[None, :])[0]
    block = np.append(0, np.cumsum(np.diff(fitted) != 0))
    size, hits = np.bincount(block, rows), np.bincount(block, positives)
    height = np.minimum.accumulate(logit((hits + 0.5) / (size + 1.0)))
    ends = np.cumsum(size)
    middles = (np.log(ends - size + 0.5) + np.log(ends + 0.5)) / 2
    below = np.cumsum(rows)
    logits: Array = np.interp(np.log(below - rows / 2 + 0.5), middles, height)
    return logits


def _fit_kind(bands: Bands, prior: Prior) -> Array:
    """Fit the weights of the pooled regression; a unit normal prior keeps them near `_IDENTITY`."""
    level, rank = _levels(bands, prior.map) - prior.level, _ranks(bands)
    kind = _IDENTITY.copy()
    for _ in range(_MOST_NEWTON):
        gradient, curvature = np.zeros(4), np.zeros((4, 4))
        kernels.pooled_newton(
            prior.map, level, rank, bands.rows, bands.positives, kind, gradient, curvature
        )
        step = np.linalg.solve(curvature + np.eye(4), gradient - (kind - _IDENTITY))
        kind = kind + step / max(1.0, np.abs(step).max())
        if np.abs(step).max() < _NEWTON_DONE:
            break
    return kind


def _levels(bands: Bands, logits: Array) -> Array:
    """Return the logarithm of the share of positives that the map expects of each label."""
    levels: Array = np.log(bands.rows @ expit(logits) / bands.total)
    return levels


def _ranks(bands: Bands) -> Array:
    """Return the logarithm of the relative rank of each band within its label."""
    down_to = np.cumsum(bands.rows, axis=1)
    ranks: Array = np.log((down_to - bands.rows / 2 + 0.5) / bands.total)
    return ranks


def _cell_logits(bands: Bands, prior: Prior) -> Array:
    level = _levels(bands, prior.map) - prior.level
    constant, of_map, of_level, of_rank = prior.kind
    cells = constant + of_map * prior.map + of_level * level[:, None] + of_rank * _ranks(bands)
    falling: Array = np.minimum.accumulate(cells, axis=1)
    return falling


def _posterior(bands: Bands, cells: Array, prior: Prior, start: Array) -> tuple[Array, Array]:
    """Return intercept and slope of each label, and their covariances."""
    own, spread = start.copy(), np.empty((bands.n_labels, 2, 2))
    precision = np.linalg.inv(prior.variance)

    def fit(part: slice) -> None:
        kernels.fit_own(
            cells[part],
            bands.rows[part],
            bands.positives[part],
            prior.centre,
            prior.mean,
            precision,
            _MOST_NEWTON,
            _NEWTON_DONE,
            own[part],
            spread[part],
        )

    for _ in map_blocks(fit, spans(bands.n_labels, limits.calibration_block_labels)):
        pass
    return own, spread
