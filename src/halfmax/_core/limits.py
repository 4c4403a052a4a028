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

    # ---- expected and regions

    decide_block_cells: int = 1 << 18  # of a dense matrix, decided at once
    decide_block_stored: int = 1 << 18  # of a sparse matrix, stored entries decided at once
    decide_fewest_columns: int = 8  # at once of a row-major matrix: read whole cache lines

    # ---- tuning

    # ---- honesty

    redraw_blocks: int = 1 << 8  # of staircase steps, drawn at once; part of what a seed means

    # ---- estimators

    # ---- tables

    # ---- displays and report

    # ---- mesh and paper

    # ---- cli

    seconds_before_bar: float = 1.0  # shorter work shows no progress bar
    tag_records_read: int = 4096  # records tagged at once
    tag_records_written: int = (
        128  # written at once; a rule that floods gives each thousands of terms
    )


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
