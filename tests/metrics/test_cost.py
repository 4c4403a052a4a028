"""Costs: what they score, which threshold has the lowest, and how they are written and read."""

import warnings

import naive
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import many_labels, one_classifier, restrictions, to_sparse

import halfmax as hm
from halfmax.metrics.named import find_metric

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore:.*so errors pay:halfmax.HalfmaxWarning"),
]

prices = st.sampled_from([0, 1, 2, 10, 0.5, 0.1, 2.5, 1.01, -1, -0.3])
costs = st.fixed_dictionaries(dict.fromkeys(("tp", "fp", "fn", "tn"), prices))


def tune(case, metric, **options):
    return hm.tune(case.y, case.s, metric, sample_weight=case.w, **options)


@given(one_classifier(kinds=("none", "whole")), costs)
def test_the_lowest_cost_of_one_classifier_is_found(case, prices):
    expected = naive.best_threshold(case.y, case.s, prices, case.w)
    got = tune(case, hm.cost(**prices))
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed
    assert naive.same(got.table()["cost"][0], -expected.score)


@given(many_labels(kinds=("none", "whole")), costs, st.booleans())
def test_the_lowest_cost_of_each_label_is_found(case, prices, is_sparse):
    expected = naive.best_each_label(case.y, case.s, prices, case.w)
    given_ = case._replace(s=to_sparse(case.s)) if is_sparse else case
    got = tune(given_, hm.cost(**prices))
    assert naive.same(got.score, sum(best.score for best in expected) / len(expected))
    for threshold, best in zip(got.thresholds, expected, strict=True):
        assert threshold in best.allowed


@pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")
@given(one_classifier(kinds=("none", "whole")), costs, restrictions())
def test_restrictions_bind_costs_too(case, prices, limits):
    expected = naive.best_threshold(case.y, case.s, prices, case.w, 0, **limits)
    got = tune(case, hm.cost(**prices), **limits)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed


@pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning")
@given(st.data(), one_classifier(kinds=("none", "whole")), restrictions())
def test_the_lowest_cost_of_rows_that_differ_is_found(data, case, limits):
    rows = {
        name: data.draw(st.lists(prices, min_size=case.rows, max_size=case.rows))
        for name in ("tp", "fp", "fn", "tn")
    }
    metric = hm.cost(**{name: np.array(row, float) for name, row in rows.items()})
    limits = data.draw(st.sampled_from([{}, limits]))
    expected = naive.best_threshold_of_rows(case.y, case.s, rows, case.w, **limits)
    got = tune(case, metric, **limits)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed
    again = hm.score(case.y, got.predict(case.s), metric, sample_weight=case.w)
    assert naive.same(again, expected.score)


@given(one_classifier(kinds=("none", "whole")), costs)
def test_equal_costs_of_all_rows_are_one_cost(case, prices):
    arrays = {name: np.full(case.rows, float(price)) for name, price in prices.items()}
    one, each = tune(case, hm.cost(**prices)), tune(case, hm.cost(**arrays))
    assert naive.same(one.score, each.score)


@pytest.mark.parametrize(("fp", "fn"), [(1, 1), (1, 10), (5, 1), (1, 99)])
def test_calibrated_probabilities_are_cut_where_elkan_says(fp, fn):
    rng = np.random.default_rng(0)
    p = rng.random(400_000) ** 2
    y = rng.random(len(p)) < p
    metric = hm.cost(fp=fp, fn=fn)
    t = hm.tune(y, p, metric)
    assert float(metric.plug_in(t.score)) == pytest.approx(fp / (fp + fn), rel=1e-12)
    assert t.threshold == pytest.approx(fp / (fp + fn), abs=0.02)
    assert t.plug_in[0] == pytest.approx(fp / (fp + fn), rel=1e-12)
    paid = np.where(y, fn * (p < t.threshold), fp * (p >= t.threshold))
    assert -t.score == pytest.approx(paid.mean())


def test_the_plug_in_threshold_counts_all_four_costs():
    metric = hm.cost(fp=3, fn=10, tp=2, tn=1)
    assert float(metric.plug_in(0.0)) == pytest.approx((3 - 1) / ((3 - 1) + (10 - 2)))


def test_the_score_is_minus_the_mean_cost():
    y, guess = [0, 0, 1, 1, 1], [0, 1, 1, 0, 0]
    assert hm.score(y, guess, hm.cost(fp=1, fn=10)) == -(1 + 2 * 10) / 5
    amounts = np.array([1.0, 20.0, 3.0, 40.0, 5.0])
    assert hm.score(y, guess, hm.cost(fp=2, fn=amounts)) == -(2 + 45) / 5
    weights = [1, 1, 1, 1, 0]
    assert hm.score(y, guess, hm.cost(fp=2, fn=amounts), sample_weight=weights) == -(2 + 40) / 4


@given(costs)
def test_the_name_of_a_cost_makes_it_again(prices):
    metric = hm.cost(**prices)
    again = find_metric(metric.name)
    assert again.name == metric.name == repr(metric)
    assert again.costs == metric.costs
    assert again.parts == metric.parts


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_any_price_is_kept_to_the_last_digit(fp, fn):
    assert find_metric(hm.cost(fp=fp, fn=fn).name).costs == hm.cost(fp=fp, fn=fn).costs


def test_names_may_be_written_with_spaces():
    assert find_metric("cost( fp = 1 , fn=1e1 )").name == "cost(fp=1, fn=10)"


def test_decimal_prices_do_not_break_ties():
    y, s = [1, 0, 0, 0, 1], [0.9, 0.8, 0.7, 0.6, 0.5]  # three false alarms at 0.1, or a miss of 0.3
    assert hm.tune(y, s, hm.cost(fp=0.1, fn=0.3)).threshold == 0.9


def test_costs_are_averaged_like_any_metric():
    rng = np.random.default_rng(0)
    y, s = rng.random((50, 3)) < 0.3, rng.random((50, 3))
    metric = hm.cost(fp=1, fn=5)
    for average in ("macro", "micro", "samples", "weighted"):
        t = hm.tune(y, s, metric, average)
        assert t.score == pytest.approx(hm.score(y, t.predict(s), metric, average), rel=1e-12)
    pooled, each = hm.tune(y, s, metric, "micro"), hm.tune(y, s, metric)
    assert pooled.score == pytest.approx(each.score)  # a sum of costs has nothing to trade


def test_thresholds_show_the_cost_itself(tmp_path):
    rng = np.random.default_rng(0)
    y, s = rng.random(100) < 0.3, rng.random(100)
    t = hm.tune(y, s, hm.cost(fp=1, fn=10))
    assert f"mean cost(fp=1, fn=10) = {-t.score:.4g} (calibrated probabilities would be" in repr(t)
    assert list(t.table()["cost"]) == [-t.score]
    t.save(tmp_path / "t.json")
    loaded = hm.Thresholds.load(tmp_path / "t.json")
    assert (loaded.metric, loaded.score) == ("cost(fp=1, fn=10)", t.score)
    assert loaded.plug_in[0] == t.plug_in[0]


def nothing(**costs):
    return lambda: hm.cost(**costs)


def tuned(metric, y=(0, 1, 1), s=(0.1, 0.2, 0.3), **options):
    return lambda: hm.tune(y, s, metric, **options)


BAD = [
    ("text", nothing(fp="one", fn=1), TypeError, "fp must be a number, or one number for each row"),
    ("a matrix", nothing(fp=[[1]], fn=1), ValueError, r"fp must be .*got shape \(1, 1\)"),
    ("no rows", nothing(fp=[], fn=1), ValueError, r"fp must be .*got shape \(0,\)"),
    ("NaN", nothing(fp=float("nan"), fn=1), ValueError, "fp must be finite.*fp is nan"),
    ("infinite", nothing(fn=[1, np.inf], fp=1), ValueError, r"fn must be finite.*fn\[1\] is inf"),
    (
        "two lengths",
        nothing(fp=[1, 2], fn=[1]),
        ValueError,
        "of one length; got 2 for fp, 1 for fn",
    ),
    ("no fn", nothing(fp=1), TypeError, "fn"),
    ("other rows", tuned(hm.cost(fp=[1, 2], fn=1)), ValueError, "each of the 3 rows; got 2"),
    (
        "labels",
        tuned(hm.cost(fp=[1, 2], fn=1), np.eye(2, dtype=int), np.eye(2)),
        ValueError,
        r"costs for each row, which is for one classifier: .*such as cost\(fp=1, fn=10\)",
    ),
    (
        "a guard",
        tuned(hm.cost(fp=[1, 2, 3], fn=1), guard="auto"),
        ValueError,
        "costs for each row, and guards count rows: use guard=None with it",
    ),
    (
        "diagnose",
        lambda: hm.diagnose([0, 1], [0.1, 0.2], hm.cost(fp=[1, 2], fn=1)),
        ValueError,
        "which counts cannot show: it serves tune, score and assess",
    ),
    ("a name without fn", tuned("cost(fp=1)"), ValueError, "must name the costs of fp and fn"),
    ("a name twice", tuned("cost(fp=1, fn=2, fp=3)"), ValueError, "each once, such as fp=1,fn=10"),
    ("another name", tuned("cost(fp=1, fn=2, x=3)"), ValueError, "got 'fp=1, fn=2, x=3'"),
    (
        "decide",
        lambda: hm.decide([0.5], hm.cost(fp=1, fn=9)),
        ValueError,
        "for these costs, predict where the probability is at least 0.1",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*case, id=name) for name, *case in BAD]
)
def test_bad_costs_get_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_costs_of_other_rows_are_refused():
    y = pd.Series([0, 1, 1, 0], index=[3, 4, 5, 6])
    p = pd.Series([0.1, 0.9, 0.8, 0.3], index=y.index)
    amount = pd.Series([1.0, 2.0, 3.0, 4.0], index=[7, 8, 9, 10])
    for call in (
        lambda fn: hm.tune(y, p, hm.cost(fp=1, fn=fn)),
        lambda fn: hm.assess(y, p, hm.cost(fp=1, fn=fn)),
        lambda fn: hm.score(y, y, hm.cost(fp=1, fn=fn)),
    ):
        with pytest.raises(ValueError, match="y_true and fn must hold the same rows"):
            call(amount)
        with pytest.raises(ValueError, match="must be in the same order"):
            call(amount.set_axis(y.index[::-1]))
        call(amount.set_axis(y.index))
        call(amount.to_numpy())


def test_costs_are_attributes_if_costs_were_minimised():
    y, p = np.repeat([0, 1], 30), np.linspace(0, 1, 60) ** 2
    p[40] = 0.0
    a = hm.assess(y, p, hm.cost(fp=1, fn=5), n_resamples=20)
    assert (a.cost, a.expected_cost) == (-a.score, -a.expected_score)
    assert a.cost_interval == (-a.score_interval[1], -a.score_interval[0])
    assert a.thresholds.cost == -a.thresholds.score > 0
    f1 = hm.assess(y, p, n_resamples=20)
    for value in (lambda: f1.cost, lambda: f1.cost_interval, lambda: f1.thresholds.cost):
        with pytest.raises(AttributeError, match="if costs were minimised; the metric is 'f1'"):
            value()


def test_prices_decide_how_many_rows_are_too_many():
    rng = np.random.default_rng(0)
    y = rng.random(1000) < 0.01
    p = rng.random(1000) + 0.5 * y
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hm.tune(y, p, hm.cost(fp=1, fn=500)).predicted[0] > 300


def test_a_threshold_that_predicts_nothing_says_why():
    y, p = np.repeat([0, 1], 30), np.linspace(1, 0, 60)
    with pytest.warns(hm.HalfmaxWarning, match="no threshold costs less than that; check that hig"):
        hm.tune(y, p, hm.cost(fp=10, fn=1))
    with pytest.warns(hm.HalfmaxWarning, match="no threshold scores more than that; check that h"):
        hm.tune(y, p, "mcc")


@pytest.mark.parametrize(
    ("prices", "wrong"),
    [
        ({"fp": 5, "fn": -80}, "fn=-80 costs less than tp=0, so errors pay"),
        ({"fp": -5, "fn": 80}, "fp=-5 costs less than tn=0, so errors pay"),
        ({"fp": 5, "fn": [-80, -20]}, "fn costs less than tp=0, so errors pay"),
        ({"fp": 5, "fn": 80, "tp": -20}, None),
        ({"fp": 5, "fn": 1, "tp": 5}, None),
        ({"fp": 5, "fn": [-80, 20]}, None),
        ({"fp": 0, "fn": 0}, None),
    ],
)
def test_prices_with_the_wrong_sign_are_questioned(prices, wrong):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        hm.cost(**prices)
        find_metric("cost(fp=5, fn=-80)")  # as it is read from a file
    assert [str(w.message)[: len(wrong or "")] for w in caught] == ([wrong] if wrong else [])


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing:halfmax.HalfmaxWarning")
def test_a_mean_cost_of_nothing_is_0_and_not_minus_0():
    assert "= 0 (" in repr(hm.tune([0, 1] * 20, range(40), hm.cost(fp=5, fn=0)))
