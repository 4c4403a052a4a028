"""The two passes over a table in an engine: work is sent there, counts are returned."""

import numpy as np

from halfmax._core.types import Array
from halfmax.staircase.counting import accumulate
from halfmax.staircase.grid import Grid
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import Columns, id_type
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.work import CollectPositives, CountSteps, of_scores
from halfmax.tables.rows import encode
from halfmax.tables.tally import NO_ROWS, Entries, Tally


class EngineScan:
    """Scan an engine's table, with the methods of `Scan`."""

    def __init__(self, engine: Engine, columns: Columns) -> None:
        self._engine, self._columns = engine, columns
        self._labels: pa.Array = pa.nulls(1, pa.int64())

    def collect(self) -> Tally:
        """Run the first pass: collect the scores of the positives, and count each label's rows."""
        name = self._columns.label
        kind = pa.int64() if name is None else id_type(self._engine.schema.field(name).type)
        found = self._engine.add_up(CollectPositives(self._columns, kind)).combine_chunks()
        if not found.num_rows:
            raise ValueError(NO_ROWS)
        codes, labels = _coded(found["label"], name is None)
        counts = found["count"].to_numpy()
        is_total = pc.is_null(found["score"]).to_numpy()
        total = np.zeros(len(labels), counts.dtype)
        total[codes[is_total]] = counts[is_total]
        scores = found["score"].to_numpy()[~is_total]
        self._labels = labels
        return Tally(labels, Entries(codes[~is_total], scores, counts[~is_total]), total)

    def count(self, grid: Grid, pooled: bool = False) -> Array:
        """Run the second pass: count, or weigh, the scores at or above each step."""
        weighted = self._columns.weight is not None
        bins = np.zeros(len(grid.scores), np.float64 if weighted else np.int64)
        work = CountSteps(of_scores(self._columns), self._labels, grid, pooled)
        found = self._engine.add_up(work)
        bins[found["step"].to_numpy()] = found["count"].to_numpy()
        return accumulate(grid, bins)


def _coded(column: pa.ChunkedArray, one_classifier: bool) -> tuple[Array, pa.Array]:
    if one_classifier:
        return np.zeros(len(column), np.int32), pa.nulls(1, pa.int64())
    return encode(column.combine_chunks())
