"""A corpus: current records in one Arrow file, which is memory-mapped and not loaded."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from halfmax._core.files import refuse_input, whole_file
from halfmax._core.limits import limits
from halfmax._core.progress import ProgressLike
from halfmax.mesh.records.reading import AnyPath, find_files, read_records
from halfmax.mesh.records.record import Deletion, Record, join_text
from halfmax.tables.arrow import pa, pc

_REPLACED, _DELETED = b"halfmax.mesh.replaced", b"halfmax.mesh.deleted"
_SCHEMA = pa.schema(
    [
        ("pmid", pa.string()),
        ("title", pa.string()),
        ("abstract", pa.string()),
        ("mesh", pa.list_(pa.string())),
        ("version", pa.int64()),
    ]
)

Rows = npt.NDArray[np.integer[Any]]


class Headings(NamedTuple):
    """The MeSH terms of all records: those of row i are ``codes[offsets[i]:offsets[i + 1]]``."""

    offsets: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int32]
    names: list[str]  # distinct and sorted; codes are positions in it


def gather(
    paths: AnyPath | Iterable[AnyPath], path: AnyPath, progress: ProgressLike = None
) -> "Corpus":
    """Write the current records of all files to one file at `path`, which is none of them."""
    files = find_files(paths)
    refuse_input("path", path, files)
    return Corpus.write(read_records(files, progress), path)


class Corpus:
    """The current records: of each PMID the highest version, and of equal versions the last.

    Every input record is current, `replaced` by another of its PMID, or `deleted`.
    """

    def __init__(self, path: AnyPath) -> None:
        self.path = Path(path)
        self._reader, metadata = _open(self.path)
        self.replaced, self.deleted = int(metadata[_REPLACED]), int(metadata[_DELETED])
        sizes = [batch.num_rows for batch in self._batches()]
        self._starts = np.cumsum([0, *sizes])

    @classmethod
    def open(cls, path: AnyPath) -> Self:
        """Open the records at `path`, which `write` has written."""
        return cls(path)

    @classmethod
    def write(cls, records: Iterable[Record | Deletion], path: AnyPath) -> Self:
        """Write the records that are current after all records and deletions, or no file at all."""
        folder = Path(path).resolve().parent
        with whole_file(path) as part, tempfile.TemporaryFile(dir=folder) as every:
            current = _Current()
            with pa.ipc.new_stream(every, _SCHEMA) as writer:
                for batch in _in_batches(current.follow(records)):
                    writer.write_batch(batch)
            every.seek(0)
            _compact(every, current, part)
        return cls(path)

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __repr__(self) -> str:
        return f"<Corpus of {len(self):,} records in {self.path}>"

    @cached_property
    def pmids(self) -> list[str]:
        return [pmid for batch in self._batches() for pmid in batch["pmid"].to_pylist()]

    def texts(self, rows: Rows | None = None) -> Iterator[str]:
        """Yield titles with abstracts, of all records or of some ascending rows."""
        for batch in self._select(rows):
            yield from map(join_text, batch["title"].to_pylist(), batch["abstract"].to_pylist())

    def records(self, rows: Rows | None = None) -> Iterator[Record]:
        """Yield all records, or those of some ascending rows."""
        for batch in self._select(rows):
            columns = (batch[name].to_pylist() for name in Record._fields)
            for pmid, title, abstract, mesh, version in zip(*columns, strict=True):
                yield Record(pmid, title, abstract, tuple(mesh), version)

    def headings(self) -> Headings:
        """The terms of every record, as codes."""
        lists = [batch["mesh"] for batch in self._batches()]
        sizes = [np.zeros(1, np.int64)] + [_lengths(terms) for terms in lists]
        flat = pa.chunked_array([terms.flatten() for terms in lists], pa.string())
        coded = flat.dictionary_encode().unify_dictionaries().combine_chunks()
        order = pc.sort_indices(coded.dictionary).to_numpy()
        places = np.empty(len(order), np.int32)
        places[order] = np.arange(len(order), dtype=np.int32)
        names: list[str] = coded.dictionary.take(pa.array(order)).to_pylist()
        return Headings(np.cumsum(np.concatenate(sizes)), places[coded.indices.to_numpy()], names)

    @property
    def with_mesh(self) -> npt.NDArray[np.int64]:
        """The rows that have a heading, ascending."""
        sizes = [_lengths(batch["mesh"]) for batch in self._batches()]
        return np.flatnonzero(np.concatenate([np.zeros(0, np.int64), *sizes]))

    def _batches(self) -> Iterator[pa.RecordBatch]:
        return map(self._reader.get_batch, range(self._reader.num_record_batches))

    def _select(self, rows: Rows | None) -> Iterator[pa.RecordBatch]:
        if rows is None:
            yield from self._batches()
            return
        chosen = self._check(rows)
        bounds = np.searchsorted(chosen, self._starts)
        for place in np.flatnonzero(np.diff(bounds)).tolist():
            inside = chosen[bounds[place] : bounds[place + 1]] - self._starts[place]
            yield self._reader.get_batch(place).take(pa.array(inside))

    def _check(self, rows: Rows) -> npt.NDArray[np.int64]:
        array = np.asarray(rows)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise TypeError(
                "rows must be a one-dimensional array of whole numbers; got "
                f"{array.ndim} dimensions of {array.dtype}"
            )
        chosen = array.astype(np.int64)
        if np.any(np.diff(chosen) < 0):
            raise ValueError("rows must be ascending: sort them")
        if chosen.size and (chosen[0] < 0 or chosen[-1] >= len(self)):
            raise ValueError(
                f"rows must be from 0 to {len(self) - 1:,}; got {chosen[0]:,} to {chosen[-1]:,}"
            )
        return chosen


class _Current:
    """Track which rows are current while records and deletions pass."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, int]] = {}  # PMID -> version and row
        self.replaced = self.deleted = 0

    def follow(self, records: Iterable[Record | Deletion]) -> Iterator[Record]:
        """Yield the records without the deletions; each record has a row."""
        row = 0
        for record in records:
            kept = self._kept.get(record.pmid)
            if isinstance(record, Deletion):
                if kept and (record.version is None or kept[0] <= record.version):
                    del self._kept[record.pmid]
                    self.deleted += 1
                continue
            if kept is None or record.version >= kept[0]:
                self._kept[record.pmid] = (record.version, row)
            self.replaced += kept is not None
            row += 1
            yield record

    def rows(self) -> npt.NDArray[np.int64]:
        rows = np.fromiter((row for _, row in self._kept.values()), np.int64, len(self._kept))
        return np.sort(rows)


def _in_batches(records: Iterable[Record]) -> Iterator[pa.RecordBatch]:
    waiting: list[Record] = []
    characters = 0
    for record in records:
        waiting.append(record)
        characters += len(record.title) + len(record.abstract) + sum(map(len, record.mesh))
        full = len(waiting) == limits.corpus_rows_at_once
        if full or characters > limits.corpus_characters_at_once:
            yield _batch(waiting)
            waiting, characters = [], 0
    if waiting:
        yield _batch(waiting)


def _batch(records: list[Record]) -> pa.RecordBatch:
    columns = zip(*records, strict=True)
    arrays = [pa.array(c, f.type) for c, f in zip(columns, _SCHEMA, strict=True)]
    return pa.record_batch(arrays, schema=_SCHEMA)


def _compact(every: IO[bytes], current: _Current, path: Path) -> None:
    """Copy the rows that are current to `path`."""
    rows, start = current.rows(), 0
    counts = {_REPLACED: str(current.replaced), _DELETED: str(current.deleted)}
    schema = _SCHEMA.with_metadata(counts)
    with pa.ipc.open_stream(every) as reader, pa.ipc.new_file(os.fspath(path), schema) as writer:
        for batch in reader:
            first, last = np.searchsorted(rows, [start, start + batch.num_rows])
            if first < last:
                inside = batch.take(pa.array(rows[first:last] - start))
                writer.write_batch(inside.replace_schema_metadata(counts))
            start += batch.num_rows


def _lengths(lists: pa.ListArray) -> npt.NDArray[np.int64]:
    lengths: npt.NDArray[np.int32] = np.diff(lists.offsets.to_numpy())
    return lengths.astype(np.int64)


def _open(path: Path) -> tuple[Any, dict[bytes, bytes]]:
    """Open the reader of a file, and validate all of its batches."""
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}: create it with gather")
    try:
        reader = pa.ipc.open_file(pa.memory_map(os.fspath(path)))
        metadata = reader.schema.metadata or {}
        if not reader.schema.equals(_SCHEMA) or not {_REPLACED, _DELETED} <= metadata.keys():
            raise pa.ArrowInvalid("it has other columns")
        for place in range(reader.num_record_batches):
            reader.get_batch(place).validate(full=True)
    except (pa.ArrowException, OSError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise ValueError(
            f"{path} is not a corpus of records: {reason:.200}. Create it again with gather"
        ) from None
    return reader, metadata
