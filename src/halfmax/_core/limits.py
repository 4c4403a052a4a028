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

    joint_block_cells: int = 1 << 21  # rows x labels x sizes; a few such arrays exist at a time

    # ---- tables

    # ---- displays and report

    # A report leaves out what needs whole rows (the best thresholds of the samples average) if
    # there are more scores, because it would take too much memory and time.
    report_row_scores: int = 1 << 27
    transposed_scores: int = 1 << 26  # scores of a dense matrix that are transposed at once

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
