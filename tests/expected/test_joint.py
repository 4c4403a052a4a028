from fractions import Fraction
from itertools import pairwise, product

import naive
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from naive import assert_close, expected_value, joint
from numpy.testing import assert_array_equal
from scipy import sparse
from strategies import probabilities, shares_of_nothing

import halfmax as hm

pytestmark = pytest.mark.kernels

METRICS = ("f1", "f0.5", "f2", "f1.3", "f0.01", "f100", "precision", "recall", "accuracy")
metrics = st.sampled_from(METRICS)


@st.composite
def laws(draw, fewest=1, most=5):
    """Few label vectors, which then depend strongly, or any number of them."""
    n = draw(st.integers(fewest, most))
    vectors = list(product((0, 1), repeat=n))
    limit = draw(st.sampled_from([1, 2, 4, len(vectors)]))
    chosen = draw(st.lists(st.sampled_from(vectors), min_size=1, max_size=limit, unique=True))
    weights = [draw(st.integers(1, 9)) for _ in chosen]
    return {y: Fraction(w, sum(weights)) for y, w in zip(chosen, weights, strict=True)}


def check(d, law, metric="f1", zero_division=0.0, min_k=0, max_k=None):
    assert d.predictions.dtype == np.int8
    assert set(d.predictions.tolist()) <= {0, 1}
    assert_array_equal(d.counts, [d.predictions.sum()])
    assert min_k <= d.counts[0] <= (len(d.predictions) if max_k is None else max_k)
    best = naive.best_value(law, metric, zero_division, min_k, max_k)
    reached = expected_value(law, d.predictions, metric, zero_division)
    assert_close(float(reached), float(best))
    assert_close(d.expected_score, float(best))
    assert_close(d.expected_scores, [float(best)])


@given(laws(), metrics, shares_of_nothing)
def test_no_set_of_labels_has_a_higher_expected_metric(law, metric, zero_division):
    d = hm.decide_joint(*joint(law), metric, zero_division=zero_division)
    check(d, law, metric, zero_division)


@given(laws(), metrics, shares_of_nothing, st.data())
def test_the_count_stays_within_its_limits(law, metric, zero_division, data):
    q, p_empty = joint(law)
    low = data.draw(st.integers(0, len(q)))
    limits = {"min_k": low, "max_k": data.draw(st.none() | st.integers(low, len(q) + 1))}
    d = hm.decide_joint(q, p_empty, metric, zero_division=zero_division, **limits)
    check(d, law, metric, zero_division, **limits)


@given(laws(most=4), st.floats(0.01, 100.0))
def test_any_beta_is_accepted(law, beta):
    metric = hm.FBeta(beta)
    check(hm.decide_joint(*joint(law), metric), law, metric.name)


def test_the_best_set_is_not_always_of_the_most_probable():
    # Label 2 is likelier than label 1, but occurs only together with label 0, which gains most.
    law = {(1, 0, 1): Fraction(7, 20), (0, 1, 0): Fraction(6, 20), (1, 0, 0): Fraction(7, 20)}
    d = hm.decide_joint(*joint(law))
    assert_array_equal(d.predictions, [1, 1, 0])
    check(d, law)
    by_marginals = hm.decide(joint(law)[0].sum(axis=1)).predictions
    assert expected_value(law, by_marginals) < expected_value(law, d.predictions)


@given(laws(), metrics)
def test_sizes_that_never_occur_can_be_left_out(law, metric):
    q, p_empty = joint(law)
    largest = max(1, *(sum(y) for y in law))
    got, expected = (hm.decide_joint(x, p_empty, metric) for x in (q[:, :largest], q))
    assert_array_equal(got.predictions, expected.predictions)
    assert_close(got.expected_score, expected.expected_score)
    check(got, law, metric)


@given(st.integers(1, 4), st.integers(1, 3), metrics, shares_of_nothing, st.data())
def test_many_instances_are_decided_like_single_ones(n, instances, metric, zero_division, data):
    models = [joint(data.draw(laws(n, n))) for _ in range(instances)]
    q, p_empty = np.array([q for q, _ in models]), [empty for _, empty in models]
    options = {"zero_division": zero_division, "max_k": data.draw(st.none() | st.integers(0, n))}
    got = hm.decide_joint(q, p_empty, metric, **options)
    alone = [hm.decide_joint(*model, metric, **options) for model in models]
    assert got.predictions.shape == (instances, n)
    assert_array_equal(got.predictions, [d.predictions for d in alone])
    assert_array_equal(got.counts, [d.counts[0] for d in alone])
    assert_close(got.expected_scores, [d.expected_score for d in alone])
    assert_close(got.expected_score, np.mean(got.expected_scores))


@given(laws(), metrics)
def test_inputs_are_not_modified(law, metric):
    q, p_empty = joint(law)
    q.setflags(write=False)
    before = q.tobytes()
    expected = hm.decide_joint(q, p_empty, metric)
    assert q.tobytes() == before
    for source in (np.asfortranarray(q), q.tolist()):
        assert_array_equal(
            hm.decide_joint(source, p_empty, metric).predictions, expected.predictions
        )


# Independent labels.


@given(probabilities(st.integers(1, 8)), metrics, shares_of_nothing, st.data())
def test_independent_labels_need_no_joint(p, metric, zero_division, data):
    low = data.draw(st.just(0) | st.integers(0, len(p)))
    options = {"zero_division": zero_division, "min_k": low}
    d = hm.decide_joint(*naive.independent_joint(p), metric, **options)
    assert_close(d.expected_score, hm.decide(p, metric, **options).expected_score)


@pytest.mark.parametrize("metric", METRICS)
def test_rare_labels_keep_their_digits(metric):
    law = {(1, 0): Fraction(1, 10**9), (0, 1): Fraction(1, 3 * 10**9)}
    law[0, 0] = 1 - sum(law.values())
    for low in (0, 1, 2):
        check(hm.decide_joint(*joint(law), metric, min_k=low), law, metric, min_k=low)


# More labels, compared with the plain matrix product.


def model(n, seed):
    """Labels that depend through the kind of instance, from weighted draws."""
    rng = np.random.default_rng([n, seed])
    p = rng.beta(0.3, 2.0, (3, n))
    q, p_empty = np.zeros((n, n)), 0.0
    for weight in rng.dirichlet([1.0] * 300):
        y = rng.random(n) < p[rng.integers(3)]
        q[y, y.sum() - 1] += weight
        p_empty += weight * (not y.any())
    return q, p_empty


def expected_f(q, p_empty, chosen, beta):
    """The expected F of any set of labels; predicting nothing scores 1 where nothing is true."""
    k, b2, sizes = chosen.sum(), beta * beta, np.arange(1, q.shape[1] + 1)
    return ((1 + b2) * q[chosen == 1] / (k + b2 * sizes)).sum() if k else p_empty


@pytest.mark.parametrize("n", [20, 60, 300])
@pytest.mark.parametrize("beta", [0.05, 0.5, 1.0, 1.3, 7.0, 100.0])
def test_more_labels_are_decided_like_by_a_matrix_product(n, beta):
    for seed in range(3):
        q, p_empty = model(n, seed)
        d = hm.decide_joint(q, p_empty, hm.FBeta(beta), zero_division=1.0)
        best = naive.matrix_product_value(q, p_empty, beta, 1.0)
        assert_close(d.expected_score, best)
        assert_close(expected_f(q, p_empty, d.predictions, beta), best)


def test_larger_instances_are_decided_like_single_ones():
    models = [model(150, seed) for seed in range(3)]
    got = hm.decide_joint(np.array([q for q, _ in models]), [empty for _, empty in models])
    alone = [hm.decide_joint(q, empty) for q, empty in models]
    assert_array_equal(got.predictions, [d.predictions for d in alone])
    assert_close(got.expected_scores, [d.expected_score for d in alone])


def test_fewer_sizes_than_labels():
    q, _ = model(60, 0)
    q = q[:, :9]
    p_empty = 1 - (q.sum(axis=0) / np.arange(1, 10)).sum()
    d = hm.decide_joint(q, p_empty)
    assert_close(d.expected_score, naive.matrix_product_value(q, p_empty, 1.0))
    padded = hm.decide_joint(np.pad(q, [(0, 0), (0, 51)]), p_empty)
    assert_array_equal(d.predictions, padded.predictions)


# Joint models from draws.

drawn = hnp.arrays(
    np.int8, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(0, 1)
)


def assert_joint(got, expected):
    assert_close(got.q, expected[0])
    assert_close(got.p_empty, expected[1])


@given(drawn)
def test_draws_are_counted(draws):
    q, p_empty = hm.joint_from_samples(draws)
    expected = naive.joint_from_samples(draws.tolist())
    assert_close(q, expected[0])
    assert_close(p_empty, expected[1])
    kinds = (draws.tolist(), draws.astype(bool), draws.astype(float), np.asfortranarray(draws))
    for source in (*kinds, *(sparse.coo_array(draws).asformat(form) for form in ("csr", "csc"))):
        got = hm.joint_from_samples(source)
        assert_array_equal(got.q, q)
        assert got.p_empty == p_empty


@given(drawn, st.data())
def test_draws_may_have_weights(draws, data):
    each = st.integers(0, 4) | st.floats(0.01, 10.0)
    weights = data.draw(st.lists(each, min_size=len(draws), max_size=len(draws)).filter(any))
    expected = naive.joint_from_samples(draws.tolist(), weights)
    assert_joint(hm.joint_from_samples(draws, weights), expected)
    assert_joint(hm.joint_from_samples(sparse.csr_array(draws), np.array(weights)), expected)


@given(drawn)
def test_sizes_may_be_limited(draws):
    largest = int(draws.sum(axis=1).max())
    got = hm.joint_from_samples(draws, max_size=max(largest, 1))
    expected = naive.joint_from_samples(draws.tolist(), max_size=max(largest, 1))
    assert_joint(got, expected)
    if largest > 1:
        for source in (draws, sparse.csr_array(draws)):
            with pytest.raises(ValueError, match="max_size"):
                hm.joint_from_samples(source, max_size=largest - 1)


@given(
    hnp.arrays(
        np.int8,
        st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(1, 4)),
        elements=st.integers(0, 1),
    )
)
def test_draws_of_many_instances(draws):
    got = hm.joint_from_samples(draws)
    alone = [hm.joint_from_samples(of_one) for of_one in draws]
    assert_array_equal(got.q, [model.q for model in alone])
    assert_array_equal(got.p_empty, [model.p_empty for model in alone])
    assert hm.decide_joint(*got).predictions.shape == (len(draws), draws.shape[2])


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame, pa.table])
def test_draws_may_be_a_frame(library):
    columns = {"cat": [1, 0, 0, 1], "dog": [1, 1, 0, 0]}
    got = hm.joint_from_samples(library(columns))
    assert_joint(got, ([[0.25, 0.25], [0.25, 0.25]], 0.25))


@given(drawn, metrics, shares_of_nothing)
def test_the_decision_is_the_best_for_the_draws_themselves(draws, metric, zero_division):
    law = {}
    for y in map(tuple, draws.tolist()):
        law[y] = law.get(y, 0) + Fraction(1, len(draws))
    model = hm.joint_from_samples(draws)
    check(hm.decide_joint(*model, metric, zero_division=zero_division), law, metric, zero_division)


# What is refused, and progress.


@pytest.mark.parametrize("metric", ["jaccard", hm.LinearFractional("odd", (4, -1, 0, 0), (1,) * 4)])
def test_other_metrics_are_refused(metric):
    with pytest.raises(ValueError, match="metric"):
        hm.decide_joint([[0.5, 0.0], [0.3, 0.0]], 0.2, metric)


@pytest.mark.parametrize(
    ("q", "p_empty"),
    [
        ([[-0.1, 0.0], [0.9, 0.0]], 0.2),
        ([[0.5, 0.0], [0.4, 0.0]], 0.3),
        ([[0.5, 0.0], [0.3, 0.0]], -0.2),
        ([[np.nan, 0.0], [0.3, 0.0]], 0.2),
        ([[0.0, 0.5], [0.0, 0.1]], 0.7),
        ([[0.1, 0.1, 0.1]], 0.7),
    ],
)
def test_anything_but_a_joint_distribution_is_refused(q, p_empty):
    with pytest.raises(ValueError, match=r"q|p_empty"):
        hm.decide_joint(q, p_empty)


def test_impossible_limits_are_refused():
    q, p_empty = model(5, 0)
    for limits in ({"min_k": 6}, {"min_k": 2, "max_k": 1}, {"max_k": -1}, {"min_k": -1}):
        with pytest.raises(ValueError, match=r"min_k|max_k"):
            hm.decide_joint(q, p_empty, **limits)


def test_progress_is_reported_to_the_end():
    models = [model(20, seed) for seed in range(4)]
    q, p_empty = np.array([q for q, _ in models]), [empty for _, empty in models]
    reports = []
    got = hm.decide_joint(q, p_empty, progress=lambda done, total: reports.append((done, total)))
    assert_array_equal(got.predictions, hm.decide_joint(q, p_empty).predictions)
    assert reports[-1][0] == reports[-1][1]
    assert all(a[0] < b[0] and a[1] == b[1] for a, b in pairwise(reports))


def test_a_joint_decision_can_be_interrupted():
    def stop(_done, _total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        hm.decide_joint(*model(20, 0), progress=stop)
