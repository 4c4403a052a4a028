"""Read targets (y): two classes of any type, or a 0/1 matrix with one column per label."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from halfmax._core.gate.arrays import Matrix, check_binary, csr_like, open_matrix, refuse_masked
from halfmax._core.gate.labels import Labels, match_labels
from halfmax._core.text import spell_out
from halfmax._core.types import Array

_NO_Y = "this estimator requires y to be passed, but the target y is None"


class TargetKind(NamedTuple):
    """What is predicted: one of two classes, or any number of labels."""

    classes: Array | None  # for one classifier only, sorted
    positive: int  # the index of the positive class
    n_labels: int
    labels: Labels | None = None  # the positive class, or the column names of a data frame
    container: Any = None  # the type of a sparse y, which predictions get too

    @classmethod
    def of_classes(cls, classes: Array, pos_label: Any) -> "TargetKind":
        """Return the kind of two classes, of which the second is positive by default."""
        place = _place_of(pos_label, classes)
        name = classes.tolist()[place]
        return cls(classes, place, 1, (name,) if isinstance(name, (str, int, float)) else None)

    @property
    def is_binary(self) -> bool:
        """Whether there are two classes rather than a matrix of labels."""
        return self.classes is not None

    def truth(self, y: Any) -> Any:
        """Return y as 0/1, as the kernels take it; refuse classes that were not seen in fit."""
        if self.classes is None:
            return self._indicator(y)
        values = _column(y)
        unseen = np.setdiff1d(values, self.classes)
        if len(unseen):
            raise ValueError(
                f"y must hold the classes seen in fit, {spell_out(self.classes.tolist())}; "
                f"got {spell_out(unseen.tolist())} as well"
            )
        return (values == self.classes[self.positive]).astype(np.uint8)

    def _indicator(self, y: Any) -> Any:
        """Return y as rows x labels, columns in the order of fit, by name if both have names."""
        if (columns := width(y)) != self.n_labels:
            raise ValueError(
                f"y must have {self.n_labels} columns, the labels seen in fit; got {columns}"
            )
        _, truth, matrix = read_labels(y)
        if self.labels is None or matrix.labels is None or self.labels == matrix.labels:
            return truth
        return truth[:, match_labels(matrix.labels, self.labels, "y", "the y of fit")]

    def decode(self, predictions: Any) -> Any:
        """Return 0/1 predictions as scikit-learn returns them."""
        if self.classes is not None:
            place = predictions if self.positive else 1 - predictions
            return self.classes[place]
        if self.container is not None:
            return self.container(predictions, dtype=np.int64)
        return dense(predictions).astype(np.int64)


class Targets(NamedTuple):
    """The targets of a fit, as the estimator and as the kernels take them."""

    kind: TargetKind
    for_fit: Any  # as passed to the estimator's fit
    truth: Any  # 1-D uint8, or CSR of ones
    native: Any = None  # the data frame that was passed as y, if it was one

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return int(self.truth.shape[0])


def read_targets(y: Any, pos_label: Any = None) -> Targets:
    """Check y and find out its kind."""
    if y is None:
        raise ValueError(_NO_Y)
    if width(y) > 1:
        return _targets_of_labels(y, pos_label)
    values = _column(y)
    if not len(values):
        raise ValueError("y must not be empty; got no rows")
    found = _kind_of(values)
    if found != "binary":
        raise ValueError(_not_binary(found, values))
    classes, place = np.unique(values, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(
            f"y must hold two classes; got one class, {classes.tolist()[0]!r}, in all rows"
        )
    kind = TargetKind.of_classes(classes, pos_label)
    return Targets(kind, values, (place == kind.positive).astype(np.uint8))


def check_rows(X: Any, y: Any) -> None:
    """Refuse X and y of different lengths."""
    if y is None:
        raise ValueError(_NO_Y)
    of_x, of_y = _num_samples(X), _num_samples(y)
    if of_x != of_y:
        raise ValueError(
            f"X and y must have the same number of rows; got {of_x:,} rows in X and {of_y:,} in y"
        )


def width(y: Any) -> int:
    """Return the number of columns of y; 1 for a vector."""
    if isinstance(y, (list, tuple)):
        refuse_masked(y, "y")
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:
        raise ValueError(
            "y must have rows of equal length; turn sets of labels into a 0/1 matrix with "
            "sklearn.preprocessing.MultiLabelBinarizer"
        ) from None
    return shape[1] if len(shape) == 2 else 1


def _column(y: Any) -> Array:
    """Return one value per row; a matrix of one column is accepted with scikit-learn's warning."""
    refuse_masked(y, "y")
    return np.asarray(column_or_1d(dense(y), warn=True))


def dense(values: Any) -> Any:
    """Return an array in place of a scipy sparse container."""
    return values if not sparse.issparse(values) else values.toarray()  # type: ignore[attr-defined]


def _kind_of(values: Array) -> str:
    """Return scikit-learn's type of the target.

    NaN and infinities are refused first, because scikit-learn would cast them.
    """
    assert_all_finite(values, input_name="y")
    try:
        return str(type_of_target(values, input_name="y"))
    except TypeError:
        raise ValueError("y must hold classes of one type, all strings or all numbers") from None


def _not_binary(kind: str, values: Array) -> str:
    if kind == "multiclass":
        return (
            f"Only binary classification is supported. The type of the target is multiclass: y "
            f"has {len(np.unique(values))} classes. Turn each class into a column with "
            "sklearn.preprocessing.label_binarize(y, classes=...) and use a multilabel estimator, "
            "such as OneVsRestClassifier; or pick one class, y == positive"
        )
    hint = ""
    if kind == "unknown":
        hint = (
            "; turn sets of labels into such a matrix with "
            "sklearn.preprocessing.MultiLabelBinarizer, and numbers in an array of objects into "
            "classes with astype(int)"
        )
    return (
        f"Unknown label type: {kind}. y must hold two classes, or be a 0/1 matrix of rows x labels"
        f"{hint}"
    )


def _place_of(pos_label: Any, classes: Array) -> int:
    if pos_label is None:
        return 1
    names = classes.tolist()
    if pos_label not in names:
        raise ValueError(
            f"pos_label must be one of the classes of y, {spell_out(names)}; got {pos_label!r}"
        )
    return int(names.index(pos_label))


def read_labels(y: Any) -> tuple[TargetKind, Any, Matrix]:
    """Read rows x labels: what they predict, the CSR of their ones, and the matrix itself."""
    matrix = _open_indicator(y)
    return *_of_matrix(matrix, y), matrix


def _of_matrix(matrix: Matrix, y: Any) -> tuple[TargetKind, Any]:
    truth = check_binary(matrix, "y")
    container = csr_like(y) if matrix.is_sparse else None
    return TargetKind(None, 1, truth.shape[1], matrix.labels, container), truth


def _open_indicator(y: Any) -> Matrix:
    if y is None:
        raise ValueError(_NO_Y)
    try:
        matrix = open_matrix(y, "y")
    except TypeError as error:  # in scikit-learn's words
        kind = "Complex data not supported" if np.iscomplexobj(y) else "Unknown label type"
        raise ValueError(f"{kind}: {error}") from None
    if matrix.values.ndim != 2:
        shape, kind = matrix.values.shape, type_of_target(matrix.values)
        raise ValueError(
            f"y must be rows x labels of 0 and 1; got shape {shape}, {kind}. Only binary "
            "classification is supported, of many labels: for a single label use "
            "ThresholdClassifier, or y.reshape(-1, 1); turn classes into labels with "
            "scikit-learn's label_binarize"
        )
    return matrix


def refuse_pos_label(pos_label: Any) -> None:
    """Refuse a positive class where there are many labels."""
    if pos_label is not None:
        raise ValueError(
            "pos_label is for two classes; in a 0/1 matrix of labels, 1 is positive: "
            f"leave it None; got {pos_label!r}"
        )


def _targets_of_labels(y: Any, pos_label: Any) -> Targets:
    refuse_pos_label(pos_label)
    matrix = _open_indicator(y)
    if not matrix.is_sparse and matrix.values.dtype.kind == "f":
        found = _kind_of(matrix.values)
        if found != "multilabel-indicator":
            raise ValueError(_not_binary(found, matrix.values))
    kind, truth = _of_matrix(matrix, y)
    # int64, because OneVsRestClassifier is wrong with int8 and more than 127 labels
    container = kind.container or np.asarray
    for_fit = container(truth if matrix.is_sparse else matrix.values, dtype=np.int64)
    return Targets(kind, for_fit, truth, matrix.native)
