"""What results may ask of packages above them: a picture for a notebook, a page.

A result knows how to show itself, but `displays` and `report` stand above it and are imported only
when somebody looks. So they are named here, in the one place where an import points upwards.
"""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_UPWARDS = {
    "image_of": "halfmax.displays.notebook",
    "write_report": "halfmax.report.write",
}


def hook(name: str) -> Callable[..., Any]:
    """The function of that name, imported now."""
    function: Callable[..., Any] = getattr(import_module(_UPWARDS[name]), name)
    return function
