"""One cut for all labels, at the same probability: the best for pooled counts, or for rows."""

import numpy as np

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.metrics.objective import Objective
from halfmax.tuning.exact.groups import group_scores
from halfmax.tuning.exact.shared import best_shared
from halfmax.tuning.guard.cuts import ROUNDING, CutPlan


def reach_one_cut(data: LabelledScores, plan: CutPlan, average: str, objective: Objective) -> Array:
    """Return how many bands each label predicts at the best cut for a micro or samples average."""
    if average == "samples":
        cut = _best_for_rows(data, plan, objective)
    else:
        cut = _best_for_pooled(plan, objective)
    reached = (plan.probabilities >= cut * (1.0 - ROUNDING)).sum(axis=1)
    within: Array = np.minimum(reached, plan.allowed)
    return within


def _best_for_pooled(plan: CutPlan, objective: Objective) -> float:
    """Find the cut with the best score of the expected pooled counts."""
    if objective.metric.ratio_at(0.5, 0.5) is None:
        raise ArgumentError(
            f"{in_python('guard')} with {setting('average', 'micro')} needs a metric that is a "
            "ratio of weighted sums of the counts, such as 'f1', 'kappa' or a cost; got "
            f"{objective.metric.name!r}"
        )
    rows = plan.bands.rows[:, :-1].ravel()
    probabilities = plan.probabilities.ravel()
    order = np.argsort(-probabilities, kind="stable")
    predicted = np.cumsum(rows[order])
    hits = np.cumsum((rows * probabilities)[order])
    size = plan.bands.total * plan.bands.n_labels
    positives = float(plan.bands.support.sum())
    positives = np.maximum(positives, hits[-1])
    scores = objective(hits, predicted, positives, size)
    if objective(0, 0, positives, size) > scores.max():
        return np.inf
    return float(probabilities[order[int(np.argmax(scores))]])


def _best_for_rows(data: LabelledScores, plan: CutPlan, objective: Objective) -> float:
    """Find the cut with the best mean over rows of these data: one cut has little to overfit."""
    table = np.concatenate([plan.probabilities, np.full((plan.bands.n_labels, 1), -np.inf)], axis=1)
    ascending = plan.bands.edges[0, ::-1]  # the same for all labels

    def look_up(scores: Array, label: Array) -> Array:
        band = len(ascending) - np.searchsorted(ascending, scores, side="right")
        return np.where(scores > -np.inf, table[label, band], -np.inf)

    if isinstance(data.scores, np.ndarray):
        calibrated = look_up(data.scores, np.arange(data.n_labels)[None, :])
    else:
        calibrated = data.scores.copy()
        calibrated.data = look_up(calibrated.data, calibrated.indices)
    return best_shared(group_scores(data._replace(scores=calibrated), "samples"), objective)
