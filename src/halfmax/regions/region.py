"""`DecisionRegion`: the best decision region, its counts and the curves of a picture."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.options import check_whole
from halfmax._core.result import Result, Table
from halfmax._core.types import Floats
from halfmax.regions.densities import silent_far_out
from halfmax.regions.ratio import Interval

_SHOWN = 3


@dataclass(frozen=True, eq=False, repr=False)
class DecisionRegion(Result):
    """The scores to predict so that the metric is as high as it can be.

    Attributes
    ----------
    intervals : list of (low, high)
        The scores to predict, ascending and disjoint; empty for no score, ``[(-inf, inf)]`` for
        every score on the whole line. An end beyond which neither density has mass is the end of
        their support.
    likelihood_ratio : float
        The cut: a score s is predicted if ``b p1(s) / ((1-b) p0(s))``, the odds of a positive at
        s, is at least this.
    score : float
        The metric reached.
    tp, fp, fn, tn : float
        Shares of all items, which add up to 1.
    metric : str
        The name of the metric.
    base_rate : float
        The share of positives.

    See Also
    --------
    decision_region : The function that returns it.
    DecisionRegionDisplay : A picture of it.

    Examples
    --------
    >>> from halfmax import decision_region
    >>> from scipy import stats
    >>> r = decision_region(stats.norm(2), stats.norm(0), base_rate=0.1)
    >>> round(r.threshold, 4), round(r.tp, 4), round(r.fp, 4)
    (1.6893, 0.0622, 0.041)
    """

    intervals: list[Interval]
    likelihood_ratio: float
    score: float
    tp: float
    fp: float
    fn: float
    tn: float
    metric: str
    base_rate: float
    _shares: list[tuple[float, float]]  # tp and fp of each interval
    _highest: float
    _densities: Callable[[int, Floats], Table]
    _frame_library: Any = None

    @property
    def threshold(self) -> float:
        """The lower end of the region, if it extends from there to the highest score."""
        if len(self.intervals) != 1 or self.intervals[0][1] < self._highest:
            raise AttributeError(
                "the region is not a ray upwards, so it has no threshold (it lies "
                f"{self._words()}): read .intervals, or call .contains(score)"
            )
        return self.intervals[0][0]

    def contains(self, s: npt.ArrayLike) -> Any:
        """Test whether scores are predicted.

        Parameters
        ----------
        s : float or array-like of float
            The scores. The ends of an interval belong to it.

        Returns
        -------
        bool or ndarray of bool
            True where a score lies in the region, in the shape of `s`.

        Raises
        ------
        ValueError
            If a score is NaN.
        """
        scores = np.asarray(s, np.float64)
        if np.isnan(scores).any():
            raise ValueError("s must be numbers; got NaN")
        inside = np.zeros(scores.shape, bool)
        for low, high in self.intervals:
            inside |= (scores >= low) & (scores <= high)
        return inside if inside.ndim else bool(inside)

    def curves(self, points: int = 512) -> Table:
        """Tabulate what a picture needs: score, positive, negative, ratio, predicted.

        The two densities are not weighted by the base rate; ``ratio``, the odds of a positive, is.
        Histograms have one row for each bin. Discrete distributions have one row for each value,
        and masses in place of densities.

        Parameters
        ----------
        points : int
            How many scores continuous densities are evaluated at, 2 or more.

        Returns
        -------
        Table
            The columns score, positive, negative, ratio and predicted.
        """
        points = check_whole("points", points, 2)
        ends = np.array(self.intervals).ravel()
        with silent_far_out():
            table = self._densities(points, ends[np.isfinite(ends)])
            ratio = table["positive"] * self.base_rate / (table["negative"] * (1 - self.base_rate))
        return Table(table | {"ratio": ratio, "predicted": self.contains(table["score"])})

    def table(self) -> Any:
        """Tabulate the ends of each interval, and its true and false positives as shares.

        Returns
        -------
        Table
            One row per interval: interval, low, high, tp, fp. The shares are of all items.
        """
        return super().table()

    def _words(self) -> str:
        if not self.intervals:
            return "nowhere"
        if self.fn + self.tn == 0.0:
            return "everywhere"
        shown = [f"from {low:.6g} to {high:.6g}" for low, high in self.intervals[:_SHOWN]]
        more = len(self.intervals) - _SHOWN
        return " and ".join(shown) + (f" and in {more} more intervals" if more > 0 else "")

    def _summary(self) -> str:
        return (
            f"DecisionRegion: {self.metric} = {self.score:.4f} where the odds are at least "
            f"{self.likelihood_ratio:.4g}, {self._words()}"
        )

    def _plain_table(self) -> Table:
        lows, highs = zip(*self.intervals, strict=True) if self.intervals else ((), ())
        tp, fp = zip(*self._shares, strict=True) if self._shares else ((), ())
        count = range(1, len(lows) + 1)
        return Table({"interval": count, "low": lows, "high": highs, "tp": tp, "fp": fp})
