"""Measure seconds and additional bytes."""

import gc
import re
import subprocess
import sys
import time
from pathlib import Path


def seconds(work, *args, repeats=3, **options):
    """The shortest of a few runs, which is the least disturbed one."""
    best = float("inf")
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        work(*args, **options)
        best = min(best, time.perf_counter() - start)
    return best


def side_by_side(works, repeats=9):
    """The shortest of a few runs of each, in turn, so that other load slows all of them alike."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        best = [
            min(so_far, seconds(work, repeats=1)) for so_far, work in zip(best, works, strict=True)
        ]
    return best


def peak_extra_bytes(work, *args):
    """How much resident memory rises during the work; Linux only."""
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the high-water mark
    before = _status("VmRSS")
    work(*args)
    return _status("VmHWM") - before


def fresh_process(code, repeats=5):
    """Seconds that a new interpreter needs for the code, the shortest of a few runs."""
    return seconds(subprocess.run, [sys.executable, "-c", code], check=True, repeats=repeats)


def _status(name):
    text = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(rf"{name}:\s+(\d+) kB", text)[1])
