"""The thresholds that a reader can try for each label, and the counts at each of them."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.types import Array
from halfmax.staircase.grid import Grid, equivalent
from halfmax.staircase.staircase import Staircase

_MEAN, _FEWEST, _MOST = 60, 20_000, 300_000  # steps: per label, and in all; 30 bytes each
_LONGEST = 1000  # steps of a label: more cannot be distinguished in a chart
NO_STEP = -1  # the mark of a threshold that predicts no rows


class CountedSteps(NamedTuple):
    """Counted thresholds of each label, from high to low, and the steps of the rules."""

    stairs: Staircase
    marks: dict[str, npt.NDArray[np.int64]]  # for each label, the step of the rule, or NO_STEP


def count_steps(data: LabelledScores, stairs: Staircase, marked: dict[str, Array]) -> CountedSteps:
    """Count at enough scores of positives to draw a curve, and at all marked thresholds."""
    kept = thin(stairs.grid, _room(data.n_labels))
    limits = {name: equivalent(values, data.scores.dtype) for name, values in marked.items()}
    for values in limits.values():
        label = np.flatnonzero(np.isfinite(values))
        kept |= Grid.from_entries(label, values[label], data.n_labels)
    stairs = Staircase.of_checked(data, kept)
    return CountedSteps(
        stairs, {name: _steps_at(stairs.grid, values) for name, values in limits.items()}
    )


def _room(n_labels: int) -> int:
    return min(max(_MEAN * n_labels, _FEWEST), _MOST)


def thin(grid: Grid, most: int) -> Grid:
    """Keep at most `most` steps in all: short labels keep all, long ones an even choice."""
    sizes = np.diff(grid.offsets)
    cap = min(_largest_cap(sizes, most), _LONGEST)
    kept = np.minimum(sizes, cap)
    offsets = np.append(0, np.cumsum(kept))
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], kept)
    spread = np.repeat((sizes - 1) / np.maximum(kept - 1, 1), kept)
    step = np.repeat(grid.offsets[:-1], kept) + np.rint(rank * spread).astype(np.int64)
    return Grid(offsets, grid.scores[step])


def _largest_cap(sizes: Array, most: int) -> int:
    """Return the largest number of steps per label with which all labels stay within `most`."""
    rising = np.sort(sizes)
    shorter = np.append(0, np.cumsum(rising))[:-1]
    caps = (most - shorter) // np.arange(len(rising), 0, -1)
    fits = np.flatnonzero(caps < rising)  # from here on labels are thinned
    return int(max(caps[fits[0]], 1)) if len(fits) else int(rising[-1])


def _steps_at(grid: Grid, thresholds: Array) -> npt.NDArray[np.int64]:
    """Return the step of each label that has this threshold, or NO_STEP."""
    place = np.full(grid.n_labels, NO_STEP)
    found = grid.scores == thresholds[grid.columns]
    step = np.flatnonzero(found)
    label = grid.columns[step]
    place[label] = step - grid.offsets[label]
    return place
