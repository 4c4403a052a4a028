"""`tune` in all its ways, what its answers do, `score`, `Grid` and `Staircase`."""

import pickle
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.inputs import (
    AVERAGES,
    GUARDS,
    METRICS,
    NAMES,
    NAN,
    columns,
    containers,
    edge_many,
    edge_one,
    many,
    one,
    sparse_many,
    weights,
)
from halfmax.metrics.named import NAMED


def tuned(y: Any, s: Any, *new: Any, **how: Any) -> dict[str, Any]:
    """The answer with its table, and what it predicts for these scores or new ones."""
    t = hm.tune(y, s, **how)
    return {"answer": t, "table": t.table(), "predicted": t.predict(new[0] if new else s)}


def tune_one() -> Iterator[Case]:
    y, s = one()
    for name, metric in METRICS.items():
        yield Case(f"tune/one/{name}", partial(tuned, y, s, metric=metric))
        for kind in ("float", "whole"):
            how = {"metric": metric, "sample_weight": weights(len(y), kind)}
            yield Case(f"tune/one/{name}/{kind} weights", partial(tuned, y, s, **how))
    for name, pair in columns(y, s).items():
        yield Case(f"tune/one/container {name}", partial(tuned, *pair))
    for name, pair in edge_one().items():
        for zero in (0.0, 1.0, NAN):
            how = {"zero_division": zero}
            yield Case(f"tune/one/{name}/zero {zero:g}", partial(tuned, *pair, **how))
        yield Case(f"tune/one/{name}/accuracy", partial(tuned, *pair, metric="accuracy"))


def tune_common() -> Iterator[Case]:
    """Labels with many positives, which are tuned without counting at every step."""
    rng = np.random.default_rng(11)
    y = (rng.random((2_000, 12)) < np.linspace(0.1, 0.9, 12)).astype(np.int8)
    s = rng.normal(1.5 * y)
    for (name, metric), dtype in product(METRICS.items(), (np.float32, np.float64)):
        how = {"metric": metric}
        yield Case(
            f"tune/common/{name}/{dtype.__name__}", partial(tuned, y, s.astype(dtype), **how)
        )
    yield Case("tune/common/two decimals", partial(tuned, y, np.round(s, 2)))


def tune_one_restricted() -> Iterator[Case]:
    y, s = one()
    for guard in GUARDS:
        yield Case(f"tune/one/guard {guard}", partial(tuned, y, s, guard=guard))
        how = {"guard": guard, "sample_weight": weights(len(y)), "metric": "f2"}
        yield Case(f"tune/one/guard {guard}/weights, f2", partial(tuned, y, s, **how))
    for metric, low, high in product(("f1", "recall", "precision"), (None, 0.4, 0.99), (None, 0.6)):
        how = {"metric": metric, "min_precision": low, "min_recall": high}
        yield Case(f"tune/one/floors {metric} {low} {high}", partial(tuned, y, s, **how))


def tune_many() -> Iterator[Case]:
    y, s = many()
    for (name, metric), average, each in product(METRICS.items(), AVERAGES, (True, False)):
        how = {"metric": metric, "average": average, "per_label": each}
        title = f"{name}/{average}/{'each' if each else 'shared'}"
        yield Case(f"tune/many/{title}", partial(tuned, y, s, **how))
        if name in ("f1", "accuracy", "own"):
            for kind in ("float", "whole"):
                how = how | {"sample_weight": weights(len(y), kind)}
                yield Case(f"tune/many/{title}/{kind} weights", partial(tuned, y, s, **how))
    for (name, pair), average in product(containers(y, s).items(), AVERAGES):
        how = {"average": average}
        yield Case(f"tune/many/container {name}/{average}", partial(tuned, *pair, **how))


def tune_many_odd() -> Iterator[Case]:
    for (name, pair), average in product(edge_many().items(), AVERAGES):
        yield Case(f"tune/many/{name}/{average}", partial(tuned, *pair, average=average))
    bare = edge_many()["empty rows and labels"]
    for average, each, zero in product(AVERAGES, (True, False), (0.5, 1.0, NAN)):
        how = {"average": average, "per_label": each, "zero_division": zero}
        title = f"{average}/{'each' if each else 'shared'}/zero {zero:g}"
        yield Case(f"tune/many/empty/{title}", partial(tuned, *bare, **how))
    stored = sparse_many()
    for metric, average, each in product(("f1", "accuracy"), AVERAGES, (True, False)):
        how = {"metric": metric, "average": average, "per_label": each}
        title = f"{metric}/{average}/{'each' if each else 'shared'}"
        yield Case(f"tune/sparse/{title}", partial(tuned, *stored, **how))


def tune_many_restricted() -> Iterator[Case]:
    y, s = many()
    for guard, average in product(GUARDS, AVERAGES):
        how = {"guard": guard, "average": average}
        yield Case(f"tune/many/guard {guard}/{average}", partial(tuned, y, s, **how))
    for guard in GUARDS:
        how = {"guard": guard, "sample_weight": weights(len(y)), "labels": NAMES}
        yield Case(f"tune/many/guard {guard}/weights", partial(tuned, y, s, **how))
        yield Case(f"tune/sparse/guard {guard}", partial(tuned, *sparse_many(), guard=guard))
    for metric in ("f2", "jaccard", "accuracy", "own"):
        how = {"guard": "auto", "metric": METRICS[metric]}
        yield Case(f"tune/many/guard auto/{metric}", partial(tuned, y, s, **how))
    floors = ((0.5, None), (None, 0.7), (0.4, 0.4), (0.97, 0.97))
    for (low, high), average, each in product(floors, ("macro", "micro"), (True, False)):
        how = {"min_precision": low, "min_recall": high, "average": average, "per_label": each}
        title = f"floors {low} {high}/{average}/{'each' if each else 'shared'}"
        yield Case(f"tune/many/{title}", partial(tuned, y, s, **how))


def tune_large() -> Iterator[Case]:
    """As many scores as it takes to go by buckets and on all cores."""
    y, s = one(200_000, 0.02)
    for dtype in ("float32", "float64"):
        yield Case(f"tune/large/one {dtype}", partial(tuned, y, s.astype(dtype)))
    yield Case("tune/large/one weights", partial(tuned, y, s, sample_weight=weights(len(y))))
    yield Case("tune/large/one rounded", partial(tuned, y, s.round(2), metric="f2"))
    y, s = many(4000, 60)
    for average, each in product(AVERAGES, (True, False)):
        how = {"average": average, "per_label": each}
        title = f"{average} {'each' if each else 'shared'}"
        yield Case(f"tune/large/many {title}", partial(tuned, y, s.astype(np.float32), **how))
        yield Case(f"tune/large/sparse {title}", partial(tuned, *sparse_many(3000, 300), **how))


def saved(t: hm.Thresholds, name: str) -> dict[str, Any]:
    """The bytes of the file, and what comes back from it and from a pickle."""
    t.save(name)
    with open(name, "rb") as file:
        written = file.read()
    back = hm.Thresholds.load(name)
    return {"bytes": written, "loaded": back, "pickled": pickle.loads(pickle.dumps(t))}


def thresholds() -> Iterator[Case]:
    y, s = many()
    answers = {
        "one": hm.tune(*one()),
        "many": hm.tune(y, s, labels=NAMES),
        "micro": hm.tune(y, s, average="micro", labels=range(10, 16)),
        "shared": hm.tune(y, s, average="samples", per_label=False),
        "guarded": hm.tune(y, s, labels=NAMES, guard="auto", zero_division=1.0),
        "weighted": hm.tune(y, s, "f0.5", sample_weight=weights(len(y))),
        "left out": hm.tune(*edge_many()["no positives"], zero_division=NAN),
        "pandas": hm.tune(*containers(y, s)["pandas"]),
        "polars": hm.tune(*containers(y, s)["polars"]),
    }
    for name, t in answers.items():
        yield Case(f"thresholds/{name}/saved", partial(saved, t, f"saved {name}.json"))
        yield Case(f"thresholds/{name}/repr", partial(lambda t: Answer(words=repr(t)), t))
        show = partial(lambda t: Answer(words=[t._repr_html_(), str(t.table())]), t)
        yield Case(f"thresholds/{name}/html", show)
    frame = containers(y, s)["pandas"][1]
    new = {
        "shuffled": frame[NAMES[::-1]],
        "indexed": frame.set_axis([f"row {i}" for i in range(len(frame))]),
        "polars": pl.DataFrame(s, schema=NAMES),
        "csr": sparse.csr_array(s),
        "float32": s.astype(np.float32),
        "lists": s.tolist(),
        "one row": s[:1],
    }
    for name, scores in new.items():
        yield Case(f"thresholds/predict {name}", partial(answers["many"].predict, scores))
    yield Case("thresholds/predict series", partial(answers["one"].predict, pd.Series(s[:, 0])))


def thresholds_by_hand() -> Iterator[Case]:
    y, s = many()
    changes = {NAMES[0]: 0.5, NAMES[2]: float("inf")}
    for average, each, kind in product(AVERAGES, (True, False), (None, "whole")):
        how = {"average": average, "per_label": each, "labels": NAMES}
        heavy = None if kind is None else weights(len(y), kind)
        t = hm.tune(y, s, sample_weight=heavy, **how)
        title = f"{average} {'each' if each else 'shared'} {kind or 'no'} weights"
        yield Case(f"by hand/replaced/{title}", partial(t.replace, changes))
    own = hm.Thresholds.from_dict({"a": 0.35, "b": -1e-7, "c": float("inf")}, "f2", "micro")
    yield Case("by hand/from a dictionary", partial(saved, own, "own.json"))
    left, right = (hm.tune(y, s, labels=names) for names in (NAMES, [*NAMES[1:], "new"]))
    yield Case("by hand/joined", lambda: left | right)
    for dialect in ("postgres", "sqlite", "bigquery", "tsql"):
        work = partial(lambda name: Answer(words=own.to_sql(name)), dialect)
        yield Case(f"by hand/sql {dialect}", work)
    yield Case("by hand/onnx", lambda: own.to_onnx().SerializeToString())


def scores() -> Iterator[Case]:
    y, s = many()
    p = (s > 0.7).astype(np.int64)
    for (name, metric), average in product(METRICS.items(), AVERAGES):
        yield Case(f"score/{name}/{average}", partial(hm.score, y, p, metric, average))
        how = {"sample_weight": weights(len(y)), "zero_division": 1.0}
        work = partial(hm.score, y, p, metric, average, **how)
        yield Case(f"score/{name}/{average}/weights", work)
    for (name, pair), zero in product(containers(y, p).items(), (0.0, NAN)):
        work = partial(hm.score, *pair, average="samples", zero_division=zero)
        yield Case(f"score/container {name}/zero {zero:g}", work)
    for name, metric in METRICS.items():
        yield Case(f"score/one/{name}", partial(hm.score, y[:, 0], p[:, 0], metric))


def stairs_of_parts(y: Any, s: Any) -> Any:
    """The staircase of two halves, and that of the whole."""
    halves = [(y[:60], s[:60]), (y[60:], s[60:])]
    grid = hm.Grid.of(*halves[0]) | hm.Grid.of(*halves[1])
    first, second = (hm.Staircase.of(*half, grid=grid) for half in halves)
    return [grid, first, second, first + second, hm.Staircase.of(y, s)]


def staircases() -> Iterator[Case]:
    y, s = many()
    for name, pair in containers(y, s).items():
        yield Case(f"staircase/{name}", partial(hm.Staircase.of, *pair))
        yield Case(f"grid/{name}", partial(hm.Grid.of, *pair))
    for name, pair in edge_one().items():
        yield Case(f"staircase/{name}", partial(hm.Staircase.of, *pair))
    yield Case("staircase/parts", partial(stairs_of_parts, y, s))
    yield Case("staircase/parts of one", partial(stairs_of_parts, y[:, 0], s[:, 0]))
    named = hm.Staircase.of(y, s, weights(len(y)), NAMES)
    yield Case("staircase/weights", lambda: Answer(named, repr(named)))
    yield Case("staircase/one of many", lambda: Answer(named["botany"], repr(named["botany"])))


def metrics() -> Iterator[Case]:
    counts = np.arange(5.0)[:, None], np.arange(4.0), 2.0, 7.0
    for name, metric in METRICS.items():
        if isinstance(metric, hm.Metric):
            work = partial(lambda m: Answer([m.name, m(*counts), m(*counts, NAN)], repr(m)), metric)
            yield Case(f"metric/{name}", work)
    for beta in (0.1, 0.5, 1, 1.1, 2, 2**0.5, 1e3):
        yield Case(f"metric/f-beta {beta}", lambda b=beta: [hm.FBeta(b).name, hm.FBeta(b)(*counts)])


def capacity(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:
    """A metric that is not monotone."""
    return tp - 3 * np.maximum(tp + fp - 20, 0) + 0 * fn * tn


def goals() -> Iterator[Case]:
    """Metrics by name, costs, restrictions, weighted averages and classes."""
    (y, s), (many_y, many_s) = one(), many()
    named: dict[str, Any] = {name: name for name in NAMED} | {
        "cost": hm.cost(fp=1, fn=10),
        "costs of all outcomes": hm.cost(fp=1.5, fn=4, tp=1, tn=0.1),
        "hits are dear": hm.cost(fp=1, fn=1, tp=3),
        "capacity": hm.Metric("capacity", capacity),
    }
    for name, metric in named.items():
        yield Case(f"goal/one/{name}", partial(tuned, y, s, metric=metric))
        yield Case(f"goal/many/{name}", partial(tuned, many_y, many_s, metric=metric))
    limits: dict[str, Any] = {"max_predicted": 40, "min_specificity": 0.9, "min_recall": 0.1}
    for name, value in limits.items():
        yield Case(f"goal/one/{name}", partial(tuned, y, s, **{name: value}))
        yield Case(f"goal/many/{name}", partial(tuned, many_y, many_s, **{name: value}))
    yield Case("goal/many/weighted", partial(tuned, many_y, many_s, average="weighted"))
    shared = {"average": "weighted", "per_label": False}
    yield Case("goal/many/weighted, shared", partial(tuned, many_y, many_s, **shared))
    amounts = np.random.default_rng(5).lognormal(size=len(y))
    yield Case("goal/one/row costs", partial(tuned, y, s, metric=hm.cost(fp=1, fn=amounts)))
    classes = np.array(["no", "yes"])[y]
    yield Case("goal/one/classes", partial(tuned, classes, s, pos_label="yes"))
    yield Case("goal/one/minus one", partial(tuned, 2 * y - 1, s))


GROUPS = (
    goals,
    tune_one,
    tune_common,
    tune_one_restricted,
    tune_many,
    tune_many_odd,
    tune_many_restricted,
    tune_large,
    thresholds,
    thresholds_by_hand,
    scores,
    staircases,
    metrics,
)
