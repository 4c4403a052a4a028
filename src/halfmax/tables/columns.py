"""Which columns of a table mean what, and whether their types can."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.text import spell_out

TEXT, WHOLE = "text", "integers"
_ROLES = ("instance", "label", "score", "truth", "weight")


@dataclass(frozen=True)
class Columns:
    """Names of columns; None where the caller has no such thing.

    ``may_miss`` are names that nobody asked for: they serve if they are there.
    """

    label: str | None = "label"
    score: str | None = "score"
    truth: str | None = None
    weight: str | None = None
    instance: str | None = None
    may_miss: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        for role, name in self.roles():
            if not isinstance(name, str):
                raise TypeError(f"{role} must be the name of a column; got {name!r}")
        names = self.names
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise ValueError(f"column {twice[0]!r} cannot mean two things: {dict(self.roles())}")

    def roles(self) -> list[tuple[str, str]]:
        """What is read, as (role, name of the column)."""
        return [(role, name) for role in _ROLES if (name := getattr(self, role)) is not None]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.roles()]

    @property
    def ids(self) -> list[str]:
        return [name for role, name in self.roles() if role in ("instance", "label")]

    def found_in(
        self, schema: pa.Schema, where: str, names: Iterable[str] | None = None
    ) -> "Columns":
        """The same columns without those that may be missing and are, or an error.

        `names` are all columns that there are, if the schema does not tell.
        """
        there = list(schema.names if names is None else names)
        found: dict[str, str | None] = {}
        for role, name in self.roles():
            if name in there:
                if there.count(name) > 1:
                    raise ValueError(f"{where} has more than one column {name!r}")
                check_type(role, name, schema.field(name).type, where)
            elif name in self.may_miss:
                found[role] = None
            else:
                raise ArgumentError(_missing(role, name, there, where))
        return Columns(**{role: found.get(role, getattr(self, role)) for role in _ROLES})


def _missing(role: str, name: str, there: Iterable[str], where: str) -> str:
    hint = f"name the column with {in_python(f'{role}=...')}"
    if f"{name}=" in where:
        hint = "folders named after a column are read by pyarrow.dataset.dataset(folder, "
        hint += "partitioning='hive'), which can be passed instead"
    elif role == "label":
        hint += f", or use {in_python('label=None for one classifier')}"
    return f"{where} has no column {name!r}; it has {spell_out(list(there), most=20)}: {hint}"


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column that may be dictionary-encoded."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The same columns, none of them dictionary-encoded."""
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def id_type(kind: pa.DataType) -> pa.DataType:
    """The one type that ids of a kind travel in."""
    return pa.int64() if pa.types.is_integer(plain_type(kind)) else pa.large_string()


def kind_of_id(kind: pa.DataType) -> str | None:
    """Text or integers, or None: neither can be an id."""
    kind = plain_type(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return TEXT
    return WHOLE if pa.types.is_integer(kind) else None


def check_type(role: str, name: str, kind: pa.DataType, where: str) -> None:
    """Refuse a type that cannot play the role."""
    plain = plain_type(kind)
    number = pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain)
    allowed: dict[str, tuple[bool, str]] = {
        "label": (kind_of_id(kind) is not None, "strings or integers"),
        "instance": (kind_of_id(kind) is not None, "strings or integers"),
        "score": (number, "numbers"),
        "weight": (number, "numbers"),
        "truth": (number or pa.types.is_boolean(plain), "bool or 0/1"),
    }
    fine, rule = allowed[role]
    if not fine:
        raise TypeError(f"column {name!r} of {where} must hold {rule}; it holds {_spelled(kind)}")


def _spelled(kind: Any) -> str:
    return "nulls only" if pa.types.is_null(kind) else str(kind)
