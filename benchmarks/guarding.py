"""Guards and plain methods: thresholds from one half of the data, evaluated on the other.

``python -m benchmarks.guarding [once] [again] [simulated] [speed]`` prints the tables as Markdown.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.special import expit, logit
from sklearn.isotonic import IsotonicRegression

import halfmax as hm
from benchmarks.measure import seconds
from halfmax.metrics.flooding import floods

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"
SCORES = Path(os.environ.get("HALFMAX_DATA", BESIDE_THE_PROJECT)) / "scores"
SETS = ("enron", "medical", "corel5k", "bibtex", "mesh")
REPLICATES, RESPLITS = 300, 4


# Methods: the truth and scores of one half, the scores of the other, and predictions for it.


def guarded(guard):
    return lambda truth, scores, new: hm.tune(truth, scores, guard=guard).predict(new)


def one_half(_truth, _scores, new):
    return new >= 0.5


def one_for_all(truth, scores, new):
    return hm.tune(truth, scores, per_label=False).predict(new)


def plug_in(_truth, scores, new):
    """Scores taken as probabilities: half of the best expected F1."""
    falling = -np.sort(-scores.astype(np.float64), axis=0)
    hits = np.cumsum(falling, axis=0)
    count = np.arange(1, len(scores) + 1)[:, None]
    best = (2.0 * hits / np.maximum(count + hits[-1], 1e-300)).max(axis=0)
    return new >= best / 2


def plug_in_calibrated(truth, scores, new):
    """Half of the best expected F1 after one isotonic map, pooled over labels."""
    isotonic = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    isotonic.fit(scores.ravel(), truth.toarray().ravel())
    calibrated, new = (isotonic.predict(part.ravel()).reshape(part.shape) for part in (scores, new))
    return plug_in(truth, calibrated, new)


PLAIN = {
    "fixed 0.5": one_half,
    "naive (guard=None)": guarded(None),
    "guard='fbr'": guarded("fbr"),
    "plug-in F*/2": plug_in,
    "pooled isotonic, then plug-in": plug_in_calibrated,
    "one threshold for all": one_for_all,
}
OURS = {f"guard={name!r}": guarded(name) for name in ("smooth", "calibrated", "never", "auto")}
METHODS = {**PLAIN, **OURS}
AUTO = "guard='auto'"


# Evaluation.


def judged(truth, predicted, weights=None):
    """Macro F1 over labels with a positive, for each row of document weights."""
    weights = np.ones((1, truth.shape[0])) if weights is None else weights
    predicted = sparse.csr_array(np.asarray(predicted, np.float64))
    hits, both = (weights @ part for part in (predicted * truth, predicted + truth))
    there = weights @ truth > 0
    f1 = np.where(there, 2.0 * hits / np.maximum(both, 1e-300), 0.0)
    return f1.sum(axis=1) / there.sum(axis=1)


def resampled(n_rows):
    """How often each bootstrap replicate draws each document."""
    rng = np.random.default_rng(0)
    return rng.multinomial(n_rows, np.full(n_rows, 1 / n_rows), REPLICATES).astype(np.float64)


def flooding(tune_truth, truth, predicted):
    """Labels that flood, by the base rate in the tuning half and in the evaluation half."""
    share = np.asarray(predicted).mean(axis=0)
    rates = [part.sum(axis=0) / part.shape[0] for part in (tune_truth, truth)]
    return [int(floods(share, rate, 1.0).sum()) for rate in rates]


def geometric(ratios):
    return float(np.exp(np.mean(np.log(ratios)))) if min(ratios) > 0.0 else 0.0


def best_plain(macro):
    return max(PLAIN, key=lambda name: macro[name])


# Data.


def at_hand():
    return [name for name in SETS if (SCORES / f"{name}.npz").exists()]


def load(name):
    """Truth and scores of both halves."""
    with np.load(SCORES / f"{name}.npz") as stored:
        for split in ("tune", "test"):
            scores = stored[f"{split}_scores"]
            indices, indptr = stored[f"{split}_truth_indices"], stored[f"{split}_truth_indptr"]
            ones = np.ones(len(indices), np.int8)
            yield sparse.csr_array((ones, indices, indptr), shape=scores.shape), scores


def splits(tune, test):
    """The halves swapped, and random halves of their union."""
    yield test, tune
    truth, scores = sparse.vstack([tune[0], test[0]]).tocsr(), np.vstack([tune[1], test[1]])
    for seed in range(RESPLITS):
        order = np.random.default_rng(seed).permutation(len(scores))
        yield tuple((truth[half], scores[half]) for half in np.array_split(order, 2))


def simulate(n_rows, n_labels, signal=1.0, decimals=None, seed=0):
    """Log-normal base rates; signal and calibration vary by label."""
    known = np.random.default_rng(seed)
    rates = np.clip(0.01 * np.exp(1.2 * known.standard_normal(n_labels)), 1e-3, 0.5)
    strength = np.abs(known.normal(2.0, 1.0, n_labels))
    slope, shift = np.exp(0.3 * known.standard_normal(n_labels)), known.standard_normal(n_labels)
    for _ in range(2):
        truth = known.random((n_rows, n_labels)) < rates
        evidence = known.standard_normal(truth.shape) + signal * strength * (truth - 0.5)
        scores = expit(slope * (strength * evidence + logit(rates)) + 0.5 * shift)
        rounded = scores if decimals is None else np.round(scores, decimals)
        yield sparse.csr_array(truth.astype(np.int8)), rounded.astype(np.float32)


SIMULATED = {
    "1,000 x 300": lambda: simulate(1000, 300),
    "the same, two decimals": lambda: simulate(1000, 300, decimals=2),
}


# Tables.


def row(name, cells):
    return f"| {name} | {' | '.join(cells)} |"


def heading(*cells):
    return row(cells[0], cells[1:]) + "\n" + "|---" * len(cells) + "|"


def measure(halves):
    """For each method: macro-F1, its bootstrap, labels that flood, micro-F1 and seconds."""
    (truth, scores), (new_truth, new_scores) = halves
    weights = resampled(len(new_scores))
    found = {}
    for name, method in METHODS.items():
        took = seconds(method, truth, scores, new_scores, repeats=1)
        predicted = method(truth, scores, new_scores)
        found[name] = {
            "macro": float(judged(new_truth, predicted)[0]),
            "bootstrap": judged(new_truth, predicted, weights),
            "floods": flooding(truth, new_truth, predicted),
            "micro": hm.score(new_truth, predicted.astype(np.int8), average="micro"),
            "seconds": took,
        }
    return found


def quality_table(results):
    """Macro-F1 +- its standard error and labels that flood; ratios to the best plain method."""
    macro = {s: {m: cell["macro"] for m, cell in found.items()} for s, found in results.items()}
    yield heading("macro-F1 on new data (labels that flood)", *results, "ratio to best plain")
    for name in METHODS:
        cells = []
        for found in results.values():
            cell, flood = found[name], max(found[name]["floods"])
            error = cell["bootstrap"].std()
            cells.append(f"{cell['macro']:.3f} ± {error:.3f} ({flood})")
        ratios = [macro[s][name] / macro[s][best_plain(macro[s])] for s in results]
        yield row(name, [*cells, f"{geometric(ratios):.3f}"])


def micro_table(results):
    yield heading("micro-F1 on new data; seconds", *results)
    for name in METHODS:
        cells = [
            f"{found[name]['micro']:.3f}; {found[name]['seconds']:.2f}"
            for found in results.values()
        ]
        yield row(name, cells)


def paired_table(results):
    """``"auto"`` against the plain method that was best in hindsight, on the same documents."""
    yield heading("set", "best plain method", "auto minus it", "95 % interval", "ratio")
    for s, found in results.items():
        best = best_plain({m: cell["macro"] for m, cell in found.items()})
        ours, theirs = found[AUTO], found[best]
        low, high = np.quantile(ours["bootstrap"] - theirs["bootstrap"], [0.025, 0.975])
        off, ratio = ours["macro"] - theirs["macro"], ours["macro"] / theirs["macro"]
        yield row(s, [best, f"{off:+.4f}", f"{low:+.4f} to {high:+.4f}", f"{ratio:.3f}"])


def again_table(names):
    """Means over splits; picking the best method by its mean leaves less room for luck."""
    macro, flood, micro = ({m: {} for m in METHODS} for _ in range(3))
    for s in names:
        cut = list(splits(*load(s)))
        predicted = {m: [f(*tune, test[1]) for tune, test in cut] for m, f in METHODS.items()}
        for m, many in predicted.items():
            pairs = list(zip(cut, many, strict=True))
            macro[m][s] = [float(judged(test[0], p)[0]) for (_, test), p in pairs]
            flood[m][s] = [max(flooding(tune[0], test[0], p)) for (tune, test), p in pairs]
            micro[m][s] = [
                hm.score(test[0], p.astype(np.int8), average="micro") for (_, test), p in pairs
            ]
    mean = {m: {s: np.mean(macro[m][s]) for s in names} for m in METHODS}
    top = {s: max(mean[m][s] for m in PLAIN) for s in names}
    yield heading("macro-F1, mean of 5 splits (labels that flood)", *names, "ratio to best plain")
    for m in METHODS:
        cells = [f"{mean[m][s]:.4f} ({np.mean(flood[m][s]):.1f})" for s in names]
        yield row(m, [*cells, f"{geometric([mean[m][s] / top[s] for s in names]):.3f}"])
    yield "\n" + heading("micro-F1, mean of 5 splits", *names)
    for m in METHODS:
        yield row(m, [f"{np.mean(micro[m][s]):.3f}" for s in names])


def quality(results):
    yield from quality_table(results)
    yield ""
    yield from paired_table(results)
    yield ""
    yield from micro_table(results)


def once():
    yield "\n### Guards on real scores: tuned on *tune*, judged on *test*\n"
    if not at_hand():
        yield f"No scores in {SCORES.name}/: set HALFMAX_DATA to the folder that holds it."
        return
    yield from quality({name: measure(list(load(name))) for name in at_hand()})


def again():
    if at_hand():
        yield "\n### The same, tune and test swapped and 4 random splits of their union\n"
        yield from again_table(at_hand())


def simulated():
    yield "\n### Guards on simulated scores\n"
    yield from quality({name: measure(list(make())) for name, make in SIMULATED.items()})
    yield "\nWithout any signal predicting every row is the best that macro-F1 knows: what a guard"
    yield "gives up there is the price of not flooding.\n"
    yield from quality_table({"no signal": measure(list(simulate(1000, 300, signal=0.0)))})


def speed():
    yield "\n### Time for 10,000 rows x 5,000 labels, simulated\n"
    (truth, scores), _ = simulate(10_000, 5_000)
    yield heading("guard", "seconds")
    for guard in (None, "fbr", "never", "smooth", "calibrated", "auto"):
        yield row(repr(guard), [f"{seconds(hm.tune, truth, scores, guard=guard, repeats=2):.2f}"])


TABLES = {"once": once, "again": again, "simulated": simulated, "speed": speed}


def report(wanted=tuple(TABLES)):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", hm.HalfmaxWarning)
        for name in wanted:
            yield from TABLES[name]()


if __name__ == "__main__":
    for line in report(sys.argv[1:] or tuple(TABLES)):
        print(line, flush=True)
