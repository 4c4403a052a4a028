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
