"""The options of `ThresholdClassifier` and the scorer: checked, and turned into a goal.

Both have the options of `tune` as parameters of the same names, which scikit-learn wants unchecked
until they are used.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from halfmax._core.gate.options import check_share_known
from halfmax._core.text import spell_out
from halfmax.estimators.responses import find_method
from halfmax.expected.ratio import find_ratio
from halfmax.metrics.average import check_average, check_average_without_truth
from halfmax.metrics.cost import RowCost
from halfmax.metrics.goal import Goal
from halfmax.metrics.objective import Objective
from halfmax.metrics.restrictions import OPTIONS as RESTRICTIONS
from halfmax.metrics.words import known_metric
from halfmax.tuning.exact import micro
from halfmax.tuning.thresholds import Thresholds

_RULES = ("empirical", "expected")


def ask_goal(owner: Any) -> Goal:
    """Check the options of `tune` that are parameters of the owner, each by itself."""
    goal = Goal.ask(
        owner.metric,
        owner.average,
        owner.per_label,
        owner.guard,
        owner.zero_division,
        **{name: getattr(owner, name) for name in RESTRICTIONS},
    )
    if isinstance(goal.metric, RowCost):
        raise ValueError(
            "metric has costs for each row, which cannot be divided into folds with X and y: use "
            "one number for each outcome, such as cost(fp=1, fn=10); or tune out-of-fold scores, "
            "t = tune(y, scores, metric=...), and use ThresholdClassifier(..., thresholds=t)"
        )
    return goal


def settle_goal(goal: Goal, one_classifier: bool) -> Goal:
    """Return the goal for one classifier or for many labels, or refuse it before any fit."""
    settled = goal.settle(one_classifier)
    if settled.average_shown == "micro" and settled.per_label and settled.guard is None:
        micro.require_ratio(settled.metric, 0.5, 1.0)
    return settled


def check_goal(goal: Goal) -> None:
    """Refuse a goal that has a meaning neither for one classifier nor for many labels."""
    try:
        settle_goal(goal, one_classifier=True)
    except ValueError:
        settle_goal(goal, one_classifier=False)


def goal_for(owner: Any, one_classifier: bool) -> Goal:
    """Return the goal of a classifier: what it tunes or decides for, or what it is scored by."""
    if owner.thresholds is not None:
        goal = _with_metric_of(owner.thresholds, ask_goal(owner))
        average = check_average(goal.average, one_classifier)
        return replace(goal, average=average, one_classifier=one_classifier)
    if owner.rule == "empirical":
        return settle_goal(ask_goal(owner), one_classifier)
    find_ratio(owner.metric)  # first, because its error offers only what this rule can maximise
    goal = ask_goal(owner).settle(one_classifier)
    check_average_without_truth(goal.average, one_classifier)
    check_share_known("zero_division", goal.objective.zero_division)
    return goal


def _with_metric_of(thresholds: Any, goal: Goal) -> Goal:
    """Score fixed thresholds by the metric that they were tuned for, unless another was chosen."""
    metric = known_metric(thresholds.metric) if isinstance(thresholds, Thresholds) else None
    if metric is None or goal.metric.name != "f1":
        return goal
    return replace(goal, objective=Objective(metric, goal.objective.zero_division))


def check_method(owner: Any) -> str:
    """Check the options that do not depend on the data, and return the method that scores."""
    if owner.rule not in _RULES:
        raise ValueError(f"rule must be {spell_out(_RULES, 'or')}; got {owner.rule!r}")
    if not isinstance(owner.refit, (bool, np.bool_)):
        raise ValueError(f"refit must be True or False; got {owner.refit!r}")
    method = find_method(owner.estimator, owner.response_method)
    if owner.thresholds is not None:
        _check_fixed(owner)
    elif owner.rule == "expected":
        _check_expected(owner, method)
    return method


def _check_fixed(owner: Any) -> None:
    if owner.rule != "empirical":
        raise ValueError(
            f"thresholds are fixed, while rule={owner.rule!r} finds its own for each batch: use "
            "rule='empirical', or leave thresholds None"
        )
    for name in ("guard", *RESTRICTIONS):
        _refuse(owner, name, None, "thresholds that are tuned, and these are fixed by thresholds=")


def _check_expected(owner: Any, method: str) -> None:
    why = "rule='empirical'; with rule='expected' nothing is tuned"
    for name in ("guard", *RESTRICTIONS):
        _refuse(owner, name, None, why)
    if not owner.per_label:
        _refuse(owner, "per_label", True, why)
    if method != "predict_proba":
        raise ValueError(
            "rule='expected' needs probabilities, but the scores of this estimator come from "
            f"{method}: use a classifier with predict_proba; CalibratedClassifierCV adds it to "
            "any classifier"
        )


def _refuse(owner: Any, name: str, default: Any, why: str) -> None:
    value = getattr(owner, name)
    if value is not default:
        raise ValueError(f"{name} is for {why}: leave it {default}; got {value!r}")
