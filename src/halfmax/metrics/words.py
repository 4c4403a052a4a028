"""Metrics as they are written on pages and axes."""

from halfmax.metrics.metric import JACCARD, FBeta, find_metric

AVERAGE_WORDS = {
    "macro": "macro",
    "micro": "micro",
    "samples": "per-instance",
}  # words for averages


def metric_name(metric: str) -> str:
    """F1 rather than f1; a metric of the user's own as it is called."""
    if _beta(metric) is not None:
        return metric.upper()
    return "Jaccard" if metric == JACCARD.name else metric


def name_of_rule(metric: str) -> str:
    """How the threshold of calibrated probabilities is written: F*/2 for F1."""
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
