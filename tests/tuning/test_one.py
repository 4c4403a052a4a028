"""One classifier: the exact best threshold, against slow twins and full sorts."""

import warnings
from math import inf

import naive
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive_metrics import FORMULAS
from strategies import (
    METRICS,
    Case,
    metrics,
    one_classifier,
    restrictions,
    weights,
    zero_divisions,
)

import halfmax as hm
from halfmax._core.limits import changed, limits
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.metrics.restrictions import Restrictions
from halfmax.tuning.exact import one

pytestmark = pytest.mark.kernels

USERS = {
    "fowlkes-mallows": hm.Metric(
        "fowlkes-mallows", lambda tp, fp, fn, tn: tp / np.sqrt((tp + fp) * (tp + fn)) + 0 * tn
    ),
    "gain": hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1)),
}


def tune(case, metric="f1", zero_division=0.0, **kwargs):
    metric = USERS.get(metric, metric)
    t = hm.tune(case.y, case.s, metric, sample_weight=case.w, zero_division=zero_division, **kwargs)
    reached = hm.score(
        case.y, t.predict(case.s), metric, sample_weight=case.w, zero_division=zero_division
    )
    assert naive.same(t.score, reached)
    return t


@given(one_classifier(), metrics, zero_divisions)
def test_tune_finds_the_best_of_all_thresholds(case, metric, zero_division):
    expected = naive.best_threshold(case.y, case.s, metric, case.w, zero_division)
    got = tune(case, metric, zero_division)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed


@given(one_classifier(), st.sampled_from(sorted(USERS)))
def test_tune_serves_user_metrics(case, name):
    expected = naive.best_threshold(case.y, case.s, name, case.w)
    got = tune(case, name)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed


def reaches_floors(case, guess, zero_division, limits):
    counts = naive.confusion(naive.whole(case.y), naive.whole(guess), case.w)
    return naive.keeps_floors(counts, zero_division, **limits)


@given(one_classifier(kinds=("none", "whole")), metrics, zero_divisions, restrictions())
def test_restrictions_bind(case, metric, zero_division, limits):
    expected = naive.best_threshold(case.y, case.s, metric, case.w, zero_division, **limits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        got = tune(case, metric, zero_division, **limits)
    assert naive.same(got.score, expected.score)
    assert got.threshold in expected.allowed
    kept = reaches_floors(case, got.predict(case.s), zero_division, limits)
    assert [w.category for w in caught] == [
        hm.HalfmaxWarning if not (kept and np.any(case.y)) else hm.OptimismWarning
    ]
    assert kept or got.threshold == inf


@given(one_classifier(kinds=("real",)), metrics, st.sampled_from([0.31, 0.57]))
def test_floors_hold_for_weights_of_any_size(case, metric, floor):
    strict = naive.best_threshold(
        case.y, case.s, metric, case.w, min_precision=floor + 1e-9, min_recall=floor + 1e-9
    )
    assume(strict.threshold < inf)
    got = tune(case, metric, min_precision=floor, min_recall=floor)
    assert got.score >= strict.score - 1e-12
    guess = got.predict(case.s)
    near = {"min_precision": floor - 1e-9, "min_recall": floor - 1e-9}
    assert reaches_floors(case, guess, 0.0, near)


@given(one_classifier(), metrics)
def test_the_table_shows_the_counts_of_the_threshold(case, metric):
    got = tune(case, metric)
    tp, fp, fn, _ = naive.confusion(case.y, naive.predict(case.s, got.threshold), case.w)
    table = got.table()
    assert list(table["threshold"]) == [got.threshold]
    assert naive.same(table["precision"][0], naive.metric_value("precision", tp, fp, fn, 0))
    assert naive.same(table["recall"][0], naive.metric_value("recall", tp, fp, fn, 0))
    assert table["support"][0] == pytest.approx(float(tp + fn), rel=1e-12)
    assert table["predicted"][0] == pytest.approx(float(tp + fp), rel=1e-12)


@given(one_classifier())
def test_predictions_are_scores_at_or_above_the_threshold(case):
    got = tune(case)
    guess = got.predict(case.s)
    assert guess.dtype == np.int8
    assert guess.tolist() == naive.predict(case.s, got.threshold)


@given(one_classifier(kinds=("none", "whole")), metrics, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(case, metric, random):
    order = random.sample(range(case.rows), case.rows)
    shuffled = Case(case.y[order], case.s[order], None if case.w is None else case.w[order])
    assert tune(case, metric).threshold == tune(shuffled, metric).threshold


@given(one_classifier(kinds=("whole",)), metrics)
def test_a_whole_weight_counts_as_that_many_rows(case, metric):
    copies = np.repeat(np.arange(case.rows), np.asarray(case.w, int))
    got, expected = tune(case, metric), tune(Case(case.y[copies], case.s[copies], None), metric)
    assert got.threshold == expected.threshold
    assert naive.same(got.score, expected.score)


@given(one_classifier(kinds=("none", "whole")), metrics, st.data())
def test_an_increasing_change_of_scores_moves_the_threshold_along(case, metric, data):
    old = np.unique(np.asarray(case.s, float))
    old = old[old > -inf] + 0.0
    any_finite = st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0)
    new = sorted(data.draw(st.sets(any_finite, min_size=len(old), max_size=len(old))))
    moved = dict(zip([-inf, *old.tolist(), inf], [-inf, *new, inf], strict=True))
    s = np.array([moved[value] for value in naive.numbers(case.s)])
    got = tune(Case(case.y, s, case.w), metric)
    assert got.threshold == moved[tune(case, metric).threshold]


@given(one_classifier(), metrics)
def test_inputs_of_one_classifier_are_unchanged(case, metric):
    before = [None if part is None else part.tobytes() for part in case]
    tune(case, metric)
    assert before == [None if part is None else part.tobytes() for part in case]


def test_read_only_input_is_accepted():
    y, s, w = np.array([0, 1, 1, 0]), np.array([0.1, 0.4, 0.9, 0.5]), np.ones(4)
    for part in (y, s, w):
        part.setflags(write=False)
    assert tune(Case(y, s, w)).threshold == 0.4


def test_no_negative_zero_is_answered():
    for s in ([-0.0, -1.0], [-0.0, 0.0], [0.0, -0.0]):
        got = hm.tune([1, 0] if s[1] < 0 else [1, 1], s).threshold
        assert (got, np.signbit(got)) == (0.0, False)


@st.composite
def crowds(draw, dtype):
    """More scores than are sorted at once, when that limit is small."""
    size = draw(st.integers(1, 60))
    bits = hnp.arrays(np.int64, size, elements=st.integers(-40, 40), fill=st.nothing())
    places = draw(bits)
    shape = draw(st.sampled_from(["ties", "heavy tails", "narrow", "both signs", "any"]))
    if shape == "ties":
        s = np.round(places / 8.0) / 2.0
    elif shape == "heavy tails":
        s = np.copysign(np.exp2(np.abs(places)), places)
    elif shape == "narrow":
        s = 0.7 + np.abs(places) * np.spacing(np.array(0.7, dtype)).astype(float)
    elif shape == "both signs":
        s = places * np.finfo(dtype).smallest_subnormal
    else:
        width = np.dtype(dtype).itemsize * 8
        finite = st.floats(width=width, allow_nan=False, allow_infinity=False)
        s = draw(hnp.arrays(dtype, size, elements=finite, fill=st.nothing()))
    s = s.astype(dtype)
    if draw(st.booleans()):
        s[draw(hnp.arrays(np.bool_, size))] = -inf
    y = draw(hnp.arrays(np.uint8, size, elements=st.integers(0, 1), fill=st.nothing()))
    return Case(y, s, draw(weights(size)))


def best_step(case, metric, zero_division=0.0, **limits):
    w = np.ones(case.rows, np.int64) if case.w is None else np.asarray(case.w, float)
    objective = Objective(
        find_metric(USERS.get(metric, metric)),
        zero_division,
        Restrictions.ask(**limits),
    )
    whole = one.Whole(objective, w[case.y == 1].sum(), w.sum())
    return one.best_step(one.ScoredRows(case.s, case.y, w), whole)


@st.composite
def small_limits(draw):
    return {
        "sorted_at_once": draw(st.sampled_from([0, 0, 4, 16])),
        "opened_sorted": draw(st.sampled_from([0, 0, 4, 1000])),
        "bucket_sample": draw(st.sampled_from([1, 10, 1000])),
        "few_expected": draw(st.sampled_from([0.0, 4.0])),
        "sample_tails": draw(st.sampled_from([(3,), (100, 20)])),
        "alike_rows": draw(st.sampled_from([1, 3, 1000])),
        "bucket_block_rows": draw(st.sampled_from([1, 7, 1000])),
        "bucket_bits": draw(st.sampled_from([1, 2, 5, 16])),
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@settings(max_examples=4 * settings().max_examples)
@given(st.data(), small_limits(), st.sampled_from([*METRICS, *FORMULAS, "gain"]), zero_divisions)
def test_buckets_find_what_a_full_sort_finds(dtype, data, small, metric, zero_division):
    case = data.draw(crowds(dtype))
    limits = data.draw(restrictions() if data.draw(st.booleans()) else st.just({}))
    expected = naive.best_threshold(case.y, case.s, metric, case.w, zero_division, **limits)
    with changed(**small):
        got = best_step(case, metric, zero_division, **limits)
    at = naive.confusion(case.y, naive.predict(case.s, got.threshold), case.w)
    assert got.true_positives == pytest.approx(float(at[0]), rel=1e-12, abs=1e-12)
    assert got.predicted == pytest.approx(float(at[0] + at[1]), rel=1e-12, abs=1e-12)
    assert naive.same(naive.metric_value(metric, *at, zero_division), expected.score)
    assert got.threshold in expected.allowed


def by_sorting(y, s):
    """The best threshold and F1 of many rows; the highest of equal thresholds wins."""
    order = np.argsort(-s, kind="stable")
    tp, predicted = np.cumsum(y[order]), np.arange(1, len(y) + 1)
    f1 = np.where(np.append(np.diff(s[order]) != 0, True), 2 * tp / (predicted + y.sum()), -1.0)
    return s[order][np.argmax(f1)], f1.max()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "rounded", "cauchy", "narrow", "useless", "tiny"])
def test_many_rows_go_through_buckets(dtype, kind):
    n = limits.sorted_at_once + 5000
    rng = np.random.default_rng(7)
    y = (rng.random(n) < 0.1).astype(np.uint8)
    s = {
        "normal": lambda: rng.normal(size=n) + y,
        "rounded": lambda: np.round(rng.normal(size=n) + y, 2),
        "cauchy": lambda: rng.standard_cauchy(n) + y,
        "narrow": lambda: 1.0 + 1e-6 * (rng.normal(size=n) + y),
        "useless": lambda: rng.random(n),
        "tiny": lambda: 1e-310 * rng.integers(-50, 50, n),
    }[kind]().astype(dtype)
    threshold, f1 = by_sorting(y, s)
    got = tune(Case(y, s, None))
    assert got.threshold == threshold
    assert naive.same(got.score, f1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", ["normal", "uniform", "rounded", "cauchy", "magnitudes"])
def test_a_flat_optimum_sorts_few_rows(monkeypatch, dtype, kind):
    n = 1 << 18
    rng = np.random.default_rng(9)
    y = (rng.random(n) < 0.5).astype(np.uint8)
    s = {
        "normal": lambda: rng.normal(1.5 * y),
        "uniform": lambda: rng.random(n) + 0.5 * y,
        "rounded": lambda: np.round(rng.normal(1.5 * y), 1),
        "cauchy": lambda: rng.standard_cauchy(n) + y,
        "magnitudes": lambda: np.exp(5 * rng.normal(0.5 * y)),
    }[kind]().astype(dtype)
    sorted_rows = [0]
    sort = one._search_sorted

    def search_sorted(rows, whole):
        sorted_rows.append(len(rows.scores))
        return sort(rows, whole)

    monkeypatch.setattr(one, "_search_sorted", search_sorted)
    threshold, f1 = by_sorting(y, s)
    got = tune(Case(y, s, None))
    assert (got.threshold, naive.same(got.score, f1)) == (threshold, True)
    assert sum(sorted_rows) <= n // 64


def test_weighted_rows_go_through_buckets():
    n = limits.sorted_at_once + 5000
    rng = np.random.default_rng(8)
    y = (rng.random(n) < 0.1).astype(np.uint8)
    s = np.round(rng.normal(size=n) + y, 3)
    copies = rng.integers(0, 4, n)
    threshold, f1 = by_sorting(np.repeat(y, copies), np.repeat(s, copies))
    got = tune(Case(y, s, copies))
    assert got.threshold == threshold
    assert naive.same(got.score, f1)


def test_many_rows_that_rank_backwards():
    n = limits.sorted_at_once + 5000
    s = np.linspace(0.0, 1.0, n)
    y = s < 0.1
    assert tune(Case(y, s, None), "accuracy").threshold == inf
    assert tune(Case(y, s, None), "f1").threshold == s.min()


def test_many_rows_whose_positives_weigh_nothing():
    n = limits.sorted_at_once + 5000
    s = np.linspace(0.0, 1.0, n)
    y = np.arange(n) % 10 == 0
    assert tune(Case(y, s, 1.0 - y)).threshold == inf
