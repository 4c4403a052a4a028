"""`Tuning`: what was tuned, how, and the result; kept for pictures and reports, never saved."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.predict import predict
from halfmax._core.progress import ProgressLike
from halfmax._core.types import Array
from halfmax.metrics.cost import RowCost
from halfmax.metrics.goal import Goal
from halfmax.metrics.score import score
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice


@dataclass(frozen=True, eq=False)
class Tuning:
    """The goal, the data that were tuned, and the thresholds chosen."""

    goal: Goal
    choice: Choice
    data: LabelledScores | None  # None if they are not kept in memory
    read: Callable[[ProgressLike], LabelledScores] | None = None  # reads such data again
    files: tuple[str, ...] = ()  # that the data came from, if known
    by_hand: bool = False  # whether thresholds were changed after the tuning

    def load(self, progress: ProgressLike = None) -> LabelledScores:
        """Return the data; read them again if they are not in memory."""
        if self.data is not None:
            return self.data
        assert self.read is not None
        return self.read(progress)

    @cached_property
    def stairs(self) -> Staircase:
        """The staircase of each label, built on first use and then kept."""
        stairs = self.choice.stairs
        return Staircase.of_checked(self.load()) if stairs is None else stairs

    @property
    def stairs_at_hand(self) -> Staircase | None:
        """The staircase of each label, if it has been built."""
        return self.__dict__.get("stairs", self.choice.stairs)

    def stairs_of(self, labels: Array) -> Staircase:
        """Return the staircases of some labels; if they are few, without building the others."""
        built = self.stairs_at_hand is not None
        if built or self.data is None or 2 * len(labels) > self.data.n_labels:
            return self.stairs.of_labels(labels)
        return Staircase.of_checked(self.data.of_labels(labels))

    def score_over_rows(self) -> float | None:
        """Return the score if rows have to be known; None if counts of labels determine it."""
        goal = self.goal
        if goal.average_shown != "samples" and not isinstance(goal.metric, RowCost):
            return None
        data = self.load()
        predictions = predict(data.scores, self.choice.thresholds)
        zero = goal.objective.zero_division
        return score(data.truth, predictions, goal.metric, goal.average, data.weights, zero)
