"""pyarrow, which all other modules take from here: without it, the error says what to install."""

from halfmax._core.extras import require_installed

require_installed("pyarrow")

import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402

__all__ = ["pa", "pc"]
