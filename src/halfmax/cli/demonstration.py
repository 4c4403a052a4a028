"""The demonstration: what tuning changes, on data that come with scikit-learn."""

import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table as Grid
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from halfmax._core.errors import OptimismWarning
from halfmax._core.types import Array
from halfmax.cli.layout import numbers_grid, show
from halfmax.expected.decide import decide
from halfmax.honesty.assess import assess
from halfmax.metrics.flooding import floods
from halfmax.metrics.score import score
from halfmax.tuning.thresholds import Thresholds
from halfmax.tuning.tune import tune

# Facts about a digit, some common, some rare: a small multilabel problem from real images.
_FACTS = {
    "even": (0, 2, 4, 6, 8),
    "prime": (2, 3, 5, 7),
    "has a loop": (0, 6, 8, 9),
    "square": (0, 1, 4, 9),
    "multiple of 4": (0, 4, 8),
    "is 3": (3,),
    "is 8": (8,),
}
_NO_SIGNAL = "every 97th"
_STYLES, _NOISE_LABELS, _NOISE_RATE = 12, 30, 0.01  # ways to write each digit; labels of pure noise
_SHORT = {"binary": "F1", "macro": "macro", "micro": "micro", "samples": "samples"}
_NAMES = {"binary": "F1", "macro": "macro F1", "micro": "micro F1", "samples": "per-instance F1"}


class Scored(NamedTuple):
    """Truth and scores of held-out rows."""

    truth: Array
    scores: Array


def main(report: str | None = None) -> None:
    """Tune one classifier, many labels, and rare labels with a guard; then decide without labels.

    With a path, also write a report on the many labels.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", OptimismWarning)  # shown in the part on rare labels
        show_one_classifier()
        digits = score_digits()
        show_many_labels(digits)
        show_rare_labels()
        show_without_labels(digits)
        if report is not None:
            write_page(digits, report)


def show_one_classifier() -> None:
    """Compare the best threshold of one classifier with 0.5."""
    tumours = score_tumours()
    tuned = tune(tumours.truth, tumours.scores, labels=["malignant"])
    _show(
        "One classifier: which tumours are malignant? (three features only, to make it hard)",
        "",
        _side_by_side({"binary": tuned}),
        "",
        _against_half(tumours, tuned, "binary"),
    )


def show_many_labels(digits: Scored) -> None:
    """Show how each average tunes the same labels."""
    results = {
        average: tune(digits.truth, digits.scores, average=average, labels=[*_FACTS, _NO_SIGNAL])
        for average in ("macro", "micro", "samples")
    }
    _show(
        *("", "", "Many labels: facts about handwritten digits (six components only)", ""),
        _side_by_side(results),
        "",
        "Each threshold is the best for one average; F1, precision and recall are those of the "
        "label. Nothing in an image shows whether it is every 97th: macro F1 is best if that label "
        "is predicted for nearly every image, micro F1 if it is never predicted.",
        "",
        *(_against_half(digits, tuned, average) for average, tuned in results.items()),
    )


def show_rare_labels() -> None:
    """Compare the scores of thresholds on the data tuned on and on new data."""
    here, new = score_styles()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", OptimismWarning)
        results = {guard: tune(here.truth, here.scores, guard=guard) for guard in (None, "auto")}
    _show(
        *("", ""),
        f"Rare labels: {here.truth.shape[1]} of them, ways to write a digit and pure noise, "
        f"about {np.median(here.truth.sum(axis=0)):.0f} positives each",
        "",
        _kept_promises(results, here, new),
        "",
        "F1 is macro F1: here on the rows tuned on, there on new rows, and as assess() expects it. "
        "Flooding counts labels; the last two columns are about the new rows.",
        "",
        f"tune() without a guard warned: {caught[0].message}",
    )


def show_without_labels(digits: Scored) -> None:
    """Decide for a batch without knowing the labels."""
    _show(
        *("", "", "No labels: the facts about digits, decided without the truth", ""),
        _without_labels(digits),
        "",
        "decide() maximises the expected F1 of this batch; the truth, compared afterwards, agrees "
        "as far as the probabilities are calibrated.",
    )


def write_page(digits: Scored, path: str) -> None:
    """Write a report on the facts about digits."""
    tuned = tune(digits.truth, digits.scores, labels=[*_FACTS, _NO_SIGNAL])
    title = "Facts about handwritten digits"
    tuned.report(path, title=title, decision=decide(digits.scores))
    _show("", "", f"A report on the facts about digits: open {path} in a browser")


def _show(*parts: str | Grid) -> None:
    show(list(parts), sys.stdout)


def score_tumours() -> Scored:
    """Score held-out tumours by only three features, so that the task is not too easy."""
    data = load_breast_cancer()
    features, malignant = data.data[:, [1, 4, 8]], 1 - data.target
    model = make_pipeline(StandardScaler(), LogisticRegression())
    return _score(model, features, malignant)


def score_digits() -> Scored:
    """Score held-out images for each fact by a linear model of six components."""
    digits = load_digits()
    facts = [np.isin(digits.target, where) for where in _FACTS.values()]
    truth = np.column_stack([*facts, np.arange(len(digits.target)) % 97 == 0])
    return _score(_six_components(), digits.data, truth.astype(np.int8))


def score_styles() -> tuple[Scored, Scored]:
    """Score rare labels, the ways of writing each digit: rows to tune on, and new rows."""
    digits = load_digits()
    truth = np.zeros((len(digits.target), 10 * _STYLES + _NOISE_LABELS), np.int64)
    for digit in range(10):
        rows = np.flatnonzero(digits.target == digit)
        style = KMeans(_STYLES, n_init=1, random_state=0).fit_predict(digits.data[rows])
        truth[rows, digit * _STYLES + style] = 1
    noise = np.random.default_rng(0).random((len(truth), _NOISE_LABELS)) < _NOISE_RATE
    truth[:, 10 * _STYLES :] = noise
    train, here, new = np.array_split(np.random.default_rng(0).permutation(len(truth)), 3)
    truth = truth[:, truth[train].any(axis=0)]
    model = _six_components().fit(digits.data[train], truth[train])
    scores = model.predict_proba(digits.data)
    return Scored(truth[here], scores[here]), Scored(truth[new], scores[new])


def _six_components() -> Any:
    return make_pipeline(
        StandardScaler(with_std=False),
        PCA(6, svd_solver="full"),
        OneVsRestClassifier(LogisticRegression(max_iter=1000)),
    )


def _score(model: Any, features: Array, truth: Array) -> Scored:
    train_x, test_x, train_y, test_y = train_test_split(
        features, truth, test_size=0.5, random_state=0
    )
    probabilities = model.fit(train_x, train_y).predict_proba(test_x)
    return Scored(test_y, probabilities if truth.ndim == 2 else probabilities[:, 1])


def _side_by_side(results: dict[str, Thresholds]) -> Grid:
    """Build a table with a line for each average under each label, to compare thresholds."""
    tables = [dict(tuned.table()) for tuned in results.values()]
    labels = tables[0].pop("label")
    blank = [""] * (len(results) - 1)
    columns = {
        "label": [cell for label in labels for cell in (label, *blank)],
        "best for": [_SHORT[average] for _ in labels for average in results],
    }
    for name in tables[0]:
        stacked = np.column_stack([table[name] for table in tables]).ravel()
        columns["F1" if name == "score" else name] = _rounded(stacked)
    return numbers_grid(columns, words=("label", "best for"))


def _kept_promises(results: dict[Any, Thresholds], here: Scored, new: Scored) -> Grid:
    """Compare macro F1 and flooding on the rows tuned on, as expected, and on new rows."""
    columns: dict[str, list[Any]] = {
        "guard": [repr(guard) for guard in results],
        "F1 here": _rounded(np.array([tuned.score for tuned in results.values()])),
        "flooding here": [],
        "expected": [round(assess(here.truth, here.scores).expected_score, 3), ""],
        "F1 there": [],
        "flooding there": [],
        "predicted": [],
        "positives": [int(new.truth.sum())] * len(results),
    }
    support = here.truth.sum(axis=0) * len(new.truth) / len(here.truth)
    for tuned in results.values():
        predictions = tuned.predict(new.scores)
        count = predictions.sum(axis=0)
        flooding = floods(tuned.predicted, tuned.support, len(here.truth))
        columns["flooding here"].append(int(flooding.sum()))
        columns["F1 there"].append(round(score(new.truth, predictions), 3))
        columns["flooding there"].append(int(floods(count, support, len(predictions)).sum()))
        columns["predicted"].append(int(count.sum()))
    return numbers_grid(columns, words=("guard",))


def _without_labels(data: Scored) -> Grid:
    """Compare the expected score of the decisions for each average with the true score."""
    decisions = {
        average: decide(data.scores, average=average) for average in ("macro", "micro", "samples")
    }
    at_half = (data.scores >= 0.5).astype(np.int8)
    return numbers_grid(
        {
            "best for": [_NAMES[average] for average in decisions],
            "predicted": [int(d.counts.sum()) for d in decisions.values()],
            "expected": _rounded(np.array([d.expected_score for d in decisions.values()])),
            "the truth": [
                round(score(data.truth, d.predictions, average=average), 3)
                for average, d in decisions.items()
            ],
            "at 0.5": [round(score(data.truth, at_half, average=name), 3) for name in decisions],
        },
        words=("best for",),
    )


def _rounded(values: Array) -> list[Any]:
    return [round(value, 3) for value in values.tolist()]


def _against_half(data: Scored, tuned: Thresholds, average: str) -> str:
    at_half = (data.scores >= 0.5).astype(np.int8)
    before = score(data.truth, at_half, average="macro" if average == "binary" else average)
    changed = int((tuned.predict(data.scores) != at_half).sum())
    return (
        f"Against 0.5: {_NAMES[average]} {before:.3f} -> {tuned.score:.3f}, "
        f"{changed:,} of {at_half.size:,} decisions change."
    )
