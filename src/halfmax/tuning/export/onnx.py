"""Thresholds as an ONNX graph, which predicts the rows that `Thresholds.predict` predicts."""

import json
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from halfmax import __version__
from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.extras import require_installed
from halfmax._core.files import write_whole
from halfmax._core.gate.options import check_whole

if TYPE_CHECKING:
    from onnx import ModelProto

    from halfmax.tuning.thresholds import Thresholds

_TYPES = ("float32", "float64")
_LEAST_OPSET = 13


def write_onnx(
    thresholds: "Thresholds", path: str | os.PathLike[str] | None, dtype: Any, opset: int
) -> "ModelProto":
    """Return the graph of `Thresholds.to_onnx`, and write it if there is a path."""
    require_installed("onnx")
    from onnx.defs import onnx_opset_version

    opset = check_whole("opset", opset, _LEAST_OPSET, onnx_opset_version())
    model = _model(thresholds, _check_dtype(dtype), opset)
    if path is not None:
        write_whole(path, model.SerializeToString())
    return model


def _model(thresholds: "Thresholds", dtype: "np.dtype[Any]", opset: int) -> "ModelProto":
    from onnx import TensorProto, checker, helper, numpy_helper

    from halfmax.staircase.grid import equivalent

    limits = equivalent(thresholds.thresholds, dtype)
    shape: list[str | int] = ["rows", len(limits)]
    if thresholds.average == "binary":
        shape, limits = ["rows"], limits[0]
    kind = helper.np_dtype_to_tensor_dtype(dtype)
    graph = helper.make_graph(
        nodes=[
            helper.make_node("GreaterOrEqual", ["scores", "thresholds"], ["reached"]),
            helper.make_node("Cast", ["reached"], ["predictions"], to=TensorProto.INT64),
        ],
        name="thresholds",
        inputs=[helper.make_tensor_value_info("scores", kind, shape)],
        outputs=[helper.make_tensor_value_info("predictions", TensorProto.INT64, shape)],
        initializer=[numpy_helper.from_array(np.asarray(limits), "thresholds")],
    )
    operators = [helper.make_opsetid("", opset)]
    model = helper.make_model(
        graph,
        producer_name="halfmax",
        producer_version=__version__,
        opset_imports=operators,
        ir_version=helper.find_min_ir_version_for(operators),
    )
    if thresholds.labels is not None:
        names = [name if type(name) is int else str(name) for name in thresholds.labels]
        helper.set_model_props(model, {"labels": json.dumps(names)})
    checker.check_model(model)
    return model


def _check_dtype(dtype: Any) -> "np.dtype[Any]":
    try:
        name = "" if dtype is None else np.dtype(dtype).name
    except TypeError:
        name = ""
    if name not in _TYPES:
        raise ArgumentError(
            f"{in_python('dtype')} must be 'float32' or 'float64', the type of the scores; got "
            f"{dtype!r:.60}"
        )
    return np.dtype(name)
