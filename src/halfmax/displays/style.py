"""The style of all plots: colours that all readers can distinguish, also printed in grey.

matplotlib is imported only when something is drawn, and its settings are restored afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

from halfmax._core.extras import require_installed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The palette of Okabe and Ito; greys are neutral.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
INK, GREY, PALE = "#222222", "#767676", "#e4e4e4"
COLOUR_MAP = "viridis"  # even steps of lightness, also for the colour-blind and in grey

#: The colour and dashes of each curve against the threshold, the same in plots and on pages.
#: Pages have their own shades of these colours, one for light and one for dark themes.
CURVES: dict[str, tuple[str, tuple[float, ...]]] = {
    "score": ("blue", ()),
    "precision": ("green", (6, 1.6)),
    "recall": ("orange", (2.4, 1.4)),
}
SHADES = {"blue": BLUE, "orange": ORANGE, "green": GREEN}

#: Styles of the lines of one plot, distinguishable with and without colour.
LINES: tuple[dict[str, Any], ...] = (
    {"color": INK, "linestyle": "-"},
    {"color": BLUE, "linestyle": (0, (6, 1.6))},
    {"color": ORANGE, "linestyle": (0, (5, 1.6, 1, 1.6))},
    {"color": GREEN, "linestyle": (0, (3, 1.4))},
    {"color": PURPLE, "linestyle": (0, (1, 1.1))},
)
#: Markers of the points of one plot.
MARKERS = ("o", "s", "^", "D", "v")

NARROW, WIDE, TALL = (5.4, 3.7), (8.6, 3.7), (8.6, 6.2)  # inches

_SETTINGS = {
    "figure.dpi": 150,
    "font.size": 9,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9.5,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": INK,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": PALE,
    "grid.linewidth": 0.7,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "image.cmap": COLOUR_MAP,
    "svg.fonttype": "path",  # so that widths of text do not depend on the reader's fonts
    "svg.hashsalt": "halfmax",  # so that the same picture is the same file
}


@contextmanager
def styled() -> Iterator[None]:
    """Use this style inside, whatever the user has set, and restore the user's afterwards."""
    require_installed("matplotlib")
    from matplotlib import style

    with style.context(_SETTINGS, after_reset=True):
        yield


def new_figure(size: tuple[float, float]) -> "Figure":
    """Return an empty figure, in inches, unknown to pyplot; to be used inside `styled`."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def render(figure: "Figure", kind: str, words: dict[str, str] | None = None) -> bytes:
    """Return the bytes of a "png" or "svg" file, reproducibly; `words` become its metadata."""
    without = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # the layout is done; repeating it would be slow
    content = BytesIO()
    figure.savefig(content, format=kind, metadata={**(words or {}), **without})
    return content.getvalue()
