"""Draw the pictures of the README from what halfmax computes; run with ``make pictures``."""

import json
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib import pyplot as plt

import halfmax as hm
from halfmax.demo import score_tumours

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#767676"


def half_max(ax):
    """F1, precision and recall at every threshold worth trying; the best is half the maximum F1."""
    rng = np.random.default_rng(0)
    scores = rng.beta(0.7, 3.0, 400_000)
    truth = rng.random(len(scores)) < scores  # calibrated by construction
    stairs = hm.Staircase.of(truth, scores)
    precision = stairs.true_positives / stairs.predicted
    recall = stairs.true_positives / stairs.positives
    tuned = hm.tune(truth, scores)
    f1 = 2 * precision * recall / (precision + recall)
    for values, colour, name, at in (
        (precision, GREEN, "precision", (0.5, 0.78)),
        (recall, ORANGE, "recall", (0.02, 0.8)),
        (f1, BLUE, "F1", (0.56, 0.3)),
    ):
        wide = 2.5 if name == "F1" else 1.2
        ax.plot(stairs.thresholds, values, color=colour, linewidth=wide)
        ax.text(*at, name, color=colour)
    ax.axvline(tuned.threshold, color=BLUE, linewidth=1)
    ax.axvline(tuned.score / 2, color="black", linewidth=1, linestyle=":")
    ax.plot(tuned.threshold, tuned.score, "o", color=BLUE)
    ax.annotate(
        f"best F1 = {tuned.score:.3f} at {tuned.threshold:.3f}\nhalf of it = {tuned.score / 2:.3f}",
        (tuned.threshold, tuned.score),
        xytext=(0.29, 0.88),
        arrowprops={"arrowstyle": "-", "color": GREY},
    )
    title = "Calibrated scores: threshold = half the maximum F1"
    ax.set(xlim=(0, 0.9), ylim=(0, 1.02), xlabel="threshold", title=title)


def tumours(ax):
    """The same for the demo's classifier."""
    data = score_tumours()
    stairs = hm.Staircase.of(data.truth, data.scores)
    f1 = 2 * stairs.true_positives / (stairs.positives + stairs.predicted)
    tuned = hm.tune(data.truth, data.scores)
    at_half = hm.score(data.truth, data.scores >= 0.5)
    ax.step(stairs.thresholds, f1, where="pre", color=BLUE, linewidth=2)
    ax.plot(tuned.threshold, tuned.score, "o", color=BLUE)
    ax.plot(0.5, at_half, "s", color=GREY)
    ax.annotate(
        f"tuned: {tuned.score:.3f}",
        (tuned.threshold, tuned.score),
        xytext=(-6, 8),
        textcoords="offset points",
        ha="center",
    )
    ax.annotate(f"at 0.5: {at_half:.3f}", (0.5, at_half), xytext=(8, 4), textcoords="offset points")
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="threshold", ylabel="F1", title="The demo's tumours")


def growth(ax):
    """Seconds against entries, measured by ``make bench``."""
    rows = json.loads((HERE / "growth.json").read_text())
    for name, colour, mark in (("binary", BLUE, "o"), ("sparse macro", ORANGE, "s")):
        sizes, took = zip(*[(size, t) for what, size, t in rows if what == name], strict=True)
        ax.loglog(sizes, took, marker=mark, color=colour, label=name)
        ax.loglog(sizes, took[-1] * np.array(sizes) / sizes[-1], ":", color=colour, linewidth=1)
    ax.set(
        xlabel="entries",
        ylabel="seconds",
        title="tune() from 10^5 to 10^8 entries (dotted: slope 1)",
    )
    ax.legend(frameon=False)


def save(name, *drawings):
    """Draw side by side and write a PNG."""
    figure, axes = plt.subplots(1, len(drawings), figsize=(5 * len(drawings), 3.6), squeeze=False)
    for ax, draw in zip(axes[0], drawings, strict=True):
        draw(ax)
    figure.tight_layout()
    figure.savefig(IMAGES / name, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    mpl.use("Agg")
    plt.rcParams.update({"axes.spines.top": False, "axes.spines.right": False})
    IMAGES.mkdir(parents=True, exist_ok=True)
    save("half-max.png", half_max, tumours)
    save("growth.png", growth)
