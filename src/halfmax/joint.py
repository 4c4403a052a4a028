"""Items that depend on each other: the general F-maximiser.

All that expected F asks of a joint distribution is ``q[i, s-1]``, the probability that item i is
true and s items are. When k items are predicted, item i adds

    gain[i, k]  =  sum over s of  q[i, s-1] * (1 + b2) / (k + b2 s),

so the best k items are those with the k largest gains. As ``1 / (k + b2 s)`` is a short sum of
products ``exp(-k t) * exp(-b2 s t)``, all gains need no matrix product of three long sides.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax import _inputs, _options
from halfmax._jit import summing_kernel
from halfmax._progress import Progress, Wanted
from halfmax._threads import spans
from halfmax.expected import CELLS, FOUND, SHARE, UNION, F, Ratio, find_ratio
from halfmax.metrics import Metric, find_metric
from halfmax.reciprocal import exponential_sum

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

_SHAPES = {2: "items x sizes", 3: "instances x items x sizes"}
_TIE = 1e-12  # relative; sums of this length are rounded by less
_ROUNDING = 1e-6  # how far estimates of probabilities may miss their sums
_BLOCK_CELLS = 1 << 21
_LONG = 1024  # from here on finding the largest of a row is faster than sorting it, call by call


class Joint(NamedTuple):
    """``q[i, s-1]``: item i is true, and s items are; `p_empty`: none is. Or one of each apiece."""

    q: Floats
    p_empty: Any


@dataclass(frozen=True, eq=False)
class JointDecision:
    """Predictions that maximise the expected metric of each instance.

    Attributes
    ----------
    predictions : ndarray of int8, (items,) or (instances, items)
    expected_score : float
        The mean of `expected_scores`.
    expected_scores, counts : ndarray, one for each instance
        The expected metric, and how many items are predicted.
    metric : str
        What was maximised.
    """

    predictions: npt.NDArray[np.int8]
    expected_score: float
    expected_scores: Floats
    counts: npt.NDArray[np.int64]
    metric: str


@summing_kernel
def _sum_tails(gains: Array, first: int, out: Array) -> None:
    """For each instance the sum of the last k gains, at k = first, first + 1, ..."""
    for b in range(gains.shape[0]):
        for row in range(gains.shape[1]):
            for i in range(gains.shape[2] - first - row, gains.shape[2]):
                out[b, row] += gains[b, row, i]


@summing_kernel
def _weigh(q: Array, weights: Array) -> Array:
    """Weighted sums of the rows, each in the same order, so that equal items stay equal."""
    sums = np.zeros(q.shape[0])
    for i in range(q.shape[0]):
        for s in range(q.shape[1]):
            sums[i] += q[i, s] * weights[s]
    return sums


def decide_joint(
    q: Any,
    p_empty: Any,
    metric: str | Metric = "f1",
    *,
    zero_division: float = 0.0,
    min_k: int = 0,
    max_k: int | None = None,
    progress: Wanted = None,
) -> JointDecision:
    """The predictions with the highest expected metric for items that depend on each other.

    Exact over all sets of items, whatever the dependence.

    Parameters
    ----------
    q : items x sizes, or instances x items x sizes
        ``q[i, s-1]`` is the probability that item i is true and exactly s items are; sizes that
        cannot occur may be left off at the end. `joint_from_samples` estimates it.
    p_empty : float, or one for each instance
        The probability that no item is true.
    metric : str or Metric
        Any ``"f<beta>"`` or `FBeta`, ``"precision"``, ``"recall"`` or ``"accuracy"``.
    zero_division : float
        What 0/0 earns, 0 to 1: predicting nothing when nothing is true has that F.
    min_k, max_k : int
        Predict at least and at most so many items.
    progress
        ``True`` for a line on stderr, or a function that is told ``(done, total)`` in instances.

    Examples
    --------
    Two labels that come together half of the time, and a third that comes instead of them:

    >>> q, p_empty = joint_from_samples([[1, 1, 0], [0, 0, 1]])
    >>> q.tolist()
    [[0.0, 0.5, 0.0], [0.0, 0.5, 0.0], [0.5, 0.0, 0.0]]
    >>> d = decide_joint(q, p_empty)
    >>> d.predictions.tolist(), round(d.expected_score, 4)
    ([1, 1, 1], 0.65)
    """
    found = find_metric(metric)
    ratio = _find_linear(found)
    zero_division = _options.check_share_known("zero_division", zero_division)
    joint, one = _open_joint(q, p_empty)
    n_instances, n_items, _ = joint.q.shape
    fewest, most = (int(limit[0]) for limit in _options.check_limits(min_k, max_k, (1, n_items)))
    maximise = _maximise_f if ratio.kind == F else _maximise_sum
    predictions, scores = np.empty((n_instances, n_items), np.int8), np.empty(n_instances)
    with Progress(progress, "decide_joint: {} instances", n_instances) as told:
        for part in spans(n_instances, max(1, _BLOCK_CELLS // (n_items * n_items))):
            block = Joint(joint.q[part], joint.p_empty[part])
            predictions[part], scores[part] = maximise(block, ratio, zero_division, fewest, most)
            told.advance(len(block.q))
    return JointDecision(
        predictions=predictions[0] if one else predictions,
        expected_score=float(scores.mean()),
        expected_scores=scores,
        counts=predictions.sum(axis=1, dtype=np.int64),
        metric=found.name,
    )


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
    if isinstance(draws, np.ndarray) and draws.ndim == 3:
        if not len(draws):
            raise ValueError(f"draws must not be empty; got shape {draws.shape}")
        parts = [joint_from_samples(one, sample_weight, max_size) for one in draws]
        q, p_empty = (np.stack(side) for side in zip(*parts, strict=True))
        return Joint(q, p_empty)
    matrix = _inputs.open_matrix(draws, "draws")
    if matrix.values.ndim != 2:
        raise ValueError(f"draws must be draws x items; got shape {matrix.values.shape}")
    n_draws, n_items = matrix.values.shape
    ones = _inputs.check_binary(matrix, "draws")
    weights = _inputs.check_weights(sample_weight, n_draws)
    shares = np.full(n_draws, 1.0 / n_draws) if weights is None else weights / weights.sum()
    sizes = np.diff(ones.indptr)
    kept = n_items if max_size is None else _check_max_size(max_size, int(sizes.max()), n_items)
    cell = ones.indices.astype(np.int64) * kept + np.repeat(sizes - 1, sizes)
    frequency = np.bincount(cell, np.repeat(shares, sizes), minlength=n_items * kept)
    q = frequency.astype(np.float64, copy=False).reshape(n_items, kept)
    return Joint(q, float(shares[sizes == 0].sum()))


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


def _find_linear(metric: Metric) -> Ratio:
    ratio = find_ratio(metric)
    if ratio.kind == UNION:
        raise ValueError(
            "metric 'jaccard' of dependent items asks for more than q holds, the number of hits "
            "together with the size; use any 'f<beta>', 'precision', 'recall' or 'accuracy'"
        )
    return ratio


def _open_joint(q: Any, p_empty: Any) -> tuple[Joint, bool]:
    """Instances x items x sizes that occur, and whether only one instance was given."""
    values = _inputs.open_matrix(
        q, "q", {2: "items x sizes", 3: "instances x items x sizes"}
    ).values
    one = values.ndim == 2
    values = values if isinstance(values, np.ndarray) else values.toarray()
    q = np.ascontiguousarray(values[None] if one else values, np.float64)
    if q.shape[2] > q.shape[1]:
        raise ValueError(
            f"q must not have more sizes than items; got {q.shape[1]} items and {q.shape[2]} sizes"
        )
    none = _inputs.open_matrix(p_empty, "p_empty", {0: "one instance", 1: "instances"}).values
    none = np.atleast_1d(none).astype(np.float64)
    if none.shape != q.shape[:1]:
        raise ValueError(
            f"p_empty must be one probability for each of the {len(q)} instances; "
            f"got shape {np.shape(p_empty)}"
        )
    _check_joint(q, none, one)
    used = max(1, int(np.flatnonzero(q.any(axis=(0, 1))).max(initial=0)) + 1)
    return Joint(np.ascontiguousarray(q[:, :, :used]), none), one


def _check_joint(q: Floats, p_empty: Floats, one: bool) -> None:
    """What characterises such a q: no entry above the chance of its size, and chances that add up.

    Any vector of s in sum, each entry from 0 to 1, is a mixture of sets of s items, so nothing else
    needs to hold.
    """
    if not q.min() >= 0.0:  # NaN as well
        place = tuple(int(i) for i in np.argwhere(~(q >= 0.0))[0])
        where = ", ".join(map(str, place[one:]))
        raise ValueError(f"q must hold probabilities, none negative; q[{where}] is {q[place]}")
    if not ((p_empty >= 0.0) & (p_empty <= 1.0)).all():
        raise ValueError(f"p_empty must be from 0 to 1; got {p_empty if not one else p_empty[0]}")
    chances = q.sum(axis=1) / np.arange(1, q.shape[2] + 1)
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
    total = p_empty + chances.sum(axis=1)
    wrong = ~(np.abs(total - 1.0) <= _ROUNDING)
    if wrong.any():
        b = int(np.flatnonzero(wrong)[0])
        raise ValueError(
            "q must be a joint distribution: p_empty and the probabilities of all sizes must add "
            f"up to 1{'' if one else f' in instance {b}'}; they make {total[b]:.6g}"
        )


def _maximise_f(
    joint: Joint, ratio: Ratio, zero_division: float, fewest: int, most: int
) -> tuple[Array, Floats]:
    """Predictions and what is expected of them."""
    sums = _expected_by_count(joint.q, ratio, max(fewest, 1), most)
    scores, sizes = zero_division * joint.p_empty, np.arange(1, joint.q.shape[2] + 1)
    predictions = np.zeros(joint.q.shape[:2], np.int8)
    for b, k in enumerate(_smallest_best(scores, sums, fewest)):
        if k:
            gains = _weigh(joint.q[b], ratio.scale / (k + ratio.b2 * sizes))
            best = np.argsort(-gains, kind="stable")[:k]
            predictions[b, best] = 1
            scores[b] = gains[best].sum()
    return predictions, scores


def _maximise_sum(
    joint: Joint, ratio: Ratio, zero_division: float, fewest: int, most: int
) -> tuple[Array, Floats]:
    """The same for metrics whose gains do not depend on how many items are predicted."""
    n_items, likely = joint.q.shape[1], joint.q.sum(axis=2)
    none = always = zero_division * joint.p_empty
    if ratio.kind == FOUND:
        gains = (joint.q / np.arange(1, joint.q.shape[2] + 1)).sum(axis=2)
    elif ratio.kind == SHARE:
        gains, none, always = likely, np.full(len(likely), zero_division), np.zeros(len(likely))
    else:
        gains, none, always = 2.0 * likely - 1.0, np.zeros(len(likely)), np.zeros(len(likely))
    order = np.argsort(-gains, axis=1, kind="stable")
    sums = np.take_along_axis(gains, order, axis=1).cumsum(axis=1)
    if ratio.kind == SHARE:
        sums /= np.arange(1, n_items + 1)
    sums += always[:, None]
    counts = _smallest_best(none, sums[:, max(fewest, 1) - 1 : most], fewest)
    rank = np.argsort(order, axis=1)
    predictions = (rank < counts[:, None]).astype(np.int8)
    if ratio.kind == CELLS:
        return predictions, np.where(predictions, likely, 1.0 - likely).mean(axis=1)
    worth = np.column_stack([none, sums])
    return predictions, np.take_along_axis(worth, counts[:, None], axis=1)[:, 0]


def _smallest_best(none: Array, sums: Array, fewest: int) -> Array:
    """The smallest of the best counts, given what nothing and what each count is worth."""
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
        _sum_tails(gains, first + part.start, sums[:, part])
    return sums


def _put_largest_last(gains: Floats, first: int) -> None:
    """Move the k largest gains of each instance to the end, at k = first, first + 1, ..."""
    n_items = gains.shape[2]
    if n_items < _LONG:
        gains.sort(axis=2)
        return
    for row in range(min(gains.shape[1], n_items - first)):
        gains[:, row].partition(n_items - first - row, axis=1)
