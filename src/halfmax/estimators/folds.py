"""Stratified folds of multilabel rows: each label has its share of positives in every fold.

Labels are processed from the rarest on. Each row of a label that is not assigned yet goes to the
part that lacks most of the label, and among equals to the part with most room. Rows without labels
fill up the parts. (The idea is from Sechidis, Tsoumakas & Vlahavas, On the stratification of
multi-label data, 2011; here the order of labels is fixed beforehand, so one pass over the positives
is enough.)
"""

from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from halfmax._core.types import Array
from halfmax.estimators.kernels import deal

_FREE = -1


def deal_rows(
    truth: Any, shares: Array, random_state: np.random.RandomState | None = None
) -> npt.NDArray[np.int64]:
    """Assign each row to a part, so that parts get their share of the rows and of every label.

    Rows are assigned in their own order, or in a random one if there is a `random_state`.
    """
    columns = sparse.csr_array(truth[:, None] if truth.ndim == 1 else truth)
    n_rows = columns.shape[0]
    order = np.arange(n_rows) if random_state is None else random_state.permutation(n_rows)
    by_label = sparse.csc_array(columns[order])
    rarest_first = np.argsort(np.diff(by_label.indptr), kind="stable")
    part_of = np.full(n_rows, _FREE, np.int64)
    deal(rarest_first, by_label.indptr, by_label.indices, np.asarray(shares, np.float64), part_of)
    dealt = np.empty_like(part_of)
    dealt[order] = part_of
    return dealt


class LabelFolds:
    """A scikit-learn splitter that stratifies by every label.

    `n_splits` is the number of folds, or, if it is a fraction, the share of the rows that a single
    split holds out.
    """

    def __init__(
        self, n_splits: int | float, random_state: np.random.RandomState | None = None
    ) -> None:
        self.n_splits = n_splits
        self.random_state = random_state

    def get_n_splits(self) -> int:
        """Return the number of splits."""
        return self.n_splits if isinstance(self.n_splits, int) else 1

    def split(self, X: Any, y: Any) -> Iterator[tuple[Array, Array]]:  # noqa: ARG002
        """Yield the rows to fit on and the rows held out, for each split."""
        folds = self.get_n_splits()
        if folds == 1:
            shares = np.array([self.n_splits, 1.0 - self.n_splits])
        else:
            shares = np.full(folds, 1.0 / folds)
        fold_of = deal_rows(y, shares, self.random_state)
        for fold in range(folds):
            held_out = fold_of == fold
            yield np.flatnonzero(~held_out), np.flatnonzero(held_out)


def shuffling(random_state: Any) -> np.random.RandomState | None:
    """Return the source of random orders, or None to keep the order of the rows."""
    return None if random_state is None else check_random_state(random_state)


def splitter_for(cv: Any, targets: Any, random_state: Any) -> Any:
    """Return the splitter for `cv`.

    A number means `LabelFolds`, but a number of folds of two classes is scikit-learn's
    `StratifiedKFold`. A random_state shuffles the rows before they are divided into folds.
    """
    cv = 5 if cv is None else cv
    binary = targets.kind.is_binary
    if not isinstance(cv, Real):
        return check_cv(cv, targets.for_fit, classifier=binary)
    number = _check_number(cv, targets.n_rows)
    if not binary or isinstance(number, float):
        return LabelFolds(number, shuffling(random_state))
    return StratifiedKFold(number, shuffle=random_state is not None, random_state=random_state)


def _check_number(cv: Any, n_rows: int) -> int | float:
    """Check a number of folds, or a share of the rows."""
    whole = isinstance(cv, Integral)
    if isinstance(cv, bool) or not (2 <= cv <= n_rows if whole else 0.0 < cv < 1.0):
        raise ValueError(
            "cv must be a number of folds from 2 to the number of rows, a share of rows to hold "
            f"out above 0 and below 1, a splitter, or 'prefit'; got {cv!r} for {n_rows} rows"
        )
    return int(cv) if whole else float(cv)
