"""Averages over labels and rows: their names, and means that leave out what is unknown."""

import numpy as np

from halfmax._core.text import spell_out
from halfmax._core.types import Array

AVERAGES = ("macro", "micro", "samples")


def check_average(average: str, one_classifier: bool) -> str:
    """'macro', 'micro' or 'samples'; the paper's word 'instance' means 'samples'.

    One classifier has nothing to average, which 'binary' says too.
    """
    if average == "instance":
        return "samples"
    if average == "binary" and one_classifier:
        return "macro"
    if average not in AVERAGES:
        raise ValueError(
            f"average must be {spell_out(AVERAGES, 'or')} ('instance' means 'samples'); "
            f"got {average!r}"
        )
    return average


def mean_of_known(values: Array, weights: Array | None = None) -> float:
    """The weighted mean of what is not NaN; NaN if nothing is left."""
    known = ~np.isnan(values)
    if weights is None:
        return float(values[known].mean()) if known.any() else float("nan")
    left = weights[known].sum()
    return float((values[known] * weights[known]).sum() / left) if left > 0 else float("nan")
