"""Ridge regression of all labels at once, from the factors of the documents.

In the basis where the documents' covariance is diagonal, with strengths d, the ridge for penalty L
is ``cross / (d + L)``, whatever the label. The error of leaving each document out in turn has a
closed form: with y the truth, p the output and h the leverage, it is ((y - p) / (1 - h))^2 for each
document. Multiplied out, its sum over documents needs only the few columns of the factors and the
positives: no matrix of documents x labels is ever computed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks, one_blas_thread
from halfmax._core.types import Array, Floats

# Penalties in units of the mean strength. With the largest, outputs are practically constant.
_TRIED = np.geomspace(1e-3, 1e8, 23)
_NO_STRENGTH = 1e-12  # rows of a tf-idf have unit length: smaller variation is rounding


@dataclass(frozen=True, eq=False)
class Ridge:
    """The quantities that the ridges for every label and penalty share."""

    mean: Array  # the mean of the factors
    rotation: Array  # from factors to the basis
    basis: Array  # documents x k, centred and rotated
    strengths: Array  # k, the sums of squares of the basis' columns
    cross: Array  # k x labels, basis.T @ truth
    rates: Array  # the base rates of the labels
    truth: Any  # CSR, documents x labels

    @classmethod
    def of(cls, factors: Array, truth: Any) -> "Ridge":
        """Build from documents x k factors and a sparse 0/1 documents x labels truth."""
        mean = factors.mean(axis=0, dtype=np.float64)
        centred = factors - mean
        strengths, rotation = np.linalg.eigh(centred.T @ centred)
        basis = centred @ rotation
        truth = truth.astype(np.float64)
        rates = np.asarray(truth.sum(axis=0)).ravel() / len(basis)
        cross = (truth.T @ basis).T
        return cls(mean, rotation, basis, np.maximum(strengths, 0.0), cross, rates, truth)

    @property
    def tried(self) -> Floats:
        """The penalties that are compared."""
        return _TRIED * max(float(self.strengths.mean()), _NO_STRENGTH)

    def weights(self, penalties: Array) -> Array:
        """The regression weights, k x labels, for a penalty of each label."""
        weights: Array = self.cross / (self.strengths[:, None] + penalties)
        return weights

    def leverages(self, penalties: Array) -> Array:
        """The leverage of each document, its weight in its own output: documents x penalties."""
        shares: Array = 1.0 / (self.strengths[:, None] + penalties)
        found: Array = 1.0 / len(self.basis) + self.basis**2 @ shares
        return found

    def left_out_errors(self, penalty: float) -> Array:
        """The mean squared leave-one-out error of each label."""
        (leverages,) = self.leverages(np.array([penalty])).T
        heavy = (1.0 - leverages) ** -2.0
        weights, rates = self.weights(np.array(penalty)), self.rates
        weighed = self.basis * heavy[:, None]
        positives = self.truth.T @ heavy
        hits = rates * positives + np.einsum("kj,jk->j", weights, self.truth.T @ weighed)
        outputs = (
            rates**2 * heavy.sum()
            + 2.0 * rates * (heavy @ self.basis @ weights)
            + np.einsum("kj,kj->j", weights, self.basis.T @ weighed @ weights)
        )
        errors: Array = (positives - 2.0 * hits + outputs) / len(self.basis)
        return errors

    def compare(self, progress: ProgressLike = None) -> Array:
        """The leave-one-out errors for each of the penalties tried: penalties x labels."""
        errors = []
        with Progress(progress, "penalties", len(self.tried)) as bar, one_blas_thread():
            for found in map_blocks(self.left_out_errors, self.tried.tolist()):
                errors.append(found)
                bar.advance(1)
        return np.stack(errors)

    def choose(self, penalty: str | float, progress: ProgressLike = None) -> Array:
        """Choose a penalty for each label: a number for all, or the best by leave-one-out."""
        if isinstance(penalty, str):
            return self.pick(penalty, self.compare(progress))
        return np.full(len(self.rates), float(penalty))

    def pick(self, penalty: str, errors: Array) -> Array:
        """Pick the best of the penalties compared.

        ``"shared"`` picks the penalty with the least error summed over labels, ``"per-label"`` the
        one with the least error of each label; among equals the largest wins.
        """
        tried, errors = self.tried[::-1], errors[::-1]
        if penalty == "shared":
            return np.full(len(self.rates), tried[errors.sum(axis=1).argmin()])
        chosen: Array = tried[errors.argmin(axis=0)]
        return chosen
