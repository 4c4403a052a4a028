"""Engines, started once; tables in partitions for them; and work that is easy to check."""

import os
import shutil
import signal
import sys
import tempfile
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import psutil
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

DISTRIBUTED = ["dask", "dask-cluster", "spark"]
LOCAL = ["arrow", "pandas", "polars", "duckdb", "parquet-folder"]
HERE = Path(__file__).parent
TEXT, WHOLE = pa.large_string(), pa.int64()


@cache
def spark_session():
    """Spark on two executors, each a process of its own."""
    sql = pytest.importorskip("pyspark.sql", reason="Spark is not installed")
    if shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is not installed")
    os.environ |= {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_HOME": _spark_home().name,
        "SPARK_LOCAL_IP": "127.0.0.1",
    }
    settings = {
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": os.pathsep.join((str(HERE), str(HERE.parent / "src"))),
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.files.openCostInBytes": "128m",  # as many partitions as files
        "spark.sql.shuffle.partitions": "3",
        "spark.task.maxFailures": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = sql.SparkSession.builder.master("local-cluster[2,1,1024]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


@cache
def _spark_home():
    """Spark as it is installed, as links in a folder where executors may write their logs."""
    installed = Path(pytest.importorskip("pyspark").__file__).parent
    home = tempfile.TemporaryDirectory(prefix="halfmax-spark-", ignore_cleanup_errors=True)
    for part in installed.iterdir():
        if part.name != "work":
            Path(home.name, part.name).symlink_to(part)
    return home


@cache
def dask_client():
    """Dask on two workers, each a process of its own."""
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", host="127.0.0.1"
    )
    return distributed.Client(cluster, set_as_default=False)


@contextmanager
def running(name):
    """The engine of that name, as what frames made meanwhile are computed with."""
    if name == "dask":
        dask = pytest.importorskip("dask", reason="Dask is not installed")
        context = dask.config.set(scheduler="threads")
    elif name == "dask-cluster":
        context = dask_client().as_current()
    else:
        context = nullcontext()
    with context:
        yield name


def split(table, sizes):
    """Pieces of a table; the sizes are shares of its rows."""
    ends = np.round(np.cumsum([0, *sizes]) / sum(sizes) * table.num_rows).astype(int)
    return [table.slice(first, last - first) for first, last in pairwise(ends.tolist())]


def frame(name, pieces, folder):
    """The pieces as one frame of the engine of that name, a partition for each."""
    whole = pa.concat_tables(pieces)
    if name in ("dask", "dask-cluster"):
        return dask_frame([piece.to_pandas() for piece in pieces])
    if name in ("spark", "parquet-folder"):
        return read_parts(name, pieces, folder)
    if name == "duckdb":
        duckdb = pytest.importorskip("duckdb", reason="DuckDB is not installed")
        return duckdb.connect().from_arrow(whole)
    if name == "polars":
        return pytest.importorskip("polars").from_arrow(whole)
    return whole.to_pandas() if name == "pandas" else whole


def read_parts(name, pieces, folder):
    """The same from Parquet files, which the workers read themselves."""
    folder.mkdir()
    for number, piece in enumerate(pieces):
        pq.write_table(piece, folder / f"{number}.parquet")
    if name == "parquet-folder":
        return folder
    if name == "spark":
        return spark_session().read.parquet(str(folder))
    return pytest.importorskip("dask.dataframe").read_parquet(folder)


def dask_frame(pieces):
    """A Dask frame of partitions that are pandas frames."""
    from_map = pytest.importorskip("dask.dataframe", reason="Dask is not installed").from_map
    return from_map(_itself, pieces, meta=pieces[0].iloc[:0])


def _itself(piece):
    return piece


def table_of(name, frame):
    """The frame as halfmax sees it."""
    if name == "spark":
        from halfmax.tables.engines.spark import SparkTable

        return SparkTable(frame)
    from halfmax.tables.engines.dask import DaskTable

    return DaskTable(frame)


def as_arrow(frame):
    """Any frame as a pyarrow table."""
    if hasattr(frame, "compute"):
        frame = frame.compute()
    for method in ("toArrow", "to_arrow"):
        if hasattr(frame, method):
            return getattr(frame, method)()
    if isinstance(frame, pa.Table):
        return frame
    return pa.Table.from_pandas(frame, preserve_index=False)


def bytes_moved(name):
    """What the engine has sent between its processes so far, by its own metrics."""
    if name == "dask-cluster":
        return sum(dask_client().run(_bytes_sent).values())
    spark = spark_session().sparkContext
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    every = spark._jvm.java.util.ArrayList()
    no_quantiles = spark._gateway.new_array(spark._jvm.double, 0)
    stages = spark._jsc.sc().statusStore().stageList(every, False, False, no_quantiles, every)
    return sum(stages.apply(place).shuffleWriteBytes() for place in range(stages.size()))


def _bytes_sent(dask_worker):
    return dask_worker.transfer_outgoing_bytes_total


@dataclass(frozen=True)
class Positives:
    """The rows whose truth is 1."""

    columns = ["label", "truth"]  # noqa: RUF012
    schema = pa.schema([("label", TEXT), ("truth", WHOLE)])

    def __call__(self, batches, _):
        for batch in batches:
            assert batch.schema.names == self.columns
            found = batch.filter(pc.field("truth") == 1)
            yield found.cast(self.schema)


@dataclass(frozen=True)
class CountTruth:
    """How many rows, or what weight, has each value of truth."""

    kind: pa.DataType = WHOLE
    columns = ["truth", "weight"]  # noqa: RUF012

    @property
    def schema(self):
        return pa.schema([("step", pa.int64()), ("count", self.kind)])

    def __call__(self, batches, _):
        for batch in batches:
            table = pa.Table.from_batches([batch]).group_by("truth")
            counts = table.aggregate([("weight", "sum")]).select(["truth", "weight_sum"])
            yield from counts.rename_columns(["step", "count"]).cast(self.schema).to_batches()


@dataclass(frozen=True)
class Where:
    """Which partition holds which labels, and what its batches look like."""

    columns = ["label"]  # noqa: RUF012
    schema = pa.schema([("part", TEXT), ("label", TEXT)])

    def __call__(self, batches, part):
        for batch in batches:
            labels = pc.unique(batch["label"].cast(pa.large_string()))
            yield pa.record_batch(
                [pa.array([part] * len(labels), pa.large_string()), labels], schema=self.schema
            )


@dataclass(frozen=True)
class Refuse:
    """An error on a row without a label."""

    error: type
    columns = ["label"]  # noqa: RUF012
    schema = pa.schema([("step", WHOLE), ("count", WHOLE)])

    def __call__(self, batches, part):
        for batch in batches:
            if batch["label"].null_count:
                row = pc.index(batch["label"].is_null(), True)
                raise self.error(f"row {row} of {part} has no label")
        yield from ()


class Heavy(CountTruth):
    """Counts how often it is sent from here."""

    sent = 0

    def __getstate__(self):
        Heavy.sent += 1
        return self.__dict__


@dataclass(frozen=True)
class KilledOnce(CountTruth):
    """Takes the process that it runs in with it, the first time."""

    marker: Path = Path()

    def __call__(self, batches, part):
        batches = list(batches)
        if batches and self._is_first():
            os.kill(int(self.marker.read_text()), signal.SIGKILL)
        yield from super().__call__(iter(batches), part)

    def _is_first(self):
        try:
            with self.marker.open("x") as file:
                file.write(str(_process_of_the_worker()))
        except FileExistsError:
            return False
        return True


def _process_of_the_worker():
    """Of Dask this process; of Spark the executor, which started a daemon, which started this."""
    above = psutil.Process().parents()[1]
    return above.pid if above.name() == "java" else os.getpid()
