"""One classifier: the exact best threshold without sorting all scores.

The scores are counted in buckets by their leading bits, positives and negatives separately. The
counts at the edges of buckets are exact, so the best edge is a floor under the optimum. Inside a
bucket no threshold can do better than to catch all of its positives and none of its negatives: a
ceiling. Only buckets whose ceiling reaches the floor are opened. Their rows, usually a few per
cent, are extracted and counted in finer buckets by their next bits, and so on until the remaining
rows are few enough to sort, or are in buckets of a single score.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.limits import limits
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.tuning.exact.buckets import (
    Buckets,
    Cut,
    OpenedBucket,
    Step,
    Whole,
    Window,
    bits_of,
    ends_of,
    find_buckets,
    from_top,
    keep_buckets,
    keys_of,
    least_of,
    lower_keys,
    raise_keys,
    ranks,
    scores_of,
    sum_type,
)
from halfmax.tuning.exact.kernels import (
    collect,
    count_buckets,
    count_finer,
    count_others,
    count_unweighted,
)

__all__ = ["ScoredRows", "Step", "Whole", "best_of_all", "best_step"]


_STEEPEST = 1e300  # buckets per unit of score
_RARE = 0.01  # share of rows; above it, hardly any group of rows is without one


class ScoredRows(NamedTuple):
    """Finite scores, truth (uint8) and weights of rows, and the counts above them."""

    scores: Array
    truth: Array
    weights: Array
    tp_above: Any = 0
    predicted_above: Any = 0


def best_step(rows: ScoredRows, whole: Whole) -> Step:
    """Find the best threshold, +inf included; the highest among equals."""
    none = Step(np.inf, 0, 0, float(whole.value(0, 0)))
    if not rows.truth.any():
        return none
    rows = rows._replace(scores=np.ascontiguousarray(rows.scores))
    ends = _ends(rows.scores)
    if ends[0] == -np.inf:
        return best_step(_pick(rows, np.flatnonzero(rows.scores > -np.inf), 0, 0), whole)
    found = _search(rows, whole, ends)
    return found if found.value > none.value else none


def best_of_all(rows: ScoredRows, whole: Whole) -> Step:
    """Find the best of all thresholds, for metrics whose best one need not be a positive's score.

    Every score is tried, and +inf; the highest among equals wins.
    """
    none = Step(np.inf, 0, 0, float(whole.value(0, 0)))
    rows = _pick(rows, np.flatnonzero(rows.scores > -np.inf), 0, 0)
    if not len(rows.scores):
        return none
    found = _search_sorted(rows, whole)
    return found if found.value > none.value else none


def _ends(scores: Array) -> Array:
    """Return the lowest and the highest score."""
    parts = map_blocks(lambda part: (scores[part].min(), scores[part].max()), _blocks(scores))
    lows, highs = zip(*parts, strict=True)
    return np.array([min(lows), max(highs)])


def _search(rows: ScoredRows, whole: Whole, ends: Array) -> Step:
    if len(rows.scores) <= limits.sorted_at_once:
        return _search_sorted(rows, whole)
    dtype, cut = rows.scores.dtype, _cut(rows, whole, ends)
    last = np.array([cut.size])
    buckets = from_top(_bucket_counts(rows, cut), last, (rows.tp_above, rows.predicted_above))
    chosen, floor = buckets.choose(whole, -np.inf)
    if cut.shift == 0:  # every bucket holds one score only
        return buckets.best(chosen, chosen + cut.base, whole, dtype)
    single, keys = _single_scores(rows, cut, ends, chosen)
    found = [buckets.best(single, keys, whole, dtype)]
    chosen = np.setdiff1d(chosen, single)
    if len(chosen):
        share = buckets.inside[chosen[0] : chosen[-1] + 1].sum() / buckets.inside.sum()
        opened = _open(rows, cut, _window(cut, ends, chosen, share), chosen)
        found += _search_opened(opened, buckets.take(chosen), whole, floor, dtype)
    return max(found, key=lambda step: (step.value, step.threshold))


def _cut(rows: ScoredRows, whole: Whole, ends: Array) -> Cut:
    """Choose the cut that would open the fewest rows of a sample, or few enough."""
    low, high = keys_of(ends).tolist()
    shift = max(0, (high - low).bit_length() - _resolution(len(rows.scores)))
    size, least = (high >> shift) - (low >> shift) + 1, int(least_of(ends.dtype))
    bits = Cut(size, least, shift, low >> shift)
    if shift == 0:
        return bits
    sample, expected = _sample(rows), {}
    for cut in (*_even_cuts(sample.scores, ends, bits, _resolution(len(rows.scores))), bits):
        expected[cut] = _expected_rows(sample, whole, cut)
        if expected[cut] < limits.few_expected:
            return cut
    return min(expected, key=lambda cut: expected[cut])


def _even_cuts(sample: Array, ends: Array, bits: Cut, resolution: int) -> Iterator[Cut]:
    """Yield even buckets over the full range, then over ranges without their tails."""
    tails = [len(sample) // tail for tail in limits.sample_tails]
    for start, stop in (ends, *(sample[[tail, -1 - tail]] for tail in tails)):
        width = float(stop) - float(start)
        if width > 0 and 0 < (scale := ((1 << resolution) - 1) / width) < _STEEPEST:
            clipped = start > ends[0] or stop < ends[1]
            even = bits._replace(size=1 << resolution, even=True, low=float(start), scale=scale)
            yield even._replace(clipped=bool(clipped))


def _sample(rows: ScoredRows) -> ScoredRows:
    """Return an evenly spaced sample of the rows, sorted by score."""
    step = len(rows.scores) // limits.bucket_sample + 1
    order = np.argsort(rows.scores[::step])
    return ScoredRows(*(part[::step][order] for part in rows[:3]))


def _expected_rows(sample: ScoredRows, whole: Whole, cut: Cut) -> float:
    """Estimate the rows of a sample that a cut would open.

    Large buckets and clipping add a little to the estimate.
    """
    bucket = np.unique(find_buckets(sample.scores, cut), return_inverse=True)[1]
    n_rows = np.bincount(bucket)
    heavy = sample.weights * (whole.total / max(sample.weights.sum(), 1))
    counts = np.stack([np.bincount(bucket, heavy * (sample.truth == k)) for k in (0, 1)], axis=1)
    chosen, _ = from_top(counts, np.array([len(counts)]), (0, 0)).choose(whole, -np.inf)
    expected = n_rows[chosen].sum() + 0.1 * (n_rows**2).sum() / len(bucket)
    return float(expected) * (1.25 if cut.clipped else 1.0)


def _search_opened(
    parts: list[OpenedBucket], buckets: Buckets, whole: Whole, floor: float, dtype: np.dtype[Any]
) -> list[Step]:
    """Find the best thresholds of opened buckets, including the best of all."""
    found = []
    while parts:
        low, high = ends_of(parts, len(buckets.hits))
        single = low == high
        found.append(buckets.best(np.flatnonzero(single), lower_keys(low[single]), whole, dtype))
        if single.any():
            others = np.flatnonzero(~single)
            parts = keep_buckets(parts, others, len(single))
            buckets, low, high = buckets.take(others), low[others], high[others]
        if sum(len(rows.keys) for rows in parts) <= limits.opened_sorted:
            break
        parts, buckets, floor = _refine(parts, buckets, (low, high), whole, floor)
    if parts:
        rows = OpenedBucket(*map(np.concatenate, zip(*parts, strict=True)))
        above = (part[rows.bucket] for part in buckets.above)
        scores = scores_of(lower_keys(rows.keys), dtype)
        found.append(_search_sorted(ScoredRows(scores, rows.truth, rows.weights, *above), whole))
    return found


def _refine(
    parts: list[OpenedBucket],
    buckets: Buckets,
    ends: tuple[Array, Array],
    whole: Whole,
    floor: float,
) -> tuple[list[OpenedBucket], Buckets, float]:
    """Cut opened buckets into finer ones, and open those that reach the floor."""
    low, high = ends
    span = high - low
    n_rows = sum(len(rows.keys) for rows in parts)
    most = max(1 << _resolution(n_rows), 2 * len(span))
    shift = int(span.max()).bit_length() - 1
    while shift > 0 and ((span >> (shift - 1)) + 1).sum() <= most:
        shift -= 1
    pieces = (span >> shift).astype(np.int64) + 1
    last = np.cumsum(pieces)
    first = last - pieces
    counts = np.zeros(2 * last[-1], sum_type(parts[0].weights))
    cut = []
    for rows in parts:
        bucket = np.empty_like(rows.bucket)
        heavy = rows.weights.astype(counts.dtype, copy=False)
        count_finer(*rows._replace(weights=heavy), low, first, shift, bucket, counts)
        cut.append(rows._replace(bucket=bucket))
    finer = from_top(counts.reshape(-1, 2), last, buckets.above)
    chosen, floor = finer.choose(whole, floor)
    return keep_buckets(cut, chosen, last[-1]), finer.take(chosen), floor


def _search_sorted(rows: ScoredRows, whole: Whole) -> Step:
    """Sweep the rows from the highest score down.

    Rows from several buckets come with the counts above the bucket of each.
    """
    order = np.argsort(rows.scores)[::-1]
    scores, weights = rows.scores[order], rows.weights[order]
    hits = weights * rows.truth[order]
    tp, predicted = np.cumsum(hits), np.cumsum(weights)
    if isinstance(rows.tp_above, np.ndarray):
        # The counts above a bucket are known: they replace the sums up to its first row.
        lift_tp, lift_predicted = rows.tp_above[order], rows.predicted_above[order]
        first = np.flatnonzero(np.append(True, np.diff(lift_predicted) != 0))
        length = np.diff(np.append(first, len(order)))
        tp += lift_tp - np.repeat(tp[first] - hits[first], length)
        predicted += lift_predicted - np.repeat(predicted[first] - weights[first], length)
    else:
        tp, predicted = tp + rows.tp_above, predicted + rows.predicted_above
    last_of_equals = np.append(scores[1:] != scores[:-1], True)
    tp, predicted = tp[last_of_equals], predicted[last_of_equals]
    value = whole.value(tp, predicted)
    best = int(np.argmax(value))
    threshold = float(scores[last_of_equals][best]) + 0.0  # never answer -0.0
    return Step(threshold, tp[best].item(), predicted[best].item(), value[best].item())


def _pick(rows: ScoredRows, places: Array, tp_above: Any, predicted_above: Any) -> ScoredRows:
    return ScoredRows(
        rows.scores[places],
        rows.truth[places],
        rows.weights[places],
        tp_above,
        predicted_above,
    )


def _bucket_counts(rows: ScoredRows, cut: Cut) -> Array:
    bits = bits_of(rows.scores)
    unweighted = rows.weights.strides[0] == 0 and rows.weights[0] == 1

    def count(part: slice) -> Array:
        counts = np.zeros(2 * cut.size, rows.weights.dtype)
        scores, truth = rows.scores[part], rows.truth[part]
        if unweighted:
            count_unweighted(scores, bits[part], truth, counts, *cut)
        else:
            count_buckets(scores, bits[part], truth, rows.weights[part], counts, *cut)
        return counts

    total = np.zeros(2 * cut.size, sum_type(rows.weights))
    for counts in map_blocks(count, _blocks(bits)):
        total += counts
    return total.reshape(-1, 2)


def _single_scores(rows: ScoredRows, cut: Cut, ends: Array, chosen: Array) -> tuple[Array, Array]:
    """Find chosen buckets in which all of many rows have one score, and return its key.

    The rows of such a bucket need not be extracted. Only buckets are checked in which a sample
    finds many rows, all with the same score.
    """
    sample = np.sort(rows.scores[:: len(rows.scores) // limits.bucket_sample + 1])
    bucket, first, size = np.unique(
        find_buckets(sample, cut), return_index=True, return_counts=True
    )
    alike = (sample[first] == sample[first + size - 1]) & (size >= limits.alike_rows)
    alike &= np.isin(bucket, chosen)
    usual, bucket = sample[first[alike]], bucket[alike]
    if not len(bucket):
        return bucket, bucket
    bits, rank = bits_of(rows.scores), ranks(bucket, cut.size)
    window = _window(cut, ends, bucket, 1.0)

    def count(part: slice) -> Array:
        others = np.zeros(len(bucket), np.int64)
        count_others(rows.scores[part], bits[part], *window, rank, usual, others, *cut)
        return others

    single = sum(map_blocks(count, _blocks(bits))) == 0
    return bucket[single], keys_of(usual[single])


def _open(rows: ScoredRows, cut: Cut, window: Window, chosen: Array) -> list[OpenedBucket]:
    """Extract the rows of the chosen buckets."""
    bits, rank = bits_of(rows.scores), ranks(chosen, cut.size)

    def take_out(part: slice) -> OpenedBucket:
        size = part.stop - part.start + 1
        taken = OpenedBucket(
            keys=np.empty(size, np.int64),
            truth=np.empty(size, np.uint8),
            weights=np.empty(size, rows.weights.dtype),
            bucket=np.empty(size, np.int32),
        )
        n_taken = collect(
            rows.scores[part],
            bits[part],
            rows.truth[part],
            rows.weights[part],
            *window,
            rank,
            taken.keys,
            taken.truth,
            taken.weights,
            taken.bucket,
            *cut,
        )
        found = taken.take(slice(n_taken))
        return found._replace(keys=raise_keys(found.keys))

    return [part for part in map_blocks(take_out, _blocks(bits)) if len(part.keys)]


def _window(cut: Cut, ends: Array, chosen: Array, share: float) -> Window:
    """Return a narrow range of scores that contains all of the chosen buckets."""
    if not cut.even:
        edges = (np.array([chosen[0], chosen[-1] + 1]) + cut.base << cut.shift) - [0, 1]
        low, high = scores_of(np.clip(edges, *keys_of(ends)), ends.dtype)
        return Window(low, high, share < _RARE)
    low, high = ends
    with np.errstate(over="ignore"):  # two extra buckets, for rounding, may overflow
        edges = cut.low + np.array([chosen[0] - 2, chosen[-1] + 3]) / cut.scale
        if chosen[0] > 0:
            low = np.nextafter(edges[0].astype(ends.dtype), -np.inf)
        if chosen[-1] < cut.size - 1:
            high = np.nextafter(edges[1].astype(ends.dtype), np.inf)
    return Window(low, high, share < _RARE)


def _resolution(n_rows: int) -> int:
    """Return the number of bits for buckets: few rows need fewer buckets."""
    return min(limits.bucket_bits, max(1, n_rows.bit_length() - 4))


def _blocks(rows: Array) -> list[slice]:
    return spans(len(rows), max(limits.bucket_block_rows, len(rows) // 8 + 1))
