"""One long table in every form that can be tuned, and limits so low that all branches are taken."""

import gzip
from contextlib import contextmanager
from math import inf

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from pyarrow import csv, dataset, feather
from strategies import Long

from halfmax._core import threads
from halfmax._core.limits import changed

LIMITS = st.fixed_dictionaries(
    {
        "table_rows_at_once": st.sampled_from([1, 3, 1 << 20]),
        "scan_kept_bytes": st.sampled_from([0, 30, 1 << 28]),
        "hashes_in_memory": st.sampled_from([1, 5, 1 << 25]),
    }
)
CORES = st.sampled_from([1, 3])


@contextmanager
def small_limits(limits, cores):
    with changed(**limits), pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "available_cores", lambda: cores)
        yield


def make_long(names=("ant", "bée", "cow", "dog", "no positives"), size=40):
    random = np.random.default_rng(3)
    shape = size, len(names)
    s = random.normal(size=shape).round(1)
    y = (s + random.normal(size=shape) > 1).astype(np.int64)
    y[:, -1] = 0
    s[random.random(shape) < 0.1] = -inf
    w = random.integers(1, 5, size)
    i, j = np.indices(shape).reshape(2, -1)[:, random.permutation(s.size)]
    columns = {
        "instance": i * 3 - 50,
        "label": np.array(names, object)[j],
        "score": s[i, j],
        "truth": y[i, j],
        "weight": w[i],
        "note": np.full(s.size, "not read"),
    }
    order = sorted(range(len(names)), key=names.__getitem__)
    ordered = sorted(names)
    return Long(pa.table(columns), y[:, order], s[:, order], w, ordered, list(range(size)))


LONG = make_long()
NUMBERED = make_long((40, -3, 7, 1 << 40, 8))
SPLIT = 77  # the row where a table is cut in two


def parquet_file(table, folder):
    pq.write_table(table, folder / "scores.parquet", row_group_size=7)
    return folder / "scores.parquet"


def parquet_glob(table, folder):
    for number, first in enumerate(range(0, table.num_rows, 50)):
        pq.write_table(table.slice(first, 50), folder / f"{number}.parquet")
    (folder / "_SUCCESS").touch()
    return f"{folder}/*"


def nested_folder(table, folder):
    pq.write_table(table[:SPLIT], folder / "0.parquet", row_group_size=20)
    for name in ("deep/er", "_set_aside", ".hidden"):
        (folder / name).mkdir(parents=True)
        pq.write_table(table[SPLIT:], folder / name / "1.parquet")
    for name in ("_metadata.parquet", ".part.parquet", "notes.txt"):
        (folder / name).write_text("no table")
    pq.write_table(table[:0], folder / "none.parquet")
    return folder


def list_of_paths(table, folder):
    pq.write_table(table[:SPLIT], folder / "b.pq")
    pq.write_table(table[SPLIT:], folder / "a.parquet")
    return [folder / "b.pq", str(folder / "a.parquet")]


def columns_in_other_orders(table, folder):
    names = table.column_names
    pq.write_table(table[:SPLIT], folder / "1.parquet")
    pq.write_table(table[SPLIT:].select(names[::-1]), folder / "2.parquet")
    return folder


def types_that_differ(table, folder):
    """Two files whose columns have narrow, wide and dictionary types."""
    pq.write_table(table[:SPLIT], folder / "1.parquet")
    other = table[SPLIT:]
    if table["label"].type == pa.int64():
        return parquet_file(table, folder)
    for name, kind in (("instance", pa.int16()), ("truth", pa.float32()), ("weight", pa.uint8())):
        place = other.column_names.index(name)
        other = other.set_column(place, name, other[name].cast(kind))
    other = other.set_column(1, "label", other["label"].dictionary_encode())
    pq.write_table(other, folder / "2.parquet")
    return folder


def arrow_file(table, folder):
    feather.write_feather(table, folder / "t.arrow", compression="zstd", chunksize=9)
    return folder / "t.arrow"


def coded_feather(table, folder):
    coded = table.set_column(1, "label", table["label"].dictionary_encode())
    feather.write_feather(coded, folder / "t.feather", compression="uncompressed", chunksize=9)
    return folder / "t.feather"


def arrow_stream(table, folder):
    with pa.ipc.new_stream(folder / "t.arrows", table.schema) as writer:
        writer.write_table(table, max_chunksize=9)
    return folder / "t.arrows"


def csv_file(table, folder):
    csv.write_csv(table, folder / "t.csv")
    return folder / "t.csv"


def gzipped_csvs(table, folder):
    """Two files, one of them with two gzip members as of `cat a.gz b.gz`, and one without rows."""
    text = csv_file(table, folder).read_bytes().splitlines(keepends=True)
    (folder / "t.csv").unlink()
    first = gzip.compress(b"".join(text[:20])) + gzip.compress(b"".join(text[20:SPLIT]))
    (folder / "a.csv.gz").write_bytes(first)
    (folder / "b.csv.gz").write_bytes(gzip.compress(text[0] + b"".join(text[SPLIT:])))
    (folder / "0.csv.gz").write_bytes(gzip.compress(text[0]))
    return folder


def tsv_file(table, folder):
    csv.write_csv(table, folder / "t.tsv", csv.WriteOptions(delimiter="\t"))
    return folder / "t.tsv"


def hive_dataset(table, folder):
    kind = table.schema.field("label").type
    how = dataset.partitioning(pa.schema([("label", kind)]), flavor="hive")
    dataset.write_dataset(table, folder, format="parquet", partitioning=how)
    return dataset.dataset(folder, partitioning=how)


def filtered_dataset(table, folder):
    pq.write_table(table, folder / "t.parquet")
    noise = table.set_column(0, "instance", pa.array([999] * table.num_rows))
    pq.write_table(noise, folder / "u.parquet")
    return dataset.dataset(folder).filter(dataset.field("instance") < 999)


def pandas_with_odd_index(table, _):
    frame = table.to_pandas()
    return frame.set_index(pd.Index(np.arange(len(frame)) % 3, name="label"))


def pandas_categories(table, _):
    frame = table.to_pandas()
    return frame.assign(label=pd.Categorical(frame.label)).assign(
        label=lambda f: f.label.cat.add_categories([type(table["label"][0].as_py())(123)])
    )


def pandas_nullable(table, _):
    return table.to_pandas().convert_dtypes()


def pandas_objects(table, _):
    frame = table.to_pandas()
    return frame.astype({"label": object, "instance": object, "truth": object})


def polars_categories(table, _):
    frame = pl.from_arrow(table)
    return frame.with_columns(pl.col("label").cast(pl.String).cast(pl.Categorical))


def polars_lazy(table, folder):
    return pl.scan_parquet(parquet_file(table, folder)).filter(pl.col("score") < 99)


FORMS = {
    "parquet": parquet_file,
    "glob": parquet_glob,
    "folder": nested_folder,
    "list": list_of_paths,
    "orders": columns_in_other_orders,
    "types": types_that_differ,
    "arrow": arrow_file,
    "feather": coded_feather,
    "stream": arrow_stream,
    "csv": csv_file,
    "gzip": gzipped_csvs,
    "tsv": tsv_file,
    "table": lambda table, _: table,
    "batch": lambda table, _: table.to_batches()[0],
    "chunks": lambda table, _: pa.Table.from_batches(table.to_batches(max_chunksize=13)),
    "dataset": lambda table, folder: dataset.dataset(parquet_file(table, folder)),
    "hive": hive_dataset,
    "filtered": filtered_dataset,
    "pandas": lambda table, _: table.to_pandas(),
    "pandas-index": pandas_with_odd_index,
    "pandas-categories": pandas_categories,
    "pandas-nullable": pandas_nullable,
    "pandas-objects": pandas_objects,
    "polars": lambda table, _: pl.from_arrow(table),
    "polars-lazy": polars_lazy,
    "narwhals": lambda table, _: nw.from_native(table.to_pandas()),
    "duckdb": lambda table, _: duckdb.connect().from_arrow(table),
    "duckdb-query": lambda table, _: duckdb.connect().from_arrow(table).order("score"),
}
