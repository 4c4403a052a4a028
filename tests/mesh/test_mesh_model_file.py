"""The file of a tagger: saved, loaded, and refused when damaged or hostile."""

import io
import os
import pickle
import zipfile

import numpy as np
import pytest
from mesh_cases import AVERAGES, DAMAGES, as_bytes

from halfmax.mesh.model import tagger
from halfmax.mesh.model.tagger import Tagger
from halfmax.mesh.stages import (
    encode_texts,
)

pytestmark = pytest.mark.kernels


def test_a_saved_model_is_equal_to_the_last_bit(tmp_path, corpus, fitted):
    path = tmp_path / "some.tagger"
    fitted.save(path)
    again = Tagger.load(os.fspath(path))
    assert as_bytes(again) == as_bytes(fitted)
    assert repr(again) == repr(fitted)
    texts = [*corpus.texts()]
    for average in AVERAGES:
        for rule in tagger.RULES:
            assert again.tag(texts, average, rule) == fitted.tag(texts, average, rule)
    again.save(tmp_path / "again")
    assert [path.name for path in sorted(tmp_path.iterdir())] == ["again", "some.tagger"]


def test_a_saved_model_is_replaced_only_on_request(tmp_path, fitted):
    path = tmp_path / "model"
    path.write_text("mine")
    with pytest.raises(FileExistsError):
        fitted.save(path, overwrite=False)
    assert path.read_text() == "mine"
    fitted.save(path)
    assert Tagger.load(path).terms == fitted.terms
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        fitted.save(tmp_path / "nowhere" / "model")
    with pytest.raises(FileNotFoundError):
        Tagger.load(tmp_path / "nothing")


def members_of(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(members, how=zipfile.ZIP_STORED):
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", how) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return raw.getvalue()


def npy(array, **header):
    """A NumPy file, whose header may be wrong."""
    raw = io.BytesIO()
    if header:
        plain = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
        np.lib.format.write_array_header_1_0(raw, plain | header)
        return raw.getvalue() + array.tobytes()
    np.lib.format.write_array(raw, np.asarray(array), allow_pickle=True)
    return raw.getvalue()


def array_in(content):
    return np.lib.format.read_array(io.BytesIO(content))


def altered(name, change):
    """Change one array of a file."""

    def apply(raw):
        members = members_of(raw)
        return packed(members | {f"{name}.npy": npy(change(array_in(members[f"{name}.npy"])))})

    return apply


def replaced(name, content):
    return lambda raw: packed(members_of(raw) | {f"{name}.npy": content})


def without(name):
    def apply(raw):
        members = members_of(raw)
        del members[f"{name}.npy"]
        return packed(members)

    return apply


def with_value(value):
    def change(array):
        array = array.copy()
        array.flat[-1] = value
        return array

    return change


class Bomb:
    """Makes a folder when unpickled."""

    def __reduce__(self):
        return os.mkdir, ("exploded",)


def texts_as(words):
    return npy(np.frombuffer(words.encode(), np.uint8))


BOMB = npy(np.array([Bomb()], object))
LATER = npy(encode_texts(["halfmax.tagger", "2"]))
FLOATS = np.zeros(4, np.float32)
HOSTILE = [
    *((name, damage, "") for name, damage in DAMAGES.items()),
    ("a pickle", lambda _: pickle.dumps(Bomb()), "zip"),
    ("one array", lambda _: BOMB, "zip"),
    ("no members", lambda _: packed({}), "it has no 'format'"),
    ("compressed", lambda raw: packed(members_of(raw), zipfile.ZIP_DEFLATED), "compressed"),
    ("another format", replaced("format", npy(encode_texts(["else", "1"]))), "the format"),
    ("a later version", replaced("format", LATER), "version 1"),
    ("no weights", without("weights"), "it has no 'weights'"),
    ("no terms", without("terms"), "it has no 'terms'"),
    ("no thresholds", without("thresholds_micro"), "it has no 'thresholds_micro'"),
    ("no array", replaced("idf", b"some words"), "magic"),
    ("a cut array", replaced("idf", BOMB[:40]), ""),
    ("an object array", replaced("idf", BOMB), "[Oo]bject"),
    ("terms as objects", replaced("terms", BOMB), "[Oo]bject"),
    ("format as objects", replaced("format", BOMB), "[Oo]bject"),
    ("float64", altered("weights", np.float64), "weights must be float32 of shape .* not float64"),
    ("other order", altered("idf", lambda a: a.astype(">f4")), "idf must be float32 .* not >f4"),
    ("words", altered("penalties", lambda a: a.astype("U9")), "penalties must be float64"),
    ("fields", altered("idf", lambda a: a.view([("a", "f4")])), "idf must be float32"),
    ("transposed", altered("weights", np.transpose), r"weights must be float32 of shape \(5, 6\)"),
    ("too short", altered("counts", lambda a: a[1:]), r"counts must be int64 of shape \(6,\)"),
    ("a number", altered("offset", lambda a: a[0]), "must be float32 of shape"),
    ("a matrix", altered("documents", lambda a: a[:, None]), r"shape \(\d+,\), not uint64 .*, 1\)"),
    ("another rank", altered("offset", lambda a: a[1:]), "loadings must be float32 of shape"),
    ("NaN", altered("loadings", with_value(np.nan)), "loadings must be numbers; some are not"),
    ("infinite", altered("weights", with_value(np.inf)), "weights must be numbers; some are not"),
    ("NaN cut", altered("thresholds_macro", with_value(np.nan)), "thresholds_macro must be"),
    ("NaN penalty", altered("penalties", with_value(np.nan)), "penalties must be numbers"),
    ("huge", replaced("idf", npy(FLOATS, shape=(1 << 42,))), ""),
    ("beyond int64", replaced("idf", npy(FLOATS, shape=(1 << 62, 4))), ""),
    ("beyond all", replaced("idf", npy(FLOATS, shape=(1 << 70,))), ""),
    ("negative", replaced("idf", npy(FLOATS, shape=(-1,))), ""),
    ("cut data", replaced("idf", npy(FLOATS, shape=(9,))), ""),
    ("odd type", replaced("idf", npy(FLOATS, descr="q" * 99)), ""),
    ("odd header", replaced("idf", npy(FLOATS).replace(b"(4,)", b"(4, ")), ""),
    ("no header", replaced("idf", npy(FLOATS).replace(b"{", b"\n ")), ""),
    ("twice", replaced("vocabulary", texts_as('["x", "y", "x"]')), "vocabulary must .* or repeat"),
    ("terms twice", replaced("terms", texts_as('["x", "x"]')), "terms must not be empty or repeat"),
    ("none", replaced("terms", texts_as("[]")), "terms must not be empty or repeat"),
    ("numbers", replaced("terms", texts_as("[1, 2]")), "expected a list of texts"),
    ("an object", replaced("terms", texts_as('{"a": "b"}')), "expected a list of texts"),
    ("no JSON", replaced("terms", texts_as("[")), "line 1"),
    ("deep", replaced("terms", texts_as("[" * 100_000)), ""),
    ("no text", replaced("terms", npy(np.full(3, 255, np.uint8))), ""),
    ("float texts", replaced("terms", npy(FLOATS)), "cast"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("damage", "words"), [one[1:] for one in HOSTILE], ids=[one[0] for one in HOSTILE]
)
def test_damaged_and_hostile_files_are_refused(tmp_path, fitted, monkeypatch, damage, words):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.tagger"
    fitted.save(path)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=f"(?s)some.tagger is not a tagger of halfmax: .*{words}"):
        Tagger.load(path)
    assert [one.name for one in tmp_path.iterdir()] == ["some.tagger"]


def test_the_bomb_of_these_files_is_live(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.lib.format.read_array(io.BytesIO(BOMB), allow_pickle=True)
    assert (tmp_path / "exploded").is_dir()


def test_every_cut_of_a_file_is_refused(tmp_path, fitted):
    path = tmp_path / "model"
    fitted.save(path)
    whole = path.read_bytes()
    for size in range(0, len(whole), len(whole) // 60):
        path.write_bytes(whole[:size])
        with pytest.raises(ValueError, match="is not a tagger of halfmax"):
            Tagger.load(path)
