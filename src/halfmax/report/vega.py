"""Vega, which draws the charts of a report in the browser.

It is bundled into one file when halfmax is built (`setup.py`), because that takes a second. A bare
source tree has no such file; vl-convert then bundles Vega when a report is written.
"""

from functools import cache
from importlib.resources import files
from importlib.util import find_spec

_FILE = files("halfmax.report") / "templates" / "vega.js"


def require_vega() -> None:
    """Raise an error that says what to install, if there is neither the file nor vl-convert."""
    if not _FILE.is_file() and find_spec("vl_convert") is None:
        raise ModuleNotFoundError(
            "this halfmax was built without Vega, which draws the charts of reports: "
            "pip install vl-convert-python",
            name="vl_convert",
        )


@cache
def vega() -> str:
    """Return Vega as the text of a script element."""
    if _FILE.is_file():
        return _FILE.read_text("utf-8")
    import vl_convert

    bundle = vl_convert.javascript_bundle()  # type: ignore[call-arg]  # its stub requires a snippet
    return bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
