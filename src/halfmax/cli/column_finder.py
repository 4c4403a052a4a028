"""Find the columns of scores and truth by their values, where they do not have the usual names."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from halfmax._core.text import spell_out
from halfmax.cli import proposals
from halfmax.cli.first_line import refuse_data, stands_for_a_number
from halfmax.cli.named_columns import refuse_unknown, with_truth_file
from halfmax.cli.near_misses import FirstCells
from halfmax.cli.run import Run
from halfmax.tables.arrow import pa, pc
from halfmax.tables.columns import plain_type
from halfmax.tables.first_rows import first_file, first_rows
from halfmax.tables.rows import plain

# What a column may hold; classes are the values of a truth.
CLASSES, FRACTIONS, WHOLE, NAMES, OTHER = "classes", "fractions", "whole numbers", "names", "other"
TRUTH_VALUES = "true or false"
_LOOKS = {  # how a column with a role looks
    "truth": "has two values, such as 0/1 or yes/no",
    "score": "holds numbers that could be it",
}
_MOST_COMMANDS = 3


class Roles(NamedTuple):
    """The names of the columns of a table, by role; None where there is none."""

    label: str | None
    score: str
    truth: str | None
    others: tuple[str, ...] = ()  # of instances, then others that are no scores
    chosen: frozenset[str] = frozenset()  # the roles that are not searched for
    typed: Mapping[str, str] = {}  # what the user named, by option

    def usual(self) -> dict[str, str]:
        """Return the roles whose columns have the usual names, and these names."""
        named = {"label": self.label, "score": self.score, "truth": self.truth}
        return {role: name for role, name in named.items() if name and role not in self.chosen}


class Column(NamedTuple):
    """A column as its first rows show it: what it holds, and its different values if they are few.

    ``repeats`` says whether a value appears twice, ``numbers_rows`` whether it is 1, 2, 3, ...
    """

    name: str
    kind: str
    values: tuple[Any, ...] = ()
    repeats: bool = False
    numbers_rows: bool = False

    @property
    def is_text(self) -> bool:
        return self.kind == NAMES or any(isinstance(value, str) for value in self.values)

    @property
    def classes(self) -> str:
        """The values of a truth, as in 0/1."""
        words = (str(value).lower() if isinstance(value, bool) else value for value in self.values)
        return "/".join(map(str, words))


def find_columns(paths: Sequence[str], roles: Roles, run: Run) -> Roles:
    """Return the roles with columns that the table has; note what was found by its values.

    Names that the caller chose and usual names that exist are kept. Raises an error with commands
    to type if several columns may be meant.
    """
    file = first_file(paths)
    names = file.schema.names
    refuse_unknown(file, roles.typed, run)
    missing = [role for role, name in roles.usual().items() if name not in names]
    if not missing:
        return roles
    if len(set(names)) < len(names):
        if all(map(stands_for_a_number, names)):
            refuse_data(file.path, [(name, None) for name in names], run)
        return roles  # the reader refuses names that repeat
    rows = first_rows(file)
    if not rows.num_rows:
        raise ValueError(f"{file.path} must have at least one row")
    columns = [describe(name, rows[name]) for name in names]
    return _Search(file.path, rows, columns, roles, missing, run).find()


def describe(name: str, column: pa.ChunkedArray) -> Column:
    """Describe a column by its first rows."""
    values = pa.chunked_array(map(plain, column.chunks), plain_type(column.type)).drop_null()
    kind = _type_of(values.type)
    if kind == OTHER:
        return Column(name, kind)
    distinct = pc.unique(values)
    few = tuple(map(_plain_value, sorted(distinct.to_pylist()))) if len(distinct) <= 2 else ()
    if kind == TRUTH_VALUES or _are_classes(few):
        kind = CLASSES
    repeats = len(distinct) < len(values)
    counts = kind == WHOLE and not repeats and bool(few == () and _is_range(distinct))
    return Column(name, kind, few, repeats, counts)


def _type_of(kind: pa.DataType) -> str:
    types = pa.types
    if types.is_boolean(kind):
        return TRUTH_VALUES
    if types.is_integer(kind):
        return WHOLE
    if types.is_floating(kind) or types.is_decimal(kind):
        return FRACTIONS
    return NAMES if types.is_string(kind) or types.is_large_string(kind) else OTHER


def _plain_value(value: Any) -> Any:
    """Return 0.0 as 0, as people write classes."""
    if isinstance(value, (bool, str)):
        return value
    return int(value) if float(value).is_integer() else value


def _are_classes(values: tuple[Any, ...]) -> bool:
    """Whether these may be all values of a truth: 0 and 1, or two other names or whole numbers."""
    two = len(values) == 2 and all(isinstance(value, (int, str)) for value in values)
    return two or (bool(values) and {0, 1}.issuperset(values))


def _is_range(distinct: pa.Array) -> bool:
    ends = pc.min_max(distinct).as_py()
    return bool(ends["max"] - ends["min"] == len(distinct) - 1)


class _Search(NamedTuple):
    """The columns of a table, and the roles that they may have."""

    path: str
    rows: pa.Table  # the first ones
    columns: list[Column]
    roles: Roles
    missing: list[str]
    run: Run

    def find(self) -> Roles:
        """Give each missing role a column."""
        roles, found = self.roles, dict[str, Column]()
        if "truth" in self.missing:
            found["truth"] = self._pick("truth", self._truths())
        label = roles.label
        if "label" in self.missing or (label and label in map(_name, found.values())):
            label = None
        if "score" in self.missing:
            found["score"] = self._pick("score", self._scores(found.get("truth")))
        names: dict[str, Any] = {role: column.name for role, column in found.items()}
        chosen = roles._replace(**names)
        self._refuse_data(found, chosen.score)
        if label is None and roles.label is not None:
            self._refuse_labels(chosen)
        self.run.notes.append(_note(found))
        return chosen._replace(label=label)

    def _free(self, *taken: str | None) -> list[Column]:
        """Return the columns without a role."""
        fixed = {*self.roles.others, *taken, self.roles.label, self.roles.score, self.roles.truth}
        return [column for column in self.columns if column.name not in fixed]

    def _truths(self) -> list[Column]:
        classes = [column for column in self._free() if column.kind == CLASSES]
        classes = [column for column in classes if len(column.values) == 2] or classes
        for column in self.columns if "label" not in self.roles.chosen else ():
            is_classes = column.name == self.roles.label and column.kind == CLASSES
            if is_classes and not (classes and column.is_text):
                classes.append(column)  # people call the truth a label, too
        return classes

    def _scores(self, truth: Column | None) -> list[Column]:
        free = self._free(truth and truth.name)
        fractions = [column for column in free if column.kind == FRACTIONS]
        whole = [column for column in free if column.kind == WHOLE and not column.numbers_rows]
        whole = [column for column in whole if column.repeats] or whole
        return fractions or whole

    def _pick(self, role: str, among: list[Column]) -> Column:
        if len(among) == 1 and (role == "truth" or among[0].kind == FRACTIONS):
            return among[0]
        self._refuse_head_of_numbers()
        has = f"it has {spell_out(map(_name, self.columns), most=20)}"
        if len(among) < 2:
            self._refuse_near_misses(role, whole=not among)
        if len(among) == 1:
            return among[0]
        if not among:
            more = self._if_wide()
            raise ValueError(
                f"{self.path} has no column {getattr(self.roles, role)!r}, and none of the others "
                f"{_LOOKS[role]}; {has}: name the column with --{role}{more}"
            )
        self._suggest(*(["--" + role, column.name] for column in among))
        raise ValueError(
            f"cannot tell which column of {self.path} is the {role}, "
            f"{spell_out(map(_name, among), 'or')}; {has}. Type one of these:"
        )

    def _if_wide(self) -> str:
        """Name the command for a file with a column for each label, if this may be one."""
        numbers = [column for column in self._free() if column.kind == FRACTIONS]
        if len(numbers) < 2 or "truth" not in self.missing:
            return ""
        self.run.commands.append(with_truth_file("TRUTH_FILE", self.rows))
        return ". If it has a column for each label, name the file of their truth:"

    def _refuse_near_misses(self, role: str, whole: bool) -> None:
        """Refuse a column that would have the role but for a few cells."""
        for column in self._free():
            cells = FirstCells(self.path, column.name, self.rows[column.name])
            said = cells.of_truth() if role == "truth" else cells.of_score(whole)
            if said is not None:
                name = getattr(self.roles, role)
                raise ValueError(f"{self.path} has no column {name!r}. {said}")

    def _refuse_data(self, found: dict[str, Column], score: str) -> None:
        """Refuse a file without names of columns, whose first row stands for them."""
        number = "score" in found and stands_for_a_number(score)
        truth = found.get("truth")
        same = truth is not None and truth.name in map(str, truth.values)
        if number or (same and not any(map(str.isalpha, score))):
            roles = {column.name: role for role, column in found.items()}
            refuse_data(self.path, [(c.name, roles.get(c.name)) for c in self.columns], self.run)

    def _refuse_head_of_numbers(self) -> None:
        """Refuse a head whose names of fractions are fractions."""
        for column in self._free() if not self.roles.typed else ():
            fraction = any(mark in column.name for mark in ".,")
            if fraction and column.kind == FRACTIONS and stands_for_a_number(column.name):
                refuse_data(self.path, [(column.name, None) for column in self.columns], self.run)

    def _refuse_labels(self, roles: Roles) -> None:
        """Refuse to see one classifier where a column may hold labels."""
        instances = [column for column in self.columns if column.name in roles.others[:1]]
        if instances and not instances[0].repeats:
            return
        rest = [column for column in self._free(roles.score, roles.truth) if column.repeats]
        rest = [column for column in rest if column.is_text or column.kind == WHOLE]
        if labels := [column for column in rest if len(column.values) != 1]:
            self._suggest(["--label", labels[0].name], ["--binary"])
            raise ValueError(
                f"column {labels[0].name!r} of {self.path} may hold labels. If it does, type the "
                "first of these; for one classifier, the second:"
            )

    def _suggest(self, *options: list[str]) -> None:
        self.run.commands += [proposals.command(*more) for more in options[:_MOST_COMMANDS]]


def _name(column: Column) -> str:
    return column.name


def _note(found: dict[str, Column]) -> str:
    took = {role: f"{column.name!r} as the {role}" for role, column in found.items()}
    if "truth" in took:
        took["truth"] += f" ({found['truth'].classes})"
    if len(took) == 2:
        both = f"{took['score']} and {took['truth']}"
        return f"Took column {both}; --score and --truth name others"
    if not took:
        return "Took the table as one classifier, as with --binary: it has no column 'label'"
    ((role, what),) = took.items()
    return f"Took column {what}; --{role} names another"
