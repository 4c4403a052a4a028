"""The passes over an opened table that build staircases, in this process or in an engine."""

from typing import Any

import numpy as np

from halfmax._core.gate.labelled import check_sum_of_weights
from halfmax._core.progress import Progress, ProgressLike
from halfmax.metrics.objective import Objective
from halfmax.staircase.staircase import Staircase
from halfmax.tables.columns import Columns
from halfmax.tables.duplicates import ONE_ROW_EACH, Rising, name_pair, refuse_duplicates
from halfmax.tables.engines.engine import Engine
from halfmax.tables.engines.staircase import EngineScan
from halfmax.tables.instances import count_instances
from halfmax.tables.local_scan import Scan
from halfmax.tables.open import OpenedTable
from halfmax.tables.sources import LocalTable
from halfmax.tables.tally import Size, Tally, as_integers, named_in_order
from halfmax.tuning.exact.choose import Choice, at_only_steps, choose_on, grid_of


class Passes:
    """The passes over an opened table that build its staircases, with one progress bar."""

    def __init__(self, opened: OpenedTable, progress: ProgressLike, passes: int = 2) -> None:
        self._opened = opened
        self._rows = (opened.place.rows if isinstance(opened.place, LocalTable) else None) or 0
        self._progress = Progress(progress, "rows read", passes * self._rows)
        self._passes, self._begun = passes, 0
        self._rising = Rising() if opened.refuse_duplicates else None
        self._scan = self._open_scan()
        self.names: list[Any] = []

    def __enter__(self) -> "Passes":
        self._progress.__enter__()
        return self

    def __exit__(self, *interruption: object) -> None:
        self._progress.__exit__(*interruption)

    def collect(self) -> Tally:
        """Run the first pass; raise an error if a pair appears in two rows."""
        self._begin()
        tally = self._scan.collect()
        place = self._opened.place
        if tally.weighted:
            check_sum_of_weights(f"column {self._opened.columns.weight!r}", tally.total.sum())
        self.names = tally.labels.to_pylist()
        if isinstance(place, LocalTable):
            if self._rising is not None and not self._rising.certain:
                self._progress.expect(self._rows)
                self._progress.lap("rows read, for duplicates", self._rows)
                refuse_duplicates(place, self._progress)
            if place.untyped and place.columns.label is not None:
                self.names = as_integers(self.names)
        elif self._opened.refuse_duplicates:
            _refuse_pairs(place, self._opened.columns)
        return tally

    def count_instances(self) -> Size | None:
        """Count rows and instances; None if the table has no column of instances."""
        columns = self._opened.columns
        return None if columns.label is None else count_instances(self._opened.place, columns)

    def staircase(self, tally: Tally) -> Staircase:
        """Run the second pass, and return the staircase of each label, sorted by name."""
        self._begin()
        grid = tally.grid()
        stairs = tally.staircase(grid, self._scan.count(grid))
        return stairs if self._opened.columns.label is None else named_in_order(stairs, self.names)

    def choose_shared(self, tally: Tally, objective: Objective) -> Choice:
        """Choose the best threshold of the pooled counts, then count each label in another pass."""
        self._begin()
        pooled = tally.pooled()
        grid = pooled.grid()
        whole = pooled.staircase(grid, self._scan.count(grid, pooled=True))
        threshold = choose_on(whole, "macro", objective).thresholds[0]
        self._begin()
        grid = grid_of(np.full(len(self.names), threshold), grid.scores.dtype)
        return at_only_steps(
            named_in_order(tally.staircase(grid, self._scan.count(grid)), self.names)
        )

    def _begin(self) -> None:
        self._begun += 1
        self._progress.lap(f"rows read, pass {self._begun} of {self._passes}", self._rows)

    def _open_scan(self) -> Scan | EngineScan:
        place = self._opened.place
        if isinstance(place, LocalTable):
            return Scan(place, self._progress, self._rising)
        return EngineScan(place, self._opened.columns)


def _refuse_pairs(engine: Engine, columns: Columns) -> None:
    assert columns.instance is not None
    if columns.label is None:
        found = engine.count_pairs(columns.instance, columns.instance)
    else:
        found = engine.count_pairs(columns.instance, columns.label)
    if found.num_rows:
        instance, label, count = (found.column(i)[0].as_py() for i in range(3))
        raise ValueError(
            f"{ONE_ROW_EACH}; {name_pair(instance, label, columns)} appears in {count} rows: drop "
            "all but one of them"
        )
