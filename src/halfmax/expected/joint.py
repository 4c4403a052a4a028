"""Joint distributions of items, as far as expected F asks for them.

``q[i, s-1]`` is the probability that item i is true and exactly s items are; with `p_empty`, the
probability that none is, it determines the expected F of every prediction.
"""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core import frames, labelled
from halfmax._core.matrix import check_binary, open_matrix
from halfmax._core.types import Floats

Floats = Floats

_SHAPES = {2: "items x sizes", 3: "instances x items x sizes"}
_TINY = 1e-9  # how far arithmetic may take a probability out of its range
_ROUNDING = 1e-6  # how far estimates of probabilities may miss their sums


class Joint(NamedTuple):
    """``q[i, s-1]``: item i is true, and s items are; `p_empty`: none is. Or one of each apiece."""

    q: Floats
    p_empty: Any


def joint_from_samples(draws: Any, sample_weight: Any = None, max_size: int | None = None) -> Joint:
    """``(q, p_empty)`` for `decide_joint`, as frequencies among draws of label vectors.

    Parameters
    ----------
    draws : draws x items, or instances x draws x items
        0/1 or bool; two dimensions may be dense, scipy sparse or a data frame.
    sample_weight : one for each draw, optional
        The same for all instances.
    max_size : int, optional
        How many sizes to keep, if not as many as there are items: q is items x sizes. A draw with
        more true items than that is an error.

    >>> q, p_empty = joint_from_samples([[1, 0], [1, 1], [0, 0], [1, 0]])
    >>> q.tolist(), p_empty
    ([[0.5, 0.25], [0.0, 0.25]], 0.25)
    """
    if isinstance(draws, (np.ndarray, list, tuple)) and np.ndim(draws) == 3:
        if not len(draws):
            raise ValueError(f"draws must not be empty; got shape {np.shape(draws)}")
        parts = [joint_from_samples(one, sample_weight, max_size) for one in draws]
        q, p_empty = (np.stack(side) for side in zip(*parts, strict=True))
        return Joint(q, p_empty)
    matrix = open_matrix(draws, "draws")
    if matrix.values.ndim != 2:
        raise ValueError(f"draws must be draws x items; got shape {matrix.values.shape}")
    n_draws, n_items = matrix.values.shape
    ones = check_binary(matrix, "draws")
    frames.check_same_rows(draws=draws, sample_weight=sample_weight)
    weights = labelled.check_weights(sample_weight, n_draws)
    shares = np.full(n_draws, 1.0 / n_draws) if weights is None else weights / weights.sum()
    sizes = np.diff(ones.indptr)
    kept = n_items if max_size is None else _check_max_size(max_size, int(sizes.max()), n_items)
    cell = ones.indices.astype(np.int64) * kept + np.repeat(sizes - 1, sizes)
    frequency = np.bincount(cell, np.repeat(shares, sizes), minlength=n_items * kept)
    q = frequency.astype(np.float64, copy=False).reshape(n_items, kept)
    return Joint(q, min(1.0, float(shares[sizes == 0].sum())))


def _check_max_size(max_size: int, largest: int, n_items: int) -> int:
    if not isinstance(max_size, (int, np.integer)) or not 1 <= max_size <= n_items:
        raise ValueError(
            f"max_size must be a whole number from 1 to the {n_items} items; got {max_size!r}"
        )
    if largest > max_size:
        raise ValueError(
            f"max_size must not be below the largest draw, which has {largest} true items; "
            f"got {max_size}"
        )
    return int(max_size)


def open_joint(q: Any, p_empty: Any) -> tuple[Joint, bool]:
    """Instances x items x sizes that occur, and whether only one instance was given."""
    if isinstance(q, Joint):
        q, p_empty = q.q, q.p_empty if p_empty is None else p_empty
    values = open_matrix(q, "q", _SHAPES).values
    one = values.ndim == 2
    values = values if isinstance(values, np.ndarray) else values.toarray()
    q = np.ascontiguousarray(values[None] if one else values, np.float64)
    if q.shape[2] > q.shape[1]:
        raise ValueError(
            f"q must not have more sizes than items; got {q.shape[1]} items and {q.shape[2]} sizes"
        )
    some = _chances(q, one).sum(axis=1)
    q = np.maximum(q, 0.0) if q.min() < 0.0 else q
    none = np.maximum(1.0 - some, 0.0) if p_empty is None else _open_empty(p_empty, len(q))
    wrong = ~(np.abs(none + some - 1.0) <= _ROUNDING)
    if wrong.any():
        b = int(np.argmax(wrong))
        raise ValueError(
            "q must be a joint distribution: p_empty and the probabilities of all sizes must add "
            f"up to 1{'' if one else f' in instance {b}'}; they make {none[b] + some[b]:.6g}"
        )
    used = max(1, int(np.flatnonzero(q.any(axis=(0, 1))).max(initial=0)) + 1)
    return Joint(np.ascontiguousarray(q[:, :, :used]), none), one


def _open_empty(p_empty: Any, n_instances: int) -> Floats:
    shapes = {0: "one for all", 1: "one for each instance"}
    values = open_matrix(p_empty, "p_empty", shapes).values
    if values.ndim and len(values) != n_instances:
        raise ValueError(
            f"p_empty must be one probability, or one for each of the {n_instances} instances; "
            f"got shape {values.shape}"
        )
    if not ((values >= -_TINY) & (values <= 1.0 + _TINY)).all():
        raise ValueError(f"p_empty must be from 0 to 1; got {p_empty}")
    return np.full(n_instances, np.clip(values, 0.0, 1.0), np.float64)


def _chances(q: Floats, one: bool) -> Floats:
    """The probability of each size, after a check of what characterises such a q.

    No entry may be above the probability of its size. Nothing else needs to hold, since numbers
    from 0 to 1 that add up to s are always the shares of items in a mixture of sets of s items.
    """
    if not q.min() >= -_TINY:  # NaN as well
        place = tuple(int(i) for i in np.argwhere(~(q >= -_TINY))[0])
        where = ", ".join(map(str, place[one:]))
        raise ValueError(f"q must hold probabilities, none negative; q[{where}] is {q[place]}")
    chances: Floats = q.sum(axis=1) / np.arange(1, q.shape[2] + 1)
    above = q.max(axis=1) > chances + _ROUNDING
    if above.any():
        b, s = (int(i) for i in np.argwhere(above)[0])
        i = int(q[b, :, s].argmax())
        where = f"{i}, {s}" if one else f"{b}, {i}, {s}"
        raise ValueError(
            f"q must be a joint distribution: q[{where}] is {q[b, i, s]:.6g}, but exactly {s + 1} "
            f"items are true with probability {chances[b, s]:.6g}, the sum over items of "
            f"q[..., {s}] divided by {s + 1}"
        )
    return chances
