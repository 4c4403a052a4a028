"""Files, globs and folders of Parquet, Arrow IPC and CSV, as parts that are read separately."""

import glob
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from halfmax._core.limits import limits
from halfmax._core.text import spell_out
from halfmax.tables.arrow import pa
from halfmax.tables.columns import Columns
from halfmax.tables.dialect import Dialect, find_dialect

_BUFFER_BYTES = 1 << 20  # read buffer of a column, so that a row group is not loaded whole
PARQUET, ARROW, CSV = "Parquet", "Arrow IPC", "CSV"
_SUFFIXES = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": ARROW,
    ".arrows": ARROW,
    ".feather": ARROW,
    ".ipc": ARROW,
    ".csv": CSV,
    ".tsv": CSV,
    ".txt": CSV,  # if it is named: in folders such files are notes
}
_OTHER_DATA = ("", ".xz", ".zip", ".orc", ".avro", ".json", ".jsonl", ".ndjson", ".xlsx")
_STREAM_ENDS = (b"\xff\xff\xff\xff\0\0\0\0", b"\0\0\0\0")  # since Arrow 0.15, and before
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd", ".lz4": "lz4", ".br": "brotli"}


class Part(NamedTuple):
    """A part of a table that can be read by itself, as often as needed."""

    name: str
    rows: int | None  # None: not known before it is read
    read: Callable[[list[str] | None], Iterator[pa.RecordBatch]]  # the columns named, or all
    first: int = 0  # the number of its first row in messages


class File(NamedTuple):
    """One file: its path, schema and parts."""

    path: str
    schema: pa.Schema
    parts: list[Part]


def format_of(path: str) -> str | None:
    """The format of a file by its suffix, or None."""
    stem = Path(path).name.lower()
    for ending in _COMPRESSED:
        if stem.endswith(ending):
            stem = stem.removesuffix(ending)
            return CSV if _SUFFIXES.get(Path(stem).suffix) == CSV else None
    return _SUFFIXES.get(Path(stem).suffix)


def compression_of(path: str) -> str | None:
    """The compression of a file by its suffix, or None."""
    return _COMPRESSED.get(Path(path).suffix.lower())


def delimiter_of(path: str) -> str:
    """The delimiter of a CSV file by its suffix."""
    name = Path(path).with_suffix("") if compression_of(path) else Path(path)
    return "\t" if name.suffix.lower() == ".tsv" else ","


def dialect_of(path: str) -> Dialect:
    """The dialect of a CSV file by its suffix and its first lines."""
    return find_dialect(path, delimiter_of(path), compression_of(path))


def open_files(paths: Sequence[str], columns: Columns) -> list[File]:
    """Open every file that the paths, globs and folders name; raise an error if one is unreadable.

    Their schemas are read now, their rows later.
    """
    found = find_files(paths)
    files = [os.path.realpath(path) for path in found]
    if len(set(files)) < len(files):
        twice = next(path for path, file in zip(found, files, strict=True) if files.count(file) > 1)
        raise ValueError(f"each file must be named only once; {twice} would be counted twice")
    formats: dict[str, str] = {}
    for path in found:
        kind = format_of(path)
        if kind is None:
            known = spell_out([*_SUFFIXES, ".csv.gz"], "or", most=20)
            raise ValueError(f"{path}: cannot tell the format; a file name must end in {known}")
        formats.setdefault(kind, path)
    if len(formats) > 1:
        some = ", ".join(f"{path} is {kind}" for kind, path in formats.items())
        raise ValueError(f"all files of a table must have the same format; {some}: use a glob")
    opener = {PARQUET: _open_parquet, ARROW: _open_arrow, CSV: _open_csv}[next(iter(formats))]
    return [opener(path, columns) for path in found]


def find_files(paths: Sequence[str]) -> list[str]:
    """List every file that the paths, globs and folders name."""
    return [file for path in paths for file in _expand(path)]


def takes_in(folder: str, path: str) -> bool:
    """Whether a file at this path is, or would be, read as part of the folder."""
    inside = Path(os.path.relpath(os.path.realpath(path), os.path.realpath(folder)))
    hidden = any(name.startswith(".") for name in inside.parts)  # ".." too: not in the folder
    return not hidden and not _is_set_aside(inside) and _is_part(path)


def _expand(path: str) -> list[str]:
    if os.path.isdir(path):
        found = _inside(path)
        if not found:
            raise FileNotFoundError(f"the folder {path} contains no Parquet, Arrow or CSV file")
        return found
    if os.path.exists(path):
        return [path]
    if any(sign in path for sign in "*?["):
        matches = sorted(glob.glob(path, recursive=True))
        if not Path(path).name.startswith("_"):
            matches = [p for p in matches if not Path(p).name.startswith("_")]
        parts = [file for p in matches for file in (_inside(p) if os.path.isdir(p) else [p])]
        if not parts:
            raise FileNotFoundError(f"no file matches {path}")
        return list(dict.fromkeys(parts))
    raise FileNotFoundError(f"there is no file or folder {path}")


def _inside(folder: str) -> list[str]:
    """List the data files of a folder and its subfolders, except names that begin with _ or dot."""
    if os.path.isdir(os.path.join(folder, "_delta_log")):
        raise ValueError(
            f"{folder} is a Delta table, whose log says which files belong to it: open it with "
            "deltalake and pass its to_pyarrow_dataset()"
        )
    every = sorted(glob.glob(os.path.join(glob.escape(folder), "**"), recursive=True))
    files = [path for path in every if os.path.isfile(path)]
    files = [path for path in files if not _is_set_aside(Path(path).relative_to(folder))]
    known = [path for path in files if _is_part(path)]
    for path in set(files) - set(known) if known else ():
        if Path(path).suffix.lower() in (*_OTHER_DATA, *_COMPRESSED):
            raise ValueError(
                f"{path} in the folder {folder} may contain rows, and its format is unknown: name "
                "the files to read, or use a glob"
            )
    return known


def _is_part(path: str) -> bool:
    """Whether a file of a folder is read: files of text that nobody named are notes."""
    return format_of(path) is not None and ".txt" not in Path(path.lower()).suffixes[-2:]


def _is_set_aside(path: Path) -> bool:
    return any(name.startswith("_") and "=" not in name for name in path.parts)


@contextmanager
def reader_errors(path: str, kind: str, part: str = "") -> Iterator[None]:
    """Add the name of the file to errors of its reader."""
    try:
        yield
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, PermissionError):
            raise PermissionError(f"no permission to read {path}") from None
        where = f"{part} of {path}" if part else path
        reason = " ".join(str(error).split()).rstrip(".")
        if getattr(error, "errno", None):  # an error of the system, not of the file
            raise OSError(f"{where} cannot be read: {reason:.300}") from error
        hint = "" if " conversion error" in reason else ". It may be truncated or damaged"
        if kind == CSV and isinstance(error, UnicodeDecodeError):
            hint = ". It must be UTF-8"
        raise ValueError(f"{where} cannot be read as {kind}: {reason:.300}{hint}") from error


def checked_batches(path: str, kind: str, part: str, batches: Callable[[], Any]) -> Iterator[Any]:
    """Validate batches as they are read, and add the name of the file to errors.

    Readers trust a file: string offsets or dictionary codes may be out of range.
    """
    with reader_errors(path, kind, part):
        for batch in batches():
            batch.validate(full=True)
            yield batch


def readable(schema: pa.Schema) -> pa.Schema:
    """Decode the names of a schema now, so that an error can name the file."""
    str([(field.name, field.type) for field in schema])
    return schema


def _open_parquet(path: str, columns: Columns) -> File:
    from pyarrow import parquet

    stamp = _stamp(path)
    with reader_errors(path, PARQUET), parquet.ParquetFile(path) as file:
        schema, metadata = readable(file.schema_arrow), file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    # Strings stay dictionary-encoded, as they are in the file, which is several times faster.
    coded = [n for n in columns.ids if n in schema.names and _is_text(schema.field(n).type)]

    def part(group: int) -> Part:
        def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
            def batches() -> Iterator[pa.RecordBatch]:
                if _stamp(path) != stamp:  # the metadata no longer describes the file
                    where = f"row group {group} of {path}"
                    raise ValueError(f"{where} has changed while it was being read: start again")
                with parquet.ParquetFile(
                    path,
                    metadata=metadata,
                    read_dictionary=coded,
                    buffer_size=_BUFFER_BYTES,
                    page_checksum_verification=True,
                ) as file:
                    yield from file.iter_batches(
                        limits.table_rows_at_once,
                        row_groups=[group],
                        columns=columns,
                        use_threads=False,
                    )

            return checked_batches(path, PARQUET, f"row group {group}", batches)

        return Part(f"row group {group} of {path}", sizes[group], read)

    return File(path, schema, [part(group) for group in range(len(sizes)) if sizes[group]])


def _stamp(path: str) -> tuple[int, int]:
    """The time and size of a file, which change when it is written."""
    status = os.stat(path)
    return status.st_mtime_ns, status.st_size


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _open_arrow(path: str, _: Columns) -> File:
    with reader_errors(path, ARROW), pa.memory_map(path) as file:
        if file.size() == 0:
            raise EOFError("it is empty")
        if file.read(6) != b"ARROW1":
            return _open_arrow_stream(path, file)
        with pa.ipc.open_file(file) as reader:
            schema, size = readable(reader.schema), reader.num_record_batches
    return File(path, schema, [_arrow_batch(path, place) for place in range(size)])


def _open_arrow_stream(path: str, file: Any) -> File:
    file.seek(0)
    schema = readable(pa.ipc.open_stream(file).schema)
    file.seek(max(file.size() - 8, 0))
    if not file.read(8).endswith(_STREAM_ENDS):
        raise EOFError("the stream has no end marker")
    return File(path, schema, [_arrow_stream(path)])


def _arrow_batch(path: str, place: int) -> Part:
    # Opened anew for each batch, so that thousands of files are not open at the same time.
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        def batches() -> Iterator[pa.RecordBatch]:
            with pa.memory_map(path) as file, pa.ipc.open_file(file) as reader:
                batch = reader.get_batch(place)
                yield batch if columns is None else batch.select(columns)

        return checked_batches(path, ARROW, f"record batch {place}", batches)

    return Part(f"record batch {place} of {path}", None, read)


def _arrow_stream(path: str) -> Part:
    def read(columns: list[str] | None) -> Iterator[pa.RecordBatch]:
        def batches() -> Iterator[pa.RecordBatch]:
            with pa.memory_map(path) as file, pa.ipc.open_stream(file) as reader:
                for batch in reader:
                    yield batch if columns is None else batch.select(columns)

        return checked_batches(path, ARROW, "", batches)

    return Part(path, None, read)


def _open_csv(path: str, columns: Columns) -> File:
    from pyarrow import csv

    # Ids are read as text, because 7 is a name if a later id is no number. Only an empty cell is
    # null: "NA" may be a name, and "nan" is a score, which is refused. Columns without a role are
    # read as text too, so that leading zeros are kept.
    numbers = {name: pa.float64() for name in (columns.score, columns.weight) if name}
    types = numbers | {name: pa.string() for name in columns.ids}
    with reader_errors(path, CSV):
        dialect = dialect_of(path)
    parse = csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True)

    def stream(names: list[str] | None) -> Any:
        convert = csv.ConvertOptions(
            column_types=types,
            include_columns=names,
            null_values=[""],
            strings_can_be_null=True,
            decimal_point=dialect.decimal_point,
        )
        source = pa.input_stream(path, compression=compression_of(path))
        serial = csv.ReadOptions(use_threads=False)  # so that errors name the row
        return csv.open_csv(source, serial, parse, convert)

    def read(names: list[str] | None) -> Iterator[pa.RecordBatch]:
        return checked_batches(path, CSV, "", lambda: stream(names))

    with reader_errors(path, CSV), stream(None) as reader:
        schema, some = readable(reader.schema), next(iter(reader), None)
    types |= {name: pa.string() for name in schema.names if name not in columns.names}
    if some is None:  # without rows the type of the truth is unknown
        return File(path, pa.schema([(n, types.get(n, pa.int8())) for n in schema.names]), [])
    schema = pa.schema([(field.name, types.get(field.name, field.type)) for field in schema])
    return File(path, schema, [Part(path, None, read)])


def in_large_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Merge small batches into larger ones, because each batch has a fixed cost."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(one.num_rows for one in waiting) >= limits.table_rows_at_once:
            yield from _joined(waiting)
            waiting = []
    if waiting:
        yield from _joined(waiting)


def _joined(batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    joined: list[pa.RecordBatch] = pa.Table.from_batches(batches).combine_chunks().to_batches()
    return joined
