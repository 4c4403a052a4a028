"""Equal tables in every engine give the thresholds of arrays, bit for bit."""

import numpy as np
import pyarrow as pa
import pytest
from engines import DISTRIBUTED, LOCAL, as_arrow, bytes_moved, frame, read_parts, running, split

import halfmax as hm

pytestmark = [
    pytest.mark.engines,
    # What is used of PySpark is Arrow, not pandas.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
]

NAMES = ["ant", "bee", "cow", "dog", "no positives", "élan"]
SKEWED = [3, 0, 90, 0, 4, 3]  # rows of each partition, in percent
CASES = {
    "macro": {},
    "micro": {"average": "micro"},
    "micro-shared": {"metric": "jaccard", "average": "micro", "per_label": False},
    "weighted": {"metric": "f2", "weighted": True},
    "micro-weighted": {"average": "micro", "weighted": True, "per_label": False},
    "accuracy": {"metric": "accuracy"},
    "floor": {"metric": "recall", "min_precision": 0.5, "zero_division": 1.0},
    "micro-floor": {"average": "micro", "min_recall": 0.3},
    "mcc": {"metric": "mcc"},
    "cost": {"metric": "cost(fp=1, fn=3)"},
    "kappa, pooled": {"metric": "kappa", "average": "micro"},
    "by positives": {"average": "weighted"},
    "cap": {"max_predicted": 0.1, "min_specificity": 0.8},
}
COLUMNS = ["thresholds", "label_scores", "precision", "recall", "support", "predicted"]


@pytest.fixture(scope="module", params=[*LOCAL, *DISTRIBUTED])
def engine(request):
    with running(request.param) as name:
        yield name


@pytest.fixture(scope="module")
def make(engine, tmp_path_factory):
    """A table in the engine, in partitions of these sizes."""

    def make(table, sizes=SKEWED):
        return frame(engine, split(table, sizes), tmp_path_factory.mktemp("table") / "parts")

    return make


class Matrix:
    """Truth and scores, rows by labels, with ties and -inf; and as a long table."""

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


def assert_same(found, expected):
    assert found.labels == expected.labels
    assert found.score == expected.score
    assert (found.metric, found.average, found.shared) == (
        expected.metric,
        expected.average,
        expected.shared,
    )
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), name)


@pytest.mark.parametrize("how", CASES.values(), ids=CASES)
def test_thresholds_are_those_of_arrays(shuffled, matrix, how):
    weight = "weight" if how.get("weighted") else None
    options = {name: value for name, value in how.items() if name != "weighted"}
    assert_same(hm.tune_table(shuffled, weight=weight, **options), matrix.tune(**how))


CLASSES = {
    "names": (["no", "yes"], "yes"),
    "-1 and 1": ([-1, 1], None),
    "1 and 2": ([1, 2], None),
    "upside down": ([1, 0], 0),
    "bool": ([False, True], None),
}


@pytest.mark.parametrize("name", CLASSES)
def test_any_two_classes_are_read(make, matrix, name):
    classes, positive = CLASSES[name]
    table = matrix.table()
    place = table.schema.get_field_index("truth")
    written = np.array(classes)[table["truth"].to_numpy()]
    found = hm.tune_table(
        make(table.set_column(place, "truth", pa.array(written))), pos_label=positive
    )
    assert_same(found, matrix.tune())


def test_names_of_classes_need_a_positive_one(make, matrix):
    table = matrix.table()
    written = np.array(["no", "yes"])[table["truth"].to_numpy()]
    source = make(table.set_column(3, "truth", pa.array(written)))
    with pytest.raises(ValueError, match=r"holds the classes 'no' and 'yes': .*pos_label='yes'"):
        hm.tune_table(source)


def test_true_negatives_of_pairs_without_rows_are_counted(make, matrix):
    table = matrix.table()
    there = (table["score"].to_numpy() > -np.inf) | (table["truth"].to_numpy() == 1)
    found = hm.tune_table(make(table.filter(pa.array(there))), metric="accuracy")
    assert_same(found, matrix.tune(metric="accuracy"))


def test_a_label_may_lie_in_one_partition(make):
    matrix = Matrix(names=[40, -3, 7, 1 << 40, 8, 9])
    by_label = np.argsort(np.array(matrix.names)[matrix.labels], kind="stable")
    found = hm.tune_table(make(matrix.table(by_label), [1, 1, 0, 4]))
    expected = matrix.tune()
    order = np.argsort(matrix.names)
    assert found.labels == tuple(sorted(matrix.names))
    assert found.thresholds.tolist() == expected.thresholds[order].tolist()
    assert found.predicted.tolist() == expected.predicted[order].tolist()


def test_one_classifier(make, matrix):
    found = hm.tune_table(make(matrix.table()), label=None, instance=None, weight="weight")
    weights = matrix.weights[matrix.instances]
    assert_same(found, hm.tune(matrix.truth.ravel(), matrix.scores.ravel(), sample_weight=weights))


def test_scores_of_32_bits_and_truth_of_bool(make, matrix):
    table = matrix.table()
    scores, truth = table["score"].cast(pa.float32()), table["truth"].cast(pa.bool_())
    table = table.set_column(2, "score", scores).set_column(3, "truth", truth)
    found = hm.tune_table(make(table))
    assert_same(found, hm.tune(matrix.truth, matrix.scores.astype(np.float32), labels=NAMES))


def test_assessments_are_those_of_arrays(shuffled, matrix):
    found = hm.assess_table(shuffled, average="micro", n_resamples=40)
    expected = hm.assess(
        matrix.truth, matrix.scores, average="micro", n_resamples=40, labels=matrix.names
    )
    assert repr(found) == repr(expected)


def predicted(table):
    rows = as_arrow(table).select(["instance", "label", "predicted"])
    return sorted(zip(*rows.to_pydict().values(), strict=True))


def test_predictions_are_those_of_arrays(shuffled, matrix):
    tuned = matrix.tune()
    found = predicted(hm.apply_table(tuned, shuffled))
    pairs = zip(matrix.instances.tolist(), np.array(NAMES)[matrix.labels].tolist(), strict=True)
    expected = tuned.predict(matrix.scores).ravel().tolist()
    assert found == sorted((*pair, one) for pair, one in zip(pairs, expected, strict=True))


@pytest.mark.parametrize("only", [False, True])
def test_labels_without_threshold_are_ignored_on_request(make, matrix, only):
    table = matrix.table()
    some = hm.tune_table(table.filter(pa.compute.field("label") == NAMES[0]))
    how = {"unknown": "ignore", "only_predicted": only}
    found = predicted(hm.apply_table(some, make(table), **how))
    assert found == predicted(hm.apply_table(some, table, **how))
    assert {label for _, label, _ in found} == {NAMES[0]}


def test_decisions_are_those_of_one_table(make, matrix):
    table = matrix.table()
    chances = 1 / (1 + np.exp(-table["score"].to_numpy()))
    table = table.append_column("probability", [chances])
    found = hm.decide_table(make(table), average="samples", max_k=3).predictions
    expected = hm.decide_table(table, average="samples", max_k=3).predictions
    assert predicted(found) == predicted(expected)


def test_partitions_without_rows_have_no_decisions(make):
    table = pa.table({"instance": [1, 1], "label": ["a", "b"], "probability": [0.9, 0.2]})
    found = hm.decide_table(make(table, [0, 1, 0, 0]), average="samples").predictions
    assert predicted(found) == [(1, "a", 1), (1, "b", 0)]


def test_errors_name_the_row(make, matrix):
    table = matrix.table()
    truth = table["truth"].to_numpy().copy()
    truth[-1] = 2
    wrong = make(table.set_column(3, "truth", [truth]))
    rule = r"^column 'truth' must be bool or 0/1; row \d+ of .+ has 2$"
    with pytest.raises(ValueError, match=rule):
        hm.tune_table(wrong)


def test_a_pair_in_two_rows_is_refused(make, matrix):
    table = matrix.table()
    twice = make(pa.concat_tables([table, table.slice(7, 1)]))
    with pytest.raises(
        ValueError, match=r"^each \(instance, label\) pair must appear in one row only"
    ):
        hm.tune_table(twice, check_duplicates=True)


def test_a_column_that_is_missing_is_named(shuffled):
    with pytest.raises(ValueError, match="has no column 'target'; it has 'instance', 'label'"):
        hm.tune_table(shuffled, truth="target")


def big(rows, positives):
    """Many rows, of which some are positive."""
    random = np.random.default_rng(0)
    truth = np.zeros(rows, np.int8)
    truth[random.choice(rows, positives, replace=False)] = 1
    labels, scores = random.integers(0, 50, rows), random.random(rows) + 0.3 * truth
    return pa.table({"label": labels, "score": scores, "truth": truth})


@pytest.mark.parametrize("cluster", ["dask-cluster", "spark"])
def test_bytes_moved_follow_the_positives_not_the_rows(cluster, tmp_path):
    moved = {}
    for rows, positives in ((40_000, 400), (400_000, 400), (400_000, 4000)):
        folder = tmp_path / f"{rows}-{positives}"
        with running(cluster):
            table = read_parts(cluster, split(big(rows, positives), [1] * 4), folder)
            before = bytes_moved(cluster)
            hm.tune_table(table)
            moved[rows, positives] = bytes_moved(cluster) - before
    few, more_rows, more_positives = moved.values()
    assert few > 8 * 400  # something was measured: at least a number for each positive
    assert more_rows < 1.3 * few
    assert 5 * more_rows < more_positives < 12 * more_rows
