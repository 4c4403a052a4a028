"""`decide`: the predictions with the highest expected metric for calibrated probabilities."""

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from halfmax._core.gate import frames, options
from halfmax._core.gate.arrays import Matrix, like_input, open_probabilities, warn_of_two_classes
from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks, spans
from halfmax._core.types import Array
from halfmax.expected import batch_kernels
from halfmax.expected.batches import Batches, BestCounts, CountRule
from halfmax.expected.best_count import best_counts
from halfmax.expected.decision import Decision
from halfmax.expected.k_bounds import check_limits
from halfmax.expected.ratio import find_ratio
from halfmax.metrics.average import check_average_without_truth
from halfmax.metrics.metric import Metric
from halfmax.metrics.named import find_metric
from halfmax.staircase.kernels import sort_short_segments

_MOST_PADDING = 2
_LONG = 64  # from this length on, numpy's sort, called once for each batch, is faster


def decide(
    y_prob: Any,
    metric: str | Metric = "f1",
    average: str = "macro",
    zero_division: float = 0.0,
    min_k: Any = 0,
    max_k: Any = None,
    *,
    progress: ProgressLike = None,
) -> Decision:
    """Find the predictions with the highest expected metric for calibrated probabilities.

    No labels are needed. The items of a batch are taken to be independent, each true with its
    probability, and the metric of *this batch* is averaged over all outcomes. The answer is exact
    over all sets of items, because the best set of a given size holds the most probable items.

    Parameters
    ----------
    y_prob : array-like of shape (rows,) or (rows, labels)
        Probabilities; dense, scipy sparse (absent entries are 0) or a data frame. One-dimensional
        input is a single batch.
    metric : str or Metric
        One of ``"f1"``, any ``"f<beta>"`` or `FBeta`, ``"jaccard"``, ``"precision"``, ``"recall"``
        or ``"accuracy"``.
    average : {"macro", "micro", "samples"}
        What a batch is: each column, the whole matrix, or each row. Use ``"samples"`` to tag
        documents, each with its own labels; under ``"macro"`` the documents of a label compete.
    zero_division : float
        The value of 0/0, from 0 to 1: the score when nothing is predicted and nothing
        is true.
    min_k, max_k : int, or one for each batch
        The fewest and most items to predict in each batch: labels of a row under ``"samples"``,
        rows of a label under ``"macro"``. If `min_k` is larger than the number of items that can
        be true, items of probability 0 are predicted in the order in which they come.
    progress : bool or callable, optional
        True to print a progress line on stderr, or a function called as ``progress(done, total)``,
        both in batches.

    Returns
    -------
    Decision
        The ``predictions`` in the container of the input (CSR if sparse), ``thresholds``,
        ``expected_score``, and for comparison the results of the plug-in threshold, half of the
        best F1. Equal probabilities are predicted in the order in which they come. Among equally
        good counts, equal up to 1e-14, the smallest wins. Recall predicts every item that can be
        true.

    Raises
    ------
    ValueError
        If `y_prob` does not hold probabilities, if the expectation of `metric` is not known in
        closed form, or if another argument is out of its range.

    Warns
    -----
    HalfmaxWarning
        If `y_prob` looks like the two columns of a binary classifier's ``predict_proba``.

    See Also
    --------
    decide_joint : The same question for items that depend on each other.
    decide_table : The same question for a long table of any size.
    expected_curve : The expected metric of every count, for one batch.
    tune : Thresholds from labelled scores, which need not be probabilities.

    Examples
    --------
    >>> from halfmax import decide
    >>> d = decide([0.1, 0.7, 0.4, 0.05])
    >>> d.predictions.tolist(), d.threshold, round(d.expected_score, 4)
    ([0, 1, 1, 0], 0.4, 0.6184)
    """
    matrix = open_probabilities(y_prob, "y_prob")
    warn_of_two_classes(matrix.values, "y_prob")
    decision = decide_matrix(
        matrix, metric, average, zero_division, min_k, max_k, progress=progress
    )
    return replace(decision, predictions=like_input(decision.predictions, matrix, y_prob))


def decide_matrix(
    matrix: Matrix,
    metric: str | Metric,
    average: str,
    zero_division: float = 0.0,
    min_k: Any = 0,
    max_k: Any = None,
    *,
    progress: ProgressLike = None,
) -> Decision:
    """`decide` for checked probabilities; the predictions are an array or a CSR matrix."""
    ratio = find_ratio(metric)
    found = find_metric(metric)
    zero_division = options.check_share_known("zero_division", zero_division)
    one_batch = matrix.values.ndim == 1
    average = check_average_without_truth(average, one_classifier=one_batch)
    average = "binary" if one_batch else average
    batches = _batches(matrix.values, average)
    fewest, most = check_limits(min_k, max_k, batches.shape)
    rule = CountRule(ratio, zero_division, fewest, most)
    with Progress(progress, f"decide: {batches.shape[0]:,} batches", batches.shape[0]) as meter:
        work = _decide_stored if matrix.is_sparse else _decide_dense
        best, predictions = work(batches, rule, meter)
    predictions = predictions.T if average == "macro" else predictions
    predictions = predictions.reshape(matrix.values.shape)
    return Decision(
        predictions=predictions,
        thresholds=best.thresholds,
        expected_score=float(best.values.mean()),
        expected_scores=best.values,
        counts=best.counts,
        half_max_thresholds=best.half_thresholds,
        half_max_counts=best.half_counts,
        half_max_scores=best.half_values,
        metric=found.name,
        average=average,
        labels=matrix.labels if average == "macro" else None,
        _frame_library=None if matrix.native is None else frames.library(matrix.native),
    )


def _batches(values: Any, average: str) -> Any:
    """Arrange the numbers so that each row is one batch."""
    if average == "samples":
        return values
    turned = values.T if average == "macro" else values.reshape((1, -1))
    return turned if isinstance(values, np.ndarray) else sparse.csr_array(turned)


def _decide_dense(batches: Array, rule: CountRule, meter: Progress) -> tuple[BestCounts, Array]:
    n_batches, n_items = batches.shape
    predictions = np.empty(batches.shape, np.int8, order="C" if batches.flags.c_contiguous else "F")

    def work(part: slice) -> tuple[BestCounts, Array]:
        block = np.ascontiguousarray(batches[part], np.float64)
        edges = np.arange(len(block) + 1) * n_items
        best = best_counts(Batches(np.sort(block).ravel(), edges, n_items), _of(rule, part))
        batch_kernels.mark(block, best.thresholds, best.at_threshold, predictions[part])
        return best, predictions[part]

    step = max(limits.decide_fewest_columns, limits.decide_block_cells // n_items)
    best, _ = _run(work, spans(n_batches, step), meter)
    return best, predictions


def _decide_stored(batches: Any, rule: CountRule, meter: Progress) -> tuple[BestCounts, Any]:
    n_batches, n_items = batches.shape

    def work(part: slice) -> tuple[BestCounts, Array]:
        edges = batches.indptr[part.start : part.stop + 1]
        stored = slice(edges[0], edges[-1])
        data, indices = batches.data[stored], batches.indices[stored]
        edges = (edges - edges[0]).astype(np.int64, copy=False)
        best = best_counts(Batches(*_sorted(data, edges), n_items), _of(rule, part))
        ends = np.append(0, np.cumsum(best.counts))
        places = np.empty(ends[-1], indices.dtype)
        batch_kernels.mark_stored(
            data, indices, edges, best.thresholds, best.at_threshold, ends, places
        )
        return best, places

    step = max(1, limits.decide_block_stored * n_batches // max(1, batches.nnz))
    best, places = _run(work, spans(n_batches, step), meter)
    indices = np.concatenate(places)
    ends = np.append(0, np.cumsum(best.counts)).astype(batches.indptr.dtype)
    ones = np.ones(len(indices), np.int8)
    return best, sparse.csr_array((ones, indices, ends), shape=batches.shape)


def _run(
    work: Callable[[slice], tuple[BestCounts, Array]], parts: list[slice], meter: Progress
) -> tuple[BestCounts, list[Array]]:
    """Run all parts on all cores; an interruption waits for the running ones, drops the rest."""
    best, others = [], []
    with closing(map_blocks(work, parts)) as results:
        for one, other in results:
            best.append(one)
            others.append(other)
            meter.advance(len(one.counts))
    return BestCounts(*map(np.concatenate, zip(*best, strict=True))), others


def _of(rule: CountRule, part: slice) -> CountRule:
    """The rule for a part of the batches."""
    return rule._replace(min_k=rule.min_k[part], max_k=rule.max_k[part])


def _sorted(data: Array, edges: Array) -> tuple[Array, Array]:
    """Return a copy with each batch sorted, and the edges between batches."""
    lengths = np.diff(edges)
    longest = lengths.max()
    if longest * len(lengths) <= _MOST_PADDING * len(
        data
    ):  # numpy sorts the rows of a matrix fastest
        padded = np.zeros((len(lengths), longest))
        batch_kernels.spread(data, edges, padded)
        padded.sort(axis=1)
        return padded.ravel(), np.arange(len(lengths) + 1) * longest
    rising = data.astype(np.float64)
    sort_short_segments(edges, rising, _LONG - 1)
    for batch in np.flatnonzero(lengths >= _LONG):
        rising[edges[batch] : edges[batch + 1]].sort()
    return rising, edges
