"""The winner's curse: what tuning chooses for a classifier that knows nothing.

Scores that say nothing about the labels leave, in the order of the scores, labels that are
independent coins. So no score is ever drawn: with ``a`` positives among n items, predicting down to
the j-th positive, which stands at place k, has F1 = 2j / (a + k), and only the places of positives
matter. Nor are these all drawn. The items in their order are cut into blocks, and a block is known
by its number of positives alone: binomial at first, then hypergeometric when a block is halved.
Were all its positives at its beginning, F1 at the last of them would be a ceiling of what any place
in the block can reach; F1 at the block's end is a floor. Only blocks whose ceiling reaches the best
floor are halved, until single items are left. Nothing is approximated.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.checks import check_share_inside, check_whole
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Floats

Counts = npt.NDArray[np.int64]

_FIRST_BLOCKS = 256
_RUNS_AT_ONCE = 256  # part of what a seed means: each group of runs has a stream of its own
_MOST_ITEMS = 10**11  # numpy's hypergeometric law takes blocks of fewer than 10^9


def simulate_winners_curse(
    n: int, base_rate: float, runs: int, seed: int = 0, progress: ProgressLike = None
) -> Floats:
    """The fraction predicted positive when the best F1 is sought for scores without any signal.

    Each run draws n labels that are positive with probability `base_rate`, and scores that are
    independent of them and all different, then takes the threshold with the highest F1 on these
    data: the highest of the best, and nobody if there is no positive. On new data it is best to
    predict everybody (Theorem 3). Below a base rate of about ``n ** (-1/3)`` most runs predict less
    than half, and well below ``n ** (-1/2)``, the bound of Section 7, most predict down to the
    first few positives only.

    Parameters
    ----------
    n
        Items in each run, up to 10^11; time depends little on it.
    base_rate
        The probability of a positive, above 0 and below 1.
    runs
        How many runs.
    seed
        The same seed gives the same answer, whatever the number of threads.
    progress
        True for a line on stderr, or a function of (runs done, runs in all).

    Returns
    -------
    ndarray of shape (runs,)

    Examples
    --------
    >>> import numpy as np
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

    def simulate(group: slice) -> Counts:
        stream = np.random.SeedSequence(seed, spawn_key=(group.start,))
        rng = np.random.default_rng(stream)
        return _best_counts(n, base_rate, group.stop - group.start, rng)

    groups = spans(runs, _RUNS_AT_ONCE)
    best = []
    with Progress(progress, "simulating the winner's curse", runs) as told:
        for counts in map_blocks(simulate, groups):
            best.append(counts)
            told.advance(len(counts))
    return np.concatenate(best) / n


class _ItemBlocks(NamedTuple):
    """Stretches (low, high] of items of some runs, and the positives up to either end."""

    run: Counts
    low: Counts
    high: Counts
    before: Counts
    upto: Counts

    def where(self, chosen: npt.NDArray[np.bool_]) -> "_ItemBlocks":
        return _ItemBlocks(*(part[chosen] for part in self))

    def not_empty(self) -> "_ItemBlocks":
        return self.where(self.upto > self.before)


def _best_counts(n: int, base_rate: float, runs: int, rng: np.random.Generator) -> Counts:
    """How many items the best threshold of each run predicts."""
    blocks, positives = _first_blocks(n, base_rate, runs, rng)
    best = np.zeros(runs)
    while True:
        # F1 / 2, a quotient of whole numbers, so that equal ones are equal as floats too.
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
) -> tuple[_ItemBlocks, Counts]:
    """Equal parts of each run, and the positives of each run."""
    ends = np.arange(min(n, _FIRST_BLOCKS) + 1, dtype=np.int64) * n // min(n, _FIRST_BLOCKS)
    inside = rng.binomial(np.diff(ends), base_rate, (runs, len(ends) - 1))
    upto = inside.cumsum(axis=1)
    parts: tuple[Any, ...] = (np.arange(runs)[:, None], ends[:-1], ends[1:], upto - inside, upto)
    blocks = _ItemBlocks(*(part.ravel() for part in np.broadcast_arrays(*parts)))
    return blocks.not_empty(), upto[:, -1]


def _halve(blocks: _ItemBlocks, rng: np.random.Generator) -> _ItemBlocks:
    """Both halves of every block, unless empty, as the first half of a single item is."""
    run, low, high, before, upto = blocks
    first = (high - low) // 2
    inside = upto - before
    middle, between = low + first, before + rng.hypergeometric(inside, high - low - inside, first)
    halves = (run, low, middle, before, between), (run, middle, high, between, upto)
    return _ItemBlocks(*map(np.concatenate, zip(*halves, strict=True))).not_empty()
