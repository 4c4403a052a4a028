"""Place text in a plot: names of lines, heights, thresholds and points that do not overlap."""

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from halfmax._core.types import Array
from halfmax.displays.base import SIZE_OF_NAMES, figure_of, ink_of, number, plain
from halfmax.displays.style import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Box = tuple[float, float, float, float]  # left, low, right, high, in typographic points

_WIDTH_OF_A_LETTER = 0.54  # times the font size, on average
_COLUMNS = 90  # positions along a curve where its name may be written
_MOST_NAMED = 6
_SIZE_OF_SMALL = 7.5
_MARGIN = 24.0  # free points to the left of the axes, above the tick labels


def halo(ax: "Axes") -> list[Any]:
    """Return an outline in the colour of the background, so that text is legible on lines."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=2.5, foreground=ax.get_facecolor())]


class _Sheet(NamedTuple):
    """Axes measured in typographic points, from their lower left corner."""

    width: float
    height: float
    font: float
    to_points: Callable[[Array, Array], tuple[Array, Array]]

    @classmethod
    def of(cls, ax: "Axes", font: float) -> "_Sheet":
        figure = figure_of(ax)
        if (layout := figure.get_layout_engine()) is not None:
            layout.execute(figure)  # so that the axes have their size
        box, scale = ax.get_window_extent(), 72.0 / figure.dpi

        def to_points(x: Array, y: Array) -> tuple[Array, Array]:
            at = ax.transData.transform(np.column_stack([x, y]))
            return (at[:, 0] - box.x0) * scale, (at[:, 1] - box.y0) * scale

        return cls(box.width * scale, box.height * scale, font, to_points)

    def room_of(self, text: str) -> tuple[float, float]:
        """Return the width and height of a text."""
        letters = len(text.replace("\\$", "$"))
        return letters * _WIDTH_OF_A_LETTER * self.font, 1.25 * self.font


class Line(NamedTuple):
    """A curve and the style of its name."""

    name: str
    heights: Array
    colour: Any
    needed: bool = True  # if False, the name is left out where it would be too close to others


class _Curves(NamedTuple):
    """The lowest and highest point of each curve around each of the columns across the axes."""

    across: Array
    low: Array  # curves x columns
    high: Array

    @classmethod
    def through(cls, across: Array, heights: Array) -> "_Curves":
        beyond = np.pad(heights, ((0, 0), (1, 1)), constant_values=np.nan)
        three = np.array([beyond[:, :-2], heights, beyond[:, 2:]])
        return cls(across, np.fmin.reduce(three), np.fmax.reduce(three))


def name_lines(
    ax: "Axes",
    x: Array,
    lines: Sequence[Line],
    uprights: Sequence[float] = (),
    taken: Sequence[Box] = (),
) -> None:
    """Write the name of each curve where it is farthest from the others and from upright lines.

    Curves are steps: between two of the ascending x, each is as high as at the upper one. Boxes in
    `taken` are kept free. Curves without a name only keep others away.
    """
    sheet = _Sheet.of(ax, SIZE_OF_NAMES)
    places = np.linspace(*ax.get_xlim(), _COLUMNS)
    nearest = np.minimum(np.searchsorted(x, places), len(x) - 1)
    drawn = np.array([line.heights[nearest] for line in lines])
    drawn[:, (places < x[0]) | (places > x[-1])] = np.nan
    heights = np.array([sheet.to_points(places, row)[1] for row in drawn])
    across, _ = sheet.to_points(places, np.zeros(_COLUMNS))
    curves = _Curves.through(across, heights)
    barred, _ = sheet.to_points(np.asarray(uprights), np.zeros(len(uprights)))
    boxes = list(taken)
    for own, line in enumerate(lines):
        if not line.name:
            continue
        wide, high = sheet.room_of(line.name)
        aside = wide / 2 + 5 + sheet.width / _COLUMNS  # for steep curves
        best, most = None, -np.inf
        # Where two curves coincide, a reader could not see which of them is named.
        others = np.abs(np.delete(heights, own, axis=0) - heights[own])
        apart = np.fmin.reduce(others, initial=3 * high)
        for column in np.flatnonzero(np.isfinite(heights[own])):
            for away in ((0.0, 0.8 * high), (0.0, -0.8 * high), (aside, 0.0), (-aside, 0.0)):
                spot = float(across[column]) + away[0], float(heights[own, column]) + away[1]
                room = _room_at(sheet, spot, (wide, high), curves, own, barred, boxes)
                room = min(room, apart[column]) * (0.5 if away[0] else 1.0)
                if room > most:
                    best, most = (int(column), away, spot), room
        if best is not None and (line.needed or most > high):
            place, away, spot = best
            boxes.append(_box_around(spot, (wide, high)))
            write(ax, line.name, (places[place], drawn[own, place]), away, line.colour)


def _room_at(
    sheet: _Sheet,
    spot: tuple[float, float],
    size: tuple[float, float],
    curves: _Curves,
    own: int,
    barred: Array,
    boxes: list[Box],
) -> float:
    """Return the distance of a text at this spot from all else; -inf outside the axes."""
    (x, y), (wide, high) = spot, size
    if not (wide / 2 < x < sheet.width - wide / 2 and high / 2 < y < sheet.height - high / 2):
        return -np.inf
    near = np.abs(curves.across - x) <= wide / 2 + 2
    gaps = np.maximum(np.maximum(curves.low[:, near] - y, y - curves.high[:, near]), 0.0)
    gaps[own] *= 3.0  # its own curve may be close
    room = float(gaps[np.isfinite(gaps)].min(initial=3 * high))  # more room than this is no better
    if any(_overlap(_box_around(spot, size), box) for box in boxes):
        return -1.0
    if len(barred) and np.abs(barred - x).min() < wide / 2 + 3:
        room *= 0.3
    return room


def write(
    ax: "Axes",
    text: str,
    at: tuple[float, float],
    away: tuple[float, float],
    colour: Any,
    **how: Any,
) -> None:
    """Write a text, offset by `away` typographic points from the data point `at`."""
    look = {"ha": "center", "va": "center", "fontsize": SIZE_OF_NAMES, **how}
    ax.annotate(
        text, at, away, textcoords="offset points", color=colour, path_effects=halo(ax), **look
    )


def name_heights(
    ax: "Axes", marks: Sequence[tuple[float, str]], upwards: bool, on_left: bool = False
) -> list[Box]:
    """Name heights at one end of the axes, stacked upwards or downwards from the first.

    Return the boxes that the names occupy.
    """
    sheet, side = _Sheet.of(ax, _SIZE_OF_SMALL), 1.0 if upwards else -1.0
    end, inwards, align = (0.0, 2.0, "left") if on_left else (1.0, -2.0, "right")
    before, boxes = -np.inf, []
    for height, what in marks:
        at = float(sheet.to_points(np.zeros(1), np.array([height]))[1][0])
        place = max(side * at + 0.7 * sheet.font, before + 1.3 * sheet.font)
        before = place
        look = {"xycoords": ("axes fraction", "data"), "ha": align, "fontsize": sheet.font}
        text, away = f"{what} {number(height)}", (inwards, side * place - at)
        write(ax, text, (end, height), away, GREY, **look)
        wide, high = sheet.room_of(text)
        middle = end * sheet.width + inwards * (1.0 + wide / 4.0)
        boxes.append(_box_around((middle, side * place), (wide, high)))
    return boxes


def name_uprights(ax: "Axes", marks: Sequence[tuple[float, str]]) -> int:
    """Name positions on the x axis above the axes, in as many rows as needed.

    Of two names, the first is left of its position and the second right of it, if there is room.
    Return the number of rows.
    """
    sheet = _Sheet.of(ax, SIZE_OF_NAMES)
    limits = ax.get_xlim()
    row, before = 0, -np.inf
    for order, (x, text) in enumerate(sorted(marks)):
        place = float(np.clip(x, *limits))
        text = f"{text} →" if x > limits[1] else f"← {text}" if x < limits[0] else text
        at = float(sheet.to_points(np.array([place]), np.zeros(1))[0][0])
        wide, high = sheet.room_of(text)
        left = at - wide - 2.0 if order < len(marks) - 1 else at + 2.0
        left = min(max(left, -_MARGIN), max(sheet.width - wide, -_MARGIN))
        row += left < before
        before = left + wide + 4.0
        look = {"xycoords": ("data", "axes fraction"), "ha": "left", "va": "bottom"}
        write(ax, text, (place, 1.0), (left - at, 3.0 + row * high), ink_of(ax), **look)
    return row + 1


def name_points(
    ax: "Axes", x: Array, y: Array, names: Sequence[Hashable], colour: str, most: int = _MOST_NAMED
) -> list[Hashable]:
    """Write names beside their points, in this order; leave out names for which there is no room.

    Return the names written.
    """
    sheet = _Sheet.of(ax, SIZE_OF_NAMES)
    points = np.column_stack(sheet.to_points(x, y))
    boxes: list[Box] = []
    written: list[Hashable] = []
    for place, (left, low) in enumerate(points):
        text = plain(names[place])
        box = _free_box(sheet, points, place, text, boxes)
        if box is None:
            continue
        boxes.append(box)
        written.append(names[place])
        away = box[0] - left, (box[1] + box[3]) / 2 - low
        write(ax, text, (x[place], y[place]), away, colour, ha="left")
        if len(written) == most:
            break
    return written


def _free_box(sheet: _Sheet, points: Array, place: int, text: str, boxes: list[Box]) -> Box | None:
    """Return a box for text beside a point that overlaps no other box, or None.

    Of several such boxes it is the one that covers the fewest points.
    """
    (x, y), (wide, high) = points[place], sheet.room_of(text)
    best, fewest = None, np.inf
    for left in (x + 5, x - 5 - wide):
        for low in (y - high / 2, y + 2, y - high - 2):
            box = left, low, left + wide, low + high
            inside = left >= 0 and low >= 0 and box[2] <= sheet.width and box[3] <= sheet.height
            if not inside or any(_overlap(box, other) for other in boxes):
                continue
            covered = ((points > box[:2]) & (points < box[2:])).all(axis=1).sum()
            if covered < fewest:
                best, fewest = box, covered
    return best


def _box_around(spot: tuple[float, float], size: tuple[float, float]) -> Box:
    (x, y), (wide, high) = spot, size
    return x - wide / 2, y - high / 2, x + wide / 2, y + high / 2


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
