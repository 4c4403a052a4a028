"""How a fitted `ThresholdClassifier` predicts, and the attributes that its fit sets."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.gate.arrays import open_probabilities
from halfmax._core.gate.labelled import LabelledScores
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
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune_silently
from halfmax.tuning.tuning import Tuning

_MOST_KEPT = 1 << 24  # scores; more are assessed in fit if that is quick, and then dropped


class FittedRule(NamedTuple):
    """How a fitted classifier predicts, even if its parameters are changed after fit."""

    kind: TargetKind
    method: str
    name: str  # "empirical" or "expected"
    goal: Goal

    @property
    def unseen(self) -> float:
        """The score of a label without training positives: the lowest possible."""
        return -np.inf if self.name == "empirical" else 0.0

    def decide(self, scores: Any, name: str) -> Decision:
        """Return the best predictions for these rows, decided together."""
        matrix = open_probabilities(scores, name)
        return decide_matrix(matrix, self.goal.metric, self.goal.average)

    def found_by_tuning(
        self, tuned: Thresholds, pooled: LabelledScores, rows: Array
    ) -> dict[str, Any]:
        """Return the fitted attributes of tuned thresholds.

        The assessment is postponed until it is needed, unless it would keep too many scores.
        """
        once, assessed = np.unique(rows, return_index=True)[1], tuned
        if len(once) < len(rows):
            pooled = pooled.of_rows(once)
            assessed = tune_silently(pooled, self.goal)
        now = pooled.scores.size > _MOST_KEPT and on_staircase.can_judge(self.goal)
        assert assessed._tuning is not None
        pending = PendingAssessment(assessed, assessed._tuning, tuned)
        return {
            "score_": tuned.score,
            "thresholds_": tuned.thresholds,
            "_assessment": pending.assess() if now else None,
            "_pending": None if now else pending,
        }

    def found_by_deciding(self, pooled: LabelledScores) -> dict[str, Any]:
        """Return the fitted attributes where nothing is tuned.

        The rule has not used the labels of the pooled rows, so their score is not optimistic.
        """
        decision = self.decide(pooled.scores, "predict_proba")
        metric, average = self.goal.metric, self.goal.average
        reached = score.score(pooled.truth, decision.predictions, metric, average, pooled.weights)
        found: dict[str, Any] = {"score_": reached, "_assessment": None, "_pending": None}
        if average != "samples" or pooled.is_binary:
            found["thresholds_"] = np.full(pooled.n_labels, decision.thresholds)
        return found


class PendingAssessment(NamedTuple):
    """Everything needed to assess thresholds later."""

    assessed: Thresholds  # tuned with each row counted once
    tuning: Tuning  # the tuning behind `assessed`, which drops it when it is pickled
    tuned: Thresholds  # on all scores, where rows were scored several times

    def assess(self) -> Assessment:
        """Assess what the thresholds will reach on new rows."""
        found = assess_tuned(self.assessed, self.tuning, Draws())
        return replace(found, thresholds=replace(self.tuned, _tuning=None))  # drops the scores
