"""`ThresholdCurveDisplay`: the metric, precision and recall at every threshold."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np

from halfmax._core.gate import options
from halfmax._core.gate.labelled import read_labelled
from halfmax._core.types import Floats
from halfmax.displays.base import name_of, name_of_estimator, shown_interval
from halfmax.displays.curve_counts import band, counts_at_scores
from halfmax.displays.lettering import Line
from halfmax.displays.one_label import OneLabel, refuse_costs_of_rows
from halfmax.displays.threshold_axis import COLOURS, OWN, Point, ThresholdAxisDisplay
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import PRECISION, RECALL
from halfmax.metrics.words import is_cost, shown
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection


_BESIDE = (PRECISION.name, RECALL.name)


class Band(NamedTuple):
    """How to compute the band around the curve."""

    level: float = 0.95
    n_resamples: int = 0
    seed: int = 0

    def checked(self) -> "Band":
        return Band(
            options.check_share_inside("level", self.level),
            options.check_whole("n_resamples", self.n_resamples, 0),
            options.check_whole("seed", self.seed, 0),
        )


_NO_BAND = Band()


@dataclass(eq=False, repr=False)
class ThresholdCurveDisplay(ThresholdAxisDisplay):
    """The metric, precision and recall of one label against its threshold.

    Create it with `from_predictions`, `from_estimator`, `from_thresholds` or `from_cv_results`. The
    curves are the exact counts at the label's own scores, so nothing is hidden between two points.
    Of more than 2,000 distinct scores that many are kept, including the best one and both ends.
    Costs are drawn as positive numbers, without precision and recall.

    Attributes
    ----------
    thresholds : ndarray of shape (k,)
        The scores of the label, ascending. Between two of them all thresholds predict the same
        rows.
    scores, precision, recall : ndarray of shape (k,)
        The metric, precision and recall at each threshold.
    band : (ndarray, ndarray) or None
        The low and high ends of the metric at each threshold under resampling of rows.
    level : float
        The level of the band.
    threshold, score : float
        The chosen threshold and its metric; ``+inf`` predicts no rows.
    best_threshold, best_score : float
        The best of all thresholds on these data, and its metric.
    half_max : float or None
        The best threshold if the scores were calibrated, F*/2 for F1; None if scores are not
        probabilities or no law is known.
    base_rate, everyone : float
        The precision and the metric of predicting every row.
    metric : str
        The name of the metric.
    label : str, other hashable or None
        The name of the label, if there are many.
    pos_label : str, other hashable or None
        The positive class, if it is known.
    folds : tuple of ThresholdCurveDisplay
        The curve of each fold of a cross-validation, with `threshold` marked.
    name : str or None
        The name that plots show unless they are passed another one.

    See Also
    --------
    tune : Find the best threshold.
    ExpectedCurveDisplay : The expected metric of probabilities without labels.

    Examples
    --------
    >>> d = ThresholdCurveDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8])
    >>> d.thresholds, d.scores.round(3)
    (array([0.1, 0.4, 0.5, 0.8]), array([0.667, 0.8  , 0.5  , 0.667]))
    >>> d.threshold, d.half_max
    (0.4, 0.4)
    """

    thresholds: Floats
    scores: Floats
    precision: Floats
    recall: Floats
    band: tuple[Floats, Floats] | None
    level: float
    threshold: float
    score: float
    best_threshold: float
    best_score: float
    half_max: float | None
    base_rate: float
    everyone: float
    metric: str
    label: Hashable | None = None
    pos_label: Hashable | None = None
    folds: "tuple[ThresholdCurveDisplay, ...]" = ()

    @classmethod
    def _of(cls, one: OneLabel, how: Band = _NO_BAND) -> Self:
        refuse_costs_of_rows(one.objective.metric)
        how, objective = how.checked(), one.objective
        found = one.marks()
        stairs, counts = counts_at_scores(one, found.best_threshold)
        parts, total = counts.confusion(), counts.total
        around = None
        if how.n_resamples:
            rng = np.random.default_rng(how.seed)
            around = band(one.data, stairs, objective, how.level, how.n_resamples, rng)
        return cls(
            thresholds=stairs.thresholds[::-1],
            scores=objective(*counts),
            precision=PRECISION(*parts, zero_division=objective.zero_division),
            recall=RECALL(*parts, zero_division=objective.zero_division),
            band=around,
            level=how.level,
            everyone=float(objective(counts.positives, total, counts.positives, total)),
            **found._asdict(),
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric | None = "f1",
        *,
        label: Hashable | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        threshold: float | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curves of labelled scores.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, two classes as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`.
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        label : hashable, optional
            Which of many labels to draw: its name, or its column number if labels have no names.
        pos_label : class, optional
            The positive class, as in `tune`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        threshold : float, optional
            The threshold to mark; the exact optimum if None.
        level : float, default=0.95
            The level of the band.
        n_resamples : int, default=200
            The number of resamples for the band; 0 draws no band.
        seed : int, default=0
            The seed of the resamples.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        name : str, optional
            The name to show, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        data = read_labelled(y_true, y_score, sample_weight, pos_label=pos_label)
        one = OneLabel.ask(data, metric or "f1", label, threshold, zero_division, pos_label)
        return cls._of(one, Band(level, n_resamples, seed))._show(ax, name, how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        metric: str | Metric | None = None,
        *,
        label: Hashable | None = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        pos_label: Any = None,
        threshold: float | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curves of a fitted scikit-learn estimator on rows that it was not fitted on.

        Parameters
        ----------
        estimator : scikit-learn estimator
            A fitted classifier or regressor.
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels.
        metric : str or Metric, optional
            The metric, as in `tune`; by default that of a `ThresholdClassifier`, otherwise F1.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
        threshold : float, optional
            The threshold to mark. By default it is that of a `ThresholdClassifier` for two
            classes, and for other estimators the exact optimum on these rows.
        level : float, default=0.95
            The level of the band.
        n_resamples : int, default=200
            The number of resamples for the band; 0 draws no band.
        seed : int, default=0
            The seed of the resamples.
        zero_division : float, default=0.0
            The value of 0/0, as in `tune`.
        name : str, optional
            The name to show; the class of the estimator if None.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        from halfmax.estimators.own_rule import Asked
        from halfmax.estimators.threshold_scorer import scored_rows

        asked = Asked(metric, threshold, pos_label, response_method).of(estimator, X)
        metric, threshold, pos_label, method = asked
        data = scored_rows(estimator, X, y, sample_weight, method, pos_label)
        one = OneLabel.ask(data, metric or "f1", label, threshold, zero_division, pos_label)
        display = cls._of(one, Band(level, n_resamples, seed))
        return display._show(ax, name_of_estimator(estimator, name, one.label), how)

    @classmethod
    def from_thresholds(
        cls,
        thresholds: Thresholds,
        label: Hashable | None = None,
        *,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curves of the tuning data, with the tuned threshold marked.

        Thresholds that were loaded from a file do not know their data: use `from_predictions`.

        Parameters
        ----------
        thresholds : Thresholds
            The result of `tune`.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        level : float, default=0.95
            The level of the band.
        n_resamples : int, default=200
            The number of resamples for the band; 0 draws no band.
        seed : int, default=0
            The seed of the resamples.
        name : str, optional
            The name to show, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        one = OneLabel.of_thresholds(thresholds, label)
        return cls._of(one, Band(level, n_resamples, seed))._show(ax, name, how)

    def _lines(self) -> list[Line]:
        own = Line(name_of(self.metric), shown(self.metric, self.scores), OWN)
        if is_cost(self.metric):  # precision and recall have another scale
            return [own]
        others = [Line(part, getattr(self, part), COLOURS[part]) for part in _BESIDE]
        return [own, *(line for line in others if line.name != self.metric)]

    def _levels(self) -> list[tuple[float, str]]:
        name, all_rows = name_of(self.metric), shown(self.metric, self.everyone)
        levels = [] if is_cost(self.metric) else [(self.base_rate, "base rate")]
        if self.metric not in _BESIDE and all_rows:  # 0 is the axis itself
            levels.append((all_rows, f"{name} of predicting all"))
        return levels

    def _points(self) -> tuple[Point, Point, float | None]:
        chosen = Point(self.threshold, shown(self.metric, self.score))
        best = Point(self.best_threshold, shown(self.metric, self.best_score))
        return chosen, best, self.half_max

    def _range(self, lowest: float, highest: float) -> tuple[float, float]:
        return (lowest, highest or 1.0) if is_cost(self.metric) else super()._range(lowest, highest)

    def _shade(self, ax: "Axes", x: Floats) -> list[Line]:
        self.band_: PolyCollection | None = None
        if self.band is None:
            return []
        low, high = shown_interval(self.metric, self.band)
        look: dict[str, Any] = {"color": OWN, "alpha": 0.18, "linewidth": 0, "step": "pre"}
        self.band_ = ax.fill_between(x, np.append(low[0], low), np.append(high[0], high), **look)
        return [Line(f"{100 * self.level:g} % band", high, OWN, needed=False)]
