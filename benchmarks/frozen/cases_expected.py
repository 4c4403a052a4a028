"""Decisions without labels: `decide`, `expected_curve`, `decide_joint`, `joint_from_samples`."""

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
from benchmarks.frozen.inputs import AVERAGES, METRICS, NAMES, probabilities

RATIOS = ("f1", "f2", "f0.5", "f1.1", "jaccard", "accuracy", "precision", "recall", "FBeta(1.3)")


def decided(p: Any, **how: Any) -> Answer:
    """The answer with its table, and how it prints."""
    d = hm.decide(p, **how)
    return Answer([d, d.table()], repr(d))


def odd_probabilities() -> dict[str, Any]:
    """Batches where something is odd, and the same in other containers."""
    p = probabilities()
    thin = np.where(p < 0.3, 0.0, p)
    return {
        "ties": p.round(1),
        "zeros": np.zeros((3, 4)),
        "ones": np.ones((3, 4)),
        "halves": np.full((4, 3), 0.5),
        "one cell": np.array([[0.2]]),
        "float32": p.astype(np.float32),
        "fortran": np.asfortranarray(p),
        "lists": p.tolist(),
        "csr": sparse.csr_array(thin),
        "csc": sparse.csc_array(thin),
        "coo": sparse.coo_matrix(thin),
        "pandas": pd.DataFrame(p, columns=NAMES[:5]),
        "polars": pl.DataFrame(p, schema=NAMES[:5]),
    }


def decisions() -> Iterator[Case]:
    p = probabilities()
    for name, average in product(RATIOS, AVERAGES):
        how = {"metric": METRICS[name], "average": average}
        yield Case(f"decide/{name}/{average}", partial(decided, p, **how))
    for (name, given), average in product(odd_probabilities().items(), AVERAGES):
        yield Case(f"decide/{name}/{average}", partial(decided, given, average=average))
    limits = ({"min_k": 2}, {"max_k": 1}, {"min_k": 1, "max_k": 3}, {"zero_division": 1.0})
    for how, average in product(limits, AVERAGES):
        thin = odd_probabilities()["csr"]
        yield Case(f"decide/{how}/{average}", partial(decided, p, average=average, **how))
        yield Case(f"decide/csr/{how}/{average}", partial(decided, thin, average=average, **how))
    each = {"min_k": np.arange(5) % 2, "max_k": np.arange(5) + 1}
    yield Case("decide/limits of each", partial(decided, p, **each))


def decide_one() -> Iterator[Case]:
    p = probabilities(500, 1).ravel()
    for name, size in product(RATIOS, (1, 7, 500)):
        work = partial(decided, p[:size], metric=METRICS[name])
        yield Case(f"decide/one/{name}/{size}", work)
        work = partial(hm.expected_curve, p[:size], METRICS[name])
        yield Case(f"expected_curve/{name}/{size}", work)
    for zero, metric in product((0.5, 1.0), ("f1", "jaccard", "precision", "recall")):
        work = partial(hm.expected_curve, p[:40], metric, zero)
        yield Case(f"expected_curve/{metric}/zero {zero}", work)
    for name, given in {"pandas": pd.Series(p), "polars": pl.Series(p)}.items():
        yield Case(f"decide/one/{name}", partial(decided, given))
        yield Case(f"expected_curve/{name}", partial(hm.expected_curve, given))
    long = probabilities(30_000, 1, seed=9).ravel()
    for metric in ("f1", "f2", "jaccard"):
        yield Case(f"decide/long/{metric}", partial(decided, long, metric=metric))
        yield Case(f"expected_curve/long/{metric}", partial(hm.expected_curve, long, metric))
    yield Case("decide/large", partial(decided, probabilities(2000, 300), average="samples"))
    yield Case("decide/html", lambda: Answer(words=hm.decide(probabilities())._repr_html_()))
    yield Case("decide/one/html", lambda: Answer(words=hm.decide(p)._repr_html_()))


def draws(instances: int | None = None) -> np.ndarray:
    """Label vectors that depend on each other."""
    rng = np.random.default_rng(10)
    shape = (80, 6) if instances is None else (instances, 80, 6)
    common = rng.random((*shape[:-1], 1)) < 0.4
    return ((rng.random(shape) < 0.25) | (common & (rng.random(shape) < 0.5))).astype(np.int8)


def decided_jointly(given: np.ndarray, **how: Any) -> Answer:
    q, p_empty = hm.joint_from_samples(given)
    d = hm.decide_joint(q, p_empty, **how)
    return Answer([q, p_empty, d], repr(d))


def joint() -> Iterator[Case]:
    for count, name in product((None, 5), RATIOS):
        how = {"metric": METRICS[name]}
        yield Case(f"joint/{count}/{name}", partial(decided_jointly, draws(count), **how))
    for how in ({"min_k": 3}, {"max_k": 1}, {"zero_division": 1.0}, {"min_k": 2, "max_k": 4}):
        yield Case(f"joint/{how}", partial(decided_jointly, draws(5), **how))
    one = draws()
    given = {
        "csr": sparse.csr_array(one),
        "pandas": pd.DataFrame(one, columns=NAMES),
        "lists": one.tolist(),
    }
    for name, value in given.items():
        yield Case(f"joint/samples/{name}", partial(hm.joint_from_samples, value))
    weights = np.random.default_rng(11).random(80)
    yield Case("joint/samples/weights", partial(hm.joint_from_samples, one, weights))
    yield Case("joint/samples/max_size", partial(hm.joint_from_samples, one, max_size=6))
    few = one[:, :3]
    yield Case("joint/samples/too long", partial(hm.joint_from_samples, few, max_size=1))


GROUPS = (decisions, decide_one, joint)
