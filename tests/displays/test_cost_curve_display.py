"""Cost curves hold the mean cost of a row at every threshold, as a positive number."""

import naive
import numpy as np
import pytest
from display_cases import (
    CLASSES,
    COSTS,
    CURVE,
    CV,
    NAMES,
    SS,
    YY,
    S,
    Y,
    assert_same,
    texts,
    undrawn,
)
from hypothesis import given
from hypothesis import strategies as st
from strategies import one_classifier

import halfmax as hm
from halfmax.displays import notebook

pytestmark = [
    pytest.mark.usefixtures("close_figures"),
    pytest.mark.filterwarnings("ignore:.*so errors pay:halfmax.HalfmaxWarning"),
]

OUTCOMES = ("tp", "fp", "fn", "tn")
prices = st.sampled_from([0, 1, 2, 10, 0.5, 0.1, 2.5, -1, -0.3])
AMOUNTS = np.random.default_rng(0).lognormal(3, 1, 300)


def known_scores(case):
    return sorted({x + 0.0 for x in naive.numbers(case.s) if x > -np.inf})


def check(case, d, cost_of):
    """The display holds what `cost_of` says about predictions."""
    assert d.thresholds.tolist() == known_scores(case)
    expected = [float(cost_of(naive.predict(case.s, t))) for t in d.thresholds]
    np.testing.assert_allclose(d.costs, expected, atol=1e-9)
    assert d.none == pytest.approx(float(cost_of([0] * case.rows)), abs=1e-9)
    assert d.everyone == pytest.approx(float(cost_of([1] * case.rows)), abs=1e-9)
    assert d.best_cost == pytest.approx(min([*expected, d.none]), abs=1e-9)
    assert (d.threshold, d.cost) == (d.best_threshold, d.best_cost)


@given(one_classifier(), st.fixed_dictionaries(dict.fromkeys(OUTCOMES, prices)))
def test_one_price_for_each_outcome(case, costs):
    if not known_scores(case):
        return
    with undrawn(COSTS):
        d = COSTS.from_predictions(case.y, case.s, hm.cost(**costs), sample_weight=case.w)
    truth = naive.whole(case.y)

    def cost_of(guess):
        return -naive.metric_value(costs, *naive.confusion(truth, guess, case.w))

    check(case, d, cost_of)
    tuned = hm.tune(case.y, case.s, hm.cost(**costs), sample_weight=case.w)
    assert (d.threshold, d.cost) == (tuned.threshold, -tuned.score)


@given(st.data(), one_classifier())
def test_prices_of_each_row(data, case):
    if not known_scores(case):
        return
    size = {"min_size": case.rows, "max_size": case.rows}
    rows = {name: data.draw(st.lists(prices, **size)) for name in OUTCOMES}
    metric = hm.cost(**{name: np.array(row, float) for name, row in rows.items()})
    with undrawn(COSTS):
        d = COSTS.from_predictions(case.y, case.s, metric, sample_weight=case.w)
    check(case, d, lambda guess: naive.mean_cost_of_rows(case.y, guess, rows, case.w))
    assert d.plug_in is None
    tuned = hm.tune(case.y, case.s, metric, sample_weight=case.w)
    assert d.threshold == tuned.threshold
    assert d.cost == pytest.approx(-tuned.score, abs=1e-12)


def test_equal_prices_of_rows_are_one_price():
    one = COSTS.from_predictions(Y, S, hm.cost(fp=1, fn=4))
    each = COSTS.from_predictions(Y, S, hm.cost(fp=np.ones(300), fn=np.full(300, 4.0)))
    np.testing.assert_allclose(one.costs, each.costs, atol=1e-12)
    assert one.threshold == each.threshold


def test_the_rule_of_calibrated_probabilities_is_shown_where_it_holds():
    d = COSTS.from_predictions(Y, S, hm.cost(fp=1, fn=4))
    assert d.plug_in == pytest.approx(1 / 5)
    assert "fp/(fp + fn) = 0.2" in texts(d)
    assert COSTS.from_predictions(Y, 3 * S, hm.cost(fp=1, fn=4)).plug_in is None
    assert COSTS.from_predictions(Y, S, hm.cost(fp=-1, fn=4)).plug_in is None  # alarms that pay
    assert COSTS.from_predictions(Y, S, hm.cost(fp=2, fn=9, tp=1)).plug_in == pytest.approx(0.2)


def test_predicting_none_and_all_are_reference_lines():
    d = COSTS.from_predictions(Y, S, hm.cost(fp=1, fn=4))
    assert d.none == pytest.approx(4 * Y.mean())
    assert d.everyone == pytest.approx(1 - Y.mean())
    heights = {line.get_ydata()[0] for line in d.chance_level_}
    assert heights == {d.none, d.everyone}
    assert {f"predict none {d.none:.3g}", f"predict all {d.everyone:.3g}"} <= set(texts(d))
    assert d.line_.get_ydata()[0] == d.costs[0]  # below the lowest score
    assert d.line_.get_ydata()[-1] == d.none  # above the highest score


def test_another_threshold_can_be_chosen():
    d = COSTS.from_predictions(Y, S, hm.cost(fp=1, fn=4), threshold=0.5)
    assert d.threshold == 0.5
    assert d.cost == pytest.approx(-hm.score(Y, S >= 0.5, hm.cost(fp=1, fn=4)))
    assert d.best_cost < d.cost
    assert "best" in texts(d)
    none = COSTS.from_predictions(Y, S, hm.cost(fp=1, fn=4), threshold=np.inf)
    assert none.cost == pytest.approx(none.none)


def test_many_rows_are_thinned_and_the_best_is_kept():
    rng = np.random.default_rng(0)
    s = rng.random(20_000)
    y, amounts = rng.random(len(s)) < s, rng.lognormal(size=len(s))
    for metric in (hm.cost(fp=1, fn=4), hm.cost(fp=1, fn=amounts)):
        d = COSTS.from_predictions(y, s, metric)
        assert 1000 < len(d.thresholds) <= 2000
        assert d.costs.min() == pytest.approx(d.best_cost)
        assert d.costs[d.thresholds == d.best_threshold] == pytest.approx(d.best_cost)


def test_folds_of_costs_of_rows():
    metric = hm.cost(fp=5, fn=AMOUNTS)
    d = COSTS.from_cv_results(CV, SS, CLASSES, metric)
    rows = CV["indices"]["test"][1]
    scores = CV["estimator"][1].predict_proba(SS[rows])[:, 1]
    alone = COSTS.from_predictions(
        Y[rows], scores, hm.cost(fp=5, fn=AMOUNTS[rows]), threshold=d.threshold
    )
    np.testing.assert_allclose(d.folds[1].costs, alone.costs)
    assert d.folds[1].cost == pytest.approx(alone.cost)
    every, pooled = np.concatenate(CV["indices"]["test"]), np.empty(300)
    for estimator, test in zip(CV["estimator"], CV["indices"]["test"], strict=True):
        pooled[test] = estimator.predict_proba(SS[test])[:, 1]
    whole = COSTS.from_predictions(Y, pooled, metric)
    assert sorted(every) == list(range(300))
    assert d.threshold == whole.threshold
    np.testing.assert_allclose(d.costs, whole.costs)


def test_thresholds_that_know_their_data_can_be_drawn():
    t = hm.tune(Y, S, hm.cost(fp=1, fn=4), min_precision=0.5)
    d = COSTS.from_thresholds(t)
    assert (d.threshold, d.cost) == (t.threshold, -t.score)
    rows = COSTS.from_thresholds(hm.tune(Y, S, hm.cost(fp=5, fn=AMOUNTS)))
    assert rows.cost == pytest.approx(rows.costs.min())
    many = hm.tune(YY, SS, hm.cost(fp=1, fn=4), labels=NAMES)
    found = COSTS.from_thresholds(many, NAMES[1])
    alone = COSTS.from_predictions(YY[:, 1], SS[:, 1], hm.cost(fp=1, fn=4))
    assert_same(found, alone, but=["label"])


@pytest.mark.parametrize("metric", [hm.cost(fp=1, fn=4), hm.cost(fp=5, fn=AMOUNTS)])
def test_thresholds_of_costs_show_a_cost_curve_in_notebooks(metric):
    assert isinstance(notebook.picture_of(hm.tune(Y, S, metric)), COSTS)
    assert isinstance(notebook.picture_of(hm.tune(Y, S)), CURVE)
    assert "<img" in hm.tune(Y, S, metric)._repr_html_()


def test_large_costs_have_ticks_in_full():
    d = COSTS.from_predictions(Y, S, hm.cost(fp=250_000, fn=4e6))
    d.figure_.draw_without_rendering()
    ticks = [label.get_text() for label in d.ax_.get_yticklabels()]
    assert "200,000" in ticks
    assert not any("e+" in text for text in texts(d) if text.startswith("chosen"))
