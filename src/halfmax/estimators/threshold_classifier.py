"""A scikit-learn classifier that predicts at the thresholds it has tuned."""

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_regressor
from sklearn.utils import get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from halfmax._core import labelled
from halfmax._core import predict as _apply
from halfmax._core.text import spell_out
from halfmax._core.types import Array
from halfmax.estimators import out_of_fold, routing
from halfmax.estimators.fitted_rule import FittedRule, PendingAssessment
from halfmax.estimators.folds import LabelFolds, splitter_for
from halfmax.estimators.out_of_fold import FoldWork
from halfmax.estimators.responses import find_method, scores_of, takes_many_labels
from halfmax.estimators.targets import TargetKind, check_rows, read_targets
from halfmax.expected.curve import find_ratio
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
    """Any classifier, predicting at the thresholds with the highest F-measure.

    For two classes, or for many labels with a threshold each. The thresholds are tuned on scores of
    rows that the estimator was not fitted on: those of all folds are pooled and swept once, over
    all thresholds.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A classifier with ``predict_proba`` or ``decision_function``, of two classes or of many
        labels (OneVsRestClassifier, MultiOutputClassifier, forests, neighbours, networks,
        pipelines), or a regressor, whose predictions are taken as scores.
    metric : str or Metric
        ``"f1"``, any ``"f<beta>"``, ``"jaccard"``, ``"accuracy"``, ``"precision"``, ``"recall"``,
        or a `Metric` of your own, as `tune` takes them.
    average : {"macro", "micro", "samples"}
        What the score of many labels is: the mean over labels, the metric of pooled counts, or the
        mean over rows. Two classes have nothing to average.
    rule : {"empirical", "expected"}
        ``"empirical"`` tunes thresholds on labelled scores (`tune`) and keeps them.
        ``"expected"`` trusts the estimator's probabilities and maximises the metric expected of the
        very rows given to ``predict`` (`decide`). A row's prediction then depends on the whole
        batch that it comes in: the best threshold is half the best F1 that the batch allows, so a
        row with probability 0.3 may be predicted among hopeless ones and not among better ones.
        With ``average="samples"`` each row is a batch of labels. Otherwise do not use it for rows
        that come one at a time: the best F1 of a batch of one is had by predicting it, however
        hopeless it is.
    cv : int, float, splitter, iterable or "prefit"
        The folds whose scores are pooled. For a number, two classes are stratified as by
        scikit-learn, and many labels so that each has its share of positives in every fold as far
        as that is possible. A float holds out that share of the rows once, in the same way.
        ``"prefit"`` takes the estimator as it is, fitted before on other rows, and tunes on all
        rows given; ``refit`` then means nothing. (In a grid search, which copies estimators without
        their fit, use a FrozenEstimator instead.)
    guard : None or str
        None is the exact optimum on the pooled scores; ``"auto"`` gives up some of that for score
        on new data, which pays where labels have few positives. See `tune`.
    response_method : {"auto", "predict_proba", "decision_function", "predict"}
        What is compared with thresholds. ``"auto"`` takes the first that the estimator has;
        ``"predict"`` is for regressors.
    refit : bool
        Fit the estimator on all rows in the end. False keeps the one fitted for a single split
        (cv a float, or a splitter that splits once).
    n_jobs : int, optional
        How many folds are fitted at the same time.
    random_state : int, RandomState or None
        Shuffles rows before they are cut into folds, when cv is a number.
    pos_label : class, optional
        Which of two classes is the positive one; the second in sorted order by default. If it is
        the first, values of ``decision_function`` change their sign before they are compared with
        `threshold_`.

    Attributes
    ----------
    thresholds_ : ndarray (labels,)
        A row gets a label iff its score is at or above the label's threshold; ``+inf`` gives it to
        nobody. With ``rule="expected"`` they are those of the batch of all pooled rows, to be
        looked at (``predict`` makes its own), and absent for ``average="samples"``, where each row
        has one.
    threshold_ : float
        The same for two classes.
    score_ : float
        The metric on the pooled rows.
    expected_score_ : float
        The metric to expect on new rows. As a rule lower than `score_`, since thresholds flatter
        themselves on the rows they were tuned on; equal to it with ``rule="expected"``, which tunes
        nothing.
    assessment_ : Assessment or None
        Intervals of score and thresholds, the same for each label, and the tuned `Thresholds` with
        ``table()`` and ``save(path)``; see `assess`. None with ``rule="expected"``. This and
        `expected_score_` are computed when first asked for, which takes longer than tuning (with
        a guard or ``average="samples"`` 30 to 50 times as long); until then the pooled scores are
        kept.
    staircase_ : Staircase
        What every threshold would have counted on the pooled rows, for each label.
    estimator_ : estimator
        The fitted estimator that predicts.
    classes_ : ndarray, or list of ndarray
        As the fitted estimator has them.
    n_features_in_, feature_names_in_
        Where the fitted estimator has them.

    Notes
    -----
    ``score`` is the metric that is maximised, as in GridSearchCV and LogisticRegressionCV, not
    accuracy. Weights given to ``fit`` count in tuning and in `score_`, and in fitting where the
    estimator takes them. Put this around an estimator of many labels, not inside of it:
    OneVsRestClassifier and others that ask for probabilities do not ask for thresholds. A label
    without positives among the rows that a fold fits on is never predicted in that fold. A splitter
    that scores rows more than once counts them each time; the assessment takes the first.

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
        X : rows x features
            Or whatever the estimator takes.
        y : (rows,) of two classes, or rows x labels of 0/1, dense or scipy sparse
            A sparse y is made dense only for an estimator that refuses it; ``predict`` then gives a
            sparse matrix too.
        sample_weight : (rows,), optional
            Counts in tuning, and in fitting where the estimator takes it.
        **fit_params
            For the estimator's ``fit``; those with a value for each row follow the rows. ``groups``
            goes to the splitter. With scikit-learn's metadata routing, what is requested.
        """
        method = self._check_options()
        targets = read_targets(y, self.pos_label)
        plan = self._plan_for(targets.kind, method)
        targets = out_of_fold.for_estimator(self.estimator, targets)
        (X,) = indexable(X)
        check_rows(X, targets.truth)
        weights = labelled.check_weights(sample_weight, targets.n_rows)
        routed = routing.route_fit(self, sample_weight, fit_params)
        work = FoldWork(self.estimator, X, targets, routed.estimator.fit, method, plan.unseen)
        fitted, rows, scores = self._fit_and_score(work, routed.splitter.split)
        pooled = out_of_fold.pool(targets, rows, scores, weights)
        if plan.rule == "empirical":
            tuned = tune_checked(pooled, plan.goal)
            assert tuned._tuning is not None
            found = plan.found_by_tuning(tuned, pooled, np.concatenate(rows))
            stairs = tuned._tuning.stairs
        else:
            found = plan.found_by_deciding(pooled)
            stairs = Staircase.of_checked(pooled)
        self._take(found | {"estimator_": fitted, "staircase_": stairs, "_plan": plan})
        return self

    def predict(self, X: Any) -> Any:
        """The classes, or the labels of each row as 0/1, at the thresholds.

        With ``rule="expected"`` the rows of X are decided on together.
        """
        check_is_fitted(self)
        return self._plan.kind.decode(self._predict(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The metric, averaged as in fit, that ``predict(X)`` reaches."""
        check_is_fitted(self)
        plan = self._plan
        check_rows(X, y)
        truth, predictions = plan.kind.truth(y), self._predict(X)
        metric, average = plan.goal.metric, plan.goal.average
        return scoring.score(truth, predictions, metric, average, sample_weight)

    @available_if(_estimator_has("predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """The estimator's probabilities, in the shape that it gives them."""
        check_is_fitted(self)
        return self.estimator_.predict_proba(X)

    @available_if(_estimator_has("predict_log_proba"))
    def predict_log_proba(self, X: Any) -> Any:
        """The logarithm of the estimator's probabilities."""
        check_is_fitted(self)
        return self.estimator_.predict_log_proba(X)

    @available_if(_has_decision_function)
    def decision_function(self, X: Any) -> Any:
        """The estimator's scores; of a regressor, its predictions."""
        check_is_fitted(self)
        if hasattr(self.estimator_, "decision_function"):
            return self.estimator_.decision_function(X)
        scores = self.estimator_.predict(X)
        return scores if self._plan.kind.positive else 1.0 - scores  # high means classes_[1]

    @property
    def assessment_(self) -> Assessment | None:
        """What the thresholds will show on new rows; None where nothing was tuned."""
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
        if not self._plan.kind.is_binary:
            raise AttributeError("threshold_ is for two classes; labels have thresholds_")
        return float(self.thresholds_[0])

    @property
    def classes_(self) -> Any:
        """The classes, as the fitted estimator has them."""
        self._require_fit("classes_")
        if hasattr(self.estimator_, "classes_"):
            return self.estimator_.classes_
        kind = self._plan.kind
        return kind.classes if kind.is_binary else [np.array([0, 1])] * kind.n_labels

    def get_metadata_routing(self) -> MetadataRouter:
        """Who is given what of the metadata passed to ``fit``."""
        return routing.router(self)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_plan")

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags = inner.input_tags
        tags.non_deterministic, tags.no_validation = inner.non_deterministic, inner.no_validation
        many = takes_many_labels(self.estimator)
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = many
        tags.classifier_tags.multi_class = False
        return tags

    def _require_fit(self, name: str) -> None:
        if not hasattr(self, "_plan"):
            raise AttributeError(f"{name} is known after fit")

    def _check_options(self) -> str:
        """Check what does not depend on the data; returns the method that scores."""
        if self.rule not in _RULES:
            raise ValueError(f"rule must be {spell_out(_RULES, 'or')}; got {self.rule!r}")
        if not isinstance(self.refit, (bool, np.bool_)):
            raise ValueError(f"refit must be True or False; got {self.refit!r}")
        method = find_method(self.estimator, self.response_method)
        if self.rule == "expected" and self.guard is not None:
            raise ValueError(
                "guard is for rule='empirical'; rule='expected' tunes nothing that could be "
                f"guarded: leave it None; got {self.guard!r}"
            )
        if self.rule == "expected" and method != "predict_proba":
            raise ValueError(
                "rule='expected' needs probabilities, and this estimator would be asked for "
                f"{method}: use a classifier with predict_proba, which CalibratedClassifierCV "
                "makes of any classifier"
            )
        return method

    def _plan_for(self, kind: TargetKind, method: str) -> FittedRule:
        """How to predict; what cannot be is refused before anything is fitted."""
        goal = Goal.ask(self.metric, self.average, guard=self.guard).settle(kind.is_binary)
        if self.rule == "expected":
            find_ratio(goal.metric)
        elif goal.average_shown == "micro" and goal.guard is None:
            micro.require_ratio(goal.metric)
        return FittedRule(kind, method, self.rule, goal)

    def _fit_and_score(
        self, work: FoldWork, split_params: dict[str, Any]
    ) -> tuple[Any, list[Array], list[Any]]:
        """The estimator that will predict; rows of each split, and scores that do not know them."""
        if isinstance(self.cv, str):
            fitted = out_of_fold.fitted_before(self.estimator, self.cv, work.targets.kind)
            return fitted, [np.arange(work.targets.n_rows)], [work.scores(fitted)]
        splitter = splitter_for(self.cv, work.targets, self.random_state)
        y = work.targets.truth if isinstance(splitter, LabelFolds) else work.targets.given
        splits = out_of_fold.check_splits(splitter.split(work.X, y, **split_params), self.cv)
        rows = [test for _, test in splits]
        if self.refit:
            fitted, work = out_of_fold.fit_first(work, None)
            return fitted, rows, out_of_fold.score_splits(work, splits, self.n_jobs)
        if len(splits) > 1:
            raise ValueError(
                f"refit=False needs a single split, whose estimator is kept; cv={self.cv!r} makes "
                f"{len(splits)}: use refit=True, or hold out a share such as cv=0.2"
            )
        fitted, work = out_of_fold.fit_first(work, splits[0][0])
        return fitted, rows, [work.scores(fitted, *splits[0])]

    def _take(self, found: dict[str, Any]) -> None:
        """Become what was found, all at once, with nothing left of an earlier fit."""
        for name in ("thresholds_", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if name.endswith("_in_") and hasattr(found["estimator_"], name):
                setattr(self, name, getattr(found["estimator_"], name))
        self.__dict__.update(found)

    def _assess(self) -> Assessment | None:
        """Assess once, then let go of the scores."""
        waiting: PendingAssessment | None = self.__dict__["_waiting"]
        if waiting is not None:
            self._assessment: Assessment | None = waiting.assess()
            self._waiting = None
        return self._assessment

    def _predict(self, X: Any) -> Any:
        """0/1 for each row, or for each row and label."""
        plan = self._plan
        scores = scores_of(self.estimator_, X, plan.method, plan.kind)
        if plan.rule == "empirical":
            return _apply.predict(scores, self.thresholds_)
        return plan.decide(scores, f"predict_proba of {type(self.estimator_).__name__}").predictions
