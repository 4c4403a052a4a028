"""The log ratio of two densities, and the intervals where it is above a cut."""

import numpy as np

from halfmax._core.types import Floats
from halfmax.regions.densities import Continuous

Interval = tuple[float, float]

_LARGEST = 1e9  # stands for infinity, which root finders cannot handle
_NATS_TO_NOTHING = 690.0  # exp(-690) is about as small as a float can be
_NOISE = 1e-12  # smaller rises and falls may be rounding errors
_MOST_HALVINGS = 2000
_ROUNDING = 4 * np.finfo(np.float64).eps


class LogRatio:
    """log p1(s) - log p0(s), evaluated once at enough points to be monotone between neighbours.

    The points are the places that either density suggests, the floats just below and above every
    jump, and every local maximum and minimum, found between its neighbouring points. Where neither
    density is known to have mass, the ratio is the lower of the nearest known ones.
    """

    def __init__(self, positive: Continuous, negative: Continuous) -> None:
        self._positive, self._negative = positive, negative
        self.low = min(positive.low, negative.low)
        self.high = max(positive.high, negative.high)
        jumps = np.concatenate([positive.jumps, negative.jumps])
        ends = [positive.low, positive.high, negative.low, negative.high]
        known = np.append(jumps, ends)
        self._known = np.unique(known[np.isfinite(known)])
        beside = np.concatenate([np.nextafter(jumps, -np.inf), np.nextafter(jumps, np.inf)])
        points = np.unique(np.concatenate([positive.places, negative.places, beside]))
        points = points[(points > self.low) & (points < self.high)]
        logs = np.array([positive.log(points), negative.log(points)])
        finite = np.where(np.isfinite(logs), logs, -np.inf)
        self._least = finite.max(axis=1, initial=-_LARGEST) - _NATS_TO_NOTHING
        self._points, self._values = points, self._ratio(*logs)
        turns = self._turns()
        both = np.concatenate([points, turns])
        values = np.concatenate([self._values, self._at(turns)])
        order = np.argsort(both, kind="stable")
        self._points, self._values = both[order], _filled(values[order])

    def above(self, cut: float) -> list[Interval]:
        """The intervals where the log ratio is above the cut; a ratio of zero never is."""
        cut = max(cut, -_LARGEST / 2)
        inside = self._values > cut
        crossings = np.flatnonzero(inside[1:] != inside[:-1])
        ends = [self._root(int(place), cut) for place in crossings]
        if inside[0]:
            ends.insert(0, self.low)
        if inside[-1]:
            ends.append(self.high)
        return list(zip(ends[::2], ends[1::2], strict=True))

    def _at(self, s: Floats) -> Floats:
        if not len(s):
            return s
        return self._ratio(self._positive.log(s), self._negative.log(s))

    def _ratio(self, positive: Floats, negative: Floats) -> Floats:
        """The log ratio; NaN where one density underflows and the other is next to nothing."""
        gone = np.isneginf(positive) & (negative < self._least[1])
        gone |= np.isneginf(negative) & (positive < self._least[0])
        return np.where(gone, np.nan, np.clip(positive - negative, -_LARGEST, _LARGEST))

    def _turns(self) -> Floats:
        """Local maxima and minima of the ratio other than jumps."""
        values = _filled(self._values)
        steps = np.diff(values)
        steps[np.abs(steps) <= _NOISE * (1.0 + np.abs(values[1:]))] = 0.0
        moves = np.flatnonzero(steps)
        turns = np.flatnonzero(steps[moves[1:]] * steps[moves[:-1]] < 0)
        lows, highs = self._points[moves[turns]], self._points[moves[turns + 1] + 1]
        smooth = np.searchsorted(self._known, lows) == np.searchsorted(self._known, highs)
        cases = zip(lows[smooth], highs[smooth], np.sign(steps[moves[turns]])[smooth], strict=True)
        return np.array([self._extreme(*case) for case in cases])

    def _extreme(self, low: float, high: float, sign: float) -> float:
        from scipy.optimize import minimize_scalar  # slow to import; histograms do without

        found = minimize_scalar(
            lambda s: float(np.nan_to_num(-sign * self._at(np.array([s]))[0], nan=_LARGEST)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-9 * (high - low)},
        )
        return float(found.x)

    def _root(self, place: int, cut: float) -> float:
        low, high = self._points[place : place + 2]

        def over(s: float) -> float:
            value = float(self._at(np.array([s]))[0])
            return (-_LARGEST if np.isnan(value) else value) - cut

        if over(low) * over(high) > 0.0:  # the end of an interval next to which nothing is known
            return float(high if over(high) > 0.0 else low)
        from scipy.optimize import brentq

        root = brentq(
            over,
            low,
            high,
            xtol=max(1e-14 * (high - low), 1e-300),
            rtol=_ROUNDING,
            maxiter=_MOST_HALVINGS,
        )
        near = self._known[np.abs(self._known - root) <= _ROUNDING * abs(root)]
        return float(near[0] if len(near) else root)


def _filled(values: Floats) -> Floats:
    """Replace NaN by the lower of the known values before and after it."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return np.zeros_like(values)
    places = np.arange(len(values))
    before = np.maximum(np.searchsorted(known, places, side="right") - 1, 0)
    after = np.minimum(np.searchsorted(known, places, side="left"), len(known) - 1)
    return np.minimum(values[known[before]], values[known[after]])
