"""What displays mark for a `ThresholdClassifier`, which has chosen its own threshold."""

from typing import Any, NamedTuple

from sklearn.pipeline import Pipeline

from halfmax.estimators.responses import find_method
from halfmax.estimators.targets import TargetKind
from halfmax.estimators.threshold_classifier import ThresholdClassifier
from halfmax.metrics.cost import RowCost
from halfmax.metrics.metric import Metric


class Asked(NamedTuple):
    """What the caller of `from_estimator` asked for; None where the default is wanted."""

    metric: str | Metric | None
    threshold: float | None
    pos_label: Any
    response_method: Any

    def of(self, estimator: Any, X: Any) -> "Asked":
        """Fill in what a classifier with a threshold of its own has chosen; others choose nothing.

        The threshold is that of one class in scores of one method, and no other.
        """
        model = estimator
        if isinstance(estimator, Pipeline) and isinstance(estimator[-1], ThresholdClassifier):
            model, X = estimator[-1], estimator[:-1].transform(X)
        if not isinstance(model, ThresholdClassifier):
            return self
        rule = model._rule_for(X)
        if not rule.kind.is_binary or rule.name == "expected" or rule.thresholds is None:
            return self
        assert rule.kind.classes is not None
        own = None if isinstance(rule.goal.metric, RowCost) else rule.goal.metric
        metric = own if self.metric is None else self.metric
        pos_label = model.pos_label if self.pos_label is None else self.pos_label
        method = rule.method if self.response_method == "auto" else self.response_method
        positive = TargetKind.of_classes(rule.kind.classes, pos_label).positive
        threshold = self.threshold
        is_its_own = positive == rule.kind.positive and find_method(model, method) == rule.method
        if threshold is None and is_its_own:
            threshold = float(rule.thresholds[0])
        return Asked(metric, threshold, pos_label, method)
