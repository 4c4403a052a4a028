"""Draw each figure from its data on an empty figure; nothing is simulated here."""

from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax._core.types import Floats
from halfmax.displays.decision_region import DecisionRegionDisplay
from halfmax.displays.expected_curve import ExpectedCurveDisplay
from halfmax.displays.half_max import HalfMaxDisplay
from halfmax.displays.label_health import LabelHealthDisplay
from halfmax.displays.style import BLUE, COLOUR_MAP, GREEN, INK, LINES, MARKERS, ORANGE, PALE
from halfmax.displays.threshold_curve import ThresholdCurveDisplay
from halfmax.displays.winners_curse import WinnersCurseDisplay
from halfmax.paper.curse.law import printed_bound, turning_base_rate
from halfmax.paper.curse.simulation import Curse, Plane
from halfmax.paper.figures.data import (
    BATCH_SIZES,
    Family,
    Gaps,
    Guessing,
    Sample,
    Surface,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

Line = tuple[Floats, str, str, float]  # heights, dashes, name, and the position of the name

_BESIDE: dict[str, Any] = {
    "textcoords": "offset points",
    "va": "center",
    "annotation_clip": False,
}


def draw_family(family: Family, fixed: str, x: str, y: str, figure: "Figure") -> None:
    """Draw a line for each value of the fixed count; shade the bend of the first one."""
    ax = figure.subplots()
    straight = np.linspace(family.curves[0][0], family.curves[0][-1], len(family.x))
    ax.fill_between(family.x, straight, family.curves[0], color=PALE, linewidth=0)
    for value, curve, look in zip(family.fixed, family.curves, LINES, strict=True):
        name = f"{fixed} = {value:.2f}"
        ax.plot(family.x, curve, label=name, clip_on=False, **look)
        ax.annotate(name, (family.x[-1], curve[-1]), xytext=(6, 0), **_BESIDE)
    ticks = np.linspace(0.0, family.x[-1], 6)
    ax.set(xlim=(0.0, family.x[-1]), ylim=(0.0, 1.0), xlabel=x, ylabel=y, xticks=ticks)
    ax.grid(axis="y")


def draw_surface(surface: Surface, figure: "Figure") -> None:
    """Draw the surface, and its level lines beside it."""
    left, right = figure.subfigures(1, 2, squeeze=False, width_ratios=(1.0, 1.05))[0]
    _draw_relief(surface, left.add_axes((0.07, 0.02, 0.93, 0.98), projection="3d"))
    ax = right.subplots()
    mesh = ax.pcolormesh(
        surface.tp, surface.fp, surface.f1, shading="gouraud", vmin=0, vmax=1, rasterized=True
    )
    levels = np.linspace(0.1, 0.9, 9)
    colours = ["white" if level < 0.55 else INK for level in levels]
    lines = ax.contour(surface.tp, surface.fp, surface.f1, levels, colors=colours, linewidths=0.9)
    ax.clabel(lines, fmt="%.1f", fontsize=8)
    ax.set(xlabel="true positives, tp", ylabel="false positives, fp")
    right.colorbar(mesh, ax=ax, label="F1", ticks=np.linspace(0, 1, 6))


def _draw_relief(surface: Surface, ax: Any) -> None:
    tp, fp = np.meshgrid(surface.tp, surface.fp)
    look = {"vmin": 0, "vmax": 1, "rcount": 61, "ccount": 61, "antialiased": False}
    ax.plot_surface(tp, fp, surface.f1, cmap=COLOUR_MAP, shade=False, rasterized=True, **look)
    for k in range(0, 61, 12):
        ax.plot(tp[k], fp[k], surface.f1[k], color=INK, linewidth=0.6)
        ax.plot(tp[:, k], fp[:, k], surface.f1[:, k], color=INK, linewidth=0.6)
    ax.set(xlabel="tp", ylabel="fp", zlabel="F1", zlim=(0.0, 1.0))
    ax.set(xticks=(0, 0.1, 0.2), yticks=(0, 0.25, 0.5, 0.75), zticks=(0, 0.5, 1.0))
    ax.view_init(elev=24, azim=-122)
    ax.set_box_aspect((1.0, 1.0, 0.85), zoom=0.95)


def draw_guessing(guessing: Guessing, figure: "Figure") -> None:
    """Draw the F1 of guessing against the base rate, and what is left to gain."""
    ax = figure.subplots()
    ax.fill_between(guessing.base_rates, guessing.limit, 1.0, color=PALE, linewidth=0)
    ax.plot(guessing.base_rates, np.ones_like(guessing.limit), color=INK, clip_on=False)
    ax.plot(guessing.base_rates, guessing.limit, color=BLUE, label="2b / (1 + b)", clip_on=False)
    for n, exact, colour, mark in zip(
        BATCH_SIZES, guessing.marked, (ORANGE, GREEN), MARKERS, strict=False
    ):
        name = f"best decision for {n} items, exact"
        ax.plot(guessing.marked_rates, exact, mark, color=colour, fillstyle="none", label=name)
    ax.text(0.02, 1.015, "perfect predictions", va="bottom")
    for rate in (0.1, 0.5):
        guess = 2 * rate / (1 + rate)
        ax.annotate("", (rate, 1), (rate, guess), arrowprops={"arrowstyle": "<->", "color": INK})
        ax.text(rate + 0.015, 0.4 * guess + 0.6, f"{1 - guess:.2f} to gain", va="center")
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="base rate, b", ylabel="expected F1")
    ax.legend(loc="lower right")


def draw_curse(curse: Curse, figure: "Figure") -> None:
    """Draw the distribution of the fraction predicted, for each base rate."""
    shown = WinnersCurseDisplay(curse.n, curse.base_rates, curse.fractions)
    shown.plot(figure.subplots())


def draw_plane(plane: Plane, figure: "Figure") -> None:
    """Draw how often a threshold is high, by two measures, and the bounds proposed for them."""
    n = plane.sizes.astype(np.float64)
    bound = np.array([printed_bound(size) for size in n])
    printed = bound, "--", r"$b = (\sqrt{1 + 8/n} - 1)\,/\,2$", 0.4
    text = n**-0.5, "-", r"$b = 1/\sqrt{n}$", 0.7
    half = np.array([turning_base_rate(size) for size in n]), "-.", r"$b = 0.55\,n^{-1/3}$", 0.8
    left, right = figure.subplots(1, 2, sharey=True)
    _draw_map(left, plane, plane.high, [printed, text, half])
    mesh = _draw_map(right, plane, plane.top, [printed, text])
    left.set(title="less than half is predicted", ylabel="base rate, b")
    right.set(title="prediction stops by about the third positive")
    corner = left.transAxes
    left.text(0.97, 0.95, "nearly all predicted", c="white", ha="right", va="top", transform=corner)
    left.text(0.04, 0.05, "no positives,\nnone predicted", transform=corner)
    right.text(0.04, 0.05, "hardly three\npositives in all", transform=right.transAxes)
    figure.colorbar(mesh, ax=[left, right], label="share of runs", pad=0.01, aspect=30)


def _draw_map(ax: "Axes", plane: Plane, shares: Floats, lines: list[Line]) -> "QuadMesh":
    x, y = _edges(plane.sizes), _edges(plane.base_rates)
    mesh = ax.pcolormesh(x, y, shares, vmin=0, vmax=1, rasterized=True)
    box = {"facecolor": "white", "edgecolor": "none", "pad": 1.5, "alpha": 0.85}
    for b, dash, name, at in lines:
        ax.plot(plane.sizes, b, dash, color=INK, linewidth=1.5, path_effects=_halo(), label=name)
        k = int(at * len(b))
        ax.text(plane.sizes[k], b[k], name, ha="center", va="center", fontsize=8, bbox=box)
    ax.set(xscale="log", yscale="log", xlabel="n, examples used to set the threshold")
    ax.set(xlim=plane.sizes[[0, -1]], ylim=plane.base_rates[[0, -1]])
    return mesh


def _halo() -> list[Any]:
    """A white outline, so that lines are visible on every colour."""
    from matplotlib.patheffects import withStroke

    return [withStroke(linewidth=3, foreground="white")]


def _edges(centres: Any) -> Floats:
    """The borders of cells around points of a log axis, halfway between the points."""
    logs = np.log(centres)
    inner = (logs[1:] + logs[:-1]) / 2
    edges: Floats = np.exp([2 * logs[0] - inner[0], *inner, 2 * logs[-1] - inner[-1]])
    return edges


def draw_regions(regions: dict[str, DecisionRegionDisplay], figure: "Figure") -> None:
    """Draw both weighted densities, and where the positive one reaches J times the other."""
    axes = figure.subplots(1, len(regions), sharey=True)
    for ax, (name, region) in zip(axes, regions.items(), strict=True):
        region.plot(ax, name=name)
        ax.label_outer()


def draw_threshold_curve(sample: Sample, figure: "Figure") -> None:
    """Draw F1, precision and recall of calibrated scores against the threshold."""
    ThresholdCurveDisplay.from_predictions(sample.truth, sample.scores, ax=figure.subplots())


def draw_expected_curve(p: Floats, figure: "Figure") -> None:
    """Draw the expected F1 of predicting the k most probable items."""
    ExpectedCurveDisplay.from_probabilities(p, ax=figure.subplots())


def draw_half_max(sample: Sample, figure: "Figure") -> None:
    """Draw tuned thresholds of many labels against half their best F1."""
    ax = figure.subplots()
    HalfMaxDisplay.from_predictions(sample.truth, sample.scores, labels=sample.labels, ax=ax)


def draw_label_health(sample: Sample, figure: "Figure") -> None:
    """Draw how often each of many labels is predicted under macro F1; most labels are rare."""
    ax = figure.subplots()
    LabelHealthDisplay.from_predictions(sample.truth, sample.scores, labels=sample.labels, ax=ax)


def draw_gaps(gaps: Gaps, figure: "Figure") -> None:
    """Draw how fast the rule of half the best F1 converges, with lines of slope -1 and -2."""
    ax = figure.subplots()
    for values, power, colour, mark, name in (
        (gaps.threshold, -1, BLUE, "o", "lowest probability predicted,\nminus F*/2: falls as 1/n"),
        (gaps.lost, -2, ORANGE, "s", "expected F1 lost by the\nthreshold F*/2: falls as 1/n²"),
    ):
        line = gaps.sizes ** float(power)
        guide = line * np.exp(np.log(values / line).mean())
        ax.plot(gaps.sizes, guide, color=colour, linewidth=0.9, label="guide")
        ax.plot(gaps.sizes, values, mark, color=colour, label=name)
        middle = len(values) // 2 - 1
        at = gaps.sizes[middle], values[middle]
        ax.annotate(name, at, xytext=(12, 16), color=colour, **_BESIDE)
    ax.set(xscale="log", yscale="log", xlabel="n, items in the batch", ylabel="mean over batches")
