"""The winner's curse: what tuning chooses for a classifier without any skill.

If scores carry no information about the labels, then the labels, in the order of the scores, are
independent coin flips. So no score is ever drawn: with ``a`` positives among n items, predicting
down to the j-th positive, at position k, has F1 = 2j / (a + k), and only the positions of positives
matter. Not even these are all drawn. The ordered items are divided into blocks, and of each block
only the number of positives is drawn: binomial at first, then hypergeometric when a block is
halved. If all its positives were at its beginning, F1 at the last of them would be an upper bound
for every position in the block; F1 at the block's end is a lower bound for the best F1. Only blocks
whose upper bound reaches the best lower bound are halved, until single items are left. Nothing is
approximated.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.options import check_share_inside, check_whole
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Floats

Whole = npt.NDArray[np.int64]

_FIRST_BLOCKS = 256
_RUNS_AT_ONCE = 256  # part of what a seed means: each group of runs has its own random stream
_MOST_ITEMS = 10**11  # numpy's hypergeometric distribution needs blocks of fewer than 10^9


def simulate_winners_curse(
    n: int, base_rate: float, runs: int, seed: int = 0, progress: ProgressLike = None
) -> Floats:
    """Simulate the fraction predicted positive when F1 is maximised for scores without any signal.

    Each run draws n labels that are positive with probability `base_rate`, and scores that are
    independent of them and all different, then takes the threshold with the highest F1 on these
    data: the highest among equally good ones, and no items if there is no positive. On new data it
    is best to predict every item (Theorem 3). Below a base rate of about ``n ** (-1/3)`` most runs
    predict less than half, and well below ``n ** (-1/2)``, the bound of Section 7, most predict
    only down to the first few positives.

    Parameters
    ----------
    n : int
        The number of items in each run, up to 10^11. The time depends little on it.
    base_rate : float
        The probability of a positive, above 0 and below 1.
    runs : int
        The number of runs.
    seed : int
        The seed of the random numbers. The answer does not depend on the number of threads.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``,
        both in runs.

    Returns
    -------
    ndarray of shape (runs,)
        The fraction of items predicted positive in each run.

    Raises
    ------
    TypeError
        If `progress` is neither a bool nor a function.
    ValueError
        If another argument is out of its range.

    See Also
    --------
    WinnersCurseDisplay : A picture of such simulations.
    diagnose : Find the labels that suffer from the curse.

    Examples
    --------
    >>> import numpy as np
    >>> from halfmax import simulate_winners_curse
    >>> for base_rate in (0.001, 0.01, 0.1):
    ...     predicted = simulate_winners_curse(n=10**6, base_rate=base_rate, runs=1000)
    ...     print(f"{base_rate}: less than half is predicted in {np.mean(predicted < 0.5):.0%}")
    0.001: less than half is predicted in 95%
    0.01: less than half is predicted in 15%
    0.1: less than half is predicted in 0%
    """
    n = check_whole("n", n, 1, _MOST_ITEMS)
    base_rate = check_share_inside("base_rate", base_rate)
    runs = check_whole("runs", runs, 1)
    seed = check_whole("seed", seed, 0)

    def simulate(group: slice) -> Whole:
        stream = np.random.SeedSequence(seed, spawn_key=(group.start,))
        rng = np.random.default_rng(stream)
        return _best_counts(n, base_rate, group.stop - group.start, rng)

    groups = spans(runs, _RUNS_AT_ONCE)
    best = []
    with Progress(progress, "simulating the winner's curse", runs) as meter:
        for counts in map_blocks(simulate, groups):
            best.append(counts)
            meter.advance(len(counts))
    return np.concatenate(best) / n


class _ItemBlocks(NamedTuple):
    """Stretches (low, high] of items of some runs, and the positives up to either end."""

    run: Whole
    low: Whole
    high: Whole
    before: Whole
    upto: Whole

    def where(self, chosen: npt.NDArray[np.bool_]) -> "_ItemBlocks":
        return _ItemBlocks(*(part[chosen] for part in self))

    def not_empty(self) -> "_ItemBlocks":
        return self.where(self.upto > self.before)


def _best_counts(n: int, base_rate: float, runs: int, rng: np.random.Generator) -> Whole:
    """How many items the best threshold of each run predicts."""
    blocks, positives = _first_blocks(n, base_rate, runs, rng)
    best = np.zeros(runs)
    while True:
        # F1 / 2 is a quotient of whole numbers, so that equal values are equal as floats too.
        np.maximum.at(best, blocks.run, blocks.upto / (positives[blocks.run] + blocks.high))
        soonest = blocks.low + blocks.upto - blocks.before
        ceiling = blocks.upto / (positives[blocks.run] + soonest)
        blocks = blocks.where(ceiling >= best[blocks.run])
        if (blocks.high - blocks.low == 1).all():
            break
        blocks = _halve(blocks, rng)
    fewest = np.where(positives > 0, n, 0)
    np.minimum.at(fewest, blocks.run, blocks.high)
    return fewest


def _first_blocks(
    n: int, base_rate: float, runs: int, rng: np.random.Generator
) -> tuple[_ItemBlocks, Whole]:
    """Divide each run into equal parts; also return the positives of each run."""
    ends = np.arange(min(n, _FIRST_BLOCKS) + 1, dtype=np.int64) * n // min(n, _FIRST_BLOCKS)
    inside = rng.binomial(np.diff(ends), base_rate, (runs, len(ends) - 1))
    upto = inside.cumsum(axis=1)
    parts = np.broadcast_arrays(np.arange(runs)[:, None], ends[:-1], ends[1:], upto - inside, upto)
    blocks = _ItemBlocks(*(part.ravel() for part in parts))
    return blocks.not_empty(), upto[:, -1]


def _halve(blocks: _ItemBlocks, rng: np.random.Generator) -> _ItemBlocks:
    """Both halves of every block, without empty ones; the first half of a single item is empty."""
    run, low, high, before, upto = blocks
    first = (high - low) // 2
    inside = upto - before
    middle, between = low + first, before + rng.hypergeometric(inside, high - low - inside, first)
    lower = _ItemBlocks(run, low, middle, before, between)
    upper = _ItemBlocks(run, middle, high, between, upto)
    return _ItemBlocks(*map(np.concatenate, zip(lower, upper, strict=True))).not_empty()
