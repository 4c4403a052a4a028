"""Make the probabilities of separately fitted models consistent with one joint distribution."""

import numpy as np

from halfmax._core.types import Floats
from halfmax.expected.joint import Joint


def reconcile(q: Floats, p_empty: Floats) -> Joint:
    """Turn the estimates of separately fitted models into one joint distribution per row.

    ``q`` is rows x items x sizes; ``p_empty`` has one number per row. Each entry comes from a model
    that does not know the others. In a distribution, though, the probabilities of the sizes,

        c_s  =  sum over i of  q[i, s-1] / s,

    add up to ``1 - p_empty``, and the shares ``q[i, s-1] / c_s`` of items in the sets of s items
    lie between 0 and 1 and add up to s. So all c_s are scaled to add up to ``1 - p_empty``, whose
    model estimates nothing else. Shares above 1 become 1, and one factor for all other items of
    that size makes up for it: of all shares that add up to s, these are the closest in
    Kullback-Leibler divergence. Their order stays the same. Zeros stay zero, unless fewer than s
    items are positive; then the zeros divide the remainder equally. A valid distribution is left
    unchanged. A row whose q is all zero has no items.

    >>> q, p_empty = reconcile(np.array([[[0.2, 0.6], [0.1, 0.1], [0.1, 0.1]]]), np.array([0.2]))
    >>> q.round(4).tolist(), p_empty.tolist()
    ([[[0.2, 0.4], [0.1, 0.2], [0.1, 0.2]]], [0.2])
    """
    size_chances = q.sum(axis=1) / np.arange(1, q.shape[2] + 1)
    total = size_chances.sum(axis=1, keepdims=True)
    p_empty = np.where(total[:, 0] > 0.0, np.clip(p_empty, 0.0, 1.0), 1.0)
    parts = np.divide(size_chances, total, out=np.zeros_like(size_chances), where=total > 0.0)
    shares = _shares(q)
    shares *= (parts * (1.0 - p_empty[:, None]))[:, None]
    return Joint(shares, p_empty)


def _shares(q: Floats) -> Floats:
    """Return ``min(1, t q)`` for each row and size s, with the t that makes items add up to s."""
    n_items, sizes = q.shape[1], np.arange(1, q.shape[2] + 1)
    largest_first = -np.sort(-q, axis=1)
    rest = largest_first[:, ::-1].cumsum(axis=1)[:, ::-1]  # the sum of this item and all after it
    left = sizes - np.arange(n_items)[:, None]  # their sum, if all before have share 1
    n_full = (left * largest_first > rest).sum(axis=1, keepdims=True)
    rest, left = np.take_along_axis(rest, n_full, axis=1), sizes - n_full
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = np.minimum(left * (q / rest), 1.0)
    too_few = np.where(q > 0.0, 1.0, left / (n_items - n_full))
    return np.where(rest > 0.0, shares, too_few)
