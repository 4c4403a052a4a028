"""The fitted tagger: texts in, terms out; saved to a file without pickle."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.files import whole_file
from halfmax._core.limits import limits
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.types import Array, Floats
from halfmax.mesh.model import file
from halfmax.mesh.model.outputs import Outputs
from halfmax.mesh.model.words import Words
from halfmax.mesh.rules.half_max import find_half_max
from halfmax.mesh.rules.rule import MeshRule
from halfmax.metrics.average import AVERAGES, check_average_without_truth

Singles = npt.NDArray[np.float32]

AUTO, PLUG_IN = RULES = ("auto", "plug-in")


class Tag(NamedTuple):
    """A predicted term and its score, the estimated probability that it is right."""

    term: str
    score: float


def digests(names: Iterable[str]) -> npt.NDArray[np.uint64]:
    """Digest each name to eight bytes; a million names collide with probability 1 in 40 million."""
    found = (hashlib.blake2b(name.encode(), digest_size=8).digest() for name in names)
    return np.frombuffer(b"".join(found), "<u8").astype(np.uint64)


@dataclass(frozen=True, eq=False, repr=False)
class Tagger:
    """Tag texts with the terms of the records that the tagger was fitted on.

    Attributes
    ----------
    terms : list of str
        All known terms, sorted.
    counts : ndarray (m,)
        The number of training documents with each term.
    documents : ndarray (n,)
        Digests of the PMIDs of the training documents, sorted.
    penalties : ndarray (m,)
        The ridge penalty of each term.
    thresholds : dict
        For "macro", "micro" and "samples" the thresholds of all terms, tuned with
        ``guard="auto"`` on leave-one-out outputs.
    words, loadings, offset, weights, intercept
        The model: outputs are ``intercept + (tfidf @ loadings - offset) @ weights``.
    """

    terms: list[str]
    counts: npt.NDArray[np.int64]
    documents: npt.NDArray[np.uint64]
    words: Words
    loadings: Singles
    offset: Singles
    weights: Singles
    intercept: Singles
    penalties: Floats
    thresholds: dict[str, Floats]

    def __repr__(self) -> str:
        return (
            f"Tagger({len(self.terms):,} terms, {len(self.words.vocabulary):,} words, rank "
            f"{len(self.offset)}, fitted on {self.n_documents:,} documents)"
        )

    @property
    def n_documents(self) -> int:
        """The number of training documents."""
        return len(self.documents)

    def has_seen(self, pmids: Iterable[str]) -> npt.NDArray[np.bool_]:
        """Whether each of these records was used for training."""
        return np.isin(digests(pmids), self.documents)

    def factors(self, texts: Iterable[str], progress: Progress | None = None) -> Singles:
        """The factors of texts, the input of the ridge: documents x rank."""
        if isinstance(texts, (str, bytes)):
            raise TypeError(f"texts must be a list of texts; got the single text {texts!r:.60}")
        parts, texts = [np.empty((0, len(self.offset)), np.float32)], iter(texts)
        while some := list(islice(texts, limits.texts_at_once)):
            parts.append(self.words.matrix(some) @ self.loadings - self.offset)
            if progress is not None:
                progress.advance(len(some))
        return np.concatenate(parts)

    def outputs(self, factors: Singles) -> Outputs:
        """The scores of all terms, computed block by block."""
        return Outputs(factors, self.weights, self.intercept)

    def rule(
        self, outputs: Outputs, average: str, rule: str = AUTO, progress: ProgressLike = None
    ) -> MeshRule:
        """Return the thresholds of a rule for a batch of documents."""
        average = check_average_without_truth(average, one_classifier=False)
        if rule not in RULES:
            raise ArgumentError(f"{in_python('rule')} must be 'auto' or 'plug-in'; got {rule!r}")
        name = f"{rule} {average}"
        if rule == AUTO:
            return MeshRule(name, self.thresholds[average])
        return find_half_max(outputs, progress).rule(average, name)

    def tag(
        self,
        texts: Iterable[str],
        average: str = "micro",
        rule: str = AUTO,
        progress: ProgressLike = None,
    ) -> list[list[Tag]]:
        """Tag texts; the terms of each text are sorted by score, highest first.

        Parameters
        ----------
        texts : iterable of str
            Titles and abstracts.
        average : {"micro", "macro", "samples"}
            The F1 to maximise.
        rule : {"auto", "plug-in"}
            ``"auto"`` uses the thresholds learned with the model, the same for every text;
            ``"plug-in"`` those of the paper: half of the maximum expected F1 of these texts
            together.
        progress : bool, callable or None
            True for lines on stderr, or a function of (done, total).

        Returns
        -------
        list of list of Tag
            The predicted terms of each text.
        """
        with Progress(progress, "reading texts", 0) as bar:
            outputs = self.outputs(self.factors(texts, bar))
        chosen = self.rule(outputs, average, rule, progress)
        with Progress(progress, "tagging", outputs.shape[0]) as bar:
            return list(self.tags(outputs, chosen, bar))

    def tags(
        self, outputs: Outputs, rule: MeshRule, progress: Progress | None = None
    ) -> Iterator[list[Tag]]:
        """Yield the terms that a rule predicts, document by document."""

        def work(block: Array, rows: slice) -> list[list[Tag]]:
            above = (block >= rule.of_labels) & (block >= rule.floors(rows)[:, None])
            return [self._sorted(*pair) for pair in zip(block, above, strict=True)]

        for block in outputs.map(work, progress):
            yield from block

    def _sorted(self, scores: Array, predicted: Array) -> list[Tag]:
        found = np.flatnonzero(predicted)
        order = found[np.argsort(-scores[found], kind="stable")]
        return [Tag(self.terms[j], float(scores[j])) for j in order]

    def save(self, path: str | os.PathLike[str], overwrite: bool = True) -> None:
        """Write the model to one file, whole or not at all."""
        with whole_file(path, overwrite) as part:
            file.write(
                part,
                texts={"terms": self.terms, "vocabulary": self.words.vocabulary},
                arrays={
                    "counts": self.counts,
                    "documents": self.documents,
                    "idf": self.words.idf,
                    "loadings": self.loadings,
                    "offset": self.offset,
                    "weights": self.weights,
                    "intercept": self.intercept,
                    "penalties": self.penalties,
                    **{f"thresholds_{name}": cuts for name, cuts in self.thresholds.items()},
                },
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a file of `save`; everything in it is checked, and nothing in it is executed."""
        texts, arrays = file.read(path)
        return cls(
            terms=texts["terms"],
            counts=arrays["counts"],
            documents=arrays["documents"],
            words=Words(texts["vocabulary"], arrays["idf"]),
            loadings=arrays["loadings"],
            offset=arrays["offset"],
            weights=arrays["weights"],
            intercept=arrays["intercept"],
            penalties=arrays["penalties"],
            thresholds={name: arrays[f"thresholds_{name}"] for name in AVERAGES},
        )
