"""Wide files, with a column for each label and a row for each instance."""

import re
import shlex
from collections.abc import Collection
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfmax._core.text import spell_out
from halfmax.cli.positive import positive_class
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import Columns
from halfmax.tables.files import CSV, dialect_of, format_of, open_files, readable, reader_errors
from halfmax.tables.writing import table_file
from halfmax.tuning.thresholds import Thresholds

INSTANCE = "instance"
_IGNORE = "--unknown ignore leaves out columns without a threshold"
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

    @property
    def names(self) -> list[str]:
        """The names of the labels."""
        return list(self.labels.column_names)

    def with_ids(self, predictions: pa.Table) -> pa.Table:
        """Put the ids of the rows in front of their predictions."""
        if self.instance is None:
            return predictions
        return predictions.add_column(0, self.instance, self.instances)


def read_wide(path: str, instance: str | None, weight: str | None = None) -> Wide:
    """Read a wide file; the column of ids, by default 'instance', is not a label."""
    wide = _read_wide(path, instance, weight)
    _check_numbers(wide)
    return wide


def read_truth(path: str, instance: str | None, weight: str | None, positive: str | None) -> Wide:
    """Read a wide file of truth; with a positive class its cells may be names."""
    wide = _read_wide(path, instance, weight)
    _check_complete(wide)
    if positive is None:
        _check_numbers(wide)
        return wide
    columns = [
        pc.equal(column, pa.scalar(positive_class(positive, column.type, name), column.type))
        for name, column in zip(wide.names, wide.labels.columns, strict=True)
    ]
    return wide._replace(labels=pa.table(columns, wide.names))


def read_scores(path: str, instance: str | None, known: Collection[str], unknown: str) -> Wide:
    """Read a wide file of scores for thresholds of these labels."""
    wide = _read_wide(path, instance)
    extra = [name for name in wide.names if name not in known]
    if missing := [name for name in known if name not in wide.names]:
        raise ValueError(
            f"the thresholds need columns {spell_out(missing)}, which {path} lacks; it has "
            f"{spell_out(wide.names)}"
        )
    if extra and unknown == "error":
        raise ValueError(_without_threshold(wide, extra))
    if unknown == "ignore":
        wide = wide._replace(labels=wide.labels.drop_columns(extra))
    _check_numbers(wide, f"; {_IGNORE}")
    return wide


def _without_threshold(wide: Wide, extra: list[str]) -> str:
    """Say what to do about columns that are no labels."""
    one = len(extra) == 1
    verb = "has no threshold" if one else "have no thresholds"
    who = f"column{'s' * (not one)} {spell_out(extra)} of {wide.path} {verb}"
    ids = sorted(extra, key=lambda name: -_may_be_ids(wide.labels[name]))
    if wide.instance is None and _may_be_ids(wide.labels[ids[0]]):
        return f"{who}: {_name_ids(ids[0])}; {_IGNORE}"
    them = "it" if one else "them"
    return f"{who}: --unknown ignore leaves {them} out, --unknown never predicts 0 for {them}"


def _may_be_ids(column: pa.ChunkedArray) -> int:
    """How likely a column identifies rows: 2 for different names, 1 for names or numbers, or 0."""
    if _is_number(column.type) and not pa.types.is_integer(column.type):
        return 0
    differ = len(column) > 2 and pc.count_distinct(column).as_py() == len(column)
    return int(differ) if _is_number(column.type) else 1 + differ


def _name_ids(name: str) -> str:
    return f"if {name!r} identifies rows, pass --id {shlex.quote(name)}"


def _read_wide(path: str, instance: str | None, weight: str | None = None) -> Wide:
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
        dialect = dialect_of(path)
        table = csv.read_csv(
            pa.input_stream(path, compression="detect"),
            parse_options=csv.ParseOptions(delimiter=dialect.delimiter, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                column_types={instance: pa.string()},
                null_values=[""],
                strings_can_be_null=True,
                decimal_point=dialect.decimal_point,
            ),
        )
        readable(table.schema)
        return table


def _is_number(kind: pa.DataType) -> bool:
    types = pa.types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def _check_numbers(wide: Wide, more: str = "") -> None:
    """Refuse columns that hold no numbers; `more` is another thing that can be done."""
    if not wide.names:
        raise ValueError(f"{wide.path} has no column of a label")
    for field in wide.labels.schema:
        if _is_number(field.type):
            continue
        what = "remove it" if wide.instance is not None else _name_ids(field.name)
        raise TypeError(
            f"column {field.name!r} of {wide.path} must hold numbers; it holds "
            f"{_spelled(field.type)}: {what}{more}"
        )
    _check_complete(wide)


def _check_complete(wide: Wide) -> None:
    """Refuse empty cells and NaN."""
    for name in wide.names:
        column = wide.labels[name]
        place = pc.index(pc.is_null(column, nan_is_null=True), True).as_py()
        if place >= 0:
            raise ValueError(
                f"column {name!r} must not have nulls; row {place} of {wide.path} has "
                f"{'one' if column[place].as_py() is None else 'nan'}: fill it, or drop this row"
            )


def _spelled(kind: pa.DataType) -> str:
    if pa.types.is_null(kind):
        return "nothing"
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)


def refuse_ids(wide: Wide, highest: int, rule: str) -> None:
    """Refuse a column of ids among columns whose numbers are at most `highest`."""
    if wide.instance is not None:
        return
    for name in wide.names:
        column = wide.labels[name]
        if _may_be_ids(column) and (high := pc.max(column).as_py()) > highest:
            raise ValueError(
                f"column {name!r} of {wide.path} must hold {rule}; it holds {high:,}: "
                f"{_name_ids(name)}"
            )


def in_order_of(scores: Wide, truth: Wide) -> Wide:
    """Return the truth with its rows in the order of the scores, matched by id if there are ids."""
    refuse_ids(truth, 1, "0/1")
    _refuse_ids_of_one(scores, truth)
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


def _refuse_ids_of_one(scores: Wide, truth: Wide) -> None:
    """Refuse a column that one file has, if it seems to identify rows."""
    for file, other in ((scores, truth), (truth, scores)):
        for name in file.names if file.instance is None else ():
            if name not in other.names and _may_be_ids(file.labels[name]):
                raise ValueError(
                    f"{file.path} has a column {name!r}, and {other.path} has none: if it "
                    "identifies rows, give it in both files and pass --id "
                    f"{shlex.quote(name)}; otherwise remove it"
                )


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
        empty = "empty cells" if format_of(file.path) == CSV else "nulls"
        raise ValueError(f"column {file.instance!r} of {file.path} must not have {empty}")
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


def never_predicting(tuned: Thresholds, names: list[str]) -> Thresholds:
    """Add infinite thresholds for columns without one, so that they are never predicted."""
    known = dict.fromkeys(tuned.labels or ())
    unknown = [name for name in names if name not in known]
    never = np.full(len(unknown), np.inf)
    return replace(tuned, labels=(*known, *unknown), thresholds=np.append(tuned.thresholds, never))


def write_wide(table: pa.Table, path: str) -> None:
    """Write a table in the format that the ending of its name determines."""
    with table_file(path, table.schema, overwrite=False) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
