"""What thresholds were tuned on, and how: kept for pictures and reports, never saved."""

from collections.abc import Callable
from typing import NamedTuple

from halfmax._core.labelled import LabelledScores
from halfmax.metrics.goal import Guard
from halfmax.metrics.objective import Objective


class Origin(NamedTuple):
    """The data that have passed the gate, or a way to read them again, and what was asked."""

    load: Callable[..., LabelledScores]  # may be told how to tell its progress
    average: str
    per_label: bool
    objective: Objective
    guard: Guard | None
    at_hand: bool = True  # whether the data are in memory; if not, they are read again
    files: tuple[str, ...] = ()  # that the data came from, as far as they are known
