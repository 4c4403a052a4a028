"""Run the case study in stages: fit a model to records, and apply every rule to held-out ones."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.progress import Progress, ProgressLike, counted
from halfmax._core.threads import one_blas_thread
from halfmax._core.types import Array
from halfmax.mesh.model.fit import (
    Documents,
    assemble,
    gather_records,
    learn_documents,
    left_out_outputs,
    n_tuned,
    tune_all,
)
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.ridge import Ridge
from halfmax.mesh.model.settings import PENALTIES, Settings
from halfmax.mesh.model.terms import truth_of
from halfmax.mesh.records.corpus import Corpus
from halfmax.mesh.records.generator import PAPER, SMALL, Recipe, generate
from halfmax.mesh.records.reading import find_files
from halfmax.mesh.rules.evaluate import codes_of, rules_beside
from halfmax.mesh.rules.half_max import HalfMax, find_half_max
from halfmax.mesh.rules.judge import Judged, are_rare, judge
from halfmax.mesh.rules.rule import MeshRule
from halfmax.mesh.stages import Arrays, Stage, Stages, digest_of
from halfmax.metrics.average import AVERAGES
from halfmax.paper.mesh.flatness import Sweep, spread_of, sweep

SCALES = {"small": SMALL, "paper": PAPER}
TEST_SHARE = 0.2
# The rules that are tuned on leave-one-out outputs: average and guard. Without a guard the average
# over documents would take longer than all the rest.
TUNED: dict[str, tuple[str, str | None]] = {
    "tuned macro": ("macro", None),
    "tuned micro": ("micro", None),
    **{f"auto {average}": (average, "auto") for average in AVERAGES},
}


@dataclass(frozen=True, eq=False)
class PenaltyOutcome:
    """One way to choose penalties: the best F1 of the plug-in rules, and what all rules reach."""

    penalty: str
    penalties: Array
    best: HalfMax
    judged: dict[str, Judged]
    spread: Array  # the spread of each label's outputs for the held-out documents


@dataclass(frozen=True, eq=False)
class Study:
    """The results of the study."""

    source: str
    synthetic: bool  # whether records and terms are generated
    terms: list[str]
    counts: Array  # in the training documents
    n_train: int
    n_test: int
    n_words: int
    rank: int
    by_penalty: dict[str, PenaltyOutcome]
    sweep: Sweep
    stages: list[Stage]

    @property
    def title(self) -> str:
        """The title of the study."""
        if self.synthetic:
            return "Synthetic records tagged with made-up terms"
        return "MEDLINE tagged with MeSH terms"

    @property
    def n_tuned(self) -> dict[str, int]:
        """The number of training documents that thresholds were tuned on, for each average."""
        n_terms = len(self.terms)
        return {average: n_tuned(self.n_train, n_terms, average) for average in AVERAGES}

    @property
    def rare(self) -> npt.NDArray[np.bool_]:
        """Whether each term is rare among the training documents."""
        return are_rare(self.counts, self.n_train)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out documents, which are not used for fitting."""

    factors: Array
    truth: Any


def run_study(
    data: Sequence[str] | None,
    scale: str,
    settings: Settings,
    stages: Stages,
    progress: ProgressLike = None,
    tuned: Mapping[str, tuple[str, str | None]] = TUNED,
) -> Study:
    """Fit a model, apply every rule to held-out records, and count what the rules reach.

    `data` are paths, or None for synthetic records; `tuned` are the averages and guards of the
    tuned rules, by name.
    """
    with one_blas_thread():
        return _run_study(data, scale, settings, stages, progress, tuned)


def _run_study(
    data: Sequence[str] | None,
    scale: str,
    settings: Settings,
    stages: Stages,
    progress: ProgressLike,
    tuned: Mapping[str, tuple[str, str | None]],
) -> Study:
    corpus, source = _records(data, scale, settings.seed, stages, progress)
    train, test = _split(corpus, None if data else SCALES[scale], settings.seed)
    documents = learn_documents(corpus, train, settings, stages, progress)
    ridge = Ridge.of(documents.factors, documents.truth)
    held_out = _held_out(corpus, test, documents, ridge, stages, progress)
    size = [list(ridge.cross.shape), int(ridge.truth.nnz)]
    errors = stages.run("penalties", size, lambda: {"errors": ridge.compare(progress)})["errors"]
    by_penalty = {}
    for penalty in PENALTIES:
        penalties = ridge.pick(penalty, errors)
        by_penalty[penalty] = _judge_penalties(
            penalty, penalties, ridge, held_out, settings.seed, tuned, stages, progress
        )
    counts = np.bincount(documents.truth.indices, minlength=len(documents.terms))
    rare = np.flatnonzero(are_rare(counts, len(train)))
    return Study(
        source=source,
        synthetic=not data,
        terms=documents.terms,
        counts=counts,
        n_train=len(train),
        n_test=len(test),
        n_words=len(documents.words.vocabulary),
        rank=documents.factors.shape[1],
        by_penalty=by_penalty,
        sweep=_sweep(ridge, held_out, rare, stages, progress),
        stages=stages.done,
    )


def _records(
    data: Sequence[str] | None, scale: str, seed: int, stages: Stages, progress: ProgressLike
) -> tuple[Corpus, str]:
    if data:
        n_files = len(find_files(data))
        files = "a file" if n_files == 1 else f"{n_files:,} files"
        return gather_records(data, stages, progress), files
    if scale not in SCALES:
        raise ValueError(f"scale must be 'small' or 'paper'; got {scale!r}")
    recipe = replace(SCALES[scale], seed=seed)
    make = partial(_write_generated, recipe, progress)
    corpus = stages.file("records", asdict(recipe), make, Corpus.open)
    return corpus, f"synthetic records, scale {scale!r}, seed {seed}"


def _write_generated(recipe: Recipe, progress: ProgressLike, path: Path) -> None:
    with Progress(progress, "making records", recipe.n_train + recipe.n_test) as bar:
        Corpus.write(counted(generate(recipe), bar), path)


def _split(corpus: Corpus, recipe: Recipe | None, seed: int) -> tuple[Array, Array]:
    """Split rows into training and held-out rows; generated records come in that order."""
    if recipe is not None:
        rows = np.arange(len(corpus))
        return rows[: recipe.n_train], rows[recipe.n_train :]
    rows = corpus.with_mesh
    order = np.random.default_rng(seed).permutation(rows)
    n_test = int(TEST_SHARE * len(rows))
    if not n_test:
        raise ValueError(
            f"at least {int(1 / TEST_SHARE)} records with MeSH terms are needed, to learn from "
            f"most and hold some out; got {len(rows)} among {len(corpus):,} records"
        )
    return np.sort(order[n_test:]), np.sort(order[:n_test])


def _held_out(
    corpus: Corpus,
    rows: Array,
    documents: Documents,
    ridge: Ridge,
    stages: Stages,
    progress: ProgressLike,
) -> HeldOut:
    model = assemble(documents, ridge, np.ones(len(documents.terms)), {})

    def make() -> Arrays:
        with Progress(progress, "held-out documents", len(rows)) as bar:
            return {"factors": model.factors(corpus.texts(rows), bar)}

    headings = corpus.headings()
    truth = truth_of(headings, rows, codes_of(headings, documents.terms))
    return HeldOut(stages.run("held-out documents", digest_of(rows), make)["factors"], truth)


def _judge_penalties(
    penalty: str,
    penalties: Array,
    ridge: Ridge,
    held_out: HeldOut,
    seed: int,
    tuned: Mapping[str, tuple[str, str | None]],
    stages: Stages,
    progress: ProgressLike,
) -> PenaltyOutcome:
    weights, rates = ridge.weights(penalties), ridge.rates
    outputs = Outputs(held_out.factors, weights.astype(np.float32), rates.astype(np.float32))
    found = stages.run(f"plug-in rules {penalty}", None, lambda: _plug_in(outputs, progress))
    best = HalfMax(found["labels"], float(found["all"]), found["documents"])
    left_out = left_out_outputs(ridge, penalties)

    def tune() -> Arrays:
        return tune_all(left_out, ridge.truth, tuned, seed, progress)

    cuts = stages.run(f"thresholds {penalty}", seed, tune)
    rules = rules_beside(best, cuts)
    counted = stages.run(
        f"judging {penalty}", None, lambda: _judged(outputs, held_out.truth, rules, progress)
    )
    judged = {
        rule.name: Judged(
            rule, **{name: part[r] for name, part in counted.items() if name != "spread"}
        )
        for r, rule in enumerate(rules)
    }
    return PenaltyOutcome(penalty, penalties, best, judged, counted["spread"])


def _plug_in(outputs: Outputs, progress: ProgressLike) -> Arrays:
    best = find_half_max(outputs, progress)
    return {
        "labels": best.of_labels,
        "all": np.array(best.of_all),
        "documents": best.of_documents,
    }


def _judged(outputs: Outputs, truth: Any, rules: list[MeshRule], progress: ProgressLike) -> Arrays:
    judged = judge(outputs, truth, rules, progress)
    names = [name for name in Judged.__dataclass_fields__ if name != "rule"]
    counts = {name: np.stack([getattr(one, name) for one in judged]) for name in names}
    return {**counts, "spread": spread_of(outputs, progress)}


def _sweep(
    ridge: Ridge, held_out: HeldOut, rare: Array, stages: Stages, progress: ProgressLike
) -> Sweep:
    def make() -> Arrays:
        found = sweep(ridge, held_out.factors, held_out.truth, rare, progress)
        return {name: np.asarray(part) for name, part in vars(found).items()}

    found = stages.run("sweep of penalties", None, make)
    return Sweep(found["penalties"], found["spread"], found["flooding"], int(found["n_documents"]))
