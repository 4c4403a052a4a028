"""Displays, by the arrays that they hold, and the pages of `Thresholds.report`."""

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from scipy import stats
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate

import halfmax as hm
from benchmarks.frozen.cases import Answer, Case
from benchmarks.frozen.cases_models import two_classes
from benchmarks.frozen.inputs import (
    METRICS,
    NAMES,
    calibrated,
    many,
    one,
    probabilities,
    sparse_many,
    weights,
)

_DOCUMENT = re.compile(r'<script[^>]*type="application/json"[^>]*>(.*?)</script>', re.S)


def drawn(make: Any, *what: Any, **how: Any) -> Any:
    """A display, with what stands on its axes; the figure is closed."""
    from matplotlib import pyplot

    display = make(*what, **how)
    texts = [
        [axes.get_title(), axes.get_xlabel(), axes.get_ylabel(), *map(_label, axes.get_lines())]
        for axes in display.figure_.axes
    ]
    pyplot.close(display.figure_)
    return Answer(display, [texts, repr(display).partition(" at 0x")[0]])


def _label(line: Any) -> str:
    return str(line.get_label())


def curves() -> Iterator[Case]:
    y, s = one()
    make = hm.ThresholdCurveDisplay.from_predictions
    for name, metric in METRICS.items():
        how = {"metric": metric, "n_resamples": 20}
        yield Case(f"display/curve/{name}", partial(drawn, make, y, s, **how))
    ways = ({"threshold": 0.5}, {"level": 0.5, "seed": 3}, {"n_resamples": 0}, {"zero_division": 1})
    for how in ways:
        yield Case(f"display/curve/{how}", partial(drawn, make, y, s, **how))
    how = {"sample_weight": weights(len(y))}
    yield Case("display/curve/weights", partial(drawn, make, y, s, **how))
    yield Case("display/curve/long", partial(drawn, make, *one(20_000), n_resamples=20))
    yield Case("display/curve/label", partial(drawn, make, *many(), label=2))
    yield Case("display/curve/probabilities", partial(drawn, make, *calibrated(), label=0))
    t = hm.tune(*many(), labels=NAMES)
    make = hm.ThresholdCurveDisplay.from_thresholds
    yield Case("display/curve/thresholds", partial(drawn, make, t, "botany"))
    X, y = two_classes()
    make = hm.ThresholdCurveDisplay.from_estimator
    yield Case(
        "display/curve/estimator", partial(drawn, make, LogisticRegression().fit(X, y), X, y)
    )


def of_folds_and_costs() -> Iterator[Case]:
    y, s = one()
    make = hm.PrecisionRecallDisplay.from_predictions
    for name, metric in METRICS.items():
        yield Case(f"display/precision recall/{name}", partial(drawn, make, y, s, metric=metric))
    how = {"sample_weight": weights(len(y)), "threshold": 0.5}
    yield Case("display/precision recall/weights", partial(drawn, make, y, s, **how))
    yield Case("display/precision recall/long", partial(drawn, make, *one(20_000)))
    make = hm.CostCurveDisplay.from_predictions
    prices = {
        "errors": hm.cost(fp=1, fn=10),
        "all outcomes": hm.cost(fp=1, fn=10, tp=-0.5, tn=0.1),
        "rows": hm.cost(fp=1, fn=weights(len(y))),
    }
    for name, metric in prices.items():
        yield Case(f"display/cost/{name}", partial(drawn, make, y, s, metric=metric))
    X, classes = two_classes()
    keep = {"return_estimator": True, "return_indices": True}
    cv = cross_validate(LogisticRegression(), X, classes, cv=3, **keep)
    displays = (
        (hm.ThresholdCurveDisplay, "mcc"),
        (hm.PrecisionRecallDisplay, "f1"),
        (hm.CostCurveDisplay, prices["errors"]),
    )
    for display, metric in displays:
        work = partial(drawn, display.from_cv_results, cv, X, classes, metric=metric)
        yield Case(f"display/folds/{display.__name__}", work)


def of_labels() -> Iterator[Case]:
    t, found = hm.tune(*calibrated()), hm.diagnose(*calibrated())
    flooding = hm.tune(*many(), labels=NAMES)
    decision = hm.decide(probabilities(), average="samples")
    half, health = hm.HalfMaxDisplay, hm.LabelHealthDisplay
    works = {
        "half max/thresholds": partial(drawn, half.from_thresholds, t),
        "half max/predictions": partial(drawn, half.from_predictions, *calibrated(), "f2"),
        "half max/diagnosis": partial(drawn, half.from_diagnosis, found),
        "half max/decision": partial(drawn, half.from_decision, decision),
        "health/thresholds": partial(drawn, health.from_thresholds, flooding),
        "health/n_rows": partial(drawn, health.from_thresholds, flooding, 1000),
        "health/predictions": partial(drawn, health.from_predictions, *many(), guard="smooth"),
        "health/diagnosis": partial(drawn, health.from_diagnosis, found),
    }
    for name, work in works.items():
        yield Case(f"display/{name}", work)


def of_theory() -> Iterator[Case]:
    p = probabilities(40, 1).ravel()
    make = hm.ExpectedCurveDisplay.from_probabilities
    for how in ({}, {"metric": "f2"}, {"min_k": 3}, {"max_k": 5, "zero_division": 1.0}):
        yield Case(f"display/expected/{how}", partial(drawn, make, p, **how))
    wide = stats.norm(1, 2.5), stats.norm()
    make = hm.DecisionRegionDisplay.from_densities
    yield Case("display/region", partial(drawn, make, *wide, base_rate=0.25))
    counts = stats.poisson(4), stats.poisson(1)
    yield Case("display/region/discrete", partial(drawn, make, *counts, 0.25, "jaccard"))
    region = hm.decision_region(*wide, 0.4)
    yield Case(
        "display/region/region", partial(drawn, hm.DecisionRegionDisplay.from_region, region)
    )
    make = hm.WinnersCurseDisplay.from_simulation
    yield Case("display/curse", partial(drawn, make, 10_000, (0.001, 0.1), 100))

    def counted() -> Any:
        display = hm.WinnersCurseDisplay.from_simulation(10_000, (0.001, 0.1), 100)
        return [display.by_fraction(), display.by_odds()]

    yield Case("display/curse/counted", counted)


def page(t: hm.Thresholds, name: str, *what: Any, **how: Any) -> Answer:
    """The text of a page without the version, and the numbers that it holds."""
    t.report(name, *what, **{"n_resamples": 40, **how})
    text = Path(name).read_text("utf-8").replace(f"halfmax {hm.__version__}", "halfmax")
    return Answer([_numbers(json.loads(found)) for found in _DOCUMENT.findall(text)], text)


def _numbers(value: Any) -> Any:
    """A document without its text."""
    if isinstance(value, dict):
        return {key: _numbers(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return None if isinstance(value, str) else value


def reports() -> Iterator[Case]:
    y, s = many()
    t = hm.tune(y, s, labels=NAMES)
    t.save("for report.json")
    loaded = hm.Thresholds.load("for report.json")
    new = many(100, seed=20)
    decision = hm.decide(calibrated()[1], average="samples")
    weighted = hm.tune(y, s, "f2", "micro", sample_weight=weights(len(y)))
    works = {
        "one": partial(page, hm.tune(*one()), "one.html"),
        "many": partial(page, t, "many.html", title="Mine"),
        "new rows": partial(page, loaded, "new.html", *new, labels=NAMES),
        "guarded": partial(page, hm.tune(y, s, guard="auto"), "guard.html", assessment=False),
        "weighted": partial(page, weighted, "weighted.html", diagnosis=False),
        "decision": partial(page, hm.tune(*calibrated()), "decision.html", decision=decision),
        "sparse": partial(page, hm.tune(*sparse_many(), average="samples"), "sparse.html"),
        "shared": partial(page, hm.tune(y, s, per_label=False), "shared.html"),
    }
    for name, work in works.items():
        yield Case(f"report/{name}", work)


GROUPS = (curves, of_folds_and_costs, of_labels, of_theory, reports)
