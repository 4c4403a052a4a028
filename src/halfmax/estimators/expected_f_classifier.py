"""`ExpectedFClassifier`: the labels with the highest expected F of each row, dependent or not."""

from collections.abc import Iterator
from inspect import Parameter, signature
from numbers import Integral
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.dummy import DummyClassifier
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.metadata_routing import UNUSED, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from halfmax._core.gate import labelled
from halfmax._core.limits import limits
from halfmax._core.threads import spans
from halfmax._core.types import Array, Floats
from halfmax.estimators import routing
from halfmax.estimators.out_of_fold import fit_clone
from halfmax.estimators.targets import check_rows, read_labels
from halfmax.expected.decide_joint import decide_joint
from halfmax.expected.joint import Joint, reconcile
from halfmax.metrics.metric import Metric
from halfmax.metrics.score import score

_TINY = 1e-9  # how far rounding may push a probability out of [0, 1]


class ExpectedFClassifier(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """Multilabel classifier that maximises the expected F of each row under any dependence.

    For each label i, a clone of `estimator` learns the classes ``|y| if y_i = 1 else 0`` and so
    estimates ``q[i, s-1] = P(y_i = 1, |y| = s | x)``. One more clone estimates `p_empty`, the
    probability that no label is true. These estimates, made consistent with each other, are all
    that

        E F(y, h)  =  sum over i in h, s of  q[i, s-1] * (1 + b2) / (|h| + b2 s)

    needs, and `decide_joint` finds the best set h of labels, among all sets, for each row.

    Parameters
    ----------
    estimator : scikit-learn classifier
        A classifier with ``predict_proba`` that handles several classes. Its probabilities should
        be calibrated. A target that never varies is left to a `DummyClassifier`.
    metric : str or Metric, default="f1"
        Any ``"f<beta>"`` or `FBeta`, ``"precision"``, ``"recall"`` or ``"accuracy"``.
    zero_division : float, default=0.0
        The value of 0/0, from 0 to 1: the score when nothing is predicted and nothing
        is true.
    min_k : int, default=0
        Predict at least this many labels in each row.
    max_k : int, optional
        Predict at most this many labels in each row.
    n_jobs : int, optional
        The number of clones fitted at a time, as in scikit-learn.

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted clone of each label.
    empty_estimator_ : estimator
        Separates rows with labels, class 1, from rows without, class 0.
    sizes_ : ndarray of int
        The numbers of labels that rows had in training, in ascending order. No other number is
        expected.
    classes_ : list of ndarray
        ``[0, 1]`` for each label.
    labels_ : tuple or None
        The names of the labels, if `y` was a data frame.
    n_features_in_ : int
        The number of features, if the fitted clones know it.
    feature_names_in_ : ndarray of str
        The names of the features, if the fitted clones know them.

    See Also
    --------
    decide_joint : The decision rule for given joint probabilities.
    ThresholdClassifier : One threshold per label, for any metric and average.

    Notes
    -----
    `metric`, `zero_division`, `min_k` and `max_k` can be changed after `fit` with `set_params`.

    References
    ----------
    Dembczynski, Waegeman, Cheng and Huellermeier (2011), "An exact algorithm for F-measure
    maximization", NIPS 24. Waegeman, Dembczynski, Jachnik, Cheng and Huellermeier (2014), "On the
    Bayes-optimality of F-measure maximizers", JMLR 15.

    Examples
    --------
    Label 2 alone is likelier than labels 0, 1, 3 and 4 together, and never occurs with them:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = [[0]] * 5, [[1, 1, 0, 1, 1]] * 2 + [[0, 0, 1, 0, 0]] * 3
    >>> model = ExpectedFClassifier(DecisionTreeClassifier()).fit(X, y)
    >>> model.predict_proba([[0]]).round(4).tolist()
    [[0.4, 0.4, 0.6, 0.4, 0.4]]
    >>> model.predict([[0]]).tolist()
    [[0, 0, 1, 0, 0]]

    If the labels were independent with these probabilities, predicting all would be best:

    >>> from halfmax import decide
    >>> decide([[0.4, 0.4, 0.6, 0.4, 0.4]], average="samples").predictions.tolist()
    [[1, 1, 1, 1, 1]]
    """

    # Weights are passed on to the estimator, whose own request says whether it takes them.
    __metadata_request__fit = {"sample_weight": UNUSED}  # noqa: RUF012 - read as a plain dict

    def __init__(
        self,
        estimator: Any,
        *,
        metric: str | Metric = "f1",
        zero_division: float = 0.0,
        min_k: int = 0,
        max_k: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.metric = metric
        self.zero_division = zero_division
        self.min_k = min_k
        self.max_k = max_k
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit one clone of the estimator for each label, and one for rows without labels.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : matrix of shape (rows, labels)
            0/1 or bool; dense, scipy sparse or a data frame. If it is sparse, `predict` returns
            a sparse matrix.
        sample_weight : array-like of shape (rows,), optional
            Weights for the estimator, whose ``fit`` must accept them.
        **fit_params : dict
            Keywords for the estimator's ``fit``, by metadata routing if that is enabled.

        Returns
        -------
        ExpectedFClassifier
            The fitted classifier itself.
        """
        self._check_estimator()
        kind, ones, _ = read_labels(y)
        check_rows(X, ones)
        self._decide(np.zeros((1, ones.shape[1], 1)), 1.0)  # checks the options
        weights = labelled.check_weights(sample_weight, ones.shape[0])
        params = self._params_of_fit(weights, fit_params)
        *self.estimators_, self.empty_estimator_ = Parallel(n_jobs=self.n_jobs)(
            delayed(_fit_to)(self.estimator, X, target, params) for target in _targets(ones)
        )
        self.sizes_ = np.unique(np.diff(ones.indptr)).astype(np.int64)
        self.classes_ = [np.array([0, 1]) for _ in self.estimators_]
        self.labels_, self._kind = kind.labels, kind
        return self

    def predict(self, X: Any) -> Any:
        """Predict the best set of labels of each row.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.

        Returns
        -------
        ndarray or sparse matrix of int64, of shape (rows, labels)
            1 where a label is predicted; sparse if the `y` of `fit` was sparse.
        """
        check_is_fitted(self)
        parts = [self._decide(*self._estimate(part)) for part in self._blocks(X)]
        return self._kind.decode(np.concatenate(parts))

    def predict_proba(self, X: Any) -> Floats:
        """Estimate the probability of each label, the sum of `joint` over sizes.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.

        Returns
        -------
        ndarray of shape (rows, labels)
            The probabilities.
        """
        check_is_fitted(self)
        parts = [self._estimate(part).q.sum(axis=2) for part in self._blocks(X)]
        return np.asarray(np.minimum(np.concatenate(parts), 1.0))

    def joint(self, X: Any) -> Joint:
        """Estimate the joint probabilities of labels and sizes, as `decide_joint` takes them.

        Sizes go up to the largest seen in training. All of q is held in memory.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.

        Returns
        -------
        Joint
            The pair ``(q, p_empty)``: rows x labels x sizes, and one number per row.
        """
        check_is_fitted(self)
        q, p_empty = zip(*map(self._estimate, self._blocks(X)), strict=True)
        return Joint(np.concatenate(q), np.concatenate(p_empty))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the maximised metric, averaged over rows.

        This is `halfmax.score` with ``average="samples"``, and not the accuracy that other
        classifiers return, for which scikit-learn requires whole rows to match.

        Parameters
        ----------
        X : array-like of shape (rows, features)
            The features, in any form that the estimator accepts.
        y : matrix of shape (rows, labels)
            The true labels, in any form that `fit` accepts.
        sample_weight : array-like of shape (rows,), optional
            The weight of each row.

        Returns
        -------
        float
            The mean of the metric over rows.
        """
        check_is_fitted(self)
        check_rows(X, y)
        truth, predicted = self._kind.truth(y), self.predict(X)
        return score(truth, predicted, self.metric, "samples", sample_weight, self.zero_division)

    @property
    def n_features_in_(self) -> int:
        """The number of features seen in fit."""
        return int(self._one_fitted().n_features_in_)

    @property
    def feature_names_in_(self) -> Array:
        """The names of the features seen in fit."""
        return np.asarray(self._one_fitted().feature_names_in_)

    def get_metadata_routing(self) -> Any:
        """Return the routing of metadata.

        Metadata of ``fit`` go to the estimator; ``sample_weight`` of ``score`` is used here.

        Returns
        -------
        MetadataRouter
            The routing, as scikit-learn requires it.
        """
        return routing.router(self)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.single_output, tags.target_tags.multi_output = False, True
        tags.classifier_tags.multi_class, tags.classifier_tags.multi_label = False, True
        return tags

    def _check_estimator(self) -> None:
        known = all(hasattr(self.estimator, method) for method in ("fit", "predict_proba"))
        if isinstance(self.estimator, type) or not known:
            raise TypeError(
                "estimator must be an instance of a classifier with fit and predict_proba, such as "
                f"LogisticRegression(); got {self.estimator!r:.200}. Other classifiers become "
                "probabilistic with scikit-learn's CalibratedClassifierCV"
            )
        if not (self.n_jobs is None or isinstance(self.n_jobs, Integral)) or self.n_jobs == 0:
            raise ValueError(
                "n_jobs must be None or a whole number other than 0 (-1 means all cores); "
                f"got {self.n_jobs!r}"
            )

    def _params_of_fit(self, weights: Floats | None, fit_params: dict[str, Any]) -> dict[str, Any]:
        params = fit_params if weights is None else {**fit_params, "sample_weight": weights}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **params).estimator.fit)
        if weights is not None and not _takes_weights(self.estimator):
            raise TypeError(
                "sample_weight must be None, because fit of the estimator "
                f"{type(self.estimator).__name__} does not take it; got one weight for each of "
                f"{len(weights)} rows. Choose an estimator that does, such as LogisticRegression"
            )
        return params

    def _one_fitted(self) -> Any:
        """Return a fitted clone of the estimator, or a dummy if all targets were constant."""
        if not hasattr(self, "estimators_"):
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        models = [*self.estimators_, self.empty_estimator_]
        return next((x for x in models if not isinstance(x, DummyClassifier)), models[0])

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Yield X in blocks of rows that are small enough for memory."""
        n_rows = _num_samples(X)
        step = max(1, limits.joint_block_cells // (len(self.estimators_) * self._n_sizes()))
        if n_rows <= step:
            yield X
            return
        (X,) = indexable(X)
        for rows in spans(n_rows, step):
            yield _safe_indexing(X, rows)

    def _n_sizes(self) -> int:
        return max(1, int(self.sizes_[-1]))

    def _estimate(self, X: Any) -> Joint:
        """Collect the estimates of all models for these rows, and reconcile them."""
        q = np.zeros((_num_samples(X), len(self.estimators_), self._n_sizes()))
        for i, model in enumerate(self.estimators_):
            found, known = _probabilities(model, X), model.classes_ > 0
            q[:, i, model.classes_[known] - 1] = found[:, known]
        model = self.empty_estimator_
        return reconcile(q, _probabilities(model, X)[:, model.classes_ == 0].sum(axis=1))

    def _decide(self, q: Floats, p_empty: Any) -> npt.NDArray[np.int8]:
        decision = decide_joint(q, p_empty, self.metric, self.zero_division, self.min_k, self.max_k)
        return decision.predictions


def _probabilities(model: Any, X: Any) -> Floats:
    """Return the model's probabilities, rows x classes, checked."""
    found = np.asarray(model.predict_proba(X), np.float64)
    expected, name = (_num_samples(X), len(model.classes_)), type(model).__name__
    if found.shape != expected:
        raise ValueError(
            f"estimator must return probabilities of shape (rows, classes), {expected}; "
            f"predict_proba of {name} returned shape {found.shape}"
        )
    bad = ~((found >= -_TINY) & (found <= 1.0 + _TINY))
    if bad.any():
        row, column = (int(place) for place in np.argwhere(bad)[0])
        raise ValueError(
            f"estimator must return probabilities, from 0 to 1; predict_proba of {name} returned "
            f"{found[row, column]} in row {row}. Look for extreme or missing values in X"
        )
    return np.maximum(found, 0.0)


def _targets(ones: Any) -> Iterator[npt.NDArray[np.int64]]:
    """Yield the target of each label, then that of the rows with any label.

    The target of a label is the number of labels of each row that has it, and 0 for other rows.
    """
    sizes, by_label = np.diff(ones.indptr).astype(np.int64), sparse.csc_array(ones)
    for start, end in zip(by_label.indptr, by_label.indptr[1:], strict=False):
        target, rows = np.zeros(len(sizes), np.int64), by_label.indices[start:end]
        target[rows] = sizes[rows]
        yield target
    yield (sizes > 0).astype(np.int64)


def _fit_to(estimator: Any, X: Any, target: Array, params: dict[str, Any]) -> Any:
    if (target == target[0]).all():
        return DummyClassifier().fit(X, target)
    return fit_clone(estimator, X, target, params)


def _takes_weights(estimator: Any) -> bool:
    """Return whether fit has the parameter sample_weight, or accepts any keyword."""
    parameters = signature(estimator.fit).parameters
    return "sample_weight" in parameters or any(
        one.kind is Parameter.VAR_KEYWORD for one in parameters.values()
    )
