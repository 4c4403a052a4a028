"""Integer codes for labels, so that kernels can count them."""

from threading import Lock

import numpy as np
import numpy.typing as npt

from halfmax._core.types import Array
from halfmax.tables.arrow import pa, pc
from halfmax.tables.convert import to_column, to_numpy
from halfmax.tables.rows import Rows


class LabelCodes:
    """An integer code for each label, in the order in which labels appear; shared by threads."""

    def __init__(self) -> None:
        self._known: pa.Array | None = None
        self._lock = Lock()

    def recode(self, rows: Rows) -> npt.NDArray[np.int32]:
        """Return the code of each row's label, and add new labels.

        One classifier counts as a label without a name.
        """
        names = pa.nulls(1, pa.int64()) if rows.names is None else rows.names
        used = np.flatnonzero(np.bincount(rows.codes, minlength=len(names)))
        table = np.empty(len(names), np.int32)
        table[used] = self._codes(names.take(to_column(used)))
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
        return to_numpy(codes)

    def _look_up(self, names: pa.Array) -> pa.Array:
        return pc.index_in(names, names[:0] if self._known is None else self._known)
