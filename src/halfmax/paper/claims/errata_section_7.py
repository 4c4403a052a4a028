"""Errata of Section 7, on the winner's curse, with the numbers."""

from collections.abc import Iterator
from functools import cache

import numpy as np
import numpy.typing as npt
from scipy import stats

from halfmax._core.types import Floats
from halfmax.honesty.winners_curse import simulate_winners_curse
from halfmax.metrics.score import score
from halfmax.paper.claims.claim import ASSUMES, SLIP, Claim, Statement, judged
from halfmax.paper.curse.law import bound_of_the_text, printed_bound, turning_base_rate
from halfmax.paper.curse.simulation import Curse

_WHERE = "Section 7"
_SEED = 0
_RUNS = 2000
_SIZES = (10**4, 10**5, 10**6, 10**7)


def _top_alone(curse: Curse) -> Iterator[Claim]:
    n, positives = curse.n, round(np.sqrt(curse.n))
    truth, predictions = np.zeros(n, np.int8), np.zeros(n, np.int8)
    truth[:positives], predictions[0] = 1, 1
    counted, formula = score(truth, predictions), 2 / (2 + positives)
    yield judged(
        Statement(
            "curse-f1-of-top",
            _WHERE,
            f"F1 of predicting the top item alone, one of bn = {positives:,} positives.",
            formula,
        ),
        ours=counted,
        agrees=abs(counted - formula) < 1e-9,
        why="tp = 1, fp = 0 and fn = bn - 1 give 2 / (1 + bn). The paper's 2 / (2 + bn) counts the "
        "item found among those missed.",
        grade=SLIP,
    )


def _printed_bound(curse: Curse) -> Iterator[Claim]:
    n = curse.n
    bound, follows = printed_bound(n), bound_of_the_text(n)
    yield judged(
        Statement(
            "curse-printed-bound",
            _WHERE,
            "The top item alone loses if the base rate is at least (sqrt(1 + 8/n) - 1) / 2, with "
            f"n = {n:,}.",
            bound,
        ),
        ours=follows,
        agrees=abs(bound / follows - 1) < 0.01,
        why="2 / (2 + bn) <= 2b / (1 + b), the paper's own comparison, is nb^2 + b - 1 >= 0: "
        "b >= (sqrt(1 + 4n) - 1) / (2n). That is the n >= (1 - b) / b^2 of the next sentence; the "
        "bound printed solves n b (1 + b) = 2.",
        seen={"printed bound": bound, "right f1: 1 / sqrt(n)": 1 / np.sqrt(n)},
    )


def _turn(base_rates: Floats, shares: Floats) -> float | None:
    """The base rate above which the share stays below one half, interpolated on a log scale."""
    falls = np.flatnonzero((shares[:-1] >= 0.5) & (shares[1:] < 0.5))
    if not len(falls):
        return None
    i = falls[-1]
    logs = np.log(base_rates)
    way = (shares[i] - 0.5) / (shares[i] - shares[i + 1])
    return float(np.exp(logs[i] + way * (logs[i + 1] - logs[i])))


@cache
def _simulated_shares(n: int) -> tuple[Floats, Floats]:
    """Base rates from 1 / sqrt(n) upwards, and the share of runs that predict less than half."""
    rates = np.geomspace(n**-0.5, n**-0.2, 10)
    runs = [simulate_winners_curse(n, float(b), _RUNS, _SEED) for b in rates]
    return rates, np.array([np.mean(fractions < 0.5) for fractions in runs])


def _simulated_turn(n: int) -> float:
    turn = _turn(*_simulated_shares(n))
    if turn is None:
        raise ValueError(f"the curse must be simulated with more items; got n = {n:,}")
    return turn


def _exponent(sizes: npt.ArrayLike, turns: npt.ArrayLike) -> float:
    """The slope of the turning base rate over n, on log scales."""
    return float(np.polyfit(np.log(np.asarray(sizes)), np.log(np.asarray(turns)), 1)[0])


def _where_it_turns(curse: Curse) -> Iterator[Claim]:
    turns = [_simulated_turn(n) for n in _SIZES]
    exponent = _exponent(_SIZES, turns)
    ours = _simulated_turn(curse.n)
    bound = bound_of_the_text(curse.n)
    at_root = {n: float(_simulated_shares(n)[1][0]) for n in (*_SIZES, curse.n)}
    yield judged(
        Statement(
            "curse-turning-point",
            f"{_WHERE}, Figure 8",
            "The base rate at which tuning turns to small thresholds, so that half of the runs "
            f"predict less than half of n = {curse.n:,} items, to a factor of 2.",
            bound,
        ),
        ours=ours,
        agrees=0.5 < ours / bound < 2,
        why="n < (1 - b) / b^2 is when the top item alone can win. But every stretch of lucky "
        "items competes: after k items luck adds sqrt(bk) positives, and that outweighs what "
        "is lost by stopping early while n b^3 is small. So the turn is near n = 0.16 / b^3, where "
        "the limit law and the simulations put it, and not near n = 1 / b^2, where "
        f"{at_root[curse.n]:.0%} of the runs predict less than half.",
        seen={
            "limit law": turning_base_rate(curse.n),
            "exponent of n, paper": -0.5,
            "exponent of n, simulated": exponent,
        }
        | {f"turn at n = {n:g}": turn for n, turn in zip(_SIZES, turns, strict=True)}
        | {f"share below half at 1 / sqrt(n), n = {n:g}": at_root[n] for n in _SIZES},
    )


def _rarest(curse: Curse) -> Iterator[Claim]:
    rarest = int(np.argmin(curse.base_rates))
    b, fractions = curse.base_rates[rarest], curse.fractions[rarest]
    median = float(np.median(fractions))
    yield judged(
        Statement(
            "curse-rarest-label",
            f"{_WHERE}, Figure 8",
            "For low base rates a small fraction is predicted: median at the lowest that we "
            f"simulate, {b:g} (the paper's text names none).",
            "small",
        ),
        ours=median,
        agrees=median < 0.05,
        why=f"Where bn is {b * curse.n:g}, there are few positives or none. The best threshold is "
        "at one of them, and a single one can stand anywhere. The fraction falls with the base "
        "rate only down to about 1 / sqrt(n); below that it grows again.",
        seen={
            "upper quartile": float(np.quantile(fractions, 0.75)),
            "share of runs that predict nobody": float(np.mean(fractions == 0)),
            "share of runs that predict more than half": float(np.mean(fractions > 0.5)),
        },
        grade=ASSUMES,
    )


def _threshold_of_zero(curse: Curse) -> Iterator[Claim]:
    del curse
    base_rate = 0.01
    yield judged(
        Statement(
            "curse-threshold-zero",
            _WHERE,
            f"A threshold of 0 predicts all, with scores b + N(0, 1) and b = {base_rate:g}.",
            1.0,
        ),
        ours=stats.norm.sf(0, base_rate),
        agrees=float(stats.norm.sf(0, base_rate)) > 0.99,
        why="It does for probabilities. These scores are below 0 half of the time: predicting all "
        "takes a threshold of minus infinity, or the lowest score.",
        seen={f"predicted at b = {b:g}": stats.norm.sf(0, b) for b in (1e-6, 0.1, 0.5)},
        grade=SLIP,
    )


TOPICS = (
    _top_alone,
    _printed_bound,
    _where_it_turns,
    _rarest,
    _threshold_of_zero,
)
