"""Fit a tagger to records, in stages: words, factors, penalties, thresholds."""

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from halfmax._core.errors import ArgumentError, HalfmaxWarning, in_python
from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike, counted
from halfmax._core.threads import one_blas_thread
from halfmax._core.types import Array, Floats
from halfmax.mesh.model.outputs import LeaveOneOutCorrection, Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.model.settings import Settings
from halfmax.mesh.model.tagger import Tagger, digests
from halfmax.mesh.model.terms import frequent_terms, truth_of
from halfmax.mesh.model.words import Words, find_factors, learn_words
from halfmax.mesh.records.corpus import Corpus, gather
from halfmax.mesh.records.reading import AnyPath, find_files
from halfmax.mesh.stages import (
    Arrays,
    Stages,
    decode_texts,
    digest_of,
    encode_texts,
    fingerprint,
    pack_sparse,
    unpack_sparse,
)
from halfmax.metrics.average import AVERAGES
from halfmax.tuning.tune import tune

FEWEST_DOCUMENTS = 3  # so that two different ones remain when one is left out


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents to learn from: their terms, words and factors."""

    terms: list[str]
    truth: Any  # CSR, documents x terms
    words: Words
    loadings: Array  # words x rank
    factors: Array  # documents x rank
    pmids: list[str]

    def __len__(self) -> int:
        return len(self.factors)


def fit_tagger(
    corpus: Corpus,
    settings: Settings | None = None,
    stages: Stages | None = None,
    progress: ProgressLike = None,
) -> Tagger:
    """Fit a tagger to all records that have MeSH terms, and tune its thresholds."""
    settings, stages = settings or Settings(), stages or Stages(None)
    with one_blas_thread():
        documents = learn_documents(corpus, corpus.with_mesh, settings, stages, progress)
        ridge = Ridge.of(documents.factors, documents.truth)
        penalties = choose_penalties(ridge, settings.penalty, stages, progress)
        outputs = left_out_outputs(ridge, penalties)
        rules = {average: (average, "auto") for average in AVERAGES}

        def make() -> Arrays:
            return tune_all(outputs, ridge.truth, rules, settings.seed, progress)

        thresholds = stages.run("thresholds", settings.seed, make)
        return assemble(documents, ridge, penalties, thresholds)


def gather_records(
    paths: AnyPath | Iterable[AnyPath], stages: Stages, progress: ProgressLike = None
) -> Corpus:
    """Gather the records of files, folders and globs, as a stage; some must have MeSH terms."""
    files = find_files(paths)

    def make(path: Path) -> None:
        corpus = gather(files, path, progress)
        if not len(corpus.with_mesh):
            path.unlink()  # no later stage can use it
            raise ValueError(
                f"there must be records with MeSH terms to learn from; none of the {len(corpus):,} "
                "records has any"
            )

    return stages.file("records", fingerprint(files), make, Corpus.open)


def learn_documents(
    corpus: Corpus, rows: Array, settings: Settings, stages: Stages, progress: ProgressLike
) -> Documents:
    """Learn the words and factors of some rows of the corpus, and list their frequent terms."""
    if len(rows) < FEWEST_DOCUMENTS:
        raise ValueError(
            f"at least {FEWEST_DOCUMENTS} records with MeSH terms are needed; got "
            f"{len(rows)} among {len(corpus):,} records"
        )
    headings = corpus.headings()
    terms = frequent_terms(headings, rows, settings.min_count)
    on = [fingerprint([corpus.path]), settings.max_words, digest_of(rows)]

    def make_words() -> Arrays:
        with Progress(progress, "words", len(rows)) as bar:
            texts = counted(corpus.texts(rows), bar)
            words, matrix = learn_words(texts, settings.max_words)
        vocabulary = encode_texts(words.vocabulary)
        return {"vocabulary": vocabulary, "idf": words.idf, **pack_sparse("matrix", matrix)}

    learned = stages.run("words", on, make_words)
    words = Words(decode_texts(learned["vocabulary"]), learned["idf"])

    def make_factors() -> Arrays:
        rank = settings.rank_for(len(rows), len(words.vocabulary))
        with Progress(progress, "factors", 0):
            factors, loadings = find_factors(unpack_sparse("matrix", learned), rank, settings.seed)
        return {"factors": factors, "loadings": loadings}

    found = stages.run("factors", [settings.rank, settings.seed], make_factors)
    names, truth = [headings.names[term] for term in terms], truth_of(headings, rows, terms)
    pmids = [corpus.pmids[row] for row in rows]
    return Documents(names, truth, words, found["loadings"], found["factors"], pmids)


def choose_penalties(
    ridge: Ridge, penalty: str | float, stages: Stages, progress: ProgressLike
) -> Array:
    """Choose the penalty of each term, as a stage."""
    how = [penalty, list(ridge.cross.shape), int(ridge.truth.nnz)]
    name = f"penalties {penalty}"
    return stages.run(name, how, lambda: {"of": ridge.choose(penalty, progress)})["of"]


def left_out_outputs(ridge: Ridge, penalties: Array) -> Outputs:
    """The outputs for the training documents, each from a model fitted without that document."""
    distinct, penalty_of = np.unique(penalties, return_inverse=True)
    leverages = ridge.leverages(distinct)
    if 1.0 - leverages.max() < np.finfo(np.float32).eps:
        raise ArgumentError(
            f"{in_python('penalty')} must be larger; with {distinct[0]:g} the output for some "
            "document depends on this document alone, so it cannot be left out"
        )
    left_out = LeaveOneOutCorrection(leverages, penalty_of, ridge.truth)
    return Outputs(
        ridge.basis.astype(np.float32),
        ridge.weights(penalties).astype(np.float32),
        ridge.rates.astype(np.float32),
        left_out,
    )


def tune_all(
    outputs: Outputs,
    truth: Any,
    rules: Mapping[str, tuple[str, str | None]],
    seed: int,
    progress: ProgressLike,
) -> Arrays:
    """Tune the thresholds of each rule: its name, and the average and guard that it uses."""
    cuts = {}
    with Progress(progress, "thresholds", len(rules)) as bar:
        for name, (average, guard) in rules.items():
            cuts[name] = tune_left_out(outputs, truth, average, guard, seed)
            bar.advance(1)
    return cuts


def n_tuned(n_documents: int, n_labels: int, average: str) -> int:
    """The number of documents that thresholds are tuned on: as many as fit in memory."""
    most = limits.tuned_scores_of_samples if average == "samples" else limits.tuned_scores
    return min(n_documents, max(1, most // n_labels))


def tune_left_out(
    outputs: Outputs, truth: Any, average: str, guard: str | None, seed: int
) -> Floats:
    """Tune thresholds on outputs whose truth is known."""
    order = np.random.default_rng(seed).permutation(len(outputs.factors))
    rows = np.sort(order[: n_tuned(*outputs.shape, average)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", HalfmaxWarning)  # the user cannot act on single labels
        return tune(truth[rows], outputs[rows].whole(), average=average, guard=guard).thresholds


def assemble(
    documents: Documents, ridge: Ridge, penalties: Array, thresholds: dict[str, Array]
) -> Tagger:
    """Combine the parts of a model into a tagger, which needs only texts."""
    return Tagger(
        terms=documents.terms,
        counts=np.bincount(documents.truth.indices, minlength=len(documents.terms)),
        documents=np.sort(digests(documents.pmids)),
        words=documents.words,
        loadings=(documents.loadings @ ridge.rotation).astype(np.float32),
        offset=(ridge.mean @ ridge.rotation).astype(np.float32),
        weights=ridge.weights(penalties).astype(np.float32),
        intercept=ridge.rates.astype(np.float32),
        penalties=penalties,
        thresholds=thresholds,
    )
