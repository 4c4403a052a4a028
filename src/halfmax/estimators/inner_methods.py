"""What `ThresholdClassifier` passes on from the estimator inside: its scores, classes and tags."""

from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfmax.estimators.fitted_rule import FIXED, FittedRule
from halfmax.estimators.fixed_thresholds import classes_of, is_fitted
from halfmax.estimators.responses import takes_many_labels


def _estimator_has(method: str) -> Any:
    return lambda self: hasattr(self._inner, method)


def _has_decision_function(self: Any) -> bool:
    return hasattr(self._inner, "decision_function") or is_regressor(self._inner)


class InnerMethods:
    """The methods and attributes of the inner estimator, fitted here or before."""

    estimator: Any
    thresholds: Any

    @property
    def _inner(self) -> Any:
        """The estimator that predicts: the one fitted in `fit`, or the one passed."""
        return getattr(self, "estimator_", self.estimator)

    def _rule_for(self, X: Any) -> FittedRule:
        """Return how to predict X."""
        raise NotImplementedError

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the estimator's probabilities, in the shape that it returns them."""
        check_is_fitted(self)
        return self._inner.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the estimator's probabilities."""
        check_is_fitted(self)
        return self._inner.predict_log_proba(X)

    @available_if(_has_decision_function)
    def decision_function(self, X: Any) -> Any:
        """Return the estimator's scores; of a regressor, its predictions."""
        check_is_fitted(self)
        if hasattr(self._inner, "decision_function"):
            return self._inner.decision_function(X)
        scores = self._inner.predict(X)
        positive = self._rule_for(X).kind.positive
        return scores if positive else 1.0 - scores  # high means classes_[1]

    @property
    def classes_(self) -> Any:
        """The classes, as the fitted estimator has them."""
        self._require_fit("classes_")
        rule: FittedRule | None = getattr(self, "_rule", None)
        if rule is None or hasattr(self._inner, "classes_"):
            return classes_of(self._inner, self.thresholds)
        kind = rule.kind
        return kind.classes if kind.is_binary else [np.array([0, 1])] * kind.n_labels

    def __sklearn_is_fitted__(self) -> bool:
        rule: FittedRule | None = getattr(self, "_rule", None)
        if self.thresholds is None:
            return rule is not None and rule.name != FIXED
        return rule is not None or is_fitted(self.estimator)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)  # type: ignore[misc]
        tags.input_tags = inner.input_tags
        tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
        many = takes_many_labels(self.estimator)
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = many
        tags.classifier_tags.multi_class = False
        return tags

    def _require_fit(self, name: str) -> None:
        if not self.__sklearn_is_fitted__():
            raise AttributeError(f"{name} is available after fit")
