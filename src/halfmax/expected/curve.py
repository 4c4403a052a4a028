"""The expected metric of predicting the k most probable of independent items, for every k.

Item i is true with probability ``p[i]``. Let T be the number of true items and S the number of
true items among the k predicted. With ``1/x = sum(weight * exp(-x * time))`` and
``keep = exp(-b2 * time)``, the expectation in F-beta,

    E[S / (k + b2 T)]  =  sum of  weight * exp(-k * time) * E[S keep^T]  over the nodes,

factorises: ``E[S keep^T]`` is ``keep`` times the product over all items of ``1 - p + p keep``,
times the sum over the predicted items of ``p / (1 - p + p keep)``. The product is the same for
every k and the sum grows by one term, so each k costs a few dozen multiplications.
``docs/expected-f.md`` has the derivation, `halfmax.expected.kernels` the loops.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfmax._core.gate import options
from halfmax._core.gate.arrays import open_probabilities
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.expected import kernels
from halfmax.expected.nodes import chances_of_none, place_nodes
from halfmax.expected.ratio import (
    KIND_ACCURACY,
    KIND_JACCARD,
    KIND_PRECISION,
    KIND_RECALL,
    LIFT,
    TINY,
    Ratio,
    fewest_given_one,
    fewest_true,
    find_ratio,
    most_given_one,
)
from halfmax.metrics.metric import Metric

_CHUNK = 1 << 16  # items between two progress reports, which are also the places to interrupt


def expected_curve(
    p: Any,
    metric: str | Metric = "f1",
    zero_division: float = 0.0,
    *,
    progress: ProgressLike = None,
) -> Floats:
    """Compute the expected metric of predicting the k most probable items, for k = 0, 1, ..., n.

    Parameters
    ----------
    p : array-like of shape (n,)
        The probability of each item, in any order. The items are independent.
    metric : str or Metric
        One of ``"f1"``, any ``"f<beta>"`` or `FBeta`, ``"jaccard"``, ``"precision"``, ``"recall"``
        or ``"accuracy"``.
    zero_division : float
        The value of 0/0, from 0 to 1, in the outcomes where it occurs. For example, this is the
        score when nothing is predicted and nothing is true.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``.

    Returns
    -------
    ndarray of shape (n + 1,)
        The expected metric for each k, accurate to about 14 digits. The time grows like n log n.

    Raises
    ------
    ValueError
        If `p` is not one batch of probabilities, if the expectation of `metric` is not known in
        closed form, or if `zero_division` is not between 0 and 1.

    See Also
    --------
    decide : The best predictions, for many batches at once.
    ExpectedCurveDisplay : A picture of this curve.

    Examples
    --------
    Two certain items and a doubtful one, which is better left out:

    >>> expected_curve([1.0, 0.3, 1.0]).round(4).tolist()
    [0.0, 0.6167, 0.94, 0.86]
    """
    ratio = find_ratio(metric)
    zero_division = options.check_share_known("zero_division", zero_division)
    values = open_probabilities(p, "p").values
    if values.ndim != 1:
        raise ValueError(
            f"p must have 1 dimension, the items of one batch; got shape {values.shape}"
        )
    falling = np.sort(values.astype(np.float64, copy=False))[::-1]
    steps = 2 * len(falling)  # every item once for the product and once for the walk
    with Progress(progress, f"expected_curve: {len(falling):,} items", steps) as meter:
        curve = _curve(falling, ratio, meter.advance)
    if ratio.kind == KIND_PRECISION:
        curve[0] = zero_division
    elif ratio.kind != KIND_ACCURACY and zero_division > 0.0:
        size = np.array([len(falling)])
        none = zero_division * chances_of_none(falling[::-1], size, size)[0]
        curve[: None if ratio.kind == KIND_RECALL else 1] += none  # recall: for every k
    return curve


def _curve(falling: Array, ratio: Ratio, advance: Callable[[int], None]) -> Floats:
    """Expectations for all k, without the contribution of 0/0."""
    if ratio.is_linear:
        advance(2 * len(falling))
        return _linear_curve(falling, ratio)
    if 0.0 < falling[0] < TINY:
        return _curve(falling * LIFT, ratio, advance) / LIFT
    n, mean = len(falling), falling.sum()
    curve, parts, union = np.zeros(n + 1), spans(n, _CHUNK), ratio.kind == KIND_JACCARD
    if union:
        lo, hi, fewest = max(1.0, fewest_true(mean)), float(n), 0.0
        kernels.running_sum(falling, curve[1:])
    else:
        fewest, most = fewest_given_one(mean), most_given_one(mean, n)
        lo, hi = ratio.rate + ratio.b2 * fewest, ratio.rate * n + ratio.b2 * most
    nodes = place_nodes(ratio.b2, ratio.rate, lo, hi)
    for part in parts:
        kernels.add_log_none(falling[part], nodes)
        advance(part.stop - part.start)
    for part in parts:
        p, done, out = falling[part], part.start, curve[1:][part]
        kernels.walk(p, done, union, ratio.rate, ratio.b2, ratio.scale, fewest, nodes, out)
        advance(len(out))
    return curve


def _linear_curve(falling: Array, ratio: Ratio) -> Floats:
    """Expected precision or accuracy for all k, from running sums."""
    n = len(falling)
    curve = np.zeros(n + 1)
    kernels.running_sum(falling, curve[1:])
    if ratio.kind == KIND_PRECISION:
        curve[1:] /= np.arange(1, n + 1)
        return curve
    right = np.zeros(n + 1)
    kernels.running_sum(1.0 - falling[::-1], right[1:])
    return (curve + right[::-1]) / n
