"""Pairs that appear twice in a table are refused, and no others."""

import tempfile
from collections import Counter

import naive
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ids
from table_cases import CORES, LIMITS, small_limits

import halfmax as hm
from halfmax._core.limits import changed
from halfmax.tables import duplicates, kernels

pytestmark = [
    pytest.mark.kernels,
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
    # Hashes overflow, of which kernels that run as plain Python warn.
    pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning"),
]

LEAST, MOST = -(1 << 63), (1 << 63) - 1
TWICE = r"^each \(instance, label\) pair must appear in one row only; (the pair \()?instance "


def long(instances, labels, kind=None):
    size = len(instances)
    columns = {
        "instance": pa.array(instances, kind),
        "label": labels,
        "score": np.linspace(0, 1, size),
        "truth": np.arange(size) % 2,
    }
    return pa.table(columns)


@st.composite
def pairs(draw):
    """Draw some pairs of a few ids, sorted or not; some may appear twice."""
    instances, labels = draw(ids(4)), draw(ids(3))
    place = st.tuples(st.integers(0, 3), st.integers(0, 2))
    rows = draw(st.lists(place, min_size=1, max_size=9))
    if draw(st.booleans()):  # most tables are in order and have no pair twice
        rows = sorted(set(rows), key=lambda row: (instances[row[0]].as_py(), row[1]))
        rows += draw(st.lists(st.sampled_from(rows), max_size=1))
    i, j = np.transpose(rows)
    return long(instances.take(pa.array(i)), labels.take(pa.array(j)))


def constant(ids, columns, out):  # noqa: ARG001
    out.fill(7)


@given(pairs(), LIMITS, CORES, st.booleans())
def test_pairs_that_come_twice_are_refused_and_no_others(table, limits, cores, all_hashes_collide):
    columns = [table[name].to_pylist() for name in ("instance", "label")]
    most = max(Counter(zip(*columns, strict=True)).values())
    with small_limits(limits, cores), pytest.MonkeyPatch.context() as patch:
        if all_hashes_collide:
            patch.setattr(kernels, "hash_pairs", constant)
        if most == 1:
            hm.tune_table(table)
            hm.decide_table(table, probability="truth")
            return
        for call in (hm.tune_table, lambda table: hm.decide_table(table, probability="truth")):
            with pytest.raises(ValueError, match=TWICE):
                call(table)


@given(
    st.lists(st.integers(LEAST, LEAST + 2) | st.integers(-1, 1), min_size=1, max_size=5),
    LIMITS,
    CORES,
)
def test_rows_of_one_classifier_have_ids_too(ids, limits, cores):
    table = long(ids, ["a"] * len(ids))
    with small_limits(limits, cores):
        if len(set(ids)) == len(ids):
            assert hm.tune_table(table, label=None).labels is None
            return
        with pytest.raises(
            ValueError, match=TWICE + r"-?\d+ appears in row \d of the table and again in"
        ):
            hm.tune_table(table, label=None)


def write(folder, *tables, **how):
    for number, table in enumerate(tables):
        pq.write_table(table, folder / f"{number}.parquet", **how)
    return folder


def test_the_message_names_the_pair_and_both_places(tmp_path):
    one = long([1, 2, 3, 4], ["a", "a", "b", "b"])
    two = long([5, 6, 3, 7], ["a", "b", "b", "b"])
    with pytest.raises(ValueError, match=TWICE) as caught:
        hm.tune_table(write(tmp_path, one, two, row_group_size=2))
    assert str(caught.value) == (
        "each (instance, label) pair must appear in one row only; the pair (instance 3, label 'b') "
        f"appears in row 0 of row group 1 of {tmp_path}/0.parquet and again in row 0 of row group "
        f"1 of {tmp_path}/1.parquet. Drop one of them, or pass instance=None if rows have no ids"
    )


KINDS = {
    "int64": ([LEAST, -1, 0, MOST], pa.int64()),
    "int8": ([-128, -1, 0, 127], pa.int8()),
    "uint64": ([0, 1, MOST, (1 << 64) - 1], pa.uint64()),
    "text": (["", "a", "é", "🐈"], pa.string()),
    "large": (["", "a", "é", "🐈"], pa.large_string()),
    "coded": (["", "a", "é", "🐈"], pa.dictionary(pa.int8(), pa.string())),
}


@pytest.mark.parametrize("place", range(4))
@pytest.mark.parametrize(("values", "kind"), KINDS.values(), ids=KINDS)
def test_a_pair_may_come_back_in_another_file(tmp_path, values, kind, place):
    one = long(values, ["x"] * 4, kind)
    two = long([values[place]] * 2, ["y", "x"], kind)
    source = write(tmp_path, one, two)
    for label, where in (("label", "row 1"), (None, "row 0")):
        with pytest.raises(
            ValueError, match=f"row {place} of .*0.parquet and again in {where} of .*1.pa"
        ):
            hm.tune_table(source, label=label)
    assert hm.tune_table(source, instance=None).labels == ("x", "y")
    assert hm.tune_table(source, check_duplicates=False).labels == ("x", "y")


def test_ids_that_share_their_bits_are_different(tmp_path):
    high = long([(1 << 64) - 1, 1 << 63], ["x", "x"], pa.uint64())
    low = long([-1, LEAST], ["x", "x"], pa.int64())
    assert hm.tune_table(write(tmp_path, high, low)).support.tolist() == [2]


def test_the_same_id_in_two_types_is_the_same(tmp_path):
    one, two = long([5, 6], ["x", "x"], pa.uint64()), long([6], ["x"], pa.int8())
    with pytest.raises(ValueError, match=r"\(instance 6, label 'x'\) appears in row 1"):
        hm.tune_table(write(tmp_path, one, two))
    coded = long(["6", "7"], ["x", "x"], pa.dictionary(pa.int8(), pa.string()))
    path = tmp_path / "text"
    path.mkdir()
    with pytest.raises(ValueError, match=r"\(instance '6', label 'x'\) appears in row 0"):
        hm.tune_table(write(path, coded, long(["8", "6"], ["x", "x"])))


def test_a_frame_is_searched_across_its_slices():
    table = long([3, 1, 2, 3, 4], ["a"] * 5)
    for source in (table, table.to_pandas(), pa.Table.from_batches(table.to_batches(2))):
        with pytest.raises(ValueError, match="row 0 of the table and again in row 3 of the table"):
            hm.tune_table(source)
    with (
        changed(table_rows_at_once=2),
        pytest.raises(ValueError, match="row 0 of the table and again in row 3 of the table"),
    ):
        hm.tune_table(table)


def test_ids_of_csv_are_what_is_written(tmp_path):
    head = "instance,label,score,truth\n"
    (tmp_path / "a.csv").write_text(f"{head}7,a,0.5,1\n07,a,0.4,0\n")
    assert hm.tune_table(tmp_path / "a.csv").predicted.tolist() == [1]
    (tmp_path / "a.csv").write_text(f"{head}7,a,0.5,1\n8,a,0.4,0\n7,a,0.4,0\n")
    with pytest.raises(
        ValueError, match=r"\(instance '7', label 'a'\) appears in row 0 of .*row 2"
    ):
        hm.tune_table(tmp_path / "a.csv")


@pytest.mark.parametrize(
    "call",
    [
        lambda t: hm.tune_table(t, average="samples"),
        lambda t: hm.tune_table(t, average="samples", check_duplicates=False),
        lambda t: hm.tune_table(t, guard="smooth"),
        lambda t: hm.tune_table(t, label=None, guard="smooth"),
        lambda t: hm.assess_table(t),
        lambda t: hm.assess_table(t, guard="smooth"),
        lambda t: hm.assess_table(t, label=None, guard="smooth"),
        lambda t: hm.diagnose_table(t),
        lambda t: hm.diagnose_table(t, label=None),
        lambda t: hm.decide_table(t, probability="truth", average="samples"),
    ],
)
def test_all_readers_of_instances_refuse_duplicates(call):
    with pytest.raises(
        ValueError, match=TWICE + r"4.*row 1 of the table and again in row 3 of the"
    ):
        call(long([5, 4, 6, 4], ["a", "b", "a", "b"]))


def test_the_search_for_duplicates_needs_ids():
    table = long([1], ["a"])
    with pytest.raises(ValueError, match=r"check_duplicates needs .*instance=\.\.\."):
        hm.tune_table(table, instance=None, check_duplicates=True)
    with pytest.raises(TypeError, match="check_duplicates must be True, False or None; got 'yes'"):
        hm.tune_table(table, check_duplicates="yes")


def test_a_table_in_order_is_not_read_again(monkeypatch):
    def refuse(*_):
        raise AssertionError("it need not be searched")

    monkeypatch.setattr("halfmax.tables.passes.refuse_duplicates", refuse)
    by_instance = long(np.repeat(np.arange(-5, 5), 2), ["a", "b"] * 10)
    by_label = long([*range(10), *range(10)], ["a"] * 10 + ["b"] * 10)
    for table in (by_instance, by_label):
        assert hm.tune_table(table).labels == ("a", "b")
    with pytest.raises(AssertionError):
        hm.tune_table(by_label.take(np.arange(20)[::-1]))


@pytest.mark.parametrize("twice", [False, True])
def test_hashes_go_to_disk_and_leave_nothing_there(monkeypatch, tmp_path, twice):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    put_down = []
    whole = duplicates._Heap._put_down
    monkeypatch.setattr(
        duplicates._Heap,
        "_put_down",
        lambda heap: (whole(heap), put_down.append(len(list(tmp_path.glob("halfmax-*/*"))))),
    )
    ids = np.random.default_rng(0).permutation(1000)
    ids[900] = ids[10] if twice else ids[900]
    table = long([f"doc {i}" for i in ids], ["a"] * 1000)
    with changed(hashes_in_memory=100, table_rows_at_once=64):
        if twice:
            with pytest.raises(
                ValueError, match="row 10 of the table and again in row 900 of the table"
            ):
                hm.tune_table(table)
        else:
            assert hm.tune_table(table).support.tolist() == [500]
    assert put_down
    assert set(put_down) == {256}
    assert list(tmp_path.iterdir()) == []


def test_hashes_of_pairs_differ():
    """Neighbouring ids and labels, and texts that differ in one letter."""
    i, j = np.indices((300, 100)).reshape(2, -1)
    out = np.empty(i.size, np.uint64)
    for numbers in (i, i - 150, i << 32):
        kernels.hash_pairs(numbers.astype(np.uint64), j.astype(np.int32), out)
        assert len(np.unique(out)) == i.size
    texts = pa.array([f"{a}{b}" for a in "abcdefgh" for b in range(1000)])
    assert len(np.unique(duplicates._hash_ids(texts))) == len(texts)
    assert duplicates._hash_ids(texts[5:9]).tolist() == duplicates._hash_ids(texts)[5:9].tolist()


def test_pandas_rows_after_a_bad_join_are_found():
    left = pd.DataFrame({"instance": [1, 2], "label": ["a", "a"], "score": [0.2, 0.7]})
    truth = pd.DataFrame({"instance": [1, 2, 2], "label": ["a"] * 3, "truth": [0, 1, 1]})
    with pytest.raises(ValueError, match=r"\(instance 2, label 'a'\) appears in row 1 .* in row 2"):
        hm.tune_table(left.merge(truth))


def test_a_label_of_rising_ids_beside_one_that_falls_back():
    table = long([1, 9, 2, 8, 3, 9], ["a", "b", "a", "b", "a", "b"])
    with pytest.raises(ValueError, match=r"\(instance 9, label 'b'\) appears in row 1 .* in row 5"):
        hm.tune_table(table)
    good = long([1, 9, 2, 8, 3, 7], ["a", "b", "a", "b", "a", "b"])
    columns = [good[name].to_pylist() for name in ("label", "score", "truth")]
    rows = naive.by_label(zip(*columns, [1] * 6, strict=True))
    found = hm.tune_table(good).thresholds.tolist()
    assert found == [naive.sweep(one).threshold for one in rows.values()]
