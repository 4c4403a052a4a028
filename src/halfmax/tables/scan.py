"""The two passes over a table that this process reads itself, on all cores, in bounded memory.

The first pass collects the scores of positives and counts rows; the second counts how many scores
lie at or above each step of the grid of positives. What the first has read is kept for the second
as long as it is small; the rest is read again.
"""

from collections.abc import Iterator
from threading import Lock
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.staircase.counting import accumulate, add_entries
from halfmax.staircase.grid import Grid
from halfmax.tables.codes import LabelCodes
from halfmax.tables.engines.work import add_counts, of_scores
from halfmax.tables.rows import Rows
from halfmax.tables.sources import LocalTable
from halfmax.tables.tally import NO_ROWS, Entries, Tally, join_entries


class Watch(Protocol):
    """Somebody who looks at all rows during the first pass, part by part."""

    def see(self, seen: Any, columns: Array, instances: pa.Array) -> Any:
        """What was seen of a part so far (at first None) and of these rows of it."""

    def follow(self, seen: Any) -> None:
        """Parts come in the order of the table."""


class Scan:
    """A table, read part by part; the second time from what was kept of the first."""

    def __init__(self, table: LocalTable, told: Progress, watch: Watch | None = None) -> None:
        self._table, self._told, self._watch = table, told, watch
        self._weighted = table.columns.weight is not None
        self._codes, self._kept = LabelCodes(), _Kept()
        self._known = 0  # labels, once all have been met
        self._sizes: list[int] = []  # rows of each part, once they are known

    def collect(self) -> Tally:
        """First pass: the scores of the positives, and how many rows each label has."""
        positives: list[Entries] = []
        total = self._no_counts(0)
        for found, part_total, rows, seen in map_blocks(self._collect_part, self._places):
            positives += found
            total = add_counts(total, part_total)
            if self._watch is not None:
                self._watch.follow(seen)
            self._told.advance(rows)
            self._sizes.append(rows)
        if not len(total):
            raise ValueError(NO_ROWS)
        self._known = len(total)
        return Tally(self._codes.known, join_entries(positives), total)

    def count(self, grid: Grid, pooled: bool = False) -> Array:
        """Second pass: how many scores, or what weight, lie at or above each step."""
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
                self._see_no_change(place, columns.max() < known)
                columns = np.zeros_like(columns) if pooled else columns
                scores = scores.astype(grid.scores.dtype, copy=False)
                add_entries(columns, scores, weights, grid, lowest, bins)
                rows += len(columns)
            self._see_no_change(place, rows == self._sizes[place])
            if self._weighted:  # sums of floats are taken in the order of the parts
                return rows, bins
            free.append(bins)
            return rows, None

        for rows, bins in map_blocks(count, self._places):
            total += 0 if bins is None else bins
            self._told.advance(rows)
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

    def _see_no_change(self, place: int, same: bool) -> None:
        """The second pass must meet what the first has met, on which its kernel relies."""
        if not same:
            name = self._table.parts[place].name
            raise ValueError(f"{name} has changed while it was read: try again")

    def _entries_of(self, rows: Rows) -> Entries:
        return Entries(self._codes.recode(rows), rows.scores, rows.counts)


class _Kept:
    """What the first pass has read, by part, up to so many bytes."""

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
