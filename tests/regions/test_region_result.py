"""What a decision region holds and shows."""

from itertools import chain

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from region_cases import INF, SAMPLE, Z, counts, ratio
from scipy import stats

import halfmax as hm

# The result.


def test_contains_takes_numbers_and_arrays():
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    (_, low), (high, _) = region.intervals
    assert region.contains(low) is True
    assert region.contains(0) is False
    assert region.contains(np.float64(high)) is True
    assert region.contains(np.nextafter(high, 0)) is False
    got = region.contains(np.array([[-INF, low], [0.0, INF]]))
    assert got.dtype == np.bool_
    assert_array_equal(got, [[True, True], [False, True]])
    assert_array_equal(region.contains([low, 0]), [True, False])
    assert region.contains([]).shape == (0,)


@pytest.mark.parametrize("points", [2, 100, 512])
def test_curves_hold_what_a_picture_shows(points):
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    curves = region.curves(points)
    assert list(curves) == ["score", "positive", "negative", "ratio", "predicted"]
    assert curves.n_rows == points
    s = curves["score"]
    assert np.isfinite(s).all()
    assert (np.diff(s) > 0).all()
    assert_allclose(curves["positive"], stats.norm(0, 3).pdf(s), rtol=1e-9)
    assert_allclose(curves["negative"], Z.pdf(s), rtol=1e-9)
    assert_allclose(curves["ratio"], ratio(stats.norm(0, 3), Z, 0.3, s), rtol=1e-9)
    assert_array_equal(curves["predicted"], region.contains(s))


def test_curves_show_every_end():
    region = hm.decision_region(stats.norm(0, 3), Z, 0.3)
    s = region.curves()["score"]
    assert len(s) == 512
    assert all(s[0] < end < s[-1] for end in chain(*region.intervals) if abs(end) < INF)


def test_curves_of_atoms_have_a_row_for_each():
    densities = [stats.rv_discrete(values=([1, 2, 4], p)) for p in ([0.5, 0.5, 0], [0.25, 0, 0.75])]
    region = hm.decision_region(*densities, 0.5)
    curves = region.curves()
    assert_array_equal(curves["score"], [1, 2, 4])
    assert_array_equal(curves["positive"], [0.5, 0.5, 0.0])
    assert_array_equal(curves["negative"], [0.25, 0.0, 0.75])
    assert_array_equal(curves["ratio"], [2.0, INF, 0.0])
    assert_array_equal(curves["predicted"], [True, True, False])


@pytest.mark.parametrize(
    "densities",
    [
        (stats.gamma(0.5), stats.gamma(2)),
        (stats.beta(0.5, 0.5), stats.beta(0.5, 0.7)),
        (stats.uniform(2, 1), stats.uniform(0, 1)),
        (stats.cauchy(1), stats.cauchy()),
        (([1, 2], [0, 1, 2]), ([2, 1], [1, 2, 3])),
        (stats.poisson(3), stats.poisson(1)),
    ],
)
def test_curves_never_warn_and_agree_with_contains(densities):
    region = hm.decision_region(*densities, 0.3)
    curves = region.curves(50)
    assert np.isfinite(curves["score"]).all()
    assert_array_equal(curves["predicted"], region.contains(curves["score"]))


def test_the_repr_of_a_region_names_its_metric_and_score():
    region = hm.decision_region(stats.norm(1), Z, 0.3)
    assert (region.metric, region.base_rate) == ("f1", 0.3)
    assert f"{region.score:.4f}" in repr(region)
    assert "f1" in repr(region)
    for other in (hm.decision_region(Z, Z, 0.1), hm.decision_region(Z, Z, 0.1, "accuracy")):
        assert repr(other)


def test_inputs_are_not_modified():
    counted, edges = np.array([1, 2, 3]), np.array([0.0, 1, 2, 3])
    hm.decision_region((counted, edges), (counted[::-1], edges), 0.5)
    assert counted.tolist() == [1, 2, 3]
    assert edges.tolist() == [0, 1, 2, 3]


def test_a_region_is_the_same_every_time():
    kde = stats.gaussian_kde(SAMPLE)
    first, second = (hm.decision_region(kde, stats.t(3), 0.2) for _ in range(2))
    assert first.intervals == second.intervals
    assert counts(first) == counts(second)


# Regressions.


def test_curves_of_histograms_are_densities():
    bins = np.histogram([1, 2, 2, 3, 7, 9.5], bins=[0, 2, 3, 10]), ([1, 1], [0, 5, 10])
    curves = hm.decision_region(*bins, 0.3).curves()
    widths = np.diff([0, 2, 3, 5, 10])
    for name in ("positive", "negative"):
        assert (curves[name] * widths).sum() == pytest.approx(1)
