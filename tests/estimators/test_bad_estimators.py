"""Wrong targets, options and estimators get clear errors, before and after fit."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import f1_score
from sklearn.model_selection import GroupKFold, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, LinearSVC

import halfmax as hm

NAN, INF = float("nan"), float("inf")

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = (X[:, 0] + RNG.normal(size=60) > 0.5).astype(int)
YM = (X + RNG.normal(size=(60, 3)) > 0.5).astype(int)
YM[:4] = [[0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
NB, EACH = GaussianNB(), OneVsRestClassifier(GaussianNB())
SINGLE = np.where([False, True, False], np.eye(60, 3), YM)  # label 1 on one row
NAMES = np.array(["no", "yes"])


class Answering(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are a function of X."""

    def __init__(self, answer):
        self.answer = answer

    def fit(self, X, y):  # noqa: ARG002
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return self.answer(X)


class Silent(ClassifierMixin, BaseEstimator):
    """A classifier that predicts classes and has no scores."""

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        return np.zeros(len(X))


def constant(value, *more):
    return Answering(lambda x: np.full((len(x), *more), value))


def fit(estimator=NB, x=X, y=Y, weights=None, params=None, **options):
    model = hm.ThresholdClassifier(estimator, **options)
    return lambda: model.fit(x, y, weights, **(params or {}))


def fit_labels(estimator=EACH, x=X, y=YM, **options):
    return fit(estimator, x, y, **options)


def expecting(estimator=NB, x=X, y=Y, **options):
    return fit(estimator, x, y, rule="expected", **options)


def prefit(estimator, y, at=Y, fitted_on=X):
    return lambda: hm.ThresholdClassifier(estimator.fit(fitted_on, y), cv="prefit").fit(X, at)


def replaced(values, place, value):
    changed = np.array(values, float)
    changed[place] = value
    return changed


BINARY = hm.ThresholdClassifier(GaussianNB(), cv=2).fit(X, Y)
WORDS = hm.ThresholdClassifier(GaussianNB(), cv=2).fit(X, NAMES[Y])
LABELS = hm.ThresholdClassifier(OneVsRestClassifier(GaussianNB()), cv=2).fit(X, YM)
NAMED = hm.ThresholdClassifier(LogisticRegression(), cv=2).fit(
    pd.DataFrame(X, columns=["a", "b", "c"]), Y
)
FRAME = pd.DataFrame(X, columns=["a", "b", "d"])


def score(model=BINARY, x=X, y=Y, weights=None):
    return lambda: model.score(x, y, weights)


def unfitted(method, *args, estimator=None, **options):
    model = hm.ThresholdClassifier(estimator or LogisticRegression(), **options)
    return lambda: getattr(model, method)(*args)


NO_RESPONSE = r"estimator must have predict_proba or decision_function, or be a regressor; "
TUNED = hm.tune(Y, X[:, 0])
FORMS = (
    r"thresholds must be a number, one number for each label, a dict of them by label, or a "
    r"Thresholds object; "
)
FOLDS = r"cv must be a number of folds from 2 to the number of rows, a share of rows .*got "

# The name of the case, the call, the error, and what its message must contain.
BAD = [
    # targets
    (
        "three classes",
        fit(y=np.arange(60) % 3),
        ValueError,
        r"(?s)Only binary classification is supported.*multiclass.*3 classes.*label_binarize.*"
        r"OneVsRestClassifier.*y == positive",
    ),
    ("three strings", fit(y=np.array(["a", "b", "c"] * 20)), ValueError, "multiclass: y has 3"),
    ("masked y", fit(y=np.ma.array(Y, mask=X[:, 0] > 1)), TypeError, r"y is a masked array; fill"),
    ("a list, masked", fit(y=list(np.ma.array(Y, mask=Y))), TypeError, r"y holds masked arrays"),
    ("masked labels", fit_labels(y=np.ma.array(YM)), ValueError, r"y is a masked array; fill"),
    ("numbers", fit(y=X[:, 0]), ValueError, r"Unknown label type: continuous\. y must hold two"),
    ("numbers, many", fit_labels(y=X + 0.5), ValueError, r"Unknown label type: continuous-multi"),
    (
        "classes in columns",
        fit_labels(y=YM + 1),
        ValueError,
        r"y must hold only 0 and 1.*y\[1, 0\]",
    ),
    ("float classes in columns", fit_labels(y=2.0 * YM), ValueError, r"only 0 and 1.*is 2\.0"),
    ("sparse classes", fit_labels(y=sparse.csr_array(3 * YM)), ValueError, r"y\[1, 0\] is 3"),
    ("one class", fit(y=np.ones(60)), ValueError, r"two classes; got one class, 1\.0, in all rows"),
    ("one word", fit(y=["ham"] * 60), ValueError, r"two classes; got one class, 'ham'"),
    ("nothing", fit(x=X[:0], y=[]), ValueError, r"y must not be empty"),
    ("no rows", fit_labels(x=X[:0], y=YM[:0]), ValueError, r"y must not be empty.*\(0, 3\)"),
    ("None", fit(y=None), ValueError, r"requires y to be passed, but the target y is None"),
    ("NaN", fit(y=replaced(Y, 3, NAN)), ValueError, r"Input y contains NaN"),
    ("NaN among labels", fit_labels(y=replaced(YM, (3, 1), NAN)), ValueError, r"y contains NaN"),
    ("inf", fit(y=replaced(Y, 3, INF)), ValueError, r"Input y contains infinity"),
    (
        "a missing label of a frame",
        fit_labels(y=pd.DataFrame(replaced(YM, (3, 1), NAN), columns=list("abc"))),
        ValueError,
        r"y\['b'\] must not have missing values",
    ),
    ("sets of labels", fit_labels(y=[[1, 2], [3]] * 30), ValueError, r"MultiLabelBinarizer"),
    ("real sets", fit_labels(y=[{1, 2}, {3}] * 30), ValueError, r"Unknown label type: unknown"),
    ("words in columns", fit_labels(y=[["a", "b"]] * 60), (TypeError, ValueError), r"y.*numbers"),
    ("three dimensions", fit(y=np.zeros((60, 2, 2))), ValueError, r"dim 3|1d array"),
    # the positive class
    ("unknown class", fit(pos_label=2), ValueError, r"pos_label must be one .*0 and 1; got 2"),
    ("unknown word", fit(y=NAMES[Y], pos_label=1), ValueError, r"'no' and 'yes'; got 1"),
    ("a class for labels", fit_labels(pos_label=1), ValueError, r"pos_label is for two classes"),
    # estimators without scores
    ("no scores", fit(Silent()), TypeError, NO_RESPONSE + r"Silent\(\) is none of these"),
    ("clusters", fit(KMeans(2)), TypeError, NO_RESPONSE + "KMeans"),
    (
        "scores of the inner estimator only",
        fit_labels(MultiOutputClassifier(LinearSVC())),
        TypeError,
        NO_RESPONSE + r"MultiOutputClassifier.*For many labels, OneVsRestClassifier offers",
    ),
    (
        "no probabilities",
        fit(SVC(), response_method="predict_proba"),
        TypeError,
        r"estimator must have predict_proba; SVC\(\) does not; it has 'decision_function'",
    ),
    (
        "no margins",
        fit(response_method="decision_function"),
        TypeError,
        r"must have decision_function; GaussianNB\(\) does not; it has 'predict_proba'",
    ),
    ("a regressor", fit(Ridge(), response_method="predict_proba"), TypeError, r"it has 'predict'"),
    ("classes", fit(response_method="predict"), ValueError, r"'predict' is for regressors"),
    (
        "no logarithms",
        fit(SVC(), response_method="predict_log_proba"),
        TypeError,
        r"estimator must have predict_log_proba; SVC\(\) does not; it has 'decision_function'",
    ),
    (
        "an unknown method",
        fit(response_method="proba"),
        ValueError,
        r"response_method must be 'auto', 'predict_proba', 'predict_log_proba', "
        r"'decision_function' or 'predict', or a list .*got 'proba'",
    ),
    (
        "none of the methods",
        fit(SVC(), response_method=["predict_proba", "predict"]),
        TypeError,
        r"must have predict_proba or predict; SVC\(\) does not; it has 'decision_function'",
    ),
    ("no methods", fit(response_method=[]), ValueError, r"response_method must be .*got \[\]"),
    ("auto in a list", fit(response_method=["auto"]), ValueError, r"response_method must be "),
    ("a number", fit(response_method=3), ValueError, r"response_method must be .*got 3"),
    ("no method", fit(response_method=None), ValueError, r"response_method must be .*got None"),
    # options
    ("rule", fit(rule="exact"), ValueError, r"rule must be 'empirical' or 'expected'; got 'exact'"),
    ("rule None", fit(rule=None), ValueError, r"rule must be .*got None"),
    ("guard", fit(guard="best"), ValueError, r"guard must be None, 'auto'.*got 'best'"),
    (
        "a guard of another average",
        fit_labels(guard="fbr", average="micro"),
        ValueError,
        r"guard='fbr' is a rule for average='macro'",
    ),
    ("average", fit_labels(average="mean"), ValueError, r"average must be .*'mean'"),
    ("average of one", fit(average="weighted"), ValueError, r"average='weighted' is for many"),
    ("metric", fit(metric="roc_auc"), ValueError, r"metric must be 'f1'.*got 'roc_auc'"),
    ("a function", fit(metric=f1_score), ValueError, r"wrap your function: halfmax\.Metric"),
    (
        "a metric that cannot be pooled",
        fit_labels(metric=hm.Metric("root", lambda tp, *_: np.sqrt(tp)), average="micro"),
        ValueError,
        r"average='micro' .*needs a metric that is a ratio",
    ),
    (
        "a named metric that cannot be pooled",
        fit_labels(metric="mcc", average="micro"),
        ValueError,
        r"average='micro' .*needs a metric that is a ratio.*per_label=False",
    ),
    ("0/0", fit(zero_division=2), ValueError, r"zero_division must be .*got 2"),
    ("per_label", fit(per_label="no"), TypeError, r"per_label must be True or False; got 'no'"),
    ("min_precision", fit(min_precision=80), ValueError, r"min_precision must be .*got 80"),
    ("min_recall", fit(min_recall="x"), ValueError, r"min_recall must be .*got 'x'"),
    ("min_specificity", fit(min_specificity=-1), ValueError, r"min_specificity must be .*-1"),
    ("max_predicted", fit(max_predicted=1.5), ValueError, r"max_predicted must be .*got 1\.5"),
    (
        "a floor with a guard",
        fit(min_recall=0.5, guard="auto"),
        ValueError,
        r"min_recall=0\.5 is guaranteed only on the data you pass.*guard=None",
    ),
    (
        "a floor for a mean over rows",
        fit_labels(min_recall=0.5, average="samples"),
        ValueError,
        r"min_recall=0\.5 must hold for each label .*average='samples'",
    ),
    (
        "no average",
        fit_labels(average=None),
        ValueError,
        r"average=None is a score for each label",
    ),
    (
        "costs of rows",
        fit(metric=hm.cost(fp=1, fn=np.ones(60))),
        ValueError,
        r"metric has costs for each row, .*one number for each outcome, such as cost\(fp=1, fn=10\)"
        r"; or tune out-of-fold scores, .*thresholds=t",
    ),
    # fixed thresholds
    ("a word for a threshold", fit(thresholds="auto"), TypeError, FORMS + "got 'auto'"),
    ("a bool for a threshold", fit(thresholds=True), TypeError, FORMS + "got True"),
    ("words", fit_labels(thresholds=["a", "b", "c"]), TypeError, FORMS + r"got \['a'"),
    ("a missing threshold", fit_labels(thresholds=[0.1, None, 1]), TypeError, FORMS),
    ("a matrix of thresholds", fit_labels(thresholds=[[0.1] * 3]), TypeError, FORMS),
    ("a NaN threshold", fit(thresholds=NAN), ValueError, r"thresholds must be numbers, .*got nan"),
    (
        "a threshold below all",
        fit_labels(thresholds=[0.1, -INF, 0.2]),
        ValueError,
        r"thresholds must be numbers, or inf to predict no rows; got -inf: to predict all rows",
    ),
    (
        "two thresholds for two classes",
        fit(thresholds=[0.2, 0.8]),
        ValueError,
        r"thresholds must hold one number for two classes; got 2",
    ),
    (
        "too few thresholds",
        fit_labels(thresholds=[0.2, 0.8]),
        ValueError,
        r"thresholds must hold one number for each of the 3 labels; got 2",
    ),
    (
        "the thresholds of other labels",
        fit_labels(thresholds=hm.Thresholds.load),
        TypeError,
        FORMS + r"got <bound method",
    ),
    (
        "thresholds of one classifier",
        fit_labels(thresholds=TUNED),
        ValueError,
        r"one number for each of the 3 labels; got 1",
    ),
    (
        "names of thresholds without names of labels",
        fit_labels(thresholds={"a": 0.1, "b": 0.2, "c": 0.3}),
        ValueError,
        r"thresholds have names, 'a', 'b' and 'c', but the labels have none: pass the y of fit as "
        r"a data frame .*or thresholds as a list in the order",
    ),
    (
        "names that differ",
        fit_labels(y=pd.DataFrame(YM, columns=list("abc")), thresholds={"a": 0.1, "x": 0.2}),
        ValueError,
        r"names of thresholds and y differ: missing from y: 'x'; missing from thresholds: 'b' and",
    ),
    ("another class", fit(thresholds={0: 0.3}), ValueError, r"missing from y: 0; missing from thr"),
    (
        "fixed and guarded",
        fit(thresholds=0.3, guard="auto"),
        ValueError,
        r"guard is for thresholds that are tuned, and these are fixed.*leave it None; got 'auto'",
    ),
    (
        "fixed with a floor",
        fit(thresholds=0.3, min_specificity=0.3),
        ValueError,
        r"min_specificity is for thresholds that are tuned, .*got 0\.3",
    ),
    ("fixed with a cap", fit(thresholds=0.3, max_predicted=9), ValueError, r"max_predicted is for"),
    (
        "fixed for the batch",
        fit(thresholds=0.3, rule="expected"),
        ValueError,
        r"thresholds are fixed, while rule='expected' finds its own.*rule='empirical'",
    ),
    ("fixed, unknown metric", fit(thresholds=0.3, metric="auc"), ValueError, r"metric must be"),
    ("fixed, one class", fit(thresholds=0.3, y=Y * 0), ValueError, r"two classes; got one class"),
    ("fixed, short X", fit(thresholds=0.3, x=X[:9]), ValueError, r"got 9 rows in X and 60 in y"),
    ("fixed, weights", fit(thresholds=0.3, weights=[1]), ValueError, r"sample_weight .*60 rows"),
    (
        "fixed and not fitted",
        unfitted("predict", X, thresholds=0.3),
        NotFittedError,
        r"ThresholdClassifier.*not fitted",
    ),
    (
        "fixed, prefit and not fitted",
        fit(GaussianNB(), thresholds=0.3, cv="prefit"),
        NotFittedError,
        r"cv='prefit' requires an estimator that is already fitted",
    ),
    ("fixed, cv", fit(thresholds=0.3, cv="loo"), ValueError, r"cv must be .*'prefit'; got 'loo'"),
    (
        "fixed for three classes",
        unfitted(
            "predict", X, estimator=GaussianNB().fit(X, np.arange(60) % 3), thresholds=[0.1] * 3
        ),
        ValueError,
        r"Only binary classification is supported.*multiclass: GaussianNB was fitted on 3 classes",
    ),
    (
        "fixed for classes of many labels",
        unfitted(
            "predict", X, estimator=KNeighborsClassifier().fit(X, NAMES[YM]), thresholds=[0.1] * 3
        ),
        ValueError,
        r"estimator must be fitted on labels that are 0 or 1.*KNeighborsClassifier was fitted on",
    ),
    (
        "fixed, a class for labels",
        unfitted(
            "predict",
            X,
            estimator=KNeighborsClassifier().fit(X, YM),
            thresholds=0.5,
            pos_label=1,
        ),
        ValueError,
        r"pos_label is for two classes",
    ),
    (
        "fixed, an unknown class",
        unfitted("predict", X, estimator=GaussianNB().fit(X, Y), thresholds=0.5, pos_label=2),
        ValueError,
        r"pos_label must be one of the classes of y, 0 and 1; got 2",
    ),
    (
        "thresholds_ without fit",
        unfitted(
            "__getattribute__", "thresholds_", estimator=GaussianNB().fit(X, Y), thresholds=0.5
        ),
        AttributeError,
        r"thresholds_ is available after fit",
    ),
    (
        "what to expect of fixed thresholds",
        lambda: hm.ThresholdClassifier(GaussianNB(), thresholds=0.5).fit(X, Y).expected_score_,
        AttributeError,
        r"expected_score_ is for thresholds that are tuned, and these are fixed: score\(X, y\)",
    ),
    # the expected rule
    (
        "expected with a floor",
        expecting(min_recall=0.5),
        ValueError,
        r"min_recall is for rule='empirical'; with rule='expected' nothing is tuned: leave it None",
    ),
    (
        "expected with one threshold",
        expecting(EACH, y=YM, per_label=False),
        ValueError,
        r"per_label is for rule='empirical'.*leave it True; got False",
    ),
    (
        "expected, weighted",
        expecting(EACH, y=YM, average="weighted"),
        ValueError,
        r"average must be 'macro', 'micro' or 'samples' .*got 'weighted'",
    ),
    (
        "expected without 0/0",
        expecting(zero_division=NAN),
        ValueError,
        r"zero_division must be a number from 0 to 1; got nan",
    ),
    (
        "expected of mcc",
        expecting(metric="mcc"),
        ValueError,
        r"in closed form: any 'f<beta>' or FBeta, 'jaccard', 'precision', 'accuracy' or 'recall'; "
        r"got 'mcc'$",
    ),
    (
        "expected of an unknown metric",
        expecting(metric="auc"),
        ValueError,
        r"'f2', 'jaccard', 'precision', 'accuracy' or 'recall'; got 'auc'; that one does not "
        r"depend on a threshold$",
    ),
    (
        "expected of costs",
        expecting(metric=hm.cost(fp=1, fn=3)),
        ValueError,
        r"for these costs, predict where the probability is at least 0\.25",
    ),
    ("expected of margins", expecting(SVC()), ValueError, r"needs probabilities.*Calibrated"),
    ("expected of a regressor", expecting(Ridge()), ValueError, r"come from predict: use a class"),
    (
        "expected of margins on request",
        expecting(LogisticRegression(), response_method="decision_function"),
        ValueError,
        r"needs probabilities.*come from decision_function",
    ),
    ("expected, guarded", expecting(guard="auto"), ValueError, r"guard is for rule='empirical'"),
    (
        "expected of any metric",
        expecting(metric=hm.Metric("root", lambda tp, *_: np.sqrt(tp))),
        ValueError,
        r"metric must be one whose expectation is known",
    ),
    ("expected of 2", expecting(constant(2.0, 2)), ValueError, r"must be probabilities.*is 2\.0"),
    # folds
    ("one fold", fit(cv=1), ValueError, FOLDS + "1 for 60 rows"),
    ("more folds than rows", fit_labels(cv=61), ValueError, FOLDS + "61 for 60 rows"),
    ("all of the rows", fit(cv=1.0), ValueError, FOLDS + r"1\.0 for 60 rows"),
    ("a word", fit(cv="loo"), ValueError, r"cv must be .*'prefit'; got 'loo'"),
    (
        "no splits",
        fit(cv=[]),
        ValueError,
        r"cv must hold out some rows and leave some to fit on; got \[\]",
    ),
    ("a share of no rows", fit_labels(cv=0.001), ValueError, r"hold out some rows.*got 0\.001"),
    ("an empty split", fit(cv=[(np.arange(60), [])]), ValueError, r"hold out some rows"),
    ("groups missing", fit(cv=GroupKFold(2)), ValueError, r"groups"),
    (
        "groups for a number",
        fit(params={"groups": Y}),
        ValueError,
        r"groups need a splitter.*GroupKFold.*cv=5",
    ),
    (
        "no estimator",
        fit(None),
        TypeError,
        r"estimator must be an instance of a scikit-learn .*None",
    ),
    ("a class", fit(Ridge), TypeError, r"estimator must be an instance .*LogisticRegression\(\)"),
    (
        "which of five estimators",
        fit(refit=False),
        ValueError,
        r"refit=False needs a single split.*cv=5 makes 5: use refit=True, .*cv=0\.2",
    ),
    ("which of three", fit_labels(refit=False, cv=KFold(3)), ValueError, r"single split.*makes 3"),
    # estimators that were fitted before
    (
        "prefit and not fitted",
        fit(GaussianNB(), cv="prefit"),
        NotFittedError,
        r"cv='prefit' requires an estimator that is already fitted.*call fit on this GaussianNB",
    ),
    (
        "prefit on other classes",
        prefit(GaussianNB(), Y + 1),
        ValueError,
        r"y must hold the classes that the estimator was fitted on, 1 and 2; got 0 and 1",
    ),
    (
        "prefit on words",
        prefit(GaussianNB(), NAMES[Y]),
        ValueError,
        r"fitted on, 'no' and 'yes'; got 0 and 1",
    ),
    (
        "prefit on more classes",
        prefit(GaussianNB(), np.arange(60) % 3),
        ValueError,
        r"0, 1 and 2; got 0 an",
    ),
    ("prefit on one label", prefit(GaussianNB(), Y, YM), ValueError, r"rows x 3 labels; got shape"),
    (
        "prefit on fewer labels",
        prefit(KNeighborsClassifier(), YM[:, :2], YM),
        ValueError,
        r"predict_proba of KNeighborsClassifier must return rows x 3 labels; got shape \(60, 2\)",
    ),
    (
        "prefit on other features",
        prefit(GaussianNB(), Y, fitted_on=X[:, :2]),
        ValueError,
        r"3 features, but GaussianNB is expecting 2",
    ),
    # results that are not scores
    (
        "NaN scores",
        fit(constant(NAN, 2)),
        ValueError,
        r"predict_proba of Answering must be finite.*is nan",
    ),
    ("NaN scores of labels", fit_labels(constant(NAN, 3)), ValueError, r"must be finite.*is nan"),
    ("infinite scores", fit(constant(INF, 2)), ValueError, r"must be finite.*is inf"),
    ("NaN probabilities", expecting(constant(NAN, 2)), ValueError, r"must be finite.*is nan"),
    ("words", fit(constant("high", 2)), TypeError, r"predict_proba of Answering must be numbers"),
    (
        "three columns for two classes",
        fit(constant(0.5, 3)),
        ValueError,
        r"predict_proba of Answering must return one score for each row, .*got shape \(12, 3\)",
    ),
    (
        "two columns for three labels",
        fit_labels(constant(0.5, 2)),
        ValueError,
        r"predict_proba of Answering must return rows x 3 labels; got shape \(12, 2\)",
    ),
    ("a vector for labels", fit_labels(constant(0.5)), ValueError, r"3 labels; got shape \(12,\)"),
    (
        "a list for two labels",
        fit_labels(Answering(lambda x: [np.full((len(x), 2), 0.5)] * 2)),
        ValueError,
        r"rows x 3 labels; got shape \(12, 2\)",
    ),
    ("scores that are None", fit(Answering(lambda _: None)), ValueError, r"got shape \(\)"),
    # rows
    ("X too short", fit(x=X[:50]), ValueError, r"number of rows; got 50 rows in X and 60 in y"),
    ("X too short, labels", fit_labels(x=X[:50]), ValueError, r"got 50 rows in X and 60 in y"),
    (
        "X too short, fitted before",
        lambda: hm.ThresholdClassifier(GaussianNB().fit(X, Y), cv="prefit").fit(X[:50], Y),
        ValueError,
        r"got 50 rows in X and 60 in y",
    ),
    ("X too short, expected", expecting(x=X[:50]), ValueError, r"got 50 rows in X and 60 in y"),
    ("too few weights", fit(weights=[1, 2]), ValueError, r"sample_weight .*60 rows; got shape"),
    ("negative weights", fit(weights=-np.ones(60)), ValueError, r"sample_weight\[0\] is -1"),
    (
        "weights that are all zero",
        fit(weights=np.zeros(60)),
        ValueError,
        r"sample_weight .*zero every",
    ),
    ("an unknown parameter", fit(params={"colour": "red"}), TypeError, r"argument 'colour'"),
    # one class in a fold
    (
        "one label at a time",
        fit_labels(LogisticRegression()),
        ValueError,
        r"LogisticRegression takes one label at a time, and y has 3: use OneVsRestClassifier\(",
    ),
    (
        "one positive, logistic",
        fit(LogisticRegression(), y=np.arange(60) == 7, cv=KFold(3)),
        ValueError,
        r"(?s)y has only one class among the rows to fit on .40 of 60., and the estimator "
        r"refused.*fewer folds.*Its error was: .*at least 2 classes",
    ),
    (
        "one positive of a label",
        fit_labels(MultiOutputClassifier(LogisticRegression()), y=SINGLE),
        ValueError,
        r"label 1 has only one class among .*OneVsRestClassifier. Its error was",
    ),
    (
        "one positive of labels with names",
        fit_labels(
            MultiOutputClassifier(LogisticRegression()),
            y=pd.DataFrame(np.eye(60, 3), columns=["a", "b", "c"]),
        ),
        ValueError,
        r"label 'a' has only one class|labels 'a'",
    ),
    # after fit
    ("fewer features", lambda: BINARY.predict(X[:, :2]), ValueError, r"X has 2 features"),
    ("fewer features, labels", lambda: LABELS.predict(X[:, :2]), ValueError, r"X has 2 features"),
    ("other names", lambda: NAMED.predict(FRAME), ValueError, r"feature names .*(?s:.)*- d"),
    ("unseen class", score(y=Y + 1), ValueError, r"classes seen in fit, 0 and 1; got 2 as well"),
    ("words for numbers", score(y=NAMES[Y]), ValueError, r"0 and 1; got 'no' and 'yes'"),
    ("numbers for words", score(WORDS), ValueError, r"'no' and 'yes'; got 0 and 1 as well"),
    ("NaN in score", score(y=replaced(Y, 1, NAN)), ValueError, r"seen in fit.*got nan"),
    ("labels for classes", score(y=YM), ValueError, r"y should be a 1d array.*\(60, 3\)"),
    ("classes for labels", score(LABELS), ValueError, r"y must have 3 columns.*got 1"),
    ("fewer labels", score(LABELS, y=YM[:, :2]), ValueError, r"y must have 3 columns.*got 2"),
    ("no 0/1", score(LABELS, y=YM * 2), ValueError, r"y must hold only 0 and 1.*is 2"),
    ("short y", score(y=Y[:5]), ValueError, r"got 60 rows in X and 5 in y"),
    ("short y, labels", score(LABELS, y=YM[:5]), ValueError, r"got 60 rows in X and 5 in y"),
    ("short X", score(x=X[:5]), ValueError, r"got 5 rows in X and 60 in y"),
    ("no y", score(y=None), ValueError, r"requires y to be passed"),
    ("short weights", score(weights=[1.0]), ValueError, r"sample_weight .*60 rows"),
    # before fit
    ("predict", unfitted("predict", X), NotFittedError, r"ThresholdClassifier.*not fitted"),
    ("score", unfitted("score", X, Y), NotFittedError, r"not fitted"),
    ("predict_proba", unfitted("predict_proba", X), NotFittedError, r"not fitted"),
    ("predict_log_proba", unfitted("predict_log_proba", X), NotFittedError, r"not fitted"),
    ("decision_function", unfitted("decision_function", X), NotFittedError, r"not fitted"),
    (
        "predict of a fitted estimator",
        unfitted("predict", X, estimator=GaussianNB().fit(X, Y), cv="prefit"),
        NotFittedError,
        r"not fitted",
    ),
    ("classes_", unfitted("__getattribute__", "classes_"), AttributeError, r"classes_ .*after fit"),
    (
        "probabilities of margins",
        unfitted("predict_proba", X, estimator=SVC()),
        AttributeError,
        r"predict_proba",
    ),
]


@pytest.mark.parametrize(
    ("call", "error", "message"), [pytest.param(*case, id=name) for name, *case in BAD]
)
def test_bad_estimators_and_targets_get_a_clear_error(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("method", ["predict_proba", "predict_log_proba", "decision_function"])
def test_methods_that_the_estimator_lacks_are_absent(method):
    for estimator in (GaussianNB(), SVC(), Ridge(), Silent()):
        there = hasattr(estimator, method) or (
            method == "decision_function" and isinstance(estimator, Ridge)
        )
        assert hasattr(hm.ThresholdClassifier(estimator), method) == there


def test_options_are_checked_before_anything_is_fitted():
    def refuse(x):
        raise AssertionError(f"scores of {len(x)} rows were requested")

    wrong = [
        {"rule": "exact"},
        {"metric": "auc"},
        {"guard": "best"},
        {"response_method": "proba"},
        {"average": "weighted"},
        {"cv": 1},
        {"cv": "loo"},
        {"refit": False},
        {"pos_label": 3},
    ]
    for options in wrong:
        with pytest.raises(ValueError, match=next(iter(options))):
            hm.ThresholdClassifier(Answering(refuse), **options).fit(X, Y)


def test_the_constructor_checks_nothing():
    """As scikit-learn requires: clone and set_params must accept any value."""
    model = hm.ThresholdClassifier(None, metric=3, cv="x", rule=0, guard=1, average=2)
    assert model.set_params(metric="f1").metric == "f1"


def test_a_fold_without_positives_never_predicts_them():
    y = np.zeros(60, int)
    y[:3] = 1
    folds = [(np.arange(30, 60), np.arange(30)), (np.arange(30), np.arange(30, 60))]
    with pytest.warns(hm.HalfmaxWarning, match="predict nothing at all"):
        model = hm.ThresholdClassifier(GaussianNB(), cv=folds).fit(X, y)
    assert model.threshold_ == INF
    assert model.score_ == 0.0
    assert not model.predict(X).any()


def test_no_row_has_any_label():
    with pytest.warns(UserWarning, match="Label not . is present"):
        model = hm.ThresholdClassifier(EACH, cv=2).fit(X, np.zeros((60, 3)))
    assert_array_equal(model.thresholds_, [INF] * 3)
    assert (model.score_, model.expected_score_) == (0.0, 0.0)


def test_a_matrix_of_one_column_is_two_classes_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        model = hm.ThresholdClassifier(GaussianNB(), cv=2).fit(X, Y[:, None])
    assert model.threshold_ == BINARY.threshold_
