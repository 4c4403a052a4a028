"""Score densities of every kind, opened once: where they live, their logarithm, what they hold.

An opened density is one of three: `Continuous`; `Bins`, a histogram; or `Atoms`, a discrete
distribution.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from halfmax.numeric_density import NumericDensity, plain_function

Array = npt.NDArray[np.float64]
Support = tuple[float, float]

WHOLE_LINE: Support = (-np.inf, np.inf)
_AWAY_FROM_ONE = 1e-6
_CORE = 5e-4  # the mass that a picture leaves out on either side
_WIDEST_KERNEL = 38.0  # bandwidths from which a normal density is zero as a float
_MOST_PLACES = 20_000
_MOST_ATOMS = 1 << 20
_NO_MASS = 1e-300
_TAIL = np.append([_NO_MASS, 1e-200, 1e-100, 1e-50], np.geomspace(1e-30, 1e-3, 109))
_TO_THE_MEDIAN = np.append(_TAIL, np.linspace(0.0, 0.5, 401)[1:])


@dataclass(frozen=True, eq=False)
class Continuous:
    """A density on an interval of the line.

    `places` are finite, ascending, and close enough together to see it rise and fall; it may jump
    at `jumps`; a picture shows `core`.
    """

    low: float
    high: float
    core: Support
    places: Array
    jumps: Array
    log: Callable[[Array], Array]
    mass: Callable[[float, float], float]


@dataclass(frozen=True, eq=False)
class Bins:
    """A histogram: mass spread evenly over each bin."""

    edges: Array
    heights: Array

    def at(self, s: Array) -> Array:
        """The density; on an edge, that of the bin above."""
        place = np.searchsorted(self.edges, s, side="right")
        return np.concatenate([[0.0], self.heights, [0.0]])[place]

    def continuous(self) -> Continuous:
        """The same as a density that jumps."""
        upto = np.append(0.0, np.cumsum(self.heights * np.diff(self.edges)))
        core = (float(self.edges[0]), float(self.edges[-1]))

        def log(s: Array) -> Array:
            with np.errstate(divide="ignore"):
                return np.log(self.at(s))

        def mass(low: float, high: float) -> float:
            return float(np.diff(np.interp([low, high], self.edges, upto))[0])

        middles = (self.edges[:-1] + self.edges[1:]) / 2
        return Continuous(*core, core, middles, self.edges, log, mass)


@dataclass(frozen=True, eq=False)
class Atoms:
    """A discrete distribution: ascending values, a function of their mass, and what lies beyond.

    A tail too long to list is kept as its mass alone.
    """

    values: Array
    mass_at: Callable[[Array], Array]
    endless: tuple[bool, bool]
    mass_above: Callable[[float], float]


Density = Continuous | Bins | Atoms


def open_density(value: Any, name: str, support: Support | None) -> Density:
    """A density of whatever kind came, checked: never negative, and one in all."""
    density = _open(value, name, support or WHOLE_LINE)
    if support is not None and not isinstance(density, Atoms):
        _check_support(density, name, support)
    return density


def check_support(support: Any) -> Support | None:
    """(low, high), in this order; either may be infinite."""
    if support is None:
        return None
    try:
        low, high = (float(end) for end in support)
    except (TypeError, ValueError):
        low, high = np.nan, np.nan
    if not low < high:
        raise ValueError(f"support must be (low, high) with low < high; got {support!r}")
    return low, high


def _open(value: Any, name: str, support: Support) -> Density:
    if isinstance(value, stats.gaussian_kde):
        return _of_gaussian_kde(value, name)
    if hasattr(value, "score_samples") and hasattr(value, "tree_"):
        return _of_kernel_density(value, name)
    if isinstance(value, stats.rv_histogram):
        bins: Any = value  # scipy keeps them in private, with a zero on either side
        return Bins(np.asarray(bins._hbins, np.float64), np.asarray(bins._hpdf[1:-1], np.float64))
    if isinstance(value, tuple):
        return _of_histogram(value, name)
    if hasattr(value, "ccdf") or hasattr(value, "sf"):
        return _of_distribution(value, name)
    if callable(value):
        return _of_function(plain_function(value, name), name, support)
    raise TypeError(
        f"{name} must be a frozen scipy distribution, a kernel density estimate, a histogram as "
        f"(heights, edges) or a function of the score; got {type(value).__name__}"
    )


def _check_support(density: Continuous | Bins, name: str, support: Support) -> None:
    whole = density.continuous() if isinstance(density, Bins) else density
    inside = whole.mass(max(support[0], whole.low), min(support[1], whole.high))
    if abs(inside - 1.0) > _AWAY_FROM_ONE:
        raise ValueError(
            f"support must hold all of {name}; ({support[0]:g}, {support[1]:g}) holds "
            f"{inside:.6g} of it: leave support out, or truncate the distribution"
        )


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
    return Bins(edges, _as_density(heights, np.diff(edges)))


def _as_density(heights: Array, widths: Array) -> Array:
    """Densities as they are; counts are shared out over their bins."""
    total = float((heights * widths).sum())
    if abs(total - 1.0) <= _AWAY_FROM_ONE:
        return np.asarray(heights / total, np.float64)
    return np.asarray(heights / heights.sum() / widths, np.float64)


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
            f"scipy.stats.norm(0, 1) rather than scipy.stats.norm ({error})"
        ) from None
    if low.ndim or high.ndim:
        raise ValueError(f"{name} must be one distribution; got parameters of shape {low.shape}")
    if not low < high and not low == high:
        raise ValueError(f"{name} has parameters outside of their range: its support is NaN")
    if not hasattr(value, "pdf") or (newer and bool(np.isinf(value.pdf(value.median())))):
        return _of_discrete(value, name, float(low), float(high), sf)

    def mass(lowest: float, highest: float) -> float:
        below = cdf(lowest)
        held = sf(lowest) - sf(highest) if below > 0.5 else cdf(highest) - below
        return max(float(held), 0.0)

    with warnings.catch_warnings():  # a quantile only says where to look
        warnings.simplefilter("ignore")
        places = np.concatenate([ppf(_TO_THE_MEDIAN), isf(_TO_THE_MEDIAN)])
        core = (float(ppf(_CORE)), float(isf(_CORE)))
    inside = np.unique(places[np.isfinite(places) & (places > low) & (places < high)])
    return Continuous(float(low), float(high), core, inside, np.empty(0), value.logpdf, mass)


def _of_discrete(
    value: Any, name: str, low: float, high: float, sf: Callable[[float], float]
) -> Atoms:
    listed = getattr(value, "xk", getattr(getattr(value, "dist", None), "xk", None))
    if listed is None:
        values = _whole_numbers(value, low, high, sf)
    else:
        values = np.sort(np.asarray(listed, np.float64))
        values += low - values[0]
    total = float(value.pmf(values).sum()) + (float(sf(values[-1])) if high == np.inf else 0.0)
    if not abs(total - 1.0) <= _AWAY_FROM_ONE:
        raise ValueError(f"{name} must sum to one; its values sum to {total:.6g}")
    return Atoms(values, value.pmf, (low == -np.inf, high == np.inf), sf)


def _whole_numbers(value: Any, low: float, high: float, sf: Callable[[float], float]) -> Array:
    """The values that have mass, as many as can be listed."""
    start = low
    if low == -np.inf:
        start = stop = float(np.floor(value.median()))
        while value.cdf(start) > _NO_MASS and stop - start < _MOST_ATOMS:
            start -= 2.0 * (stop - start) + 1.0
    size = 1.0
    while start + size < high and size < _MOST_ATOMS and sf(start + size) > _NO_MASS:
        size *= 2.0
    return np.arange(start, min(start + size, high) + 1.0)


def _of_gaussian_kde(kde: stats.gaussian_kde, name: str) -> Continuous:
    if kde.d != 1:
        raise ValueError(f"{name} must be a density of one score; got a KDE of {kde.d} dimensions")
    width = float(np.sqrt(kde.covariance[0, 0]))
    places, core = _around(np.asarray(kde.dataset[0], float), width)

    def mass(low: float, high: float) -> float:
        return max(float(kde.integrate_box_1d(low, high)), 0.0)

    return Continuous(*WHOLE_LINE, core, places, np.empty(0), kde.logpdf, mass)


def _of_kernel_density(kde: Any, name: str) -> Continuous:
    data = np.asarray(kde.tree_.data)
    if data.shape[1] != 1:
        raise ValueError(
            f"{name} must be a density of one score; got a KDE of {data.shape[1]} dimensions"
        )
    places, core = _around(data[:, 0], float(kde.bandwidth_))

    def density(s: Array) -> Array:
        return np.asarray(np.exp(kde.score_samples(np.asarray(s)[:, None])), np.float64)

    hints = places[1:-1][:: len(places) // 64 + 1].tolist()
    known = _of_function(density, name, (places[0], places[-1]), hints)
    return replace(known, low=-np.inf, high=np.inf, core=core, places=places)


def _around(data: Array, width: float) -> tuple[Array, Support]:
    low, high = float(data.min()), float(data.max())
    reach = _WIDEST_KERNEL * width
    count = min(int((high - low + 2 * reach) / width * 4) + 2, _MOST_PLACES)
    return np.linspace(low - reach, high + reach, count), (low - 3 * width, high + 3 * width)


def _of_function(
    function: Callable[[Array], Array], name: str, support: Support, hints: Sequence[float] = ()
) -> Continuous:
    density = NumericDensity(function, support, hints)
    total = density.total
    if not abs(total - 1.0) <= _AWAY_FROM_ONE:
        raise ValueError(
            f"{name} must be a density, which integrates to one; it integrates to {total:.6g} over "
            f"({support[0]:g}, {support[1]:g}): divide by that, or give support=(low, high), the "
            "interval where it is not zero, which also helps to find a narrow peak"
        )
    core = density.quantile(_CORE), density.quantile(1.0 - _CORE)
    return Continuous(*support, core, density.places, np.empty(0), density.log, density.mass)
