"""Precision-recall displays hold the staircase, mark the chosen point, and draw steps."""

import matplotlib.pyplot as plt
import naive
import numpy as np
import pytest
from display_cases import CLASSES, CV, NAMES, PR, SS, YY, S, Y, assert_same, texts, undrawn
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve
from strategies import one_classifier, zero_divisions

import halfmax as hm
from halfmax.displays.precision_recall import iso_f

pytestmark = pytest.mark.usefixtures("close_figures")


@given(one_classifier(), st.sampled_from(["f1", "f2", "mcc", "accuracy"]), zero_divisions)
def test_the_curve_is_the_staircase(case, metric, zero_division):
    how = {"sample_weight": case.w, "zero_division": zero_division}
    with undrawn(PR):
        d = PR.from_predictions(case.y, case.s, metric, **how)
    steps = naive.staircase(case.y, case.s, case.w)[::-1]
    assert d.thresholds.tolist() == [float(step[0]) for step in steps]
    truth = naive.whole(case.y)
    for values, part in ((d.precision, "precision"), (d.recall, "recall")):
        counts = [naive.confusion(truth, naive.predict(case.s, t), case.w) for t, *_ in steps]
        expected = [float(naive.metric_value(part, *c, zero_division)) for c in counts]
        np.testing.assert_allclose(values, expected, atol=1e-9)
    tuned = hm.tune(case.y, case.s, metric, sample_weight=case.w, zero_division=zero_division)
    assert (d.threshold, d.score) == (d.best_threshold, d.best_score)
    assert (d.threshold, d.score) == (tuned.threshold, tuned.score)
    reached = tuned.precision[0], tuned.recall[0]
    assert (d.chosen_precision, d.chosen_recall) == pytest.approx(reached)


@given(one_classifier())
def test_the_average_precision_is_the_mean_over_steps(case):
    with undrawn(PR):
        d = PR.from_predictions(case.y, case.s, sample_weight=case.w)
    steps = naive.staircase(case.y, case.s, case.w)
    heavy = naive.exact_weights(case.w, case.rows)
    positives = sum(w for w, y in zip(heavy, naive.whole(case.y), strict=True) if y)
    if not positives:
        assert np.isnan(d.average_precision)
        return
    area, before = 0.0, 0
    for _, hits, predicted in steps:
        area += float((hits - before) / positives) * (float(hits / predicted) if predicted else 0)
        before = hits
    assert d.average_precision == pytest.approx(area, abs=1e-9)


@pytest.mark.parametrize("weights", [None, np.arange(300) % 5 + 1.0])
def test_scikit_learn_has_the_same_average_and_the_same_useful_points(weights):
    scores = S.round(2)
    d = PR.from_predictions(Y, scores, sample_weight=weights)
    average = average_precision_score(Y, scores, sample_weight=weights)
    assert d.average_precision == pytest.approx(average)
    precision, recall, thresholds = precision_recall_curve(Y, scores, sample_weight=weights)
    place = np.searchsorted(thresholds, d.thresholds)
    np.testing.assert_allclose(d.precision, precision[place])
    np.testing.assert_allclose(d.recall, recall[place])


def test_the_curve_is_drawn_in_steps_without_slopes():
    d = PR.from_predictions(Y, S)
    assert d.line_.get_drawstyle() == "steps-pre"
    recall, precision = d.line_.get_data()
    assert (np.diff(recall) >= 0).all()
    assert (recall[0], recall[-1]) == (0.0, 1.0)
    area = (np.diff(recall) * precision[1:]).sum()  # steps before each point
    assert area == pytest.approx(d.average_precision)


def test_many_positives_are_thinned_and_the_average_is_not():
    rng = np.random.default_rng(0)
    s = rng.random(20_000)
    y = rng.random(len(s)) < s
    d = PR.from_predictions(y, s)
    assert 1000 < len(d.thresholds) <= 2000
    assert d.best_threshold in d.thresholds
    assert d.average_precision == pytest.approx(average_precision_score(y, s))


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_lines_of_equal_f(beta):
    recall = np.linspace(0.01, 1.0, 100)
    precision = iso_f(0.4, recall, beta)
    assert (precision[recall < 0.4 * beta**2 / (1 + beta**2)] == np.inf).all()
    for p, r in zip(precision, recall, strict=True):
        if p <= 1.0:  # counts of which these are the precision and the recall
            counts = {"tp": p * r, "fp": r - p * r, "fn": p - p * r, "tn": 0.0}
            assert float(hm.FBeta(beta)(**counts)) == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("metric", "name"), [("f1", "F1"), ("f2", "F2"), ("mcc", "F1"), (hm.cost(fp=1, fn=2), "F1")]
)
def test_lines_are_those_of_the_metric_or_of_f1(metric, name):
    d = PR.from_predictions(Y, S, metric)
    assert {f"{name} = 0.2", f"{name} = 0.8"} <= set(texts(d))


def test_the_chosen_point_is_marked_and_named():
    d = PR.from_predictions(Y, S, threshold=0.3)
    (mark,) = [line for line in d.ax_.lines if line.get_marker() == "o"]
    assert mark.get_xydata().tolist() == [[d.chosen_recall, d.chosen_precision]]
    assert d.score == hm.score(Y, S >= 0.3)
    assert any(text.startswith("chosen 0.3: F1 = ") for text in texts(d))
    none = PR.from_predictions(Y, S, threshold=np.inf)
    (mark,) = [line for line in none.ax_.lines if line.get_marker() == "o"]
    assert np.isnan(mark.get_xdata()).all()  # without predictions there is no point


def test_costs_are_shown_as_they_are():
    d = PR.from_predictions(Y, S, hm.cost(fp=1, fn=2))
    assert d.score < 0
    assert any(text.endswith(f": cost = {-d.score:.3g}") for text in texts(d))


def test_displays_on_the_same_axes_differ_in_colour_and_share_the_background():
    _, ax = plt.subplots()
    one = PR.from_predictions(Y, S, name="one", ax=ax)
    other = PR.from_predictions(Y, S**2 + 0.1, name="other", ax=ax)
    assert one.line_.get_color() != other.line_.get_color()
    assert other.chance_level_ is None  # it is there already
    assert sum(text == "F1 = 0.4" for text in texts(other)) == 1
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    for d in (one, other):
        assert f"{d.name} (AP = {d.average_precision:.3g})" in legend


def test_one_of_many_labels():
    t = hm.tune(YY, SS, labels=NAMES)
    for j, name in enumerate(NAMES):
        found = PR.from_thresholds(t, name)
        alone = PR.from_predictions(YY[:, j], SS[:, j])
        assert_same(found, alone, but=["label"])
        assert found.label == name


def test_folds_have_a_curve_each():
    d = PR.from_cv_results(CV, SS, CLASSES)
    assert len(d.folds) == len(d.line_) == 3
    values = [fold.average_precision for fold in d.folds]
    expected = f"3 folds, AP = {np.mean(values):.3g} ± {np.std(values):.2g}"
    assert d.line_[0].get_label() == expected
    rows = CV["indices"]["test"][0]
    scores = CV["estimator"][0].predict_proba(SS[rows])[:, 1]
    assert d.folds[0].average_precision == pytest.approx(average_precision_score(Y[rows], scores))
    assert d.folds[0].threshold == d.threshold
    assert d.pooled_line_.get_label() == f"AP = {d.average_precision:.3g}"


def test_a_fold_without_positives_has_no_curve():
    y = np.where(np.arange(300) < 40, "yes", "no")  # all of them in the first of three folds
    cv = {
        "estimator": CV["estimator"],
        "indices": {
            "train": [np.arange(100, 300), np.arange(100), np.arange(100)],
            "test": np.split(np.arange(300), 3),
        },
    }
    d = PR.from_cv_results(cv, SS, y)
    assert [len(line.get_xdata()) > 0 for line in d.line_] == [True, False, False]
    assert d.line_[0].get_label().endswith(f"{d.folds[0].average_precision:.3g} ± 0")
