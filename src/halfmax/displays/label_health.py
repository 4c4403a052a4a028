"""`LabelHealthDisplay`: how often each label is predicted against how often it occurs."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.gate.labelled import LabelledScores, read_labelled
from halfmax._core.gate.labels import Labels, names_or_places
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.displays.base import (
    MANY_POINTS,
    Display,
    ink_of,
    name_of_estimator,
    put_legend,
    require_result,
    rows_of,
)
from halfmax.displays.lettering import name_points
from halfmax.displays.style import BLUE, GREEN, GREY, ORANGE, PALE
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.flooding import FLOOD_SHARE, FLOOD_TIMES, floods
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import Metric
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import choose_thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class LabelHealthDisplay(Display):
    """The share of rows that each label is predicted for, against its base rate.

    A label floods if it is predicted for more than 5 % of rows and more than 10 times its base
    rate: the shaded region. Create it with `from_thresholds`, `from_predictions`, `from_estimator`
    or `from_diagnosis`.

    Attributes
    ----------
    labels : tuple
        The names of the labels, or their column numbers.
    base_rate : ndarray of shape (m,)
        The share of rows that are positive.
    share : ndarray of shape (m,)
        The share of rows that are predicted.
    flooding : ndarray of bool of shape (m,)
        The labels that flood.
    n_rows : float
        The number of rows, or the sum of their weights.
    name : str or None
        The title of plots that are not passed another one.

    See Also
    --------
    diagnose : Find labels that will misbehave on new data.
    HalfMaxDisplay : Check the calibration of labels.

    Examples
    --------
    >>> from halfmax import tune
    >>> t = tune([[1, 0], [0, 0], [0, 1]], [[0.9, 0.2], [0.1, 0.2], [0.2, 0.2]])
    >>> LabelHealthDisplay.from_thresholds(t).share.round(2)
    array([0.33, 1.  ])
    """

    labels: Labels
    base_rate: Array
    share: Array
    flooding: Array
    n_rows: float

    @classmethod
    def from_thresholds(
        cls,
        thresholds: Thresholds,
        n_rows: float | None = None,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `tune`.

        Parameters
        ----------
        thresholds : Thresholds
            The tuned thresholds.
        n_rows : float, optional
            The number of rows, or the sum of their weights. It is required for thresholds that were
            loaded from a file, which does not store it.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        return cls._of(thresholds, n_rows)._show(ax, name, how)

    @classmethod
    def _of(cls, thresholds: Thresholds, n_rows: float | None = None) -> Self:
        t = require_result(Thresholds, thresholds, "thresholds", "tune")
        labels = names_or_places(t.labels, len(t.thresholds))
        if t._unknown.any():
            raise ValueError(
                "thresholds must have known counts to be drawn; how many rows those of "
                f"{spell_out([labels[j] for j in np.flatnonzero(t._unknown)], most=3)} predict is "
                "unknown: use tune(y_true, y_score).replace(t.to_dict()), which counts them"
            )
        return cls._from_counts(labels, t.support, t.predicted, rows_of(t, n_rows))

    @classmethod
    def _from_counts(cls, labels: Labels, support: Array, predicted: Array, total: float) -> Self:
        flooding = floods(predicted, support, total)
        return cls(labels, support / total, predicted / total, flooding, float(total))

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric = "f1",
        average: str = "macro",
        *,
        labels: Iterable[Hashable] | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        guard: str | None = None,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Tune labelled scores and draw the result.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, two classes as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`.
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        average : {"macro", "micro", "samples", "weighted"}, default="macro"
            The average over labels, as in `tune`.
        labels : iterable, optional
            The names of the labels.
        pos_label : class, optional
            The positive class, as in `tune`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        guard : str, optional
            A guard of the thresholds, as in `tune`.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        goal = Goal.ask(metric, average, guard=guard, zero_division=zero_division)
        data = read_labelled(y_true, y_score, sample_weight, labels, pos_label)
        return cls._tuned(data, goal)._show(ax, name, how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        metric: str | Metric = "f1",
        average: str = "macro",
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        guard: str | None = None,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Tune the scores of a fitted scikit-learn estimator and draw the result.

        Parameters
        ----------
        estimator : scikit-learn estimator
            A fitted classifier or regressor.
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels.
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        average : {"macro", "micro", "samples", "weighted"}, default="macro"
            The average over labels, as in `tune`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        guard : str, optional
            A guard of the thresholds, as in `tune`.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        name : str, optional
            The title; the class of the estimator if None.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        from halfmax.estimators.threshold_scorer import scored_rows

        goal = Goal.ask(metric, average, guard=guard, zero_division=zero_division)
        data = scored_rows(estimator, X, y, sample_weight, response_method, pos_label)
        return cls._tuned(data, goal)._show(ax, name_of_estimator(estimator, name), how)

    @classmethod
    def _tuned(cls, data: LabelledScores, goal: Goal) -> Self:
        found = choose_thresholds(data, goal.settle(data.is_binary)).counts
        names = names_or_places(data.labels, data.n_labels)
        return cls._from_counts(names, found.positives, found.predicted, data.total)

    @classmethod
    def from_diagnosis(
        cls,
        diagnosis: Diagnosis,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `diagnose`.

        Parameters
        ----------
        diagnosis : Diagnosis
            The diagnosis.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        LabelHealthDisplay
            The display, drawn.
        """
        require_result(Diagnosis, diagnosis, "diagnosis", "diagnose")
        return cls._of_diagnosis(diagnosis)._show(ax, name, how)

    @classmethod
    def _of_diagnosis(cls, d: Diagnosis) -> Self:
        return cls._from_counts(d.labels, d.support, d.predicted, d.n_rows)

    def _draw(self, ax: "Axes", name: str | None) -> None:
        low = self._set_limits(ax)
        self._draw_regions(ax, low)
        x, y = (np.maximum(part, low) for part in (self.base_rate, self.share))
        self._draw_labels(ax, x, y)
        put_legend(ax, name, columns=2)
        ax.set(xlabel="base rate of the label", ylabel="share of rows predicted")
        worst = np.flatnonzero(self.flooding)
        worst = worst[np.argsort(-self.share[worst] / np.maximum(self.base_rate[worst], low))]
        name_points(ax, x[worst], y[worst], [self.labels[j] for j in worst], ink_of(ax))

    def _set_limits(self, ax: "Axes") -> float:
        """Return where shares of 0 are drawn, which a logarithmic axis cannot show."""
        shares = np.concatenate([self.base_rate, self.share])
        least = shares[shares > 0].min(initial=1.0)
        low = 0.4 * min(least, 0.02)
        ax.set(xscale="log", yscale="log", xlim=(0.8 * low, 1.2), ylim=(0.8 * low, 1.2))
        return float(low)

    def _draw_regions(self, ax: "Axes", low: float) -> None:
        edge = np.geomspace(0.8 * low, 1.0 / FLOOD_TIMES, 200)
        ax.fill_between(
            edge,
            np.maximum(FLOOD_SHARE, FLOOD_TIMES * edge),
            1.0,
            color=PALE,
            linewidth=0,
            label="region of flooding",
        )
        look: dict[str, Any] = {
            "color": GREY,
            "linewidth": 1.0,
            "zorder": 1,
            "label": "as often as it occurs",
        }
        ax.plot([low, 1.0], [low, 1.0], **look)

    def _draw_labels(self, ax: "Axes", x: Array, y: Array) -> None:
        none, absent = self.share == 0, (self.base_rate == 0) & (self.share > 0)
        healthy = ~(self.flooding | none | absent)
        many, labels = len(x) > MANY_POINTS, "label" if healthy.sum() == 1 else "labels"
        for here, colour, mark, what in (
            (healthy, BLUE, "o", f"{labels} predicted, not flooding"),
            (self.flooding & ~absent, ORANGE, "D", "flooding"),
            (absent, GREEN, "<", "without positives, predicted"),
            (none, GREY, "v", "never predicted"),
        ):
            if here.any():
                size = (1.6 if mark == "o" else 2.2) if many else 4.0
                look: dict[str, Any] = {
                    "color": colour,
                    "markersize": size,
                    "markeredgewidth": 0,
                    "zorder": 2,
                }
                label = f"{here.sum():,} {what}"
                ax.plot(x[here], y[here], mark, label=label, rasterized=many, **look)
