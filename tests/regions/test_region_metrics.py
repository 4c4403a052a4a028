"""Decision regions for metrics other than F1."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose
from region_cases import GAIN, INF, SAMPLE, SMOOTH, Z, counts, found, inner_ends, ratio, smooth
from scipy import stats

import halfmax as hm

# Other metrics.


@smooth
def test_accuracy_cuts_at_even_odds(name):
    positive, negative = SMOOTH[name]
    for b in (0.01, 0.6):
        region = found(name, b, "accuracy")
        assert region.likelihood_ratio == 1.0
        assert region.score == pytest.approx(region.tp + region.tn, rel=1e-12, abs=0)
        assert region.score >= max(b, 1 - b) - 1e-12
        ends = np.array(inner_ends(region, positive, negative))
        seen = ends[np.minimum(positive.pdf(ends), negative.pdf(ends)) > 1e-290]
        assert_allclose(ratio(positive, negative, b, seen), 1.0, rtol=1e-6)


def test_accuracy_may_predict_nothing():
    for densities in ((stats.norm(0, 0.9), Z), (Z, Z), ((SAMPLE > 0, range(31)),) * 2):
        region = hm.decision_region(*densities, 0.01, "accuracy")
        assert region.intervals == []
        assert counts(region) == pytest.approx((0, 0, 0.01, 0.99))
        assert not region.contains(0.0)
        assert not region.contains(np.linspace(-9, 9, 9)).any()
        with pytest.raises(AttributeError, match=r"nothing|intervals"):
            _ = region.threshold


def test_recall_predicts_every_score_that_can_be_positive():
    for positive, intervals in (
        (Z, [(-INF, INF)]),
        (stats.expon(2), [(2.0, INF)]),
        (stats.uniform(-1, 3), [(-1.0, 2.0)]),
    ):
        region = hm.decision_region(positive, stats.norm(1, 2), 0.1, "recall")
        assert region.intervals == intervals
        assert region.likelihood_ratio == 0.0
        assert region.score == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("b", [0.01, 0.3, 0.9])
def test_another_ratio_has_the_cut_of_its_weights(b):
    region = hm.decision_region(stats.norm(1), Z, b, GAIN)
    assert region.likelihood_ratio == pytest.approx(0.25)
    assert region.metric == "gain"
    assert region.score == pytest.approx(4 * region.tp - region.fp, rel=1e-9, abs=0)
    value = naive.maximum(lambda t: 4 * b * stats.norm(1).sf(t) - (1 - b) * Z.sf(t), -40, 40)
    assert region.score == pytest.approx(value, abs=1e-9)


def test_a_ratio_may_be_negative():
    loss = hm.LinearFractional("loss", (0, -1, -1, 0), (1, 1, 1, 1))
    coins = [stats.bernoulli(p) for p in (0.8, 0.3)]
    for densities in ((stats.norm(1), Z), (([1, 4], [0, 1, 2]), ([3, 1], [0, 1, 2])), coins):
        got, expected = (hm.decision_region(*densities, 0.4, m) for m in (loss, "accuracy"))
        assert got.intervals == expected.intervals
        assert got.score == pytest.approx(expected.score - 1, abs=1e-12)


def test_a_custom_ratio_may_equal_f1():
    own = hm.LinearFractional("own", (2, 0, 0, 0), (2, 1, 1, 0))
    got, expected = (hm.decision_region(stats.t(3), Z, 0.2, m) for m in (own, "f1"))
    assert_allclose(got.intervals, expected.intervals, rtol=1e-9)
    assert got.score == pytest.approx(expected.score, abs=1e-12)


def test_a_metric_may_be_an_object():
    got, expected = (hm.decision_region(stats.norm(1), Z, 0.2, m) for m in (hm.FBeta(2), "f2"))
    assert got.intervals == expected.intervals
    assert got.metric == expected.metric == "f2"


@pytest.mark.parametrize("beta", [1e-6, 1e-3, 1e3, 1e6])
def test_extreme_betas(beta):
    region = hm.decision_region(stats.norm(1), Z, 0.2, hm.FBeta(beta))
    best = naive.best_ray(stats.norm(1), Z, 0.2, -40, 40, beta)
    assert region.score == pytest.approx(best, abs=1e-9)


# Regressions.


def test_the_best_region_seen_is_kept():
    region = hm.decision_region(stats.norm(0, 0.3), Z, 1e-4, hm.FBeta(1e-8))
    assert region.score > 3.3e-4


@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [((0, 0, 0, 1), (0, 0, 1, 1)), ((1, 0, 0, 0), (1, 1, 0, 0))],
)
def test_denominators_that_vanish_are_refused(numerator, denominator):
    with pytest.raises(ValueError, match="denominator above 0 whatever is predicted"):
        hm.decision_region(stats.norm(1), Z, 0.3, hm.LinearFractional("x", numerator, denominator))


def test_a_ratio_of_negative_sums_has_the_region_of_positive_ones():
    negated = hm.LinearFractional("j", (-1, 0, 0, 0), (-1, -1, -1, 0))
    found, expected = (
        hm.decision_region(stats.norm(1.5), stats.norm(), 0.2, metric)
        for metric in (negated, "jaccard")
    )
    assert found.intervals == expected.intervals
