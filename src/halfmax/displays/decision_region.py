"""`DecisionRegionDisplay`: densities of both classes, the odds of a positive, and the region."""

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from halfmax._core.types import Floats
from halfmax.displays.base import (
    SIZE_OF_NAMES,
    Display,
    name_of,
    number,
    plain,
    require_result,
)
from halfmax.displays.lettering import Line, halo, name_lines
from halfmax.displays.style import BLUE, ORANGE, PALE
from halfmax.metrics.metric import Metric
from halfmax.metrics.words import shown as metric_shown
from halfmax.regions.find import decision_region
from halfmax.regions.ratio import Interval
from halfmax.regions.region import DecisionRegion

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_POINTS = 521
_TIMES = "\N{MULTIPLICATION SIGN}"
_SIZE = (5.4, 5.2)  # inches
_MOST_NAMED = 2  # intervals
_DECADES = 6.0  # the range of odds shown around the cut
_UNSEEN = 1e-3  # steps below this share of the highest are not shown


@dataclass(eq=False, repr=False)
class DecisionRegionDisplay(Display):
    """The scores to predict when the densities of both classes are known.

    The upper plot shows the densities, weighted by the shares of their classes, and the negative
    density times the cut: a score is predicted where the positive density reaches it. The lower
    plot shows the odds of a positive, which must reach the cut. Create it with `from_region` or
    `from_densities`.

    Attributes
    ----------
    scores : ndarray of shape (k,)
        The scores at which the densities are drawn.
    positive, negative : ndarray of shape (k,)
        Densities at the scores, times the share of the class; masses, if scores are discrete.
    intervals : list of (low, high)
        The region.
    cut : float
        The lowest odds at which a score is predicted; for F1, the Jaccard index reached.
    score : float
        The metric reached.
    metric : str
        The name of the metric.
    steps : bool
        Whether scores are discrete: bins of histograms, or values of discrete distributions.
    name : str or None
        The title of plots that are not passed another one.

    See Also
    --------
    decision_region : Find the region.
    ThresholdCurveDisplay : The metric of labelled scores at every threshold.

    Examples
    --------
    >>> from scipy import stats
    >>> d = DecisionRegionDisplay.from_densities(stats.norm(2), stats.norm(0), base_rate=0.1)
    >>> [(round(low, 3), high) for low, high in d.intervals], round(d.cut, 4)
    ([(1.689, inf)], 0.4411)
    """

    scores: Floats
    positive: Floats
    negative: Floats
    intervals: list[Interval]
    cut: float
    score: float
    metric: str
    steps: bool = False

    @classmethod
    def from_region(
        cls, region: DecisionRegion, *, name: str | None = None, ax: Any = None, **how: Any
    ) -> Self:
        """Draw the result of `decision_region`.

        Parameters
        ----------
        region : DecisionRegion
            The region.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes or a pair of them, optional
            The axes to draw on, as in `plot`.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        DecisionRegionDisplay
            The display, drawn.
        """
        require_result(DecisionRegion, region, "region", "decision_region")
        return cls._of(region)._show(ax, name, how)

    @classmethod
    def _of(cls, region: DecisionRegion) -> Self:
        curves = region.curves(_POINTS)
        scores = np.asarray(curves["score"], np.float64)
        shown = np.isfinite(scores)
        return cls(
            scores=scores[shown],
            positive=region.base_rate * np.asarray(curves["positive"])[shown],
            negative=(1.0 - region.base_rate) * np.asarray(curves["negative"])[shown],
            intervals=list(region.intervals),
            cut=region.likelihood_ratio,
            score=region.score,
            metric=region.metric,
            steps=len(scores) != _POINTS,  # discrete scores have a number of points of their own
        )

    @classmethod
    def from_densities(
        cls,
        positive: Any,
        negative: Any,
        base_rate: float,
        metric: str | Metric = "f1",
        support: tuple[float, float] | None = None,
        *,
        name: str | None = None,
        ax: Any = None,
        **how: Any,
    ) -> Self:
        """Find the region of two densities and draw it.

        Parameters
        ----------
        positive : distribution, histogram or function
            The density of the scores of positives, as in `decision_region`.
        negative : distribution, histogram or function
            The density of the scores of negatives, as in `decision_region`.
        base_rate : float
            The share of positives, above 0 and below 1.
        metric : str or Metric, default="f1"
            The metric to maximise, as in `decision_region`.
        support : (float, float), optional
            The range of the scores of densities that are functions, as in `decision_region`.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes or a pair of them, optional
            The axes to draw on, as in `plot`.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        DecisionRegionDisplay
            The display, drawn.
        """
        found = decision_region(positive, negative, base_rate, metric, support)
        return cls.from_region(found, name=name, ax=ax, **how)

    @property
    def odds(self) -> Floats:
        """The odds of a positive at each score."""
        with np.errstate(divide="ignore", invalid="ignore"):
            odds: Floats = self.positive / self.negative
        return odds

    def plot(self, ax: Any = None, *, name: str | None = None, despine: bool = False) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or a pair of them, optional
            One for the densities alone, two for densities and odds; a new figure of two if None.
        name : str, optional
            The title; the name of the display if None.
        despine : bool, default=False
            Whether to hide the upper and right edges of the axes. New figures never have them.

        Returns
        -------
        DecisionRegionDisplay
            The display itself, with ``ax_``, ``figure_`` and ``odds_ax_`` set; the last is None if
            `ax` was a single Axes.
        """
        both = [] if ax is None else np.ravel(np.array(ax, dtype=object)).tolist()
        if len(both) > 2:
            raise ValueError(f"ax must be one Axes or two, densities and odds; got {len(both)}")
        self.odds_ax_: Axes | None = both[1] if len(both) == 2 else None
        with self._canvas(both[0] if both else None, _SIZE, despine=despine) as (figure, first):
            if ax is None:
                first.remove()
                self.ax_, self.odds_ax_ = figure.subplots(
                    2, 1, sharex=True, height_ratios=(1.6, 1.0)
                )
            self._draw(self.ax_, self._name_or(name))
        return self

    def _parts(self) -> "list[Axes]":
        return [self.ax_] if self.odds_ax_ is None else [self.ax_, self.odds_ax_]

    def _draw(self, ax: "Axes", name: str | None) -> None:
        odds_ax = self.odds_ax_
        shown = self._limits()
        for part in self._parts():
            for interval in self.intervals:
                part.axvspan(*np.clip(interval, *shown), color=PALE, linewidth=0, zorder=0)
            part.set_xlim(shown)
        self._draw_densities(ax)
        if odds_ax is not None:
            self._draw_odds(odds_ax)
        (odds_ax or ax).set_xlabel("score, s")
        found = f"predicted where {in_words(self.intervals)}: "
        found += f"{name_of(self.metric)} = {metric_shown(self.metric, self.score):.3f}"
        ax.set_title(found if name is None else f"{plain(name, 70)}\n{found}")

    def _limits(self) -> tuple[float, float]:
        """Return the range of scores in which there is something to see."""
        together = self.positive + self.negative
        together = np.where(np.isfinite(together), together, 0.0)
        seen = self.scores[together >= _UNSEEN * together.max()] if self.steps else self.scores
        gaps = np.diff(seen) if len(seen) > 1 else np.ones(1)
        room = 0.5 * float(gaps.min()) if self.steps else 0.0
        return float(seen.min()) - room, float(seen.max()) + room

    def _draw_densities(self, ax: "Axes") -> None:
        lines = [Line("negatives", self.negative, ORANGE), Line("positives", self.positive, BLUE)]
        looks: list[dict[str, Any]] = [
            {"linestyle": (0, (5, 1.6)), "linewidth": 1.8},
            {"linewidth": 1.8},
        ]
        if isfinite(self.cut):
            cut = "J" if self.metric == "f1" else number(self.cut)
            lines.append(Line(f"{cut} {_TIMES} negatives", self.cut * self.negative, ORANGE))
            looks.append({"linewidth": 1.0})
        for line, look in zip(lines, looks, strict=True):
            self._line(ax, line.heights, color=line.colour, label=line.name, **look)
        heights = np.concatenate([line.heights for line in lines])
        ax.set_ylim(0.0, 1.08 * heights[np.isfinite(heights)].max(initial=0.0) or 1.0)
        ax.set_ylabel(
            f"{'mass or density' if self.steps else 'density'} {_TIMES} share of the class"
        )
        name_lines(ax, self.scores, lines[:2])
        for line in lines[2:]:  # it lies between the others, so its name is written outside
            self._point_at(ax, line)

    def _point_at(self, ax: "Axes", line: Line) -> None:
        """Name a curve beside its left shoulder, or beside the right one if that has more room."""
        known = np.where(np.isfinite(line.heights), line.heights, 0.0)
        shoulders = np.flatnonzero(known >= 0.6 * known.max())[[0, -1]]
        low, high = ax.get_xlim()
        on_left = self.scores[shoulders[0]] - low > high - self.scores[shoulders[1]]
        shoulder = shoulders[0 if on_left else 1]
        ax.annotate(
            line.name,
            (self.scores[shoulder], known[shoulder]),
            (-36 if on_left else 36, 16),
            textcoords="offset points",
            ha="right" if on_left else "left",
            va="center",
            color=line.colour,
            fontsize=SIZE_OF_NAMES,
            path_effects=halo(ax),
            arrowprops={"arrowstyle": "-", "color": line.colour, "linewidth": 0.7},
        )

    def _draw_odds(self, ax: "Axes") -> None:
        odds = self.odds
        odds[odds == 0.0] = np.nan
        self._line(ax, odds, color=BLUE, linewidth=1.8)
        ax.set(yscale="log", ylabel="odds of a positive")
        if 0.0 < self.cut < np.inf:
            ax.axhline(self.cut, color=ORANGE, linewidth=1.0)
            look: dict[str, Any] = {
                "xycoords": ("axes fraction", "data"),
                "textcoords": "offset points",
            }
            text = f"cut {number(self.cut)}"
            ax.annotate(text, (0.01, self.cut), (0, 2), color=ORANGE, va="bottom", **look)
            far = 10.0 ** (_DECADES / 2)
            known = odds[np.isfinite(odds)]
            low, high = known.min(initial=self.cut), known.max(initial=self.cut)
            ax.set_ylim(max(low / 2, self.cut / far), min(2 * high, self.cut * far))

    def _line(self, ax: "Axes", heights: Floats, **look: Any) -> None:
        if self.steps:
            ax.step(self.scores, heights, where="mid", marker=".", **look)
        else:
            ax.plot(self.scores, heights, **look)


def in_words(intervals: list[Interval]) -> str:
    """Write rays and intervals as conditions on s.

    >>> in_words([(-np.inf, 1.0), (2.0, np.inf)])
    's ≤ 1.00 or s ≥ 2.00'
    """
    parts = []
    for low, high in intervals[:_MOST_NAMED]:
        below, above = isfinite(high), isfinite(low)
        left = f"{low:.2f} ≤ " if below and above else ""
        right = f" ≤ {high:.2f}" if below else f" ≥ {low:.2f}"
        parts.append(f"{left}s{right}" if below or above else "s is anything")
    more = len(intervals) - _MOST_NAMED
    parts += [f"{more} more intervals"] if more > 0 else []
    return (" or ".join(parts) or "nowhere").replace("-", "\N{MINUS SIGN}")
