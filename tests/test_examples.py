"""The scripts in examples/ run, leave nothing behind, and show what they say."""

import importlib.util
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from strategies import compiled
from surroundings import PATIENCE

FOLDER = Path(__file__).parents[1] / "examples"
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))
pytestmark = compiled


@pytest.fixture
def show(capsys, monkeypatch, tmp_path):
    """Run an example where every file that it writes can be seen; gives its numbers."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def run(name):
        numbers = load(name).main()
        assert len(capsys.readouterr().out.splitlines()) > 4
        assert not list(tmp_path.iterdir())
        return numbers

    return run


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", FOLDER / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_fraud_is_found_at_a_low_threshold_that_keeps_its_promise(show):
    found = show("fraud")
    f1, f2 = found["f1"], found["f2"]
    assert f1["ThresholdClassifier"] > f1["at 0.5"] + 0.05
    assert f1["ThresholdClassifier"] > f1["TunedThresholdClassifierCV"] - 0.02
    assert f2['ThresholdClassifier("f2")'] > f2["ThresholdClassifier"] + 0.02
    assert found["f2_threshold"] < found["threshold"] < 0.4
    low, high = found["threshold_interval"]
    assert low <= found["threshold"] <= high
    low, high = found["score_interval"]
    assert low < found["expected_score"] < found["score"]
    assert low < f1["ThresholdClassifier"] < high


def test_text_needs_thresholds_and_rare_labels_a_guard(show):
    found = show("multilabel_text")
    f1, counts = found["macro_f1"], found["counts"]
    assert f1["guard=None"] > f1["at 0.5"] + 0.1
    assert f1["guard='auto'"] > f1["at 0.5"] + 0.1
    assert f1["guard='auto'"] > f1["guard=None"] - 0.02
    assert found["expected_score"] < found["score"] - 0.03
    assert 20 <= len(counts["mentioned"]) <= 40
    assert not (counts["guard='auto'"] > 10 * counts["mentioned"] + 30).any()
    rarest = slice(-8, None)
    assert counts["guard=None"][rarest].sum() > counts["guard='auto'"][rarest].sum()
    assert found["same"]


def test_a_fitted_model_gains_by_a_threshold_that_travels_as_a_file(show):
    found = show("prefit")
    assert found["at_best"] > found["at_half"] + 0.1
    assert found["threshold"] < 0.35
    assert found["same"]


def test_the_search_at_half_chooses_the_worse_model(show):
    found = show("grid_search")
    assert found["choice"]['"f1"'] == "naive Bayes"
    assert found["choice"]["make_threshold_scorer"].endswith("neighbours")
    assert found["f1"]["make_threshold_scorer"] > found["f1"]['"f1"'] + 0.03


def test_each_average_has_thresholds_of_its_own_for_regressions(show):
    found = show("regressors")
    for average in ("macro", "micro", "samples"):
        reached = {tuned_for: f1[average] for tuned_for, f1 in found["f1"].items()}
        assert reached.pop(average) > max(reached.values()) - 0.005
    assert found["share"]["macro", "archived"] > 0.95
    assert found["share"]["micro", "archived"] == 0
    assert found["f1"]["micro"]["micro"] > found["f1"]["macro"]["micro"] + 0.2


def test_labels_that_exclude_each_other_are_best_learned_together(show):
    reached = show("dependent_labels")["f1"]
    together = reached.pop("ExpectedFClassifier")
    assert together > max(reached.values()) + 0.01
    assert together > reached["ThresholdClassifier"] + 0.03
    assert reached["ThresholdClassifier"] > reached["each label at 0.5"] + 0.05


def test_a_script_runs_by_itself(tmp_path):
    environment = os.environ | {"PYTHONWARNINGS": "error", "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, FOLDER / "fraud.py"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        env=environment,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    assert "ThresholdClassifier" in done.stdout
    assert not done.stderr
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", NAMES)
def test_scripts_are_short_and_in_the_list(name):
    assert len((FOLDER / f"{name}.py").read_text("utf-8").splitlines()) < 80
    assert f"[{name}.py]({name}.py)" in (FOLDER / "README.md").read_text("utf-8")


FIRST = FOLDER / "first_ten_minutes"
FIRST_NAMES = sorted(path.name for path in FIRST.iterdir() if path.suffix in (".py", ".sh"))
SAYS = {  # what each of the first scripts shows, and what it must not show
    "fraud_costs.py": ("expect a cost of", "tuned"),
    "sensitivity_floor.py": ("malignant", "with 100 biopsies"),
    "tags_in_a_frame.py": ("Thresholds for 200 labels", "too few positives", "tag 0: "),
    "yes_no.sh": ("Tuned one classifier: mean cost(fp=1, fn=10)", "probability,default,predicted"),
}


def start(name, folder):
    """Run a script as a person would, with halfmax on the path."""
    here = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    command = ["sh"] if name.endswith(".sh") else [sys.executable]
    return subprocess.run(
        [*command, FIRST / name],
        capture_output=True,
        check=False,
        cwd=folder,
        env=os.environ | {"PYTHONWARNINGS": "error", "PATH": here, "TMPDIR": str(folder)},
        text=True,
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("name", FIRST_NAMES)
def test_the_first_ten_minutes_go_through(name, tmp_path):
    done = start(name, tmp_path)
    assert done.returncode == 0, done.stderr
    for words in SAYS[name]:
        assert words in done.stdout
    assert "warning" not in done.stderr.lower()


@pytest.mark.parametrize("name", FIRST_NAMES)
def test_the_first_scripts_are_short_and_in_the_list(name):
    assert len((FIRST / name).read_text("utf-8").splitlines()) <= 25
    assert f"(first_ten_minutes/{name})" in (FOLDER / "README.md").read_text("utf-8")


def test_costs_pay_off_on_new_payments(tmp_path):
    lines = start("fraud_costs.py", tmp_path).stdout.splitlines()
    at_half, tuned = (float(line.split()[-5]) for line in lines[-2:])
    assert tuned < 0.5 * at_half
