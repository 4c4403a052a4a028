"""Outputs of the tagger, computed block by block, compared with exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mesh_cases import FEW, outputs_of, truths
from scipy import sparse

from halfmax._core.limits import changed
from halfmax.mesh.model.outputs import LeaveOneOutCorrection, Outputs

pytestmark = pytest.mark.kernels


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
    """Compute every output by itself, in exact fractions."""
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
def test_outputs_of_some_documents_are_those_among_all(made, data):
    n = made.shape[0]
    rows = data.draw(st.lists(st.integers(0, n - 1), max_size=8).map(lambda r: np.array(r, int)))
    first, last = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    for some in (rows, slice(first, last), slice(0)):
        assert np.array_equal(made[some].whole(), made.whole()[some])
        assert made[some].shape == (len(made.factors[some]), made.shape[1])


@FEW
@given(exact_outputs(), st.data())
def test_outputs_of_some_labels_are_those_among_all(made, data):
    made = Outputs(made.factors, made.weights, made.intercept)
    place = st.integers(0, made.shape[1] - 1)
    labels = data.draw(st.lists(place, unique=True).map(lambda places: np.array(places, int)))
    assert np.array_equal(made.of_labels(labels).whole(), made.whole()[:, labels])


def test_no_documents_have_no_blocks():
    assert mapped(outputs_of(np.zeros((0, 3))), 1) == []


def test_errors_in_a_block_are_raised():
    def fail(_block, rows):
        raise ZeroDivisionError(rows.start)

    with pytest.raises(ZeroDivisionError, match="0"):
        list(outputs_of(np.zeros((3, 1))).map(fail))
