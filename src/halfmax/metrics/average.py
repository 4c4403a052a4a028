"""Averages over labels and rows: their names, and means that leave out NaN."""

import numpy as np

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.text import spell_out
from halfmax._core.types import Array

AVERAGES = ("macro", "micro", "samples")


def check_average(average: str, one_classifier: bool) -> str:
    """Check the name of an average; the paper's word 'instance' means 'samples'.

    One classifier has nothing to average; for it 'binary' is accepted too.
    """
    if average == "instance":
        return "samples"
    if average == "binary" and one_classifier:
        return "macro"
    if average not in AVERAGES:
        raise ArgumentError(
            f"{in_python('average')} must be {spell_out(AVERAGES, 'or')} ('instance' means "
            f"'samples'); got {average!r}"
        )
    return average


def mean_of_known(values: Array, weights: Array | None = None) -> float:
    """Return the weighted mean of the values that are not NaN; NaN if there are none."""
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].mean()) if known.any() else float("nan")
    left = weights[known].sum()
    return float((values[known] * weights[known]).sum() / left) if left > 0 else float("nan")
