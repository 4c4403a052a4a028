"""Expected curves, half-max and label health hold what was computed."""

import numpy as np
import pytest
from display_cases import EXPECTED, HALF, HEALTH, NAMES, SS, YY, S, assert_same, texts, undrawn
from hypothesis import given
from hypothesis import strategies as st

import halfmax as hm
from tests import naive, strategies

pytestmark = pytest.mark.usefixtures("close_figures")

# Expected curves.


@given(st.integers(1, 12).flatmap(strategies.probabilities), st.sampled_from(["f1", "f2"]))
def test_expected_curves_hold_what_is_computed(p, metric):
    with undrawn(EXPECTED):
        d = EXPECTED.from_probabilities(p, metric)
    expected = naive.expected_curve(p, metric)
    np.testing.assert_allclose(d.expected, [float(value) for value in expected], rtol=1e-9)
    found = hm.decide(p, metric)
    assert (d.k, d.half_max_k) == (found.counts[0], found.half_max_counts[0])
    assert d.threshold == found.threshold


def test_limits_of_the_count_and_the_axis():
    d = EXPECTED.from_probabilities(S, max_k=3, log=True)
    assert d.k == 3
    assert d.ax_.get_xscale() == "symlog"
    assert EXPECTED.from_probabilities(S).ax_.get_xscale() == "linear"
    many = EXPECTED.from_probabilities(np.tile(S, 10))
    assert many.ax_.get_xscale() == "symlog"
    drawn = set(many.line_.get_xdata().astype(int).tolist())
    assert {0, many.k, many.half_max_k, 3000} <= drawn
    assert len(drawn) < 1100


def test_few_items_have_whole_ticks():
    ticks = EXPECTED.from_probabilities([0.5, 0.3, 0.2]).ax_.get_xticks()
    assert (ticks == ticks.round()).all()


# Half-max.


def test_half_max_of_all_sources_agree():
    tuned = HALF.from_thresholds(hm.tune(YY, SS, labels=NAMES))
    np.testing.assert_allclose(tuned.half_max, hm.tune(YY, SS).label_scores / 2)
    found = hm.diagnose(YY, SS, labels=NAMES)
    of_diagnosis = HALF.from_diagnosis(found)
    assert_same(of_diagnosis, HALF.from_predictions(YY, SS, labels=NAMES))
    order = [NAMES.index(name) for name in of_diagnosis.labels]
    np.testing.assert_array_equal(of_diagnosis.thresholds, tuned.thresholds[order])
    np.testing.assert_allclose(of_diagnosis.half_max, tuned.half_max[order])
    named = [n for n, f in zip(found.labels, of_diagnosis.miscalibrated, strict=True) if f]
    assert named == found.labels_with("miscalibrated")
    assert named  # logistic scores of another slope are not calibrated


def test_pooled_labels_have_the_rule_of_the_pooled_score():
    t = hm.tune(YY, SS, average="micro")
    np.testing.assert_allclose(HALF.from_thresholds(t).half_max, t.score / 2)


def test_a_saved_file_knows_enough_for_half_max(tmp_path):
    t = hm.tune(YY, SS, metric="f2")
    t.save(tmp_path / "t.json")
    loaded = hm.Thresholds.load(tmp_path / "t.json")
    one, other = map(HALF.from_thresholds, (t, loaded))
    assert_same(one, other)
    assert "F*/5, the threshold if calibrated" in texts(one)


def test_batches_of_a_decision():
    d = hm.decide(SS, average="samples")
    shown = HALF.from_decision(d)
    np.testing.assert_array_equal(shown.half_max, d.half_max_thresholds)
    np.testing.assert_array_equal(shown.support, d.counts)


def test_labels_without_a_threshold_are_counted_not_drawn():
    y = YY.copy()
    y[:, 2] = False
    shown = HALF.from_thresholds(hm.tune(y, SS))
    assert np.isnan(shown.half_max[2])
    assert "1 without a threshold, not shown" in texts(shown)


# Label health.


@given(strategies.many_labels(), st.sampled_from(["macro", "micro"]))
def test_shares_are_those_of_the_predictions(case, average):
    how = {"average": average, "sample_weight": case.w}
    t = hm.tune(case.y, case.s, **how)
    with undrawn(HEALTH):
        d = HEALTH.from_predictions(case.y, case.s, **how)
        assert_same(d, HEALTH.from_thresholds(t))
    weights = naive.exact_weights(case.w, case.rows)
    for j in range(np.shape(case.s)[1]):
        guess = naive.predict(naive.column(naive.numbers(case.s), j), t.thresholds[j])
        rate = sum(
            w for w, y in zip(weights, naive.column(naive.whole(case.y), j), strict=True) if y
        )
        share = sum(w for w, g in zip(weights, guess, strict=True) if g)
        assert d.base_rate[j] == pytest.approx(float(rate / sum(weights)))
        assert d.share[j] == pytest.approx(float(share / sum(weights)), abs=1e-12)


def test_flooding_labels_are_those_of_the_diagnosis():
    rng = np.random.default_rng(0)
    y = rng.random((400, 30)) < np.geomspace(0.005, 0.3, 30)
    names = [f"n{j}" for j in range(30)]
    found = hm.diagnose(y, rng.random(y.shape), labels=names, n_resamples=5)
    shown = HEALTH.from_diagnosis(found)
    flooding = {n for n, f in zip(shown.labels, shown.flooding, strict=True) if f}
    assert flooding == set(found.labels_with("flooding"))
    named = flooding & set(texts(shown))
    assert 2 <= len(named) <= 6
    assert not (set(names) - flooding) & set(texts(shown))
    assert f"{len(flooding)} flooding" in texts(shown)


def test_labels_at_the_edges_have_marks_of_their_own():
    rates, shares = np.array([0.0, 0.2, 0.2, 0.0]), np.array([0.02, 0.0, 0.2, 0.0])
    shown = HEALTH(tuple("abcd"), rates, shares, np.zeros(4, bool), 100).plot()
    assert "1 without positives, predicted" in texts(shown)
    assert "2 never predicted" in texts(shown)
    assert "1 label predicted, not flooding" in texts(shown)
    low = shown.ax_.get_ylim()[0]
    marks = {line.get_marker(): line.get_xydata() for line in shown.ax_.get_lines()}
    assert (marks["v"][:, 1] < 2 * low).all()
    assert (marks["<"][:, 0] < 2 * low).all()
