"""`decision_region`: the best decision region for known score densities (Theorem 1).

Adding a stretch of scores to the region turns a share u of all items from false negatives into
true positives, and a share v from true negatives into false positives. A ratio of weighted sums
whose value is F so far does not fall if the stretch adds at least F times as much to the numerator
as to the denominator. So the best region is where ``b p1(s) / ((1-b) p0(s))``, which is u / v at s,
is at least a cut that depends on the best F alone: for F1 the Jaccard index reached, for F-beta
``tp / (beta^2 (tp + fn) + fp)``. Starting from the F of any region, the region of its cut has at
least that F. Repeating this is Newton's method for the best F, which rises to it in a few steps.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import warn
from halfmax._core.gate.options import check_share_inside
from halfmax._core.result import Table
from halfmax._core.types import Floats
from halfmax.metrics.counts import confusion
from halfmax.metrics.half_max import odds_at
from halfmax.metrics.metric import LinearFractional, Metric
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.regions.densities import (
    AWAY_FROM_ONE,
    NO_MASS,
    Atoms,
    Bins,
    Continuous,
    Density,
    check_support,
    open_density,
    silent_far_out,
)
from halfmax.regions.ratio import Interval, LogRatio
from halfmax.regions.region import DecisionRegion

_MOST_STEPS = 100
_WORTH_A_WARNING = 1e-12
_AS_GOOD = 1e-13
_ROUNDING = 4 * np.finfo(np.float64).eps


def decision_region(
    positive: Any,
    negative: Any,
    base_rate: float,
    metric: str | Metric = "f1",
    support: tuple[float, float] | None = None,
) -> DecisionRegion:
    """Find the scores to predict for the highest metric, from the densities of both classes.

    This is Theorem 1 of the paper, for any ratio of weighted sums of tp, fp, fn and tn: predict s
    where ``b p1(s) / ((1-b) p0(s))`` is at least a cut; for F1 the cut is the Jaccard index that
    this reaches. The region is found by bracketed roots of the ratio. It need not be a single ray.

    Parameters
    ----------
    positive, negative : distribution, kernel density estimate, histogram or callable
        The densities p1 of the scores of positives and p0 of the scores of negatives: frozen scipy
        distributions, both continuous or both discrete; kernel density estimates (scipy's
        ``gaussian_kde``, scikit-learn's ``KernelDensity``); histograms as ``(heights, edges)``, of
        counts or densities, or ``rv_histogram``; or functions of the score. Features much narrower
        than the spread of a function or distribution may be missed.
    base_rate : float
        The share b of positives, above 0 and below 1.
    metric : str or Metric
        One of ``"f1"``, any ``"f<beta>"``, ``"jaccard"``, ``"accuracy"``, ``"recall"`` or a
        `LinearFractional`.
    support : (float, float), optional
        The interval (low, high) outside of which densities passed as functions are zero. By
        default it is the whole line.

    Returns
    -------
    DecisionRegion
        The ``intervals`` of scores to predict, the ``score`` reached, the ``likelihood_ratio`` at
        which to cut, and the shares ``tp``, ``fp``, ``fn`` and ``tn``.

    Raises
    ------
    TypeError
        If `positive` or `negative` is no density of a supported kind.
    ValueError
        If a density is negative or does not integrate to 1, if one is discrete and the other is
        not, if `metric` has no best region, or if another argument is out of its range.

    Warns
    -----
    HalfmaxWarning
        If a discrete distribution has more values than can be listed.

    See Also
    --------
    DecisionRegionDisplay : A picture of the region and both densities.
    tune : Thresholds from labelled scores instead of densities.

    Examples
    --------
    >>> from halfmax import decision_region
    >>> from scipy import stats
    >>> r = decision_region(stats.norm(2), stats.norm(0), base_rate=0.1)
    >>> r
    DecisionRegion: f1 = 0.6121 where the odds are at least 0.4411, from 1.68932 to inf
    interval    low  high      tp       fp
    1         1.689   inf  0.0622  0.04102
    >>> r.contains([1.5, 2.5])
    array([False,  True])

    Where the scores of positives spread more widely, both tails are predicted:

    >>> decision_region(stats.norm(0, 3), stats.norm(0, 1), base_rate=0.1).table()
    interval    low    high       tp       fp
    1          -inf  -2.278  0.02238  0.01023
    2         2.278     inf  0.02238  0.01023
    """
    rate = check_share_inside("base_rate", base_rate)
    ratio = _check_metric(metric, rate)
    bounds = check_support(support)
    with silent_far_out():
        p1 = open_density(positive, "positive", bounds)
        p0 = open_density(negative, "negative", bounds)
        if isinstance(p1, Atoms) and isinstance(p0, Atoms):
            return _best_steps(_of_atoms(p1, p0), ratio, rate)
        if isinstance(p1, Bins) and isinstance(p0, Bins):
            return _best_steps(_of_bins(p1, p0), ratio, rate)
        return _best_intervals(_as_continuous(p1), _as_continuous(p0), ratio, rate)


def _check_metric(metric: str | Metric, rate: float) -> LinearFractional:
    """Return the metric as a ratio whose denominator is positive for every region."""
    found = find_metric(metric).ratio_at(rate, 1.0 - rate)
    if found is None:
        raise ValueError(
            "metric must be a ratio of weighted sums of tp, fp, fn and tn, such as 'f1', 'kappa', "
            "a cost or a LinearFractional: only these have one cut for all scores; got "
            f"{find_metric(metric)!r}"
        )
    tp, fp, fn, tn = found.denominator
    corners = [p * rate + n * (1.0 - rate) for p in (tp, fn) for n in (fp, tn)]
    if max(corners) < 0.0:
        return _check_metric(found.negated(), rate)
    if min(corners) <= 0.0:
        raise ValueError(
            f"metric {found.name!r} must have a denominator above 0 whatever is predicted, even "
            f"nothing or everything, or it may have no best region; for base rate {rate:g} it is "
            f"{min(corners):g}: in place of precision use an F-beta of small beta, such as 'f0.1'"
        )
    Objective(found).require_monotone(np.array([rate]), np.array([1.0]))
    return found


class _Region(NamedTuple):
    """Intervals, the tp and fp of each, and the tp, fp, fn and tn of their union."""

    intervals: list[Interval]
    shares: list[tuple[float, float]]
    counts: tuple[float, ...]


def _result(
    region: _Region,
    metric: LinearFractional,
    rate: float,
    highest: float,
    densities: Callable[[int, Floats], Table],
) -> DecisionRegion:
    score = float(metric(*region.counts))
    tp, fp, fn, tn = region.counts
    return DecisionRegion(
        intervals=region.intervals,
        likelihood_ratio=odds_at(metric.cut, score),
        score=score,
        tp=tp,
        fp=fp,
        fn=fn,
        tn=tn,
        metric=metric.name,
        base_rate=rate,
        _shares=region.shares,
        _highest=highest,
        _densities=densities,
    )


# ---- continuous scores


def _as_continuous(density: Density) -> Continuous:
    if isinstance(density, Atoms):
        raise ValueError(
            "positive and negative must be both discrete or both continuous: otherwise a single "
            "value has mass under one and none under the other"
        )
    return density.continuous() if isinstance(density, Bins) else density


def _best_intervals(
    p1: Continuous, p0: Continuous, metric: LinearFractional, rate: float
) -> DecisionRegion:
    ratio = LogRatio(p1, p0)
    prior = np.log(rate) - np.log1p(-rate)
    whole = [(ratio.low, ratio.high)]
    region = max(
        (_measure(start, ratio, p1, p0, rate) for start in ([], whole)),
        key=lambda start: float(metric(*start.counts)),
    )
    for _ in range(_MOST_STEPS):
        score = float(metric(*region.counts))
        cut = float(np.log(odds_at(metric.cut, score)) - prior)
        better = _measure(ratio.above(cut), ratio, p1, p0, rate)
        gain = float(metric(*better.counts)) - score
        if gain >= -_AS_GOOD * abs(
            score
        ):  # no worse up to rounding, and its ends are those of the cut
            region = better
        if gain <= _ROUNDING * abs(score):
            break

    def densities(points: int, ends: Floats) -> Table:
        lows, highs = zip(p1.core, p0.core, strict=True)
        s = np.linspace(min(*lows, *ends), max(*highs, *ends), points)
        return Table({"score": s, "positive": np.exp(p1.log(s)), "negative": np.exp(p0.log(s))})

    return _result(region, metric, rate, ratio.high, densities)


def _measure(
    intervals: list[Interval], ratio: LogRatio, p1: Continuous, p0: Continuous, rate: float
) -> _Region:
    """Measure the inside and the outside separately, so that small shares stay exact."""
    ends = [ratio.low, *(end for interval in intervals for end in interval), ratio.high]
    outside = list(zip(ends[::2], ends[1::2], strict=True))
    shares = [(rate * _held(p1, *i), (1.0 - rate) * _held(p0, *i)) for i in intervals]
    tp, fp = (float(sum(part)) for part in zip((0.0, 0.0), *shares, strict=True))
    fn = rate * sum(_held(p1, *i) for i in outside)
    tn = (1.0 - rate) * sum(_held(p0, *i) for i in outside)
    for name, held, share in (("positive", tp + fn, rate), ("negative", fp + tn, 1.0 - rate)):
        if not abs(held / share - 1.0) <= AWAY_FROM_ONE:
            raise ValueError(
                f"{name} must have mass one between the ends of its support; its parts have "
                f"{held / share:.9g}: for a periodic distribution pass support=(low, high)"
            )
    return _Region(intervals, shares, (tp, fp, fn, tn))


def _held(density: Continuous, low: float, high: float) -> float:
    low, high = max(low, density.low), min(high, density.high)
    return density.mass(low, high) if low < high else 0.0


# ---- scores in steps: values of discrete distributions and bins of histograms


class _Steps(NamedTuple):
    """Stretches of scores that cannot be divided, and the mass of either class in each."""

    low: Floats
    high: Floats
    positive: Floats
    negative: Floats


def _of_atoms(p1: Atoms, p0: Atoms) -> _Steps:
    """One step for each value, and one below and above for values too many to list."""
    values = np.union1d(p1.values, p0.values)
    first, last = float(values[0]), float(values[-1])
    low = np.concatenate([[min(p1.low, p0.low)], values, [last + 1.0]])
    high = np.concatenate([[first - 1.0], values, [max(p1.high, p0.high)]])
    held = [np.concatenate([[p.below(first)], p.at(values), [p.above(last)]]) for p in (p1, p0)]
    together = max(float(part[place]) for part in held for place in (0, -1))
    if together > _WORTH_A_WARNING:
        warn(
            f"values outside of {first:,.0f} to {last:,.0f} hold {together:.2g} of a class and are "
            "too many to list: all values below share one decision, and so do all values above"
        )
    return _Steps(low, high, *held)


def _of_bins(p1: Bins, p0: Bins) -> _Steps:
    edges = np.union1d(p1.edges, p0.edges)
    widths = np.diff(edges)
    return _Steps(edges[:-1], edges[1:], *(p.at(edges[:-1]) * widths for p in (p1, p0)))


def _best_steps(steps: _Steps, metric: LinearFractional, rate: float) -> DecisionRegion:
    """Sort the steps by falling ratio: the best region is the beginning of that list.

    The number of steps in it follows from the cut, not from the place of the highest value, which
    many places share if the last steps have next to no mass.
    """
    u = rate * steps.positive / steps.positive.sum()
    v = (1.0 - rate) * steps.negative / steps.negative.sum()
    some = (u > NO_MASS) | (v > NO_MASS)
    low, high, u, v = (part[some] for part in (steps.low, steps.high, u, v))
    low[0], high[-1] = min(low[0], steps.low[0]), max(high[-1], steps.high[-1])
    ratio = u / v
    order = np.argsort(-ratio, kind="stable")
    tp, fp = (np.append(0.0, np.cumsum(part[order])) for part in (u, v))
    cut = odds_at(metric.cut, float(metric(*confusion(tp, tp + fp, rate, 1.0)).max()))
    inside = ratio > cut * (1.0 + _ROUNDING)
    changes = np.diff(np.concatenate([[0], inside.astype(np.int8), [0]]))
    spans = list(zip(np.flatnonzero(changes > 0), np.flatnonzero(changes < 0), strict=True))

    def heights(points: int, ends: Floats) -> Table:
        del points, ends  # no curve is drawn between the steps
        wide = np.isfinite(high - low) & (high > low)
        width = np.where(wide, high - low, 1.0)
        shown = np.where(wide, (low + high) / 2, np.where(np.isfinite(low), low, high))
        positive, negative = u / rate / width, v / (1.0 - rate) / width
        return Table({"score": shown, "positive": positive, "negative": negative})

    region = _Region(
        [(float(low[i]), float(high[j - 1])) for i, j in spans],
        [(float(u[i:j].sum()), float(v[i:j].sum())) for i, j in spans],
        tuple(float(part.sum()) for part in (u[inside], v[inside], u[~inside], v[~inside])),
    )
    return _result(region, metric, rate, float(high[-1]), heights)
