"""Real classifiers' scores, where they are at hand."""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from surroundings import SHARED_DATA

SCORES = Path(os.environ.get("HALFMAX_DATA", SHARED_DATA)) / "scores"

# name: macro-F1 on the split tuned on and on the test split, each over labels that it has
FIGURES = {
    "enron": (0.274, 0.197),
    "medical": (0.544, 0.492),
    "corel5k": (0.130, 0.065),
    "bibtex": (0.444, 0.359),
    "mesh": (0.316, 0.142),
}


def load(name):
    path = SCORES / f"{name}.npz"
    if not path.exists():
        pytest.skip(f"the scores of {name} are not here; set HALFMAX_DATA to their folder")
    with np.load(path) as data:
        return {split: (_truth(data, split), data[f"{split}_scores"]) for split in ("tune", "test")}


def _truth(data, split):
    indices, indptr = data[f"{split}_truth_indices"], data[f"{split}_truth_indptr"]
    shape = data[f"{split}_scores"].shape
    return sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=shape)
