"""Dense truth becomes sparse in the gate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from halfmax._core.gate.arrays import check_binary, open_matrix
from halfmax._core.limits import changed

pytestmark = pytest.mark.kernels

wide = st.tuples(st.integers(1, 4), st.sampled_from([1, 3, 63, 64, 65, 130, 200]))
dtypes = st.sampled_from([np.int8, np.uint8, np.bool_, np.int64, np.float32])


@st.composite
def truths(draw):
    shape = draw(wide)
    share = draw(st.sampled_from([0.0, 0.01, 0.2, 0.5, 1.0]))
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    values = (rng.random(shape) < share).astype(draw(dtypes))
    return np.asfortranarray(values) if draw(st.booleans()) else values


@given(truths() | hnp.arrays(np.int8, wide, elements=st.integers(0, 1)), st.sampled_from([1, 300]))
def test_every_one_is_found_once_and_in_order(truth, block_cells):
    with changed(block_cells=block_cells):
        got = check_binary(open_matrix(truth, "y_true"), "y_true")
    ones = [[j for j, value in enumerate(row) if value] for row in truth.tolist()]
    assert got.shape == truth.shape
    assert np.diff(got.indptr).tolist() == [len(row) for row in ones]
    assert got.indices.tolist() == [j for row in ones for j in row]
    assert (got.data == 1).all()
    assert got.indices.dtype == got.indptr.dtype == np.int32
