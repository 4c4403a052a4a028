"""Stages of long work: each is computed once, found again, and computed again if damaged."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from mesh_cases import DAMAGES
from scipy import sparse

from halfmax.mesh.stages import (
    Stages,
    decode_texts,
    encode_texts,
    fingerprint,
    pack_sparse,
    unpack_sparse,
)

pytestmark = pytest.mark.kernels


class Work:
    """Two stages that count how often they are computed."""

    def __init__(self, folder):
        self.folder, self.made, self.reported = folder, [], []

    def run(self, first=1, second="x"):
        stages = Stages(self.folder, self.reported.append)
        one = stages.run("the first", first, lambda: self._make("first", first))
        two = stages.run("second", {"of": second}, lambda: self._make("second", len(second)))
        return one["a"].tolist(), two["a"].tolist()

    def _make(self, name, value):
        self.made.append(name)
        return {"a": np.full(2, value), "b": np.zeros((0, 3), np.float32)}


def test_a_stage_is_computed_once_for_equal_inputs(tmp_path):
    work = Work(tmp_path / "new" / "folder")
    assert work.run() == work.run() == ([1, 1], [1, 1])
    assert work.made == ["first", "second"]
    assert [(stage.name, stage.reused) for stage in work.reported] == [
        ("the first", False),
        ("second", False),
        ("the first", True),
        ("second", True),
    ]
    assert all(stage.seconds >= 0.0 for stage in work.reported)
    assert all(stage.peak_bytes is None or stage.peak_bytes > 0 for stage in work.reported)


def test_a_stage_is_computed_again_if_it_or_one_before_changes(tmp_path):
    work = Work(tmp_path)
    work.run()
    assert work.run(second="xy") == ([1, 1], [2, 2])
    assert work.made == ["first", "second", "second"]
    assert work.run(first=5) == ([5, 5], [1, 1])
    assert work.made == ["first", "second", "second", "first", "second"]
    assert work.run() == ([1, 1], [1, 1])
    assert len(work.made) == 5


@pytest.mark.parametrize("damage", ["cut", "empty", "text", "flipped", "locked", "later version"])
def test_a_damaged_stage_is_computed_again(tmp_path, damage):
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
    assert not any(stage.reused for stage in work.reported)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="a stage that writes a file needs a folder"):
        Stages(None).file("records", 1, lambda path: path.write_text(""), Path.read_text)


def test_an_error_leaves_no_file(tmp_path):
    def fail(*_):
        raise ZeroDivisionError

    reported = []
    stages = Stages(tmp_path, reported.append)
    with pytest.raises(ZeroDivisionError):
        stages.run("some", 1, fail)
    with pytest.raises(ZeroDivisionError):
        stages.file("some", 1, fail, Path.read_text)
    assert list(tmp_path.iterdir()) == reported == stages.done == []


def test_a_file_of_a_stage_is_written_once(tmp_path):
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


def test_a_damaged_file_of_a_stage_is_written_again(tmp_path):
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


def test_changed_files_have_a_different_fingerprint(tmp_path):
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
