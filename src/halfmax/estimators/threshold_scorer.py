"""`make_threshold_scorer`: a scikit-learn scorer that tunes the thresholds of each model."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.metadata_routing import UNUSED

from halfmax._core.gate import labelled, options
from halfmax._core.gate.labelled import LabelledScores
from halfmax.estimators.folds import deal_rows, shuffling
from halfmax.estimators.options import ask_goal, check_goal, settle_goal
from halfmax.estimators.responses import find_method, kind_known_to, scores_of
from halfmax.estimators.targets import check_rows
from halfmax.honesty import cross_fit
from halfmax.metrics.metric import Metric


class ThresholdScorer(BaseEstimator):
    """The scorer of `make_threshold_scorer`: call it as ``scorer(estimator, X, y)``."""

    __metadata_request__score = {"estimator": UNUSED}  # noqa: RUF012  # read by scikit-learn

    def __init__(
        self,
        metric: str | Metric = "f1",
        average: str = "macro",
        *,
        folds: int = 5,
        guard: str | None = None,
        response_method: str | Sequence[str] = "auto",
        pos_label: Any = None,
        random_state: Any = None,
        per_label: bool = True,
        zero_division: float = 0.0,
        min_precision: float | None = None,
        min_recall: float | None = None,
        min_specificity: float | None = None,
        max_predicted: float | None = None,
    ) -> None:
        self.metric = metric
        self.average = average
        self.folds = folds
        self.guard = guard
        self.response_method = response_method
        self.pos_label = pos_label
        self.random_state = random_state
        self.per_label = per_label
        self.zero_division = zero_division
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.min_specificity = min_specificity
        self.max_predicted = max_predicted

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return `score` of a fitted estimator."""
        return self.score(estimator, X, y, sample_weight)

    def score(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the metric of a fitted estimator, each row predicted at thresholds of others."""
        data = scored_rows(estimator, X, y, sample_weight, self.response_method, self.pos_label)
        return self._score_unseen(data)

    def _score_unseen(self, data: LabelledScores) -> float:
        goal = settle_goal(ask_goal(self), data.is_binary)
        folds = min(options.check_whole("folds", self.folds, 2), data.n_rows)
        if folds < 2:
            raise ValueError(
                "a threshold scorer tunes on some rows and scores others, so it needs two rows or "
                "more; got one row"
            )
        shares = np.full(folds, 1.0 / folds)
        fold_of = deal_rows(data.truth, shares, shuffling(self.random_state))
        return cross_fit.score_unseen(data, fold_of, goal)


def scored_rows(
    estimator: Any,
    X: Any,
    y: Any,
    sample_weight: Any,
    response_method: str | Sequence[str],
    pos_label: Any,
) -> LabelledScores:
    """Score rows by a fitted estimator, and return the scores with the checked truth."""
    method = find_method(estimator, response_method)
    check_rows(X, y)
    kind = kind_known_to(estimator, y, pos_label)
    truth, scores = kind.truth(y), scores_of(estimator, X, method, kind)
    weights = labelled.check_weights(sample_weight, truth.shape[0])
    return LabelledScores(truth, scores, weights, kind.labels, None)


def make_threshold_scorer(
    metric: str | Metric = "f1",
    average: str = "macro",
    *,
    folds: int = 5,
    guard: str | None = None,
    response_method: str | Sequence[str] = "auto",
    pos_label: Any = None,
    random_state: Any = None,
    per_label: bool = True,
    zero_division: float = 0.0,
    min_precision: float | None = None,
    min_recall: float | None = None,
    min_specificity: float | None = None,
    max_predicted: float | None = None,
) -> ThresholdScorer:
    """Return a scorer for model selection that tunes the thresholds of each model.

    ``scoring="f1"`` evaluates a model by its predictions at 0.5, where a model that ranks better
    can look worse. This scorer divides its rows into folds, tunes on all but one, and predicts that
    one: no row is predicted at a threshold that it helped to choose, so a model gains nothing from
    lucky thresholds. For two classes, and for macro averages of F-beta or Jaccard, each hit
    contributes the metric per hit that its threshold reaches on all rows; otherwise the predictions
    of all folds are scored together.

    Parameters
    ----------
    metric : str or Metric, default="f1"
        The metric, as in `tune`; with `cost` the score is minus the mean cost of a row.
    average : {"macro", "micro", "samples", "weighted"}, default="macro"
        How the score of many labels is averaged, as in `tune`.
    folds : int, default=5
        The number of folds. Each label has its share of positives in each fold.
    guard : str, optional
        A guard of the thresholds, as in `tune`.
    response_method : str or list of str, default="auto"
        The method whose results are compared with thresholds, as in `ThresholdClassifier`.
    pos_label : class, optional
        Which of two classes is positive, as in `ThresholdClassifier`.
    random_state : int, RandomState or None
        Shuffles the rows before they are divided into folds.
    per_label : bool, default=True
        Whether each label has its own threshold, as in `tune`.
    zero_division : float, default=0.0
        The value of 0/0, as in `tune`.
    min_precision, min_recall, min_specificity : float, optional
        Floors that the thresholds satisfy on the rows that they are tuned on, as in `tune`.
    max_predicted : int or float, optional
        The most rows that may be predicted, as in `tune`. A number counts the rows that the scorer
        is called with, and the same share of them limits each part that is tuned on. In a search,
        these are the rows of one split, so a share is easier to read there.

    Returns
    -------
    ThresholdScorer
        A scorer for ``scoring=`` of GridSearchCV, cross_val_score and others, called with a fitted
        estimator, X, y and weights.

    Raises
    ------
    ValueError
        If an option is not valid, or options exclude each other.

    See Also
    --------
    ThresholdClassifier : Predict at tuned thresholds.
    assess : The score to expect on new data, with an interval.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(2000, n_informative=6, weights=[0.9], class_sep=0.6,
    ...                            random_state=0)
    >>> model = LogisticRegression(C=0.01)
    >>> for scoring in ("f1", make_threshold_scorer("f1")):
    ...     print(f"{cross_val_score(model, X, y, scoring=scoring).mean():.2f}")
    0.22
    0.50
    """
    options.check_whole("folds", folds, 2)
    scorer = ThresholdScorer(
        metric,
        average,
        folds=folds,
        guard=guard,
        response_method=response_method,
        pos_label=pos_label,
        random_state=random_state,
        per_label=per_label,
        zero_division=zero_division,
        min_precision=min_precision,
        min_recall=min_recall,
        min_specificity=min_specificity,
        max_predicted=max_predicted,
    )
    check_goal(ask_goal(scorer))
    return scorer
