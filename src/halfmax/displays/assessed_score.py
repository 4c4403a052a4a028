"""The picture of an assessment in notebooks: scores to expect on new data. Not public."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.types import Floats
from halfmax.displays.base import (
    Display,
    ink_of,
    name_of,
    number,
    plain,
    require_result,
    shown_interval,
)
from halfmax.displays.lettering import name_uprights
from halfmax.displays.style import BLUE, GREY, ORANGE
from halfmax.honesty.assessment import Assessment
from halfmax.metrics.words import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_BINS = 30


@dataclass(eq=False, repr=False)
class AssessedScore(Display):
    """Scores to expect on new data, and the score on the tuning data.

    This display is internal: notebooks show it below an `Assessment`.

    Attributes
    ----------
    resampled_scores : ndarray
        Draws of the score on new data; see `Assessment`. Here costs are positive.
    score, expected_score : float
        The score on the tuning data, and the score to expect on new data.
    score_interval : (float, float)
        The interval of the score on new data.
    level : float
        The level of the interval.
    metric : str
        The metric with its average, as written on the axis.
    name : str or None
        The title of plots that are not passed another one.
    """

    resampled_scores: Floats
    score: float
    expected_score: float
    score_interval: tuple[float, float]
    level: float
    metric: str

    @classmethod
    def from_assessment(
        cls,
        assessment: Assessment,
        *,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Draw the result of `assess`."""
        require_result(Assessment, assessment, "assessment", "assess")
        return cls._of(assessment)._show(ax, name, how)

    @classmethod
    def _of(cls, a: Assessment) -> Self:
        average, metric = a.thresholds.average, a.thresholds.metric
        words = name_of(metric)
        return cls(
            resampled_scores=shown(metric, a.resampled_scores),
            score=shown(metric, a.score),
            expected_score=shown(metric, a.expected_score),
            score_interval=shown_interval(metric, a.score_interval),
            level=a.level,
            metric=words if average == "binary" else f"{average} {words}",
        )

    def _draw(self, ax: "Axes", name: str | None) -> None:
        values = self.resampled_scores[np.isfinite(self.resampled_scores)]
        known = np.array([*values, self.score, self.expected_score, *self.score_interval])
        low, high = known[np.isfinite(known)].min(), known[np.isfinite(known)].max()
        room = 0.06 * (high - low) or 0.05
        edges = np.linspace(low - 1e-9, high + 1e-9, _BINS + 1).tolist()
        ax.set_xlim(low - room, high + room)
        ax.hist(values, bins=edges, color=BLUE, alpha=0.5)
        ax.axvspan(*self.score_interval, color=GREY, alpha=0.15, linewidth=0, zorder=0)
        ax.axvline(self.expected_score, color=ink_of(ax), linewidth=1.4)
        ax.axvline(self.score, color=ORANGE, linewidth=1.4, linestyle=(0, (4, 1.6)))
        marks = [
            (self.expected_score, f"expected {number(self.expected_score)}"),
            (self.score, f"here {number(self.score)}"),
        ]
        rows = name_uprights(ax, marks)
        share = f"{100 * self.level:g} % interval shaded"
        ax.set(xlabel=f"{self.metric} on unlimited new data ({share})", yticks=[])
        ax.spines["left"].set_visible(False)
        if name is not None:
            ax.set_title(plain(name, 70), pad=6.0 + 11.0 * rows)
