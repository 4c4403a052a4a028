"""The one look of all pictures: colours that everybody can tell apart, also printed in grey.

matplotlib is imported when something is drawn, and its settings are as before afterwards.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# The palette of Okabe and Ito; greys are neutral.
BLUE, ORANGE, GREEN, PURPLE = "#0072b2", "#d55e00", "#009e73", "#cc79a7"
INK, GREY, PALE = "#222222", "#767676", "#e4e4e4"
COLOUR_MAP = "viridis"  # even steps of lightness, also for the colour-blind and in grey

#: The colour and the dashes of each curve against the threshold: alike in pictures and on pages.
#: Pages have their own shades of these colours, one for light and one for dark.
CURVES: dict[str, tuple[str, tuple[float, ...]]] = {
    "score": ("blue", ()),
    "precision": ("green", (6, 1.6)),
    "recall": ("orange", (2.4, 1.4)),
}
SHADES = {"blue": BLUE, "orange": ORANGE, "green": GREEN}

#: How the lines of a family differ, with colour and without: one for each line.
LINES: tuple[dict[str, Any], ...] = (
    {"color": INK, "linestyle": "-"},
    {"color": BLUE, "linestyle": (0, (6, 1.6))},
    {"color": ORANGE, "linestyle": (0, (5, 1.6, 1, 1.6))},
    {"color": GREEN, "linestyle": (0, (3, 1.4))},
    {"color": PURPLE, "linestyle": (0, (1, 1.1))},
)
#: How the points of a family differ.
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
    "svg.fonttype": "path",  # so that lengths of words do not depend on the reader's fonts
    "svg.hashsalt": "halfmax",  # so that the same picture is the same file
}


@contextmanager
def styled() -> Iterator[None]:
    """Inside, matplotlib has this style, whatever its user has set; afterwards the user's again."""
    try:
        from matplotlib import style
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "pictures need matplotlib, which is not installed: pip install 'halfmax[report]'"
        ) from error
    with style.context(_SETTINGS, after_reset=True):
        yield


def new_figure(size: tuple[float, float]) -> "Figure":
    """An empty figure of so many inches, known to nobody else; to be used inside `styled`."""
    from matplotlib.figure import Figure

    return Figure(figsize=size, layout="constrained")


def render(figure: "Figure", kind: str, words: dict[str, str] | None = None) -> bytes:
    """The content of a "png" or "svg" file, the same each time; `words` are kept inside it."""
    without = {"png": {"Software": None}, "svg": {"Date": None, "Creator": None}}[kind]
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine(None)  # all has its place now; finding it again would take long
    content = BytesIO()
    figure.savefig(content, format=kind, metadata={**(words or {}), **without})
    return content.getvalue()
