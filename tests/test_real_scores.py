"""Real classifiers' scores, where they are at hand: tuned on one split, judged on another.

The figures are those that accompany the data, to three decimals.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import halfmax as hm

BESIDE_THE_PROJECT = Path(__file__).parents[2] / "shared" / "data"
SCORES = Path(os.environ.get("HALFMAX_DATA", BESIDE_THE_PROJECT)) / "scores"

# name: macro-F1 on the split tuned on and on the test split, each over labels that it has
FIGURES = {
    "enron": (0.274, 0.197),
    "medical": (0.544, 0.492),
    "corel5k": (0.130, 0.065),
    "bibtex": (0.444, 0.359),
    "mesh": (0.316, 0.142),
}


@pytest.fixture(params=FIGURES)
def real(request):
    path = SCORES / f"{request.param}.npz"
    if not path.exists():
        pytest.skip(f"the scores of {request.param} are not here; set HALFMAX_DATA to their folder")
    with np.load(path) as data:
        splits = {name: (_truth(data, name), data[f"{name}_scores"]) for name in ("tune", "test")}
    return request.param, splits


def _truth(data, split):
    indices, indptr = data[f"{split}_truth_indices"], data[f"{split}_truth_indptr"]
    shape = data[f"{split}_scores"].shape
    return sparse.csr_array((np.ones(len(indices), np.int8), indices, indptr), shape=shape)


def test_tuning_reaches_the_known_figures(real):
    name, splits = real
    on_tune, on_test = FIGURES[name]
    thresholds = hm.tune(*splits["tune"])
    truth, scores = splits["test"]
    there = np.flatnonzero(truth.sum(axis=0))
    predicted = thresholds.predict(scores)
    reached = thresholds.label_scores[thresholds.support > 0].mean()
    assert reached == pytest.approx(on_tune, abs=6e-4)
    assert hm.score(truth[:, there], predicted[:, there]) == pytest.approx(on_test, abs=6e-4)


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_every_average_beats_one_half_and_is_best_at_its_own(real, average):
    _, splits = real
    truth, scores = splits["tune"]
    best = hm.tune(truth, scores, average=average)
    assert best.score >= hm.score(truth, scores >= 0.5, average=average)
    shared = hm.tune(truth, scores, average=average, per_label=False)
    assert best.score >= shared.score >= hm.score(truth, scores >= 0.5, average=average)
    if average != "samples":
        for other in {"macro", "micro"} - {average}:
            rival = hm.tune(truth, scores, average=other).predict(scores)
            assert best.score >= hm.score(truth, rival, average=average) - 1e-12
