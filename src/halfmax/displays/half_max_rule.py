"""The thresholds that labels would have if their scores were calibrated probabilities."""

import numpy as np

from halfmax._core.types import Array
from halfmax.displays.base import rows_of
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import LinearFractional, Metric
from halfmax.metrics.named import find_metric
from halfmax.metrics.words import name_of_rule
from halfmax.tuning.thresholds import Thresholds


def thresholds_if_calibrated(t: Thresholds, n_rows: float | None) -> Array:
    """Return the threshold of each label if its scores were calibrated; NaN if it is unknown."""
    _refuse_other_averages(t)
    if t._unknown.all() or (t.average == "micro" and np.isnan(t.score)):
        raise ValueError(
            "the scores that these thresholds reach are unknown, and so is their "
            f"{name_of_rule(t.metric)}"
        )
    finite = t.thresholds[np.isfinite(t.thresholds)]
    if len(finite) and not (finite.min() >= 0.0 and finite.max() <= 1.0):
        wrong = finite[(finite < 0.0) | (finite > 1.0)][0]
        raise ValueError(not_probabilities(t.metric, f"a threshold is {wrong:.4g}"))
    metric = require_rule(t._tuning.goal.metric if t._tuning else find_metric(t.metric))
    pooled = t.average == "micro"
    reached = np.full(len(t.thresholds), t.score) if pooled else t.label_scores
    known = (t.support > 0) & ((reached > 0) | metric.is_cost)
    rates = None
    if not isinstance(metric, LinearFractional):  # its ratio depends on the base rate
        rates = t.support / rows_of(t, n_rows)
        rates = np.full(len(rates), rates.mean()) if pooled else rates
    return np.where(known, metric.plug_in(reached, rates), np.nan)


def _refuse_other_averages(t: Thresholds) -> None:
    if t.average == "samples" or (t.shared and t.average in ("macro", "weighted")):
        raise ValueError(
            "thresholds must be tuned for each label (average='macro' with per_label=True) or for "
            f"pooled counts (average='micro') to be compared with the {name_of_rule(t.metric)}; "
            f"got average={t.average!r} with per_label={not t.shared}"
        )


def ask(metric: str | Metric, zero_division: float) -> Goal:
    """Check the options of a public function."""
    goal = Goal.ask(metric, zero_division=zero_division)
    require_rule(goal.metric)
    return goal


def require_rule(metric: Metric) -> Metric:
    """Refuse metrics whose best threshold no law gives, even if scores are calibrated."""
    if metric.ratio_at(0.5, 0.5) is None:
        raise ValueError(
            "metric must be a ratio of weighted sums of tp, fp, fn and tn, such as 'f1', 'kappa', "
            "cost(fp=1, fn=10) or a LinearFractional: for other metrics no law gives the best "
            f"threshold of calibrated probabilities; got {metric!r}"
        )
    return metric


def not_probabilities(metric: str, found: str) -> str:
    """Return the message about scores that are no probabilities."""
    return (
        "scores must be probabilities, from 0 to 1, to be compared with the "
        f"{name_of_rule(metric)}; {found}: calibrate them first, for example with scikit-learn's "
        "CalibratedClassifierCV"
    )
