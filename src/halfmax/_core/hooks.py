"""Functions that results call in packages above them: a picture, a notebook image, a report.

`displays` and `report` stand above the results and are imported only when a result is shown. They
are named here, the one place where an import points upwards.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_UPWARDS = {
    "image_of": "halfmax.displays.notebook",
    "plot_thresholds": "halfmax.displays.notebook",
    "write_report": "halfmax.report.write",
}


def hook(name: str) -> Callable[..., Any]:
    """Import and return the function of that name."""
    function: Callable[..., Any] = getattr(import_module(_UPWARDS[name]), name)
    return function
