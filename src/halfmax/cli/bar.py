"""A progress bar on stderr for work longer than a second, if stderr is a terminal."""

import sys
from collections.abc import Callable
from threading import Lock, Timer
from typing import TYPE_CHECKING, Any

from halfmax._core.limits import limits
from halfmax.cli.messages import columns_of, wrapped

if TYPE_CHECKING:
    from rich.progress import Progress


class Bar:
    """A progress callback of (done, total) that draws a bar.

    It shows nothing if stderr is not a terminal or if the work ends within a second. Each call
    first calls `check`, which may raise.
    """

    def __init__(self, what: str, check: Callable[[], None], shown: bool = True) -> None:
        self._check = check
        self._shown = shown and sys.stderr is not None
        self._drawn: Progress | None = None
        if self._shown and sys.stderr.isatty():
            self._drawn = _drawing()
            self._task = self._drawn.add_task(what, total=None)
        self._total: int | None = None
        self._resting = what.replace(": reading", ": computing")
        self._lock, self._over = Lock(), False
        self._timer = Timer(limits.seconds_before_bar, self._start)

    def __enter__(self) -> "Bar":
        if self._drawn is not None:
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *interruption: object) -> None:
        self._timer.cancel()
        with self._lock:
            self._over = True
            if self._drawn is not None and self._drawn.live.is_started:
                self._drawn.stop()

    def begin(self, what: str, total: int | None = None) -> None:
        """Start another stage; without a total the bar only shows that work continues."""
        self._total = total
        if self._drawn is not None:  # a new task: rich cannot reset the total of a task
            self._drawn.remove_task(self._task)
            self._task = self._drawn.add_task(what, total=total or None)

    def end(self) -> None:
        """End a stage; the next one may not say what it counts."""
        self.begin(self._resting)

    def __call__(self, done: int, total: int) -> None:
        """Show that `done` of `total` units are finished; a total of 0 is unknown."""
        self._check()
        if self._drawn is None:
            return
        if total != self._total:  # earlier work must not count for the speed from now on
            self._total = total
            self._drawn.update(self._task, total=total or None)
        self._drawn.update(self._task, completed=done)

    def say(self, line: str) -> None:
        """Print a message on stderr that stays, above the bar if one is drawn."""
        lines = wrapped(line, columns_of(sys.stderr))
        if self._drawn is not None:
            self._drawn.console.out(lines, highlight=False)
        elif self._shown:
            print(lines, file=sys.stderr, flush=True)

    def _start(self) -> None:
        with self._lock:
            if self._drawn is not None and not self._over:
                self._drawn.start()


def _drawing() -> "Progress":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.table import Column
    from rich.text import Text

    class CountsColumn(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(counts(task))

    return Progress(
        TextColumn("{task.description}", markup=False, table_column=Column(no_wrap=True)),
        BarColumn(bar_width=20),
        CountsColumn(table_column=Column(no_wrap=True)),
        console=Console(stderr=True),
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )


def counts(task: Any) -> str:
    """Describe a task: finished and total, units per second, and the time left or taken."""
    done, total, elapsed = task.completed, task.total, task.elapsed or 0.0
    parts = []
    if total:
        parts.append(f"{_short(done)} of {_short(total)}")
    elif done:
        parts.append(_short(done))
    going_on = not total or done < total
    if (
        going_on and done and elapsed >= limits.seconds_before_bar
    ):  # before that, rates mean nothing
        parts.append(f"{_short(done / elapsed)}/s")
    if total and going_on:
        if done and elapsed >= limits.seconds_before_bar:
            parts.append(f"{_clock(elapsed * (total - done) / done)} left")
    else:
        parts.append(_clock(elapsed))
    return ", ".join(parts)


def _short(number: float) -> str:
    for size, sign in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= max(size, 1e4):
            return f"{number / size:.4g}{sign}"
    return f"{number:,.0f}" if number >= 10 else f"{number:.3g}"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
