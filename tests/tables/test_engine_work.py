"""The methods of the engine protocol, with work that is easy to check."""

import subprocess
import sys
from collections import Counter

import numpy as np
import psutil
import pyarrow as pa
import pytest
from engines import (
    DISTRIBUTED,
    CountTruth,
    Heavy,
    KilledOnce,
    Positives,
    Refuse,
    Where,
    as_arrow,
    dask_frame,
    frame,
    running,
    split,
    table_of,
)
from surroundings import wait_until

pytestmark = [
    pytest.mark.engines,
    # What is used of PySpark is Arrow, not pandas.
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
]

SIZES = [3, 0, 90, 0, 4, 3]  # of partitions, in percent


@pytest.fixture(scope="module", params=DISTRIBUTED)
def engine(request):
    with running(request.param) as name:
        yield name


@pytest.fixture(scope="module", params=["dask-cluster", "spark"])
def cluster(request):
    with running(request.param) as name:
        yield name


def rows(size=1000, **columns):
    random = np.random.default_rng(7)
    weights = random.integers(0, 5, size)
    truth = random.integers(0, 3, size)
    labels = random.choice(["ant", "bee", "cat", "döner"], size)
    return pa.table({"label": labels, "truth": truth, "weight": weights, **columns})


@pytest.fixture
def make(engine, tmp_path):
    """The rows as a table of the engine."""

    def make(rows, sizes=SIZES):
        return table_of(engine, frame(engine, split(rows, sizes), tmp_path / "table"))

    return make


def counted(table):
    return Counter(map(tuple, zip(*table.to_pydict().values(), strict=True)))


def weights_of(rows):
    total = rows.group_by("truth").aggregate([("weight", "sum")])
    return dict(zip(total["truth"].to_pylist(), total["weight_sum"].to_pylist(), strict=True))


def is_gone(process):
    try:
        return psutil.Process(process).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_the_schema_has_names_and_types(make):
    schema = make(rows(score=np.linspace(0, 1, 1000))).schema
    assert schema.names == ["label", "truth", "weight", "score"]
    assert [str(kind).removeprefix("large_") for kind in schema.types] == [
        "string",
        "int64",
        "int64",
        "double",
    ]


def test_collect_brings_what_the_work_gives(make):
    source = rows()
    found = make(source).collect(Positives())
    assert found.schema == Positives.schema
    expected = source.select(["label", "truth"]).filter(np.asarray(source["truth"]) == 1)
    assert counted(found) == counted(expected)


def test_add_up_adds_counts_of_all_partitions(make):
    source = rows()
    table, expected = make(source), weights_of(source)
    for kind in (pa.int64(), pa.float64()):
        found = table.add_up(CountTruth(kind))
        assert found.schema == CountTruth(kind).schema
        assert dict(counted(found)) == dict.fromkeys(expected.items(), 1)


def test_many_partitions_are_added_up(make):
    source = rows(400)
    found = make(source, [1] * 10).add_up(CountTruth())
    assert counted(found) == Counter(weights_of(source).items())


def test_a_table_without_rows_gives_nothing(make):
    table = make(rows().slice(0, 0), [1, 1])
    assert table.collect(Positives()).num_rows == 0
    assert table.add_up(CountTruth()).num_rows == 0
    assert table.count_pairs("label", "truth").num_rows == 0


def test_map_gives_a_frame_of_the_same_kind(make):
    source = rows()
    table = make(source)
    mapped = table.map(Positives())
    assert type(mapped) is type(table.frame)
    expected = source.select(["label", "truth"]).filter(np.asarray(source["truth"]) == 1)
    assert counted(as_arrow(mapped)) == counted(expected)


def test_together_keeps_equal_values_in_one_partition(make):
    source = rows()
    table = make(source)
    assert max(Counter(table.collect(Where())["label"].to_pylist()).values()) > 1
    together = table.together("label")
    assert together.schema == table.schema
    found = counted(together.collect(Where()))
    assert Counter(label for _, label in found) == Counter(set(source["label"].to_pylist()))
    assert counted(together.add_up(CountTruth())) == Counter(weights_of(source).items())


def test_pairs_that_repeat_are_found(make):
    source = rows(8, instance=[1, 2, 3, 1, 2, 3, 1, 1], count=list("aabaabca"))
    table = make(source, [1, 1, 1])
    found = table.count_pairs("instance", "count")
    assert counted(found) == {(1, "a", 3): 1, (2, "a", 2): 1, (3, "b", 2): 1}
    assert counted(table.count_pairs("count", "count")) == {("a", "a", 5): 1, ("b", "b", 2): 1}


def test_columns_may_have_any_name(make):
    source = rows(6).rename_columns(["label", "truth", "strange `name`. of"])
    source = source.append_column("a.b", [[1, 1, 2, 2, 3, 3]])
    table = make(source, [1, 1, 1])
    found = table.together("a.b").count_pairs("a.b", "strange `name`. of")
    assert found.num_rows <= 3
    assert table.collect(Positives()).num_rows == source["truth"].to_pylist().count(1)


@pytest.mark.parametrize(("run", "error"), [("collect", TypeError), ("add_up", ValueError)])
def test_complaints_of_the_work_are_raised_as_they_are(make, run, error):
    labels = ["a"] * 99 + [None]
    table = make(rows(100).set_column(0, "label", [labels]), [1, 0, 1])
    with pytest.raises(error, match=r"^row 49 of partition \d has no label$"):
        getattr(table, run)(Refuse(error))


def test_the_work_is_sent_once(make):
    Heavy.sent = 0
    make(rows()).add_up(Heavy())
    assert Heavy.sent <= 1


def test_the_answer_is_right_when_a_worker_is_killed(cluster, tmp_path):
    source = rows()
    table = table_of(cluster, frame(cluster, split(source, SIZES), tmp_path / "table"))
    found = table.add_up(KilledOnce(marker=tmp_path / "killed"))
    killed = int((tmp_path / "killed").read_text())
    wait_until(lambda: is_gone(killed))
    assert counted(found) == Counter(weights_of(source).items())


def test_categories_of_dask_are_values():
    pandas = pytest.importorskip("pandas")
    pieces = [
        pandas.DataFrame({"label": pandas.Categorical(names), "truth": 1, "weight": 1})
        for names in (["b", "a"], ["c", None])
    ]
    with running("dask-cluster") as name:
        table = table_of(name, dask_frame(pieces))
        assert table.schema.field("label").type in (pa.string(), pa.large_string())
        found = table.collect(Positives())["label"].to_pylist()
        assert found == ["b", "a", "c", None]
        assert table.together("label").collect(Where()).num_rows == 4


@pytest.mark.parametrize(
    ("label", "message"),
    [
        ([1, 2], "column 'label' holds int64 in partition 1, but Dask declares"),
        ([1, "b"], "each column must hold values of one type; in partition 1 "),
    ],
)
def test_partitions_of_dask_must_agree(label, message):
    pandas = pytest.importorskip("pandas")
    first = pandas.DataFrame({"label": ["a", None], "truth": 1})
    other = pandas.DataFrame({"label": pandas.Series(label, dtype=object), "truth": 1})
    as_given = pytest.importorskip("dask").config.set({"dataframe.convert-string": False})
    with running("dask"), as_given, pytest.raises(TypeError, match=message):
        table_of("dask", dask_frame([first, other])).collect(Positives())


def test_nulls_of_dask_stay_nulls():
    pandas = pytest.importorskip("pandas")
    first = pandas.DataFrame({"label": ["a", None], "truth": 1})
    other = pandas.DataFrame({"label": pandas.Series([None, None], dtype=object), "truth": 1})
    with running("dask"):
        found = table_of("dask", dask_frame([first, other])).collect(Positives())
    assert found["label"].to_pylist() == ["a", None, None, None]


def test_frames_are_known_without_importing_engines():
    program = (
        "import sys; from halfmax.tables.engines.spark import is_spark; "
        "from halfmax.tables.engines.dask import is_dask; "
        "print(is_spark([]), is_dask({}), *({'dask', 'pyspark'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.split() == ["False", "False"], done.stderr


def test_frames_of_engines_are_known(make, engine):
    from halfmax.tables.engines.dask import is_dask
    from halfmax.tables.engines.spark import is_spark

    frame = make(rows(10)).frame
    assert (is_spark(frame), is_dask(frame)) == (engine == "spark", engine != "spark")
