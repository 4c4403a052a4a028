"""What displays hold is right, they draw where they are told, and words in them are only words."""

import base64
import inspect
import pickle
import re
import subprocess
import sys
from contextlib import contextmanager
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.multiclass import OneVsRestClassifier

import halfmax as hm
from halfmax._core.labelled import read_labelled
from halfmax.displays import curve_counts, lettering, notebook
from halfmax.displays.assessed_score import AssessedScoreDisplay
from halfmax.displays.base import name_of, plain
from halfmax.displays.decision_region import in_words
from halfmax.displays.style import CURVES, SHADES
from halfmax.displays.winners_curse import log_odds, near_one
from halfmax.metrics.metric import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.words import name_of_rule
from halfmax.staircase.staircase import Staircase
from tests import naive, strategies
from tests.strategies import compiled

mpl.use("agg")
import matplotlib.pyplot as plt

RNG = np.random.default_rng(0)
Y = RNG.random(300) < 0.2
S = 1 / (1 + np.exp(2 - RNG.normal(size=300) - 2 * Y))
NAMES = ["$a_b$ and $x", "<b>hi</b> & \\alpha", "x" * 300, "two\nlines"]
YY = RNG.random((300, 4)) < [0.3, 0.1, 0.05, 0.02]
SS = 1 / (1 + np.exp(-RNG.normal(size=YY.shape) - 2 * YY))
DISPLAYS = [
    hm.ThresholdCurveDisplay,
    hm.ExpectedCurveDisplay,
    hm.HalfMaxDisplay,
    hm.LabelHealthDisplay,
    hm.DecisionRegionDisplay,
    hm.WinnersCurseDisplay,
    AssessedScoreDisplay,
]
MADE = {
    "curve": lambda **how: hm.ThresholdCurveDisplay.from_predictions(Y, S, **how),
    "expected": lambda **how: hm.ExpectedCurveDisplay.from_probabilities(S, **how),
    "half-max": lambda **how: hm.HalfMaxDisplay.from_thresholds(hm.tune(YY, SS), **how),
    "health": lambda **how: hm.LabelHealthDisplay.from_predictions(YY, SS, **how),
    "region": lambda **how: hm.DecisionRegionDisplay.from_densities(
        stats.norm(2), stats.norm(), 0.1, **how
    ),
    "curse": lambda **how: hm.WinnersCurseDisplay.from_simulation(100, (0.1, 0.5), 20, **how),
    "assessed": lambda **how: AssessedScoreDisplay.from_assessment(hm.assess(Y, S), **how),
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def arrays(display):
    return {name: getattr(display, name) for name in display.__dataclass_fields__}


def assert_same(one, other):
    for name, value in arrays(one).items():
        np.testing.assert_equal(getattr(other, name), value, err_msg=name)


@contextmanager
def undrawn(display):
    """Drawing takes longer than computing, and the awkward data below are drawn."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(display, "plot", lambda self, _=None: self)
        yield


def texts(display):
    found = display.figure_.findobj(mpl.text.Text)
    return [text.get_text() for text in found if text.get_text()]


# Threshold curves.


def naive_at(case, threshold, metric, zero_division=0):
    guess = naive.predict(case.s, threshold)
    return float(naive.score(naive.whole(case.y), guess, metric, "macro", case.w, zero_division))


@given(strategies.one_classifier(), strategies.metrics, strategies.zero_divisions)
def test_curves_are_the_metric_at_every_score(case, metric, zero_division):
    known = sorted({x for x in naive.numbers(case.s) if x > -np.inf})
    how = {"sample_weight": case.w, "zero_division": zero_division, "n_resamples": 0}
    if not known:
        with pytest.raises(ValueError, match="must have a finite score"):
            hm.ThresholdCurveDisplay.from_predictions(case.y, case.s, metric, **how)
        return
    with undrawn(hm.ThresholdCurveDisplay):
        d = hm.ThresholdCurveDisplay.from_predictions(case.y, case.s, metric, **how)
    assert d.thresholds.tolist() == known
    for values, name in (
        (d.scores, metric),
        (d.precision, "precision"),
        (d.recall, "recall"),
    ):
        expected = [naive_at(case, t, name, zero_division) for t in known]
        np.testing.assert_allclose(values, expected, atol=1e-9)
    tuned = hm.tune(case.y, case.s, metric, "macro", True, case.w, zero_division=zero_division)
    assert (d.threshold, d.best_threshold) == (tuned.threshold, tuned.threshold)
    assert d.score == d.best_score == tuned.score
    everyone = naive.confusion(naive.whole(case.y), [1] * case.rows, case.w)
    assert d.base_rate == pytest.approx(float(everyone[0] / sum(everyone)))
    value = naive.metric_value(metric, *everyone, Fraction(zero_division))
    assert d.everyone == pytest.approx(float(value))
    assert d.band is None


@given(strategies.one_classifier(kinds=("none",)), st.floats(-2, 2))
def test_any_threshold_can_be_chosen(case, threshold):
    if not (np.asarray(case.s, float) > -np.inf).any():
        return
    how = {"threshold": threshold, "n_resamples": 0}
    with undrawn(hm.ThresholdCurveDisplay):
        d = hm.ThresholdCurveDisplay.from_predictions(case.y, case.s, **how)
    assert d.threshold == threshold
    assert d.score == pytest.approx(naive_at(case, threshold, "f1"))
    assert d.best_score >= d.score - 1e-12


def test_nobody_can_be_chosen():
    d = hm.ThresholdCurveDisplay.from_predictions(Y, S, threshold=np.inf)
    assert (d.threshold, d.score) == (np.inf, 0.0)
    assert any("nobody" in text for text in texts(d))


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "accuracy"])
def test_the_rule_of_calibrated_probabilities_is_shown_where_it_holds(metric):
    d = hm.ThresholdCurveDisplay.from_predictions(Y, S, metric)
    assert d.half_max == pytest.approx(naive.plug_in_threshold(metric, d.best_score))
    assert hm.ThresholdCurveDisplay.from_predictions(Y, 3 * S, metric).half_max is None
    own = hm.Metric("own", lambda tp, fp, fn, _tn: 2 * tp / (2 * tp + fp + fn))
    assert hm.ThresholdCurveDisplay.from_predictions(Y, S, own).half_max is None


def test_many_scores_are_thinned_and_the_best_and_both_ends_are_kept():
    rng = np.random.default_rng(1)
    s = rng.normal(size=20_000)
    y = rng.random(len(s)) < 1 / (1 + np.exp(3 - s))
    d = hm.ThresholdCurveDisplay.from_predictions(y, s, n_resamples=0)
    assert 1000 < len(d.thresholds) <= 2000
    assert {s.min(), s.max(), d.best_threshold} <= set(d.thresholds.tolist())
    assert (np.diff(d.thresholds) > 0).all()
    assert d.scores.max() == d.best_score
    for k in range(0, len(d.thresholds), 199):
        assert d.scores[k] == pytest.approx(hm.score(y, s >= d.thresholds[k]))


def test_the_band_is_that_of_rows_drawn_again():
    rng = np.random.default_rng(3)
    s = rng.random(400).round(2)
    y = rng.random(400) < s
    d = hm.ThresholdCurveDisplay.from_predictions(y, s, level=0.9, n_resamples=4000)
    weights = rng.poisson(1.0, (4000, 400))
    for k in range(0, len(d.thresholds), 9):
        hit, guess = weights @ (y & (s >= d.thresholds[k])), weights @ (s >= d.thresholds[k])
        again = 2 * hit / np.maximum(guess + weights @ y, 1)
        ends = np.quantile(again, (0.05, 0.95))
        np.testing.assert_allclose([d.band[0][k], d.band[1][k]], ends, atol=0.02)


def test_equal_weights_have_the_band_of_repeated_rows_and_none_is_wide():
    objective = Objective(find_metric("f1"))
    half = Y[:100], S[:100]

    def width(weights):
        data = read_labelled(*half, weights)
        stairs = Staircase.of_checked(data, curve_counts.grid_of_scores(data, 0.5))
        rng = np.random.default_rng(0)
        low, high = curve_counts.band(data, stairs, objective, 0.95, 2000, rng)
        return (high - low).mean()

    assert width(np.full(100, 7.0)) == pytest.approx(width(None), rel=0.02)
    uneven = np.where(np.arange(100) % 10 == 0, 10.0, 0.01)
    assert width(uneven) > 1.5 * width(None)


def test_the_same_seed_is_the_same_band():
    one, same, other = (
        hm.ThresholdCurveDisplay.from_predictions(Y, S, seed=seed) for seed in (1, 1, 2)
    )
    assert_same(one, same)
    assert (one.band[0] != other.band[0]).any()


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_label_of_many_is_as_if_it_were_alone(container):
    t = hm.tune(YY, container(SS), labels=NAMES)
    for j, name in enumerate(NAMES):
        alone = hm.ThresholdCurveDisplay.from_predictions(YY[:, j], SS[:, j])
        found = hm.ThresholdCurveDisplay.from_thresholds(t, name)
        by_place = hm.ThresholdCurveDisplay.from_predictions(YY, container(SS), label=j)
        alone.label = found.label = by_place.label
        assert_same(alone, found)
        assert_same(alone, by_place)


def test_thresholds_that_know_their_data_draw_themselves():
    found = hm.ThresholdCurveDisplay.from_thresholds(hm.tune(Y, S, min_precision=0.9))
    assert found.precision[found.thresholds == found.threshold] >= 0.9
    assert found.best_score > found.score  # of all thresholds, without the floor
    assert "best" in texts(found)


def test_estimators_of_one_and_of_many_labels():
    X = RNG.normal(size=(300, 3))
    words_of = np.where(Y, "yes", "no")
    one = LogisticRegression().fit(X, words_of)
    found = hm.ThresholdCurveDisplay.from_estimator(one, X, words_of)
    assert_same(found, hm.ThresholdCurveDisplay.from_predictions(Y, one.predict_proba(X)[:, 1]))
    other = hm.ThresholdCurveDisplay.from_estimator(one, X, words_of, pos_label="no")
    assert other.base_rate == pytest.approx(1 - found.base_rate)
    many = OneVsRestClassifier(LogisticRegression()).fit(X, YY)
    found = hm.ThresholdCurveDisplay.from_estimator(many, X, YY, label=2)
    assert_same(
        found, hm.ThresholdCurveDisplay.from_predictions(YY, many.predict_proba(X), label=2)
    )
    ridge = Ridge().fit(X, Y)
    found = hm.ThresholdCurveDisplay.from_estimator(ridge, X, Y.astype(int))
    assert found.thresholds[-1] == ridge.predict(X).max()


# Expected curves.


@given(st.integers(1, 12).flatmap(strategies.probabilities), st.sampled_from(["f1", "f2"]))
def test_expected_curves_hold_what_is_computed(p, metric):
    with undrawn(hm.ExpectedCurveDisplay):
        d = hm.ExpectedCurveDisplay.from_probabilities(p, metric)
    expected = naive.expected_curve(p, metric)
    np.testing.assert_allclose(d.expected, [float(value) for value in expected], rtol=1e-9)
    found = hm.decide(p, metric)
    assert (d.k, d.half_max_k) == (found.counts[0], found.half_max_counts[0])
    assert d.threshold == found.threshold


def test_limits_of_the_count_and_the_axis():
    d = hm.ExpectedCurveDisplay.from_probabilities(S, max_k=3, log=True)
    assert d.k == 3
    assert d.ax_.get_xscale() == "symlog"
    assert hm.ExpectedCurveDisplay.from_probabilities(S).ax_.get_xscale() == "linear"
    many = hm.ExpectedCurveDisplay.from_probabilities(np.tile(S, 10))
    assert many.ax_.get_xscale() == "symlog"
    drawn = set(many.line_.get_xdata().astype(int).tolist())
    assert {0, many.k, many.half_max_k, 3000} <= drawn
    assert len(drawn) < 1100


# Half-max.


def test_half_max_of_all_sources_agree():
    tuned = hm.HalfMaxDisplay.from_thresholds(hm.tune(YY, SS, labels=NAMES))
    np.testing.assert_allclose(tuned.half_max, hm.tune(YY, SS).label_scores / 2)
    found = hm.diagnose(YY, SS, labels=NAMES)
    of_diagnosis = hm.HalfMaxDisplay.from_diagnosis(found)
    assert_same(of_diagnosis, hm.HalfMaxDisplay.from_predictions(YY, SS, labels=NAMES))
    order = [NAMES.index(name) for name in of_diagnosis.labels]
    np.testing.assert_array_equal(of_diagnosis.thresholds, tuned.thresholds[order])
    np.testing.assert_allclose(of_diagnosis.half_max, tuned.half_max[order])
    named = [n for n, f in zip(found.labels, of_diagnosis.miscalibrated, strict=True) if f]
    assert named == found.labels_with("miscalibrated")
    assert named  # logistic scores of another slope are not calibrated


def test_pooled_labels_have_the_rule_of_the_pooled_score():
    t = hm.tune(YY, SS, average="micro")
    np.testing.assert_allclose(hm.HalfMaxDisplay.from_thresholds(t).half_max, t.score / 2)


def test_a_saved_file_knows_enough_for_half_max(tmp_path):
    t = hm.tune(YY, SS, metric="f2")
    t.save(tmp_path / "t.json")
    loaded = hm.Thresholds.load(tmp_path / "t.json")
    one, other = map(hm.HalfMaxDisplay.from_thresholds, (t, loaded))
    assert_same(one, other)
    assert "F*/5, the threshold if calibrated" in texts(one)


def test_batches_of_a_decision():
    d = hm.decide(SS, average="samples")
    shown = hm.HalfMaxDisplay.from_decision(d)
    np.testing.assert_array_equal(shown.half_max, d.half_max_thresholds)
    np.testing.assert_array_equal(shown.support, d.counts)


def test_labels_without_a_threshold_are_counted_not_drawn():
    y = YY.copy()
    y[:, 2] = False
    shown = hm.HalfMaxDisplay.from_thresholds(hm.tune(y, SS))
    assert np.isnan(shown.half_max[2])
    assert "1 without a threshold, not shown" in texts(shown)


# Label health.


@given(strategies.many_labels(), st.sampled_from(["macro", "micro"]))
def test_shares_are_those_of_the_predictions(case, average):
    how = {"average": average, "sample_weight": case.w}
    t = hm.tune(case.y, case.s, **how)
    with undrawn(hm.LabelHealthDisplay):
        d = hm.LabelHealthDisplay.from_predictions(case.y, case.s, **how)
        assert_same(d, hm.LabelHealthDisplay.from_thresholds(t))
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
    shown = hm.LabelHealthDisplay.from_diagnosis(found)
    flooding = {n for n, f in zip(shown.labels, shown.flooding, strict=True) if f}
    assert flooding == set(found.labels_with("flooding"))
    named = flooding & set(texts(shown))
    assert 2 <= len(named) <= 6
    assert not (set(names) - flooding) & set(texts(shown))
    assert f"{len(flooding)} flooding" in texts(shown)


def test_labels_at_the_edges_have_marks_of_their_own():
    rates, shares = np.array([0.0, 0.2, 0.2, 0.0]), np.array([0.02, 0.0, 0.2, 0.0])
    shown = hm.LabelHealthDisplay(tuple("abcd"), rates, shares, np.zeros(4, bool), 100).plot()
    assert "1 without positives, predicted" in texts(shown)
    assert "2 never predicted" in texts(shown)
    low = shown.ax_.get_ylim()[0]
    marks = {line.get_marker(): line.get_xydata() for line in shown.ax_.get_lines()}
    assert (marks["v"][:, 1] < 2 * low).all()
    assert (marks["<"][:, 0] < 2 * low).all()


# Regions.


def test_a_region_holds_the_curves_of_its_source():
    r = hm.decision_region(stats.norm(1, 2.5), stats.norm(), 0.25, "f2")
    d = hm.DecisionRegionDisplay.from_region(r)
    again = hm.DecisionRegionDisplay.from_densities(stats.norm(1, 2.5), stats.norm(), 0.25, "f2")
    assert_same(d, again)
    inside = r.contains(d.scores)
    np.testing.assert_array_equal(inside, d.odds >= d.cut)
    np.testing.assert_allclose(d.positive, 0.25 * stats.norm(1, 2.5).pdf(d.scores))
    assert d.odds_ax_ in d.figure_.axes


def test_steps_and_single_axes():
    figure, axes = plt.subplots(1, 2)
    bins = hm.DecisionRegionDisplay.from_densities(
        ([1, 2, 5], [0, 100, 200, 300]), ([5, 2, 1], [0, 100, 200, 300]), 0.3, ax=axes[0]
    )
    assert bins.steps
    assert bins.odds_ax_ is None
    assert axes[0].get_xlim() == (0, 300)
    bins.plot(axes, name="both")
    assert (bins.ax_, bins.odds_ax_) == tuple(axes)
    assert bins.figure_ is figure
    counts = hm.DecisionRegionDisplay.from_densities(stats.poisson(6), stats.poisson(2), 0.2)
    assert counts.ax_.get_xlim()[1] < 40
    spike = hm.DecisionRegionDisplay.from_densities(stats.beta(0.5, 0.5), stats.beta(1, 1), 0.2)
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


def made_up_curse():
    fractions = np.random.default_rng(0).random((3, 50)).round(3)
    fractions[0, :10], fractions[-1] = 0.0, 1.0
    return hm.WinnersCurseDisplay(1000, (1e-6, 1e-3, 0.5), fractions)


def test_both_histograms_hold_every_run():
    shown = made_up_curse()
    for bins in (shown.by_fraction(), shown.by_odds()):
        np.testing.assert_allclose(bins.shares.sum(axis=1), 1.0)
    odds = shown.by_odds().shares
    assert (odds[0, 0], odds[-1, -1]) == (0.2, 1.0)  # nothing and everything have bins of their own
    assert not odds[:, [1, -2]].any()


@pytest.mark.parametrize("n", [10, 1000, 10**6, 10**9])
def test_every_fraction_of_n_has_its_place_on_the_axis_of_odds(n):
    inside = log_odds([1 / n, 0.5, (n - 1) / n], n)
    np.testing.assert_allclose(inside, [-np.log10(n - 1), 0.0, np.log10(n - 1)], atol=1e-6)
    low, high = log_odds([0.0, 1.0], n)
    assert low < inside[0] < inside[-1] < high


@pytest.mark.parametrize(
    ("value", "found"),
    [(0.0, "0.0"), (0.0107, "0.011"), (0.1, "0.10"), (0.86, "0.86"), (0.999999, "0.999999")],
)
def test_medians_near_one_are_told_from_one(value, found):
    assert near_one(value) == found


@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_simulations_of_every_size_are_drawn(n):
    d = hm.WinnersCurseDisplay.from_simulation(n, 0.3, 10)
    np.testing.assert_array_equal(d.fractions[0], hm.simulate_winners_curse(n, 0.3, 10))
    d.figure_.draw_without_rendering()
    assert d.axes_.shape == (1, 2)


# Where they are drawn.


@pytest.mark.parametrize("kind", MADE)
def test_axes_of_the_user_are_drawn_on_and_settings_stay(kind):
    with mpl.rc_context({"lines.linewidth": 9, "font.size": 20}):
        before = dict(mpl.rcParams)
        figure, axes = plt.subplots(1, 2)
        drawn = MADE[kind](ax=axes[1])
        assert dict(mpl.rcParams) == before
    assert drawn.ax_ is axes[1]
    assert drawn.figure_ is figure
    assert plt.get_fignums() == [figure.number]
    assert not axes[0].has_data()
    assert drawn.plot(axes[0]) is drawn
    assert drawn.ax_ is axes[0]


@pytest.mark.parametrize("kind", MADE)
def test_new_figures_are_known_to_pyplot_and_in_the_style(kind):
    with mpl.rc_context({"xtick.labelsize": 30, "axes.facecolor": "black"}):
        before = dict(mpl.rcParams)
        drawn = MADE[kind]()
        assert dict(mpl.rcParams) == before
        drawn.figure_.draw_without_rendering()
    assert plt.gcf() is drawn.figure_
    shown = drawn.figure_.axes[-1]
    assert shown.get_facecolor() == (1, 1, 1, 1)
    assert {label.get_size() for label in shown.get_xticklabels()} == {9.0}


@pytest.mark.parametrize("kind", MADE)
def test_a_title_can_be_given(kind):
    assert any(
        "of $mine_1" in text.replace("\\", "") for text in texts(MADE[kind](name="of $mine_1"))
    )


@pytest.mark.parametrize("metric", ["f1", "precision", "recall"])
def test_curves_have_the_colours_that_pages_use_and_are_drawn_once(metric):
    drawn = CURVE.from_predictions(Y, S, metric)
    own = name_of(metric)
    kinds = {own: "score"} | {name: name for name in ("precision", "recall") if name != own}
    curves = [line for line in drawn.ax_.lines if line.get_label() in kinds]
    assert len(curves) == len(kinds)
    for line in curves:
        assert line.get_color() == SHADES[CURVES[kinds[line.get_label()]][0]]


def test_the_line_can_be_styled():
    drawn = hm.ThresholdCurveDisplay.from_predictions(Y, S, color="black", linewidth=7)
    assert (drawn.line_.get_color(), drawn.line_.get_linewidth()) == ("black", 7)


@pytest.mark.parametrize(
    ("kind", "aliases"),
    [
        ("curve", {"c": "black", "lw": 7, "ls": "--", "ds": "default"}),
        ("expected", {"c": "black", "lw": 7, "ls": "--", "ms": 3, "ds": "steps-mid"}),
    ],
)
def test_the_line_takes_the_short_names_of_matplotlib(kind, aliases):
    drawn = MADE[kind](**aliases)
    for alias, value in aliases.items():
        assert mpl.artist.getp(drawn.line_, alias) == value, alias
    same = MADE[kind](color="black", linewidth=7).line_
    assert (same.get_color(), same.get_linewidth()) == ("black", 7)


def test_a_property_given_by_both_its_names_is_refused():
    with pytest.raises(TypeError, match="Got both"):
        MADE["curve"](c="black", color="red")


@pytest.mark.parametrize("kind", MADE)
def test_a_display_is_one_line_when_printed(kind):
    drawn = MADE[kind]()
    shown = repr(drawn)
    assert shown.startswith(f"{type(drawn).__name__}(")
    assert len(shown.splitlines()) == 1
    assert len(shown) < 500
    assert "[" not in shown  # no array in full


def test_what_is_shown_of_a_display():
    d = CURVE.from_predictions([0, 1, 0, 1], [0.1, 0.4, 0.5, 0.8], n_resamples=0)
    assert repr(d) == (
        "ThresholdCurveDisplay(thresholds=<4 array>, scores=<4 array>, precision=<4 array>, "
        "recall=<4 array>, band=None, level=0.95, threshold=0.4, score=0.8, best_threshold=0.4, "
        "best_score=0.8, half_max=0.4, base_rate=0.5, everyone=0.666667, metric='f1', label=None)"
    )


def made_by_subclasses():
    """Every way to make each display: its name, and a call for any class that has it."""
    tuned, decision = hm.tune(YY, SS), hm.decide(SS, average="samples")
    diagnosis, densities = hm.diagnose(YY, SS), (stats.norm(2), stats.norm(), 0.1)
    return {
        CURVE: {
            "from_predictions": lambda cls: cls.from_predictions(Y, S),
            "from_estimator": lambda cls: cls.from_estimator(MODEL, SS, Y),
            "from_thresholds": lambda cls: cls.from_thresholds(hm.tune(Y, S)),
        },
        EXPECTED: {"from_probabilities": lambda cls: cls.from_probabilities(S)},
        HALF: {
            "from_thresholds": lambda cls: cls.from_thresholds(tuned),
            "from_predictions": lambda cls: cls.from_predictions(YY, SS),
            "from_diagnosis": lambda cls: cls.from_diagnosis(diagnosis),
            "from_decision": lambda cls: cls.from_decision(decision),
        },
        HEALTH: {
            "from_thresholds": lambda cls: cls.from_thresholds(tuned),
            "from_predictions": lambda cls: cls.from_predictions(YY, SS),
            "from_diagnosis": lambda cls: cls.from_diagnosis(diagnosis),
        },
        REGION: {
            "from_region": lambda cls: cls.from_region(hm.decision_region(*densities)),
            "from_densities": lambda cls: cls.from_densities(*densities),
        },
        CURSE: {"from_simulation": lambda cls: cls.from_simulation(100, (0.1, 0.5), 20)},
        AssessedScoreDisplay: {
            "from_assessment": lambda cls: cls.from_assessment(hm.assess(Y, S, n_resamples=20))
        },
    }


@pytest.mark.parametrize("display", DISPLAYS)
def test_subclasses_make_their_own_kind(display):
    ways = made_by_subclasses()[display]
    assert set(ways) == {name for name in dir(display) if name.startswith("from_")}
    own = type("Own", (display,), {})
    for name, make in ways.items():
        drawn = make(own)
        assert type(drawn) is own, name
        assert drawn.plot() is drawn
        plt.close("all")


def test_a_drawing_that_fails_leaves_no_figure():
    with pytest.raises(AttributeError):
        hm.ThresholdCurveDisplay.from_predictions(Y, S, no_such_option=1)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", MADE)
def test_without_matplotlib_the_error_says_what_to_install(kind, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'halfmax\[report\]'"):
        MADE[kind]()


def test_importing_displays_loads_no_matplotlib():
    program = (
        "import sys, halfmax as hm, halfmax.displays.notebook\n"
        "[getattr(hm, name) for name in hm.__all__ if name.endswith('Display')]\n"
        "assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


# Words.


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_are_drawn_as_they_are(name):
    t = hm.tune(YY, SS, labels=NAMES)
    d = hm.ThresholdCurveDisplay.from_thresholds(t, name)
    d.figure_.draw_without_rendering()  # mathematics that cannot be parsed would be an error
    assert "\n" not in d.ax_.get_title()
    assert len(d.ax_.get_title()) < 75
    assert not mpl.cbook.is_math_text(d.ax_.get_title())
    flagged = hm.HalfMaxDisplay.from_diagnosis(hm.diagnose(YY, SS, labels=NAMES))
    flagged.figure_.draw_without_rendering()


def test_names_are_cut_and_escaped():
    assert plain("$x$") == r"\$x\$"
    assert plain("a\nb") == r"a\nb"
    assert plain("x" * 100) == "x" * 27 + "…"
    assert plain(7) == "7"


@pytest.mark.parametrize(
    ("metric", "name", "rule"),
    [
        ("f1", "F1", "F*/2"),
        ("f0.5", "F0.5", "F*/1.25"),
        ("jaccard", "Jaccard", "J*/(1 + J*)"),
        ("recall", "recall", "plug-in threshold"),
        ("$mine", r"\$mine", "plug-in threshold"),
    ],
)
def test_metrics_have_names(metric, name, rule):
    assert (name_of(metric), name_of_rule(metric)) == (name, rule)


def test_named_points_do_not_overlap():
    with plt.rc_context():
        figure, ax = plt.subplots()
    rng = np.random.default_rng(0)
    ax.set(xlim=(0, 1), ylim=(0, 1))
    x, y = rng.random(40), 0.5 + 0.02 * rng.random(40)
    written = lettering.name_points(ax, x, y, [f"a label {j}" for j in range(40)], "black", most=9)
    figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == len(written) > 2
    for i, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:i])


@pytest.mark.parametrize("display", DISPLAYS)
def test_every_array_is_documented(display):
    documented = inspect.getdoc(display)
    for name in display.__dataclass_fields__:
        assert name.startswith("_") or re.search(rf"\b{name}\b", documented), name


# Awkward data are drawn without a warning.

ROWS = np.arange(60)
AWKWARD = {
    "one positive": (ROWS == 7, RNG.random(60)),
    "no positives": (np.zeros(60, int), RNG.random(60)),
    "all positive": (np.ones(60, int), RNG.random(60)),
    "constant": (ROWS % 3 == 0, np.full(60, 0.4)),
    "all zero": (ROWS % 3 == 0, np.zeros(60)),
    "log-odds": (ROWS % 3 == 0, RNG.normal(size=60) * 9 - 30),
    "tiny": (ROWS % 3 == 0, 1e-6 * RNG.random(60)),
    "huge": (ROWS % 3 == 0, 1e300 * RNG.random(60)),
    "one row": (np.ones(1, int), np.array([0.3])),
    "-inf": (ROWS % 3 == 0, np.where(ROWS % 2, -np.inf, RNG.random(60))),
}


@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_data_are_drawn(case):
    y, s = AWKWARD[case]
    drawn = [
        hm.ThresholdCurveDisplay.from_predictions(y, s),
        hm.LabelHealthDisplay.from_predictions(y[:, None], s[:, None]),
        AssessedScoreDisplay.from_assessment(hm.assess(y, s, n_resamples=20)),
    ]
    if s.min() >= 0 and s.max() <= 1:
        drawn.append(hm.HalfMaxDisplay.from_thresholds(hm.tune(y, s)))
        drawn.append(hm.ExpectedCurveDisplay.from_probabilities(s))
    for display in drawn:
        display.figure_.draw_without_rendering()


@compiled
def test_thirty_thousand_labels_are_an_image_inside_a_vector_file(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random((100, 26_853)) < 0.02
    drawn = hm.LabelHealthDisplay.from_predictions(y, rng.random(y.shape))
    drawn.figure_.savefig(tmp_path / "health.svg")
    assert (tmp_path / "health.svg").stat().st_size < 500_000


# Notebooks.


def image_in(page):
    found = re.findall(
        r'<img class="halfmax-picture" alt="([^"<>]+)" style="[^"]+" '
        r'src="data:image/png;base64,([^"]+)">',
        page,
    )
    assert page.count("<img") == len(found) == 1
    alt, content = found[0]
    return alt, base64.b64decode(content)


RESULTS = {
    "one classifier": lambda: hm.tune(Y, S),
    "labels": lambda: hm.tune(YY, 5 * SS, labels=NAMES),
    "labels, data unknown": lambda: pickle.loads(pickle.dumps(hm.tune(YY, SS))),
    "assessment": lambda: hm.assess(YY, SS),
    "diagnosis": lambda: hm.diagnose(YY, SS, labels=NAMES),
    "decision": lambda: hm.decide(SS, average="samples"),
    "region": lambda: hm.decision_region(stats.norm(2), stats.norm(), 0.1),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_have_a_small_picture_in_notebooks(kind):
    result = RESULTS[kind]()
    before = dict(mpl.rcParams)
    page = result._repr_html_()
    assert dict(mpl.rcParams) == before
    assert plt.get_fignums() == []
    alt, content = image_in(page)
    assert alt.endswith(".")
    assert content.startswith(b"\x89PNG")
    assert len(page) < 60_000
    assert "<table>" in page


def test_a_diagnosis_lists_its_findings_in_notebooks():
    d = hm.diagnose(YY, 5 * SS, labels=NAMES)
    head, found, rest = re.fullmatch(
        r"<p>([^<]+)</p><ul>(.*?)</ul><p>([^<]+)</p><table>.*", d._repr_html_(), re.S
    ).groups()
    assert head.startswith("Diagnosis of 4 labels on 300 rows: ")
    items = re.findall(r"<li>([\d,]+) <b>([^<]+)</b>: ([^<]+)</li>", found)
    assert {name: int(count) for count, name, _ in items} == {
        k: v for k, v in d.counts.items() if v
    }
    assert rest == "Scores are not probabilities (0 to 1), so calibration is not judged."


@pytest.mark.parametrize(
    "result",
    [
        lambda: pickle.loads(pickle.dumps(hm.tune(Y, S))),
        lambda: pickle.loads(pickle.dumps(hm.tune(YY, 5 * SS))),
        lambda: hm.decide(S),
        lambda: hm.diagnose(Y, S),
    ],
)
def test_where_there_is_nothing_to_see_there_is_no_picture(result):
    assert "<img" not in result()._repr_html_()


def test_without_matplotlib_there_is_no_picture_and_no_error(monkeypatch):
    monkeypatch.setattr(notebook, "find_spec", lambda _: None)
    assert "<img" not in hm.tune(Y, S)._repr_html_()


def test_a_picture_that_fails_does_not_hide_the_result(monkeypatch):
    def fail(_):
        raise OSError("the data are gone")

    monkeypatch.setattr(notebook, "picture_of", fail)
    page = hm.tune(Y, S)._repr_html_()
    assert "<img" not in page
    assert "<table>" in page


def test_a_table_is_not_read_again_for_a_picture():
    import pyarrow as pa

    rows = {"label": ["a", "b"] * 50, "score": RNG.normal(size=100), "truth": [0, 1, 1, 0] * 25}
    rows["instance"] = np.repeat(range(50), 2)
    t = hm.tune_table(pa.table(rows))
    assert "<img" not in t._repr_html_()
    assert hm.LabelHealthDisplay.from_thresholds(t).n_rows == t._tuning.load().total


# Bad input.

TUNED = hm.tune(YY, SS, labels=NAMES)
CURVE, EXPECTED = hm.ThresholdCurveDisplay, hm.ExpectedCurveDisplay
HALF, HEALTH = hm.HalfMaxDisplay, hm.LabelHealthDisplay
REGION, CURSE = hm.DecisionRegionDisplay, hm.WinnersCurseDisplay
MODEL = LogisticRegression().fit(SS, Y)
MODELS = OneVsRestClassifier(LogisticRegression()).fit(SS, YY)
FORGOTTEN = pickle.loads(pickle.dumps(TUNED))
BAD = [
    (lambda: CURVE.from_predictions(YY, SS), ValueError, "label must say which of the 4 labels"),
    (
        lambda: CURVE.from_predictions(YY, SS, label=4),
        ValueError,
        "label must be from 0 to 3; got 4",
    ),
    (lambda: CURVE.from_thresholds(TUNED, "cat"), ValueError, r"label must be .* got 'cat'"),
    (lambda: CURVE.from_thresholds(FORGOTTEN, NAMES[0]), ValueError, "do not know the data"),
    (
        lambda: CURVE.from_thresholds(0.5),
        TypeError,
        "thresholds must be what tune gives; got float",
    ),
    (lambda: CURVE.from_predictions(Y, S, threshold="a"), ValueError, "threshold must be a number"),
    (lambda: CURVE.from_predictions(Y, S, threshold=np.nan), ValueError, "threshold must be a num"),
    (lambda: CURVE.from_predictions(Y, S, threshold=[1, 2]), ValueError, "threshold must be a num"),
    (lambda: CURVE.from_predictions(Y, S, level=95), ValueError, "level must be a number above 0"),
    (lambda: CURVE.from_predictions(Y, S, n_resamples=-1), ValueError, "n_resamples must be"),
    (lambda: CURVE.from_predictions(Y, S, seed=0.5), ValueError, "seed must be a whole number"),
    (lambda: CURVE.from_predictions(Y, S, "F1"), ValueError, "names are in lower case"),
    (lambda: CURVE.from_predictions(Y, S[:3]), ValueError, "must have the same shape"),
    (lambda: CURVE.from_predictions(Y, S, ax=3), TypeError, "ax must be matplotlib Axes"),
    (lambda: CURVE.from_predictions(Y, S, ax=np.array([3])), TypeError, "pass one of them"),
    (lambda: CURVE.from_estimator(None, S[:, None], Y), TypeError, "estimator must be"),
    (lambda: CURVE.from_estimator(MODEL, SS[:-3], Y), ValueError, "297 rows in X and 300 in y"),
    (lambda: CURVE.from_estimator(MODEL, SS, Y[:-3]), ValueError, "300 rows in X and 297 in y"),
    (lambda: CURVE.from_estimator(MODELS, SS[:-3], YY), ValueError, "297 rows in X and 300 in y"),
    (lambda: CURVE.from_estimator(MODELS, SS, YY[:-3]), ValueError, "300 rows in X and 297 in y"),
    (lambda: CURVE.from_estimator(MODEL, SS, None), ValueError, "requires y to be passed"),
    (
        lambda: CURVE.from_estimator(MODEL, SS, Y, sample_weight=[1, 2]),
        ValueError,
        "sample_weight must hold one weight for each of the 300 rows",
    ),
    (lambda: EXPECTED.from_probabilities(S * 3), ValueError, "p must be probabilities"),
    (lambda: EXPECTED.from_probabilities(SS), ValueError, "p must have 1 dimension"),
    (lambda: HALF.from_thresholds(hm.tune(YY, 9 * SS)), ValueError, "scores must be probabilities"),
    (lambda: HALF.from_predictions(YY, 9 * SS), ValueError, "scores must be probabilities"),
    (lambda: HALF.from_thresholds(hm.tune(YY, SS, average="samples")), ValueError, "'samples'"),
    (lambda: HALF.from_thresholds(hm.tune(YY, SS, per_label=False)), ValueError, "per_label=False"),
    (
        lambda: HALF.from_predictions(YY, SS, hm.Metric("own", lambda tp, *_: tp)),
        ValueError,
        "metric must be a ratio",
    ),
    (lambda: HALF.from_diagnosis(TUNED), TypeError, "diagnosis must be what diagnose gives"),
    (lambda: HALF.from_decision(TUNED), TypeError, "decision must be what decide gives"),
    (lambda: HEALTH.from_thresholds(FORGOTTEN), ValueError, "n_rows must be given"),
    (lambda: HEALTH.from_thresholds(FORGOTTEN, 3), ValueError, "n_rows must be the number of rows"),
    (lambda: HEALTH.from_thresholds(FORGOTTEN, "x"), ValueError, "n_rows must be the number"),
    (lambda: HEALTH.from_diagnosis(None), TypeError, "got NoneType"),
    (lambda: HEALTH.from_predictions(YY, SS, guard="x"), ValueError, "guard must be"),
    (lambda: REGION.from_region(None), TypeError, "region must be what decision_region gives"),
    (
        lambda: REGION.from_densities(stats.norm(1), stats.norm(), 2),
        ValueError,
        "base_rate must be",
    ),
    (
        lambda: MADE["region"](ax=plt.subplots(3)[1]),
        ValueError,
        "ax must be one Axes or two, densities and odds; got 3",
    ),
    (lambda: CURSE.from_simulation(0, 0.1, 10), ValueError, "n must be a whole number"),
    (lambda: CURSE.from_simulation(10, (0.1, 2), 10), ValueError, "base_rate must be"),
    (
        lambda: CURSE(10, (0.1, 0.2), np.zeros((3, 5))),
        ValueError,
        "a row of runs for each of the 2",
    ),
    (lambda: CURSE(10, (0.1,), [[3, 4]]), ValueError, "fractions must be from 0 to 1"),
    (
        lambda: MADE["curse"](ax=plt.figure().add_axes((0.1, 0.1, 0.5, 0.5))),
        ValueError,
        "ax must be made by subplots",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_input_is_refused_with_words_that_help(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_thresholds_without_data_can_be_drawn_with_it_or_with_the_number_of_rows():
    shown = HEALTH.from_thresholds(FORGOTTEN, n_rows=300)
    assert_same(shown, HEALTH.from_thresholds(TUNED))
    by_hand = CURVE.from_predictions(YY[:, 0], SS[:, 0], threshold=FORGOTTEN.thresholds[0])
    known = CURVE.from_thresholds(TUNED, NAMES[0])
    known.label = None
    assert_same(by_hand, known)
