"""The tagger: its ridge, its rules and its file, beside scikit-learn and everything tried."""

import io
import json
import math
import os
import pickle
import zipfile
from fractions import Fraction
from pathlib import Path

import naive
import naive_mesh
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import settings as examples
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import f1_score
from strategies import averages, probabilities
from threadpoolctl import threadpool_limits

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.mesh.model import fit, tagger
from halfmax.mesh.model.fit import choose_penalties, fit_tagger, left_out_outputs, tune_left_out
from halfmax.mesh.model.labels import frequent_terms, truth_of
from halfmax.mesh.model.outputs import LeaveOneOutCorrection, Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.tagger import Tag, Tagger
from halfmax.mesh.model.words import learn_words
from halfmax.mesh.records.corpus import Corpus, Headings
from halfmax.mesh.records.record import Record
from halfmax.mesh.rules.evaluate import codes_of, evaluate, rules_of
from halfmax.mesh.rules.half_max import find_half_max
from halfmax.mesh.rules.judge import judge
from halfmax.mesh.rules.rule import MeshRule
from halfmax.mesh.stages import (
    Stages,
    decode_texts,
    encode_texts,
    fingerprint,
    pack_sparse,
    unpack_sparse,
)

pytestmark = pytest.mark.kernels

AVERAGES = ("macro", "micro", "samples")
FEW = examples(max_examples=max(10, examples().max_examples // 2))  # where an example costs more


def outputs_of(p):
    """Outputs that are these probabilities, to the last bit."""
    p = np.asarray(p, np.float32)
    labels = p.shape[1]
    return Outputs(p, np.eye(labels, dtype=np.float32), np.zeros(labels, np.float32))


@st.composite
def batches(draw, most_documents=7, most_labels=4):
    shape = draw(st.integers(1, most_documents)), draw(st.integers(1, most_labels))
    return draw(probabilities(shape)).astype(np.float32)


@st.composite
def truths(draw, shape):
    """With labels that nobody, one document or everybody has."""
    y = draw(hnp.arrays(np.int8, shape, elements=st.integers(0, 1), fill=st.nothing()))
    kinds = st.sampled_from(["any", "none", "one", "all"])
    for j, kind in enumerate(draw(st.lists(kinds, max_size=shape[1]))):
        if kind != "any":
            y[:, j] = kind == "all"
        if kind == "one":
            y[draw(st.integers(0, shape[0] - 1)), j] = 1
    return y


# --- outputs ---


def dyadic(shape, most=8):
    """Eighths, whose products add up without rounding in any order."""
    whole = hnp.arrays(np.int8, shape, elements=st.integers(-most, most), fill=st.nothing())
    return whole.map(lambda numbers: (numbers / 8).astype(np.float32))


@st.composite
def exact_outputs(draw):
    n, k, m = (draw(st.integers(1, most)) for most in (6, 3, 4))
    factors, weights, intercept = (draw(dyadic(shape)) for shape in ((n, k), (k, m), (m,)))
    left_out = None
    if draw(st.booleans()):
        n_penalties = draw(st.integers(1, 2))
        leverages = 0.5 + draw(dyadic((n, n_penalties), 3)).astype(np.float64)
        which = draw(hnp.arrays(np.intp, m, elements=st.integers(0, n_penalties - 1)))
        left_out = LeaveOneOutCorrection(leverages, which, sparse.csr_array(draw(truths((n, m)))))
    return Outputs(factors, weights, intercept, left_out)


def outputs_by_hand(made):
    """Every output alone, in exact fractions."""
    rows = []
    for i, factors in enumerate(made.factors.tolist()):
        row = []
        for j, intercept in enumerate(made.intercept.tolist()):
            weights = made.weights[:, j].tolist()
            p = Fraction(intercept)
            p += sum(Fraction(x) * Fraction(w) for x, w in zip(factors, weights, strict=True))
            if made.left_out is not None:
                h = Fraction(float(made.left_out.leverages[i, made.left_out.penalty_of[j]]))
                p = (p - h * int(made.left_out.truth.toarray()[i, j])) / (1 - h)
            row.append(float(min(max(p, 0), 1)))
        rows.append(row)
    return np.array(rows)


def mapped(made, entries):
    with changed(output_block_entries=entries):
        return list(made.map(lambda block, rows: (block, rows)))


@FEW
@given(exact_outputs())
def test_outputs_are_clipped_and_leave_documents_out(made):
    whole = made.whole()
    assert whole.dtype == np.float32
    assert whole.shape == made.shape
    assert np.allclose(whole, outputs_by_hand(made), rtol=1e-6, atol=0.0)


@FEW
@given(exact_outputs(), st.sampled_from([1, 5, 1 << 22]))
def test_blocks_come_in_order_and_make_the_whole(made, entries):
    blocks = mapped(made, entries)
    assert [i for _, rows in blocks for i in range(rows.start, rows.stop)] == [
        *range(made.shape[0])
    ]
    assert np.array_equal(np.concatenate([block for block, _ in blocks]), made.whole())
    if entries == 1:
        assert len(blocks) == made.shape[0]


@FEW
@given(exact_outputs(), st.data())
def test_some_documents_have_the_outputs_that_they_have_among_all(made, data):
    n = made.shape[0]
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=8).map(lambda r: np.array(r, int)))
    first, last = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    for some in (rows, slice(first, last), slice(0)):
        assert np.array_equal(made[some].whole(), made.whole()[some])
        assert made[some].shape == (len(made.factors[some]), made.shape[1])


@FEW
@given(exact_outputs(), st.data())
def test_some_labels_have_the_outputs_that_they_have_among_all(made, data):
    made = Outputs(made.factors, made.weights, made.intercept)
    place = st.integers(0, made.shape[1] - 1)
    labels = data.draw(st.lists(place, unique=True).map(lambda places: np.array(places, int)))
    assert np.array_equal(made.of_labels(labels).whole(), made.whole()[:, labels])


def test_no_documents_have_no_blocks():
    assert mapped(outputs_of(np.zeros((0, 3))), 1) == []


def test_what_goes_wrong_in_a_block_is_told():
    def fail(_block, rows):
        raise ZeroDivisionError(rows.start)

    with pytest.raises(ZeroDivisionError, match="0"):
        list(outputs_of(np.zeros((3, 1))).map(fail))


# --- the plug-in rules ---


def find(p, entries=1 << 22, enough=4096):
    with changed(output_block_entries=entries, half_max_without_guess=enough):
        return find_half_max(outputs_of(p))


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
def test_half_max_knows_no_blocks_and_no_first_guess(p, entries, enough):
    assert_half_max(find(p, entries, enough), p)


@pytest.mark.parametrize("first", ["low", "high", "zeros", "same"])
def test_a_first_guess_that_misleads_is_forgotten(first):
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
    """Unlike above, blocks of other labels are rounded in other ways."""
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
def test_a_constant_label_is_predicted_for_everybody(n, level):
    p = np.full((n, 2), level, np.float32)
    found = find(p)
    for average in AVERAGES:
        assert predicted_by(found, average, p).all()


def test_what_has_no_chance_is_predicted_for_nobody():
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
    told = []
    p = np.random.default_rng(2).random((40, 3))
    with changed(output_block_entries=30, half_max_without_guess=20):
        find_half_max(outputs_of(p), progress=lambda *of: told.append(of))
    assert told[-1][0] == told[-1][1]
    assert all(done <= total for done, total in told)


def flat_enough(p, cut):
    return naive_mesh.excess(p, cut) <= naive_mesh.mean(p) * Fraction(cut)


@given(batches(most_documents=9, most_labels=1), st.data())
def test_how_flat_a_label_is_tells_whom_it_floods(p, data):
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
def test_all_who_have_a_probability_or_more_are_predicted_where_it_is_flat_enough(p):
    """Also the other way round: where t is somebody's, whoever has less need not be asked."""
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


# --- judging ---


@st.composite
def thresholds(draw, size):
    level = st.sampled_from([0.0, 0.2, 0.5, 1.0, np.inf]) | st.floats(0.0, 1.0)
    return draw(hnp.arrays(np.float64, size, elements=level, fill=st.nothing()))


@st.composite
def rules(draw, p):
    """One of each kind: a half, the three plug-in rules, and any thresholds."""
    n, m = p.shape
    found = find_half_max(outputs_of(p))
    return [
        MeshRule("0.5", np.full(m, 0.5)),
        *(found.rule(average, average) for average in AVERAGES),
        MeshRule("nobody", np.full(m, np.inf)),
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
    chosen += [MeshRule("some", rng.random(6)), MeshRule("nobody", np.full(6, np.inf))]
    for one in judge(outputs_of(p), sparse.csr_array(y), chosen):
        made = np.array(naive_mesh.predictions(p, one.rule.of_labels, one.rule.of_documents), int)
        for average in AVERAGES:
            expected = f1_score(y, made, average=average, zero_division=0)
            assert getattr(one, average) == pytest.approx(expected, rel=1e-12)


# --- ridge ---


@st.composite
def learned_from(draw):
    """Factors and truth: one factor, more factors than documents, constants, ties, tiny ones."""
    n, k, m = draw(st.integers(3, 8)), draw(st.integers(1, 10)), draw(st.integers(1, 4))
    kind = draw(st.sampled_from(["any", "any", "ties", "constant", "tiny"]))
    element = st.sampled_from([0.0, 0.25, 0.5]) if kind == "ties" else st.floats(-1, 1, width=32)
    factors = draw(hnp.arrays(np.float32, (n, k), elements=element, fill=st.nothing()))
    if kind == "constant":
        factors[:] = factors[0]
    return factors * np.float32(1e-5 if kind == "tiny" else 1.0), draw(truths((n, m)))


def ridge_of(factors, y):
    return Ridge.of(factors, sparse.csr_array(y))


@FEW
@given(learned_from(), st.sampled_from([0, 3, 11, 22]), st.data())
def test_weights_are_those_of_scikit_learn(case, place, data):
    factors, y = case
    ridge = ridge_of(factors, y)
    which = data.draw(hnp.arrays(np.intp, y.shape[1], elements=st.integers(place, 22)))
    penalties = ridge.tried[which]
    new = np.concatenate(
        [
            factors,
            data.draw(
                hnp.arrays(np.float32, (2, factors.shape[1]), elements=st.floats(-1, 1, width=32))
            ),
        ]
    )
    got = ridge.rates + (new - ridge.mean) @ ridge.rotation @ ridge.weights(penalties)
    model = naive_mesh.fit_ridge(factors, y, penalties)
    expected = model.predict(new.astype(np.float64)).reshape(got.shape)
    size = 1.0 + np.abs(new).sum(axis=1).max() * np.abs(model.coef_).max()
    assert np.allclose(got, expected, rtol=0.0, atol=1e-10 * size)


@FEW
@given(learned_from())
def test_errors_of_leaving_documents_out_and_the_penalties_of_the_least(case):
    factors, y = case
    ridge = ridge_of(factors, y)
    expected = naive_mesh.left_out_errors(factors, y, ridge.tried)
    got = ridge.compare()
    assert got.shape == expected.shape
    assert np.allclose(got, expected, rtol=1e-7, atol=1e-9)
    for penalty, row in zip(ridge.tried, got, strict=True):
        assert np.allclose(ridge.left_out_errors(float(penalty)), row, rtol=1e-12)
    assert np.all(np.diff(ridge.tried) > 0)
    [shared] = set(ridge.choose("shared").tolist())
    assert shared in ridge.tried
    assert expected.sum(axis=1)[ridge.tried == shared] <= expected.sum(axis=1).min() + 1e-9
    for j, penalty in enumerate(ridge.choose("per-label").tolist()):
        assert penalty in ridge.tried
        assert expected[ridge.tried == penalty, j] <= expected[:, j].min() + 1e-9
        if not y[:, j].any():  # all are as good, to the last bit
            assert penalty == ridge.tried[-1]


def test_among_equal_penalties_the_largest_is_chosen():
    ridge = ridge_of(np.eye(4, 2), np.eye(4, dtype=np.int8))
    errors = np.ones((len(ridge.tried), 4))
    errors[[3, 7], 1] = 0.0
    assert ridge.pick("per-label", errors).tolist() == ridge.tried[[-1, 7, -1, -1]].tolist()
    assert set(ridge.pick("shared", errors)) == {ridge.tried[7]}
    assert set(ridge.choose(0.3)) == {0.3}


@FEW
@given(learned_from(), st.booleans(), st.data())
def test_outputs_without_the_document_itself(case, shared, data):
    factors, y = case
    ridge = ridge_of(factors, y)
    places = st.integers(0, 22)
    which = data.draw(hnp.arrays(np.intp, y.shape[1], elements=places, fill=places))
    penalties = ridge.tried[which[:1] if shared else which]
    penalties = np.broadcast_to(penalties, y.shape[1])
    made = left_out_outputs(ridge, penalties)
    expected = naive_mesh.left_out_outputs(factors, y, penalties)
    remaining = 1.0 - ridge.leverages(penalties)  # what float32 rounds is divided by this
    error = np.abs(made.whole() - np.clip(expected, 0.0, 1.0))
    assert np.all(error <= 2e-6 / remaining)


def test_a_document_that_alone_makes_its_output_cannot_be_left_out():
    ridge = ridge_of(np.eye(4), np.eye(4, dtype=np.int8))
    with pytest.raises(ValueError, match="penalty must be larger; with 1e-30 some document"):
        left_out_outputs(ridge, np.array([1e-30, 1.0, 1.0, 1.0]))


def test_left_out_outputs_of_some_documents():
    rng = np.random.default_rng(0)
    factors, y = rng.normal(size=(12, 3)), (rng.random((12, 5)) < 0.3).astype(np.int8)
    made = left_out_outputs(ridge_of(factors, y), np.array([0.1, 5.0, 0.1, 1.0, 5.0]))
    rows = np.array([7, 1, 1, 11])
    assert made.left_out.leverages.shape == (12, 3)
    assert np.allclose(made[rows].whole(), made.whole()[rows], atol=1e-6)


@pytest.mark.parametrize("penalty", ["shared", "per-label", 0.5])
def test_penalties_of_a_stage(penalty):
    ridge = ridge_of(np.eye(6, 3), np.eye(6, dtype=np.int8))
    told = []
    stages = Stages(None, told.append)
    assert np.array_equal(choose_penalties(ridge, penalty, stages, None), ridge.choose(penalty))
    assert [stage.name for stage in told] == [f"penalties {penalty}"]


# --- labels ---

meshes = st.lists(
    st.lists(st.sampled_from("ABCDE"), unique=True, max_size=4).map(tuple), min_size=1, max_size=8
)


def headings_of(mesh):
    names = list(naive_mesh.counts(mesh))
    codes = [names.index(term) for terms in mesh for term in terms]
    offsets = np.cumsum([0, *map(len, mesh)])
    return Headings(offsets, np.array(codes, np.int32), names)


@FEW
@given(meshes, st.data())
def test_terms_of_documents_as_a_matrix(mesh, data):
    headings = headings_of(mesh)
    rows = data.draw(
        st.lists(st.integers(0, len(mesh) - 1), max_size=6).map(lambda r: np.array(r, int))
    )
    terms = data.draw(st.lists(st.sampled_from("ABCDEZ"), unique=True, min_size=1))
    codes = codes_of(headings, terms)
    assert codes.tolist() == [
        headings.names.index(term) if term in headings.names else -1 for term in terms
    ]
    matrix = truth_of(headings, rows, codes)
    assert matrix.format == "csr"
    assert matrix.dtype == np.int8
    assert matrix.shape == (len(rows), len(terms))
    assert matrix.has_sorted_indices
    assert matrix.toarray().tolist() == naive_mesh.truth([mesh[i] for i in rows], terms)


@given(meshes, st.integers(1, 4), st.data())
def test_frequent_terms(mesh, least, data):
    headings = headings_of(mesh)
    rows = data.draw(
        st.lists(st.integers(0, len(mesh) - 1), unique=True).map(lambda r: np.array(r, int))
    )
    counts = naive_mesh.counts([mesh[i] for i in rows])
    expected = [name for name, count in counts.items() if count >= least]
    if expected:
        found = frequent_terms(headings, rows, least)
        assert [headings.names[code] for code in found] == expected
    else:
        most = max(counts.values(), default=0)
        words = f"the most frequent one has {most}" if headings.names else "there are none"
        with pytest.raises(ValueError, match=f"min_count must leave some terms.*: {words}"):
            frequent_terms(headings, rows, least)


def test_a_term_of_exactly_so_many_documents_is_frequent():
    headings = headings_of([("A", "B"), ("B",), ("C", "B", "A"), ()])
    every = np.arange(4)
    assert [frequent_terms(headings, every, least).tolist() for least in (1, 2, 3)] == [
        [0, 1, 2],
        [0, 1],
        [1],
    ]


# --- words ---

TEXTS = [
    "Cats and dogs and cats.",
    "A dog",
    "",
    "Cats; the \N{DOUBLE-STRUCK CAPITAL R}n, naïve\ncats' CATS",
    "and 12 x",
]


def test_words_are_those_of_scikit_learn():
    words, matrix = learn_words(iter(TEXTS), 1000)
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    expected = vectorizer.fit_transform(TEXTS)
    assert words.vocabulary == vectorizer.get_feature_names_out().tolist()
    assert words.idf.dtype == matrix.dtype == np.float32
    for found in (matrix, words.matrix(TEXTS), words.matrix(iter(TEXTS))):
        assert found.dtype == np.float32
        assert np.array_equal(found.toarray(), expected.toarray())
    new = ["Dogs, dogs, and whatever", ""]
    assert np.array_equal(words.matrix(new).toarray(), vectorizer.transform(new).toarray())


def test_the_most_frequent_words_are_kept():
    words, matrix = learn_words(TEXTS, 2)
    assert words.vocabulary == ["and", "cats"]
    assert np.array_equal(words.matrix(TEXTS).toarray(), matrix.toarray())


@pytest.mark.parametrize("texts", [[], [""], ["", "a . b", "!"]])
def test_texts_without_words_are_refused(texts):
    with pytest.raises(ValueError, match="titles and abstracts must have words; they have none"):
        learn_words(texts, 10)


# --- settings ---


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"rank": 0}, ValueError, "rank must be a whole number, 1 or more; got 0"),
        ({"rank": 2.5}, ValueError, "rank must be a whole number, 1 or more; got 2.5"),
        ({"rank": True}, ValueError, "rank must be a whole number"),
        ({"rank": "7"}, ValueError, "rank must be a whole number, 1 or more; got '7'"),
        ({"min_count": 0}, ValueError, "min_count must be a whole number, 1 or more; got 0"),
        ({"min_count": None}, ValueError, "min_count must be a whole number"),
        ({"max_words": 1}, ValueError, "max_words must be a whole number, 2 or more; got 1"),
        ({"max_words": math.inf}, ValueError, "max_words must be a whole number"),
        ({"seed": -1}, ValueError, "seed must be a whole number, from 0 to 4,294,967,295; got -1"),
        ({"seed": 1 << 32}, ValueError, "seed must be a whole number, from 0 to"),
        ({"penalty": "none"}, ValueError, "'shared', 'per-label' or a number above 0; got 'none'"),
        ({"penalty": 0}, ValueError, "penalty must be .* a number above 0; got 0"),
        ({"penalty": -1.0}, ValueError, "got -1.0"),
        ({"penalty": math.nan}, ValueError, "got nan"),
        ({"penalty": math.inf}, ValueError, "got inf"),
        ({"penalty": True}, TypeError, "got True"),
        ({"penalty": None}, TypeError, "got None"),
    ],
)
def test_wrong_settings_are_told(wrong, error, words):
    with pytest.raises(error, match=words):
        Settings(**wrong)


def test_whole_numbers_of_any_kind_are_kept_as_ints():
    made = Settings(rank=2.0, min_count=np.int64(3), max_words=1e3, seed=np.uint8(7))
    assert made == Settings(rank=2, min_count=3, max_words=1000, seed=7)
    json.dumps([made.rank, made.min_count, made.max_words, made.seed])


def test_the_rank_is_below_what_there_is():
    assert Settings().rank_for(1000, 5000) == 200
    assert Settings().rank_for(1000, 50) == 49
    assert Settings().rank_for(3, 50) == 2
    assert Settings(rank=49).rank_for(1000, 50) == 49
    with pytest.raises(ValueError, match=r"below the number of documents \(1,000\) .* \(50\)"):
        Settings(rank=50).rank_for(1000, 50)
    with pytest.raises(ValueError, match="two different words or more; they have 1"):
        Settings().rank_for(1000, 1)


# --- stages ---


class Work:
    """Two stages that count how often they are made."""

    def __init__(self, folder):
        self.folder, self.made, self.told = folder, [], []

    def run(self, first=1, second="x"):
        stages = Stages(self.folder, self.told.append)
        one = stages.run("the first", first, lambda: self._make("first", first))
        two = stages.run("second", {"of": second}, lambda: self._make("second", len(second)))
        return one["a"].tolist(), two["a"].tolist()

    def _make(self, name, value):
        self.made.append(name)
        return {"a": np.full(2, value), "b": np.zeros((0, 3), np.float32)}


def test_a_stage_is_made_once_for_the_same(tmp_path):
    work = Work(tmp_path / "new" / "folder")
    assert work.run() == work.run() == ([1, 1], [1, 1])
    assert work.made == ["first", "second"]
    assert [(stage.name, stage.reused) for stage in work.told] == [
        ("the first", False),
        ("second", False),
        ("the first", True),
        ("second", True),
    ]
    assert all(stage.seconds >= 0.0 for stage in work.told)
    assert all(stage.peak_bytes is None or stage.peak_bytes > 0 for stage in work.told)


def test_a_stage_is_made_again_when_it_or_one_before_is_another(tmp_path):
    work = Work(tmp_path)
    work.run()
    assert work.run(second="xy") == ([1, 1], [2, 2])
    assert work.made == ["first", "second", "second"]
    assert work.run(first=5) == ([5, 5], [1, 1])
    assert work.made == ["first", "second", "second", "first", "second"]
    assert work.run() == ([1, 1], [1, 1])
    assert len(work.made) == 5


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "flipped", "locked", "later version"])
def test_a_damaged_stage_is_made_again(tmp_path, damage):
    work = Work(tmp_path)
    work.run()
    [path] = tmp_path.glob("the-first-*.npz")
    path.write_bytes(DAMAGES[damage](path.read_bytes()))
    assert work.run() == ([1, 1], [1, 1])
    assert work.made == ["first", "second", "first"]
    work.run()
    assert len(work.made) == 3


def test_every_flipped_byte_is_found_or_does_no_harm(tmp_path):
    stages = [Stages(tmp_path) for _ in range(2)]
    stages[0].run("some", None, lambda: {"a": np.arange(2)})
    [path] = tmp_path.iterdir()
    whole = path.read_bytes()
    for place in range(0, len(whole), 5):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        arrays = Stages(tmp_path).run("some", None, lambda: {"a": np.arange(2)})
        assert {name: array.tolist() for name, array in arrays.items()} == {"a": [0, 1]}


def test_without_a_folder_nothing_is_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    work = Work(None)
    assert work.run() == work.run()
    assert work.made == ["first", "second"] * 2
    assert not any(stage.reused for stage in work.told)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a stage that makes a file needs a folder"):
        Stages(None).file("records", 1, lambda path: path.write_text(""), Path.read_text)


def test_an_error_leaves_no_file(tmp_path):
    def fail(*_):
        raise ZeroDivisionError

    told = []
    stages = Stages(tmp_path, told.append)
    with pytest.raises(ZeroDivisionError):
        stages.run("some", 1, fail)
    with pytest.raises(ZeroDivisionError):
        stages.file("some", 1, fail, Path.read_text)
    assert list(tmp_path.iterdir()) == told == stages.done == []


def test_a_file_of_a_stage_is_made_once(tmp_path):
    made = []

    def run(what):
        stages = Stages(tmp_path)

        def make(path):
            made.append(path.write_text(what))

        text = stages.file("some records", what, make, Path.read_text)
        after = stages.run("after", None, lambda: {"a": np.array(len(made))})
        assert text == what
        return [stage.reused for stage in stages.done], int(after["a"])

    assert run("x") == ([False, False], 1)
    assert run("x") == ([True, True], 1)
    assert run("y") == ([False, False], 2)


def test_a_damaged_file_of_a_stage_is_made_again(tmp_path):
    def opened(path):
        if path.read_text() != "whole":
            raise ValueError("it is damaged")
        return path

    def run():
        stages = Stages(tmp_path)
        path = stages.file("records", 1, lambda path: path.write_text("whole"), opened)
        return path, stages.done[0].reused

    path, reused = run()
    assert not reused
    path.write_text("who")
    assert run() == (path, False)
    assert run() == (path, True)


def test_changed_files_have_another_fingerprint(tmp_path):
    path = tmp_path / "some"
    path.write_text("x")
    os.utime(path, ns=(1, 1))
    first = fingerprint([path])
    assert fingerprint([path]) == first == json.loads(json.dumps(first))
    os.utime(path, ns=(1, 2_000_000_000))
    later = fingerprint([path])
    path.write_text("xy")
    os.utime(path, ns=(1, 1))
    assert len({json.dumps(one) for one in (first, later, fingerprint([path]))}) == 3


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]))))
def test_texts_are_bytes_and_texts_again(texts):
    assert decode_texts(encode_texts(texts)) == texts


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2)))
def test_sparse_matrices_are_arrays_and_matrices_again(dense):
    matrix = sparse.csr_array(dense)
    again = unpack_sparse("some", pack_sparse("some", matrix))
    assert again.shape == matrix.shape
    assert (again.dtype, again.data.tobytes()) == (matrix.dtype, matrix.data.tobytes())
    assert np.array_equal(again.indices, matrix.indices)
    assert np.array_equal(again.indptr, matrix.indptr)


# --- from records to tags ---

TOPICS = {
    "Aspirin": "aspirin pain fever tablet dose platelet",
    "Heart": "heart artery vessel pressure failure beat",
    "Liver": "liver bile hepatic enzyme cirrhosis jaundice",
    "Bone": "bone fracture calcium joint growth density",
}
RANK = 5  # not the number of terms


def made_records(seed, n, start=0):
    rng = np.random.default_rng(seed)
    names = list(TOPICS)
    for i in range(start, start + n):
        own = [name for name in names if rng.random() < 0.35]
        words = [word for name in own for word in rng.choice(TOPICS[name].split(), 3)]
        words += rng.choice(["we", "study", "results", "patients", "method"], 3).tolist()
        mesh = own + ["Humans"] * (rng.random() < 0.8) + ["Rare"] * (i in (3, 60))
        abstract = " ".join(words[2:]) if i % 4 else ""
        yield Record(str(i), " ".join(words[:2]), abstract, tuple(mesh) if i % 9 else ())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return Corpus.write(made_records(1, 90), tmp_path_factory.mktemp("mesh") / "learned.arrow")


@pytest.fixture(scope="module")
def unseen(tmp_path_factory):
    odd = [Record("900", "heart beat", "", ("Heart", "Never seen", "Nor this"))]
    odd += [Record("901", "", "", ("Unknown",)), Record("902", "bone", "", ())]
    path = tmp_path_factory.mktemp("mesh") / "unseen.arrow"
    return Corpus.write([*made_records(2, 30, 100), *odd], path)


@pytest.fixture(scope="module")
def fitted(corpus):
    return fit_tagger(corpus, Settings(rank=RANK, penalty="per-label"))


def learned(corpus):
    """Texts and terms of the records that have any."""
    records = [record for record in corpus.records() if record.mesh]
    return [record.text for record in records], [record.mesh for record in records]


def scores_of(model, texts):
    return model.outputs(model.factors(texts)).whole()


def terms_of(tags):
    return [[tag.term for tag in row] for row in tags]


def test_the_model_is_scikit_learns(corpus, fitted):
    texts, mesh = learned(corpus)
    counts = naive_mesh.counts(mesh)
    y = np.array(naive_mesh.truth(mesh, list(counts)))
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    svd = TruncatedSVD(RANK, random_state=0)
    factors = svd.fit_transform(vectorizer.fit_transform(texts))
    model = naive_mesh.fit_ridge(factors, y, fitted.penalties)
    new = ["heart failure", "aspirin and liver enzymes", "", "unheard of"]
    for some in (texts, new):
        expected = model.predict(svd.transform(vectorizer.transform(some)).astype(np.float64))
        assert np.allclose(scores_of(fitted, some), np.clip(expected, 0.0, 1.0), atol=1e-5)
    assert fitted.terms == list(counts)
    assert fitted.counts.tolist() == list(counts.values())
    assert fitted.n_documents == len(texts)
    assert repr(fitted) == (
        f"Tagger({len(counts)} terms, {len(fitted.words.vocabulary)} words, rank {RANK}, "
        f"fitted on {len(texts)} documents)"
    )


def test_thresholds_are_tuned_on_outputs_without_the_document(corpus, fitted):
    texts, mesh = learned(corpus)
    y = np.array(naive_mesh.truth(mesh, fitted.terms))
    made = left_out_outputs(ridge_of(fitted.factors(texts), y), fitted.penalties).whole()
    for average in AVERAGES:
        expected = hm.tune(y, made, average=average, guard="auto").thresholds
        assert np.allclose(fitted.thresholds[average], expected, rtol=1e-3)


def test_thresholds_are_tuned_on_as_many_documents_as_fit(monkeypatch):
    rng = np.random.default_rng(8)
    p = rng.random((50, 4)).astype(np.float32)
    y = sparse.csr_array((rng.random((50, 4)) < p).astype(np.float64))
    expected = hm.tune(y, p, average="micro").thresholds
    assert np.array_equal(tune_left_out(outputs_of(p), y, "micro", None, 0), expected)
    monkeypatch.setitem(fit._MOST_SCORES, "micro", 4 * 20)
    rows = np.sort(np.random.default_rng(3).permutation(50)[:20])
    expected = hm.tune(y[rows], p[rows], average="micro").thresholds
    assert np.array_equal(tune_left_out(outputs_of(p), y, "micro", None, 3), expected)
    monkeypatch.setitem(fit._MOST_SCORES, "micro", 1)
    assert tune_left_out(outputs_of(p), y, "micro", None, 3).shape == (4,)


@pytest.mark.parametrize("average", ["macro", "micro", "samples", "instance"])
@pytest.mark.parametrize("rule", ["auto", "plug-in"])
def test_tags_are_what_the_rule_predicts(corpus, fitted, average, rule):
    texts = [*corpus.texts()][:25]
    scores = scores_of(fitted, texts)
    name = "samples" if average == "instance" else average
    chosen = MeshRule("", fitted.thresholds[name])
    if rule == "plug-in":
        chosen = find(scores).rule(name, "")
    predicted = naive_mesh.predictions(scores, chosen.of_labels, chosen.of_documents)
    tags = fitted.tag(iter(texts), average, rule)
    assert len(tags) == len(texts)
    for row, chosen_terms, own in zip(tags, predicted, scores, strict=True):
        expected = [j for j in range(len(own)) if chosen_terms[j]]
        expected.sort(key=lambda j: (-own[j], j))
        assert row == [Tag(fitted.terms[j], pytest.approx(own[j], abs=1e-6)) for j in expected]
        assert all(type(tag.score) is float for tag in row)


def test_tags_find_the_topics(fitted):
    for term, words in TOPICS.items():
        [row] = fitted.tag([f"We study {words}"])
        assert {term} <= {tag.term for tag in row} <= {term, "Humans"}


def test_plug_in_tags_depend_on_the_batch(fitted):
    """Alone, a text gets every term that has a chance; beside others only what stands out."""
    text, others = "heart failure", ["aspirin dose", "bone fracture", "liver bile", "heart beat"]
    [alone] = terms_of(fitted.tag([text], "macro", "plug-in"))
    beside = terms_of(fitted.tag([text, *others], "macro", "plug-in"))[0]
    [scores] = scores_of(fitted, [text])
    assert set(alone) == {fitted.terms[j] for j in np.flatnonzero(scores > 0.0)}
    assert set(beside) < set(alone)
    assert "Heart" in beside


@pytest.mark.parametrize(
    ("average", "rule"), [(a, "auto") for a in AVERAGES] + [("samples", "plug-in")]
)
def test_other_tags_do_not_depend_on_the_batch(corpus, fitted, average, rule):
    texts = [*corpus.texts()][:12]
    together = fitted.tag(texts, average, rule)
    with changed(output_block_entries=1, texts_at_once=5):
        assert terms_of(fitted.tag(texts, average, rule)) == terms_of(together)
        alone = [fitted.tag([text], average, rule)[0] for text in texts]
    assert terms_of(alone) == terms_of(together)
    assert any(together)
    for one, other in zip(alone, together, strict=True):
        pairs = zip(one, other, strict=True)
        assert all(a.score == pytest.approx(b.score, abs=1e-6) for a, b in pairs)


@pytest.mark.parametrize("rule", ["auto", "plug-in"])
@pytest.mark.parametrize("average", AVERAGES)
def test_few_texts_or_none(fitted, average, rule):
    assert fitted.tag([], average, rule) == []
    assert len(fitted.tag(["", "unheard"], average, rule)) == 2


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ({"texts": "heart failure"}, TypeError, "texts must be a list .* 'heart failure'"),
        ({"texts": ["x"], "average": "binary"}, ValueError, "average must be .* got 'binary'"),
        ({"texts": ["x"], "rule": "best"}, ValueError, "rule must be 'auto' or 'plug-in'; got"),
        ({"texts": ["x"], "progress": 3}, TypeError, "progress must be True .* got 3"),
    ],
)
def test_wrong_calls_of_tag_are_told(fitted, call, error, words):
    with pytest.raises(error, match=words):
        fitted.tag(**call)


def test_progress_of_tags_counts_the_texts(fitted):
    told = []
    fitted.tag(["heart", "bone"], "macro", "plug-in", progress=lambda *of: told.append(of))
    assert told[0] == (2, 0)  # nobody knows how many texts will come
    assert told[-1] == (2, 2)


def test_stages_of_fitting(tmp_path, corpus, monkeypatch):
    cuts = np.full(6, 0.25)
    monkeypatch.setattr(fit, "tune_left_out", lambda *_: cuts)  # the slow part

    def run(**kwargs):
        stages = Stages(tmp_path)
        model = fit_tagger(corpus, Settings(**{"rank": RANK} | kwargs), stages)
        names = [stage.name.split()[0] for stage in stages.done]
        assert names == ["words", "factors", "penalties", "thresholds"]
        return model, [stage.reused for stage in stages.done]

    first, made = run()
    assert made == [False] * 4
    again, made = run()
    assert made == [True] * 4
    assert as_bytes(first) == as_bytes(again) == as_bytes(fit_tagger(corpus, Settings(rank=RANK)))
    assert run(penalty=3.5)[1] == [True, True, False, False]
    assert run(min_count=3)[1] == [True, True, False, False]
    assert run(rank=3)[1] == [True, False, False, False]
    assert run(seed=3)[1] == [True, False, False, False]
    assert run(max_words=20)[1] == [False] * 4


def test_settings_are_followed(corpus):
    _, mesh = learned(corpus)
    model = fit_tagger(corpus, Settings(penalty=2.5, min_count=3, max_words=10))
    assert model.terms == [name for name, count in naive_mesh.counts(mesh).items() if count >= 3]
    assert "Rare" not in model.terms
    assert set(model.penalties) == {2.5}
    assert len(model.words.vocabulary) == 10
    assert model.offset.shape == (9,)
    assert len(set(fit_tagger(corpus).penalties)) == 1


def write_some(tmp_path, texts, mesh=("A",)):
    records = [Record(str(i), text, "", mesh) for i, text in enumerate(texts)]
    return Corpus.write(records, tmp_path / "some.arrow")


@pytest.mark.parametrize(
    ("texts", "mesh", "chosen", "words"),
    [
        (["cat dog"] * 5, (), {}, "3 records with MeSH terms or more .* got 0 among 5 records"),
        (["cat dog"] * 2, ("A",), {}, "3 records with MeSH terms or more .* got 2 among 2"),
        ([], (), {}, "got 0 among 0 records"),
        (["cat dog"] * 5, ("A",), {"min_count": 6}, "no term has 6 of the 5 .* one has 5"),
        (["cat dog"] * 5, ("A",), {"rank": 2}, r"rank must be below .* \(2\); got 2"),
        (["cat dog rat"] * 3, ("A",), {"rank": 3}, r"documents \(3\) and of words \(3\); got 3"),
        (["a b", "", "!"], ("A",), {}, "must have words; they have none"),
        (["cat", "", "cat"], ("A",), {}, "two different words or more; they have 1"),
        (["cat", "dog", "rat"], ("A",), {"penalty": 1e-30}, "penalty must be larger"),
    ],
)
def test_records_that_cannot_be_learned_from(tmp_path, texts, mesh, chosen, words):
    with pytest.raises(ValueError, match=words):
        fit_tagger(write_some(tmp_path, texts, mesh), Settings(**chosen))


@pytest.mark.parametrize("penalty", ["shared", "per-label", 1e-3, 1e9])
@pytest.mark.parametrize("texts", [["cat dog"] * 4, ["cat dog", "dog rat", "rat"]])
def test_few_documents_and_texts_that_are_all_the_same(tmp_path, texts, penalty):
    model = fit_tagger(write_some(tmp_path, texts), Settings(penalty=penalty))
    assert np.allclose(scores_of(model, [*texts, ""]), 1.0, atol=1e-5)
    assert len(model.tag(texts)) == len(texts)


# --- the file ---


def as_bytes(model):
    parts = [model.counts, model.words.idf, model.loadings, model.offset, model.weights]
    parts += [model.intercept, model.penalties, *(model.thresholds[name] for name in AVERAGES)]
    arrays = [(part.dtype.str, part.shape, part.tobytes()) for part in parts]
    return model.terms, model.n_documents, model.words.vocabulary, arrays


def test_a_kept_model_is_the_same_to_the_last_bit(tmp_path, corpus, fitted):
    path = tmp_path / "some.tagger"
    fitted.save(path)
    again = Tagger.load(os.fspath(path))
    assert as_bytes(again) == as_bytes(fitted)
    assert repr(again) == repr(fitted)
    texts = [*corpus.texts()]
    for average in AVERAGES:
        for rule in tagger.RULES:
            assert again.tag(texts, average, rule) == fitted.tag(texts, average, rule)
    again.save(tmp_path / "again")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again", "some.tagger"]


def test_a_kept_model_is_replaced_only_when_told(tmp_path, fitted):
    path = tmp_path / "model"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        fitted.save(path, overwrite=False)
    assert path.read_text() == "mine"
    fitted.save(path)
    assert Tagger.load(path).terms == fitted.terms
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fitted.save(tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        Tagger.load(tmp_path / "nothing")


def flipped(raw, mark, offset, bits):
    """The bits of one byte changed, so many bytes behind the first mark."""
    place = raw.index(mark) + offset
    return raw[:place] + bytes([raw[place] ^ bits]) + raw[place + 1 :]


CENTRAL = b"PK\x01\x02"  # where zip says what is inside
DAMAGES = {
    "cut": lambda raw: raw[: 2 * len(raw) // 3],
    "empty": lambda _: b"",
    "text": lambda _: b"just some words",
    "flipped": lambda raw: flipped(raw, b"NUMPY", -1, 1),
    "locked": lambda raw: flipped(raw, CENTRAL, 8, 1),
    "later version": lambda raw: flipped(raw, CENTRAL, 6, 0x80),
    "misplaced": lambda raw: flipped(raw, b"PK\x05\x06", 18, 0x80),
}


def members_of(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, how=zipfile.ZIP_STORED):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return raw.getvalue()


def npy(array, **header):
    """A file of numpy, whose header may lie about what follows."""
    raw = io.BytesIO()
    if header:
        plain = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(raw, plain | header)
        return raw.getvalue() + array.tobytes()
    np.lib.format.write_array(raw, np.asarray(array), allow_pickle=True)
    return raw.getvalue()


def array_in(content):
    return np.lib.format.read_array(io.BytesIO(content))


def altered(name, change):
    """The same file with one array changed."""

    def apply(raw):
        members = members_of(raw)
        return packed(members | {f"{name}.npy": npy(change(array_in(members[f"{name}.npy"])))})

    return apply


def replaced(name, content):
    return lambda raw: packed(members_of(raw) | {f"{name}.npy": content})


def without(name):
    def apply(raw):
        members = members_of(raw)
        del members[f"{name}.npy"]
        return packed(members)

    return apply


def with_value(value):
    def change(array):
        array = array.copy()
        array.flat[-1] = value
        return array

    return change


class Bomb:
    """Makes a folder when unpickled."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def texts_as(words):
    return npy(np.frombuffer(words.encode(), np.uint8))


BOMB = npy(np.array([Bomb()], object))
LATER = npy(encode_texts(["halfmax.tagger", "2"]))
FLOATS = np.zeros(4, np.float32)
HOSTILE = [
    *((name, damage, "") for name, damage in DAMAGES.items()),
    ("a pickle", lambda _: pickle.dumps(Bomb()), "zip"),
    ("one array", lambda _: BOMB, "zip"),
    ("no members", lambda _: packed({}), "it has no 'format'"),
    ("compressed", lambda raw: packed(members_of(raw), zipfile.ZIP_DEFLATED), "compressed"),
    ("another format", replaced("format", npy(encode_texts(["else", "1"]))), "the format"),
    ("a later version", replaced("format", LATER), "version 1"),
    ("no weights", without("weights"), "it has no 'weights'"),
    ("no terms", without("terms"), "it has no 'terms'"),
    ("no thresholds", without("thresholds_micro"), "it has no 'thresholds_micro'"),
    ("no array", replaced("idf", b"some words"), "magic"),
    ("a cut array", replaced("idf", BOMB[:40]), ""),
    ("an object array", replaced("idf", BOMB), "[Oo]bject"),
    ("terms as objects", replaced("terms", BOMB), "[Oo]bject"),
    ("format as objects", replaced("format", BOMB), "[Oo]bject"),
    ("float64", altered("weights", np.float64), "weights must be float32 of shape .* not float64"),
    ("other order", altered("idf", lambda a: a.astype(">f4")), "idf must be float32 .* not >f4"),
    ("words", altered("penalties", lambda a: a.astype("U9")), "penalties must be float64"),
    ("fields", altered("idf", lambda a: a.view([("a", "f4")])), "idf must be float32"),
    ("transposed", altered("weights", np.transpose), r"weights must be float32 of shape \(5, 6\)"),
    ("too short", altered("counts", lambda a: a[1:]), r"counts must be int64 of shape \(6,\)"),
    ("a number", altered("offset", lambda a: a[0]), "must be float32 of shape"),
    ("a matrix", altered("documents", lambda a: a[:, None]), r"shape \(\d+,\), not uint64 .*, 1\)"),
    ("another rank", altered("offset", lambda a: a[1:]), "loadings must be float32 of shape"),
    ("NaN", altered("loadings", with_value(np.nan)), "loadings must be numbers; some are not"),
    ("infinite", altered("weights", with_value(np.inf)), "weights must be numbers; some are not"),
    ("NaN cut", altered("thresholds_macro", with_value(np.nan)), "thresholds_macro must be"),
    ("NaN penalty", altered("penalties", with_value(np.nan)), "penalties must be numbers"),
    ("huge", replaced("idf", npy(FLOATS, shape=(1 << 42,))), ""),
    ("beyond int64", replaced("idf", npy(FLOATS, shape=(1 << 62, 4))), ""),
    ("beyond all", replaced("idf", npy(FLOATS, shape=(1 << 70,))), ""),
    ("negative", replaced("idf", npy(FLOATS, shape=(-1,))), ""),
    ("cut data", replaced("idf", npy(FLOATS, shape=(9,))), ""),
    ("odd type", replaced("idf", npy(FLOATS, descr="q" * 99)), ""),
    ("odd header", replaced("idf", npy(FLOATS).replace(b"(4,)", b"(4, ")), ""),
    ("no header", replaced("idf", npy(FLOATS).replace(b"{", b"\n ")), ""),
    ("twice", replaced("vocabulary", texts_as('["x", "y", "x"]')), "vocabulary must .* each once"),
    ("terms twice", replaced("terms", texts_as('["x", "x"]')), "terms must be there, each once"),
    ("none", replaced("terms", texts_as("[]")), "terms must be there, each once"),
    ("numbers", replaced("terms", texts_as("[1, 2]")), "expected a list of texts"),
    ("an object", replaced("terms", texts_as('{"a": "b"}')), "expected a list of texts"),
    ("no JSON", replaced("terms", texts_as("[")), "line 1"),
    ("deep", replaced("terms", texts_as("[" * 100_000)), ""),
    ("no text", replaced("terms", npy(np.full(3, 255, np.uint8))), ""),
    ("float texts", replaced("terms", npy(FLOATS)), "cast"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "words"), [one[1:] for one in HOSTILE], ids=[one[0] for one in HOSTILE]
)
def test_damaged_and_hostile_files_are_refused(tmp_path, fitted, monkeypatch, damage, words):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.tagger"
    fitted.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"(?s)some.tagger is not a tagger of halfmax: .*{words}"):
        Tagger.load(path)
    assert [one.name for one in tmp_path.iterdir()] == ["some.tagger"]


def test_the_bomb_of_these_files_is_live(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.lib.format.read_array(io.BytesIO(BOMB), allow_pickle=True)
    assert (tmp_path / "exploded").is_dir()


def test_every_cut_of_a_file_is_refused(tmp_path, fitted):
    path = tmp_path / "model"
    fitted.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="is not a tagger of halfmax"):
            Tagger.load(path)


# --- evaluating ---


def test_evaluation_counts_what_tags_say(fitted, unseen):
    found = evaluate(fitted, unseen)
    texts, mesh = learned(unseen)
    known = [[term for term in terms if term in fitted.terms] for terms in mesh]
    assert found.tagger is fitted
    assert found.n_documents == len(texts)
    assert found.n_seen == 0
    assert found.n_headings == sum(map(len, mesh))
    assert found.n_unknown == found.n_headings - sum(map(len, known)) == 3
    names = [f"{rule} {average}" for rule in ("plug-in", "auto") for average in AVERAGES]
    assert [one.rule.name for one in found.judged] == ["0.5", *names]
    for one in found.judged:
        assert one.positives.tolist() == [sum(t in row for row in known) for t in fitted.terms]
        assert one.positives_of_documents.tolist() == [len(row) for row in known]
        if one.rule.name == "0.5":
            assert one.predicted.tolist() == (scores_of(fitted, texts) >= 0.5).sum(axis=0).tolist()
            continue
        rule, average = one.rule.name.split()
        tags = terms_of(fitted.tag(texts, average, rule))
        assert one.predicted_of_documents.tolist() == [len(row) for row in tags]
        assert one.predicted.tolist() == [sum(t in row for row in tags) for t in fitted.terms]
        hits = [len({*row} & {*own}) for row, own in zip(tags, known, strict=True)]
        assert one.hits_of_documents.tolist() == hits
        assert one.hits.sum() == sum(hits)


def test_the_model_does_not_depend_on_the_number_of_threads(tmp_path, corpus):
    for threads in (1, 2):
        with threadpool_limits(threads):
            fit_tagger(corpus, Settings(rank=RANK)).save(tmp_path / str(threads))
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_plug_in_rules_of_left_out_outputs(corpus):
    headings = corpus.headings()
    rows = corpus.with_mesh
    truth = truth_of(headings, rows, frequent_terms(headings, rows, 1))
    rng = np.random.default_rng(0)
    ridge = Ridge.of(rng.normal(size=(len(rows), 4)), truth)
    outputs = left_out_outputs(ridge, ridge.choose("per-label"))
    best = find_half_max(outputs)
    again = find_half_max(outputs_of(outputs.whole()))
    assert best.of_labels == pytest.approx(again.of_labels, rel=1e-6)
    assert best.of_documents == pytest.approx(again.of_documents, rel=1e-6)
    assert best.of_all == pytest.approx(again.of_all, rel=1e-6)


def test_records_that_it_was_fitted_on_are_counted(fitted, corpus):
    assert evaluate(fitted, corpus).n_seen == fitted.n_documents == len(corpus.with_mesh)


def test_the_tagger_is_better_than_a_half_on_records_like_those_it_saw(fitted, unseen):
    judged = {one.rule.name: one for one in evaluate(fitted, unseen).judged}
    assert judged["auto micro"].micro >= judged["0.5"].micro - 0.05
    assert judged["auto micro"].micro > 0.7


def test_rules_of_a_batch_are_those_that_tag_uses(fitted):
    made = fitted.outputs(fitted.factors(["heart", "bone density"]))
    rules = {rule.name: rule for rule in rules_of(fitted, made)}
    for average in AVERAGES:
        expected = fitted.rule(made, average, "plug-in")
        for got, want in zip(rules[f"plug-in {average}"][1:], expected[1:], strict=True):
            assert np.array_equal(got, want)
        assert rules[f"auto {average}"].of_labels is fitted.thresholds[average]


def test_records_without_terms_cannot_be_evaluated_on(tmp_path, fitted):
    some = write_some(tmp_path, ["heart", "bone"], ())
    with pytest.raises(ValueError, match="none of the 2 records has MeSH terms to compare with"):
        evaluate(fitted, some)
