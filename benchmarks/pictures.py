"""Draw the pictures of the README from what halfmax computes; run with ``make pictures``."""

import json
import warnings
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

import halfmax as hm
from benchmarks import data
from halfmax._core.files import write_whole
from halfmax._core.reciprocal import exponential_sum
from halfmax.cli.demonstration import score_tumours
from halfmax.displays.style import BLUE, GREEN, GREY, INK, ORANGE, PALE, new_figure, render, styled
from halfmax.paper.curse.simulation import simulate_curse, simulate_plane
from halfmax.paper.figures import data as figure_data
from halfmax.paper.figures import pictures

HERE = Path(__file__).parent
IMAGES = HERE.parent / "docs" / "images"
OF_THE_PAPER = ("decision-regions", "theorem-two-gap", "winners-curse", "winners-curse-plane")


def half_max(ax):
    """F1, precision and recall at every threshold; the best is half the maximum F1."""
    sample = figure_data.calibrated(400_000)
    title = "Calibrated scores: threshold = half the maximum F1"
    hm.ThresholdCurveDisplay.from_predictions(sample.truth, sample.scores, ax=ax, name=title)


def tumours(ax):
    """F1, precision and recall of the demo's classifier."""
    known = score_tumours()
    hm.ThresholdCurveDisplay.from_predictions(
        known.truth, known.scores, ax=ax, name="The demo's tumours"
    )


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
    ax.legend()


def expected_curve(ax):
    """The expected F1 of every count of one batch, the best one, and the plug-in rule."""
    hm.ExpectedCurveDisplay.from_probabilities(figure_data.batch(), ax=ax)


def two_classifiers(ax):
    """Precision against recall of calibrated scores, and of the same scores with noise."""
    sample = figure_data.calibrated(20_000)
    noise = np.random.default_rng(1).normal(size=len(sample.scores))
    draw = hm.PrecisionRecallDisplay.from_predictions
    draw(sample.truth, sample.scores, name="calibrated", ax=ax)
    draw(sample.truth, sample.scores + 0.2 * noise, name="with noise", ax=ax)


class Validated:
    """A classifier cross-validated on five folds."""

    def __init__(self):
        from sklearn.datasets import make_classification
        from sklearn.linear_model import LogisticRegression
        from sklearn.model_selection import cross_validate

        X, y = make_classification(
            1500, n_informative=6, weights=[0.85], class_sep=0.7, random_state=0
        )
        keep = {"return_estimator": True, "return_indices": True}
        self.found = cross_validate(LogisticRegression(), X, y, cv=5, **keep), X, y

    def precision_recall(self, ax):
        """A curve for each fold, and one for all folds together."""
        hm.PrecisionRecallDisplay.from_cv_results(*self.found, ax=ax)

    def threshold_curve(self, ax):
        """The metric of each fold against the threshold."""
        hm.ThresholdCurveDisplay.from_cv_results(*self.found, ax=ax)

    def cost_curve(self, ax):
        """The mean cost of each fold against the threshold."""
        hm.CostCurveDisplay.from_cv_results(*self.found, hm.cost(fp=1, fn=5), ax=ax)


def costs(ax):
    """The mean cost where a miss is ten times as bad as a false alarm."""
    sample = figure_data.calibrated(20_000)
    metric = hm.cost(fp=1, fn=10)
    hm.CostCurveDisplay.from_predictions(sample.truth, sample.scores, metric, ax=ax)


def calibration(ax):
    """Each label's threshold against half of its best F1."""
    sample = figure_data.half_calibrated()
    hm.HalfMaxDisplay.from_predictions(sample.truth, sample.scores, labels=sample.labels, ax=ax)


def health(guard):
    """Share of rows predicted for labels from rare to common."""
    sample = figure_data.of_all_rates()

    def draw(ax):
        given = {"labels": sample.labels, "guard": guard, "name": f"guard={guard!r}"}
        hm.LabelHealthDisplay.from_predictions(sample.truth, sample.scores, ax=ax, **given)

    return draw


def regions(ax):
    """A region for positives whose scores spread wider."""
    figure_data.regions()["positives spread wider: two rays"].plot(ax)


def step_error(ax):
    """The largest relative error of 1/x against the step of the rule."""
    steps = np.linspace(0.18, 0.6, 60)
    for ratio, colour, dash in ((1, GREEN, "-"), (1e3, BLUE, "--"), (1e6, ORANGE, "-.")):
        x = np.geomspace(1.0, ratio, 200)
        errors = []
        for step in steps:
            y = np.arange(-3.65, 45.0, step)
            times = np.exp(y + 1.5 - np.exp(-y)) / ratio
            weights = step * times * (1.0 + np.exp(-y))
            errors.append(np.abs(x * (weights * np.exp(-np.outer(x, times))).sum(axis=1) - 1).max())
        ax.semilogy(steps, errors, dash, color=colour, label=f"hi / lo = {ratio:,.0f}")
    ax.semilogy(steps, np.exp(-(np.pi**2) / steps), ":", color=GREY, label="exp(-pi^2 / h)")
    ax.axvline(0.22, color="black", linewidth=1)
    ax.text(0.225, 1e-3, "h = 0.22")
    ax.set(ylim=(1e-17, 1), xlabel="h, step of the rule", title="Largest relative error of 1/x")
    ax.legend(loc="lower right")


def node_count(ax):
    """How many nodes a range of denominators needs."""
    ratios = np.geomspace(1, 1e8, 60)
    ax.semilogx(ratios, [len(exponential_sum(1, r)[0]) for r in ratios], color=BLUE)
    ax.set(xlabel="hi / lo", ylabel="nodes", ylim=(0, 130), title="Nodes for a range lo to hi")


def linear(ax):
    """Seconds against n for decisions and the published algorithm, measured by ``make bench``."""
    rows = json.loads((HERE / "deciding.json").read_text())
    for name, colour, mark in (
        ("O(n^2), published", ORANGE, "s"),
        ("expected_curve", GREEN, "^"),
        ("decide", BLUE, "o"),
        ("np.sort", GREY, "."),
    ):
        sizes, took = zip(*[(size, t) for what, size, t in rows if what == name], strict=True)
        ax.loglog(sizes, took, marker=mark, color=colour, label=name)
    ax.set(xlabel="n, items in the batch", ylabel="seconds", title="Exact expected F1")
    ax.legend()


class Honest:
    """Labels of every frequency, tuned on one half of the rows and evaluated on the other."""

    def __init__(self, n_rows=2000, n_labels=3000):
        truth, scores = data.rare_labels(2 * n_rows, n_labels)
        self.n_rows = n_rows
        self.here, self.new = (truth[:n_rows], scores[:n_rows]), (truth[n_rows:], scores[n_rows:])
        self.support = self.here[0].sum(axis=0)
        self.assessed = hm.assess(*self.here)
        self.naive, self.auto = self.assessed.thresholds, hm.tune(*self.here, guard="auto")

    def on_new(self, tuned):
        """F1 of each label on new rows, and how many of these rows it is predicted for."""
        truth, scores = self.new
        predictions = tuned.predict(scores)
        hits, predicted = (truth * predictions).sum(axis=0), predictions.sum(axis=0)
        return 2 * hits / np.maximum(predicted + truth.sum(axis=0), 1), predicted

    def by_support(self, values):
        """Means over labels grouped by their number of positives; labels with none are left out."""
        edges = np.unique(np.geomspace(1, 400, 14).astype(int))
        group = np.digitize(self.support, edges)
        middle = [self.support[group == g].mean() for g in range(1, len(edges))]
        return middle, [values[group == g].mean() for g in range(1, len(edges))]

    def luck(self, ax):
        """One label without signal: its F1 at every threshold, here and on new rows."""
        rng = np.random.default_rng(29)
        truth, scores = rng.random((2, self.n_rows)) < 0.005, rng.random((2, self.n_rows))
        threshold = hm.tune(truth[0], scores[0]).threshold
        ranks = np.arange(1, self.n_rows + 1)
        for half, (colour, mark, name) in enumerate(
            ((ORANGE, "o", "the rows tuned on"), (BLUE, "s", "new rows"))
        ):
            hits = np.cumsum(truth[half][np.argsort(-scores[half])])
            f1 = 2 * hits / (ranks + truth[half].sum())
            reached = max(int((scores[half] >= threshold).sum()), 1)
            ax.semilogx(ranks, f1, color=colour, label=name)
            ax.plot(reached, f1[reached - 1], mark, color=colour)
        ax.set(
            xlabel="rows predicted",
            ylabel="F1",
            title="A label of pure noise: its best threshold is luck",
        )
        ax.legend()

    def curse(self, ax):
        """F1 as tuned and on new rows, by the label's number of positives."""
        kept, _ = self.on_new(self.naive)
        for values, colour, dash, name in (
            (self.naive.label_scores, ORANGE, "-", "tuned, on the same rows"),
            (kept, BLUE, "-", "the same thresholds on new rows"),
            (self.assessed.label_expected_scores, INK, ":", "what assess() expects"),
        ):
            ax.semilogx(*self.by_support(values), dash, color=colour, marker=".", label=name)
        ax.set(xlabel="positives of the label", ylabel="mean F1", title="The curse")
        ax.legend()

    def flood(self, ax):
        """Share predicted against base rate, with the region of flooding."""
        rate = np.maximum(self.support, 0.5) / self.n_rows
        for tuned, colour, mark, name in (
            (self.naive, ORANGE, ".", "tuned exactly"),
            (self.auto, BLUE, ".", "guard='auto'"),
        ):
            share = np.maximum(self.on_new(tuned)[1], 0.5) / self.n_rows
            ax.loglog(rate, share, mark, color=colour, markersize=3, alpha=0.5, label=name)
        edge = np.geomspace(rate.min() / 1.2, 0.1, 100)
        ax.fill_between(edge, np.maximum(0.05, 10 * edge), 1, color=PALE)
        ax.text(rate.min(), 0.55, "flooding", color=INK, backgroundcolor="white")
        ax.set(xlabel="base rate", ylabel="share predicted, new rows", title="What is predicted")
        ax.set(xlim=(rate.min() / 1.3, 1), ylim=(0.2 / self.n_rows, 1.1))
        ax.legend(loc="lower right", markerscale=3)

    def cure(self, ax):
        """F1 on new rows by the label's number of positives, exact tuning and guard."""
        for tuned, colour, mark, name in (
            (self.naive, ORANGE, "s", "tuned exactly"),
            (self.auto, BLUE, "o", "guard='auto'"),
        ):
            values, _ = self.on_new(tuned)
            label = f"{name}: macro F1 {values.mean():.3f}"
            ax.semilogx(*self.by_support(values), color=colour, marker=mark, label=label)
        ax.set(xlabel="positives of the label", ylabel="mean F1 on new rows", title="The cure")
        ax.legend()


def save(name, *drawings, height=3.6):
    """Draw side by side and write a PNG."""
    with styled():
        figure = new_figure((5 * len(drawings), height))
        axes = figure.subplots(1, len(drawings), squeeze=False)
        for ax, draw in zip(axes[0], drawings, strict=True):
            draw(ax)
        write_whole(IMAGES / name, _with_few_colours(render(figure, "png")))


def _with_few_colours(png):
    """Return the picture as a palette of 64 colours, which takes half the bytes."""
    small = BytesIO()
    with Image.open(BytesIO(png)) as image:
        few = image.convert("RGB").quantize(64, dither=Image.Dither.NONE)
        few.save(small, format="png", optimize=True)
    return small.getvalue()


if __name__ == "__main__":
    warnings.simplefilter("ignore", hm.OptimismWarning)
    IMAGES.mkdir(parents=True, exist_ok=True)
    save("half-max.png", half_max, tumours)
    honest = Honest()
    save("curse.png", honest.luck, honest.curse)
    save("cure.png", honest.flood, honest.cure)
    save("growth.png", growth)
    save("expected-curve.png", expected_curve)
    save("reciprocal.png", step_error, node_count)
    save("linear.png", linear)
    validated = Validated()
    save("display-precision-recall.png", two_classifiers, validated.precision_recall, height=4.6)
    save("display-cost.png", costs, validated.cost_curve)
    save("display-folds.png", validated.threshold_curve)
    save("display-half-max.png", calibration)
    save("display-label-health.png", health(None), health("auto"))
    save("display-region.png", regions)
    for picture in pictures.pictures(simulate_curse(), simulate_plane()):
        if picture.key in OF_THE_PAPER:
            pictures.save(picture, IMAGES, ("png",))
