"""Importing is quick, and the public names are there and explained."""

import inspect
import subprocess
import sys
from importlib.util import find_spec

import pytest

import halfmax as hm
from tools.stub import STUB, stub

HEAVY = ["scipy", "sklearn", "pandas", "polars", "pyarrow", "narwhals", "matplotlib"]
OF_PAGES = ["altair", "vl_convert", "itables", "jinja2"]
ENGINES = ["pyspark", "dask", "distributed", "duckdb"]
CONTRACT = ["FBeta", "HalfmaxWarning", "Metric", "Staircase", "Thresholds", "score", "tune"]


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def loaded(names, program):
    """Which of the modules a program has loaded; each of them must exist."""
    assert all(map(find_spec, names)), "a module that does not exist is never loaded"
    return run(f"import sys; {program}; print(*(n for n in {names} if n in sys.modules))")


def test_importing_halfmax_loads_nothing_heavy():
    assert loaded(HEAVY + ENGINES + OF_PAGES, "import halfmax") == []


def test_tuning_arrays_needs_no_data_frame_library():
    program = "import halfmax; t = halfmax.tune([0, 1], [0.1, 0.9]); repr(t.table())"
    assert loaded(["pandas", "polars", "pyarrow"], program) == []


def test_tuning_tables_needs_no_engine():
    program = (
        "import halfmax, pyarrow as pa; "
        "halfmax.tune_table(pa.table({'label': [1, 1], 'score': [0.1, 0.9], 'truth': [0, 1]}))"
    )
    assert loaded(ENGINES, program) == []


def test_tuning_without_rare_labels_needs_no_special_functions():
    program = "import halfmax; halfmax.tune([0, 1] * 50, [0.1, 0.2] * 50)"
    assert loaded(["scipy.special", "halfmax.tuning.guard.guards"], program) == []


def test_the_type_stub_follows_the_table_of_public_names():
    assert STUB.read_text("utf-8") == stub(), "run python -m tools.stub"


def test_dir_lists_the_public_names_before_they_are_used():
    assert set(hm.__all__) <= set(run("import halfmax; print(*dir(halfmax))"))


def test_dir_lists_each_name_once():
    assert hm.tune is hm.tune  # a name that has been used
    names = dir(hm)
    assert len(names) == len(set(names))


def test_a_star_import_gives_the_public_names():
    names = run("from halfmax import *; print(*dir())")
    assert set(hm.__all__) <= set(names)
    assert sorted(hm.__all__) == hm.__all__


@pytest.mark.parametrize("name", CONTRACT)
def test_the_contract_is_public(name):
    assert name in hm.__all__


def test_a_name_is_fetched_once():
    assert hm.tune is hm.tune
    assert "tune" in vars(hm)


@pytest.mark.parametrize("name", ["tunes", "_tune", "Threshold"])
def test_an_unknown_name_is_an_attribute_error(name):
    with pytest.raises(AttributeError, match=f"module 'halfmax' has no attribute '{name}'"):
        getattr(hm, name)
    with pytest.raises(ImportError, match=name):
        exec(f"from halfmax import {name}")


@pytest.mark.parametrize("name", hm.__all__)
def test_every_public_name_has_a_docstring_of_its_own(name):
    value = getattr(hm, name)
    assert value.__doc__
    assert value.__doc__.strip()
    if inspect.isclass(value):
        assert value.__doc__ != value.__mro__[1].__doc__
        assert not value.__doc__.startswith(f"{name}(")  # what dataclasses write by themselves


def public_methods():
    for name in hm.__all__:
        value = getattr(hm, name)
        if inspect.isclass(value):
            for method, function in inspect.getmembers(value, inspect.isroutine):
                home = getattr(function, "__module__", None) or ""
                if not method.startswith("_") and home.startswith("halfmax"):
                    yield pytest.param(function, id=f"{name}.{method}")


@pytest.mark.parametrize("method", list(public_methods()))
def test_every_public_method_has_a_docstring(method):
    assert inspect.getdoc(method)


def test_the_version_is_a_string_of_numbers():
    assert hm.__version__.split(".")[0].isdigit()
