"""Guards: thresholds that hold on new data."""

from functools import cache

import naive
import naive_guards
import numpy as np
import pytest
from guard_cases import bands_of, draw, read, uneven_weights
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import expit, logit
from strategies import averages, compiled, forms, many_labels, one_classifier, to_sparse

import halfmax as hm
from halfmax._core import threads
from halfmax._core.limits import changed
from halfmax.metrics.flooding import floods
from halfmax.metrics.goal import Guard
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.tuning.guard import cuts, guards

INF = np.inf
GUARDS = ("auto", "calibrated", "smooth", "never", "fbr")
CALIBRATING = ("auto", "calibrated", "smooth")
F1 = Objective(find_metric("f1"))
fewer = settings(max_examples=max(10, settings().max_examples // 4))
all_guards = st.sampled_from(GUARDS)


def tune(case, guard, average="macro", metric="f1"):
    """Tune, and check that the thresholds reach the score that they report."""
    average = "macro" if guard == "fbr" else average
    t = hm.tune(case.y, case.s, metric, average, sample_weight=case.w, guard=guard)
    assert not np.isnan(t.thresholds).any()
    assert not np.isneginf(t.thresholds).any()
    again = hm.score(case.y, t.predict(case.s), metric, average, case.w)
    assert naive.same(t.score, again)
    return t


# The simple guards, by their definitions.


@given(
    many_labels(kinds=("none", "whole")),
    st.sampled_from(["fbr", "fbr:0.5", "fbr:1.", "fbr:.3", "fbr:0"]),
)
def test_fbr_lifts_low_labels_to_their_highest_score(case, guard):
    floor = 0.1 if guard == "fbr" else float(guard[4:])
    t = hm.tune(case.y, case.s, sample_weight=case.w, guard=guard)
    best = hm.tune(case.y, case.s, sample_weight=case.w)
    for j, threshold in enumerate(t.thresholds):
        reachable = [score for score in naive.column(naive.numbers(case.s), j) if score > -INF]
        low = best.label_scores[j] < floor
        expected = max(reachable, default=INF) if low else best.thresholds[j]
        assert threshold == expected


@given(many_labels(most_rows=16, kinds=("none",)), averages)
def test_never_does_not_predict_labels_that_flood_or_are_uninformative(case, average):
    t = hm.tune(case.y, case.s, average=average, guard="never")
    best = hm.tune(case.y, case.s, average=average)
    silent = naive_guards.uninformative(case.y, case.s)
    for j, threshold in enumerate(t.thresholds):
        flood = naive_guards.floods(best.predicted[j], best.support[j], case.rows)
        assert threshold == (INF if flood or silent[j] else best.thresholds[j])


def test_highest_scores_of_sparse_and_dense():
    s = np.array([[0.5, -INF, -1.0], [0.25, -INF, -INF]])
    for scores in (s, to_sparse(s)):
        assert_array_equal(guards._highest_scores(read(np.zeros((2, 3)), scores)), [0.5, INF, -1.0])


# Every guard, with any input.


@fewer
@given(many_labels(), all_guards, averages, st.sampled_from(["f1", "f2", "jaccard", "accuracy"]))
def test_guards_serve_any_labels(case, guard, average, metric):
    t = tune(case, guard, average, metric)
    if guard == "auto":
        weight = case.rows if case.w is None else case.w.sum()
        assert not floods(t.predicted, t.support, weight).any()


@fewer
@given(one_classifier(), all_guards, st.sampled_from(["f1", "f0.5", "precision", "recall"]))
def test_guards_serve_any_classifier(case, guard, metric):
    tune(case, guard, metric=metric)


@fewer
@given(many_labels(), all_guards, averages, forms)
def test_sparse_scores_and_truth_give_the_same_answer(case, guard, average, form):
    dense = tune(case, guard, average)
    given_ = case._replace(s=to_sparse(case.s, form))
    assert_array_equal(tune(given_, guard, average).thresholds, dense.thresholds)
    stored = given_._replace(y=sparse.csr_array(case.y.astype(np.int8)))
    assert_array_equal(tune(stored, guard, average).thresholds, dense.thresholds)


def edge_cases():
    rng = np.random.default_rng(0)
    y, s = (rng.random((12, 3)) < 0.4).astype(int), rng.standard_normal((12, 3))
    one, unscored = np.zeros_like(y), s.copy()
    one[4, 1] = 1
    unscored[:, 1] = -INF
    y[0] = 1
    candidates = np.where(rng.random(s.shape) < 0.5, s, -INF)
    candidates[:, 1] = -INF
    return {
        "no positives": (0 * y, s),
        "one positive": (one, s),
        "all positive": (0 * y + 1, s),
        "constant": (y, 0 * s + 0.3),
        "one row": (y[:1], s[:1]),
        "one row, no positive": (0 * y[:1], s[:1]),
        "two rows": ([[1, 0, 1], [0, 1, 1]], s[:2]),
        "one label": (y[:, :1], s[:, :1]),
        "a label without scores": (y, unscored),
        "no scores at all": (y, np.full(s.shape, -INF)),
        "huge": (y, s * 1e307),
        "tiny": (y, s * 1e-310),
        "float32": (y, (s * 1e38).astype(np.float32)),
        "sparse with an empty column": (y, to_sparse(candidates)),
        "sparse that stores nothing": (y, sparse.csr_array(s.shape)),
    }


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("name", edge_cases())
def test_guards_serve_edge_cases(name, guard):
    y, s = edge_cases()[name]
    for average in ("macro",) if guard == "fbr" else ("macro", "micro", "samples"):
        for metric in ("f1", "accuracy"):
            t = hm.tune(y, s, metric, average, guard=guard)
            assert not np.isnan(t.thresholds).any()
            assert not np.isneginf(t.thresholds).any()
            again = hm.score(y, t.predict(s), metric, average)
            assert naive.same(t.score, again)
    if not sparse.issparse(s):
        t = hm.tune(np.asarray(y)[:, 0], s[:, 0], guard=guard)
        assert t.threshold > -INF


@pytest.mark.parametrize("guard", CALIBRATING)
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_labels_are_not_predicted_if_no_label_has_positives(guard, average):
    t = hm.tune(np.zeros((5, 2)), np.random.default_rng(0).random((5, 2)), average=average)
    assert_array_equal(t.thresholds, [INF, INF])
    t = hm.tune(np.zeros((5, 2)), np.ones((5, 2)), average=average, guard=guard)
    assert_array_equal(t.thresholds, [INF, INF])


# What must not matter.


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing")
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("guard", GUARDS)
def test_unit_weights_order_of_labels_and_threads_do_not_matter(monkeypatch, guard, average):
    average = "macro" if guard == "fbr" else average
    y, s = draw(4, n=100, n_labels=8)
    first = hm.tune(y, s, average=average, guard=guard)
    order = np.random.default_rng(1).permutation(8)
    again = hm.tune(y, s, average=average, guard=guard, sample_weight=np.ones(100))
    moved = hm.tune(y[:, order], s[:, order], average=average, guard=guard)
    assert_array_equal(first.thresholds, hm.tune(y, s, average=average, guard=guard).thresholds)
    assert_array_equal(first.thresholds, again.thresholds)
    assert_array_equal(first.thresholds[order], moved.thresholds)
    for cores in (1, 3):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        with changed(calibration_block_labels=3):
            threaded = hm.tune(y, s, average=average, guard=guard)
        assert_array_equal(first.thresholds, threaded.thresholds)


@pytest.mark.parametrize("guard", GUARDS)
def test_the_scale_of_weights_does_not_matter(guard):
    y, s = draw(4, n=200, n_labels=8)
    weights = np.random.default_rng(0).integers(1, 4, 200)
    one = hm.tune(y, s, guard=guard, sample_weight=weights)
    for scale in (0.25, 1024.0):
        other = hm.tune(y, s, guard=guard, sample_weight=scale * weights)
        assert_array_equal(one.thresholds, other.thresholds)


@pytest.mark.parametrize("guard", GUARDS)
def test_the_order_of_rows_hardly_matters(guard):
    y, s = draw(5, n=250, n_labels=12)
    order = np.random.default_rng(1).permutation(len(y))
    first = hm.tune(y, s, guard=guard)
    moved = hm.tune(y[order], s[order], guard=guard)
    if guard != "auto":
        assert_array_equal(first.thresholds, moved.thresholds)
    changed = (first.predict(s) != moved.predict(s)).sum()
    assert changed <= 0.15 * first.predicted.sum()
    assert moved.score == pytest.approx(first.score, abs=0.02)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("guard", GUARDS)
def test_predictions_follow_a_change_of_scale(guard, average):
    average = "macro" if guard == "fbr" else average
    y, s = draw(6, n=100, n_labels=8)
    first = hm.tune(y, s, average=average, guard=guard).predict(s)
    for factor, shift in ((4.0, 0.0), (3.0, -2.0)):
        moved = factor * s + shift
        second = hm.tune(y, moved, average=average, guard=guard).predict(moved)
        assert_array_equal(first, second)


@cache
def predicted_before_a_change(guard):
    y, s = draw(7, n=250, n_labels=12)
    return y, s, hm.tune(y, s, guard=guard).predict(s)


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing")
@pytest.mark.parametrize("change", [logit, np.square, np.exp], ids=["logit", "square", "exp"])
@pytest.mark.parametrize("guard", GUARDS)
def test_predictions_follow_a_monotone_change_except_next_to_edges(guard, change):
    # An edge is half way between two positives, which depends on the scale.
    y, s, first = predicted_before_a_change(guard)
    second = hm.tune(y, change(s), guard=guard).predict(change(s))
    if guard in ("never", "fbr"):
        assert_array_equal(first, second)
    share = 0.07 if change is np.square else 0.03
    assert (first != second).sum() <= share * first.sum()


def test_inputs_are_never_changed():
    y, s = draw(8, n=100, n_labels=4)
    weights = np.arange(1.0, 101.0)
    kept = [part.copy() for part in (y, s, weights)]
    for guard in GUARDS:
        hm.tune(y, s, guard=guard, sample_weight=weights)
    for part, before in zip((y, s, weights), kept, strict=True):
        assert_array_equal(part, before)


def test_labels_that_the_prior_is_not_learned_from_are_calibrated_too():
    y, s = draw(9)
    with changed(prior_labels=10):
        t = hm.tune(y, s, guard="auto")
    assert (t.predicted[t.support > 3] > 0).all()
    assert not floods(t.predicted, t.support, len(y)).any()


def few_live(seed, n=600, n_labels=500, n_live=5):
    """Many labels; only the last few have positives."""
    rng = np.random.default_rng(seed)
    y, s = np.zeros((n, n_labels), np.int8), rng.standard_normal((n, n_labels)) - 3.0
    y[:, -n_live:] = rng.random((n, n_live)) < 0.05
    return y, expit(s + 4.0 * y)


@compiled
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_few_labels_with_positives_among_many_are_predicted(average):
    y, s = few_live(0)
    with changed(prior_labels=64):
        t = hm.tune(y, s, average=average, guard="auto")
    assert (t.label_scores[-5:] > 0.5).all()
    assert t.predicted[:-5].mean() < 1.0  # now and then a row looks like a positive


@pytest.mark.parametrize(
    ("n_labels", "n_live", "expected"),
    [(64, 5, 5), (500, 5, 5), (500, 32, 32), (500, 100, 32), (100, 90, 54), (70, 70, 64)],
)
def test_the_prior_is_learned_from_labels_with_positives_first(n_labels, n_live, expected):
    # Half of the sample has positives if enough labels do, and more if there are too few others.
    live = np.arange(n_labels) >= n_labels - n_live
    counted = bands_of(np.full((n_labels, 2), 10.0), np.stack([live, live], axis=1))
    with changed(prior_labels=64):
        some = guards._prior_labels(counted)
    assert_array_equal(some, np.unique(some))
    assert len(some) == min(n_labels, 64)
    assert live[some].sum() == expected


def test_the_common_cut_is_that_of_labels_with_positives():
    rows = np.tile([10.0, 90.0, 900.0], (60, 1))
    positives, model = np.zeros((60, 3)), np.tile([0.05, 0.049, 0.001], (60, 1))
    positives[:3], model[:3] = [8.0, 9.0, 1.0], [0.8, 0.1, 0.001]
    counted, live = bands_of(rows, positives), np.arange(3)
    whole = cuts.plan_cuts(counted, model, INF, F1, None)
    part = cuts.plan_cuts(counted.of_labels(live), model[live], INF, F1, None)
    assert (
        whole.common
        == part.common
        > cuts.common_cut(whole.probabilities, whole.scores, np.zeros(len(whole.scores)))
    )


# Weights.


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing")
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("guard", CALIBRATING)
@pytest.mark.parametrize("kind", uneven_weights(1))
def test_uneven_weights_give_thresholds_and_their_scale_does_not_matter(kind, guard, average):
    y, s = draw(4, n=100, n_labels=5, base=0.2)
    weights = uneven_weights(100)[kind]
    t = hm.tune(y, s, average=average, sample_weight=weights, guard=guard)
    assert not np.isnan(t.thresholds).any()
    for scale in (2.0**-40, 1 / 3):
        other = hm.tune(y, s, average=average, sample_weight=scale * weights, guard=guard)
        assert_array_equal(other.thresholds, t.thresholds)
    some = weights > 0.0
    kept = hm.tune(y[some], s[some], average=average, sample_weight=weights[some], guard=guard)
    assert_array_equal(kept.thresholds, t.thresholds)


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing")
@pytest.mark.parametrize("kind", uneven_weights(1))
def test_uneven_weights_of_one_classifier(kind):
    y, s = (part[:, 0] for part in draw(4, n=300, n_labels=1, base=0.2))
    weights = uneven_weights(300)[kind]
    for guard in GUARDS:
        t = hm.tune(y, s, sample_weight=weights, guard=guard)
        other = hm.tune(y, s, sample_weight=3.0 * weights, guard=guard)
        assert t.threshold == other.threshold


@compiled
def test_rows_without_weight_put_no_label_on_a_scale_of_its_own():
    y, s = draw(0, n=2000)
    weights = (np.random.default_rng(0).random(2000) < 0.1).astype(float)
    some = weights > 0.0
    for guard in CALIBRATING:
        t = hm.tune(y, s, sample_weight=weights, guard=guard)
        assert_array_equal(t.thresholds, hm.tune(y[some], s[some], guard=guard).thresholds)


# One classifier, whatever the average; metrics by another name.


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize("average", ["micro", "samples"])
def test_one_classifier_has_nothing_to_average(average, guard):
    y, s = (part[:, 0] for part in draw(4, n=300, n_labels=1, base=0.2))
    root = hm.Metric("root", lambda tp, fp, *_: np.sqrt(tp / (tp + fp)))
    for metric in ("f1", "accuracy", root, as_metric()):
        macro = hm.tune(y, s, metric, guard=guard)
        t = hm.tune(y, s, metric, average, guard=guard)
        assert t.threshold == macro.threshold
        assert t.score == macro.score


def as_metric():
    return hm.Metric("F", lambda tp, fp, fn, _: 2 * tp / (2 * tp + fp + fn))


@pytest.mark.filterwarnings("ignore:these thresholds predict nothing")
@pytest.mark.parametrize("guard", GUARDS)
def test_f1_by_another_name_gives_the_same_thresholds(guard):
    y, s = draw(4, n=100, n_labels=8)
    named = hm.tune(y, s, guard=guard)
    ratio = hm.LinearFractional("F", (2, 0, 0, 0), (2, 1, 1, 0))
    assert_array_equal(hm.tune(y, s, ratio, guard=guard).thresholds, named.thresholds)
    jaccard = hm.LinearFractional("J", (1, 0, 0, 0), (1, 1, 1, 0))
    own = hm.tune(y, s, "jaccard", guard=guard)
    assert_array_equal(hm.tune(y, s, jaccard, guard=guard).thresholds, own.thresholds)


@compiled
def test_f1_as_any_function_gives_nearly_the_same_predictions():
    # No theorem gives its cut, so the best band is taken, computed at the expected counts.
    y, s = draw(4, n=1000, base=0.1)
    named, any_function = (hm.tune(y, s, m, guard="smooth") for m in ("f1", as_metric()))
    assert (named.thresholds == any_function.thresholds).mean() >= 0.5
    changed = (named.predict(s) != any_function.predict(s)).sum()
    assert changed <= 0.1 * named.predicted.sum()
    assert_allclose(any_function.label_scores, named.label_scores, atol=0.05)


# Labels on their own scale.


def one_odd_scale(seed, n):
    """Ten labels from 0 to 1, and a rare one far below."""
    rng = np.random.default_rng(seed)
    y = (rng.random((n, 11)) < np.append(np.full(10, 0.1), 0.005)).astype(np.int8)
    s = rng.standard_normal((n, 11))
    return y, np.hstack(
        [expit(s[:, :10] + 2.0 * y[:, :10] - 2.0), s[:, 10:] + 4.0 * y[:, 10:] - 10]
    )


@compiled
@pytest.mark.parametrize("seed", [0, 4, 5])
def test_a_label_on_a_scale_of_its_own_is_tuned_on_it(seed):
    (y, s), (new_y, new_s) = one_odd_scale(seed, 20_000), one_odd_scale(seed + 100, 50_000)
    best = hm.score(new_y[:, 10], hm.tune(y, s).predict(new_s)[:, 10])
    for guard in ("auto", "smooth"):
        reached = hm.score(new_y[:, 10], hm.tune(y, s, guard=guard).predict(new_s)[:, 10])
        assert reached >= 0.95 * best


def scales_and_shifts(seed, n, n_labels=20):
    """Every label on a scale of its own, over six powers of ten."""
    known, rng = np.random.default_rng(3), np.random.default_rng(seed)
    rates, apart = known.uniform(0.02, 0.2, n_labels), known.uniform(1.0, 3.0, n_labels)
    scale, shift = 10.0 ** known.uniform(-3.0, 3.0, n_labels), known.normal(0.0, 10.0, n_labels)
    y = (rng.random((n, n_labels)) < rates).astype(np.int8)
    return y, scale * (rng.standard_normal(y.shape) + apart * y + shift)


@compiled
@pytest.mark.parametrize("n", [1000, 5000])
def test_labels_on_any_scales_and_shifts_lose_almost_nothing(n):
    for seed in range(3):
        (y, s), (new_y, new_s) = scales_and_shifts(seed, n), scales_and_shifts(seed + 100, 10_000)
        naive_score = hm.score(new_y, hm.tune(y, s).predict(new_s))
        reached = hm.score(new_y, hm.tune(y, s, guard="auto").predict(new_s))
        assert reached >= 0.97 * naive_score


@pytest.mark.parametrize("guard", CALIBRATING)
def test_labels_that_are_all_on_scales_of_their_own_are_served(monkeypatch, guard):
    y, s = scales_and_shifts(0, 400, 6)
    everyone = np.arange(6)
    monkeypatch.setattr(guards, "on_their_own_scale", lambda *_: everyone)
    t = hm.tune(y, s, guard=guard)
    monkeypatch.setattr(guards, "on_their_own_scale", lambda *_: everyone[:0])
    for j in everyone:  # nothing is learned from others
        alone = guards._own_thresholds(read(y[:, [j]], s[:, [j]]), F1, Guard(guard))
        if guard != "auto":  # the tests of signal allow for the number of labels
            assert t.thresholds[j] == alone[0]
    assert (t.predicted > 0).all()


# Labels without signal.


@compiled
@pytest.mark.parametrize(("n", "base"), [(1000, 0.01), (2000, 0.003), (200, 0.05), (500, 0.1)])
def test_labels_without_signal_do_not_flood_new_rows(n, base):
    rng = np.random.default_rng(0)
    y = (rng.random((n, 500)) < base).astype(np.int8)
    t = hm.tune(y, rng.random(y.shape), guard="auto")
    above = 1.0 - np.minimum(t.thresholds, 1.0)  # of scores spread evenly over 0 to 1
    predicted, positives = rng.binomial(4000, above), rng.binomial(4000, base, 500)
    assert floods(predicted, positives, 4000).mean() <= 0.01


# Much data: a guard loses almost nothing.


def odd_shapes(seed, n, n_labels=10):
    """Scores of five shapes, none of them logistic, on scales that differ ten thousandfold."""
    known, rng = np.random.default_rng(1), np.random.default_rng(seed)
    base, scale = known.uniform(0.05, 0.4, n_labels), 10.0 ** known.uniform(-2, 2, n_labels)
    y = rng.random((n, n_labels)) < base
    s = np.empty(y.shape)
    for j in range(n_labels):
        one = y[:, j]
        s[:, j] = (
            scale[j]
            * (
                rng.standard_t(2, n) + 1.5 * one,
                np.where(one, rng.beta(3, 2, n), rng.beta(1, 3, n)),
                np.where(one & (rng.random(n) < 0.6), rng.normal(4, 0.3, n), rng.normal(0, 1, n)),
                rng.exponential(1, n) * np.where(one, 3, 1),
                rng.normal(0, 1, n) + np.where(one, rng.choice([-1.0, 2.5], n), 0.0),
            )[j % 5]
        )
    return y.astype(np.int8), s


@compiled
@pytest.mark.parametrize("guard", ["auto", "smooth"])
def test_with_much_data_guards_reach_the_optimum_of_the_population(guard):
    (y, s), (new_y, new_s) = odd_shapes(0, 20_000), odd_shapes(1, 50_000)
    best = hm.tune(new_y, new_s)
    naive_score = hm.score(new_y, hm.tune(y, s).predict(new_s))
    predicted = hm.tune(y, s, guard=guard).predict(new_s)
    assert hm.score(new_y, predicted) >= 0.995 * naive_score
    assert hm.score(new_y, predicted) >= 0.99 * best.score
    for j in range(10):
        assert hm.score(new_y[:, j], predicted[:, j]) >= 0.98 * best.label_scores[j]


@compiled
@pytest.mark.parametrize("shape", range(5))
def test_with_much_data_one_classifier_reaches_the_optimum(shape):
    (y, s), (new_y, new_s) = odd_shapes(0, 20_000), odd_shapes(1, 50_000)
    best = hm.tune(new_y[:, shape], new_s[:, shape]).score
    for guard in ("auto", "smooth", "never"):
        t = hm.tune(y[:, shape], s[:, shape], guard=guard)
        assert hm.score(new_y[:, shape], t.predict(new_s[:, shape])) >= 0.985 * best


@compiled
def test_with_little_data_auto_beats_naive_tuning_on_new_rows():
    flooding = 0
    for seed in range(3):
        y, s = draw(10 + seed, n=300, n_labels=100, base=0.01)
        new_y, new_s = draw(20 + seed, n=5000, n_labels=100, base=0.01)
        reached = {g: hm.tune(y, s, guard=g).predict(new_s) for g in (None, "auto", "calibrated")}
        macro = {g: hm.score(new_y, predicted) for g, predicted in reached.items()}
        assert macro["auto"] > 1.05 * macro[None]
        assert macro["calibrated"] > macro[None]
        flooding += floods(reached["auto"].sum(axis=0), new_y.sum(axis=0), 5000).sum()
    assert flooding <= 1  # a rare label had eight positives by luck


# Bad calls.

Y, S = [0, 1, 1], [0.1, 0.5, 0.9]
Y2, S2 = [[0, 1], [1, 0], [1, 1]], [[0.1, 0.5], [0.9, 0.2], [0.3, 0.7]]
ROOT = hm.Metric("root", lambda tp, *_: np.sqrt(tp))
UNKNOWN = r"guard must be None, 'auto' \(recommended\).*'fbr:<F from 0 to 1>' such as 'fbr:0\.2'; "

BAD = [
    ("unknown", {"guard": "best"}, ValueError, UNKNOWN + "got 'best'"),
    ("capitals", {"guard": "Auto"}, ValueError, UNKNOWN + "got 'Auto'"),
    ("a flag", {"guard": True}, ValueError, UNKNOWN + "got True"),
    ("a number", {"guard": 0.2}, ValueError, UNKNOWN + r"got 0\.2"),
    ("a list", {"guard": ["auto"]}, ValueError, UNKNOWN + r"got \['auto'\]"),
    ("empty", {"guard": ""}, ValueError, UNKNOWN + "got ''"),
    ("fbr above 1", {"guard": "fbr:2"}, ValueError, UNKNOWN + "got 'fbr:2'"),
    ("fbr a little above 1", {"guard": "fbr:1.5"}, ValueError, UNKNOWN + r"got 'fbr:1\.5'"),
    ("fbr below 0", {"guard": "fbr:-0.1"}, ValueError, UNKNOWN + r"got 'fbr:-0\.1'"),
    ("fbr of nothing", {"guard": "fbr:"}, ValueError, UNKNOWN + "got 'fbr:'"),
    ("fbr of words", {"guard": "fbr:low"}, ValueError, UNKNOWN + "got 'fbr:low'"),
    ("auto with a parameter", {"guard": "auto:0.1"}, ValueError, UNKNOWN + r"got 'auto:0\.1'"),
    (
        "one threshold for all labels",
        {"guard": "auto", "per_label": False},
        ValueError,
        "guard='auto' needs per_label=True: .*; use guard=None with it",
    ),
    (
        "a floor of precision",
        {"guard": "auto", "min_precision": 0.5},
        ValueError,
        "min_precision=0.5 is guaranteed only on the data you pass.*: use guard=None with it",
    ),
    (
        "a floor of recall",
        {"guard": "never", "min_recall": 0.5},
        ValueError,
        "min_recall=0.5 is guaranteed only on the data you pass.*: use guard=None with it",
    ),
    (
        "a cap on rows",
        {"guard": "never", "max_predicted": 2},
        ValueError,
        "max_predicted=2 is guaranteed only on the data you pass.*: use guard=None with it",
    ),
    (
        "fbr of costs",
        {"guard": "fbr", "metric": hm.cost(fp=1, fn=2)},
        ValueError,
        "guard='fbr' is a rule for metrics from 0 to 1, and .* is a cost: use 'auto'",
    ),
    (
        "fbr of pooled counts",
        {"guard": "fbr", "average": "micro"},
        ValueError,
        "guard='fbr' is a rule for average='macro'; got average='micro': use 'auto'",
    ),
    (
        "fbr of rows",
        {"guard": "fbr:0.2", "average": "samples"},
        ValueError,
        "guard='fbr' is a rule for average='macro'; got average='samples': use 'auto'",
    ),
    (
        "pooled counts of any metric",
        {"guard": "auto", "average": "micro", "metric": ROOT},
        ValueError,
        "guard with average='micro' needs a metric that is a ratio of .*; got 'root'",
    ),
    (
        "a metric that falls",
        {"guard": "auto", "metric": hm.Metric("fall", lambda tp, *_: -tp)},
        ValueError,
        "metric 'fall' falls when a true positive is added",
    ),
]


@pytest.mark.parametrize(
    ("options", "error", "message"), [pytest.param(*case, id=name) for name, *case in BAD]
)
def test_bad_guards_get_a_clear_error(options, error, message):
    with pytest.raises(error, match=message):
        hm.tune(Y2, S2, **options)


def test_one_classifier_refuses_floors_and_ignores_per_label():
    with pytest.raises(ValueError, match="use guard=None with it"):
        hm.tune(Y, S, guard="auto", min_precision=0.5)
    for guard in GUARDS:
        assert hm.tune(Y, S, guard=guard, per_label=False).score >= 0.0


def test_a_metric_without_a_plug_in_threshold_is_served():
    def root(tp, fp, *_):
        return np.sqrt(tp / (tp + fp))

    y, s = draw(11, n=200, n_labels=5)
    for guard in GUARDS:
        t = hm.tune(y, s, hm.Metric("root", root), guard=guard)
        assert not np.isnan(t.thresholds).any()
