"""Curves against the threshold: limits, marks of thresholds, levels, and names of lines."""

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from halfmax._core.types import Floats
from halfmax.displays.base import ink_of, name_of, number, plain, spread
from halfmax.displays.curves import Looks
from halfmax.displays.label_curve import LabelCurveDisplay, Limits
from halfmax.displays.lettering import Box, Line, name_heights, name_lines, name_uprights, write
from halfmax.displays.style import CURVES, SHADES
from halfmax.metrics.words import name_of_rule

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = {name: SHADES[colour] for name, (colour, _) in CURVES.items()}
OWN = COLOURS["score"]
DASHES: dict[str, Any] = {name: (0, dashes) for name, (_, dashes) in CURVES.items() if dashes}
_ROOM = 0.04  # margin beside the lowest and the highest score


class Point(NamedTuple):
    """A threshold and the height of the curve at it."""

    threshold: float
    height: float


class ThresholdAxisDisplay(LabelCurveDisplay):
    """Base class of displays whose x axis is the threshold.

    Subclasses say which lines there are, their own curve first, which levels, and what is marked.
    """

    #: Whether the y axis is named after the main line, so that the line needs no name, and has
    #: room for the names of levels above the highest one.
    _has_scale = False

    def _lines(self) -> list[Line]:
        """Return the curves at each threshold, as they are shown; the first one is the main one."""
        raise NotImplementedError

    def _levels(self) -> list[tuple[float, str]]:
        """Return heights that need no scores, with their names, which are put at the right."""
        raise NotImplementedError

    def _levels_at_left(self) -> list[tuple[float, str]]:
        """Return further heights whose names are put at the left."""
        return []

    def _points(self) -> tuple[Point, Point, float | None]:
        """Return the chosen threshold, the best one, and that of calibrated probabilities."""
        raise NotImplementedError

    def _shade(self, _ax: "Axes", _x: Floats) -> list[Line]:
        """Draw what lies below all lines; return what is to be named there."""
        return []

    def _heights(self) -> Floats:
        """Return all heights that must be inside the axes."""
        own = [line.heights for line in self._lines()]
        below = [fold._lines()[0].heights for fold in self.folds]
        levels = [height for height, _ in (*self._levels(), *self._levels_at_left())]
        values = np.concatenate([*own, *below, levels])
        finite: Floats = values[np.isfinite(values)]
        return finite

    def _steps(self, limits: Limits) -> tuple[Floats, Floats]:
        return self._from_left(limits), _extended(self._lines()[0].heights)

    def _from_left(self, limits: Limits) -> Floats:
        # Below the lowest score nothing changes.
        return np.append(min(limits[0], self.thresholds[0]), self.thresholds)

    def _summary(self) -> tuple[str, float]:
        return name_of(self.metric), self._points()[0].height

    def _draw_parts(self, ax: "Axes", name: str | None, looks: Looks) -> None:
        title = self.label if name is None else name
        self._set_limits(ax)
        rows = self._mark_thresholds(ax)
        self._draw_lines(ax, self._name_levels(ax, looks), looks)
        ax.set_xlabel(self._of_positive_class("threshold"))
        if title is not None:
            ax.set_title(plain(title, 70), pad=6.0 + 11.0 * rows)

    def _set_limits(self, ax: "Axes") -> None:
        every = np.concatenate([self.thresholds, *(fold.thresholds for fold in self.folds)])
        low, high = every.min(), every.max()
        if self._points()[2] is not None and high - low > 0.5:
            low, high = 0.0, 1.0
        room = _ROOM * (high - low) or 0.5 * abs(low) or 0.5
        ax.set_xlim(low - room, high + room)
        heights = self._heights()
        lowest, highest = self._range(heights.min(initial=0.0), heights.max(initial=0.0))
        room = 0.03 * (highest - lowest)
        ax.set_ylim(lowest - room * (lowest < 0.0), highest + room * (3 if self._has_scale else 1))

    def _range(self, lowest: float, highest: float) -> tuple[float, float]:
        """Return the range of heights to show: most metrics reach from 0 to 1."""
        return lowest, max(highest, 1.0)

    def _draw_lines(self, ax: "Axes", taken: list[Box], looks: Looks) -> None:
        x, lines = self._from_left(ax.get_xlim()), self._lines()
        named = self._shade(ax, x)
        for part in lines[1:]:
            look = {"color": part.colour, "linestyle": DASHES[part.name], "linewidth": 1.3}
            ax.step(x, _extended(part.heights), where="pre", label=part.name, **look)
        look = {"color": OWN, "linewidth": 2.2, "label": lines[0].name}
        main = self._draw_curve(ax, look, looks)
        name = "" if self._has_scale else lines[0].name
        lines[0] = lines[0]._replace(colour=main.get_color(), name=name)
        if self.folds:
            named.append(self._name_of_folds())
        chosen, best, plug_in = self._points()
        marked = chosen.threshold, plug_in, best.threshold
        upright = [place for place in marked if place is not None and np.isfinite(place)]
        drawn = [part._replace(heights=_extended(part.heights)) for part in (*lines, *named)]
        name_lines(ax, x, drawn, upright, taken)

    def _name_of_folds(self) -> Line:
        """Return the curve of the first fold, under the name of all."""
        first = self.folds[0]
        place = np.searchsorted(first.thresholds, self.thresholds)
        heights = np.append(first._lines()[0].heights, np.nan)[place]
        return Line(f"{len(self.folds)} folds", heights, OWN, needed=False)

    def _name_levels(self, ax: "Axes", looks: Looks) -> list[Box]:
        """Draw heights that need no scores as fine lines; return the boxes of their names."""
        both = [
            [(height, what) for height, what in levels if np.isfinite(height)]
            for levels in (self._levels(), self._levels_at_left())
        ]
        self._draw_levels(ax, [height for height, _ in chain(*both)], looks)
        boxes: list[Box] = []
        for levels, on_left in zip(both, (False, True), strict=True):
            if levels and looks.plot_chance_level:
                upwards = self._has_scale or bool(min(levels)[0] < np.mean(ax.get_ylim()))
                boxes += name_heights(ax, sorted(levels, reverse=not upwards), upwards, on_left)
        return boxes

    def _mark_thresholds(self, ax: "Axes") -> int:
        """Mark the thresholds, and return the number of rows that their names occupy."""
        (x, height), best, plug_in = self._points()
        marks = [(x, f"chosen {number(x)}: {name_of(self.metric)} = {self._in_words(height)}")]
        if plug_in is not None:
            marks.append((plug_in, f"{name_of_rule(self.metric)} = {number(plug_in)}"))
        low, high = ax.get_xlim()
        for (place, _), dash in zip(marks, ("-", (0, (1, 1.5))), strict=False):
            if low <= place <= high:
                ax.axvline(place, color=ink_of(ax), linewidth=1.0, linestyle=dash)
        if low <= x <= high:  # at height 0 the axis would hide half of it
            look: dict[str, Any] = {"color": OWN, "zorder": 4, "clip_on": False}
            ax.plot(x, height, "o", markeredgecolor="white", **look)
        if np.isfinite(best.threshold) and best.threshold != x:
            look = {"color": OWN, "markerfacecolor": "white", "zorder": 3, "clip_on": False}
            ax.plot(*best, "D", label="best", **look)
            write(ax, "best", best, (0, 9), OWN)
        return name_uprights(ax, marks)

    def _in_words(self, height: float) -> str:
        """Return the height of the chosen threshold, and how it varies over folds."""
        if not self.folds:
            return number(height)
        values = [fold._summary()[1] for fold in self.folds]
        return f"{number(height)}, folds {spread(values)}"


def _extended(heights: Floats) -> Floats:
    """Return the heights with the first one repeated at the left edge."""
    return np.append(heights[0], heights)
