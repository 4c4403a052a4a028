"""`ThresholdClassifier` and scikit-learn's tuned classifier: seconds to fit, held-out F1.

``python -m benchmarks.estimating`` prints the tables as Markdown.
"""

import copy
import time
import warnings

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_predict
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier

import halfmax as hm
from benchmarks import peers
from benchmarks.measure import seconds

SETS, LABELS = 5, 20
BASE = LogisticRegression(max_iter=1000)
MANY = OneVsRestClassifier(BASE)


class Known(ClassifierMixin, BaseEstimator):
    """Return precomputed scores, so that fitting consists of tuning only."""

    def __init__(self, classes, scores):
        self.classes_, self.scores = classes, scores

    def fit(self, _x, _y):
        return self

    def predict_proba(self, _x):
        return self.scores


def one_label(seed, n_rows=20_000):
    """A rare class with signal; one half for fitting, the other for evaluation."""
    X, y = make_classification(
        2 * n_rows, n_informative=6, weights=[0.97], class_sep=0.8, flip_y=0.01, random_state=seed
    )
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def many_labels(seed, n_rows=5_000, n_features=30):
    """Labels with base rates from 1 % to 30 %, each linear in the features."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((2 * n_rows, n_features))
    evidence = X @ rng.standard_normal((n_features, LABELS)) / np.sqrt(n_features)
    rates = np.geomspace(0.01, 0.3, LABELS)
    y = (evidence + 0.8 * rng.standard_normal(evidence.shape)) / np.hypot(1.0, 0.8)
    y = (y > np.quantile(y, 1.0 - rates, axis=0).diagonal()).astype(int)
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def tuned(estimator, thresholds):
    return TunedThresholdClassifierCV(estimator, scoring="f1", thresholds=thresholds)


ONE = {
    "ThresholdClassifier": hm.ThresholdClassifier(BASE),
    'ThresholdClassifier, guard="auto"': hm.ThresholdClassifier(BASE, guard="auto"),
    "TunedThresholdClassifierCV, 100 thresholds": tuned(BASE, 100),
    "TunedThresholdClassifierCV, 1,000 thresholds": tuned(BASE, 1_000),
    "no tuning, threshold 0.5": BASE,
}
TWENTY = {
    "ThresholdClassifier": hm.ThresholdClassifier(MANY),
    'ThresholdClassifier, guard="auto"': hm.ThresholdClassifier(MANY, guard="auto"),
    "OneVsRestClassifier(TunedThresholdClassifierCV), 100": OneVsRestClassifier(tuned(BASE, 100)),
    "MultiOutputClassifier(TunedThresholdClassifierCV), 100": MultiOutputClassifier(
        tuned(BASE, 100)
    ),
    "no tuning, thresholds 0.5": MANY,
}


def fit_and_judge(model, X, y, new_rows, new_truth):
    """Seconds to fit, and F1 (macro for many labels) on the other half."""
    start = time.perf_counter()
    model = clone(model).fit(X, y)
    took = time.perf_counter() - start
    average = "binary" if y.ndim == 1 else "macro"
    return took, f1_score(new_truth, model.predict(new_rows), average=average, zero_division=0)


def tuning_share(base, X, y):
    """Seconds for out-of-fold scores, for tuning on them, and for the assessment."""
    start = time.perf_counter()
    scores = cross_val_predict(base, X, y, cv=5, method="predict_proba")
    plain = time.perf_counter() - start
    known = hm.ThresholdClassifier(Known(np.array([0, 1]), scores), cv="prefit")
    tuning, assessing = (seconds(work) for work in (lambda: known.fit(X, y), lambda: assess(known)))
    return plain, tuning, assessing


def assess(model):
    return copy.copy(model).assessment_


def compare(models, base, draw):
    """Means over data sets: of each model, and of tuning relative to scoring."""
    found = {name: [] for name in models}
    shares = []
    for seed in range(SETS):
        data = draw(seed)
        for name, model in models.items():
            found[name].append(fit_and_judge(model, *data))
        shares.append(tuning_share(base, *data[:2]))
    return {name: np.mean(rows, axis=0) for name, rows in found.items()}, np.mean(shares, axis=0)


def report():
    warnings.simplefilter("ignore", hm.OptimismWarning)
    warm = one_label(0, 1_000)
    hm.ThresholdClassifier(BASE).fit(*warm[:2])  # loads the kernels
    hm.ThresholdClassifier(MANY, guard="auto").fit(*many_labels(0, 500)[:2])
    whats = (
        ("Two classes, 20,000 rows, 3 % positive", ONE, BASE, one_label),
        (f"{LABELS} labels, 5,000 rows, 1 % to 30 % positive", TWENTY, MANY, many_labels),
    )
    for what, models, base, draw in whats:
        rows, (plain, tuning, assessing) = compare(models, base, draw)
        yield f"\n{what}, logistic regression, mean of {SETS} data sets:\n"
        yield f"| model ({peers.named('scikit-learn')}) | seconds to fit | F1 on as many new rows |"
        yield "|---|---|---|"
        for name, (took, reached) in rows.items():
            yield f"| {name} | {took:.2f} | {reached:.4f} |"
        yield (
            f"\nWithout a guard tuning takes {1000 * tuning:.1f} ms beside {plain:.2f} s for plain "
            f"scores of five folds, {100 * tuning / plain:.1f} %; the assessment, when it is asked "
            f"for, {1000 * assessing:.0f} ms."
        )


if __name__ == "__main__":
    for line in report():
        print(line, flush=True)
