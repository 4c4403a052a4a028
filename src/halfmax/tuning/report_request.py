"""What `Thresholds.report` passes on to the package that writes the page."""

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from halfmax._core.progress import ProgressLike

if TYPE_CHECKING:
    from halfmax.tuning.thresholds import Thresholds


@dataclass(frozen=True, eq=False)
class ReportRequest:
    """The arguments of `Thresholds.report`, which documents them."""

    thresholds: "Thresholds"
    path: str | os.PathLike[str]
    y_true: Any = None
    y_score: Any = None
    sample_weight: Any = None
    labels: Any = None
    pos_label: Any = None
    metric: Any = None
    assessment: Any = None
    diagnosis: Any = None
    decision: Any = None
    title: str | None = None
    n_resamples: int | None = None
    seed: int = 0
    overwrite: bool = True
    progress: ProgressLike = None
