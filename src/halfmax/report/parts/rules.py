"""The rules that a report compares: their thresholds, counts and scores on the same data."""

from typing import NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.limits import limits
from halfmax._core.types import Floats
from halfmax.metrics.average import WEIGHTED, mean_over_labels
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import score
from halfmax.metrics.words import AVERAGE_WORDS, name_of_rule
from halfmax.report.score_words import ScoreWords
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import Choice, best_thresholds, count_at, grid_of, read_at
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds
from halfmax.tuning.tuning import Tuning

TUNED, USUAL, PLUG_IN = "tuned", "usual", "plug-in"


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

    def add(self, key: str, name: str, thresholds: Floats) -> None:
        """Add a rule."""
        self.names[key], self.limits[key] = name, thresholds


def find_rules(thresholds: Thresholds, tuning: Tuning, words: ScoreWords) -> Found:
    """Find the rules to compare: these thresholds, cuts known before, and the best of averages.

    The best thresholds of other averages ignore restrictions.
    """
    data, goal = tuning.load(), tuning.goal
    usual = usual_cut(data)
    found = Found({}, {})
    found.add(TUNED, _name_of_tuned(words), thresholds.thresholds)
    of_all = "" if data.is_binary else " for all"
    found.add(USUAL, f"{usual:g}{of_all}", np.full(data.n_labels, usual))
    cut = plug_in_cut(goal.metric, data)
    if cut is not None and cut != usual:
        name = f"{name_of_rule(goal.metric.name)}{of_all}"
        found.add(PLUG_IN, name, np.full(data.n_labels, cut))
    for other in _others(thresholds, words):
        best = _best(tuning, Goal(goal.objective.unrestricted, other, guard=goal.guard))
        if best is not None:
            found.add(other, _name_of_best(goal, other, words), best)
    return found


def _name_of_tuned(words: ScoreWords) -> str:
    if words.average == "binary":
        return "this threshold"
    return "these thresholds" + ("" if words.is_cost else f", for {AVERAGE_WORDS[words.average]}")


def _others(thresholds: Thresholds, words: ScoreWords) -> list[str]:
    """Return the averages whose best thresholds, one for each label, are not the tuned ones.

    The weighted mean over labels and the plain one have the same best thresholds.
    """
    averages = [average for average in words.averages if average != WEIGHTED]
    if thresholds.shared:
        return averages
    same = "macro" if words.average == WEIGHTED else words.average
    return [average for average in averages if average != same]


def _name_of_best(goal: Goal, average: str, words: ScoreWords) -> str:
    what = AVERAGE_WORDS[average]
    if words.is_cost:
        what = "each label"
    elif words.average == WEIGHTED and average == "macro":
        what = "macro and weighted"
    name = f"best for {what}" if goal.guard is None else f"guard {goal.guard} for {what}"
    return f"{name}, unrestricted" if goal.objective.restrictions else name


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


def plug_in_cut(metric: Metric, data: LabelledScores) -> float | None:
    """Return the threshold of calibrated probabilities if costs alone decide it, or None."""
    if not (metric.is_cost and metric.monotone and data.may_be_probabilities):
        return None
    cut = float(metric.plug_in(np.zeros(1))[0])
    return cut if np.isfinite(cut) else None


def judge_rules(
    found: Found,
    data: LabelledScores,
    stairs: Staircase,
    objective: Objective,
    averages: tuple[str, ...],
) -> list[JudgedRule]:
    """Count each rule, whose thresholds are steps of `stairs`, and score it by each average."""
    judged = []
    for key, name in found.names.items():
        choice = _counted(data, stairs, found.limits[key])
        scores = {average: _score(data, choice, objective, average) for average in averages}
        if data.is_binary:
            scores = {"binary": float(objective(*choice.counts)[0])}
        judged.append(_judged(key, name, data, choice, scores))
    return judged


def _counted(data: LabelledScores, stairs: Staircase, limits: Floats) -> Choice:
    """Count at the thresholds of a rule.

    Weights are summed separately, so that no sum depends on what else is counted.
    """
    if data.weights is not None:
        found = count_at(data, limits)
    else:
        found = read_at(stairs, grid_of(limits, data.scores.dtype))
    return found._replace(thresholds=limits)


def _score(data: LabelledScores, choice: Choice, objective: Objective, average: str) -> float:
    """Score the counts of one rule by an average."""
    if average == "micro":
        return float(objective(*choice.counts.pooled()))
    if average != "samples":
        return mean_over_labels(objective(*choice.counts), average, choice.counts.positives)
    predictions = predict.predict(data.scores, choice.thresholds)
    zero = objective.zero_division
    return score(data.truth, predictions, objective.metric, average, data.weights, zero)


def _judged(
    key: str, name: str, data: LabelledScores, choice: Choice, scores: dict[str, float]
) -> JudgedRule:
    predicted = choice.counts.predicted
    return JudgedRule(
        key,
        name,
        choice,
        scores,
        per_row=float(predicted.sum() / data.total),
        never=int((predicted == 0).sum()),
        flooding=int(choice.counts.floods().sum()),
    )
