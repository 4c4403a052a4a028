"""Names of metrics, averages and rules as pages and axes show them."""

from halfmax.metrics.metric import JACCARD, FBeta, find_metric

AVERAGE_WORDS = {
    "macro": "macro",
    "micro": "micro",
    "samples": "per-instance",
}


def metric_name(metric: str) -> str:
    """Return the name to show: F1 for f1; a metric of the user's own keeps its name."""
    if _beta(metric) is not None:
        return metric.upper()
    return "Jaccard" if metric == JACCARD.name else metric


def name_of_rule(metric: str) -> str:
    """Return the formula of the threshold of calibrated probabilities: F*/2 for F1."""
    beta = _beta(metric)
    if beta is not None:
        return f"F*/{1.0 + beta**2:.4g}"
    return "J*/(1 + J*)" if metric == JACCARD.name else "plug-in threshold"


def _beta(metric: str) -> float | None:
    try:
        found = find_metric(metric)
    except ValueError:
        return None  # a metric of the user's own
    return found.beta if isinstance(found, FBeta) else None
