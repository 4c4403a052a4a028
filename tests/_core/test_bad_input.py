"""What is wrong with an input is said clearly; what is only odd gets its right answer."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

import halfmax as hm

pytestmark = pytest.mark.kernels

NAN, INF = float("nan"), float("inf")

Y, S = [0, 1, 1], [0.1, 0.5, 0.9]
Y2, S2 = [[0, 1], [1, 0], [1, 1]], [[0.1, 0.5], [0.9, 0.2], [0.3, 0.7]]
LISTS = [[0, 1], [1, 0]]
MASKS = [np.ma.array(row, mask=[0, 1]) for row in ([0.0, 1.0], [1.0, 0.0])]
M = np.ma.array([0.1, 0.5, 0.9], mask=[0, 0, 1])
P2 = [[0.9, 0.1], [0.5, 0.5], [0.1, 0.9]]  # what predict_proba gives

ONE = hm.tune(Y, S)
TWO = hm.tune(Y2, S2)


def csr(data, indices, indptr, shape=(3, 2), kind=sparse.csr_array):
    return kind((np.array(data), np.array(indices), np.array(indptr)), shape=shape)


def counting(function, name="mine"):
    return hm.Metric(name, function)


TWICE_COO = sparse.coo_array(([0.1, 0.2, 0.3], ([0, 0, 1], [1, 1, 0])), shape=(3, 2))
TWICE_CSR = csr([0.1, 0.2, 0.3, 0.4], [1, 0, 1, 0], [0, 3, 4, 4])  # unsorted as well
TWICE_CSC = csr([0.1, 0.2, 0.3], [1, 1, 0], [0, 2, 3], kind=sparse.csc_array)
LEFT_OF_ALL = csr([0.5, -1e9], [0, 0], [0, 1, 2, 2])
LEFT_OF_ALL.indices[1] = -1
RIGHT_OF_ALL = csr([1, 1], [0, 1], [0, 1, 2, 2])
RIGHT_OF_ALL.indices[1] = 2


def tune(y_true=Y, y_score=S, **options):
    return lambda: hm.tune(y_true, y_score, **options)


def assess(y_true=Y, y_score=S, **options):
    return lambda: hm.assess(y_true, y_score, **options)


def score(y_true=Y, y_pred=Y, **options):
    return lambda: hm.score(y_true, y_pred, **options)


def staircase(y_true=Y, y_score=S, **options):
    return lambda: hm.Staircase.of(y_true, y_score, **options)


def tune_with(function):
    return tune(metric=counting(function))


NO_HINT_FOR_TRUTH = r"(?s)^(?!.*positive class)"  # that advice is about y_true alone

# What is wrong, the call, the error, and what its message must say.
BAD = [
    # sizes and shapes
    ("tune of nothing", tune([], []), ValueError, r"y_true must not be empty.*\(0,\)"),
    ("no scores", tune(Y, []), ValueError, r"y_score must not be empty"),
    ("no columns", tune(np.zeros((3, 0)), S2), ValueError, r"y_true must not be empty.*\(3, 0\)"),
    ("sparse without rows", tune(sparse.csr_array((0, 2)), S2), ValueError, r"y_true.*\(0, 2\)"),
    ("score of nothing", score([], []), ValueError, r"y_true must not be empty"),
    ("staircase of nothing", staircase([], []), ValueError, r"y_true must not be empty"),
    ("lengths differ", tune([0, 1], S), ValueError, r"same shape; got \(2,\) and \(3,\)"),
    ("lengths differ, score", score(Y, [0, 1]), ValueError, r"y_true and y_pred.*same shape"),
    ("lengths differ, staircase", staircase([0, 1], S), ValueError, r"same shape"),
    ("columns differ", tune(Y2, np.ones((3, 3))), ValueError, r"\(3, 2\) and \(3, 3\)"),
    ("turned round", tune(np.transpose(Y2), S2), ValueError, r"\(2, 3\) and \(3, 2\)"),
    ("predict_proba's two columns", tune(Y, P2), ValueError, r"predict_proba.*y_score\[:, 1\]"),
    (
        "three classes",
        tune(Y, np.ones((3, 3))),
        ValueError,
        r"1-D for one classifier.*rows x label",
    ),
    ("two columns of truth", tune(Y2, S), ValueError, r"\(3, 2\) and \(3,\); give both"),
    ("a single number", tune(1, 0.5), ValueError, r"y_true must have 1 .*dimensions; got 0"),
    ("three dimensions", tune([Y2], [S2]), ValueError, r"y_true must have .*got 3.*\(1, 3, 2\)"),
    ("ragged truth", tune([[0, 1], [1]], S2), ValueError, r"y_true must have rows of equal length"),
    ("ragged scores", tune(Y2, [[0.1], [0.2, 0.3]]), ValueError, r"y_score .*equal length"),
    (
        "1-D sparse",
        tune(sparse.coo_array([0, 1, 1]), S),
        ValueError,
        r"y_true .*two-dimensional.*got 1 dimension$",
    ),
    # kinds of numbers
    (
        "string labels",
        tune(["no", "yes", "yes"], S),
        ValueError,
        "y_true holds the classes 'no' and 'yes': say which one is positive, pos_label='yes' or "
        "pos_label='no'",
    ),
    ("bytes labels", tune(np.array([b"n", b"y", b"y"]), S), ValueError, "pos_label=b'y'"),
    (
        "one class with a name",
        tune(["no"] * 3, S),
        ValueError,
        "y_true holds one class only, 'no': name the positive class, pos_label='no' if that is it",
    ),
    (
        "three classes with names",
        tune(["a", "b", "c"], S),
        ValueError,
        "must hold two classes; got 3: 'a', 'b' and 'c'. Compare .* y == 'a'",
    ),
    (
        "a positive class that is not there",
        tune(["no", "yes", "yes"], S, pos_label="Yes"),
        ValueError,
        "pos_label must be a class of y_true, which holds 'no' and 'yes'; got 'Yes'",
    ),
    (
        "a name for a class of numbers",
        tune([0, 0, 0], S, pos_label="yes"),
        ValueError,
        "pos_label must be a class of y_true, which holds only 0; got 'yes'",
    ),
    (
        "a positive class of a sparse matrix",
        tune(sparse.csr_array(Y2), S2, pos_label="yes"),
        ValueError,
        "pos_label must be 1 for the sparse matrix y_true, whose absent entries are 0; got 'yes'",
    ),
    (
        "predictions of other classes",
        score(["a", "b", "b"], ["a", "c", "b"], pos_label="a"),
        ValueError,
        "y_pred must hold the classes of y_true, 'a' and 'b', or 0 and 1; got 'c'",
    ),
    ("predictions of 10", score(Y, [0, 10, 10]), ValueError, r"y_pred\[1\] is 10"),
    (
        "predictions with two meanings",
        score([1, 2, 2], [1, 1, 1]),
        ValueError,
        "y_pred is 1 in every row, which is both .*compare both with the positive class first",
    ),
    ("string scores", tune(Y, ["a", "b", "c"]), TypeError, NO_HINT_FOR_TRUTH + r"y_score"),
    ("object scores", tune(Y, np.array(S, object)), TypeError, r"y_score.*object.*astype"),
    (
        "None among labels",
        tune([0, None, 1], S),
        ValueError,
        r"y_true must not have missing values; y_true\[1\] is None. To drop such rows: keep = ",
    ),
    ("decimals", tune(Y, [Decimal("0.1")] * 3), TypeError, r"y_score.*object"),
    ("None for scores", tune(Y, None), TypeError, r"y_score must be numbers"),
    ("a generator", tune((y for y in Y), S), ValueError, r"y_true must have 1 .*got 0"),
    ("complex scores", tune(Y, np.array(S) + 1j), TypeError, r"y_score.*complex128.*real part"),
    ("complex sparse", tune(Y2, sparse.csr_array(S2) * 1j), TypeError, r"y_score.*complex128"),
    ("dates", tune(Y, np.array(["2014-05-14"] * 3, "M8[D]")), TypeError, r"y_score.*datetime64"),
    ("structured", tune(Y, np.zeros(3, [("p", float)])), TypeError, r"y_score must be numbers"),
    ("masked scores", tune(Y, np.ma.array(S, mask=[0, 0, 1])), TypeError, r"y_score is a masked"),
    ("list of masked", tune(LISTS, MASKS), TypeError, r"y_score holds masked arrays; fill or drop"),
    ("masked lists", tune(MASKS, LISTS), TypeError, r"y_true holds masked arrays"),
    ("tuple of masked", tune(LISTS, tuple(MASKS)), TypeError, r"y_score holds masked arrays"),
    ("nested masked", tune([[0], [1]], [[M[:1]], [M[1:2]]]), TypeError, r"y_score holds masked"),
    ("masked in a row", tune(Y, [0.5, np.ma.masked, 0.7]), TypeError, r"y_score holds masked"),
    ("masked weights", tune(Y, S, sample_weight=list(M)), TypeError, r"sample_weight holds masked"),
    ("masked draws", lambda: hm.joint_from_samples(MASKS), TypeError, r"draws holds masked"),
    ("masked p", lambda: hm.decide(MASKS), TypeError, r"y_prob holds masked arrays"),
    ("masked truth", tune(np.ma.array(Y, mask=[0, 0, 1]), S), TypeError, r"y_true is a masked"),
    # truth that is not 0/1
    ("labels 0, 1, 2", tune([0, 1, 2], S), ValueError, r"two classes; got 3: 0, 1 and 2"),
    ("labels all 2", tune([2, 2, 2], S), ValueError, r"one class only, 2: .*pos_label=2"),
    ("infinite labels", tune([0, 1, INF], S), ValueError, r"y_true\[2\] is inf"),
    ("soft labels", tune([0, 0.5, 1], S), ValueError, r"y_true\[1\] is 0\.5"),
    ("NaN label", tune([0, 1, NAN], S), ValueError, r"y_true\[2\] is nan"),
    (
        "not 0/1 in 2-D",
        tune([[0, 1], [1, 0], [1, 3]], S2),
        ValueError,
        r"two classes; y_true\[:, 1\] holds 3: 0, 1 and 3. If it identifies rows, leave it out",
    ),
    (
        "not 0/1 in sparse",
        tune(csr([1, 2], [0, 1], [0, 1, 1, 2]), S2),
        ValueError,
        r"\[2, 1\] is 2",
    ),
    ("truth and scores swapped", tune(S, Y), ValueError, r"y_true\[0\] is 0\.1"),
    ("scores as predictions", score(Y, S), ValueError, r"y_pred\[0\] is 0\.1"),
    ("three classes, score", score(Y, [-1, 0, 1]), ValueError, r"y_pred\[0\] is -1"),
    ("three classes, staircase", staircase([-1, 0, 1], S), ValueError, r"y_true must hold two"),
    # sparse matrices
    ("twice in COO", tune(Y2, TWICE_COO), ValueError, r"y_score.*\[0, 1\].*sum_duplicates"),
    (
        "twice in CSR",
        tune(Y2, TWICE_CSR),
        ValueError,
        r"y_score.*\[0, 1\] is stored more than once",
    ),
    (
        "twice in CSC",
        tune(Y2, TWICE_CSC),
        ValueError,
        r"y_score.*\[1, 0\] is stored more than once",
    ),
    ("twice in truth", score(TWICE_COO != 0, TWICE_COO), ValueError, r"y_pred must store each"),
    ("column below 0", tune(Y2, LEFT_OF_ALL), ValueError, r"y_score.*-1"),
    ("column beyond the last", tune(RIGHT_OF_ALL, S2), ValueError, r"y_true.*2"),
    # weights
    ("too few weights", tune(sample_weight=[1, 2]), ValueError, r"sample_weight.*3 rows.*\(2,\)"),
    ("weights per cell", tune(sample_weight=S2), ValueError, r"sample_weight.*\(3, 2\)"),
    ("one weight", tune(sample_weight=2.0), ValueError, r"sample_weight"),
    ("negative weight", tune(sample_weight=[1, -2, 1]), ValueError, r"sample_weight\[1\] is -2"),
    ("NaN weight", tune(sample_weight=[1, 1, NAN]), ValueError, r"sample_weight\[2\] is nan"),
    ("infinite weight", tune(sample_weight=[INF, 1, 1]), ValueError, r"sample_weight\[0\] is inf"),
    (
        "all weights 0",
        tune(sample_weight=[0, 0, 0]),
        ValueError,
        r"sample_weight .*zero everywhere",
    ),
    ("weights sum to inf", tune(sample_weight=[1e308] * 3), ValueError, r"sample_weight"),
    ("'balanced'", tune(sample_weight="balanced"), TypeError, NO_HINT_FOR_TRUTH + "sample_weight"),
    ("weights by class", tune(sample_weight={0: 1, 1: 9}), TypeError, r"sample_weight"),
    ("weights, score", score(sample_weight=[1]), ValueError, r"sample_weight.*3 rows.*\(1,\)"),
    ("weights, staircase", staircase(sample_weight=[1]), ValueError, r"sample_weight.*3 rows"),
    # label names
    ("too few names", tune(Y2, S2, labels=["a"]), ValueError, r"labels .*each of the 2.*got 1"),
    ("a name twice", tune(Y2, S2, labels=["a", "a"]), ValueError, r"labels must not repeat.*'a'"),
    ("1 and True are equal", tune(Y2, S2, labels=[1, True]), ValueError, r"must not repeat"),
    ("one string", tune(Y2, S2, labels="ab"), TypeError, r"labels must be a sequence.*'ab'"),
    ("unhashable names", tune(Y2, S2, labels=[["a"], ["b"]]), TypeError, r"labels"),
    ("a number of labels", tune(Y2, S2, labels=2), TypeError, r"labels"),
    ("names, staircase", staircase(Y2, S2, labels=["a", "a"]), ValueError, r"must not repeat"),
    # options
    ("average of one", tune(average="weighted"), ValueError, r"average='weighted' is for many"),
    ("average None of one", tune(average=None), ValueError, r"average=None is for many labels"),
    ("score of one", score(average=None), ValueError, r"average=None is for many labels"),
    (
        "average None",
        tune(Y2, S2, average=None),
        ValueError,
        r"average=None is a score for each label.*use average='macro'.*label_scores",
    ),
    ("average 'mean'", tune(Y2, S2, average="mean"), ValueError, r"or 'weighted' .*got 'mean'"),
    ("average 'binary'", tune(Y2, S2, average="binary"), ValueError, r"average must be .*'binary'"),
    ("a bare function", tune(metric=max), ValueError, r"wrap your function: halfmax\.Metric"),
    ("a metric in capitals", tune(metric="F1"), ValueError, r"got 'F1'; use metric='f1'$"),
    ("a metric of scikit-learn", tune(metric="f1_score"), ValueError, r"; use metric='f1'$"),
    ("a short name", tune(metric="acc"), ValueError, r"; use metric='accuracy'$"),
    (
        "truth that is missing",
        tune([0, np.nan, 1]),
        ValueError,
        r"missing values; y_true\[1\] is nan",
    ),
    ("swapped arguments", tune(S, Y), ValueError, r"y_true.*swapped"),
    ("an unknown guard", tune(guard="best"), ValueError, r"guard must be None.*'auto'.*'best'"),
    ("per_label 'no'", tune(Y2, S2, per_label="no"), (TypeError, ValueError), r"per_label.*'no'"),
    ("zero_division 2", tune(zero_division=2), ValueError, r"zero_division .*0 to 1.*got 2"),
    ("zero_division -0.1", score(zero_division=-0.1), ValueError, r"zero_division .*got -0\.1"),
    ("zero_division 'warn'", tune(zero_division="warn"), ValueError, r"zero_division .*'warn'"),
    ("zero_division None", tune(zero_division=None), ValueError, r"zero_division .*None"),
    ("zero_division inf", tune(zero_division=INF), ValueError, r"zero_division .*inf"),
    ("min_precision 1.5", tune(min_precision=1.5), ValueError, r"min_precision .*got 1\.5"),
    ("min_precision 90 %", tune(min_precision="90%"), ValueError, r"min_precision .*'90%'"),
    ("min_recall -1", tune(min_recall=-1), ValueError, r"min_recall .*got -1"),
    ("min_recall NaN", tune(min_recall=NAN), ValueError, r"min_recall .*got nan"),
    (
        "floors of samples",
        tune(Y2, S2, average="samples", min_precision=0.5),
        ValueError,
        r"min_precision=0.5 must hold for each label.*no meaning for average='samples'",
    ),
    (
        "floors of one shared threshold",
        tune(Y2, S2, per_label=False, min_recall=0.5),
        ValueError,
        r"min_recall=0.5 must hold .*per_label=False",
    ),
    (
        "rows left out of samples",
        tune(Y2, S2, average="samples", zero_division=NAN),
        ValueError,
        r"zero_division=nan .*per_label=False",
    ),
    # metrics
    ("metric 'f0'", tune(metric="f0"), ValueError, r"above 0.*got 0\.0.*'precision'"),
    ("metric 'fbeta'", tune(metric="fbeta"), ValueError, r"metric must be 'f1'.*got 'fbeta'"),
    ("metric 'F1 '", tune(metric="F1 "), ValueError, r"metric must be 'f1'.*got 'F1 '"),
    ("metric 'f-1'", tune(metric="f-1"), ValueError, r"metric must be .*'f-1'"),
    ("metric 'auc'", score(metric="auc"), ValueError, r"'auc'; that one does not depend on a thr"),
    ("a typo", tune(metric="acuracy"), ValueError, r"'acuracy': did you mean 'accuracy'\?$"),
    (
        "a metric and an average in one name",
        tune(metric="f0.5_macro"),
        ValueError,
        r"use metric='f0.5' and average='macro'$",
    ),
    ("prices", tune(metric={"fp": 1, "fn": 9}), ValueError, r"prices .* hm.cost\(\*\*prices\)$"),
    ("a cap of 1.0", tune(max_predicted=1.0), ValueError, r"must be 1 for one row, or a share bel"),
    ("a cap of True", tune(max_predicted=True), ValueError, r"max_predicted must be .*got True"),
    ("a floor of True", tune(min_recall=True), ValueError, r"min_recall must be .*got True"),
    ("metric None", tune(metric=None), ValueError, r"metric must be .*None"),
    ("metric of 400 digits", tune(metric="f" + "9" * 400), ValueError, r"at most 1e\+100"),
    ("a bare function", tune(metric=min), ValueError, r"metric must be .*Metric object"),
    ("a class", tune(metric=hm.FBeta), ValueError, r"metric must be .*Metric object"),
    ("FBeta(0)", lambda: hm.FBeta(0), ValueError, r"beta must be above 0.*'precision'"),
    ("FBeta(-1)", lambda: hm.FBeta(-1), ValueError, r"beta must be above 0.*-1"),
    ("FBeta(nan)", lambda: hm.FBeta(NAN), ValueError, r"beta must be above 0.*nan"),
    ("FBeta(inf)", lambda: hm.FBeta(INF), ValueError, r"beta .*at most.*'recall'"),
    ("FBeta('x')", lambda: hm.FBeta("x"), TypeError, r"beta must be a number; got 'x'"),
    ("FBeta(None)", lambda: hm.FBeta(None), TypeError, r"beta must be a number; got None"),
    ("Metric without a name", lambda: hm.Metric("", min), TypeError, r"name must be .*''"),
    ("Metric of a name", lambda: hm.Metric("f", "f1"), TypeError, r"function must be callable"),
    (
        "three weights",
        lambda: hm.LinearFractional("r", (1, 0, 0), (1, 1, 1, 1)),
        ValueError,
        r"numerator must be four finite weights.*\(1, 0, 0\)",
    ),
    (
        "a NaN weight of a count",
        lambda: hm.LinearFractional("r", (1, 0, 0, 0), (1, 1, NAN, 0)),
        ValueError,
        r"denominator must be four finite weights",
    ),
    (
        "no weights of counts",
        lambda: hm.LinearFractional("r", None, (1, 1, 1, 1)),
        (TypeError, ValueError),
        r"numerator must be four finite weights",
    ),
    (
        "miss rate, pooled",
        tune(
            Y2,
            S2,
            per_label=False,
            average="micro",
            metric=counting(lambda tp, _fp, fn, *_: fn / (fn + tp)),
        ),
        ValueError,
        r"'mine' falls when a true positive is added .*Every score is tried for one classifier, "
        r"and for average='macro' .*such as 'f1'",
    ),
    (
        "false-positive rate with a guard",
        tune(metric=counting(lambda _tp, fp, _fn, tn: fp / (fp + tn)), guard="auto"),
        ValueError,
        r"'mine' rises when a false positive is added",
    ),
    (
        "one number for all counts",
        tune_with(lambda *_: 1.0),
        ValueError,
        r"'mine' must return one value for each count.*returned shape \(\)",
    ),
    (
        "a sum over counts",
        score(Y2, Y2, metric=counting(lambda tp, *_: tp.sum())),
        ValueError,
        r"'mine' must return one value for each count",
    ),
    ("returns None", tune_with(lambda *_: None), ValueError, r"metric 'mine'"),
    ("returns text", tune_with(lambda *_: "high"), ValueError, r"metric 'mine'"),
    (
        "scalar code",
        tune_with(lambda tp, fp, *_: tp / (tp + fp) if tp > 0 else 0),
        ValueError,
        r"metric 'mine'",
    ),
    (
        "no upper bound",
        tune([0, 1, 1, 0], [*S, 0.7], metric=counting(lambda tp, fp, *_: tp / fp)),
        ValueError,
        r"metric 'mine'.*(inf|finite)",
    ),
    (
        "any metric of pooled labels",
        tune(Y2, S2, average="micro", metric=counting(lambda tp, *_: np.sqrt(tp))),
        ValueError,
        r"average='micro' .*ratio of weighted sums.*per_label=False",
    ),
    # staircases
    (
        "a grid of other labels",
        staircase(grid=hm.Grid.of(Y2, S2)),
        ValueError,
        r"grid must have the 1 labels of y_score; got 2",
    ),
    (
        "staircases on two grids",
        lambda: hm.Staircase.of(Y, S) + hm.Staircase.of(Y, S[::-1]),
        ValueError,
        r"same grid .*'\|'",
    ),
    (
        "grids of unlike labels",
        lambda: hm.Grid.of(Y, S) | hm.Grid.of(Y2, S2),
        ValueError,
        r"same number of labels to unite; got 1 and 2",
    ),
    ("an unknown label", lambda: hm.Staircase.of(Y2, S2)["a"], KeyError, r"no label 'a' among 2"),
    # predict
    ("predict nothing", lambda: ONE.predict([]), ValueError, r"y_score must not be empty"),
    ("predict NaN", lambda: ONE.predict([0.1, NAN]), ValueError, r"y_score\[1\] is nan"),
    ("predict text", lambda: ONE.predict(["a"]), TypeError, NO_HINT_FOR_TRUTH + r"y_score"),
    ("predict_proba", lambda: ONE.predict(P2), ValueError, r"y_score.*y_score\[:, 1\]"),
    ("predict 1-D for labels", lambda: TWO.predict(S), ValueError, r"rows x 2 labels.*1 dimension"),
    ("predict 3 of 2", lambda: TWO.predict(np.ones((3, 3))), ValueError, r"2 columns.*got 3"),
    ("predict 3-D", lambda: TWO.predict([S2]), ValueError, r"y_score must have .*got 3"),
    ("predict twice", lambda: TWO.predict(TWICE_COO), ValueError, r"\[0, 1\] is stored more"),
    # frames
    (
        "a lazy frame",
        tune(Y2, pl.LazyFrame({"a": S, "b": S})),
        TypeError,
        r"y_score is a lazy frame; call collect",
    ),
    (
        "strings in a column",
        tune(Y2, pd.DataFrame({"a": S, "b": ["x", "y", "z"]})),
        TypeError,
        r"y_score\['b'\] must be numbers or bool; row 0 holds 'x'. If it identifies rows, leave it "
        r"out: y_score.drop\(columns='b'\)$",
    ),
    (
        "a category of scores",
        tune(Y, pd.Series(S).astype("category")),
        TypeError,
        r"y_score must be numbers or bool; it holds numbers as Categorical: .*astype\(float\)$",
    ),
    (
        "objects with text among them",
        tune(Y, pd.Series([0.1, "<5", 0.3], dtype=object)),
        TypeError,
        r"y_score must be numbers or bool; row 1 holds '<5'$",
    ),
    (
        "objects with missing ones among them",
        tune(Y, pd.Series([0.1, pd.NA, 0.3], dtype=object)),
        ValueError,
        r"y_score must not have missing values; <NA> in row 1. To drop .*y_score.notna\(\)",
    ),
    (
        "a number for each row in the truth",
        tune(pd.DataFrame({"a": Y, "id": [7, 8, 9]}), pd.DataFrame({"a": S, "id": [7, 8, 9]})),
        ValueError,
        r"two classes; y_true\['id'\] holds 3: 7, 8 and 9. If it identifies rows, leave it out",
    ),
    (
        "frames of one column with two names",
        tune(pd.DataFrame({"fraud": Y}), pd.DataFrame({"model": S})),
        ValueError,
        r"names .* differ: .*\. For one classifier pass the columns, y_true\['fraud'\] and "
        r"y_score\['model'\]$",
    ),
    (
        "three classes, one of them named",
        tune(["a", "b", "c"], S, pos_label="c"),
        ValueError,
        r"got 3: 'a', 'b' and 'c'. Compare with the positive class first, as in y == 'c'$",
    ),
    (
        "NaN among names in a list",
        tune(["a", "b", np.nan], S, pos_label="a"),
        ValueError,
        r"y_true must not have missing values; y_true\[2\] is nan. To drop such rows",
    ),
    (
        "nulls in a column",
        tune(Y2, pl.DataFrame({"a": S, "b": [0.1, None, None]})),
        ValueError,
        r"y_score\['b'\] must not have missing values; 2 values are missing, the first in row 1",
    ),
    (
        "NA in a nullable series",
        tune(pd.Series([0, 1, None], dtype="Int64"), S),
        ValueError,
        r"y_true must not have missing values; 1 value is missing, in row 2",
    ),
    (
        "assess: no replicates",
        assess(n_resamples=0),
        ValueError,
        "n_resamples must be a whole number, 1 or more; got 0",
    ),
    (
        "assess: half a replicate",
        assess(n_resamples=10.5),
        ValueError,
        r"n_resamples must be a whole number, 1 or more; got 10\.5",
    ),
    (
        "assess: level in per cent",
        assess(level=95),
        ValueError,
        "level must be a number above 0 and below 1, a share and not per cent; got 95",
    ),
    (
        "assess: certainty",
        assess(level=1.0),
        ValueError,
        r"level must be a number above 0 and below 1, a share and not per cent; got 1\.0",
    ),
    (
        "assess: negative seed",
        assess(seed=-1),
        ValueError,
        "seed must be a whole number, 0 or more",
    ),
    ("assess: seed of words", assess(seed="lucky"), ValueError, "seed must be a whole number"),
    ("assess: per_label", assess(per_label=1), TypeError, "per_label must be True or False; got 1"),
    ("assess: unknown average", assess(average="mean"), ValueError, "average must be 'macro'"),
    ("assess: unknown metric", assess(metric="auc"), ValueError, "metric must be 'f1'"),
    (
        "assess: zero_division",
        assess(zero_division=2),
        ValueError,
        "zero_division must be a number from 0 to 1",
    ),
    (
        "assess: progress",
        assess(progress="yes"),
        TypeError,
        "progress must be True for a line on stderr",
    ),
    (
        "assess: other shapes",
        assess(Y, S2),
        ValueError,
        r"y_true and y_score must have the same shape; got \(3,\) and \(3, 2\)",
    ),
    (
        "assess: NaN",
        assess(Y, [0.1, NAN, 0.2]),
        ValueError,
        r"y_score must be finite.*y_score\[1\]",
    ),
    (
        "assess: labels",
        assess(Y2, S2, labels=["a"]),
        ValueError,
        "labels must name each of the 2 labels; got 1 names",
    ),
    (
        "assess: rows left out of the mean",
        assess(Y2, S2, average="samples", zero_division=NAN),
        ValueError,
        "zero_division=nan leaves rows out of the mean",
    ),
    (
        "assess: pooled counts of any metric",
        assess(Y2, S2, average="micro", metric=counting(lambda tp, *_: np.sqrt(tp))),
        ValueError,
        "average='micro' with one threshold per label needs a metric that is a ratio",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*case, id=name) for name, *case in BAD]
)
def test_bad_input_gets_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


CONTAINERS = {
    "1-D": lambda s: (Y, s, "2"),
    "2-D": lambda s: (Y2, [[0.1, 0.2], [0.3, 0.4], [0.5, s[2]]], "2, 1"),
    "float32": lambda s: (Y, np.array(s, np.float32), "2"),
    "float16": lambda s: (Y, np.array(s, np.float16), "2"),
    "CSR": lambda s: (Y2, csr([0.1, 0.3, s[2]], [1, 1, 0], [0, 1, 1, 3]), "2, 0"),
    "unsorted CSR": lambda s: (Y2, csr([s[2], 0.3, 0.2], [1, 0, 0], [0, 0, 2, 3]), "1, 1"),
    "CSC": lambda s: (Y2, csr([0.1, s[2]], [2, 1], [0, 1, 2], kind=sparse.csc_array), "1, 1"),
    "polars": lambda s: (Y2, pl.DataFrame({"a": S, "b": s}), "2, (1|'b')"),
    "polars series": lambda s: (Y, pl.Series("p", s), "2"),
}


@pytest.mark.parametrize("wrong", [NAN, INF])
@pytest.mark.parametrize("container", CONTAINERS)
def test_nan_and_infinite_scores_are_errors_that_say_where(container, wrong):
    y_true, y_score, place = CONTAINERS[container]([0.1, 0.2, wrong])
    for call in (hm.tune, hm.Staircase.of):
        with pytest.raises(ValueError, match=rf"y_score\[{place}\] is {wrong}"):
            call(y_true, y_score)


def test_an_infinite_score_of_a_pandas_frame_says_where_and_nan_is_a_missing_value():
    with pytest.raises(ValueError, match=r"y_score\[2, (1|'b')\] is inf"):
        hm.tune(Y2, pd.DataFrame({"a": S, "b": [0.1, 0.2, INF]}))
    with pytest.raises(ValueError, match=r"y_score\['b'\].*missing.*row 2"):
        hm.tune(Y2, pd.DataFrame({"a": S, "b": [0.1, 0.2, NAN]}))


def test_a_score_too_large_for_float64_is_an_error_that_says_where():
    too_large = np.array(["0.1", "1e400", "0.2"]).astype(np.longdouble)
    if np.isinf(too_large).any():
        pytest.skip("long double is no longer than double here")
    with pytest.raises(ValueError, match=r"y_score\[1\]"):
        hm.tune(Y, too_large)


def test_the_first_wrong_place_is_named():
    with pytest.raises(ValueError, match=re.escape("y_score[1, 0] is nan")):
        hm.tune(Y2, [[0.1, 0.2], [NAN, NAN], [INF, NAN]])


# Odd but legal.


@pytest.mark.parametrize("average", ["macro", "micro", "samples", "instance"])
@pytest.mark.parametrize("per_label", [True, False])
def test_truth_without_positives_predicts_no_rows(average, per_label):
    for zero_division in (0.0, 1.0):
        options = {"average": average, "per_label": per_label, "zero_division": zero_division}
        t = hm.tune(np.zeros((3, 2)), S2, **options)
        assert_array_equal(t.thresholds, [INF, INF])
        assert t.score == zero_division


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("per_label", [True, False])
def test_truth_without_negatives_predicts_everybody(average, per_label):
    t = hm.tune(np.ones((3, 2)), S2, average=average, per_label=per_label)
    assert t.score == 1.0
    assert t.predict(S2).all()


def test_one_class_only_is_legal_for_one_classifier():
    nobody, everybody = hm.tune([0, 0, 0], S), hm.tune([1, 1, 1], S)
    assert (nobody.threshold, nobody.score) == (INF, 0.0)
    assert (everybody.threshold, everybody.score) == (0.1, 1.0)
    assert hm.tune([0, 0, 0], S, zero_division=1).score == 1.0
    assert np.isnan(hm.tune([0, 0, 0], S, zero_division=NAN).score)


def test_one_row_is_enough():
    assert hm.tune([1], [0.3]).threshold == 0.3
    assert hm.tune([0], [0.3]).threshold == INF


def big_endian(values):
    array = np.asarray(values)
    return array.astype(array.dtype.newbyteorder(">"))


def read_only(values):
    array = np.array(values)
    array.flags.writeable = False
    return array


def every_other(values):
    return np.repeat(np.array(values), 2, axis=0)[::2]


def backwards(values):
    return np.array(values)[::-1].copy()[::-1]


SAME_TRUTH = {
    "bool": lambda y: np.array(y, bool),
    "float": lambda y: np.array(y, float),
    "float16": lambda y: np.array(y, np.float16),
    "int8": lambda y: np.array(y, np.int8),
    "uint64": lambda y: np.array(y, np.uint64),
    "big-endian": big_endian,
    "read-only": read_only,
    "strided": every_other,
    "backwards": backwards,
    "Fortran order": lambda y: np.asfortranarray(y),
    "tuple": lambda y: tuple(map(tuple, y)) if np.ndim(y) == 2 else tuple(y),
}


@pytest.mark.parametrize("form", SAME_TRUTH)
@pytest.mark.parametrize(("y", "s"), [(Y, S), (Y2, S2)], ids=["1-D", "2-D"])
def test_truth_may_be_any_kind_of_zeros_and_ones(form, y, s):
    same = SAME_TRUTH[form](y)
    assert_array_equal(hm.tune(same, s).thresholds, hm.tune(y, s).thresholds)
    assert hm.score(same, y) == hm.score(y, same) == 1.0


SAME_SCORES = {
    "int64": lambda s: (np.array(s) * 10).round().astype(np.int64),
    "uint8": lambda s: (np.array(s) * 10).round().astype(np.uint8),
    "float32": lambda s: np.array(s, np.float32),
    "float16": lambda s: np.array(s, np.float16),
    "long double": lambda s: np.array(s, np.longdouble),
    "big-endian": big_endian,
    "read-only": read_only,
    "strided": every_other,
    "backwards": backwards,
    "Fortran order": lambda s: np.asfortranarray(s),
    "tuple": lambda s: tuple(map(tuple, s)) if np.ndim(s) == 2 else tuple(s),
}


@pytest.mark.parametrize("form", SAME_SCORES)
@pytest.mark.parametrize(("y", "s"), [(Y, S), (Y2, S2)], ids=["1-D", "2-D"])
def test_scores_may_be_any_kind_of_numbers(form, y, s):
    same = SAME_SCORES[form](s)
    t = hm.tune(y, same)
    assert t.score == 1.0
    expected = np.atleast_1d([0.5] if np.ndim(s) == 1 else [0.3, 0.5])
    expected = expected * 10 if "int" in form else expected.astype(np.asarray(same).dtype)
    assert_array_equal(t.thresholds, expected.astype(float))
    assert_array_equal(t.predict(same), y)


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
def test_numpy_matrices_are_rows_by_labels():
    t = hm.tune(np.asmatrix(Y2), np.asmatrix(S2))
    assert_array_equal(t.thresholds, [0.3, 0.5])
    predictions = t.predict(np.asmatrix(S2))
    assert_array_equal(predictions, Y2)


SPARSE = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("form", SPARSE)
def test_every_sparse_format_gives_the_same_answer(form, kind):
    truth, scores = kind(np.array(Y2)).asformat(form), kind(np.array(S2)).asformat(form)
    for y_true, y_score in ((truth, scores), (truth, S2), (Y2, scores)):
        t = hm.tune(y_true, y_score)
        assert_array_equal(t.thresholds, [0.3, 0.5])
        assert t.score == 1.0
    assert hm.score(truth, t.predict(scores)) == 1.0


def test_unsorted_sparse_entries_are_read_where_they_belong_and_left_as_they_were():
    truth = csr([1, 1, 1, 1], [1, 0, 1, 0], [0, 1, 2, 4])
    scores = csr([0.5, 0.1, 0.2, 0.9, 0.7, 0.3], [1, 0, 1, 0, 1, 0], [0, 2, 4, 6])
    t = hm.tune(truth, scores)
    assert_array_equal(t.thresholds, [0.3, 0.5])
    assert_array_equal(t.predict(scores).toarray(), Y2)
    assert_array_equal(scores.indices, [1, 0, 1, 0, 1, 0])
    assert_array_equal(scores.data, [0.5, 0.1, 0.2, 0.9, 0.7, 0.3])
    assert_array_equal(truth.indices, [1, 0, 1, 0])


def test_64_bit_sparse_indices_are_legal():
    truth, scores = sparse.csr_array(Y2), sparse.csr_array(S2)
    for matrix in (truth, scores):
        matrix.indices, matrix.indptr = matrix.indices.astype("i8"), matrix.indptr.astype("i8")
    assert_array_equal(hm.tune(truth, scores).thresholds, [0.3, 0.5])


@pytest.mark.parametrize("average", ["macro", "micro", "samples"])
@pytest.mark.parametrize("per_label", [False, True])
def test_sparse_arrays_with_gaps_between_their_numbers_are_legal(average, per_label):
    truth, scores = sparse.csr_array(Y2), sparse.csr_array(S2)
    expected = hm.tune(truth, scores, "f1", average, per_label=per_label)
    for matrix in (truth, scores):
        for part in ("data", "indices", "indptr"):
            setattr(matrix, part, np.repeat(getattr(matrix, part), 2)[::2])
    got = hm.tune(truth, scores, "f1", average, per_label=per_label)
    assert_array_equal(got.thresholds, expected.thresholds)
    assert_array_equal(got.predict(scores).toarray(), expected.predict(scores).toarray())
    assert not scores.data.flags.c_contiguous


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_an_explicit_zero_in_sparse_truth_is_no_positive(form):
    truth = csr([1, 0, 1, 0], [0, 1, 1, 0], [0, 2, 3, 4]).asformat(form)
    t = hm.tune(truth, [[0.5, 0.9], [0.1, 0.7], [0.8, 0.3]])
    assert_array_equal(t.support, [1, 1])
    assert_array_equal(t.thresholds, [0.5, 0.7])
    assert hm.score(truth, [[1, 0], [0, 1], [0, 0]]) == 1.0


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_a_stored_score_of_zero_is_a_score_and_an_absent_one_is_never_predicted(form):
    truth = [[1, 0], [0, 1], [0, 0]]
    scores = csr([0.0, 0.5, -1.0], [0, 1, 0], [0, 1, 2, 3]).asformat(form)
    t = hm.tune(truth, scores)
    assert_array_equal(t.thresholds, [0.0, 0.5])
    assert_array_equal(t.predict(scores).toarray(), truth)

    absent = csr([0.5, -1.0], [1, 0], [0, 0, 1, 2]).asformat(form)
    t = hm.tune(truth, absent)
    assert_array_equal(t.thresholds, [INF, 0.5])
    assert_array_equal(t.predict(absent).toarray(), [[0, 0], [0, 1], [0, 0]])


def test_empty_sparse_scores_predict_no_rows():
    t = hm.tune(Y2, sparse.csr_array((3, 2)))
    assert_array_equal(t.thresholds, [INF, INF])
    assert t.predict(sparse.csr_array((3, 2))).nnz == 0


def test_minus_infinity_is_never_predicted():
    t = hm.tune(Y, [0.1, -INF, 0.9])
    assert (t.threshold, t.score) == (0.9, 2 / 3)
    assert hm.tune(Y, [-INF] * 3).threshold == INF


def test_minus_zero_and_zero_are_one_score():
    t = hm.tune([1, 0, 1], [0.0, -0.0, -0.0])
    assert t.threshold == 0.0
    assert t.predicted.tolist() == [3]


def test_specificity_is_allowed_and_best_when_no_rows_are_predicted():
    specificity = counting(lambda _tp, fp, _fn, tn: tn / (tn + fp))
    t = hm.tune(Y, S, metric=specificity)
    assert (t.threshold, t.score) == (INF, 1.0)


def test_nan_of_a_metric_is_0_over_0():
    precision = counting(lambda tp, fp, *_: tp / (tp + fp))
    assert hm.tune([0, 0], [0.1, 0.2], metric=precision).score == 0.0
    assert hm.tune([0, 0], [0.1, 0.2], metric=precision, zero_division=1.0).score == 1.0


@pytest.mark.parametrize("nan", [NAN, np.float64("nan"), np.float32("nan")])
def test_zero_division_may_be_nan_of_any_type(nan):
    t = hm.tune([[1, 0], [0, 0]], [[0.9, 0.2], [0.1, 0.3]], zero_division=nan)
    assert t.score == 1.0


def test_inputs_are_never_changed():
    given = {
        "y_true": np.array(Y2),
        "y_score": np.array(S2),
        "sample_weight": np.array([1.0, 2.0, 3.0]),
    }
    before = {name: array.copy() for name, array in given.items()}
    for average in ("macro", "micro", "samples"):
        for per_label in (True, False):
            t = hm.tune(**given, average=average, per_label=per_label)
            t.predict(given["y_score"])
    for name, array in given.items():
        assert_array_equal(array, before[name])
