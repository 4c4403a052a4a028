"""Scores of documents x labels, computed block by block; the whole matrix is never stored."""

from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks, one_blas_thread, spans
from halfmax._core.types import Array

Result = TypeVar("Result")


@dataclass(frozen=True, eq=False)
class LeaveOneOutCorrection:
    """Turn the output for a document into that of a model fitted without this document.

    With y its truth and h its leverage, the output p becomes (p - h y) / (1 - h), exactly.
    """

    leverages: Array  # documents x penalties
    penalty_of: npt.NDArray[np.intp]  # the column of each label's penalty in `leverages`
    truth: Any  # CSR, documents x labels

    def __getitem__(self, rows: "slice | Array") -> "LeaveOneOutCorrection":
        return LeaveOneOutCorrection(self.leverages[rows], self.penalty_of, self.truth[rows])

    def of_labels(self, labels: Array) -> "LeaveOneOutCorrection":
        """Return the correction for some of the labels."""
        return LeaveOneOutCorrection(self.leverages, self.penalty_of[labels], self.truth[:, labels])

    def correct(self, block: Array) -> None:
        """Correct the block in place: each row becomes the output without its document."""
        leverages = self.leverages.astype(block.dtype)[:, self.penalty_of]
        documents = np.repeat(np.arange(len(block)), np.diff(self.truth.indptr))
        block[documents, self.truth.indices] -= leverages[documents, self.truth.indices]
        block /= 1.0 - leverages


@dataclass(frozen=True, eq=False)
class Outputs:
    """The outputs ``intercept + factors @ weights``, clipped to [0, 1], as float32.

    A block is always computed in the same way, so passes over the same labels see the same numbers.
    """

    factors: npt.NDArray[np.float32]  # documents x k
    weights: npt.NDArray[np.float32]  # k x labels
    intercept: npt.NDArray[np.float32]
    left_out: LeaveOneOutCorrection | None = None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.factors), len(self.intercept)

    def __getitem__(self, rows: "slice | Array") -> "Outputs":
        left_out = None if self.left_out is None else self.left_out[rows]
        return replace(self, factors=self.factors[rows], left_out=left_out)

    def of_labels(self, labels: Array) -> "Outputs":
        """Return the outputs of some of the labels; their last bits may differ."""
        left_out = None if self.left_out is None else self.left_out.of_labels(labels)
        weights, intercept = self.weights[:, labels], self.intercept[labels]
        return replace(self, weights=weights, intercept=intercept, left_out=left_out)

    def whole(self) -> npt.NDArray[np.float32]:
        """Compute all outputs at once, for a few documents."""
        block = self.factors @ self.weights
        block += self.intercept
        if self.left_out is not None:
            self.left_out.correct(block)
        return np.clip(block, 0.0, 1.0, out=block)

    def map(
        self, work: "Callable[[Array, slice], Result]", progress: Progress | None = None
    ) -> "Generator[Result, None, None]":
        """Yield ``work(block, rows)`` for every block, on all cores, in the order of documents."""
        n_documents, n_labels = self.shape
        blocks = spans(n_documents, max(1, limits.output_block_entries // max(n_labels, 1)))
        with one_blas_thread():
            for done, rows in zip(
                map_blocks(lambda rows: work(self[rows].whole(), rows), blocks), blocks, strict=True
            ):
                if progress is not None:
                    progress.advance(rows.stop - rows.start)
                yield done
