"""Out-of-fold scores: each row is scored by an estimator that was not fitted on it."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _check_method_params, check_is_fitted

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.estimators.folds import LabelFolds, splitter_for
from halfmax.estimators.responses import scores_of, takes_many_labels
from halfmax.estimators.targets import TargetKind, Targets, dense

Split = tuple[Array, Array]  # rows to fit on, rows to score


def fit_clone(estimator: Any, X: Any, y: Any, params: dict[str, Any]) -> Any:
    """Return a fitted clone, even if its ``fit`` returns None rather than self."""
    fitted = clone(estimator)
    fitted.fit(X, y, **params)
    return fitted


class FoldWork(NamedTuple):
    """An estimator, the data to fit it on, and the method that scores."""

    estimator: Any
    X: Any
    targets: Targets
    fit_params: dict[str, Any]
    method: str
    unseen: float = -np.inf  # the score of a label without training positives

    def fit(self, rows: Array | None = None) -> Any:
        """Fit a clone on some of the rows, or on all."""
        X, y, truth, params = self.X, self.targets.for_fit, self.targets.truth, self.fit_params
        if rows is not None:
            X, y = _safe_split(self.estimator, X, y, rows)
            truth, params = truth[rows], _check_method_params(self.X, params, rows)
        try:
            return fit_clone(self.estimator, X, y, params)
        except ValueError as error:
            raise _explained(error, self, truth) from error

    def scores(self, fitted: Any, train: Array | None = None, test: Array | None = None) -> Any:
        """Score the `test` rows, or all rows, by an estimator fitted on the `train` rows."""
        X = self.X
        if test is not None:
            X, _ = _safe_split(self.estimator, self.X, None, test, train)
        scores = scores_of(fitted, X, self.method, self.targets.kind)
        if train is None:
            return scores
        return _never_unseen(scores, self.targets.truth[train], self.unseen)


class Folding(NamedTuple):
    """How rows are divided into folds, and which estimator is kept: `ThresholdClassifier`'s."""

    cv: Any
    refit: bool
    n_jobs: int | None
    random_state: Any


class OutOfFold(NamedTuple):
    """The estimator that will predict, the rows held out by each split, and their scores."""

    fitted: Any
    rows: list[Array]
    scores: list[Any]


def fit_and_score(work: FoldWork, folding: Folding, split_params: dict[str, Any]) -> OutOfFold:
    """Fit the estimator, and score each row by an estimator that was not fitted on it."""
    cv = folding.cv
    if isinstance(cv, str):
        fitted = _fitted_before(work.estimator, cv, work.targets.kind)
        return OutOfFold(fitted, [np.arange(work.targets.n_rows)], [work.scores(fitted)])
    splitter = splitter_for(cv, work.targets, folding.random_state)
    y = work.targets.truth if isinstance(splitter, LabelFolds) else work.targets.for_fit
    splits = _check_splits(splitter.split(work.X, y, **split_params), cv)
    rows = [test for _, test in splits]
    if folding.refit:
        fitted, work = _fit_first(work, None)
        return OutOfFold(fitted, rows, _score_splits(work, splits, folding.n_jobs))
    if len(splits) > 1:
        raise ValueError(
            f"refit=False needs a single split, whose estimator is kept; cv={cv!r} makes "
            f"{len(splits)}: use refit=True, or hold out a share such as cv=0.2"
        )
    train, test = splits[0]
    fitted, work = _fit_first(work, train)
    return OutOfFold(fitted, rows, [work.scores(fitted, train, test)])


def fit_alone(work: FoldWork, cv: Any) -> Any:
    """Fit the estimator on all rows, without folds; or take it as it is if `cv` is "prefit"."""
    if isinstance(cv, str):
        return _fitted_before(work.estimator, cv, work.targets.kind)
    return _fit_first(work, None)[0]


def _check_splits(splits: Iterable[Split], cv: Any) -> list[Split]:
    """Return the splits as row indices, without those that hold out no rows."""
    indices = [tuple(map(_row_indices, split)) for split in splits]
    found = [(train, test) for train, test in indices if len(test)]
    if not found or not all(len(train) for train, _ in found):
        raise ValueError(f"cv must hold out some rows and leave some to fit on; got {cv!r}")
    return found


def _row_indices(rows: Any) -> Array:
    rows = np.asarray(rows)
    return np.flatnonzero(rows) if rows.dtype == np.bool_ else rows


def for_estimator(estimator: Any, targets: Targets) -> Targets:
    """Return the targets as the estimator takes them: a regressor gets dense 0/1 numbers."""
    if not is_regressor(estimator):
        return targets
    if targets.kind.is_binary:
        return targets._replace(for_fit=targets.truth.astype(np.float64))
    return _dense(targets)


def _dense(targets: Targets) -> Targets:
    return targets._replace(for_fit=dense(targets.for_fit))


def _fit_first(work: FoldWork, rows: Array | None) -> tuple[Any, FoldWork]:
    """Fit on these rows; if the estimator cannot handle a sparse y, use a dense one from then on.

    Nearest neighbours accept a sparse y without an error and take all of it for their only class.
    Others may fail only when they predict, so one row is scored as a test.
    """
    if not sparse.issparse(work.targets.for_fit):
        return work.fit(rows), work
    try:
        fitted = work.fit(rows)
        classes = getattr(fitted, "classes_", ())
        if any(sparse.issparse(value) for of_label in classes for value in np.ravel(of_label)):
            raise TypeError("a sparse y was taken for a class")
        train = np.arange(work.targets.n_rows) if rows is None else rows
        work.scores(fitted, train, np.array([0]))
        return fitted, work
    except (TypeError, ValueError, IndexError):
        work = work._replace(targets=_dense(work.targets))
        return work.fit(rows), work


def _fitted_before(estimator: Any, cv: str, kind: TargetKind) -> Any:
    """Return the estimator as it is, if it is fitted on the same classes."""
    if cv != "prefit":
        raise ValueError(f"cv must be a number, a splitter or 'prefit'; got {cv!r}")
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        raise NotFittedError(
            "cv='prefit' requires an estimator that is already fitted, on other rows than these; "
            f"call fit on this {type(estimator).__name__} first, or use cv=5. (Copies made by a "
            "grid search or cross-validation are not fitted: there, use a FrozenEstimator and cv=5)"
        ) from None
    known = getattr(estimator, "classes_", None)
    if kind.classes is None or known is None or np.array_equal(known, kind.classes):
        return estimator
    expected = "many labels" if isinstance(known, list) else spell_out(np.asarray(known).tolist())
    raise ValueError(
        f"y must hold the classes that the estimator was fitted on, {expected}; got "
        f"{spell_out(kind.classes.tolist())}"
    )


def _score_splits(work: FoldWork, splits: Iterable[Split], n_jobs: int | None) -> list[Any]:
    """Score the held-out rows of each split by a clone fitted on its other rows."""
    return list(Parallel(n_jobs=n_jobs)(delayed(_score_split)(work, *split) for split in splits))


def _score_split(work: FoldWork, train: Array, test: Array) -> Any:
    return work.scores(work.fit(train), train, test)


def pool(targets: Targets, found: OutOfFold, weights: Array | None) -> LabelledScores:
    """Pool the scores of all splits into one set of labelled scores."""
    rows, scores = np.concatenate(found.rows), found.scores
    dense = isinstance(scores[0], np.ndarray)
    return LabelledScores(
        truth=targets.truth[rows],
        scores=np.concatenate(scores) if dense else sparse.csr_array(sparse.vstack(scores)),
        weights=None if weights is None else weights[rows],
        labels=targets.kind.labels,
        native=targets.native,
    )


def _never_unseen(scores: Any, seen: Any, lowest: float) -> Any:
    """Give the lowest score to labels without a positive among the rows fitted on.

    For such labels some estimators return a constant, which may exceed the scores of other folds.
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
    """Add the likely reason to an error: one label at a time, or only one class of a label."""
    targets = work.targets
    if not targets.kind.is_binary and not takes_many_labels(work.estimator):
        name = type(work.estimator).__name__
        return ValueError(
            f"{name} takes one label at a time, and y has {targets.kind.n_labels}: use "
            f"OneVsRestClassifier({name}(...)). Its error was: {error}"
        )
    if truth.ndim == 1:
        single_class = np.flatnonzero([truth.min() == truth.max()])
    else:
        positives = np.bincount(truth.indices, minlength=truth.shape[1])
        single_class = np.flatnonzero((positives == 0) | (positives == truth.shape[0]))
    if not len(single_class):
        return error
    what = "y has"
    if not targets.kind.is_binary:
        names = targets.kind.labels or range(truth.shape[1])
        some = spell_out([names[j] for j in single_class], most=3)
        what = f"label {some} has" if len(single_class) == 1 else f"labels {some} have"
    return ValueError(
        f"{what} only one class among the rows to fit on ({truth.shape[0]} of {targets.n_rows}), "
        "and the estimator refused them: use fewer folds or another cv, leave such labels out, or "
        "use an estimator that accepts a single class, such as OneVsRestClassifier. Its error "
        f"was: {error}"
    )
