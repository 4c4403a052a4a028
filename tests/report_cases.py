"""Tuned thresholds of every kind to report on, and the counts at each threshold."""

import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import halfmax as hm

ROWS = 240
QUICK = {"n_resamples": 5}
NAMES = ["anatomy", "botany", "chemistry", "dentistry", "ecology", "forestry"]
RATES = [0.5, 0.3, 0.15, 0.06, 0.02, 0.01]

HOSTILE = [
    '=HYPERLINK("http://x")',
    "+1",
    "-1",
    "@x",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "{{7*7}}",
    "</script><script>alert(1)</script>",
    "a very long name, " * 40,
    "cat 🐈 and a family 👩‍👩‍👧",
    "תווית מימין לשמאל",
    "O'Brien & Söhne",
    "&lt;b&gt; is no tag",
    "<!-- no comment",
    "\u2028two lines\u2029",
    "javascript:alert(1)",
    "${alert(1)}",
    "__proto__",
]


class Case(NamedTuple):
    """Data as plain arrays, thresholds tuned on them, and further options of `report`."""

    y: Any
    s: Any  # -inf where a sparse matrix stores nothing
    tuned: hm.Thresholds
    w: Any = None
    metric: Any = "f1"
    options: dict[str, Any] = {}  # noqa: RUF012

    @property
    def names(self) -> list[str]:
        if self.y.ndim == 1:
            return ["classifier"]
        return [str(label) for label in self.tuned.labels or range(self.y.shape[1])]

    def column(self, j: int) -> tuple[Any, Any]:
        return (self.y, self.s) if self.y.ndim == 1 else (self.y[:, j], self.s[:, j])

    def predict(self, threshold: float | None, j: int | None = None) -> Any:
        """0/1 of one label or of all; the threshold None predicts no rows."""
        s = self.s if j is None else self.column(j)[1]
        return ((s >= (np.inf if threshold is None else threshold)) & (s > -np.inf)).astype(int)

    def counts(self, threshold: float | None, j: int | None = None) -> dict[str, float]:
        """Return the counts on the page, of one label or of all pooled."""
        truth = (self.y if j is None else self.column(j)[0]).astype(bool)
        guess = self.predict(threshold, j).astype(bool)
        one = np.ones(len(truth)) if self.w is None else np.asarray(self.w, float)
        weights = one if truth.ndim == 1 else np.broadcast_to(one[:, None], truth.shape)
        pairs = {"tp": truth & guess, "fp": ~truth & guess, "fn": truth & ~guess}
        found = {name: float(weights[cells].sum()) for name, cells in pairs.items()}
        found["tn"] = float(weights[~truth & ~guess].sum())
        return found | {"predicted": found["tp"] + found["fp"]}

    @property
    def is_cost(self) -> bool:
        return self.tuned.metric.startswith("cost")

    @property
    def averages(self) -> list[str]:
        """The averages on the page; all but "weighted" give the same mean cost."""
        average = self.tuned.average
        if self.is_cost:
            return ["macro", "weighted"] if average == "weighted" else [average]
        return ["macro", "micro", "samples"] + ["weighted"] * (average == "weighted")

    def score(self, threshold: float | None, j: int, metric: Any = None) -> float:
        """Return what the page shows for a label: its score, or its cost."""
        how = {"sample_weight": self.w, "zero_division": self.tuned.zero_division}
        pair = self.column(j)[0], self.predict(threshold, j)
        return self._shown(hm.score(*pair, metric or self.metric, **how), metric)

    def score_all(self, threshold: float | None, average: str, metric: Any = None) -> float:
        how = {"sample_weight": self.w, "zero_division": self.tuned.zero_division}
        pair = self.y, self.predict(threshold)
        return self._shown(hm.score(*pair, metric or self.metric, average, **how), metric)

    def _shown(self, score: float, metric: Any) -> float:
        return 0.0 - score if metric is None and self.is_cost else score


def draw(rows: int = ROWS, rates: Any = tuple(RATES), seed: int = 0) -> tuple[Any, Any]:
    """Return labels of different base rates with informative scores."""
    rng = np.random.default_rng(seed)
    y = (rng.random((rows, len(rates))) < rates).astype(np.int8)
    return y, 1 / (1 + np.exp(2.0 - rng.normal(size=y.shape) - 2.0 * y))


def log_odds(s: Any) -> Any:
    return np.log(s / (1 - s))


COST = hm.cost(fp=1, fn=10)
GAINS = hm.cost(fp=1, fn=0.3, tp=-2, tn=0.1)  # a true positive earns more than anything costs
LARGE = hm.cost(fp=1_200, fn=25_000)
# Neither rises with tp nor falls with fp, so every score is tried as a threshold.
ODD = hm.Metric("odd", lambda tp, fp, fn, tn: (tp + 2 * fn - fp) / (tp + fp + fn + tn))
FOWLKES = hm.Metric("fowlkes-mallows", lambda tp, fp, fn, _: tp / np.sqrt((tp + fp) * (tp + fn)))
RIGHT = hm.Metric("share right", lambda tp, fp, fn, tn: (tp + tn) / (tp + fp + fn + tn))


def many(**options: Any) -> Case:
    """Return a case of named labels; options are those of `tune`."""
    y, s = draw()
    return _tuned(y, s, {"labels": NAMES} | options)


def one(**options: Any) -> Case:
    y, s = draw()
    return _tuned(y[:, 1], s[:, 1], options)


def _tuned(y: Any, s: Any, options: dict[str, Any], **report_options: Any) -> Case:
    tuned = hm.tune(y, s, **options)
    w, metric = options.get("sample_weight"), options.get("metric", "f1")
    return Case(y, s, tuned, w, metric, report_options)


def _weights() -> Any:
    return np.random.default_rng(5).integers(0, 9, ROWS) / 4  # sums of these are exact


def _float32() -> Case:
    y, s = draw()
    case = _tuned(y, s.astype(np.float32), {"labels": NAMES})
    return case._replace(s=case.s.astype(float))


def _sparse(**options: Any) -> Case:
    y, s = draw()
    stored = s > 0.2
    matrix = sparse.csr_array(np.where(stored, s, 0))
    case = _tuned(sparse.csr_array(y), matrix, {"labels": NAMES} | options)
    return case._replace(y=y, s=np.where(stored, s, -np.inf))


def _extremes(**options: Any) -> Case:
    """Return a label without positives, one with only positives, and one with a perfect score."""
    y, s = draw()
    y[:, 0], y[:, 1] = 0, 1
    s[:, 2] = y[:, 2]
    return _tuned(y, s, {"labels": NAMES} | options)


def _one_row() -> Case:
    y, s = draw(rows=1)
    return _tuned(y, s, {"labels": NAMES})


def _from_file(new: bool) -> Case:
    """Return thresholds as loaded from a file, without their tuning data."""
    case = many()
    y, s = draw(seed=int(new))
    tuned = pickle.loads(pickle.dumps(case.tuned))
    return case._replace(y=y, s=s, tuned=tuned, options={"y_true": y, "y_score": s})


def _named() -> Case:
    """Return one classifier whose classes have names."""
    case = one()
    tuned = hm.tune(np.where(case.y == 1, "yes", "no"), case.s, pos_label="yes")
    return case._replace(tuned=tuned)


def _from_dictionary(**options: Any) -> Case:
    """Return thresholds that a person wrote, one of which predicts no rows."""
    y, s = draw()
    limits = [0.3, 0.4, 0.35, 0.2, 0.9, np.inf]
    tuned = hm.Thresholds.from_dict(dict(zip(NAMES, limits, strict=True)), **options)
    passed = {"y_true": y, "y_score": s}
    return Case(y, s, tuned, None, options.get("metric", "f1"), passed)


def _changed() -> Case:
    """Return tuned thresholds of which one was changed."""
    case = many(metric="mcc")
    return case._replace(tuned=case.tuned.replace({NAMES[2]: 0.25}))


def _decided() -> Case:
    case = many()
    return case._replace(options={"decision": hm.decide(case.s)})


def hostile() -> Case:
    """Return labels whose names are markup, formulas or scripts."""
    y, s = draw(rates=[0.4] * len(HOSTILE))
    title = "<script>alert(1)</script> & co"
    return _tuned(y, s, {"labels": HOSTILE}, title=title)


def troubled() -> Case:
    """Return sixty labels with every finding: rare ones without signal flood."""
    rng = np.random.default_rng(2)
    rates = np.geomspace(0.4, 0.004, 60)
    y, s = draw(600, rates)
    s[:, 30:] = rng.random((600, 30))
    return _tuned(y, s, {"labels": [f"term {j:02d}" for j in range(60)]})


CASES: dict[str, Callable[[], Case]] = {
    "macro": many,
    "micro": lambda: many(average="micro"),
    "samples": lambda: many(average="samples"),
    "guard": lambda: many(guard="auto"),
    "shared, not assessed": lambda: many(per_label=False)._replace(options={"assessment": False}),
    "binary": one,
    "log-odds": lambda: _tuned(draw()[0][:, 1], log_odds(draw()[1][:, 1]), {}),
    "many log-odds": lambda: _tuned(draw()[0], log_odds(draw()[1]), {"labels": NAMES}),
    "weights": lambda: many(sample_weight=_weights()),
    "f2, integers": lambda: many(metric="f2", labels=[10, 3, -7, 0, 2**40, 5]),
    "jaccard, unnamed": lambda: many(metric="jaccard", labels=None),
    "accuracy": lambda: many(metric="accuracy"),
    "custom": lambda: many(metric=FOWLKES),
    "binary custom": lambda: one(metric=RIGHT, sample_weight=_weights()),
    "zero division": lambda: _extremes(zero_division=1.0),
    "extremes": _extremes,
    "one row": _one_row,
    "float32": _float32,
    "sparse": _sparse,
    "sparse samples": lambda: _sparse(average="samples", sample_weight=_weights()),
    "same data": lambda: _from_file(new=False),
    "new data": lambda: _from_file(new=True),
    "decision": _decided,
    "mcc": lambda: many(metric="mcc"),
    "mcc, extremes": lambda: _extremes(metric="mcc", zero_division=1.0),
    "balanced accuracy, weights": lambda: many(
        metric="balanced_accuracy", sample_weight=_weights()
    ),
    "youden, sparse": lambda: _sparse(metric="youden"),
    "kappa, micro": lambda: many(metric="kappa", average="micro"),
    "gmean, samples": lambda: many(metric="gmean", average="samples"),
    "specificity": lambda: many(metric="specificity"),
    "npv": lambda: one(metric="npv"),
    "binary mcc": lambda: one(metric="mcc", sample_weight=_weights()),
    "cost": lambda: many(metric=COST),
    "cost, sparse": lambda: _sparse(metric=COST, average="samples"),
    "cost, shared": lambda: many(metric=LARGE, per_label=False),
    "cost, log-odds": lambda: _tuned(draw()[0], log_odds(draw()[1]), {"metric": COST}),
    "cost, extremes": lambda: _extremes(metric=COST),
    "binary cost": lambda: one(metric=COST),
    "gains, weights": lambda: many(metric=GAINS, sample_weight=_weights()),
    "weighted": lambda: many(average="weighted"),
    "weighted, shared": lambda: many(average="weighted", per_label=False, metric="mcc"),
    "weighted cost": lambda: many(average="weighted", metric=COST),
    "restricted": lambda: many(min_specificity=0.9, max_predicted=40),
    "binary restricted": lambda: one(metric="recall", min_specificity=0.8),
    "named classes": _named,
    "dictionary": _from_dictionary,
    "dictionary, cost": lambda: _from_dictionary(metric=COST, average="micro"),
    "changed by hand": _changed,
    "not monotone": lambda: many(metric=ODD),
    "hostile": hostile,
    "troubled": troubled,
}
