"""What scikit-learn calls y: two classes of any type, or a 0/1 matrix with a column per label."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _num_samples

from halfmax._core.labels import Labels, match_labels
from halfmax._core.matrix import Matrix, check_binary, csr_like, open_matrix, refuse_masked
from halfmax._core.text import spell_out
from halfmax._core.types import Array

_NO_Y = "this estimator requires y to be passed, but the target y is None"


class TargetKind(NamedTuple):
    """What is predicted: one of two classes, or any of some labels."""

    classes: Array | None  # of one classifier, sorted
    positive: int  # the place of the positive class
    n_labels: int
    labels: Labels | None = None  # the positive class, or column names of the frame y came as
    container: Any = None  # the type of a sparse y, which predictions will have too

    @classmethod
    def of_classes(cls, classes: Array, pos_label: Any) -> "TargetKind":
        """One of two classes, of which the second is positive unless another is named."""
        place = _place_of(pos_label, classes)
        name = classes.tolist()[place]
        return cls(classes, place, 1, (name,) if isinstance(name, (str, int, float)) else None)

    @property
    def is_binary(self) -> bool:
        return self.classes is not None

    def truth(self, y: Any) -> Any:
        """0/1 as the kernels take it; y must hold nothing that was not seen in fit."""
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
        """Rows x labels, columns in the order of fit: by name where both are known."""
        if (columns := width(y)) != self.n_labels:
            raise ValueError(
                f"y must have {self.n_labels} columns, the labels seen in fit; got {columns}"
            )
        _, truth, matrix = read_labels(y)
        if self.labels is None or matrix.labels is None or self.labels == matrix.labels:
            return truth
        return truth[:, match_labels(matrix.labels, self.labels, "y", "the y of fit")]

    def decode(self, predictions: Any) -> Any:
        """0/1 predictions as scikit-learn would give them."""
        if self.classes is not None:
            place = predictions if self.positive else 1 - predictions
            return self.classes[place]
        if self.container is not None:
            return self.container(predictions, dtype=np.int64)
        return dense(predictions).astype(np.int64)


class Targets(NamedTuple):
    """The targets of a fit."""

    kind: TargetKind
    given: Any  # to the estimator
    truth: Any  # 1-D uint8, or CSR of ones
    native: Any = None  # the frame that y came as

    @property
    def n_rows(self) -> int:
        return int(self.truth.shape[0])


def read_targets(y: Any, pos_label: Any = None) -> Targets:
    """Check y and tell what kind it is."""
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
    """Refuse X and y of different lengths, which would pair rows with the wrong targets."""
    if y is None:
        raise ValueError(_NO_Y)
    of_x, of_y = _num_samples(X), _num_samples(y)
    if of_x != of_y:
        raise ValueError(
            f"X and y must have the same number of rows; got {of_x:,} rows in X and {of_y:,} in y"
        )


def width(y: Any) -> int:
    """How many columns y has; 1 for a vector."""
    if isinstance(y, (list, tuple)):
        refuse_masked(y, "y")
    try:
        shape = y.shape if hasattr(y, "shape") else np.asarray(y).shape
    except ValueError:
        raise ValueError(
            "y must have rows of equal length; sets of labels become a 0/1 matrix with "
            "sklearn.preprocessing.MultiLabelBinarizer"
        ) from None
    return shape[1] if len(shape) == 2 else 1


def _column(y: Any) -> Array:
    """One value for each row; a matrix of one column is taken, with scikit-learn's warning."""
    refuse_masked(y, "y")
    return np.asarray(column_or_1d(dense(y), warn=True))


def dense(values: Any) -> Any:
    """An array in place of a scipy sparse container."""
    return values if not sparse.issparse(values) else values.toarray()  # type: ignore[attr-defined]


def _kind_of(values: Array) -> str:
    """scikit-learn's word for it, after a look for NaN and infinities, which it casts first."""
    assert_all_finite(values, input_name="y")
    try:
        return str(type_of_target(values, input_name="y"))
    except TypeError:
        raise ValueError("y must hold classes of one type, all words or all numbers") from None


def _not_binary(kind: str, values: Array) -> str:
    if kind == "multiclass":
        return (
            f"Only binary classification is supported. The type of the target is multiclass: y "
            f"has {len(np.unique(values))} classes. Give a column to each class with "
            "sklearn.preprocessing.label_binarize(y, classes=...) and use an estimator for many "
            "labels, such as OneVsRestClassifier; or pick one class, y == positive"
        )
    hint = ""
    if kind == "unknown":
        hint = (
            "; sets of labels become one with sklearn.preprocessing.MultiLabelBinarizer, numbers "
            "in an array of objects become classes with astype(int)"
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
    """A matrix of rows x labels: what it predicts, the CSR of its ones, and the matrix itself."""
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
    except TypeError as error:  # in the words that scikit-learn has for it
        kind = "Complex data not supported" if np.iscomplexobj(y) else "Unknown label type"
        raise ValueError(f"{kind}: {error}") from None
    if matrix.values.ndim != 2:
        shape, kind = matrix.values.shape, type_of_target(matrix.values)
        raise ValueError(
            f"y must be rows x labels of 0 and 1; got shape {shape}, {kind}. Only binary "
            "classification is supported, of many labels: for one use ThresholdClassifier, or "
            "y.reshape(-1, 1); classes become labels with scikit-learn's label_binarize"
        )
    return matrix


def _targets_of_labels(y: Any, pos_label: Any) -> Targets:
    if pos_label is not None:
        raise ValueError(
            "pos_label is for two classes; labels of a 0/1 matrix have 1 for positive: "
            f"leave it None; got {pos_label!r}"
        )
    matrix = _open_indicator(y)
    if not matrix.is_sparse and matrix.values.dtype.kind == "f":
        found = _kind_of(matrix.values)
        if found != "multilabel-indicator":
            raise ValueError(_not_binary(found, matrix.values))
    kind, truth = _of_matrix(matrix, y)
    # int64, since OneVsRestClassifier goes wrong with int8 and more than 127 labels
    container = kind.container or np.asarray
    given = container(truth if matrix.is_sparse else matrix.values, dtype=np.int64)
    return Targets(kind, given, truth, matrix.native)
