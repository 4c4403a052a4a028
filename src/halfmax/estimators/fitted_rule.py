"""How a classifier turns scores into predictions, and what is found out about that in fit."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.labelled import LabelledScores
from halfmax._core.matrix import open_probabilities
from halfmax._core.types import Array
from halfmax.estimators.targets import TargetKind
from halfmax.expected.decide import decide_matrix
from halfmax.expected.decision import Decision
from halfmax.honesty import on_staircase
from halfmax.honesty.assess import assess_tuned
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Draws
from halfmax.metrics import score
from halfmax.metrics.goal import Goal
from halfmax.tuning.found import Tuning
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune_silently

_MOST_KEPT = 1 << 24  # scores; more are assessed in fit if that is quick, and let go


class FittedRule(NamedTuple):
    """How a fitted classifier predicts, whatever its parameters are set to later."""

    kind: TargetKind
    method: str
    rule: str
    goal: Goal

    @property
    def unseen(self) -> float:
        """The score of a label of which nothing was learnt: the lowest there is."""
        return -np.inf if self.rule == "empirical" else 0.0

    def decide(self, scores: Any, name: str) -> Decision:
        """The best predictions for these rows together."""
        matrix = open_probabilities(scores, name)
        return decide_matrix(matrix, self.goal.metric, self.goal.average)

    def found_by_tuning(
        self, tuned: Thresholds, pooled: LabelledScores, rows: Array
    ) -> dict[str, Any]:
        """Fitted attributes. The assessment waits until asked for, unless its scores are many."""
        once, assessed = np.unique(rows, return_index=True)[1], tuned
        if len(once) < len(rows):
            pooled = pooled.of_rows(once)
            assessed = tune_silently(pooled, self.goal)
        now = pooled.scores.size > _MOST_KEPT and on_staircase.can_judge(self.goal)
        assert assessed._tuning is not None
        waiting = PendingAssessment(assessed, assessed._tuning, tuned)
        return {
            "score_": tuned.score,
            "thresholds_": tuned.thresholds,
            "_assessment": waiting.assess() if now else None,
            "_waiting": None if now else waiting,
        }

    def found_by_deciding(self, pooled: LabelledScores) -> dict[str, Any]:
        """The same where nothing is tuned: the rule has seen no label of the pooled rows."""
        decision = self.decide(pooled.scores, "predict_proba")
        metric, average = self.goal.metric, self.goal.average
        reached = score.score(pooled.truth, decision.predictions, metric, average, pooled.weights)
        found: dict[str, Any] = {"score_": reached, "_assessment": None, "_waiting": None}
        if average != "samples" or pooled.is_binary:
            found["thresholds_"] = np.full(pooled.n_labels, decision.thresholds)
        return found


class PendingAssessment(NamedTuple):
    """What it takes to assess thresholds."""

    assessed: Thresholds  # tuned on each row once
    tuning: Tuning  # of these, which thresholds would not keep when they are pickled
    tuned: Thresholds  # on all, where rows were scored several times

    def assess(self) -> Assessment:
        """What the thresholds will show on new rows."""
        found = assess_tuned(self.assessed, self.tuning, Draws())
        return replace(found, thresholds=replace(self.tuned, _tuning=None))  # lets the scores go
