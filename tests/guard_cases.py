"""Data for tests of guards, in the form that guards read."""

from typing import Any

import numpy as np
from scipy.special import expit, logit

from halfmax._core.gate import labelled
from halfmax.tuning.guard import bands
from halfmax.tuning.guard.bands import Bands


def read(y: Any, s: Any, w: Any = None) -> Any:
    return labelled.read_labelled(y, s, w)


def count(y: Any, s: Any, w: Any = None) -> Bands:
    """The counts of all labels in their common bands."""
    data = read(y, s, w)
    return bands.count_bands(data, bands.common_edges(data))


def bands_of(rows: Any, positives: Any) -> Bands:
    """Bands of these counts, with whole numbers as edges."""
    rows, positives = np.array(rows, float), np.array(positives, float)
    edges = np.broadcast_to(np.arange(rows.shape[1] - 1, 0, -1.0), (len(rows), rows.shape[1] - 1))
    return Bands(edges, rows, positives)


def draw(
    seed: int, n: int = 400, n_labels: int = 20, base: float = 0.05, distance: float = 1.5
) -> tuple[Any, Any]:
    """Labels of very different base rates and signal."""
    known, rng = np.random.default_rng(99), np.random.default_rng(seed)
    rates = np.clip(base * np.exp(known.standard_normal(n_labels)), 0.002, 0.5)
    apart = distance * known.random(n_labels) * 1.5
    y = (rng.random((n, n_labels)) < rates).astype(np.int8)
    return y, expit(rng.standard_normal((n, n_labels)) + apart * y + logit(rates))


def uneven_weights(size: int) -> dict[str, Any]:
    """Weights that are awkward because of rounding or few rows."""
    rng = np.random.default_rng(7)
    return {
        "lognormal": np.exp(2.0 * rng.standard_normal(size)),
        "mostly zero": np.where(rng.random(size) < 0.95, 0.0, rng.random(size)),
        "a single row": np.eye(size)[size // 2],
    }
