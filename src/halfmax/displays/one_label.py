"""One label, what is maximised for it, and the thresholds that its displays mark."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.gate.labels import names_or_places, place_of
from halfmax._core.gate.options import check_zero_division
from halfmax._core.predict import predict
from halfmax._core.types import Array
from halfmax.displays.base import require_result
from halfmax.metrics.cost import RowCost, minus_mean_cost, refuse_many_labels
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.words import known_metric
from halfmax.tuning.exact.choose import Choice, choose, count_at
from halfmax.tuning.thresholds import Thresholds


class OneLabel(NamedTuple):
    """The checked data of one label, what is maximised, and the threshold to mark."""

    data: LabelledScores  # 1-D, or a matrix of one column
    objective: Objective
    threshold: float | None  # None is the best one
    label: Hashable | None  # its name, if there are many
    pos_label: Hashable | None  # the positive class, if it is known

    @classmethod
    def ask(
        cls,
        data: LabelledScores,
        metric: str | Metric,
        label: Hashable | None = None,
        threshold: float | None = None,
        zero_division: float = 0.0,
        pos_label: Any = None,
    ) -> "OneLabel":
        """Check the options of a public function, and pick the label."""
        objective = Objective(find_metric(metric), check_zero_division(zero_division))
        if isinstance(objective.metric, RowCost):
            refuse_many_labels(data.is_binary)
        place = place_of(label, data.labels, data.n_labels)
        name = names_or_places(data.labels, data.n_labels)[place]
        if data.is_binary and pos_label is None and data.labels is not None:
            pos_label = name
        return cls(
            data.of_labels(np.array([place])),
            objective,
            None if threshold is None else _check_threshold(threshold),
            None if data.is_binary else name,
            pos_label,
        )

    @classmethod
    def of_thresholds(
        cls, thresholds: Thresholds, label: Hashable | None, display: str = "ThresholdCurveDisplay"
    ) -> "OneLabel":
        """Return one label of the data that were tuned, with its tuned threshold to mark.

        `display` is the class to suggest if there are no data.
        """
        tuning = require_result(Thresholds, thresholds, "thresholds", "tune")._tuning
        if tuning is None:
            raise ValueError(
                "thresholds do not know the data that they were tuned on (they were loaded, "
                "unpickled or set by hand): with data, use "
                f"{display}.from_predictions({_arguments(thresholds, label)})"
            )
        place = place_of(label, thresholds.labels, len(thresholds.thresholds))
        chosen, objective = float(thresholds.thresholds[place]), tuning.goal.objective
        return cls.ask(tuning.load(), objective.metric, label, chosen, objective.zero_division)

    def of_rows(self, rows: Array, threshold: float) -> "OneLabel":
        """Return the label on some of the rows, with the threshold of all of them marked."""
        objective = self.objective
        if isinstance(objective.metric, RowCost):
            objective = Objective(objective.metric.of_rows(rows), objective.zero_division)
        return self._replace(data=self.data.of_rows(rows), objective=objective, threshold=threshold)

    @property
    def base_rate(self) -> float:
        """The share of positives."""
        return float(self.data.positives[0] / self.data.total)

    def marks(self) -> "Marks":
        """Find the best threshold, and what it and the chosen one reach."""
        chosen = best = choose(self.data, Goal(self.objective))
        if self.threshold is not None:
            marked = np.array([self.threshold])
            chosen = count_at(self.data, marked)._replace(thresholds=marked)
        best_score = self.score_of(best)
        return Marks(
            threshold=float(chosen.thresholds[0]),
            score=self.score_of(chosen),
            best_threshold=float(best.thresholds[0]),
            best_score=best_score,
            half_max=self._half_max(best_score),
            base_rate=self.base_rate,
            metric=self.objective.metric.name,
            label=self.label,
            pos_label=self.pos_label,
        )

    def score_of(self, choice: Choice) -> float:
        """Return the metric of a threshold, counted or from the costs of rows."""
        metric, data = self.objective.metric, self.data
        if isinstance(metric, RowCost):
            predictions = predict(data.scores, choice.thresholds)
            return minus_mean_cost(metric, data.truth, predictions, data.weights)
        return float(self.objective(*choice.counts)[0])

    def _half_max(self, best_score: float) -> float | None:
        """Return the best threshold of calibrated probabilities, if a law gives it."""
        metric = self.objective.metric
        if not self.data.may_be_probabilities or not self.base_rate:
            return None
        if metric.is_cost and not metric.monotone:  # such as a false alarm that pays
            return None
        found = metric.plug_in(np.array([best_score]), np.array([self.base_rate]))[0]
        return float(found) if np.isfinite(found) else None


def _arguments(t: Thresholds, label: Hashable | None) -> str:
    """Return what to pass to draw one of these thresholds with data, as Python code."""
    words = ["y_true", "y_score"]
    if t.metric != "f1":
        words.append("metric" if known_metric(t.metric) is None else f"metric={t.metric!r}")
    if label is not None:
        words.append(f"label={label!r:.60}")
    elif t.average == "binary" and t.labels is not None and isinstance(t.labels[0], str):
        words.append(f"pos_label={t.labels[0]!r:.60}")
    one = "t.threshold" if label is None else f"t[{label!r:.60}]"
    return ", ".join([*words, f"threshold={one}"])


class Marks(NamedTuple):
    """Fields that the displays of one label share."""

    threshold: float
    score: float
    best_threshold: float
    best_score: float
    half_max: float | None
    base_rate: float
    metric: str
    label: Hashable | None
    pos_label: Hashable | None


def refuse_costs_of_rows(metric: Metric) -> None:
    """Refuse costs for each row in a display of counts."""
    if isinstance(metric, RowCost):
        raise ArgumentError(
            f"{in_python('metric')} has costs for each row, which counts cannot show: use "
            "CostCurveDisplay, or one number for each outcome, such as cost(fp=1, fn=10)"
        )


def metric_of_rows(metric: str | Metric, rows: Array, n_rows: int) -> str | Metric:
    """Return the metric for rows in another order, which matters for costs of rows alone."""
    if not isinstance(metric, RowCost):
        return metric
    metric.require_rows(n_rows)
    return metric.of_rows(rows)


def _check_threshold(threshold: Any) -> float:
    try:
        value = float(threshold)
    except (TypeError, ValueError):
        value = np.nan
    if np.isnan(value) or value == -np.inf:
        raise ValueError(
            f"threshold must be a number, or inf to predict no rows; got {threshold!r:.60}: if "
            "there are many thresholds, pass the one of the label"
        )
    return value
