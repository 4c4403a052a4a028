"""Terms as a matrix, words as tf-idf, and the settings of a tagger."""

import json
import math

import naive_mesh
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mesh_cases import FEW
from sklearn.feature_extraction.text import TfidfVectorizer

from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.terms import frequent_terms, truth_of
from halfmax.mesh.model.words import learn_words
from halfmax.mesh.records.corpus import Headings
from halfmax.mesh.rules.evaluate import codes_of

pytestmark = pytest.mark.kernels


meshes = st.lists(
    st.lists(st.sampled_from("ABCDE"), unique=True, max_size=4).map(tuple), min_size=1, max_size=8
)


def headings_of(mesh):
    names = list(naive_mesh.counts(mesh))
    codes = [names.index(term) for terms in mesh for term in terms]
    offsets = np.cumsum([0, *map(len, mesh)])
    return Headings(offsets, np.array(codes, np.int32), names)


@FEW
@given(meshes, st.data())
def test_terms_of_documents_as_a_matrix(mesh, data):
    headings = headings_of(mesh)
    rows = data.draw(
        st.lists(st.integers(0, len(mesh) - 1), max_size=6).map(lambda r: np.array(r, int))
    )
    terms = data.draw(st.lists(st.sampled_from("ABCDEZ"), unique=True, min_size=1))
    codes = codes_of(headings, terms)
    assert codes.tolist() == [
        headings.names.index(term) if term in headings.names else -1 for term in terms
    ]
    matrix = truth_of(headings, rows, codes)
    assert matrix.format == "csr"
    assert matrix.dtype == np.int8
    assert matrix.shape == (len(rows), len(terms))
    assert matrix.has_sorted_indices
    assert matrix.toarray().tolist() == naive_mesh.truth([mesh[i] for i in rows], terms)


@given(meshes, st.integers(1, 4), st.data())
def test_frequent_terms(mesh, least, data):
    headings = headings_of(mesh)
    rows = data.draw(
        st.lists(st.integers(0, len(mesh) - 1), unique=True).map(lambda r: np.array(r, int))
    )
    counts = naive_mesh.counts([mesh[i] for i in rows])
    expected = [name for name, count in counts.items() if count >= least]
    if expected:
        found = frequent_terms(headings, rows, least)
        assert [headings.names[code] for code in found] == expected
    else:
        most = max(counts.values(), default=0)
        words = f"the most frequent one occurs in {most}" if headings.names else "there are none"
        with pytest.raises(ValueError, match=f"min_count must leave some terms.*: {words}"):
            frequent_terms(headings, rows, least)


def test_a_term_of_exactly_min_count_documents_is_frequent():
    headings = headings_of([("A", "B"), ("B",), ("C", "B", "A"), ()])
    every = np.arange(4)
    assert [frequent_terms(headings, every, least).tolist() for least in (1, 2, 3)] == [
        [0, 1, 2],
        [0, 1],
        [1],
    ]


TEXTS = [
    "Cats and dogs and cats.",
    "A dog",
    "",
    "Cats; the \N{DOUBLE-STRUCK CAPITAL R}n, naïve\ncats' CATS",
    "and 12 x",
]


def test_words_are_those_of_scikit_learn():
    words, matrix = learn_words(iter(TEXTS), 1000)
    vectorizer = TfidfVectorizer(sublinear_tf=True, dtype=np.float32)
    expected = vectorizer.fit_transform(TEXTS)
    assert words.vocabulary == vectorizer.get_feature_names_out().tolist()
    assert words.idf.dtype == matrix.dtype == np.float32
    for found in (matrix, words.matrix(TEXTS), words.matrix(iter(TEXTS))):
        assert found.dtype == np.float32
        assert np.array_equal(found.toarray(), expected.toarray())
    new = ["Dogs, dogs, and whatever", ""]
    assert np.array_equal(words.matrix(new).toarray(), vectorizer.transform(new).toarray())


def test_the_most_frequent_words_are_kept():
    words, matrix = learn_words(TEXTS, 2)
    assert words.vocabulary == ["and", "cats"]
    assert np.array_equal(words.matrix(TEXTS).toarray(), matrix.toarray())


@pytest.mark.parametrize("texts", [[], [""], ["", "a . b", "!"]])
def test_texts_without_words_are_refused(texts):
    with pytest.raises(ValueError, match="titles and abstracts must have words; they have none"):
        learn_words(texts, 10)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"rank": 0}, ValueError, "rank must be a whole number, 1 or more; got 0"),
        ({"rank": 2.5}, ValueError, "rank must be a whole number, 1 or more; got 2.5"),
        ({"rank": True}, ValueError, "rank must be a whole number"),
        ({"rank": "7"}, ValueError, "rank must be a whole number, 1 or more; got '7'"),
        ({"min_count": 0}, ValueError, "min_count must be a whole number, 1 or more; got 0"),
        ({"min_count": None}, ValueError, "min_count must be a whole number"),
        ({"max_words": 1}, ValueError, "max_words must be a whole number, 2 or more; got 1"),
        ({"max_words": math.inf}, ValueError, "max_words must be a whole number"),
        ({"seed": -1}, ValueError, "seed must be a whole number, from 0 to 4,294,967,295; got -1"),
        ({"seed": 1 << 32}, ValueError, "seed must be a whole number, from 0 to"),
        ({"penalty": "none"}, ValueError, "'shared', 'per-label' or a number above 0; got 'none'"),
        ({"penalty": 0}, ValueError, "penalty must be .* a number above 0; got 0"),
        ({"penalty": -1.0}, ValueError, "got -1.0"),
        ({"penalty": math.nan}, ValueError, "got nan"),
        ({"penalty": math.inf}, ValueError, "got inf"),
        ({"penalty": True}, TypeError, "got True"),
        ({"penalty": None}, TypeError, "got None"),
    ],
)
def test_wrong_settings_are_refused(wrong, error, words):
    with pytest.raises(error, match=words):
        Settings(**wrong)


def test_whole_numbers_of_any_kind_are_kept_as_ints():
    made = Settings(rank=2.0, min_count=np.int64(3), max_words=1e3, seed=np.uint8(7))
    assert made == Settings(rank=2, min_count=3, max_words=1000, seed=7)
    json.dumps([made.rank, made.min_count, made.max_words, made.seed])


def test_the_rank_is_below_what_there_is():
    assert Settings().rank_for(1000, 5000) == 200
    assert Settings().rank_for(1000, 50) == 49
    assert Settings().rank_for(3, 50) == 2
    assert Settings(rank=49).rank_for(1000, 50) == 49
    with pytest.raises(ValueError, match=r"below the number of documents \(1,000\) .* \(50\)"):
        Settings(rank=50).rank_for(1000, 50)
    with pytest.raises(ValueError, match="at least two different words; they have 1"):
        Settings().rank_for(1000, 1)
