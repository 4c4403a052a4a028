"""A density known only as a function: integrated by adaptive quadrature, cell by cell."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import integrate

Array = npt.NDArray[np.float64]

_PLACES_PER_CELL = 16
_MOST_CELLS = 2000
_AS_EXACT = 1e-12
_POINTS = 40


def plain_function(function: Callable[[Any], Any], name: str) -> Callable[[Array], Array]:
    """A user's function, of arrays or of single numbers, as one of arrays that is checked."""

    def one_by_one(s: Array) -> list[Any]:
        return [function(x) for x in s.tolist()]

    def evaluate(s: Array) -> Array:
        try:
            values = np.asarray(function(s), np.float64)
            if values.shape not in ((), s.shape):
                raise ValueError("not a value for each score")
        except (TypeError, ValueError):  # it may take one number at a time
            values = np.asarray(one_by_one(s), np.float64)
        if values.shape not in ((), s.shape):
            raise ValueError(
                f"{name} must return one density for each score; for {len(s)} scores it returned "
                f"an array of shape {values.shape}"
            )
        values = np.broadcast_to(values, s.shape)
        wrong = ~(values >= 0.0)
        if wrong.any():
            place = int(np.argmax(wrong))
            raise ValueError(
                f"{name} must be a density, nowhere negative or NaN; at {s[place]!r} it is "
                f"{values[place]!r}"
            )
        return values

    return evaluate


class Unbounded:
    """A smooth change of variable that takes (-1, 1), or half of it, to the scores.

    A bounded interval stays as it is.
    """

    def __init__(self, low: float, high: float) -> None:
        self._open = np.isinf([low, high])
        self._origin = 0.0 if self._open.all() else high if self._open[0] else low
        if self._open.any():
            low, high = -float(self._open[0]), float(self._open[1])
        self.ends = low, high

    def score(self, t: Array) -> Array:
        with np.errstate(divide="ignore"):
            return self._origin + t / (1.0 - t * t) if self._open.any() else t

    def slope(self, t: Array) -> Array:
        square = t * t
        return (1.0 + square) / (1.0 - square) ** 2 if self._open.any() else np.ones_like(t)

    def back(self, s: float) -> float:
        if not self._open.any():
            return s
        x = s - self._origin
        return float(np.sign(x)) if np.isinf(x) else 2.0 * x / (1.0 + float(np.hypot(1.0, 2.0 * x)))


class NumericDensity:
    """A function cut into cells on each of which it is smooth enough to integrate."""

    def __init__(
        self,
        function: Callable[[Array], Array],
        support: tuple[float, float],
        hints: Sequence[float] = (),
    ) -> None:
        self._function = function
        self._variable = Unbounded(*support)
        found: Any = integrate.cubature(
            self._at_rows,
            *([end] for end in self._variable.ends),
            rtol=0.0,
            atol=_AS_EXACT,
            max_subdivisions=_MOST_CELLS,
            points=[[hint] for hint in hints],
        )
        self._ends: Array = np.unique([(cell.a[0], cell.b[0]) for cell in found.regions])
        pairs = zip(self._ends[:-1], self._ends[1:], strict=True)
        self._held = np.array([self._integral(*pair) for pair in pairs])
        self.total = float(self._held.sum())
        steps = (np.arange(_PLACES_PER_CELL) + 0.5) / _PLACES_PER_CELL
        inside = self._ends[:-1, None] + np.diff(self._ends)[:, None] * steps
        self.places = self._variable.score(inside.ravel())

    def _at(self, t: Array) -> Array:
        return self._function(self._variable.score(t)) * self._variable.slope(t)

    def _at_rows(self, t: Array) -> Array:
        return self._at(t[:, 0])

    def _integral(self, low: float, high: float) -> float:
        """Within one cell, where a few points do; the digits are right however little it holds."""
        return float(integrate.fixed_quad(self._at, low, high, n=_POINTS)[0]) if low < high else 0.0

    def mass(self, low: float, high: float) -> float:
        """The share between two scores: whole cells, and parts of those at the ends."""
        ends = np.array([self._variable.back(low), self._variable.back(high)])
        start, stop = np.clip(ends, *self._variable.ends)
        first = int(np.searchsorted(self._ends, start, side="left"))
        last = int(np.searchsorted(self._ends, stop, side="right")) - 1
        if first > last:
            return self._integral(start, stop) / self.total
        whole = float(self._held[first:last].sum())
        parts = self._integral(start, self._ends[first]) + self._integral(self._ends[last], stop)
        return (whole + parts) / self.total

    def log(self, s: Array) -> Array:
        """The logarithm of the density, which is made to integrate to one."""
        with np.errstate(divide="ignore"):
            return np.log(self._function(s) / self.total)

    def quantile(self, probability: float) -> float:
        """The score below which that much lies, as exact as a picture needs."""
        upto = np.append(0.0, np.cumsum(self._held)) / self.total
        place = np.interp([probability], upto, self._ends)
        return float(self._variable.score(place)[0])
