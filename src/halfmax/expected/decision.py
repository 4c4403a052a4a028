"""The result of deciding: what to predict, what to expect, and the plug-in rule beside it."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax._core.labels import Labels
from halfmax._core.result import Result, Table
from halfmax._core.types import Floats

_BATCHES = {"macro": "label", "samples": "row"}


@dataclass(frozen=True, eq=False, repr=False)
class Decision(Result):
    """Predictions that maximise the expected metric of each batch.

    Attributes
    ----------
    predictions
        0/1 as int8, in the container and shape of the probabilities.
    thresholds : ndarray, one for each batch
        The lowest probability predicted; ``+inf`` where nothing is. Compare rows with
        ``thresholds[:, None]``. Where only the first of several equal probabilities are predicted,
        a comparison would predict all of them; and a threshold belongs to its batch: decide anew.
    expected_score : float
        The mean of `expected_scores`.
    expected_scores, counts : ndarray, one for each batch
        The expected metric, and how many items are predicted.
    half_max_thresholds, half_max_counts, half_max_scores : ndarray, one for each batch
        The rule of the theorem: a threshold of half the best F1 (for F-beta the best divided by
        ``1 + beta^2``, for Jaccard ``J / (1 + J)``), how many items that can be true reach it,
        within the limits, and what is expected of predicting these. It is right up to 1/n.
    metric, average : str
        What was maximised; ``average`` is ``"binary"`` for one batch.
    labels : tuple or None
        Names of the columns, where they are known and each is a batch.
    """

    predictions: Any
    thresholds: Floats
    expected_score: float
    expected_scores: Floats
    counts: npt.NDArray[np.int64]
    half_max_thresholds: Floats
    half_max_counts: npt.NDArray[np.int64]
    half_max_scores: Floats
    metric: str
    average: str
    labels: Labels | None = None
    _frame_library: Any = field(default=None)

    @property
    def threshold(self) -> float:
        """The one threshold of a single batch."""
        if len(self.thresholds) > 1:
            raise AttributeError(
                f"each of the {len(self.thresholds)} batches has a threshold of its own: "
                "read .thresholds"
            )
        return float(self.thresholds[0])

    def table(self) -> Any:
        """Per batch: what is predicted and expected, beside the half-max rule and the difference.

        A frame of the library that the data came in, or a `Table` of plain columns.
        """
        return super().table()

    def _summary(self) -> str:
        size = len(self.thresholds)
        what = f"{size:,} {_BATCHES[self.average]}s" if size > 1 else "one batch"
        average = "" if self.average == "binary" else f"{self.average} "
        return f"Decision for {what}: expected {average}{self.metric} = {self.expected_score:.4f}"

    def _plain_table(self) -> Table:
        names = list(self.labels) if self.labels else list(range(len(self.thresholds)))
        return Table(
            {
                _BATCHES.get(self.average, "batch"): names,
                "predicted": self.counts,
                "threshold": self.thresholds,
                "expected": self.expected_scores,
                "half_max_threshold": self.half_max_thresholds,
                "half_max_predicted": self.half_max_counts,
                "half_max_expected": self.half_max_scores,
                "difference": self.expected_scores - self.half_max_scores,
            }
        )
