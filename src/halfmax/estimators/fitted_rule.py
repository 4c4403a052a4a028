"""How a fitted `ThresholdClassifier` predicts, and the attributes that its fit sets."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.gate.arrays import open_probabilities
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array, Floats
from halfmax.estimators.fixed_thresholds import read_fixed
from halfmax.estimators.out_of_fold import OutOfFold, pool
from halfmax.estimators.responses import scores_of
from halfmax.estimators.targets import TargetKind, Targets
from halfmax.expected.decide import decide_matrix
from halfmax.expected.decision import Decision
from halfmax.honesty import on_staircase
from halfmax.honesty.assess import assess_tuned
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.case import Draws
from halfmax.metrics import score
from halfmax.metrics.goal import Goal
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune_checked, tune_silently
from halfmax.tuning.tuning import Tuning

FIXED = "fixed"  # the rule of thresholds that are not tuned
_MOST_KEPT = 1 << 24  # scores; more are assessed in fit if that is quick, and then dropped


class FittedRule(NamedTuple):
    """How a fitted classifier predicts, even if its parameters are changed after fit."""

    kind: TargetKind
    method: str
    name: str  # "empirical", "expected" or "fixed"
    goal: Goal
    thresholds: Floats | None = None

    @property
    def unseen(self) -> float:
        """The score of a label without training positives: the lowest possible."""
        return 0.0 if self.name == "expected" else -np.inf

    def at(self, thresholds: Any) -> "FittedRule":
        """Return the rule with fixed thresholds, in any form that users write them."""
        return self._replace(name=FIXED, thresholds=read_fixed(thresholds, self.kind))

    def predict(self, estimator: Any, X: Any) -> Any:
        """Predict 0/1 for each row, or for each row and label."""
        scores = scores_of(estimator, X, self.method, self.kind)
        if self.name == "expected":
            return self._decide(scores, f"predict_proba of {type(estimator).__name__}").predictions
        assert self.thresholds is not None
        return predict.predict(scores, self.thresholds)

    def score(self, truth: Any, predictions: Any, weights: Any) -> float:
        """Return the metric of predictions."""
        goal, zero_division = self.goal, self.goal.objective.zero_division
        return score.score(truth, predictions, goal.metric, goal.average, weights, zero_division)

    def found_on(
        self, scored: OutOfFold, targets: Targets, weights: Floats | None
    ) -> dict[str, Any]:
        """Tune or decide on pooled scores, and return the fitted attributes."""
        pooled, rows = pool(targets, scored, weights), np.concatenate(scored.rows)
        found = {"estimator_": scored.fitted}
        if self.name == "expected":
            return found | self._found_by_deciding(pooled)
        if len(np.unique(rows)) < max(len(rows), targets.n_rows):
            total = float(targets.n_rows if weights is None else weights.sum())
            goal = self.goal.with_cap_as_share(total, targets.kind.n_labels)
            return found | self._replace(goal=goal)._found_by_tuning(pooled, rows)
        return found | self._found_by_tuning(pooled, rows)

    def _found_by_tuning(self, pooled: LabelledScores, rows: Array) -> dict[str, Any]:
        """Return the fitted attributes of tuned thresholds.

        The assessment is postponed until it is needed, unless it would keep too many scores.
        """
        tuned = assessed = tune_checked(pooled, self.goal)
        assert tuned._tuning is not None
        stairs, once = tuned._tuning.stairs, np.unique(rows, return_index=True)[1]
        if len(once) < len(rows):
            pooled = pooled.of_rows(once)
            assessed = tune_silently(pooled, self.goal)
        now = pooled.scores.size > _MOST_KEPT and on_staircase.can_judge(self.goal)
        assert assessed._tuning is not None
        pending = PendingAssessment(assessed, assessed._tuning, tuned)
        return {
            "score_": tuned.score,
            "staircase_": stairs,
            "_rule": self._replace(thresholds=tuned.thresholds),
            "_assessment": pending.assess() if now else None,
            "_pending": None if now else pending,
        }

    def _found_by_deciding(self, pooled: LabelledScores) -> dict[str, Any]:
        """Return the fitted attributes where nothing is tuned.

        The rule has not used the labels of the pooled rows, so their score is not optimistic.
        """
        decision, thresholds = self._decide(pooled.scores, "predict_proba"), None
        if self.goal.average != "samples" or pooled.is_binary:
            thresholds = np.full(pooled.n_labels, decision.thresholds)
        return {
            "score_": self.score(pooled.truth, decision.predictions, pooled.weights),
            "staircase_": Staircase.of_checked(pooled),
            "_rule": self._replace(thresholds=thresholds),
            "_assessment": None,
            "_pending": None,
        }

    def _decide(self, scores: Any, name: str) -> Decision:
        """Return the best predictions for these rows, decided together."""
        goal, matrix = self.goal, open_probabilities(scores, name)
        return decide_matrix(matrix, goal.metric, goal.average, goal.objective.zero_division)


class PendingAssessment(NamedTuple):
    """Everything needed to assess thresholds later."""

    assessed: Thresholds  # tuned with each row counted once
    tuning: Tuning  # the tuning behind `assessed`, which drops it when it is pickled
    tuned: Thresholds  # on all scores, where rows were scored several times

    def assess(self) -> Assessment:
        """Assess what the thresholds will reach on new rows."""
        found = assess_tuned(self.assessed, self.tuning, Draws())
        return replace(found, thresholds=replace(self.tuned, _tuning=None))  # drops the scores
