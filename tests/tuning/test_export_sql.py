"""Thresholds as SQL predict the same rows in real databases as they do in Python."""

import math
import sqlite3

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from strategies import at_most, many_labels, one_classifier

import halfmax as hm

duckdb = pytest.importorskip("duckdb")
sqlglot = pytest.importorskip("sqlglot")
exp = sqlglot.exp

INF, NAN = float("inf"), float("nan")
DIALECTS = ["postgres", "duckdb", "sqlite", "mysql", "bigquery", "snowflake", "tsql", "spark"]
HOSTILE = [
    "select",
    'say "hi"',
    "it's",
    "back`tick",
    "[brackets]",
    "slash\\",
    "naïve 🐈",
    "a b",
    "%s",
]
OWN = hm.Thresholds.from_dict({"cats": 0.35, "dogs": 0.5})
ONE = hm.Thresholds.from_dict({"spam": 0.35}, average="binary")
DUCK = duckdb.connect()

# Names that differ also where a database ignores case, and that it can hold.
names = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1)
names = names.filter(lambda name: name.isprintable()) | st.sampled_from(HOSTILE)


def in_duckdb(columns, ask):
    DUCK.register("scores", pa.table(columns))
    return DUCK.execute(ask("duckdb")).fetchall()


def in_sqlite(columns, ask):
    base = sqlite3.connect(":memory:")
    quoted = ['"' + name.replace('"', '""') + '"' for name in columns]
    base.execute(f"CREATE TABLE scores ({', '.join(quoted)})")
    rows = zip(*(column.to_pylist() for column in columns.values()), strict=True)
    base.executemany(f"INSERT INTO scores VALUES ({', '.join('?' * len(quoted))})", rows)
    found = base.execute(ask("sqlite")).fetchall()
    base.close()
    return found


DATABASES = pytest.mark.parametrize("database", [in_duckdb, in_sqlite])


def floats(values, missing):
    """A column of float32 or float64, with NULL in place of some values."""
    kept = values if values.dtype in (np.float32, np.float64) else values.astype(np.float32)
    return pa.array(kept, mask=missing)


def draw_limits(data, scores, size):
    """Thresholds: scores, the floats next to them, decimals and infinity."""
    known = np.unique(np.asarray(scores, np.float64))
    known = known[known > -INF].tolist()
    near = [math.nextafter(value, side) for value in known for side in (-INF, INF)]
    some = st.sampled_from([INF, 0.1, 0.35, *known, *(x for x in near if x > -INF)])
    some |= st.floats(allow_nan=False, allow_infinity=False)
    return [data.draw(some) for _ in range(size)]


@DATABASES
@given(case=many_labels(dtypes=(np.float16, np.float32, np.float64)), data=st.data())
def test_columns_of_labels_are_predicted_alike(database, case, data):
    size = case.s.shape[1]
    unique = st.lists(names, min_size=size, max_size=size, unique_by=str.casefold)
    labels = data.draw(unique.filter(lambda some: "row number" not in some))
    t = hm.Thresholds.from_dict(dict(zip(labels, draw_limits(data, case.s, size), strict=True)))
    missing = data.draw(st.lists(st.booleans(), min_size=case.s.size, max_size=case.s.size))
    missing = np.reshape(missing, case.s.shape)
    columns = {label: floats(case.s[:, j], missing[:, j]) for j, label in enumerate(labels)}
    columns["row number"] = pa.array(range(len(case.s)))

    def ask(dialect):
        return t.to_sql(dialect, table="scores", keep="row number", suffix=" ")

    found = np.array(sorted(database(columns, ask)))[:, 1:]
    scores = np.where(missing, -INF, case.s.astype(np.float64))
    assert_array_equal(found, t.predict(scores))


@DATABASES
@given(case=one_classifier(dtypes=(np.float32, np.float64)), data=st.data())
def test_one_classifier_is_predicted_alike(database, case, data):
    (limit,) = draw_limits(data, case.s, 1)
    t = hm.Thresholds.from_dict({"spam": limit}, average="binary")
    columns = {"n": pa.array(range(len(case.s))), "score": floats(case.s, None)}
    found = database(columns, lambda dialect: t.to_sql(dialect, table="scores", keep="n"))
    assert [value for _, value in sorted(found)] == t.predict(case.s).tolist()


@DATABASES
@given(case=many_labels(dtypes=(np.float32, np.float64)), data=st.data(), whole=st.booleans())
def test_long_tables_are_predicted_alike(database, case, data, whole):
    n_rows, size = case.s.shape
    kind = st.integers(-(2**31), 2**31) if whole else names
    labels = data.draw(st.lists(kind, min_size=size + 1, max_size=size + 1, unique=True))
    limits = draw_limits(data, case.s, size)
    t = hm.Thresholds.from_dict(dict(zip(labels[:size], limits, strict=True)))
    columns = {
        "n": pa.array(range(case.s.size + 2)),
        "label": pa.array([*(labels[:size] * n_rows), labels[-1], None]),
        "score": floats(np.append(case.s.ravel(), np.full(2, 1e30, case.s.dtype)), None),
    }

    def ask(dialect):
        return t.to_sql(dialect, table="scores", keep=["n"], label="label")

    found = [value for _, value in sorted(database(columns, ask))]
    assert found == [*t.predict(case.s).ravel().tolist(), 0, 0]


@DATABASES
@at_most(4)
@given(bits=st.integers(0, 2**32))
def test_every_float_is_written_exactly(database, bits):
    """A score equal to the threshold is predicted and the float below it is not."""
    limits = np.random.default_rng(bits).integers(0, 2**64, 500, np.uint64).view(np.float64)
    limits = limits[np.isfinite(limits)]
    t = hm.Thresholds.from_dict({f"label {j}": limit for j, limit in enumerate(limits)})
    scores = np.array([np.nextafter(limits, -INF), limits])
    columns = {name: pa.array(scores[:, j]) for j, name in enumerate(t)}
    found = database(columns, lambda dialect: t.to_sql(dialect, table="scores"))
    assert_array_equal(sorted(found), [np.zeros(len(limits)), np.ones(len(limits))])


def test_floats_that_a_decimal_literal_would_miss():
    """A rounded threshold predicts the score just below 0.35, a plain literal does in DuckDB."""
    scores = np.array([0.35], np.float32)
    assert ONE.predict(scores).tolist() == [0]
    columns = {"score": pa.array(scores)}
    assert in_duckdb(columns, lambda _: 'SELECT CAST("score" >= 0.35 AS INT) FROM scores') == [(1,)]
    assert in_duckdb(columns, lambda dialect: ONE.to_sql(dialect, table="scores")) == [(0,)]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_text_is_read_back_by_every_dialect(dialect):
    numbers = dict(zip(HOSTILE, [0.35, -0.5, INF, 1e-300, 1e22, 3.0, -1e-7, 0.1, 0.0], strict=True))
    t = hm.Thresholds.from_dict(numbers)
    query = sqlglot.parse_one(t.to_sql(dialect, table="t", suffix="!"), dialect=dialect)
    assert [column.alias for column in query.expressions] == [f"{name}!" for name in HOSTILE]
    for name, column in zip(HOSTILE, query.expressions, strict=True):
        read = [found.name for found in column.find_all(exp.Column)]
        assert read == ([] if numbers[name] == INF else [name])
    text = t.to_sql(dialect)
    again = sqlglot.parse_one(f"SELECT {text}", dialect=dialect).expressions
    assert ",\n".join(column.sql(dialect) for column in again) == text
    long = sqlglot.parse_one(t.to_sql(dialect, table="t", label="label"), dialect=dialect)
    compared = [equal.expression.this for equal in long.find_all(exp.EQ)]
    assert compared == [name for name in HOSTILE if numbers[name] < INF]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_numbers_in_the_text_are_the_thresholds(dialect):
    if dialect == "sqlite":
        return  # whose quotients are computed by the real thing above
    t = hm.Thresholds.from_dict({"a": 0.1 + 0.2, "b": 1e-300, "c": 5e-324, "d": 1.7e308, "e": 7.0})
    query = sqlglot.parse_one(f"SELECT {t.to_sql(dialect)}", dialect=dialect)
    found = [float(case.expression.this) for case in query.find_all(exp.GTE)]
    assert found == t.thresholds.tolist()
    assert all("e" in case.expression.this for case in query.find_all(exp.GTE))


# What it looks like.


def test_an_expression_for_each_label():
    assert OWN.to_sql() == (
        'CASE WHEN "cats" >= 0.35e0 THEN 1 ELSE 0 END AS "cats",\n'
        'CASE WHEN "dogs" >= 0.5e0 THEN 1 ELSE 0 END AS "dogs"'
    )
    assert OWN.to_sql("mysql", suffix="_yes").startswith("CASE WHEN `cats` >= 0.35e0 THEN 1 ")
    assert OWN.to_sql("tsql", suffix="_yes").endswith("AS [dogs_yes]")


def test_a_label_that_is_never_predicted_is_0():
    assert hm.Thresholds.from_dict({"a": INF}).to_sql() == '0 AS "a"'
    never = hm.Thresholds.from_dict({"a": INF}, average="binary")
    assert never.to_sql() == '0 AS "predicted"'
    never = hm.Thresholds.from_dict({"a": INF, "b": INF})
    assert never.to_sql(label="label") == '0 AS "predicted"'


def test_one_classifier_has_a_column_of_scores():
    assert ONE.to_sql() == 'CASE WHEN "score" >= 0.35e0 THEN 1 ELSE 0 END AS "predicted"'
    named = ONE.to_sql(score="p_spam", prediction="spam")
    assert named == 'CASE WHEN "p_spam" >= 0.35e0 THEN 1 ELSE 0 END AS "spam"'
    assert hm.tune([0, 1], [0.1, 0.5]).to_sql().startswith('CASE WHEN "score" >= 0.5e0 THEN')


def test_integers_name_columns_and_labels():
    t = hm.Thresholds.from_dict({3: 0.5, -4: 0.5})
    assert t.to_sql().startswith('CASE WHEN "3" >= 0.5e0 THEN 1 ELSE 0 END AS "3"')
    assert 'WHEN "label" = -4 AND "score" >= 0.5e0 THEN 1' in t.to_sql(label="label")


def test_a_whole_query():
    query = OWN.to_sql("duckdb", table='main."the scores"', keep=["id", "at"], suffix="_yes")
    assert " ".join(query.split()) == (
        'SELECT "id", "at", CASE WHEN "cats" >= 0.35e0 THEN 1 ELSE 0 END AS "cats_yes", '
        'CASE WHEN "dogs" >= 0.5e0 THEN 1 ELSE 0 END AS "dogs_yes" FROM main."the scores"'
    )
    assert " ".join(ONE.to_sql(table="t", keep="*").split()).startswith("SELECT *, CASE WHEN ")


def test_sqlite_is_spared_its_own_reading_of_decimals():
    assert OWN.to_sql("sqlite") == (
        'CASE WHEN "cats" >= CAST(3152519739159347 AS REAL) / 9007199254740992 /* 0.35 */ '
        'THEN 1 ELSE 0 END AS "cats",\n'
        'CASE WHEN "dogs" >= 0.5e0 THEN 1 ELSE 0 END AS "dogs"'
    )


BAD = [
    (OWN, {"dialect": "postgresql"}, ValueError, "must be a dialect .* did you mean 'postgres'?"),
    (OWN, {"dialect": "mssql"}, ValueError, r"such as 'postgres', .*: did you mean 'tsql'\?"),
    (OWN, {"dialect": "esperanto"}, ValueError, "dialect must be .*; got 'esperanto'$"),
    (OWN, {"dialect": "prql"}, ValueError, "dialect must be a dialect of SQL .*; got 'prql'$"),
    (OWN, {"dialect": ""}, ValueError, "dialect must be .*; got ''"),
    (OWN, {"dialect": None}, ValueError, "dialect must be .*; got None"),
    (OWN, {"keep": "id"}, ValueError, "keep needs table, the table to select from; got 'id'"),
    (OWN, {"table": "t", "keep": 3}, TypeError, "keep must be a name of a column or a list"),
    (OWN, {"table": "t", "keep": ["a", 3]}, TypeError, "keep must be a name, .*; got 3"),
    (OWN, {"table": "t", "keep": [""]}, TypeError, "keep must be a name, .*; got ''"),
    (OWN, {"table": "t", "keep": "*"}, ValueError, "keep .* 'cats' and 'dogs' would come twice"),
    (OWN, {"table": "t", "keep": ["dogs"]}, ValueError, "'dogs' would come twice: rename .* suf"),
    (ONE, {"table": "t", "keep": ["predicted"]}, ValueError, "'predicted' would come twice"),
    (OWN, {"table": ""}, TypeError, "table must be a name, .*; got ''"),
    (OWN, {"table": 3}, TypeError, "table must be a name, .*; got 3"),
    (OWN, {"table": '"open'}, ValueError, "table must be the name of a table as postgres spells"),
    (OWN, {"score": "p"}, ValueError, "score is for one classifier, or .* label; .* got 'p'"),
    (OWN, {"prediction": "p"}, ValueError, "prediction is for one classifier, or .* got 'p'"),
    (OWN, {"suffix": 3}, TypeError, "suffix must be a string; got 3"),
    (
        OWN,
        {"label": "x", "suffix": "_"},
        ValueError,
        "suffix is for a column of each label; .* '_'",
    ),
    (ONE, {"suffix": "_"}, ValueError, "suffix is for a column of each label"),
    (ONE, {"label": "x"}, ValueError, "label is for thresholds of many labels, .*; got 'x'"),
    (ONE, {"score": ""}, TypeError, "score must be a name, .*; got ''"),
    (
        hm.Thresholds.from_dict({1: 0.3, "1": 0.6}),
        {},
        ValueError,
        "labels must differ as text and not be empty to be names of columns",
    ),
    (hm.Thresholds.from_dict({"": 0.3}), {}, ValueError, "labels must differ as text and not be"),
    (
        hm.Thresholds.from_dict({("a", 1): 0.3}),
        {},
        TypeError,
        r"labels must be strings or integers to be written as SQL; got \('a', 1\)",
    ),
    (
        hm.tune([[0, 1], [1, 0]], [[0.1, 0.2], [0.3, 0.1]]),
        {},
        ValueError,
        r"labels must have names to be written as SQL: tune with labels=\[...\]",
    ),
]


@pytest.mark.parametrize(("thresholds", "options", "error", "message"), BAD)
def test_bad_calls_are_refused(thresholds, options, error, message):
    with pytest.raises(error, match=message):
        thresholds.to_sql(**options)


def test_without_sqlglot_the_error_names_the_extra(monkeypatch):
    monkeypatch.setattr("halfmax._core.extras.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match=r"needs 'sqlglot', .* 'halfmax\[sql\]'"):
        OWN.to_sql()
