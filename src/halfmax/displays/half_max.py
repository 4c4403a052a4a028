"""`HalfMaxDisplay`: tuned thresholds against the thresholds of calibrated probabilities."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.gate.labelled import read_labelled
from halfmax._core.gate.labels import Labels, names_or_places
from halfmax._core.types import Array
from halfmax.displays.base import (
    MANY_POINTS,
    Display,
    ink_of,
    name_of_estimator,
    put_legend,
    require_result,
)
from halfmax.displays.half_max_rule import (
    ask,
    not_probabilities,
    require_rule,
    thresholds_if_calibrated,
)
from halfmax.displays.lettering import name_points
from halfmax.displays.style import BLUE, GREY, ORANGE
from halfmax.expected.decision import Decision
from halfmax.honesty.case import Draws
from halfmax.honesty.diagnose import diagnose_checked
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.metric import Metric
from halfmax.metrics.words import known_metric, name_of_rule
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_TOO_FEW, _PLENTY = 10, 100  # positives
_LOOKS: tuple[dict[str, Any], ...] = (  # for labels with few, some and plenty of positives
    {"color": "#9bb8cc", "markersize": 2.6},
    {"color": BLUE, "markersize": 4.0},
    {"color": None, "markersize": 5.4},  # the colour of text
)


@dataclass(eq=False, repr=False)
class HalfMaxDisplay(Display):
    """Tuned thresholds against F*/2 over labels: a check of calibration.

    If scores are calibrated probabilities, the best threshold of a label is half of its best F1
    (other metrics have a matching cut), and its point lies on the diagonal. Above the diagonal
    scores are too high, below it too low. Create it with `from_thresholds`, `from_predictions`,
    `from_estimator`, `from_diagnosis` or `from_decision`. It is meant for thresholds without a
    guard.

    Attributes
    ----------
    labels : tuple
        The names of the labels, or their column numbers.
    thresholds : ndarray of shape (m,)
        The tuned thresholds; ``+inf``, which predicts no rows, is not drawn.
    half_max : ndarray of shape (m,)
        The best thresholds if the scores were calibrated; NaN is not drawn.
    support : ndarray of shape (m,)
        The positives of each label. The more there are, the darker and larger is the dot.
    miscalibrated : ndarray of bool of shape (m,), or None
        The labels for which a diagnosis found that chance does not explain the difference.
    metric : str
        The name of the metric.
    name : str or None
        The title of plots that are not passed another one.

    See Also
    --------
    plug_in_threshold : The threshold of calibrated probabilities.
    diagnose : Find miscalibrated labels.

    Examples
    --------
    >>> from halfmax import tune
    >>> d = HalfMaxDisplay.from_thresholds(tune([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8]))
    >>> d.thresholds, d.half_max
    (array([0.4]), array([0.4]))
    """

    labels: Labels
    thresholds: Array
    half_max: Array
    support: Array
    miscalibrated: Array | None
    metric: str
    _counted: str = "positive"

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
            One threshold for each label, or thresholds for the micro average.
        n_rows : float, optional
            The number of rows, or the sum of their weights. It is required only for thresholds
            that were loaded from a file, which does not store it, and only for metrics whose rule
            depends on the base rate, such as ``"kappa"``.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        HalfMaxDisplay
            The display, drawn.
        """
        return cls._of(thresholds, n_rows)._show(ax, name, how)

    @classmethod
    def _of(cls, thresholds: Thresholds, n_rows: float | None = None) -> Self:
        t = require_result(Thresholds, thresholds, "thresholds", "tune")
        return cls(
            labels=names_or_places(t.labels, len(t.thresholds)),
            thresholds=t.thresholds,
            half_max=thresholds_if_calibrated(t, n_rows),
            support=t.support,
            miscalibrated=None,
            metric=t.metric,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric = "f1",
        *,
        labels: Iterable[Hashable] | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        pos_label: Any = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Diagnose labelled scores and draw the result.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, two classes as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`. They must be probabilities.
        metric : str or Metric, default="f1"
            The metric, a ratio of weighted counts such as F-beta, ``"kappa"`` or a `cost`.
        labels : iterable, optional
            The names of the labels.
        level : float, default=0.95
            The level of the intervals, as in `diagnose`.
        n_resamples : int, default=200
            The number of resamples, as in `diagnose`.
        seed : int, default=0
            The seed of the resamples.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        pos_label : class, optional
            The positive class, as in `tune`.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        HalfMaxDisplay
            The display, drawn.
        """
        goal = ask(metric, zero_division)
        draws = Draws.ask(n_resamples, level, seed, None)
        data = read_labelled(y_true, y_score, None, labels, pos_label)
        found = diagnose_checked(data, goal, draws)
        return cls.from_diagnosis(found, name=name, ax=ax, **how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        metric: str | Metric = "f1",
        *,
        pos_label: Any = None,
        response_method: str = "auto",
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Diagnose the scores of a fitted scikit-learn estimator and draw the result.

        Parameters
        ----------
        estimator : scikit-learn estimator
            A fitted classifier or regressor whose scores are probabilities.
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels.
        metric : str or Metric, default="f1"
            The metric, as in `from_predictions`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        level : float, default=0.95
            The level of the intervals, as in `diagnose`.
        n_resamples : int, default=200
            The number of resamples, as in `diagnose`.
        seed : int, default=0
            The seed of the resamples.
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
        HalfMaxDisplay
            The display, drawn.
        """
        from halfmax.estimators.threshold_scorer import scored_rows

        goal = ask(metric, zero_division)
        draws = Draws.ask(n_resamples, level, seed, None)
        data = scored_rows(estimator, X, y, None, response_method, pos_label)
        found = diagnose_checked(data, goal, draws)
        return cls.from_diagnosis(found, name=name_of_estimator(estimator, name), ax=ax, **how)

    @classmethod
    def from_diagnosis(
        cls,
        diagnosis: Diagnosis,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `diagnose`, with the miscalibrated labels marked and named.

        Parameters
        ----------
        diagnosis : Diagnosis
            The diagnosis of scores that are probabilities.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        HalfMaxDisplay
            The display, drawn.
        """
        d = require_result(Diagnosis, diagnosis, "diagnosis", "diagnose")
        if not d.probabilities:
            raise ValueError(not_probabilities(d.metric, "the diagnosed scores are not"))
        if (metric := known_metric(d.metric)) is not None:
            require_rule(metric)
        flagged = np.array(["miscalibrated" in names for names in d.findings], np.bool_)
        display = cls(
            labels=d.labels,
            thresholds=d.thresholds,
            half_max=d.half_max,
            support=d.support,
            miscalibrated=flagged,
            metric=d.metric,
        )
        return display._show(ax, name, how)

    @classmethod
    def from_decision(
        cls,
        decision: Decision,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `decide`: the lowest probability predicted in each batch.

        Parameters
        ----------
        decision : Decision
            The decision on one or more batches.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        HalfMaxDisplay
            The display, drawn.
        """
        require_result(Decision, decision, "decision", "decide")
        return cls._of_decision(decision)._show(ax, name, how)

    @classmethod
    def _of_decision(cls, d: Decision) -> Self:
        return cls(
            labels=names_or_places(d.labels, len(d.thresholds)),
            thresholds=d.thresholds,
            half_max=d.half_max_thresholds,
            support=d.counts,
            miscalibrated=None,
            metric=d.metric,
            _counted="item",
        )

    def _draw(self, ax: "Axes", name: str | None) -> None:
        shown = np.isfinite(self.thresholds) & np.isfinite(self.half_max)
        self._set_limits(ax, shown)
        of_batches = self._counted == "item"
        look: dict[str, Any] = {"color": GREY, "linewidth": 1.0, "zorder": 1}
        look["label"] = "equal" if of_batches else "calibrated"
        ax.axline((0.0, 0.0), slope=1.0, **look)
        self._draw_labels(ax, shown)
        self._mark_miscalibrated(ax, shown)
        rule = name_of_rule(self.metric)
        what = "if" if rule.endswith("threshold") else "the threshold if"
        ax.set_xlabel(f"{rule}, {what} calibrated")
        ax.set_ylabel("lowest probability predicted" if of_batches else "tuned threshold")
        put_legend(ax, name, columns=2)

    def _set_limits(self, ax: "Axes", shown: Array) -> None:
        right = 1.12 * max(self.half_max[shown].max(initial=0.0), 1e-9)
        top = max(1.12 * self.thresholds[shown].max(initial=0.0), right)
        ax.set(xlim=(0.0, right), ylim=(0.0, min(top, 1.05)))

    def _draw_labels(self, ax: "Axes", shown: Array) -> None:
        what = "items predicted" if self._counted == "item" else "positives"
        names = (
            f"fewer than {_TOO_FEW} {what}",
            f"{_TOO_FEW} to {_PLENTY - 1} {what}",
            f"{_PLENTY} or more {what}",
        )
        group = np.digitize(self.support, (_TOO_FEW, _PLENTY))
        many = shown.sum() > MANY_POINTS
        for place, (name, look) in enumerate(zip(names, _LOOKS, strict=True)):
            here = shown & (group == place)
            if here.any():
                size = {"markersize": 1.6 + 0.5 * place} if many else {}
                x, y = self.half_max[here], self.thresholds[here]
                look = {**look, **size, "color": look["color"] or ink_of(ax)}
                look |= {"label": name, "rasterized": many}
                ax.plot(x, y, "o", linestyle="", markeredgewidth=0, clip_on=False, **look)
        hidden = int((~shown).sum())
        if hidden:
            ax.plot([], [], " ", label=f"{hidden:,} without a threshold, not shown")

    def _mark_miscalibrated(self, ax: "Axes", shown: Array) -> None:
        if self.miscalibrated is None or not self.miscalibrated.any():
            return
        marked = np.flatnonzero(self.miscalibrated & shown)
        x, y = self.half_max[marked], self.thresholds[marked]
        look: dict[str, Any] = {"color": ORANGE, "fillstyle": "none", "markersize": 7}
        look |= {"label": f"{len(marked):,} miscalibrated", "markeredgewidth": 1.1}
        look["rasterized"] = len(marked) > MANY_POINTS
        ax.plot(x, y, "o", linestyle="", clip_on=False, **look)
        worst = np.argsort(-np.abs(x - y), kind="stable")
        name_points(ax, x[worst], y[worst], [self.labels[j] for j in marked[worst]], ORANGE)
