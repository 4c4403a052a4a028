"""The public `score`: any metric of predictions, averaged as scikit-learn does."""

from typing import Any, overload

import numpy as np

from halfmax._core.gate import labelled, options
from halfmax._core.types import Array, Floats
from halfmax.metrics.average import check_average, mean_of_known, mean_over_labels
from halfmax.metrics.cost import RowCost, check_rows_of_costs, minus_mean_cost
from halfmax.metrics.counts import confusion
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric


@overload
def score(
    y_true: Any,
    y_pred: Any,
    metric: str | Metric = ...,
    average: str = ...,
    sample_weight: Any = ...,
    zero_division: float = ...,
    *,
    pos_label: Any = ...,
) -> float: ...


@overload
def score(
    y_true: Any,
    y_pred: Any,
    metric: str | Metric = ...,
    *,
    average: None,
    sample_weight: Any = ...,
    zero_division: float = ...,
    pos_label: Any = ...,
) -> Floats: ...


def score(
    y_true: Any,
    y_pred: Any,
    metric: str | Metric = "f1",
    average: str | None = "macro",
    sample_weight: Any = None,
    zero_division: float = 0.0,
    *,
    pos_label: Any = None,
) -> float | Floats:
    """Compute a metric of predictions.

    Parameters
    ----------
    y_true : array-like, 1-D or rows x labels
        The truth, two classes as in `tune`: dense, scipy sparse or a data frame. Sparse matrices
        are never turned dense.
    y_pred : array-like, 1-D or rows x labels
        The predictions in any of these containers: the classes of the truth, or 0 and 1 as
        ``Thresholds.predict`` returns them.
    metric : str or Metric
        The name of a metric as in `tune`, such as ``"f1"``, ``"mcc"`` or ``"accuracy"`` (the share
        of cells that are right; scikit-learn's multilabel accuracy counts whole rows), or a
        `Metric`, such as `cost` returns.
    average : {"macro", "micro", "samples", "weighted"} or None
        Mean over labels, pooled counts, mean over rows, mean over labels weighted by their
        positives; None returns the score of each label. 1-D input has nothing to average.
    sample_weight : 1-D array-like, optional
        One weight for each row.
    zero_division : float
        The value of 0/0, from 0 to 1; NaN leaves it out of averages.
    pos_label : class, optional
        The positive class, as in `tune`.

    Returns
    -------
    float or ndarray of shape (labels,)
        The averaged metric, minus the mean cost for costs; one for each label if `average` is
        None.

    Raises
    ------
    ValueError
        If an option is unknown, shapes differ, or an input does not hold two classes.
    TypeError
        If an input has an unsuitable type.

    See Also
    --------
    tune : Find the thresholds that maximise a metric.
    assess : Estimate the score that new data will show.
    Metric : Define a metric of your own.

    Examples
    --------
    >>> score([[1, 0], [1, 1]], [[1, 1], [0, 1]], average="micro").__round__(4)
    0.6667
    >>> score(["yes", "no", "yes"], ["yes", "no", "no"], "mcc", pos_label="yes")
    0.5
    """
    metric = find_metric(metric)
    zero_division = options.check_zero_division(zero_division)
    truth, predictions = labelled.read_predictions(y_true, y_pred, sample_weight, pos_label)
    one_classifier = isinstance(truth, np.ndarray)
    if average is not None or one_classifier:
        average = check_average(average, one_classifier)
    weights = labelled.check_weights(sample_weight, truth.shape[0])
    check_rows_of_costs(metric, y_true=y_true, y_pred=y_pred)
    if isinstance(metric, RowCost):
        return minus_mean_cost(metric, truth, predictions, weights)
    if one_classifier:
        counts = _binary_counts(truth, predictions, weights)
        return float(metric(*counts, zero_division=zero_division))
    if average == "samples":
        values = metric(*row_counts(truth, predictions), zero_division=zero_division)
        return mean_of_known(values, weights)
    counts = label_counts(truth, predictions, weights)
    if average == "micro":
        tp, fp, fn, tn = (part.sum() for part in counts)
        return float(metric(tp, fp, fn, tn, zero_division))
    of_label = metric(*counts, zero_division=zero_division)
    if average is None:
        return of_label
    return mean_over_labels(of_label, average, counts[0] + counts[2])


def row_counts(truth: Any, predictions: Any) -> tuple[Array, Array, Array, Array]:
    """Return tp, fp, fn, tn of each row of two CSR matrices of ones."""
    hits = truth.multiply(predictions).tocsr()
    return confusion(
        np.diff(hits.indptr), np.diff(predictions.indptr), np.diff(truth.indptr), truth.shape[1]
    )


def label_counts(
    truth: Any, predictions: Any, weights: Array | None
) -> tuple[Array, Array, Array, Array]:
    """Return tp, fp, fn, tn of each column of two CSR matrices of ones."""
    hits = truth.multiply(predictions).tocsr()
    total = truth.shape[0] if weights is None else weights.sum()
    tp, predicted, positives = (_column_sums(m, weights) for m in (hits, predictions, truth))
    return confusion(tp, predicted, positives, total)


def _binary_counts(
    truth: Array, predictions: Array, weights: Array | None
) -> tuple[Array, Array, Array, Array]:
    # Pairs of classes as 0..3; bincount adds weights in row order, so equal sets have equal sums.
    pair = truth + np.uint8(2) * predictions
    if weights is None:
        tn, fn, fp, tp = np.bincount(pair, minlength=4)
    else:
        tn, fn, fp, tp = np.bincount(pair, weights, minlength=4)
    return tp, fp, fn, tn


def _column_sums(matrix: Any, weights: Array | None) -> Array:
    per_entry = None if weights is None else np.repeat(weights, np.diff(matrix.indptr))
    return np.bincount(matrix.indices, per_entry, minlength=matrix.shape[1])
