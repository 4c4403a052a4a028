"""Read score densities of every kind: their support, logarithm and mass between two scores.

`open_density` returns one of three classes: `Continuous`; `Bins`, a histogram; or `Atoms`, a
discrete distribution.
"""

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import special

from halfmax._core.types import Floats
from halfmax.regions.numeric import NumericDensity, plain_function

Support = tuple[float, float]

WHOLE_LINE: Support = (-np.inf, np.inf)
AWAY_FROM_ONE = 1e-6  # the tolerance for the total mass of a density
_CORE = 5e-4  # the mass that a picture leaves out at either end
_NEAR, _FAR = 5, (6, 8, 11, 15, 20, 28, 38)  # bandwidths; at 38 a normal density is zero
_MOST_PLACES = 20_000
_MASSLESS = 64  # places between the outermost quantile and an end of the support
_MOST_ATOMS = 1 << 20
_MOST_UNLISTED = 0.01
NO_MASS = 1e-300
_TAIL = np.append([NO_MASS, 1e-200, 1e-100, 1e-50], np.geomspace(1e-30, 1e-3, 109))
_TO_THE_MEDIAN = np.append(_TAIL, np.linspace(0.0, 0.5, 401)[1:])


# Cumulative distribution functions of scikit-learn's kernels, for a bandwidth of 1.
_UPTO: dict[str, Callable[[Floats], Floats]] = {
    "gaussian": special.ndtr,
    "epanechnikov": lambda u: (
        0.5 + 0.75 * np.clip(u, -1.0, 1.0) - 0.25 * np.clip(u, -1.0, 1.0) ** 3
    ),
    "exponential": lambda u: 0.5 + np.sign(u) * (0.5 - 0.5 * np.exp(-np.abs(u))),
    "linear": lambda u: 0.5 + np.sign(u) * (0.5 - 0.5 * np.clip(1.0 - np.abs(u), 0.0, 1.0) ** 2),
    "cosine": lambda u: 0.5 + 0.5 * np.sin(np.pi / 2 * np.clip(u, -1.0, 1.0)),
}


@dataclass(frozen=True, eq=False)
class Continuous:
    """A density on an interval of the line.

    `places` are finite, ascending, and close enough together to show where the density rises and
    falls. It may jump at `jumps`. A picture shows `core`.
    """

    low: float
    high: float
    core: Support
    places: Floats
    jumps: Floats
    log: Callable[[Floats], Floats]
    mass: Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class Bins:
    """A histogram: mass spread evenly over each bin."""

    edges: Floats
    heights: Floats

    def at(self, s: Floats) -> Floats:
        """The density at each score; on an edge, that of the bin above."""
        place = np.searchsorted(self.edges, s, side="right")
        return np.concatenate([[0.0], self.heights, [0.0]])[place]

    def continuous(self) -> Continuous:
        """The histogram as a continuous density with jumps."""
        upto = np.append(0.0, np.cumsum(self.heights * np.diff(self.edges)))
        core = (float(self.edges[0]), float(self.edges[-1]))

        def log(s: Floats) -> Floats:
            return np.log(self.at(s))

        def mass(low: float, high: float) -> float:
            return float(np.diff(np.interp([low, high], self.edges, upto))[0])

        middles = (self.edges[:-1] + self.edges[1:]) / 2
        return Continuous(*core, core, middles, self.edges, log, mass)


@dataclass(frozen=True, eq=False)
class Atoms:
    """A discrete distribution: ascending values, masses, and the mass below and above a value.

    Values without mass, and values too many to list, are left out.
    """

    low: float
    high: float
    values: Floats
    at: Callable[[Floats], Floats]
    below: Callable[[float], float]
    above: Callable[[float], float]


Density = Continuous | Bins | Atoms


@contextmanager
def silent_far_out() -> Iterator[None]:
    """Silence the warnings of numpy and scipy about overflow where there is no mass."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        yield


def open_density(value: Any, name: str, support: Support | None) -> Density:
    """Read a density of any supported kind; check that it is never negative and has mass 1."""
    density = _open(value, name, support or WHOLE_LINE)
    if support is None:
        return density
    inside = _mass_inside(density, *support)
    if abs(inside - 1.0) > AWAY_FROM_ONE:
        raise ValueError(
            f"support must hold all of {name}; ({support[0]:g}, {support[1]:g}) holds "
            f"{inside:.9g} of it: omit support, or truncate the distribution"
        )
    if isinstance(density, Continuous):
        return replace(
            density, low=max(density.low, support[0]), high=min(density.high, support[1])
        )
    return density


def check_support(support: Any) -> Support | None:
    """Return the support as (low, high) with low < high; either end may be infinite."""
    if support is None:
        return None
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if isinstance(support, str) or not low < high:
        raise ValueError(f"support must be (low, high) with low < high; got {support!r}")
    return low, high


def _open(value: Any, name: str, support: Support) -> Density:
    if _is_of_stats(value, "gaussian_kde"):
        return _of_gaussian_kde(value, name)
    if hasattr(value, "score_samples"):
        return _of_kernel_density(value, name)
    if _is_of_stats(getattr(value, "dist", value), "rv_histogram"):
        return _of_rv_histogram(value)
    if isinstance(value, tuple):
        return _of_histogram(value, name)
    if hasattr(value, "ccdf") or hasattr(value, "sf"):
        return _of_distribution(value, name)
    if callable(value):
        return _of_function(plain_function(value, name, support), name, support)
    raise TypeError(
        f"{name} must be a frozen scipy distribution, a kernel density estimate, a histogram as "
        f"(heights, edges) or a function of the score; got {type(value).__name__}. Pass scores to "
        "np.histogram or scipy.stats.gaussian_kde first, or labelled scores to tune"
    )


def _is_of_stats(value: Any, name: str) -> bool:
    """Whether it is of a class of scipy.stats; as long as nobody has imported that, nothing is."""
    if "scipy.stats" not in sys.modules:
        return False
    from scipy import stats

    return isinstance(value, getattr(stats, name))


def _mass_inside(density: Density, low: float, high: float) -> float:
    if isinstance(density, Atoms):
        listed = density.values[(density.values >= low) & (density.values <= high)]
        return float(density.at(listed).sum()) if len(listed) else 0.0
    whole = density.continuous() if isinstance(density, Bins) else density
    low, high = max(low, whole.low), min(high, whole.high)
    return whole.mass(low, high) if low < high else 0.0


def _of_rv_histogram(value: Any) -> Bins:
    """The bins, which scipy keeps privately with a zero at either end; shifted if frozen."""
    bins, loc, scale = value, 0.0, 1.0
    if hasattr(value, "dist"):
        bins = value.dist
        _, loc, scale = bins._parse_args(*value.args, **value.kwds)
    edges, heights = np.asarray(bins._hbins, np.float64), np.asarray(bins._hpdf[1:-1], np.float64)
    return Bins(edges * scale + loc, heights / scale)


def _of_histogram(value: tuple[Any, ...], name: str) -> Bins:
    try:
        heights, edges = (np.asarray(part, np.float64) for part in value)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} as a tuple must be a histogram, (heights, edges) as from np.histogram; "
            f"got a tuple of {len(value)}"
        ) from None
    if heights.ndim != 1 or not len(heights) or edges.shape != (len(heights) + 1,):
        raise ValueError(
            f"{name} as a histogram must have one more edge than heights; got heights of shape "
            f"{heights.shape} and edges of shape {edges.shape}"
        )
    if not (np.isfinite(edges).all() and (np.diff(edges) > 0).all()):
        raise ValueError(f"the edges of {name} must be finite and ascending; got {value[1]!r}")
    if not (np.isfinite(heights).all() and (heights >= 0).all() and heights.any()):
        raise ValueError(
            f"the heights of {name} must be finite, none negative and not all zero; "
            f"got {value[0]!r}"
        )
    widths = np.diff(edges)
    total = float((heights * widths).sum())
    counts = np.asarray(value[0]).dtype.kind in "iub"
    if counts or abs(total - 1.0) > AWAY_FROM_ONE:
        return Bins(edges, heights / heights.sum() / widths)
    return Bins(edges, heights / total)


def _of_distribution(value: Any, name: str) -> Continuous | Atoms:
    newer = hasattr(value, "ccdf")
    cdf, sf, ppf, isf = (
        getattr(value, method)
        for method in (("cdf", "ccdf", "icdf", "iccdf") if newer else ("cdf", "sf", "ppf", "isf"))
    )
    try:
        low, high = (np.asarray(end, np.float64) for end in value.support())
    except TypeError as error:
        raise TypeError(
            f"{name} must be a distribution with its parameters: freeze it, as in "
            "scipy.stats.beta(2, 5) rather than scipy.stats.beta"
        ) from error
    if low.ndim or high.ndim:
        raise ValueError(f"{name} must be one distribution; got parameters of shape {low.shape}")
    if not low < high and not low == high:
        raise ValueError(f"{name} has parameters outside of their range: its support is NaN")
    if not hasattr(value, "pdf") or (newer and bool(np.isinf(value.pdf(value.median())))):
        return _of_discrete(value, name, (float(low), float(high)), cdf, sf)

    def mass(lowest: float, highest: float) -> float:
        below = cdf(lowest)
        held = sf(lowest) - sf(highest) if below > 0.5 else cdf(highest) - below
        return max(float(held), 0.0)

    places = np.concatenate([ppf(_TO_THE_MEDIAN), isf(_TO_THE_MEDIAN)])
    core = (float(ppf(_CORE)), float(isf(_CORE)))
    inside = np.unique(places[np.isfinite(places) & (places > low) & (places < high)])
    to_the_ends = [
        np.linspace(end, place, _MASSLESS, endpoint=False)[1:]
        for end, place in ((low, inside[0]), (high, inside[-1]))
        if np.isfinite(end)
    ]
    places = np.unique(np.concatenate([inside, *to_the_ends]))
    return Continuous(float(low), float(high), core, places, np.empty(0), value.logpdf, mass)


def _of_discrete(
    value: Any,
    name: str,
    ends: Support,
    cdf: Callable[[float], float],
    sf: Callable[[float], float],
) -> Atoms:
    listed = getattr(value, "xk", getattr(getattr(value, "dist", None), "xk", None))
    if listed is None:
        middle = float(np.clip(np.floor(value.median()), *ends))
        low = middle - _reach(lambda step: cdf(middle - step), middle - ends[0])
        high = middle + _reach(lambda step: sf(middle + step), ends[1] - middle)
        values = np.arange(low, high + 1.0)
    else:
        values = np.sort(np.asarray(listed, np.float64))
        values += ends[0] - values[0]
    total = float(value.pmf(values).sum())
    if not abs(total - 1.0) <= _MOST_UNLISTED:
        raise ValueError(
            f"{name} must sum to one over at most {len(values):,} values, which is how many are "
            f"listed; from {values[0]:,.0f} to {values[-1]:,.0f} it sums to {total:.9g}: pass it "
            "as a histogram or a continuous distribution"
        )
    return Atoms(*ends, values, value.pmf, lambda s: float(cdf(s - 1.0)), lambda s: float(sf(s)))


def _reach(tail: Callable[[float], float], most: float) -> float:
    """How far from the middle there is mass, up to a factor of two."""
    step = 1.0
    while step < min(most, _MOST_ATOMS) and tail(step) > NO_MASS:
        step *= 2.0
    return min(step, most, float(_MOST_ATOMS))


def _of_gaussian_kde(kde: Any, name: str) -> Continuous:
    if kde.d != 1:
        raise ValueError(f"{name} must be a density of one score; got a KDE of {kde.d} dimensions")
    width = float(np.sqrt(kde.covariance[0, 0]))
    places, core = _around(np.asarray(kde.dataset[0], float), width)

    def mass(low: float, high: float) -> float:
        return max(float(kde.integrate_box_1d(low, high)), 0.0)

    return Continuous(*WHOLE_LINE, core, places, np.empty(0), kde.logpdf, mass)


def _of_kernel_density(kde: Any, name: str) -> Continuous | Bins:
    if not hasattr(kde, "tree_"):
        raise ValueError(f"{name} must be fitted: call its fit with the scores of the class first")
    data = np.asarray(kde.tree_.data, np.float64)
    if data.shape[1] != 1:
        raise ValueError(
            f"{name} must be a density of one score; got a KDE of {data.shape[1]} dimensions"
        )
    points, width = data[:, 0], float(kde.bandwidth_)
    fitted = kde.tree_.sample_weight
    weights = np.ones(len(points)) if fitted is None else np.asarray(fitted, np.float64)
    if kde.kernel == "tophat":
        return _tophats(points, width, weights / weights.sum())
    upto = _UPTO[kde.kernel]
    places, core = _around(points, width)

    def log(s: Floats) -> Floats:
        return np.asarray(kde.score_samples(np.asarray(s)[:, None]), np.float64)

    def mass(low: float, high: float) -> float:
        held = upto((high - points) / width) - upto((low - points) / width)
        return max(float(np.average(held, weights=weights)), 0.0)

    return Continuous(*WHOLE_LINE, core, places, np.empty(0), log, mass)


def _tophats(points: Floats, width: float, weights: Floats) -> Bins:
    """Tophat kernels, each spread evenly over two bandwidths, add up to a histogram."""
    edges, place = np.unique(np.append(points - width, points + width), return_inverse=True)
    changes = np.bincount(place, np.append(weights, -weights), len(edges))
    return Bins(edges, np.maximum(np.cumsum(changes)[:-1], 0.0) / (2.0 * width))


def _around(data: Floats, width: float) -> tuple[Floats, Support]:
    """A few places per bandwidth where there are data, and some far out at either end."""
    ordered = np.unique(data)
    apart = np.diff(ordered) > 2 * _NEAR * width
    firsts, lasts = ordered[np.append(True, apart)], ordered[np.append(apart, True)]
    covered = float((lasts - firsts + 2 * _NEAR * width).sum())
    step = max(width / 4, covered / _MOST_PLACES)
    near = [
        np.arange(first - _NEAR * width, last + _NEAR * width + step, step)
        for first, last in zip(firsts, lasts, strict=True)
    ]
    far = [(firsts - k * width, lasts + k * width) for k in _FAR]
    core = (float(ordered[0]) - 3 * width, float(ordered[-1]) + 3 * width)
    return np.unique(np.concatenate([*near, *(ends for pair in far for ends in pair)])), core


def _of_function(function: Callable[[Floats], Floats], name: str, support: Support) -> Continuous:
    density = NumericDensity(function, support)
    total = density.total
    if not abs(total - 1.0) <= AWAY_FROM_ONE:
        raise ValueError(
            f"{name} must be a density, which integrates to one; numerical integration over "
            f"({support[0]:g}, {support[1]:g}) gives {total:.9g}. If it is not normalised, divide "
            "it by its integral; if it has jumps or narrow peaks that were missed, pass "
            "support=(low, high) where it is not zero, or a scipy distribution such as Mixture"
        )
    core = density.quantile(_CORE), density.quantile(1.0 - _CORE)
    return Continuous(*support, core, density.places, np.empty(0), density.log, density.mass)
