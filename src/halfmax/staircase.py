"""The staircase: what every threshold would count, for each label, as small as its positives.

A threshold that lies between two positives' scores catches no more of them than the higher one and
at least as many negatives. So for every metric that rises with tp and falls with fp, a label with
``a`` positives has at most ``a`` thresholds worth trying, however many rows there are. The
staircase of a label is the list of these, from high to low, with the number of true positives and
of predictions at each. Averages, bootstraps, diagnoses and plots read it and never the raw scores.

It is built in two additive passes. The first collects the positives' scores into a `Grid`; the
second drops every score into its place on that grid. Counts of parts of the data over one grid add
up with ``+``, wherever the parts are::

    grid = Grid.of(y_1, s_1) | Grid.of(y_2, s_2)
    whole = Staircase.of(y_1, s_1, grid=grid) + Staircase.of(y_2, s_2, grid=grid)
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from halfmax import _inputs
from halfmax._inputs import LabelledScores, Labels
from halfmax._jit import kernel, summing_kernel
from halfmax._threads import map_blocks, spans

Array = npt.NDArray[Any]

_TILE_ROWS, _TILE_LABELS = 1024, 64  # a tile of float32 fills half of a 512 KiB cache
_SHORT = 64  # up to so many steps, comparing with each of them beats a binary search
_LOCKSTEP = 64  # binary searches that wait for memory together
_BLOCKS, _BLOCK_ROWS, _BLOCK_ENTRIES = 8, 1 << 16, 1 << 20
_LONG_SEGMENT = 1 << 12


@kernel
def _group(columns: Array, scores: Array, offsets: Array, grouped: Array) -> None:
    """Counting sort: move each score to the segment of its label."""
    place = offsets[:-1].copy()
    for e in range(columns.size):
        grouped[place[columns[e]]] = scores[e]
        place[columns[e]] += 1


@kernel
def _sort_short_segments(offsets: Array, scores: Array, longest: int) -> None:
    """Sort within labels; numpy's own sort, which has vector instructions, takes the long ones."""
    for j in range(offsets.size - 1):
        if offsets[j + 1] - offsets[j] <= longest:
            scores[offsets[j] : offsets[j + 1]].sort()


@kernel
def _keep_distinct(
    offsets: Array, ascending: Array, descending: Array, copies: Array, kept: Array
) -> int:
    """Write each label's distinct scores from high to low, and how often each came."""
    written = 0
    for j in range(offsets.size - 1):
        kept[j] = written
        for e in range(offsets[j + 1] - 1, offsets[j] - 1, -1):
            if e == offsets[j + 1] - 1 or ascending[e] != ascending[e + 1]:
                descending[written] = ascending[e]
                copies[written] = 0
                written += 1
            copies[written - 1] += 1
    kept[-1] = written
    return written


@kernel
def _add_entries(
    columns: Array,
    scores: Array,
    weights: Array,
    offsets: Array,
    grid: Array,
    lowest: Array,
    bins: Array,
) -> None:
    """Add the weight of each (label, score) to the highest step that it reaches.

    Each search waits for memory at a random place. Sixty-four of them taken in step wait together,
    which halves the time on a grid larger than the cache.
    """
    first = np.empty(_LOCKSTEP, np.int64)
    length = np.empty(_LOCKSTEP, np.int64)
    entry = np.empty(_LOCKSTEP + 1, np.int64)
    e = 0
    while e < columns.size:
        k = 0
        while e < columns.size and k < _LOCKSTEP:
            entry[k] = e
            k += scores[e] >= lowest[columns[e]]
            e += 1
        longest = 0
        for q in range(k):
            first[q] = offsets[columns[entry[q]]]
            length[q] = offsets[columns[entry[q]] + 1] - first[q]
            longest = max(longest, length[q])
        while longest > 1:
            for q in range(k):
                half = length[q] >> 1
                first[q] += half * (grid[first[q] + half - 1] > scores[entry[q]])
                length[q] -= half
            longest -= longest >> 1
        for q in range(k):
            bins[first[q]] += weights[entry[q]]


@summing_kernel
def _add_to_few(scores: Array, grid: Array, bins: Array) -> None:
    """Count the scores at or above each of a few steps.

    The counter is a float32, exact for the 1,024 rows of a tile, because it fills vector registers
    four times better than an integer of 64 bits.
    """
    above = np.int64(0)
    for k in range(grid.size):
        step = grid[k]
        reached = np.float32(0.0)
        for r in range(scores.size):
            reached += np.float32(1.0) if scores[r] >= step else np.float32(0.0)
        bins[k] += np.int64(reached) - above
        above = np.int64(reached)


@kernel
def _add_to_many(scores: Array, weights: Array, grid: Array, bins: Array) -> None:
    for r in range(scores.size):
        first, length = 0, grid.size
        if scores[r] < grid[length - 1]:
            continue
        while length > 1:
            half = length >> 1
            first += half * (grid[first + half - 1] > scores[r])
            length -= half
        bins[first] += weights[r]


@kernel
def _add_block(
    block: Array, weights: Array, offsets: Array, grid: Array, bins: Array, few: int
) -> None:
    """Add a dense block of rows x labels by tiles, each turned so that its labels lie flat."""
    n_rows, n_labels = block.shape
    tile = np.empty((_TILE_LABELS, _TILE_ROWS), block.dtype)
    for top in range(0, n_rows, _TILE_ROWS):
        rows = min(_TILE_ROWS, n_rows - top)
        for left in range(0, n_labels, _TILE_LABELS):
            labels = min(_TILE_LABELS, n_labels - left)
            # Sixteen rows at a time keep the cache lines that are read and written in reach.
            for strip in range(0, rows, 16):
                for j in range(labels):
                    for r in range(strip, min(strip + 16, rows)):
                        tile[j, r] = block[top + r, left + j]
            for j in range(labels):
                start, end = offsets[left + j], offsets[left + j + 1]
                if end == start:
                    continue
                if end - start <= few:
                    _add_to_few(tile[j, :rows], grid[start:end], bins[start:end])
                else:
                    _add_to_many(
                        tile[j, :rows], weights[top : top + rows], grid[start:end], bins[start:end]
                    )


@kernel
def _accumulate(offsets: Array, bins: Array) -> None:
    """Turn what falls on each step into what lies at or above it."""
    for j in range(offsets.size - 1):
        for k in range(offsets[j] + 1, offsets[j + 1]):
            bins[k] += bins[k - 1]


@kernel
def _look_up(
    truth_indptr: Array,
    truth_indices: Array,
    indptr: Array,
    indices: Array,
    found: Array,
) -> None:
    """For each positive of the truth its place among the stored scores, or -1; rows are sorted."""
    for i in range(truth_indptr.size - 1):
        e, end = indptr[i], indptr[i + 1]
        for t in range(truth_indptr[i], truth_indptr[i + 1]):
            while e < end and indices[e] < truth_indices[t]:
                e += 1
            found[t] = e if e < end and indices[e] == truth_indices[t] else -1


@dataclass(frozen=True, eq=False)
class Grid:
    """The distinct scores of the positives of each label, from high to low.

    ``scores[offsets[j]:offsets[j + 1]]`` are those of label ``j``. Grids of parts of the data unite
    with ``|``.
    """

    offsets: npt.NDArray[np.int64]
    scores: Array

    @classmethod
    def of(cls, y_true: Any, y_score: Any) -> "Grid":
        """First pass: collect the positives' scores."""
        return cls._of(_inputs.read_labelled(y_true, y_score))

    @classmethod
    def _of(cls, data: LabelledScores) -> "Grid":
        columns, scores, _ = positive_entries(data)
        return cls.from_entries(columns, scores, data.n_labels)

    @classmethod
    def from_entries(cls, columns: Array, scores: Array, n_labels: int) -> "Grid":
        """The grid of (label, score) pairs; -inf can never be reached and is left out."""
        return distinct_scores(columns, scores, n_labels)[0]

    def __or__(self, other: "Grid") -> "Grid":
        if not isinstance(other, Grid):
            return NotImplemented
        if self.n_labels != other.n_labels:
            raise ValueError(
                "grids must have the same number of labels to unite; "
                f"got {self.n_labels} and {other.n_labels}"
            )
        columns = np.concatenate([self.columns, other.columns])
        return Grid.from_entries(
            columns, np.concatenate([self.scores, other.scores]), self.n_labels
        )

    def __repr__(self) -> str:
        return f"Grid({self.n_labels:,} labels, {len(self.scores):,} steps)"

    @property
    def n_labels(self) -> int:
        return len(self.offsets) - 1

    @property
    def columns(self) -> npt.NDArray[np.int64]:
        """The label of each step."""
        return np.repeat(np.arange(self.n_labels), np.diff(self.offsets))

    def lowest(self) -> Array:
        """The lowest step of each label; +inf, which no score reaches, where there is none."""
        ends = self.offsets[1:]
        lowest = np.full(self.n_labels, np.inf, self.scores.dtype)
        some = ends > self.offsets[:-1]
        lowest[some] = self.scores[ends[some] - 1]
        return lowest

    def equals(self, other: "Grid") -> bool:
        """True if both have the same steps."""
        return np.array_equal(self.offsets, other.offsets) and np.array_equal(
            self.scores, other.scores
        )


@dataclass(frozen=True, eq=False)
class Staircase:
    """For each label, its thresholds from high to low and the counts that each would give.

    Step ``k`` means the threshold ``grid.scores[k]``: ``predicted[k]`` rows (or their weight) score
    at or above it, and ``true_positives[k]`` of these are positive. Steps
    ``grid.offsets[j]:grid.offsets[j + 1]`` belong to label ``j``, which has ``positives[j]``
    positives among ``total[j]`` rows. Counts are int64, or float64 where rows have weights.

    >>> stairs = Staircase.of([1, 0, 1, 0], [0.9, 0.8, 0.4, 0.1])
    >>> stairs.thresholds, stairs.true_positives, stairs.predicted
    (array([0.9, 0.4]), array([1, 2]), array([1, 3]))
    """

    grid: Grid
    true_positives: Array
    predicted: Array
    positives: Array
    total: Array
    labels: Labels | None = None

    @classmethod
    def of(
        cls,
        y_true: Any,
        y_score: Any,
        sample_weight: Any = None,
        labels: Iterable[Hashable] | None = None,
        grid: Grid | None = None,
    ) -> "Staircase":
        """Build it from labelled scores; with ``grid``, count a part of the data on that grid."""
        return cls.of_checked(_inputs.read_labelled(y_true, y_score, sample_weight, labels), grid)

    @classmethod
    def of_checked(cls, data: LabelledScores, grid: Grid | None = None) -> "Staircase":
        """The same for data that has passed the gate."""
        foreign = grid is not None
        if grid is not None:
            data, grid = _of_one_dtype(data, grid)
        columns, scores, weights = positive_entries(data)
        kind = np.int64 if data.weights is None else np.float64
        positives = np.bincount(
            columns, None if data.weights is None else weights, minlength=data.n_labels
        ).astype(kind, copy=False)
        if grid is None:  # the second value counts whole rows: enough unless they have weights
            grid, hits = distinct_scores(columns, scores, data.n_labels)
        if foreign or data.weights is not None:
            hits = np.zeros(len(grid.scores), kind)
            _add_entries(columns, scores, weights, grid.offsets, grid.scores, grid.lowest(), hits)
        reached = _count_scores(data, grid)
        _accumulate(grid.offsets, hits)
        _accumulate(grid.offsets, reached)
        total = np.full(data.n_labels, data.total, kind)
        return cls(grid, hits, reached, positives, total, data.labels)

    @property
    def thresholds(self) -> npt.NDArray[np.float64]:
        """The threshold of each step."""
        return self.grid.scores.astype(np.float64)

    @property
    def n_labels(self) -> int:
        return self.grid.n_labels

    def __len__(self) -> int:
        return self.n_labels

    def __getitem__(self, label: Hashable) -> "Staircase":
        """The staircase of one label, by its name, or by its place where labels have no names."""
        names: Any = range(self.n_labels) if self.labels is None else self.labels
        try:
            j = names.index(label)
        except ValueError:
            raise KeyError(f"no label {label!r} among {self.n_labels:,}") from None
        steps = slice(*self.grid.offsets[j : j + 2])
        size = steps.stop - steps.start
        return Staircase(
            Grid(np.array([0, size]), self.grid.scores[steps]),
            self.true_positives[steps],
            self.predicted[steps],
            self.positives[j : j + 1],
            self.total[j : j + 1],
            None if self.labels is None else (label,),
        )

    def __add__(self, other: "Staircase") -> "Staircase":
        if not isinstance(other, Staircase):
            return NotImplemented
        if not self.grid.equals(other.grid):
            raise ValueError(
                "staircases must stand on the same grid to be added: unite the parts' grids with "
                "'|' first, then count each part with Staircase.of(..., grid=united)"
            )
        if self.labels != other.labels:
            raise ValueError("staircases must name the same labels in the same order to be added")
        return replace(
            self,
            true_positives=self.true_positives + other.true_positives,
            predicted=self.predicted + other.predicted,
            positives=self.positives + other.positives,
            total=self.total + other.total,
        )

    def __repr__(self) -> str:
        labels = "1 label" if self.n_labels == 1 else f"{self.n_labels:,} labels"
        return (
            f"Staircase({labels}, {len(self.grid.scores):,} steps, "
            f"{self.positives.sum():,} positives in {self.total.max():,} rows)"
        )


def distinct_scores(columns: Array, scores: Array, n_labels: int) -> tuple[Grid, Array]:
    """The grid of (label, score) pairs and how many pairs fall on each of its steps."""
    if not np.isfinite(scores).all():
        columns, scores = columns[scores > -np.inf], scores[scores > -np.inf]
    offsets = np.zeros(n_labels + 1, np.int64)
    np.cumsum(np.bincount(columns, minlength=n_labels), out=offsets[1:])
    grouped = np.empty_like(scores)
    _group(columns, scores, offsets, grouped)

    def sort(labels: slice) -> None:
        _sort_short_segments(offsets[labels.start : labels.stop + 1], grouped, _LONG_SEGMENT)

    for _ in map_blocks(sort, spans(n_labels, _BLOCK_ROWS)):
        pass
    for j in np.flatnonzero(np.diff(offsets) > _LONG_SEGMENT):
        grouped[offsets[j] : offsets[j + 1]].sort()
    distinct, copies = np.empty_like(grouped), np.empty(len(grouped), np.int64)
    kept = np.empty_like(offsets)
    size = _keep_distinct(offsets, grouped, distinct, copies, kept)
    if size < len(distinct):
        distinct, copies = distinct[:size].copy(), copies[:size].copy()
    return Grid(kept, distinct), copies


def _of_one_dtype(data: LabelledScores, grid: Grid) -> tuple[LabelledScores, Grid]:
    """Scores and grid in the same type of float, without rounding either."""
    if grid.n_labels != data.n_labels:
        raise ValueError(
            f"grid must have the {data.n_labels} labels of y_score; got {grid.n_labels}"
        )
    cast = grid.scores.astype(data.scores.dtype)
    if not np.array_equal(cast, grid.scores):
        data = data._replace(scores=data.scores.astype(np.float64))
        cast = grid.scores.astype(np.float64)
    return data, replace(grid, scores=cast)


def positive_entries(data: LabelledScores) -> tuple[Array, Array, Array]:
    """Label, score and weight of every positive; one without a score scores -inf."""
    if data.is_binary:
        rows = np.flatnonzero(data.truth)
        return np.zeros(len(rows), np.int64), data.scores[rows], _row_weights(data, rows)
    truth, scores = data.truth, data.scores
    rows = np.repeat(np.arange(data.n_rows), np.diff(truth.indptr))
    if isinstance(scores, np.ndarray):
        found = scores[rows, truth.indices]
    else:
        place = locate_positives(data)
        stored = scores.data if scores.nnz else np.zeros(1, scores.dtype)
        found = np.where(place >= 0, stored[place], np.array(-np.inf, scores.dtype))
    return truth.indices, found, _row_weights(data, rows)


def locate_positives(data: LabelledScores) -> Array:
    """Where the score of each positive is stored in the sparse score matrix; -1 if it is not."""
    truth, scores = data.truth, data.scores
    place = np.empty(truth.nnz, np.int64)
    _look_up(truth.indptr, truth.indices, scores.indptr, scores.indices, place)
    return place


def _row_weights(data: LabelledScores, rows: Array) -> Array:
    """The weight of each of these rows."""
    return _units(len(rows)) if data.weights is None else data.weights[rows]


def _units(size: int) -> Array:
    """The weights of rows without weights: a one, held once."""
    return np.broadcast_to(np.int32(1), size)


def _count_scores(data: LabelledScores, grid: Grid) -> Array:
    """Second pass: how many scores fall on each step and not on a higher one."""
    blocks_of = _dense_blocks if isinstance(data.scores, np.ndarray) else _sparse_blocks
    count, blocks = blocks_of(data, grid)
    bins = np.zeros(len(grid.scores), np.int64 if data.weights is None else np.float64)
    for steps, counted in map_blocks(count, blocks):
        bins[steps] += counted
    return bins


def _dense_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores = data.scores.reshape(data.n_rows, -1)
    weights = _units(data.n_rows) if data.weights is None else data.weights
    few = _SHORT if data.weights is None else 0

    def count(part: tuple[slice, slice]) -> tuple[slice, Array]:
        rows, labels = part
        offsets = grid.offsets[labels.start : labels.stop + 1]
        steps = slice(offsets[0], offsets[-1])
        bins = np.zeros(steps.stop - steps.start, weights.dtype)
        block = scores[rows, labels]
        _add_block(block, weights[rows], offsets - steps.start, grid.scores[steps], bins, few)
        return steps, bins

    sides = spans(data.n_rows, max(_BLOCK_ROWS, data.n_rows // _BLOCKS))
    tops = spans(data.n_labels, max(_TILE_LABELS, data.n_labels // _BLOCKS))
    return count, [(rows, labels) for labels in tops for rows in sides]


def _sparse_blocks(data: LabelledScores, grid: Grid) -> Any:
    scores, lowest = data.scores, grid.lowest()

    def count(entries: slice) -> tuple[slice, Array]:
        size = entries.stop - entries.start
        if data.weights is None:
            weights = _units(size)
        else:
            rows = np.searchsorted(scores.indptr, np.arange(entries.start, entries.stop), "right")
            weights = data.weights[rows - 1]
        bins = np.zeros(len(grid.scores), weights.dtype)
        _add_entries(
            scores.indices[entries],
            scores.data[entries],
            weights,
            grid.offsets,
            grid.scores,
            lowest,
            bins,
        )
        return slice(None), bins

    # Each block has counts of its own to add up, worth it if its entries are several times as many.
    blocks = min(max(scores.nnz // (4 * max(len(grid.scores), 1)), 4), 64)
    return count, spans(scores.nnz, max(_BLOCK_ENTRIES, scores.nnz // blocks + 1))
