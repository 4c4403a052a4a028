"""The two passes over a table that this process reads itself, on all cores, in bounded memory.

The first pass collects the scores of positives and counts rows; the second counts how many scores
are at or above each step of the grid of positives. The second pass reuses what the first has read
as far as it fits in memory, and reads the rest again.
"""

from collections.abc import Iterator
from threading import Lock
from typing import Any, Protocol

import numpy as np

from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.staircase.counting import accumulate, add_entries
from halfmax.staircase.grid import Grid
from halfmax.tables.arrow import pa
from halfmax.tables.codes import LabelCodes
from halfmax.tables.engines.work import add_counts, of_scores
from halfmax.tables.rows import Rows
from halfmax.tables.sources import LocalTable
from halfmax.tables.tally import NO_ROWS, Entries, Tally, join_entries


class Watch(Protocol):
    """An observer of all rows during the first pass, part by part."""

    def see(self, seen: Any, columns: Array, instances: pa.Array) -> Any:
        """Look at some rows of a part; return its new state (at first None)."""

    def follow(self, seen: Any) -> None:
        """Take the final state of a part; parts come in the order of the table."""


class Scan:
    """Read a table part by part, the second time from what was kept of the first."""

    def __init__(self, table: LocalTable, progress: Progress, watch: Watch | None = None) -> None:
        self._table, self._progress, self._watch = table, progress, watch
        self._weighted = table.columns.weight is not None
        self._codes, self._kept = LabelCodes(), _Kept()
        self._known = 0  # number of labels, after the first pass
        self._sizes: list[int] = []  # rows of each part, after the first pass

    def collect(self) -> Tally:
        """Run the first pass: collect the scores of the positives, and count each label's rows."""
        positives: list[Entries] = []
        total = self._no_counts(0)
        for found, part_total, rows, seen in map_blocks(self._collect_part, self._places):
            positives += found
            total = add_counts(total, part_total)
            if self._watch is not None:
                self._watch.follow(seen)
            self._progress.advance(rows)
            self._sizes.append(rows)
        if not len(total):
            raise ValueError(NO_ROWS)
        self._known = len(total)
        return Tally(self._codes.known, join_entries(positives), total)

    def count(self, grid: Grid, pooled: bool = False) -> Array:
        """Run the second pass: count, or weigh, the scores at or above each step."""
        lowest, total = grid.lowest(), self._no_counts(len(grid.scores))
        free: list[Array] = []
        known = self._known

        def count(place: int) -> tuple[int, Array | None]:
            try:
                bins = free.pop()
            except IndexError:
                bins = np.zeros_like(total)
            rows = 0
            for columns, scores, weights in self._entries(place):
                self._check_unchanged(place, columns.max() < known)
                columns = np.zeros_like(columns) if pooled else columns
                scores = scores.astype(grid.scores.dtype, copy=False)
                add_entries(columns, scores, weights, grid, lowest, bins)
                rows += len(columns)
            self._check_unchanged(place, rows == self._sizes[place])
            if self._weighted:  # floats are summed in the order of the parts
                return rows, bins
            free.append(bins)
            return rows, None

        for rows, bins in map_blocks(count, self._places):
            total += 0 if bins is None else bins
            self._progress.advance(rows)
        for bins in free:
            total += bins
        return accumulate(grid, total)

    @property
    def _places(self) -> range:
        return range(len(self._table.parts))

    def _no_counts(self, size: int) -> Array:
        return np.zeros(size, np.float64 if self._weighted else np.int64)

    def _collect_part(self, place: int) -> tuple[list[Entries], Array, int, Any]:
        found, total, size, seen = [], self._no_counts(0), 0, None
        for rows in self._table.rows_of(place):
            entries = self._entries_of(rows)
            self._kept.add(place, entries)
            total = add_counts(total, np.bincount(entries.columns, rows.weights))
            positive = rows.positive
            found.append(Entries(*(column[positive] for column in entries)))
            size += rows.size
            if self._watch is not None:
                seen = self._watch.see(seen, entries.columns, rows.instances)
        return found, total, size, seen

    def _entries(self, place: int) -> Iterator[Entries]:
        kept = self._kept.get(place)
        if kept is not None:
            yield from kept
            return
        for rows in self._table.rows_of(place, of_scores(self._table.columns)):
            yield self._entries_of(rows)

    def _check_unchanged(self, place: int, same: bool) -> None:
        """Check that the second pass reads what the first has read; its kernel relies on it."""
        if not same:
            name = self._table.parts[place].name
            raise ValueError(f"{name} has changed while it was being read: try again")

    def _entries_of(self, rows: Rows) -> Entries:
        return Entries(self._codes.recode(rows), rows.scores, rows.counts)


class _Kept:
    """The entries that the first pass has read, by part, up to `limits.scan_kept_bytes`."""

    def __init__(self) -> None:
        self._parts: dict[int, list[Entries] | None] = {}  # None: it did not fit
        self._room, self._lock = limits.scan_kept_bytes, Lock()

    def add(self, place: int, entries: Entries) -> None:
        with self._lock:
            kept = self._parts.setdefault(place, [])
            if kept is None:
                return
            kept.append(entries)
            self._room -= entries.nbytes
            if self._room < 0:
                self._room += sum(one.nbytes for one in kept)
                self._parts[place] = None

    def get(self, place: int) -> list[Entries] | None:
        return self._parts.get(place, [])
