"""The thresholds of other rules for the same data, and what each rule would predict."""

from typing import NamedTuple

import numpy as np

from halfmax._core import predict
from halfmax._core.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.metrics.average import AVERAGES, mean_of_known
from halfmax.metrics.goal import Guard
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import score
from halfmax.tuning.exact.choose import Choice, count_at
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_with, refuse_what_cannot_be

TUNED, USUAL = "tuned", "usual"
MANY = 1 << 27  # scores; what looks at whole rows would take too much memory and time for more
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
    """The thresholds given, the usual cut, and what is best for other averages, floors aside."""
    usual, average = usual_cut(data), thresholds.average
    one = "this threshold", f"{usual:g}"
    many = f"these thresholds, for {INSTEAD.get(average)}", f"{usual:g} for all"
    these, cut = one if data.is_binary else many
    what = {
        TUNED: (these, thresholds.thresholds),
        USUAL: (cut, np.full(data.n_labels, usual)),
    }
    if not data.is_binary:
        for other in AVERAGES:
            if other == average and not thresholds.shared:
                continue
            found = _best(data, other, objective, guard)
            if found is not None:
                kind = "best" if guard is None else f"guard {guard}"
                what[other] = f"{kind} for {INSTEAD[other]}", found
    return [_judge(key, name, data, limits, objective) for key, (name, limits) in what.items()]


def _best(
    data: LabelledScores, average: str, objective: Objective, guard: Guard | None
) -> Array | None:
    """The best thresholds of each label for another average, unless these cannot be found."""
    if average == "samples" and data.scores.size > MANY:
        return None
    try:
        refuse_what_cannot_be(data.is_binary, average, True, objective, guard)
        return choose_with(data, average, True, objective, guard).thresholds
    except ValueError:  # the micro average of a metric that is no ratio, for one
        return None


def usual_cut(data: LabelledScores) -> float:
    """Where classifiers cut by themselves: at one half, or at 0 if scores are no probabilities."""
    return 0.5 if data.may_be_probabilities else 0.0


def _judge(key: str, name: str, data: LabelledScores, limits: Array, objective: Objective) -> Rule:
    choice = count_at(data, limits)
    each = objective(*choice.counts)
    if data.is_binary:
        scores = {"binary": float(each[0])}
    else:
        predictions = predict.predict(data.scores, limits)
        how = objective.metric, "samples", data.weights, objective.zero_division
        scores = {
            "macro": mean_of_known(each),
            "micro": objective(*choice.counts.pooled()).item(),
            "samples": score(data.truth, predictions, *how),
        }
    predicted = choice.counts.predicted
    return Rule(
        key,
        name,
        choice._replace(thresholds=limits, stairs=None),
        scores,
        per_row=float(predicted.sum() / data.total),
        never=int((predicted == 0).sum()),
        flooding=int(choice.counts.floods().sum()),
    )
