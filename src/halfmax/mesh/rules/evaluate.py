"""Evaluate a tagger on records whose terms are known."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.tagger import AUTO, PLUG_IN, Tagger
from halfmax.mesh.model.terms import truth_of
from halfmax.mesh.records.corpus import Corpus, Headings
from halfmax.mesh.rules.half_max import HalfMax, find_half_max
from halfmax.mesh.rules.judge import Judged, judge
from halfmax.mesh.rules.rule import MeshRule
from halfmax.metrics.average import AVERAGES


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The counts of every rule, without headings that the tagger does not know."""

    tagger: Tagger
    judged: list[Judged]
    n_documents: int
    n_headings: int
    n_unknown: int
    n_seen: int  # training documents among them


def evaluate(tagger: Tagger, corpus: Corpus, progress: ProgressLike = None) -> Evaluation:
    """Evaluate every rule on the records of a corpus that have MeSH terms."""
    rows = corpus.with_mesh
    if not len(rows):
        raise ValueError(f"none of the {len(corpus):,} records has MeSH terms to compare with")
    headings = corpus.headings()
    truth = truth_of(headings, rows, codes_of(headings, tagger.terms))
    with Progress(progress, "reading texts", len(rows)) as bar:
        outputs = tagger.outputs(tagger.factors(corpus.texts(rows), bar))
    rules = rules_of(tagger, outputs, progress)
    judged = judge(outputs, truth, rules, progress)
    n_headings = int(np.diff(headings.offsets)[rows].sum())
    n_seen = int(tagger.has_seen(corpus.pmids)[rows].sum())
    return Evaluation(tagger, judged, len(rows), n_headings, n_headings - int(truth.nnz), n_seen)


def rules_of(tagger: Tagger, outputs: Outputs, progress: ProgressLike = None) -> list[MeshRule]:
    """The threshold 0.5 for all, the paper's three rules for this batch, and the tagger's three."""
    own = {f"{AUTO} {average}": tagger.thresholds[average] for average in AVERAGES}
    return rules_beside(find_half_max(outputs, progress), own)


def rules_beside(best: HalfMax, tuned: Mapping[str, Array]) -> list[MeshRule]:
    """The threshold 0.5 for all, the paper's three rules, and rules of tuned thresholds."""
    return [
        MeshRule("0.5", np.full(len(best.of_labels), 0.5)),
        *(best.rule(average, f"{PLUG_IN} {average}") for average in AVERAGES),
        *(MeshRule(name, thresholds) for name, thresholds in tuned.items()),
    ]


def codes_of(headings: Headings, terms: list[str]) -> Array:
    """The code of each term among the headings; -1 if no record has it."""
    codes = {name: code for code, name in enumerate(headings.names)}
    return np.array([codes.get(term, -1) for term in terms])
