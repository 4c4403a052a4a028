"""Fixed data to compute with, in every container, and metrics of all kinds."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from scipy import sparse

import halfmax as hm

NAN, INF = float("nan"), float("inf")
AVERAGES = ("macro", "micro", "samples")
GUARDS = ("fbr", "fbr:0.2", "smooth", "calibrated", "never", "auto")
RATES = np.array([0.5, 0.3, 0.15, 0.08, 0.03, 0.015])
NAMES = ["anatomy", "botany", "chemistry", "dentistry", "ecology", "forestry"]


class Kulczynski(hm.Metric):
    """The mean of precision and recall, as somebody's own class."""

    def __init__(self) -> None:
        super().__init__("kulczynski", self._mean)

    @staticmethod
    def _mean(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG004
        return (tp / (tp + fp) + tp / (tp + fn)) / 2


def _fowlkes_mallows(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001
    return tp / np.sqrt((tp + fp) * (tp + fn))


METRICS = {
    **{name: name for name in ("f1", "f2", "f0.5", "f1.1", "jaccard", "accuracy")},
    **{name: name for name in ("precision", "recall")},
    "FBeta(1.3)": hm.FBeta(1.3),
    "linear": hm.LinearFractional("linear", (2, 0, 0, 1), (2, 1, 2, 1)),
    "own": hm.Metric("fowlkes-mallows", _fowlkes_mallows),
    "subclass": Kulczynski(),
}


@cache
def one(rows: int = 300, rate: float = 0.2, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores of one classifier."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(rows) < rate).astype(np.int64)
    return truth, rng.normal(size=rows) + 1.2 * truth


@cache
def many(rows: int = 150, labels: int = 6, seed: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Truth and scores of many labels, from common ones to rare ones; the last has no signal."""
    rng = np.random.default_rng(seed)
    rates = np.resize(RATES, labels)
    truth = (rng.random((rows, labels)) < rates).astype(np.int64)
    skill = np.linspace(2.0, 0.0, labels)
    return truth, rng.normal(size=truth.shape) + skill * truth


@cache
def probabilities(rows: int = 60, labels: int = 5, seed: int = 3) -> np.ndarray:
    """Calibrated probabilities."""
    rng = np.random.default_rng(seed)
    return rng.beta(0.6, np.linspace(1.0, 6.0, labels), (rows, labels))


@cache
def calibrated(rows: int = 400, labels: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Truth drawn by its probabilities; those of the last label are then changed."""
    p = probabilities(rows, labels, seed=4).copy()
    truth = (np.random.default_rng(5).random(p.shape) < p).astype(np.int64)
    p[:, -1] **= 0.4
    return truth, p


def weights(rows: int, kind: str = "float") -> np.ndarray:
    """A weight for each row, some of them 0: whole numbers or not."""
    rng = np.random.default_rng(6)
    whole = rng.integers(0, 5, rows)
    return whole if kind == "whole" else whole * rng.random(rows)


@cache
def sparse_many(rows: int = 400, labels: int = 30) -> tuple[Any, Any]:
    """Truth and scores of which most are absent; some positives have no score."""
    rng = np.random.default_rng(7)
    truth, scores = (a.copy() for a in many(rows, labels, seed=8))
    scores[rng.random(scores.shape) < 0.7 - 0.5 * truth] = 0.0
    return sparse.csr_array(truth), sparse.csr_array(scores)


def edge_one() -> dict[str, tuple[Any, Any]]:
    """One classifier, where something is odd."""
    y, s = one(40)
    gaps = np.where(np.arange(40) % 3 == 0, -INF, s)
    return {
        "ties": (y, s.round(0)),
        "-inf": (y, gaps),
        "all -inf": (y, np.full(40, -INF)),
        "constant": (y, np.full(40, 0.5)),
        "one positive row": ([1], [0.3]),
        "one negative row": ([0], [0.3]),
        "no positives": (np.zeros(40, int), s),
        "all positives": (np.ones(40, int), s),
        "perfect": (y, y + 0.25),
        "reversed": (y, -1.0 * y),
        "signed zeros": ([0, 1, 1, 0, 1], [0.0, -0.0, 0.0, -0.0, 1.0]),
        "huge and tiny": ([0, 1, 0, 1], [5e-324, 1e308, -1e308, 1e-300]),
    }


def edge_many() -> dict[str, tuple[Any, Any]]:
    """Many labels, where something is odd."""
    y, s = many(40, 4)
    gaps = np.where(np.indices(s.shape).sum(axis=0) % 3 == 0, -INF, s)
    bare = y.copy()
    bare[:20], bare[:, 2] = 0, 0
    return {
        "ties": (y, s.round(0)),
        "-inf": (y, gaps),
        "constant": (y, np.full(s.shape, 0.5)),
        "one row": (y[:1], s[:1]),
        "one label": (y[:, :1], s[:, :1]),
        "no positives": (np.zeros_like(y), s),
        "all positives": (np.ones_like(y), s),
        "empty rows and labels": (bare, s),
    }


def containers(y: np.ndarray, s: np.ndarray) -> dict[str, tuple[Any, Any]]:
    """The same two matrices in every container that holds them."""
    names = NAMES[: y.shape[1]]
    shuffled = names[::-1]
    return {
        "float32": (y.astype(bool), s.astype(np.float32)),
        "fortran": (np.asfortranarray(y), np.asfortranarray(s)),
        "whole scores": (y, np.rint(s * 10).astype(np.int64)),
        "lists": (y.tolist(), s.tolist()),
        "csr": (sparse.csr_array(y), sparse.csr_array(s)),
        "csc": (sparse.csc_matrix(y), sparse.csc_matrix(s)),
        "csr float32": (sparse.csr_array(y), sparse.csr_array(s.astype(np.float32))),
        "pandas": (pd.DataFrame(y, columns=names), pd.DataFrame(s, columns=names)),
        "polars": (pl.DataFrame(y, schema=names), pl.DataFrame(s, schema=names)),
        "csr truth, dense scores": (sparse.csr_array(y), s),
        "dense truth, csr scores": (y, sparse.csr_array(s)),
        "pandas and polars": (
            pd.DataFrame(y, columns=names)[shuffled],
            pl.DataFrame(s, schema=names),
        ),
        "coo truth, pandas scores": (sparse.coo_array(y), pd.DataFrame(s, columns=names)),
    }


def columns(y: np.ndarray, s: np.ndarray) -> dict[str, tuple[Any, Any]]:
    """The same two vectors in every container that holds them."""
    return {
        "float32": (y.astype(bool), s.astype(np.float32)),
        "float16": (y, s.astype(np.float16)),
        "whole scores": (y, np.rint(s * 10).astype(np.int64)),
        "lists": (y.tolist(), s.tolist()),
        "pandas": (pd.Series(y), pd.Series(s, name="score")),
        "polars": (pl.Series("y", y), pl.Series("s", s)),
        "polars and list": (pl.Series("y", y), s.tolist()),
        "strided": (np.repeat(y, 2)[::2], np.repeat(s, 2)[::2]),
    }
