"""Arrays of other libraries: anything with ``__array__`` or DLPack is read."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import halfmax as hm

TRUTH = np.array([0, 1, 0, 1, 1])
SCORES = np.array([0.1, 0.9, 0.3, 0.35, 0.8])
EXPECTED = hm.tune(TRUTH, SCORES)


class WithArray:
    """Numbers that are read by ``__array__`` alone, as those of xarray, JAX and TensorFlow."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype, copy=bool(copy))


class WithDLPack:
    """Numbers that are read by DLPack alone, as those of CuPy in memory of the processor."""

    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **how):
        return self.values.__dlpack__(**how)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


class Refusing:
    """A tensor that is not in memory, or that is part of a computation."""

    def __init__(self, error):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        raise self.error


@pytest.mark.parametrize("kind", [WithArray, WithDLPack])
def test_arrays_of_other_libraries_are_read(kind):
    t = hm.tune(kind(TRUTH), kind(SCORES), sample_weight=kind(np.ones(5)))
    assert (t.threshold, t.score) == (EXPECTED.threshold, EXPECTED.score)
    assert_array_equal(t.predict(kind(SCORES)), EXPECTED.predict(SCORES))
    assert hm.score(kind(TRUTH), kind((SCORES > 0.3).astype(int))) == t.score
    matrix = hm.tune(kind(np.stack([TRUTH, TRUTH], 1)), kind(np.stack([SCORES, SCORES], 1)))
    assert_array_equal(matrix.thresholds, [t.threshold] * 2)
    assert hm.decide(kind(SCORES)).expected_score == hm.decide(SCORES).expected_score


@pytest.mark.parametrize("error", [TypeError("on the device"), RuntimeError("requires grad")])
def test_tensors_that_cannot_be_read_say_what_to_pass(error):
    with pytest.raises(TypeError, match=rf"y_score must be readable.*{error}.*y_score.detach\(\)"):
        hm.tune(TRUTH, Refusing(error))


def test_torch_tensors_are_read():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float16, torch.float32, torch.float64):
        t = hm.tune(torch.tensor(TRUTH), torch.tensor(SCORES, dtype=dtype))
        assert t.score == EXPECTED.score
    with pytest.raises(TypeError, match=r"detach\(\).cpu\(\).float\(\).numpy\(\)"):
        hm.tune(TRUTH, torch.tensor(SCORES, requires_grad=True))


def test_data_arrays_of_xarray_are_read():
    xarray = pytest.importorskip("xarray")
    t = hm.tune(xarray.DataArray(TRUTH), xarray.DataArray(SCORES))
    assert (t.threshold, t.score) == (EXPECTED.threshold, EXPECTED.score)
