"""Seconds of first calls, each in a new process: ``python -m benchmarks.first_calls``.

numpy and scipy, and whatever else a caller must have imported to make the call at all, are imported
before the clock starts; ``import halfmax`` and the call are measured. Commands of the shell are
measured as whole processes. Each process has an empty home folder and cannot write a cache.
``python -m benchmarks.first_calls tune decide`` measures only rows whose names have these words.
"""

import compileall
import csv
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from benchmarks.measure import seconds

SOURCE = Path(__file__).parents[1] / "src"
ROUNDS = 5
BEFORE = """
import sys, time, warnings
import numpy as np, scipy, scipy.sparse, scipy.special
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
p = rng.beta(0.4, 2.0, (1000, 20))
y = (rng.random(p.shape) < p).astype(np.int8)
start = time.perf_counter()
import halfmax as hm
{call}
took = time.perf_counter() - start
print(took)
"""
MODEL = "from sklearn.linear_model import LogisticRegression as Model"
TREES = "from sklearn.ensemble import ExtraTreesClassifier as Model"
NORMAL = "from scipy.stats import norm"
PLOT = "import matplotlib; matplotlib.use('agg'); import matplotlib.pyplot"


class Call(NamedTuple):
    """A call, and the imports without which nobody can make it."""

    call: str
    before: str = ""


CALLS = {
    "tune 1-D": Call("hm.tune(y[:, 0], p[:, 0])"),
    "tune macro": Call("hm.tune(y, p)"),
    "tune micro": Call("hm.tune(y, p, average='micro')"),
    "tune samples": Call("hm.tune(y, p, average='samples')"),
    "tune per_label=False": Call("hm.tune(y, p, per_label=False)"),
    "tune(guard='auto')": Call("hm.tune(y, p, guard='auto')"),
    "tune(guard='calibrated')": Call("hm.tune(y, p, guard='calibrated')"),
    "Thresholds.load, .predict": Call("hm.Thresholds.load('thresholds.json').predict(p)"),
    "assess": Call("hm.assess(y, p)"),
    "assess 1-D": Call("hm.assess(y[:, 0], p[:, 0])"),
    "diagnose": Call("hm.diagnose(y, p)"),
    ".report": Call("hm.tune(y, p).report('report.html')"),
    "score": Call("hm.score(y, p > 0.3)"),
    "Staircase.of": Call("hm.Staircase.of(y[:, 0], p[:, 0])"),
    "Grid.of": Call("hm.Grid.of(y[:, 0], p[:, 0])"),
    "decide": Call("hm.decide(p)"),
    "decide samples": Call("hm.decide(p, average='samples')"),
    "decide micro": Call("hm.decide(p, average='micro')"),
    "decide 1-D": Call("hm.decide(p[:, 0])"),
    "expected_curve": Call("hm.expected_curve(p[:, 0])"),
    "joint_from_samples, decide_joint": Call("hm.decide_joint(*hm.joint_from_samples(y))"),
    "decision_region of histograms": Call(
        "hm.decision_region(*(np.histogram(p[y == k], 50, (0, 1)) for k in (1, 0)), 0.2)"
    ),
    "decision_region of scipy.stats": Call("hm.decision_region(norm(2), norm(0), 0.1)", NORMAL),
    "simulate_winners_curse": Call("hm.simulate_winners_curse(10**4, 0.01, runs=100)"),
    "tune_table": Call("hm.tune_table('long.csv')"),
    "apply_table": Call("hm.apply_table(hm.Thresholds.load('named.json'), 'long.csv')"),
    "assess_table": Call("hm.assess_table('long.csv')"),
    "diagnose_table": Call("hm.diagnose_table('long.csv')"),
    "decide_table": Call("hm.decide_table('long.csv')"),
    "ThresholdClassifier.fit": Call("hm.ThresholdClassifier(Model()).fit(p, y[:, 0])", MODEL),
    "ExpectedFClassifier.fit, .predict": Call(
        "hm.ExpectedFClassifier(Model(10)).fit(p, y).predict(p)", TREES
    ),
    "make_threshold_scorer": Call("hm.make_threshold_scorer('f1')", MODEL),
    "ThresholdCurveDisplay": Call(
        "hm.ThresholdCurveDisplay.from_predictions(y[:, 0], p[:, 0])", PLOT
    ),
    "HalfMaxDisplay": Call("hm.HalfMaxDisplay.from_predictions(y, p)", PLOT),
    "LabelHealthDisplay": Call("hm.LabelHealthDisplay.from_diagnosis(hm.diagnose(y, p))", PLOT),
    "ExpectedCurveDisplay": Call("hm.ExpectedCurveDisplay.from_probabilities(p[:, 0])", PLOT),
    "DecisionRegionDisplay": Call(
        "hm.DecisionRegionDisplay.from_densities(norm(2), norm(0), 0.1)", f"{NORMAL}; {PLOT}"
    ),
    "WinnersCurseDisplay": Call(
        "hm.WinnersCurseDisplay.from_simulation(10**4, [0.01, 0.1], 100)", PLOT
    ),
}
COMMANDS = {
    "halfmax --help": ("--help",),
    "halfmax tune long.csv, 20,000 lines": ("tune", "long.csv"),
    "halfmax assess long.csv, 20,000 lines": ("assess", "long.csv"),
    "halfmax diagnose long.csv, 20,000 lines": ("diagnose", "long.csv"),
}
LIMITS = {
    **dict.fromkeys(CALLS, "0.3 s"),
    "halfmax --help": "0.3 s",
    "halfmax tune long.csv, 20,000 lines": "1.0 s",
}


def write_data(folder: Path) -> None:
    """Write the long table (1,000 instances x 20 labels) and thresholds that calls read."""
    import halfmax as hm

    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 2.0, (1_000, 20))
    truth = (rng.random(p.shape) < p).astype(np.int8)
    with (folder / "long.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["instance", "label", "score", "truth"])
        for (row, label), score in np.ndenumerate(p):
            lines.writerow([row, f"label {label}", score, truth[row, label]])
    hm.tune(truth, p).save(folder / "thresholds.json")
    hm.tune(truth, p, labels=[f"label {j}" for j in range(20)]).save(folder / "named.json")


def surroundings(folder: Path) -> dict[str, str]:
    """Return an environment with an empty home and caches that nobody can write, not even root."""
    home = folder / "home"
    home.mkdir(mode=0o500, exist_ok=True)
    nowhere = os.path.join(os.devnull, "cache")
    caches = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME")
    return {
        **os.environ,
        **dict.fromkeys(caches, nowhere),
        "HOME": str(home),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(SOURCE),
    }


def first_call(call: Call, folder: Path) -> float:
    """Seconds of ``import halfmax`` and a call in a new process."""
    program = f"{call.before}\n{BEFORE.format(call=call.call)}"
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=folder,
        env=surroundings(folder),
    )
    if done.returncode:
        raise RuntimeError(f"{call.call}\n{done.stderr}")
    return float(done.stdout.split()[-1])


def whole_process(words: tuple[str, ...], folder: Path) -> float:
    """Seconds of a command of the shell, from its start to its end."""
    command = [sys.executable, "-m", "halfmax", *words]
    return seconds(
        subprocess.run,
        command,
        check=True,
        capture_output=True,
        cwd=folder,
        env=surroundings(folder),
        repeats=1,
    )


def main(words: list[str]) -> None:
    """Print a table of the best and the middle of a few runs; rows take turns."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compileall.compile_dir(SOURCE, quiet=1)  # as pip does; processes below cannot
        write_data(folder)
        rows = {
            **{name: (first_call, call) for name, call in CALLS.items()},
            **{name: (whole_process, command) for name, command in COMMANDS.items()},
        }
        rows = {name: row for name, row in rows.items() if not words or any(map(name.count, words))}
        took: dict[str, list[float]] = {name: [] for name in rows}
        for _ in range(ROUNDS):
            for name, (measure, what) in rows.items():
                took[name].append(measure(what, folder))
    print("| first call | best | median | at most |\n|---|--:|--:|--:|")
    for name, runs in took.items():
        print(f"| {name} | {min(runs):.3f} s | {median(runs):.3f} s | {LIMITS.get(name, '')} |")


if __name__ == "__main__":
    main(sys.argv[1:])
