"""Which picture shows a result: below its table in a notebook, and where it is asked for."""

import warnings
from base64 import b64encode
from collections.abc import Hashable
from importlib.util import find_spec
from io import BytesIO
from typing import TYPE_CHECKING, Any

from halfmax.displays.assessed_score import AssessedScore
from halfmax.displays.base import Display
from halfmax.displays.cost_curve import CostCurveDisplay
from halfmax.displays.decision_region import DecisionRegionDisplay
from halfmax.displays.half_max import HalfMaxDisplay
from halfmax.displays.label_health import LabelHealthDisplay
from halfmax.displays.one_label import OneLabel
from halfmax.displays.style import new_figure, styled
from halfmax.displays.threshold_curve import Band, ThresholdCurveDisplay
from halfmax.expected.decision import Decision
from halfmax.honesty.assessment import Assessment
from halfmax.honesty.diagnosis import Diagnosis
from halfmax.metrics.words import is_cost
from halfmax.regions.region import DecisionRegion
from halfmax.tuning.thresholds import Thresholds

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_SIZE = (5.0, 3.3)  # inches
_DOTS = 144  # per inch: twice the resolution of CSS pixels, for dense screens
_SHOWN_WIDTH = 480  # CSS pixels
_COLOURS = 64  # enough for lines and text, at a third of the bytes
_MOST_ROWS = 2_000_000  # more rows are not counted again just for this picture
_RESAMPLES = 100
_LOOK = (
    f"width: {_SHOWN_WIDTH}px; max-width: 100%; background: white; padding: 6px; "
    "border-radius: 4px; box-sizing: border-box"
)
# A picture is a light card. In notebooks with a dark theme the card turns dark too: light and dark
# are swapped and hues stay. The preference of the operating system is ignored, since a light
# notebook is often shown on a dark desktop.
_DARK_THEMES = (
    'body[data-jp-theme-light="false"]',  # JupyterLab and Jupyter Notebook 7
    "body.vscode-dark",  # Visual Studio Code
    "body.vscode-high-contrast:not(.vscode-high-contrast-light)",
    'html[theme="dark"]',  # Colab
    'html[data-theme="dark"]',  # notebooks rendered as documentation
)
_TURN_DARK = (
    f"<style>{', '.join(f'{theme} .halfmax-picture' for theme in _DARK_THEMES)} "
    "{ filter: invert(0.9) hue-rotate(180deg) }</style>"
)


def image_of(result: Any) -> str:
    """Return an ``<img>`` with the picture of a result, or an empty string if there is none."""
    if find_spec("matplotlib") is None:
        return ""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as about glyphs missing from the font
            display = picture_of(result)
            return "" if display is None else _as_image(display)
    except Exception:  # a result must be shown even if its picture fails
        return ""


def picture_of(result: Any) -> Display | None:
    """Return the display of a result, not yet drawn, or None."""
    if isinstance(result, Thresholds):
        return _of_thresholds(result)
    if isinstance(result, Assessment):
        return AssessedScore._of(result)
    if isinstance(result, Diagnosis) and len(result.labels) > 1:
        return LabelHealthDisplay._of_diagnosis(result)
    if isinstance(result, Decision) and len(result.thresholds) > 1:
        return HalfMaxDisplay._of_decision(result)
    if isinstance(result, DecisionRegion):
        return DecisionRegionDisplay._of(result)
    return None


def plot_thresholds(
    thresholds: Thresholds, ax: "Axes | None", label: Hashable | None, how: dict[str, Any]
) -> Display:
    """Draw thresholds for `Thresholds.plot`: the same picture as in a notebook, or an error."""
    if label is not None or len(thresholds) == 1:
        curve = CostCurveDisplay if is_cost(thresholds.metric) else ThresholdCurveDisplay
        return curve.from_thresholds(thresholds, label, ax=ax, **how)
    tuning = thresholds._tuning
    if tuning is not None and tuning.data is not None:
        return LabelHealthDisplay.from_thresholds(thresholds, ax=ax, **how)
    try:
        display = HalfMaxDisplay._of(thresholds)
    except ValueError as error:
        raise ValueError(
            "these thresholds do not have their data in memory, and cannot be compared with "
            f"calibrated probabilities: {error}. With data, "
            "tune(y_true, y_score).replace(t.to_dict()).plot() draws them"
        ) from None
    return display._show(ax, how.pop("name", None), how)


def _of_thresholds(thresholds: Thresholds) -> Display | None:
    """Return the curve of one label, or the health of many, if their data are in memory."""
    tuning = thresholds._tuning
    data = None if tuning is None else tuning.data
    if len(thresholds.thresholds) == 1:
        if data is None or data.n_rows > _MOST_ROWS:
            return None
        one = OneLabel.of_thresholds(thresholds, None)
        if one.objective.metric.is_cost:
            return CostCurveDisplay._of(one)
        return ThresholdCurveDisplay._of(one, Band(n_resamples=_RESAMPLES))
    if data is not None:
        return LabelHealthDisplay._of(thresholds)
    try:
        return HalfMaxDisplay._of(thresholds)
    except ValueError:  # not probabilities, or no law for this metric
        return None


def _as_image(display: Display) -> str:
    """Draw a display and return it as an ``<img>``."""
    with styled():
        figure = new_figure(_SIZE)
        display.plot(figure.subplots())
        content = b64encode(_small_png(figure)).decode()
    alt = (display.__doc__ or "").partition("\n")[0]
    source = f"data:image/png;base64,{content}"
    return f'{_TURN_DARK}<img class="halfmax-picture" alt="{alt}" style="{_LOOK}" src="{source}">'


def _small_png(figure: "Figure") -> bytes:
    """Return the figure as a PNG with few colours."""
    from PIL import Image  # matplotlib depends on it

    drawn = BytesIO()
    figure.savefig(drawn, format="png", dpi=_DOTS)
    small = BytesIO()
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(
            small, format="png", optimize=True
        )
    return small.getvalue()
