"""Out-of-fold scores of the estimators that scikit-learn's `cross_validate` returns."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from halfmax._core.gate.labelled import LabelledScores, check_weights
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.estimators.targets import check_rows
from halfmax.estimators.threshold_scorer import scored_rows

_CALL = "cross_validate(..., return_estimator=True, return_indices=True)"


class ScoredFolds(NamedTuple):
    """The test rows of all folds, one fold below the other, each with the scores of its fold."""

    data: LabelledScores
    rows: Array  # where they are in X
    sizes: list[int]  # of the folds


def scored_folds(
    cv_results: Any, X: Any, y: Any, sample_weight: Any, response_method: str, pos_label: Any
) -> ScoredFolds:
    """Score the test rows of each fold by the estimator that was fitted on its other rows."""
    estimators, tests = _check_results(cv_results)
    check_rows(X, y)
    _check_split(cv_results["indices"], _num_samples(X))
    weights = check_weights(sample_weight, _num_samples(X))
    parts = []
    for estimator, rows in zip(estimators, tests, strict=True):
        part, truth = _safe_indexing(X, rows), _safe_indexing(y, rows)
        of_fold = None if weights is None else weights[rows]
        parts.append(scored_rows(estimator, part, truth, of_fold, response_method, pos_label))
    data = parts[0]._replace(
        truth=_stacked([part.truth for part in parts]),
        scores=_stacked([part.scores for part in parts]),
        weights=None if weights is None else weights[np.concatenate(tests)],
    )
    return ScoredFolds(data, np.concatenate(tests), [len(rows) for rows in tests])


def _stacked(blocks: list[Any]) -> Any:
    if isinstance(blocks[0], np.ndarray):
        return np.concatenate(blocks)
    return sparse.vstack(blocks, format="csr")


def _check_results(cv_results: Any) -> tuple[list[Any], list[Array]]:
    """Return the estimator and the test rows of each fold."""
    if not isinstance(cv_results, Mapping):
        raise TypeError(f"cv_results must be what {_CALL} returns; got {type(cv_results).__name__}")
    missing = [key for key in ("estimator", "indices") if key not in cv_results]
    if missing:
        raise ValueError(
            f"cv_results must be what {_CALL} returns; it has no {spell_out(missing, 'and no')}"
        )
    return list(cv_results["estimator"]), list(cv_results["indices"]["test"])


def _check_split(indices: Mapping[str, Sequence[Array]], n_rows: int) -> None:
    """Refuse X and y that are not those that were split."""
    split = np.unique(np.concatenate([*indices["train"], *indices["test"]]))
    known = int(split[-1]) + 1
    if n_rows < known or (n_rows > known and len(split) == known):
        raise ValueError(
            f"X and y must have the {known:,} rows that were cross-validated; got {n_rows:,}"
        )
