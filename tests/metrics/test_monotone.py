"""Which metrics are monotone: a search over all tables of up to twelve rows, and known others."""

from itertools import product
from math import isnan, nan

import numpy as np
import pytest
from naive import metric_value
from naive_metrics import FORMULAS

import halfmax as hm
from halfmax.metrics.named import NAMED, find_metric
from halfmax.metrics.objective import Objective

MOST_ROWS = 12
ZERO_DIVISIONS = (0.0, 0.5, 1.0)
COSTS = ({"fp": 1, "fn": 10}, {"fp": 3, "fn": 2, "tp": 1, "tn": 0.5}, {"fp": 0, "fn": 0})
NAMES = ["f1", "f0.5", "f2", *NAMED, *(hm.cost(**costs).name for costs in COSTS)]


def tables():
    """Positives and negatives of all tables, each with both classes or one."""
    return [
        (positives, rows - positives)
        for rows in range(1, MOST_ROWS + 1)
        for positives in range(rows + 1)
    ]


def values_at(metric, positives, negatives, zero_division):
    """The metric at every tp (down) and fp (across)."""
    tp, fp = np.arange(positives + 1)[:, None], np.arange(negatives + 1)[None, :]
    return metric(tp, fp, positives - tp, negatives - fp, zero_division)


def is_monotone(metric, zero_division=0.0):
    found = [values_at(metric, *sizes, zero_division) for sizes in tables()]
    return all(
        (np.diff(values, axis=0) >= -1e-12).all() and (np.diff(values, axis=1) <= 1e-12).all()
        for values in found
    )


@pytest.mark.parametrize("zero_division", ZERO_DIVISIONS)
@pytest.mark.parametrize("name", NAMES)
def test_every_named_metric_is_monotone_on_all_small_tables(name, zero_division):
    metric = find_metric(name)
    assert metric.monotone
    assert is_monotone(metric, zero_division)


ODD = {
    "capacity": lambda tp, fp, fn, tn: tp - 3 * np.maximum(tp + fp - 4, 0) + 0 * fn * tn,
    "hits are dear": lambda tp, fp, fn, tn: -(5 * tp + fp + fn) / (tp + fp + fn + tn),
    "prevalence": lambda tp, fp, fn, tn: -abs(tp + fp - (tp + fn)) + 0 * tn,
    "false alarms": lambda tp, fp, fn, tn: fp / (fp + tn) + 0 * tp * fn,
}


def test_the_search_finds_metrics_of_users_that_are_monotone():
    markedness = hm.Metric("markedness", lambda tp, fp, fn, tn: tp / (tp + fp) + tn / (tn + fn) - 1)
    assert is_monotone(markedness)
    assert Objective(markedness).is_monotone(np.array([5]), np.array([12]))


@pytest.mark.parametrize("name", ODD)
def test_the_search_finds_metrics_that_are_not_monotone(name):
    metric = hm.Metric(name, ODD[name])
    assert not metric.monotone
    assert not is_monotone(metric)
    assert not Objective(metric).is_monotone(np.array([5]), np.array([12]))


@pytest.mark.filterwarnings("ignore:.*so errors pay:halfmax.HalfmaxWarning")
@pytest.mark.parametrize(
    ("costs", "monotone"),
    [
        ({"fp": 1, "fn": 1}, True),
        ({"fp": 1, "fn": 1, "tp": 1}, True),
        ({"fp": 1, "fn": 1, "tp": 2}, False),
        ({"fp": 1, "fn": 1, "tn": 2}, False),
        ({"fp": -1, "fn": 1}, False),
        ({"fp": 1, "fn": 0, "tp": -5}, True),
    ],
)
def test_costs_know_whether_they_are_monotone(costs, monotone):
    metric = hm.cost(**costs)
    assert metric.monotone == monotone == is_monotone(metric)


@pytest.mark.parametrize("zero_division", [*ZERO_DIVISIONS, nan])
@pytest.mark.parametrize("name", FORMULAS)
def test_named_metrics_are_their_textbook_formulas_on_all_small_tables(name, zero_division):
    for positives, negatives in tables():
        found = values_at(find_metric(name), positives, negatives, zero_division)
        for tp, fp in product(range(positives + 1), range(negatives + 1)):
            counts = tp, fp, positives - tp, negatives - fp
            expected = float(metric_value(name, *counts, zero_division))
            assert found[tp, fp] == expected or (isnan(expected) and isnan(found[tp, fp]))


RATIOS = ("kappa", "youden", "balanced_accuracy", "specificity", "npv", "f2", "jaccard")


@pytest.mark.parametrize("name", RATIOS)
def test_ratios_for_given_classes_are_the_metric(name):
    metric = find_metric(name)
    for positives, negatives in tables():
        if positives and negatives:
            ratio = metric.ratio_at(positives, negatives)
            found = values_at(ratio, positives, negatives, nan)
            expected = values_at(metric, positives, negatives, nan)
            np.testing.assert_allclose(found, expected, rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", ["mcc", "gmean", "fowlkes_mallows"])
def test_roots_are_no_ratios(name):
    assert find_metric(name).ratio_at(3, 4) is None


@pytest.mark.parametrize("name", RATIOS)
def test_the_plug_in_threshold_is_that_of_a_dense_grid_of_probabilities(name):
    p = (np.arange(20_000) + 0.5) / 20_000
    p = np.concatenate([p**3, p**2 / 2])
    falling = np.sort(p)[::-1]
    tp, predicted = np.cumsum(falling), np.arange(1, len(p) + 1)
    metric, positives, rows = find_metric(name), p.sum(), len(p)
    values = Objective(metric)(tp, predicted, positives, rows)
    best = int(np.argmax(values))
    if name in ("specificity", "npv"):  # best at an end: predict nothing, or everything
        return
    cut = metric.plug_in(values[best], positives / rows)
    assert falling[best] == pytest.approx(float(cut), abs=2e-3)


def test_large_counts_do_not_overflow():
    for scale in (1e7, 1e15, 1e100):
        counts = np.array([3.0, 1.0, 2.0, 4.0]) * scale
        for name in NAMED:
            metric = find_metric(name)
            assert float(metric(*counts)) == pytest.approx(float(metric(3, 1, 2, 4)), rel=1e-12)
