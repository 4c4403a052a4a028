"""The winner's curse at the paper's scale: how much an uninformative classifier predicts."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Curse:
    """Fractions predicted positive, one for each run, of each base rate at one n."""

    n: int
    runs: int
    seed: int
    base_rates: tuple[float, ...]
    fractions: npt.NDArray[np.float64]  # base rates x runs


@dataclass(frozen=True, eq=False)
class Plane:
    """How often less than half is predicted, for each base rate and each n."""

    runs: int
    seed: int
    sizes: npt.NDArray[np.int64]
    base_rates: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]  # base rates x sizes
