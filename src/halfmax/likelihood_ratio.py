"""The logarithm of a ratio of two densities: where it lies above a cut, by bracketed roots."""

import numpy as np
import numpy.typing as npt
from scipy import optimize

from halfmax.densities import Continuous

Array = npt.NDArray[np.float64]
Interval = tuple[float, float]

_LARGEST = 1e9  # stands for infinity, by which root finders cannot divide
_NO_MASS = 690.0  # e to the minus this is nothing, and about as little as floats can hold
_NOISE = 1e-12  # rises and falls that may be rounding
_MOST_HALVINGS = 2000
_ROUNDING = 4 * np.finfo(np.float64).eps


class LogRatio:
    """log p1(s) - log p0(s), looked at once at so many points that between two it is monotone.

    The points are the places where either density says to look, both sides of every jump, and every
    local maximum and minimum, found between the points beside it. Where both densities have
    vanished beside their heights, the ratio is that of the scores before.
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
        with np.errstate(all="ignore"):
            logs = np.array([positive.log(points), negative.log(points)])
        finite = np.where(np.isfinite(logs), logs, -np.inf)
        self._least = finite.max(axis=1, initial=-_LARGEST) - _NO_MASS
        self._points, self._values = points, self._ratio(*logs)
        turns = self._turns()
        both = np.concatenate([points, turns])
        values = np.concatenate([self._values, self._at(turns)])
        order = np.argsort(both, kind="stable")
        self._points, self._values = both[order], _filled(values[order])

    def above(self, cut: float) -> list[Interval]:
        """The intervals on which the log ratio is above the cut; a ratio of zero never is."""
        cut = max(cut, -_LARGEST / 2)
        inside = self._values > cut
        crossings = np.flatnonzero(inside[1:] != inside[:-1])
        ends = [self._root(int(place), cut) for place in crossings]
        if inside[0]:
            ends.insert(0, self.low)
        if inside[-1]:
            ends.append(self.high)
        return list(zip(ends[::2], ends[1::2], strict=True))

    def _at(self, s: Array) -> Array:
        if not len(s):
            return s
        with np.errstate(all="ignore"):
            return self._ratio(self._positive.log(s), self._negative.log(s))

    def _ratio(self, positive: Array, negative: Array) -> Array:
        nothing = (positive < self._least[0]) & (negative < self._least[1])
        with np.errstate(invalid="ignore"):
            ratio = np.clip(positive - negative, -_LARGEST, _LARGEST)
        return np.where(nothing, np.nan, ratio)

    def _turns(self) -> Array:
        """Where the ratio stops rising or falling."""
        values = _filled(self._values)
        steps = np.diff(values)
        steps[np.abs(steps) <= _NOISE * (1.0 + np.abs(values[1:]))] = 0.0
        moves = np.flatnonzero(steps)
        turns = np.flatnonzero(steps[moves[1:]] * steps[moves[:-1]] < 0)
        brackets = zip(self._points[moves[turns]], self._points[moves[turns + 1] + 1], strict=True)
        signs = np.sign(steps[moves[turns]])
        return np.array(
            [self._extreme(*ends, sign) for ends, sign in zip(brackets, signs, strict=True)]
        )

    def _extreme(self, low: float, high: float, sign: float) -> float:
        found = optimize.minimize_scalar(
            lambda s: float(np.nan_to_num(-sign * self._at(np.array([s]))[0], nan=_LARGEST)),
            bounds=(low, high),
            method="bounded",
            options={"xatol": 1e-9 * (high - low)},
        )
        return float(found.x)

    def _root(self, place: int, cut: float) -> float:
        low, high = self._points[place : place + 2]
        before = float(self._values[place])

        def over(s: float) -> float:
            value = float(self._at(np.array([s]))[0])
            return (before if np.isnan(value) else value) - cut

        if over(low) * over(high) > 0.0:  # zero on one side of the gap where both densities are
            return float(high)
        root = optimize.brentq(
            over,
            low,
            high,
            xtol=max(1e-14 * (high - low), 1e-300),
            rtol=_ROUNDING,
            maxiter=_MOST_HALVINGS,
        )
        near = self._known[np.abs(self._known - root) <= _ROUNDING * abs(root)]
        return float(near[0] if len(near) else root)


def _filled(values: Array) -> Array:
    """NaN takes the value before it; at the beginning, the first value there is."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        return np.zeros_like(values)
    place = np.searchsorted(known, np.arange(len(values)), side="right") - 1
    return np.asarray(values[known[np.maximum(place, 0)]], np.float64)
