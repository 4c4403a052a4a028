"""What is predicted: scores that reach the threshold of their label, and of their document."""

from typing import NamedTuple

import numpy as np

from halfmax._core.types import Floats

Thresholds = Floats


class MeshRule(NamedTuple):
    """A threshold for each label, and perhaps one for each document of a batch."""

    name: str
    of_labels: Thresholds
    of_documents: Thresholds | None = None

    def floors(self, rows: slice) -> Thresholds:
        """The thresholds of these documents; scores are 0 or more, so 0 asks for nothing."""
        if self.of_documents is None:
            return np.zeros(rows.stop - rows.start)
        return self.of_documents[rows]
