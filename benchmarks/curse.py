"""The winner's curse: against drawing, sorting and sweeping, and against a sweep without scores."""

import numpy as np

import halfmax as hm
from benchmarks.measure import seconds
from halfmax.paper.curse.simulation import BASE_RATES, N
from halfmax.paper.parts import RUNS

PLAIN_RUNS = 3


def plain(rng, base_rate):
    """Draw scores and labels, sort them and sweep."""
    scores, labels = rng.standard_normal(N), rng.random(N) < base_rate
    return best_fraction(labels[np.argsort(-scores)])


def without_scores(rng, base_rate):
    """Sweep labels only: in the order of the scores they are coin tosses."""
    return best_fraction(rng.random(N) < base_rate)


def best_fraction(labels):
    hits = np.cumsum(labels)
    f1 = 2 * hits / (hits[-1] + np.arange(1, N + 1))
    return (np.argmax(f1) + 1) / N if hits[-1] else 0.0


def rows():
    """All base rates of the paper; the alternatives are measured on few runs and extrapolated."""
    hm.simulate_winners_curse(N, 0.5, 1)

    def ours():
        for base_rate in BASE_RATES:
            hm.simulate_winners_curse(N, base_rate, RUNS)

    def theirs(way):
        rng = np.random.default_rng(0)
        for base_rate in BASE_RATES:
            for _ in range(PLAIN_RUNS):
                way(rng, base_rate)

    took = seconds(ours)
    name = f"winner's curse, {len(BASE_RATES)} base rates, 10^4 runs of 10^6"
    for way, words in ((plain, "draw, sort, sweep"), (without_scores, "draw labels only, sweep")):
        whole = seconds(theirs, way, repeats=1) * RUNS / PLAIN_RUNS
        yield name, took, f"{words} (numpy, {PLAIN_RUNS} runs, extrapolated)", whole
