"""How flat the outputs of a label must be for the macro rule to predict it for many documents.

Let p be the outputs for a label, b > 0 their mean and t a cut. The macro rule's threshold, half of
the maximum F1, is at most t, so that all documents with p >= t are predicted, iff

    mean of max(p - t, 0)  <=  b t.

The rarer a label, the less its outputs may rise above a cut that lets many documents through. For
outputs that spread like a normal distribution around b, a third of the documents passes iff their
standard deviation, divided by b, is at most b / (0.2200 - 0.4307 b).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.rules.half_max import find_half_max
from halfmax.mesh.rules.judge import MANY, judge

_SWEPT_DOCUMENTS = 1000
_SWEPT = slice(2, 19)  # the penalties of a ridge that make a difference


@dataclass(frozen=True, eq=False)
class Sweep:
    """The effect of a growing penalty, the same for all labels, on the rare labels."""

    penalties: Array
    spread: Array  # the median over rare labels
    flooding: Array  # the number of rare labels predicted for more than a third of the documents
    n_documents: int


def flattest(base_rate: Any, share: float = MANY) -> Array:
    """The largest spread with which a label of this base rate is predicted for this share."""
    from scipy import stats

    cut = stats.norm.isf(share)
    above = stats.norm.pdf(cut) - cut * share  # the mean of max(z - cut, 0)
    spread: Array = base_rate / (above - cut * base_rate)
    return spread


def spread_of(outputs: Outputs, progress: ProgressLike = None) -> Array:
    """The standard deviation of each label's outputs, divided by their mean."""
    n_documents, n_labels = outputs.shape
    about = outputs.intercept.astype(np.float64)  # differences from it do not cancel

    def work(block: Array, _: slice) -> Array:
        distance = block - about
        return np.stack([distance.sum(axis=0), (distance**2).sum(axis=0)])

    sums = np.zeros((2, n_labels))
    with Progress(progress, "flatness", n_documents) as bar:
        for found in outputs.map(work, bar):
            sums += found
    shift, square = sums / n_documents
    deviation = np.sqrt(np.maximum(square - shift**2, 0.0))
    mean = about + shift
    spread: Array = np.divide(deviation, mean, out=np.zeros(n_labels), where=mean > 0.0)
    return spread


def sweep(ridge: Ridge, factors: Array, truth: Any, rare: Array, progress: ProgressLike) -> Sweep:
    """Give all labels the same penalty, from small to large, and measure the rare ones."""
    some, rates = factors[:_SWEPT_DOCUMENTS], ridge.rates[rare].astype(np.float32)
    positives, penalties = truth[: len(some)][:, rare], ridge.tried[_SWEPT]
    spread, flooding = np.full(len(penalties), np.nan), np.zeros(len(penalties), np.int64)
    with Progress(progress, "sweep of penalties", len(penalties)) as bar:
        for i, penalty in enumerate(penalties if len(rare) else ()):
            weights = ridge.weights(np.array(penalty))[:, rare].astype(np.float32)
            outputs = Outputs(some, weights, rates)
            rule = find_half_max(outputs).rule("macro", "macro")
            (judged,) = judge(outputs, positives, [rule])
            flooding[i] = judged.flooding(np.arange(len(rare)))
            spread[i] = np.median(spread_of(outputs))
            bar.advance(1)
    return Sweep(penalties, spread, flooding, len(some))
