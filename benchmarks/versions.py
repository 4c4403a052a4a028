"""Time this checkout beside another one, in turns: ``python -m benchmarks.versions OTHER/src``.

Every task runs in a process of its own, first for one checkout and then for the other, several
times over; each is judged by its best run. Only public names are used, so any version can take
part.

``python -m benchmarks.versions OTHER/src --keep`` also writes the figures of both to
``benchmarks/versions.json``, with the time that a plain sort took on the same machine. Without
another checkout, ``python -m benchmarks.versions`` compares with the kept figures of the other one,
scaled by what that sort takes now.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.measure import seconds

HERE = Path(__file__).parents[1] / "src"
KEPT = Path(__file__).with_suffix(".json")
ROUNDS = 3


def _dense(n_rows: int, n_labels: int) -> tuple[Any, Any]:
    return data.dense(n_rows, n_labels)


def _one(n_rows: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    truth = (rng.random(n_rows) < 0.05).astype(np.int8)
    return truth, rng.normal(1.5 * truth).astype(np.float32)


def _tune(truth: Any, scores: Any, **options: Any) -> Callable[[], object]:
    import halfmax as hm

    return partial(hm.tune, truth, scores, **options)


def _assess(truth: Any, scores: Any) -> Callable[[], object]:
    import halfmax as hm

    return partial(hm.assess, truth, scores, n_resamples=200)


def _diagnose(truth: Any, scores: Any) -> Callable[[], object]:
    import halfmax as hm

    return partial(hm.diagnose, truth, scores, n_resamples=100)


def _decide(average: str, metric: str = "f1", shape: tuple[int, ...] = (20_000, 200)) -> Any:
    import halfmax as hm

    p = np.random.default_rng(0).beta(0.3, 3.0, shape)
    return partial(hm.decide, p, metric, average=average)


def _decide_sparse() -> Callable[[], object]:
    import halfmax as hm

    return partial(hm.decide, data.stored_probabilities(100_000, 100), average="samples")


def _decide_joint() -> Callable[[], object]:
    import halfmax as hm

    draws = np.random.default_rng(0).random((200, 300, 60)) < 0.1
    return partial(hm.decide_joint, hm.joint_from_samples(draws))


def _curve(metric: str) -> Callable[[], object]:
    import halfmax as hm

    return partial(hm.expected_curve, np.random.default_rng(0).beta(0.3, 3.0, 10**6), metric)


def _weighted(n_rows: int) -> Callable[[], object]:
    weights = np.random.default_rng(1).random(n_rows)
    return _tune(*_one(n_rows), sample_weight=weights)


def _report() -> Callable[[], object]:
    import halfmax as hm

    tuned = hm.tune(*_dense(5_000, 200))
    path = Path(tempfile.mkdtemp()) / "report.html"
    return partial(tuned.report, path, n_resamples=50)


def _table() -> Callable[[], object]:
    import pyarrow as pa

    import halfmax as hm

    rng = np.random.default_rng(0)
    labels = rng.integers(0, 1_000, 3_000_000)
    truth = (rng.random(len(labels)) < 0.03).astype(np.int8)
    table = pa.table({"label": labels, "score": rng.normal(truth), "truth": truth})
    return partial(hm.tune_table, table)


TASKS: dict[str, Callable[[], Callable[[], object]]] = {
    "tune, 10^7 scores": lambda: _tune(*_one(10**7)),
    "tune, 10^7 scores, weighted": lambda: _weighted(10**7),
    "tune macro, 20,000 x 2,000": lambda: _tune(*_dense(20_000, 2_000)),
    "tune macro, 20,000 x 2,000, 5 % positive": lambda: _tune(*data.common(20_000, 2_000, 0.05)),
    "tune macro, 20,000 x 2,000, 20 % positive": lambda: _tune(*data.common(20_000, 2_000, 0.2)),
    "tune micro, 20,000 x 2,000": lambda: _tune(*_dense(20_000, 2_000), average="micro"),
    "tune samples, 20,000 x 500": lambda: _tune(*_dense(20_000, 500), average="samples"),
    "tune shared macro, 20,000 x 500": lambda: _tune(*_dense(20_000, 500), per_label=False),
    "tune sparse macro, 10^5 x 50,000": lambda: _tune(*data.candidates(10**5, 50_000, 50, 1.0)),
    "tune guard='auto', 10,000 x 500": lambda: _tune(*_dense(10_000, 500), guard="auto"),
    "assess macro, 10,000 x 500": lambda: _assess(*_dense(10_000, 500)),
    "assess, 10^6 scores": lambda: _assess(*_one(10**6)),
    "diagnose, 10,000 x 500": lambda: _diagnose(*_dense(10_000, 500)),
    "decide, 20,000 items": lambda: _decide("macro", shape=(20_000,)),
    "decide, 10^6 items": lambda: _decide("macro", shape=(10**6,)),
    "decide macro, 20,000 x 200": lambda: _decide("macro"),
    "decide macro, 2,000 x 5,000": lambda: _decide("macro", shape=(2_000, 5_000)),
    "decide samples, 20,000 x 200": lambda: _decide("samples"),
    "decide samples, 2,000 x 5,000": lambda: _decide("samples", shape=(2_000, 5_000)),
    "decide samples, 20,000 x 200, jaccard": lambda: _decide("samples", "jaccard"),
    "decide samples, 20,000 x 200, f2": lambda: _decide("samples", "f2"),
    "decide samples, sparse, 10^5 rows of 100": _decide_sparse,
    "decide_joint, 200 x 60": _decide_joint,
    "expected_curve, 10^6 items": lambda: _curve("f1"),
    "expected_curve, 10^6 items, jaccard": lambda: _curve("jaccard"),
    "report, 5,000 x 200": _report,
    "tune_table, 3 * 10^6 rows": _table,
}


def measure(task: str) -> float:
    """Seconds of one task in this process, best of several runs."""
    import warnings

    warnings.simplefilter("ignore")
    work = TASKS[task]()
    work()  # loads the kernels
    return seconds(work, repeats=5)


def import_seconds(source: Path) -> float:
    """Seconds of ``import halfmax`` in a new process, without starting Python."""
    program = "import time; t = time.perf_counter(); import halfmax; print(time.perf_counter() - t)"
    return float(_run(source, [sys.executable, "-c", program]))


def task_seconds(task: str, source: Path) -> float:
    """Seconds of a task in a new process that imports halfmax from `source`."""
    return float(_run(source, [sys.executable, "-m", "benchmarks.versions", "--task", task]))


def _run(source: Path, command: list[str]) -> str:
    env = {**os.environ, "PYTHONPATH": str(source)}
    done = subprocess.run(
        command, capture_output=True, text=True, env=env, check=True, cwd=HERE.parent
    )
    return done.stdout.splitlines()[-1]


def yardstick() -> float:
    """Seconds of a plain sort, by which figures of another machine or day can be scaled."""
    return seconds(np.sort, np.random.default_rng(0).random(10**7), repeats=5)


def works() -> dict[str, Callable[[Path], float]]:
    """What is measured, by name; each is a function of the folder that halfmax is imported from."""
    found: dict[str, Callable[[Path], float]] = {"import halfmax": import_seconds}
    return found | {task: partial(task_seconds, task) for task in TASKS}


def compare(other: Path, keep: bool) -> None:
    """Print a table of both checkouts, measured in turns."""
    kept = {}
    print("| task | other | this | this / other |\n|---|--:|--:|--:|")
    for name, work in works().items():
        took = [[work(source) for source in (other, HERE)] for _ in range(ROUNDS)]
        before, after = np.min(took, axis=0)
        kept[name] = {"other": round(before, 5), "this": round(after, 5)}
        print(f"| {name} | {before:.4f} s | {after:.4f} s | {after / before:.2f} |", flush=True)
    if keep:
        figures = {"yardstick": round(yardstick(), 4), "seconds": kept}
        KEPT.write_text(json.dumps(figures, indent=2) + "\n")


def compare_with_kept() -> None:
    """Print a table of this checkout and of the kept figures, scaled to the speed of today."""
    figures = json.loads(KEPT.read_text())
    scale = yardstick() / figures["yardstick"]
    print("| task | kept, scaled | this | this / kept |\n|---|--:|--:|--:|")
    for name, work in works().items():
        before = scale * figures["seconds"][name]["other"]
        after = min(work(HERE) for _ in range(ROUNDS))
        print(f"| {name} | {before:.4f} s | {after:.4f} s | {after / before:.2f} |", flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--task"]:
        print(json.dumps(measure(sys.argv[2])))
    elif len(sys.argv) > 1:
        compare(Path(sys.argv[1]).resolve(), keep="--keep" in sys.argv[2:])
    else:
        compare_with_kept()
