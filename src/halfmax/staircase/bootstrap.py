"""The Poisson bootstrap on a staircase: which step would be best if the rows were drawn again.

Each row gets a random weight, Poisson with mean 1. So the positives of a step weigh a Poisson
number whose mean is their count, as do the negatives between two steps, and single rows need not
be drawn. Nor need every step: a label's steps are cut into blocks, and for each block only the
sums of its weights are drawn, which are Poisson too. The objective at the end of a block is a
floor. If all hits of a block came first and all its false positives last, the objective between
them would be a ceiling. Only blocks whose ceiling reaches the floor are halved, until single steps
are left; given the weight of a block, the weight of its half is binomial. Nothing is approximated.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.limits import limits
from halfmax._core.types import Array
from halfmax.staircase.staircase import NO_STEP, Staircase, ValueOfCounts, without_nan

_DIGITS = 9  # kept of weighted numbers of rows


class Steps(NamedTuple):
    """The steps of some labels, label after label, as numbers of rows.

    ``hits[k]`` and ``negatives[k]`` are the positives and negatives before step k, cumulated over
    all these labels, so that differences give the counts of any block. With weights, numbers of
    rows need not be whole.
    """

    offsets: Array
    hits: Array
    negatives: Array
    other_hits: Array  # the positives of each label below its last step
    other_negatives: Array  # the negatives of each label below its last step

    @classmethod
    def of(cls, stairs: Staircase, labels: Array) -> "Steps":
        """Take the steps of these labels, each of which must have at least one."""
        sizes = np.diff(stairs.grid.offsets)[labels]
        offsets = np.append(0, np.cumsum(sizes))
        step = np.arange(offsets[-1]) + np.repeat(stairs.grid.offsets[labels] - offsets[:-1], sizes)
        tp, predicted = stairs.true_positives[step], stairs.predicted[step]
        last = offsets[1:] - 1
        negatives = stairs.total[labels] - stairs.positives[labels]
        return cls(
            offsets,
            _through(tp, offsets),
            _through(predicted - tp, offsets),
            _number(stairs.positives[labels] - tp[last]),
            _number(negatives - (predicted - tp)[last]),
        )


def _number(differences: Array) -> Array:
    """Remove rounding errors from differences of sums of weights.

    Poisson draws with mean 0 and with mean nearly 0 consume different amounts of random numbers.
    """
    return np.maximum(np.round(differences, _DIGITS), 0)


def _through(counts: Array, offsets: Array) -> Array:
    """Cumulate counts that restart with each label over all labels, starting from 0."""
    before = np.append(0, np.cumsum(counts[offsets[1:] - 1]))[:-1]
    return np.append(0, counts + np.repeat(before, np.diff(offsets)))


class Replicates(NamedTuple):
    """The best step and its value, for each replicate (rows) and label (columns).

    Steps of a label are numbered from 0; `NO_STEP` means that predicting no rows is best.
    """

    step: Array
    value: Array


class _StepBlocks(NamedTuple):
    """Blocks of steps, from low up to high, with the hits and negatives before and inside each.

    Blocks with the same `run` belong to one label in one replicate.
    """

    run: Array
    low: Array
    high: Array
    hits_before: Array
    negatives_before: Array
    hits: Array
    negatives: Array

    def where(self, chosen: Array) -> "_StepBlocks":
        return _StepBlocks(*(part[chosen] for part in self))


def resample(
    steps: Steps, value_of: ValueOfCounts, runs: int, rng: np.random.Generator
) -> Replicates:
    """Find each label's best step in each of `runs` replicates; predicting nothing wins a tie."""
    blocks, positives, total = _first_blocks(steps, runs, rng)
    n_labels = len(steps.offsets) - 1
    none_value = without_nan(value_of(0, 0, positives, total), positives == 0)
    best = none_value.copy()
    while True:
        at_end, ceiling = _floor_and_ceiling(blocks, value_of, positives, total)
        np.maximum.at(best, blocks.run, at_end)
        blocks = blocks.where((ceiling >= best[blocks.run]) & (blocks.hits > 0))
        if (blocks.high - blocks.low == 1).all():
            break
        blocks = _halve(blocks, steps, rng)
    unfound = len(steps.hits)
    step = np.full(runs * n_labels, unfound)
    np.minimum.at(step, blocks.run, blocks.low)
    none = (none_value >= best) | (step == unfound)
    step = np.where(none, NO_STEP, step - np.tile(steps.offsets[:-1], runs))
    return Replicates(step.reshape(runs, n_labels), best.reshape(runs, n_labels))


def _floor_and_ceiling(
    blocks: _StepBlocks, value_of: ValueOfCounts, positives: Array, total: Array
) -> tuple[Array, Array]:
    """Return the objective at the end of each block, and a bound for every step in the block."""
    run_positives, run_total = positives[blocks.run], total[blocks.run]
    hits = blocks.hits_before + blocks.hits
    before = hits + blocks.negatives_before
    at_end = without_nan(value_of(hits, before + blocks.negatives, run_positives, run_total))
    several = np.flatnonzero(blocks.high - blocks.low > 1)
    ceiling = at_end
    if len(several):
        ceiling = at_end.copy()
        ceiling[several] = without_nan(
            value_of(hits[several], before[several], run_positives[several], run_total[several])
        )
    return at_end, ceiling


def _first_blocks(
    steps: Steps, runs: int, rng: np.random.Generator
) -> tuple[_StepBlocks, Array, Array]:
    """Draw the blocks of all labels in all runs, and the positives and total of each run."""
    edges, label = _edges(steps.offsets)
    hits, negatives = (
        rng.poisson(_number(np.diff(before[edges])), (runs, len(label)))
        for before in (steps.hits, steps.negatives)
    )
    first = np.flatnonzero(np.diff(label, prepend=-1))
    hits_before, all_hits = _before(hits, first, label)
    negatives_before, all_negatives = _before(negatives, first, label)
    n_labels = len(steps.offsets) - 1
    positives = all_hits + rng.poisson(steps.other_hits, (runs, n_labels))
    total = positives + all_negatives + rng.poisson(steps.other_negatives, (runs, n_labels))
    run = np.arange(runs)[:, None] * n_labels + label
    parts = np.broadcast_arrays(
        run, edges[:-1], edges[1:], hits_before, negatives_before, hits, negatives
    )
    blocks = _StepBlocks(*(part.ravel() for part in parts))
    return blocks, positives.ravel(), total.ravel()


def _edges(offsets: Array) -> tuple[Array, Array]:
    """Return where the blocks begin (with the end of the last one) and the label of each."""
    sizes = np.diff(offsets)
    blocks = np.minimum(sizes, limits.bootstrap_blocks)
    label = np.repeat(np.arange(len(sizes)), blocks)
    place = np.arange(len(label)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    edges = offsets[:-1][label] + place * sizes[label] // blocks[label]
    return np.append(edges, offsets[-1]), label


def _before(weights: Array, first: Array, label: Array) -> tuple[Array, Array]:
    """Return the weight of a label before each of its blocks, and that of the whole label."""
    upto = np.cumsum(weights, axis=1)
    before_label = (upto - weights)[:, first]
    return upto - weights - before_label[:, label], np.add.reduceat(weights, first, axis=1)


def _halve(blocks: _StepBlocks, steps: Steps, rng: np.random.Generator) -> _StepBlocks:
    """Halve every block; the first half of a single step is empty."""
    run, low, high, hits_before, negatives_before, hits, negatives = blocks
    middle = (low + high) // 2
    first_hits = rng.binomial(hits, _share(steps.hits, low, middle, high))
    first_negatives = rng.binomial(negatives, _share(steps.negatives, low, middle, high))
    first = _StepBlocks(
        run, low, middle, hits_before, negatives_before, first_hits, first_negatives
    )
    second = _StepBlocks(
        run,
        low=middle,
        high=high,
        hits_before=hits_before + first_hits,
        negatives_before=negatives_before + first_negatives,
        hits=hits - first_hits,
        negatives=negatives - first_negatives,
    )
    return _StepBlocks(*map(np.concatenate, zip(first, second, strict=True)))


def _share(before: Array, low: Array, middle: Array, high: Array) -> Array:
    """Return the share of each block's rows that its first half holds; 0 if it has no rows."""
    whole = before[high] - before[low]
    first = (before[middle] - before[low]) / np.where(whole > 0, whole, 1)
    return np.asarray(np.clip(np.round(first, _DIGITS), 0.0, 1.0))
