"""The Poisson bootstrap on a staircase: which step would be best if the rows were drawn again.

Each row gets a weight that is Poisson with mean 1. So the positives of a step weigh Poisson of
their number, the negatives between two steps weigh Poisson of theirs, and no row is looked at.
Nor is every step: a label's steps are cut into blocks, and a block is known by the sums of its
weights alone, which are Poisson too. The objective at the blocks' ends is a floor; were all hits of
a block at its beginning and all its false positives at its end, the objective there would be a
ceiling. Only blocks whose ceiling reaches the floor are halved, and given its sum the weight of a
half is binomial, until single steps are left. Nothing is approximated.
"""

from typing import NamedTuple

import numpy as np

from halfmax._core.types import Array
from halfmax.staircase.staircase import NOBODY, Staircase, Worth, without_nan

FIRST_BLOCKS = 64  # of a label, at most
_DIGITS = 9  # of what weighted rows are worth


class Steps(NamedTuple):
    """The steps of some labels, label after label, as numbers of rows.

    ``hits[k]`` and ``misses[k]`` are the positives and negatives before step k, counted through all
    these labels, so that differences are those of any block. Weighted rows may be worth any number,
    whole or not.
    """

    offsets: Array
    hits: Array
    misses: Array
    other_hits: Array  # of each label: positives and negatives that are never predicted
    other_misses: Array

    @classmethod
    def of(cls, stairs: Staircase, labels: Array) -> "Steps":
        """Those of these labels, which must have a step each."""
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
    """Differences of counts; those of sums of weights without their rounding errors.

    Poisson numbers of a mean of 0 and of nearly 0 take different amounts of random numbers.
    """
    return np.maximum(np.round(differences, _DIGITS), 0)


def _through(counts: Array, offsets: Array) -> Array:
    """Counts that start anew with each label, added up through all labels, from 0 on."""
    before = np.append(0, np.cumsum(counts[offsets[1:] - 1]))[:-1]
    return np.append(0, counts + np.repeat(before, np.diff(offsets)))


class Replicates(NamedTuple):
    """Of each replicate (rows) and label (columns): the best step and what it is worth.

    A label's first step is 0; `NOBODY` stands before it, as +inf is above all thresholds.
    """

    step: Array
    worth: Array


class _StepBlocks(NamedTuple):
    """Stretches low to high of steps; hits and misses before and in each; a run has one best."""

    run: Array
    low: Array
    high: Array
    hits_before: Array
    misses_before: Array
    hits: Array
    misses: Array

    def where(self, chosen: Array) -> "_StepBlocks":
        return _StepBlocks(*(part[chosen] for part in self))


def resample(steps: Steps, worth_of: Worth, runs: int, rng: np.random.Generator) -> Replicates:
    """The best step of each label in so many replicates; predicting nobody wins a tie."""
    blocks, positives, total = _first_blocks(steps, runs, rng)
    n_labels = len(steps.offsets) - 1
    nobody = without_nan(worth_of(0, 0, positives, total), positives == 0)
    best = nobody.copy()
    while True:
        at_end, ceiling = _floor_and_ceiling(blocks, worth_of, positives, total)
        np.maximum.at(best, blocks.run, at_end)
        blocks = blocks.where((ceiling >= best[blocks.run]) & (blocks.hits > 0))
        if (blocks.high - blocks.low == 1).all():
            break
        blocks = _halve(blocks, steps, rng)
    unfound = len(steps.hits)
    step = np.full(runs * n_labels, unfound)
    np.minimum.at(step, blocks.run, blocks.low)
    none = (nobody >= best) | (step == unfound)
    step = np.where(none, NOBODY, step - np.tile(steps.offsets[:-1], runs))
    return Replicates(step.reshape(runs, n_labels), best.reshape(runs, n_labels))


def _floor_and_ceiling(
    blocks: _StepBlocks, worth_of: Worth, positives: Array, total: Array
) -> tuple[Array, Array]:
    """The objective at the end of each block, and what no step in the block exceeds."""
    counts = positives[blocks.run], total[blocks.run]
    hits = blocks.hits_before + blocks.hits
    before = hits + blocks.misses_before
    at_end = without_nan(worth_of(hits, before + blocks.misses, *counts))
    several = np.flatnonzero(blocks.high - blocks.low > 1)
    ceiling = at_end
    if len(several):
        ceiling = at_end.copy()
        of_several = (part[several] for part in (hits, before, *counts))
        ceiling[several] = without_nan(worth_of(*of_several))
    return at_end, ceiling


def _first_blocks(
    steps: Steps, runs: int, rng: np.random.Generator
) -> tuple[_StepBlocks, Array, Array]:
    """Blocks of all labels in all runs, and the positives and total of each run."""
    edges, label = _edges(steps.offsets)
    hits, misses = (
        rng.poisson(_number(np.diff(before[edges])), (runs, len(label)))
        for before in (steps.hits, steps.misses)
    )
    first = np.flatnonzero(np.diff(label, prepend=-1))
    hits_before, all_hits = _before(hits, first, label)
    misses_before, all_misses = _before(misses, first, label)
    n_labels = len(steps.offsets) - 1
    positives = all_hits + rng.poisson(steps.other_hits, (runs, n_labels))
    total = positives + all_misses + rng.poisson(steps.other_misses, (runs, n_labels))
    run = np.arange(runs)[:, None] * n_labels + label
    parts = run, edges[:-1], edges[1:], hits_before, misses_before, hits, misses
    blocks = _StepBlocks(*(part.ravel() for part in np.broadcast_arrays(*parts)))
    return blocks, positives.ravel(), total.ravel()


def _edges(offsets: Array) -> tuple[Array, Array]:
    """Where the blocks begin, with the end of the last, and the label of each."""
    sizes = np.diff(offsets)
    blocks = np.minimum(sizes, FIRST_BLOCKS)
    label = np.repeat(np.arange(len(sizes)), blocks)
    place = np.arange(len(label)) - np.repeat(np.cumsum(blocks) - blocks, blocks)
    edges = offsets[:-1][label] + place * sizes[label] // blocks[label]
    return np.append(edges, offsets[-1]), label


def _before(weights: Array, first: Array, label: Array) -> tuple[Array, Array]:
    """The weight before each block of its label, and the weight of the whole label."""
    upto = np.cumsum(weights, axis=1)
    before_label = (upto - weights)[:, first]
    return upto - weights - before_label[:, label], np.add.reduceat(weights, first, axis=1)


def _halve(blocks: _StepBlocks, steps: Steps, rng: np.random.Generator) -> _StepBlocks:
    """Both halves of every block; the first half of a single step is empty."""
    run, low, high, hits_before, misses_before, hits, misses = blocks
    middle = (low + high) // 2
    first_hits = rng.binomial(hits, _share(steps.hits, low, middle, high))
    first_misses = rng.binomial(misses, _share(steps.misses, low, middle, high))
    halves = (
        (run, low, middle, hits_before, misses_before, first_hits, first_misses),
        (
            run,
            middle,
            high,
            hits_before + first_hits,
            misses_before + first_misses,
            hits - first_hits,
            misses - first_misses,
        ),
    )
    return _StepBlocks(*map(np.concatenate, zip(*halves, strict=True)))


def _share(before: Array, low: Array, middle: Array, high: Array) -> Array:
    """The part of each block's rows that stands in its first half; 0 of none."""
    whole = before[high] - before[low]
    first = (before[middle] - before[low]) / np.where(whole > 0, whole, 1)
    return np.asarray(np.clip(np.round(first, _DIGITS), 0.0, 1.0))
