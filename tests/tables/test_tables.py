"""Long tables give the answers of arrays, bit for bit, wherever they come from."""

from math import inf, nan

import duckdb
import naive
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal, assert_array_max_ulp
from scipy import sparse
from strategies import averages, floors, long_tables, metrics, probabilities, zero_divisions
from table_cases import (
    CORES,
    FORMS,
    LIMITS,
    LONG,
    NUMBERED,
    arrow_file,
    csv_file,
    hive_dataset,
    parquet_file,
    polars_categories,
    small_limits,
)

import halfmax as hm
from halfmax._core import threads
from halfmax._core.limits import changed

COLUMNS = ["thresholds", "label_scores", "precision", "recall", "support", "predicted"]
half = settings(max_examples=max(settings().max_examples // 2, 5))
pytestmark = [
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]


def options_of(long):
    return {"weight": "weight"} if "weight" in long.table.column_names else {}


def assert_same(found, expected):
    assert found.labels == expected.labels
    for name in ("metric", "average", "shared"):
        assert getattr(found, name) == getattr(expected, name)
    for name in ["score", *COLUMNS]:
        assert_array_equal(getattr(found, name), getattr(expected, name), name)


def tune_arrays(long, *args, **how):
    return hm.tune(long.y, long.s, *args, sample_weight=long.w, labels=long.labels, **how)


# Any table.


@given(long_tables(), metrics, averages, st.booleans(), zero_divisions, LIMITS, CORES)
def test_a_table_gives_what_its_matrix_gives(
    long, metric, average, per_label, nothing, limits, cores
):
    how = {"metric": metric, "average": average, "per_label": per_label, "zero_division": nothing}
    with small_limits(limits, cores):
        found = hm.tune_table(long.table, **options_of(long), **how)
    assert_same(found, tune_arrays(long, **how))


@half
@given(long_tables(), metrics, st.sampled_from(["macro", "micro"]), floors, floors)
def test_floors_mean_the_same(long, metric, average, low, high):
    how = {"metric": metric, "average": average, "min_precision": low, "min_recall": high}
    assert_same(hm.tune_table(long.table, **options_of(long), **how), tune_arrays(long, **how))


@half
@given(long_tables(missing=True), averages, st.booleans(), st.sampled_from(["f1", "f2", "jaccard"]))
def test_missing_pairs_are_those_of_a_sparse_matrix(long, average, per_label, metric):
    how = {"metric": metric, "average": average, "per_label": per_label}
    assert_same(hm.tune_table(long.table, **options_of(long), **how), tune_arrays(long, **how))


@given(long_tables(missing=True, kinds=("none",)), averages, st.booleans(), st.booleans())
def test_missing_pairs_are_negatives_of_all_instances(long, average, per_label, is_known):
    how = {"metric": "accuracy", "average": average, "per_label": per_label}
    number = len(long.instances) if is_known else None
    assert_same(hm.tune_table(long.table, n_instances=number, **how), tune_arrays(long, **how))


def is_complete(long):
    """Whether every pair has a row, which metrics that count true negatives need."""
    return len(long.rows) == len(long.instances) * len(long.labels)


@given(long_tables(missing=True), metrics, zero_divisions, LIMITS, CORES)
def test_every_label_gets_the_best_of_all_its_cuts(long, metric, zero_division, limits, cores):
    assume(is_complete(long) or metric != "accuracy")
    with small_limits(limits, cores):
        found = hm.tune_table(
            long.table, metric=metric, zero_division=zero_division, **options_of(long)
        )
    expected = {
        label: naive.sweep(rows, metric, zero_division)
        for label, rows in naive.by_label(long.rows).items()
    }
    assert found.labels == tuple(expected)
    assert found.thresholds.tolist() == [best.threshold for best in expected.values()]
    assert found.predicted.tolist() == [best.predicted for best in expected.values()]
    assert found.support.tolist() == [best.positives for best in expected.values()]
    # F-beta of a beta such as 1.1 is rounded more than once; the twin is an exact fraction.
    values = np.array([float(best.value) for best in expected.values()])
    assert_array_max_ulp(found.label_scores, values, maxulp=4)


@half
@given(long_tables(missing=True), metrics, zero_divisions)
def test_one_threshold_is_the_best_cut_of_all_rows(long, metric, zero_division):
    assume(is_complete(long) or metric != "accuracy")
    how = {"metric": metric, "zero_division": zero_division, **options_of(long)}
    best = naive.sweep([row for _, *row in long.rows], metric, zero_division)
    found = hm.tune_table(long.table, average="micro", per_label=False, **how)
    assert found.threshold == best.threshold
    assert found.score == float(best.value)
    alone = hm.tune_table(long.table, label=None, instance=None, **how)
    assert alone.threshold == best.threshold
    assert (alone.labels, alone.average) == (None, "binary")


@half
@given(long_tables(missing=True, kinds=("none",)), st.integers(0, 3))
def test_the_number_of_instances_counts_what_is_not_there(long, more):
    of_label = naive.by_label(long.rows)
    size = max(map(len, of_label.values())) + more
    found = hm.tune_table(long.table, metric="accuracy", n_instances=size)
    for label, rows in of_label.items():
        best = naive.sweep(rows, "accuracy", absent=size - len(rows))
        j = found.labels.index(label)
        assert found.thresholds[j] == best.threshold
        assert found.label_scores[j] == float(best.value)


@half
@given(long_tables(missing=True), averages, st.sampled_from(["f1", "f0.5", "precision"]))
def test_assessments_are_those_of_the_matrix(long, average, metric):
    how = {"metric": metric, "average": average, "n_resamples": 20}
    found = hm.assess_table(long.table, **options_of(long), **how)
    expected = hm.assess(long.y, long.s, sample_weight=long.w, labels=long.labels, **how)
    assert repr(found) == repr(expected)
    assert_same(found.thresholds, expected.thresholds)


@half
@given(long_tables(kinds=("none",)), st.data(), averages, st.integers(0, 2))
def test_decisions_are_those_of_the_matrix(long, data, average, max_k):
    rows = sorted(long.instances)
    p = data.draw(probabilities((len(rows), len(long.labels))))
    table = long.table.to_pydict()
    i = [rows.index(one) for one in table["instance"]]
    j = [long.labels.index(one) for one in table["label"]]
    limits = {} if max_k == 0 else {"max_k": max_k}
    found = hm.decide_table(
        long.table.append_column("probability", pa.array(p[i, j])), average=average, **limits
    )
    expected = hm.decide(sparse.csr_array(p), average=average, **limits)
    predicted = expected.predictions.toarray()
    assert found.predictions["predicted"].to_pylist() == predicted[i, j].tolist()
    assert found.expected_score == expected.expected_score
    assert found.predicted == predicted.sum()
    assert_array_equal(found.decision.thresholds, expected.thresholds)
    names = {"samples": tuple(rows), "macro": tuple(long.labels)}.get(average)
    assert names is None or found.decision.labels == names


@half
@given(long_tables(missing=True), st.booleans())
def test_applied_thresholds_predict_what_tuning_counted(long, only):
    t = hm.tune_table(long.table, average="micro")
    found = hm.apply_table(t, long.table, only_predicted=only)
    limits = dict(zip(t.labels, t.thresholds.tolist(), strict=True))
    expected = [int(score >= limits[label]) for label, score, *_ in long.rows]
    assert sum(expected) == t.predicted.sum()
    assert found["predicted"].to_pylist() == ([1] * sum(expected) if only else expected)
    kept = long.table.filter(np.array(expected, np.bool_)) if only else long.table
    assert found.drop_columns(["predicted"]).to_pydict() == kept.to_pydict()


# One table in many forms.


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("long", [LONG, NUMBERED], ids=["text", "integers"])
def test_every_source_gives_the_same(form, long, tmp_path):
    source = form(long.table, tmp_path)
    expected = tune_arrays(long, average="micro")
    found = hm.tune_table(source, average="micro", weight="weight")
    assert_same(found, expected)
    with changed(scan_kept_bytes=0):
        found = hm.tune_table(source, average="micro", weight="weight")
    assert_same(found, expected)
    with_rows = hm.tune_table(source, average="samples", weight="weight")
    assert_same(with_rows, tune_arrays(long, average="samples"))


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
def test_every_source_can_be_assessed_applied_and_decided(form, tmp_path, tmp_path_factory):
    source = form(LONG.table, tmp_path)
    how = {"n_resamples": 20, "average": "micro"}
    expected = hm.assess(LONG.y, LONG.s, labels=LONG.labels, **how)
    assert repr(hm.assess_table(source, **how)) == repr(expected)
    path = tmp_path_factory.mktemp("out") / "out.parquet"
    written = hm.apply_table(expected.thresholds, source, path)
    assert written.rows == LONG.table.num_rows
    assert written.predicted == expected.thresholds.predicted.sum()
    out = pq.read_table(path)
    limits = dict(zip(LONG.labels, expected.thresholds.thresholds, strict=True))
    for row in out.to_pylist():
        assert row["predicted"] == (row["score"] >= limits[row["label"]])
    decided = hm.decide_table(source, probability="truth", average="samples", max_k=2)
    assert decided.predicted == np.minimum(LONG.y.sum(axis=1), 2).sum()
    frame = nw.from_native(decided.predictions)
    chosen = frame.filter(nw.col("predicted") == 1)["truth"].to_list()
    assert {int(float(value)) for value in chosen} == {1}


def test_polars_categories_are_text():
    found = hm.tune_table(polars_categories(LONG.table, None))
    assert_same(found, hm.tune(LONG.y, LONG.s, labels=LONG.labels))


# Every option.

OPTIONS = {
    "macro": {},
    "macro-shared": {"per_label": False},
    "micro": {"average": "micro"},
    "micro-shared": {"average": "micro", "per_label": False},
    "samples": {"average": "samples"},
    "samples-shared": {"average": "samples", "per_label": False},
    "left-out": {"average": "micro", "metric": "precision", "zero_division": nan},
    "own-metric": {"metric": hm.LinearFractional("gain", (4, -1, 0, 0), (1, 1, 1, 1))},
    "auto": {"guard": "auto"},
    "calibrated": {"guard": "calibrated", "average": "micro"},
    "smooth": {"guard": "smooth"},
    "fbr": {"guard": "fbr:0.4"},
    "never": {"guard": "never"},
}


@pytest.mark.parametrize("how", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_option_means_the_same(how, weighted, tmp_path):
    weight = "weight" if weighted else None
    found = hm.tune_table(parquet_file(LONG.table, tmp_path), weight=weight, **how)
    long = LONG if weighted else LONG._replace(w=None)
    assert_same(found, tune_arrays(long, **how))


ASSESSED = {
    "macro": {},
    "micro-shared": {"average": "micro", "per_label": False},
    "samples": {"average": "samples"},
    "guarded": {"guard": "smooth", "average": "micro"},
    "zero-division": {"zero_division": 1.0, "seed": 7, "level": 0.8},
}


@pytest.mark.parametrize("how", ASSESSED.values(), ids=ASSESSED)
@pytest.mark.parametrize("weighted", [False, True], ids=["plain", "weighted"])
def test_every_assessment_means_the_same(how, weighted):
    weight, w = ("weight", LONG.w) if weighted else (None, None)
    found = hm.assess_table(LONG.table, weight=weight, n_resamples=30, **how)
    expected = hm.assess(LONG.y, LONG.s, sample_weight=w, labels=LONG.labels, n_resamples=30, **how)
    assert repr(found) == repr(expected)


def test_one_classifier_is_assessed_without_instances():
    table = LONG.table.drop_columns(["instance"])
    found = hm.assess_table(table, label=None, n_resamples=30)
    expected = hm.assess(table["truth"].to_numpy(), table["score"].to_numpy(), n_resamples=30)
    assert repr(found) == repr(expected)


def test_labels_are_diagnosed_alike():
    found = hm.diagnose_table(csv_like(LONG.table), n_resamples=30)
    expected = hm.diagnose(LONG.y, LONG.s, labels=LONG.labels, n_resamples=30)
    assert repr(found) == repr(expected)
    alone = hm.diagnose_table(LONG.table, label=None, instance=None, n_resamples=30)
    columns = (LONG.table[name].to_numpy() for name in ("truth", "score"))
    assert repr(alone) == repr(hm.diagnose(*columns, n_resamples=30))


def csv_like(table):
    """A frame whose ids are as narrow as they can be."""
    return pl.from_arrow(table).with_columns(pl.col("instance").cast(pl.Int16))


def test_weights_may_differ_within_an_instance():
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 5, LONG.table.num_rows)
    table = LONG.table.set_column(4, "weight", pa.array(weights))
    found = hm.tune_table(table, weight="weight")
    columns = (table[name].to_pylist() for name in ("label", "score", "truth", "weight"))
    rows = naive.by_label(zip(*columns, strict=True))
    assert found.thresholds.tolist() == [naive.sweep(one).threshold for one in rows.values()]


def test_real_weights_are_summed_in_the_order_of_the_table(monkeypatch, tmp_path):
    rng = np.random.default_rng(0)
    table = LONG.table.set_column(4, "weight", pa.array(rng.random(LONG.table.num_rows)))
    path = parquet_file(table, tmp_path)
    found = []
    for cores in (1, 2, 5):
        monkeypatch.setattr(threads, "available_cores", lambda cores=cores: cores)
        found.append(hm.tune_table(path, weight="weight", average="micro"))
    assert_same(found[1], found[0])
    assert_same(found[2], found[0])


@pytest.mark.parametrize("cores", [1, 2, 5])
def test_threads_change_nothing(monkeypatch, tmp_path, cores):
    monkeypatch.setattr(threads, "available_cores", lambda: cores)
    path = parquet_file(LONG.table, tmp_path)
    how = {"n_resamples": 20}
    expected = hm.assess(LONG.y, LONG.s, labels=LONG.labels, **how)
    table = pq.read_table(path)
    with changed(scan_kept_bytes=500):
        assert_same(hm.tune_table(path), hm.tune(LONG.y, LONG.s, labels=LONG.labels))
        assert repr(hm.assess_table(path, **how)) == repr(expected)
        applied = hm.apply_table(expected.thresholds, path)
    assert applied.drop_columns(["predicted"]).equals(table)


# Odd, but right.


def test_columns_may_have_other_names():
    table = LONG.table.rename_columns(["doc", "tag", "p", "hit", 'the "weight"', "note"])
    names = {"instance": "doc", "label": "tag", "score": "p", "truth": "hit"}
    relation = duckdb.connect().from_arrow(table)
    for source in (table, relation):
        found = hm.tune_table(source, **names, weight='the "weight"')
        assert_same(found, tune_arrays(LONG))


def test_instances_may_be_missing_where_they_are_not_needed():
    table = LONG.table.drop_columns(["instance"])
    assert_same(hm.tune_table(table), hm.tune(LONG.y, LONG.s, labels=LONG.labels))


def test_float32_beside_float64_is_compared_as_float64(tmp_path):
    near = 0.1 + 1e-12
    one = pa.table({"label": ["a", "a"], "score": [near, 0.5], "truth": [0, 1]})
    two = pa.table({"label": ["a"], "score": pa.array([0.1], pa.float32()), "truth": [1]})
    for number, table in enumerate((two, one)):
        pq.write_table(table, tmp_path / f"{number}.parquet")
    found = hm.tune_table(tmp_path)
    assert found.thresholds.tolist() == [float(np.float32(0.1))]
    scores = hm.apply_table(found, tmp_path)["score"]
    assert scores.to_pylist() == [float(np.float32(0.1)), near, 0.5]


@pytest.mark.parametrize(
    "scores",
    [
        pa.array([1, 5, 3]),
        pa.array([1, 5, 3], pa.uint8()),
        pa.array([1, 5, 3]).cast(pa.decimal128(21, 2)),
        pa.array([1.0, 5.0, 3.0], pa.float16()),
        pa.array([1.0, 5.0, 3.0]).dictionary_encode(),
        pa.array([1, 5, 3]).dictionary_encode(),
    ],
    ids=lambda scores: str(scores.type),
)
def test_scores_are_numbers_of_any_type(scores):
    table = pa.table({"label": ["a"] * 3, "score": scores, "truth": [0, 1, 1]})
    assert hm.tune_table(table).thresholds.tolist() == [3.0]


@pytest.mark.parametrize(
    "truth",
    [
        pa.array([False, True, True]),
        pa.array([0.0, 1.0, 1.0]),
        pa.array([0, 1, 1], pa.uint64()),
        pa.array([0, 1, 1]).cast(pa.decimal128(20, 1)),
        pa.array([False, True, True]).dictionary_encode(),
    ],
    ids=lambda truth: str(truth.type),
)
def test_truth_is_bool_or_0_and_1_of_any_type(truth):
    table = pa.table({"label": ["a"] * 3, "score": [0.1, 0.5, 0.3], "truth": truth})
    assert hm.tune_table(table).thresholds.tolist() == [0.3]


@pytest.mark.parametrize("kind", [pa.string_view(), pa.dictionary(pa.uint32(), pa.large_string())])
def test_text_may_be_stored_in_any_way(kind):
    plain = hm.tune_table(LONG.table)
    table = LONG.table.set_column(1, "label", LONG.table["label"].cast(kind))
    assert_same(hm.tune_table(table), plain)
    assert hm.apply_table(plain, table)["predicted"].to_pylist().count(1) == plain.predicted.sum()


def test_instances_may_be_hashes_of_64_bits():
    ids = (LONG.table["instance"].to_numpy() + 60).astype(np.uint64) + np.uint64(2**63)
    table = LONG.table.set_column(0, "instance", pa.array(ids))
    assert_same(hm.tune_table(table), hm.tune(LONG.y, LONG.s, labels=LONG.labels))
    assert_same(
        hm.tune_table(table, average="samples"),
        hm.tune(LONG.y, LONG.s, labels=LONG.labels, average="samples"),
    )
    expected = hm.assess(LONG.y, LONG.s, labels=LONG.labels, n_resamples=20)
    assert repr(hm.assess_table(table, n_resamples=20)) == repr(expected)
    decided = hm.decide_table(table, probability="truth", average="samples")
    assert decided.decision.labels == tuple(sorted(set(ids.tolist())))


@pytest.mark.parametrize(
    ("cells", "labels"),
    [
        (["7", "10", "-3"], (-3, 7, 10)),
        (["7", "07", "10"], ("07", "10", "7")),
        (["1e3", "10", "-0"], ("-0", "10", "1e3")),
        (["NA", "null", "nan"], ("NA", "nan", "null")),
        (["9" * 5000, "10", "1" * 18], ("10", "1" * 18, "9" * 5000)),
    ],
)
def test_labels_of_csv_are_integers_if_all_of_them_are(tmp_path, cells, labels):
    rows = "".join(f"{cell},0.5,1\n" for cell in cells)
    (tmp_path / "t.csv").write_text(f"label,score,truth\n{rows}")
    t = hm.tune_table(tmp_path / "t.csv")
    assert t.labels == labels
    out = hm.apply_table(t, tmp_path / "t.csv")
    assert out["label"].to_pylist() == cells
    assert out["predicted"].to_pylist() == [1, 1, 1]


@pytest.mark.parametrize("yes", ["1", "1.0", "true", "True", "TRUE"])
def test_truth_of_csv_may_be_written_in_many_ways(tmp_path, yes):
    no = {"1": "0", "1.0": "0.0"}.get(yes, "false")
    rows = f"a,0.9,{no}\na,0.8,{yes}\na,-inf,{yes}\n"
    (tmp_path / "t.csv").write_text(f"\ufefflabel,score,truth\n{rows}", "utf-8")
    assert hm.tune_table(tmp_path / "t.csv").thresholds.tolist() == [0.8]


def test_one_row():
    for truth, threshold in ((1, 0.5), (0, inf)):
        table = pa.table({"label": ["a"], "score": [0.5], "truth": [truth]})
        assert hm.tune_table(table).thresholds.tolist() == [threshold]


def test_a_relation_in_another_order_each_time_is_decided_row_by_row():
    rng = np.random.default_rng(0)
    table = pa.table(
        {"instance": np.arange(500), "label": ["a"] * 500, "probability": rng.random(500)}
    )
    relation = duckdb.connect().from_arrow(table).order("random()")
    out = hm.decide_table(relation).predictions
    chosen = out.filter(pa.compute.equal(out["predicted"], 1))["probability"].to_pylist()
    expected = hm.decide(table["probability"].to_numpy())
    assert min(chosen) == expected.threshold
    assert len(chosen) == expected.counts[0]


def test_a_label_that_is_nowhere_predicted_keeps_its_place():
    table = pa.table({"label": ["b", "a", "a"], "score": [0.2, 0.3, 0.4], "truth": [0, 0, 1]})
    t = hm.tune_table(table)
    assert (t.labels, t.thresholds.tolist()) == (("a", "b"), [0.4, inf])


def test_warnings_of_missed_floors_point_to_the_call():
    table = pa.table({"label": ["a", "b", "a"], "score": [0.9, 0.5, 0.1], "truth": [0, 1, 1]})
    with pytest.warns(hm.HalfmaxWarning, match=r"1 of 2 labels \('a'\) cannot satisfy") as caught:
        hm.tune_table(table, min_precision=0.9)
    assert caught[0].filename == __file__


# How far it has come.


@pytest.mark.parametrize(
    ("how", "passes"),
    [({}, 2), ({"average": "micro", "per_label": False}, 3), ({"label": None}, 2)],
)
def test_progress_is_reported_in_rows(tmp_path, how, passes):
    reported = []
    path = parquet_file(LONG.table, tmp_path)
    how = {"instance": None, **how}
    hm.tune_table(path, progress=lambda done, total: reported.append((done, total)), **how)
    size = LONG.table.num_rows
    assert reported[-1] == (passes * size, passes * size)
    assert {total for _, total in reported} == {passes * size}
    assert [done for done, _ in reported] == sorted(done for done, _ in reported)
    assert len(reported) > passes


@pytest.mark.parametrize("form", [csv_file, arrow_file, FORMS["duckdb"], hive_dataset])
def test_of_how_many_rows_may_be_unknown(tmp_path, form):
    reported = []
    source = form(LONG.table, tmp_path)
    t = hm.tune_table(source, progress=lambda *now: reported.append(now))
    assert reported[-1] == (3 * LONG.table.num_rows, 0)  # once for duplicates: its rows do not rise
    hm.apply_table(t, source, progress=lambda *now: reported.append(now))
    assert reported[-1] == (LONG.table.num_rows, 0)


def test_progress_of_applying_ends_at_all_rows(tmp_path):
    reported = []
    t = hm.tune_table(LONG.table)
    path = parquet_file(LONG.table, tmp_path)
    hm.apply_table(t, path, tmp_path / "out.csv", progress=lambda *now: reported.append(now))
    assert reported[-1] == (LONG.table.num_rows, LONG.table.num_rows)


def test_a_dictionary_may_hold_a_label_twice():
    labels = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1, 2]), ["a", "a", "b"])
    table = pa.table(
        {"label": labels, "score": [0.9, 0.8, 0.2, 0.1, 0.7], "truth": [1, 1, 0, 0, 1]}
    )
    found = hm.tune_table(table)
    assert (found.labels, found.score) == (("a", "b"), 1.0)


# The table read again, for pictures and reports.


@pytest.mark.parametrize("more", [0, 3])
@pytest.mark.parametrize("label", ["label", None])
def test_a_table_read_again_is_what_was_tuned(label, more):
    table = LONG.table
    if label is None:
        table = table.filter(pc.equal(table["label"], table["label"][0]))
    n_instances = len(set(table["instance"].to_pylist())) + more
    tuned = hm.tune_table(table, label, metric="accuracy", n_instances=n_instances)
    again = tuned._tuning.load()
    assert again.n_rows == n_instances
    found = hm.tune(again.truth, again.scores, metric="accuracy", labels=again.labels)
    for name in ("score", *COLUMNS):
        assert_array_equal(getattr(found, name), getattr(tuned, name), name)
