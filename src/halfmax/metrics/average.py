"""Averages over labels and rows: their names, and means that leave out NaN."""

from typing import Any

import numpy as np

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.text import spell_out
from halfmax._core.types import Array

AVERAGES = ("macro", "micro", "samples")  # those of the paper
WEIGHTED = "weighted"  # the mean over labels, weighted by their positives


def check_average(average: Any, one_classifier: bool) -> str:
    """Check the name of an average; the paper's word 'instance' means 'samples'.

    One classifier has nothing to average; for it 'binary' is accepted too.
    """
    if one_classifier and average in (WEIGHTED, None):
        raise ArgumentError(
            f"{setting('average', average)} is for many labels; one classifier has one score, that "
            f"of its positive class: leave {in_python('average')} out"
        )
    if average == WEIGHTED:
        return WEIGHTED
    if average is None:
        raise ArgumentError(
            f"{setting('average', None)} is a score for each label, and one number is maximised "
            f"here: use {setting('average', 'macro')}, which tunes each label by itself; its "
            "result has label_scores"
        )
    return _known(average, one_classifier, (*AVERAGES, WEIGHTED))


def check_average_without_truth(average: Any, one_classifier: bool) -> str:
    """Check an average where positives are not known, so that they cannot weight labels."""
    return _known(average, one_classifier, AVERAGES)


def _known(average: Any, one_classifier: bool, names: tuple[str, ...]) -> str:
    if average == "instance":
        return "samples"
    if average == "binary" and one_classifier:
        return "macro"
    if average not in AVERAGES:
        raise ArgumentError(
            f"{in_python('average')} must be {spell_out(names, 'or')} ('instance' means "
            f"'samples'); got {average!r}"
        )
    return str(average)


def mean_over_labels(values: Array, average: str, positives: Array) -> float:
    """Return the mean over labels: plain, or for 'weighted' by the positives of each label.

    Without any positives both are the same, as in scikit-learn.
    """
    known = ~np.isnan(values)
    if average != WEIGHTED or not positives[known].any():
        return mean_of_known(values)
    return mean_of_known(values, np.asarray(positives, np.float64))


def mean_of_known(values: Array, weights: Array | None = None) -> float:
    """Return the weighted mean of the values that are not NaN; NaN if there are none."""
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].mean()) if known.any() else float("nan")
    values, weights = values[known], weights[known]
    left = weights.sum()
    # A value of weight 0 may be infinite, such as the limit of a label without positives.
    parts = np.multiply(values, weights, out=np.zeros(len(values)), where=weights > 0)
    return float(parts.sum() / left) if left > 0 else float("nan")
