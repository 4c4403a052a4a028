"""Workers whose Python lacks what they need: one message says what, where, and what to do."""

import os
import subprocess
import sys
import sysconfig
import venv

import pandas as pd
import pytest
from engines import dask_frame, spark_session

import halfmax as hm
from halfmax.tables.engines.engine import fault_of_python

pytestmark = [
    pytest.mark.engines,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    pytest.mark.filterwarnings("ignore::halfmax.HalfmaxWarning"),
]
TABLE = pd.DataFrame({"label": ["a", "a"], "score": [0.5, 0.3], "truth": [1, 0]})
WITHOUT = """
import sys

class Without:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "halfmax":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
"""


@pytest.fixture(scope="module")
def pythons(tmp_path_factory):
    """A Python with nothing installed, one with all but halfmax, and none."""
    folder = tmp_path_factory.mktemp("pythons")
    found = {"none": str(folder / "nowhere" / "python")}
    for name in ("bare", "all but one"):
        builder = venv.EnvBuilder(symlinks=True)
        builder.create(folder / name)
        found[name] = builder.ensure_directories(folder / name).env_exe
    paths = {"base": str(folder / "all but one"), "platbase": str(folder / "all but one")}
    packages = sysconfig.get_path("purelib", "venv", paths)
    with open(os.path.join(packages, "others.pth"), "w") as file:
        file.write(sysconfig.get_path("purelib"))
    with open(os.path.join(packages, "sitecustomize.py"), "w") as file:
        file.write(WITHOUT)
    return found


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("bare", "lacks 'pyarrow'"),
        ("all but one", "lacks 'halfmax'"),
        ("none", "cannot be started"),
    ],
)
def test_spark_reports_what_its_python_lacks(pythons, monkeypatch, name, fault):
    session = spark_session()
    frame = session.createDataFrame(TABLE)
    monkeypatch.setattr(session.sparkContext, "pythonExec", pythons[name])
    with pytest.raises(ImportError) as caught:
        hm.tune_table(frame)
    reported = str(caught.value)
    assert f"{pythons[name]!r}, {fault}" in reported
    assert f"os.environ['PYSPARK_PYTHON'] = {sys.executable!r}" in reported
    assert "\n" not in reported
    assert caught.value.__suppress_context__  # a hundred lines of Java
    monkeypatch.undo()
    assert hm.tune_table(frame).thresholds.tolist() == [0.5]


def test_dask_reports_what_its_python_lacks(pythons, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    where, python = str(tmp_path / "scheduler.json"), pythons["all but one"]
    started = [python, "-m", "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1"]
    started += ["--no-dashboard", "--scheduler-file", where]
    worker = [python, "-m", "distributed.cli.dask_worker", "--scheduler-file", where, "--no-nanny"]
    how = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    with subprocess.Popen(started, **how) as one, subprocess.Popen(worker, **how) as other:
        try:
            with distributed.Client(scheduler_file=where, set_as_default=False) as client:
                client.wait_for_workers(1)
                with client.as_current(), pytest.raises(ImportError) as caught:
                    hm.tune_table(dask_frame([TABLE]))
        finally:
            other.kill()
            one.kill()
    reported = str(caught.value)
    assert reported.startswith("the Python of Dask's scheduler or workers lacks 'halfmax'")
    assert reported.endswith(sys.executable)
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "PySparkRuntimeError: [PYTHON_VERSION_MISMATCH] Python in worker has different "
            "version: 3.12 than that in driver: 3.11, PySpark cannot run",
            "is Python 3.12, but this process runs Python 3.",
        ),
        (
            "ModuleNotFoundError: this needs 'pyarrow', not installed: pip install "
            "'halfmax[tables]'",
            "lacks 'pyarrow'",
        ),
        (
            "PySparkImportError: [PACKAGE_NOT_INSTALLED] PyArrow >= 15.0.0 must be installed; "
            "however, it was not found.",
            "lacks 'PyArrow'",
        ),
        ("Py4JJavaError: executor lost", None),
    ],
)
def test_what_engines_say_of_their_python(text, fault):
    found = fault_of_python(RuntimeError(text))
    assert found == fault or (fault is not None and found.startswith(fault))
