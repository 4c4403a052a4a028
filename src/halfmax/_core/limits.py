"""Limits that affect only speed and memory: block sizes, and where algorithms switch.

They are fields of one value, so that tests can lower them and reach with a few rows what otherwise
takes millions. No answer depends on them, unless a comment says so.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass
class Limits:
    """The limits in force; `limits` is the one value of this class."""

    # ---- _core

    block_cells: int = 1 << 22  # cells of a dense truth that are made sparse at once

    # ---- metrics and staircase

    grid_block_labels: int = 1 << 16  # sorted by one thread at a time
    grid_long_segment: int = 1 << 8  # scores of a label; numpy sorts longer segments faster
    tile_rows: int = 1024  # in a tile that is transposed
    tile_labels: int = 64  # a tile of float32 then fills half of a 512 KiB cache
    few_steps: int = 128  # up to this many, comparing with each step beats a binary search
    table_cells: int = 1 << 12  # most cells of the table that finds a score among many steps
    count_blocks: int = 8  # blocks of rows and of labels, for threads; about this many of each
    count_block_rows: int = 1 << 16  # at least, in a block
    count_block_entries: int = 1 << 20  # at least, in a block of sparse scores
    cached_steps: int = 1 << 17  # a larger grid is reached through sorted chunks of entries
    chunk_entries: int = 1 << 22  # sparse scores, sorted by blocks of labels at a time
    label_block_bits: int = 7  # entries are sorted into about two to this power blocks of labels

    # ---- expected and regions

    decide_block_cells: int = 1 << 18  # cells of a dense matrix, decided at once
    decide_block_stored: int = 1 << 18  # stored entries of a sparse matrix, decided at once
    decide_fewest_columns: int = 8  # at once of a row-major matrix: read whole cache lines

    # ---- tuning

    # One classifier (tuning.exact.one)
    bucket_bits: int = 15  # there are at most two to this power buckets
    bucket_block_rows: int = 1 << 20  # counted by one thread at a time, at least
    sorted_at_once: int = 1 << 15  # rows; no more than these are sorted without buckets
    opened_sorted: int = 1 << 12  # rows of opened buckets; more are cut into finer buckets first
    bucket_sample: int = 1 << 12  # rows by which ways to cut buckets are compared
    sample_tails: tuple[int, ...] = (100, 20)  # one in this many at each end may be clipped
    few_expected: float = 4.0  # rows of the sample; a cut that opens fewer is taken at once
    alike_rows: int = 8  # sampled rows with one score, before a bucket is tested for ties

    # One threshold per label of a dense matrix (tuning.exact.pruned)
    pruned_steps: int = 64  # of a label, on average; with fewer, staircases are counted faster
    pruned_rows: int = 1 << 20  # at most, because whole columns are copied
    pruned_row_bytes: int = 1 << 8  # of each row, copied at once: several cache lines
    pruned_cells: int = 1 << 10  # of a label's histogram, at most; it then stays in the L1 cache

    # One threshold for all labels (tuning.exact.shared)
    shared_chunk: int = 1 << 20  # scores swept at a time
    shared_picked: int = 1 << 23  # scores moved to their bins at a time
    shared_edges: int = 256  # at most, where the mean is computed first

    # One threshold per label, averaged over rows (tuning.exact.samples and falling)
    window_reach: int = 32  # cells from a window's middle; wide windows are filled less often
    window_cells: int = 1 << 20  # in all windows together, so that they stay in the cache
    insertion_sort: int = 32  # up to this many scores are sorted by insertion
    sort_block_entries: int = 1 << 20  # grouped by label by one thread at a time, at least

    # Guards and warnings; thresholds or messages depend on all of these but the first
    calibration_block_labels: int = 256  # calibrated by one thread at a time
    most_bands: int = 512
    usual_band_cells: int = 1 << 19  # labels x bands
    most_band_cells: int = 1 << 22  # labels x bands, where that allows no more than 64 bands
    prior_labels: int = 4096  # that the prior is learned from; more would not improve it
    warning_labels: int = 1 << 12  # with few positives, from which their mean is estimated
    warned_optimism: float = 0.2  # share of the score; a larger one is warned of

    # ---- honesty

    bootstrap_blocks: int = 64  # most first blocks of a label's steps; part of what a seed means
    redraw_blocks: int = 1 << 8  # blocks of steps, drawn at once; part of what a seed means

    # ---- estimators

    joint_block_cells: int = 1 << 21  # rows x labels x sizes; a few such arrays exist at a time

    # ---- tables

    # Rows of a batch. To look up 50,000 labels costs the same for smaller batches. Weights are
    # summed batch by batch, so their last bits depend on it.
    table_rows_at_once: int = 1 << 20
    scan_kept_bytes: int = 1 << 28  # codes and scores kept from the first pass for the second
    hashes_in_memory: int = 1 << 23  # pairs, in the search for duplicates; more go to disk

    # ---- displays and report

    # A report leaves out what needs whole rows (the best thresholds of the samples average) if
    # there are more scores, because it would take too much memory and time.
    report_row_scores: int = 1 << 27
    transposed_scores: int = 1 << 26  # scores of a dense matrix that are transposed at once

    # ---- mesh and paper

    corpus_rows_at_once: int = 4096  # records of a batch
    corpus_characters_at_once: int = 32 << 20  # in a batch, where records are long
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

    first_rows: int = 100_000  # that show what columns hold; those found may depend on it
    seconds_before_bar: float = 1.0  # shorter work shows no progress bar
    tag_records_read: int = 4096  # records tagged at once
    # Records written at once: a rule that floods gives each of them thousands of terms.
    tag_records_written: int = 128


limits = Limits()


@contextmanager
def changed(**values: float) -> Iterator[None]:
    """Change limits for the length of a context; an unknown name is an error."""
    before = {name: getattr(limits, name) for name in values}
    for name, value in values.items():
        setattr(limits, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(limits, name, value)
