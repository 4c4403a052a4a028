"""What `assess` costs, how often its intervals cover the truth, and what it beats.

``python -m benchmarks.assessing`` prints the tables as Markdown, or only those that are named:
speed, coverage, named, weighted, finite, correction, guarded.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse, stats
from sklearn.metrics import precision_recall_curve

import halfmax as hm
from benchmarks import data, peers
from benchmarks.measure import seconds
from halfmax.metrics.metric import FBeta
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.score import label_counts
from halfmax.staircase import leave_one_out

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"
SCORES = Path(os.environ.get("HALFMAX_DATA", BESIDE_THE_PROJECT)) / "scores"
SETS = ("enron", "medical", "corel5k", "bibtex", "mesh")
F1 = Objective(FBeta(1))


# Speed.


def rows():
    """1,000 replicates compared with one precision_recall_curve."""
    for size in (10**5, 10**6, 10**7):
        truth, scores = data.binary(size, 0.01)
        hm.assess(truth[:1000], scores[:1000])
        ours = seconds(hm.assess, truth, scores)
        theirs = seconds(precision_recall_curve, truth, scores, repeats=1)
        name = f"assess, 1,000 replicates, {size:,} rows, 1 % positive"
        yield name, ours, peers.named("scikit-learn", "precision_recall_curve, once"), theirs


# Coverage.


class Normals:
    """Two normal score densities some distance apart, optionally rounded."""

    def __init__(self, distance, base_rate, decimals=None):
        self.distance, self.base_rate, self.decimals = distance, base_rate, decimals

    def __str__(self):
        rounded = "" if self.decimals is None else f", {self.decimals} decimals"
        return f"normals {self.distance} apart, base rate {self.base_rate}{rounded}"

    def draw(self, rng, size):
        truth = (rng.random(size) < self.base_rate).astype(np.int8)
        scores = rng.standard_normal(size) + self.distance * truth
        return truth, scores if self.decimals is None else np.round(scores, self.decimals)

    def f1(self, threshold, negatives_weigh=1.0):
        """F1 on the population."""
        if self.decimals is not None:
            threshold = threshold - 0.5 * 10.0**-self.decimals
        b = self.base_rate
        tpr, fpr = stats.norm.sf(threshold - self.distance), stats.norm.sf(threshold)
        return 2 * b * tpr / (b + b * tpr + negatives_weigh * (1 - b) * fpr)

    def score(self, metric, threshold):
        """A named metric on the population."""
        b, tpr = self.base_rate, stats.norm.sf(threshold - self.distance)
        hits, false = b * tpr, (1 - b) * stats.norm.sf(threshold)
        return float(Objective(find_metric(metric))(hits, hits + false, b, 1.0))

    def grid(self):
        step = 0.001 if self.decimals is None else 10.0**-self.decimals
        return np.round(np.arange(-5, 8, step), 6)


class Calibrated:
    """Calibrated probabilities from a beta distribution."""

    def __init__(self, a, b):
        self.a, self.b, self.base_rate = a, b, a / (a + b)

    def __str__(self):
        return f"calibrated, beta({self.a}, {self.b})"

    def draw(self, rng, size):
        p = rng.beta(self.a, self.b, size)
        return (rng.random(size) < p).astype(np.int8), p

    def f1(self, threshold, negatives_weigh=1.0):
        hits = self.base_rate * stats.beta.sf(threshold, self.a + 1, self.b)
        false = stats.beta.sf(threshold, self.a, self.b) - hits
        return 2 * hits / (self.base_rate + hits + negatives_weigh * false)

    def grid(self):
        return np.linspace(0, 1, 10_001)


CLASSIFIERS = (
    (Normals(1.5, 0.01), 6_000),
    (Normals(1.5, 0.1), 600),
    (Normals(1.0, 0.05), 2_000),
    (Normals(2.5, 0.02), 5_000),
    (Normals(0.5, 0.1), 2_000),
    (Normals(3.0, 0.3), 500),
    (Normals(1.5, 0.02), 20_000),
    (Normals(1.5, 0.1), 5_000),
    (Normals(1.5, 0.05, 2), 4_000),
    (Normals(1.5, 0.05, 1), 2_000),
    (Calibrated(0.5, 4.5), 1_000),
    (Calibrated(2.0, 18.0), 2_000),
)


def coverage(classifier, size, sets, level=0.95):
    """How often intervals cover the threshold's score, the best score and the best threshold."""
    grid = classifier.grid()
    best = grid[np.argmax(classifier.f1(grid))]
    found = []
    rng = np.random.default_rng(1)
    while len(found) < sets:
        truth, scores = classifier.draw(rng, size)
        if truth.sum() < 50:
            continue
        a = hm.assess(truth, scores, level=level, seed=len(found))
        real = float(classifier.f1(a.thresholds.threshold))
        low, high = a.score_interval
        held = low <= real <= high, low <= classifier.f1(best) <= high
        t_low, t_high = a.threshold_interval
        found.append((*held, t_low <= best <= t_high, a.score - real, a.expected_score - real))
    found = np.array(found, float)
    return (*found.mean(axis=0), *np.sqrt((found[:, 3:] ** 2).mean(axis=0)))


def print_coverage(sets=1000):
    print(
        "| classifier | rows | score | best score | threshold | optimism | left "
        "| error: naive | assess |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for classifier, size in CLASSIFIERS:
        score, top, cut, naive, left, rough, fine = coverage(classifier, size, sets)
        print(
            f"| {classifier} | {size:,} | {score:.1%} | {top:.1%} | {cut:.1%} "
            f"| {naive:.4f} | {left:+.4f} | {rough:.4f} | {fine:.4f} |",
            flush=True,
        )


# Coverage of the named metrics, of which several are 0 without any skill.

NAMED = "mcc", "youden", "kappa", "balanced_accuracy", "gmean", "fowlkes_mallows", "accuracy"
DISTANCES = 0.0, 0.2, 1.0, 2.5


def named_coverage(metric, distance, size, sets):
    classifier = Normals(distance, 0.18)
    rng = np.random.default_rng(1)
    held = 0
    for seed in range(sets):
        a = hm.assess(*classifier.draw(rng, size), metric, n_resamples=300, seed=seed)
        low, high = a.score_interval
        held += low <= classifier.score(metric, a.thresholds.threshold) <= high
    return held / sets


def named_table(sets=400):
    """Rows of a table: how often 95 % intervals hold, from scores without signal to good ones."""
    yield "| metric | rows | " + " | ".join(f"{away:g} apart" for away in DISTANCES) + " |"
    yield "|---|--:|" + "--:|" * len(DISTANCES)
    for metric in NAMED:
        for size in (200, 900, 5_000):
            cells = (f"{named_coverage(metric, away, size, sets):.1%}" for away in DISTANCES)
            yield f"| {metric} | {size:,} | {' | '.join(cells)} |"


# Coverage with weights.


def tenths(rng, truth):
    return rng.integers(1, 21, len(truth)) / 10


def lognormal(rng, truth, sigma=0.5):
    return np.exp(sigma * rng.standard_normal(len(truth)))


def very_uneven(rng, truth):
    return lognormal(rng, truth, 1.0)


def by_class(rng, truth):
    """Negatives weigh ten times as much as positives; weights vary within both classes."""
    return np.where(truth == 1, 1.0, 10.0) * rng.uniform(0.5, 1.5, len(truth))


WEIGHTS = {
    "none": lambda _, __: None,
    "all 1": lambda _, truth: np.ones(len(truth)),
    "0.1 to 2.0 in steps of 0.1": tenths,
    "lognormal, sigma 0.5": lognormal,
    "lognormal, sigma 1": very_uneven,
    "negatives 10 times as heavy": by_class,
}
WITH_WEIGHTS = (
    (Normals(1.5, 0.1), 1_000),
    (Normals(1.5, 0.01), 10_000),
    (Calibrated(0.5, 4.5), 1_000),
    # Examined only after the method was settled.
    (Normals(2.5, 0.05), 2_000),
    (Normals(1.0, 0.2), 500),
    (Calibrated(2.0, 18.0), 1_000),
)


def weighted_coverage(classifier, size, weigh, sets):
    """How often intervals cover the weighted score, how wide they are, and their bias."""
    rng, found = np.random.default_rng(7), []
    heavier = 10.0 if weigh is by_class else 1.0
    for seed in range(sets):
        truth, scores = classifier.draw(rng, size)
        a = hm.assess(truth, scores, sample_weight=weigh(rng, truth), seed=seed)
        real = float(classifier.f1(a.thresholds.threshold, heavier))
        low, high = a.score_interval
        found.append((low <= real <= high, high - low, a.score - real, a.expected_score - real))
    return np.mean(found, axis=0)


def weighted_table(sets=400):
    yield "| weights | classifier | rows | coverage | width | optimism | left |"
    yield "|---|---|---|---|---|---|---|"
    for name, weigh in WEIGHTS.items():
        for classifier, size in WITH_WEIGHTS:
            held, width, naive, left = weighted_coverage(classifier, size, weigh, sets)
            yield (
                f"| {name} | {classifier} | {size:,} | {held:.1%} | {width:.3f} "
                f"| {naive:.4f} | {left:+.4f} |"
            )


# New sets of limited size, which the intervals are not meant to cover.


def finite_table(sets=200):
    yield "| tuned and assessed on | interval | the other split | inside |\n|---|---|---|---|"
    inside = []
    for path in sorted(SCORES.glob("*.npz")):
        splits = load(path.stem)
        for name, one, other in zip(("tune", "test"), splits, splits[::-1], strict=True):
            a = hm.assess(*one)
            shown = hm.score(other[0], a.thresholds.predict(other[1]))
            low, high = a.score_interval
            inside.append(low <= shown <= high)
            verdict = "yes" if inside[-1] else "no"
            yield f"| {path.stem}, {name} | {low:.3f} to {high:.3f} | {shown:.3f} | {verdict} |"
    yield f"\n{sum(inside)} of {len(inside)} splits fall inside.\n"
    yield "| classifier | rows | endless new data | as many new rows |\n|---|---|---|---|"
    for classifier, size in CLASSIFIERS:
        endless, finite = finite_coverage(classifier, size, sets)
        yield f"| {classifier} | {size:,} | {endless:.1%} | {finite:.1%} |"


def finite_coverage(classifier, size, sets):
    """How often intervals cover the score on unlimited new data, and on one set of this size."""
    rng, found = np.random.default_rng(3), []
    for seed in range(sets):
        truth, scores = classifier.draw(rng, size)
        a = hm.assess(truth, scores, seed=seed)
        truth, scores = classifier.draw(rng, size)
        new = hm.score(truth, a.thresholds.predict(scores))
        low, high = a.score_interval
        real = classifier.f1(a.thresholds.threshold)
        found.append((low <= real <= high, low <= new <= high))
    return np.mean(found, axis=0)


# Correction: alternatives for the macro F1 of labels with few positives.


def load(name):
    with np.load(SCORES / f"{name}.npz") as stored:
        return [_split(stored, name) for name in ("tune", "test")]


def _split(stored, name):
    indices, indptr = stored[f"{name}_truth_indices"], stored[f"{name}_truth_indptr"]
    scores = stored[f"{name}_scores"]
    ones = np.ones(len(indices), np.int8)
    return sparse.csr_array((ones, indices, indptr), shape=scores.shape), scores


def counts_at(thresholds, truth, scores, weights=None):
    predicted = sparse.csr_array(scores >= thresholds, dtype=np.int8)
    return np.array(label_counts(truth, predicted, weights), float)


def f1(counts):
    return FBeta(1)(*counts)


def bootstrap(truth, scores, naive, rng, replicates=40):
    """Efron's optimism, out of bag, and .632 and .632+ of both, label by label."""
    optimism, unseen = 0.0, 0.0
    for _ in range(replicates):
        weights = rng.poisson(1.0, truth.shape[0]).astype(float)
        tuned = hm.tune(truth, scores, sample_weight=weights).thresholds
        drawn = f1(counts_at(tuned, truth, scores, weights))
        optimism = optimism + (drawn - f1(counts_at(tuned, truth, scores))) / replicates
        unseen = unseen + counts_at(tuned, truth, scores, (weights == 0).astype(float))
    tp, fp, fn, _ = unseen
    outside = f1(unseen)
    total = unseen.sum(axis=0)
    rate, share = (tp + fn) / total, (tp + fp) / total
    chance = np.divide(2 * rate * share, rate + share, where=rate + share > 0, out=0 * rate)
    overfit = np.clip((naive - outside) / np.maximum(naive - chance, 1e-12), 0, 1)
    weight = 0.632 / (1 - 0.368 * overfit)
    return {
        "bootstrap optimism (Efron)": naive - optimism,
        "the same, times 2^(1/3)": naive - 2 ** (1 / 3) * optimism,
        "out of bag": outside,
        ".632": 0.368 * naive + 0.632 * outside,
        ".632+": (1 - weight) * naive + weight * np.maximum(outside, chance),
    }


def folds(truth, scores, rng, number=10, repeats=3):
    """Cross-fitting: counts of held-out rows, pooled over folds."""
    whole = 0.0
    for _ in range(repeats):
        fold = rng.permutation(truth.shape[0]) % number
        counts = 0.0
        for k in range(number):
            seen, unseen = np.flatnonzero(fold != k), np.flatnonzero(fold == k)
            tuned = hm.tune(truth[seen], scores[seen]).thresholds
            counts = counts + counts_at(tuned, truth[unseen], scores[unseen])
        whole = whole + f1(counts) / repeats
    return whole


def halves(truth, scores, rng, repeats=20):
    """Tuned on one half and evaluated on the other: unbiased for half of the data."""
    whole = 0.0
    for _ in range(repeats):
        order = rng.permutation(truth.shape[0])
        one, other = np.array_split(order, 2)
        tuned = hm.tune(truth[one], scores[one]).thresholds
        whole = whole + f1(counts_at(tuned, truth[other], scores[other])) / repeats
    return whole


def left_out(truth, scores):
    """Leave one positive out: hits pooled; value of a hit at the current counts; expected value."""
    stairs = hm.Staircase.of(truth, scores)
    chosen = leave_one_out.chosen_without_positive(stairs, F1)
    column, step = stairs.grid.columns, np.arange(len(chosen))
    copies = stairs.rises(stairs.true_positives)
    hit = chosen >= step
    hits = np.bincount(column, copies * hit, stairs.n_labels)
    tuned = hm.tune(truth, scores)
    false = tuned.predicted - np.rint(tuned.precision * tuned.predicted)
    per_hit = 2 / (stairs.positives[column] + stairs.predicted[np.where(hit, chosen, 0)])
    return {
        "one positive left out, counts pooled": F1(
            hits, hits + false, stairs.positives, stairs.total
        ),
        "the same, hit by hit, counts as they are": np.bincount(
            column, copies * hit * per_hit, stairs.n_labels
        ),
        "the same, counts expected": leave_one_out.of_each_label(stairs, F1).expected,
    }


def estimates(truth, scores, seed=0):
    """The macro F1 that each method estimates."""
    rng = np.random.default_rng(seed)
    a = hm.assess(truth, scores, seed=seed)
    found = {"naive": a.label_scores}
    found |= bootstrap(truth, scores, a.label_scores, rng)
    found["10-fold cross-fitting"] = folds(truth, scores, rng)
    found["half and half"] = halves(truth, scores, rng)
    found |= left_out(truth, scores)
    macro = {name: float(values.mean()) for name, values in found.items()}
    macro["assess"] = a.expected_score
    return macro, a.thresholds


def errors(one, other):
    """Errors of each method, over all labels and over labels with a positive in that split."""
    macro, tuned = estimates(*one)
    truth, scores = other
    reached = f1(counts_at(tuned.thresholds, truth, scores))
    there, here = truth.sum(axis=0) > 0, tuned.support > 0
    share = len(here) / here.sum()
    return {
        name: (value / reached.mean() - 1, value * share / reached[there].mean() - 1)
        for name, value in macro.items()
    }


def splits(name, again):
    """The two splits, then random splits of their union."""
    one, other = load(name)
    yield one, other
    yield other, one
    truth = sparse.vstack([one[0], other[0]], format="csr")
    scores = np.vstack([one[1], other[1]])
    rng = np.random.default_rng(0)
    for _ in range(again):
        a, b = np.array_split(rng.permutation(len(scores)), 2)
        yield (truth[a], scores[a]), (truth[b], scores[b])


def print_correction(again=6):
    found = {name: [errors(*pair) for pair in splits(name, again)] for name in SETS}
    print("| | " + " | ".join(SETS) + " |\n|---" * 1 + "|---" * len(SETS) + "|")
    for method in found[SETS[0]][0]:
        cells = []
        for name in SETS:
            all_labels = np.array([error[method][0] for error in found[name]])
            some = found[name][0][method][1]
            cells.append(
                f"{all_labels[0]:+.0%} ({some:+.0%}), {all_labels[1]:+.0%}, "
                f"{all_labels[2:].mean():+.0%}±{all_labels[2:].std():.0%}"
            )
        print(f"| {method} | " + " | ".join(cells) + " |", flush=True)


# Weights and guards.


def rare_and_new(guard, weighted, seed, n_rows=600, n_labels=60, positives=8):
    """Macro F1 as tuned, as expected, and on 15 times as many new rows of the same kind."""
    rng = np.random.default_rng(seed)
    spread = np.exp(0.7 * rng.standard_normal(n_labels))
    rates = np.minimum(positives * spread / n_rows, 0.3)
    distances = rng.normal(1.8, 0.7, n_labels)

    def draw():
        truth = rng.random((n_rows, n_labels)) < rates
        scores = rng.standard_normal(truth.shape) + distances * truth
        return truth, scores, rng.exponential(size=n_rows) if weighted else None

    truth, scores, weights = draw()
    runs = 200 if guard is None else 2  # without a guard they also estimate the optimism
    a = hm.assess(truth, scores, guard=guard, sample_weight=weights, n_resamples=runs, seed=seed)
    new = [
        hm.score(truth, a.thresholds.predict(scores), sample_weight=weights)
        for truth, scores, weights in (draw() for _ in range(15))
    ]
    return a.score, a.expected_score, np.mean(new)


def print_guarded(sets=12):
    print("| | as tuned | assess | on new rows |\n|---|---|---|---|")
    guards = ((None, True), *((g, False) for g in ("fbr", "smooth", "calibrated", "never", "auto")))
    for guard, weighted in guards:
        means = np.mean([rare_and_new(guard, weighted, seed) for seed in range(sets)], axis=0)
        name = "random weights, no guard" if weighted else f'`guard="{guard}"`'
        print(f"| {name} | " + " | ".join(f"{mean:.3f}" for mean in means) + " |", flush=True)
    print("\n| | " + " | ".join(SETS) + " |" + "\n|---" + "|---" * len(SETS) + "|")
    found = {name: [guarded_errors(*pair) for pair in splits(name, 0)] for name in SETS}
    for place, name in enumerate(("as tuned", "**assess**")):
        cells = (", ".join(f"{pair[place]:+.0%}" for pair in found[of]) for of in SETS)
        print(f"| {name} | " + " | ".join(cells) + " |")


def guarded_errors(one, other):
    """Errors of the tuned and the expected macro F1, relative to the score on the other split."""
    a = hm.assess(*one, guard="auto", n_resamples=1)
    truth, scores = other
    shown = hm.score(truth, a.thresholds.predict(scores))
    return a.score / shown - 1, a.expected_score / shown - 1


def main(wanted):
    warnings.simplefilter("ignore", hm.HalfmaxWarning)  # optimism is the subject here
    if "speed" in wanted:
        for name, ours, words, theirs in rows():
            print(f"| {name} | {ours:.3f} s | {words} | {theirs:.3f} s | {theirs / ours:.1f} |")
    if "coverage" in wanted:
        print_coverage()
    if "named" in wanted:
        for line in named_table():
            print(line, flush=True)
    if "weighted" in wanted:
        for line in weighted_table():
            print(line, flush=True)
    if "finite" in wanted:
        for line in finite_table():
            print(line, flush=True)
    if "correction" in wanted:
        print_correction()
    if "guarded" in wanted:
        print_guarded()


if __name__ == "__main__":
    every = ["speed", "coverage", "named", "weighted", "finite", "correction", "guarded"]
    main(sys.argv[1:] or every)
