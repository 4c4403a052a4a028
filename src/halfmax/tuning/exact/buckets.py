"""Buckets of scores: how they are counted, opened and cut into finer ones.

Scores are handled as keys, which are integers in the same order; a bucket is a range of keys.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.tuning.exact.kernels import fill_buckets, find_ends

_TOP = np.uint64(1 << 63)
_SLACK = 1e-12  # so that the rounding of weights does not close a bucket


class Step(NamedTuple):
    """A threshold, its counts, and its value."""

    threshold: float
    true_positives: float
    predicted: float
    value: float


NOTHING = Step(np.inf, 0, 0, -np.inf)


class Whole(NamedTuple):
    """The objective, and the counts that do not depend on the threshold."""

    objective: Objective
    positives: float
    total: float

    def value(self, tp: Any, predicted: Any) -> Array:
        """Return the objective at these counts, -inf for NaN (0/0 left out)."""
        values = self.objective(tp, predicted, self.positives, self.total)
        return np.nan_to_num(values, nan=-np.inf, posinf=np.inf, neginf=-np.inf)

    def ceiling(self, tp: Any, predicted: Any, above: Any) -> Array:
        """Return a bound on the objective of thresholds that predict more rows than `above`.

        They reach at most `tp` and predict at least as many rows as `predicted`, if `tp` is
        reached. A cap may rule that out, but not a threshold with fewer hits.
        """
        cap = self.objective.restrictions.cap
        if cap is None:
            return self.value(tp, predicted)
        values = self._replace(objective=self.objective.uncapped).value(tp, predicted)
        return np.where(above < cap.rows_of(np.asarray(self.total)), values, -np.inf)


class Cut(NamedTuple):
    """How scores are cut into `size` buckets: evenly, or by the leading bits of their keys.

    Either way a higher score is never in a lower bucket. Even buckets begin at `low`; if they are
    clipped, the lowest and the highest bucket also contain the outliers beyond them. Leading bits
    suit scores of many orders of magnitude.
    """

    size: int
    least: int
    shift: int
    base: int
    even: bool = False
    low: float = 0.0
    scale: float = 0.0
    clipped: bool = False


class Window(NamedTuple):
    """The range of scores that contains all opened buckets, and whether few rows are in it."""

    low: Any
    high: Any
    rare: bool


class Buckets(NamedTuple):
    """Counts of buckets, ordered from low to high scores: inside each, and at its lower edge.

    `hits` and `inside` are the positives and rows inside a bucket; `tp` and `predicted` are those
    at or above its lower edge.
    """

    hits: Array
    inside: Array
    tp: Array
    predicted: Array

    def choose(self, whole: Whole, floor: float) -> tuple[Array, float]:
        """Return the buckets that may contain a threshold as good as the floor, and a new floor."""
        with_hits = np.flatnonzero(self.hits)  # no other bucket has a better edge
        if not len(with_hits):
            return with_hits, floor
        edge = whole.value(self.tp[with_hits], self.predicted[with_hits]).max()
        floor = max(floor, edge - _SLACK * max(1.0, abs(edge)))
        above = (self.predicted - self.inside)[with_hits]
        ceiling = whole.ceiling(self.tp[with_hits], above + self.hits[with_hits], above)
        return with_hits[(ceiling >= floor) & (ceiling > -np.inf)], floor

    def best(self, chosen: Array, keys: Array, whole: Whole, dtype: np.dtype[Any]) -> Step:
        """Return the best edge of buckets with one score each, the highest among equals."""
        if not len(chosen):
            return NOTHING
        value = whole.value(self.tp[chosen], self.predicted[chosen])
        best = len(chosen) - 1 - int(np.argmax(value[::-1]))
        return Step(
            float(scores_of(keys[best : best + 1], dtype)[0]),
            self.tp[chosen[best]].item(),
            self.predicted[chosen[best]].item(),
            value[best].item(),
        )

    @property
    def above(self) -> tuple[Array, Array]:
        """True positives and predictions above each bucket."""
        return self.tp - self.hits, self.predicted - self.inside

    def take(self, chosen: Array) -> "Buckets":
        """Keep some of the buckets."""
        return Buckets(*(part[chosen] for part in self))


class OpenedBucket(NamedTuple):
    """Rows of opened buckets: their raised keys, truth and weights, and the bucket of each."""

    keys: Array
    truth: Array
    weights: Array
    bucket: Array

    def take(self, rows: Array | slice) -> "OpenedBucket":
        """Keep some of the rows."""
        return OpenedBucket(*(part[rows] for part in self))


def from_top(counts: Array, last: Array, above: tuple[Any, Any]) -> Buckets:
    """Cumulate counts from the top of each group of buckets, starting with the counts above it.

    Groups are consecutive; `last` is where each ends.
    """
    hits, inside = counts[:, 1], counts.sum(axis=1)
    size = np.diff(last, prepend=0)

    def add_up(part: Array, lift: Any) -> Array:
        falling = np.append(np.cumsum(part[::-1])[::-1], 0)
        total: Array = falling[:-1] + np.repeat(lift - falling[last], size)
        return total

    return Buckets(hits, inside, add_up(hits, above[0]), add_up(inside, above[1]))


def find_buckets(scores: Array, cut: Cut) -> Array:
    """Return the bucket of each score."""
    found = np.empty(len(scores), np.int64)
    fill_buckets(scores, bits_of(scores), found, *cut)
    return found


def keep_buckets(parts: Sequence[OpenedBucket], chosen: Array, size: int) -> list[OpenedBucket]:
    """Keep the rows of the chosen buckets, and renumber these."""
    rank, kept = ranks(chosen, size), []
    for rows in parts:
        bucket = rank[rows.bucket]
        inside = np.flatnonzero(bucket >= 0)
        if len(inside):
            kept.append(rows._replace(bucket=bucket).take(inside))
    return kept


def ends_of(parts: Sequence[OpenedBucket], n_buckets: int) -> tuple[Array, Array]:
    """Return the lowest and the highest key of each bucket."""
    low = np.full(n_buckets, np.iinfo(np.uint64).max)
    high = np.zeros(n_buckets, np.uint64)
    for rows in parts:
        find_ends(rows.keys, rows.bucket, low, high)
    return low, high


def ranks(chosen: Array, size: int) -> Array:
    """Return the position of each bucket among the chosen ones, or -1."""
    rank = np.full(size, -1, np.int32)
    rank[chosen] = np.arange(len(chosen))
    return rank


def sum_type(weights: Array) -> type[np.generic]:
    """Return the type for sums of such weights."""
    return np.float64 if weights.dtype.kind == "f" else np.int64


def bits_of(scores: Array) -> Array:
    """View floats as integers, which are not in the same order."""
    return scores.view(np.int32 if scores.dtype == np.float32 else np.int64)


def least_of(dtype: np.dtype[Any]) -> np.int64:
    """Return the bits of -0.0, the least integer of this size."""
    return np.int64(np.iinfo(np.int32 if dtype == np.float32 else np.int64).min)


def keys_of(scores: Array) -> Array:
    """Map floats to integers of the same order; those of negative ones are in reverse."""
    bits = bits_of(scores).astype(np.int64)
    return np.where(bits >= 0, bits, least_of(scores.dtype) - bits)


def raise_keys(keys: Array) -> Array:
    """Map keys to unsigned integers of the same order, whose differences never overflow."""
    raised: Array = keys.view(np.uint64) ^ _TOP
    return raised


def lower_keys(raised: Array) -> Array:
    """Undo `raise_keys`."""
    keys: Array = (raised ^ _TOP).view(np.int64)
    return keys


def scores_of(keys: Array, dtype: np.dtype[Any]) -> Array:
    """Map keys back to floats; 0.0 has no sign."""
    bits = np.where(keys >= 0, keys, least_of(dtype) - keys)
    scores: Array = bits.astype(np.int32 if dtype == np.float32 else np.int64).view(dtype)
    return scores
