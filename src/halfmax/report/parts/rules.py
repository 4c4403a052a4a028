"""The thresholds of other rules for the same data, and what each rule would predict."""

from typing import NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Floats
from halfmax.metrics.average import AVERAGES, mean_of_known
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import score
from halfmax.metrics.words import AVERAGE_WORDS
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, best_thresholds, count_at, grid_of, read_at
from halfmax.tuning.found import Tuning
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds

TUNED, USUAL = "tuned", "usual"
MANY = 1 << 27  # scores; what looks at whole rows would take too much memory and time for more


class JudgedRule(NamedTuple):
    """Thresholds by one rule, what they count on the data, and what that amounts to."""

    key: str
    name: str
    choice: Choice
    scores: dict[str, float]  # by average; of one classifier its score, as "binary"
    per_row: float  # labels predicted
    never: int  # labels that nobody is predicted for
    flooding: int


class Found(NamedTuple):
    """The rules that are compared, by their keys: names for readers, and thresholds."""

    names: dict[str, str]
    limits: dict[str, Floats]


def find_rules(thresholds: Thresholds, tuning: Tuning) -> Found:
    """The thresholds given, the usual cut, and what is best for other averages, floors aside."""
    data, goal = tuning.load(), tuning.goal
    usual, average = usual_cut(data), thresholds.average
    one = "this threshold", f"{usual:g}"
    many = f"these thresholds, for {AVERAGE_WORDS.get(average)}", f"{usual:g} for all"
    these, cut = one if data.is_binary else many
    names = {TUNED: these, USUAL: cut}
    limits = {TUNED: thresholds.thresholds, USUAL: np.full(data.n_labels, usual)}
    others = () if data.is_binary else AVERAGES
    for other in others:
        if other == average and not thresholds.shared:
            continue
        best = _best(tuning, Goal(goal.objective.without_floors, other, guard=goal.guard))
        if best is not None:
            kind = "best" if goal.guard is None else f"guard {goal.guard}"
            names[other], limits[other] = f"{kind} for {AVERAGE_WORDS[other]}", best
    return Found(names, limits)


def _best(tuning: Tuning, goal: Goal) -> Floats | None:
    """The best thresholds of each label for another average, unless these cannot be found."""
    data = tuning.load()
    if goal.average == "samples" and data.scores.size > MANY:
        return None
    try:
        goal = goal.settle(data.is_binary)
        if goal.guard is None:
            return best_thresholds(data, goal, tuning.stairs)
        return choose_thresholds(data, goal).thresholds
    except ValueError:  # the micro average of a metric that is no ratio, for one
        return None


def usual_cut(data: LabelledScores) -> float:
    """Where classifiers cut by themselves: at one half, or at 0 if scores are no probabilities."""
    return 0.5 if data.may_be_probabilities else 0.0


def judge_rules(
    found: Found, data: LabelledScores, stairs: Staircase, objective: Objective
) -> list[JudgedRule]:
    """What each rule counts and reaches; its thresholds are steps of `stairs`."""
    return [
        _judge(key, name, data, _counted(data, stairs, found.limits[key]), objective)
        for key, name in found.names.items()
    ]


def _counted(data: LabelledScores, stairs: Staircase, limits: Floats) -> Choice:
    """Sums of weights are taken apart, so that no sum depends on what else is counted."""
    if data.weights is not None:
        found = count_at(data, limits)
    else:
        found = read_at(stairs, grid_of(limits, data.scores.dtype))
    return found._replace(thresholds=limits)


def _judge(
    key: str, name: str, data: LabelledScores, choice: Choice, objective: Objective
) -> JudgedRule:
    each, predicted = objective(*choice.counts), choice.counts.predicted
    if data.is_binary:
        scores = {"binary": float(each[0])}
    else:
        predictions = predict.predict(data.scores, choice.thresholds)
        zero = objective.zero_division
        scores = {
            "macro": mean_of_known(each),
            "micro": objective(*choice.counts.pooled()).item(),
            "samples": score(
                data.truth, predictions, objective.metric, "samples", data.weights, zero
            ),
        }
    return JudgedRule(
        key,
        name,
        choice,
        scores,
        per_row=float(predicted.sum() / data.total),
        never=int((predicted == 0).sum()),
        flooding=int(choice.counts.floods().sum()),
    )
