"""The values that flow through `best_counts`: batches, what is asked, what is found."""

from typing import NamedTuple

from halfmax._core.types import Array
from halfmax.expected.ratio import Ratio


class Batches(NamedTuple):
    """Probabilities of all batches, one after another, rising within each; zeros may be absent."""

    rising: Array
    edges: Array
    n_items: int


class CountRule(NamedTuple):
    """The metric to maximise, and the fewest and most items to predict in each batch."""

    ratio: Ratio
    zero_division: float
    min_k: Array
    max_k: Array


class BestCounts(NamedTuple):
    """For each batch: the best count, its expected metric, and the same for the plug-in rule."""

    counts: Array
    values: Array
    thresholds: Array  # the lowest probability predicted, +inf if no item is
    at_threshold: Array  # how many of the predicted items are equal to the threshold
    half_thresholds: Array
    half_counts: Array
    half_values: Array


class Stretches(NamedTuple):
    """What is known about each batch, and its first and last candidate count (0 if none)."""

    ends: Array  # where the batch ends in `rising`
    sizes: Array  # how many items can be true
    means: Array  # how many items are expected to be true
    nothing: Array  # the expected metric of predicting nothing
    lifts: Array  # the factor that scales subnormal probabilities up to numbers with full digits
    first: Array
    last: Array
