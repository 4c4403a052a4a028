"""Tests of whether a label's scores carry any signal, from its staircase alone."""

import numpy as np

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array, Floats
from halfmax.staircase.staircase import Staircase

_FALSE_DISCOVERIES = 0.05
_ROUNDING = 1e-9
_FEW = 10  # positives; with fewer a sum of ranks is not yet normal


def uninformative(stairs: Staircase) -> Array:
    """Flag the labels that are not shown to do better than predicting all rows.

    Counts must be numbers of rows, as `staircase_in_rows` returns them. A label is informative if
    either of the two tests below shows it, so their p-values are doubled. The number of labels is
    accounted for: at most 5 % of the labels called informative are expected not to be (Benjamini
    and Hochberg).
    """
    chance = np.minimum(2.0 * np.minimum(chance_of_score(stairs), chance_of_ranks(stairs)), 1.0)
    tested = stairs.positives > 0
    flagged = np.ones(stairs.n_labels, np.bool_)
    if tested.any():
        flagged[tested] = adjusted(chance[tested]) > _FALSE_DISCOVERIES
    return flagged


def adjusted(chance: Floats) -> Floats:
    """Return the p-values of Benjamini and Hochberg, bit for bit as scipy.stats computes them.

    Importing scipy.stats takes longer than everything else here.
    """
    order = np.argsort(chance)
    found = chance[order] * (len(chance) / np.arange(1.0, len(chance) + 1.0))
    adjusted = np.empty_like(found)
    adjusted[order] = np.minimum.accumulate(found[::-1])[::-1]
    return np.clip(adjusted, 0.0, 1.0)


def staircase_in_rows(data: LabelledScores) -> Staircase:
    """Build the staircase with weights scaled to add up to the effective sample size (Kish)."""
    if data.weights is not None:
        data = data._replace(weights=data.weights * data.rows_per_weight)
    return Staircase.of_checked(data)


def chance_of_score(stairs: Staircase) -> Floats:
    """Bound the probability that scores without signal reach each label's best F1 (a p-value).

    An F1 of f at the k-th of a positives means that this positive is among the first
    ``2 k / f - a`` of the n rows. Without signal the number of positives among the first c rows is
    hypergeometric, and Hoeffding bounds its tail by ``exp(-c KL(k / c, a / n))``. The bounds of all
    k are summed.
    """
    from scipy.special import xlogy

    label = stairs.grid.columns
    hits, positives = stairs.true_positives, stairs.positives[label]
    total = np.maximum(stairs.total[label], 1e-300)
    f1 = 2.0 * hits / np.maximum(stairs.predicted + positives, 1e-300)
    best = np.zeros(stairs.n_labels)
    np.maximum.at(best, label, f1)
    with np.errstate(divide="ignore", invalid="ignore"):
        rank = 2.0 * hits / best[label] - positives
        # F1 cannot be that high yet, even with no false positive.
        too_soon = rank < hits * (1.0 - _ROUNDING)
        rank = np.clip(rank, hits, total)
        found, usual = hits / rank, positives / total
        surprise = xlogy(found, found / usual) + xlogy(1.0 - found, (1.0 - found) / (1.0 - usual))
    bound = np.where(found > usual, np.exp(-rank * np.nan_to_num(surprise, posinf=1e3)), 1.0)
    bound[too_soon] = 0.0
    chance = np.bincount(label, bound, minlength=stairs.n_labels)
    return np.where(best > 0.0, np.minimum(chance, 1.0), 1.0)


def chance_of_ranks(stairs: Staircase) -> Floats:
    """Return the p-value of Mann and Whitney's rank test; 1 for a label with few positives.

    Negatives tied with a positive count as above it, which errs on the side of no signal.
    """
    from scipy.special import ndtr

    label = stairs.grid.columns
    above, new = stairs.predicted - stairs.true_positives, stairs.rises(stairs.true_positives)
    positives = stairs.positives.astype(np.float64)
    negatives = stairs.total - positives
    ranked = np.bincount(label, new, minlength=stairs.n_labels)
    beaten = np.bincount(label, new * above, minlength=stairs.n_labels)
    lost = beaten + (positives - ranked) * negatives  # unreachable positives rank last
    pairs = positives * negatives
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (pairs / 2.0 - lost) / np.sqrt(pairs * (stairs.total + 1.0) / 12.0)
    return np.where((positives >= _FEW) & (pairs > 0.0), ndtr(-np.nan_to_num(z)), 1.0)
