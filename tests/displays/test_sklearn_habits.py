"""Habits that scikit-learn's tests of its displays ask for; docs/displays.md lists them all."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars as pl
import pytest
from display_cases import (
    CLASSES,
    CREATE,
    CURVE,
    CV,
    HALF,
    HEALTH,
    KEEP,
    LABEL_CURVES,
    PR,
    REGION,
    SS,
    YY,
    S,
    Y,
    assert_same,
    texts,
)
from sklearn.compose import make_column_transformer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import RepeatedKFold, TimeSeriesSplit, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

pytestmark = pytest.mark.usefixtures("close_figures")

THREE = np.arange(300) % 3
ESTIMATORS = {**LABEL_CURVES, HALF: (), HEALTH: ()}  # displays that take estimators
curves = pytest.mark.parametrize(("display", "metric"), LABEL_CURVES.items())
of_estimators = pytest.mark.parametrize(("display", "metric"), ESTIMATORS.items())
ONE_CURVE = ("curve", "precision-recall", "cost", "expected")


def title(display):
    return "\n".join(texts(display))


# Names.


@pytest.mark.parametrize("kind", CREATE)
def test_the_name_is_kept_for_the_next_plot_and_another_one_is_for_that_plot_only(kind):
    drawn = CREATE[kind](name="kept")
    assert drawn.name == "kept"
    assert "kept" in title(drawn)
    assert "kept" in title(drawn.plot())
    assert "name='kept'" in repr(drawn)
    other = title(drawn.plot(name="other"))
    assert "other" in other
    assert "kept" not in other
    assert drawn.name == "kept"


@pytest.mark.parametrize("kind", CREATE)
def test_without_a_name_there_is_none(kind):
    assert CREATE[kind]().name is None


@of_estimators
def test_the_class_of_an_estimator_is_its_name(display, metric):
    model = LogisticRegression().fit(SS, CLASSES)
    drawn = display.from_estimator(model, SS, CLASSES, *metric)
    assert drawn.name == "LogisticRegression"
    assert "LogisticRegression" in title(drawn)
    assert display.from_estimator(model, SS, CLASSES, *metric, name="mine").name == "mine"


@curves
def test_one_of_many_labels_is_named_by_its_label(display, metric):
    model = OneVsRestClassifier(LogisticRegression()).fit(SS, YY)
    truth = pd.DataFrame(YY.astype(int), columns=["cats", "dogs", "fish", "owls"])
    drawn = display.from_estimator(model, SS, truth, *metric, label="dogs")
    assert (drawn.name, drawn.label) == (None, "dogs")
    assert "dogs" in title(drawn)


# Classes and inputs.


@curves
def test_the_positive_class_can_be_chosen_and_is_written_on_the_axis(display, metric):
    drawn = display.from_predictions(CLASSES, S, *metric, pos_label="yes")
    assert_same(drawn, display.from_predictions(Y, S, *metric), but=["pos_label"])
    assert drawn.pos_label == "yes"
    assert "(positive class: yes)" in drawn.ax_.get_xlabel()
    assert "positive class" not in display.from_predictions(Y, S, *metric).ax_.get_xlabel()
    numbers = display.from_predictions(np.where(Y, -1, 1), S, *metric, pos_label=-1)
    assert_same(drawn, numbers, but=["pos_label"])


@curves
@pytest.mark.parametrize("method", ["predict_proba", "decision_function"])
def test_switching_the_positive_class_of_an_estimator_switches_its_scores(display, metric, method):
    model = LogisticRegression().fit(SS, CLASSES)
    scores = getattr(model, method)(SS)
    of_no = -scores if scores.ndim == 1 else scores[:, 0]
    how = {"response_method": method, "pos_label": "no"}
    drawn = display.from_estimator(model, SS, CLASSES, *metric, **how)
    by_hand = display.from_predictions(CLASSES, of_no, *metric, pos_label="no")
    assert_same(drawn, by_hand, but=["name"])
    folds = display.from_cv_results(CV, SS, CLASSES, *metric, **how)
    assert folds.pos_label == "no"


def test_displays_of_labels_take_a_positive_class():
    for display in (HALF, HEALTH):
        drawn = display.from_predictions(CLASSES, S, pos_label="yes")
        assert_same(drawn, display.from_predictions(Y, S), but=["labels"])
        model = LogisticRegression().fit(SS, CLASSES)
        of_model = display.from_estimator(model, SS, CLASSES, pos_label="no")
        scores = model.predict_proba(SS)[:, 0]
        by_hand = display.from_predictions(CLASSES, scores, pos_label="no")
        assert_same(of_model, by_hand, but=["name"])


@curves
def test_data_frames_and_series(display, metric):
    X = pd.DataFrame(SS, columns=list("abcd"), index=np.arange(300)[::-1])
    y = pd.Series(CLASSES, index=X.index)
    model = LogisticRegression().fit(X, y)
    expected = display.from_estimator(model, X, CLASSES, *metric)
    assert_same(expected, display.from_estimator(model, X, y, *metric))
    scores = pd.Series(model.predict_proba(X)[:, 1], index=X.index)
    drawn = display.from_predictions(y, scores, *metric, pos_label="yes")
    assert_same(expected, drawn, but=["name"])
    frames = pl.DataFrame(SS, schema=list("abcd")), pl.Series(CLASSES)
    expected = display.from_cv_results(CV, SS, CLASSES, *metric)
    for frame, truth in ((X, y), frames):
        cv = cross_validate(LogisticRegression(), frame, truth, cv=3, **KEEP)
        folds = display.from_cv_results(cv, frame, truth, *metric)
        np.testing.assert_allclose(folds.thresholds, expected.thresholds)
        assert folds.threshold == pytest.approx(expected.threshold)


@pytest.mark.parametrize(("display", "metric"), [*LABEL_CURVES.items(), (HEALTH, ())])
def test_weights_are_repetitions_of_rows(display, metric):
    times = np.arange(300) % 3
    weighted = display.from_predictions(Y, S, *metric, sample_weight=times)
    repeated = display.from_predictions(np.repeat(Y, times), np.repeat(S, times), *metric)
    for name in ("threshold", "score", "cost", "average_precision", "share", "base_rate"):
        if hasattr(weighted, name):
            assert getattr(weighted, name) == pytest.approx(getattr(repeated, name)), name


# What is refused.


@of_estimators
@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(make_column_transformer((StandardScaler(), [0, 1])), LogisticRegression()),
    ],
)
def test_estimators_that_are_not_fitted_are_refused(display, metric, model):
    with pytest.raises(NotFittedError):
        display.from_estimator(model, SS, CLASSES, *metric)
    assert plt.get_fignums() == []


@of_estimators
def test_more_than_two_classes_are_refused(display, metric):
    of_three = DecisionTreeClassifier().fit(SS, THREE)
    with pytest.raises(ValueError, match=r"Only binary classification is supported.*3 classes"):
        display.from_estimator(of_three, SS, THREE, *metric)
    two = THREE < 2
    with pytest.raises(ValueError, match=r"one for each of two classes; got shape \(200, 3\)"):
        display.from_estimator(of_three, SS[two], THREE[two], *metric)
    of_two = DecisionTreeClassifier().fit(SS[two], THREE[two])
    with pytest.raises(ValueError, match="must hold the classes seen in fit, 0 and 1; got 2"):
        display.from_estimator(of_two, SS, THREE, *metric)
    with pytest.raises(ValueError, match="y_true must hold two classes; got 3: 0, 1 and 2"):
        display.from_predictions(THREE, S, *metric)


@of_estimators
def test_names_of_classes_without_a_positive_one_are_refused(display, metric):
    with pytest.raises(ValueError, match="say which one is positive, pos_label='yes' or"):
        display.from_predictions(CLASSES, S, *metric)


# How curves look.


@pytest.mark.parametrize("kind", ONE_CURVE)
def test_the_curve_can_be_styled_by_a_dictionary_or_by_keywords(kind):
    look = {"c": "black", "lw": 7, "ls": "--", "alpha": 0.5}
    for drawn in (CREATE[kind](curve_kwargs=look), CREATE[kind](**look)):
        for alias, value in look.items():
            assert mpl.artist.getp(drawn.line_, alias) == value, alias
    listed = CREATE[kind](curve_kwargs=[{"color": "red", "label": "mine"}])
    assert (listed.line_.get_color(), listed.line_.get_label()) == ("red", "mine")


BAD_LOOKS = [
    ({"curve_kwargs": {"lw": 1}, "color": "red"}, ValueError, "cannot both be passed.*'color'"),
    ({"curve_kwargs": [{}, {}]}, ValueError, "one for each of the 1 curves"),
    ({"curve_kwargs": ["red"]}, ValueError, "must be a dictionary, or a list"),
    ({"curve_kwargs": "red"}, TypeError, "list of dictionaries; got str"),
    ({"curve_kwargs": {"c": "red", "color": "red"}}, TypeError, "Got both"),
]


@pytest.mark.parametrize("kind", ONE_CURVE)
@pytest.mark.parametrize(("how", "error", "message"), BAD_LOOKS)
def test_looks_that_make_no_sense_are_refused(kind, how, error, message):
    with pytest.raises(error, match=message):
        CREATE[kind](**how)
    assert plt.get_fignums() == []


@pytest.mark.parametrize("kind", CREATE)
def test_edges_of_the_users_axes_are_hidden_if_asked_for(kind):
    for despine in (False, True):
        _, ax = plt.subplots()
        drawn = CREATE[kind](ax=ax, despine=despine)
        for part in drawn._parts():
            assert {part.spines[edge].get_visible() for edge in ("top", "right")} == {not despine}
            assert part.spines["bottom"].get_visible()


def test_both_axes_of_a_region_lose_their_edges():
    _, axes = plt.subplots(2)
    drawn = CREATE["region"](ax=axes, despine=True)
    assert isinstance(drawn, REGION)
    assert not any(ax.spines["top"].get_visible() for ax in axes)


@curves
def test_the_chance_level_can_be_left_out_and_styled(display, metric):
    drawn = display.from_predictions(Y, S, *metric)
    lines = np.atleast_1d(drawn.chance_level_)
    assert all(isinstance(line, mpl.lines.Line2D) for line in lines)
    assert drawn.plot(plot_chance_level=False).chance_level_ is None
    drawn.plot(chance_level_kw={"c": "red", "lw": 5})
    for line in np.atleast_1d(drawn.chance_level_):
        assert (line.get_color(), line.get_linewidth()) == ("red", 5)


def test_the_chance_level_of_precision_is_the_base_rate():
    drawn = PR.from_predictions(Y, S)
    assert set(drawn.chance_level_.get_ydata()) == {Y.mean()}
    assert drawn.chance_level_.get_label() == f"base rate {Y.mean():.3g}"
    drawn.plot(chance_level_kw={"label": "mine"})
    assert drawn.chance_level_.get_label() == "mine"
    heights = [line.get_ydata()[0] for line in CURVE.from_predictions(Y, S).chance_level_]
    assert heights == pytest.approx([Y.mean(), 2 * Y.mean() / (1 + Y.mean())])


def test_precision_and_recall_have_axes_of_equal_length():
    ax = PR.from_predictions(Y, S).ax_
    assert ax.get_xlim() == ax.get_ylim() == (-0.01, 1.01)
    assert ax.get_aspect() in ("equal", 1.0)


# Folds.


@curves
def test_folds_are_the_test_rows_of_their_estimators(display, metric):
    weights = 1.0 + np.arange(300) % 2
    drawn = display.from_cv_results(CV, SS, CLASSES, *metric, sample_weight=weights)
    pooled, truth, heavy = [], [], []
    pairs = zip(CV["estimator"], CV["indices"]["test"], drawn.folds, strict=True)
    for estimator, rows, fold in pairs:
        scores = estimator.predict_proba(SS[rows])[:, 1]
        how = {"sample_weight": weights[rows], "threshold": drawn.threshold, "pos_label": "yes"}
        how |= {"n_resamples": 0} if display is CURVE else {}
        alone = display.from_predictions(CLASSES[rows], scores, *metric, **how)
        assert_same(fold, alone)
        pooled, truth, heavy = [*pooled, *scores], [*truth, *Y[rows]], [*heavy, *weights[rows]]
    how = {"n_resamples": 0} if display is CURVE else {}
    whole = display.from_predictions(truth, pooled, *metric, sample_weight=heavy, **how)
    assert_same(whole, drawn.plot(), but=["folds", "pos_label"])


@curves
def test_looks_of_folds(display, metric):
    drawn = display.from_cv_results(CV, SS, CLASSES, *metric)
    assert {line.get_alpha() for line in drawn.line_} == {0.5}
    assert drawn.line_[0].get_label().startswith("3 folds, ")
    assert all(line.get_label().startswith("_") for line in drawn.line_[1:])
    drawn.plot(curve_kwargs={"alpha": 0.2, "c": "red"})
    assert {(line.get_alpha(), line.get_color()) for line in drawn.line_} == {(0.2, "red")}
    assert drawn.pooled_line_.get_color() != "red"
    drawn.plot(curve_kwargs=[{"c": colour} for colour in "rgb"])
    assert [line.get_color() for line in drawn.line_] == ["r", "g", "b"]
    assert [line.get_label()[:7] for line in drawn.line_] == ["fold 1,", "fold 2,", "fold 3,"]
    with pytest.raises(ValueError, match="one for each of the 3 curves"):
        drawn.plot(curve_kwargs=[{"c": "red"}])


@pytest.mark.parametrize("split", [RepeatedKFold(n_splits=3, n_repeats=2), TimeSeriesSplit(3)])
def test_splits_that_are_no_partition(split):
    cv = cross_validate(LogisticRegression(), SS, CLASSES, cv=split, **KEEP)
    drawn = CURVE.from_cv_results(cv, SS, CLASSES)
    assert len(drawn.folds) == split.get_n_splits(SS)


def test_folds_of_one_of_many_labels():
    models = OneVsRestClassifier(LogisticRegression())
    cv = cross_validate(models, SS, YY.astype(int), cv=3, scoring="f1_macro", **KEEP)
    drawn = CURVE.from_cv_results(cv, SS, YY.astype(int), label=0)
    rows = cv["indices"]["test"][2]
    scores = cv["estimator"][2].predict_proba(SS[rows])
    how = {"label": 0, "threshold": drawn.threshold, "n_resamples": 0}
    assert_same(drawn.folds[2], CURVE.from_predictions(YY[rows], scores, **how))


BAD_FOLDS = [
    (lambda: CURVE.from_cv_results([1], SS, Y), TypeError, "what cross_validate.*got list"),
    (
        lambda: CURVE.from_cv_results({"estimator": CV["estimator"]}, SS, Y),
        ValueError,
        "return_indices=True.* returns; it has no 'indices'",
    ),
    (lambda: CURVE.from_cv_results({}, SS, Y), ValueError, "no 'estimator' and no 'indices'"),
    (lambda: CURVE.from_cv_results(CV, SS[:9], CLASSES[:9]), ValueError, "the 300 rows.*got 9"),
    (
        lambda: CURVE.from_cv_results(CV, np.tile(SS, (2, 1)), np.tile(CLASSES, 2)),
        ValueError,
        "must have the 300 rows that were cross-validated; got 600",
    ),
    (lambda: CURVE.from_cv_results(CV, SS, CLASSES[:9]), ValueError, "300 rows in X and 9 in y"),
    (lambda: CURVE.from_cv_results(CV, SS, THREE), ValueError, "must hold the classes seen in fit"),
    (
        lambda: CURVE.from_cv_results(CV, SS, CLASSES, sample_weight=[1, 2]),
        ValueError,
        "one weight for each of the 300 rows",
    ),
    (
        lambda: CURVE.from_cv_results(CV, SS, CLASSES, pos_label="maybe"),
        ValueError,
        "pos_label must be one of the classes of y, 'no' and 'yes'; got 'maybe'",
    ),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD_FOLDS)
def test_bad_results_of_cross_validation_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
