"""The paper's table: the terms that a rule predicts most often."""

from typing import NamedTuple

import numpy as np

from halfmax.paper.mesh.study import PenaltyOutcome, Study

_COMMON_ROWS = 8  # the number of rows of the paper's table
_RARE_IN_A_RUN = 2  # consecutive rare terms that are shown; the rest of a run is only counted


class Term(NamedTuple):
    """A row of the table: a term, and the number of rare terms after it that are left out."""

    rank: int  # by the number of predictions, 1 is the most frequent
    name: str
    predicted: int  # the number of held-out documents
    best: float  # the maximum F1 expected by the rule
    threshold: float
    reached: float  # the F1 on the held-out documents
    positives: int  # in the training documents
    rare: bool
    left_out: int = 0


def rank_terms(study: Study, penalty: str, average: str) -> list[Term]:
    """Rank the terms that a plug-in rule predicts most often.

    The ranking ends at the eighth term that is not rare. Of a run of rare terms the first are shown
    and the others counted, because there can be thousands.
    """
    outcome, rule = study.by_penalty[penalty], f"plug-in {average}"
    judged, rare = outcome.judged[rule], study.rare
    best, thresholds = _reached_for(outcome, average)
    # Terms that are predicted equally often are sorted by the F1 that the rule expects.
    order = np.lexsort((-best, -judged.predicted))
    rows, common, run = list[Term](), 0, 0
    for rank, j in enumerate(order.tolist(), 1):
        if common == _COMMON_ROWS or not judged.predicted[j]:
            break
        run = run + 1 if rare[j] else 0
        common += not rare[j]
        if run > _RARE_IN_A_RUN:
            rows[-1] = rows[-1]._replace(left_out=rows[-1].left_out + 1)
            continue
        rows.append(
            Term(
                rank,
                name=study.terms[j],
                predicted=int(judged.predicted[j]),
                best=float(best[j]),
                threshold=float(thresholds[j]),
                reached=float(judged.of_labels[j]),
                positives=int(study.counts[j]),
                rare=bool(rare[j]),
            )
        )
    return rows


def _reached_for(outcome: PenaltyOutcome, average: str) -> tuple[np.ndarray, np.ndarray]:
    """The maximum F1 and threshold of each term; for documents their mean."""
    n_labels = len(outcome.best.of_labels)
    if average == "samples":
        mean = float(outcome.best.of_documents.mean())
        return np.full(n_labels, mean), np.full(n_labels, mean / 2.0)
    pooled = np.full(n_labels, outcome.best.of_all)
    best = pooled if average == "micro" else outcome.best.of_labels
    return best, best / 2.0
