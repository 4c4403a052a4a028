"""Measure everything in one run and write the tables to ``benchmarks/results.md``.

``python -m benchmarks binary accuracy tables``, for example, only prints these sections.
"""

import json
import os
import platform
import sys
from datetime import date
from functools import partial
from pathlib import Path

import numpy as np

import halfmax as hm
from benchmarks import assessing, curse, data, deciding, estimating, guarding, peers, tables
from benchmarks.measure import fresh_process, peak_extra_bytes, seconds, side_by_side

HERE = Path(__file__).parent


def best_of_curve(truth, scores):
    return peers.scikit_learn(truth, scores)[1]


def bare_read(truth, scores):
    return truth.sum(), scores.sum()


CURVE = peers.named("scikit-learn", "precision_recall_curve")


def binary_rows(n_rows=10**7):
    """Seconds of `tune`, of a bare read and of a curve for scores of many shapes.

    They take turns, so that interruptions by other work on the machine affect all of them alike.
    """
    cases = [
        (f"{name}, {dtype.__name__}", truth, scores.astype(dtype))
        for name, truth, scores in data.one_classifier(n_rows)
        for dtype in (np.float32, np.float64)
    ]
    works = [partial(work, *case[1:]) for case in cases for work in (hm.tune, bare_read)]
    best = side_by_side(works, repeats=60)
    for (name, truth, scores), ours, read in zip(cases, best[::2], best[1::2], strict=True):
        curve = np.nan
        if name.startswith("normal"):
            curve = seconds(best_of_curve, truth, scores, repeats=1)
            assert abs(hm.tune(truth, scores).score - best_of_curve(truth, scores)) < 1e-9
        yield name, ours, read, curve


def binary_report():
    yield "\n## One classifier\n"
    yield "10^7 scores; `tune` and a bare read, `y.sum(); s.sum()`, in turn, the best of 60 each.\n"
    yield f"| scores | tune | a bare read | tune / read | {CURVE} + argmax | curve / tune |"
    yield "|---|---|---|---|---|---|"
    ratios = {}
    for name, ours, read, curve in binary_rows():
        ratios[name] = ours / read
        beside = "| | |" if np.isnan(curve) else f"| {curve:.2f} s | {curve / ours:.0f} |"
        yield f"| {name} | {ours:.4f} s | {read:.4f} s | {ours / read:.1f} {beside}"
    worst = max(ratios, key=ratios.get)
    yield f"\nThe worst: {ratios[worst]:.1f} times a bare read ({worst})."


def dense_rows():
    truth, scores = data.dense(20_000, 5_000)
    name = "dense macro, 20,000 x 5,000 float32"
    hm.tune(truth[:100], scores[:100])  # loads the kernels, so that this is not measured
    extra = peak_extra_bytes(hm.tune, truth, scores)
    ours = seconds(hm.tune, truth, scores, repeats=5)

    def loop():
        return [best_of_curve(truth[:, j], scores[:, j]) for j in np.flatnonzero(truth.any(axis=0))]

    theirs = seconds(loop, repeats=1)
    assert abs(np.sum(loop()) / 5_000 - hm.tune(truth, scores).score) < 1e-9
    note = f"peak extra memory {100 * extra / scores.nbytes:.1f} % of the matrix"
    return [(name, ours, f"{CURVE} in a loop over labels", theirs)], note


def common_rows():
    """Labels with thousands of positives, where nearly all steps must be ruled out quickly."""
    rows = []
    for base_rate in (0.05, 0.2):
        for dtype in (np.float32, np.float64):
            truth, scores = data.common(20_000, 2_000, base_rate, dtype)
            ours = seconds(hm.tune, truth, scores, repeats=9)
            pairs = list(zip(truth.T, scores.T, strict=True))
            theirs = seconds(lambda pairs=pairs: [best_of_curve(*pair) for pair in pairs])
            name = f"dense macro, 20,000 x 2,000 {dtype.__name__}, {base_rate:.0%} positive"
            rows.append((name, ours, f"{CURVE} in a loop over labels", theirs))
    return rows


def samples_rows():
    """Mean over rows, one threshold per label, compared with sorting all scores by label.

    Labels without any signal are the worst case: every threshold is about as good as any other.
    """
    rng = np.random.default_rng(1)
    rows = []
    cases = (20_000, 1_000, 1.5), (20_000, 1_000, 0.0), (1, 10**6, 1.5)
    for n_rows, n_labels, distance in cases:
        truth, scores = data.dense(n_rows, n_labels)
        if n_rows == 1 or not distance:  # a row has more than a handful of positives
            truth = (rng.random(truth.shape) < (0.1 if n_rows == 1 else 0.01)).astype(np.int8)
            scores = rng.normal(distance * truth).astype(np.float32)
        tune = partial(hm.tune, truth, scores, average="samples")
        tune()
        ours, sort = side_by_side([tune, partial(np.sort, scores, axis=0)], repeats=5)
        name = f"dense samples, a threshold per label, {n_rows:,} x {n_labels:,} float32"
        name += "" if distance else ", no signal"
        rows.append((name, ours, "np.sort of each label's scores", sort))
    return rows


def sparse_rows():
    rows = []
    for skew, word in ((1.0, "even"), (3.0, "skewed")):
        truth, scores = data.candidates(10**6, 500_000, 50, skew)
        sort = seconds(np.sort, scores.data)
        for average in ("macro", "micro"):
            ours = seconds(hm.tune, truth, scores, average=average)
            name = f"sparse {average}, 10^6 x 500,000, 50 a row, {word} labels"
            rows.append((name, ours, "np.sort of the stored scores", sort))
    return rows


def growth_rows():
    rows = []
    for size in (10**5, 10**6, 10**7, 10**8):
        truth, scores = data.binary(size, 0.01)
        rows.append(("binary", size, seconds(hm.tune, truth, scores)))
        truth, scores = data.candidates(size // 50, size // 100, 50)
        rows.append(("sparse macro", size, seconds(hm.tune, truth, scores)))
    return rows


def tuned(truth, scores):
    found = hm.tune(truth, scores)
    return found.threshold, found.score


def xcolumns(truth, scores, seed=10**6):
    """Predict with a seed that drew no data; otherwise the predictions would follow the labels."""
    column = scores.astype(np.float32)[:, None]
    return peers.xcolumns_macro(truth.astype(np.float32)[:, None], column, seed=seed)


METHODS = {
    "halfmax.tune": tuned,
    CURVE: peers.scikit_learn,
    peers.named("scikit-learn", "TunedThresholdClassifierCV"): peers.tuned_threshold_cv,
    peers.named("optimal-classification-cutoffs"): peers.optimal_cutoffs,
    peers.named("xcolumns", "(Frank-Wolfe)"): xcolumns,
}


def accuracy_rows(sets=200, n_rows=2_000):
    """How often the F1 that a method reports is the one its threshold reaches."""
    found = {name: [] for name in METHODS}
    for seed in range(sets):
        truth, scores = data.rounded(n_rows, seed)
        best = hm.tune(truth, scores).score
        for name, method in METHODS.items():
            if method is xcolumns:
                mixture = xcolumns(truth, scores, seed + 10**6)
                column = scores.astype(np.float32)[:, None]
                predicted = mixture.predict(column, seed=seed + 2 * 10**6)[:, 0]
                reported = mixture.reported
            else:
                threshold, reported = method(truth, scores)
                above = np.greater if method is peers.optimal_cutoffs else np.greater_equal
                predicted = above(scores, threshold)
            found[name].append((reported, hm.score(truth, predicted), best))
    truth, scores = data.binary(10**6, 0.1)
    for name, method in METHODS.items():
        slow = method is peers.tuned_threshold_cv
        took = seconds(method, truth, scores, repeats=1 if slow else 3)
        yield name, took, np.array(found[name])


def start_rows():
    first = "import halfmax, numpy as np; r = np.random.default_rng(0); "
    first += "y = r.random(1000) < 0.1; halfmax.tune(y, r.random(1000) + y)"
    decide = first.replace("tune(y, r.random(1000) + y)", "decide(r.random(1000))")
    return [
        ("import halfmax", fresh_process("import halfmax")),
        ("import and tune 1,000 rows", fresh_process(first)),
        ("import and decide 1,000 items", fresh_process(decide)),
        ("of that, starting Python and importing numpy", fresh_process("import numpy")),
    ]


def speed_table(rows):
    yield "| task | halfmax | what else | takes | halfmax is |\n|---|---|---|---|---|"
    for name, ours, other, theirs in rows:
        ratio = f"{theirs / ours:.{0 if theirs >= 10 * ours else 1}f} times faster"
        if theirs < ours:
            ratio = f"{ours / theirs:.1f} times as long"
        yield f"| {name} | {_digits(ours)} s | {other} | {_digits(theirs)} s | {ratio} |"


def _digits(seconds):
    return f"{seconds:.3f}" if seconds >= 0.01 else f"{seconds:.5f}"


def decision_report():
    yield "\n## Decisions without labels\n"
    rows = [*deciding.single_rows(), *deciding.matrix_rows(), *deciding.joint_rows()]
    yield from speed_table(rows)
    yield f"\n{deciding.sparse_note()}. {deciding.memory_note()}.\n"
    yield "Short rows, F1, rows a second on one core, everything of `decide` against the published"
    yield "algorithm's kernel alone, worked 128 rows side by side:\n"
    yield "| length | decide | published, O(n^2) |\n|---|---|---|"
    for length, ours, theirs in deciding.short_rows():
        yield f"| {length} | {ours:,.0f} | {theirs:,.0f} |"
    growth = list(deciding.growth_rows())
    (HERE / "deciding.json").write_text(json.dumps(growth) + "\n")
    yield "\n| task | n | seconds |\n|---|---|---|"
    for name, size, took in growth:
        yield f"| {name} | {size:,} | {took:.6f} |"


def speed_report():
    yield "\n## Speed\n"
    dense, note = dense_rows()
    yield from speed_table([*dense, *common_rows(), *samples_rows(), *sparse_rows()])
    yield f"\nDense macro: {note}."


def growth_report():
    yield "\n## Growth\n\n| task | entries | seconds | nanoseconds an entry |\n|---|---|---|---|"
    growth = growth_rows()
    (HERE / "growth.json").write_text(json.dumps(growth) + "\n")
    for name, size, took in growth:
        yield f"| {name} | {size:,} | {took:.4f} | {1e9 * took / size:.1f} |"


def accuracy_report():
    yield "\n## Accuracy beside speed\n\nAccuracy on 200 data sets of 2,000 rows, scores rounded to"
    yield "two decimals; speed on 10^6 scores that are not.\n"
    yield (
        "| method | reports what it reaches | mean reported - reached | mean shortfall "
        "| seconds for 10^6 |\n|---|---|---|---|---|"
    )
    for name, took, values in accuracy_rows():
        reported, reached, best = values.T
        true = np.abs(reported - reached) < 1e-9
        gap = round(float((reported - reached).mean()), 4) + 0.0  # no -0.0
        yield (
            f"| {name} | {true.sum()} of {len(true)} | {gap:.4f} "
            f"| {(best - reached).mean():.4f} | {took:.3f} |"
        )


def curse_report():
    yield "\n## The winner's curse\n"
    yield from speed_table(curse.rows())


def assessing_report():
    yield "\n## What new data will show\n"
    yield from speed_table(assessing.rows())
    yield "\nHow often 95 % intervals of F1 hold the score on endless new data: about 100"
    yield "positives, 400 data sets each. Optimism is by how much the tuned score is too high, left"
    yield "by how much the expected score is.\n"
    yield from assessing.weighted_table()
    yield "\nThe same intervals beside new data of limited size, for which they are not made.\n"
    yield from assessing.finite_table()


def guarding_report():
    yield "\n## Guards"
    yield from guarding.report()


def estimating_report():
    yield "\n## Inside scikit-learn"
    yield from estimating.report()


def tables_report():
    yield "\n## Long tables"
    yield from tables.report()


def start_report():
    yield "\n## Start\n\n| what | seconds |\n|---|---|"
    for name, took in start_rows():
        yield f"| {name} | {took:.2f} |"


SECTIONS = {
    "binary": binary_report,
    "speed": speed_report,
    "growth": growth_report,
    "accuracy": accuracy_report,
    "decisions": decision_report,
    "curse": curse_report,
    "assessing": assessing_report,
    "guards": guarding_report,
    "estimators": estimating_report,
    "tables": tables_report,
    "start": start_report,
}


def report(wanted):
    cores = len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    yield f"# Benchmarks, {date.today():%Y-%m-%d}\n"
    yield (
        f"{cores} cores, {memory:.0f} GiB, {platform.machine()}, Python "
        f"{platform.python_version()}, numpy {np.__version__}; best of several runs, all at once."
    )
    for name in wanted or SECTIONS:
        yield from SECTIONS[name]()


if __name__ == "__main__":
    lines = []
    for line in report(sys.argv[1:]):
        print(line, flush=True)
        lines.append(line)
    if not sys.argv[1:]:
        (HERE / "results.md").write_text("\n".join(lines) + "\n")
