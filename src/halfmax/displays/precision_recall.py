"""`PrecisionRecallDisplay`: precision against recall, the chosen point, and lines of equal F."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.types import Floats
from halfmax.displays.base import SIZE_OF_NAMES, ink_of, name_of, number, plain, put_legend
from halfmax.displays.curve_counts import places_to_draw
from halfmax.displays.curves import Looks
from halfmax.displays.label_curve import LabelCurveDisplay, Limits
from halfmax.displays.lettering import write
from halfmax.displays.one_label import OneLabel, refuse_costs_of_rows
from halfmax.displays.style import BLUE, GREEN, GREY, ORANGE, PURPLE
from halfmax.metrics.counts import Counts
from halfmax.metrics.metric import FBeta
from halfmax.metrics.named import PRECISION, RECALL
from halfmax.metrics.words import known_metric, shown
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact.choose import count_at

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEVELS = (0.2, 0.4, 0.6, 0.8)  # of F
_POINTS = 200
_SMALL = SIZE_OF_NAMES - 1.5
_FEW, _SHORT = 4, 26  # entries of a legend in one column, and letters of those in two
_COLOURS = (BLUE, ORANGE, GREEN, PURPLE)  # of curves that are drawn on the same axes
_CURVE, _ISO, _CHANCE = (f"halfmax-precision-recall-{part}" for part in ("curve", "iso", "chance"))


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(LabelCurveDisplay):
    """Precision against recall of one label, with the chosen threshold and lines of equal F.

    Create it with `from_predictions`, `from_estimator`, `from_thresholds` or `from_cv_results`. The
    curve has a step at the score of each positive and no slopes: precision between two steps is not
    interpolated, and the area below the curve is the average precision. The lines in the background
    join points of equal F1, or of the F-beta that is the metric. Draw several displays on the same
    axes to compare classifiers; each gets a colour of its own.

    Attributes
    ----------
    thresholds : ndarray of shape (k,)
        The scores of positives, ascending. Of more than 2,000 about that many are kept.
    precision, recall : ndarray of shape (k,)
        The precision and the recall at each threshold.
    average_precision : float
        The area below the curve: the mean precision at the scores of all positives; NaN if there
        are none.
    threshold, score : float
        The chosen threshold and its metric; ``+inf`` predicts no rows.
    chosen_precision, chosen_recall : float
        The precision and the recall of the chosen threshold.
    best_threshold, best_score : float
        The best of all thresholds on these data, and its metric.
    base_rate : float
        The share of positives: the precision of a random choice of rows.
    metric : str
        The name of the metric.
    label : str, other hashable or None
        The name of the label, if there are many.
    pos_label : str, other hashable or None
        The positive class, if it is known.
    folds : tuple of PrecisionRecallDisplay
        The curve of each fold of a cross-validation.
    name : str or None
        The name that plots show unless they are passed another one.

    See Also
    --------
    ThresholdCurveDisplay : Precision, recall and the metric against the threshold.
    Staircase : The counts at the scores of positives.

    Examples
    --------
    >>> d = PrecisionRecallDisplay.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8])
    >>> d.thresholds, d.precision.round(3), d.recall
    (array([0.4, 0.8]), array([0.667, 1.   ]), array([1. , 0.5]))
    >>> d.threshold, round(d.average_precision, 3)
    (0.4, 0.833)
    """

    thresholds: Floats
    precision: Floats
    recall: Floats
    average_precision: float
    threshold: float
    score: float
    chosen_precision: float
    chosen_recall: float
    best_threshold: float
    best_score: float
    base_rate: float
    metric: str
    label: Hashable | None = None
    pos_label: Hashable | None = None
    folds: "tuple[PrecisionRecallDisplay, ...]" = ()

    _size = (4.9, 5.0)

    @classmethod
    def _of(cls, one: OneLabel) -> Self:
        refuse_costs_of_rows(one.objective.metric)
        found = one.marks()._asdict()
        del found["half_max"]
        stairs, zero_division = Staircase.of_checked(one.data), one.objective.zero_division
        counts = Counts(stairs.true_positives, stairs.predicted, stairs.positives, stairs.total)
        precision, recall = (
            part(*counts.confusion(), zero_division=zero_division) for part in (PRECISION, RECALL)
        )
        kept = places_to_draw(stairs.thresholds[::-1], found["best_threshold"])
        chosen = count_at(one.data, np.array([found["threshold"]])).counts.confusion()
        return cls(
            thresholds=stairs.thresholds[::-1][kept],
            precision=precision[::-1][kept],
            recall=recall[::-1][kept],
            average_precision=_area(precision, recall) if stairs.positives[0] else np.nan,
            chosen_precision=float(PRECISION(*chosen, zero_division=zero_division)[0]),
            chosen_recall=float(RECALL(*chosen, zero_division=zero_division)[0]),
            **found,
        )

    @property
    def beta(self) -> float:
        """The beta of the lines of equal F: that of the metric, or 1."""
        metric = known_metric(self.metric)
        return metric.beta if isinstance(metric, FBeta) else 1.0

    def _steps(self, _limits: Limits) -> tuple[Floats, Floats]:
        recall, precision = self.recall[::-1], self.precision[::-1]
        first = precision[:1]  # none without positives
        return np.append(np.zeros(len(first)), recall), np.append(first, precision)

    def _summary(self) -> tuple[str, float]:
        return "AP", self.average_precision

    def _draw_parts(self, ax: "Axes", name: str | None, looks: Looks) -> None:
        before = _drawn(ax, _CURVE)
        colour = _COLOURS[before % len(_COLOURS)]
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01), aspect="equal")
        ax.set_xlabel(self._of_positive_class("recall"))
        ax.set_ylabel(self._of_positive_class("precision"))
        if not _drawn(ax, _ISO):
            self._draw_iso(ax)
        title = f"AP = {number(self.average_precision)}"
        who = name if name is not None else self.label
        title = title if who is None else f"{plain(who)} ({title})"
        look = {"color": colour, "linewidth": 1.8, "label": title, "gid": _CURVE}
        line = self._draw_curve(ax, look, looks)
        self._mark(ax, line.get_color())
        self._draw_chance(ax, looks)
        names = ax.get_legend_handles_labels()[1]
        short = max(map(len, names)) <= _SHORT
        put_legend(ax, None, columns=2 if len(names) > _FEW and short else 1)

    def _draw_iso(self, ax: "Axes") -> None:
        """Draw lines of equal F, and name them at the right edge."""
        recall = np.linspace(0.0, 1.0, _POINTS + 1)[1:]
        name = name_of(FBeta(self.beta).name)
        look: dict[str, Any] = {"color": GREY, "linewidth": 0.6, "alpha": 0.6, "zorder": 0.4}
        for level in _LEVELS:
            precision = iso_f(level, recall, self.beta)
            shown_part = precision <= 1.0
            ax.plot(recall[shown_part], precision[shown_part], gid=_ISO, **look)
            at, text = (1.0, float(precision[-1])), f"{name} = {level:g}"
            write(ax, text, at, (-2, 5), GREY, ha="right", fontsize=_SMALL, zorder=1.5)

    def _mark(self, ax: "Axes", colour: Any) -> None:
        """Mark the chosen threshold."""
        value = number(shown(self.metric, self.score))
        words = f"chosen {number(self.threshold)}: {name_of(self.metric)} = {value}"
        look: dict[str, Any] = {"markeredgecolor": ink_of(ax), "markersize": 7, "zorder": 4}
        recall = self.chosen_recall if self.threshold < np.inf else np.nan  # none: no precision
        ax.plot(recall, self.chosen_precision, "o", color=colour, label=words, **look)

    def _draw_chance(self, ax: "Axes", looks: Looks) -> None:
        level = [] if _drawn(ax, _CHANCE) else [self.base_rate]
        self._draw_levels(ax, level, looks)
        if self.chance_level_ is not None:
            assert not isinstance(self.chance_level_, list)
            self.chance_level_.set(gid=_CHANCE)
            if "label" not in (looks.chance_level_kw or {}):
                self.chance_level_.set_label(f"base rate {number(self.base_rate)}")


def iso_f(level: float, recall: Floats, beta: float = 1.0) -> Floats:
    """Return the precision at which F-beta has this level; inf where no precision reaches it."""
    b2 = beta * beta
    below = (1.0 + b2) * recall - b2 * level
    precision: Floats = np.full(recall.shape, np.inf)
    np.divide(level * recall, below, out=precision, where=below > 0)
    return precision


def _area(precision: Floats, recall: Floats) -> float:
    """Return the area below the steps, from the highest threshold to the lowest."""
    return float((np.diff(recall, prepend=0.0) * precision).sum())


def _drawn(ax: "Axes", part: str) -> int:
    """Return how many lines of this kind are on the axes."""
    return sum(line.get_gid() == part for line in ax.get_lines())
