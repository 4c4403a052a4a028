"""Read the scores of any scikit-learn estimator, whatever shape they come in.

For one classifier there is one score per row, for many labels a matrix of rows x labels:

- ``predict_proba`` of many labels is a matrix (OneVsRestClassifier, MLPClassifier, ClassifierChain)
  or a list with a matrix of classes for each label (MultiOutputClassifier, forests, neighbours),
  where a label with only one class in training has a single column;
- ``predict_log_proba`` comes in the same shapes; the logarithm of 0 is -inf, never predicted;
- ``decision_function`` is a vector or a matrix;
- ``predict`` of a regressor is used as its score, as in the paper's tagger.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from halfmax._core.gate.arrays import open_scores
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.estimators.targets import TargetKind, read_targets, width

AUTO = ("predict_proba", "decision_function", "predict")  # in the order of preference
METHODS = ("predict_proba", "predict_log_proba", "decision_function", "predict")
_PROBABILITIES = METHODS[:2]  # one for each class


def find_method(estimator: Any, response_method: str | Sequence[str]) -> str:
    """Return the method whose results are compared with thresholds.

    Of several methods it is the first that the estimator has.
    """
    if estimator is None or isinstance(estimator, type):
        raise TypeError(
            "estimator must be an instance of a scikit-learn estimator, such as "
            f"LogisticRegression(); got {estimator!r:.100}"
        )
    asked = _check_methods(response_method)
    offered = METHODS if is_regressor(estimator) else METHODS[:-1]
    for method in asked:
        if method in offered and hasattr(estimator, method):
            return method
    if asked == ("predict",):
        raise ValueError(
            "response_method='predict' is for regressors, whose predictions are scores; "
            f"{_name(estimator)} is not one: use 'predict_proba' or 'decision_function'"
        )
    if response_method != "auto":
        present = [method for method in offered if hasattr(estimator, method)]
        instead = f"; it has {spell_out(present)}" if present else ""
        raise TypeError(
            f"estimator must have {' or '.join(asked)}; {_name(estimator)} does not{instead}"
        )
    raise TypeError(
        "estimator must have predict_proba or decision_function, or be a regressor; "
        f"{_name(estimator)} is none of these. For many labels, OneVsRestClassifier offers "
        "whichever method its inner classifier has"
    )


def _check_methods(response_method: Any) -> tuple[str, ...]:
    """Return the methods to try, in this order."""
    if isinstance(response_method, str) and response_method == "auto":
        return AUTO
    asked = (response_method,) if isinstance(response_method, str) else response_method
    known = isinstance(asked, (list, tuple)) and all(
        isinstance(method, str) and method in METHODS for method in asked
    )
    if not known or not asked:
        raise ValueError(
            f"response_method must be {spell_out(('auto', *METHODS), 'or')}, or a list of such "
            f"methods, of which the first that the estimator has is used; got {response_method!r}"
        )
    return tuple(asked)


def scores_of(estimator: Any, X: Any, method: str, kind: TargetKind) -> Any:
    """Score the positive class, or each label: float32 or float64, dense or CSR."""
    with np.errstate(divide="ignore"):  # the logarithm of 0
        answer = getattr(estimator, method)(X)
    read = _of_positive_class if kind.is_binary else _of_labels
    scores = open_scores(
        read(estimator, answer, method, kind), f"{method} of {type(estimator).__name__}"
    )
    values = scores.values
    if values.shape[0] != _num_samples(X):
        raise ValueError(
            f"{method} of {type(estimator).__name__} must return one score for each of the "
            f"{_num_samples(X)} rows; got {values.shape[0]}"
        )
    return values


def takes_many_labels(estimator: Any) -> bool:
    """Return whether the estimator declares that it can be fitted on a matrix of labels."""
    tags = get_tags(estimator)
    named = tags.classifier_tags is not None and tags.classifier_tags.multi_label
    return bool(named or tags.target_tags.multi_output)


def _name(estimator: Any) -> str:
    text = " ".join(repr(estimator).split())
    return text if len(text) <= 60 else type(estimator).__name__


def _of_positive_class(estimator: Any, answer: Any, method: str, kind: TargetKind) -> Array:
    values = np.asarray(answer)
    if values.ndim == 2 and values.shape[1] == 2 and method != "predict":
        return values[:, kind.positive]
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{method} of {type(estimator).__name__} must return one score for each row, or "
            f"one for each of two classes; got shape {values.shape}"
        )
    if method in _PROBABILITIES:
        return _of_one_column(values, getattr(estimator, "classes_", None), kind, method)
    if method == "decision_function" and kind.positive == 0:
        return -values
    return values


def _of_one_column(values: Array, classes: Any, kind: TargetKind, method: str) -> Array:
    """Read a single column: the positive class, or the only class seen in training."""
    assert kind.classes is not None
    if classes is None or len(classes) != 1:
        return values if kind.positive else _of_other_class(values, method)
    positive = classes[0] == kind.classes[kind.positive]
    return values if positive else _of_other_class(values, method)


def _of_other_class(values: Array, method: str) -> Array:
    """Return the probability of the other of two classes, or its logarithm."""
    if method == "predict_proba":
        return 1.0 - values
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(values)))


def _of_labels(estimator: Any, answer: Any, method: str, kind: TargetKind) -> Any:
    if isinstance(answer, list):
        answer = _stack(estimator, answer, method)
    values: Any = answer if sparse.issparse(answer) else np.asarray(answer)
    if values.ndim != 2 or values.shape[1] != kind.n_labels:
        raise ValueError(
            f"{method} of {type(estimator).__name__} must return rows x {kind.n_labels} labels; "
            f"got shape {values.shape}"
        )
    return values


def _stack(estimator: Any, answers: list[Any], method: str) -> Array:
    """Collect the column of class 1 from each label's matrix of classes."""
    impossible = -np.inf if method == "predict_log_proba" else 0.0
    classes: Any = getattr(estimator, "classes_", None)
    known = isinstance(classes, (list, tuple)) and len(classes) == len(answers)
    columns = []
    for j, answer in enumerate(map(np.asarray, answers)):
        if answer.ndim > 2 or (answer.ndim == 2 and answer.shape[1] > 2):
            raise ValueError(
                f"{method} of {type(estimator).__name__} must have two classes for each "
                f"label, 0 and 1; for label {j} it returned shape {answer.shape}"
            )
        if answer.ndim == 1:
            columns.append(answer)
        elif answer.shape[1] == 1 and known and classes[j][-1] == 0:
            columns.append(np.full(len(answer), impossible))
        else:
            columns.append(answer[:, -1])
    return np.column_stack(columns)


def kind_known_to(estimator: Any, y: Any, pos_label: Any) -> TargetKind:
    """Return what y predicts, in the classes that the estimator knows.

    The rows to score may hold only one of the two classes.
    """
    if width(y) > 1:
        return read_targets(y, pos_label).kind
    classes = getattr(estimator, "classes_", None)
    if is_regressor(estimator) and np.isin(np.asarray(y), (0, 1)).all():
        classes = np.array([0, 1])
    if isinstance(classes, np.ndarray) and classes.shape == (2,):
        return TargetKind.of_classes(classes, pos_label)
    return read_targets(y, pos_label).kind
