"""Numbers for labels, which kernels can count with."""

from threading import Lock

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from halfmax._core.types import Array
from halfmax.tables.rows import Rows


class LabelCodes:
    """A number for each label, in the order in which they are met; threads share it."""

    def __init__(self) -> None:
        self._known: pa.Array | None = None
        self._lock = Lock()

    def recode(self, rows: Rows) -> npt.NDArray[np.int32]:
        """The label of each row; new labels are added. One classifier is a label without name."""
        names = pa.nulls(1, pa.int64()) if rows.names is None else rows.names
        used = np.flatnonzero(np.bincount(rows.codes, minlength=len(names)))
        table = np.empty(len(names), np.int32)
        table[used] = self._codes(names.take(pa.array(used)))
        return table[rows.codes]

    @property
    def known(self) -> pa.Array:
        """The labels in the order of their codes."""
        return pa.nulls(0, pa.int64()) if self._known is None else self._known

    def _codes(self, names: pa.Array) -> Array:
        codes = self._look_up(names)
        if codes.null_count:
            with self._lock:  # another thread may just have added some of them
                new = names.filter(pc.is_null(self._look_up(names))).unique()
                known = names[:0] if self._known is None else self._known
                self._known = pa.concat_arrays([known, new])
            codes = self._look_up(names)
        return codes.to_numpy()  # type: ignore[no-any-return]

    def _look_up(self, names: pa.Array) -> pa.Array:
        return pc.index_in(names, names[:0] if self._known is None else self._known)
