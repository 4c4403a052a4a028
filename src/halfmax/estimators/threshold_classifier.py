"""`ThresholdClassifier`: a scikit-learn classifier that tunes thresholds and predicts at them."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_regressor
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfmax._core import predict as _apply
from halfmax._core.gate import labelled
from halfmax._core.text import spell_out
from halfmax.estimators import out_of_fold, routing
from halfmax.estimators.fitted_rule import FittedRule, PendingAssessment
from halfmax.estimators.out_of_fold import Folding, FoldWork
from halfmax.estimators.responses import find_method, scores_of, takes_many_labels
from halfmax.estimators.targets import TargetKind, check_rows, read_targets
from halfmax.expected.ratio import find_ratio
from halfmax.honesty.assessment import Assessment
from halfmax.metrics import score as scoring
from halfmax.metrics.goal import Goal
from halfmax.staircase.staircase import Staircase
from halfmax.tuning.exact import micro
from halfmax.tuning.tune import tune_checked

_RULES = ("empirical", "expected")


def _estimator_has(method: str) -> Any:
    return lambda self: hasattr(getattr(self, "estimator_", self.estimator), method)


def _has_decision_function(self: Any) -> bool:
    inner = getattr(self, "estimator_", self.estimator)
    return hasattr(inner, "decision_function") or is_regressor(inner)


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrap a classifier so that it predicts at the thresholds with the highest F-measure.

    It handles two classes, or many labels with one threshold each. The thresholds are tuned on
    scores of rows that the estimator was not fitted on: the scores of all folds are pooled, and all
    thresholds are tried on them in one exact sweep.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A classifier with ``predict_proba`` or ``decision_function``, of two classes or of many
        labels (OneVsRestClassifier, MultiOutputClassifier, forests, neighbours, networks,
        pipelines), or a regressor, whose predictions are used as scores.
    metric : str or Metric, default="f1"
        ``"f1"``, any ``"f<beta>"``, ``"jaccard"``, ``"accuracy"``, ``"precision"``, ``"recall"``,
        or a `Metric` of your own, as in `tune`.
    average : {"macro", "micro", "samples"}, default="macro"
        How the score of many labels is averaged: the mean over labels, the metric of the pooled
        counts, or the mean over rows. It has no effect for two classes.
    rule : {"empirical", "expected"}, default="empirical"
        ``"empirical"`` tunes thresholds on labelled scores (`tune`) and keeps them.
        ``"expected"`` trusts the estimator's probabilities and maximises the expected metric of
        exactly the rows passed to ``predict`` (`decide`). The prediction of a row then depends on
        the whole batch: the best threshold is half the best F1 that the batch allows, so a row with
        probability 0.3 may be predicted among hopeless rows and not among better ones. With
        ``average="samples"`` each row is a batch of labels. Otherwise do not use this rule for rows
        that arrive one at a time: the best F1 of a batch of one is reached by predicting it,
        however hopeless it is.
    cv : int, float, splitter, iterable or "prefit", default=5
        The folds whose scores are pooled. If it is a number, two classes are stratified as in
        scikit-learn, and many labels so that each has its share of positives in every fold, as far
        as possible. A float holds out that share of the rows once, stratified in the same way.
        ``"prefit"`` uses the estimator as it is, already fitted on other rows, and tunes on all
        rows passed to ``fit``; `refit` then has no effect. In a grid search, which copies
        estimators without their fit, use a FrozenEstimator instead.
    guard : str, optional
        None is the exact optimum on the pooled scores. ``"auto"`` gives up a little of it to score
        better on new data, which pays off for labels with few positives. See `tune`.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}, default="auto"
        The method whose results are compared with thresholds. ``"auto"`` uses the first that the
        estimator has; ``"predict"`` is for regressors.
    refit : bool, default=True
        Fit the estimator on all rows in the end. False keeps the one fitted for a single split
        (`cv` is a float, or a splitter that splits once).
    n_jobs : int, optional
        The number of folds fitted at the same time.
    random_state : int, RandomState or None
        Shuffles the rows before they are divided into folds, if `cv` is a number.
    pos_label : class, optional
        Which of two classes is positive; by default the second in sorted order. If it is the first,
        values of ``decision_function`` change sign before they are compared with `threshold_`.

    Attributes
    ----------
    thresholds_ : ndarray of shape (labels,)
        A row gets a label iff its score is at or above the label's threshold; ``+inf`` predicts no
        rows. With ``rule="expected"`` they are the thresholds of the batch of all pooled rows, for
        information only (``predict`` finds its own), and absent for ``average="samples"``, where
        each row has its own threshold.
    threshold_ : float
        The threshold of two classes.
    score_ : float
        The metric on the pooled rows.
    expected_score_ : float
        The metric to expect on new rows. It is usually lower than `score_`, because thresholds look
        better on the rows they were tuned on than on others; it equals `score_` with
        ``rule="expected"``, which tunes nothing.
    assessment_ : Assessment or None
        Intervals of the score and of the thresholds, overall and for each label, and the tuned
        `Thresholds` with ``table()`` and ``save(path)``; see `assess`. None with
        ``rule="expected"``. This and `expected_score_` are computed on first access, which takes
        longer than tuning (with a guard or ``average="samples"`` 30 to 50 times as long); until
        then the pooled scores are kept.
    staircase_ : Staircase
        The counts at every threshold on the pooled rows, for each label.
    estimator_ : estimator
        The fitted estimator that predicts.
    classes_ : ndarray, or list of ndarray
        The classes, as in the fitted estimator.
    n_features_in_ : int
        The number of features, if the fitted estimator knows it.
    feature_names_in_ : ndarray of str
        The names of the features, if the fitted estimator knows them.

    See Also
    --------
    tune : Tune thresholds on labelled scores.
    make_threshold_scorer : Compare models at their own best thresholds.
    ExpectedFClassifier : Decide on dependent labels by their expected F.

    Notes
    -----
    ``score`` is the metric that is maximised, as in GridSearchCV and LogisticRegressionCV, not
    accuracy. Weights passed to ``fit`` count in tuning and in `score_`, and in fitting if the
    estimator takes them. Wrap a multilabel estimator with this class, not the other way round:
    OneVsRestClassifier and others use the probabilities of what they wrap and ignore its
    thresholds. A label without positives among the rows that a fold fits on is never predicted in
    that fold. If a splitter scores rows more than once, they count each time; the assessment uses
    the first score of each row.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> X, y = make_classification(2000, n_informative=6, weights=[0.9], class_sep=0.6,
    ...                            random_state=0)
    >>> cross_val_score(LogisticRegression(C=0.01), X, y, scoring="f1").mean().round(2)
    np.float64(0.22)
    >>> model = ThresholdClassifier(LogisticRegression(C=0.01)).fit(X, y)
    >>> print(f"threshold {model.threshold_:.2f}")
    threshold 0.20
    >>> print(f"F1 {model.score_:.2f} here, {model.expected_score_:.2f} expected on new rows")
    F1 0.56 here, 0.55 expected on new rows
    """

    def __init__(
        self,
        estimator: Any,
        *,
        metric: Any = "f1",
        average: str = "macro",
        rule: str = "empirical",
        cv: Any = 5,
        guard: str | None = None,
        response_method: str = "auto",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        pos_label: Any = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.average = average
        self.rule = rule
        self.cv = cv
        self.guard = guard
        self.response_method = response_method
        self.refit = refit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.pos_label = pos_label

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any
    ) -> "ThresholdClassifier":
        """Fit the estimator and tune its thresholds.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            Two classes of any type, or a 0/1 matrix, dense or scipy sparse. ``predict`` returns a
            sparse matrix if y is sparse. It is made dense only for estimators that refuse it.
        sample_weight : array-like of shape (rows,), optional
            Weights of the rows, for tuning, and for fitting if the estimator takes them.
        **fit_params : dict
            Keywords for the estimator's ``fit``; those with one value per row are divided with the
            rows. ``groups`` goes to the splitter. If scikit-learn's metadata routing is enabled,
            keywords go where they are requested.

        Returns
        -------
        ThresholdClassifier
            The fitted classifier itself.
        """
        method = self._check_options()
        targets = read_targets(y, self.pos_label)
        rule = self._rule_for(targets.kind, method)
        targets = out_of_fold.for_estimator(self.estimator, targets)
        (X,) = indexable(X)
        check_rows(X, targets.truth)
        weights = labelled.check_weights(sample_weight, targets.n_rows)
        routed = routing.route_fit(self, sample_weight, fit_params)
        work = FoldWork(self.estimator, X, targets, routed.estimator.fit, method, rule.unseen)
        folding = Folding(self.cv, self.refit, self.n_jobs, self.random_state)
        scored = out_of_fold.fit_and_score(work, folding, routed.splitter.split)
        pooled = out_of_fold.pool(targets, scored, weights)
        if rule.name == "empirical":
            tuned = tune_checked(pooled, rule.goal)
            assert tuned._tuning is not None
            found = rule.found_by_tuning(tuned, pooled, np.concatenate(scored.rows))
            stairs = tuned._tuning.stairs
        else:
            found = rule.found_by_deciding(pooled)
            stairs = Staircase.of_checked(pooled)
        self._set_fitted(found | {"estimator_": scored.fitted, "staircase_": stairs, "_rule": rule})
        return self

    def predict(self, X: Any) -> Any:
        """Predict the class, or the labels of each row as 0/1, at the thresholds.

        With ``rule="expected"`` the rows of X are decided on together.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.

        Returns
        -------
        ndarray or sparse matrix
            The classes, of shape (rows,), or 0/1 of shape (rows, labels), sparse if the `y` of
            `fit` was sparse.
        """
        check_is_fitted(self)
        return self._rule.kind.decode(self._predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the metric of ``predict(X)``, averaged as in `fit`.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : array-like of shape (rows,) or (rows, labels)
            The true classes or labels, in any form that `fit` accepts.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.

        Returns
        -------
        float
            The metric.
        """
        check_is_fitted(self)
        check_rows(X, y)
        truth, predictions, goal = self._rule.kind.truth(y), self._predict(X), self._rule.goal
        return scoring.score(truth, predictions, goal.metric, goal.average, sample_weight)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the estimator's probabilities, in the shape that it returns them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """Return the logarithm of the estimator's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_has_decision_function)
    def decision_function(self, X: Any) -> Any:
        """Return the estimator's scores; of a regressor, its predictions."""
        check_is_fitted(self)
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(X)
        scores = self.estimator_.predict(X)
        return scores if self._rule.kind.positive else 1.0 - scores  # high means classes_[1]

    @property
    def assessment_(self) -> Assessment | None:
        """What the thresholds will reach on new rows; None if nothing was tuned."""
        self._require_fit("assessment_")
        return self._assess()

    @property
    def expected_score_(self) -> float:
        """The metric to expect on new rows."""
        self._require_fit("expected_score_")
        assessment = self._assess()
        return self.score_ if assessment is None else assessment.expected_score

    @property
    def threshold_(self) -> float:
        """The threshold of two classes."""
        self._require_fit("threshold_")
        if not self._rule.kind.is_binary:
            raise AttributeError("threshold_ is for two classes; labels have thresholds_")
        return float(self.thresholds_[0])

    @property
    def classes_(self) -> Any:
        """The classes, as the fitted estimator has them."""
        self._require_fit("classes_")
        if hasattr(self.estimator_, "classes_"):
            return self.estimator_.classes_
        kind = self._rule.kind
        return kind.classes if kind.is_binary else [np.array([0, 1])] * kind.n_labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata passed to ``fit``.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn requires it.
        """
        return routing.router(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_rule")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
        many = takes_many_labels(self.estimator)
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = many
        tags.classifier_tags.multi_class = False
        return tags

    def _require_fit(self, name: str) -> None:
        if not hasattr(self, "_rule"):
            raise AttributeError(f"{name} is available after fit")

    def _check_options(self) -> str:
        """Check the options that do not depend on the data, and return the method that scores."""
        if self.rule not in _RULES:
            raise ValueError(f"rule must be {spell_out(_RULES, 'or')}; got {self.rule!r}")
        if not isinstance(self.refit, (bool, np.bool_)):
            raise ValueError(f"refit must be True or False; got {self.refit!r}")
        method = find_method(self.estimator, self.response_method)
        if self.rule == "expected" and self.guard is not None:
            raise ValueError(
                "guard is for rule='empirical'; with rule='expected' nothing is tuned, so there is "
                f"nothing to guard: leave it None; got {self.guard!r}"
            )
        if self.rule == "expected" and method != "predict_proba":
            raise ValueError(
                "rule='expected' needs probabilities, but the scores of this estimator come from "
                f"{method}: use a classifier with predict_proba; CalibratedClassifierCV adds it to "
                "any classifier"
            )
        return method

    def _rule_for(self, kind: TargetKind, method: str) -> FittedRule:
        """Return how to predict; refuse impossible options before anything is fitted."""
        goal = Goal.ask(self.metric, self.average, guard=self.guard).settle(kind.is_binary)
        if self.rule == "expected":
            find_ratio(goal.metric)
        elif goal.average_shown == "micro" and goal.guard is None:
            micro.require_ratio(goal.metric, 0.5, 1.0)
        return FittedRule(kind, method, self.rule, goal)

    def _set_fitted(self, found: dict[str, Any]) -> None:
        """Set all fitted attributes at once, and drop those of an earlier fit."""
        for name in ("thresholds_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if name.endswith("_in_") and hasattr(found["estimator_"], name):
                setattr(self, name, getattr(found["estimator_"], name))
        self.__dict__.update(found)

    def _assess(self) -> Assessment | None:
        """Assess on first access, then drop the pooled scores."""
        pending: PendingAssessment | None = self.__dict__["_pending"]
        if pending is not None:
            self._assessment: Assessment | None = pending.assess()
            self._pending = None
        return self._assessment

    def _predict(self, X: Any) -> Any:
        """Predict 0/1 for each row, or for each row and label."""
        rule = self._rule
        scores = scores_of(self.estimator_, X, rule.method, rule.kind)
        if rule.name == "empirical":
            return _apply.predict(scores, self.thresholds_)
        return rule.decide(scores, f"predict_proba of {type(self.estimator_).__name__}").predictions
