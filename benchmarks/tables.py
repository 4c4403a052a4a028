"""Long tables: compared with window queries, memory for 10^8 rows, and how costs grow.

``python -m benchmarks.tables [peers] [memory] [growth] [labels]`` prints the tables as Markdown.
"""

import os
import subprocess
import sys
import tempfile
import warnings
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import compute, parquet

import halfmax as hm
from benchmarks import peers
from benchmarks.measure import side_by_side
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective
from halfmax.tables.columns import Columns
from halfmax.tables.open import open_source
from halfmax.tables.passes import Passes

LABELS, PER_INSTANCE, ROWS_AT_ONCE = 50_000, 200, 1 << 20

warnings.simplefilter("ignore", hm.OptimismWarning)


def write_table(path, rows, labels=LABELS, rate=1.0, shuffled=False, coded=False):
    """Candidates of a tagger: 200 labels per instance, few of which are true.

    Labels are strings, or with `coded` Arrow's dictionary type (pandas' categories).
    """
    rng = np.random.default_rng(0)
    names = pa.array([f"D{j:08d}" for j in range(labels)])
    writer = None
    for first in range(0, rows, ROWS_AT_ONCE):
        place = np.arange(first, min(first + ROWS_AT_ONCE, rows))
        instance, k = place // PER_INSTANCE, place % PER_INSTANCE
        label = (instance * 7919 + k * (labels // PER_INSTANCE)) % labels
        truth = rng.random(len(place)) < rate * np.minimum(0.1, 4.0 / (1 + label % 1000))
        score = (rng.normal(size=len(place)) + 1.5 * truth).astype(np.float32)
        column = names.take(pa.array(label))
        if coded:
            column = pa.DictionaryArray.from_arrays(pa.array(label, pa.int32()), names)
        table = pa.table({"instance": instance, "label": column, "score": score})
        table = table.append_column("truth", pa.array(truth))
        if shuffled:
            table = table.take(pa.array(rng.permutation(len(place))))
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table)
    writer.close()
    return os.fspath(path)


# The best threshold of each label as a window query, as one would write it without halfmax.

DUCKDB = """
with rows as (select label, score, truth::int as truth from read_parquet('{path}')),
counts as (
    select label, score,
        sum(truth) over (partition by label order by score desc) as tp,
        count(*) over (partition by label order by score desc) as predicted,
        sum(truth) over (partition by label) as positives
    from rows
),
scored as (select label, score, 2.0 * tp / (predicted + positives) as f1 from counts)
select label, max(f1) as f1, arg_max(score, (f1, score)) as threshold
from scored group by label
"""


def with_duckdb(path):
    import duckdb

    found = duckdb.sql(DUCKDB.format(path=path)).fetchnumpy()
    return dict(zip(found["label"], found["threshold"], strict=True)), found["f1"].mean()


def with_polars(path):
    import polars as pl

    own = pl.col("label")
    scored = (
        pl.scan_parquet(path)
        .select("label", "score", pl.col("truth").cast(pl.Int64))
        .sort("score", descending=True)
        .with_columns(
            tp=pl.col("truth").cum_sum().over(own),
            predicted=pl.col("truth").cum_count().over(own),
            positives=pl.col("truth").sum().over(own),
        )
        .group_by("label", "score")
        .agg(pl.col("tp").max(), pl.col("predicted").max(), pl.col("positives").first())
        .with_columns(f1=2 * pl.col("tp") / (pl.col("predicted") + pl.col("positives")))
        .sort("f1", "score", descending=True)
        .group_by("label", maintain_order=True)
        .first()
        .collect()
    )
    return dict(zip(scored["label"], scored["score"], strict=True)), scored["f1"].mean()


def bare_read(path):
    for _ in parquet.ParquetFile(path).iter_batches(columns=["label", "score", "truth"]):
        pass


def peer_rows(folder):
    """Seconds of halfmax, DuckDB and Polars on the same files, taken in turn."""
    engines = " | ".join(peers.named(name) for name in ("duckdb", "polars"))
    yield f"| rows of Parquet, 50,000 labels | halfmax | instance=None | a bare read | {engines} |"
    yield "|---|---|---|---|---|---|"
    works = (
        hm.tune_table,
        partial(hm.tune_table, instance=None),
        bare_read,
        with_duckdb,
        with_polars,
    )
    for rows in (10**7, 3 * 10**7):
        for coded, kind in ((False, "strings"), (True, "dictionary-encoded")):
            path = write_table(folder / "peers.parquet", rows, coded=coded)
            check_same(path)
            ours, *others = side_by_side([partial(work, path) for work in works], repeats=3)
            times = [f"{took:.2f} s" for took in others[:2]]
            times += [f"{took:.1f} s, {took / ours:.1f} times as long" for took in others[2:]]
            yield f"| {rows:,}, {kind} | {ours:.2f} s | {' | '.join(times)} |"


def check_same(path):
    """The queries find the same thresholds, where a label has positives at all."""
    tuned = hm.tune_table(path)
    for peer in (with_duckdb, with_polars):
        found, mean = peer(path)
        assert abs(mean - tuned.score) < 1e-9
        for label, threshold, score in zip(
            tuned.labels, tuned.thresholds, tuned.label_scores, strict=True
        ):
            assert score == 0 or found[label] == threshold


# A separate process shows the memory of everything, pyarrow included.

_MEASURED = """
import re, time, warnings
from pathlib import Path
warnings.simplefilter("ignore")
import halfmax as hm
start = time.perf_counter()
{call}
took = time.perf_counter() - start
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1]
print(took, int(peak) / 1024)
"""


def measured(call):
    code = _MEASURED.format(call=call)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return tuple(map(float, done.stdout.split()))


def memory_rows(folder):
    """Seconds and peak memory of whole processes for 10^8 rows."""
    yield "| 10^8 rows, 50,000 labels | seconds | peak memory of the process |"
    yield "|---|---|---|"
    path = write_table(folder / "large.parquet", 10**8)
    saved = os.fspath(folder / "thresholds.json")
    hm.tune_table(path).save(saved)  # which also brings the file into the cache
    read = f"parquet.ParquetFile({path!r}).iter_batches(columns=['label', 'score', 'truth'])"
    out = os.fspath(folder / "out.parquet")
    calls = {
        "tune_table": f"hm.tune_table({path!r})",
        "tune_table, instance=None": f"hm.tune_table({path!r}, instance=None)",
        "tune_table, micro": f"hm.tune_table({path!r}, average='micro')",
        "apply_table to Parquet": f"hm.apply_table({saved!r}, {path!r}, {out!r})",
        "one bare read of label, score and truth": (
            f"from pyarrow import parquet\nfor _ in {read}: pass"
        ),
    }
    for name, call in calls.items():
        yield _line(name, *measured(call))
    Path(out).unlink()
    mixed = write_table(folder / "mixed.parquet", 10**8, shuffled=True)
    yield _line("tune_table, rows in no order", *measured(f"hm.tune_table({mixed!r})"))


def _line(name, took, mebibytes):
    return f"| {name} | {took:.1f} | {mebibytes:,.0f} MiB |"


def growth_rows(folder):
    """How time and memory grow with rows, positives and labels, one at a time."""
    yield "| rows | labels | positives | seconds | ns a row | peak memory of the process |"
    yield "|---|---|---|---|---|---|"
    cases = [
        (10**6, LABELS, 1.0),
        (10**7, LABELS, 1.0),
        (10**8, LABELS, 1.0),
        (10**7, LABELS, 0.1),
        (10**7, LABELS, 10.0),
        (10**7, 1_000, 1.0),
        (10**7, 10**6, 1.0),
    ]
    for rows, labels, rate in cases:
        path = write_table(folder / "growth.parquet", rows, labels, rate)
        took, mebibytes = min(measured(f"hm.tune_table({path!r})") for _ in range(2))
        positives = compute.sum(parquet.read_table(path, columns=["truth"])["truth"]).as_py()
        yield (
            f"| {rows:,} | {labels:,} | {positives:,} | {took:.2f} | {1e9 * took / rows:.0f} | "
            f"{mebibytes:,.0f} MiB |"
        )


# Where the positives of all labels do not fit, labels are assigned to buckets.


def label_rows(folder, buckets=16):
    """Tuning bucket by bucket of labels gives the same thresholds, macro and micro."""
    path = write_table(folder / "labels.parquet", 10**7)
    whole, source = hm.tune_table(path), ds.dataset(path)
    edges = [f"D{j:08d}" for j in range(0, LABELS + 1, LABELS // buckets)]
    field = compute.field("label")
    parts = [source.filter((field >= low) & (field < high)) for low, high in pairwise(edges)]
    tuned = [hm.tune_table(part) for part in parts]
    assert np.array_equal(np.concatenate([t.thresholds for t in tuned]), whole.thresholds)
    pooled, rounds = micro_by_buckets([staircase(part) for part in parts])
    assert abs(pooled - hm.tune_table(path, average="micro").score) < 1e-12
    most = max(int(t.support.sum()) for t in tuned)
    yield (
        f"10,000,000 rows in {buckets} buckets of labels: the same {len(whole.labels):,} "
        f"thresholds; at most {most:,} of {int(whole.support.sum()):,} positives at a time; micro "
        f"F1 {pooled:.6f} in {rounds} rounds of four numbers from each bucket."
    )


def staircase(source):
    opened = open_source(source, Columns(truth="truth"), None)
    with Passes(opened, None) as passes:
        return passes.staircase(passes.collect())


def micro_by_buckets(stairs):
    """Dinkelbach's rounds: each bucket answers a common F with the counts of its best steps."""
    reached, rounds = 0.0, 0
    objective = Objective(find_metric("f1"), 0.0)
    while True:
        counts = np.sum([_counts_at(part, reached) for part in stairs], axis=0)
        now = float(objective(*counts))
        rounds += 1
        if now <= reached:
            return reached, rounds
        reached = now


def _counts_at(stairs, reached):
    worth = 2.0 * stairs.true_positives - reached * stairs.predicted
    best = np.zeros(stairs.n_labels)
    np.maximum.at(best, stairs.grid.columns, worth)
    chosen = worth == best[stairs.grid.columns]
    chosen &= best[stairs.grid.columns] > 0
    first = np.flatnonzero(chosen)
    _, keep = np.unique(stairs.grid.columns[first], return_index=True)
    step = first[keep]
    counts = stairs.true_positives[step], stairs.predicted[step], stairs.positives, stairs.total
    return [part.sum() for part in counts]


SECTIONS = {
    "peers": peer_rows,
    "memory": memory_rows,
    "growth": growth_rows,
    "labels": label_rows,
}


def report(wanted=()):
    for name in wanted or SECTIONS:
        with tempfile.TemporaryDirectory() as folder:
            yield ""
            yield from SECTIONS[name](Path(folder))


if __name__ == "__main__":
    for line in report(sys.argv[1:]):
        print(line, flush=True)
