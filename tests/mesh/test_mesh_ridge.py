"""The ridge regression and its leave-one-out errors, compared with scikit-learn."""

import naive_mesh
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mesh_cases import FEW, ridge_of, truths

from halfmax.mesh.model.fit import choose_penalties, left_out_outputs
from halfmax.mesh.stages import (
    Stages,
)

pytestmark = pytest.mark.kernels


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
    with pytest.raises(
        ValueError, match="penalty must be larger; with 1e-30 the output for some document"
    ):
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
    reported = []
    stages = Stages(None, reported.append)
    assert np.array_equal(choose_penalties(ridge, penalty, stages, None), ridge.choose(penalty))
    assert [stage.name for stage in reported] == [f"penalties {penalty}"]
