"""Read containers of numbers: lists, arrays, sparse matrices and data frames.

Nothing is changed in place. Dense values are not copied unless their type has to change; sparse
ones become CSR.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python, warn
from halfmax._core.gate import frames
from halfmax._core.gate.kinds import is_sparse, names_of_columns
from halfmax._core.gate.labels import Labels, check_labels
from halfmax._core.gate.missing import Together, drop_line
from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array

_SHAPES = {1: "one classifier", 2: "rows x labels"}
_ROUNDING = 1e-6
_TELLING = 20  # rows; with fewer, the pattern may be chance
_NUMBERS, _CLASSES = "buif", "buifUSTO"  # kinds of dtypes


class Matrix(NamedTuple):
    """A container of numbers as an array or CSR, with what is known of its origin."""

    values: Any  # 1-D or 2-D ndarray, or csr_array in canonical format
    labels: Labels | None  # column names, where the container has them
    native: Any  # the frame or series it was read from, or None

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.values, np.ndarray)


def like_input(predictions: Any, matrix: Matrix, scores: Any) -> Any:
    """Return predictions in the container of the caller's scores: frame, series, sparse, array."""
    if matrix.native is not None:
        return frames.like(matrix.native, predictions)
    return csr_like(scores)(predictions) if matrix.is_sparse else predictions


def csr_like(container: Any) -> Any:
    """Return csr_matrix for sparse matrices and csr_array for sparse arrays."""
    from scipy import sparse

    return sparse.csr_matrix if sparse.isspmatrix(container) else sparse.csr_array


def open_matrix(
    values: Any,
    name: str,
    shapes: Mapping[int, str] = _SHAPES,
    rows: Together = None,
    classes: bool = False,
) -> Matrix:
    """Read a container of numbers: list, array, scipy sparse, tensor, or a frame or series.

    With `classes` it may hold names as well. `rows` are the arguments that hold the same rows.
    """
    if is_sparse(values):
        return Matrix(_canonical_csr(values, name), None, None)
    labels, native = names_of_columns(values), None
    if (opened := frames.to_numpy(values, name, rows, classes)) is not None:
        (values, labels), native = opened, values
    elif labels is not None:
        check_labels(labels, len(labels), f"columns of {in_python(name)}")
    refuse_masked(values, name)
    array = _as_array(values, name)
    _check_kind(array.dtype, name, _CLASSES if classes else _NUMBERS)
    _check_dimensions(array, name, shapes)
    _check_size(array.shape, name)
    if not array.dtype.isnative:
        array = array.astype(array.dtype.newbyteorder("="))
    return Matrix(array, labels, native)


def _as_array(values: Any, name: str) -> Array:
    """Return an array of anything that offers one: by itself, or by DLPack as tensors do."""
    try:
        if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
            return np.from_dlpack(values)
        array = np.asarray(values)
    except ValueError:
        raise ArgumentError(
            f"{in_python(name)} must have rows of equal length; "
            f"got a ragged {type(values).__name__}"
        ) from None
    except (BufferError, RuntimeError, TypeError) as error:  # of tensors
        hint = f". Pass {name}.detach().cpu().float().numpy()" if hasattr(values, "detach") else ""
        raise ArgumentTypeError(
            f"{in_python(name)} must be readable as a NumPy array; {type(values).__name__} is not: "
            f"{str(error).rstrip('.')}{hint}"
        ) from None
    if array.dtype.kind == "U" and isinstance(values, (list, tuple)):
        return np.asarray(values, object)  # in which None and NaN do not become names
    return array


def _check_dimensions(array: Array, name: str, shapes: Mapping[int, str]) -> None:
    if array.ndim in shapes:
        return
    known = " or ".join(f"{size} ({what})" for size, what in shapes.items())
    hint = ""
    if array.ndim == 3 and array.shape[2] == 2:
        hint = (
            "; if this is a list of predict_proba results, pass "
            "np.column_stack([p[:, 1] for p in results])"
        )
    raise ArgumentError(
        f"{in_python(name)} must have {known} dimensions; got {array.ndim}, "
        f"shape {array.shape}{hint}"
    )


def refuse_masked(values: Any, name: str) -> None:
    """Refuse masked arrays, also in lists: their masked entries would be counted."""
    if frames.holds_mask(values):
        is_list = isinstance(values, (list, tuple))
        what = "holds masked arrays" if is_list else "is a masked array"
        raise ArgumentTypeError(f"{in_python(name)} {what}; fill or drop the masked entries first")


def open_scores(values: Any, name: str, rows: Together = None) -> Matrix:
    """Read scores: floats that are finite or -inf.

    `rows` are the arguments that hold the same rows, for the line that drops missing ones.
    """
    rows = {name: values} if rows is None else rows
    matrix = open_matrix(values, name, rows=rows)
    scores = matrix.values
    kept = (np.dtype(np.float32), np.dtype(np.float64))
    if scores.dtype not in kept:
        with np.errstate(over="ignore"):  # overflows are refused below
            scores = scores.astype(np.float32 if scores.dtype == np.float16 else np.float64)
    stored = scores.data if matrix.is_sparse else scores
    # One maximum finds both NaN (it propagates) and +inf, without a temporary array.
    if stored.size and not stored.max() < np.inf:
        place, value = first_place(matrix, ~(stored < np.inf))
        hint = drop_line(name, rows) if math.isnan(value) else ""
        raise ArgumentError(
            f"{in_python(name)} must be finite, or -inf for 'never predicted'; "
            f"{in_python(name)}[{place}] is {value}{hint}"
        )
    return matrix._replace(values=scores)


def open_probabilities(values: Any, name: str) -> Matrix:
    """Read probabilities: floats from 0 to 1."""
    matrix = open_matrix(values, name)
    if matrix.values.dtype not in (np.float32, np.float64):
        matrix = matrix._replace(values=matrix.values.astype(np.float64))
    stored = matrix.values.data if matrix.is_sparse else matrix.values
    if stored.size and not (stored.min() >= 0 and stored.max() <= 1):  # NaN fails both
        place, value = first_place(matrix, ~((stored >= 0) & (stored <= 1)))
        hint = "for other scores, use tune, which needs labels"
        if -_ROUNDING <= value <= 1.0 + _ROUNDING:
            hint = f"if rounding did that, use np.clip({name}, 0, 1); {hint}"
        raise ArgumentError(
            f"{in_python(name)} must be probabilities, from 0 to 1; {in_python(name)}[{place}] is "
            f"{value}. Expectations need calibrated probabilities; {hint}"
        )
    return matrix


def warn_of_two_classes(probabilities: Any, name: str) -> None:
    """Warn of two columns that add up to 1: they look like predict_proba of one classifier."""
    if probabilities.shape[1:] != (2,) or probabilities.shape[0] < _TELLING:
        return
    if np.abs(probabilities.sum(axis=1) - 1.0).max() < _ROUNDING:
        warn(
            f"the two columns of {in_python(name)} add up to 1 in every row, like predict_proba of "
            f"one classifier: pass its positive class, {in_python(name)}[:, 1]"
        )


class _NotBinaryError(Exception):
    """A block of a matrix holds something other than 0 and 1."""


def check_binary(matrix: Matrix, name: str, otherwise: Callable[[], Matrix] | None = None) -> Any:
    """Return truth or predictions as a uint8 array (1-D) or a CSR of ones (2-D).

    `otherwise` returns what to read if there are other values than 0 and 1, or refuses them.
    """
    try:
        return _zeros_and_ones(matrix)
    except _NotBinaryError:
        if otherwise is None:
            refuse_not_binary(matrix, name)
        return _zeros_and_ones(otherwise())


def _zeros_and_ones(matrix: Matrix) -> Any:
    values = matrix.values
    if matrix.is_sparse:
        if not _is_binary(values.data):
            raise _NotBinaryError
        if values.data.all():
            return _csr_of_ones(values.indices, values.indptr, values.shape)
        kept = values.astype(np.uint8)
        kept.eliminate_zeros()
        return kept
    if values.ndim == 1:
        if not _is_binary(values):
            raise _NotBinaryError
        same_bytes = values.dtype.itemsize == 1 and values.flags.c_contiguous
        return values.view(np.uint8) if same_bytes else values.astype(np.uint8)
    return _dense_to_ones(values)


def _canonical_csr(values: Any, name: str) -> Any:
    """Convert to CSR with sorted column indices and no duplicate entry; keep explicit zeros."""
    if values.ndim != 2:
        raise ArgumentError(
            f"{in_python(name)} must be a two-dimensional sparse matrix; got {values.ndim} "
            f"dimension{'s' * (values.ndim != 1)}"
        )
    _check_kind(values.dtype, name)
    _check_size(values.shape, name)
    if values.format not in ("csr", "csc", "coo"):
        values = values.tocoo()
    _check_indices(values, name)
    _check_stored_once(values, name)
    from scipy import sparse

    matrix = sparse.csr_array(values)
    if not matrix.has_sorted_indices:
        matrix = matrix.sorted_indices()
    for part in ("data", "indices", "indptr"):  # which may be every other number of a user's array
        setattr(matrix, part, np.ascontiguousarray(getattr(matrix, part)))
    return matrix


def _check_indices(values: Any, name: str) -> None:
    """Check the indices of a sparse matrix: kernels trust them, and scipy does not check them."""
    axes = (
        [(values.row, 0), (values.col, 1)]
        if values.format == "coo"
        else [(values.indices, 0 if values.format == "csc" else 1)]
    )
    for index, axis in axes:
        if index.size and (index.min() < 0 or index.max() >= values.shape[axis]):
            raise ArgumentError(
                f"{in_python(name)} is a broken sparse matrix: {('row', 'column')[axis]} indices "
                f"must be from 0 to {values.shape[axis] - 1}; they go from {index.min()} to "
                f"{index.max()}"
            )
    if values.format != "coo":
        values.check_format(full_check=False)
        if (np.diff(values.indptr) < 0).any():
            raise ArgumentError(f"{in_python(name)} is a broken sparse matrix: its indptr falls")


def _check_stored_once(values: Any, name: str) -> None:
    if values.format == "coo":
        from scipy import sparse

        # A conversion would silently add up duplicates, so count them first.
        pattern = sparse.coo_array((_ones(values.nnz), (values.row, values.col)), values.shape)
        twice = pattern.astype(np.int32).tocsr()
        found = twice.data > 1
    else:
        twice = values if values.has_sorted_indices else values.sorted_indices()
        if twice.has_canonical_format:
            return
        same_line = np.diff(twice.indices, prepend=-1) == 0
        same_line[twice.indptr[:-1][np.diff(twice.indptr) > 0]] = False
        found = same_line
    if found.any():
        entry = int(np.flatnonzero(found)[0])
        line = int(np.searchsorted(twice.indptr, entry, side="right")) - 1
        place = (line, int(twice.indices[entry]))
        row, column = place[::-1] if values.format == "csc" else place
        raise ArgumentError(
            f"{in_python(name)} must store each entry once; [{row}, {column}] is stored more than "
            "once. Call sum_duplicates() first if their sum is meant"
        )


def _check_kind(dtype: np.dtype[Any], name: str, kinds: str = _NUMBERS) -> None:
    if dtype.kind not in kinds:
        hint = {
            "O": "; convert it with astype(float) if it holds numbers",
            "c": "; take its real part or its modulus",
            "U": "; compare it with the positive class first, as in y == 'yes'",
        }.get(dtype.kind, "")
        if dtype.kind == "U" and name not in ("y_true", "y_pred"):
            hint = ""
        raise ArgumentTypeError(
            f"{in_python(name)} must be numbers or bool; got dtype {dtype}{hint}"
        )


def _check_size(shape: Sequence[int], name: str) -> None:
    if 0 in shape:
        raise ArgumentError(f"{in_python(name)} must not be empty; got shape {tuple(shape)}")


def _is_binary(stored: Array) -> bool:
    if stored.dtype == np.bool_ or not stored.size:
        return True
    if stored.dtype.kind in "iu":
        unsigned = stored.view(f"u{stored.dtype.itemsize}")  # in which negative numbers are large
        return bool(unsigned.max() <= 1)
    return bool(((stored == 0) | (stored == 1)).all())


def refuse_not_binary(matrix: Matrix, name: str) -> NoReturn:
    """Name the first value that is neither 0 nor 1."""
    stored = matrix.values.data if matrix.is_sparse else matrix.values
    place, value = first_place(matrix, (stored != 0) & (stored != 1))
    hint = "Compare with the positive class first, as in y == positive"
    if math.isnan(value):
        hint = "Drop or fill what is missing first"
    elif math.isfinite(value) and value != int(value) and name in ("y_true", "y_pred"):
        hint = "Were truth and scores swapped? Scores become predictions with Thresholds.predict"
    raise ArgumentError(
        f"{in_python(name)} must hold only 0 and 1 (or False and True); "
        f"{in_python(name)}[{place}] is {value}. {hint}"
    )


def _dense_to_ones(values: Array) -> Any:
    """Convert a dense 0/1 matrix to a CSR of ones, by blocks of rows to save memory."""
    from halfmax._core.gate.kernels import count_ones, find_ones

    n_rows, n_labels = values.shape

    def read(rows: slice) -> tuple[Array, Array]:
        block = values[rows]
        if not _is_binary(block):
            raise _NotBinaryError
        cells = np.ascontiguousarray(block)
        cells = (cells if cells.itemsize == 1 else cells.astype(np.bool_)).view(np.uint8)
        in_row = np.empty(len(block), np.int64)
        columns = np.empty(count_ones(cells, in_row) + 1, np.int32)
        find_ones(cells, columns)
        return in_row, columns[:-1]

    step = max(1, limits.block_cells // n_labels)
    in_row, columns = zip(*map_blocks(read, spans(n_rows, step)), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(in_row))])
    indices = np.concatenate(columns)
    if len(indices) < 1 << 31:  # otherwise scipy would convert the indices to 64 bits
        indptr = indptr.astype(np.int32)
    return _csr_of_ones(indices, indptr, values.shape)


def _csr_of_ones(indices: Array, indptr: Array, shape: tuple[int, int]) -> Any:
    from scipy import sparse

    return sparse.csr_array((_ones(len(indices)), indices, indptr), shape=shape)


def _ones(size: int) -> npt.NDArray[np.uint8]:
    return np.ones(size, np.uint8)


def first_place(matrix: Matrix, wrong: Array) -> tuple[str, Any]:
    """Return the indices of the first wrong entry, as text, and its value."""
    if not matrix.is_sparse:
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        value = matrix.values[place]
        return ", ".join(map(str, place)), value.item() if hasattr(value, "item") else value
    entry = int(np.flatnonzero(wrong)[0])
    row = int(np.searchsorted(matrix.values.indptr, entry, side="right")) - 1
    return f"{row}, {int(matrix.values.indices[entry])}", matrix.values.data[entry].item()
