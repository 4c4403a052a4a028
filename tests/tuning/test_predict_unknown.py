"""Frames with columns that have no threshold."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

import halfmax as hm

T = hm.Thresholds.from_dict({"cats": 0.3, "dogs": 0.6})
COLUMNS = {"id": ["x", "y"], "dogs": [0.7, 0.5], "age": [3.0, 0.1], "cats": [0.3, 0.2]}
FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(params=FRAMES)
def frame(request):
    return FRAMES[request.param]


def columns(predictions):
    names = getattr(predictions, "column_names", None) or list(predictions.columns)
    return {name: np.asarray(predictions[name]).tolist() for name in names}


def without(*names):
    return {name: column for name, column in COLUMNS.items() if name not in names}


def test_unknown_columns_may_be_ignored(frame):
    found = T.predict(frame(COLUMNS), unknown="ignore")
    assert columns(found) == {"dogs": [1, 0], "cats": [1, 0]}


def test_unknown_columns_may_be_never_predicted(frame):
    found = T.predict(frame(without("id")), unknown="never")
    assert columns(found) == {"dogs": [1, 0], "age": [0, 0], "cats": [1, 0]}


def test_unknown_columns_are_refused_with_the_way_out(frame):
    with pytest.raises(ValueError, match=r"'age'. unknown='ignore' leaves columns without a thres"):
        T.predict(frame(without("id")))
    with pytest.raises(
        ValueError, match=r"missing from the thresholds: 'id' and 'age'. unknown='ig"
    ):
        T.predict(frame(COLUMNS))


@pytest.mark.parametrize("unknown", ["error", "ignore", "never"])
def test_missing_labels_are_always_refused(frame, unknown):
    with pytest.raises(ValueError, match="missing from y_score: 'cats'"):
        T.predict(frame(without("id", "cats", "age")), unknown=unknown)


def test_arrays_have_no_unknown_columns():
    scores = np.array([[0.3, 0.2], [0.1, 0.6]])
    for unknown in ("error", "ignore", "never"):
        assert_array_equal(T.predict(scores, unknown=unknown), T.predict(scores))


@pytest.mark.parametrize("wrong", ["drop", None, True])
def test_other_ways_are_refused(wrong):
    with pytest.raises(ValueError, match="unknown must be 'error', 'ignore' or 'never'; got"):
        T.predict([[0.1, 0.2]], unknown=wrong)


def test_one_classifier_predicts_frames_of_one_column_whatever_its_name(frame):
    t = hm.tune(["no", "yes"] * 15, np.arange(30) % 2 * 0.5, pos_label="yes")
    assert columns(t.predict(frame({"score": [0.1, 0.9]}))) == {"score": [0, 1]}
