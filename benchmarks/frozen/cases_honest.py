"""`assess` and `diagnose`: what new data will show, and which labels misbehave."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.inputs import (
    AVERAGES,
    GUARDS,
    METRICS,
    NAMES,
    NAN,
    calibrated,
    columns,
    containers,
    edge_many,
    edge_one,
    many,
    one,
    sparse_many,
    weights,
)


def assessed(y: Any, s: Any, **how: Any) -> Answer:
    """The answer with its table, and how it prints."""
    a = hm.assess(y, s, **{"n_resamples": 60, **how})
    return Answer([a, a.table()], repr(a))


def diagnosed(y: Any, s: Any, **how: Any) -> Answer:
    """The answer with its table, how it prints, and its sentences about each label."""
    d = hm.diagnose(y, s, **{"n_resamples": 60, **how})
    found = [d.labels_with(finding) for finding in d.counts]
    return Answer([d, d.table(), found], [repr(d), *map(d.explain, d.labels)])


def assess_one() -> Iterator[Case]:
    y, s = one()
    for name, metric in METRICS.items():
        yield Case(f"assess/one/{name}", partial(assessed, y, s, metric=metric))
    for name, pair in (columns(y, s) | edge_one()).items():
        yield Case(f"assess/one/{name}", partial(assessed, *pair))
    for kind in ("float", "whole"):
        how = {"sample_weight": weights(len(y), kind)}
        yield Case(f"assess/one/{kind} weights", partial(assessed, y, s, **how))
    for guard in GUARDS:
        yield Case(f"assess/one/guard {guard}", partial(assessed, y, s, guard=guard))
    for how in ({"level": 0.5}, {"seed": 7}, {"n_resamples": 1}, {"n_resamples": 1000}):
        yield Case(f"assess/one/{how}", partial(assessed, y, s, **how))
    yield Case("assess/one/rare", partial(assessed, *one(3000, 0.004)))
    yield Case("assess/one/large", partial(assessed, *one(50_000, 0.1), n_resamples=200))


def assess_many() -> Iterator[Case]:
    y, s = many()
    kinds = {"": {}, "/weights": {"sample_weight": weights(len(y))}}
    for average, each, (title, more) in product(AVERAGES, (True, False), kinds.items()):
        how = {"average": average, "per_label": each, "labels": NAMES} | more
        title = f"{average}/{'each' if each else 'shared'}{title}"
        yield Case(f"assess/many/{title}", partial(assessed, y, s, **how))
    for name, average in product(("f2", "jaccard", "accuracy", "own"), ("macro", "micro")):
        if (name, average) != ("own", "micro"):
            how = {"metric": METRICS[name], "average": average}
            yield Case(f"assess/many/{name}/{average}", partial(assessed, y, s, **how))
    for name, pair in (containers(y, s) | edge_many()).items():
        yield Case(f"assess/many/{name}", partial(assessed, *pair))
    for guard in GUARDS:
        yield Case(f"assess/many/guard {guard}", partial(assessed, y, s, guard=guard))
    for guard, average in product(("auto", "smooth"), ("micro", "samples")):
        how = {"guard": guard, "average": average}
        yield Case(f"assess/many/guard {guard}/{average}", partial(assessed, y, s, **how))
    how = {"guard": "auto", "sample_weight": weights(len(y))}
    yield Case("assess/many/guard auto/weights", partial(assessed, y, s, **how))
    for average, zero in product(("macro", "micro"), (1.0, NAN)):
        how = {"average": average, "zero_division": zero}
        pair = edge_many()["empty rows and labels"]
        yield Case(f"assess/many/{average}/zero {zero:g}", partial(assessed, *pair, **how))
        yield Case(
            f"assess/sparse/{average}/zero {zero:g}", partial(assessed, *sparse_many(), **how)
        )
    yield Case("assess/sparse/samples", partial(assessed, *sparse_many(), average="samples"))


def shuffled_rows() -> list[Any]:
    """Rows in another order, which must not matter."""
    y, s = many()
    order = np.random.default_rng(0).permutation(len(y))
    return [hm.assess(y[order], s[order], n_resamples=60), hm.diagnose(y[order], s[order])]


def diagnoses() -> Iterator[Case]:
    y, s = many()
    for name, metric in METRICS.items():
        how = {"metric": metric, "labels": NAMES}
        yield Case(f"diagnose/many/{name}", partial(diagnosed, y, s, **how))
        yield Case(f"diagnose/calibrated/{name}", partial(diagnosed, *calibrated(), metric=metric))
    for name, pair in (containers(y, s) | edge_many()).items():
        yield Case(f"diagnose/many/{name}", partial(diagnosed, *pair))
    for name, pair in edge_one().items():
        yield Case(f"diagnose/one/{name}", partial(diagnosed, *pair))
    for how in ({"level": 0.5}, {"seed": 7}, {"n_resamples": 1}, {"zero_division": NAN}):
        yield Case(f"diagnose/many/{how}", partial(diagnosed, y, s, **how))
    yield Case("diagnose/one", partial(diagnosed, *one()))
    yield Case("diagnose/sparse", partial(diagnosed, *sparse_many()))
    yield Case("diagnose/large", partial(diagnosed, *many(2000, 40)))
    yield Case("assess/shuffled rows", shuffled_rows)


def shown() -> Iterator[Case]:
    """How answers look in a notebook."""
    for name, pair in {"one": one(), "many": many(), "calibrated": calibrated()}.items():
        for function in (hm.assess, hm.diagnose):
            work = partial(lambda f, p: Answer(words=f(*p)._repr_html_()), function, pair)
            yield Case(f"{function.__name__}/{name}/html", work)


GROUPS = (assess_one, assess_many, diagnoses, shown)
