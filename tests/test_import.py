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
OF_EXPORT = ["sqlglot", "onnx", "skl2onnx"]
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
    assert loaded(HEAVY + ENGINES + OF_PAGES + OF_EXPORT, "import halfmax") == []


def test_public_names_need_no_package_of_exports():
    program = "from halfmax import *; Thresholds.from_dict({'a': 0.3}).predict([0.3])"
    assert loaded(OF_EXPORT, program) == []


def test_tuning_arrays_needs_no_data_frame_library():
    program = "import halfmax; t = halfmax.tune([0, 1], [0.1, 0.9]); repr(t.table())"
    assert loaded(["pandas", "polars", "pyarrow"], program) == []


def test_tuning_tables_needs_no_engine():
    program = (
        "import halfmax, pyarrow as pa; "
        "halfmax.tune_table(pa.table({'label': [1, 1], 'score': [0.1, 0.9], 'truth': [0, 1]}))"
    )
    assert loaded(ENGINES, program) == []


@pytest.mark.parametrize(
    "call",
    [
        "tune_table('long.csv')",
        "tune_table('long.csv', average='micro')",
        "apply_table(t, 'long.csv', 'out.csv')",
        "assess_table('long.csv', n_resamples=20)",
        "diagnose_table('long.csv', n_resamples=20)",
        "decide_table('long.csv', 'decided.csv')",
    ],
)
def test_reading_tables_does_not_import_pandas(call, tmp_path):
    lines = [f"{i},{label},0.{i}5,{i % 2}" for i in range(10) for label in "ab"]
    (tmp_path / "long.csv").write_text("\n".join(["instance,label,score,truth", *lines]))
    program = (
        f"import os, warnings; os.chdir({str(tmp_path)!r}); warnings.simplefilter('ignore'); "
        "import halfmax as hm; "
        "t = hm.tune([[0, 1], [1, 0]], [[0.3, 0.5], [0.4, 0.2]], labels=['a', 'b']); "
        f"hm.{call}"
    )
    assert loaded(["pandas", "polars", "scipy.stats"], program) == []


def test_passes_over_a_table_need_no_sparse_matrix(tmp_path):
    (tmp_path / "long.csv").write_text("label,score,truth\na,0.5,1\na,0.25,0\n")
    program = f"import halfmax as hm; hm.tune_table({str(tmp_path / 'long.csv')!r})"
    assert loaded(["scipy.sparse", "narwhals"], program) == []


def test_a_report_needs_no_data_frame_library(tmp_path):
    program = (
        "import halfmax as hm, warnings; warnings.simplefilter('ignore'); "
        "t = hm.tune([0, 1] * 20, [0.1, 0.9] * 20); "
        f"t.report({str(tmp_path / 'report.html')!r}, n_resamples=20)"
    )
    needless = ["pandas", "polars", "pyarrow", "matplotlib", "scipy.stats", "altair"]
    assert loaded(needless, program) == []


def test_tuning_without_rare_labels_needs_no_special_functions():
    program = "import halfmax; halfmax.tune([0, 1] * 50, [0.1, 0.2] * 50)"
    assert loaded(["scipy.special", "halfmax.tuning.guard.guards"], program) == []


def test_reading_and_applying_thresholds_needs_numpy_alone(tmp_path):
    hm.tune([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).save(tmp_path / "t.json")
    program = (
        "import sys; before = set(sys.modules); import halfmax as hm, numpy as np; "
        f"t = hm.Thresholds.load({str(tmp_path / 't.json')!r}); "
        "assert t.predict(np.array([0.3, 0.35])).tolist() == [0, 1]; "
        "assert t.predict([0.3, 0.35]).tolist() == [0, 1]; repr(t), t.table(); "
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}; "
        "print(*new - set(sys.stdlib_module_names))"
    )
    assert set(run(program)) == {"halfmax", "numpy"}


@pytest.mark.parametrize(
    "call",
    [
        "tune(y, p, guard='auto')",
        "diagnose(y, p)",
        "assess(y, p)",
        "decide(p)",
        "score(y, y)",
        "decision_region((np.ones(2), [0, 1, 2]), (np.ones(1), [0, 1]), 0.3)",
    ],
)
def test_statistics_do_without_what_is_slow_to_import(call):
    program = (
        "import halfmax as hm, numpy as np, warnings; warnings.simplefilter('ignore'); "
        "p = np.random.default_rng(0).random((40, 3)); y = p > 0.5; "
        f"hm.{call}"
    )
    assert loaded(["scipy.stats", "scipy.optimize", "scipy.integrate", "narwhals"], program) == []


def test_a_density_of_scipy_is_known_after_it_was_imported():
    program = (
        "import halfmax as hm; hm.decision_region(([1, 1], [0, 1, 2]), ([1], [0, 1]), 0.3); "
        "from scipy import stats; kde = stats.gaussian_kde([1.0, 2.0, 3.0]); "
        "print(hm.decision_region(kde, stats.gaussian_kde([0.0, 1.0]), 0.3).score > 0.5)"
    )
    assert run(program) == ["True"]


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
