"""The case study: compared with scikit-learn and numpy, and how its costs grow.

``python -m benchmarks.mesh [peers] [growth]`` prints tables as Markdown. "growth" takes some twenty
minutes and draws ``docs/images/mesh-growth.png``.
"""

import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.measure import seconds
from halfmax.displays.style import INK, LINES, MARKERS, WIDE, new_figure, render, styled
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.records.generator import PAPER, Recipe
from halfmax.mesh.rules.half_max import find_half_max

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "mesh-growth.png"
SHARES = (0.25, 0.5, 1.0)
PARTS = {
    "records and words": ("records", "words", "held-out"),
    "factors": ("factors",),
    "penalties": ("penalties",),
    "plug-in rules": ("plug-in",),
    "thresholds with guard": ("thresholds",),
    "judging and sweep": ("judging", "sweep"),
}


def made_up(n_documents=5_000, n_labels=5_000, rank=200):
    """Synthetic factors, and a sparse truth that depends on them."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n_documents, rank)) * np.geomspace(1.0, 0.1, rank)
    rates = np.minimum(12.0 / n_labels / np.linspace(0.2, 5.0, n_labels), 0.5)
    chances = rates * np.exp(0.5 * factors[:, :5].sum(axis=1))[:, None]
    return factors, sparse.csr_array((rng.random(chances.shape) < chances).astype(np.int8))


def ridge_peer(factors, truth, penalties):
    """Penalties per label by leave-one-out with scikit-learn, which needs a dense truth."""
    from sklearn.linear_model import RidgeCV

    return RidgeCV(penalties, alpha_per_target=True).fit(factors, truth.toarray()).alpha_


def plug_in_peer(outputs):
    """The macro rule on a whole matrix, by sorting each column."""
    p = -np.sort(-outputs.whole(), axis=0)
    sums = np.cumsum(p, axis=0, dtype=np.float64)
    return (2.0 * sums / (sums[-1] + np.arange(1, len(p) + 1)[:, None])).max(axis=0)


def peers():
    factors, truth = made_up()
    ridge = Ridge.of(factors, truth)
    ours = seconds(lambda: Ridge.of(factors, truth).choose("per-label"), repeats=3)
    theirs = seconds(ridge_peer, factors, truth, ridge.tried, repeats=1)
    same = np.mean(ridge.choose("per-label") == ridge_peer(factors, truth, ridge.tried))
    weights = ridge.weights(ridge.choose("shared"))
    parts = (part.astype(np.float32) for part in (ridge.basis, weights, ridge.rates))
    outputs = Outputs(*parts)
    best = find_half_max(outputs).of_labels
    assert np.allclose(best, plug_in_peer(outputs), rtol=1e-6)
    print("| 5,000 documents x 5,000 labels, rank 200 | halfmax | instead | ratio |")
    print("|---|---:|---:|---:|")
    what = "23 penalties per label by leave-one-out, RidgeCV(alpha_per_target=True)"
    print(f"| {what} | {ours:.2f} s | {theirs:.2f} s | {theirs / ours:.1f} |")
    ours, theirs = seconds(find_half_max, outputs), seconds(plug_in_peer, outputs)
    what = "three plug-in rules in blocks, one rule from a sorted matrix"
    print(f"| {what} | {ours:.2f} s | {theirs:.2f} s | {theirs / ours:.1f} |")
    print(f"\nRidgeCV chooses the same penalty for {same:.1%} of the labels.")


def run_study(recipe):
    """The stages of one study, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        code = (
            "import json, sys\n"
            "from halfmax.mesh.records.generator import Recipe\n"
            "from halfmax.paper.mesh import study\n"
            "from halfmax.paper.mesh.write import reproduce_mesh\n"
            "study.SCALES['paper'] = Recipe(**json.loads(sys.argv[1]))\n"
            "_, found = reproduce_mesh(sys.argv[2], scale='paper')\n"
            "print(json.dumps([stage._asdict() for stage in found.stages]))\n"
        )
        words = [sys.executable, "-c", code, json.dumps(asdict(recipe)), folder]
        return json.loads(subprocess.run(words, check=True, capture_output=True).stdout)


def growth():
    runs = {}
    for share in SHARES:
        documents = {
            "n_train": int(PAPER.n_train * share),
            "n_test": int(PAPER.n_test * share),
        }
        for recipe in (replace(PAPER, **documents), replace(PAPER, n_labels=_labels(share))):
            if recipe not in runs:
                runs[recipe] = run_study(recipe)
                print(json.dumps([asdict(recipe), runs[recipe]]), file=sys.stderr, flush=True)
    _print_growth(runs)
    PICTURE.write_bytes(draw(runs))


def _labels(share):
    return int(PAPER.n_labels * share)


def _print_growth(runs):
    print("| training documents | terms | " + " | ".join(PARTS) + " | all, s | peak, GiB |")
    print("|---:" * (len(PARTS) + 4) + "|")
    for recipe, stages in runs.items():
        times = [f"{_seconds_of(stages, names):.1f}" for names in PARTS.values()]
        total = sum(stage["seconds"] for stage in stages)
        print(
            f"| {recipe.n_train:,} | {recipe.n_labels:,} | {' | '.join(times)} | {total:.0f} | "
            f"{_peak(stages):.1f} |"
        )


def _seconds_of(stages, names):
    return sum(stage["seconds"] for stage in stages if stage["name"].startswith(names))


def _peak(stages):
    return max(stage["peak_bytes"] for stage in stages) / 2**30


def draw(runs):
    with styled():
        figure = new_figure(WIDE)
        axes = figure.subplots(1, 3)
        _draw_time(axes[0], runs, "n_train", "training documents")
        _draw_time(axes[1], runs, "n_labels", "terms")
        for name, look, mark in zip(("n_train", "n_labels"), LINES, MARKERS, strict=False):
            x, some = _along(runs, name)
            share = np.array(x) / max(x)
            label = {"n_train": "documents", "n_labels": "terms"}[name]
            axes[2].plot(
                share, [_peak(stages) for stages in some], marker=mark, label=label, **look
            )
        axes[2].set(xlabel="share of the paper's size", ylabel="peak memory, GiB", ylim=(0, None))
        axes[2].legend()
        handles, labels = axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4)
        return render(figure, "png")


def _draw_time(ax, runs, name, words):
    x, some = _along(runs, name)
    looks = [*LINES, {"color": INK, "linestyle": ":"}]
    for (part, names), look in zip(PARTS.items(), looks, strict=True):
        times = [_seconds_of(stages, names) for stages in some]
        ax.plot(x, times, marker="o", markersize=3, label=part, **look)
    ax.set(xscale="log", yscale="log", xlabel=words, ylabel="seconds", xticks=x)
    ax.set_xticks(x, [f"{value:,}" for value in x], rotation=20)
    ax.minorticks_off()


def _along(runs, name):
    """The runs that differ from the paper's size only in this, from small to large."""
    others = [other for other in ("n_train", "n_labels") if other != name]
    some = {
        getattr(recipe, name): stages
        for recipe, stages in runs.items()
        if all(getattr(recipe, other) == getattr(PAPER, other) for other in others)
    }
    x = sorted(some)
    return x, [some[value] for value in x]


def redraw(lines):
    """Draw the plot again from what a run printed to stderr."""
    told = [json.loads(line) for line in lines if line.startswith("[")]
    runs = {Recipe(**recipe): stages for recipe, stages in told}
    _print_growth(runs)
    PICTURE.write_bytes(draw(runs))


if __name__ == "__main__":
    wanted = sys.argv[1:] or ["peers", "growth"]
    if "peers" in wanted:
        peers()
    if "growth" in wanted:
        growth()
    if "redraw" in wanted:
        redraw(sys.stdin)
