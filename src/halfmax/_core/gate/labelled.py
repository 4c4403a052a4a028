"""The gate: truth, scores, predictions and weights become arrays that the kernels can trust.

Every input is checked here, once, and nothing is changed in place. Dense scores are not copied
unless their type has to change; sparse ones become CSR.
"""

from collections.abc import Hashable, Iterable
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate import frames
from halfmax._core.gate.arrays import Matrix, first_place, open_matrix, open_scores
from halfmax._core.gate.classes import check_predicted, check_truth
from halfmax._core.gate.labels import Labels, check_labels, match_labels
from halfmax._core.types import Array, Floats

_HEAVIEST = 1e100  # metrics multiply sums of weights by beta squared, which must stay finite


class LabelledScores(NamedTuple):
    """Scores and their truth, checked and of the same shape."""

    truth: Any  # 1-D: uint8 array; 2-D: csr_array of ones
    scores: Any  # float32 or float64, dense or csr_array; -inf or absent means never predicted
    weights: Floats | None
    labels: Labels | None
    native: Any  # a frame whose library the results use, or None

    @property
    def is_binary(self) -> bool:
        return isinstance(self.truth, np.ndarray)

    @property
    def n_rows(self) -> int:
        return int(self.scores.shape[0])

    @property
    def n_labels(self) -> int:
        return 1 if self.is_binary else int(self.scores.shape[1])

    def of_rows(self, rows: Array) -> "LabelledScores":
        """Keep some of the rows."""
        weights = None if self.weights is None else self.weights[rows]
        return self._replace(truth=self.truth[rows], scores=self.scores[rows], weights=weights)

    def of_labels(self, columns: Array) -> "LabelledScores":
        """Keep some of the labels, without their names."""
        if len(columns) == self.n_labels:
            return self
        truth, scores = self.truth[:, columns], self.scores[:, columns]
        return self._replace(truth=truth, scores=scores, labels=None)

    @property
    def positives(self) -> Array:
        """The positives of each label: their number, or the sum of their weights."""
        if self.is_binary:
            return np.array(
                [self.truth.sum() if self.weights is None else self.truth @ self.weights]
            )
        weights = self.weights
        if weights is not None:
            weights = np.repeat(weights, np.diff(self.truth.indptr))
        return np.bincount(self.truth.indices, weights, minlength=self.n_labels)

    @property
    def total(self) -> float | int:
        """The number of rows, or the sum of their weights."""
        return self.n_rows if self.weights is None else float(self.weights.sum())

    @property
    def rows_per_weight(self) -> float:
        """Rows per unit of weight: the effective sample size (Kish) over the sum of weights."""
        if self.weights is None:
            return 1.0
        weights = self.weights / self.weights.max()
        return float(weights.sum() / (weights**2).sum() / self.weights.max())

    @property
    def may_be_probabilities(self) -> bool:
        """Whether all scores that can be predicted lie between 0 and 1."""
        stored = self.scores if isinstance(self.scores, np.ndarray) else self.scores.data
        known = stored[stored > -np.inf]
        return bool(known.size and known.min() >= 0 and known.max() <= 1)


def read_labelled(
    y_true: Any,
    y_score: Any,
    sample_weight: Any = None,
    labels: Iterable[Hashable] | None = None,
    pos_label: Any = None,
) -> LabelledScores:
    """Check truth and scores, together with weights and names of labels.

    If the truth of one classifier has names, its label is named like the positive class.
    """
    rows = {"y_true": y_true, "y_score": y_score, "sample_weight": sample_weight}
    truth = open_matrix(y_true, "y_true", rows=rows, classes=True)
    scores = open_scores(y_score, "y_score", rows)
    truth, scores = _of_one_column(truth, scores)
    truth = _same_shape(truth, scores, "y_true", "y_score")
    frames.check_same_rows(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
    one_classifier = scores.values.ndim == 1
    n_rows, names = scores.values.shape[0], scores.labels or truth.labels
    if labels is not None:
        names = check_labels(labels, 1 if one_classifier else scores.values.shape[1])
    elif one_classifier:
        names = (pos_label,) if isinstance(pos_label, str) else None
    return LabelledScores(
        truth=check_truth(truth, "y_true", pos_label, rows),
        scores=scores.values,
        weights=check_weights(sample_weight, n_rows),
        labels=names,
        native=scores.native if scores.native is not None else truth.native,
    )


def read_predictions(
    y_true: Any, y_pred: Any, sample_weight: Any = None, pos_label: Any = None
) -> tuple[Any, Any]:
    """Check truth and predictions together; both are returned as uint8 arrays or CSR of ones.

    Only the index of the weights is checked here, if they have one.
    """
    rows = {"y_true": y_true, "y_pred": y_pred, "sample_weight": sample_weight}
    truth, predictions = (
        open_matrix(rows[name], name, rows=rows, classes=True) for name in ("y_true", "y_pred")
    )
    truth, predictions = _of_one_column(truth, predictions)
    truth = _same_shape(truth, predictions, "y_true", "y_pred")
    frames.check_same_rows(y_true=y_true, y_pred=y_pred, sample_weight=sample_weight)
    checked = check_truth(truth, "y_true", pos_label, rows)
    return checked, check_predicted(predictions, "y_pred", truth, pos_label)


def _of_one_column(truth: Matrix, other: Matrix) -> tuple[Matrix, Matrix]:
    """Turn a matrix of one column into a vector if the other one is a vector."""
    if truth.values.ndim == other.values.ndim:
        return truth, other
    return _as_vector(truth, 0), _as_vector(other, -np.inf)


def _as_vector(matrix: Matrix, absent: float) -> Matrix:
    if matrix.values.shape[1:] != (1,):
        return matrix
    if not matrix.is_sparse:
        return matrix._replace(values=matrix.values[:, 0], labels=None)
    stored = matrix.values
    column = np.full(stored.shape[0], absent, stored.dtype)
    column[np.diff(stored.indptr) > 0] = stored.data  # at most one in each row
    return matrix._replace(values=column, labels=None)


def check_weights(weights: Any, n_rows: int) -> Floats | None:
    """Check sample weights: one finite number for each row, none negative, not all zero."""
    if weights is None:
        return None
    name = "sample_weight"
    matrix = open_matrix(weights, name)
    if matrix.values.ndim != 1 or len(matrix.values) != n_rows:
        raise ArgumentError(
            f"{in_python(name)} must hold one weight for each of the {n_rows} rows; "
            f"got shape {matrix.values.shape}"
        )
    array = np.ascontiguousarray(matrix.values, np.float64)
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        place, value = first_place(matrix, wrong)
        raise ArgumentError(
            f"{in_python(name)} must be finite and not negative; "
            f"{in_python(name)}[{place}] is {value}"
        )
    with np.errstate(over="ignore"):
        check_sum_of_weights(name, array.sum())
    return array


def check_sum_of_weights(name: str, total: float) -> None:
    """Check that a sum of weights is above 0 and not too large for floats."""
    if total > _HEAVIEST:
        raise ArgumentError(
            f"{in_python(name)} must have a finite sum of at most {_HEAVIEST:g}; it is {total:g}: "
            "scale it down"
        )
    if total == 0:
        raise ArgumentError(
            f"{in_python(name)} must not be zero everywhere: nothing would be counted"
        )


def _same_shape(truth: Matrix, other: Matrix, truth_name: str, other_name: str) -> Matrix:
    """Return the truth with its columns in the order of the other matrix, or refuse it."""
    shape, expected = truth.values.shape, other.values.shape
    order = None
    if truth.labels is not None and other.labels is not None and truth.labels != other.labels:
        hint = ""
        if len(truth.labels) == len(other.labels) == 1:
            columns = ((truth_name, truth.labels), (other_name, other.labels))
            one, it = (f"{in_python(name)}[{label!r}]" for name, (label,) in columns)
            hint = f". For one classifier pass the columns, {one} and {it}"
        order = match_labels(truth.labels, other.labels, truth_name, other_name, if_differ=hint)
    if shape != expected:
        hint = ""
        if len(shape) == 1 and len(expected) == 2 and expected[1] == 2:
            hint = "; of a two-column predict_proba pass the positive class, "
            hint += f"{in_python(other_name)}[:, 1]"
        elif len(shape) != len(expected):
            hint = (
                "; give both as 1-D for one classifier or as rows x labels for many (classes of a "
                "multiclass problem become labels with scikit-learn's label_binarize)"
            )
        raise ArgumentError(
            f"{in_python(truth_name)} and {in_python(other_name)} must have the same shape; "
            f"got {shape} and {expected}{hint}"
        )
    if order is None:
        return truth
    return truth._replace(values=truth.values[:, order], labels=other.labels)
