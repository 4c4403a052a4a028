"""Thresholds as ONNX graphs predict the same rows in onnxruntime as they do in Python."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from pyarrow import parquet
from strategies import many_labels, one_classifier

import halfmax as hm

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

INF = float("inf")
TYPES = ("float32", "float64")
OWN = hm.Thresholds.from_dict({"cats": 0.35, "dogs": INF})


def run(model, scores):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (found,) = session.run(["predictions"], {"scores": scores})
    return found


def draw_limits(data, scores, size):
    """Thresholds: scores, the float64 numbers next to them, decimals and infinity."""
    known = np.unique(np.asarray(scores, np.float64))
    known = known[known > -INF].tolist()
    near = [math.nextafter(value, side) for value in known for side in (-INF, INF)]
    some = st.sampled_from([INF, 0.1, 0.35, *known, *(x for x in near if x > -INF)])
    some |= st.floats(allow_nan=False, allow_infinity=False)
    return [data.draw(some) for _ in range(size)]


@given(many_labels(dtypes=(np.float32, np.float64)), st.data())
def test_labels_are_predicted_alike(case, data):
    limits = draw_limits(data, case.s, case.s.shape[1])
    t = hm.Thresholds.from_dict(dict(enumerate(limits)))
    found = run(t.to_onnx(dtype=case.s.dtype), case.s)
    assert found.dtype == np.int64
    assert_array_equal(found, t.predict(case.s))


@given(one_classifier(dtypes=(np.float32, np.float64)), st.data())
def test_one_classifier_is_predicted_alike(case, data):
    (limit,) = draw_limits(data, case.s, 1)
    t = hm.Thresholds.from_dict({"spam": limit}, average="binary")
    assert_array_equal(run(t.to_onnx(dtype=case.s.dtype.name), case.s), t.predict(case.s))


def test_a_threshold_between_two_float32_numbers():
    """The float32 below 0.35 is not predicted, although 0.35 would be rounded to it."""
    t = hm.Thresholds.from_dict({"spam": 0.35}, average="binary")
    below = np.float32(0.35)
    above = np.nextafter(below, np.float32(1))
    assert float(below) < 0.35 < float(above)
    assert run(t.to_onnx(), np.array([below, above])).tolist() == [0, 1]


def test_nothing_reaches_infinity_and_minus_infinity_reaches_nothing():
    largest = np.finfo(np.float32).max
    scores = np.array([[largest, largest], [-INF, -INF], [-largest, 0.0]], np.float32)
    lowest = hm.Thresholds.from_dict({"a": -1e300, "b": 1e300})
    assert run(OWN.to_onnx(), scores).tolist() == [[1, 0], [0, 0], [0, 0]]
    assert run(lowest.to_onnx(), scores).tolist() == [[1, 0], [0, 0], [1, 0]]
    assert_array_equal(run(lowest.to_onnx(), scores), lowest.predict(scores))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("opset", [13, 18, 21])
def test_the_graph_is_valid_and_named(dtype, opset):
    model = OWN.to_onnx(dtype=dtype, opset=opset)
    onnx.checker.check_model(model, full_check=True)
    assert [entry.version for entry in model.opset_import] == [opset]
    assert (model.producer_name, model.producer_version) == ("halfmax", hm.__version__)
    assert {entry.key: json.loads(entry.value) for entry in model.metadata_props} == {
        "labels": ["cats", "dogs"]
    }
    assert run(model, np.array([[0.5, 0.5]], dtype)).tolist() == [[1, 0]]


def test_labels_without_names_have_no_metadata():
    t = hm.tune([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.1]])
    assert not t.to_onnx().metadata_props


def test_the_graph_is_joined_to_the_scores_of_a_model():
    """A model that doubles its input; its output is compared with the thresholds."""
    from onnx import TensorProto, helper

    two = onnx.numpy_helper.from_array(np.array(2, np.float32), "two")
    graph = helper.make_graph(
        [helper.make_node("Mul", ["X", "two"], ["probabilities"])],
        "doubled",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, ["rows", 2])],
        [helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, ["rows", 2])],
        [two],
    )
    opset = [helper.make_opsetid("", 21)]
    model = helper.make_model(graph, opset_imports=opset, ir_version=10)
    joined = onnx.compose.merge_models(
        model, OWN.to_onnx(opset=21), io_map=[("probabilities", "scores")]
    )
    session = onnxruntime.InferenceSession(joined.SerializeToString())
    (found,) = session.run(None, {"X": np.array([[0.17, 1], [0.18, 1]], np.float32)})
    assert found.tolist() == [[0, 0], [1, 0]]


# The file.


def test_the_file_holds_the_graph(tmp_path):
    path = tmp_path / "thresholds.onnx"
    assert OWN.to_onnx(path) == onnx.load(path)
    assert [found.name for found in tmp_path.iterdir()] == ["thresholds.onnx"]
    assert OWN.to_onnx(path, "float64") == onnx.load(path)


def test_the_data_that_were_tuned_are_not_overwritten(tmp_path):
    path = tmp_path / "scores.parquet"
    table = {"label": ["a", "a"], "score": [0.1, 0.9], "truth": [0, 1]}
    parquet.write_table(pa.table(table), path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match="path must not be a file that is read"):
        hm.tune_table(path).to_onnx(path)
    assert path.read_bytes() == before


BAD = [
    ({"dtype": "float16"}, ValueError, "dtype must be 'float32' or 'float64', .*; got 'float16'"),
    ({"dtype": "int"}, ValueError, "dtype must be .*; got 'int'"),
    ({"dtype": "real"}, ValueError, "dtype must be .*; got 'real'"),
    ({"dtype": None}, ValueError, "dtype must be .*; got None"),
    ({"opset": 12}, ValueError, "opset must be a whole number, from 13 to .*; got 12"),
    ({"opset": 10**6}, ValueError, "opset must be a whole number, from 13 to .*; got 1000000"),
    ({"opset": "13"}, ValueError, "opset must be a whole number"),
    ({"path": "missing/t.onnx"}, FileNotFoundError, "there is no folder"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD)
def test_bad_calls_are_refused(options, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        OWN.to_onnx(**options)
    assert not list(tmp_path.iterdir())


def test_without_onnx_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("halfmax._core.extras.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"needs 'onnx', .* 'halfmax\[onnx\]'"):
        OWN.to_onnx()
