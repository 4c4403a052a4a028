"""The rules that a report compares: their thresholds, counts and scores on the same data."""

from typing import NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.types import Floats
from halfmax.metrics.average import AVERAGES, mean_of_known
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import score
from halfmax.metrics.words import AVERAGE_WORDS
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, best_thresholds, count_at, grid_of, read_at
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds
from halfmax.tuning.tuning import Tuning

TUNED, USUAL = "tuned", "usual"


class JudgedRule(NamedTuple):
    """The thresholds of one rule, their counts and their scores."""

    key: str
    name: str
    choice: Choice
    scores: dict[str, float]  # by average; for one classifier its score, as "binary"
    per_row: float  # labels predicted per row
    never: int  # labels that are never predicted
    flooding: int  # labels that flood


class Found(NamedTuple):
    """The names and thresholds of the compared rules, by key."""

    names: dict[str, str]
    limits: dict[str, Floats]


def find_rules(thresholds: Thresholds, tuning: Tuning) -> Found:
    """Find the rules to compare: these thresholds, the default cut, and the best of averages.

    The best thresholds of other averages ignore floors.
    """
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
        best = _best(tuning, Goal(goal.objective.unrestricted, other, guard=goal.guard))
        if best is not None:
            kind = "best" if goal.guard is None else f"guard {goal.guard}"
            names[other], limits[other] = f"{kind} for {AVERAGE_WORDS[other]}", best
    return Found(names, limits)


def _best(tuning: Tuning, goal: Goal) -> Floats | None:
    """Return the best thresholds of each label for an average, or None if it is not possible."""
    data = tuning.load()
    if goal.average == "samples" and data.scores.size > limits.report_row_scores:
        return None
    try:
        goal = goal.settle(data.is_binary)
        if goal.guard is None:
            return best_thresholds(data, goal, tuning.stairs)
        return choose_thresholds(data, goal).thresholds
    except ValueError:  # for example, the micro average of a metric that is not a ratio
        return None


def usual_cut(data: LabelledScores) -> float:
    """Return the default cut of classifiers: 0.5, or 0 if scores are not probabilities."""
    return 0.5 if data.may_be_probabilities else 0.0


def judge_rules(
    found: Found, data: LabelledScores, stairs: Staircase, objective: Objective
) -> list[JudgedRule]:
    """Count and score each rule, whose thresholds are steps of `stairs`."""
    return [
        _judge(key, name, data, _counted(data, stairs, found.limits[key]), objective)
        for key, name in found.names.items()
    ]


def _counted(data: LabelledScores, stairs: Staircase, limits: Floats) -> Choice:
    """Count at the thresholds of a rule.

    Weights are summed separately, so that no sum depends on what else is counted.
    """
    if data.weights is not None:
        found = count_at(data, limits)
    else:
        found = read_at(stairs, grid_of(limits, data.scores.dtype))
    return found._replace(thresholds=limits)


def _judge(
    key: str, name: str, data: LabelledScores, choice: Choice, objective: Objective
) -> JudgedRule:
    """Score the counts of one rule by every average."""
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
