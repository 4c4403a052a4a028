"""Thresholds that are set rather than tuned, also for an estimator that is already fitted."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted

from halfmax._core.gate.arrays import csr_like
from halfmax._core.gate.labels import Labels, match_labels, names_or_places
from halfmax._core.text import spell_out
from halfmax._core.types import Floats
from halfmax.estimators.responses import takes_many_labels
from halfmax.estimators.targets import TargetKind, refuse_pos_label
from halfmax.tuning.thresholds import Thresholds

_FORMS = (
    "thresholds must be a number, one number for each label, a dict of them by label, or a "
    "Thresholds object"
)


def read_fixed(thresholds: Any, kind: TargetKind) -> Floats:
    """Return the threshold of each label, in the order of the labels."""
    values: Any = thresholds
    if isinstance(thresholds, Thresholds):
        values = thresholds.thresholds[_places_in(thresholds, kind)]
    elif hasattr(thresholds, "keys"):  # a dict, or a pandas Series
        values = _by_name(dict(thresholds), kind)
    found = np.asarray(values)
    if found.dtype.kind not in "iuf" or found.ndim > 1:
        raise TypeError(f"{_FORMS}; got {thresholds!r:.100}")
    wrong = ~(found > -np.inf)
    if wrong.any():
        raise ValueError(
            "thresholds must be numbers, or inf to predict no rows; got "
            f"{found[wrong].flat[0]}: to predict all rows, use a number below all scores"
        )
    if found.ndim and len(found) != kind.n_labels:
        target = "two classes" if kind.is_binary else f"each of the {kind.n_labels} labels"
        raise ValueError(f"thresholds must hold one number for {target}; got {len(found)}")
    return np.full(kind.n_labels, found, np.float64)


def _places_in(thresholds: Thresholds, kind: TargetKind) -> Any:
    """Return the place of each label, by its name if labels and thresholds have names."""
    if kind.is_binary or kind.labels is None or thresholds.labels is None:
        return slice(None)
    return match_labels(thresholds.labels, kind.labels, "thresholds", "y")


def _by_name(thresholds: dict[Any, Any], kind: TargetKind) -> list[Any]:
    names = names_or_places(kind.labels, kind.n_labels)
    if kind.labels is None and any(isinstance(name, str) for name in thresholds):
        raise ValueError(
            f"thresholds have names, {spell_out(thresholds, most=3)}, but the labels have none: "
            "pass the y of fit as a data frame with these columns, or thresholds as a list in the "
            "order of the columns"
        )
    match_labels(tuple(thresholds), names, "thresholds", "y")
    return [thresholds[name] for name in names]


def is_fitted(estimator: Any) -> bool:
    """Return whether an estimator is fitted already."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def kind_of_fitted(estimator: Any, X: Any, thresholds: Any, pos_label: Any) -> TargetKind:
    """Return what a fitted estimator predicts, where no y has been seen.

    Some estimators look the same after they were fitted on two classes and on two labels, so those
    that take labels are asked to predict one row.
    """
    if takes_many_labels(estimator):
        (X,) = indexable(X)
        answer = estimator.predict(_safe_indexing(X, slice(0, 1)))
        if np.ndim(answer) == 2 and answer.shape[1] > 1:
            return _kind_of_labels(estimator, answer, thresholds, pos_label)
    known = classes_of(estimator, thresholds)
    if isinstance(known, np.ndarray) and known.shape == (2,):
        return TargetKind.of_classes(known, pos_label)
    raise ValueError(
        "Only binary classification is supported, of two classes or of many labels. The type of "
        f"the target is multiclass: {type(estimator).__name__} was fitted on {len(known)} classes"
    )


def _kind_of_labels(estimator: Any, answer: Any, thresholds: Any, pos_label: Any) -> TargetKind:
    refuse_pos_label(pos_label)
    n_labels, classes = answer.shape[1], getattr(estimator, "classes_", None)
    of_each = classes if isinstance(classes, list) else []
    if not all(np.isin(known, (0, 1)).all() for known in of_each):
        raise ValueError(
            "estimator must be fitted on labels that are 0 or 1, to be used without fit; this "
            f"{type(estimator).__name__} was fitted on other classes"
        )
    names: Labels | None = thresholds.labels if isinstance(thresholds, Thresholds) else None
    if names is not None and len(names) != n_labels:
        names = None
    container = csr_like(answer) if sparse.issparse(answer) else None
    return TargetKind(None, 1, n_labels, names, container)


def classes_of(estimator: Any, thresholds: Any) -> Any:
    """Return the classes that a fitted estimator knows; a regressor is taken to know 0 and 1."""
    if hasattr(estimator, "classes_") or not is_regressor(estimator):
        return estimator.classes_
    values = thresholds.thresholds if isinstance(thresholds, Thresholds) else thresholds
    size = len(values) if hasattr(values, "__len__") else 1
    return np.array([0, 1]) if size == 1 else [np.array([0, 1])] * size
