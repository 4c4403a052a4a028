"""Densities known only as functions, integrated cell by cell with adaptive quadrature."""

from collections.abc import Callable
from heapq import heapify, heappush, heapreplace
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np

from halfmax._core.types import Floats

_PLACES_PER_CELL = 16
_FIRST_CELLS, _MOST_CELLS = 32, 2000
_AS_EXACT = 1e-10  # the two halves of such a cell are right to more digits than that
_LITTLE = 1e-6
_POINTS = 40
_FARTHEST, _LOOKS = 30.0, 6001  # sinh(30) is 5e12, and a step is a hundredth of the score
_CUTS = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 0.9, *(1.0 - 10.0 ** -np.arange(3, 16, 3)))


def plain_function(
    function: Callable[[Any], Any], name: str, support: tuple[float, float]
) -> Callable[[Floats], Floats]:
    """Wrap a user's function of arrays or of single numbers as a checked function of arrays.

    A density may be infinite at an end of its support; the value there does not matter.
    """

    def evaluate(s: Floats) -> Floats:
        values = _values(function, s, name)
        values = np.where(np.isposinf(values) & np.isin(s, support), 0.0, values)
        wrong = ~((values >= 0.0) & (values < np.inf))
        if wrong.any():
            place = int(np.argmax(wrong))
            raise ValueError(
                f"{name} must be a density: finite, never NaN and never negative; at "
                f"{float(s[place])!r} it is {float(values[place])!r}"
            )
        return values

    return evaluate


def _values(function: Callable[[Any], Any], s: Floats, name: str) -> Floats:
    try:
        values = np.asarray(function(s))
        if values.shape not in ((), s.shape):
            raise ValueError("not a value for each score")
    except (TypeError, ValueError, OverflowError):  # it may accept only one number at a time
        values = np.asarray([_one_value(function, x, name) for x in s.tolist()])
    if values.shape not in ((), s.shape) or values.dtype.kind not in "biuf":
        raise ValueError(
            f"{name} must return one density for each score, a number; for {len(s)} scores it "
            f"returned {values.dtype} of shape {values.shape}"
        )
    return np.broadcast_to(values, s.shape).astype(np.float64)


def _one_value(function: Callable[[Any], Any], x: float, name: str) -> Any:
    """Evaluate one score; where Python's floats overflow, the score is far from any mass."""
    try:
        return function(x)
    except OverflowError:
        return 0.0
    except TypeError as error:
        raise TypeError(f"{name} must be a function of one score; calling it: {error}") from error


class Unbounded:
    """A smooth change of variable that maps (-1, 1), or half of it, to the scores.

    A bounded interval is mapped to itself.
    """

    def __init__(self, low: float, high: float) -> None:
        self._open = np.isinf([low, high])
        self._origin = 0.0 if self._open.all() else high if self._open[0] else low
        if self._open.any():
            low, high = -float(self._open[0]), float(self._open[1])
        self.ends = low, high

    def score(self, t: Floats) -> Floats:
        return self._origin + t / (1.0 - t * t) if self._open.any() else t

    def slope(self, t: Floats) -> Floats:
        square = t * t
        return (1.0 + square) / (1.0 - square) ** 2 if self._open.any() else np.ones_like(t)

    def back(self, s: float) -> float:
        if not self._open.any():
            return s
        x = s - self._origin
        return float(np.sign(x)) if np.isinf(x) else 2.0 * x / (1.0 + float(np.hypot(1.0, 2.0 * x)))


class NumericDensity:
    """A function divided into cells on each of which it is smooth enough to integrate."""

    def __init__(
        self,
        function: Callable[[Floats], Floats],
        support: tuple[float, float],
    ) -> None:
        self._function = function
        self._support = support
        self._variable = Unbounded(*support)
        self._ends, self._held = self._divide(self._where_mass_is())
        self.total = float(self._held.sum())
        steps = (np.arange(_PLACES_PER_CELL) + 0.5) / _PLACES_PER_CELL
        inside = self._ends[:-1, None] + np.diff(self._ends)[:, None] * steps
        self.places = self._variable.score(inside.ravel())

    def _divide(self, places: Floats) -> tuple[Floats, Floats]:
        """Ends of cells, and the mass of each; the worst cell is halved until none is bad."""
        low, high = self._variable.ends
        starts = np.unique(np.concatenate([np.linspace(low, high, _FIRST_CELLS + 1), places]))
        cells = [self._cell(*ends) for ends in pairwise(starts.tolist())]
        heapify(cells)
        while -cells[0][0] > _AS_EXACT and len(cells) < _MOST_CELLS:
            _, start, stop, _ = cells[0]
            middle = (start + stop) / 2.0
            heapreplace(cells, self._cell(start, middle))
            heappush(cells, self._cell(middle, stop))
        cells.sort(key=itemgetter(1))
        return np.append([cell[1] for cell in cells], high), np.array([cell[3] for cell in cells])

    def _cell(self, start: float, stop: float) -> tuple[float, float, float, float]:
        """A cell as its error, negated for the heap, its two ends, and the mass of both halves.

        The error is the difference between the halves and the whole, relative to the mass of the
        cell, or to a little mass if the cell has less than that.
        """
        middle = (start + stop) / 2.0
        halves = self._integral(start, middle) + self._integral(middle, stop)
        apart = abs(halves - self._integral(start, stop)) if start < middle < stop else 0.0
        return -apart / (halves + _LITTLE), start, stop, halves

    def _where_mass_is(self) -> Floats:
        """Points that divide the range where a first scan finds mass, however narrow or far out."""
        s = np.sinh(np.linspace(-_FARTHEST, _FARTHEST, _LOOKS))
        s = np.unique(np.clip(s, *self._support))[1:-1]
        held = np.cumsum(self._function(s) * np.gradient(s)) if len(s) > 1 else np.zeros(len(s))
        if not len(s) or not 0.0 < held[-1] < np.inf:
            return s[:0]
        found = np.unique(np.interp(_CUTS, held / held[-1], s))
        t = np.array([self._variable.back(place) for place in found])
        return t[(t > self._variable.ends[0]) & (t < self._variable.ends[1])]

    def _at(self, t: Floats) -> Floats:
        return self._function(self._variable.score(t)) * self._variable.slope(t)

    def _integral(self, low: float, high: float) -> float:
        """Integrate within one cell, where a few points suffice even if it has little mass."""
        from scipy.integrate import fixed_quad  # slow to import, and most densities do without

        return float(fixed_quad(self._at, low, high, n=_POINTS)[0]) if low < high else 0.0

    def mass(self, low: float, high: float) -> float:
        """The mass between two scores: whole cells, and parts of the cells at the ends."""
        ends = np.array([self._variable.back(low), self._variable.back(high)])
        start, stop = np.clip(ends, *self._variable.ends)
        first = int(np.searchsorted(self._ends, start, side="left"))
        last = int(np.searchsorted(self._ends, stop, side="right")) - 1
        if first > last:
            return self._integral(start, stop) / self.total
        whole = float(self._held[first:last].sum())
        parts = self._integral(start, self._ends[first]) + self._integral(self._ends[last], stop)
        return (whole + parts) / self.total

    def log(self, s: Floats) -> Floats:
        """The logarithm of the density, normalised to integrate to one."""
        values = self._function(s) / self.total
        # Subnormal numbers have few digits.
        return np.log(np.where(values < np.finfo(np.float64).tiny, 0.0, values))

    def quantile(self, probability: float) -> float:
        """The score below which this much mass lies, as exact as a picture needs."""
        upto = np.append(0.0, np.cumsum(self._held)) / self.total
        place = np.interp([probability], upto, self._ends)
        return float(self._variable.score(place)[0])
