"""Find (instance, label) pairs that appear in two rows of a table, where they would count twice.

Most tables are written in some order. If the instances of every label rise from row to row, which
takes one look at each row, no pair can appear twice. Otherwise pairs are compared by 64-bit hashes.
If there are many, the hashes go to files on disk that are sorted one by one. Pairs with equal
hashes are then looked up, so that a collision is never reported as a duplicate.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.errors import ArgumentError, setting
from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.tables import kernels
from halfmax.tables.arrow import pa
from halfmax.tables.codes import LabelCodes
from halfmax.tables.columns import Columns
from halfmax.tables.convert import to_numpy
from halfmax.tables.rows import Rows, plain
from halfmax.tables.sources import LocalTable

_PILE_BITS = 8  # the leading bits of a hash, which choose its file on disk
_SUSPECTS = 1000  # repeated hashes that are looked up
ONE_ROW_EACH = "each (instance, label) pair must appear in one row only"
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


class Risen(NamedTuple):
    """The first and last instance of each label in a part; the label is absent if first > last."""

    first: Array
    last: Array


class Rising:
    """Watch a scan to see whether the instances of every label rise throughout the table."""

    def __init__(self) -> None:
        self.certain = True
        self._last = np.empty(0, np.int64)

    def see(self, seen: Risen | None, columns: Array, instances: pa.Array) -> Risen | None:
        """Look at one batch of a part."""
        ids = plain(instances)
        if not self.certain or not pa.types.is_integer(ids.type) or ids.type == pa.uint64():
            self.certain = False
            return None
        seen = _grown(seen or Risen(np.empty(0, np.int64), np.empty(0, np.int64)), columns)
        if not kernels.climb(columns, to_numpy(ids).astype(np.int64, copy=False), *seen):
            self.certain = False
        return seen

    def follow(self, seen: Risen | None) -> None:
        """Check that the next part continues above the end of all parts before it."""
        if seen is None or not self.certain:
            return
        missing = len(seen.last) - len(self._last)
        if missing > 0:
            self._last = np.append(self._last, np.full(missing, _LEAST))
        last = self._last[: len(seen.last)]
        there = seen.first <= seen.last
        if (seen.first[there] <= last[there]).any():  # the lowest possible id is never certain
            self.certain = False
        last[there] = seen.last[there]


def _grown(seen: Risen, columns: Array) -> Risen:
    missing = int(columns.max()) + 1 - len(seen.first)
    if missing <= 0:
        return seen
    return Risen(
        np.append(seen.first, np.full(missing, _MOST)),
        np.append(seen.last, np.full(missing, _LEAST)),
    )


def refuse_duplicates(table: LocalTable, progress: Progress | None = None) -> None:
    """Raise an error that names two rows of the same pair, if there are any."""
    columns = replace(table.columns, score=None, truth=None, weight=None)
    table, codes = replace(table, columns=columns), LabelCodes()
    with _Heap() as heap:

        def pile_up(place: int) -> int:
            size = 0
            for rows in table.rows_of(place):
                heap.add(_hashes(rows, codes))
                size += rows.size
            return size

        for size in map_blocks(pile_up, range(len(table.parts))):
            if progress is not None:
                progress.advance(size)
        suspects = heap.repeated()
    if len(suspects):
        _refuse_equal_pairs(table, codes, suspects)


def _hashes(rows: Rows, codes: LabelCodes) -> Array:
    assert rows.instances is not None
    out = np.empty(rows.size, np.uint64)
    kernels.hash_pairs(_hash_ids(rows.instances), codes.recode(rows), out)
    return out


def _hash_ids(column: pa.Array) -> Array:
    """Return 64 bits for each id, equal for equal ids."""
    if pa.types.is_dictionary(column.type):
        of_value: Array = _hash_ids(column.dictionary)[to_numpy(column.indices)]
        return of_value
    if pa.types.is_integer(column.type):
        kind = np.uint64 if column.type == pa.uint64() else np.int64
        return np.ascontiguousarray(to_numpy(column), dtype=kind).view(np.uint64)
    texts = column.cast(pa.large_string())
    out = np.empty(len(texts), np.uint64)
    if not len(texts):
        return out
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    bytes_of = np.frombuffer(letters, np.uint8) if letters else np.empty(0, np.uint8)
    kernels.hash_texts(ends, bytes_of, out)
    return out


class _Heap:
    """Hashes in memory or, if there are many, in piles on disk that are sorted one by one."""

    def __init__(self) -> None:
        self._held: list[Array] = []
        self._size, self._lock = 0, Lock()
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def __enter__(self) -> "_Heap":
        return self

    def __exit__(self, *_: object) -> None:
        if self._folder is not None:
            self._folder.cleanup()

    def add(self, hashes: Array) -> None:
        with self._lock:
            self._held.append(hashes)
            self._size += len(hashes)
            if self._size >= limits.hashes_in_memory:
                self._put_down()

    def repeated(self) -> Array:
        """Return some of the hashes that were added more than once."""
        if self._folder is None:
            return _equal_neighbours(self._take_sorted())[:_SUSPECTS]
        self._put_down()
        piles = sorted(Path(self._folder.name).iterdir())
        found = [_equal_neighbours(np.sort(np.fromfile(pile, np.uint64))) for pile in piles]
        return np.concatenate(found)[:_SUSPECTS]

    def _take_sorted(self) -> Array:
        """Return all hashes in memory, sorted, and forget them."""
        every = np.concatenate([np.empty(0, np.uint64), *self._held])
        self._held, self._size = [], 0
        every.sort()
        return every

    def _put_down(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="halfmax-")
        every = self._take_sorted()
        ends = np.arange(1, 1 << _PILE_BITS, dtype=np.uint64) << np.uint64(64 - _PILE_BITS)
        for pile, part in enumerate(np.split(every, np.searchsorted(every, ends))):
            with (Path(self._folder.name) / f"{pile:03}").open("ab") as file:
                file.write(part.data)


def _equal_neighbours(rising: Array) -> Array:
    repeated: Array = rising[1:][rising[1:] == rising[:-1]]
    return repeated


def _refuse_equal_pairs(table: LocalTable, codes: LabelCodes, suspects: Array) -> None:
    seen: dict[tuple[Any, int], str] = {}
    labels = codes.known
    for place in range(len(table.parts)):
        for rows in table.rows_of(place):
            columns, hashes = codes.recode(rows), _hashes(rows, codes)
            assert rows.instances is not None
            for row in np.flatnonzero(np.isin(hashes, suspects)).tolist():
                pair = rows.instances[row].as_py(), int(columns[row])
                here = rows.place.row(row)
                if pair in seen:
                    name = name_pair(pair[0], labels[pair[1]].as_py(), table.columns)
                    raise ArgumentError(
                        f"{ONE_ROW_EACH}; {name} appears in {seen[pair]} and again in {here}. Drop "
                        f"one of them, or pass {setting('instance', None)} if rows have no ids"
                    )
                seen[pair] = here


def name_pair(instance: Any, label: Any, columns: Columns) -> str:
    """Name a pair in an error message; a table of one classifier has no labels."""
    if columns.label is None:
        return f"instance {instance!r}"
    return f"the pair (instance {instance!r}, label {label!r})"
