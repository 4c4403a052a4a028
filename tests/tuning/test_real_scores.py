"""Scores of real classifiers, if they are available: tuned on one split, judged on another.

The figures are those published with the data, to three decimals.
"""

import numpy as np
import pytest
from real_scores import FIGURES, load
from strategies import compiled

import halfmax as hm
from halfmax.metrics.flooding import floods

# What plain methods reach on the test split, in the order of FIGURES, from the table with the data.
PLAIN = {
    "fixed 0.5": (0.193, 0.369, 0.028, 0.215, 0.015),
    "naive": (0.197, 0.492, 0.065, 0.359, 0.142),
    "fbr": (0.215, 0.541, 0.059, 0.357, 0.164),
    "plug-in": (0.209, 0.538, 0.076, 0.312, 0.164),
    "pooled isotonic, plug-in": (0.215, 0.537, 0.076, 0.365, 0.187),
    "one for all": (0.238, 0.496, 0.063, 0.364, 0.112),
}
BEST_PLAIN = dict(zip(FIGURES, np.max(list(PLAIN.values()), axis=0).tolist(), strict=True))


def test_tuning_reaches_the_known_figures(real):
    name, splits = real
    on_tune, on_test = FIGURES[name]
    thresholds = hm.tune(*splits["tune"])
    truth, scores = splits["test"]
    there = np.flatnonzero(truth.sum(axis=0))
    predicted = thresholds.predict(scores)
    reached = thresholds.label_scores[thresholds.support > 0].mean()
    assert reached == pytest.approx(on_tune, abs=6e-4)
    assert hm.score(truth[:, there], predicted[:, there]) == pytest.approx(on_test, abs=6e-4)


def test_labels_that_flood_are_counted_on_tuned_rows_and_on_new_rows():
    """docs/honest-thresholds.md has both numbers: for the rows tuned on, and for new rows."""
    splits = load("mesh")
    with pytest.warns(hm.OptimismWarning, match="^353 of 2,616 labels .* of the rows tuned on"):
        tuned = hm.tune(*splits["tune"])
    assert round(tuned.score, 3) == 0.222
    truth = splits["tune"][0]
    assert floods(tuned.predicted, tuned.support, truth.shape[0]).sum() == 353
    share = tuned.predict(splits["test"][1]).mean(axis=0)
    assert floods(share, truth.sum(axis=0) / truth.shape[0], 1.0).sum() == 357


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
def test_every_average_beats_one_half_and_is_best_at_its_own(real, average):
    _, splits = real
    truth, scores = splits["tune"]
    best = hm.tune(truth, scores, average=average)
    assert best.score >= hm.score(truth, scores >= 0.5, average=average)
    shared = hm.tune(truth, scores, average=average, per_label=False)
    assert best.score >= shared.score >= hm.score(truth, scores >= 0.5, average=average)
    if average != "samples":
        for other in {"macro", "micro"} - {average}:
            rival = hm.tune(truth, scores, average=other).predict(scores)
            assert best.score >= hm.score(truth, rival, average=average) - 1e-12


def macro_on_test(splits, guard):
    """Macro-F1 over labels with a positive in test, and the predictions for test."""
    truth, scores = splits["test"]
    predicted = hm.tune(*splits["tune"], guard=guard).predict(scores)
    there = np.flatnonzero(truth.sum(axis=0))
    return hm.score(truth[:, there], predicted[:, there]), predicted


@compiled
def test_auto_floods_no_label_and_keeps_up_with_the_best_plain_method(real):
    name, splits = real
    truth = splits["test"][0]
    macro, predicted = macro_on_test(splits, "auto")
    share = predicted.mean(axis=0)
    for split in splits.values():
        base_rate = split[0].sum(axis=0) / split[0].shape[0]
        assert not ((share > 0.05) & (share > 10 * base_rate)).any()
    assert macro >= 0.95 * BEST_PLAIN[name]
    _, naively = macro_on_test(splits, None)
    micro = hm.score(truth, predicted, average="micro")
    assert micro >= hm.score(truth, naively, average="micro")


@compiled
def test_over_all_sets_auto_beats_every_plain_method():
    best = np.array([BEST_PLAIN[name] for name in FIGURES])
    ours = np.array([macro_on_test(load(name), "auto")[0] for name in FIGURES])
    assert geometric_mean(ours / best) >= 1.0
    for plain in PLAIN.values():
        assert geometric_mean(ours / best) > geometric_mean(np.array(plain) / best)


def geometric_mean(ratios):
    return np.exp(np.log(ratios).mean())
