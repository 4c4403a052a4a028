"""Sizes that only matter for speed and memory: how much is done at once, and when to switch.

They stand here, in one value, so that tests can make them small and reach with a few rows what
otherwise takes millions. No answer depends on them, except where a comment says so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Limits:
    """The limits in force; `limits` is the one value of this class."""

    # ---- _core

    block_cells: int = 1 << 22  # of a dense truth, turned into a sparse one at once

    # ---- metrics and staircase

    # ---- expected and regions

    # ---- tuning

    # ---- honesty

    # ---- estimators

    # ---- tables

    # Rows of a batch. To look up 50,000 labels costs the same for smaller batches. Weights are
    # summed batch by batch, so their last bits depend on it.
    table_rows_at_once: int = 1 << 20
    scan_kept_bytes: int = 1 << 28  # codes and scores kept from the first pass for the second
    hashes_in_memory: int = 1 << 23  # of pairs, in the search for duplicates; more go to disk

    # ---- displays and report

    # ---- mesh and paper

    corpus_rows_at_once: int = 4096  # records of a batch
    corpus_characters_at_once: int = 32 << 20  # of a batch, where records are long
    texts_at_once: int = 4096  # texts that are vectorised together
    # Scores of a block: 8 MiB of float32 per thread stay in the cache. BLAS may round blocks of
    # another size differently in the last bits.
    output_block_entries: int = 1 << 21
    # Scores that thresholds of the tagger are tuned on, which decide on how many documents: 1 GiB
    # of float32. Tuning the average over documents takes nine times the memory of its scores.
    tuned_scores: int = 1 << 28
    tuned_scores_of_samples: int = 1 << 27
    # Documents. With more, the plug-in rules are first found for a sixteenth of them, as a guess.
    half_max_without_guess: int = 4096

    # ---- cli


limits = Limits()


@contextmanager
def changed(**values: int) -> Iterator[None]:
    """Work with other limits for a while; an unknown name is an error."""
    before = {name: getattr(limits, name) for name in values}
    for name, value in values.items():
        setattr(limits, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(limits, name, value)
