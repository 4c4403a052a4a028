"""Costs of each row, which a page of counts cannot show: it takes one cost for each outcome."""

from dataclasses import replace

import numpy as np

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax.metrics.cost import Cost, has_costs_of_rows
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.tuning.report_request import ReportRequest
from halfmax.tuning.thresholds import Thresholds


def with_one_cost(request: ReportRequest) -> ReportRequest:
    """Return a request that counts can answer: of costs of each row, with the metric passed."""
    tuned = request.thresholds
    if not has_costs_of_rows(tuned.metric):
        return request
    metric = None if request.metric is None else find_metric(request.metric)
    if not isinstance(metric, Cost):
        got = "" if metric is None else f"; got {setting('metric', metric)}"
        raise ArgumentError(
            f"these thresholds minimise costs of each row, {tuned.metric}, and a report is made of "
            "counts, which cannot show them: pass one cost for each outcome, such as their means, "
            f"{in_python('metric=hm.cost(fp=1, fn=10)')}{got}"
        )
    return replace(request, thresholds=_restated(tuned, metric))


def _restated(tuned: Thresholds, metric: Metric) -> Thresholds:
    """Return the same thresholds for another metric, whose value is not known yet."""
    tuning = tuned._tuning
    if tuning is not None:
        asked = tuning.goal.objective
        objective = Objective(metric, asked.zero_division, asked.restrictions)
        tuning = replace(tuning, goal=replace(tuning.goal, objective=objective), by_hand=True)
    return replace(
        tuned,
        metric=metric.name,
        score=float("nan"),
        label_scores=np.full(len(tuned), np.nan),
        _tuning=tuning,
    )
