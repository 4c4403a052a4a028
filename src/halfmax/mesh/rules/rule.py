"""A rule: which scores are predicted, by the thresholds of their label and document."""

from typing import NamedTuple

import numpy as np

from halfmax._core.types import Floats

Thresholds = Floats


class MeshRule(NamedTuple):
    """A threshold for each label, and optionally one for each document of a batch."""

    name: str
    of_labels: Thresholds
    of_documents: Thresholds | None = None

    def floors(self, rows: slice) -> Thresholds:
        """The thresholds of these documents; scores are 0 or more, so 0 excludes none."""
        if self.of_documents is None:
            return np.zeros(rows.stop - rows.start)
        return self.of_documents[rows]
