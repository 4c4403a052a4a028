"""`ThresholdCurveDisplay`: the metric, precision and recall at every threshold."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.gate import labelled, options
from halfmax._core.gate.labels import place_of
from halfmax._core.types import Floats
from halfmax.displays.base import Display, ink_of, line_look, name_of, number, plain, require_result
from halfmax.displays.curve_counts import curve_fields
from halfmax.displays.lettering import Box, Line, name_heights, name_lines, name_uprights, write
from halfmax.displays.style import CURVES, GREY, SHADES
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import PRECISION, RECALL, find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.words import name_of_rule
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PolyCollection
    from matplotlib.lines import Line2D


_COLOURS = {name: SHADES[colour] for name, (colour, _) in CURVES.items()}
_OWN = _COLOURS["score"]
_DASHES: dict[str, Any] = {name: (0, dashes) for name, (_, dashes) in CURVES.items() if dashes}
_ROOM = 0.04  # margin beside the lowest and the highest score


@dataclass(eq=False, repr=False)
class ThresholdCurveDisplay(Display):
    """The metric, precision and recall of one label against its threshold.

    Create it with `from_predictions`, `from_estimator` or `from_thresholds`. The curves are the
    exact counts at the label's own scores, so nothing is hidden between two points. Of more than
    2,000 distinct scores that many are kept, including the best one and both ends.

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
        The name of the label.

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

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric = "f1",
        *,
        label: Hashable | None = None,
        sample_weight: Any = None,
        threshold: float | None = None,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
        zero_division: float = 0.0,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curves of labelled scores.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`.
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        label : hashable, optional
            Which of many labels to draw: its name, or its column number if labels have no names.
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
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        objective = Objective(find_metric(metric), options.check_zero_division(zero_division))
        data = labelled.read_labelled(y_true, y_score, sample_weight)
        numbers = curve_fields(data, objective, label, threshold, level, n_resamples, seed)
        return cls(**numbers).plot(ax, **how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        metric: str | Metric = "f1",
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
        metric : str or Metric, default="f1"
            The metric, as in `tune`.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
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
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        from halfmax.estimators.threshold_scorer import scored_rows

        objective = Objective(find_metric(metric), options.check_zero_division(zero_division))
        data = scored_rows(estimator, X, y, sample_weight, response_method, pos_label)
        numbers = curve_fields(data, objective, label, threshold, level, n_resamples, seed)
        return cls(**numbers).plot(ax, **how)

    @classmethod
    def from_thresholds(
        cls,
        thresholds: Thresholds,
        label: Hashable | None = None,
        *,
        level: float = 0.95,
        n_resamples: int = 200,
        seed: int = 0,
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
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        ThresholdCurveDisplay
            The display, drawn.
        """
        return cls._of(thresholds, label, level, n_resamples, seed).plot(ax, **how)

    @classmethod
    def _of(
        cls,
        thresholds: Thresholds,
        label: Hashable | None,
        level: float,
        n_resamples: int,
        seed: int,
    ) -> Self:
        tuning = require_result(Thresholds, thresholds, "thresholds", "tune")._tuning
        if tuning is None:
            one = "t.threshold" if label is None else f"t[{label!r:.60}]"
            raise ValueError(
                "thresholds do not know the data that they were tuned on (they were loaded, "
                f"unpickled or set by hand): use from_predictions(y_true, y_score, threshold={one})"
            )
        objective = tuning.goal.objective.unrestricted
        place = place_of(label, thresholds.labels, len(thresholds.thresholds))
        chosen, data = float(thresholds.thresholds[place]), tuning.load()
        return cls(**curve_fields(data, objective, label, chosen, level, n_resamples, seed))

    def plot(self, ax: "Axes | None" = None, *, name: str | None = None, **line: Any) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        name : str, optional
            The title; the label's name if None.
        **line : dict
            Properties of the line of the metric, such as ``color="black"``.

        Returns
        -------
        ThresholdCurveDisplay
            The display itself, with ``ax_``, ``figure_``, ``line_`` and ``band_`` set.
        """
        title = self.label if name is None else name
        with self._canvas(ax) as (_, drawn):
            self._set_limits(drawn)
            rows = self._mark_thresholds(drawn)
            self._draw_curves(drawn, self._mark_all_rows(drawn), line)
            drawn.set_xlabel("threshold")
            if title is not None:
                drawn.set_title(plain(title, 70), pad=6.0 + 11.0 * rows)
        return self

    def _lines(self) -> list[Line]:
        lines = [
            Line("precision", self.precision, _COLOURS["precision"]),
            Line("recall", self.recall, _COLOURS["recall"]),
        ]
        own = Line(name_of(self.metric), self.scores, _OWN)
        return [own, *(line for line in lines if line.name != self.metric)]

    def _set_limits(self, ax: "Axes") -> None:
        low, high = self.thresholds[0], self.thresholds[-1]
        if self.half_max is not None and high - low > 0.5:
            low, high = 0.0, 1.0
        room = _ROOM * (high - low) or 0.5 * abs(low) or 0.5
        ax.set_xlim(low - room, high + room)
        values = np.concatenate([line.heights for line in self._lines()])
        values = values[np.isfinite(values)]
        lowest, highest = min(values.min(initial=0.0), 0.0), max(values.max(initial=1.0), 1.0)
        ax.set_ylim(lowest, highest + 0.03 * (highest - lowest))

    def _draw_curves(self, ax: "Axes", taken: list[Box], line: dict[str, Any]) -> None:
        # Below the lowest score nothing changes.
        x = np.append(ax.get_xlim()[0], self.thresholds)
        self.band_: PolyCollection | None = None
        lines = self._lines()
        if self.band is not None:
            low, high = (np.append(end[0], end) for end in self.band)
            look: dict[str, Any] = {"color": _OWN, "alpha": 0.18, "linewidth": 0}
            self.band_ = ax.fill_between(x, low, high, step="pre", **look)
            lines.append(Line(f"{100 * self.level:g} % band", self.band[1], _OWN, needed=False))
        lines = [part._replace(heights=np.append(part.heights[0], part.heights)) for part in lines]
        for part in lines[1:]:
            if part.name in _DASHES:
                look = {"color": part.colour, "linestyle": _DASHES[part.name], "linewidth": 1.3}
                ax.step(x, part.heights, where="pre", label=part.name, **look)
        look = {"color": _OWN, "linewidth": 2.2, "drawstyle": "steps-pre", "label": lines[0].name}
        self.line_: Line2D = ax.plot(x, lines[0].heights, **line_look(look, line))[0]
        lines[0] = lines[0]._replace(colour=self.line_.get_color())
        marked = self.threshold, self.half_max, self.best_threshold
        upright = [place for place in marked if place is not None and np.isfinite(place)]
        name_lines(ax, x, lines, upright, taken)

    def _mark_all_rows(self, ax: "Axes") -> list[Box]:
        """Draw the values of predicting all rows as fine lines; return the boxes of their names."""
        marks = [(self.base_rate, "base rate")]
        if self.metric not in (PRECISION.name, RECALL.name) and np.isfinite(self.everyone):
            marks.append((self.everyone, f"{name_of(self.metric)} of predicting all"))
        for height, _ in marks:
            ax.axhline(height, color=GREY, linewidth=0.7, linestyle=(0, (1, 2)), zorder=0.5)
        upwards = self.base_rate < 0.5
        marks.sort(reverse=not upwards)
        return name_heights(ax, marks, upwards)

    def _mark_thresholds(self, ax: "Axes") -> int:
        """Mark the thresholds, and return the number of rows that their names occupy."""
        chosen = f"chosen {number(self.threshold)}: {name_of(self.metric)} = {number(self.score)}"
        marks = [(self.threshold, chosen)]
        if self.half_max is not None:
            marks.append((self.half_max, f"{name_of_rule(self.metric)} = {number(self.half_max)}"))
        low, high = ax.get_xlim()
        for (x, _), dash in zip(marks, ("-", (0, (1, 1.5))), strict=False):
            if low <= x <= high:
                ax.axvline(x, color=ink_of(ax), linewidth=1.0, linestyle=dash)
        if np.isfinite(self.threshold):
            ax.plot(self.threshold, self.score, "o", color=_OWN, markeredgecolor="white", zorder=4)
        if np.isfinite(self.best_threshold) and self.best_threshold != self.threshold:
            look: dict[str, Any] = {
                "color": _OWN,
                "markerfacecolor": "white",
                "label": "best",
                "zorder": 3,
            }
            ax.plot(self.best_threshold, self.best_score, "D", **look)
            write(ax, "best", (self.best_threshold, self.best_score), (0, 9), _OWN)
        return name_uprights(ax, marks)
