"""Thresholds as SQL: expressions that predict the rows that `Thresholds.predict` predicts.

Comparisons must be exact, because thresholds are scores. In most databases ``0.35`` is a decimal
number, and a float column may be rounded to be compared with it. ``0.35e0`` is a double by the SQL
standard, and float columns are compared with it as doubles. SQLite reads some literals one unit in
the last place off (3.40 about 1 in 5,000 of at most 15 digits), so there a threshold is a quotient
of integers.
"""

import math
from collections.abc import Sequence
from difflib import get_close_matches
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from halfmax._core.errors import ArgumentError, ArgumentTypeError, in_python
from halfmax._core.extras import require_installed
from halfmax._core.text import spell_out

if TYPE_CHECKING:
    from sqlglot.expressions import Expr

    from halfmax.tuning.thresholds import Thresholds

_USUAL = ("postgres", "mysql", "sqlite", "duckdb", "bigquery", "snowflake", "tsql", "spark")
_ALSO_CALLED = {"mssql": "tsql", "sqlserver": "tsql", "mariadb": "mysql", "pyspark": "spark"}
_LARGEST_SHIFT = 62  # the largest power of two that is a 64-bit integer
_SAFE_DIGITS = 15  # a literal of no more digits that is a sum of powers of two is read exactly


class SqlNames(NamedTuple):
    """The names of columns and of the table in the arguments of `Thresholds.to_sql`."""

    table: str | None = None
    keep: str | Sequence[str] = ()
    label: str | None = None
    score: str | None = None
    prediction: str | None = None
    suffix: str = ""


class _Columns(NamedTuple):
    """Expressions of predictions, and the names of the columns that they read."""

    predictions: "list[Expr]"
    read: list[str]


def write_sql(thresholds: "Thresholds", dialect: str, names: SqlNames) -> str:
    """Return the SQL of `Thresholds.to_sql`, which documents the arguments."""
    require_installed("sqlglot")
    _check_dialect(dialect)
    names = _checked(names)
    if thresholds.average == "binary":
        columns = _of_one_classifier(thresholds, dialect, names)
    elif names.label is not None:
        columns = _of_long_table(thresholds, dialect, names)
    else:
        columns = _of_each_label(thresholds, dialect, names)
    if names.table is not None:
        return _query(columns, names, dialect)
    if names.keep:
        raise ArgumentError(
            f"{in_python('keep')} needs {in_python('table')}, the table to select from; got "
            f"{spell_out(names.keep)}"
        )
    return ",\n".join(column.sql(dialect=dialect) for column in columns.predictions)


# ---- columns of predictions


def _of_one_classifier(thresholds: "Thresholds", dialect: str, names: SqlNames) -> _Columns:
    if names.label is not None:
        raise ArgumentError(
            f"{in_python('label')} is for thresholds of many labels, and these are of one "
            f"classifier: leave it None; got {names.label!r:.60}"
        )
    score, prediction = _names_of_one(names)
    reached = _reached(score, thresholds.threshold, dialect)
    return _Columns([_predicted(reached, prediction)], [score])


def _of_long_table(thresholds: "Thresholds", dialect: str, names: SqlNames) -> _Columns:
    """Return the predictions of a table that has a column of labels and one of scores."""
    from sqlglot import exp

    score, prediction = _names_of_one(names)
    assert names.label is not None
    label = _column(names.label)
    cases: list[Any] = [
        exp.and_(exp.EQ(this=label.copy(), expression=exp.convert(name)), reached)
        for name, limit in zip(_labels_of(thresholds), thresholds.thresholds.tolist(), strict=True)
        for reached in _reached(score, limit, dialect)
    ]
    return _Columns([_predicted(cases, prediction)], [names.label, score])


def _of_each_label(thresholds: "Thresholds", dialect: str, names: SqlNames) -> _Columns:
    """Return the predictions of labels whose scores are columns with their names."""
    for argument in ("score", "prediction"):
        if getattr(names, argument) is not None:
            raise ArgumentError(
                f"{in_python(argument)} is for one classifier, or for a table with a column of "
                f"labels, whose name is {in_python('label')}; here each label is a column; got "
                f"{getattr(names, argument)!r:.60}"
            )
    labels = [str(name) for name in _labels_of(thresholds)]
    if "" in labels or len(set(labels)) < len(labels):
        raise ArgumentError(
            "labels must differ as text and not be empty to be names of columns; for a table with "
            f"a column of labels, pass its name as {in_python('label')}"
        )
    limits = thresholds.thresholds.tolist()
    predictions = [
        _predicted(_reached(label, limit, dialect), f"{label}{names.suffix}")
        for label, limit in zip(labels, limits, strict=True)
    ]
    return _Columns(predictions, labels)


def _names_of_one(names: SqlNames) -> tuple[str, str]:
    """Return the names of the only columns of scores and of predictions."""
    if names.suffix:
        raise ArgumentError(
            f"{in_python('suffix')} is for a column of each label; here the name of the only "
            f"column is {in_python('prediction')}; got {names.suffix!r:.60}"
        )
    return names.score or "score", names.prediction or "predicted"


def _labels_of(thresholds: "Thresholds") -> Sequence[Any]:
    if thresholds.labels is None:
        raise ArgumentError(
            "labels must have names to be written as SQL: tune with labels=[...], or use "
            "Thresholds.from_dict"
        )
    odd = [name for name in thresholds.labels if type(name) not in (str, int)]
    if odd:
        raise ArgumentTypeError(
            f"labels must be strings or integers to be written as SQL; got {spell_out(odd[:3])}"
        )
    return thresholds.labels


def _query(columns: _Columns, names: SqlNames, dialect: str) -> str:
    """Return a query for the columns to keep and the predictions."""
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    kept = set(names.keep) | (set(columns.read) if "*" in names.keep else set())
    twice = [column.alias for column in columns.predictions if column.alias in kept]
    if twice:
        raise ArgumentError(
            f"{in_python('keep')} must not hold names of predictions; {spell_out(twice, most=3)} "
            f"would come twice: rename predictions with {in_python('suffix')} or "
            f"{in_python('prediction')}"
        )
    try:
        table = exp.to_table(str(names.table), dialect=dialect)
    except SqlglotError:
        raise ArgumentError(
            f"{in_python('table')} must be the name of a table as {dialect} spells it, with quotes "
            f"around special characters; got {names.table!r:.60}"
        ) from None
    shown = [exp.Star() if name == "*" else _column(name) for name in names.keep]
    query = exp.select(*shown, *columns.predictions).from_(table)
    return query.sql(dialect=dialect, pretty=True)


# ---- expressions


def _predicted(cases: "list[Expr]", name: str) -> "Expr":
    """Return 1 where one of the conditions holds, otherwise 0; 0 also for NULL."""
    from sqlglot import exp

    zero = exp.Literal.number(0)
    ifs = [exp.If(this=case, true=exp.Literal.number(1)) for case in cases]
    return exp.alias_(exp.Case(ifs=ifs, default=zero) if ifs else zero, name, quoted=True)


def _reached(column: str, threshold: float, dialect: str) -> "list[Expr]":
    """Return the condition that a score reaches its threshold; an empty list if no score does."""
    from sqlglot import exp

    if threshold == math.inf:
        return []
    limit = _as_quotient(threshold) if _is_sqlite(dialect) else _as_double(threshold)
    return [exp.GTE(this=_column(column), expression=limit)]


def _column(name: str) -> "Expr":
    from sqlglot import exp

    return exp.column(exp.to_identifier(name, quoted=True))


def _as_double(number: float) -> "Expr":
    """Return a literal of type double; Python's shortest decimal reads back as the same bits."""
    from sqlglot import exp

    text = repr(abs(number))
    literal = exp.Literal.number(text if "e" in text else f"{text}e0")
    return exp.Neg(this=literal) if number < 0 else literal


def _as_quotient(number: float) -> "Expr":
    """Return a double as an integer times or over powers of two, unless its decimal is exact."""
    from sqlglot import exp

    text = repr(abs(number))
    digits = text.replace(".", "").strip("0")
    if "e" not in text and len(digits) <= _SAFE_DIGITS and Fraction(text) == Fraction(abs(number)):
        return _as_double(number)
    above, below = number.as_integer_ratio()
    shift = 1 - below.bit_length()
    while abs(above) >> _LARGEST_SHIFT:  # a large number is a multiple of a power of two
        above, shift = above >> 1, shift + 1
    found: Any = exp.cast(exp.convert(above), "double")
    operator: Any = exp.Mul if shift > 0 else exp.Div
    kept = {} if shift > 0 else {"typed": True, "safe": True}  # as it is, without further casts
    last = found
    for step in [_LARGEST_SHIFT] * (abs(shift) // _LARGEST_SHIFT) + [abs(shift) % _LARGEST_SHIFT]:
        if step:
            last = exp.Literal.number(1 << step)
            found = operator(this=found, expression=last, **kept)
    last.add_comments([repr(number)])
    return found  # type: ignore[no-any-return]


# ---- checks


def _is_sqlite(dialect: str) -> bool:
    return dialect.partition(",")[0].strip().lower() == "sqlite"


def _check_dialect(dialect: Any) -> None:
    """Refuse a dialect that sqlglot does not know or does not write as SQL."""
    import sqlglot
    from sqlglot.dialects.dialect import Dialects

    try:
        if isinstance(dialect, str) and dialect:
            sqlglot.parse_one("SELECT 1", dialect=dialect)
            return
    except (ValueError, sqlglot.errors.SqlglotError):
        pass
    asked = str(dialect).lower()
    near = get_close_matches(asked, [each.value for each in Dialects], 1)
    meant = _ALSO_CALLED.get(asked) or "".join(near)
    hint = f": did you mean {meant!r}?" if meant not in ("", asked) else ""
    raise ArgumentError(
        f"{in_python('dialect')} must be a dialect of SQL that sqlglot knows, such as "
        f"{spell_out(_USUAL, 'or')}; got {dialect!r:.60}{hint}"
    )


def _checked(names: SqlNames) -> SqlNames:
    """Check all names; a single name to keep becomes a list."""
    keep = [names.keep] if isinstance(names.keep, str) else names.keep
    if not isinstance(keep, (list, tuple)):
        raise ArgumentTypeError(
            f"{in_python('keep')} must be a name of a column or a list of names; got {keep!r:.60}"
        )
    for argument, values in names._replace(keep=keep, suffix="_")._asdict().items():
        for value in values if argument == "keep" else [values]:
            if value is not None and not (isinstance(value, str) and value):
                raise ArgumentTypeError(
                    f"{in_python(argument)} must be a name, which is a string that is not empty; "
                    f"got {value!r:.60}"
                )
    if not isinstance(names.suffix, str):
        raise ArgumentTypeError(f"{in_python('suffix')} must be a string; got {names.suffix!r:.60}")
    return names._replace(keep=list(keep))
