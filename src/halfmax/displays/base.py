"""What all displays share: the base class, axes in one style, names, numbers and legends."""

from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Self, TypeVar

import numpy as np

from halfmax._core.text import on_one_line
from halfmax.displays.style import INK, NARROW, styled
from halfmax.metrics.words import is_cost, metric_name, shown
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Result = TypeVar("Result")

MANY_POINTS = 2000  # more points than this are drawn as an image, also in vector files
_LONGEST_NAME, _LONGEST_TITLE = 28, 70
_MOST_SHOWN = 4  # values of a tuple in a repr
SIZE_OF_NAMES = 8.5


@dataclass(eq=False, repr=False)
class Display:
    """Base class of displays: arrays that can be drawn; `plot` sets `ax_` and `figure_`.

    Attributes
    ----------
    name : str or None
        The name that `plot` shows unless it is passed another one.
    ax_ : matplotlib Axes
        The axes of the last plot.
    figure_ : matplotlib Figure
        The figure of these axes.
    """

    name: str | None = field(default=None, kw_only=True)

    def __repr__(self) -> str:
        """Return one line: numbers and strings in full, arrays by their shape."""
        shown = [part.name for part in fields(self) if not part.name.startswith("_")]
        shown.sort(key="name".__eq__)  # what is computed comes first
        parts = [f"{name}={_briefly(getattr(self, name))}" for name in shown]
        return f"{type(self).__name__}({', '.join(parts)})"

    def plot(
        self, ax: "Axes | None" = None, *, name: str | None = None, despine: bool = False
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on; a new figure if None.
        name : str, optional
            The title; the name of the display if None.
        despine : bool, default=False
            Whether to hide the upper and right edges of the axes. New figures never have them.

        Returns
        -------
        Display
            The display itself, with ``ax_`` and ``figure_`` set.
        """
        with self._canvas(ax, despine=despine) as (_, drawn):
            self._draw(drawn, self._name_or(name))
        return self

    def _draw(self, ax: "Axes", name: str | None) -> None:
        raise NotImplementedError

    def _show(self, ax: Any, name: str | None, how: dict[str, Any]) -> Self:
        """Keep the name for later plots and draw for the first time."""
        self.name = name
        return self.plot(ax, **how)

    def _name_or(self, name: str | None) -> str | None:
        return self.name if name is None else name

    def _parts(self) -> "Iterable[Axes]":
        """Return all axes of the last plot."""
        return [self.ax_]

    @contextmanager
    def _canvas(
        self, ax: "Axes | None", size: tuple[float, float] = NARROW, *, despine: bool = False
    ) -> "Iterator[tuple[Figure, Axes]]":
        """Yield the user's axes with the user's settings, or new axes in halfmax's style."""
        self.ax_: Axes
        self.figure_: Figure
        if ax is not None:
            self.ax_, self.figure_ = ax, figure_of(ax)
            yield self.figure_, ax
        else:
            with new_axes(size) as (self.figure_, self.ax_):
                yield self.figure_, self.ax_
        if despine:
            for part in self._parts():
                part.spines[["top", "right"]].set_visible(False)


def _briefly(value: Any) -> str:
    """Return a value in a few characters."""
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(f'{size:,}' for size in value.shape)} array>"
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}" if abs(float(value)) < 1.0 else f"{value:.12g}"
    if isinstance(value, (tuple, list)):
        if value and isinstance(value[0], Display):
            return f"<{len(value):,} displays>"
        if len(value) > _MOST_SHOWN:
            return f"<{len(value):,} values>"
        return f"({', '.join(map(_briefly, value))})"
    text = on_one_line(repr(value))
    return text if len(text) <= _LONGEST_NAME else f"{text[: _LONGEST_NAME - 1]}…"


@contextmanager
def new_axes(size: tuple[float, float]) -> "Iterator[tuple[Figure, Axes]]":
    """Yield a new pyplot figure in halfmax's style; it is closed if drawing fails."""
    with styled():
        import matplotlib.pyplot as plt

        figure, ax = plt.subplots(figsize=size, layout="constrained")
        try:
            yield figure, ax
        except BaseException:
            plt.close(figure)
            raise
        size_of_ticks = float(plt.rcParams["font.size"])
        for part in figure.axes:  # ticks are created when they are drawn, under other settings
            part.tick_params(which="both", labelsize=size_of_ticks, color=INK, labelcolor=INK)


def figure_of(ax: Any) -> "Figure":
    """Return the figure of the user's axes, after checking that they are axes."""
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        hint = "; if plt.subplots made several axes, pass one of them" * isinstance(ax, np.ndarray)
        raise TypeError(
            f"ax must be matplotlib Axes, or None for new ones; got {type(ax).__name__}{hint}"
        )
    return ax.get_figure(root=True)  # type: ignore[return-value]


def ink_of(ax: "Axes") -> Any:
    """Return the colour of text on these axes, which contrasts with their background."""
    return ax.xaxis.label.get_color()


def require_result(kind: type[Result], value: Any, name: str, maker: str) -> Result:
    """Return a result of halfmax, or raise an error that names the function that returns it."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be what {maker} returns; got {type(value).__name__}")
    return value


def rows_of(thresholds: Thresholds, n_rows: Any = None) -> float:
    """Return the number of rows that were tuned, or the sum of their weights."""
    if n_rows is None:
        if thresholds._tuning is None:
            raise ValueError(
                "n_rows must be passed, the number of rows (or the sum of their weights): "
                "these thresholds do not know the data that they were tuned on; got None"
            )
        return float(thresholds._tuning.load().total)
    least = max(thresholds.support.max(initial=0), thresholds.predicted.max(initial=0))
    if isinstance(n_rows, str) or not n_rows > 0 or n_rows < least * (1 - 1e-9):
        raise ValueError(
            f"n_rows must be the number of rows, at least {least:,} (the positives or "
            f"predictions of one label); got {n_rows!r}"
        )
    return float(n_rows)


# ---- text


def name_of_estimator(
    estimator: Any, name: str | None, label: Hashable | None = None
) -> str | None:
    """Return the name to show: the class of the estimator, unless there is another."""
    return type(estimator).__name__ if name is None and label is None else name


def plain(name: Hashable, longest: int = _LONGEST_NAME) -> str:
    r"""Return a name as plain text: on one line, cut if long, dollars not taken for mathematics.

    >>> plain("$_{a}$")
    '\\$_{a}\\$'
    """
    text = on_one_line(name)
    if len(text) > longest:
        text = f"{text[: longest - 1]}…"
    return text.replace("$", r"\$")


def name_of(metric: str) -> str:
    """Return a metric as written on an axis."""
    return plain(metric_name(metric))


def shown_interval(metric: str, ends: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return the low and high ends of scores as they are shown; a cost turns them around."""
    low, high = (shown(metric, end) for end in ends)
    return (high, low) if is_cost(metric) else (low, high)


def number(value: float) -> str:
    """Return three digits with a typographic minus sign; an infinite threshold is "none".

    >>> number(0.12345), number(-123456.0)
    ('0.123', '\N{MINUS SIGN}123,000')
    """
    if value == np.inf:
        return "none"
    text = f"{value:.3g}"
    if 1e3 <= abs(value) < 1e15:
        text = f"{float(text):,.0f}"
    return text.replace("-", "\N{MINUS SIGN}")


def spread(values: Sequence[float]) -> str:
    """Return the mean and the standard deviation of the values that are known."""
    known = np.array(values)[~np.isnan(values)]
    return f"{number(known.mean())} ± {known.std():.2g}" if len(known) else "unknown"


def put_legend(ax: "Axes", name: str | None, columns: int = 1) -> None:
    """Put the legend above the axes, where nothing is drawn, and the title above the legend."""
    handles, _ = ax.get_legend_handles_labels()
    look: dict[str, Any] = {
        "loc": "lower left",
        "bbox_to_anchor": (0.0, 1.0),
        "fontsize": SIZE_OF_NAMES,
    }
    spaces = {"borderaxespad": 0.2, "handletextpad": 0.5, "columnspacing": 1.2, "labelspacing": 0.3}
    legend = ax.legend(ncols=columns, frameon=False, **(look | spaces))
    for handle in filter(None, legend.legend_handles):
        if hasattr(handle, "set_markersize"):
            handle.set_markersize(5.0)
    if name is not None:
        rows = -(-len(handles) // columns)
        ax.set_title(plain(name, _LONGEST_TITLE), pad=6.0 + 1.5 * SIZE_OF_NAMES * rows)
