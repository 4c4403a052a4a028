"""Signals that end a process: SIGINT, SIGTERM and SIGHUP."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_SIGNALS = ("SIGINT", "SIGTERM", "SIGHUP")  # not every system has the last one


@contextmanager
def handled_by(stop: Callable[..., None]) -> Iterator[None]:
    """Call `stop` on signals that end a process, from Ctrl-C, timeout(1) or a closing terminal.

    A signal that is ignored stays ignored, as SIGHUP under nohup(1).
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        numbers = [getattr(signal, name) for name in _SIGNALS if hasattr(signal, name)]
        before = {number: signal.getsignal(number) for number in numbers}
    handled = [number for number, old in before.items() if old not in (signal.SIG_IGN, None)]
    for number in handled:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number in handled:
            signal.signal(number, before[number])
