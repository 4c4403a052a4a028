"""Fix what tests rely on in their surroundings, however the run was started."""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest

# Seconds after which another process counts as hanging: many times what a busy machine needs.
PATIENCE = 300

_PROJECT = Path(__file__).parents[1]
_CACHE = _PROJECT / ".pytest_cache"
SHARED_DATA = _PROJECT.parent / "shared" / "data"  # real records and scores, which may be missing
_PLAIN = {
    "COLUMNS": "80",
    "TERM": "xterm",
    "MPLCONFIGDIR": str(_CACHE / "matplotlib"),  # whatever the home folder holds, or is missing
}
# What people and build servers set to change the output of rich and typer.
_TASTES = (
    *("CI", "GITHUB_ACTIONS", "DATABRICKS_RUNTIME_VERSION", "COLORTERM", "LINES"),
    *("FORCE_COLOR", "NO_COLOR", "PY_COLORS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"),
    *("TERMINAL_WIDTH", "TYPER_USE_RICH", "TYPER_STANDARD_TRACEBACK"),
    *("_TYPER_FORCE_DISABLE_TERMINAL", "_TYPER_STANDARD_TRACEBACK"),
)
_HANDLERS = {
    signal.SIGINT: signal.default_int_handler,
    signal.SIGTERM: signal.SIG_DFL,
    signal.SIGHUP: signal.SIG_DFL,
}


def make_plain() -> None:
    """Make output plain and 80 columns wide. Call it before typer and matplotlib are imported."""
    for name in _TASTES:
        os.environ.pop(name, None)
    os.environ.update(_PLAIN)


@contextmanager
def usual_signals() -> Iterator[None]:
    """Handle signals as in a foreground process, here and in processes started meanwhile.

    A process that a script starts in the background ignores SIGINT, below nohup it ignores SIGHUP,
    and its children inherit that.
    """
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, _HANDLERS)
    before = {number: signal.signal(number, handler) for number, handler in _HANDLERS.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)


def wait_until(condition: Callable[[], bool]) -> None:
    """Return once the condition holds, which another process brings about."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Take away the right to write to a folder; skip the test for users that write anyway."""
    mode = folder.stat().st_mode
    folder.chmod(0o500)
    try:
        if os.access(folder, os.W_OK):
            pytest.skip("permissions do not bind this user")
        yield
    finally:
        folder.chmod(mode)


def counting_calls(function: Callable[[], Any]) -> tuple[Any, int]:
    """Return what a function returns, and how many functions were called on all its threads.

    It measures work in Python that every machine measures alike, unlike a clock.
    """
    calls = count()

    def see(_frame: Any, event: str, _arg: Any) -> None:
        if event in ("call", "c_call"):
            next(calls)

    threading.setprofile(see)
    sys.setprofile(see)
    try:
        result = function()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return result, next(calls)
