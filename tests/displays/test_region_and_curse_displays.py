"""Decision regions and the winner's curse, as displays."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from display_cases import CURSE, REGION, assert_same
from scipy import stats

import halfmax as hm
from halfmax.displays.decision_region import in_words
from halfmax.displays.winners_curse import log_odds, near_one

pytestmark = pytest.mark.usefixtures("close_figures")

# Regions.


def test_a_region_holds_the_curves_of_its_source():
    r = hm.decision_region(stats.norm(1, 2.5), stats.norm(), 0.25, "f2")
    d = REGION.from_region(r)
    again = REGION.from_densities(stats.norm(1, 2.5), stats.norm(), 0.25, "f2")
    assert_same(d, again)
    inside = r.contains(d.scores)
    np.testing.assert_array_equal(inside, d.odds >= d.cut)
    np.testing.assert_allclose(d.positive, 0.25 * stats.norm(1, 2.5).pdf(d.scores))
    assert d.odds_ax_ in d.figure_.axes


def test_steps_and_single_axes():
    figure, axes = plt.subplots(1, 2)
    bins = REGION.from_densities(
        ([1, 2, 5], [0, 100, 200, 300]), ([5, 2, 1], [0, 100, 200, 300]), 0.3, ax=axes[0]
    )
    assert bins.steps
    assert bins.odds_ax_ is None
    assert axes[0].get_xlim() == (0, 300)
    bins.plot(axes, name="both")
    assert (bins.ax_, bins.odds_ax_) == tuple(axes)
    assert bins.figure_ is figure
    counts = REGION.from_densities(stats.poisson(6), stats.poisson(2), 0.2)
    assert counts.ax_.get_xlim()[1] < 40
    spike = REGION.from_densities(stats.beta(0.5, 0.5), stats.beta(1, 1), 0.2)
    assert np.isfinite(spike.ax_.get_ylim()).all()


@pytest.mark.parametrize(
    ("intervals", "found"),
    [
        ([(1.5, np.inf)], "s ≥ 1.50"),
        ([(-np.inf, -1.0), (2.0, np.inf)], "s ≤ \N{MINUS SIGN}1.00 or s ≥ 2.00"),
        ([(0.0, 1.0)], "0.00 ≤ s ≤ 1.00"),
        ([(-np.inf, np.inf)], "s is anything"),
        ([], "nowhere"),
        (
            [(k, k + 0.5) for k in range(4)],
            "0.00 ≤ s ≤ 0.50 or 1.00 ≤ s ≤ 1.50 or 2 more intervals",
        ),
    ],
)
def test_intervals_in_words(intervals, found):
    assert in_words(intervals) == found


# The winner's curse.


def invented_curse():
    fractions = np.random.default_rng(0).random((3, 50)).round(3)
    fractions[0, :10], fractions[-1] = 0.0, 1.0
    return CURSE(1000, (1e-6, 1e-3, 0.5), fractions)


def test_both_histograms_hold_every_run():
    shown = invented_curse()
    for bins in (shown.by_fraction(), shown.by_odds()):
        np.testing.assert_allclose(bins.shares.sum(axis=1), 1.0)
    odds = shown.by_odds().shares
    assert (odds[0, 0], odds[-1, -1]) == (0.2, 1.0)  # nothing and everything have their own bins
    assert not odds[:, [1, -2]].any()


@pytest.mark.parametrize("n", [10, 1000, 10**6, 10**9])
def test_every_fraction_of_n_fits_on_the_axis_of_odds(n):
    inside = log_odds([1 / n, 0.5, (n - 1) / n], n)
    np.testing.assert_allclose(inside, [-np.log10(n - 1), 0.0, np.log10(n - 1)], atol=1e-6)
    low, high = log_odds([0.0, 1.0], n)
    assert low < inside[0] < inside[-1] < high


@pytest.mark.parametrize(
    ("value", "found"),
    [(0.0, "0.0"), (0.0107, "0.011"), (0.1, "0.10"), (0.86, "0.86"), (0.999999, "0.999999")],
)
def test_medians_near_one_are_distinguished_from_one(value, found):
    assert near_one(value) == found


@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_simulations_of_every_size_are_drawn(n):
    d = CURSE.from_simulation(n, 0.3, 10)
    np.testing.assert_array_equal(d.fractions[0], hm.simulate_winners_curse(n, 0.3, 10))
    d.figure_.draw_without_rendering()
    assert d.axes_.shape == (1, 2)
