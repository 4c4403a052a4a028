"""Long tables of every form: tuned, assessed, diagnosed, applied to and decided on."""

from collections.abc import Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import csv, dataset, feather

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.inputs import AVERAGES, GUARDS, INF, METRICS, NAMES, NAN, many

NUMBERS = np.array([40, -3, 7, 1 << 40, 8, 9])


@cache
def long(named: bool = True) -> pa.Table:
    """A row for each pair, in no order; some have a score of -inf, and some are left out."""
    y, s = many(80)
    rng = np.random.default_rng(12)
    i, j = np.indices(y.shape).reshape(2, -1)[:, rng.permutation(y.size)[:430]]
    scores = np.where(rng.random(len(i)) < 0.05, -INF, s[i, j].round(2))
    return pa.table(
        {
            "instance": i * 3 - 50,
            "label": (np.array(NAMES) if named else NUMBERS)[j],
            "score": scores,
            "truth": y[i, j],
            "weight": rng.integers(1, 5, 80)[i] * 0.25,
            "probability": 1 / (1 + np.exp(-s[i, j].round(2))),
            "note": np.full(len(i), "not read"),
        }
    )


@cache
def binary() -> pa.Table:
    """A row for each instance of one classifier."""
    y, s = many(80)
    return pa.table({"instance": np.arange(80), "score": s[:, 1], "truth": y[:, 1] == 1})


def sources() -> dict[str, Any]:
    """The table in every form; files lie in the working directory."""
    table, folder = long(), Path("folder")
    (folder / "deep").mkdir(parents=True, exist_ok=True)
    pq.write_table(table, "long.parquet", row_group_size=50)
    pq.write_table(table.slice(0, 200), folder / "0.parquet")
    pq.write_table(table.slice(200), folder / "deep" / "1.parquet")
    feather.write_feather(table, "long.arrow", compression="uncompressed")
    csv.write_csv(table, "long.csv")
    pd.read_csv("long.csv").to_csv("long.csv.gz", index=False)
    coded = table.set_column(1, "label", table["label"].dictionary_encode())
    pq.write_table(coded, "coded.parquet")
    return {
        "arrow table": table,
        "coded": "coded.parquet",
        "parquet": "long.parquet",
        "folder": "folder",
        "list": ["folder/0.parquet", Path("folder/deep/1.parquet")],
        "glob": "folder/*.parquet",
        "arrow file": "long.arrow",
        "csv": "long.csv",
        "csv.gz": "long.csv.gz",
        "dataset": dataset.dataset("folder"),
        "pandas": table.to_pandas().set_axis(range(7, 437)),
        "polars": pl.from_arrow(table),
        "lazy polars": pl.from_arrow(table).lazy(),
        "duckdb": duckdb.sql("select * from 'long.parquet'"),
        "numbers": long(named=False),
    }


def tuned(source: Any, **how: Any) -> Any:
    t = hm.tune_table(source, **how)
    return [t, t.table()]


def tuning() -> Iterator[Case]:
    for (name, source), average in product(sources().items(), AVERAGES):
        yield Case(f"tune_table/{name}/{average}", partial(tuned, source, average=average))
    for average, each, (name, metric) in product(AVERAGES, (True, False), METRICS.items()):
        how = {"average": average, "per_label": each, "metric": metric}
        title = f"{name}/{average}/{'each' if each else 'shared'}"
        yield Case(f"tune_table/{title}", partial(tuned, "long.parquet", **how))
    for guard in GUARDS:
        yield Case(f"tune_table/guard {guard}", partial(tuned, long(), guard=guard))
    ways = (
        {"weight": "weight"},
        {"weight": "weight", "average": "micro"},
        {"instance": None},
        {"instance": None, "n_instances": 500, "metric": "accuracy"},
        {"n_instances": 100, "metric": "accuracy", "average": "micro"},
        {"check_duplicates": False},
        {"zero_division": NAN},
        {"zero_division": 1.0, "average": "micro"},
        {"min_precision": 0.5},
        {"min_precision": 0.4, "min_recall": 0.3, "average": "micro"},
        {"score": "probability", "metric": "f2"},
        {"min_precision": 0.99, "min_recall": 0.99},
    )
    for how in ways:
        yield Case(f"tune_table/{how}", partial(tuned, long(), **how))
        yield Case(f"tune_table/csv/{how}", partial(tuned, "long.csv", **how))
    for how in ({}, {"metric": "accuracy"}, {"guard": "smooth"}, {"min_recall": 0.9}):
        yield Case(f"tune_table/binary/{how}", partial(tuned, binary(), label=None, **how))


def honest(function: Any, source: Any, **how: Any) -> Answer:
    found = function(source, **{"n_resamples": 40, **how})
    return Answer([found, found.table()], repr(found))


def assessing() -> Iterator[Case]:
    every = sources()
    for name in ("arrow table", "folder", "csv", "pandas", "duckdb", "numbers"):
        yield Case(f"assess_table/{name}", partial(honest, hm.assess_table, every[name]))
        yield Case(f"diagnose_table/{name}", partial(honest, hm.diagnose_table, every[name]))
    ways = [
        {"average": average, "per_label": each} for average in AVERAGES for each in (True, False)
    ]
    ways += [
        {"weight": "weight"},
        {"guard": "auto"},
        {"guard": "fbr"},
        {"metric": "accuracy", "n_instances": 120},
        {"zero_division": NAN, "level": 0.8, "seed": 3},
        {"check_duplicates": False, "average": "micro", "metric": "jaccard"},
        {"score": "probability"},
    ]
    for how in ways:
        yield Case(f"assess_table/{how}", partial(honest, hm.assess_table, long(), **how))
    for how in ({"metric": "f2"}, {"score": "probability"}, {"level": 0.5, "seed": 1}):
        yield Case(f"diagnose_table/{how}", partial(honest, hm.diagnose_table, long(), **how))
    for function in (hm.assess_table, hm.diagnose_table):
        work = partial(honest, function, binary(), label=None)
        yield Case(f"{function.__name__}/binary", work)


def content(name: str) -> Any:
    """What stands in a file of data: the table of it, or the bytes where it is text."""
    if name.endswith(".parquet"):
        return pq.read_table(name)
    if name.endswith(".arrow"):
        return pa.ipc.open_file(name).read_all()
    return Path(name).read_bytes()


def written(function: Any, *what: Any, out: str, **how: Any) -> Any:
    """What was written, twice: the second time it replaces the first."""
    found = function(*what, out, **how)
    again = function(*what, out, overwrite=True, **how)
    return [found, again, content(out)]


def applying() -> Iterator[Case]:
    t = hm.tune_table(long())
    few = hm.tune_table(long().filter(pa.compute.not_equal(long()["label"], "botany")))
    for name, source in sources().items():
        if name != "numbers":
            yield Case(f"apply_table/{name}", partial(hm.apply_table, t, source))
            how = {"only_predicted": True, "prediction": "hit"}
            yield Case(f"apply_table/{name}/only", partial(hm.apply_table, t, source, **how))
    for number, out in enumerate(("a.parquet", "a.arrow", "a.csv", "b.csv")):
        how = {"only_predicted": number == 3}
        work = partial(written, hm.apply_table, t, "long.parquet", out=out, **how)
        yield Case(f"apply_table/written {out}", work)
    yield Case("apply_table/unknown", partial(hm.apply_table, few, long()))
    yield Case("apply_table/never", partial(hm.apply_table, few, long(), unknown="never"))
    yield Case("apply_table/score", partial(hm.apply_table, t, long(), score="probability"))
    one = hm.tune_table(binary(), label=None)
    yield Case("apply_table/binary", partial(hm.apply_table, one, binary()))
    numbered = hm.tune_table(long(named=False))
    yield Case("apply_table/numbers", partial(hm.apply_table, numbered, long(named=False)))


def deciding() -> Iterator[Case]:
    for (name, source), average in product(sources().items(), ("macro", "samples")):
        work = partial(hm.decide_table, source, average=average)
        yield Case(f"decide_table/{name}/{average}", work)
    ways = ({"metric": "f2"}, {"min_k": 2}, {"max_k": 1}, {"zero_division": 1.0})
    ways += ({"only_predicted": True, "prediction": "hit"}, {"metric": "jaccard"})
    for how, average in product(ways, AVERAGES):
        work = partial(hm.decide_table, long(), average=average, **how)
        yield Case(f"decide_table/{how}/{average}", work)
    alone = long().select(["instance", "label", "probability"])
    yield Case("decide_table/binary", partial(hm.decide_table, alone, label=None))
    for out in ("d.parquet", "d.arrow", "d.csv"):
        yield Case(
            f"decide_table/written {out}", partial(written, hm.decide_table, long(), out=out)
        )


def in_dask(work: Any) -> Any:
    """The answer of one thread, computed and in order where it is lazy."""
    import dask

    with dask.config.set(scheduler="synchronous"):
        found = work()
        found = getattr(found, "predictions", found)
        if not hasattr(found, "compute"):
            return found
        return found.compute().sort_values(["instance", "label"]).reset_index(drop=True)


def dask_frames() -> Iterator[Case]:
    from dask import dataframe

    frame = dataframe.from_pandas(long().to_pandas(), npartitions=3)
    t = hm.tune_table(long())
    works = {
        "tune_table/macro": partial(hm.tune_table, frame),
        "tune_table/micro": partial(hm.tune_table, frame, average="micro", metric="accuracy"),
        "assess_table": partial(hm.assess_table, frame, n_resamples=40),
        "apply_table": partial(hm.apply_table, t, frame),
        "decide_table": partial(hm.decide_table, frame, average="samples"),
        "refused": partial(hm.tune_table, frame, average="samples"),
    }
    for name, work in works.items():
        yield Case(f"dask/{name}", partial(in_dask, work))


GROUPS = (tuning, assessing, applying, deciding, dask_frames)
