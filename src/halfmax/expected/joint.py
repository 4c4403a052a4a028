"""Joint distributions of dependent items: estimating, checking and repairing them.

``q[i, s-1]`` is the probability that item i is true and exactly s items are true. Together with
`p_empty`, the probability that no item is true, it determines the expected F of every prediction.
"""

from typing import Any, NamedTuple

import numpy as np

from halfmax._core.gate import frames, labelled
from halfmax._core.gate.arrays import check_binary, open_matrix
from halfmax._core.types import Floats

_SHAPES = {2: "items x sizes", 3: "instances x items x sizes"}
_TINY = 1e-9  # how far rounding may take a probability out of its range
_ROUNDING = 1e-6  # how far sums of estimated probabilities may be off


class Joint(NamedTuple):
    """The probabilities ``q[i, s-1]``, that item i and exactly s items are true, and `p_empty`.

    For many instances, `q` is instances x items x sizes and `p_empty` has one entry for each.
    """

    q: Floats
    p_empty: Any


def joint_from_samples(draws: Any, sample_weight: Any = None, max_size: int | None = None) -> Joint:
    """Estimate ``(q, p_empty)`` for `decide_joint` by frequencies among draws of label vectors.

    Parameters
    ----------
    draws : array-like of shape (draws, items) or (instances, draws, items)
        Values 0/1 or bool. Two-dimensional draws may be dense, scipy sparse or a data frame.
    sample_weight : array-like of shape (draws,), optional
        The weight of each draw, used for all instances.
    max_size : int, optional
        How many sizes `q` has. By default it has as many as there are items. A draw with more
        true items than that is an error.

    Returns
    -------
    Joint
        A named tuple ``(q, p_empty)``. ``q[i, s-1]`` is the share of draws in which item i and
        exactly s items are true; `p_empty` is the share of draws without any true item. For
        several instances both have a leading dimension.

    Raises
    ------
    ValueError
        If `draws` is empty, has another shape or holds other values than 0 and 1, if the weights
        do not fit the draws, or if `max_size` is below the size of the largest draw.

    See Also
    --------
    decide_joint : The best predictions for such a joint distribution.

    Examples
    --------
    >>> from halfmax import joint_from_samples
    >>> q, p_empty = joint_from_samples([[1, 0], [1, 1], [0, 0], [1, 0]])
    >>> q.tolist(), p_empty
    ([[0.5, 0.25], [0.0, 0.25]], 0.25)
    """
    if isinstance(draws, (np.ndarray, list, tuple)) and np.ndim(draws) == 3:
        if not len(draws):
            raise ValueError(f"draws must not be empty; got shape {np.shape(draws)}")
        parts = [joint_from_samples(one, sample_weight, max_size) for one in draws]
        q, p_empty = (np.stack(part) for part in zip(*parts, strict=True))
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
    """Check a joint distribution; also return whether it came as a single instance.

    The result is instances x items x sizes, without the sizes that never occur at the end.
    """
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
            f"up to 1{'' if one else f' in instance {b}'}; they add up to {none[b] + some[b]:.6g}"
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
    """The probability of each size, after checking that `q` is a joint distribution.

    No entry may exceed the probability of its size. No other condition is needed, because numbers
    from 0 to 1 that add up to s are always the shares of items in some mixture of sets of s items.
    """
    if not q.min() >= -_TINY:  # True for NaN as well
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


def reconcile(q: Floats, p_empty: Floats) -> Joint:
    """Turn the estimates of separately fitted models into a joint distribution for each row.

    ``q`` is rows x items x sizes; ``p_empty`` has one number for each row. Every entry comes from
    its own model, so the entries need not fit together. In a distribution the probabilities of the
    sizes,

        c_s  =  sum over i of  q[i, s-1] / s,

    add up to ``1 - p_empty``, and the shares ``q[i, s-1] / c_s`` of items in the sets of s items
    lie between 0 and 1 and add up to s. Therefore all c_s are scaled so that they add up to
    ``1 - p_empty``, which has a model to itself. Shares above 1 become 1, and one common factor for
    all other shares of that size makes up for it: of all shares that add up to s, these are the
    closest in Kullback-Leibler divergence. They keep their order. Zeros stay zero, unless fewer
    than s shares are positive; then the zeros divide the remainder equally. A distribution stays
    as it is. A row in which q is all zero has no items.

    >>> q, p_empty = reconcile(np.array([[[0.2, 0.6], [0.1, 0.1], [0.1, 0.1]]]), np.array([0.2]))
    >>> q.round(4).tolist(), p_empty.tolist()
    ([[[0.2, 0.4], [0.1, 0.2], [0.1, 0.2]]], [0.2])
    """
    chances = q.sum(axis=1) / np.arange(1, q.shape[2] + 1)
    total = chances.sum(axis=1, keepdims=True)
    p_empty = np.where(total[:, 0] > 0.0, np.clip(p_empty, 0.0, 1.0), 1.0)
    parts = np.divide(chances, total, out=np.zeros_like(chances), where=total > 0.0)
    shares = _shares(q)
    shares *= (parts * (1.0 - p_empty[:, None]))[:, None]
    return Joint(shares, p_empty)


def _shares(q: Floats) -> Floats:
    """``min(1, t q)`` for each row and size s, with the t for which the items add up to s."""
    n_items, sizes = q.shape[1], np.arange(1, q.shape[2] + 1)
    largest_first = -np.sort(-q, axis=1)
    rest = largest_first[:, ::-1].cumsum(axis=1)[:, ::-1]  # the sum of this item and all after it
    left = sizes - np.arange(n_items)[:, None]  # their sum, if all items before have share 1
    n_full = (left * largest_first > rest).sum(axis=1, keepdims=True)
    rest, left = np.take_along_axis(rest, n_full, axis=1), sizes - n_full
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = np.minimum(left * (q / rest), 1.0)
    too_few = np.where(q > 0.0, 1.0, left / (n_items - n_full))
    return np.where(rest > 0.0, shares, too_few)
