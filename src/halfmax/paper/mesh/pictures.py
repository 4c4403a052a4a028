"""The figures of the case study."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from halfmax.displays.style import BLUE, GREY, INK, ORANGE, WIDE
from halfmax.mesh.rules.judge import MANY
from halfmax.paper.figures.pictures import Picture
from halfmax.paper.mesh.flatness import flattest
from halfmax.paper.mesh.study import Study

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_LOOKS = {
    "shared": (BLUE, "One penalty for all terms"),
    "per-label": (ORANGE, "A penalty per term"),
}


def pictures(study: Study) -> list[Picture]:
    """List the figures: how flat outputs are, and the effect of a growing penalty."""
    shared, single = (
        study.by_penalty[p].judged["plug-in macro"].flooding(study.rare) for p in _LOOKS
    )
    return [
        Picture(
            key="mesh-flatness",
            source="not in the paper",
            title="How flat must outputs be?",
            caption="Each mark is a term: how much its outputs vary over the held-out documents, "
            "against its base rate. Below the line a third of the documents or more is predicted "
            "by the macro rule, if outputs spread like a normal distribution: the rarer a term, "
            f"the flatter. With one penalty for all terms {shared:,} rare terms are predicted for "
            f"more than a third, with a penalty per term by leave-one-out {single:,}.",
            draw=partial(_draw_flatness, study),
            size=WIDE,
        ),
        Picture(
            key="mesh-penalty",
            source="not in the paper",
            title="What a growing penalty does to rare terms",
            caption="One penalty for all terms. As it grows, the outputs of rare terms flatten "
            "(left) until they vary less than their base rate allows (line: for the median rare "
            "term), and the macro rule predicts more and more of them for over a third of the "
            f"documents (right). On {study.sweep.n_documents:,} held-out documents.",
            draw=partial(_draw_sweep, study),
            size=WIDE,
        ),
    ]


def _draw_flatness(study: Study, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    rates = study.counts / study.n_train
    line = np.geomspace(rates.min(), min(rates.max(), 0.2), 200)
    for ax, penalty in ((left, "shared"), (right, "per-label")):
        colour, name = _LOOKS[penalty]
        outcome = study.by_penalty[penalty]
        over = outcome.judged["plug-in macro"].shares > MANY
        _scatter(ax, rates[~over], outcome.spread[~over], GREY, "a third or fewer")
        _scatter(ax, rates[over], outcome.spread[over], colour, "more than a third")
        ax.plot(line, flattest(line), color=INK, linewidth=1.2, label="flat enough below")
        ax.set(xscale="log", yscale="log", xlabel="base rate of the term", title=name)
        ax.legend(loc="lower right", markerscale=3, handletextpad=0.4)
    left.set_ylabel("standard deviation of its outputs / mean")


def _scatter(ax: "Axes", x: np.ndarray, y: np.ndarray, colour: str, label: str) -> None:
    # Outputs that are equal to the last digit have no place on a logarithmic axis.
    y = np.maximum(y, np.finfo(np.float32).eps / 10)
    ax.plot(x, y, ".", color=colour, markersize=2, alpha=0.5, label=label, rasterized=True)


def _draw_sweep(study: Study, figure: "Figure") -> None:
    left, right = figure.subplots(1, 2, sharex=True)
    swept = study.sweep
    left.set(xscale="log", ylabel="standard deviation of outputs / mean")
    if study.rare.any():
        left.plot(swept.penalties, swept.spread, color=BLUE, marker="o", label="median rare term")
        rate = np.median(study.counts[study.rare]) / study.n_train
        left.axhline(float(flattest(rate)), color=INK, linewidth=1.2, label="flat enough below")
        left.set(yscale="log")
        left.legend(loc="lower left")
    right.plot(swept.penalties, swept.flooding, color=ORANGE, marker="s")
    right.axhline(int(study.rare.sum()), color=GREY, linewidth=1.0)
    right.annotate(
        "all rare terms",
        (swept.penalties[0], int(study.rare.sum())),
        (0, -10),
        textcoords="offset points",
        color=GREY,
    )
    right.set(ylabel="rare terms predicted for over a third", ylim=(0, None))
    chosen = float(study.by_penalty["shared"].penalties[0])
    for ax in (left, right):
        ax.set_xlabel("penalty of all terms")
        ax.axvline(chosen, color=GREY, linewidth=1.0, linestyle=":")
    right.annotate(
        "chosen by\nleave-one-out",
        (chosen, 0.5 * int(study.rare.sum())),
        (5, 0),
        textcoords="offset points",
        color=GREY,
    )
