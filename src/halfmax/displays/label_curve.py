"""What displays of one label's curve share: their constructors, their folds and their looks."""

from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.gate.labelled import read_labelled
from halfmax._core.types import Floats
from halfmax.displays.base import Display, name_of_estimator, number, plain, spread
from halfmax.displays.curves import CurveLook, Looks
from halfmax.displays.one_label import OneLabel, metric_of_rows
from halfmax.displays.style import NARROW
from halfmax.metrics.metric import Metric
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

_DEFAULT = "f1"
_OF_FOLDS: dict[str, Any] = {"linewidth": 0.8, "alpha": 0.5}


Limits = tuple[float, float]  # of an axis


class LabelCurveDisplay(Display):
    """Base class of displays that draw one curve of a label, or one for each fold.

    Subclasses are dataclasses with at least these fields. They compute them in `_of`, and say in
    `_steps` where the curve runs, in `_summary` which number describes it, and in `_draw_parts`
    what is drawn around it.
    """

    thresholds: Floats
    threshold: float
    metric: str
    label: Hashable | None
    pos_label: Hashable | None
    folds: "tuple[Any, ...]"
    _size: tuple[float, float] = NARROW  # of new figures, in inches

    @classmethod
    def _of(cls, one: OneLabel) -> Self:
        """Compute the display of one label."""
        raise NotImplementedError

    def _steps(self, limits: Limits) -> tuple[Floats, Floats]:
        """Return the points of the curve on an x axis; steps are drawn before each of them."""
        raise NotImplementedError

    def _summary(self) -> tuple[str, float]:
        """Return the number that describes the curve, and its name."""
        raise NotImplementedError

    def _draw_parts(self, ax: "Axes", name: str | None, looks: Looks) -> None:
        raise NotImplementedError

    # ---- constructors

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        metric: str | Metric | None = None,
        *,
        label: Hashable | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        threshold: float | None = None,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curve of labelled scores.

        Parameters
        ----------
        y_true : array-like of shape (rows,) or (rows, labels)
            The truth, two classes as in `tune`.
        y_score : array-like of shape (rows,) or (rows, labels)
            The scores, as in `tune`.
        metric : str or Metric, optional
            The metric that the marked threshold maximises, as in `tune`: F1 if None.
            `CostCurveDisplay` needs a `cost`.
        label : hashable, optional
            Which of many labels to draw: its name, or its column number if labels have no names.
        pos_label : class, optional
            The positive class, as in `tune`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        threshold : float, optional
            The threshold to mark; the exact optimum if None.
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
        Display
            The display, drawn.
        """
        data = read_labelled(y_true, y_score, sample_weight, pos_label=pos_label)
        one = OneLabel.ask(data, metric or _DEFAULT, label, threshold, zero_division, pos_label)
        return cls._of(one)._show(ax, name, how)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        metric: str | Metric | None = None,
        *,
        label: Hashable | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        threshold: float | None = None,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curve of a fitted scikit-learn estimator on rows that it was not fitted on.

        Parameters
        ----------
        estimator : scikit-learn estimator
            A fitted classifier or regressor.
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels.
        metric : str or Metric, optional
            The metric that the marked threshold maximises, as in `from_predictions`; by default
            that of a `ThresholdClassifier`.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        threshold : float, optional
            The threshold to mark. By default it is that of a `ThresholdClassifier` for two
            classes, and for other estimators the exact optimum on these rows.
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
        Display
            The display, drawn.
        """
        from halfmax.estimators.own_rule import Asked
        from halfmax.estimators.threshold_scorer import scored_rows

        asked = Asked(metric, threshold, pos_label, response_method).of(estimator, X)
        metric, threshold, pos_label, method = asked
        data = scored_rows(estimator, X, y, sample_weight, method, pos_label)
        one = OneLabel.ask(data, metric or _DEFAULT, label, threshold, zero_division, pos_label)
        return cls._of(one)._show(ax, name_of_estimator(estimator, name, one.label), how)

    @classmethod
    def from_cv_results(
        cls,
        cv_results: Mapping[str, Any],
        X: Any,
        y: Any,
        metric: str | Metric | None = None,
        *,
        label: Hashable | None = None,
        pos_label: Any = None,
        sample_weight: Any = None,
        response_method: str = "auto",
        threshold: float | None = None,
        zero_division: float = 0.0,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw a curve for each fold of a cross-validation, and one for all folds together.

        Each row is scored by the estimator that was not fitted on it. The marked threshold is the
        best one for all these scores together.

        Parameters
        ----------
        cv_results : dict
            The result of scikit-learn's ``cross_validate(estimator, X, y, return_estimator=True,
            return_indices=True)``.
        X : array-like of shape (rows, features)
            The features that were cross-validated.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels that were cross-validated.
        metric : str or Metric, optional
            The metric that the marked threshold maximises, as in `from_predictions`.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        pos_label : class, optional
            Which of two classes is positive, as in `ThresholdClassifier`.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.
        response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
            The method that scores, as in `ThresholdClassifier`.
        threshold : float, optional
            The threshold to mark; the exact optimum of all folds together if None.
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
        Display
            The display of all folds together, drawn, with a display of each in ``folds``.
        """
        from halfmax.estimators.cv_results import scored_folds

        found = scored_folds(cv_results, X, y, sample_weight, response_method, pos_label)
        metric = metric_of_rows(metric or _DEFAULT, found.rows, np.shape(y)[0])
        one = OneLabel.ask(found.data, metric, label, threshold, zero_division, pos_label)
        whole = cls._of(one)
        starts = np.cumsum([0, *found.sizes])
        whole.folds = tuple(
            cls._of(one.of_rows(np.arange(*ends), whole.threshold)) for ends in pairwise(starts)
        )
        return whole._show(ax, name, how)

    @classmethod
    def from_thresholds(
        cls,
        thresholds: Thresholds,
        label: Hashable | None = None,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the curve of the tuning data, with the tuned threshold marked.

        Thresholds that were loaded from a file do not know their data: use `from_predictions`.

        Parameters
        ----------
        thresholds : Thresholds
            The result of `tune`.
        label : hashable, optional
            Which of many labels to draw, as in `from_predictions`.
        name : str, optional
            The name to show, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        Display
            The display, drawn.
        """
        return cls._of(OneLabel.of_thresholds(thresholds, label, cls.__name__))._show(ax, name, how)

    # ---- drawing

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        name: str | None = None,
        curve_kwargs: CurveLook = None,
        plot_chance_level: bool = True,
        chance_level_kw: Mapping[str, Any] | None = None,
        despine: bool = False,
        **line: Any,
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        name : str, optional
            The name to show; that of the display if None.
        curve_kwargs : dict or list of dict, optional
            Properties of the curve, such as ``{"color": "black"}``; for folds those of all their
            curves, or a list with those of each.
        plot_chance_level : bool, default=True
            Whether to draw what is reached without looking at the scores.
        chance_level_kw : dict, optional
            Properties of these lines.
        despine : bool, default=False
            Whether to hide the upper and right edges of the axes. New figures never have them.
        **line : dict
            Properties of the curve as keywords, in place of `curve_kwargs`.

        Returns
        -------
        Display
            The display itself, with ``ax_``, ``figure_``, ``line_``, ``pooled_line_`` and
            ``chance_level_`` set. For folds, ``line_`` is the list of their curves, and
            ``pooled_line_`` is that of all folds together; otherwise it is None. ``chance_level_``
            is a line, a list if there are several, or None.
        """
        looks = Looks(curve_kwargs, line, plot_chance_level, chance_level_kw)
        with self._canvas(ax, self._size, despine=despine) as (_, drawn):
            self._draw_parts(drawn, self._name_or(name), looks)
        return self

    def _draw_curve(self, ax: "Axes", look: dict[str, Any], looks: Looks) -> "Line2D":
        """Draw the curve, or those of all folds below it; return the curve."""
        self.line_: Line2D | list[Line2D]
        self.pooled_line_: Line2D | None = None
        look = {"drawstyle": "steps-pre", **look}
        if not self.folds:
            changed = looks.of_curves(look, [look["label"]])
            own: Line2D = ax.plot(*self._steps(ax.get_xlim()), **changed[0])[0]
            self.line_ = own
            return own
        each = looks.of_curves({**look, **_OF_FOLDS}, self._names_of_folds(looks.differ))
        self.line_ = [
            ax.plot(*fold._steps(ax.get_xlim()), **one)[0]
            for fold, one in zip(self.folds, each, strict=True)
        ]
        self.pooled_line_ = ax.plot(*self._steps(ax.get_xlim()), **look)[0]
        return self.pooled_line_

    def _names_of_folds(self, apart: bool) -> list[str]:
        """Return the labels of the curves of folds: of the first for all, or of each."""
        what = self.folds[0]._summary()[0]
        values = [fold._summary()[1] for fold in self.folds]
        if apart:
            return [f"fold {k}, {what} = {number(x)}" for k, x in enumerate(values, start=1)]
        name = f"{len(values)} folds, {what} = {spread(values)}"
        return [name, *["_nolegend_"] * (len(values) - 1)]

    def _draw_levels(self, ax: "Axes", heights: Sequence[float], looks: Looks) -> None:
        """Draw the chance levels, unless they are not wanted."""
        self.chance_level_: Line2D | list[Line2D] | None = None
        if looks.plot_chance_level and heights:
            lines = [ax.axhline(height, **looks.level()) for height in heights]
            self.chance_level_ = lines if len(lines) > 1 else lines[0]

    def _of_positive_class(self, words: str) -> str:
        """Add the positive class to the name of an axis, if it has a name."""
        if self.pos_label is None or self.pos_label in (1, True):
            return words
        return f"{words} (positive class: {plain(self.pos_label)})"
