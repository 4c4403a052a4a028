"""How the peers of halfmax choose an F1-optimal threshold from labelled scores.

Written against scikit-learn 1.9, optimal-classification-cutoffs 0.6 (the last for Python 3.11) and
3.0 (Python 3.12 or later), xcolumns 0.0.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from scipy.sparse import csr_matrix


def named(package: str, what: str = "") -> str:
    """The package, its installed version, and the function that is measured."""
    return f"{package} {version(package)}{what and f' {what}'}"


def scikit_learn(y_true: ArrayLike, y_score: ArrayLike) -> tuple[float, float]:
    """Return the threshold and the F1 of the best point of the precision-recall curve.

    Predict with ``y_score >= threshold``.
    """
    from sklearn.metrics import precision_recall_curve

    precision, recall, thresholds = precision_recall_curve(y_true, y_score)
    # The curve ends with precision 1, recall 0 at no threshold.
    precision, recall = precision[:-1], recall[:-1]
    total = precision + recall
    f1 = np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)
    best = int(np.argmax(f1))
    return float(thresholds[best]), float(f1[best])


def tuned_threshold_cv(y_true: ArrayLike, y_score: ArrayLike) -> tuple[float, float]:
    """Return ``best_threshold_`` and ``best_score_`` of TunedThresholdClassifierCV, prefit.

    Predict with ``y_score >= threshold``. The thresholds tried are its default grid, 100 points
    from the lowest to the highest score; it raises ValueError if these two are close to equal.
    """
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.model_selection import TunedThresholdClassifierCV

    class PassThrough(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
        classes_ = np.array([0, 1])

        def fit(self, *_: Any) -> PassThrough:
            return self

        def predict_proba(self, X: NDArray[Any]) -> NDArray[Any]:
            return np.column_stack([1 - X[:, 0], X[:, 0]])

    tuned = TunedThresholdClassifierCV(
        PassThrough(), scoring="f1", response_method="predict_proba", cv="prefit", refit=False
    )
    tuned.fit(np.asarray(y_score).reshape(-1, 1), np.asarray(y_true))
    return float(tuned.best_threshold_), float(tuned.best_score_)


def optimal_cutoffs(y_true: ArrayLike, y_score: ArrayLike) -> tuple[float, float]:
    """Return the threshold and the F1 of optimal-classification-cutoffs, default settings.

    Predict with ``y_score > threshold``, as its ``result.predict`` does. Scores must be in [0, 1].
    """
    import optimal_cutoffs as package

    # The entry point was renamed after 0.6; the releases from 2.0 on need Python 3.12.
    new = hasattr(package, "optimize_thresholds")
    optimize = getattr(package, "optimize_thresholds" if new else "get_optimal_threshold")
    result = optimize(y_true, y_score, metric="f1", method="auto")
    return float(result.threshold), float(result.scores[0])


@dataclass(frozen=True)
class Mixture:
    """A randomised classifier: each row draws one vector of thresholds, one per label."""

    thresholds: NDArray[np.float32]
    probabilities: NDArray[np.float32]
    reported: float
    classifier: Any

    @property
    def likeliest(self) -> NDArray[np.float32]:
        """The thresholds drawn most often; predict with ``y_score > thresholds``."""
        row: NDArray[np.float32] = self.thresholds[int(np.argmax(self.probabilities))]
        return row

    def predict(
        self, y_score: NDArray[np.floating] | csr_matrix, *, seed: int
    ) -> NDArray[np.floating] | csr_matrix:
        """Predict as xcolumns does, by a random draw for each row.

        The seed must not be one that drew the data: xcolumns calls ``default_rng(seed)``, so that
        the draw would follow labels made as ``default_rng(seed).random(n) < prevalence``.
        """
        return self.classifier.predict(y_score, seed=seed)


def xcolumns_macro(
    y_true: NDArray[np.floating] | csr_matrix,
    y_score: NDArray[np.floating] | csr_matrix,
    *,
    seed: int,
) -> Mixture:
    """Return the classifier that xcolumns finds for macro-F1, without a budget of labels (k=0).

    Predict with ``result.predict(y_score, seed=...)``: ``>`` on dense, ``>=`` on CSR, and never
    where a CSR matrix stores nothing. Both matrices are n by labels, both ndarray or both
    csr_matrix (not csr_array).
    Each threshold found is half of an F1, hence right for calibrated probabilities only.
    """
    from xcolumns.frank_wolfe import find_classifier_using_fw
    from xcolumns.metrics import macro_f1_score_on_conf_matrix

    # find_classifier_optimizing_macro_f1_score_using_fw would be the documented call, but it
    # hands over a metric of (y_true, y_pred) and fails with TypeError.
    classifier, meta = find_classifier_using_fw(
        y_true,
        y_score,
        macro_f1_score_on_conf_matrix,
        k=0,
        skip_tn=True,
        seed=seed,
        return_meta=True,
    )
    return Mixture(
        thresholds=-classifier.b / classifier.a,
        probabilities=classifier.p,
        reported=float(meta["utilities"][-1]),
        classifier=classifier,
    )
