"""What new data will show: the law of the replicates, left-out positives, intervals, edges."""

import io
import sys

import naive
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import LIKELY, chance_of_equal_laws
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from strategies import at_most, compiled, forms, many_labels, metrics, one_classifier, to_sparse

import halfmax as hm
from halfmax._core import labelled, threads
from halfmax.honesty import assess, cross_fit, on_staircase, weighted_rows
from halfmax.honesty.case import Draws
from halfmax.metrics.goal import Goal
from halfmax.metrics.metric import FBeta, find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase import bootstrap, leave_one_out
from halfmax.staircase.staircase import NO_STEP
from halfmax.tuning import tune

pytestmark = pytest.mark.kernels

INF = np.inf
UNWEIGHTED = ("none",)


def binary(n, base_rate, distance, seed=0, decimals=None):
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < base_rate).astype(np.int8)
    s = rng.standard_normal(n) + distance * y
    return y, s if decimals is None else np.round(s, decimals)


def draw(y, s, runs, seed=1, metric="f1"):
    """Thresholds and scores of replicates of one classifier."""
    stairs = hm.Staircase.of(y, s)
    steps = bootstrap.Steps.of(stairs, np.array([0]))
    rng = np.random.default_rng(seed)
    step, worth = bootstrap.resample(steps, Objective(find_metric(metric)), runs, rng)
    thresholds = np.where(step == NO_STEP, INF, stairs.thresholds[step])
    return thresholds[:, 0], worth[:, 0]


# The law of the replicates.


CASES = {
    "few": ([1, 0, 1, 0, 0, 1], [0.9, 0.8, 0.4, 0.3, 0.2, 0.1]),
    "ties": ([1, 0, 1, 0, 0, 1, 1, 0], [0.9, 0.9, 0.4, 0.4, 0.4, 0.4, 0.1, 0.0]),
    "never predicted": ([1, 1, 0, 1, 0], [0.9, -INF, 0.5, 0.3, -INF]),
    "one positive": ([0, 1, 0], [0.9, 0.5, 0.1]),
    "all positive": ([1, 1, 1], [0.9, 0.5, 0.1]),
    "constant": ([1, 0, 0, 1], [0.5] * 4),
    "many steps": binary(600, 0.4, 1.0),
    "rounded": binary(800, 0.2, 1.0, decimals=1),
}


@pytest.mark.parametrize("metric", ["f1", "jaccard", "accuracy"])
@pytest.mark.parametrize("name", CASES)
def test_replicates_have_the_law_of_rows_drawn_again(name, metric):
    y, s = CASES[name]
    thresholds, scores = draw(y, s, 4000, metric=metric)
    expected_thresholds, expected_scores = naive.resampled(y, s, 4000, seed=2, metric=metric)
    for ours, theirs in ((thresholds, expected_thresholds), (scores, expected_scores)):
        finite = [np.where(np.isinf(x), 99.0, x) for x in (ours, theirs)]
        assert chance_of_equal_laws(*finite) > LIKELY


@pytest.mark.parametrize("blocks", [1, 2, 7])
def test_the_law_does_not_depend_on_the_blocks(monkeypatch, blocks):
    y, s = CASES["many steps"]
    expected = naive.resampled(y, s, 3000, seed=3)
    monkeypatch.setattr(bootstrap, "FIRST_BLOCKS", blocks)
    for ours, theirs in zip(draw(y, s, 3000), expected, strict=True):
        assert stats.ks_2samp(ours, theirs).pvalue > LIKELY


class AsOften:
    """Instead of a generator: every row is drawn exactly once."""

    def poisson(self, mean, size):
        return np.broadcast_to(mean, size).astype(np.int64)

    def binomial(self, n, p):
        return np.rint(n * p).astype(np.int64)


@given(many_labels(kinds=UNWEIGHTED, most_rows=9), metrics, st.sampled_from([1, 2, 64]))
def test_rows_drawn_once_each_choose_what_tune_chooses(case, metric, blocks):
    stairs = hm.Staircase.of(case.y, case.s)
    labels = np.flatnonzero(np.diff(stairs.grid.offsets))
    if not len(labels):
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap, "FIRST_BLOCKS", blocks)
        steps = bootstrap.Steps.of(stairs, labels)
        step, worth = bootstrap.resample(steps, Objective(find_metric(metric)), 2, AsOften())
    tuned = hm.tune(case.y, case.s, metric)
    found = np.where(step == NO_STEP, INF, stairs.thresholds[stairs.grid.offsets[labels] + step])
    assert_array_equal(found, [tuned.thresholds[labels]] * 2)
    assert_allclose(worth, [tuned.label_scores[labels]] * 2, atol=1e-12)


# Left-out positives and negatives.


@given(one_classifier(most_rows=9, kinds=UNWEIGHTED), st.sampled_from(["f1", "f2", "jaccard"]))
def test_left_out_positives_are_caught_as_if_tuned_without_them(case, metric):
    stairs = hm.Staircase.of(case.y, case.s)
    chosen = leave_one_out.chosen_without_positive(stairs, Objective(find_metric(metric)))
    caught = stairs.rises(stairs.true_positives)[chosen >= np.arange(len(chosen))]
    assert caught.sum() == sum(naive.caught_unseen(case.y, case.s, metric))


@given(many_labels(most_rows=9), st.sampled_from(["f1", "f2", "jaccard", "accuracy"]))
def test_left_out_positives_of_unequal_weight_are_caught_as_if_tuned_without_them(case, metric):
    weights = np.random.default_rng(0).uniform(0.1, 3.0, len(case.y))
    data = labelled.read_labelled(case.y, case.s, weights)
    stairs = hm.Staircase.of_checked(data)
    rows = weighted_rows.Units(1.0, 1.0).uneven(data, stairs.grid)
    chosen = leave_one_out.chosen_without_each(stairs, Objective(find_metric(metric)), rows)
    caught = np.bincount(
        stairs.grid.columns[rows.step], rows.size * (chosen >= rows.step), stairs.n_labels
    )
    scores = np.asarray(data.scores)
    expected = np.zeros(stairs.n_labels)
    for i, j in np.argwhere(np.asarray(case.y) == 1):
        rest = np.delete(np.arange(len(case.y)), i)
        threshold = INF
        if len(rest):
            one = np.asarray(case.y)[rest, j], scores[rest, j]
            threshold = hm.tune(*one, metric, sample_weight=weights[rest]).threshold
        expected[j] += weights[i] * (-INF < scores[i, j] >= threshold)
    assert_allclose(caught, expected, atol=1e-12)


@given(one_classifier(most_rows=9, kinds=UNWEIGHTED), st.sampled_from([0.3, 0.7, 1.1]))
def test_left_out_rows_of_pooled_counts(case, cut):
    y, s = naive.whole(case.y), naive.numbers(case.s)
    stairs = hm.Staircase.of(case.y, case.s)

    def worth(tp, predicted, positives, _):
        return np.broadcast_to(2.0 * np.asarray(tp) - cut * np.asarray(predicted), positives.shape)

    for positive, chosen, counts in (
        (1, leave_one_out.chosen_without_positive(stairs, worth), stairs.true_positives),
        (
            0,
            leave_one_out.chosen_without_negative(stairs, worth),
            stairs.predicted - stairs.true_positives,
        ),
    ):
        caught = 0
        for i in range(len(y)):
            if y[i] == positive and s[i] != -INF:
                rest = y[:i] + y[i + 1 :], s[:i] + s[i + 1 :]
                caught += s[i] >= naive.linear_choice(*rest, 2.0, -cut)
        kept = stairs.rises(counts)[chosen >= np.arange(len(chosen))]
        assert kept.sum() == caught


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard", "precision", "recall"])
def test_what_a_hit_adds_is_an_expectation(metric):
    y = np.array([[1, 1, 0, 1], [1, 0, 0, 1], [1, 1, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0]])
    s = np.array([[9, 8, 1, 5], [5, 7, 2, 4], [4, 3, 3, 6], [6, 2, 4, 9], [3, 9, 5, 8]])
    stairs = hm.Staircase.of(y, s)
    ratio = find_metric(metric)
    law = leave_one_out._law_of_frequencies(stairs.positives)
    step = np.arange(len(stairs.true_positives))
    found = leave_one_out._expected_of_hits(stairs, ratio, law, stairs.grid.columns, step)
    (gain, *_), (*weights, _) = ratio.parts
    for k, j in zip(step, stairs.grid.columns, strict=True):
        tp, predicted = stairs.true_positives[k], stairs.predicted[k]
        expected = naive.expected_of_hit(weights, stairs.positives[j], tp, predicted - tp, law)
        assert found[k] == pytest.approx(gain * expected, rel=1e-5)


@pytest.mark.parametrize("metric", ["f1", "f2", "jaccard"])
def test_what_a_hit_of_any_weight_adds_is_an_expectation(metric):
    rng, ratio, size = np.random.default_rng(0), find_metric(metric), 0.4
    stairs = hm.Staircase.of([1, 1, 0, 1, 0, 0], [6, 5, 4, 3, 2, 1])
    sizes, law = (np.array([0.2, 1.0, 2.5]), np.array([0.5, 3.0])), (4.0, 1.5)
    place = np.array([0]), np.array([2])
    found = leave_one_out._expected_of_hits(stairs, ratio, law, *place, np.full(1, size), sizes)
    runs = 200_000
    others = rng.poisson(rng.gamma(law[0] + 3, 1 / (law[1] + 1), runs))
    hit = rng.binomial(others, 3 / 4)
    false = rng.negative_binomial(1, 0.5, runs)
    tp, fn, fp = (
        np.array([rng.choice(of, k).sum() for k in number])
        for number, of in ((hit, sizes[0]), (others - hit, sizes[0]), (false, sizes[1]))
    )
    values = ratio(size + tp, fp, fn, 0 * fp) * size / (size + tp)
    assert found[0] == pytest.approx(values.mean(), abs=5 * values.std() / np.sqrt(runs))


def test_the_law_of_frequencies_is_the_likeliest():
    rng = np.random.default_rng(0)
    counts = rng.poisson(rng.gamma(0.7, 5.0, 3000))
    shape, rate = leave_one_out._law_of_frequencies(counts)
    assert shape == pytest.approx(0.7, rel=0.1)
    assert shape / rate == pytest.approx(counts.mean())

    def likely(shape):
        return stats.nbinom.logpmf(counts, shape, 1 / (1 + counts.mean() / shape)).sum()

    assert likely(shape) > max(likely(0.9 * shape), likely(1.1 * shape))
    assert leave_one_out._law_of_frequencies(np.array([7]))[0] > 1e5  # nothing varies


def test_a_single_positive_cannot_be_judged_and_two_can():
    one = hm.assess([0, 1, 0, 0], [0.1, 0.9, 0.3, 0.2])
    assert (one.score, one.expected_score) == (1.0, 0.0)
    two = hm.assess([0, 1, 0, 1], [0.1, 0.9, 0.3, 0.8])
    assert 0 < two.expected_score < 1


GAIN = hm.Metric("gain", lambda tp, fp, _fn, _tn: tp - fp)


@pytest.mark.parametrize("metric", ["accuracy", GAIN])
def test_metrics_that_are_no_share_of_hits_are_served_too(metric):
    y, s = binary(40, 0.3, 1.0)
    a = hm.assess(y, s, metric, n_resamples=50)
    low, high = a.score_interval
    assert low <= a.expected_score <= min(high, a.score)


# The whole.


def check(a, n_resamples, guarded=False):
    low, high = a.score_interval
    assert low <= a.expected_score <= high
    assert guarded or a.expected_score <= a.score + 1e-12
    assert a.optimism == a.score - a.expected_score
    assert a.resampled_scores.shape == (n_resamples,)
    size = len(a.thresholds.thresholds)
    for low, high in (a.label_score_intervals, a.threshold_interval):
        assert (np.asarray(low) <= np.asarray(high)).all()
    assert a.label_expected_scores.shape == a.label_score_intervals[0].shape == (size,)
    assert list(a.table()) == ["label", "threshold", "low", "high", "score", "expected", "support"]
    assert "expected on new data" in repr(a)
    assert "<table>" in a._repr_html_()


def same(a, b):
    assert (a.expected_score, a.score_interval) == (b.expected_score, b.score_interval)
    assert_array_equal(a.threshold_interval, b.threshold_interval)
    assert_array_equal(a.label_expected_scores, b.label_expected_scores)
    assert_array_equal(a.resampled_scores, b.resampled_scores)


@at_most(20)
@given(one_classifier(kinds=UNWEIGHTED), metrics, st.sampled_from([0.0, 1.0]))
def test_one_classifier_of_every_awkward_kind(case, metric, zero_division):
    a = hm.assess(case.y, case.s, metric, n_resamples=9, zero_division=zero_division)
    check(a, 9)
    tuned = hm.tune(case.y, case.s, metric, zero_division=zero_division)
    assert (a.thresholds.threshold, a.score) == (tuned.threshold, tuned.score)


@compiled
@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@at_most(6)
@given(many_labels(kinds=UNWEIGHTED), metrics, forms)
def test_many_labels_of_every_awkward_kind(average, per_label, case, metric, form):
    options = {"metric": metric, "average": average, "per_label": per_label, "n_resamples": 5}
    a = hm.assess(case.y, case.s, **options)
    check(a, 5)
    same(a, hm.assess(sparse.csr_array(case.y), to_sparse(case.s, form), **options))
    tuned = hm.tune(case.y, case.s, metric, average, per_label)
    assert_array_equal(a.thresholds.thresholds, tuned.thresholds)


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_no_zero_division_leaves_labels_out(average):
    y, s = np.array([[1, 0], [0, 0], [1, 0]]), np.array([[3, 1], [2, 2], [1, 3]])
    a = hm.assess(y, s, average=average, zero_division=float("nan"), n_resamples=20)
    assert a.score == 0.8
    assert 0 <= a.expected_score <= 0.8


def test_intervals_of_binary_and_shared_thresholds_are_numbers():
    y, s = binary(200, 0.3, 1.0)
    assert all(isinstance(end, float) for end in hm.assess(y, s).threshold_interval)
    both = np.column_stack([y, y]), np.column_stack([s, -s])
    low, high = hm.assess(*both, n_resamples=10, per_label=False).threshold_interval
    assert isinstance(low, float)
    assert low <= high
    assert hm.assess(*both, n_resamples=10).threshold_interval[0].shape == (2,)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_the_same_seed_gives_the_same_answer_on_any_number_of_threads(monkeypatch, average):
    rng = np.random.default_rng(0)
    y = rng.random((60, 8)) < 0.3
    s = rng.random((60, 8)) + 0.3 * y
    monkeypatch.setattr("halfmax.honesty.redraw._BLOCKS_AT_ONCE", 40)
    runs = 6 if average == "samples" else 600  # up to 30 of these runs tune anew
    found = []
    for cores in (1, 5):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        found.append(hm.assess(y, s, average=average, n_resamples=runs, seed=3))
    same(*found)
    other = hm.assess(y, s, average=average, n_resamples=runs, seed=4)
    assert np.any(np.not_equal(other.threshold_interval, found[0].threshold_interval))


def test_frames_in_frames_out():
    y, s = np.array([[1, 0], [0, 1], [1, 1]]), np.array([[0.9, 0.2], [0.1, 0.8], [0.7, 0.6]])
    plain = hm.assess(y, s, labels=["cat", "dog"], n_resamples=20)
    for library in (pd, pl):
        frames = [library.DataFrame({"cat": x[:, 0], "dog": x[:, 1]}) for x in (y, s)]
        a = hm.assess(*frames, n_resamples=20)
        same(a, plain)
        assert isinstance(a.table(), library.DataFrame)
        assert list(a.table()["label"]) == ["cat", "dog"]


def test_words_of_a_small_assessment():
    a = hm.assess([[1, 0], [1, 1], [0, 1]], [[3, 1], [2, 2], [1, 3]], n_resamples=50, level=0.9)
    first, head, *rows = repr(a).splitlines()
    assert first.startswith("Assessment: macro f1 = 1.0000 here, ")
    assert "(90 % interval" in first
    assert head.split() == ["label", "threshold", "low", "high", "score", "expected", "support"]
    assert len(rows) == 2


@pytest.mark.parametrize("average", ["macro", "samples"])
def test_progress_is_told_to_the_end(average):
    told = []
    y, s = np.eye(6, dtype=int), np.eye(6) + np.arange(6) / 10

    def tell(done, total):
        told.append((done, total))

    hm.assess(y, s, average=average, n_resamples=300, progress=tell)
    assert told[-1][0] == told[-1][1]
    assert told == sorted(told)


def test_progress_on_stderr(monkeypatch):
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    hm.assess(*binary(50, 0.4, 1.0), n_resamples=300, progress=True)
    assert "drawing the rows again: 100 %" in sys.stderr.getvalue()


def test_higher_levels_have_wider_intervals():
    y, s = binary(500, 0.2, 1.0)
    narrow, wide = (hm.assess(y, s, level=level) for level in (0.5, 0.99))
    for a, b in (
        (narrow.score_interval, wide.score_interval),
        (narrow.threshold_interval, wide.threshold_interval),
    ):
        assert b[0] < a[0] < a[1] < b[1]
    assert_allclose(np.mean(narrow.resampled_scores), narrow.expected_score, atol=0.01)


# Right on data whose truth is known.


@compiled
@pytest.mark.parametrize(("n", "base_rate", "distance"), [(2000, 0.05, 1.0), (1000, 0.1, 2.0)])
def test_intervals_hold_the_truth_as_often_as_they_say(n, base_rate, distance):
    def f1(threshold):
        tpr, fpr = stats.norm.sf(threshold - distance), stats.norm.sf(threshold)
        return 2 * base_rate * tpr / (base_rate * (1 + tpr) + (1 - base_rate) * fpr)

    grid = np.linspace(-3, 5, 8001)
    best = grid[np.argmax(f1(grid))]
    held = []
    for seed in range(200):
        a = hm.assess(*binary(n, base_rate, distance, seed), n_resamples=400, seed=seed)
        reached = f1(a.thresholds.threshold)
        intervals = (reached, *a.score_interval), (best, *a.threshold_interval)
        errors = a.score - reached, a.expected_score - reached
        held.append([*(low <= truth <= high for truth, low, high in intervals), *errors])
    score, threshold, naive_error, error = np.mean(held, axis=0)
    assert 0.91 <= score <= 0.985
    assert 0.91 <= threshold <= 0.985
    assert abs(error) < 0.35 * naive_error


@compiled
@pytest.mark.parametrize(("typical", "spread"), [(1.5, 1.0), (3.0, 0.5), (20.0, 0.7)])
def test_macro_of_rare_labels_is_right_on_average(typical, spread):
    rng = np.random.default_rng(0)
    n, m = 1000, 300
    rate = np.minimum(typical * np.exp(spread * rng.standard_normal(m)) / n, 0.3)
    distance = rng.normal(1.8, 0.7, m)
    found = []
    for seed in range(4):
        y, s, new_y, new_s = (
            part
            for _ in range(2)
            for y in [rng.random((n, m)) < rate]
            for part in (y, rng.standard_normal((n, m)) + distance * y)
        )
        a = hm.assess(y, s, n_resamples=100, seed=seed)
        found.append((a.score, a.expected_score, hm.score(new_y, a.thresholds.predict(new_s))))
    naive_score, expected, reached = np.mean(found, axis=0)
    assert expected == pytest.approx(reached, rel=0.1)
    assert abs(expected - reached) < 0.3 * (naive_score - reached)


@compiled
@pytest.mark.parametrize("average", ["macro", "micro"])
def test_real_scores_show_on_new_data_what_was_expected(real, average):
    _, splits = real
    a = hm.assess(*splits["tune"], average=average, n_resamples=100)
    truth, scores = splits["test"]
    predicted = a.thresholds.predict(scores)
    reached = hm.score(truth, predicted, average=average)
    assert a.expected_score == pytest.approx(reached, rel=0.2)
    assert abs(a.expected_score - reached) < abs(a.score - reached)
    if average == "macro":  # over labels with a positive in the split concerned
        there, here = np.flatnonzero(truth.sum(axis=0)), a.thresholds.support > 0
        expected = a.expected_score * len(here) / here.sum()
        assert expected == pytest.approx(hm.score(truth[:, there], predicted[:, there]), rel=0.2)


@compiled
def test_real_scores_show_what_was_expected_of_guarded_thresholds(real):
    name, splits = real
    if name == "mesh":
        pytest.skip("eleven tunings of 2,616 labels take too long for a test")
    a = hm.assess(*splits["tune"], guard="auto", n_resamples=1)
    truth, scores = splits["test"]
    assert a.expected_score == pytest.approx(hm.score(truth, a.thresholds.predict(scores)), rel=0.2)


@compiled
def test_a_hundred_thousand_labels_with_one_positive_each():
    m, n = 100_000, 500
    rng = np.random.default_rng(0)
    rows = rng.integers(0, n, m)
    y = sparse.csr_array((np.ones(m, np.int8), (rows, np.arange(m))), shape=(n, m))
    s = sparse.csr_array((rng.random(m), (rows, np.arange(m))), shape=(n, m))
    for average in ("macro", "micro"):
        a = hm.assess(y, s, average=average)
        assert (a.score, a.expected_score) == (1.0, 0.0)
        assert_array_equal(a.threshold_interval[1], INF)


def test_equal_staircases_of_one_step_are_drawn_once():
    y = np.zeros((6, 5), int)
    y[[0, 1, 2, 3, 3, 4], [0, 1, 2, 3, 4, 4]] = 1
    s = np.random.default_rng(0).permuted(np.tile(np.arange(6.0)[:, None], 5), axis=0)
    told = []
    a = hm.assess(y, s, n_resamples=10, progress=lambda _, total: told.append(total))
    kinds = {int(k) for k in a.thresholds.predicted[:4]}
    assert told[-1] == 10 * (len(kinds) + 1)


def test_inputs_are_not_changed():
    y, s = binary(60, 0.3, 1.0)
    before = y.copy(), s.copy()
    hm.assess(y, s, n_resamples=10)
    assert_array_equal(y, before[0])
    assert_array_equal(s, before[1])


def test_f_beta_objects_are_metrics():
    y, s = binary(200, 0.3, 1.0)
    same(hm.assess(y, s, "f2", n_resamples=20), hm.assess(y, s, FBeta(2), n_resamples=20))


def labels_alike(positives, n_rows=2000, n_labels=300, apart=2.5, seed=0):
    """Two draws of labels with so many positives on average."""
    rng = np.random.default_rng(seed)
    for _ in range(2):
        y = rng.random((n_rows, n_labels)) < positives / n_rows
        yield y.astype(int), rng.normal(size=y.shape) + apart * y


@compiled
@pytest.mark.parametrize("positives", [15, 20, 30])
def test_few_and_many_positives_meet_without_a_step(positives):
    here, (truth, scores) = labels_alike(positives)
    a = hm.assess(*here, n_resamples=100)
    shown = hm.score(truth, a.thresholds.predict(scores))
    assert a.expected_score == pytest.approx(shown, rel=0.06)
    assert a.optimism > 0.5 * (a.score - shown)


@compiled
@pytest.mark.parametrize("zero_division", [1.0, 0.5, np.nan])
def test_labels_that_will_be_empty_are_allowed_for(zero_division):
    here, (truth, scores) = labels_alike(1.0, n_labels=1000)
    a = hm.assess(*here, n_resamples=50, zero_division=zero_division)
    shown = hm.score(truth, a.thresholds.predict(scores), zero_division=zero_division)
    assert abs(a.expected_score - shown) < 0.15 * abs(a.score - shown)


def test_accuracy_varies_also_where_nobody_is_predicted():
    rng = np.random.default_rng(0)
    y = (rng.random(1000) < 0.05).astype(int)
    a = hm.assess(y, rng.normal(size=1000), "accuracy", n_resamples=100)
    low, high = a.score_interval
    assert low <= a.score <= high
    assert 0.02 < high - low < 0.05


def test_replicates_in_which_no_positive_can_be_reached():
    scores = [-np.inf, -0.7, -np.inf, -0.6, 0.0, -np.inf]
    a = hm.assess([1, 1, 1, 0, 0, 0], scores, "precision", zero_division=np.nan, n_resamples=300)
    assert a.threshold_interval[1] == np.inf


# Weights and guards.

AVERAGES = ["binary", "macro", "micro", "samples"]
GUARDS = ["auto", "calibrated", "smooth", "never", "fbr", "fbr:0.3"]


def some_labels(average, seed=0, n=80, n_labels=5):
    rng = np.random.default_rng(seed)
    y = (rng.random((n, n_labels)) < np.linspace(0.05, 0.4, n_labels)).astype(int)
    s = np.round(rng.normal(size=y.shape) + 1.5 * y, 1)
    return (y[:, -1], s[:, -1]) if average == "binary" else (y, s)


def close(a, b):
    assert a.expected_score == pytest.approx(b.expected_score)
    assert_allclose(a.score_interval, b.score_interval)
    assert_allclose(a.threshold_interval, b.threshold_interval)
    assert_allclose(a.label_expected_scores, b.label_expected_scores)
    assert_allclose(a.label_score_intervals, b.label_score_intervals)
    assert_allclose(a.resampled_scores, b.resampled_scores)


@pytest.mark.parametrize("per_label", [True, False])
@pytest.mark.parametrize("average", AVERAGES)
def test_only_unequal_weights_matter(average, per_label):
    y, s = some_labels(average)
    options = {"average": average, "per_label": per_label, "n_resamples": 5}
    plain = hm.assess(y, s, **options)
    for each in (1.0, 2.0, 0.1):
        close(plain, hm.assess(y, s, sample_weight=np.full(len(y), each), **options))


def test_weights_as_given_matter_to_a_metric_that_is_no_ratio():
    y, s = some_labels("macro")
    ones, threes = (
        hm.assess(y, s, GAIN, sample_weight=np.full(len(y), each)) for each in (1.0, 3.0)
    )
    assert threes.expected_score == pytest.approx(3 * ones.expected_score)
    assert_allclose(threes.score_interval, 3 * np.array(ones.score_interval))


@compiled
@pytest.mark.parametrize("guard", [None, "auto", "never"])
@pytest.mark.parametrize("average", AVERAGES)
def test_rows_of_weight_zero_do_nothing(average, guard):
    y, s = some_labels(average, n=40, n_labels=3)
    weights = np.random.default_rng(1).exponential(size=len(y))
    options = {"average": average, "guard": guard, "n_resamples": 5}
    more = np.concatenate([y, 1 - y]), np.concatenate([s, s + 0.33])
    a = hm.assess(*more, sample_weight=np.append(weights, 0 * weights), **options)
    close(a, hm.assess(y, s, sample_weight=weights, **options))


@at_most(12)
@given(one_classifier(), metrics, st.sampled_from([None, *GUARDS]), st.sampled_from([0.0, 1.0]))
def test_one_classifier_weighted_and_guarded(case, metric, guard, zero_division):
    options = {"sample_weight": case.w, "guard": guard, "zero_division": zero_division}
    a = hm.assess(case.y, case.s, metric, n_resamples=4, **options)
    check(a, 4, guarded=guard is not None)
    assert np.isfinite([a.expected_score, *a.score_interval, *a.resampled_scores]).all()
    tuned = hm.tune(case.y, case.s, metric, **options)
    assert (a.thresholds.threshold, a.score) == (tuned.threshold, tuned.score)


@compiled
@pytest.mark.parametrize("guard", [None, *GUARDS])
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@at_most(5)
@given(many_labels(), metrics, forms)
def test_many_labels_weighted_and_guarded(average, guard, case, metric, form):
    if guard is not None and guard.startswith("fbr") and average != "macro":
        return
    options = {"metric": metric, "average": average, "sample_weight": case.w, "guard": guard}
    a = hm.assess(case.y, case.s, n_resamples=3, **options)
    check(a, 3, guarded=guard is not None)
    assert np.isfinite([a.expected_score, *a.score_interval, *a.resampled_scores]).all()
    again = sparse.csr_array(case.y), to_sparse(case.s, form)
    close(a, hm.assess(*again, n_resamples=3, **options))
    assert_array_equal(a.thresholds.thresholds, hm.tune(case.y, case.s, **options).thresholds)


@compiled
@given(many_labels(), metrics)
@at_most(5)
def test_one_weighted_threshold_for_all(case, metric):
    for average in ("macro", "micro", "samples"):
        options = {"average": average, "per_label": False, "sample_weight": case.w}
        check(hm.assess(case.y, case.s, metric, n_resamples=3, **options), 3)


@compiled
@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_guarded_and_weighted_answers_do_not_depend_on_threads(monkeypatch, average):
    y, s = some_labels(average, n=40)
    found = []
    for cores in (1, 5):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        weights = np.arange(len(y)) % 3
        options = {"average": average, "guard": "auto", "n_resamples": 6, "seed": 3}
        found.append(hm.assess(y, s, sample_weight=weights, **options))
    same(*found)


@pytest.mark.parametrize(
    "options",
    [
        {"guard": "best"},
        {"guard": "auto", "per_label": False},
        {"guard": "fbr", "average": "micro"},
        {"guard": "auto", "average": "micro", "metric": GAIN},
        {"sample_weight": [1, 2]},
        {"sample_weight": np.zeros(80)},
        {"sample_weight": -np.ones(80)},
        {"sample_weight": np.ones(80), "zero_division": np.nan, "metric": "precision"},
    ],
)
def test_what_tune_refuses_is_refused_in_the_same_words(options):
    said = []
    for function in (hm.tune, hm.assess):
        with pytest.raises(ValueError, match=r"\w") as error:
            function(*some_labels("macro"), **options)
        said.append(str(error.value))
    assert said[0] == said[1]


def test_a_guard_tunes_thirty_times_at_most():
    told = []
    y, s = some_labels("macro")
    hm.assess(y, s, guard="smooth", progress=lambda *how_far: told.append(how_far))
    assert told[-1] == (30, 30)


@compiled
@pytest.mark.parametrize("guard", [None, "auto"])
def test_data_past_the_gate_are_tuned_and_assessed_alike(guard):
    y, s = some_labels("macro", n=40, n_labels=3)
    goal = Goal.ask("f1", guard=guard).settle(one_classifier=False)
    tuned = tune.tune_checked(labelled.read_labelled(y, s), goal)
    a = assess.assess_tuned(tuned, tuned._tuning, Draws(n_resamples=7))
    same(a, hm.assess(y, s, guard=guard, n_resamples=7))
    assert a.thresholds is tuned


def test_floors_are_kept_by_thresholds_and_not_by_scores():
    y, s = some_labels("macro")
    goal = Goal.ask("f1", min_precision=0.6).settle(one_classifier=False)
    tuned = tune.tune_checked(labelled.read_labelled(y, s), goal)
    a = assess.assess_tuned(tuned, tuned._tuning, Draws(n_resamples=9))
    check(a, 9, guarded=True)
    assert 0 < a.expected_score < 1


def test_each_hit_of_an_unseen_row_is_worth_what_its_threshold_makes_of_it(monkeypatch):
    y, s = some_labels("macro", n=30)
    w = np.random.default_rng(0).exponential(size=30)
    fold = np.arange(30) % 10
    monkeypatch.setattr(cross_fit, "_deal", lambda *_: fold)
    monkeypatch.setattr(cross_fit, "ranks_of_rows", lambda _: np.arange(30))
    monkeypatch.setattr(cross_fit, "_is_best", lambda _: False)  # cross-fitting alone
    monkeypatch.setattr(on_staircase, "can_judge", lambda *_: False)
    expected = np.zeros(y.shape[1])
    for k in range(10):
        t = hm.tune(y[fold != k], s[fold != k], sample_weight=w[fold != k])
        for j, threshold in enumerate(t.thresholds):
            everyone = w @ y[:, j] + w @ (s[:, j] >= threshold)
            hits = w[fold == k] @ (y & (s >= threshold))[fold == k, j]
            expected[j] += 2 * hits / everyone
    assert y.any(axis=0).all()
    a = hm.assess(y, s, sample_weight=w, n_resamples=2)
    assert_allclose(a.label_expected_scores, expected)
    assert a.expected_score == pytest.approx(expected.mean())


@pytest.mark.parametrize("average", AVERAGES)
def test_unseen_rows_are_predicted_without_them(average):
    y, s = some_labels(average, n=31)
    data = labelled.read_labelled(y, s)
    fold = np.random.default_rng(0).integers(0, 4, len(y))

    def tuned(part):
        return np.asarray(part.scores.mean(axis=0, keepdims=True)).ravel()

    thresholds = cross_fit._tuned_without(data, fold, tuned)
    found = cross_fit._predict_apart(data, fold, thresholds)
    found = found.toarray() if average != "binary" else found
    for k in range(4):
        assert_array_equal(found[fold == k], s[fold == k] >= s[fold != k].mean(axis=0))


# Weights and guards on data whose truth is known.


@compiled
@pytest.mark.parametrize("negatives_weigh", [1.0, 5.0])
def test_weighted_scores_are_right_on_average(negatives_weigh):
    n, base_rate, distance = 1000, 0.1, 1.5
    found = []
    for seed in range(100):
        y, s = binary(n, base_rate, distance, seed)
        weights = np.where(y, 1.0, negatives_weigh)
        weights *= np.random.default_rng(seed + 1000).exponential(size=n)
        a = hm.assess(y, s, sample_weight=weights, n_resamples=100, seed=seed)
        tp, fp = stats.norm.sf(a.thresholds.threshold - np.array([distance, 0.0]))
        weight = negatives_weigh * (1 - base_rate) / base_rate
        reached = 2 * tp / (tp + weight * fp + 1)
        low, high = a.score_interval
        found.append((a.score - reached, a.expected_score - reached, low <= reached <= high))
    naive_error, error, held = np.mean(found, axis=0)
    assert abs(error) < 0.3 * naive_error
    assert 0.9 < held < 0.99


def macro_and_micro(thresholds, rates, distances):
    """F1 of endless data of independent labels with normal scores."""
    tp = rates * stats.norm.sf(thresholds - distances)
    both = rates + tp + (1 - rates) * stats.norm.sf(thresholds)
    return {"macro": np.mean(2 * tp / both), "micro": 2 * tp.sum() / both.sum()}


@compiled
@pytest.mark.parametrize(
    ("average", "weighted", "n", "positives", "apart", "least"),
    [
        ("macro", True, 600, 8.0, np.linspace(0.5, 2.5, 30), 0.87),
        ("micro", False, 2000, 100.0, np.array([1.0, 1.5, 2.0]), 0.91),
    ],
)
def test_intervals_of_averages_hold_the_truth(average, weighted, n, positives, apart, least):
    rates, held = np.full(len(apart), positives / n), []
    for seed in range(80):
        rng = np.random.default_rng(seed)
        y = rng.random((n, len(apart))) < rates
        s = rng.standard_normal(y.shape) + apart * y
        w = np.exp(0.5 * rng.standard_normal(n)) if weighted else None
        a = hm.assess(y, s, average=average, sample_weight=w, n_resamples=60, seed=seed)
        low, high = a.score_interval
        held.append(low <= macro_and_micro(a.thresholds.thresholds, rates, apart)[average] <= high)
    assert np.mean(held) > least


@compiled
@pytest.mark.parametrize(
    ("guard", "weighted"), [("auto", False), ("smooth", False), (None, True), ("auto", True)]
)
def test_rare_labels_guarded_or_weighted_are_right_on_average(guard, weighted):
    n, m, found = 500, 60, []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rate = np.minimum(5.0 * np.exp(0.7 * rng.standard_normal(m)) / n, 0.3)
        distance = rng.normal(1.8, 0.7, m)

        def draw_rows(rng=rng, rate=rate, distance=distance):
            y = rng.random((n, m)) < rate
            weights = rng.exponential(size=n) if weighted else None
            return y, rng.standard_normal((n, m)) + distance * y, weights

        y, s, w = draw_rows()
        runs = 100 if guard is None else 1
        a = hm.assess(y, s, sample_weight=w, guard=guard, n_resamples=runs, seed=seed)
        new = [
            hm.score(y, a.thresholds.predict(s), sample_weight=w)
            for y, s, w in (draw_rows() for _ in range(10))
        ]
        found.append((a.score, a.expected_score, np.mean(new)))
    tuned, expected, reached = np.mean(found, axis=0)
    assert expected == pytest.approx(reached, rel=0.12)
    assert abs(expected - reached) < 0.7 * abs(tuned - reached)
