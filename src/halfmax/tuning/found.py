"""What was tuned, how, and what was found: kept for pictures and reports, never saved."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from halfmax._core.labelled import LabelledScores
from halfmax.metrics.goal import Goal
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice


@dataclass(frozen=True, eq=False)
class Tuning:
    """The question, the data that it was asked of, and the thresholds chosen."""

    goal: Goal
    choice: Choice
    load: Callable[..., LabelledScores]  # takes `progress`, if the data are read again
    at_hand: bool = True  # whether the data are in memory; if not, `load` reads them again
    files: tuple[str, ...] = ()  # that the data came from, as far as they are known

    @cached_property
    def stairs(self) -> Staircase:
        """The staircase of each label, built when first asked for and then kept."""
        stairs = self.choice.stairs
        return Staircase.of_checked(self.load()) if stairs is None else stairs
