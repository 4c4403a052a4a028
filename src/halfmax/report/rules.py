"""The thresholds of other rules for the same data, and what each rule would predict."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax import _apply
from halfmax._inputs import LabelledScores
from halfmax._options import AVERAGES, Guard
from halfmax.choosing import Choice, count_at
from halfmax.label_health import floods
from halfmax.metrics import Objective
from halfmax.scoring import mean_of_known, score
from halfmax.thresholds import Thresholds
from halfmax.tuning import choose_with

Array = npt.NDArray[Any]

TUNED, USUAL = "tuned", "usual"
INSTEAD = {"macro": "macro", "micro": "micro", "samples": "per-instance"}  # words for averages


class Rule(NamedTuple):
    """Thresholds by one rule, what they count on the data, and what that amounts to."""

    key: str
    name: str
    choice: Choice
    scores: dict[str, float]  # by average; of one classifier its score, as "binary"
    per_row: float  # labels predicted
    never: int  # labels that nobody is predicted for
    flooding: int


def find_rules(
    data: LabelledScores, thresholds: Thresholds, objective: Objective, guard: Guard | None
) -> list[Rule]:
    """The thresholds given, the usual cut, and what would be best for each average."""
    usual, average = usual_cut(data), thresholds.average
    these = "these thresholds" if data.is_binary else f"these thresholds, for {INSTEAD[average]}"
    what = {
        TUNED: (these, thresholds.thresholds),
        USUAL: (f"{usual:g} for all", np.full(data.n_labels, usual)),
    }
    if not data.is_binary:
        plain = Objective(objective.metric, objective.zero_division)
        for other in AVERAGES:
            if (other != average or thresholds.shared) and can_be_tuned(other, plain, guard):
                found = choose_with(data, other, True, plain, guard).thresholds
                what[other] = f"best for {INSTEAD[other]}", found
    return [_judge(key, name, data, limits, objective) for key, (name, limits) in what.items()]


def can_be_tuned(average: str, objective: Objective, guard: Guard | None) -> bool:
    """Whether labels can have thresholds of their own for it."""
    if guard is not None and guard.name == "fbr" and average != "macro":
        return False
    return not (np.isnan(objective.zero_division) and average != "micro")


def usual_cut(data: LabelledScores) -> float:
    """Where classifiers cut by themselves: at one half, or at 0 if scores are no probabilities."""
    return 0.5 if data.may_be_probabilities else 0.0


def _judge(key: str, name: str, data: LabelledScores, limits: Array, objective: Objective) -> Rule:
    choice = count_at(data, limits)
    plain = Objective(objective.metric, objective.zero_division)
    each = plain(*choice.counts)
    if data.is_binary:
        scores = {"binary": float(each[0])}
    else:
        predictions = _apply.predict(data.scores, limits)
        how = objective.metric, "samples", data.weights, objective.zero_division
        scores = {
            "macro": mean_of_known(each),
            "micro": plain(*(part.sum() for part in choice.counts)).item(),
            "samples": score(data.truth, predictions, *how),
        }
    flooding = floods(choice.predicted, choice.positives, choice.total)
    return Rule(
        key,
        name,
        choice._replace(thresholds=limits, stairs=None),
        scores,
        per_row=float(choice.predicted.sum() / data.total),
        never=int((choice.predicted == 0).sum()),
        flooding=int(flooding.sum()),
    )
