"""Leaving out rows on a staircase gives what tuning without them gives."""

import naive
import numpy as np
import pytest
from assess_cases import INF, UNWEIGHTED
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from strategies import many_labels, one_classifier

import halfmax as hm
from halfmax._core.gate import labelled
from halfmax.honesty import weighted_rows
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.staircase import leave_one_out

pytestmark = pytest.mark.kernels


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

    def value_of(tp, predicted, positives, _):
        return np.broadcast_to(2.0 * np.asarray(tp) - cut * np.asarray(predicted), positives.shape)

    for positive, chosen, counts in (
        (1, leave_one_out.chosen_without_positive(stairs, value_of), stairs.true_positives),
        (
            0,
            leave_one_out.chosen_without_negative(stairs, value_of),
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
def test_the_value_of_a_hit_is_an_expectation(metric):
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
def test_the_value_of_a_weighted_hit_is_an_expectation(metric):
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


def test_the_law_of_frequencies_has_the_maximum_likelihood():
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
