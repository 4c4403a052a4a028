"""Simulate the winner's curse at the paper's scale, and over the plane of sizes and base rates.

A high threshold has two measures, which change at different base rates. Predicting down to the
j-th positive beats predicting all items if it comes sooner than its mean place, j / b, by about
b n items; its place varies by sqrt(j) / b. So the first positive can win if b n < 1 / b, which is
b < n^(-1/2), the bound of the paper's Section 7; but some positive up to the last, j = b n, can win
as long as b n < sqrt(b n) / b, which is b < n^(-1/3), and most runs then predict less than half.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.options import check_whole
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Floats
from halfmax.honesty.winners_curse import simulate_winners_curse
from halfmax.paper.curse.law import chance_below
from halfmax.paper.parts import RUNS

N = 10**6
BASE_RATES = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 0.1, 0.5)
FIRST_FEW = 3.0  # largest expected number of positives among the items predicted
_QUANTILES = {"5 %": 0.05, "25 %": 0.25, "median": 0.5, "75 %": 0.75, "95 %": 0.95}
_PLANE_SIZES = np.rint(10.0 ** np.arange(1, 8.1, 0.5)).astype(np.int64)
_PLANE_RATES = np.append(10.0 ** np.arange(-6, -0.4, 0.25), 0.5)
_RUNS_OF_A_CELL = 10  # a cell of the plane takes a tenth of the runs at the paper's size


@dataclass(frozen=True, eq=False)
class Curse:
    """The fraction predicted positive in each run, for each base rate at one n."""

    n: int
    runs: int
    seed: int
    base_rates: tuple[float, ...]
    fractions: Floats  # base rates x runs

    def summary(self) -> list[dict[str, float]]:
        """For each base rate, quantiles of the fraction predicted and how often it is low.

        "below half" is the share of runs that predict less than half, "law" its value by the limit
        law, "first few" the share that stops by about the third positive.
        """
        return [
            {"base rate": rate}
            | {name: float(np.quantile(fractions, q)) for name, q in _QUANTILES.items()}
            | {
                "below half": float(np.mean(fractions < 0.5)),
                "law": round(chance_below(0.5, self.n, rate), 6),
                "first few": _first_few(fractions, self.n, rate),
            }
            for rate, fractions in zip(self.base_rates, self.fractions, strict=True)
        ]


@dataclass(frozen=True, eq=False)
class Plane:
    """How often the threshold is high, for each base rate and each n.

    `high` counts runs that predict less than half, `top` those that predict no more items than are
    expected to hold the first three positives.
    """

    runs: int
    seed: int
    sizes: npt.NDArray[np.int64]
    base_rates: Floats
    high: Floats  # base rates x sizes
    top: Floats  # base rates x sizes


def simulate_curse(
    runs: int = RUNS, seed: int = 0, n: int = N, progress: ProgressLike = None
) -> Curse:
    """Run the paper's simulation, `runs` times for each of its base rates."""
    runs = check_whole("runs", runs, 1)
    fractions = []
    with Progress(progress, "the winner's curse", runs * len(BASE_RATES)) as bar:
        for rate in BASE_RATES:
            fractions.append(_simulate(n, rate, runs, seed, bar))
    return Curse(n, runs, seed, BASE_RATES, np.array(fractions))


def simulate_plane(runs: int = RUNS, seed: int = 0, progress: ProgressLike = None) -> Plane:
    """Simulate every cell of the plane of sizes and base rates, with a tenth of the runs."""
    runs = max(check_whole("runs", runs, 1) // _RUNS_OF_A_CELL, 1)
    shape = len(_PLANE_RATES), len(_PLANE_SIZES)
    seeds = np.random.SeedSequence(seed).generate_state(shape[0] * shape[1]).reshape(shape)
    high, top = np.empty(shape), np.empty(shape)
    with Progress(progress, "the plane of n and b", runs * seeds.size) as bar:
        for (row, column), cell_seed in np.ndenumerate(seeds):
            n, rate = int(_PLANE_SIZES[column]), float(_PLANE_RATES[row])
            fractions = _simulate(n, rate, runs, int(cell_seed), bar)
            high[row, column] = np.mean(fractions < 0.5)
            top[row, column] = _first_few(fractions, n, rate)
    return Plane(runs, seed, _PLANE_SIZES, _PLANE_RATES, high, top)


def _simulate(n: int, rate: float, runs: int, seed: int, bar: Progress) -> npt.NDArray[Any]:
    fractions = simulate_winners_curse(n, rate, runs, seed)
    bar.advance(runs)
    return fractions


def _first_few(fractions: Floats, n: int, rate: float) -> float:
    return float(np.mean(fractions * n * rate <= FIRST_FEW))
