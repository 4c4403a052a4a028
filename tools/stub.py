"""Write `src/halfmax/__init__.pyi` from the table of public names: ``python -m tools.stub``."""

from pathlib import Path

import halfmax

STUB = Path(halfmax.__file__).with_suffix(".pyi")


def stub() -> str:
    """The text of the stub: where every public name comes from, for type checkers and editors."""
    homes = sorted((home, name) for name, home in halfmax._HOME.items())
    imports = [f"from halfmax.{home} import {name} as {name}" for home, name in homes]
    names = [f'    "{name}",' for name in halfmax.__all__]
    lines = [*imports, "", "__version__: str", "", "__all__ = [", *names, "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    STUB.write_text(stub(), "utf-8")
