"""The plug-in rules and the F1 of rules, compared with brute force and scikit-learn."""

import math
from fractions import Fraction

import naive
import naive_mesh
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mesh_cases import AVERAGES, FEW, batches, find, outputs_of, truths
from scipy import sparse
from sklearn.metrics import f1_score
from strategies import averages

from halfmax._core.limits import changed
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.rules.half_max import find_half_max
from halfmax.mesh.rules.judge import judge
from halfmax.mesh.rules.rule import MeshRule

pytestmark = pytest.mark.kernels


def predicted_by(found, average, p):
    rule = found.rule(average, average)
    return np.array(naive_mesh.predictions(p, rule.of_labels, rule.of_documents))


def close(a, b):
    return math.isclose(a, b, rel_tol=1e-12, abs_tol=0.0)


def assert_half_max(found, p):
    n, m = p.shape
    assert found.of_labels.shape == (m,)
    assert found.of_documents.shape == (n,)
    assert all(close(found.of_labels[j], naive_mesh.highest_f1(p[:, j].tolist())) for j in range(m))
    assert close(found.of_all, naive_mesh.highest_f1(p.ravel().tolist()))
    assert all(close(found.of_documents[i], naive_mesh.highest_f1(p[i].tolist())) for i in range(n))
    parts = {
        "macro": [(p[:, j], (slice(None), j), found.of_labels[j]) for j in range(m)],
        "micro": [(p.ravel(), ..., found.of_all)],
        "samples": [(p[i], i, found.of_documents[i]) for i in range(n)],
    }
    for average, items in parts.items():
        predicted = predicted_by(found, average, p)
        for probability, place, best in items:
            chosen = predicted[place].ravel().tolist()
            assert close(naive_mesh.ratio(probability.tolist(), chosen), best)


@given(batches())
def test_plug_in_rules_reach_the_highest_f1_of_all_thresholds(p):
    assert_half_max(find(p), p)


@FEW
@given(batches(), st.sampled_from([1, 6]), st.sampled_from([1, 4096]))
def test_half_max_does_not_depend_on_blocks_or_the_first_guess(p, entries, enough):
    assert_half_max(find(p, entries, enough), p)


@pytest.mark.parametrize("first", ["low", "high", "zeros", "same"])
def test_a_misleading_first_guess_is_corrected(first):
    rng = np.random.default_rng(5)
    p = (rng.random((64, 3)) ** 3).astype(np.float32)
    p[:4] = {"low": 1e-6, "high": 1.0, "zeros": 0.0, "same": p[:4]}[first]
    cold, warm = find(p), find(p, enough=8)
    assert_half_max(warm, p)
    assert np.allclose(cold.of_labels, warm.of_labels, rtol=1e-14, atol=0.0)
    for average in AVERAGES:
        assert np.array_equal(predicted_by(cold, average, p), predicted_by(warm, average, p))


@pytest.mark.parametrize("enough", [16, 4096])
def test_plug_in_rules_of_a_model(enough):
    """Unlike above, blocks of other labels are rounded differently."""
    rng = np.random.default_rng(4)
    factors, weights = (rng.normal(size=of).astype(np.float32) for of in ((90, 5), (5, 37)))
    weights *= rng.gamma(0.5, 0.2, 37).astype(np.float32)
    made = Outputs(factors, weights, (rng.random(37) ** 3).astype(np.float32))
    with changed(half_max_without_guess=enough):
        p, found = made.whole(), find_half_max(made)
    for j in range(37):
        assert found.of_labels[j] == pytest.approx(naive_mesh.highest_f1(p[:, j].tolist()), 1e-6)
    assert found.of_all == pytest.approx(naive_mesh.highest_f1(p.ravel().tolist()), 1e-6)
    for i in range(90):
        assert found.of_documents[i] == pytest.approx(naive_mesh.highest_f1(p[i].tolist()), 1e-6)


@given(batches(), averages)
def test_no_threshold_is_above_a_half(p, average):
    found = find(p)
    rule = found.rule(average, "some")
    cuts = rule.of_labels if rule.of_documents is None else rule.of_documents
    for best in (found.of_labels, found.of_documents, np.array(found.of_all)):
        assert np.all((best >= 0.0) & (best <= 1.0))
    assert rule.name == "some"
    assert np.all((cuts > 0.0) & ((cuts <= 0.5) | (cuts == np.inf)))


@given(st.integers(1, 9), st.floats(0.0, 1.0, width=32, exclude_min=True))
def test_a_constant_label_is_predicted_for_all_documents(n, level):
    p = np.full((n, 2), level, np.float32)
    found = find(p)
    for average in AVERAGES:
        assert predicted_by(found, average, p).all()


def test_a_label_of_probability_0_is_never_predicted():
    p = np.array([[0.0, 0.4, 0.0], [0.0, 0.0, 0.0]], np.float32)
    found = find(p)
    assert found.of_labels[[0, 2]].tolist() == [0.0, 0.0]
    assert found.of_documents[1] == 0.0
    for average in AVERAGES:
        assert predicted_by(found, average, p).tolist() == [[False, True, False], [False] * 3]
    nothing = find(np.zeros((2, 2)))
    for average in AVERAGES:
        assert not predicted_by(nothing, average, np.zeros((2, 2))).any()


def test_no_documents_predict_nothing():
    found = find(np.zeros((0, 2)))
    assert (found.of_labels.tolist(), found.of_all, found.of_documents.tolist()) == ([0, 0], 0, [])


def test_outputs_beyond_0_and_1_count_as_0_and_1():
    p = np.array([[-3.0, 0.5], [7.0, 1.5], [0.25, -1e-9]], np.float32)
    assert_half_max(find(p), np.clip(p, 0.0, 1.0))


def test_progress_of_rules_ends_where_it_said():
    reported = []
    p = np.random.default_rng(2).random((40, 3))
    with changed(output_block_entries=30, half_max_without_guess=20):
        find_half_max(outputs_of(p), progress=lambda *of: reported.append(of))
    assert reported[-1][0] == reported[-1][1]
    assert all(done <= total for done, total in reported)


def flat_enough(p, cut):
    return naive_mesh.excess(p, cut) <= naive_mesh.mean(p) * Fraction(cut)


@given(batches(most_documents=9, most_labels=1), st.data())
def test_the_flatness_of_a_label_decides_which_documents_it_floods(p, data):
    """The macro threshold is at most t where mean((p - t)+) <= mean(p) t, and only there."""
    p = p.ravel().tolist()
    assume(any(p))
    best = naive_mesh.highest_f1(p)
    cut = data.draw(st.sampled_from(p) | st.floats(0.0, 1.0))
    assert flat_enough(p, cut) == (best / 2 <= Fraction(cut))
    column = np.array(p)[:, None]
    [threshold] = find(column).rule("macro", "").of_labels
    if abs(best / 2 - Fraction(cut)) > Fraction(1, 10**12) * best:
        assert flat_enough(p, cut) == (threshold <= cut)


@given(batches(most_documents=9, most_labels=1))
def test_documents_above_a_probability_are_predicted_if_it_is_flat_enough(p):
    """The converse holds too, where t is the probability of a document."""
    values = p.ravel().tolist()
    assume(any(values))
    half = naive_mesh.highest_f1(values) / 2
    predicted = predicted_by(find(p), "macro", p).ravel()
    for cut in set(values):
        if abs(half - Fraction(cut)) > Fraction(1, 10**12) * half:
            assert flat_enough(values, cut) == predicted[p.ravel() >= cut].all()
    least, b = Fraction(min(values)), naive_mesh.mean(values)
    if abs(half - least) > Fraction(1, 10**12) * half:
        assert (b - least <= b * least) == predicted.all()


@st.composite
def thresholds(draw, size):
    level = st.sampled_from([0.0, 0.2, 0.5, 1.0, np.inf]) | st.floats(0.0, 1.0)
    return draw(hnp.arrays(np.float64, size, elements=level, fill=st.nothing()))


@st.composite
def rules(draw, p):
    """Draw one rule of each kind: 0.5, the three plug-in rules, and any thresholds."""
    n, m = p.shape
    found = find_half_max(outputs_of(p))
    return [
        MeshRule("0.5", np.full(m, 0.5)),
        *(found.rule(average, average) for average in AVERAGES),
        MeshRule("none", np.full(m, np.inf)),
        MeshRule("labels", draw(thresholds(m))),
        MeshRule("both", draw(thresholds(m)), draw(thresholds(n))),
    ]


@FEW
@given(batches(), st.sampled_from([1, 1 << 22]), st.data())
def test_judged_counts_and_f1(p, entries, data):
    y = data.draw(truths(p.shape))
    chosen = data.draw(rules(p))
    with changed(output_block_entries=entries):
        judged = judge(outputs_of(p), sparse.csr_array(y), chosen)
    assert [one.rule for one in judged] == chosen
    for one in judged:
        made = np.array(naive_mesh.predictions(p, one.rule.of_labels, one.rule.of_documents))
        hits = made & (y > 0)
        assert one.n_documents == len(p)
        assert one.predicted.tolist() == made.sum(axis=0).tolist()
        assert one.hits.tolist() == hits.sum(axis=0).tolist()
        assert one.positives.tolist() == y.sum(axis=0).tolist()
        assert one.predicted_of_documents.tolist() == made.sum(axis=1).tolist()
        assert one.hits_of_documents.tolist() == hits.sum(axis=1).tolist()
        assert one.positives_of_documents.tolist() == y.sum(axis=1).tolist()
        of_labels = [naive_mesh.f1(y[:, j], made[:, j]) for j in range(p.shape[1])]
        of_documents = [naive_mesh.f1(y[i], made[i]) for i in range(len(p))]
        seen = [f1 for f1, positives in zip(of_labels, y.sum(axis=0), strict=True) if positives]
        assert np.allclose(one.of_labels, np.array(of_labels, float), rtol=1e-15)
        assert naive.same(one.macro, sum(of_labels) / len(of_labels))
        assert naive.same(one.macro_seen, sum(seen) / len(seen) if seen else math.nan)
        assert naive.same(one.micro, naive_mesh.f1(y.ravel(), made.ravel()))
        assert naive.same(one.samples, sum(of_documents) / len(of_documents))
        assert np.allclose(one.shares, made.mean(axis=0), rtol=1e-15)


@pytest.mark.parametrize("n", [1, 40])
def test_f1_is_that_of_scikit_learn(n):
    rng = np.random.default_rng(n)
    p = rng.random((n, 6)).astype(np.float32) ** 2
    y = (rng.random((n, 6)) < p * [0.0, 0.2, 0.5, 1.0, 1.0, 9.0]).astype(np.int8)
    y[n // 2 :: 5] = 0
    found = find_half_max(outputs_of(p))
    chosen = [found.rule(average, average) for average in AVERAGES]
    chosen += [MeshRule("some", rng.random(6)), MeshRule("none", np.full(6, np.inf))]
    for one in judge(outputs_of(p), sparse.csr_array(y), chosen):
        made = np.array(naive_mesh.predictions(p, one.rule.of_labels, one.rule.of_documents), int)
        for average in AVERAGES:
            expected = f1_score(y, made, average=average, zero_division=0)
            assert getattr(one, average) == pytest.approx(expected, rel=1e-12)
