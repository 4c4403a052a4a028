"""One classifier: the exact best threshold without sorting its scores.

The scores are counted into buckets by their leading bits, positives and negatives apart. The counts
at the edges of buckets are exact, so the best edge is a floor under the optimum. Inside a bucket no
threshold can do better than to catch all of its positives and none of its negatives: a ceiling.
Only buckets whose ceiling reaches the floor are opened and sorted, as a rule a few in a hundred.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._jit import kernel
from halfmax._threads import map_blocks, spans
from halfmax.metrics import Objective

Array = npt.NDArray[Any]

_BUCKET_BITS = 16
_BLOCK = 1 << 20
_SORTED_AT_ONCE = 1 << 15
_BUCKET_SORTED = 1 << 17  # a bucket with more rows than this is cut into finer buckets instead
_SLACK = 1e-12  # the rounding of weights must not close a bucket


class Step(NamedTuple):
    """A threshold, the counts that it gives, and what it is worth."""

    threshold: float
    true_positives: float
    predicted: float
    worth: float


_NOTHING = Step(np.inf, 0, 0, -np.inf)


class Rows(NamedTuple):
    """Finite scores, truth (uint8) and weights of rows, and the counts that lie above them."""

    scores: Array
    truth: Array
    weights: Array
    tp_above: float = 0
    predicted_above: float = 0


class Whole(NamedTuple):
    """What does not change with the threshold."""

    objective: Objective
    positives: float
    total: float

    def worth(self, tp: Any, predicted: Any) -> Array:
        """The objective, with 0/0 that counts for nothing below everything else."""
        values = self.objective(tp, predicted, self.positives, self.total)
        return np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf)


@kernel
def _count_buckets(
    bits: Array,
    truth: Array,
    weights: Array,
    least: int,
    shift: int,
    base: int,
    counts: Array,
) -> None:
    """Count by bucket and class.

    Floats store sign and magnitude, so as integers the negative ones run backwards; `least` minus
    the value turns them round and makes -0.0 the same as 0.0. `_collect` does likewise. An unsigned
    flat index spares the test for negative ones, a fifth of the time.
    """
    for i in range(bits.size):
        key = bits[i] if bits[i] >= 0 else least - bits[i]
        counts[np.uint64(2 * ((key >> shift) - base) + truth[i])] += weights[i]


@kernel
def _collect(bits: Array, least: int, shift: int, base: int, opened: Array, places: Array) -> int:
    """The places of the rows in opened buckets."""
    found = 0
    for i in range(bits.size):
        key = bits[i] if bits[i] >= 0 else least - bits[i]
        if opened[np.uint64((key >> shift) - base)]:
            places[found] = i
            found += 1
    return found


def best_step(rows: Rows, whole: Whole) -> Step:
    """The best threshold of all, predicting nobody included; the highest among equals."""
    nobody = Step(np.inf, 0, 0, float(whole.worth(0, 0)))
    if not rows.truth.any():
        return nobody
    ends = _ends(rows.scores)
    if ends[0] == -np.inf:
        return best_step(_pick(rows, np.flatnonzero(rows.scores > -np.inf), 0, 0), whole)
    found = _search(rows, whole, ends)
    return found if found.worth > nobody.worth else nobody


def _ends(scores: Array) -> Array:
    """The lowest and the highest score."""
    parts = map_blocks(lambda part: (scores[part].min(), scores[part].max()), _blocks(scores))
    lows, highs = zip(*parts, strict=True)
    return np.array([min(lows), max(highs)])


def _search(rows: Rows, whole: Whole, ends: Array) -> Step:
    if len(rows.scores) <= _SORTED_AT_ONCE:
        return _search_sorted(rows, whole)
    bits = rows.scores.view(np.int32 if rows.scores.dtype == np.float32 else np.int64)
    low, high = _keys(ends).tolist()
    resolution = min(
        _BUCKET_BITS, max(1, len(bits).bit_length() - 4)
    )  # no more buckets than rows need
    shift = max(0, (high - low).bit_length() - resolution)
    cut = (_least(bits), np.int64(shift), np.int64(low >> shift))
    counts = _bucket_counts(rows, bits, cut, (high >> shift) - (low >> shift) + 1)
    hits = counts[:, 1]
    inside = counts.sum(axis=1)
    tp = rows.tp_above + _from_top(hits)
    predicted = rows.predicted_above + _from_top(inside)
    with_hits = np.flatnonzero(hits)[::-1]  # from the top; the edge of any other is no better
    if not len(with_hits):
        return _NOTHING
    edges = whole.worth(tp[with_hits], predicted[with_hits])
    if shift == 0:  # every bucket holds one score only, so its edge is a threshold
        best = int(with_hits[np.argmax(edges)])
        threshold = _score_of(low + best, bits, rows.scores.dtype)
        return Step(threshold, tp[best].item(), predicted[best].item(), float(edges.max()))
    ceiling = whole.worth(tp[with_hits], (predicted - inside + hits)[with_hits])
    floor = edges.max() - _SLACK * max(1.0, abs(edges.max()))
    opened = np.zeros(len(hits), np.bool_)
    opened[with_hits[ceiling >= floor]] = True
    places = _places(bits, cut, opened)
    bucket = (_keys(rows.scores[places]) >> shift) - cut[2]
    above = np.stack([tp - hits, predicted - inside], axis=1)
    return _search_opened(rows, places, bucket, above, whole)


def _search_opened(rows: Rows, places: Array, bucket: Array, above: Array, whole: Whole) -> Step:
    """Sort what opened buckets hold; cut a bucket that holds too much into finer ones."""
    crowded = np.bincount(bucket, minlength=len(above)) > _BUCKET_SORTED
    found = []
    in_crowd = np.flatnonzero(crowded[bucket])
    in_crowd = in_crowd[np.argsort(bucket[in_crowd], kind="stable")]
    ends = np.flatnonzero(np.diff(bucket[in_crowd])) + 1
    for crowd in np.split(in_crowd, ends) if len(in_crowd) else ():
        part = _pick(rows, places[crowd], *above[bucket[crowd[0]]].tolist())
        found.append(_search(part, whole, _ends(part.scores)))
    rest = ~crowded[bucket]
    if rest.any():
        lift = above[bucket[rest]]
        found.append(_search_sorted(_pick(rows, places[rest], lift[:, 0], lift[:, 1]), whole))
    return max(found, key=lambda step: (step.worth, step.threshold), default=_NOTHING)


def _search_sorted(rows: Rows, whole: Whole) -> Step:
    """Sweep the rows from the highest score down.

    Rows from several buckets come with the counts above the bucket of each.
    """
    order = np.argsort(rows.scores)[::-1]
    scores, weights = rows.scores[order], rows.weights[order]
    hits = weights * rows.truth[order]
    tp, predicted = np.cumsum(hits), np.cumsum(weights)
    if isinstance(rows.tp_above, np.ndarray):
        # What lies above a bucket is known: replace what was summed above its first row.
        lift_tp, lift_predicted = rows.tp_above[order], rows.predicted_above[order]
        first = np.flatnonzero(np.append(True, np.diff(lift_predicted) != 0))
        length = np.diff(np.append(first, len(order)))
        tp += lift_tp - np.repeat(tp[first] - hits[first], length)
        predicted += lift_predicted - np.repeat(predicted[first] - weights[first], length)
    else:
        tp, predicted = tp + rows.tp_above, predicted + rows.predicted_above
    last_of_equals = np.append(scores[1:] != scores[:-1], True)
    tp, predicted = tp[last_of_equals], predicted[last_of_equals]
    worth = whole.worth(tp, predicted)
    best = int(np.argmax(worth))
    threshold = float(scores[last_of_equals][best]) + 0.0  # no -0.0 in an answer
    return Step(threshold, tp[best].item(), predicted[best].item(), worth[best].item())


def _pick(rows: Rows, places: Array, tp_above: Any, predicted_above: Any) -> Rows:
    return Rows(
        rows.scores[places],
        rows.truth[places],
        rows.weights[places],
        tp_above,
        predicted_above,
    )


def _bucket_counts(rows: Rows, bits: Array, cut: tuple[Any, Any, Any], size: int) -> Array:
    def count(part: slice) -> Array:
        counts = np.zeros(2 * size, rows.weights.dtype)
        _count_buckets(bits[part], rows.truth[part], rows.weights[part], *cut, counts)
        return counts

    total = np.zeros(2 * size, np.float64 if rows.weights.dtype.kind == "f" else np.int64)
    for counts in map_blocks(count, _blocks(bits)):
        total += counts
    return total.reshape(-1, 2)


def _places(bits: Array, cut: tuple[Any, Any, Any], opened: Array) -> Array:
    def collect(part: slice) -> Array:
        places = np.empty(part.stop - part.start + 1, np.int32)
        found = _collect(bits[part], *cut, opened, places)
        collected: Array = places[:found] + np.int64(part.start)
        return collected

    return np.concatenate(list(map_blocks(collect, _blocks(bits))))


def _blocks(rows: Array) -> list[slice]:
    return spans(len(rows), max(_BLOCK, len(rows) // 8 + 1))


def _from_top(counts: Array) -> Array:
    from_top: Array = np.cumsum(counts[::-1])[::-1]
    return from_top


def _least(bits: Array) -> np.int64:
    return np.int64(np.iinfo(bits.dtype).min)


def _keys(scores: Array) -> Array:
    """Integers in the order of the floats; see `_count_buckets`."""
    bits: Array = scores.view(np.int32 if scores.dtype == np.float32 else np.int64)
    return np.where(bits >= 0, bits.astype(np.int64), _least(bits) - bits.astype(np.int64))


def _score_of(key: int, bits: Array, dtype: np.dtype[Any]) -> float:
    value = key if key >= 0 else int(_least(bits)) - key
    return float(np.array(value, bits.dtype).view(dtype)) + 0.0
