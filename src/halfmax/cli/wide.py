"""Wide files, with a column for each label and a row for each instance."""

import re
from dataclasses import replace
from typing import Any, NamedTuple

from halfmax._core.text import spell_out
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import Columns
from halfmax.tables.files import CSV, delimiter_of, format_of, open_files, readable, reader_errors
from halfmax.tables.writing import table_file
from halfmax.tuning.thresholds import Thresholds

INSTANCE = "instance"
_OF_PANDAS = re.compile(r"__index_level_\d+__")  # row numbers, which pandas writes as a column


class Wide(NamedTuple):
    """A wide file: a column for each label, and ids and weights of the rows, if any."""

    path: str
    labels: pa.Table
    instances: pa.ChunkedArray | None
    instance: str | None  # the name of the column of ids
    weights: Any = None

    @property
    def rows(self) -> int:
        return int(self.labels.num_rows)

    def with_ids(self, predictions: pa.Table) -> pa.Table:
        """Put the ids of the rows in front of their predictions."""
        if self.instance is None:
            return predictions
        return predictions.add_column(0, self.instance, self.instances)


def read_wide(path: str, instance: str | None, weight: str | None = None) -> Wide:
    """Read a wide file; the column of ids, by default 'instance', is not a label."""
    table = _read(path, instance or INSTANCE)
    table = table.drop_columns([name for name in table.column_names if _OF_PANDAS.fullmatch(name)])
    names = table.column_names
    twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    if twice:
        raise ValueError(f"columns must not repeat; {path} has {spell_out(twice)} twice")
    for name in (instance, weight):
        if name is not None and name not in names:
            raise ValueError(f"{path} has no column {name!r}; it has {spell_out(names)}")
    by = instance or (INSTANCE if INSTANCE in names else None)
    labels = table.drop_columns([name for name in (by, weight) if name is not None])
    _check_numbers(labels, path)
    weights = None if weight is None else table[weight].to_numpy()
    return Wide(path, labels, None if by is None else table[by], by, weights)


def columns_of(path: str) -> list[str]:
    """Return the names of a file's columns."""
    return list(open_files([path], Columns(label=None, score=None))[0].schema.names)


def _read(path: str, instance: str) -> pa.Table:
    files = open_files([path], Columns(label=None, score=None))
    if len(files) > 1:
        raise ValueError(f"a wide table must be one file; {path} holds {len(files):,}")
    file = files[0]
    if format_of(file.path) == CSV:  # infers types from all rows, not from the first ones
        return _read_csv(file.path, instance)
    batches = [batch for part in file.parts for batch in part.read(None)]
    return pa.Table.from_batches(batches, file.schema)


def _read_csv(path: str, instance: str) -> pa.Table:
    from pyarrow import csv

    with reader_errors(path, CSV):
        table = csv.read_csv(
            pa.input_stream(path, compression="detect"),
            parse_options=csv.ParseOptions(delimiter=delimiter_of(path), newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={instance: pa.string()}, null_values=[""], strings_can_be_null=True
            ),
        )
        readable(table.schema)
        return table


def _check_numbers(labels: pa.Table, path: str) -> None:
    if not labels.num_columns:
        raise ValueError(f"{path} has no column of a label")
    for field in labels.schema:
        kind = field.type
        number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
        if not (number or pa.types.is_boolean(kind)):
            raise TypeError(
                f"column {field.name!r} of {path} must hold numbers, it holds {kind}; if it "
                f"identifies rows, pass --id {field.name!r}"
            )


def in_order_of(scores: Wide, truth: Wide) -> Wide:
    """Return the truth with its rows in the order of the scores, matched by id if there are ids."""
    if scores.instances is None and truth.instances is None:
        _check_size(scores, truth)
        return truth
    _check_both_have_ids(scores, truth)
    score_ids, truth_ids = _ids(scores), _ids(truth)
    where = pc.index_in(score_ids, value_set=truth_ids)
    _check_all_there(score_ids, where, truth, scores)
    _check_all_there(truth_ids, pc.index_in(truth_ids, value_set=score_ids), scores, truth)
    weights = None if truth.weights is None else truth.weights[where.to_numpy()]
    return truth._replace(labels=truth.labels.take(where), weights=weights)


def _check_size(scores: Wide, truth: Wide) -> None:
    if scores.rows != truth.rows:
        raise ValueError(
            f"rows are matched by position, so both files must have the same number: {scores.path} "
            f"has {scores.rows:,} and {truth.path} {truth.rows:,}; --id names a column to match by"
        )


def _check_both_have_ids(scores: Wide, truth: Wide) -> None:
    for file, other in ((scores, truth), (truth, scores)):
        if file.instances is None:
            raise ValueError(
                f"{other.path} has ids in column {other.instance!r}, and {file.path} has none: "
                "give them in both files, or remove them from both to match rows by position"
            )


def _ids(file: Wide) -> pa.Array:
    """Return the ids as text; refuse duplicates."""
    ids = pc.cast(file.instances, pa.string()).combine_chunks()
    if ids.null_count:
        raise ValueError(f"column {file.instance!r} of {file.path} must not have nulls")
    counts = pc.value_counts(ids)
    twice = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    if len(twice):
        raise ValueError(
            f"column {file.instance!r} of {file.path} must not repeat; "
            f"{spell_out(twice.to_pylist())} appears more than once"
        )
    return ids


def _check_all_there(ids: pa.Array, where: pa.Array, here: Wide, other: Wide) -> None:
    missing = ids.filter(pc.is_null(where))
    if len(missing):
        raise ValueError(
            f"{here.path} lacks {spell_out(missing.to_pylist())} of column {other.instance!r}, "
            f"which {other.path} has"
        )


def named_as_columns(tuned: Thresholds) -> Thresholds:
    """Return the thresholds with labels as text, like the names of columns."""
    labels = tuned.labels
    return tuned if labels is None else replace(tuned, labels=tuple(map(str, labels)))


def write_wide(table: pa.Table, path: str) -> None:
    """Write a table in the format that the ending of its name determines."""
    with table_file(path, table.schema, overwrite=False) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
