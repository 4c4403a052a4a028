"""Arrays of other libraries: anything with ``__array__`` or DLPack is read."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import halfmax as hm
from halfmax._core.gate.labels import match_labels

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

    def detach(self):
        """What tensors of PyTorch have, and others do not."""


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


def test_coordinates_of_xarray_name_the_labels():
    xarray = pytest.importorskip("xarray")
    rng = np.random.default_rng(0)
    truth, scores = rng.random((30, 3)) < 0.4, rng.normal(size=(30, 3))

    def named(values, names):
        return xarray.DataArray(values, dims=("doc", "tag"), coords={"tag": list(names)})

    t = hm.tune(named(truth, "abc"), named(scores, "abc"))
    plain = hm.tune(truth, scores, labels=["a", "b", "c"])
    assert t == plain
    assert hm.tune(named(truth[:, ::-1], "cba"), named(scores, "abc")) == plain
    expected = plain.predict(scores)
    assert_array_equal(t.predict(named(scores[:, ::-1], "cba")), expected[:, ::-1])
    more = named(np.column_stack([scores[:, 0], scores]), "zabc")
    assert_array_equal(t.predict(more, unknown="ignore"), expected)
    assert_array_equal(t.predict(more, unknown="never")[:, 1:], expected)
    with pytest.raises(ValueError, match=r"missing from the thresholds: 'z'"):
        t.predict(more)
    with pytest.raises(ValueError, match=r"columns of y_score must not repeat; 'a' came twice"):
        hm.tune(truth, named(scores, "aab"))


class CountedName(str):
    """A name that counts how often it is hashed."""

    __slots__ = ()
    hashed = 0

    def __hash__(self):
        CountedName.hashed += 1
        return super().__hash__()


def test_matching_names_takes_time_that_grows_with_their_number_and_no_faster(monkeypatch):
    names = tuple(CountedName(place) for place in range(1000))
    monkeypatch.setattr(CountedName, "hashed", 0)
    assert match_labels(names, names[::-1], "one", "other") == list(range(999, -1, -1))
    assert CountedName.hashed <= 10 * len(names)

    xarray = pytest.importorskip("xarray")
    t = hm.Thresholds.from_dict(dict.fromkeys(names, 0.5))
    scores = xarray.DataArray(
        np.ones((2, len(names))), dims=("doc", "tag"), coords={"tag": np.array(names, object)}
    )
    monkeypatch.setattr(CountedName, "hashed", 0)
    assert t.predict(scores, unknown="ignore").all()
    assert CountedName.hashed <= 50 * len(names)


def test_rows_of_xarray_are_matched_as_those_of_pandas_are():
    xarray = pytest.importorskip("xarray")
    pandas = pytest.importorskip("pandas")
    truth = xarray.DataArray(TRUTH, dims="doc", coords={"doc": list("abcde")})
    scores = xarray.DataArray(SCORES, dims="doc", coords={"doc": list("abcde")})
    assert hm.tune(truth, scores).threshold == EXPECTED.threshold
    with pytest.raises(ValueError, match=r"same order .* use xarray.align\(\)$"):
        hm.tune(truth, scores[::-1])
    with pytest.raises(ValueError, match=r"same order .* use xarray.align\(\)$"):
        hm.tune(pandas.Series(TRUTH, index=list("edcba")), scores)
    other = scores.assign_coords(doc=list("vwxyz"))
    with pytest.raises(ValueError, match=r"row 0: 'a' and 'v'. Use xarray.* or y_score.values to"):
        hm.tune(truth, other)
    assert hm.tune(truth, other.values) == EXPECTED


@pytest.mark.parametrize("all_columns", [True, False])
def test_sparse_columns_of_pandas_are_read(all_columns):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    truth, scores = rng.random((30, 3)) < 0.4, rng.random((30, 3))
    dense = pandas.DataFrame(truth, columns=list("abc"))
    some = dense.astype(dict.fromkeys("abc" if all_columns else "b", "Sparse[bool]"))
    frame = pandas.DataFrame(scores, columns=list("abc"))
    t = hm.tune(some, frame)
    assert t == hm.tune(dense, frame)
    predicted = t.predict(frame.astype("Sparse[float]"))
    pandas.testing.assert_frame_equal(predicted, t.predict(frame))
    assert hm.tune(some["b"], frame["b"]).threshold == t["b"]
