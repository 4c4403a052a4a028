"""The small picture that a result shows in a notebook, below its table."""

import warnings
from base64 import b64encode
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from halfmax.displays.assessed_score import AssessedScoreDisplay
from halfmax.displays.base import Display
from halfmax.displays.decision_region import DecisionRegionDisplay
from halfmax.displays.half_max import HalfMaxDisplay
from halfmax.displays.label_health import LabelHealthDisplay
from halfmax.displays.style import new_figure, styled
from halfmax.displays.threshold_curve import ThresholdCurveDisplay
from halfmax.expected.decision import Decision
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.regions.region import DecisionRegion
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SIZE = (5.0, 3.3)  # inches
_DOTS = 144  # in an inch, for screens that are twice as fine as a page says
_SHOWN_WIDTH = 480  # pixels of the page
_COLOURS = 64  # enough for lines and words, and a third of the bytes
_MOST_ROWS = 2_000_000  # to be counted again for a picture that nobody has asked for
_RESAMPLES = 100
_LOOK = (
    f"width: {_SHOWN_WIDTH}px; max-width: 100%; background: white; padding: 6px; "
    "border-radius: 4px; box-sizing: border-box"
)
# A picture is a light card. Where the notebook says that its theme is dark, the card turns dark
# too: light and dark change places and hues stay. What the system prefers is not asked, since a
# light notebook is often shown on a dark desktop.
_DARK_THEMES = (
    'body[data-jp-theme-light="false"]',  # JupyterLab and Jupyter Notebook 7
    "body.vscode-dark",  # Visual Studio Code
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    'html[theme="dark"]',  # Colab
    'html[data-theme="dark"]',  # notebooks as pages of documentation
)
_TURN_DARK = (
    f"<style>{', '.join(f'{theme} .halfmax-picture' for theme in _DARK_THEMES)} "
    "{ filter: invert(0.9) hue-rotate(180deg) }</style>"
)


def image_of(result: Any) -> str:
    """An ``<img>`` with the picture of a result; nothing where there is none to draw."""
    if find_spec("matplotlib") is None:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as of letters that the font has not
            display = picture_of(result)
            return "" if display is None else _as_image(display)
    except Exception:  # a result must be shown, whatever becomes of its picture
        return ""


def picture_of(result: Any) -> Display | None:
    """What there is to see in a result, not drawn yet."""
    if isinstance(result, Thresholds):
        return _of_thresholds(result)
    if isinstance(result, Assessment):
        return AssessedScoreDisplay._of(result)
    if isinstance(result, Diagnosis) and len(result.labels) > 1:
        return LabelHealthDisplay._of_diagnosis(result)
    if isinstance(result, Decision) and len(result.thresholds) > 1:
        return HalfMaxDisplay._of_decision(result)
    if isinstance(result, DecisionRegion):
        return DecisionRegionDisplay._of(result)
    return None


def _of_thresholds(thresholds: Thresholds) -> Display | None:
    """The curve of one label, or of many what they predict; from memory, never from a table."""
    tuning = thresholds._tuning
    data = None if tuning is None else tuning.data
    if len(thresholds.thresholds) == 1:
        if data is None or data.n_rows > _MOST_ROWS:
            return None
        return ThresholdCurveDisplay._of(thresholds, None, 0.95, _RESAMPLES, 0)
    if data is not None:
        return LabelHealthDisplay._of(thresholds)
    try:
        return HalfMaxDisplay._of(thresholds)
    except ValueError:  # no probabilities, or no law for them
        return None


def _as_image(display: Display) -> str:
    with styled():
        figure = new_figure(_SIZE)
        display.plot(figure.subplots())
        content = b64encode(_small_png(figure)).decode()
    alt = (display.__doc__ or "").partition("\n")[0]
    source = f"data:image/png;base64,{content}"
    return f'{_TURN_DARK}<img class="halfmax-picture" alt="{alt}" style="{_LOOK}" src="{source}">'


def _small_png(figure: "Figure") -> bytes:
    """A file of few colours."""
    from PIL import Image  # which matplotlib needs, too

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=_DOTS)
    small = BytesIO()
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(
            small, format="png", optimize=True
        )
    return small.getvalue()
