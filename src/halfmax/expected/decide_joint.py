"""`decide_joint`: the general F-maximiser, for items that depend on each other.

When k items are predicted, item i adds

    gain[i, k]  =  sum over s of  q[i, s-1] * (1 + b2) / (k + b2 s)

to the expected F, so the best k items are those with the k largest gains. As ``1 / (k + b2 s)`` is
a short sum of products ``exp(-k t) * exp(-b2 s t)``, all gains come from products of narrow
matrices: the matrix of items x sizes is never multiplied by one of sizes x counts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate import options
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.reciprocal import exponential_sum
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.expected import batch_kernels
from halfmax.expected.joint import Joint, open_joint
from halfmax.expected.k_bounds import check_limits
from halfmax.expected.ratio import (
    KIND_ACCURACY,
    KIND_F,
    KIND_JACCARD,
    KIND_PRECISION,
    KIND_RECALL,
    Ratio,
    find_ratio,
)
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import ACCURACY, PRECISION, RECALL, find_metric

_TIE = 1e-12  # relative; the rounding errors of such sums are smaller
_BLOCK_CELLS = 1 << 21
_LONG = 1024  # from this length on, partitioning rows one by one is faster than sorting them


@dataclass(frozen=True, eq=False, repr=False)
class JointDecision:
    """Predictions that maximise the expected metric of each instance.

    Attributes
    ----------
    predictions : ndarray of int8, shape (items,) or (instances, items)
        The predicted items are 1.
    expected_score : float
        The mean of `expected_scores`.
    expected_scores, counts : ndarray of shape (instances,)
        The expected metric of each instance, and how many of its items are predicted.
    metric : str
        The name of the metric that was maximised.

    See Also
    --------
    decide_joint : The function that returns it.
    Decision : The counterpart for independent items.

    Examples
    --------
    >>> from halfmax import decide_joint
    >>> d = decide_joint([[0.5, 0.25], [0.0, 0.25]], 0.25)
    >>> d.predictions.tolist(), d.counts.tolist(), round(d.expected_score, 4)
    ([1, 0], [1], 0.6667)
    """

    predictions: npt.NDArray[np.int8]
    expected_score: float
    expected_scores: Floats
    counts: npt.NDArray[np.int64]
    metric: str

    def __repr__(self) -> str:
        instances, n_items = len(self.counts), self.predictions.shape[-1]
        what = f"{instances:,} instances" if instances > 1 else "one instance"
        return (
            f"JointDecision for {what} of {n_items:,} items: expected {self.metric} = "
            f"{self.expected_score:.4f}, predicted {self.counts.mean():.4g}"
        )


def decide_joint(
    q: Any,
    p_empty: Any = None,
    metric: str | Metric = "f1",
    zero_division: float = 0.0,
    min_k: int = 0,
    max_k: int | None = None,
    *,
    progress: ProgressLike = None,
) -> JointDecision:
    """Find the predictions with the highest expected metric for items that depend on each other.

    The answer is exact over all sets of items, whatever the dependence.

    Parameters
    ----------
    q : array-like of shape (items, sizes) or (instances, items, sizes), or Joint
        The probability ``q[i, s-1]`` that item i is true and exactly s items are true. Sizes that
        cannot occur may be left off at the end. The whole result of `joint_from_samples` is
        accepted too.
    p_empty : float or array-like of shape (instances,), optional
        The probability that no item is true. `q` implies it; if it is passed, it is checked.
    metric : str or Metric
        Any ``"f<beta>"`` or `FBeta`, ``"precision"``, ``"recall"`` or ``"accuracy"``.
    zero_division : float
        The value of 0/0, from 0 to 1: the score when nothing is predicted and nothing
        is true.
    min_k, max_k : int
        The fewest and most items to predict.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``,
        both in instances.

    Returns
    -------
    JointDecision
        The ``predictions``, ``expected_score``, and ``expected_scores`` and ``counts`` of each
        instance.

    Raises
    ------
    ValueError
        If `q` and `p_empty` are not a joint distribution, if the expectation of `metric` does not
        follow from them, or if another argument is out of its range.

    See Also
    --------
    joint_from_samples : Estimate `q` and `p_empty` from draws of label vectors.
    ExpectedFClassifier : Learn them from labelled rows.
    decide : The best predictions for independent items.

    Examples
    --------
    Two labels that come together half of the time, and a third that comes instead of them:

    >>> from halfmax import decide_joint, joint_from_samples
    >>> q, p_empty = joint_from_samples([[1, 1, 0], [0, 0, 1]])
    >>> q.tolist()
    [[0.0, 0.5, 0.0], [0.0, 0.5, 0.0], [0.5, 0.0, 0.0]]
    >>> d = decide_joint(q, p_empty)
    >>> d
    JointDecision for one instance of 3 items: expected f1 = 0.6500, predicted 3
    >>> d.predictions.tolist()
    [1, 1, 1]
    """
    ratio = _find_linear(metric)
    found = find_metric(metric)
    zero_division = options.check_share_known("zero_division", zero_division)
    joint, one = open_joint(q, p_empty)
    n_instances, n_items, _ = joint.q.shape
    for name, limit in (("min_k", min_k), ("max_k", max_k)):
        if isinstance(limit, (list, tuple, np.ndarray)) and np.ndim(limit):
            raise ValueError(f"{name} must be one number for all instances; got {limit!r}")
    fewest, most = (int(limit[0]) for limit in check_limits(min_k, max_k, (1, n_items)))
    maximise = _maximise_f if ratio.kind == KIND_F else _maximise_sum
    predictions, scores = np.empty((n_instances, n_items), np.int8), np.empty(n_instances)
    with Progress(progress, f"decide_joint: {n_instances:,} instances", n_instances) as meter:
        for part in spans(n_instances, max(1, _BLOCK_CELLS // (n_items * n_items))):
            block = Joint(joint.q[part], joint.p_empty[part])
            predictions[part], scores[part] = maximise(block, ratio, zero_division, fewest, most)
            meter.advance(len(block.q))
    return JointDecision(
        predictions=predictions[0] if one else predictions,
        expected_score=float(scores.mean()),
        expected_scores=scores,
        counts=predictions.sum(axis=1, dtype=np.int64),
        metric=found.name,
    )


def _find_linear(metric: str | Metric) -> Ratio:
    """The metric as the kernels see it, if its gains are sums over items."""
    ratio = find_ratio(metric, (PRECISION, RECALL, ACCURACY))
    if ratio.kind == KIND_JACCARD:
        raise ValueError(
            "metric 'jaccard' of dependent items needs the joint distribution of hits and size, "
            "which q does not hold; use any 'f<beta>', 'precision', 'recall' or 'accuracy'"
        )
    return ratio


def _maximise_f(
    joint: Joint, ratio: Ratio, zero_division: float, fewest: int, most: int
) -> tuple[Array, Floats]:
    """Predictions with the highest expected F, and that F."""
    sums = _expected_by_count(joint.q, ratio, max(fewest, 1), most)
    scores, sizes = zero_division * joint.p_empty, np.arange(1, joint.q.shape[2] + 1)
    predictions = np.zeros(joint.q.shape[:2], np.int8)
    for b, k in enumerate(_smallest_best(scores, sums, fewest)):
        if k:
            gains = np.empty(joint.q.shape[1])
            batch_kernels.weigh(joint.q[b], ratio.scale / (k + ratio.b2 * sizes), gains)
            best = np.argsort(-gains, kind="stable")[:k]
            predictions[b, best] = 1
            scores[b] = gains[best].sum()
    return predictions, scores


def _maximise_sum(
    joint: Joint, ratio: Ratio, zero_division: float, fewest: int, most: int
) -> tuple[Array, Floats]:
    """Predictions for a metric whose gains do not depend on how many items are predicted."""
    n_items, likely = joint.q.shape[1], joint.q.sum(axis=2)
    none = always = zero_division * joint.p_empty
    if ratio.kind == KIND_RECALL:
        gains = (joint.q / np.arange(1, joint.q.shape[2] + 1)).sum(axis=2)
    elif ratio.kind == KIND_PRECISION:
        gains, none, always = likely, np.full(len(likely), zero_division), np.zeros(len(likely))
    else:
        gains, none, always = 2.0 * likely - 1.0, np.zeros(len(likely)), np.zeros(len(likely))
    order = np.argsort(-gains, axis=1, kind="stable")
    sums = np.take_along_axis(gains, order, axis=1).cumsum(axis=1)
    if ratio.kind == KIND_PRECISION:
        sums /= np.arange(1, n_items + 1)
    sums += always[:, None]
    counts = _smallest_best(none, sums[:, max(fewest, 1) - 1 : most], fewest)
    rank = np.argsort(order, axis=1)
    predictions = (rank < counts[:, None]).astype(np.int8)
    if ratio.kind == KIND_ACCURACY:
        return predictions, np.where(predictions, likely, 1.0 - likely).mean(axis=1)
    by_count = np.column_stack([none, sums])
    return predictions, np.take_along_axis(by_count, counts[:, None], axis=1)[:, 0]


def _smallest_best(none: Array, sums: Array, fewest: int) -> Array:
    """The smallest of the best counts; `none` is the value of predicting nothing."""
    if fewest == 0:
        sums = np.column_stack([none, sums])
    best = sums.max(axis=1, keepdims=True)
    equal: Array = sums >= best - _TIE * np.abs(best)
    return np.asarray(equal.argmax(axis=1) + fewest)


def _expected_by_count(q: Floats, ratio: Ratio, first: int, last: int) -> Floats:
    """The expected F of the best k items, for each instance and each k from first to last."""
    counts, sizes = np.arange(first, last + 1), np.arange(1, q.shape[2] + 1)
    sums = np.zeros((len(q), len(counts)))
    if not len(counts):
        return sums
    times, weights = exponential_sum(first + ratio.b2, last + ratio.b2 * len(sizes))
    if len(times) * (len(sizes) + len(counts)) < len(sizes) * len(counts):
        q = q @ np.exp(np.outer(-ratio.b2 * sizes, times))

        def of_counts(some: Array) -> Floats:
            return np.asarray(ratio.scale * weights * np.exp(np.outer(-some, times)))

    else:

        def of_counts(some: Array) -> Floats:
            return ratio.scale / np.add.outer(some, ratio.b2 * sizes)

    by_size = q.transpose(0, 2, 1)
    for part in spans(len(counts), max(1, _BLOCK_CELLS // (len(q) * q.shape[1]))):
        gains = np.matmul(of_counts(counts[part]), by_size)
        _put_largest_last(gains, first + part.start)
        batch_kernels.sum_tails(gains, first + part.start, sums[:, part])
    return sums


def _put_largest_last(gains: Floats, first: int) -> None:
    """Move the k largest gains of each instance to the end, for k = first, first + 1, ..."""
    n_items = gains.shape[2]
    if n_items < _LONG:
        gains.sort(axis=2)
        return
    for row in range(min(gains.shape[1], n_items - first)):
        gains[:, row].partition(n_items - first - row, axis=1)
