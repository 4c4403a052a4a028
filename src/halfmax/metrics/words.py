"""Names of metrics, averages and rules as pages and axes show them."""

from typing import Any

from halfmax._core.result import Table
from halfmax.metrics.metric import FBeta, Metric
from halfmax.metrics.named import find_metric

AVERAGE_WORDS = {
    "macro": "macro",
    "micro": "micro",
    "samples": "per-instance",
    "weighted": "weighted",
}
_SHOWN = {
    "jaccard": "Jaccard",
    "mcc": "MCC",
    "balanced_accuracy": "balanced accuracy",
    "youden": "Youden's J",
    "gmean": "G-mean",
    "npv": "NPV",
    "fowlkes_mallows": "Fowlkes-Mallows",
}
_COST = "cost("  # how the names of costs begin
_COSTS = {"score": "cost", "expected": "expected_cost", "everyone": "cost_of_everyone"}


def metric_name(metric: str) -> str:
    """Return the name to show: F1 for f1; a metric of the user's own keeps its name."""
    if is_cost(metric):
        return "cost"
    return metric.upper() if _beta(metric) is not None else _SHOWN.get(metric, metric)


def name_of_rule(metric: str) -> str:
    """Return the formula of the threshold of calibrated probabilities: F*/2 for F1."""
    beta = _beta(metric)
    if beta is not None:
        return f"F*/{1.0 + beta**2:.4g}"
    if is_cost(metric) and "tp=" not in metric and "tn=" not in metric:
        return "fp/(fp + fn)"
    return "J*/(1 + J*)" if metric == "jaccard" else "plug-in threshold"


def is_cost(metric: str) -> bool:
    """Return whether a metric is minus a cost, which is shown as it is."""
    return metric.startswith(_COST)


def shown(metric: str, score: Any) -> Any:
    """Return a score as tables and pages show it: the cost itself if the metric is one."""
    return -score + 0.0 if is_cost(metric) else score


def cost_of(metric: str, score: float) -> float:
    """Return the cost that a score stands for; an AttributeError if the metric is not a cost."""
    if not is_cost(metric):
        raise AttributeError(f"costs are known if costs were minimised; the metric is {metric!r}")
    return -score + 0.0


def with_costs(metric: str, table: Table) -> Table:
    """Add the cost to a table beside each score, if the metric is minus a cost."""
    if is_cost(metric):
        costs = {name: column for name, column in table.items() if name in _COSTS}
        table.update({_COSTS[name]: shown(metric, column) for name, column in costs.items()})
    return table


def costs_alone(table: Table) -> Table:
    """Put costs in the places of the scores, which are minus the costs."""
    there = {name: cost for name, cost in _COSTS.items() if cost in table}
    columns = {
        there.get(name, name): table[there.get(name, name)]
        for name in table
        if name not in there.values()
    }
    table.clear()
    table.update(columns)
    return table


def known_metric(name: str) -> Metric | None:
    """Return the metric of that name; None if it is the user's own."""
    try:
        return find_metric(name)
    except ValueError:
        return None


def _beta(name: str) -> float | None:
    metric = known_metric(name)
    return metric.beta if isinstance(metric, FBeta) else None
