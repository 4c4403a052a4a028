"""Columns become arrays and arrays columns exactly as pyarrow itself would convert them."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from halfmax.tables import convert

NUMBERS = [0, 1, 1, 0, 7, 3]
KINDS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]
KINDS += ["float16", "float32", "float64", "bool"]


def assert_same(found, expected):
    assert found.dtype == expected.dtype
    assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [slice(None), slice(2, 5), slice(3, 3)])
def test_columns_become_arrays(kind, part):
    column = pa.array(np.array(NUMBERS).astype(kind))[part]
    assert_same(convert.to_numpy(column), column.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunks", [0, 1, 3])
def test_chunked_columns_become_arrays(kind, chunks):
    column = pa.array(np.array(NUMBERS).astype(kind))
    chunked = pa.chunked_array([column[1:]] * chunks, column.type)
    assert_same(convert.to_numpy(chunked), chunked.to_numpy())


@pytest.mark.parametrize("column", [pa.array([1, None]), pa.array(["a", "b"]), pa.array([True])])
def test_other_columns_are_left_to_pyarrow(column):
    assert_same(convert.to_numpy(column), column.to_numpy(zero_copy_only=False))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("step", [1, 2, -1])
@pytest.mark.parametrize("size", [0, 1, 6, 17])
def test_arrays_become_columns(kind, step, size):
    numbers = np.resize(np.array(NUMBERS).astype(kind), size)[::step]
    found = convert.to_column(numbers)
    found.validate(full=True)
    assert found.equals(pa.array(numbers))
    assert found.type == pa.array(numbers).type


@pytest.mark.parametrize("names", [[], ["a", "", "Größe", "日本"], [3, -(2**63), 2**63 - 1]])
def test_names_become_columns(names):
    kind = pa.int64() if names and isinstance(names[0], int) else pa.large_string()
    found = convert.names_to_column(names)
    found.validate(full=True)
    assert found.equals(pa.array(names, kind))


@pytest.mark.parametrize("names", [["b", "a"], ["c", "b", "d"], ["d"], []])
def test_places_among_the_known_names(names):
    known = ["a", "b", "c"]
    found = convert.places_in(pa.array(known), pa.array(names, pa.string()))
    expected = [known.index(name) if name in known else -1 for name in names]
    assert_same(found, np.array(expected, np.int32))
