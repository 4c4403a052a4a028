"""`ThresholdClassifier`: a scikit-learn classifier that tunes thresholds and predicts at them."""

from collections.abc import Sequence
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils import indexable
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.validation import check_is_fitted

from halfmax._core.gate import labelled
from halfmax._core.types import Floats
from halfmax.estimators import options, out_of_fold, routing
from halfmax.estimators.fitted_rule import FIXED, FittedRule, PendingAssessment
from halfmax.estimators.fixed_thresholds import kind_of_fitted
from halfmax.estimators.inner_methods import InnerMethods
from halfmax.estimators.out_of_fold import Folding, FoldWork
from halfmax.estimators.targets import check_rows, read_targets
from halfmax.honesty.assessment import Assessment

_FITTED = ("score_", "staircase_", "n_features_in_", "feature_names_in_", "_assessment", "_pending")


class ThresholdClassifier(InnerMethods, ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Wrap a classifier so that it predicts at the thresholds with the highest F-measure.

    It handles two classes, or many labels with one threshold each. The thresholds are tuned on
    scores of rows that the estimator was not fitted on: the scores of all folds are pooled, and all
    thresholds are tried on them in one exact sweep. Thresholds that are known already can be set
    instead, also for an estimator that is fitted already.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A classifier with ``predict_proba`` or ``decision_function``, of two classes or of many
        labels (OneVsRestClassifier, MultiOutputClassifier, forests, neighbours, networks,
        pipelines), or a regressor, whose predictions are used as scores.
    metric : str or Metric, default="f1"
        ``"f1"``, any ``"f<beta>"``, ``"mcc"``, another name that `tune` knows, `cost` for costs,
        or a `Metric` of your own. Costs that differ from row to row serve `tune` only.
    average : {"macro", "micro", "samples", "weighted"}, default="macro"
        How the score of many labels is averaged: the mean over labels, the metric of the pooled
        counts, the mean over rows, or the mean over labels weighted by their positives. Two classes
        have nothing to average.
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
    response_method : str or list of str, default="auto"
        The method whose results are compared with thresholds: ``"predict_proba"``,
        ``"predict_log_proba"``, ``"decision_function"`` or, for regressors, ``"predict"``. Of a
        list, it is the first that the estimator has. ``"auto"`` tries ``predict_proba``, then
        ``decision_function``, then ``predict``. The logarithm of 0 is never predicted.
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
    thresholds : float, array-like, dict or Thresholds, optional
        Fixed thresholds: nothing is tuned, and `fit` fits the estimator alone. One number is for
        two classes or for every label, an array is in the order of the labels, and a dict or a
        `Thresholds` object is matched by label if `y` is a data frame. They are used from the
        moment they are set, with `set_params` too, and no `fit` is needed if the estimator is
        fitted already. `cv` (other than ``"prefit"``), `refit`, `n_jobs`, `random_state` and
        `per_label` then have no effect; guards, floors, caps and ``rule="expected"`` are refused.
    per_label : bool, default=True
        Whether each label has its own threshold, or all share one, as in `tune`.
    zero_division : float, default=0.0
        The value of 0/0, as in `tune`, in tuning and in every score.
    min_precision, min_recall, min_specificity : float, optional
        Floors that the thresholds satisfy on the pooled rows, as in `tune`.
    max_predicted : int or float, optional
        The most of the pooled rows that may be predicted, as in `tune`: a share of them below 1, or
        a number of the rows passed to ``fit``. If `cv` scores only some of these rows, or some of
        them several times, the number stands for the same share.

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
        The metric on the pooled rows, minus the mean cost for costs. Fixed thresholds have no
        `score_`, `expected_score_` and `staircase_`.
    expected_score_ : float
        The metric to expect on new rows. It is usually lower than `score_`, because thresholds look
        better on the rows they were tuned on than on others; it equals `score_` with
        ``rule="expected"``, which tunes nothing.
    assessment_ : Assessment or None
        Intervals of the score and of the thresholds, overall and for each label, and the tuned
        `Thresholds` with ``table()`` and ``save(path)``; see `assess`. None if nothing is tuned.
        This and `expected_score_` are computed on first access, which takes longer than tuning
        (with a guard, floors or ``average="samples"`` 30 to 50 times as long); until then the
        pooled scores are kept.
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
    the first score of each row. Parameters other than `thresholds` that are set after ``fit`` take
    effect in the next one.

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
        response_method: str | Sequence[str] = "auto",
        refit: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        pos_label: Any = None,
        thresholds: Any = None,
        per_label: bool = True,
        zero_division: float = 0.0,
        min_precision: float | None = None,
        min_recall: float | None = None,
        min_specificity: float | None = None,
        max_predicted: float | None = None,
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
        self.thresholds = thresholds
        self.per_label = per_label
        self.zero_division = zero_division
        self.min_precision = min_precision
        self.min_recall = min_recall
        self.min_specificity = min_specificity
        self.max_predicted = max_predicted

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
        method = options.check_method(self)
        targets = read_targets(y, self.pos_label)
        goal = options.goal_for(self, targets.kind.is_binary)
        rule = FittedRule(targets.kind, method, self.rule, goal)
        if self.thresholds is not None:
            rule = rule.at(self.thresholds)
        targets = out_of_fold.for_estimator(self.estimator, targets)
        (X,) = indexable(X)
        check_rows(X, targets.truth)
        weights = labelled.check_weights(sample_weight, targets.n_rows)
        routed = routing.route_fit(self, sample_weight, fit_params)
        work = FoldWork(self.estimator, X, targets, routed.estimator.fit, method, rule.unseen)
        if rule.name == FIXED:
            fitted = out_of_fold.fit_alone(work, self.cv)
            self._set_fitted({"estimator_": fitted, "_rule": rule})
            return self
        folding = Folding(self.cv, self.refit, self.n_jobs, self.random_state)
        scored = out_of_fold.fit_and_score(work, folding, routed.splitter.split)
        self._set_fitted(rule.found_on(scored, targets, weights))
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
        rule = self._rule_for(X)
        return rule.kind.decode(rule.predict(self._inner, X))

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
        rule = self._rule_for(X)
        check_rows(X, y)
        return rule.score(rule.kind.truth(y), rule.predict(self._inner, X), sample_weight)

    @property
    def assessment_(self) -> Assessment | None:
        """What the thresholds will reach on new rows; None if nothing was tuned."""
        self._require_fit("assessment_")
        return self._assess()

    @property
    def expected_score_(self) -> float:
        """The metric to expect on new rows."""
        self._require_fit("expected_score_")
        if self.thresholds is not None:
            raise AttributeError(
                "expected_score_ is for thresholds that are tuned, and these are fixed: "
                "score(X, y) on new rows shows what to expect"
            )
        assessment = self._assess()
        return float(self.score_) if assessment is None else assessment.expected_score

    @property
    def thresholds_(self) -> Floats:
        """The threshold of each label."""
        found = self._rule_of_fit("thresholds_").thresholds
        if found is None:
            raise AttributeError("thresholds_ do not exist: each row has its own threshold")
        return found

    @property
    def threshold_(self) -> float:
        """The threshold of two classes."""
        if not self._rule_of_fit("threshold_").kind.is_binary:
            raise AttributeError("threshold_ is for two classes; labels have thresholds_")
        return float(self.thresholds_[0])

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the routing of metadata passed to ``fit``.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn requires it.
        """
        return routing.router(self)

    def _rule_for(self, X: Any) -> FittedRule:
        """Return how to predict X: as fitted, but always at fixed thresholds if there are any."""
        check_is_fitted(self)
        if hasattr(self, "_rule"):
            return self._rule_of_fit("predict")
        method = options.check_method(self)
        kind = kind_of_fitted(self.estimator, X, self.thresholds, self.pos_label)
        goal = options.goal_for(self, kind.is_binary)
        return FittedRule(kind, method, FIXED, goal).at(self.thresholds)

    def _rule_of_fit(self, name: str) -> FittedRule:
        self._require_fit(name)
        if not hasattr(self, "_rule"):
            raise AttributeError(f"{name} is available after fit")
        rule: FittedRule = self._rule
        return rule if self.thresholds is None else rule.at(self.thresholds)

    def _set_fitted(self, found: dict[str, Any]) -> None:
        """Set all fitted attributes at once, and drop those of an earlier fit."""
        for name in _FITTED:
            self.__dict__.pop(name, None)
            if name.endswith("_in_") and hasattr(found["estimator_"], name):
                setattr(self, name, getattr(found["estimator_"], name))
        self.__dict__.update(found)

    def _assess(self) -> Assessment | None:
        """Assess on first access, then drop the pooled scores."""
        if self.thresholds is not None:
            return None
        pending: PendingAssessment | None = self.__dict__["_pending"]
        if pending is not None:
            self._assessment: Assessment | None = pending.assess()
            self._pending = None
        return self._assessment
