"""Compiled kernels are found, are those of the source, and give the interpreter's answers."""

import ast
import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import halfmax as hm
from halfmax._core import compiled

SOURCE = Path(hm.__file__).parent
KERNELS = sorted(
    ".".join(("halfmax", *path.relative_to(SOURCE).with_suffix("").parts))
    for path in SOURCE.rglob("*kernels.py")
)
machine_code = pytest.mark.skipif(
    compiled.variant() == "python", reason="the interpreter runs the kernels"
)

ANSWERS = """
import hashlib, sys
import numpy as np
from scipy import sparse
import halfmax as hm
import warnings

warnings.simplefilter("ignore", hm.OptimismWarning)
rng = np.random.default_rng(0)
truth = rng.random((80, 6)) < [0.02, 0.1, 0.2, 0.4, 0.6, 0.9]
scores = np.round(rng.normal(truth), 2)
weights = rng.random(80)
few = sparse.csr_array(np.where(rng.random(scores.shape) < 0.5, scores - scores.min() + 1, 0))
p = rng.beta(0.5, 2.0, (7, 40))
digest = hashlib.sha256()

def add(*arrays):
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())

for kind in (np.float32, np.float64):
    s = scores.astype(kind)
    for average in ("macro", "micro", "samples"):
        for per_label in (True, False):
            t = hm.tune(truth, s, average=average, per_label=per_label)
            add(t.thresholds, t.score)
    for w in (None, weights):
        t = hm.tune(truth[:, 2], s[:, 2], sample_weight=w)
        add(t.threshold, t.score)
        add(hm.tune(truth, s, sample_weight=w).thresholds)
    add(hm.tune(truth, few.astype(kind)).thresholds)
    add(hm.tune(truth, s, guard="auto").thresholds)
a = hm.assess(truth, scores, n_resamples=20)
add(a.expected_score, a.score_interval)
for metric in ("f1", "f0.5", "jaccard", "recall", "accuracy"):
    for average in ("macro", "micro", "samples"):
        d = hm.decide(p, metric=metric, average=average)
        add(d.predictions, d.thresholds, d.expected_score)
    add(hm.expected_curve(p.ravel(), metric=metric))
q, none = hm.joint_from_samples(rng.random((9, 5, 30)) < 0.3)
add(hm.decide_joint(q, none).predictions)
print(digest.hexdigest())
"""


def run(program, **environment):
    """Run a program in a new process and return what it has printed."""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip(), done.stderr.strip()


def test_there_are_kernels():
    assert len(KERNELS) > 5


@machine_code
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_module_is_compiled_from_the_source_at_hand(name):
    module = importlib.import_module(name)
    assert Path(module.__file__).is_relative_to(SOURCE / "_compiled" / compiled.variant())
    source = SOURCE.joinpath(*name.split(".")[1:]).with_suffix(".py").read_text("utf-8")
    public = [
        node.name
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
        and "cython.cfunc" not in map(ast.unparse, node.decorator_list)
    ]
    assert public, "a kernel module without kernels"
    missing = [function for function in public if not hasattr(module, function)]
    assert missing == [], "compiled from another source: run make setup"


@machine_code
def test_the_answers_do_not_depend_on_the_processor():
    assert run(ANSWERS, HALFMAX_KERNELS="baseline") == run(ANSWERS, HALFMAX_KERNELS="")


@machine_code
def test_a_processor_without_avx2_runs_the_baseline():
    program = (
        "from halfmax._core import compiled, processor; processor.has_avx2 = lambda: False; "
        "import halfmax.staircase.kernels as k; print(compiled.variant(), k.__file__)"
    )
    printed, _ = run(program, HALFMAX_KERNELS="")
    variant, file = printed.split(maxsplit=1)
    assert variant == "baseline"
    assert "baseline" in Path(file).parts


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("sse9", "HALFMAX_KERNELS must be 'avx2', 'baseline' or 'python'; got 'sse9'"),
        ("avx2", "this processor or this build of halfmax has no AVX2"),
    ],
)
@machine_code
def test_a_choice_that_cannot_be_met_is_an_error(value, message):
    program = (
        "from halfmax._core import compiled, processor; processor.has_avx2 = lambda: False\n"
        "try: import halfmax; halfmax.tune([0, 1], [0, 1])\n"
        "except ValueError as error: print(error)"
    )
    assert message in run(program, HALFMAX_KERNELS=value)[0]


def test_without_compiled_kernels_one_warning_says_what_to_install(tmp_path):
    copy = tmp_path / "halfmax"
    shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("_compiled", "*.so", "*.pyd"))
    program = (
        "import halfmax as hm; hm.tune([0, 1] * 9, [0.1, 0.9] * 9); "
        "print(hm.decide([0.5, 0.2]).predictions.tolist(), hm.__file__)"
    )
    printed, warned = run(program, PYTHONPATH=str(tmp_path), HALFMAX_KERNELS="")
    assert printed == f"[1, 0] {copy / '__init__.py'}"
    assert warned.count("HalfmaxWarning") == 1
    assert "C compiler and Python's headers (Debian: gcc, libc6-dev, python3-dev)" in warned


def test_nothing_is_written_and_no_home_is_needed(tmp_path):
    missing = str(tmp_path / "missing")
    program = "import halfmax as hm; print(hm.decide([0.1, 0.02, 0.01]).predictions.tolist())"
    before = sorted(SOURCE.rglob("*.so"))
    printed, warned = run(program, HOME=missing, TMPDIR=missing, PYTHONDONTWRITEBYTECODE="1")
    assert (printed, warned) == ("[1, 0, 0]", "")
    assert sorted(SOURCE.rglob("*.so")) == before
    assert list(tmp_path.iterdir()) == []


def test_read_only_strided_and_byte_swapped_arrays_give_the_same_answers():
    rng = np.random.default_rng(1)
    truth = (rng.random((60, 3)) < 0.3).astype(np.int8)
    scores = rng.normal(truth)
    p = rng.random((20, 4))
    tuned, decided = hm.tune(truth, scores), hm.decide(p)
    for change in (read_only, every_other, swapped, np.asfortranarray):
        again = hm.tune(change(truth), change(scores))
        np.testing.assert_array_equal(again.thresholds, tuned.thresholds)
        one = hm.tune(change(truth)[:, 1], change(scores)[:, 1])
        assert one.threshold == tuned.thresholds[1]
        np.testing.assert_array_equal(hm.decide(change(p)).predictions, decided.predictions)


def read_only(values):
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def every_other(values):
    wide = np.zeros((2 * len(values), 2 * values.shape[1]), values.dtype)
    wide[::2, 1::2] = values
    return wide[::2, 1::2]


def swapped(values):
    return values.astype(values.dtype.newbyteorder())
