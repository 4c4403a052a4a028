"""How a fitted classifier turns scores into predictions."""

from typing import Any, NamedTuple

import numpy as np

from halfmax import _inputs
from halfmax._options import Guard
from halfmax.deciding import decide_matrix
from halfmax.decision import Decision
from halfmax.metrics import Objective
from halfmax.targets import Kind


class Plan(NamedTuple):
    """How a fitted classifier predicts, whatever its parameters are set to later."""

    kind: Kind
    method: str
    rule: str
    objective: Objective
    average: str
    guard: Guard | None

    @property
    def how(self) -> tuple[str, bool, Objective, Guard | None]:
        """Average, a threshold for each label, objective and guard, as tuning takes them."""
        return self.average, True, self.objective, self.guard

    @property
    def unseen(self) -> float:
        """The score of a label of which nothing was learnt: the lowest there is."""
        return -np.inf if self.rule == "empirical" else 0.0

    def decide(self, scores: Any, name: str) -> Decision:
        """The best predictions for these rows together."""
        matrix = _inputs.open_probabilities(scores, name)
        return decide_matrix(matrix, self.objective.metric, self.average)
