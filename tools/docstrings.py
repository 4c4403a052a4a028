"""Check the docstrings of public names with numpydoc: ``python -m tools.docstrings``.

Every public function, class and method must say what it takes, returns and raises, name its
relatives, and show an example that runs.
"""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass

from numpydoc.validate import validate

import halfmax

# What numpydoc may ask for and this project does otherwise; ruff checks the layout.
_IGNORED = {
    "GL01",  # text starts on the line of the quotes
    "GL08",  # inherited docstrings are those of the parent
    "ES01",  # an extended summary only where there is more to say
    "SS05",  # a summary may name what is returned
    "SS06",  # a summary may take two lines
    "RT02",  # a single return value may have a name
    "YD01",
    "SA04",  # related names explain themselves
}
_NEEDED_IN_FUNCTIONS = ("Raises",)


def public() -> Iterator[tuple[str, object]]:
    """Public names, and the public methods that their classes define."""
    for name in halfmax.__all__:
        value = getattr(halfmax, name)
        yield f"halfmax.{name}", value
        if inspect.isclass(value):
            for method, function in vars(value).items():
                inner = getattr(function, "__func__", function)
                if not method.startswith("_") and inspect.isfunction(inner):
                    yield f"halfmax.{name}.{method}", inner


def complaints(name: str, value: object) -> list[str]:
    """What is wrong with one docstring."""
    short = inspect.isfunction(value) and name.count(".") > 1  # a method
    ignored = _IGNORED | ({"EX01", "SA01"} if short or _is_warning(value) else set())
    if is_dataclass(value):
        ignored |= {"PR01"}  # halfmax makes it; its Attributes say what it holds
    found = [f"{code}: {text}" for code, text in validate(name)["errors"] if code not in ignored]
    doc = inspect.getdoc(value) or ""
    if inspect.isfunction(value) and not short:
        found += [
            f"HM01: section {section} is missing"
            for section in _NEEDED_IN_FUNCTIONS
            if f"{section}\n{'-' * len(section)}" not in doc
        ]
    return found


def _is_warning(value: object) -> bool:
    return inspect.isclass(value) and issubclass(value, Warning)


def main() -> int:
    """Print what is wrong, and return the exit code."""
    wrong = 0
    for name, value in public():
        for complaint in complaints(name, value):
            print(f"{name}: {complaint}")
            wrong += 1
    print(f"{wrong} complaints about public docstrings", file=sys.stderr)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
