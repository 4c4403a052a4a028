"""The paper's three plug-in rules: predict items whose probability is at least half the maximum F1.

With calibrated probabilities p, predicting a set S of items has F1 = 2 sum_S p / (sum p + |S|), as
a ratio of expectations. For a ratio F the best set is {p >= F/2}, and the ratio that this set
reaches is not lower: repeated, F rises to its maximum in a few rounds, and the sums that a round
needs add up over blocks of documents. The items are all documents of a label (macro), everything
(micro), or all labels of a document (samples).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array, Floats
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.rules import kernels
from halfmax.mesh.rules.rule import MeshRule

# A further cut costs little compared with the scores, and trying some around a guess saves a pass.
_AROUND = np.array([0.8, 0.9, 1.0, 1.12, 1.25])


@dataclass(frozen=True, eq=False)
class HalfMax:
    """The maximum expected F1 for a batch of documents, for each of the plug-in rules."""

    of_labels: Floats  # for each label: the macro rule
    of_all: float  # for all scores pooled: the micro rule
    of_documents: Floats  # for each document: the samples rule

    def rule(self, average: str, name: str) -> MeshRule:
        """Return the rule that maximises macro, micro or per-instance (samples) F1."""
        if average == "macro":
            return MeshRule(name, _half(self.of_labels))
        if average == "micro":
            return MeshRule(name, _half(np.full(len(self.of_labels), self.of_all)))
        return MeshRule(name, np.zeros(len(self.of_labels)), _half(self.of_documents))


def _half(best: Array) -> Floats:
    """Half of the maximum F1; +inf where all probabilities are 0, so that nothing is predicted."""
    return np.where(best > 0.0, 0.5 * best, np.inf)


def find_half_max(outputs: Outputs, progress: ProgressLike = None) -> HalfMax:
    """Find the maximum F1 of the three rules for these probabilities, exact over all thresholds."""
    of_documents = np.empty(len(outputs.factors))
    with Progress(progress, "plug-in rules", 0) as bar:
        of_labels, of_all = _climb(outputs, bar, of_documents)
    return HalfMax(of_labels, of_all, of_documents)


def _climb(outputs: Outputs, bar: Progress, of_documents: Array) -> tuple[Array, float]:
    """Raise the F1 of each label, and of all labels pooled, until none rises any more.

    The first pass also finds the F1 of each document, which needs no further pass.
    """
    n_documents, n_labels = outputs.shape
    guesses, guess = np.zeros((1, n_labels)), 0.0
    if n_documents > limits.half_max_without_guess:
        few = n_documents // 16
        best, guess = _climb(outputs[:few], bar, of_documents[:few])
        guesses = _AROUND[:, None] * best
    cuts = np.concatenate([np.zeros((1, n_labels)), guesses, np.full((1, n_labels), guess)])
    gained, taken = _sums_above(outputs, 0.5 * cuts, bar, of_documents)
    total = gained[0]
    labels = _f1(gained[:-1], total, taken[:-1]).max(axis=0)
    pooled = float(_f1(gained[-1].sum(), total.sum(), taken[-1].sum()))
    active = np.arange(n_labels)
    while len(active):
        cuts = np.stack([labels[active], np.full(len(active), pooled)])
        gained, taken = _sums_above(outputs.of_labels(active), 0.5 * cuts, bar)
        reached = _f1(gained[0], total[active], taken[0])
        reached_pooled = float(_f1(gained[1].sum(), total.sum(), taken[1].sum()))
        # Cuts only rise: a label that does not move, and reaches no pooled cut, never will.
        moves = (reached > labels[active]) | ((reached_pooled > pooled) & (taken[1] > 0))
        labels[active] = np.maximum(labels[active], reached)
        pooled, active = max(pooled, reached_pooled), active[moves]
    return labels, pooled


def _f1(gained: Any, total: Any, taken: Any) -> Array:
    with np.errstate(invalid="ignore"):
        f1: Array = np.nan_to_num(2.0 * gained / (total + taken))
    return f1


def _sums_above(
    outputs: Outputs, cuts: Array, bar: Progress, of_documents: Array | None = None
) -> tuple[Array, Array]:
    """Sum and count each label's probabilities at or above its cuts: cuts x labels."""

    def work(block: Array, rows: slice) -> tuple[Array, Array]:
        if of_documents is not None:
            kernels.best_of_rows(block, of_documents[rows])
        gained, taken = np.zeros(cuts.shape), np.zeros(cuts.shape, np.int64)
        for own, above, count in zip(cuts, gained, taken, strict=True):
            kernels.add_above(block, own, above, count)
        return gained, taken

    bar.expect(len(outputs.factors))
    gained, taken = np.zeros(cuts.shape), np.zeros(cuts.shape, np.int64)
    for more_gained, more_taken in outputs.map(work, bar):
        gained += more_gained
        taken += more_taken
    return gained, taken
