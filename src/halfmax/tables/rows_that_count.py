"""The rows of a table that an assessment needs: those that are true or predicted."""

from typing import Any

import numpy as np
from scipy import sparse

from halfmax._core.gate.labelled import LabelledScores
from halfmax._core.threads import map_blocks
from halfmax.tables.arrow import pa
from halfmax.tables.columns import id_type
from halfmax.tables.convert import names_to_column, to_numpy
from halfmax.tables.engines.work import KeepWhatCounts
from halfmax.tables.matrix import instance_type, matrix_of, number
from halfmax.tables.open import OpenedTable
from halfmax.tables.sources import LocalTable
from halfmax.tuning.thresholds import Thresholds


def no_rows(one_classifier: bool, n_labels: int = 1) -> LabelledScores:
    """Return scores of no rows at all."""
    if one_classifier:
        return LabelledScores(np.zeros(0, np.uint8), np.zeros(0), None, None, None)
    empty = sparse.csr_array((0, n_labels))
    return LabelledScores(empty.astype(np.uint8), empty, None, None, None)


def rows_that_count(opened: OpenedTable, tuned: Thresholds) -> LabelledScores:
    """Fetch the rows that are true or predicted; only they show how labels vary together."""
    columns, place = opened.columns, opened.place
    assert columns.instance is not None
    assert tuned.labels is not None
    names = [str(name) for name in tuned.labels] if _is_untyped(place) else list(tuned.labels)
    work = KeepWhatCounts(
        columns,
        names_to_column(names),
        tuned.thresholds,
        _instance_type(place, columns.instance),
    )
    found = _run(place, work) if isinstance(place, LocalTable) else place.collect(work)
    return _as_matrix(found, len(names), _is_untyped(place))


def _instance_type(place: Any, name: str) -> Any:
    if isinstance(place, LocalTable):
        return instance_type(place)
    return id_type(place.schema.field(name).type)


def _is_untyped(place: Any) -> bool:
    return isinstance(place, LocalTable) and place.untyped


def _run(table: LocalTable, work: KeepWhatCounts) -> pa.Table:
    """Run the engine's work in this process."""

    def run(place: int) -> list[pa.RecordBatch]:
        part = table.parts[place]
        return list(work(part.read(work.columns), part.name))

    batches = [batch for part in map_blocks(run, range(len(table.parts))) for batch in part]
    return pa.Table.from_batches(batches, work.schema)


def _as_matrix(found: pa.Table, n_labels: int, untyped: bool) -> LabelledScores:
    if not found.num_rows:
        return no_rows(False, n_labels)
    rows, instances = number(found["instance"], untyped)
    shape = len(instances), n_labels
    columns, scores, truth = (to_numpy(found[name]) for name in ("label", "score", "truth"))
    true = matrix_of(rows, columns, truth.astype(np.uint8), shape)
    true.eliminate_zeros()
    return LabelledScores(true, matrix_of(rows, columns, scores, shape), None, None, None)
