"""Count what rules predict and hit on documents whose terms are known, block by block."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array, Floats
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.rules import kernels
from halfmax.mesh.rules.rule import MeshRule
from halfmax.metrics.named import find_metric
from halfmax.metrics.objective import Objective

RARE = 1.0 / 100.0  # a term is rare if a smaller share of the training documents has it
MANY = 1.0 / 3.0  # a rare term floods if more documents are predicted, as in the paper


@dataclass(frozen=True, eq=False)
class Judged:
    """The counts of a rule on documents whose terms are known."""

    rule: MeshRule
    predicted: npt.NDArray[np.int64]  # for each label
    hits: npt.NDArray[np.int64]
    positives: npt.NDArray[np.int64]
    predicted_of_documents: npt.NDArray[np.int64]
    hits_of_documents: npt.NDArray[np.int64]
    positives_of_documents: npt.NDArray[np.int64]

    @property
    def n_documents(self) -> int:
        return len(self.predicted_of_documents)

    @property
    def of_labels(self) -> Floats:
        """The F1 of each label, 0 where it is 0/0."""
        return _f1(self.hits, self.predicted, self.positives)

    @property
    def macro(self) -> float:
        """The mean F1 of all labels."""
        return float(self.of_labels.mean())

    @property
    def macro_seen(self) -> float:
        """The mean F1 of the labels that some of the documents have; NaN if there are none."""
        seen = self.positives > 0
        return float(self.of_labels[seen].mean()) if seen.any() else float("nan")

    @property
    def micro(self) -> float:
        """The F1 of pooled counts."""
        return float(_f1(self.hits.sum(), self.predicted.sum(), self.positives.sum()))

    @property
    def samples(self) -> float:
        """The mean F1 of documents."""
        f1 = _f1(self.hits_of_documents, self.predicted_of_documents, self.positives_of_documents)
        return float(f1.mean())

    def flooding(self, rare: Array) -> int:
        """The number of rare labels that are predicted for more than a third of the documents."""
        return int((self.shares[rare] > MANY).sum())

    def summary(self, rare: Array) -> dict[str, Any]:
        """The scores, the mean number of labels per document, and how many rare labels flood."""
        return {
            "macro": self.macro,
            "macro_occurring": self.macro_seen,
            "micro": self.micro,
            "samples": self.samples,
            "terms_per_document": float(self.predicted_of_documents.mean()),
            "floods": self.flooding(rare),
        }

    @property
    def shares(self) -> Floats:
        """The share of documents for which each label is predicted."""
        return self.predicted / self.n_documents


def judge(
    outputs: Outputs, truth: Any, rules: Sequence[MeshRule], progress: ProgressLike = None
) -> list[Judged]:
    """Count what each rule predicts and hits, in one pass over the outputs."""
    (n_documents, n_labels), n_rules = outputs.shape, len(rules)
    labels = np.zeros((2, n_rules, n_labels), np.int64)  # predicted, hits
    documents = np.zeros((2, n_rules, n_documents), np.int64)

    def work(block: Array, rows: slice) -> Array:
        found = np.zeros((2, n_rules, n_labels), np.int64)
        for r, rule in enumerate(rules):
            cuts = rule.of_labels, rule.floors(rows)
            _count_block(block, truth[rows], cuts, found[:, r], documents[:, r, rows])
        return found

    with Progress(progress, "judging rules", n_documents) as bar:
        for found in outputs.map(work, bar):
            labels += found
    positives = np.bincount(truth.indices, minlength=n_labels)
    return [
        Judged(
            rule,
            predicted=labels[0, r],
            hits=labels[1, r],
            positives=positives,
            predicted_of_documents=documents[0, r],
            hits_of_documents=documents[1, r],
            positives_of_documents=np.diff(truth.indptr).astype(np.int64),
        )
        for r, rule in enumerate(rules)
    ]


def _count_block(
    block: Array, truth: Any, cuts: tuple[Array, Array], labels: Array, documents: Array
) -> None:
    """Add predicted and hits by label to the rows of `labels`, and set those of `documents`."""
    of_labels, of_documents = cuts
    kernels.count_above(block, of_labels, of_documents, labels[0], documents[0])
    row, column = np.repeat(np.arange(len(block)), np.diff(truth.indptr)), truth.indices
    scores = block[row, column]
    hit = (scores >= of_labels[column]) & (scores >= of_documents[row])
    labels[1] += np.bincount(column[hit], minlength=len(of_labels))
    documents[1] = np.bincount(row[hit], minlength=len(block))


def are_rare(counts: Array, n_documents: int) -> npt.NDArray[np.bool_]:
    """Whether each label is rare, by the number of training documents that have it."""
    return counts < RARE * n_documents


def _f1(hits: Any, predicted: Any, positives: Any) -> Floats:
    # F1 does not depend on true negatives, so any total will do.
    f1 = Objective(find_metric("f1"), zero_division=0.0)
    return f1(hits, predicted, positives, predicted + positives)
