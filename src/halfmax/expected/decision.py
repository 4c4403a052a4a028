"""`Decision`: what to predict, what to expect of it, and the plug-in rule for comparison."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labels import Labels
from halfmax._core.result import Result, Table
from halfmax._core.types import Floats

_BATCHES = {"macro": "label", "samples": "row"}


@dataclass(frozen=True, eq=False, repr=False)
class Decision(Result):
    """Predictions that maximise the expected metric of each batch.

    Attributes
    ----------
    predictions : array-like of int8
        The values 0 and 1, in the container and shape of the probabilities.
    thresholds : ndarray of shape (batches,)
        The lowest probability predicted in each batch; ``+inf`` where nothing is predicted. To
        compare rows with it, use ``thresholds[:, None]``. Where only the first of several equal
        probabilities are predicted, such a comparison would predict all of them. A threshold
        belongs to its batch: call `decide` again for a new one.
    expected_score : float
        The mean of `expected_scores`.
    expected_scores, counts : ndarray of shape (batches,)
        The expected metric of each batch, and how many of its items are predicted.
    half_max_thresholds, half_max_counts, half_max_scores : ndarray of shape (batches,)
        The rule of the theorem: a threshold of half the best F1 (for F-beta the best divided by
        ``1 + beta^2``, for Jaccard ``J / (1 + J)``); how many items that can be true reach it,
        within the limits; and the expected metric of predicting those. It is right up to 1/n.
    metric, average : str
        What was maximised. ``average`` is ``"binary"`` for one batch.
    labels : tuple or None
        The names of the columns, if they are known and each column is a batch.

    See Also
    --------
    decide : The function that returns it.
    JointDecision : The counterpart for items that depend on each other.

    Examples
    --------
    >>> from halfmax import decide
    >>> d = decide([0.1, 0.7, 0.4, 0.05])
    >>> d.counts.tolist(), d.half_max_counts.tolist()
    ([2], [2])
    >>> round(d.threshold, 4), round(float(d.half_max_thresholds[0]), 4)
    (0.4, 0.3092)
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
    _writable: ClassVar[tuple[str, ...]] = ("predictions",)

    @property
    def threshold(self) -> float:
        """The threshold of a single batch."""
        if len(self.thresholds) > 1:
            raise AttributeError(
                f"each of the {len(self.thresholds)} batches has a threshold of its own: "
                "read .thresholds"
            )
        return float(self.thresholds[0])

    def table(self) -> Any:
        """Tabulate for each batch what is predicted and expected, and compare the half-max rule.

        Returns
        -------
        data frame or Table
            One row per batch, as a frame of the library that the data came in, or as a `Table` of
            plain columns.
        """
        return super().table()

    def _summary(self) -> str:
        size = len(self.thresholds)
        what = f"{size:,} {_BATCHES[self.average]}s" if size > 1 else "one batch"
        average = "" if self.average == "binary" else f"{self.average} "
        return f"Decision for {what}: expected {average}{self.metric} = {self.expected_score:.4f}"

    def _shown_table(self) -> Table:
        return self._plain_table().without_place()

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
