"""Packages that only some functions need, and the extras of halfmax that install them."""

from importlib.util import find_spec

from halfmax._core.text import spell_out

_EXTRA_OF = {
    "itables": "report",
    "jinja2": "report",
    "matplotlib": "report",
    "onnx": "onnx",
    "pyarrow": "tables",
    "skl2onnx": "onnx",
    "sqlglot": "sql",
}


def require_installed(*modules: str) -> None:
    """Raise an error that says what to install, if one of the modules is not installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        extras = ",".join(dict.fromkeys(_EXTRA_OF[name] for name in missing))
        raise ModuleNotFoundError(
            f"this needs {spell_out(missing)}, not installed: pip install 'halfmax[{extras}]'",
            name=missing[0],
        )
