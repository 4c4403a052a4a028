"""No (instance, label) may stand in a table twice: each would count twice.

Most tables are written in some order. If the instances of every label rise from row to row, which
costs one look at each row, none of its pairs stands there twice. Otherwise pairs are compared by
hashes of 64 bits, sorted piece by piece on disk where they are many; pairs with equal hashes are
then looked up, so that nobody is accused because of a hash.
"""

import tempfile
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from halfmax._core.jit import kernel
from halfmax._core.limits import limits
from halfmax._core.progress import Progress
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array
from halfmax.tables.codes import LabelCodes
from halfmax.tables.rows import Rows, plain
from halfmax.tables.sources import LocalTable

_PILE_BITS = 8  # of a hash say which of the files on disk it goes to
_SUSPECTS = 1000
_LEAST, _MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max


@kernel
def _climb(columns: Array, ids: Array, first: Array, last: Array) -> bool:
    """Whether the instances of each label rise; first and last are those of each label."""
    for e in range(columns.size):
        j = columns[e]
        if first[j] > last[j]:  # not seen yet
            first[j] = ids[e]
        elif ids[e] <= last[j]:
            return False
        last[j] = ids[e]
    return True


@kernel
def _mix(x: np.uint64) -> np.uint64:
    """Spread 64 bits over 64 bits, one to one."""
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


@kernel
def _hash_pairs(ids: Array, columns: Array, out: Array) -> None:
    for e in range(ids.size):
        out[e] = _mix(ids[e] ^ _mix(np.uint64(columns[e]) + np.uint64(0x9E3779B97F4A7C15)))


@kernel
def _hash_texts(offsets: Array, letters: Array, out: Array) -> None:
    for i in range(out.size):
        value = np.uint64(0xCBF29CE484222325)
        for k in range(offsets[i], offsets[i + 1]):
            value = (value ^ np.uint64(letters[k])) * np.uint64(0x100000001B3)
        out[i] = _mix(value)


class Risen(NamedTuple):
    """The first and last instance of each label in a part; none where first > last."""

    first: Array
    last: Array


class Rising:
    """Watches a scan, to see whether the instances of every label rise all the way."""

    def __init__(self) -> None:
        self.certain = True
        self._last = np.empty(0, np.int64)

    def see(self, seen: Risen | None, columns: Array, instances: pa.Array) -> Risen | None:
        """One batch of a part."""
        ids = plain(instances)
        if not self.certain or not pa.types.is_integer(ids.type) or ids.type == pa.uint64():
            self.certain = False
            return None
        seen = _grown(seen or Risen(np.empty(0, np.int64), np.empty(0, np.int64)), columns)
        if not _climb(columns, ids.to_numpy().astype(np.int64, copy=False), *seen):
            self.certain = False
        return seen

    def follow(self, seen: Risen | None) -> None:
        """The next part must go on above where all parts before it ended."""
        if seen is None or not self.certain:
            return
        missing = len(seen.last) - len(self._last)
        if missing > 0:
            self._last = np.append(self._last, np.full(missing, _LEAST))
        last = self._last[: len(seen.last)]
        there = seen.first <= seen.last
        if (seen.first[there] <= last[there]).any():  # of the lowest id one cannot be sure
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


def refuse_duplicates(table: LocalTable, told: Progress | None = None) -> None:
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
            if told is not None:
                told.advance(size)
        suspects = heap.twice()
    if len(suspects):
        _refuse_equal_pairs(table, codes, suspects)


def _hashes(rows: Rows, codes: LabelCodes) -> Array:
    assert rows.instances is not None
    out = np.empty(rows.size, np.uint64)
    _hash_pairs(_hash_ids(rows.instances), codes.recode(rows), out)
    return out


def _hash_ids(column: pa.Array) -> Array:
    """The same 64 bits for the same id."""
    if pa.types.is_dictionary(column.type):
        of_value: Array = _hash_ids(column.dictionary)[column.indices.to_numpy()]
        return of_value
    if pa.types.is_integer(column.type):
        kind = np.uint64 if column.type == pa.uint64() else np.int64
        return np.ascontiguousarray(column.to_numpy(), dtype=kind).view(np.uint64)
    texts = column.cast(pa.large_string())
    out = np.empty(len(texts), np.uint64)
    if not len(texts):
        return out
    _, offsets, letters = texts.buffers()
    ends = np.frombuffer(offsets, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    bytes_of = np.frombuffer(letters, np.uint8) if letters else np.empty(0, np.uint8)
    _hash_texts(ends, bytes_of, out)
    return out


class _Heap:
    """Hashes, in memory or, where they are many, in piles on disk that are sorted one by one."""

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

    def twice(self) -> Array:
        """Some of the hashes that came more than once."""
        if self._folder is None:
            return _equal_neighbours(self._taken())[:_SUSPECTS]
        self._put_down()
        piles = sorted(Path(self._folder.name).iterdir())
        found = [_equal_neighbours(np.sort(np.fromfile(pile, np.uint64))) for pile in piles]
        return np.concatenate(found)[:_SUSPECTS]

    def _taken(self) -> Array:
        """All that is held, sorted, and held no longer."""
        every = np.concatenate([np.empty(0, np.uint64), *self._held])
        self._held, self._size = [], 0
        every.sort()
        return every

    def _put_down(self) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="halfmax-")
        every = self._taken()
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
                    label = "" if rows.names is None else f" and label {labels[pair[1]].as_py()!r}"
                    raise ValueError(
                        "each (instance, label) must stand in one row; instance "
                        f"{pair[0]!r}{label} stands in {seen[pair]} and in {here}. Drop one of "
                        "them, or use instance=None if rows without an id are meant"
                    )
                seen[pair] = here
