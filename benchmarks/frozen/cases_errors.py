"""What is refused, and in which words."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from scipy import sparse, stats
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import halfmax as hm
from benchmarks.frozen.cases import Case
from benchmarks.frozen.inputs import INF, NAN

Y, S = [0, 1, 1], [0.1, 0.5, 0.9]
Y2, S2 = [[0, 1], [1, 0], [1, 1]], [[0.1, 0.5], [0.9, 0.2], [0.3, 0.7]]
P, P2 = [0.2, 0.6], [[0.2, 0.6], [0.1, 0.3]]
COLUMNS = {
    "instance": [1, 1, 2, 2],
    "label": ["a", "b", "a", "b"],
    "score": [0.1, 0.9, 0.8, 0.3],
    "truth": [0, 1, 1, 0],
}
NORMAL, OTHER = stats.norm(1), stats.norm(0)


def _falling(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001
    return fp / (tp + fp + 1)


def _scalar(tp: Any, fp: Any, fn: Any, tn: Any) -> Any:  # noqa: ARG001
    return 1.0


def given() -> dict[str, Callable[[], Any]]:
    """Bad labelled scores."""
    twice = sparse.coo_array(([0.1, 0.2], ([0, 0], [1, 1])), shape=(3, 2))
    pairs = {
        "empty": ([], []),
        "lengths": ([0, 1], S),
        "columns": (Y2, np.ones((3, 3))),
        "predict_proba": (Y, [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]),
        "a number": (1, 0.5),
        "three dimensions": ([Y2], [S2]),
        "ragged": ([[0, 1], [1]], S2),
        "strings": (["no", "yes", "yes"], S),
        "none": (Y, None),
        "complex": (Y, np.array(S) + 1j),
        "masked": (Y, np.ma.array(S, mask=[0, 0, 1])),
        "-1 and 1": ([-1, 1, 1], S),
        "soft": ([0, 0.5, 1], S),
        "nan truth": ([0, 1, NAN], S),
        "nan score": (Y, [0.1, NAN, 0.5]),
        "inf score": (Y2, [[0.1, 0.5], [0.9, INF], [0.3, 0.7]]),
        "twice": (Y2, twice),
        "sparse nan": (Y2, sparse.csr_array([[0.1, NAN], [0, 0], [1, 1]])),
        "missing": (Y2, pd.DataFrame({"a": [0.1, None, 0.2], "b": [1.0, 2.0, 3.0]})),
        "other columns": (
            pd.DataFrame(Y2, columns=["a", "b"]),
            pd.DataFrame(S2, columns=["a", "c"]),
        ),
        "other rows": (pd.Series(Y, index=[5, 6, 7]), pd.Series(S, index=[7, 6, 5])),
    }
    return {f"tune {name}": partial(hm.tune, *pair) for name, pair in pairs.items()}


def options() -> dict[str, Callable[[], Any]]:
    """Bad options of what takes labelled scores."""
    of_tune: dict[str, dict[str, Any]] = {
        "metric": {"metric": "g1"},
        "metric upper": {"metric": "F1"},
        "metric number": {"metric": 2},
        "metric function": {"metric": _falling},
        "metric falls": {"metric": hm.Metric("falling", _falling)},
        "metric scalar": {"metric": hm.Metric("scalar", _scalar)},
        "metric is average": {"metric": "macro"},
        "average": {"average": "weighted"},
        "per_label": {"per_label": "yes"},
        "guard": {"guard": "strict"},
        "guard number": {"guard": "fbr:2"},
        "guard shared": {"guard": "auto", "per_label": False},
        "guard floors": {"guard": "auto", "min_recall": 0.5},
        "zero_division": {"zero_division": 2},
        "min_precision": {"min_precision": 1.5},
        "weights length": {"sample_weight": [1, 2]},
        "weights negative": {"sample_weight": [1, -1, 1]},
        "weights zero": {"sample_weight": [0, 0, 0]},
        "labels few": {"labels": ["a"]},
        "labels twice": {"labels": ["a", "a"]},
    }
    found = {f"tune {name}": partial(hm.tune, Y2, S2, **how) for name, how in of_tune.items()}
    of_assess = ({"level": 1.0}, {"n_resamples": 0}, {"seed": -1}, {"progress": 3})
    for how in of_assess:
        found[f"assess {how}"] = partial(hm.assess, Y2, S2, **how)
        found[f"diagnose {how}"] = partial(hm.diagnose, Y2, S2, **how)
    return found | {
        "score lengths": partial(hm.score, Y, [0, 1]),
        "score scores": partial(hm.score, Y, S),
        "f-beta 0": partial(hm.FBeta, 0),
        "f-beta word": partial(hm.FBeta, "two"),
        "linear": partial(hm.LinearFractional, "x", (1, 2), (1, 2, 3, 4)),
        "metric name": partial(hm.Metric, "", _scalar),
        "diagnose label": lambda: hm.diagnose(Y2, S2).explain("x"),
        "diagnose finding": lambda: hm.diagnose(Y2, S2).labels_with("x"),
        "grids": lambda: hm.Staircase.of(Y, S) + hm.Staircase.of(Y, [1, 2, 3]),
        "staircase label": lambda: hm.Staircase.of(Y2, S2)["x"],
    }


def answers() -> dict[str, Callable[[], Any]]:
    """What answers refuse."""
    two, named = hm.tune(Y2, S2), hm.tune(Y2, S2, labels=["a", "b"])
    Path("bad.json").write_text("{}")
    Path("text.json").write_text("no json")
    frame = pd.DataFrame(S2, columns=["a", "c"])
    return {
        "one of two": lambda: two.threshold,
        "predict columns": partial(two.predict, [[1.0, 2.0, 3.0]]),
        "predict vector": partial(two.predict, [1.0, 2.0]),
        "predict nan": partial(two.predict, [[1.0, NAN]]),
        "predict names": partial(named.predict, frame),
        "load none": partial(hm.Thresholds.load, "none.json"),
        "load bad": partial(hm.Thresholds.load, "bad.json"),
        "load text": partial(hm.Thresholds.load, "text.json"),
        "report folder": partial(two.report, "none/report.html"),
        "report title": partial(two.report, "x.html", title=3),
        "report y alone": partial(two.report, "x.html", Y2),
        "report other": partial(two.report, "x.html", Y, S),
        "curve label": partial(hm.ThresholdCurveDisplay.from_thresholds, named, "x"),
        "curve of many": partial(hm.ThresholdCurveDisplay.from_thresholds, named),
    }


def without_labels() -> dict[str, Callable[[], Any]]:
    """Bad probabilities and densities."""
    return {
        "decide above one": partial(hm.decide, [0.1, 1.5]),
        "decide nan": partial(hm.decide, [[0.1, NAN]]),
        "decide metric": partial(hm.decide, P, hm.Metric("x", _scalar)),
        "decide average": partial(hm.decide, P2, average="mean"),
        "decide limits": partial(hm.decide, P2, min_k=2, max_k=1),
        "decide min_k": partial(hm.decide, P2, min_k=5),
        "decide max_k": partial(hm.decide, P2, max_k=-1),
        "decide two classes": partial(hm.decide, [[0.3, 0.7], [0.6, 0.4]]),
        "curve matrix": partial(hm.expected_curve, P2),
        "joint sums": partial(hm.decide_joint, [[0.9, 0.9], [0.9, 0.9]]),
        "joint empty": partial(hm.decide_joint, [[0.1, 0.1], [0.1, 0.1]], 0.1),
        "draws": partial(hm.joint_from_samples, [[0, 2], [1, 1]]),
        "region base rate": partial(hm.decision_region, NORMAL, OTHER, 0),
        "region metric": partial(hm.decision_region, NORMAL, OTHER, 0.1, "precision"),
        "region kinds": partial(hm.decision_region, stats.poisson(2), OTHER, 0.1),
        "region word": partial(hm.decision_region, "normal", OTHER, 0.1),
        "region support": partial(hm.decision_region, NORMAL.pdf, OTHER.pdf, 0.1, support=(1, 0)),
        "region half": partial(hm.decision_region, NORMAL.pdf, OTHER.pdf, 0.1, support=(0, 1)),
        "curse n": partial(hm.simulate_winners_curse, 0, 0.1, 10),
        "curse rate": partial(hm.simulate_winners_curse, 10, 1.1, 10),
        "curse runs": partial(hm.simulate_winners_curse, 10, 0.1, -1),
    }


def table(**columns: Any) -> pa.Table:
    """A small long table with some columns changed, or left out if they are None."""
    whole = COLUMNS | columns
    return pa.table({name: values for name, values in whole.items() if values is not None})


def tables() -> dict[str, Callable[[], Any]]:
    """Bad tables."""
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    Path("cut.csv").write_text("instance,label,score,truth\n1,a,0.5\n")
    Path("empty").mkdir(exist_ok=True)
    Path("kept.csv").write_text("here already")
    t = hm.tune_table(table())
    bad = {
        "no label": table(label=None),
        "no truth": table(truth=None),
        "twice": table(label=["a", "a", "a", "b"]),
        "nan": table(score=[0.1, NAN, 0.5, 0.6]),
        "null": table(score=[0.1, None, 0.5, 0.6]),
        "inf": table(score=[0.1, INF, 0.5, 0.6]),
        "truth 2": table(truth=[0, 1, 2, 0]),
        "words": table(score=["a", "b", "c", "d"]),
        "float label": table(label=[0.5, 1.5, 0.5, 1.5]),
        "no rows": table().slice(0, 0),
        "cut": "cut.parquet",
        "cut csv": "cut.csv",
        "no file": "none.parquet",
        "no files": "none*.parquet",
        "empty folder": "empty",
        "a number": 3,
    }
    found: dict[str, Callable[[], Any]] = {
        f"table {name}": partial(hm.tune_table, source) for name, source in bad.items()
    }
    return found | {
        "table role": partial(hm.tune_table, table(), score="truth"),
        "table name": partial(hm.tune_table, table(), label=3),
        "table n_instances": partial(hm.tune_table, table(), metric="accuracy", n_instances=1),
        "table no instance": partial(hm.assess_table, table(instance=None)),
        "apply unknown": partial(hm.apply_table, t, table(label=list("abcd"))),
        "apply option": partial(hm.apply_table, t, table(), unknown="drop"),
        "apply kept": partial(hm.apply_table, t, table(), "kept.csv"),
        "apply format": partial(hm.apply_table, t, table(), "x.xlsx"),
        "apply column": partial(hm.apply_table, t, table(), prediction="truth"),
        "decide above one": partial(hm.decide_table, table(score=[0.1, 2.0, 0.5, 0.6])),
        "decide min_k": partial(hm.decide_table, table(), min_k=9),
        "decide no column": partial(hm.decide_table, table(score=None)),
    }


def models() -> dict[str, Callable[[], Any]]:
    """Bad estimators and targets."""
    X = np.arange(24.0).reshape(12, 2)
    y = np.arange(12) % 2
    logistic = LogisticRegression()

    def fit(inner: Any, target: Any = y, **how: Any) -> Callable[[], Any]:
        return lambda: hm.ThresholdClassifier(inner, **how).fit(X, target)

    return {
        "classifier rule": fit(logistic, rule="best"),
        "classifier guard": fit(logistic, rule="expected", guard="auto"),
        "classifier expected": fit(LinearSVC(), rule="expected"),
        "classifier refit": fit(logistic, refit=3),
        "classifier three": fit(logistic, np.arange(12) % 3),
        "classifier one class": fit(logistic, np.zeros(12)),
        "classifier cv": fit(logistic, cv=50),
        "classifier none": fit(None),
        "classifier pos_label": fit(logistic, pos_label="x"),
        "classifier fixed": fit(logistic, thresholds="auto"),
        "classifier fixed, guard": fit(logistic, thresholds=0.5, guard="auto"),
        "classifier costs of rows": fit(logistic, metric=hm.cost(fp=1, fn=np.ones(12))),
        "classifier method": fit(logistic, response_method="proba"),
        "classifier not fitted": lambda: hm.ThresholdClassifier(logistic).predict(X),
        "classifier threshold": lambda: hm.ThresholdClassifier(logistic).threshold_,
        "expected_f vector": lambda: hm.ExpectedFClassifier(logistic).fit(X, y),
        "scorer folds": lambda: hm.make_threshold_scorer(folds=1),
        "scorer metric": lambda: hm.make_threshold_scorer("x"),
    }


def refused() -> Iterator[Case]:
    for group in (given, options, answers, without_labels, tables, models):
        for name, work in group().items():
            yield Case(f"refused/{group.__name__}/{name}", work)
    yield Case("names/all", lambda: list(hm.__all__))


GROUPS = (refused,)
