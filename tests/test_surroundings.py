"""Tests rely on their surroundings only as far as these helpers fix them."""

import os
import signal
import stat
import subprocess
import sys
import threading

import pytest
from surroundings import counting_calls, locked, make_plain, usual_signals

NUMBERS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture
def background():
    """Ignore signals, as a process does that a script has started in the background."""
    before = {number: signal.signal(number, signal.SIG_IGN) for number in NUMBERS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("background")
def test_ctrl_c_stops_a_test_also_in_the_background():
    with pytest.raises(KeyboardInterrupt), usual_signals():
        signal.raise_signal(signal.SIGINT)
    signal.raise_signal(signal.SIGINT)  # is ignored again
    assert {signal.getsignal(number) for number in NUMBERS} == {signal.SIG_IGN}


@pytest.mark.usefixtures("background")
def test_ctrl_c_stops_a_test_also_where_signals_are_blocked():
    before = signal.pthread_sigmask(signal.SIG_BLOCK, NUMBERS)
    try:
        with pytest.raises(KeyboardInterrupt), usual_signals():
            signal.raise_signal(signal.SIGINT)
        assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before | set(NUMBERS)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@pytest.mark.usefixtures("background")
@pytest.mark.parametrize("number", NUMBERS)
def test_signals_end_other_processes_too(number):
    program = f"import signal; signal.raise_signal({number:d})"
    with usual_signals():
        done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    assert done.returncode == -number


def test_output_is_plain_whatever_people_like(monkeypatch):
    for name, value in {"FORCE_COLOR": "1", "COLUMNS": "30", "TERMINAL_WIDTH": "20"}.items():
        monkeypatch.setenv(name, value)
    make_plain()
    program = "from halfmax.cli import app; app(['--help'])"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert b"\x1b" not in shown.stdout
    assert max(map(len, shown.stdout.decode().splitlines())) == 80


def test_a_locked_folder_is_open_again(tmp_path):
    before = tmp_path.stat().st_mode
    with locked(tmp_path):
        assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o500
        assert not os.access(tmp_path, os.W_OK)
    assert tmp_path.stat().st_mode == before


def test_calls_are_counted_on_all_threads():
    def work():
        thread = threading.Thread(target=lambda: [abs(-1) for _ in range(1000)])
        thread.start()
        thread.join()
        return "done"

    result, calls = counting_calls(work)
    assert result == "done"
    assert 1000 < calls < 1200
    assert sys.getprofile() is None
