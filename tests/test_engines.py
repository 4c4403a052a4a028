"""The same tables in every engine give the thresholds of arrays, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from engines import (
    DISTRIBUTED,
    LOCAL,
    frame,
    running,
    split,
)

import halfmax as hm

pytestmark = [
    pytest.mark.xdist_group("engines"),
    # What is used of PySpark is Arrow, not pandas.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
]

NAMES = ["ant", "bee", "cow", "dog", "no positives", "élan"]
SKEWED = [3, 0, 90, 0, 4, 3]  # rows of each partition, in percent
CASES = {
    "macro": {},
    "micro": {"average": "micro"},
    "micro-shared": {"average": "micro", "per_label": False},
    "weighted": {"metric": "f2", "weighted": True},
    "micro-weighted": {"average": "micro", "weighted": True, "per_label": False},
    "accuracy": {"metric": "accuracy"},
    "jaccard-micro": {"metric": "jaccard", "average": "micro"},
    "floor": {"metric": "recall", "min_precision": 0.5, "zero_division": 1.0},
    "micro-floor": {"average": "micro", "min_recall": 0.3},
}
COLUMNS = ["thresholds", "label_scores", "precision", "recall", "support", "predicted"]


@pytest.fixture(scope="module", params=[*LOCAL, *DISTRIBUTED])
def engine(request):
    with running(request.param) as name:
        yield name


@pytest.fixture(scope="module")
def make(engine, tmp_path_factory):
    """A table in the engine, in partitions of the sizes given."""

    def make(table, sizes=SKEWED):
        return frame(engine, split(table, sizes), tmp_path_factory.mktemp("table") / "parts")

    return make


class Matrix:
    """Truth and scores, rows by labels, with ties and -inf; and the same as a long table."""

    def __init__(self, names=NAMES, size=150):
        random = np.random.default_rng(5)
        shape = size, len(names)
        self.names = names
        self.scores = random.normal(size=shape).round(1)
        self.truth = (self.scores + random.normal(size=shape) > 1.2).astype(int)
        self.truth[:, 4] = 0
        self.scores[random.random(shape) < 0.1] = -np.inf
        self.weights = random.integers(0, 4, size)
        self.instances, self.labels = np.indices(shape).reshape(2, -1)

    def table(self, order=None):
        columns = {
            "instance": self.instances,
            "label": np.array(self.names)[self.labels],
            "score": self.scores.ravel(),
            "truth": self.truth.ravel(),
            "weight": self.weights[self.instances],
            "note": np.full(self.labels.size, "not read"),
        }
        order = np.random.default_rng(6).permutation(self.labels.size) if order is None else order
        return pa.table(columns).take(order)

    def tune(self, weighted=False, **how):
        weights = self.weights if weighted else None
        return hm.tune(self.truth, self.scores, labels=self.names, sample_weight=weights, **how)


@pytest.fixture(scope="module")
def matrix():
    return Matrix()


@pytest.fixture(scope="module")
def shuffled(make, matrix):
    return make(matrix.table())


def assert_same(found, wanted):
    assert found.labels == wanted.labels
    assert found.score == wanted.score
    assert (found.metric, found.average, found.shared) == (
        wanted.metric,
        wanted.average,
        wanted.shared,
    )
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name), name)


@pytest.mark.parametrize("how", CASES.values(), ids=CASES)
def test_thresholds_are_those_of_arrays(shuffled, matrix, how):
    weight = "weight" if how.get("weighted") else None
    options = {name: value for name, value in how.items() if name != "weighted"}
    assert_same(hm.tune_table(shuffled, weight=weight, **options), matrix.tune(**how))


def test_a_label_may_lie_in_one_partition(make):
    matrix = Matrix(names=[40, -3, 7, 1 << 40, 8, 9])
    by_label = np.argsort(np.array(matrix.names)[matrix.labels], kind="stable")
    found = hm.tune_table(make(matrix.table(by_label), [1, 1, 0, 4]))
    wanted = matrix.tune()
    order = np.argsort(matrix.names)
    assert found.labels == tuple(sorted(matrix.names))
    assert found.thresholds.tolist() == wanted.thresholds[order].tolist()
    assert found.predicted.tolist() == wanted.predicted[order].tolist()


@pytest.mark.parametrize("weighted", [False, True])
def test_one_classifier(make, matrix, weighted):
    weight = "weight" if weighted else None
    found = hm.tune_table(make(matrix.table()), label=None, instance=None, weight=weight)
    weights = matrix.weights[matrix.instances] if weighted else None
    assert_same(found, hm.tune(matrix.truth.ravel(), matrix.scores.ravel(), sample_weight=weights))


def test_scores_of_32_bits_and_truth_of_bool(make, matrix):
    table = matrix.table()
    scores, truth = table["score"].cast(pa.float32()), table["truth"].cast(pa.bool_())
    table = table.set_column(2, "score", scores).set_column(3, "truth", truth)
    found = hm.tune_table(make(table))
    assert_same(found, hm.tune(matrix.truth, matrix.scores.astype(np.float32), labels=NAMES))


def test_assessments_are_those_of_arrays(shuffled, matrix):
    found = hm.assess_table(shuffled, average="micro", n_resamples=40)
    wanted = hm.assess(
        matrix.truth, matrix.scores, average="micro", n_resamples=40, labels=matrix.names
    )
    assert repr(found) == repr(wanted)
