"""Corpora and a fitted tagger, made once for all tests."""

import pytest
from mesh_cases import RANK, made_records

from halfmax.mesh.model.fit import fit_tagger
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.records.corpus import Corpus
from halfmax.mesh.records.record import Record


@pytest.fixture(scope="session")
def corpus(tmp_path_factory):
    return Corpus.write(made_records(1, 90), tmp_path_factory.mktemp("mesh") / "learned.arrow")


@pytest.fixture(scope="session")
def unseen(tmp_path_factory):
    odd = [Record("900", "heart beat", "", ("Heart", "Never seen", "Nor this"))]
    odd += [Record("901", "", "", ("Unknown",)), Record("902", "bone", "", ())]
    path = tmp_path_factory.mktemp("mesh") / "unseen.arrow"
    return Corpus.write([*made_records(2, 30, 100), *odd], path)


@pytest.fixture(scope="session")
def fitted(corpus):
    return fit_tagger(corpus, Settings(rank=RANK, penalty="per-label"))
