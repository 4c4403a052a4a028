"""`WinnersCurseDisplay`: what tuning predicts on scores without signal, run by run."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import floor, log10
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.options import check_whole
from halfmax._core.progress import ProgressLike
from halfmax._core.types import Floats
from halfmax.displays.base import Display, plain
from halfmax.displays.style import BLUE, ORANGE, TALL
from halfmax.honesty.winners_curse import simulate_winners_curse

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Histogram(NamedTuple):
    """The share of the runs between each pair of edges, for each base rate."""

    edges: Floats
    shares: Floats  # base rates x bins


@dataclass(eq=False, repr=False)
class WinnersCurseDisplay(Display):
    """The fraction predicted by the best threshold on scores without signal, for base rates.

    On new data, predicting all rows would be best. If positives are few, the best threshold is a
    matter of luck, and most runs predict far fewer rows. There is one row of plots for each base
    rate: on the left with a plain axis, on the right with an axis that widens both ends. Create it
    with `from_simulation`, or from fractions that `simulate_winners_curse` returned.

    Attributes
    ----------
    n : int
        The number of items in each run.
    base_rates : tuple of float
        The base rates.
    fractions : ndarray of shape (base rates, runs)
        The fraction of items that each run predicts.
    name : str or None
        The title of plots that are not passed another one.

    See Also
    --------
    simulate_winners_curse : Run the simulation.
    assess : Correct the score of tuned thresholds for the winner's curse.

    Examples
    --------
    >>> d = WinnersCurseDisplay.from_simulation(10_000, (0.001, 0.1), runs=500)
    >>> print(*(f"{median:.2f}" for median in np.median(d.fractions, axis=1)))
    0.08 0.98
    """

    n: int
    base_rates: tuple[float, ...]
    fractions: Floats

    def __post_init__(self) -> None:
        self.base_rates = tuple(float(rate) for rate in np.ravel(self.base_rates))
        self.fractions = np.atleast_2d(np.asarray(self.fractions, np.float64))
        if self.fractions.shape[0] != len(self.base_rates) or not self.fractions.size:
            raise ValueError(
                "fractions must have a row of runs for each of the "
                f"{len(self.base_rates)} base rates; got shape {self.fractions.shape}"
            )
        if not ((self.fractions >= 0.0) & (self.fractions <= 1.0)).all():
            raise ValueError("fractions must be from 0 to 1: fractions of the n items, not counts")
        self.n = check_whole("n", self.n, 1)

    @classmethod
    def from_simulation(
        cls,
        n: int,
        base_rates: float | Iterable[float],
        runs: int,
        seed: int = 0,
        *,
        progress: ProgressLike = None,
        name: str | None = None,
        ax: "Axes | None" = None,
        **how: Any,
    ) -> Self:
        """Simulate runs and draw them.

        Parameters
        ----------
        n : int
            The number of items in each run.
        base_rates : float or iterable of float
            The base rates to simulate.
        runs : int
            The number of runs for each base rate.
        seed : int, default=0
            The seed of the simulation.
        progress : bool or callable, optional
            How to report progress, as in `simulate_winners_curse`.
        name : str, optional
            The title, kept for the next plot.
        ax : matplotlib Axes, optional
            The axes to draw on, as in `plot`.
        **how : dict
            Further arguments of `plot`.

        Returns
        -------
        WinnersCurseDisplay
            The display, drawn.
        """
        rates = tuple(np.ravel(np.asarray(list(np.atleast_1d(base_rates)), np.float64)))  # type: ignore[arg-type]
        drawn = [simulate_winners_curse(n, rate, runs, seed, progress) for rate in rates]
        return cls(n, rates, np.array(drawn))._show(ax, name, how)

    @property
    def runs(self) -> int:
        """The number of runs for each base rate."""
        return int(self.fractions.shape[1])

    def by_fraction(self) -> Histogram:
        """Count runs by the fraction that they predict, in 20 bins from nothing to everything.

        Returns
        -------
        Histogram
            The ``edges`` of the bins and the ``shares`` of the runs, base rates x bins.
        """
        return _histogram(self.fractions, np.linspace(0.0, 1.0, 21))

    def by_odds(self) -> Histogram:
        """Count runs by the odds of the fraction that they predict, in three bins per decade.

        The first bin holds the runs that predict nothing, and the last those that predict all.

        Returns
        -------
        Histogram
            The ``edges`` of the bins, in powers of ten, and the ``shares`` of the runs, base rates
            x bins.
        """
        decades = max(np.log10(self.n), 1.0 / 3.0)
        inner = np.linspace(-decades, decades, round(6 * decades) + 1)
        ends = decades + np.array([2, 3]) / 3
        edges = np.concatenate([-ends[::-1], inner, ends])
        return _histogram(log_odds(self.fractions, self.n), edges)

    def plot(
        self, ax: "Axes | None" = None, *, name: str | None = None, despine: bool = False
    ) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes made by ``subplots``; they are divided into two columns and one row for each base
            rate. A new figure if None.
        name : str, optional
            The title; the name of the display if None.
        despine : bool, default=False
            Whether to hide the upper and right edges of the axes. New figures never have them.

        Returns
        -------
        WinnersCurseDisplay
            The display itself, with ``ax_``, ``axes_`` (base rates x 2) and ``figure_`` set.
        """
        name = self._name_or(name)
        with self._canvas(ax, TALL, despine=despine) as (_, whole):
            place = whole.get_subplotspec()
            if place is None:
                raise ValueError(
                    "ax must be made by subplots, so that it can be divided; got other Axes"
                )
            whole.set_axis_off()
            if name is not None:
                whole.set_title(plain(name, 70), pad=24.0)
            rows = len(self.base_rates)
            parts = place.subgridspec(rows, 2, width_ratios=(1.0, 1.5)).subplots(
                sharex="col", sharey="col", squeeze=False
            )
            self.axes_: npt.NDArray[Any] = parts
            self._draw_rows()
        return self

    def _parts(self) -> "list[Axes]":
        return list(self.axes_.flat)

    def _draw_rows(self) -> None:
        plain_axis, odds = self.by_fraction(), self.by_odds()
        for row, (left, right) in enumerate(self.axes_):
            median = float(np.median(self.fractions[row]))
            places = (left, plain_axis, median), (right, odds, log_odds(median, self.n))
            for ax, bins, at in places:
                ax.stairs(bins.shares[row], bins.edges, fill=True, color=BLUE)
                ax.plot(at, 0.0, "^", color=ORANGE, markersize=6, clip_on=False, zorder=3)
            rate = f"b = {power(self.base_rates[row])}"
            left.set_ylabel(rate, rotation=0, ha="right", va="center", labelpad=8)
            right.text(1.02, 0.4, near_one(median), va="center", transform=right.transAxes)
        top = np.ceil(10 * odds.shares.max()) / 10
        left, right = self.axes_[0]
        share = f"share of {self.runs:,} runs"
        left.set(xlim=(0, 1), ylim=(0, 1), yticks=(0, 1), title=f"{share}, plain axis")
        right.set(xlim=odds.edges[[0, -1]], ylim=(0, top), yticks=(0, top))
        right.set(title=f"{share}, both ends widened")
        right.set_xticks(*_odds_ticks(self.n))
        right.text(1.02, 1.12, "median", color=ORANGE, va="bottom", transform=right.transAxes)
        for ax in self.axes_[-1]:
            ax.set_xlabel("fraction predicted positive")


def log_odds(fraction: npt.ArrayLike, n: int) -> Floats:
    """Return log10 of the odds; 0 and 1 get values a little beyond all other fractions of n."""
    fraction = np.asarray(fraction, np.float64)
    with np.errstate(divide="ignore"):
        odds = np.log10(fraction) - np.log10(1.0 - fraction)
    beyond = max(np.log10(n), 1.0 / 3.0) + 5 / 6
    within: Floats = np.clip(odds, -beyond, beyond)
    return within


def _histogram(values: Floats, edges: Floats) -> Histogram:
    return Histogram(edges, np.array([np.histogram(row, edges)[0] / row.size for row in values]))


def _odds_ticks(n: int) -> tuple[Floats, list[str]]:
    """Return ticks of the axis of odds and their labels: none, fractions of every size, all."""
    inside = [10.0**-p for p in (6, 4, 2) if p < log10(n) - 1]
    places = [0.0, *inside, 0.5, *(1 - share for share in reversed(inside)), 1.0]
    names = [f"{place:.10g}" for place in places]
    return log_odds(places, n), ["none", *names[1:-1], "all"]


def near_one(value: float) -> str:
    """Return two digits, or as many as distinguish the value from one."""
    digits = 2 if value == 1.0 else max(2, -floor(log10(1 - value) + 1e-6))
    return f"{value:#.{digits}g}"


def power(value: float) -> str:
    """Return a power of ten in mathematical notation, other numbers as they are."""
    exponent = round(log10(value))
    exact = value < 0.1 and np.isclose(value, 10.0**exponent)
    return f"$10^{{{exponent}}}$" if exact else f"{value:g}"
