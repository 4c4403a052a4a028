"""Claims of Section 7, on the winner's curse, that simulations confirm."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from scipy import stats

from halfmax._core.types import Floats
from halfmax.honesty.winners_curse import simulate_winners_curse
from halfmax.paper.claims.claim import Claim, Statement, judged
from halfmax.paper.curse.law import bound_of_the_text
from halfmax.paper.curse.simulation import FIRST_FEW, Curse
from halfmax.tuning.tune import tune

_WHERE = "Section 7"
_SEED = 0
_RUNS = 1000
_SIZES = (10**4, 10**5, 10**6, 10**7)


def future_f1(fraction: npt.ArrayLike, base_rate: float) -> Floats:
    """F1 on infinite new data when this fraction is predicted without information."""
    share = np.asarray(fraction, np.float64)
    return 2 * base_rate * share / (base_rate + share)


def chance_that_top_wins(n: int, base_rate: float) -> float:
    """The chance that predicting the first item alone has a higher F1 than predicting all.

    With `a` positives, the first among them, 2 / (1 + a) must be above 2a / (a + n): a^2 < n.
    """
    most_others = np.ceil(np.sqrt(n)) - 2  # positives allowed among the other items
    return float(base_rate * stats.binom.cdf(most_others, n - 1, base_rate))


def _bound_of_the_text(curse: Curse) -> Iterator[Claim]:
    n = curse.n
    text = bound_of_the_text(n)
    exact = 1 / np.sqrt(n)
    yield judged(
        Statement(
            "curse-text-bound",
            _WHERE,
            f"Predicting the top item alone, a positive, beats predicting all of {n:,} while "
            "n < (1 - b) / b^2: the base rate of equality, to 1 %.",
            text,
        ),
        ours=exact,
        agrees=abs(text / exact - 1) < 0.01,
        why="The right bound is n < 1 / b^2. The paper's follows from its F1 of 2 / (2 + bn), "
        "which is off by one, and differs from ours by the factor 1 - b only.",
    )


def _chance_of_the_top(curse: Curse) -> Iterator[Claim]:
    del curse
    below, seen = [], {}
    for b in (0.01, 0.001, 0.0001):
        for factor in (0.1, 1.0, 10.0):
            chance = chance_that_top_wins(round(factor / b**2), b)
            seen[f"n = {factor:g} / b^2, chance / b at b = {b:g}"] = chance / b
        below.append(seen[f"n = 0.1 / b^2, chance / b at b = {b:g}"])
    above = max(value for name, value in seen.items() if name.startswith("n = 10 "))
    yield judged(
        Statement(
            "curse-top-alone",
            _WHERE,
            "While n < 1 / b^2 the top item alone beats predicting all with a chance that does not "
            "depend on n, above hardly ever: the smallest chance / b at n = 0.1 / b^2.",
            None,
        ),
        ours=min(below),
        agrees=min(below) > 0.99 and above < 1e-6,
        why="Exact, by the binomial law. The chance is b, the base rate itself; half of that at "
        "the bound.",
        seen=seen,
    )


def _first_few_positives(curse: Curse) -> Iterator[Claim]:
    del curse
    shares: dict[float, list[float]] = {}
    for factor in (0.1, 1.0, 10.0):
        for n in _SIZES:
            b = float(np.sqrt(factor / n))
            fractions = simulate_winners_curse(n, b, _RUNS, _SEED)
            shares.setdefault(factor, []).append(float(np.mean(fractions * n * b <= FIRST_FEW)))
    yield judged(
        Statement(
            "curse-first-few",
            _WHERE,
            "While n < 1 / b^2 a very high threshold is chosen with a constant chance, above "
            "hardly ever: share of runs that predict no more items than should hold three "
            f"positives, at n = {_SIZES[-1]:,} = 0.1 / b^2.",
            "constant",
        ),
        ours=shares[0.1][-1],
        agrees=np.ptp(shares[0.1]) < 0.1 and max(shares[10.0]) < 0.01,
        why="This is what changes near n = 1 / b^2. Predicting less than half is common far above "
        "it.",
        seen={
            f"share at n = {n:g} = {factor:g} / b^2": share
            for factor, several in shares.items()
            for n, share in zip(_SIZES, several, strict=True)
        },
    )


def _quartiles(curse: Curse) -> dict[str, float]:
    seen = {}
    for base_rate, fractions in zip(curse.base_rates, curse.fractions, strict=True):
        for name, quantile in (("lower quartile", 0.25), ("median", 0.5), ("upper quartile", 0.75)):
            seen[f"{name} at {base_rate:g}"] = float(np.quantile(fractions, quantile))
    return seen


def _from_all_to_nearly_none(curse: Curse) -> Iterator[Claim]:
    where = f"{_WHERE}, Figure 8"
    medians = np.median(curse.fractions, axis=1)
    common, dip = int(np.argmax(curse.base_rates)), int(np.argmin(medians))
    yield judged(
        Statement(
            "curse-common-label",
            where,
            f"At a high base rate ({curse.base_rates[common]:g}) almost all items are predicted: "
            "median fraction.",
            "almost all",
        ),
        ours=medians[common],
        agrees=medians[common] > 0.99,
        seen=_quartiles(curse),
    )
    yield judged(
        Statement(
            "curse-rare-label",
            where,
            "At a low base rate hardly any item is predicted, even of many items: the lowest "
            f"median fraction, at {curse.base_rates[dip]:g}.",
            "almost none",
        ),
        ours=medians[dip],
        agrees=medians[dip] < 0.05,
        why="The fraction is smallest near b = 1 / sqrt(n), and larger again for rarer labels.",
    )


def _what_the_future_shows(curse: Curse) -> Iterator[Claim]:
    n, base_rate, runs = 10_000, 0.01, 300
    rng = np.random.default_rng(_SEED)
    shown, fractions = [], []
    for _ in range(runs):
        truth, scores = rng.random(n) < base_rate, base_rate + rng.standard_normal(n)
        tuned = tune(truth, scores)
        shown.append(tuned.score)
        fractions.append((scores >= tuned.threshold).mean())
    kept = {
        f"future f1 / best, n = {curse.n:g}, base rate {b:g}": float(
            np.mean(future_f1(drawn, b)) / future_f1(1.0, b)
        )
        for b, drawn in zip(curse.base_rates, curse.fractions, strict=True)
    }
    own, future = float(np.mean(shown)), float(np.mean(future_f1(fractions, base_rate)))
    yield judged(
        Statement(
            "curse-future-is-worse",
            _WHERE,
            "A tuned threshold does worse on new data than on its own: mean F1 lost, "
            f"{runs} runs of n = {n:,} at a base rate of {base_rate:g}.",
            "above 0",
        ),
        ours=own - future,
        agrees=own > future,
        seen={
            "mean f1 on its own data": own,
            "mean f1 on new data": future,
            "best f1 on new data": float(future_f1(1.0, base_rate)),
        }
        | kept,
    )


TOPICS = (
    _bound_of_the_text,
    _chance_of_the_top,
    _first_few_positives,
    _from_all_to_nearly_none,
    _what_the_future_shows,
)
