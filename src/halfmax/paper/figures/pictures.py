"""The figures of the paper and some new ones, each with its title, caption and drawing function.

The numbers come from `data` and from the simulation; `drawing` draws them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from halfmax._core.files import write_whole
from halfmax.displays.style import NARROW, TALL, WIDE, new_figure, render, styled
from halfmax.paper.curse.simulation import Curse, Plane
from halfmax.paper.figures import data, drawing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NEW = "not in the paper"
_RATE = f"Fractions of all examples; the base rate is {data.BASE_RATE:g}."


@dataclass(frozen=True)
class Picture:
    """A figure that can be drawn, its source, and its title and caption.

    Attributes
    ----------
    key : str
        The name of its files, without the suffix.
    source : str
        The number of the figure in the paper, or that it is not in the paper.
    title : str
        A few words.
    caption : str
        One to three sentences, which also describe the figure to readers who cannot see it.
    draw : callable
        Draws on an empty figure of this `size`.
    size : tuple of float
        Width and height in inches.
    """

    key: str
    source: str
    title: str
    caption: str
    draw: "Callable[[Figure], None]"
    size: tuple[float, float] = NARROW


def pictures(curse: Curse, plane: Plane) -> list[Picture]:
    """List all pictures: those of the paper in its order, then the new ones."""
    return [
        *_metric_pictures(),
        _guessing_picture(),
        _curse_picture(curse),
        _plane_picture(plane),
        _regions_picture(),
        _gaps_picture(),
        *_display_pictures(),
    ]


def rendered(picture: Picture, kinds: tuple[str, ...] = ("png", "svg")) -> dict[str, bytes]:
    """Render the picture as files of these kinds, and return their names and contents."""
    words = {"Title": picture.title, "Description": picture.caption}
    with styled():
        figure = new_figure(picture.size)
        picture.draw(figure)
        return {f"{picture.key}.{kind}": render(figure, kind, words) for kind in kinds}


def save(
    picture: Picture, folder: Path, kinds: tuple[str, ...] = ("png", "svg")
) -> tuple[Path, ...]:
    """Write the picture to an existing folder, one file of each kind, and return their paths."""
    contents = rendered(picture, kinds)
    for name, content in contents.items():
        write_whole(Path(folder) / name, content)
    return tuple(Path(folder) / name for name in contents)


def _metric_pictures() -> list[Picture]:
    tp, tn = "true positives, tp", "true negatives, tn"
    family = drawing.draw_family
    return [
        Picture(
            key="f1-concave-in-tp",
            source="Figure 2 of the paper",
            title="F1 is concave in tp",
            caption="Each line holds fp fixed: the first true positives raise F1 most and later "
            "ones less and less, so every line bends above its chord (shaded for fp = 0). " + _RATE,
            draw=partial(family, data.by_tp("f1"), "fp", tp, "F1"),
        ),
        Picture(
            key="accuracy-linear-in-tp",
            source="Figure 3 of the paper",
            title="Accuracy is linear in tp",
            caption="Unlike F1, accuracy pays the same for every true positive, whatever fp is: "
            "the lines are straight and parallel. " + _RATE,
            draw=partial(family, data.by_tp("accuracy"), "fp", tp, "accuracy"),
        ),
        Picture(
            key="f1-surface",
            source="Figure 4 of the paper",
            title="F1 over its two degrees of freedom",
            caption="With the base rate fixed, tp and fp determine F1. Its level lines are "
            "straight but fan out, so F1 is not linear: a step in tp or fp counts most where fp is "
            "small. " + _RATE,
            draw=partial(drawing.draw_surface, data.surface()),
            size=WIDE,
        ),
        Picture(
            key="f1-convex-in-tn",
            source="Figure 5 of the paper",
            title="F1 is convex in tn",
            caption="Each line holds fn fixed: the last true negatives raise F1 most, so every "
            "line bends below its chord (shaded for fn = 0). Beside the concave curves of tp this "
            "shows that F1 treats the classes differently. " + _RATE,
            draw=partial(family, data.by_tn("f1"), "fn", tn, "F1"),
        ),
    ]


def _guessing_picture() -> Picture:
    return Picture(
        key="guessing-by-base-rate",
        source="Figure 6 of the paper",
        title="What a random guess can expect",
        caption="Predicting all, which is best for a classifier that knows nothing, expects "
        "F1 = 2b / (1 + b) in a large batch and a little less in a small one (marks). The shaded "
        "room up to perfect predictions is wide for rare labels and narrow for common ones.",
        draw=partial(drawing.draw_guessing, data.guessing()),
    )


def _curse_picture(curse: Curse) -> Picture:
    medians = np.median(curse.fractions, axis=1)
    least = int(medians.argmin())
    return Picture(
        key="winners-curse",
        source="Figure 8 of the paper",
        title="The winner's curse: how much is predicted",
        caption=f"Each row is a base rate b: what the best threshold on {curse.n:,} examples "
        "predicts if scores say nothing. Predicting all would be right in every row, and common "
        f"labels come close, but for b = {curse.base_rates[least]:g} the median run predicts only "
        f"{medians[least]:.2g} of the examples. The rarest labels often have no positive at all, "
        "and then none is predicted.",
        draw=partial(drawing.draw_curse, curse),
        size=TALL,
    )


def _plane_picture(plane: Plane) -> Picture:
    return Picture(
        key="winners-curse-plane",
        source=_NEW,
        title="Where thresholds are set too high",
        caption="Tuning on n examples without signal, where predicting all would be right, "
        "predicts less than half (left, bright) up to b = 0.55 / n^(1/3) (dash-dotted), and stops "
        "by about the third positive (right) up to the paper's b = 1/√n (solid), where the "
        "change is sharp. The bound that the paper prints (dashed) is near 2/n and marks neither: "
        "there n examples have about two positives.",
        draw=partial(drawing.draw_plane, plane),
        size=WIDE,
    )


def _regions_picture() -> Picture:
    return Picture(
        key="decision-regions",
        source=_NEW,
        title="Theorem 1: the best scores to predict",
        caption="A score is predicted (shaded) where the weighted density of the positives "
        "reaches J times that of the negatives (thin line), J being the Jaccard index reached. "
        "With equal spread that is one ray, so one threshold is enough; with positives that spread "
        f"wider it is two. The base rate is {data.BASE_RATE:g}.",
        draw=partial(drawing.draw_regions, data.regions()),
        size=WIDE,
    )


def _gaps_picture() -> Picture:
    return Picture(
        key="theorem-two-gap",
        source=_NEW,
        title="Theorem 2 on finite batches",
        caption="The lowest probability that the best decision predicts lies above half the best "
        "expected F1, F*/2, by an amount that falls as 1/n: the theorem is exact in the limit. "
        "Using its threshold all the same costs F1 that falls as 1/n². Marks are means over "
        "batches of n squared uniform probabilities, lines have slopes -1 and -2.",
        draw=partial(drawing.draw_gaps, data.gaps()),
    )


def _display_pictures() -> list[Picture]:
    """The theorems on data, drawn by the public displays."""
    return [
        Picture(
            key="threshold-curve",
            source=_NEW,
            title="Theorem 2 on data: the best threshold is F*/2",
            caption="F1, precision and recall against the threshold, for 100,000 scores that are "
            "calibrated probabilities. The threshold with the highest F1 (solid) lies beside half "
            "of that F1 (dotted), and all beats predicting all scores (thin lines on the right).",
            draw=partial(drawing.draw_threshold_curve, data.calibrated()),
        ),
        Picture(
            key="expected-curve",
            source=_NEW,
            title="Expected F1 of predicting k items",
            caption="For 40 independent items of known probability, the expected F1 of predicting "
            "the k most probable rises to its maximum and falls. The rule of half the best F1 "
            "(square) predicts one item more than the best decision (dot), and loses next to "
            "nothing.",
            draw=partial(drawing.draw_expected_curve, data.batch()),
        ),
        Picture(
            key="half-max-labels",
            source=_NEW,
            title="Half the best F1 as a check of calibration",
            caption="Each dot is a label. Where scores are calibrated, its tuned threshold lies "
            "near half of its best F1, the line; of every tenth label the scores were replaced by "
            "their roots, which are too high, and so is its threshold (rings: what diagnose calls "
            "miscalibrated).",
            draw=partial(drawing.draw_half_max, data.half_calibrated()),
        ),
        Picture(
            key="label-health",
            source=_NEW,
            title="Rare labels flood under macro F1",
            caption="Each dot is a label tuned for its own F1 on 2,000 rows; the rarer it is, the "
            "less its scores tell. Common labels are predicted about as often as they occur, near "
            "the line, and some rare ones for a large part of all rows: the shaded region, where "
            "the worst are named.",
            draw=partial(drawing.draw_label_health, data.of_all_rates()),
        ),
    ]
