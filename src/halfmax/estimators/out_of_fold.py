"""Scores of rows that the estimator has not seen, pooled over the folds of a cross-validation."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from halfmax._core.labelled import LabelledScores
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.estimators.responses import scores_of, takes_many_labels
from halfmax.estimators.targets import TargetKind, Targets, dense

Split = tuple[Array, Array]  # rows to fit on, rows to score


def fit_clone(estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """A fitted clone, whatever its ``fit`` returns: some return None rather than self."""
    fitted = clone(estimator)
    fitted.fit(X, y, **params)
    return fitted


class FoldWork(NamedTuple):
    """An estimator, and what it is fitted on and asked for."""

    estimator: Any
    X: Any
    targets: Targets
    fit_params: dict[str, Any]
    method: str
    unseen: float = -np.inf  # the score of a label of which nothing was learnt

    def fit(self, rows: Array | None = None) -> Any:
        """A clone, fitted on some of the rows, or on all."""
        X, y, truth, params = self.X, self.targets.given, self.targets.truth, self.fit_params
        if rows is not None:
            X, y = _safe_split(self.estimator, X, y, rows)
            truth, params = truth[rows], _check_method_params(self.X, params, rows)
        try:
            return fit_clone(self.estimator, X, y, params)
        except ValueError as error:
            raise _explained(error, self, truth) from error

    def scores(self, fitted: Any, train: Array | None = None, test: Array | None = None) -> Any:
        """Scores of some rows by an estimator that was fitted on others; of all by default."""
        X = self.X
        if test is not None:
            X, _ = _safe_split(self.estimator, self.X, None, test, train)
        scores = scores_of(fitted, X, self.method, self.targets.kind)
        if train is None:
            return scores
        return _never_unseen(scores, self.targets.truth[train], self.unseen)


def check_splits(splits: Iterable[Split], cv: Any) -> list[Split]:
    """Splits as places of rows, those that hold out nothing left out."""
    taken = [tuple(map(_places, split)) for split in splits]
    found = [(train, test) for train, test in taken if len(test)]
    if not found or not all(len(train) for train, _ in found):
        raise ValueError(f"cv must hold out some rows and leave some to fit on; got {cv!r}")
    return found


def _places(rows: Any) -> Array:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows


def for_estimator(estimator: Any, targets: Targets) -> Targets:
    """Targets as the estimator takes them: a regressor gets dense numbers, 1 for positive."""
    if not is_regressor(estimator):
        return targets
    if targets.kind.is_binary:
        return targets._replace(given=targets.truth.astype(np.float64))
    return _dense(targets)


def _dense(targets: Targets) -> Targets:
    return targets._replace(given=dense(targets.given))


def fit_first(work: FoldWork, rows: Array | None) -> tuple[Any, FoldWork]:
    """Fit on these rows; an estimator that cannot take a sparse y gets a dense one from then on.

    Neighbours are fitted on a sparse y in silence, with the whole of it as their only class, and
    others might fail to answer, so one row is asked for.
    """
    if not sparse.issparse(work.targets.given):
        return work.fit(rows), work
    try:
        fitted = work.fit(rows)
        classes = getattr(fitted, "classes_", ())
        if any(sparse.issparse(one) for of_label in classes for one in np.ravel(of_label)):
            raise TypeError("a sparse y was taken for a class")
        known = np.arange(work.targets.n_rows) if rows is None else rows
        work.scores(fitted, known, np.array([0]))
        return fitted, work
    except (TypeError, ValueError, IndexError):
        work = work._replace(targets=_dense(work.targets))
        return work.fit(rows), work


def fitted_before(estimator: Any, cv: str, kind: TargetKind) -> Any:
    """The estimator as it is, if it is fitted and knows the classes."""
    if cv != "prefit":
        raise ValueError(f"cv must be a number, a splitter or 'prefit'; got {cv!r}")
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise NotFittedError(
            "cv='prefit' takes an estimator that is fitted already, on other rows than these; "
            f"call fit on this {type(estimator).__name__} first, or use cv=5. (A copy that a grid "
            "search or cross-validation makes is not fitted: give it a FrozenEstimator, with cv=5)"
        ) from None
    known = getattr(estimator, "classes_", None)
    if kind.classes is None or known is None or np.array_equal(known, kind.classes):
        return estimator
    was = "many labels" if isinstance(known, list) else spell_out(np.asarray(known).tolist())
    raise ValueError(
        f"y must hold the classes that the estimator was fitted on, {was}; got "
        f"{spell_out(kind.classes.tolist())}"
    )


def score_splits(work: FoldWork, splits: Iterable[Split], n_jobs: int | None) -> list[Any]:
    """For each split, the scores of its second rows by a clone fitted on its first."""
    return list(Parallel(n_jobs=n_jobs)(delayed(_fit_and_score)(work, *split) for split in splits))


def _fit_and_score(work: FoldWork, train: Array, test: Array) -> Any:
    return work.scores(work.fit(train), train, test)


def pool(
    targets: Targets, rows: list[Array], scores: list[Any], weights: Array | None
) -> LabelledScores:
    """The scores of all splits as one set of labelled scores."""
    taken = np.concatenate(rows)
    dense = isinstance(scores[0], np.ndarray)
    return LabelledScores(
        truth=targets.truth[taken],
        scores=np.concatenate(scores) if dense else sparse.csr_array(sparse.vstack(scores)),
        weights=None if weights is None else weights[taken],
        labels=targets.kind.labels,
        native=targets.native,
    )


def _never_unseen(scores: Any, seen: Any, lowest: float) -> Any:
    """The lowest score for labels without a positive among the rows fitted on.

    Some estimators then answer with a constant, which may lie above what other folds give.
    """
    if seen.ndim == 1:
        return scores if seen.any() else np.full_like(scores, lowest)
    unseen = np.bincount(seen.indices, minlength=seen.shape[1]) == 0
    if not unseen.any():
        return scores
    if isinstance(scores, np.ndarray):
        return np.where(unseen, scores.dtype.type(lowest), scores)
    data = np.where(unseen[scores.indices], scores.dtype.type(lowest), scores.data)
    return sparse.csr_array((data, scores.indices, scores.indptr), shape=scores.shape)


def _explained(error: ValueError, work: FoldWork, truth: Any) -> ValueError:
    """The same error, with its likely reason: one label at a time, or one class of a label."""
    targets = work.targets
    if not targets.kind.is_binary and not takes_many_labels(work.estimator):
        name = type(work.estimator).__name__
        return ValueError(
            f"{name} takes one label at a time, and y has {targets.kind.n_labels}: use "
            f"OneVsRestClassifier({name}(...)). It said: {error}"
        )
    if truth.ndim == 1:
        one_sided = np.flatnonzero([truth.min() == truth.max()])
    else:
        positives = np.bincount(truth.indices, minlength=truth.shape[1])
        one_sided = np.flatnonzero((positives == 0) | (positives == truth.shape[0]))
    if not len(one_sided):
        return error
    what = "y has"
    if not targets.kind.is_binary:
        names = targets.kind.labels or range(truth.shape[1])
        some = spell_out([names[j] for j in one_sided], most=3)
        what = f"label {some} has" if len(one_sided) == 1 else f"labels {some} have"
    return ValueError(
        f"{what} only one class among the rows to fit on ({truth.shape[0]} of {targets.n_rows}), "
        "and the estimator refused these: use fewer folds or another cv, leave such labels out, or "
        "use an estimator that learns from one class, such as OneVsRestClassifier. It said: "
        f"{error}"
    )
