"""Read a long table as a sparse matrix, for averages over samples, guards and decisions."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfmax._core.errors import ArgumentError, in_python, setting
from halfmax._core.gate.labelled import LabelledScores, check_sum_of_weights
from halfmax._core.gate.options import check_whole
from halfmax._core.progress import Progress, ProgressLike
from halfmax._core.threads import map_blocks
from halfmax._core.types import Array, Floats
from halfmax.tables.arrow import pa
from halfmax.tables.codes import LabelCodes
from halfmax.tables.columns import id_type, plain_type
from halfmax.tables.convert import to_numpy
from halfmax.tables.duplicates import refuse_duplicates
from halfmax.tables.rows import Rows, plain
from halfmax.tables.sources import LocalTable
from halfmax.tables.tally import NO_ROWS, NO_WEIGHTS, as_integers


def csr(content: Any, shape: tuple[int, int]) -> Any:
    """Build a CSR matrix; scipy is slow to import, and passes over a table do without."""
    from scipy import sparse

    return sparse.csr_array(content, shape=shape)


class Pairs(NamedTuple):
    """All rows of a table, in its order, with instances and labels as positions in sorted lists."""

    rows: npt.NDArray[np.int64]
    columns: npt.NDArray[np.int64]
    scores: Array
    truth: Array | None
    weights: Array | None
    instances: list[Any]  # sorted
    labels: tuple[Any, ...]  # sorted
    sizes: list[int]  # rows of each part

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.instances), len(self.labels)

    def stored(self, table: LocalTable) -> Any:
        """Return a sparse matrix of each pair's row number in the table; refuse duplicates."""
        order = np.lexsort((self.columns, self.rows))
        rows, columns = self.rows[order], self.columns[order]
        if ((rows[1:] == rows[:-1]) & (columns[1:] == columns[:-1])).any():
            refuse_duplicates(table)
        return csr((order, columns, _ends(rows, len(self.instances))), self.shape)


def read_pairs(
    table: LocalTable, progress: ProgressLike, check: Callable[[Rows], object] | None = None
) -> Pairs:
    """Read the whole table; `check` may refuse rows that the gate accepts."""
    codes = LabelCodes()
    parts = _read_parts(table, codes, progress, check)
    batches = [batch for part in parts for batch in part]
    if not batches:
        raise ValueError(NO_ROWS)
    *numbers, ids = zip(*batches, strict=True)
    columns, scores, truth, weights = (
        None if column[0] is None else np.concatenate(column) for column in numbers
    )
    assert columns is not None
    assert scores is not None
    if weights is not None:
        check_sum_of_weights(f"column {table.columns.weight!r}", weights.sum())
    labels: list[Any] = []
    rows, instances = columns, labels
    if table.columns.label is not None:
        columns, labels = in_order(columns, codes.known, table.untyped)
    if ids[0] is not None:
        rows, instances = number(pa.chunked_array(ids), table.untyped)
    sizes = [sum(len(batch[0]) for batch in part) for part in parts]
    return Pairs(rows, columns, scores, truth, weights, instances, tuple(labels), sizes)


_Batch = tuple[Array, Array, Array | None, Array | None, pa.Array | None]


def _read_parts(
    table: LocalTable,
    codes: LabelCodes,
    progress: ProgressLike,
    check: Callable[[Rows], object] | None,
) -> list[list[_Batch]]:
    """Read the label codes, scores, truth, weights and instances of all batches, part by part."""
    kind = instance_type(table)

    def read(place: int) -> list[_Batch]:
        found = []
        for rows in table.rows_of(place):
            if check is not None:
                check(rows)
            columns = codes.recode(rows)
            found.append((columns, rows.scores, rows.truth, rows.weights, _ids(rows, kind)))
        return found

    parts = []
    with Progress(progress, "rows read", table.rows or 0) as bar:
        for part in map_blocks(read, range(len(table.parts))):
            parts.append(part)
            bar.advance(sum(len(batch[0]) for batch in part))
    return parts


def read_matrix(table: LocalTable, progress: ProgressLike) -> LabelledScores:
    """Read a labelled table; pairs without a row are absent from the sparse matrix."""
    pairs = read_pairs(table, progress)
    assert pairs.truth is not None
    if table.columns.label is None:
        name = table.columns.name_of_one
        return LabelledScores(pairs.truth, pairs.scores, pairs.weights, name, table.native)
    stored = pairs.stored(table)
    scores = pairs.scores[stored.data], stored.indices, stored.indptr
    return LabelledScores(
        truth=_only(stored, pairs.truth[stored.data] == 1),
        scores=csr(scores, shape=pairs.shape),
        weights=None if pairs.weights is None else _weights_of_rows(pairs),
        labels=pairs.labels,
        native=table.native,
    )


def of_instances(data: LabelledScores, n_instances: int) -> LabelledScores:
    """Add the instances that have no row in the table: never true, and never predicted."""
    if data.weights is not None:
        raise ArgumentError(NO_WEIGHTS)
    n_instances = check_whole("n_instances", n_instances, 1)
    if n_instances < data.n_rows:
        raise ArgumentError(
            f"{in_python('n_instances')} must be the number of instances; got {n_instances:,}, but "
            f"the table alone has {data.n_rows:,}"
        )
    more = n_instances - data.n_rows
    if data.is_binary:
        false, never = np.zeros(more, np.uint8), np.full(more, -np.inf, data.scores.dtype)
        return data._replace(
            truth=np.append(data.truth, false), scores=np.append(data.scores, never)
        )
    shape = data.n_rows + more, data.n_labels
    truth, scores = (
        csr((m.data, m.indices, np.pad(m.indptr, (0, more), "edge")), shape=shape)
        for m in (data.truth, data.scores)
    )
    return data._replace(truth=truth, scores=scores)


def matrix_of(rows: Array, columns: Array, values: Array, shape: tuple[int, int]) -> Any:
    """Build a CSR matrix with sorted indices; no (row, column) may appear twice."""
    order = np.lexsort((columns, rows))
    return csr((values[order], columns[order], _ends(rows, shape[0])), shape=shape)


def number(ids: pa.ChunkedArray, untyped: bool) -> tuple[npt.NDArray[np.int64], list[Any]]:
    """Return the position of each id in the sorted list of distinct ids, and this list."""
    coded = ids.dictionary_encode().unify_dictionaries()
    codes = np.concatenate([to_numpy(chunk.indices) for chunk in coded.chunks])
    return in_order(codes, coded.chunk(0).dictionary, untyped)


def in_order(codes: Array, known: pa.Array, untyped: bool) -> tuple[Array, list[Any]]:
    """Turn codes of names into positions in the sorted list of names, and return this list too."""
    names = as_integers(known.to_pylist()) if untyped else known.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    return np.argsort(order)[codes], [names[j] for j in order]


def instance_type(table: LocalTable) -> pa.DataType | None:
    """The type that the ids of all parts are converted to; None without a column of instances."""
    if table.columns.instance is None:
        return None
    kind = plain_type(table.schema.field(table.columns.instance).type)
    return kind if kind == pa.uint64() else id_type(kind)


def _ids(rows: Rows, kind: pa.DataType | None) -> pa.Array | None:
    return None if rows.instances is None else plain(rows.instances).cast(kind)


def _ends(rows: Array, size: int) -> Array:
    return np.append(0, np.cumsum(np.bincount(rows, minlength=size)))


def _only(stored: Any, kept: Array) -> Any:
    """Return a matrix of ones at the stored entries that are kept."""
    ends = np.append(0, np.cumsum(kept))[stored.indptr]
    places = stored.indices[kept]
    return csr((np.ones(len(places), np.uint8), places, ends), shape=stored.shape)


def _weights_of_rows(pairs: Pairs) -> Floats:
    """Return the weight of each instance, on which all of its rows must agree."""
    assert pairs.weights is not None
    found = np.empty(len(pairs.instances))
    found[pairs.rows] = pairs.weights
    if (odd := found[pairs.rows] != pairs.weights).any():
        instance = pairs.instances[pairs.rows[int(np.argmax(odd))]]
        raise ArgumentError(
            "all rows of an instance must have the same weight here, because a row of a matrix has "
            f"one weight; those of {instance!r} differ. Weights of single pairs work with "
            f"{setting('average', 'macro')} and 'micro' without a guard"
        )
    return found
