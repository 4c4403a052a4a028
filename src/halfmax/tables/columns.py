"""The columns of a table: what each of them means, and whether its type is allowed."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from halfmax._core.errors import ArgumentError, in_python
from halfmax._core.text import spell_out
from halfmax.tables.arrow import pa

TEXT, WHOLE = "text", "integers"
_ROLES = ("instance", "label", "score", "truth", "weight")


@dataclass(frozen=True)
class Columns:
    """Names of columns by role; None where the table has no such column.

    ``may_miss`` are default names that the caller did not choose: these columns are used if they
    exist. ``classes`` are the negative and the positive class of the truth.
    """

    label: str | None = "label"
    score: str | None = "score"
    truth: str | None = None
    weight: str | None = None
    instance: str | None = None
    may_miss: frozenset[str] = frozenset()
    classes: tuple[Any, Any] | None = None  # the two classes of the truth, if not 0 and 1

    def __post_init__(self) -> None:
        for role, name in self.roles():
            if not isinstance(name, str):
                raise TypeError(f"{role} must be the name of a column; got {name!r}")
        names = self.names
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise ValueError(f"column {twice[0]!r} cannot mean two things: {dict(self.roles())}")

    def roles(self) -> list[tuple[str, str]]:
        """The columns that are read, as (role, name) pairs."""
        return [(role, name) for role in _ROLES if (name := getattr(self, role)) is not None]

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.roles()]

    @property
    def name_of_one(self) -> tuple[str] | None:
        """The name of the only label of one classifier: its positive class, if that has a name."""
        positive = None if self.classes is None else self.classes[1]
        return (positive,) if isinstance(positive, str) else None

    @property
    def ids(self) -> list[str]:
        return [name for role, name in self.roles() if role in ("instance", "label")]

    def found_in(
        self, schema: pa.Schema, where: str, names: Iterable[str] | None = None
    ) -> "Columns":
        """Check the columns against a schema, and drop those that are missing and may be.

        `names` are all columns of the table, if the schema does not have them all.
        """
        there = list(schema.names if names is None else names)
        found: dict[str, Any] = {}
        for role, name in self.roles():
            if name in there:
                if there.count(name) > 1:
                    raise ValueError(f"{where} has more than one column {name!r}")
                check_type(role, name, schema.field(name).type, where)
            elif name in self.may_miss:
                found[role] = None
            else:
                raise ArgumentError(_missing(role, name, there, where))
        return replace(self, may_miss=frozenset(), **found)


def _missing(role: str, name: str, there: Iterable[str], where: str) -> str:
    hint = f"name the column with {in_python(f'{role}=...')}"
    if f"{name}=" in where:
        hint = "folders named after a column are read by pyarrow.dataset.dataset(folder, "
        hint += "partitioning='hive'), which can be passed instead"
    elif role == "label":
        hint += f", or use {in_python('label=None for one classifier')}"
    return f"{where} has no column {name!r}; it has {spell_out(list(there), most=20)}: {hint}"


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of a column's values, without dictionary encoding."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """The schema without dictionary encoding."""
    return pa.schema([(field.name, plain_type(field.type)) for field in schema])


def id_type(kind: pa.DataType) -> pa.DataType:
    """The type that ids are converted to: int64 or large_string."""
    return pa.int64() if pa.types.is_integer(plain_type(kind)) else pa.large_string()


def kind_of_id(kind: pa.DataType) -> str | None:
    """Return `TEXT` or `WHOLE`, or None if the type cannot hold ids."""
    kind = plain_type(kind)
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return TEXT
    return WHOLE if pa.types.is_integer(kind) else None


def check_type(role: str, name: str, kind: pa.DataType, where: str) -> None:
    """Refuse a type that is not allowed for the role."""
    plain = plain_type(kind)
    number = pa.types.is_integer(plain) or pa.types.is_floating(plain) or pa.types.is_decimal(plain)
    allowed: dict[str, tuple[bool, str]] = {
        "label": (kind_of_id(kind) is not None, "strings or integers"),
        "instance": (kind_of_id(kind) is not None, "strings or integers"),
        "score": (number, "numbers"),
        "weight": (number, "numbers"),
        "truth": (
            number or pa.types.is_boolean(plain) or kind_of_id(kind) == TEXT,
            "two classes: 0/1, bool, other numbers or names",
        ),
    }
    fine, rule = allowed[role]
    if not fine:
        raise TypeError(f"column {name!r} of {where} must hold {rule}; it holds {_spelled(kind)}")


def _spelled(kind: Any) -> str:
    return "nulls only" if pa.types.is_null(kind) else str(kind)
